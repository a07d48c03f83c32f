/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor's view of precision= on plugstack's line: the policy's rules, in their order, and no
 * others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "doctor.h"
#include "policy.h"

static struct lt_precision_rule rules[] = {
    {LT_PRECISION_OF_ACCOUNT, "audit", LT_PRECISION_OFF},
    {LT_PRECISION_OF_PARTITION, "old", LT_PRECISION_FP16},
};

static const struct {
	const char *why;
	int count;
	const char *line;
	bool right;
} cases[] = {
    {"no rules, none there", 0, "x.so gpu=a:b", true},
    {"no rules, one there", 0, "x.so precision=account:audit:off", false},
    {"both", 2, "x.so precision=account:audit:off,partition:old:fp16 amp=off", true},
    {"another order", 2, "x.so precision=partition:old:fp16,account:audit:off", false},
    {"one is missing", 2, "x.so precision=account:audit:off", false},
    {"one too many", 1, "x.so precision=account:audit:off,partition:old:fp16", false},
    {"another precision", 1, "x.so precision=account:audit:auto", false},
    {"none of them", 2, "x.so", false},
};

static void
test_line(void **state)
{
	char want[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_policy policy = {
		    .precision_count = cases[i].count, .precisions = rules};

		if (lt_precision_argument(&policy, cases[i].line, want, sizeof(want)) !=
		    cases[i].right)
			fail_msg("%s: wants %s", cases[i].why, want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
