/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open OnDemand's balance file: its members as the dashboard's model reads them, whole units that
 * promise nothing, users without a name left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli.h"
#include "report.h"

#define BALANCE(uid, micros, mg)                                                                   \
	"{\"uid\":" uid ",\"account\":\"nlp\",\"available_micros\":" micros                        \
	",\"available_mg\":" mg "}"

static void
test_file(void **state)
{
	static const struct {
		const char *why, *answer, *file;
	} cases[] = {
	    {"nobody", "{\"currency\":\"EUR\",\"balances\":[]}",
		"{\"balances\":[],\"config\":{\"project_type\":\"account\",\"unit\":\"EUR\"},\"timestamp\":7,\"version\":1}"},
	    {"down to whole units, below zero too",
		"{\"currency\":\"EUR\",\"balances\":[" BALANCE("0", "1999999", "null") "," BALANCE(
		    "0", "-1", "null") "," BALANCE("0", "-2000000", "null") "," BALANCE("0", "0",
		    "null") "]}",
		"{\"balances\":[{\"project\":\"nlp\",\"user\":\"root\",\"value\":1},"
		"{\"project\":\"nlp\",\"user\":\"root\",\"value\":-1},"
		"{\"project\":\"nlp\",\"user\":\"root\",\"value\":-2},"
		"{\"project\":\"nlp\",\"user\":\"root\",\"value\":0}],"
		"\"config\":{\"project_type\":\"account\",\"unit\":\"EUR\"},\"timestamp\":7,\"version\":1}"},
	    {"a budget of carbon alone is none of money",
		"{\"currency\":\"EUR\",\"balances\":[" BALANCE("0", "null", "5000000") "]}",
		"{\"balances\":[],\"config\":{\"project_type\":\"account\",\"unit\":\"EUR\"},\"timestamp\":7,\"version\":1}"},
	    {"a site without money: kg",
		"{\"currency\":\"\",\"balances\":[" BALANCE("0", "null", "5900000") "]}",
		"{\"balances\":[{\"project\":\"nlp\",\"user\":\"root\",\"value\":5}],"
		"\"config\":{\"project_type\":\"account\",\"unit\":\"kg CO2e\"},\"timestamp\":7,\"version\":1}"},
	    {"no user of this host",
		"{\"currency\":\"EUR\",\"balances\":[" BALANCE(
		    "4123456789", "5000000", "null") "," BALANCE("-1", "5000000",
		    "null") "," BALANCE("null", "5000000", "null") "]}",
		"{\"balances\":[],\"config\":{\"project_type\":\"account\",\"unit\":\"EUR\"},\"timestamp\":7,\"version\":1}"},
	    {"no answer of ours", "{}",
		"{\"balances\":[],\"config\":{\"project_type\":\"account\",\"unit\":\"kg CO2e\"},\"timestamp\":7,\"version\":1}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_error err = {0};
		json_t *const answer = json_loads(cases[i].answer, 0, NULL);

		assert_non_null(answer);
		json_t *const file = lt_ood_file(answer, 7, &err);
		char *const text = json_dumps(file, JSON_COMPACT | JSON_SORT_KEYS);

		assert_non_null(text);
		if (strcmp(text, cases[i].file) != 0)
			fail_msg("%s: %s", cases[i].why, text);
		free(text);
		json_decref(file);
		json_decref(answer);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
