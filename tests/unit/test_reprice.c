/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds of waiting jobs at hours whose prices differ: whenever one starts, it is charged no more
 * than is held for it; what a dear hour makes too much is held back, the largest first, and nothing
 * is admitted until that is done.
 */
#include <inttypes.h>
#include <math.h>

#include "judge_fixture.h"

#include "fits.h"
#include "release.h"
#include "reprice.h"

enum { STEPS = 40, JOBS = 30, CHEAP = 36000, DEAR = 3600000 };

struct hours {
	int64_t starts[STEPS + 1];
	double value[STEPS], integral[STEPS + 1];
};

static void
set_hours(struct world *w, struct hours *hours, uint32_t count)
{
	w->series = (struct lt_series){.count = count,
	    .start_utc_s = hours->starts,
	    .value = hours->value,
	    .integral = hours->integral};
	assert_int_equal(lt_series_prepare(&w->series, NULL), LT_OK);
}

static double
price_at(const struct hours *hours, uint32_t count, int64_t at)
{
	uint32_t i = 0;

	while (i + 1 < count && hours->starts[i + 1] <= at)
		i++;
	return hours->value[i];
}

/* Micros of half a node for its limit, by the minute. */
static double
charged(const struct hours *hours, const struct lt_batch_job *job, int64_t from)
{
	double sum = 0;

	for (int64_t t = 0; t < job->limit_s; t += 60)
		sum += price_at(hours, STEPS, from + t) / 60 / 2;
	return sum;
}

/* The dearest start that Slurm may choose until then, and the dearest hour. */
static void
bounds(double *least, double *most, const struct hours *hours, const struct lt_batch_job *job,
    int64_t now_utc_s)
{
	const int64_t first = job->eligible_utc_s > now_utc_s ? job->eligible_utc_s : now_utc_s;
	double dearest = 0;

	*least = 0;
	for (int64_t t = first; t <= now_utc_s + 90; t += 30)
		*least = fmax(*least, charged(hours, job, t));
	for (int64_t t = first; t <= first + job->limit_s + 60 + LT_REPRICE_AHEAD_S; t += 30)
		dearest = fmax(dearest, price_at(hours, STEPS, t));
	*most = dearest / 2 * ((double)job->limit_s + 30) / 3600 * 1.03 + 2;
}

static void
sweep(struct world *w, struct lt_batch_job *jobs, struct lt_live *live, int64_t now_utc_s)
{
	w->d->site.market.generation++;
	w->d->jobs.list = (struct lt_batch_jobs){.count = JOBS, .jobs = jobs};
	w->d->jobs.live = live;
	w->d->jobs.live_count = JOBS;
	must(w->f, lt_release(w->d, now_utc_s, &w->f->err));
	w->d->jobs.list = (struct lt_batch_jobs){0};
	w->d->jobs.live = NULL;
	w->d->jobs.live_count = 0;
}

static void
test_any_hours(void **state)
{
	struct hours hours;

	srand(4211);
	for (int round = 0; round < 20; round++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job jobs[JOBS];
		struct lt_live live[JOBS];

		w->budgets[0].limit.money_micros = INT64_MAX / 4;
		compile(w, NOW);
		for (uint32_t i = 0; i < STEPS; i++) {
			hours.starts[i] = NOW + 600 * i;
			hours.value[i] = rand() % 3 ? CHEAP * (1 + rand() % 3) : DEAR;
		}
		hours.starts[STEPS] = DECEMBER;
		set_hours(w, &hours, STEPS);
		for (uint32_t i = 0; i < JOBS; i++) {
			jobs[i] = make_job(i + 1);
			jobs[i].limit_s = 60 * (1 + rand() % 100);
			if (rand() % 3 == 0)
				jobs[i].eligible_utc_s = NOW + rand() % 4000;
			/* As it was when the first hour was all there is. */
			hold_job(w, &jobs[i],
			    (int64_t)(hours.value[0] / 2 * (double)(jobs[i].limit_s + 30) / 3600 +
				      1),
			    0);
			live[i] = (struct lt_live){.quote_id = i + 101, .live = 1, .pending = 1};
		}
		for (int64_t now = NOW; now < NOW + 7200; now += 60) {
			sweep(w, jobs, live, now);
			for (uint32_t i = 0; i < JOBS; i++) {
				const double held =
				    (double)hold_now(w, i + 101).quote.hold_per_task.money_micros;
				double least, most;

				bounds(&least, &most, &hours, &jobs[i], now);
				if (held * 1.01 < least || held > most)
					fail_msg("round %d job %u at %" PRId64 ": %g, not %g to %g",
					    round, i, now - NOW, held, least, most);
			}
		}
		free_world(w);
	}
}

static uint32_t
count_flag(struct world *w, uint32_t flag)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < JOBS; i++)
		count += (hold_now(w, i + 101).quote.flags & flag) != 0;
	return count;
}

/* Each job is ten minutes longer than the one before: of 1 + ... + 30 parts of a dear hour there is
 * room for the first four. */
static void
test_dear_hour(void **state)
{
	static const struct {
		const char *why;
		bool away;
		uint32_t held_by_user, told, raised, held;
	} cases[] = {
	    {"twenty of those that do not fit, the largest first", false, 0, 20, 6, 20},
	    {"a user's own holds need no word", false, 10, 20, 0, 26},
	    {"slurmctld is away: they count until it is told", true, 0, 0, 26, 0},
	    {"a user's own hold stays, and is guarded", true, JOBS, 0, 0, 26},
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct hours hours = {
		    .starts = {NOW, NOW + 3600, DECEMBER}, .value = {CHEAP, DEAR}};
		struct world *const w = make_world(*state);
		struct lt_batch_job jobs[JOBS];
		struct lt_live live[JOBS];
		struct lt_hold micro = {.uid = ADA,
		    .amount = {true, false, 1, 0},
		    .start_utc_s = NOW,
		    .end_utc_s = NOW + 60};

		print_message("# %s\n", cases[c].why);
		set_hours(w, &hours, 2);
		w->budgets[0].limit.money_micros = DEAR / 2 * 10 / 6 + 90000;
		for (uint32_t i = 0; i < JOBS; i++) {
			jobs[i] = make_job(i + 1);
			jobs[i].limit_s = 600 * (i + 1);
			jobs[i].eligible_utc_s = NOW + 1;
			jobs[i].held = jobs[i].user_held = i < cases[c].held_by_user;
			hold_job(w, &jobs[i], CHEAP / 2 / 6 * (i + 1) + 200,
			    jobs[i].held ? LT_QUOTE_USER_HOLD : 0);
			live[i] = (struct lt_live){.quote_id = i + 101, .live = 1, .pending = 1};
		}
		compile(w, NOW);
		ctld_fails = cases[c].away;
		sweep(w, jobs, live, NOW + 3600 - LT_REPRICE_AHEAD_S);
		assert_int_equal(told.count, cases[c].told);
		for (uint32_t i = 0; i < told.count; i++)
			assert_int_equal(told.job_id[i], JOBS - i);
		assert_int_equal(count_flag(w, LT_QUOTE_RAISED), cases[c].raised);
		assert_int_equal(count_flag(w, LT_QUOTE_BUDGET_HOLD), cases[c].held);
		for (uint32_t i = 0; i < JOBS; i++) {
			const struct lt_ledger_hold hold = hold_now(w, i + 101);

			assert_int_equal(lt_release_concerns(&w->d->jobs, &jobs[i], &hold),
			    hold.quote.flags & (LT_QUOTE_RAISED | LT_QUOTE_BUDGET_HOLD) ? 1 : 0);
		}
		for (int again = 0; again < 2; again++) {
			micro.account = lt_sheet_account(&w->d->budget.snapshot, "vision");
			assert_int_equal(lt_fits(&w->d->budget, &micro), cases[c].raised == 0);
			compile(w, NOW + 3500);
		}
		lt_counters_free(&w->d->tally);
		free_world(w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_any_hours, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_dear_hour, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
