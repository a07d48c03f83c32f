/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A state directory that an older release left, opened by this one: the sums of
 * tests/fixtures/state_0_1/README.md, the holds, runs and rates, and once more after it was closed.
 */
#include "alert.h"
#include "ledger_fixture.h"

static int
unpack(void **state)
{
	struct fixture *const f = calloc(1, sizeof(*f));
	char command[256];

	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/lt-ledger-XXXXXX");
	if (mkdtemp(f->dir) == NULL)
		return -1;
	(void)snprintf(command, sizeof(command),
	    "tar -xJf tests/fixtures/state_0_1/state.tar.xz -C %s "
	    "--no-same-owner",
	    f->dir);
	if (system(command) != 0)
		return -1;
	*state = f;
	return 0;
}

static int
drop(void **state)
{
	struct fixture *const f = *state;
	char command[128];

	lt_ledger_close(f->ledger);
	(void)snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	free(f);
	return system(command);
}

static const struct {
	const char *account;
	uint32_t uid;
	int64_t money_micros, carbon_mg;
} sums[] = {
    {"free", 0, 12500, 626},
    {"nlp", 0, 2500, 623},
    {"nlp", 65534, 1875, 421},
    {"nlp", LT_NOBODY_UID, -2000000, 0}, /* adjustments */
    {"vision", 0, 1875, 1263},
    {"vision", LT_NOBODY_UID, 12500000, 3000000},
    {"vision-a", 0, 5000, 1121},
    {"vision-a", LT_NOBODY_UID, 1, 0},
};

static void
check_sums(struct fixture *f, int64_t from_utc_s, int64_t to_utc_s)
{
	const uint32_t wanted = sizeof(sums) / sizeof(*sums);
	struct lt_account_sum *found;
	uint32_t count;

	must(f, lt_ledger_sums(
		    f->ledger, (struct lt_span){from_utc_s, to_utc_s}, &found, &count, &f->err));
	assert_int_equal(count, wanted);
	for (uint32_t i = 0; i < wanted; i++) {
		assert_string_equal(found[i].account, sums[i].account);
		assert_int_equal(found[i].uid, sums[i].uid);
		assert_int_equal(found[i].money_micros, sums[i].money_micros);
		assert_int_equal(found[i].carbon_mg, sums[i].carbon_mg);
	}
	free(found);
}

static void
check_holds(struct fixture *f)
{
	static const struct {
		uint32_t job_id, flags;
		int64_t money_micros, carbon_mg;
	} wanted[] = {
	    {10, 0, 3600001, 1068562},
	    {11, LT_QUOTE_BUDGET_HOLD, 14400001, 4043202},
	    {13, 0, 2700001, 736442},
	};
	const struct open_holds open = open_holds_of(f);
	uint32_t found = 0;

	assert_int_equal(open.count, 3);
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < open.count; k++) {
			const struct lt_quote *const q = &open.holds[k].quote;

			if (open.holds[k].job_id != wanted[i].job_id)
				continue;
			found++;
			assert_int_equal(q->flags, wanted[i].flags);
			assert_int_equal(open.holds[k].live_tasks, 1);
			assert_int_equal(q->hold_per_task.money_micros, wanted[i].money_micros);
			assert_int_equal(q->hold_per_task.carbon_mg, wanted[i].carbon_mg);
		}
	assert_int_equal(found, 3);
}

struct seen {
	struct fixture *f;
	uint32_t count;
	int64_t charged;
};

static int
check_run(void *context, const struct lt_run_sum *sum, struct lt_error *err)
{
	struct seen *const seen = context;
	struct fixture *const f = seen->f;
	struct lt_ledger_hold hold;
	struct lt_run run;

	(void)err;
	must(f, lt_ledger_run(f->ledger, sum->key, &run, &f->err));
	assert_int_equal(run.money_micros, sum->money_micros);
	seen->count += run.end_utc_s > run.start_utc_s && run.start_utc_s > 0;
	seen->charged += sum->money_micros;
	assert_int_equal(run.moved, run.key.job_id == 5);
	must(f, lt_ledger_hold(f->ledger, run.quote_id, &hold, &f->err));
	assert_int_equal(hold.state, LT_HOLD_SETTLED);
	return LT_OK;
}

static void
check_runs(struct fixture *f)
{
	struct lt_run *runs;
	uint32_t count;
	struct seen seen = {.f = f};

	must(f, lt_ledger_each_run(f->ledger, check_run, &seen, &f->err));
	assert_int_equal(seen.count, 9); /* 12 never ran */
	assert_int_equal(seen.charged, 12500 + 2500 + 1875 + 1875 + 5000);
	must(f, lt_ledger_runs_of_job(f->ledger, 3, &runs, &count, &f->err));
	assert_int_equal(count, 4);
	free(runs);
}

static void
check_rates(struct fixture *f)
{
	static const struct {
		const char *partition;
		double price;
	} wanted[] = {{"ondemand", 3600000}, {"spot", 900000}, {"h100", 36000000}};
	const int64_t at = 1795330106; /* when the runs began */
	struct lt_rate_step *steps;
	uint32_t count;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		must(f,
		    lt_ledger_rates(f->ledger,
			&(struct lt_rates_asked){wanted[i].partition, LT_RATE_PRICE, {at, at + 1}},
			&steps, &count, &f->err));
		assert_int_equal(count, 1);
		assert_true(steps[0].value == wanted[i].price);
		assert_int_equal(steps[0].issued_utc_s, 0); /* not known */
		free(steps);
	}
}

/* Recorded by this release beside what the older one left. */
static void
check_new_rate(struct fixture *f)
{
	const struct lt_rate_step fresh = {
	    DECEMBER, INT64_MAX, 5, LT_QUALITY_CONSTANT, "", DECEMBER + 7};
	struct lt_rate_step *steps;
	uint32_t count;

	must(f, lt_ledger_put_rates(
		    f->ledger, "spot", LT_RATE_PRICE, &(struct lt_rates){1, &fresh}, &f->err));
	must(f, lt_ledger_rates(f->ledger,
		    &(struct lt_rates_asked){"spot", LT_RATE_PRICE, {DECEMBER - 1, DECEMBER + 1}},
		    &steps, &count, &f->err));
	assert_int_equal(count, 2);
	assert_true(steps[0].value == 900000 && steps[1].value == 5);
	assert_int_equal(steps[0].issued_utc_s, 0);
	assert_int_equal(steps[1].issued_utc_s, DECEMBER + 7);
	free(steps);
}

/* Whose table the older one did not have. */
static void
check_alerts(struct fixture *f, bool is_first)
{
	static const struct lt_alert alert = {.name = "alert:x:80",
	    .begins = "alert:x",
	    .kind = LT_ALERT_BUDGET,
	    .team = "x",
	    .uid = LT_NOBODY_UID,
	    .percent = 80,
	    .times = 1,
	    .is_over = true,
	    .made_utc_s = DECEMBER,
	    .until_utc_s = JANUARY,
	    .subject = "s",
	    .text = "t\n"};
	struct lt_alerts due = {0};
	struct lt_alert read = {0};

	if (is_first)
		must(f, lt_ledger_put_alert(f->ledger, &alert, &f->err));
	must(f, lt_ledger_alerts_due(f->ledger, &due, &f->err));
	assert_int_equal(due.count, 1);
	free(due.rows);
	must(f, lt_ledger_prune_alerts(f->ledger, JANUARY, &f->err));
	must(f, lt_ledger_alert(f->ledger, alert.name, &read, &f->err));
	assert_memory_equal(&read, &alert, sizeof(read));
	assert_int_equal(lt_ledger_alert(f->ledger, "alert:x:8", &read, NULL), LT_ENOENT);
}

static void
state_of_0_1(void **state)
{
	struct fixture *const f = *state;

	for (int pass = 0; pass < 2; pass++) {
		must(f, lt_ledger_open(&f->ledger, f->dir, &f->err));
		check_sums(f, 0, INT64_MAX);
		check_sums(f, NOVEMBER, DECEMBER);
		check_holds(f);
		check_runs(f);
		check_rates(f);
		check_new_rate(f);
		check_alerts(f, pass == 0);
		lt_ledger_close(f->ledger);
		f->ledger = NULL;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(state_of_0_1, unpack, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
