/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history is played again: from a start each hour, how long until so much was done with nodes
 * that were there. A start whose work the end of the history cuts off counts as long as it is known
 * to have waited (Kaplan and Meier, JASA 53:457, 1958).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"
#include "waits.h"

enum { STARTS_MAX = 4096 };

struct sample {
	double wait_s;
	bool ended; /* else it waited longer */
};

/* Ends of the spells, in seconds since the first one's begin. */
struct progress {
	double whole_s;	 /* done, had nothing been lost before */
	double costly_s; /* done, each loss having cost so much time after it */
	uint32_t run;	 /* the last spell with nodes before none is left;
			  * where none is there, of the next that has some */
};

struct replay {
	const struct lt_spell *spells;
	struct progress *at;
	struct sample *samples;
	uint32_t count;
	int need; /* that at[] is of */
	int64_t seen_s;
};

/* Work that is done in a second: by one node, or by all. */
static double
pace_of(const struct lt_spell *spell, int need)
{
	return need == 0 ? spell->there > 0 : fmin((double)spell->there / spell->nodes, 1);
}

static int64_t
length_of(const struct lt_spell *spell)
{
	return spell->to_utc_s - spell->from_utc_s;
}

/* Ends of stretches without a gap: one after the last spell of that which begins there. */
static uint32_t
end_of(const struct replay *replay, uint32_t first)
{
	uint32_t next = first + 1;

	while (next < replay->count &&
	       replay->spells[next].from_utc_s == replay->spells[next - 1].to_utc_s)
		next++;
	return next;
}

/* Work and losses of one need and cost. */
static void
add_up(struct replay *replay, double cost_s, int need)
{
	struct progress sum = {0};

	replay->need = need;
	for (uint32_t first = 0, end; first < replay->count; first = end) {
		double unpaid_s = 0;

		end = end_of(replay, first);
		for (uint32_t i = first; i < end; i++) {
			const struct lt_spell *const in = &replay->spells[i];
			const double length_s = (double)length_of(in);
			const double pace = pace_of(in, need);

			if (in->there == 0)
				unpaid_s = cost_s;
			const double paid_s = in->there > 0 ? fmin(unpaid_s, length_s) : 0;
			unpaid_s -= paid_s;
			sum.whole_s += pace * length_s;
			sum.costly_s += pace * (length_s - paid_s);
			replay->at[i] = sum;
		}
		for (uint32_t i = end; i-- > first;) {
			const bool goes_on = i + 1 < end && (replay->spells[i].there == 0 ||
								replay->spells[i + 1].there > 0);

			replay->at[i].run = goes_on ? replay->at[i + 1].run : i;
		}
	}
}

static double
done_of(const struct progress *at, bool is_costly)
{
	return is_costly ? at->costly_s : at->whole_s;
}

struct goal { /* so much done, in spells [at, end) */
	uint32_t at, end;
	double done_s;
	bool is_costly;
};

/* Finds when that is; false, and nothing written: not in these. */
static bool
find_done(int64_t *done_utc_s, const struct replay *replay, const struct goal *goal)
{
	uint32_t low = goal->at, high = goal->end;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (done_of(&replay->at[middle], goal->is_costly) >= goal->done_s)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == goal->end)
		return false;
	const struct lt_spell *const in = &replay->spells[low];
	const double over_s = done_of(&replay->at[low], goal->is_costly) - goal->done_s;

	const double pace = pace_of(in, replay->need);

	/* Without a pace it was done before, but for rounding. */
	*done_utc_s = in->to_utc_s - (pace > 0 ? (int64_t)(over_s / pace) : 0);
	return true;
}

/* Work that may start in spell `at` at that time, in a stretch to `end`: its first run of nodes
 * costs nothing, each later one has the cost of a loss. */
static struct sample
play_work(
    const struct replay *replay, uint32_t at, uint32_t end, int64_t start_utc_s, double work_s)
{
	const struct lt_spell *const in = &replay->spells[at];
	const uint32_t run = replay->at[at].run;
	const double before_s = replay->at[at].whole_s -
				pace_of(in, replay->need) * (double)(in->to_utc_s - start_utc_s);
	const double whole_s = replay->at[run].whole_s;
	const double rest_s = work_s - (whole_s - before_s);
	/* A rest that rounding leaves does not count. */
	const struct goal goal =
	    rest_s < 1e-3 ? (struct goal){at, run + 1, fmin(before_s + work_s, whole_s), false}
			  : (struct goal){run + 1, end, replay->at[run].costly_s + rest_s, true};
	int64_t done_utc_s = replay->spells[end - 1].to_utc_s;
	const bool ended = find_done(&done_utc_s, replay, &goal);

	return (struct sample){fmax((double)(done_utc_s - start_utc_s) - work_s, 0), ended};
}

static uint32_t
play_all(struct replay *replay, double work_s)
{
	const int64_t step_s = replay->seen_s / STARTS_MAX > LT_HOUR_S - 1
				   ? replay->seen_s / STARTS_MAX + 1
				   : LT_HOUR_S;
	uint32_t samples = 0;

	for (uint32_t first = 0, end; first < replay->count; first = end) {
		int64_t start_utc_s = replay->spells[first].from_utc_s;
		uint32_t at = first;

		end = end_of(replay, first);
		const int64_t until_utc_s = replay->spells[end - 1].to_utc_s - (int64_t)work_s;
		for (; start_utc_s < until_utc_s && samples < STARTS_MAX; start_utc_s += step_s) {
			while (replay->spells[at].to_utc_s <= start_utc_s)
				at++;
			replay->samples[samples++] =
			    play_work(replay, at, end, start_utc_s, work_s);
		}
	}
	return samples;
}

/* Puts the one that ended first before its equals. */
static int
by_wait(const void *a, const void *b)
{
	const struct sample *const x = a, *const y = b;

	if (x->wait_s != y->wait_s)
		return x->wait_s < y->wait_s ? -1 : 1;
	return (int)y->ended - (int)x->ended;
}

/*
 * Samples in order. A chance is made smaller as in (45), by how many times so much work fits into
 * what was seen: the next one is as likely to be at any place among them. Where too few do, the
 * longest that ended counts.
 */
static void
read_waits(struct lt_wait *wait, const struct sample *samples, uint32_t count, double fits)
{
	double left = 1, mean_s = 0, before_s = 0;
	int next = 0;

	for (int i = 0; i < LT_WAIT_CHANCES; i++)
		wait->passed_s[i] = LT_WAIT_UNKNOWN;
	for (uint32_t i = 0; i < count; i++) {
		mean_s += left * (samples[i].wait_s - before_s);
		before_s = samples[i].wait_s;
		if (samples[i].ended)
			left *= 1 - 1.0 / (count - i);
		for (; next < LT_WAIT_CHANCES; next++) {
			const double chance = lt_wait_chances[next];

			if (left > fmax(chance - (1 - chance) / fits, 0))
				break;
			wait->passed_s[next] = (uint32_t)fmin(ceil(before_s), LT_WAIT_UNKNOWN - 1);
		}
	}
	/* The mean is cut off too much if more than the rarest wait that matters never ended. */
	wait->mean_s = count > 0 && left <= lt_wait_chances[1]
			   ? (uint32_t)fmin(ceil(mean_s), LT_WAIT_UNKNOWN - 1)
			   : LT_WAIT_UNKNOWN;
}

static void
learn_waits(struct lt_availability *availability, struct replay *replay)
{
	for (int w = 0; w < LT_WAIT_WORKS; w++)
		for (int i = 0; i < LT_WAIT_NEEDS * LT_WAIT_COSTS; i++) {
			const int need = i / LT_WAIT_COSTS;
			const int cost = i % LT_WAIT_COSTS;
			/* At least its first second. */
			const double work_s = fmax(lt_wait_works_s[w], 1);

			add_up(replay, lt_wait_costs_s[cost], need);
			const uint32_t count = play_all(replay, work_s);
			qsort(replay->samples, count, sizeof(struct sample), by_wait);
			read_waits(&availability->waits[need][cost][w], replay->samples, count,
			    fmax((double)replay->seen_s / fmax(work_s, LT_HOUR_S), 1));
		}
}

static void
learn_spells(struct lt_availability *availability, struct replay *replay)
{
	double there_s = 0, taken = 0, parts_s = 0, squares_s = 0;

	for (uint32_t i = 0; i < replay->count; i++) {
		const struct lt_spell *const in = &replay->spells[i];

		const double part = pace_of(in, 1);

		there_s += in->there > 0 ? (double)length_of(in) : 0;
		parts_s += part * (double)length_of(in);
		squares_s += part * part * (double)length_of(in);
		taken += i > 0 && in->there == 0 && in[-1].there > 0 &&
			 in[-1].to_utc_s == in->from_utc_s;
	}
	availability->seen_s = (uint32_t)replay->seen_s;
	availability->there_ppm = (uint32_t)lround(1e6 * there_s / (double)replay->seen_s);
	availability->taken_ppm =
	    there_s > 0 ? (uint32_t)lround(1e6 * taken * LT_HOUR_S / there_s) : 0;
	const double mean = parts_s / (double)replay->seen_s;
	const double most = mean * (1 - mean);

	availability->part_ppm = (uint32_t)lround(1e6 * mean);
	availability->together_ppm =
	    most > 0
		? (uint32_t)lround(1e6 * (squares_s / (double)replay->seen_s - mean * mean) / most)
		: 1000000;
	learn_waits(availability, replay);
}

int
lt_waits_learn(struct lt_availability *availability, const struct lt_spell *spells, uint32_t count,
    struct lt_error *err)
{
	struct replay replay = {.spells = spells, .count = count};

	*availability = (struct lt_availability){0};
	for (uint32_t i = 0; i < count; i++)
		replay.seen_s += length_of(&spells[i]);
	if (replay.seen_s == 0)
		return LT_OK;
	replay.at = malloc(count * sizeof(*replay.at));
	replay.samples = malloc(STARTS_MAX * sizeof(*replay.samples));
	if (replay.at != NULL && replay.samples != NULL)
		learn_spells(availability, &replay);
	free(replay.at);
	free(replay.samples);
	return replay.at != NULL && replay.samples != NULL
		   ? LT_OK
		   : lt_fail(err, LT_ENOMEM, "waits: no memory");
}
