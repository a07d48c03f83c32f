/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report --tcto: the same figures as table, CSV and JSON, and answers that are refused.
 */
#include "report_fixture.h"

/* Parts that end at half a cent and a third of one: 1.005 + 0.003333 + 2.675
 * = 3.683333. */
static const char *const answer =
    "{\"period\":{\"label\":\"2026-10\"},\"cluster\":\"=tide\","
    "\"currency\":\"USD\",\"teams\":[],\"total\":{},\"tcto\":{"
    "\"compute_micros\":1005000,\"energy_micros\":3333,"
    "\"storage_micros\":null,\"engineer_micros\":2675000,"
    "\"failed_micros\":0,\"total_micros\":3683333,"
    "\"per_gpu_hour_micros\":null,\"per_completed_run_micros\":1841667}}";

static char *
render(const char *json, enum lt_report_format format, struct lt_error *err)
{
	const struct lt_report_look look = {.format = format, .tcto = true};

	return report_text(json_loads(json, 0, NULL), &look, err);
}

static void
test_formats(void **state)
{
	struct lt_error err = {0};
	char *text = render(answer, LT_REPORT_CSV, &err);

	(void)state;
	assert_string_equal(text, "period,cluster,currency,part,amount\r\n"
				  "2026-10,'=tide,USD,compute,1.005000\r\n"
				  "2026-10,'=tide,USD,energy,0.003333\r\n"
				  "2026-10,'=tide,USD,storage,\r\n"
				  "2026-10,'=tide,USD,engineer,2.675000\r\n"
				  "2026-10,'=tide,USD,failed,0.000000\r\n"
				  "2026-10,'=tide,USD,total,3.683333\r\n"
				  "2026-10,'=tide,USD,per_gpu_hour,\r\n"
				  "2026-10,'=tide,USD,per_completed_run,1.841667\r\n");
	free(text);
	/* 1.005, 0.0033 and 2.675 are 3.6833. */
	text = render(answer, LT_REPORT_TABLE, &err);
	const char *const section = strstr(text, "Total cost to outcome, USD\n");
	assert_non_null(section);
	static const char want[] = "Total cost to outcome, USD\n"
				   "PART                              COST\n"
				   "compute                          $1.01\n"
				   "energy of owned nodes            $0.00\n"
				   "storage                        no rate\n"
				   "engineers after interruptions    $2.68\n"
				   "failed runs                      $0.00\n"
				   "-----------------------------  -------\n"
				   "TOTAL                            $3.68\n"
				   "a run that completed: $1.84\n";
	assert_int_equal(strncmp(section, want, strlen(want)), 0);
	assert_null(strstr(section, "a GPU-hour"));
	free(text);
	text = render(answer, LT_REPORT_JSON, &err);
	assert_non_null(strstr(text, "\"total_micros\": 3683333"));
	free(text);
	assert_int_equal(err.code, LT_OK);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *why, *json, *text;
		enum lt_code code;
	} rows[] = {
	    {"an older lowtided", "{\"teams\":[],\"total\":{}}", "has no tcto", LT_EVERSION},
	    {"a fraction of a micro",
		"{\"teams\":[],\"total\":{},\"tcto\":{\"compute_micros\":1.5}}",
		"compute_micros of tcto is no integer", LT_EINPUT},
	    {"not all of it", "{\"teams\":[],\"total\":{},\"tcto\":{}}",
		"compute_micros of tcto is no integer", LT_EINPUT},
	    {"another kind of thing", "{\"teams\":[],\"total\":{},\"tcto\":[]}",
		"tcto is no object", LT_EINPUT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_error err = {0};
		char *const text = render(rows[i].json, LT_REPORT_TABLE, &err);

		assert_int_equal(err.code, rows[i].code);
		if (strstr(err.text, rows[i].text) == NULL)
			fail_msg("%s: got \"%s\"", rows[i].why, err.text);
		free(text);
	}
}

static void
test_no_prices(void **state)
{
	struct lt_error err = {0};
	char *const text = render(
	    "{\"currency\":\"\",\"teams\":[],\"total\":{},\"tcto\":null}", LT_REPORT_TABLE, &err);

	(void)state;
	assert_int_equal(err.code, LT_OK);
	assert_non_null(strstr(text, "this site has no prices\n"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_formats),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_no_prices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
