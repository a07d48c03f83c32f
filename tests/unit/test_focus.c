/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FOCUS: golden rows of tests/golden/report; rows of runs that are made at random, held to the
 * specification's rules by tests/golden/focus.pl, and their sum; reports of which no FOCUS can be
 * made; the dataset of periods.
 */
#include <unistd.h>

#include "csv.h"
#include "golden.h"
#include "report_fixture.h"
#include "units.h"

/* The first month of the report is billed, or not. */
static const struct lt_rows_kind *
kind_of(const json_t *report)
{
	const json_t *const months = json_object_get(json_object_get(report, "period"), "months");

	return json_object_get(json_array_get(months, 0), "billing") != NULL ? &lt_focus_billed_csv
									     : &lt_focus_csv;
}

static char *
focus_of(const json_t *report)
{
	char *text = NULL;
	size_t length = 0;
	FILE *const out = open_memstream(&text, &length);

	assert_non_null(out);
	report_rows(out, report, kind_of(report));
	fclose(out);
	return text;
}

static void
test_golden(void **state)
{
	static const struct {
		const char *why, *name;
	} cases[] = {
	    {"the ends of a month, corrections, adjustments", "month"},
	    {"a closed month", "closed"},
	    {"runs, one of an array, one without a price", "runs"},
	    {"what users can choose", "names"},
	    {"a charge for carbon, discounts, and corrections of both", "charge"},
	    {"the same of a site that bills, with nodes of its own", "billed"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *const report = report_load(cases[i].name);
		char *const got = focus_of(report);
		char path[256];

		snprintf(path, sizeof(path), REPORT_FOLDER "%s.focus", cases[i].name);
		golden_compare(cases[i].why, path, got);
		free(got);
		json_decref(report);
	}
}

static int64_t
any(uint64_t *state, int64_t least, int64_t most)
{
	return least + (int64_t)(lt_random(state) % (uint64_t)(most - least + 1));
}

static const char *
any_name(uint64_t *state)
{
	static const char *const names[] = {"", "train", "=1+1", "-x", "\"quoted\"", "a,b",
	    "two\nlines", "\r\n", "\t", "@x", "Gr\u00f6\u00dfe", "\u202ertl", "\x1b[31m",
	    "</script>", "\\", "{\"lowtide/user\":1}", "NULL", "n/a", "not applicable", "a\tb",
	    "\u8a13\u7df4"};

	return names[lt_random(state) % (sizeof(names) / sizeof(names[0]))];
}

/* What of its corrections is of hours before the month. */
static void
add_earlier(uint64_t *state, json_t *run, int64_t start, int64_t from, bool priced)
{
	static const char *const figures[] = {
	    "earlier_micros", "earlier_carbon_charge_micros", "earlier_discount_micros"};
	const int64_t end = any(state, start + 1, from);
	char text[32];

	json_object_set_new(
	    run, "earlier_start", json_string(lt_utc_text(text, sizeof(text), start)));
	json_object_set_new(run, "earlier_end", json_string(lt_utc_text(text, sizeof(text), end)));
	json_object_set_new(
	    run, "earlier_late_s", json_integer(any(state, 0, 1) ? end - start : 0));
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		json_object_set_new(run, figures[i],
		    priced ? json_integer(any(state, -5000, 900000)) : json_null());
	json_object_set_new(run, "earlier_mg", json_integer(any(state, -5, 5)));
	json_object_set_new(run, "earlier_wh", json_integer(any(state, 0, 9)));
}

/* About the month of the report, most of it within. */
static json_t *
any_run(uint64_t *state, int64_t from, int64_t to)
{
	const int64_t start = any(state, from - 5 * LT_DAY_S, to - 1);
	const int64_t end = start + any(state, 0, 3 * LT_DAY_S);
	const bool priced = any(state, 0, 9) > 0;
	const int64_t corrections = any(state, 0, 3) ? 0 : any(state, -5000000, 5000000);
	static const char *const parts[] = {"carbon_charge_micros", "discount_micros",
	    "corrections_carbon_charge_micros", "corrections_discount_micros"};
	char start_text[32], end_text[32], share[32];

	lt_utc_text(start_text, sizeof(start_text), start);
	lt_utc_text(end_text, sizeof(end_text), end);
	snprintf(share, sizeof(share), "%d/%d", (int)any(state, 1, 3), (int)any(state, 3, 7));
	json_t *const run = json_pack(
	    "{s:I,s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:s,s:I,s:I,s:I,s:I,s:s,s:I,s:s,s:s,s:s,s:s,s:s}",
	    "job_id", (json_int_t)any(state, 1, 99999999), "user", any_name(state), "account",
	    any(state, 0, 1) ? "nlp" : "gone", "partition", "gpu", "submit", start_text, "start",
	    start_text, "end", end_text, "nodes", (json_int_t)any(state, 0, 400), "share", share,
	    "carbon_mg", (json_int_t)any(state, -1000, 1000000), "energy_wh",
	    (json_int_t)any(state, 0, 100000000), "corrections_micros", (json_int_t)corrections,
	    "corrections_mg", (json_int_t)any(state, 0, 5), "quality", "estimated", "gpus",
	    (json_int_t)any(state, 0, 8), "state", "COMPLETED", "exit_code", "0:0", "name",
	    any_name(state), "qos", "normal", "wckey", any_name(state));

	assert_non_null(run);
	json_object_set_new(run, "money_micros",
	    priced ? json_integer(any(state, -90000000, 900000000000)) : json_null());
	if (!priced)
		json_object_set_new(run, "corrections_micros", json_null());
	if (start < from && any(state, 0, 2) == 0)
		add_earlier(state, run, start, from, priced);
	for (size_t i = 0; priced && any(state, 0, 1) && i < sizeof(parts) / sizeof(*parts); i++)
		json_object_set_new(
		    run, parts[i], json_integer(any(state, 0, 3) ? any(state, 0, 900000) : 0));
	return run;
}

enum { RUNS = 3000 };

static void
set_runs(json_t *report, uint64_t random)
{
	json_t *const runs = json_array();
	int64_t from, to;

	assert_int_equal(lt_utc_parse("2026-09-30T23:00:00Z", &from, NULL), 0);
	assert_int_equal(lt_utc_parse("2026-11-01T00:00:00Z", &to, NULL), 0);
	for (int i = 0; i < RUNS; i++)
		json_array_append_new(runs, any_run(&random, from, to));
	json_object_set_new(report, "runs", runs);
}

static void
check_rules(const char *text)
{
	char file[] = "/tmp/lowtide-focus-XXXXXX", command[128];
	FILE *const out = fdopen(mkstemp(file), "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
	snprintf(command, sizeof(command), "perl tests/golden/focus.pl %s", file);
	const int status = system(command);

	unlink(file);
	assert_int_equal(status, 0);
}

static void
test_rules(void **state)
{
	json_t *const report = report_load("month");

	(void)state;
	set_runs(report, 14);
	char *const got = focus_of(report);
	json_decref(report);
	check_rules(got);
	free(got);
}

/* ---- of a site that bills ---- */

enum { EFFECTIVE, BILLED, CONSUMED, SKU_PRICE, SUB_ACCOUNT, COLUMNS };
struct sums { /* of the file, in millionths */
	int64_t effective, billed, owned, owned_hours, nobodys;
	int rows, kinds[3];
};

static int64_t
micros_of(const char *cell)
{
	int64_t micros = 0;

	if (cell[0] != '\0')
		assert_int_equal(lt_micros_parse(cell, &micros, NULL), LT_OK);
	return micros;
}

static struct sums
sums_of(const char *text)
{
	static const struct lt_csv_column columns[COLUMNS] = {{"EffectiveCost", true},
	    {"BilledCost", true}, {"ConsumedQuantity", true}, {"SkuPriceId", true},
	    {"SubAccountId", true}};
	static const char *const kinds[3] = {"lowtide-node-share-owned",
	    "lowtide-node-share-on-demand", "lowtide-node-share-preemptible"};
	struct sums sums = {0};
	struct lt_csv csv;
	static struct lt_csv_row row;

	lt_csv_start(&csv, text, strlen(text));
	assert_int_equal(lt_csv_header(&csv, columns, COLUMNS, NULL), LT_OK);
	while (lt_csv_row(&csv, &row, NULL) == LT_OK && row.cell_count > 0) {
		const int64_t cost = micros_of(row.cells[EFFECTIVE]);
		const bool is_owned = strcmp(row.cells[SKU_PRICE], kinds[0]) == 0;

		sums.rows++;
		sums.effective += cost;
		sums.billed += micros_of(row.cells[BILLED]);
		for (int i = 0; i < 3; i++)
			sums.kinds[i] += strcmp(row.cells[SKU_PRICE], kinds[i]) == 0;
		sums.owned += is_owned ? cost : 0;
		sums.owned_hours += is_owned ? micros_of(row.cells[CONSUMED]) : 0;
		sums.nobodys += row.cells[SUB_ACCOUNT][0] == '\0' ? cost : 0;
	}
	return sums;
}

static int64_t
figure(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* As lowtided has it of each run that is priced. */
static void
set_parts(json_t *run)
{
	static const char *const parts[] = {"carbon_charge_micros", "discount_micros",
	    "corrections_carbon_charge_micros", "corrections_discount_micros"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (json_is_integer(json_object_get(run, "money_micros")) &&
		    json_object_get(run, parts[i]) == NULL)
			json_object_set_new(run, parts[i], json_integer(0));
}

/* What of the run was charged for the site's own nodes. Those of "late" are its own since the 16th;
 * a correction of closed hours is of them all the same. */
static int64_t
used_of(const json_t *run)
{
	const char *const place = lt_json_text(run, "partition", "");
	const bool is_late = strcmp(place, "late") == 0;

	if (strcmp(place, "own") != 0 && !is_late)
		return 0;
	return is_late && strcmp(lt_json_text(run, "start", ""), "2026-10-16T00:00:00Z") < 0
		   ? figure(run, "earlier_micros") - figure(run, "earlier_carbon_charge_micros") +
			 figure(run, "earlier_discount_micros")
		   : figure(run, "money_micros") - figure(run, "carbon_charge_micros") +
			 figure(run, "discount_micros");
}

/* Half of the runs are on nodes of the site's, of which some were not there from the beginning: the
 * file has what these nodes cost, whoever used them, and what is billed is that, carbon, discounts
 * and adjustments. */
static void
test_billed(void **state)
{
	static const char *const places[] = {"own", "late", "spot", "ondemand", "gone"};
	uint64_t random = 43;
	json_t *const report = report_load("billed");
	const json_t *const owned = json_object_get(json_object_get(report, "billed"), "owned");
	int64_t money = 0, carbon = 0, discount = 0, used = 0, paid = 0, node_s = 0, adjusted = 0;
	size_t i;
	json_t *run;
	const json_t *row;

	(void)state;
	set_runs(report, 43);
	json_array_foreach(json_object_get(report, "runs"), i, run) {
		json_object_set_new(run, "partition", json_string(places[any(&random, 0, 4)]));
		set_parts(run);
		money += figure(run, "money_micros");
		used += used_of(run);
		carbon += figure(run, "carbon_charge_micros");
		discount += figure(run, "discount_micros");
	}
	json_array_foreach(json_object_get(report, "adjustments"), i, row)
		adjusted += figure(row, "money_micros");
	json_array_foreach(owned, i, row) {
		paid += figure(row, "paid_micros");
		node_s += figure(row, "paid_node_s");
	}
	char *const got = focus_of(report);
	check_rules(got);
	const struct sums sums = sums_of(got);
	assert_true(sums.rows > RUNS);
	for (i = 0; i < 3; i++)
		assert_true(sums.kinds[i] > RUNS / 10);
	assert_int_equal(sums.owned, paid);
	assert_int_equal(sums.owned_hours, node_s * LT_MICROS / LT_HOUR_S);
	assert_int_equal(sums.billed, paid + carbon - discount + adjusted);
	assert_int_equal(sums.nobodys, paid - used);
	assert_int_equal(sums.effective, money + adjusted + sums.nobodys);
	free(got);
	/* A reader who may not see what was paid has the same, without rows of nobody's. */
	json_array_foreach(owned, i, row) {
		json_object_set_new((json_t *)(uintptr_t)row, "paid_micros", json_null());
		json_object_set_new((json_t *)(uintptr_t)row, "paid_node_s", json_null());
	}
	char *const less = focus_of(report);
	const struct sums rest = sums_of(less);
	check_rules(less);
	assert_int_equal(rest.nobodys, 0);
	assert_int_equal(rest.effective, money + adjusted);
	assert_int_equal(rest.billed, sums.billed - sums.nobodys);
	free(less);
	json_decref(report);
}

/* A month that was not billed, in a file with one that is: its rows have the column of the others,
 * and nothing is billed. */
static void
test_mixed(void **state)
{
	json_t *const report = report_load("charge");
	char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	report_rows(out, report, &lt_focus_billed_csv);
	fclose(out);
	check_rules(text);
	char *const alone = focus_of(report);
	const struct sums sums = sums_of(text), same = sums_of(alone);
	assert_int_equal(sums.rows, same.rows);
	assert_int_equal(sums.effective, same.effective);
	assert_int_equal(sums.billed, 0);
	assert_int_equal(sums.kinds[0] + sums.kinds[1] + sums.kinds[2], 0);
	assert_int_equal(sums.nobodys, 0);
	free(text);
	free(alone);
	json_decref(report);
}

/* The largest amounts, and what passes 64 bits between them. */
static void
test_limits(void **state)
{
	static const struct {
		const char *why, *run, *has;
	} cases[] = {
	    {"the largest charge",
		"{\"job_id\":1,\"start\":\"2026-10-03T10:00:00Z\",\"end\":\"2026-10-03T11:00:00Z\",\"money_micros\":9223372036854775807,\"corrections_micros\":0}",
		",9223372036854.775807,"},
	    {"charge and correction apart",
		"{\"job_id\":1,\"start\":\"2026-10-03T10:00:00Z\",\"end\":\"2026-10-03T11:00:00Z\",\"money_micros\":5,\"corrections_micros\":9223372036854775807}",
		",-9223372036854.775802,"},
	    {"a share of nothing",
		"{\"job_id\":1,\"start\":\"2026-10-03T10:00:00Z\",\"end\":\"2026-10-03T11:00:00Z\",\"nodes\":1,\"share\":\"0/0\",\"money_micros\":5}",
		",0.000000,Node-Hours,"},
	    {"a third of two nodes for 100 s: 2/3 x 100/3600 = 0.0185185",
		"{\"job_id\":1,\"start\":\"2026-10-03T10:00:00Z\",\"end\":\"2026-10-03T10:01:40Z\",\"nodes\":2,\"share\":\"1/3\",\"money_micros\":5}",
		",0.018519,Node-Hours,"},
	    {"two nodes' 5 h of September whose row came late",
		"{\"job_id\":1,\"start\":\"2026-09-12T07:00:00Z\",\"end\":\"2026-09-12T12:00:00Z\",\"nodes\":2,\"share\":\"1/1\",\"money_micros\":500,\"corrections_micros\":500,\"earlier_start\":\"2026-09-12T07:00:00Z\",\"earlier_end\":\"2026-09-12T12:00:00Z\",\"earlier_late_s\":18000,\"earlier_micros\":500}",
		",2026-09-12T12:00:00Z,2026-09-12T07:00:00Z,10.000000,Node-Hours,"},
	    {"one that is another account's now",
		"{\"job_id\":1,\"start\":\"2026-10-03T10:00:00Z\",\"end\":\"2026-10-03T11:00:00Z\",\"nodes\":2,\"share\":\"1/1\",\"money_micros\":5,\"account_now\":\"nlp\"}",
		",0.000000,Node-Hours,"},
	};
	json_t *const report = report_load("month");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *const runs = json_array();

		json_array_append_new(runs, json_loads(cases[i].run, 0, NULL));
		json_object_set_new(report, "runs", runs);
		char *const got = focus_of(report);

		if (strstr(got, cases[i].has) == NULL)
			fail_msg("%s: %s", cases[i].why, got);
		free(got);
	}
	json_decref(report);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *why, *report, *text;
	} cases[] = {
	    {"no money", "{\"currency\":\"\",\"cluster\":\"t\"}", "got the currency \"\""},
	    {"a currency of the site's own", "{\"currency\":\"CRED\",\"cluster\":\"t\"}",
		"ISO 4217"},
	    {"no name", "{\"currency\":\"EUR\"}", "no name"},
	    {"no period", "{\"currency\":\"EUR\",\"cluster\":\"t\",\"period\":{}}", "the period"},
	    {"a lowtided that says no months",
		"{\"currency\":\"EUR\",\"cluster\":\"t\",\"period\":{\"start\":\"2026-10-01T00:00:00Z\",\"end\":\"2026-11-01T00:00:00Z\"}}",
		"an older release"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *const report = json_loads(cases[i].report, 0, NULL);
		struct lt_rows rows;
		struct lt_error err = {0};
		char *text = NULL;
		size_t size = 0;
		FILE *const out = open_memstream(&text, &size);

		assert_non_null(out);
		assert_int_not_equal(lt_rows_begin(&rows, out, &lt_focus_csv, report, &err), LT_OK);
		assert_false(rows.begun);
		fclose(out);
		assert_string_equal(text, "");
		if (strstr(err.text, cases[i].text) == NULL)
			fail_msg("%s: %s", cases[i].why, err.text);
		lt_rows_free(&rows);
		free(text);
		json_decref(report);
	}
}

/* Days of a month: what is billed is the month. */
static void
test_days(void **state)
{
	static const char days[] =
	    "{\"start\":\"2026-10-03T10:00:00Z\",\"end\":\"2026-10-03T10:30:00Z\",\"months\":[{\"start\":\"2026-09-30T23:00:00Z\",\"end\":\"2026-11-01T00:00:00Z\"}]}";
	static const char run[] =
	    "[{\"job_id\":1,\"start\":\"2026-10-03T09:00:00Z\",\"end\":\"2026-10-03T11:00:00Z\",\"nodes\":4,\"share\":\"1/1\",\"money_micros\":5}]";
	json_t *const report = report_load("month");

	(void)state;
	json_object_set_new(report, "period", json_loads(days, 0, NULL));
	json_object_set_new(report, "runs", json_loads(run, 0, NULL));
	json_object_set_new(report, "adjustments", json_array());
	char *const got = focus_of(report);
	assert_non_null(strstr(got, ",2026-11-01T00:00:00Z,2026-09-30T23:00:00Z,"));
	assert_non_null(
	    strstr(got, ",2026-10-03T10:30:00Z,2026-10-03T10:00:00Z,2.000000,Node-Hours,"));
	free(got);
	json_decref(report);
}

#define PERIOD_HEADER                                                                              \
	"BillingPeriodCreated,BillingPeriodEnd,BillingPeriodLastUpdated,"                          \
	"BillingPeriodStart,BillingPeriodStatus,InvoiceIssuerName\r\n"
#define ROW(updated, status)                                                                       \
	"2026-09-30T23:00:00Z,2026-11-01T00:00:00Z," updated ",2026-09-30T23:00:00Z," status       \
	",tide\r\n"

static void
test_period(void **state)
{
	static const struct {
		const char *state, *closed, *text;
	} cases[] = {
	    {"open", NULL, PERIOD_HEADER ROW("2026-09-30T23:00:00Z", "Open")},
	    {"ended", NULL, PERIOD_HEADER ROW("2026-09-30T23:00:00Z", "Open")},
	    {"closed", "2026-11-04T08:00:00Z", PERIOD_HEADER ROW("2026-11-04T08:00:00Z", "Closed")},
	    {"closed", NULL, PERIOD_HEADER ROW("2026-11-01T00:00:00Z", "Closed")},
	    {"future", NULL, PERIOD_HEADER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *const report = report_load("month");
		json_t *const months = json_object_get(json_object_get(report, "period"), "months");
		json_t *const period = json_array_get(months, 0);
		struct lt_error err = {0};
		char *text = NULL;
		size_t size = 0;
		FILE *const out = open_memstream(&text, &size);

		assert_non_null(out);
		json_object_set_new(period, "state", json_string(cases[i].state));
		json_object_set_new(period, "closed",
		    cases[i].closed != NULL ? json_string(cases[i].closed) : json_null());
		/* A month to come is no row of the quarter. */
		json_array_append_new(
		    months, json_pack("{s:s,s:s,s:s}", "start", "2026-11-01T00:00:00Z", "end",
				"2026-12-01T00:00:00Z", "state", "future"));
		assert_int_equal(lt_focus_period(out, report, &err), LT_OK);
		fclose(out);
		assert_string_equal(text, cases[i].text);
		free(text);
		json_decref(report);
	}
}

/* Each month by who billed it. */
static void
test_issuer(void **state)
{
	json_t *const report = report_load("billed");
	json_t *const months = json_object_get(json_object_get(report, "period"), "months");
	struct lt_error err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	json_array_append_new(months, json_pack("{s:s,s:s,s:s}", "start", "2026-11-01T00:00:00Z",
					  "end", "2026-12-01T00:00:00Z", "state", "open"));
	assert_int_equal(lt_focus_period(out, report, &err), LT_OK);
	fclose(out);
	assert_string_equal(text, PERIOD_HEADER
	    "2026-09-30T23:00:00Z,2026-11-01T00:00:00Z,2026-09-30T23:00:00Z,2026-09-30T23:00:00Z,Open,\"Example University, \"\"HPC\"\"\"\r\n"
	    "2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,2026-11-01T00:00:00Z,2026-11-01T00:00:00Z,Open,tide\r\n");
	free(text);
	json_decref(report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_golden),
	    cmocka_unit_test(test_rules),
	    cmocka_unit_test(test_billed),
	    cmocka_unit_test(test_mixed),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_days),
	    cmocka_unit_test(test_period),
	    cmocka_unit_test(test_issuer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
