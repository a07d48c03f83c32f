/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/report?after=PLACE&limit=M: pages of runs over several accounts, and the base that is
 * null where it is not known.
 */
#include <jansson.h>

#include "api_ask.h"
#include "cli.h"
#include "ledger_fixture.h"
#include "report.h"
#include "units.h"

static struct lt_account accounts[] = {{.name = "nlp"}, {.name = "vision"}};

static struct lt_tables tables;

static json_t *
ask(struct fixture *f, const char *query, int want)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	char uri[128];

	assert_non_null(d);
	d->ledger = f->ledger;
	d->site.policy = &policy;
	d->site.tables = tables;
	d->budget.has_snapshot = true;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = sizeof(accounts) / sizeof(*accounts);
	snprintf(uri, sizeof(uri), "/v1/report?period=2026-11%s", query);
	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	json_t *const json = api_ask(d, uri, want);
	free(d);
	return json;
}

static const struct {
	const char *why, *query;
	int status;
	const char *jobs, *next; /* of the page, in order; NULL: the last */
} pages[] = {
    {"the first", "&after=&limit=2", 200, "4 1 ", "0.1793498400.1793494800.1.1.1."},
    {"over two accounts, nothing twice",
	"&after=0.1793509200.1793505600.1.1.4.9999999999.nlp&limit=2", 200, "1 2 ",
	"0.1793502000.1793498400.1.1.2."},
    {"among equal ends, by job", "&after=0.1793502000.1793498400.1.1.1.9.vision", 200, "2 3 ",
	NULL},
    {"the last, shorter", "&after=0.1793502000.1793498400.1.1.2.9999999999.vision&limit=2", 200,
	"3 ", NULL},
    {"past the end", "&after=0.1793505600.1793502000.1.1.3.9999999999.vision", 200, "", NULL},
    {"an account that left meanwhile", "&after=0.1.1.1.1.1.1.gone", 200, "", NULL},
    {"one team", "&after=&team=vision", 200, "1 2 3 ", NULL},
    {"no place", "&after=-", 400, NULL, NULL},
    {"a place of nobody", "&after=0.1.2.1.1.3.4.", 400, NULL, NULL},
    {"a page larger than a reply may be", "&after=&limit=241", 400, NULL, NULL},
    {"an empty page", "&after=&limit=0", 400, NULL, NULL},
};

static void
test_pages(void **state)
{
	struct fixture *const f = *state;

	for (uint32_t i = 1; i <= 4; i++) {
		struct lt_run run =
		    make_run(i, NOVEMBER + i * HOUR, NOVEMBER + (i + 1) * HOUR, 100);

		if (i == 4)
			strcpy(run.account, "nlp");
		settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
	}
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		json_t *const page = ask(f, pages[i].query, pages[i].status);
		char jobs[64] = "";
		size_t k;
		json_t *run;

		json_array_foreach(json_object_get(page, "runs"), k, run)
			snprintf(jobs + strlen(jobs), sizeof(jobs) - strlen(jobs), "%d ",
			    (int)json_integer_value(json_object_get(run, "job_id")));
		if (pages[i].jobs != NULL && strcmp(jobs, pages[i].jobs) != 0)
			fail_msg("%s: \"%s\"", pages[i].why, jobs);
		const char *const next = json_string_value(json_object_get(page, "next"));
		if ((next == NULL) != (pages[i].next == NULL) ||
		    (next != NULL && strncmp(next, pages[i].next, strlen(pages[i].next)) != 0))
			fail_msg("%s: next %s", pages[i].why, next);
		json_decref(page);
	}
}

/* Vision was below nlp until shortly before its second run, amid the hour, and is below root. */
static void
test_team_then(void **state)
{
	static struct lt_batch_account tree[] = {{"nlp", "root"}, {"root", ""}, {"vision", "root"}};
	static const struct {
		const char *query;
		int64_t cost_micros;
		const char *jobs;
	} cases[] = {{"&team=nlp", 100 + 800, "4 1 "}, {"&team=vision", 100 + 200 + 400, "1 2 3 "},
	    {"&team=root", 1500, "4 1 2 3 "}, {"", 1500, "4 1 2 3 "}};
	struct lt_account_move move = {"vision", "nlp", NOVEMBER + 2 * HOUR + 1800};
	struct fixture *const f = *state;
	char query[64];

	tables = (struct lt_tables){.accounts = tree, .account_count = 3, .moves = {&move, 1}};
	for (uint32_t i = 1; i <= 4; i++) {
		const int64_t start = NOVEMBER + i * HOUR + 2000;
		struct lt_run run = make_run(i, start, start + 600, 50 << i);

		if (i == 4)
			strcpy(run.account, "nlp");
		settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *const report = ask(f, cases[i].query, 200);

		snprintf(query, sizeof(query), "&after=%s", cases[i].query);
		json_t *const page = ask(f, query, 200);
		char jobs[64] = "";
		json_t *run;
		size_t k;

		json_array_foreach(json_object_get(page, "runs"), k, run)
			snprintf(jobs + strlen(jobs), sizeof(jobs) - strlen(jobs), "%d ",
			    (int)json_integer_value(json_object_get(run, "job_id")));
		assert_string_equal(jobs, cases[i].jobs);
		assert_int_equal(json_integer_value(json_object_get(
				     json_object_get(report, "total"), "cost_micros")),
		    cases[i].cost_micros);
		json_decref(report);
		json_decref(page);
	}
	tables = (struct lt_tables){0};
}

static void
adds_up(const json_t *line, const char *whole, const char *parts)
{
	const json_t *const by = json_object_get(line, parts);

	assert_non_null(by);
	assert_int_equal(json_integer_value(json_object_get(by, "time")) +
			     json_integer_value(json_object_get(by, "place")) +
			     json_integer_value(json_object_get(by, "gpu")),
	    json_integer_value(json_object_get(line, whole)));
}

/* The statement and all runs in one answer: of one team as the pages have them, of all by their
 * ends. */
static void
test_all(void **state)
{
	struct fixture *const f = *state;

	for (uint32_t i = 1; i <= 4; i++) {
		struct lt_run run =
		    make_run(i, NOVEMBER + i * HOUR, NOVEMBER + (i + 1) * HOUR, 100);

		strcpy(run.account, i == 4 ? "nlp" : "vision");
		strcpy(run.user, i == 4 ? "a\"b\\c\n\xff" : "ada");
		settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
	}
	json_t *const all = ask(f, "&runs=all", 200);
	json_t *const statement = ask(f, "", 200);
	json_t *const page = ask(f, "&after=", 200);
	json_t *const runs = json_object_get(all, "runs");
	json_t *const paged = json_object_get(page, "runs");
	assert_int_equal(json_array_size(runs), 4);
	assert_string_equal(
	    json_string_value(json_object_get(json_array_get(runs, 3), "user")), "a\"b\\c??");
	json_array_append(paged, json_array_get(paged, 0));
	json_array_remove(paged, 0);
	assert_true(json_equal(runs, paged));
	json_t *const team = ask(f, "&runs=all&team=nlp", 200);
	json_t *const team_page = ask(f, "&after=&team=nlp", 200);
	assert_true(json_equal(json_object_get(team, "runs"), json_object_get(team_page, "runs")));
	json_decref(team);
	json_decref(team_page);
	assert_true(json_is_null(json_object_get(all, "next")));
	adds_up(json_object_get(all, "total"), "saved_micros", "saved_by_micros");
	adds_up(json_object_get(all, "total"), "saved_mg", "saved_by_mg");
	json_object_del(all, "runs");
	json_object_del(all, "next");
	assert_true(json_equal(all, statement));
	json_decref(all);
	json_decref(statement);
	json_decref(page);
	json_decref(ask(f, "&runs=some", 400));
	json_decref(ask(f, "&runs=all&after=", 400));
}

static void
test_baseline(void **state)
{
	static const struct {
		const char *why;
		bool moved, has_baseline, null;
	} cases[] = {
	    {"moved, known", true, true, false},
	    {"moved, not known", true, false, true},
	    {"not moved", false, false, false},
	};
	struct fixture *const f = *state;

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_run run =
		    make_run(i + 1, NOVEMBER + i * HOUR, NOVEMBER + i * HOUR + 60, 100);

		run.moved = cases[i].moved;
		run.has_baseline = cases[i].has_baseline;
		settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
	}
	json_t *const page = ask(f, "&after=", 200);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const json_t *const run = json_array_get(json_object_get(page, "runs"), i);

		if (json_is_null(json_object_get(run, "base_micros")) != cases[i].null ||
		    json_is_null(json_object_get(run, "base_mg")) != cases[i].null)
			fail_msg("%s", cases[i].why);
	}
	json_decref(page);
}

/* Of two partitions one has no price; a run of that one is in no cost. */
static void
test_unpriced(void **state)
{
	struct fixture *const f = *state;

	for (uint32_t i = 0; i < 3; i++) {
		struct lt_run run = make_run(
		    i + 1, NOVEMBER + i * HOUR, NOVEMBER + i * HOUR + 60, i == 0 ? 100 : 0);

		run.priced = i == 0;
		strcpy(run.partition, i == 0 ? "cpu" : "lab");
		settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
	}
	json_t *const report = ask(f, "&by=partition", 200);
	const json_t *const groups = json_object_get(json_object_get(report, "by"), "partition");
	assert_int_equal(json_array_size(groups), 2);
	for (size_t i = 0; i < 2; i++) {
		const json_t *const group = json_array_get(groups, i);
		const bool is_lab =
		    strcmp(json_string_value(json_object_get(group, "partition")), "lab") == 0;

		assert_int_equal(
		    json_integer_value(json_object_get(group, "unpriced_runs")), is_lab ? 2 : 0);
		assert_true(lt_group_is_unpriced(group) == is_lab);
	}
	char *text = NULL;
	size_t length = 0;
	struct lt_error err = {0};
	FILE *const out = open_memstream(&text, &length);
	assert_non_null(out);
	assert_int_equal(
	    lt_report_by_table(out, report, &(struct lt_report_look){.by = true}, &err), LT_OK);
	fclose(out);
	const char *const lab = strstr(text, "\nlab ");
	const char *const sum = strstr(text, "\nTOTAL ");
	assert_non_null(lab);
	assert_non_null(sum);
	assert_non_null(strstr(text, " UNPRICED\n"));
	assert_int_equal(strncmp(lab + strcspn(lab, "-"), "-  ", 3), 0);
	assert_int_equal(strncmp(strchr(sum + 1, '\n') - 2, " 2", 2), 0);
	free(text);
	json_decref(report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_pages, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_team_then, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_all, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_baseline, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_unpriced, set_up, tear_down)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
