/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --unused: the section of the tables and of the HTML statement, and answers that it
 * does not take for zeros. Names are hostile.
 */
#include "report_fixture.h"

static char *
render(json_t *report, enum lt_report_format format, bool unused, struct lt_error *err)
{
	const struct lt_report_look look = {.format = format, .unused = unused};

	return report_text(report, &look, err);
}

static void
begins(const char *text, const char *want)
{
	if (strncmp(text, want, strlen(want)) != 0)
		fail_msg("got \"%.700s\"", text);
}

/* 1793 + 264.05 + 0.05 h are 2057.1, and 3936.000005 + 264.005 + 252.50 are 4452.51. What was not
 * used is what is left as it is shown. */
static void
test_table(void **state)
{
	struct lt_error err = {0};
	char *const text = render(report_load("unused"), LT_REPORT_TABLE, true, &err);

	(void)state;
	assert_int_equal(err.code, LT_OK);
	const char *const section = strstr(text, "Owned nodes");
	assert_non_null(section);
	begins(section,
	    "Owned nodes, paid whether used or not, USD\n"
	    "PARTITION                            PAID h  USED h  UNUSED h      PAID      USED    UNUSED\n"
	    "gpu                                  1968.0  1793.0     175.0  3,936.00  2,500.50  1,435.50\n"
	    "=new<b> (from 2026-11-16 00:00 UTC)   264.0   264.1      -0.1    264.01    300.01    -36.00\n"
	    "sold (until 2026-11-05 05:00 UTC)     505.0     0.1     504.9    252.50      0.01    252.49\n"
	    "-----------------------------------  ------  ------  --------  --------  --------  --------\n"
	    "TOTAL                                2737.0  2057.1     679.9  4,452.51  2,800.51  1,652.00\n"
	    "Below zero: more was booked for runs there than their nodes cost. ");
	/* The teams' own TOTAL is nobody's unused. */
	assert_non_null(strstr(text, "TOTAL    $0.00        $0.00        $0.00  $0.00\n"));
	free(text);
}

/* 3936 + 264 + 252.5 yen are 4452.5: the half goes up, to the row that has it; a dinar's
 * thousandths are shown. No column has a sign or a code. */
static void
test_decimals(void **state)
{
	static const struct {
		const char *currency, *section, *said;
	} cases[] = {
	    {"JPY",
		"Owned nodes, paid whether used or not, JPY\n"
		"PARTITION                            PAID h  USED h  UNUSED h   PAID   USED  UNUSED\n"
		"gpu                                  1968.0  1793.0     175.0  3,936  2,501   1,435\n"
		"=new<b> (from 2026-11-16 00:00 UTC)   264.0   264.1      -0.1    264    300     -36\n"
		"sold (until 2026-11-05 05:00 UTC)     505.0     0.1     504.9    253      0     253\n"
		"-----------------------------------  ------  ------  --------  -----  -----  ------\n"
		"TOTAL                                2737.0  2057.1     679.9  4,453  2,801   1,652\n"
		"Below zero: ",
		"\nshown to \u00a51 and the gram; "},
	    {"KWD",
		"Owned nodes, paid whether used or not, KWD\n"
		"PARTITION                            PAID h  USED h  UNUSED h       PAID       USED     UNUSED\n"
		"gpu                                  1968.0  1793.0     175.0  3,936.000  2,500.500  1,435.500\n"
		"=new<b> (from 2026-11-16 00:00 UTC)   264.0   264.1      -0.1    264.005    300.005    -36.000\n",
		"\nshown to 0.001 KWD and the gram; "}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *const report = report_load("unused");
		struct lt_error err = {0};

		json_object_set_new(report, "currency", json_string(cases[i].currency));
		char *const text = render(report, LT_REPORT_TABLE, true, &err);
		const char *const section = strstr(text, "Owned nodes");

		assert_non_null(section);
		begins(section, cases[i].section);
		assert_non_null(strstr(text, cases[i].said));
		free(text);
	}
}

/* Nothing is explained where nothing is below zero. */
static void
test_above_zero(void **state)
{
	struct lt_error err = {0};
	json_t *const report = report_load("unused");
	const json_t *const rows = json_object_get(json_object_get(report, "unused"), "partitions");

	(void)state;
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *const row = json_array_get(rows, i);

		json_object_set_new(row, "unused_node_s", json_integer(0));
		json_object_set_new(row, "unused_micros", json_integer(0));
	}
	char *const text = render(report, LT_REPORT_TABLE, true, &err);
	assert_int_equal(err.code, LT_OK);
	assert_null(strstr(text, "Below zero"));
	free(text);
}

/* No price for one: n/a, in the total too, never 0. */
static void
test_no_price(void **state)
{
	static const char *const keys[] = {"paid_micros", "used_micros", "unused_micros"};
	json_t *const report = report_load("unused");
	json_t *const unused = json_object_get(report, "unused");
	json_t *const rows = json_object_get(unused, "partitions");
	struct lt_error err = {0};

	(void)state;
	for (int i = 0; i < 3; i++) {
		json_object_set_new(json_array_get(rows, 1), keys[i], json_null());
		json_object_set_new(json_object_get(unused, "total"), keys[i], json_null());
	}
	char *const text = render(report, LT_REPORT_TABLE, true, &err);
	assert_int_equal(err.code, LT_OK);
	const char *const gpu = strstr(text, "\ngpu "), *const of_new = strstr(text, "\n=new"),
			  *const total = strstr(of_new, "\nTOTAL");
	assert_non_null(strstr(gpu, "3,936.00  2,500.50  1,435.50\n"));
	assert_non_null(total);
	/* As wide as the cells of the other rows. */
	static const char none[] = "       n/a       n/a       n/a\n";
	assert_non_null(strstr(of_new, none));
	assert_true(strstr(of_new, none) < total);
	assert_non_null(strstr(total, none));
	free(text);
}

static void
test_no_money(void **state)
{
	json_t *const report = report_load("unused");
	struct lt_error err = {0};

	(void)state;
	json_object_set_new(report, "currency", json_string(""));
	char *const text = render(report, LT_REPORT_TABLE, true, &err);
	assert_non_null(strstr(text, "used or not\nPARTITION"));
	assert_non_null(strstr(text, "UNUSED h\n"));
	assert_null(strstr(text, "1,435"));
	free(text);
}

static void
test_html(void **state)
{
	struct lt_error err = {0};
	char *text = render(report_load("unused"), LT_REPORT_HTML, false, &err);

	(void)state;
	assert_int_equal(err.code, LT_OK);
	const char *const section = strstr(text, "<h2 id=\"unused\">");
	assert_non_null(section);
	assert_non_null(strstr(section,
	    "=new&lt;b&gt; (from 2026-11-16 00:00 UTC)</bdi></th><td>264.1</td><td>264.0</td><td>-0.1</td><td>$300.01</td><td>$264.01</td><td>-$36.00</td>"));
	assert_non_null(strstr(section,
	    "Total</bdi></th><td>2,057.1</td><td>2,737.0</td><td>679.9</td><td>$2,800.51</td><td>$4,452.51</td><td>$1,652.00</td>"));
	free(text);
	/* Not told, or nothing is owned: no section. */
	for (int i = 0; i < 2; i++) {
		json_t *const report = report_load("unused");

		if (i == 0)
			json_object_set_new(report, "unused", json_null());
		else
			json_array_clear(
			    json_object_get(json_object_get(report, "unused"), "partitions"));
		text = render(report, LT_REPORT_HTML, false, &err);
		assert_int_equal(err.code, LT_OK);
		assert_null(strstr(text, "id=\"unused\""));
		free(text);
	}
}

static void
test_refused(void **state)
{
#define HEAD "{\"currency\":\"USD\",\"teams\":[],\"total\":{}"
#define ROW                                                                                        \
	"\"paid_node_s\":1,\"used_node_s\":1,\"unused_node_s\":0,"                                 \
	"\"paid_micros\":null,\"used_micros\":null,\"unused_micros\":"
	static const struct {
		const char *why, *json, *text;
		enum lt_code code;
	} rows[] = {
	    {"an older lowtided", HEAD "}", "has no unused", LT_EVERSION},
	    {"not told", HEAD ",\"unused\":null}", "to who sees all teams", LT_EDENIED},
	    {"another kind of thing", HEAD ",\"unused\":{}}", "unused has no partitions",
		LT_EINPUT},
	    {"no total", HEAD ",\"unused\":{\"partitions\":[]}}",
		"a row of the report's unused is none", LT_EINPUT},
	    {"a fraction",
		HEAD ",\"unused\":{\"partitions\":[{" ROW "0.5}],\"total\":{" ROW "null}}}",
		"unused_micros of unused is no integer", LT_EINPUT},
	    {"nothing is owned", HEAD ",\"unused\":{\"partitions\":[],\"total\":{" ROW "null}}}",
		"", LT_OK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_error err = {0};
		char *const text =
		    render(json_loads(rows[i].json, 0, NULL), LT_REPORT_TABLE, true, &err);

		assert_int_equal(err.code, rows[i].code);
		if (strstr(err.text, rows[i].text) == NULL)
			fail_msg("%s: got \"%s\"", rows[i].why, err.text);
		if (err.code == LT_OK)
			assert_non_null(strstr(text, "Owned nodes: none in this period\n"));
		free(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_decimals),
	    cmocka_unit_test(test_above_zero),
	    cmocka_unit_test(test_no_price),
	    cmocka_unit_test(test_no_money),
	    cmocka_unit_test(test_html),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
