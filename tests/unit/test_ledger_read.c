/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs as reports read them: by the time that they touch, whole, and of one state whatever is
 * charged meanwhile.
 */
#include "ledger_fixture.h"

static int
count_run(
    void *context, const struct lt_run *run, const struct lt_booked *booked, struct lt_error *err)
{
	uint32_t *const count = context;

	(void)run;
	(void)booked;
	(void)err;
	++*count;
	return LT_OK;
}

static void
runs_come_back_whole_and_by_time(void **state)
{
	static const struct {
		const char *why;
		const char *account;
		int64_t from_utc_s, to_utc_s;
		uint32_t count;
	} cases[] = {
	    {"all that touch", "vision", NOVEMBER, DECEMBER, 2},
	    {"another account", "speech", NOVEMBER, DECEMBER, 0},
	    {"one that ends as it begins is out", "vision", NOVEMBER + 2 * HOUR,
		NOVEMBER + 3 * HOUR, 0},
	    {"one that begins as it ends is out", "vision", NOVEMBER, NOVEMBER + HOUR, 0},
	    {"a second of one", "vision", NOVEMBER + HOUR, NOVEMBER + HOUR + 1, 1},
	    {"one of no length is no line", "vision", NOVEMBER + 4 * HOUR, NOVEMBER + 6 * HOUR, 0},
	    {"one over the edge of the month", "vision", DECEMBER, JANUARY, 1},
	    {"ended two days after it, and later", "deep", NOVEMBER, NOVEMBER + 2 * HOUR, 3},
	    {"begin as it ends, and are long", "deep", NOVEMBER - HOUR, NOVEMBER + HOUR, 0},
	    {"the longest", "deep", NOVEMBER + 3 * LT_DAY_S, DECEMBER, 1},
	    {"of all, what ended long after it too", NULL, NOVEMBER, NOVEMBER + 2 * HOUR, 4},
	    {"of all, the longest", NULL, NOVEMBER + 3 * LT_DAY_S, DECEMBER, 2},
	};
	static const int64_t long_s[] = {2 * LT_DAY_S, 2 * LT_DAY_S + 1, 20 * LT_DAY_S};
	struct fixture *const f = *state;
	struct lt_run run = make_run(7, NOVEMBER + HOUR, NOVEMBER + 2 * HOUR, 100);
	struct lt_run known, *runs;
	struct lt_totals totals[3];
	uint32_t count;

	run.array_job_id = 5;
	run.array_task = 3;
	run.quote_id = UINT64_MAX - 1;
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	must(f, lt_ledger_run(f->ledger, run.key, &known, &f->err));
	run.settled_utc_s = DECEMBER; /* the ledger's own */
	assert_memory_equal(&run, &known, sizeof(run));
	run = make_run(8, NOVEMBER + 5 * HOUR, NOVEMBER + 5 * HOUR, 0);
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	run = make_run(9, DECEMBER - HOUR, DECEMBER + HOUR, 3);
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	for (uint32_t i = 0; i < sizeof(long_s) / sizeof(*long_s); i++) {
		run = make_run(10 + i, NOVEMBER + HOUR, NOVEMBER + HOUR + long_s[i], 1);
		strcpy(run.account, "deep");
		assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("%s\n", cases[i].why);
		const struct lt_runs_asked asked = {.account = cases[i].account,
		    .from_utc_s = cases[i].from_utc_s,
		    .to_utc_s = cases[i].to_utc_s};
		count = 0;
		must(f, lt_ledger_runs(f->ledger, &asked, count_run, &count, &f->err));
		assert_int_equal(count, cases[i].count);
		if (cases[i].account == NULL)
			continue;
		must(f,
		    lt_ledger_totals(f->ledger, cases[i].account,
			(struct lt_span){cases[i].from_utc_s, cases[i].to_utc_s}, totals, &f->err));
		assert_int_equal(totals[LT_ENTRY_CHARGE].runs, cases[i].count);
	}
	must(f, lt_ledger_runs_of_job(f->ledger, 5, &runs, &count, &f->err));
	assert_int_equal(count, 1);
	assert_int_equal(runs[0].key.job_id, 7);
	free(runs);
	/* Its own alone: of an array of 100,000 that is one. */
	must(f, lt_ledger_runs_of_id(f->ledger, 5, &runs, &count, &f->err));
	assert_int_equal(count, 0);
	free(runs);
	must(f, lt_ledger_runs_of_id(f->ledger, 7, &runs, &count, &f->err));
	assert_int_equal(count, 1);
	free(runs);
}

/* A reader keeps what it saw at first, whatever is charged, and writes nothing. */
static void
a_reader_sees_one_state(void **state)
{
	struct fixture *const f = *state;
	const struct lt_runs_asked asked = {
	    .account = "vision", .from_utc_s = 0, .to_utc_s = JANUARY};
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 1);
	struct lt_ledger *reader;

	settle(f, &run, DECEMBER, NOVEMBER);
	must(f, lt_ledger_open_reader(&reader, f->dir, &f->err));
	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (uint32_t i = 2; i < 50; i++) {
		uint32_t count = 0;

		run = make_run(i, NOVEMBER, NOVEMBER + HOUR, 1);
		settle(f, &run, DECEMBER, NOVEMBER);
		if (i == 25) {
			must(f, lt_ledger_commit(f->ledger, &f->err));
			must(f, lt_ledger_begin(f->ledger, &f->err));
		}
		must(f, lt_ledger_runs(reader, &asked, count_run, &count, &f->err));
		assert_int_equal(count, 1);
	}
	must(f, lt_ledger_commit(f->ledger, &f->err));
	assert_int_equal(lt_ledger_put(reader, "name", "value", NULL), LT_EIO);
	lt_ledger_close(reader);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(runs_come_back_whole_and_by_time),
	    EACH(a_reader_sees_one_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
