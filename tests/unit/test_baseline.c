/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan without lowtide: what is not known is never a saving.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "baseline.h"
#include "daemon.h"

enum { NOW = 1000000000, HOUR = 3600 };

static const struct {
	const char *why;
	const char *plan, *home;
	bool run_priced, run_has_carbon;
	int64_t length;
	bool moved, known;
	int64_t money;
} cases[] = {
    {"not moved: its own charge is it", "spot", "spot", true, false, HOUR, false, true, 0},
    {"moved from a partition with a price", "spot", "ondemand", true, false, HOUR, true, true,
	4000000},
    {"moved from one without", "spot", "nowhere", true, false, HOUR, true, false, 0},
    {"its own carbon is known, the other's is not", "spot", "ondemand", true, true, HOUR, true,
	false, 4000000},
    {"a run of no length used nothing anywhere", "spot", "nowhere", true, false, 0, true, true, 0},
};

static void
test_baseline(void **state)
{
	(void)state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_error err = {0};
	char dir[] = "/tmp/lowtide-base.XXXXXX";
	char command[64];
	const struct lt_rate_step price = {.start_utc_s = NOW - 1000 * HOUR,
	    .end_utc_s = INT64_MAX,
	    .value = 4000000,
	    .quality = LT_QUALITY_CONSTANT,
	    .source = "policy"};
	assert_non_null(d);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(lt_ledger_open(&d->ledger, dir, &err), LT_OK);
	assert_int_equal(lt_ledger_put_rates(d->ledger, "ondemand", LT_RATE_PRICE,
			     &(struct lt_rates){1, &price}, &err),
	    LT_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_run run = {.start_utc_s = NOW,
		    .nodes = 1,
		    .end_utc_s = NOW + cases[i].length,
		    .priced = cases[i].run_priced,
		    .has_carbon = cases[i].run_has_carbon};
		struct lt_quote quote = {.mode = LT_MODE_ENFORCE,
		    .objective = LT_OBJECTIVE_COST,
		    .plan_start_utc_s = NOW,
		    .home_start_utc_s = NOW};

		strcpy(run.partition, cases[i].plan);
		strcpy(quote.partition, cases[i].plan);
		strcpy(quote.home, cases[i].home);
		lt_baseline_of_run(&run, &quote, &d->site.market, d->ledger);
		if (run.moved != cases[i].moved || lt_baseline_known(&run) != cases[i].known ||
		    run.baseline_money_micros != cases[i].money)
			fail_msg("%s: moved %d known %d money %lld", cases[i].why, run.moved,
			    lt_baseline_known(&run), (long long)run.baseline_money_micros);
	}
	lt_ledger_close(d->ledger);
	free(d);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* At home an hour costs 1, 2, 4 ... from NOW on, on spot always 1. */
static void
put_prices(struct lt_ledger *ledger)
{
	struct lt_rate_step steps[12];
	const struct lt_rate_step spot = {.start_utc_s = NOW - 1000 * HOUR,
	    .end_utc_s = INT64_MAX,
	    .value = 1000000,
	    .quality = LT_QUALITY_CONSTANT,
	    .source = "policy"};
	struct lt_error err = {0};

	for (int i = 0; i < 12; i++)
		steps[i] = (struct lt_rate_step){.start_utc_s = NOW + i * HOUR,
		    .end_utc_s = NOW + (i + 1) * HOUR,
		    .value = 1000000 << i,
		    .quality = LT_QUALITY_MEASURED,
		    .source = "policy"};
	assert_int_equal(lt_ledger_put_rates(ledger, "ondemand", LT_RATE_PRICE,
			     &(struct lt_rates){12, steps}, &err),
	    LT_OK);
	assert_int_equal(
	    lt_ledger_put_rates(ledger, "spot", LT_RATE_PRICE, &(struct lt_rates){1, &spot}, &err),
	    LT_OK);
}

enum { FIRST_TASK = 900 }; /* of an array, whose id is this */

/* A run of the job, from and to in minutes after NOW; end 0 ends. */
struct part {
	int from, to, suspended;
	const char *state;
};

static struct lt_saved_by all, last; /* of all runs, and of the last */

static int64_t
base_of(struct lt_daemon *d, const struct lt_quote *quote, uint32_t job_id, const struct part *part)
{
	struct lt_error err = {0};
	struct lt_run run = {.key = {job_id, NOW + part->from * 60 - 1},
	    .array_job_id = quote->tasks > 1 ? FIRST_TASK : 0,
	    .quote_id = quote->id,
	    .start_utc_s = NOW + part->from * 60,
	    .end_utc_s = NOW + part->to * 60,
	    .suspended_s = part->suspended * 60,
	    .nodes = 1,
	    .share_denominator = 1,
	    .priced = true};
	bool changed;

	strcpy(run.partition, "spot");
	strcpy(run.account, "vision");
	strcpy(run.state_text, part->state);
	lt_baseline_of_run(&run, quote, &d->site.market, d->ledger);
	assert_true(run.moved && run.has_baseline);
	const struct lt_entry entry = {.at_utc_s = run.start_utc_s,
	    .baseline_money_micros = run.baseline_money_micros,
	    .saved_by = run.saved_by,
	    .parts = run.parts};
	all.time_micros += run.saved_by.time_micros;
	all.gpu_micros += run.saved_by.gpu_micros;
	last = run.saved_by;
	const struct lt_settlement settlement = {
	    .run = &run, .entries = &entry, .count = 1, .now_utc_s = NOW + 100 * HOUR};

	assert_int_equal(lt_ledger_settle(d->ledger, &settlement, &changed, &err), LT_OK);
	return run.baseline_money_micros;
}

/* Each task of an array is a job. */
static void
other_tasks(struct lt_daemon *d)
{
	static const struct part hour = {0, 60, 0, "COMPLETED"}, later = {30, 90, 0, "COMPLETED"};
	const struct lt_quote quote = {.id = 99,
	    .mode = LT_MODE_ENFORCE,
	    .objective = LT_OBJECTIVE_COST,
	    .tasks = 2,
	    .partition = "spot",
	    .home = "ondemand",
	    .plan_start_utc_s = NOW + 1800,
	    .home_start_utc_s = NOW};

	assert_int_equal(base_of(d, &quote, FIRST_TASK + 1, &hour), 1000000);
	assert_int_equal(base_of(d, &quote, FIRST_TASK, &later), 1000000);
}

/* What parts it is kept, and adds up. */
static void
levers_of(struct lt_daemon *d)
{
	static const struct part late = {360, 420, 0, "COMPLETED"}, slow = {0, 120, 0, "COMPLETED"};
	struct lt_quote quote = {.id = 98,
	    .mode = LT_MODE_ENFORCE,
	    .objective = LT_OBJECTIVE_COST,
	    .tasks = 1,
	    .partition = "spot",
	    .home = "ondemand",
	    .plan_start_utc_s = NOW + 6 * HOUR,
	    .home_start_utc_s = NOW};
	struct lt_totals totals[3];
	struct lt_run known;

	/* An hour at home cost 1 then, and 64 when it ran. */
	(void)base_of(d, &quote, 800, &late);
	assert_int_equal(last.time_micros, -63000000);
	assert_int_equal(last.gpu_micros, 0);
	/* Two hours, where home's nodes take one. */
	quote.plan_start_utc_s = NOW;
	strcpy(quote.run, "9ae16a3b2f90404f,none,0,0,0,43200,2000000");
	(void)base_of(d, &quote, 801, &slow);
	assert_int_equal(last.time_micros, 0);
	assert_int_equal(last.gpu_micros, -1000000);
	assert_int_equal(
	    lt_ledger_run(d->ledger, (struct lt_run_key){801, NOW - 1}, &known, NULL), LT_OK);
	assert_int_equal(known.saved_by.gpu_micros, -1000000);
	assert_int_equal(lt_ledger_totals(d->ledger, "vision",
			     (struct lt_span){NOW - HOUR, NOW + 99 * HOUR}, totals, NULL),
	    LT_OK);
	assert_int_equal(totals[LT_ENTRY_CHARGE].saved_by.time_micros, all.time_micros);
	assert_int_equal(totals[LT_ENTRY_CHARGE].saved_by.gpu_micros, all.gpu_micros);
}

/* The same of a run that was moved and of one that was kept, whenever it ran:
 * from home's start that was planned. */
static void
work_of(struct lt_daemon *d)
{
	static const struct {
		const char *why, *partition, *state, *run, *levers;
		int home, from, to, suspended; /* minutes */
		int64_t money;
	} runs[] = {
	    {"kept, at once", "ondemand", "COMPLETED", "", "", 0, 0, 90, 0, 2000000},
	    {"kept, after five hours in line", "ondemand", "COMPLETED", "", "", 0, 300, 390, 0,
		2000000},
	    {"moved", "spot", "COMPLETED", "", "", 0, 300, 390, 0, 2000000},
	    {"home has no room for an hour", "spot", "COMPLETED", "", "", 60, 300, 390, 0, 4000000},
	    {"half of it stood still", "spot", "COMPLETED", "", "", 0, 300, 390, 30, 1000000},
	    {"nothing of it lasts", "spot", "NODE_FAIL", "", "", 0, 300, 390, 0, 0},
	    {"it ended at once", "spot", "COMPLETED", "", "", 0, 300, 300, 0, 0},
	    {"twice as fast at home", "spot", "COMPLETED",
		"9ae16a3b2f90404f,none,0,0,0,43200,2000000", "", 0, 300, 420, 0, 1000000},
	    {"a quarter of a node there", "spot", "COMPLETED", "", "250000,250000,-,-,-,-,-,-", 0,
		300, 390, 0, 500000},
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct lt_run run = {.start_utc_s = NOW + runs[i].from * 60,
		    .end_utc_s = NOW + runs[i].to * 60,
		    .suspended_s = runs[i].suspended * 60,
		    .nodes = 1,
		    .share_denominator = 1,
		    .priced = true};
		struct lt_quote quote = {.id = 97,
		    .partition = "spot",
		    .home = "ondemand",
		    .home_start_utc_s = NOW + runs[i].home * 60};
		struct lt_amount work;

		strcpy(run.partition, runs[i].partition);
		strcpy(run.state_text, runs[i].state);
		strcpy(quote.run, runs[i].run);
		strcpy(quote.levers, runs[i].levers);
		assert_true(lt_work_at_home(&work, &run, &quote, &d->site.market, d->ledger));
		if (!work.has_money || work.money_micros != runs[i].money)
			fail_msg("%s: %lld", runs[i].why, (long long)work.money_micros);
		quote.home[0] = '\0';
		assert_false(lt_work_at_home(&work, &run, &quote, &d->site.market, d->ledger));
		assert_false(work.has_money || work.has_carbon);
	}
}

/* One undisturbed run at home, whatever there was of the job elsewhere. */
static void
test_counted_once(void **state)
{
	enum { CKPT = LT_QUOTE_CHECKPOINT };
	static const char twice[] = "9ae16a3b2f90404f,none,0,0,0,43200,2000000";
	static const char lost[] = "9ae16a3b2f90404f,none,0,0,0,43200,1000000,2000000,2400";
	static const struct {
		const char *why, *run, *levers;
		uint32_t flags, tasks;
		int home, plan; /* minutes after NOW */
		struct part parts[3];
		int64_t base[3];
	} histories[] = {
	    {"two hours at home", "", "", 0, 1, 0, 0, {{0, 120, 0, "COMPLETED"}}, {3000000}},
	    {"lost work is not done at home", "", "", 0, 1, 0, 0,
		{{0, 50, 0, "PREEMPTED"}, {60, 180, 0, "COMPLETED"}}, {0, 3000000}},
	    {"nor what was sent back", "", "", 0, 1, 0, 0,
		{{0, 50, 0, "REQUEUED"}, {60, 120, 0, "COMPLETED"}}, {0, 1000000}},
	    {"checkpoints keep all but twenty minutes", lost, "", CKPT, 1, 0, 0,
		{{0, 80, 0, "PREEMPTED"}, {600, 660, 0, "COMPLETED"}}, {1000000, 2000000}},
	    {"how much is lost is not known: all", "", "", CKPT, 1, 0, 0,
		{{0, 80, 0, "NODE_FAIL"}, {600, 660, 0, "COMPLETED"}}, {0, 1000000}},
	    {"a job that fails has done its work", "", "", 0, 1, 0, 0, {{0, 60, 0, "FAILED"}},
		{1000000}},
	    {"one that is resized goes on", "", "", 0, 1, 0, 0,
		{{0, 60, 0, "RESIZING"}, {60, 120, 0, "COMPLETED"}}, {1000000, 2000000}},
	    {"twice as slow as home, as it was decided", twice, "", 0, 1, 0, 0,
		{{0, 120, 0, "COMPLETED"}}, {1000000}},
	    {"nobody suspends it at home", "", "", 0, 1, 0, 0, {{0, 120, 60, "COMPLETED"}},
		{1000000}},
	    {"from home's first start with room", "", "", 0, 1, 60, 60, {{60, 120, 0, "COMPLETED"}},
		{2000000}},
	    {"it was to wait, and waited longer", "", "", 0, 1, 0, 300,
		{{360, 420, 0, "COMPLETED"}}, {1000000}},
	    {"it was not to wait: home is in the same line", "", "", 0, 1, 0, 0,
		{{60, 120, 0, "COMPLETED"}}, {2000000}},
	    {"tasks after others", "", "", 0, 9, 0, 300, {{360, 420, 0, "COMPLETED"}}, {2000000}},
	    {"a later part: the first one's line", "", "", 0, 1, 0, 0,
		{{60, 80, 0, "PREEMPTED"}, {400, 460, 0, "COMPLETED"}}, {0, 2000000}},
	    {"a quarter of a node at home, as it was decided", "", "250000,250000,-,-,-,-,-,-", 0,
		1, 0, 0, {{0, 120, 0, "COMPLETED"}}, {750000}},
	};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	char dir[] = "/tmp/lowtide-base.XXXXXX";
	char command[64];

	(void)state;
	assert_non_null(d);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(lt_ledger_open(&d->ledger, dir, NULL), LT_OK);
	put_prices(d->ledger);
	for (uint32_t i = 0; i < sizeof(histories) / sizeof(*histories); i++) {
		struct lt_quote quote = {.id = 100 + i,
		    .mode = LT_MODE_ENFORCE,
		    .objective = LT_OBJECTIVE_COST,
		    .flags = histories[i].flags,
		    .tasks = histories[i].tasks,
		    .partition = "spot",
		    .home = "ondemand",
		    .plan_start_utc_s = NOW + histories[i].plan * 60,
		    .home_start_utc_s = NOW + histories[i].home * 60};

		print_message("%s\n", histories[i].why);
		strcpy(quote.run, histories[i].run);
		strcpy(quote.levers, histories[i].levers);
		for (int k = 0; k < 3 && histories[i].parts[k].to > 0; k++)
			assert_int_equal(base_of(d, &quote, 7 + i, &histories[i].parts[k]),
			    histories[i].base[k]);
	}
	other_tasks(d);
	levers_of(d);
	work_of(d);
	lt_ledger_close(d->ledger);
	free(d);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_baseline), cmocka_unit_test(test_counted_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
