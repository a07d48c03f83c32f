/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole command against answers on a real Unix socket: golden texts of tests/golden/reconcile
 * (invoice, signals and jobs in; table, csv and json out), sums that agree in all three, tolerance,
 * and answers that are refused. UPDATE=1 writes the texts anew: read the difference.
 */
#include "golden.h"
#include "reconcile_server.h"

/* ---- texts ---- */
static const struct {
	const char *why, *name;
	const char *arguments[6];
} cases[] = {
    {"idle, more than idle, none, a type that nobody billed, one whose "
     "node-hours are in no unit; what has no place; hostile names",
	"focus", {FOLDER "focus.csv", NULL}},
    {"AWS: spot by the hour, a savings plan, a reservation, partitions by "
     "hand, days out of the period",
	"cur", {FOLDER "cur.csv", "--map", "cpu=p4d.24xlarge,spot=none", NULL}},
};

static void
test_golden(void **state)
{
	static const char *const formats[] = {"table", "csv", "json"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int format = 0; format < 3; format++) {
			const char *arguments[10] = {"--format", formats[format]};
			char path[128];

			for (int k = 0; cases[i].arguments[k] != NULL; k++)
				arguments[2 + k] = cases[i].arguments[k];
			struct said said = run(arguments);

			if (said.status != LT_EXIT_OK || said.error[0])
				fail_msg("%s: %s", cases[i].why, said.error);
			snprintf(
			    path, sizeof(path), FOLDER "%s.out.%s", cases[i].name, formats[format]);
			golden_compare(cases[i].why, path, said.out);
			said_free(&said);
		}
	}
}

/* Worked out by hand from focus.csv and jobs.json. Of the first day: 34 node-hours for 901.5424,
 * jobs had 30, so 4 / 34 of that are idle. */
static void
test_by_hand(void **state)
{
	static const struct {
		const char *day, *type;
		int64_t invoice, jobs, idle, rest;
	} want[] = {
	    {"2026-10-01", "p4d.24xlarge", 901542400, 800000001, 106063812, -4521413},
	    {"2026-10-01", "G5.xlarge", 0, 1500000, -1, -1500000},
	    {"2026-10-01", NULL, 17704000, -1, -1, 17704000},
	    {"2026-10-02", "p4d.24xlarge", 766542400, 790000000, 0, -23457600},
	    {"2026-10-02", "G5.xlarge", 6280000, 0, 6280000, 0},
	    {"2026-10-02", NULL, 91170000, -1, -1, 91170000},
	    {"2026-10-03", "p4d.24xlarge", 786542400, 400000000, -1, 386542400},
	    {"2026-10-03", NULL, -50000000, -1, -1, -50000000},
	};
	const char *const arguments[] = {FOLDER "focus.csv", "--json", NULL};
	struct said said = run(arguments);
	json_t *const json = json_loads(said.out, 0, NULL);
	const json_t *const days = json_object_get(json, "days");

	(void)state;
	assert_int_equal(json_array_size(days), sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < json_array_size(days); i++) {
		const json_t *const row = json_array_get(days, i);
		int64_t invoice = 0, jobs = -1, idle = -1, rest = 0;

		assert_string_equal(lt_json_text(row, "day", ""), want[i].day);
		assert_string_equal(lt_json_text(row, "instance_type", "-"),
		    want[i].type != NULL ? want[i].type : "-");
		lt_json_int(row, "invoice_micros", &invoice);
		lt_json_int(row, "jobs_micros", &jobs);
		lt_json_int(row, "idle_micros", &idle);
		lt_json_int(row, "unexplained_micros", &rest);
		if (invoice != want[i].invoice || jobs != want[i].jobs || idle != want[i].idle ||
		    rest != want[i].rest)
			fail_msg("%zu: %lld %lld %lld %lld", i, (long long)invoice, (long long)jobs,
			    (long long)idle, (long long)rest);
	}
	json_decref(json);
	said_free(&said);
}

/* Cents of a cell such as "$1,234.57"; "-" and "n/a" are none. */
static long long
cents_of(const char *cell)
{
	long long cents = 0;

	for (const char *c = cell; *c; c++)
		if (*c >= '0' && *c <= '9')
			cents = cents * 10 + (*c - '0');
	return cell[0] == '-' ? -cents : cents;
}

/* The table adds up along and down, in the cents that it shows. */
static void
test_table_adds_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct said said = run(cases[i].arguments);
		long long sums[4] = {0}, total[4] = {0};
		int rows = 0;
		char *save = NULL;

		for (char *line = strtok_r(said.out, "\n", &save); line != NULL;
		     line = strtok_r(NULL, "\n", &save)) {
			char first[32], cells[4][32];
			const bool is_day = strncmp(line, "2026-", 5) == 0;

			if ((!is_day && strncmp(line, "TOTAL", 5) != 0) || strlen(line) < 30)
				continue;
			/* after the type, which may have a blank in it */
			assert_int_equal(sscanf(line + 12, "%31s", first), 1);
			assert_int_equal(sscanf(line + 26, "%31s %31s %31s %31s", cells[0],
					     cells[1], cells[2], cells[3]),
			    4);
			for (int k = 0; k < 4; k++)
				*(is_day ? &sums[k] : &total[k]) += cents_of(cells[k]);
			assert_int_equal(cents_of(cells[0]),
			    cents_of(cells[1]) + cents_of(cells[2]) + cents_of(cells[3]));
			rows += is_day;
		}
		assert_true(rows > 0);
		assert_memory_equal(sums, total, sizeof(sums));
		said_free(&said);
	}
}

/* Thirds of a cent in each row and column. */
static void
test_rounding(void **state)
{
	enum { DAYS = 7, THIRD_MICROS = 3333 };
	struct lt_tie_map map = {0};
	struct lt_error err = {0};
	struct lt_invoice_sum sums[(DAYS + 1) * 2] = {{0}};
	struct lt_tie_job_sum job_sums[DAYS] = {{0}};
	const struct lt_invoice invoice = {.day_count = DAYS, .type_count = 1, .sums = sums};
	const struct lt_tie_jobs jobs = {.day_count = DAYS, .type_count = 1, .sums = job_sums};
	const struct lt_tie_parts parts = {&invoice, &map, &jobs};
	struct lt_tie tie;
	int64_t total = 0;

	(void)state;
	assert_int_equal(lt_tie_map_parse(&map, "a=t", &err), LT_OK);
	for (int i = 0; i < DAYS; i++) { /* 2/3 of a micro; 1/3 of one */
		sums[2 * i].cost_pico = (lt_wide)1000000 * 10000 + 666666;
		sums[2 * i + 1].cost_pico = -333333;
		job_sums[i].cost_micros = THIRD_MICROS;
	}
	assert_int_equal(lt_tie_make(&tie, &parts, &err), LT_OK);
	for (int i = 0; i < tie.count; i++) {
		const struct lt_tie_row *const row = &tie.rows[i];

		total += row->invoice_micros;
		assert_int_equal(row->invoice_micros,
		    row->jobs_micros + row->idle_micros + row->unexplained_micros);
	}
	/* 7 * (10000.666666 - 0.333333) = 70002.333331 */
	assert_int_equal(total, 70002);
	assert_int_equal(tie.total.invoice_micros, 70002);
	assert_int_equal(tie.instances.invoice_micros + tie.others.invoice_micros, 70002);
	lt_tie_free(&tie);

	/* What is too large is said, not wrapped around. */
	sums[0].cost_pico = (lt_wide)INT64_MAX * 1000000 + 1000000;
	assert_int_equal(lt_tie_make(&tie, &parts, &err), LT_EOVERFLOW);
	lt_tie_free(&tie);
	err = (struct lt_error){0};
	sums[0].cost_pico = (lt_wide)(INT64_MAX - 5) * 1000000;
	job_sums[0].cost_micros = -10;
	assert_int_equal(lt_tie_make(&tie, &parts, &err), LT_EOVERFLOW);
	lt_tie_free(&tie);
}

/* One day of one type at 100 for 10 node-hours, but for what is said. */
static void
test_idle(void **state)
{
	static const struct {
		const char *why;
		int64_t invoice_s, jobs_s, cost_micros;
		bool has_nodes, unknown, has_idle;
		int64_t idle_micros;
	} idle[] = {
	    {"all of it", 36000, 0, 100000000, true, false, true, 100000000},
	    {"a third of a second's worth", 36000, 35999, 100000000, true, false, true, 2778},
	    {"none", 36000, 36000, 100000000, true, false, true, 0},
	    {"jobs had more", 36000, 36001, 100000000, true, false, true, 0},
	    {"it was for nothing", 36000, 0, 0, true, false, true, 0},
	    {"more was given back", 36000, 0, -5, true, false, true, 0},
	    {"no hours in the invoice", 0, 0, 100000000, false, false, false, 0},
	    {"some of them in GB", 36000, 0, 100000000, true, true, false, 0},
	    {"hours that were taken back", -36000, 0, 100000000, true, false, false, 0},
	};
	struct lt_tie_map map = {0};

	(void)state;
	assert_int_equal(lt_tie_map_parse(&map, "a=t", NULL), LT_OK);
	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++) {
		struct lt_invoice_sum sums[4] = {{(lt_wide)idle[i].cost_micros * 1000000,
		    (lt_wide)idle[i].invoice_s * 1000000 * 1000000, idle[i].has_nodes,
		    idle[i].unknown}};
		struct lt_tie_job_sum job_sum = {1, idle[i].jobs_s};
		const struct lt_invoice invoice = {.day_count = 1, .type_count = 1, .sums = sums};
		const struct lt_tie_jobs jobs = {.day_count = 1, .type_count = 1, .sums = &job_sum};
		const struct lt_tie_parts parts = {&invoice, &map, &jobs};
		struct lt_error err = {0};
		struct lt_tie tie;

		assert_int_equal(lt_tie_make(&tie, &parts, &err), LT_OK);
		if (tie.rows[0].has_idle != idle[i].has_idle ||
		    tie.rows[0].idle_micros != idle[i].idle_micros ||
		    tie.rows[0].unexplained_micros != idle[i].cost_micros - 1 - idle[i].idle_micros)
			fail_msg("%s: %lld", idle[i].why, (long long)tie.rows[0].idle_micros);
		lt_tie_free(&tie);
	}
}

static void
test_exceeds(void **state)
{
	static const struct {
		const char *why;
		int64_t invoice, rest, limit;
		bool exceeds;
	} limits[] = {
	    {"just", 1000, 25, 2500000, false},
	    {"one more", 1000, 26, 2500000, true},
	    {"below zero too", 1000, -26, 2500000, true},
	    {"nothing at all", 0, 0, 0, false},
	    {"no invoice", 0, 1, 99000000, true},
	    {"as large as it gets", INT64_MAX, INT64_MIN, 100000000, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (lt_tie_exceeds(&(struct lt_tie_row){.invoice_micros = limits[i].invoice,
				       .unexplained_micros = limits[i].rest},
			limits[i].limit) != limits[i].exceeds)
			fail_msg("%s", limits[i].why);
}

static void
test_says(void **state)
{
	static const struct {
		const char *why;
		const char *arguments[6];
		const char *wrong;
		int status;
		const char *text; /* on either output */
	} says[] = {
	    /* 357.063387 of 2460.9072: 14.51 % */
	    {"within", {FOLDER "focus.csv", "--tolerance", "14.6", NULL}, NULL, 0, "14.5 %"},
	    {"beyond", {FOLDER "focus.csv", "--tolerance=14.5", NULL}, NULL, 1,
		"more than 14.5 % of the instances' invoice is unexplained"},
	    {"not yet complete", {FOLDER "focus.csv", NULL}, "complete", 0,
		"Not all runs of these days are charged yet."},
	    {"a user", {FOLDER "focus.csv", NULL}, "own_runs", 0, "You do not see the jobs of all"},
	    {"a user who sees even less", {FOLDER "focus.csv", NULL}, "own_figures", 0,
		"You do not see the jobs of all"},
	    {"another period than asked for", {FOLDER "focus.csv", NULL}, "period", 1,
		"lowtided reports on 2026-10-01T00:00:00Z to "
		"2026-10-31T23:00:00Z, asked for 2026-10-01T00:00:00Z to "
		"2026-10-02T00:00:00Z"},
	    {"no groups", {FOLDER "focus.csv", NULL}, "by", 1, "no sums by partition"},
	    {"no file", {"/nonexistent", NULL}, NULL, 1, "/nonexistent: No such file"},
	    {"a folder", {"/", NULL}, NULL, 1, "/: can't be read"},
	    {"one end", {"x", "--from", "2026-10-01", NULL}, NULL, 2,
		"--from and --to go together"},
	    {"no day", {"x", "--from", "2026-13-01", "--to=2026-10-02", NULL}, NULL, 2,
		"--from: got \"2026-13-01\""},
	    {"backwards", {"x", "--from=2026-10-02", "--to=2026-10-01", NULL}, NULL, 2,
		"want 1 to 400 days"},
	    {"too long", {"x", "--from=2025-01-01", "--to=2026-10-01", NULL}, NULL, 2,
		"want 1 to 400 days"},
	    {"no tolerance", {"x", "--tolerance", "5%", NULL}, NULL, 2,
		"--tolerance: got \"5%\", want per cent"},
	    {"less than none", {"x", "--tolerance=-1", NULL}, NULL, 2, "want per cent"},
	    {"no rate", {"x", "--rate", "USD=0", NULL}, NULL, 2,
		"--rate: got \"USD=0\", want a currency and what one"},
	    {"a rate", {FOLDER "focus.csv", "--rate", "EUR=1.1", NULL}, NULL, 0,
		"EffectiveCost (amortised) in USD (EUR=1.1), 2026-10-01"},
	    {"a part twice", {FOLDER "focus.csv", FOLDER "../reconcile/focus.csv"}, NULL, 1,
		"/../reconcile/focus.csv: is tests/golden/reconcile/focus.csv "
		"once more"},
	    {"a part that is not there", {FOLDER "focus.csv", "/nonexistent"}, NULL, 1,
		"/nonexistent: No such file"},
	    {"two parts", {FOLDER "focus.csv", FOLDER "focus2.csv"}, NULL, 0,
		"tests/golden/reconcile/focus.csv and 1 more: FOCUS, 14 rows"},
	    {"no map", {"x", "--map", "a", NULL}, NULL, 2, "--map: got \"a\", want PARTITION=TYPE"},
	    {"no format", {"x", "--format", "xml", NULL}, NULL, 2, "want table, csv or json"},
	    {"days of the invoice by hand",
		{FOLDER "focus.csv", "--from=2026-10-02", "--to=2026-10-04", NULL}, NULL, 0,
		"Outside are 6 rows of other days (2026-10-01 to 2026-10-01): "
		"refunds, corrections or late usage.\nOf them belong to 2026-10 "
		"$919.25.\n"},
	    {"none of its days", {FOLDER "focus.csv", "--from=2026-11-02", "--to=2026-11-04"}, NULL,
		1, "is not from 2026-11-02 to 2026-11-04"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++) {
		server.wrong = says[i].wrong;
		struct said said = run(says[i].arguments);

		server.wrong = NULL;
		if (said.status != says[i].status || (strstr(said.out, says[i].text) == NULL &&
							 strstr(said.error, says[i].text) == NULL))
			fail_msg("%s: %d\n%s%s", says[i].why, said.status, said.out, said.error);
		said_free(&said);
	}
}

/* A site of which nothing is known to be in the cloud. */
static void
test_no_types(void **state)
{
	const char *const arguments[] = {FOLDER "focus.csv", NULL};
	json_t *const signals = server.signals;

	(void)state;
	server.signals = json_pack("{s:s,s:[],s:n}", "currency", "USD", "sources", "next");
	struct said said = run(arguments);

	assert_int_equal(said.status, LT_EXIT_FAILURE);
	assert_non_null(strstr(said.error, "say --map PARTITION=TYPE"));
	said_free(&said);
	json_object_set_new(server.signals, "currency", json_string(""));
	said = run(arguments);
	assert_non_null(strstr(said.error, "no money"));
	said_free(&said);
	json_decref(server.signals);
	server.signals = signals;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_golden),
	    cmocka_unit_test(test_by_hand),
	    cmocka_unit_test(test_table_adds_up),
	    cmocka_unit_test(test_rounding),
	    cmocka_unit_test(test_idle),
	    cmocka_unit_test(test_exceeds),
	    cmocka_unit_test(test_says),
	    cmocka_unit_test(test_no_types),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
