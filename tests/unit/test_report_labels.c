/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The labels of teams on their whole way: of a policy's text into lowtided's answers, by the tree
 * of accounts; kept with a closed period, under its checksum; and what others could read into them
 * through each format.
 */
#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "alert.h"
#include "api.h"
#include "daemon.h"
#include "ledger_fixture.h"
#include "periods.h"
#include "policy.h"
#include "report_fixture.h"
#include "units.h"

enum { OCTOBER = NOVEMBER - 31 * LT_DAY_S };

/* root has dept and nlp, dept has vision, vision has audio. */
static struct lt_account accounts[] = {
    {.name = "audio"}, {.name = "dept"}, {.name = "nlp"}, {.name = "root"}, {.name = "vision"}};
static const struct {
	const char *name, *parent;
} tree[] = {
    {"root", ""}, {"dept", "root"}, {"nlp", "root"}, {"vision", "dept"}, {"audio", "vision"}};
enum { ACCOUNTS = sizeof(accounts) / sizeof(*accounts) };

static const char first_policy[] = "currency: USD\n"
				   "labels:\n"
				   "  Dept: {owner: ada@example.org, cost_center: 4711}\n"
				   "  vision: {project: x}\n"
				   "  gone: {owner: nobody}\n"
				   "  audio: {}\n";
static const char next_policy[] = "currency: USD\n"
				  "labels: {vision: {project: y}, nlp: {owner: bob}}\n";
static const char hostile_policy[] = "currency: USD\n"
				     "labels:\n"
				     "  nlp:\n"
				     "    a-formula: =1+1\n"
				     "    b.markup: \"<script>alert('1')</script>\"\n"
				     "    c/quotes: 'a\",\"b\\'\n"
				     "    d_plain: Gr\u00f6\u00dfe \u4e2d\n"
				     "    -dash: '@SUM(A1)'\n"
				     "    empty: ''\n";

static struct lt_policy *
policy_of(const char *yaml)
{
	static const char *const no_adapters[] = {NULL};
	struct lt_policy_errors errors = {0};
	struct lt_policy *policy;

	if (lt_policy_parse_all(&policy, &(struct lt_policy_text){"policy", yaml, strlen(yaml)},
		no_adapters, &errors) != LT_OK)
		fail_msg("%s", errors.items[0].text);
	return policy;
}

/* By lowtided with that policy. */
static char *
ask_text(struct fixture *f, const char *yaml, const struct lt_api_asked *asked, int want)
{
	struct lt_policy *const policy = policy_of(yaml);
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_batch_account rows[ACCOUNTS] = {0};
	char *text = NULL;

	assert_non_null(d);
	for (int i = 0; i < ACCOUNTS; i++) {
		strcpy(rows[i].name, tree[i].name);
		strcpy(rows[i].parent, tree[i].parent);
	}
	lt_accounts_sort(rows, ACCOUNTS);
	d->ledger = f->ledger;
	d->site.policy = policy;
	strcpy(d->site.tables.conf.cluster, "tide");
	d->site.tables.accounts = rows;
	d->site.tables.account_count = ACCOUNTS;
	d->budget.has_snapshot = true;
	d->charges.settled_until_utc_s = INT64_MAX / 2;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = ACCOUNTS;
	const int status = lt_api(d, asked, &text);
	if (status != want)
		fail_msg("%s: %d, %s", asked->uri, status, text);
	lt_policy_free(policy);
	free(d);
	return text;
}

static json_t *
ask(struct fixture *f, const char *yaml, const char *uri)
{
	char *const text =
	    ask_text(f, yaml, &(struct lt_api_asked){.method = "GET", .uri = uri}, 200);
	json_t *const json = json_loads(text, 0, NULL);

	assert_non_null(json);
	free(text);
	return json;
}

static void
close_october(struct fixture *f, const char *yaml)
{
	static const char body[] = "{\"period\":\"2026-10\"}";

	free(ask_text(f, yaml,
	    &(struct lt_api_asked){
		.method = "POST", .uri = "/v1/close", .body = body, .body_length = strlen(body)},
	    200));
}

/* A run of each account in each of the two months. */
static void
run_all(struct fixture *f)
{
	for (uint32_t i = 0; i < 2 * ACCOUNTS; i++) {
		const int64_t start = (i % 2 ? NOVEMBER : OCTOBER) + i * HOUR;
		struct lt_run run = make_run(i + 1, start, start + HOUR, 100);

		strcpy(run.account, accounts[i / 2].name);
		settle(f, &run, NOVEMBER + LT_DAY_S, OCTOBER);
	}
}

static void
check_labels(const json_t *report, const char *account, const char *want)
{
	size_t i;
	const json_t *team;

	json_array_foreach(json_object_get(report, "teams"), i, team) {
		const char *const name = json_string_value(json_object_get(team, "team"));

		if (strcmp(name, account) != 0)
			continue;
		char *const got = json_dumps(json_object_get(team, "labels"), JSON_COMPACT);
		if (got == NULL || strcmp(got, want) != 0)
			fail_msg("%s: got %s, want %s", account, got, want);
		free(got);
		return;
	}
	fail_msg("no row of %s", account);
}

#define DEPT "{\"owner\":\"ada@example.org\",\"cost_center\":\"4711\"}"
#define FIRST "{\"project\":\"x\"}"
#define NEXT "{\"project\":\"y\"}"

/* One's own, else of the nearest above; as the policy is now. */
static void
test_tree(void **state)
{
	struct fixture *const f = *state;

	run_all(f);
	json_t *const report = ask(f, first_policy, "/v1/report?period=2026-11&previous=1");
	const json_t *const both[] = {report, json_object_get(report, "previous")};
	for (int i = 0; i < 2; i++) {
		check_labels(both[i], "dept", DEPT);
		check_labels(both[i], "vision", FIRST);
		check_labels(both[i], "audio", FIRST);
		check_labels(both[i], "nlp", "{}");
		check_labels(both[i], "root", "{}");
	}
	assert_null(json_object_get(json_object_get(report, "total"), "labels"));
	json_decref(report);
	json_t *const one = ask(f, first_policy, "/v1/report?period=2026-11&team=audio");
	assert_int_equal(json_array_size(json_object_get(one, "teams")), 1);
	check_labels(one, "audio", FIRST);
	json_decref(one);
	json_t *const next = ask(f, next_policy, "/v1/report?period=2026-10");
	check_labels(next, "dept", "{}");
	check_labels(next, "audio", NEXT);
	json_decref(next);
}

/* The lines of the ledger, by the tools of others. */
static void
check_sum(struct fixture *f, const json_t *report)
{
	char command[512], got[128] = "sha256:";

	snprintf(command, sizeof(command),
	    "sqlite3 %s/ledger.db \"SELECT head FROM closed;"
	    " SELECT account || ' ' || figures || ' ' || labels"
	    " FROM closed_rows ORDER BY account\" | sha256sum",
	    f->dir);
	FILE *const sum = popen(command, "re");
	assert_non_null(sum);
	assert_int_equal(fread(got + strlen("sha256:"), 1, 64, sum), 64);
	while (fgetc(sum) != EOF) {
	}
	assert_int_equal(pclose(sum), 0);
	assert_string_equal(
	    json_string_value(json_object_get(json_object_get(report, "period"), "checksum")), got);
}

static void
test_closed(void **state)
{
	static const struct lt_api_asked october = {
	    .method = "GET", .uri = "/v1/report?period=2026-10&runs=all"};
	struct fixture *const f = *state;

	run_all(f);
	close_october(f, first_policy);
	char *const before = ask_text(f, first_policy, &october, 200);
	char *const after = ask_text(f, next_policy, &october, 200);
	assert_string_equal(before, after);
	free(before);
	free(after);
	json_t *const kept = ask(f, next_policy, "/v1/report?period=2026-10&runs=all");
	check_labels(kept, "dept", DEPT);
	check_labels(kept, "audio", FIRST);
	check_labels(kept, "nlp", "{}");
	check_sum(f, kept);
	json_decref(kept);
	json_t *const open = ask(f, next_policy, "/v1/report?period=2026-11&previous=1");
	check_labels(open, "audio", NEXT);
	/* While November is open, it is a part of October, with those of now. */
	check_labels(
	    json_object_get(open, "previous"), "audio", time(NULL) < DECEMBER ? NEXT : FIRST);
	json_decref(open);
}

/* What is kept and is no row is told, not shown. */
static void
test_damaged(void **state)
{
	static const struct {
		const char *labels, *figures_end;
		int status;
	} cases[] = {{"{\"owner\":\"ada\"}", "0", 200}, {"", "0", 503}, {"[\"owner\"]", "0", 503},
	    {"{\"owner\":", "0", 503}, {"{}", "", 503}};
	struct fixture *const f = *state;
	const struct lt_closed closed = {
	    .span = {OCTOBER, NOVEMBER}, .label = "2026-10", .head = "{}"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_closed_row row = {.account = "vision"};

		empty(f);
		for (int k = 0; k < 48; k++) /* 3 kinds of 16 figures */
			strcat(row.figures, "0 ");
		strcat(row.figures, cases[i].figures_end);
		row.labels = strdup(cases[i].labels);
		must(f, lt_ledger_close_period(f->ledger, &closed, &row, 1, &f->err));
		free(row.labels);
		free(ask_text(f, next_policy,
		    &(struct lt_api_asked){.method = "GET", .uri = "/v1/report?period=2026-10"},
		    cases[i].status));
	}
}

static char *
printed(const json_t *report, enum lt_report_format format, const struct lt_rows_kind *runs)
{
	char *text = NULL;
	size_t length = 0;
	struct lt_error err = {0};
	const struct lt_report_look look = {.format = format};
	FILE *const out = open_memstream(&text, &length);

	assert_non_null(out);
	if (runs != NULL)
		report_rows(out, report, runs);
	else if (lt_report_print(out, report, &look, &err))
		fail_msg("%s", err.text);
	fclose(out);
	return text;
}

static void
test_formats(void **state)
{
	static const struct {
		enum lt_report_format format;
		const struct lt_rows_kind *runs; /* else by format */
		const char *has, *lacks;
	} cases[] = {
	    {LT_REPORT_JSON, NULL, "\"c/quotes\": \"a\\\",\\\"b\\\\\"", NULL},
	    {LT_REPORT_CSV, NULL,
		",label_-dash,label_a-formula,label_b.markup,label_c/quotes,label_d_plain,label_empty\r\n",
		",=1+1"},
	    {LT_REPORT_CSV, NULL,
		",'@SUM(A1),'=1+1,<script>alert('1')</script>,\"a\"\",\"\"b\\\",Gr\u00f6\u00dfe \u4e2d,\r\n",
		",@SUM"},
	    {LT_REPORT_FOCUS, &lt_focus_csv,
		",\"{\"\"-dash\"\":\"\"@SUM(A1)\"\",\"\"a-formula\"\":\"\"=1+1\"\","
		"\"\"b.markup\"\":\"\"<script>alert('1')</script>\"\","
		"\"\"c/quotes\"\":\"\"a\\\"\",\\\"\"b\\\\\"\","
		"\"\"d_plain\"\":\"\"Gr\u00f6\u00dfe \u4e2d\"\",\"\"empty\"\":\"\"\"\"}\",",
		NULL},
	    {LT_REPORT_CSV, &lt_run_csv,
		",'@SUM(A1),'=1+1,<script>alert('1')</script>,\"a\"\",\"\"b\\\",Gr\u00f6\u00dfe \u4e2d,\r\n",
		",@SUM"},
	    {LT_REPORT_HTML, NULL,
		"<bdi>b.markup: &lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;</bdi>", "<script"},
	    {LT_REPORT_HTML, NULL, "<bdi>d_plain: Gr\u00f6\u00dfe \u4e2d</bdi>", "{}"},
	};
	struct fixture *const f = *state;

	run_all(f);
	json_t *const report = ask(f, hostile_policy,
	    "/v1/report?period=2026-11&previous=1&months=1&runs=all&by=day;team;partition;gpu;state;user&top=10");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *const text = printed(report, cases[i].format, cases[i].runs);

		if (strstr(text, cases[i].has) == NULL ||
		    (cases[i].lacks != NULL && strstr(text, cases[i].lacks) != NULL))
			fail_msg("%s, or %s, in:\n%s", cases[i].has, cases[i].lacks, text);
		free(text);
	}
	json_decref(report);
}

/* Groups have them where the team is known. */
static void
test_groups(void **state)
{
	static const struct {
		const char *query, *head, *row;
	} cases[] = {
	    {"/v1/report?period=2026-11&by=state,team",
		",label_cost_center,label_owner,label_project,unpriced_runs\r\n",
		",4711,ada@example.org,,0\r\n"},
	    {"/v1/report?period=2026-11&by=state", NULL, NULL},
	};
	struct fixture *const f = *state;

	run_all(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *const report = ask(f, first_policy, cases[i].query);
		char *text = NULL;
		size_t length = 0;
		struct lt_error err = {0};
		FILE *const out = open_memstream(&text, &length);

		assert_non_null(out);
		assert_int_equal(lt_report_by_csv(out, report, &err), LT_OK);
		fclose(out);
		if (cases[i].row == NULL)
			assert_null(strstr(text, "label_"));
		else if (strstr(text, cases[i].head) == NULL || strstr(text, cases[i].row) == NULL)
			fail_msg("%s", text);
		free(text);
		json_decref(report);
	}
}

/* A closed month is told to the owners of each team: with the accounts below it, once, and not of a
 * team without a charge. */
static void
test_owners(void **state)
{
	static const char policy[] =
	    "currency: USD\n"
	    "notify:\n"
	    "  spool: /var/spool/lowtide\n"
	    "  mail: {server: smtp://localhost, from: lowtide@example.org}\n"
	    "  owners: {dept: [ada], audio: [bob], gone: [eve]}\n";
	static const struct {
		const char *team, *says;
	} want[] = {
	    {"audio", "\nRuns (1): $2.00, 0 g CO2e\n"}, {"dept", "\nRuns (3): $6.00, 0 g CO2e\n"}};
	struct fixture *const f = *state;

	for (uint32_t i = 0; i < ACCOUNTS; i++) {
		struct lt_run run = make_run(i + 1, OCTOBER, OCTOBER + HOUR, 2000000);

		strcpy(run.account, accounts[i].name);
		run.carbon_mg = 0;
		settle(f, &run, NOVEMBER + LT_DAY_S, OCTOBER);
	}
	for (int twice = 0; twice < 2; twice++) {
		struct lt_alerts due = {0};

		close_october(f, policy);
		must(f, lt_ledger_alerts_due(f->ledger, &due, &f->err));
		assert_int_equal(due.count, 2);
		for (uint32_t i = 0; i < due.count; i++) {
			assert_int_equal(due.rows[i].kind, LT_ALERT_STATEMENT);
			assert_string_equal(due.rows[i].team, want[i].team);
			if (strstr(due.rows[i].text, want[i].says) == NULL)
				fail_msg("%s", due.rows[i].text);
		}
		free(due.rows);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_tree, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_closed, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_formats, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_groups, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_owners, set_up, tear_down),
	};

	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
