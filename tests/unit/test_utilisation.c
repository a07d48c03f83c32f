/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs used, from slurmdbd's steps into the ledger: each span of time once, those that come
 * late too, and what is charged stays.
 */
#include "alert.h"
#include "alert_looks.h"
#include "alerting.h"
#include "jobs.h"
#include "judge_fixture.h"
#include "utilisation.h"

enum { JOB = 7, LOOKS_MOST = 25 };

static struct lt_batch_run
make_row(const struct lt_run *run)
{
	return (struct lt_batch_run){.job_id = run->key.job_id,
	    .submit_utc_s = run->key.submit_utc_s,
	    .start_utc_s = run->start_utc_s,
	    .end_utc_s = run->end_utc_s,
	    .finished = true,
	    .has_cpu_used = true,
	    .cpu_used_ms = 90000,
	    .has_gpu_used = true,
	    .gpu_used_ppm = 125000};
}

static struct world *
begin(void **state)
{
	struct world *const w = make_world(*state);
	char since[32];

	snprintf(since, sizeof(since), "%d", NOVEMBER);
	must(w->f, lt_ledger_put(w->f->ledger, "since", since, &w->f->err));
	snprintf(w->d->site.tables.conf.accounting_storage,
	    sizeof(w->d->site.tables.conf.accounting_storage), "slurmdbd");
	w->d->charges.settled_until_utc_s = NOW;
	return w;
}

static int
look_at_idle(void *d, const struct lt_run *run, int64_t now_utc_s, struct lt_error *err)
{
	return lt_alerts_look_at_run(alerter_of(d, now_utc_s), run, err);
}

static int
read_used(struct world *w)
{
	const struct lt_measured measured = {.look = look_at_idle, .context = w->d};

	return lt_utilisation_read(
	    &w->d->site.tables, w->d->ledger, &w->d->charges, &measured, NOW, &w->f->err);
}

static void
look(struct world *w)
{
	must(w->f, read_used(w));
}

static struct lt_run
run_of(struct world *w)
{
	const struct lt_run made = make_run(JOB, NOVEMBER, NOVEMBER + HOUR, 1000);
	struct lt_run run;

	must(w->f, lt_ledger_run(w->f->ledger, made.key, &run, &w->f->err));
	return run;
}

static uint32_t
alerts_of(struct world *w)
{
	struct lt_alerts due = {0};

	must(w->f, lt_ledger_alerts_due(w->f->ledger, &due, &w->f->err));
	for (uint32_t i = 0; i < due.count; i++) {
		assert_int_equal(due.rows[i].kind, LT_ALERT_IDLE);
		assert_string_equal(due.rows[i].to, "ada");
		assert_string_equal(due.rows[i].subject, "lowtide: the GPUs of job 7 did nothing");
		assert_non_null(strstr(due.rows[i].text,
		    "Job 7 of ada in vision had 4 GPUs for 1h, and by Slurm's accounting they did nothing.\n"
		    "The run cost $0.00.\n"));
	}
	free(due.rows);
	return due.count;
}

static const struct {
	const char *why;
	uint32_t gpus, used_ppm;
	bool is_told, is_idle;
	int64_t length_s;
} idles[] = {
    {"four that did nothing for an hour", 4, 0, true, true, HOUR},
    {"for less", 4, 0, true, false, HOUR - 1},
    {"less than a percent", 4, 9999, true, true, HOUR},
    {"a percent", 4, 10000, true, false, HOUR},
    {"accounting does not say", 4, 0, false, false, HOUR},
    {"it had none", 0, 0, true, false, HOUR},
};

static void
test_idle(void **state)
{
	struct world *const w = begin(state);
	struct lt_run run = make_run(JOB, NOW - 2 * HOUR, NOW - HOUR, 1000);
	struct lt_batch_run row = make_row(&run);

	for (size_t i = 0; i < sizeof(idles) / sizeof(*idles); i++) {
		const struct lt_run one = {.gpus = idles[i].gpus,
		    .end_utc_s = idles[i].length_s,
		    .used = {.has_gpu = idles[i].is_told, .gpu_ppm = idles[i].used_ppm}};

		if (lt_idle_gpus_are(&one, HOUR) != idles[i].is_idle)
			fail_msg("%s", idles[i].why);
	}
	run.gpus = 4;
	(void)settle(w->f, &run, NOW, NOVEMBER);
	row.gpu_used_ppm = 0;
	fake_rows = (struct lt_batch_runs){.count = 1, .runs = &row};
	w->policy.notify.is_set = true;
	w->policy.notify.alerts.idle_gpus_s = HOUR;
	for (int i = 0; i < LOOKS_MOST && alerts_of(w) == 0; i++)
		look(w);
	assert_int_equal(alerts_of(w), 1);
	/* Steps that come late change the figure, and tell nothing again. */
	row.gpu_used_ppm = 5;
	must(w->f, lt_utilisation_came(w->d->ledger, &w->d->charges, run.end_utc_s, &w->f->err));
	look(w);
	assert_int_equal(alerts_of(w), 1);
	fake_rows = (struct lt_batch_runs){0};
	free_world(w);
}

static void
test_noted(void **state)
{
	struct world *const w = begin(state);
	struct lt_run run = make_run(JOB, NOVEMBER, NOVEMBER + HOUR, 1000);
	struct lt_batch_run row = make_row(&run);

	(void)settle(w->f, &run, NOW, NOVEMBER);
	assert_false(run_of(w).used.has_cpu);
	fake_rows = (struct lt_batch_runs){.count = 1, .runs = &row};
	look(w);
	assert_true(run_of(w).used.has_cpu);
	assert_true(run_of(w).used.has_gpu);
	assert_int_equal(run_of(w).used.cpu_ms, 90000);
	assert_int_equal(run_of(w).used.gpu_ppm, 125000);
	assert_int_equal(run_of(w).money_micros, 1000);
	assert_int_equal(alerts_of(w), 0);
	/* Charged again, at another price: it is known all the same. */
	run.money_micros = 1500;
	run.used = run_of(w).used;
	(void)settle(w->f, &run, NOW, NOVEMBER);
	assert_int_equal(run_of(w).used.cpu_ms, 90000);
	/* Nobody says any more: it stays. */
	row.has_cpu_used = row.has_gpu_used = false;
	look(w);
	assert_int_equal(run_of(w).used.gpu_ppm, 125000);
	/* Another run of the job, or nobody's. */
	row = make_row(&run);
	row.cpu_used_ms = 1;
	row.end_utc_s++;
	look(w);
	row.job_id++;
	look(w);
	assert_int_equal(run_of(w).used.cpu_ms, 90000);
	fake_rows = (struct lt_batch_runs){0};
	free_world(w);
}

/* All of the time since the first start, in few questions; then none until more is settled. A
 * slurmdbd that is away is asked for the same again. */
static void
test_spans(void **state)
{
	struct world *const w = begin(state);
	int looks = 0;

	dbd_fails = true;
	assert_int_equal(read_used(w), LT_ENET);
	w->f->err = (struct lt_error){0};
	assert_int_equal(w->d->charges.used_until_utc_s, NOVEMBER);
	dbd_fails = false;
	questions->all = 0;
	while (w->d->charges.used_until_utc_s < NOW - 30 && looks < LOOKS_MOST) {
		const int64_t before = w->d->charges.used_until_utc_s;

		look(w);
		assert_true(w->d->charges.used_until_utc_s > before);
		looks++;
	}
	assert_int_equal(w->d->charges.used_until_utc_s, NOW - 30);
	assert_int_equal(questions->all, looks);
	look(w);
	assert_int_equal(questions->all, looks);
	assert_int_equal(w->d->charges.next.used, NOW + 60);
	/* As the next lowtided reads it. */
	w->d->charges.used_until_utc_s = 0;
	look(w);
	assert_int_equal(questions->all, looks);
	/* One that came late is looked for. */
	must(w->f, lt_utilisation_came(w->d->ledger, &w->d->charges, NOW - LT_DAY_S, &w->f->err));
	assert_int_equal(w->d->charges.used_until_utc_s, NOW - LT_DAY_S - 1);
	/* Also by the next lowtided; a later one changes nothing. */
	w->d->charges.used_until_utc_s = 0;
	must(w->f, lt_utilisation_came(w->d->ledger, &w->d->charges, NOW - LT_HOUR_S, &w->f->err));
	assert_int_equal(w->d->charges.used_until_utc_s, NOW - LT_DAY_S - 1);
	look(w);
	assert_int_equal(questions->all, looks + 1);
	free_world(w);
}

/* Without slurmdbd nobody is asked. */
static void
test_nobody(void **state)
{
	struct world *const w = begin(state);

	w->d->site.tables.conf.accounting_storage[0] = '\0';
	look(w);
	assert_int_equal(questions->all, 0);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_noted, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_idle, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_spans, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_nobody, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("used", tests, NULL, NULL);
}
