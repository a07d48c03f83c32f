/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may have sealed a reply, and for whom: uids only, no munge needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "seal.h"

enum { SLURM = 64030, ADA = 1000, BOB = 1001 };

static void
test_check(void **state)
{
	static const struct {
		const char *why;
		struct lt_seal_uids uids;
		uid_t self;
		bool ok;
		const char *text;
	} cases[] = {
	    {"SlurmUser to Ada", {SLURM, true, ADA}, ADA, true, ""},
	    {"root to Ada", {0, true, ADA}, ADA, true, ""},
	    {"SlurmUser to root", {SLURM, true, 0}, 0, true, ""},
	    {"SlurmUser to SlurmUser", {SLURM, true, SLURM}, SLURM, true, ""},
	    {"Bob to Ada", {BOB, true, ADA}, ADA, false, "uid 1001"},
	    {"Ada to herself", {ADA, true, ADA}, ADA, false, "uid 1000"},
	    {"nobody known", {(uid_t)-1, true, ADA}, ADA, false, "SlurmUser"},
	    {"SlurmUser to all", {SLURM, false, ADA}, ADA, false, "restricted"},
	    {"SlurmUser to Bob", {SLURM, true, BOB}, ADA, false, "uid 1000"},
	    {"root to Bob, Ada reads", {0, true, BOB}, ADA, false, "uid 1000"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_error err = {0};
		const int code = lt_seal_check(&cases[i].uids, SLURM, cases[i].self, &err);

		if ((code == LT_OK) != cases[i].ok || strstr(err.text, cases[i].text) == NULL)
			fail_msg("%s: %d, %s", cases[i].why, code, err.text);
		assert_true(code == LT_OK || code == LT_EDENIED);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_check)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
