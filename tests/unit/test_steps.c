/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step's failure is news once, stays until that step works again, and never hides another's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "steps.h"

static const struct {
	const char *why;
	enum lt_step_id step;
	const char *error; /* NULL = it worked */
	bool news;
	const char *text; /* of all, after it */
} cases[] = {
    {"success from the start is no news", LT_STEP_JOBS, NULL, false, ""},
    {"a failure is", LT_STEP_JOBS, "refused", true, "jobs: refused"},
    {"the same again is not", LT_STEP_JOBS, "refused", false, "jobs: refused"},
    {"a second step's is", LT_STEP_SETTLE, "no slurmdbd", true, "jobs: refused"},
    {"the first one's is still known", LT_STEP_JOBS, "refused", false, "jobs: refused"},
    {"another text is news", LT_STEP_JOBS, "timed out", true, "jobs: timed out"},
    {"another step's success clears nothing", LT_STEP_TABLES, NULL, false, "jobs: timed out"},
    {"its own success does, and shows what is left", LT_STEP_JOBS, NULL, true,
	"settle: no slurmdbd"},
    {"all fine", LT_STEP_SETTLE, NULL, true, ""},
    {"a failure without a text is one", LT_STEP_VOID, "", true, "void: failed"},
};

static void
test_steps(void **state)
{
	(void)state;
	struct lt_steps steps = {0};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[LT_ERROR_TEXT_SIZE];
		struct lt_error err = {0};
		bool news;

		if (cases[i].error != NULL) {
			strcpy(err.text, cases[i].error);
			news = lt_step_failed(&steps, cases[i].step, &err);
		} else {
			news = lt_step_worked(&steps, cases[i].step);
		}
		lt_steps_text(text, &steps);
		if (news != cases[i].news || strcmp(text, cases[i].text) != 0)
			fail_msg("%s: %d \"%s\"", cases[i].why, news, text);
	}
	/* News or not, each was a failure. */
	assert_int_equal(steps.failures[LT_STEP_JOBS], 4);
	assert_int_equal(steps.failures[LT_STEP_TABLES], 0);
}

/* What metrics and lowtide status call them, in this order. */
static void
test_names(void **state)
{
	char all[1024] = "";
	size_t length = 0;

	(void)state;
	for (int i = 0; i < LT_STEP_COUNT; i++) {
		const char *const name = lt_step_name((enum lt_step_id)i);

		if (name != NULL)
			length +=
			    (size_t)snprintf(all + length, sizeof(all) - length, "%s, ", name);
	}
	assert_string_equal(all, "tables, market, rates, absorb, jobs, settle, void, "
				 "release, replan, notice, life, afterwards, pause, "
				 "proof, canary, budget, terms, forecasts, alerts, "
				 "mail, run costs, unusual days, prune, history, "
				 "used, ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_steps), cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
