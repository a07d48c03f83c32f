/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor's view of preemptible= on plugstack's line: the policy's numbers as they are, of a
 * source's rate only that there is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "doctor.h"
#include "policy.h"

static struct lt_policy_partition partitions[] = {
    {.name = "ondemand"},
    {.name = "spot", .preemptible = true},
    {.name = "spot-low",
	.preemptible = true,
	.notice_s = 120,
	.hazard = {.is_set = true, .is_constant = true, .constant = 0.004}},
};

static const char answer[] = "{\"partitions\": [{\"name\": \"spot\", \"hazard\": {\"value\": "
			     "0.0021437}}]}";

static const struct {
	const char *why, *line;
	bool right;
} cases[] = {
    {"both", "x.so preemptible=spot:0.3,spot-low:0.004:120", true},
    {"in another order, and more behind", "x.so preemptible=spot-low:0.004:120,spot:.01 gpu=a:b",
	true},
    {"one more partition", "x.so preemptible=a:1,spot:1,spot-low:0.004:120", true},
    {"the written one differs", "x.so preemptible=spot:0.3,spot-low:0.004:1201", false},
    {"no notice", "x.so preemptible=spot:0.3,spot-low:0.004", false},
    {"another notice", "x.so preemptible=spot:0.3,spot-low:0.004:12", false},
    {"a notice of more", "x.so preemptible=spot:0.3,spot-low:0.004:1200", false},
    {"a notice that is none", "x.so preemptible=spot:0.3:60,spot-low:0.004:120", false},
    {"one is missing", "x.so preemptible=spot-low:0.004:120", false},
    {"a name that begins alike", "x.so preemptible=spotty:1,spot-low:0.004:120", false},
    {"no number", "x.so preemptible=spot:,spot-low:0.004:120", false},
    {"a word", "x.so preemptible=spot:RATE,spot-low:0.004:120", false},
    {"nothing of it", "x.so", false},
    {"an empty list", "x.so preemptible=", false},
    {"in another word", "x.so preemptible=spot-low:0.004:120 gpu=spot:1", false},
};

static void
test_line(void **state)
{
	const struct lt_policy policy = {.partition_count = 3, .partitions = partitions};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (lt_preemptible_argument(&policy, NULL, cases[i].line, text, sizeof(text)) !=
		    cases[i].right)
			fail_msg("%s", cases[i].why);
}

static void
test_proposed(void **state)
{
	const struct lt_policy policy = {.partition_count = 3, .partitions = partitions};
	const struct lt_policy none = {.partition_count = 1, .partitions = partitions};
	json_t *const signals = json_loads(answer, 0, NULL);
	char text[256];

	(void)state;
	lt_preemptible_argument(&policy, signals, "", text, sizeof(text));
	assert_string_equal(text, "preemptible=spot:0.00214,spot-low:0.004:120");
	lt_preemptible_argument(&policy, NULL, "", text, sizeof(text));
	assert_string_equal(text, "preemptible=spot:RATE,spot-low:0.004:120");
	lt_preemptible_argument(&none, signals, "", text, sizeof(text));
	assert_string_equal(text, "");
	const struct lt_policy stored = {.partition_count = 1,
	    .partitions = &(struct lt_policy_partition){.name = "s",
		.preemptible = true,
		.storage_gib_per_s = 2.5,
		.hazard = {true, .is_constant = true, .constant = 1}}};

	assert_false(
	    lt_preemptible_argument(&stored, signals, "x.so preemptible=s:1", text, sizeof(text)));
	assert_string_equal(text, "preemptible=s:1:0:2.5");
	assert_true(lt_preemptible_argument(
	    &stored, signals, "x.so preemptible=s:1:0:2.5", text, sizeof(text)));
	json_decref(signals);
}

/* KillWait and five seconds have to be over before the node is gone. */
static void
test_hurried(void **state)
{
	static const struct {
		const char *why;
		int64_t kill_wait_s;
		const char *names;
	} notices[] = {
	    {"as Slurm has it", 30, "gcp"},
	    {"a second is left", 24, ""},
	    {"none is left", 25, "gcp"},
	    {"longer than both", 115, "spot, gcp"},
	};
	struct lt_policy_partition parts[] = {
	    {.name = "ondemand", .notice_s = 1},
	    {.name = "unsaid", .preemptible = true},
	    {.name = "spot", .preemptible = true, .notice_s = 120},
	    {.name = "gcp", .preemptible = true, .notice_s = 30},
	};
	const struct lt_policy policy = {.partition_count = 4, .partitions = parts};

	(void)state;
	for (size_t i = 0; i < sizeof(notices) / sizeof(notices[0]); i++) {
		char names[64];

		if (lt_preemptible_hurried(&policy, notices[i].kill_wait_s, names, sizeof(names)) !=
			(notices[i].names[0] != '\0') ||
		    strcmp(names, notices[i].names) != 0)
			fail_msg("%s: got \"%s\"", notices[i].why, names);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_line),
	    cmocka_unit_test(test_proposed),
	    cmocka_unit_test(test_hurried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
