/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What jobs and watch say of a job in each of its states, and how a job may be named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "job.h"

#define FAR "2031-01-04T02:05:00Z"

static void
test_lines(void **state)
{
	static const struct {
		const char *why, *json, *currency, *state, *costs;
	} cases[] = {
	    {"it waits where it was planned",
		"{\"state\":\"PENDING\",\"reason\":\"BeginTime\","
		"\"partition\":\"spot\",\"start\":null,\"ended\":false,"
		"\"plan\":{\"partition\":\"spot\",\"start\":\"" FAR "\"},"
		"\"expected\":{\"money_micros\":1200000,\"carbon_mg\":310000},"
		"\"so_far\":null,\"charged\":null,\"saves\":null}",
		"USD", "PENDING (BeginTime), spot from 04 Jan 02:05", ", expected $1.20"},
	    {"a site without money",
		"{\"state\":\"PENDING\",\"reason\":\"None\","
		"\"partition\":\"spot\",\"ended\":false,"
		"\"plan\":{\"start\":\"" FAR "\"},"
		"\"expected\":{\"money_micros\":null,\"carbon_mg\":310000}}",
		"", "PENDING, spot from 04 Jan 02:05", ", expected 310 g"},
	    {"it runs",
		"{\"state\":\"RUNNING\",\"reason\":\"None\","
		"\"partition\":\"spot\",\"start\":\"" FAR "\","
		"\"ended\":false,\"plan\":{\"start\":null},"
		"\"expected\":{\"money_micros\":1200000},"
		"\"so_far\":{\"money_micros\":20000},\"charged\":null}",
		"USD", "RUNNING, spot since 04 Jan 02:05", ", so far $0.02 of $1.20 expected"},
	    {"it runs where nothing was expected",
		"{\"state\":\"RUNNING\",\"partition\":\"spot\",\"start\":\"" FAR
		"\",\"ended\":false,\"expected\":{\"money_micros\":null},"
		"\"so_far\":{\"money_micros\":20000},\"charged\":null}",
		"USD", "RUNNING, spot since 04 Jan 02:05", ", so far $0.02"},
	    {"no price is known, which is not 0",
		"{\"state\":\"RUNNING\",\"partition\":\"spot\",\"start\":\"" FAR
		"\",\"ended\":false,\"so_far\":{\"money_micros\":null}}",
		"USD", "RUNNING, spot since 04 Jan 02:05", ", so far -"},
	    {"it stands still",
		"{\"state\":\"SUSPENDED\",\"reason\":\"None\","
		"\"partition\":\"own\",\"start\":\"" FAR "\","
		"\"ended\":false,\"pause\":{\"until\":\"" FAR "\","
		"\"saves\":{\"money_micros\":null,\"carbon_mg\":1200000}},"
		"\"so_far\":{\"money_micros\":20000},\"charged\":null}",
		"USD",
		"SUSPENDED, own since 04 Jan 02:05, paused until 04 Jan 02:05: saves 1.2 kg CO2e",
		", so far $0.02"},
	    {"it has ended, and is charged",
		"{\"state\":\"COMPLETED\",\"partition\":\"spot\","
		"\"start\":\"" FAR "\",\"ended\":true,"
		"\"expected\":{\"money_micros\":1200000},\"so_far\":null,"
		"\"charged\":{\"money_micros\":40000},"
		"\"saves\":{\"money_micros\":10000}}",
		"USD", "COMPLETED, spot since 04 Jan 02:05", ", charged $0.04, saved $0.01"},
	    {"with a charge for carbon, and a discount",
		"{\"state\":\"COMPLETED\",\"partition\":\"spot\","
		"\"start\":\"" FAR "\",\"ended\":true,"
		"\"charged\":{\"money_micros\":40000,"
		"\"carbon_charge_micros\":10000,\"discount_micros\":20000},"
		"\"saves\":{\"money_micros\":10000}}",
		"USD", "COMPLETED, spot since 04 Jan 02:05",
		", charged $0.04 (with $0.01 for carbon, less $0.02 for having waited), saved $0.01"},
	    {"a discount alone",
		"{\"state\":\"COMPLETED\",\"partition\":\"spot\","
		"\"start\":\"" FAR "\",\"ended\":true,"
		"\"charged\":{\"money_micros\":40000,"
		"\"carbon_charge_micros\":0,\"discount_micros\":20000}}",
		"USD", "COMPLETED, spot since 04 Jan 02:05",
		", charged $0.04 (less $0.02 for having waited)"},
	    {"it never ran",
		"{\"state\":\"CANCELLED\",\"reason\":\"None\","
		"\"partition\":\"spot\",\"start\":null,\"ended\":true,"
		"\"charged\":null}",
		"USD", "CANCELLED, spot", ""},
	    {"it never ran, and something was expected",
		"{\"state\":\"CANCELLED\",\"partition\":\"spot\","
		"\"start\":null,\"ended\":true,\"charged\":null,"
		"\"expected\":{\"money_micros\":1200000}}",
		"USD", "CANCELLED, spot", ""},
	    {"it waits for its budget",
		"{\"state\":\"PENDING\",\"reason\":\"JobHeldAdmin\","
		"\"partition\":\"spot\",\"start\":null,\"ended\":false,"
		"\"plan\":{\"partition\":\"spot\",\"start\":\"" FAR "\"},"
		"\"held\":{\"by\":\"budget\",\"until\":\"" FAR "\"}}",
		"USD", "PENDING (held: budget until 04 Jan 02:05), spot from 04 Jan 02:05", ""},
	    {"nothing at all", "{}", "USD", "?, ? from -", ""},
	};

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256], costs[160];
		json_t *const job = json_loads(cases[i].json, 0, NULL);

		print_message("# %s\n", cases[i].why);
		assert_non_null(job);
		lt_job_state(text, sizeof(text), job, cases[i].currency);
		lt_job_costs(costs, sizeof(costs), job, cases[i].currency);
		assert_string_equal(text, cases[i].state);
		assert_string_equal(costs, cases[i].costs);
		json_decref(job);
	}
}

static void
test_names(void **state)
{
	static const struct {
		const char *job, *path; /* NULL: no job is named so */
	} cases[] = {
	    {"23", "/v1/now/23"},
	    {"23_1", "/v1/now/23_1"},
	    {"team-a/train", "/v1/now/team-a/train"},
	    {"", NULL},
	    {"_1", NULL},
	    {"23_", NULL},
	    {"23_1_2", NULL},
	    {"23_[1-4]", NULL},
	    {"23x", NULL},
	    {"12345678901", NULL},
	    {"1_12345678901", NULL},
	    {"-1", NULL},
	    {"team-a/deployment/web", "/v1/now/team-a/deployment/web"},
	    {"a/b/c/d", NULL},
	    {"Team/train", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[512] = "";
		struct lt_error err = {0};
		const int code = lt_job_path(path, sizeof(path), "/v1/now", cases[i].job, &err);

		if ((code == LT_OK) != (cases[i].path != NULL))
			fail_msg("%s: %d %s", cases[i].job, code, err.text);
		if (code == LT_OK)
			assert_string_equal(path, cases[i].path);
		else
			assert_non_null(strstr(err.text, "want a job id"));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("job_text", tests, NULL, NULL);
}
