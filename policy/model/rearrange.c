/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ruin and recreate (Schrimpf et al., J. Comput. Phys. 159, 2000) of what is booked and has not
 * started. docs/model.md, eq. (24b).
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rearrange.h"
#include "replan.h"
#include "units.h"

static const double noise = 1e-9; /* of rounding */

struct place { /* where a booking was, or shall be */
	struct lt_booking booking;
	double score, home_score, least_saving;
	bool no_room;
};

struct group {
	uint32_t count;
	uint32_t at[LT_REARRANGE_GROUP]; /* bookings */
	struct place was[LT_REARRANGE_GROUP], is[LT_REARRANGE_GROUP];
};

/* Scores of a booking, computed when they are asked for: where it stands, and at best if it were
 * alone with what is not to be moved. */
struct wish {
	bool is_weighed, is_made;
	bool no_room;
	double score, least;
	double least_saving; /* of a change, that a figure shows it */
};

struct work {
	const struct lt_rearrange *of;
	uint64_t random;
	struct group group;
	struct lt_plan plan;
	struct lt_replanned standing;
	struct wish wishes[LT_PLANNED_MAX]; /* of each booking */
};

static uint32_t
random_below(struct work *work, uint32_t count)
{
	return (uint32_t)(lt_random(&work->random) >> 32) % count;
}

static struct lt_planned *
window_of(const struct work *work, uint32_t booking)
{
	return &work->of->planned[work->of->planned_count + booking];
}

static int64_t
last_end(const struct lt_booking *booking)
{
	const int64_t length_s = booking->window.end_utc_s - booking->window.start_utc_s;
	const int64_t latest_utc_s = booking->request->deadline_utc_s != LT_UNSET_64
					 ? booking->request->deadline_utc_s
					 : booking->request->latest_utc_s;

	return latest_utc_s > booking->start_utc_s ? latest_utc_s + length_s
						   : booking->window.end_utc_s;
}

/* True if both may run at one time. */
static bool
meets_booking(const struct lt_booking *a, const struct lt_booking *b)
{
	return a->request->objective == b->request->objective &&
	       a->request->earliest_utc_s < last_end(b) && b->request->earliest_utc_s < last_end(a);
}

static struct lt_replan
replan_of(const struct work *work, const struct lt_booking *booking)
{
	return (struct lt_replan){.request = booking->request,
	    .market = work->of->market,
	    .planned = work->of->planned,
	    .planned_count = work->of->planned_count + work->of->booking_count,
	    .partition = booking->partition,
	    .start_utc_s = booking->start_utc_s,
	    .now_utc_s = work->of->now_utc_s};
}

/* Anew, beside the first so many windows: into work->plan. */
static int
decide_booking(struct work *work, uint32_t booking, uint32_t planned_count, struct lt_error *err)
{
	const int code = lt_decide(&work->plan, work->of->bookings[booking].request,
	    work->of->market, work->of->planned, planned_count, work->of->now_utc_s, err);

	return code == LT_OK && work->plan.chosen.partition < 0
		   ? lt_fail(err, LT_EINPUT, "rearrange: no partition")
		   : code;
}

/* Finds its best place without the other bookings. */
static int
find_wish(struct work *work, uint32_t booking, struct lt_error *err)
{
	struct wish *const wish = &work->wishes[booking];

	if (wish->is_made)
		return LT_OK;
	const int code = decide_booking(work, booking, work->of->planned_count, err);

	if (code != LT_OK)
		return code;
	wish->is_made = true;
	wish->least = work->plan.chosen.score;
	return LT_OK;
}

/* Scores it where it stands, and says whether there is room beside all others. One that has none
 * may have it when others have moved. */
static int
score_booking(struct work *work, uint32_t booking, struct lt_error *err)
{
	struct wish *const wish = &work->wishes[booking];
	struct lt_planned *const window = window_of(work, booking);
	const struct lt_replan replan = replan_of(work, &work->of->bookings[booking]);
	const struct lt_planned own = *window;

	if (wish->is_weighed && !wish->no_room)
		return LT_OK;
	*window = (struct lt_planned){0};
	const int code = lt_replan(&work->standing, &replan, err);

	*window = own;
	wish->is_weighed = true;
	wish->score = work->standing.standing.score;
	wish->least_saving = work->standing.least_saving;
	wish->no_room = work->standing.standing.too_late ||
			work->standing.why == LT_REPLAN_NO_ROOM ||
			work->standing.why == LT_REPLAN_CANNOT_RUN;
	return code;
}

/* One at random and up to seven of those that it meets, in random order. */
static void
draw_group(struct work *work, uint32_t first)
{
	const struct lt_rearrange *const of = work->of;
	struct group *const group = &work->group;
	uint32_t met = 0;

	group->count = 1;
	group->at[0] = first;
	for (uint32_t i = 0; i < of->booking_count; i++) {
		if (i == first || !meets_booking(&of->bookings[first], &of->bookings[i]))
			continue;
		met++;
		if (group->count < LT_REARRANGE_GROUP) {
			group->at[group->count++] = i;
			continue;
		}
		const uint32_t at = random_below(work, met);

		if (at < LT_REARRANGE_GROUP - 1)
			group->at[at + 1] = i;
	}
	for (uint32_t i = group->count; i-- > 1;) {
		const uint32_t k = random_below(work, i + 1);
		const uint32_t other = group->at[k];

		group->at[k] = group->at[i];
		group->at[i] = other;
	}
}

static int
put_back(struct work *work, uint32_t i, struct lt_error *err)
{
	struct group *const group = &work->group;
	const struct lt_booking *const was = &group->was[i].booking;
	struct lt_booking next = *was;
	const int code = decide_booking(
	    work, group->at[i], work->of->planned_count + work->of->booking_count, err);
	const struct lt_estimate *const chosen = &work->plan.chosen;

	if (code != LT_OK)
		return code;
	if (chosen->partition != was->partition || chosen->start_utc_s != was->start_utc_s) {
		next.partition = chosen->partition;
		next.start_utc_s = chosen->start_utc_s;
		next.window = (struct lt_planned){.partition = (uint16_t)chosen->partition,
		    .nodes = (float)chosen->node_equivalents,
		    .start_utc_s = chosen->start_utc_s,
		    .end_utc_s = chosen->free_utc_s};
		next.changed = true;
	}
	group->is[i] = (struct place){.booking = next,
	    .score = chosen->score,
	    .home_score = work->plan.fits ? work->plan.home.score : -INFINITY,
	    .no_room = chosen->too_late};
	*window_of(work, group->at[i]) = next.window;
	return LT_OK;
}

static bool
is_elsewhere(const struct place *was, const struct place *is)
{
	return is->booking.partition != was->booking.partition ||
	       is->booking.start_utc_s != was->booking.start_utc_s;
}

/* Decides as lt_replan() does for one: eq. (24a). Each that is put elsewhere is a change that its
 * user has to follow. */
static bool
is_better(const struct group *group)
{
	double was = 0, is = 0, saved = 0, least = 0;
	int64_t sooner_s = 0;
	int missing = 0;

	for (uint32_t i = 0; i < group->count; i++) {
		const struct place *const stands = &group->was[i];
		const struct place *const put = &group->is[i];
		const double from = fmax(stands->score, put->home_score);

		missing += put->no_room - stands->no_room;
		sooner_s += stands->booking.start_utc_s - put->booking.start_utc_s;
		was += stands->score;
		is += put->score;
		saved += fmax(0, from - put->score);
		if (is_elsewhere(stands, put))
			least += stands->least_saving;
	}
	if (missing != 0)
		return missing < 0;
	if (sooner_s >= LT_SOONER_S && is <= was + noise * fabs(was))
		return true;
	return was - is > fmax(least, fmax(LT_SWITCHING * saved, noise * fabs(was)));
}

static void
settle_places(struct work *work, const struct place *places)
{
	struct group *const group = &work->group;

	for (uint32_t i = 0; i < group->count; i++) {
		struct wish *const wish = &work->wishes[group->at[i]];

		work->of->bookings[group->at[i]] = places[i].booking;
		*window_of(work, group->at[i]) = places[i].booking.window;
		wish->score = places[i].score;
		wish->no_room = places[i].no_room;
	}
}

/* True if it is where it would be without the others. */
static bool
is_content(const struct wish *wish)
{
	return !wish->no_room && wish->score - wish->least <= noise * fabs(wish->score);
}

static int
try_one(struct work *work, struct lt_error *err)
{
	struct group *const group = &work->group;
	const uint32_t first = random_below(work, work->of->booking_count);
	int code = score_booking(work, first, err);

	if (code == LT_OK)
		code = find_wish(work, first, err);
	if (code != LT_OK || is_content(&work->wishes[first]))
		return code;
	draw_group(work, first);
	for (uint32_t i = 0; i < group->count && code == LT_OK; i++) {
		const uint32_t at = group->at[i];

		code = score_booking(work, at, err);
		group->was[i] = (struct place){.booking = work->of->bookings[at],
		    .score = work->wishes[at].score,
		    .least_saving = work->wishes[at].least_saving,
		    .no_room = work->wishes[at].no_room};
	}
	if (code != LT_OK)
		return code;
	for (uint32_t i = 0; i < group->count; i++)
		*window_of(work, group->at[i]) = (struct lt_planned){0};
	for (uint32_t i = 0; i < group->count && code == LT_OK; i++)
		code = put_back(work, i, err);
	settle_places(work, code == LT_OK && is_better(group) ? group->is : group->was);
	return code;
}

int
lt_rearrange(const struct lt_rearrange *of, struct lt_error *err)
{
	assert(of->planned_count + of->booking_count <= LT_PLANNED_MAX);

	struct work *work;
	int code = LT_OK;

	for (uint32_t i = 0; i < of->booking_count; i++) {
		of->bookings[i].changed = false;
		of->planned[of->planned_count + i] = of->bookings[i].window;
	}
	if (of->booking_count == 0)
		return LT_OK;
	work = calloc(1, sizeof(*work));
	if (work == NULL)
		return lt_fail(err, LT_ENOMEM, "rearrange: out of memory");
	work->of = of;
	work->random = of->seed;
	for (uint32_t round = 0; round < of->rounds && code == LT_OK; round++)
		code = try_one(work, err);
	free(work);
	return code;
}
