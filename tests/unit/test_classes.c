/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classes of the policy file, and the patterns of job names that one has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "policy.h"

static struct lt_policy *
parsed(const char *text)
{
	struct lt_policy *policy = NULL;
	struct lt_policy_errors errors = {0};

	if (lt_policy_parse_all(&policy, &(struct lt_policy_text){"p.yaml", text, strlen(text)},
		NULL, &errors) != LT_OK)
		fail_msg("%s", errors.items[0].text);
	return policy;
}

static const struct lt_class *
class_of(const struct lt_market *market, const char *account, const char *qos, int partition)
{
	return lt_market_class(
	    market, &(struct lt_class_of){
			.account = account, .qos = qos, .name = "", .partition = partition});
}

static void
test_classes(void **state)
{
	struct lt_policy *policy = parsed("currency: USD\npartitions:\n  a: {}\nclasses:\n"
					  "  urgent: {qos: Prod, preemptible: never,"
					  " default: on, max_delay: 0, deadline_confidence: 99.9,"
					  " max_price: 12.5,"
					  " require_smoke: {above_node_hours: 0.5, within: 7d}}\n"
					  "  batch: {account: vision, partition: a,"
					  " max_interruptions: 3, pause: suspend, canary: true}\n"
					  "  all: {}\n");
	struct lt_partition partition = {.name = "a"};
	struct lt_market market = {.partition_count = 1,
	    .partitions = &partition,
	    .classes = policy->classes,
	    .class_count = (uint32_t)policy->class_count};

	(void)state;
	assert_int_equal(policy->class_count, 3);
	const struct lt_class *const urgent = class_of(&market, "vision", "prod", 0);
	assert_string_equal(urgent->name, "urgent");
	assert_true(urgent->on_demand_only);
	assert_int_equal(urgent->max_interruptions, LT_INTERRUPTIONS_ANY);
	assert_int_equal(urgent->default_objective, LT_OBJECTIVE_BALANCED);
	assert_true(urgent->has_max_delay);
	assert_int_equal(urgent->max_delay_s, 0);
	assert_int_equal(urgent->deadline_confidence_ppm, 999000);
	assert_int_equal(urgent->max_price_micros, 12500000);
	assert_int_equal(urgent->smoke_above_node_s, 1800);
	assert_int_equal(urgent->smoke_within_s, 7 * 86400);
	market.max_delay_s = 60;
	market.deadline_confidence_ppm = 950000;
	assert_int_equal(lt_class_max_delay_s(urgent, &market), 0);
	assert_int_equal(lt_class_confidence_ppm(urgent, &market), 999000);
	const struct lt_class *const batch = class_of(&market, "vision", "", 0);
	assert_string_equal(batch->name, "batch");
	assert_false(batch->on_demand_only);
	assert_int_equal(batch->default_objective, LT_OBJECTIVE_OFF);
	assert_int_equal(batch->max_price_micros, 0);
	assert_int_equal(lt_class_max_delay_s(batch, &market), 60);
	assert_int_equal(lt_class_confidence_ppm(batch, &market), 950000);
	assert_int_equal(lt_class_max_delay_s(NULL, &market), 60);
	assert_int_equal(batch->max_interruptions, 3);
	assert_int_equal(batch->pause, LT_PAUSE_SUSPEND);
	assert_true(batch->canary);
	assert_string_equal(class_of(&market, "vision", "", -1)->name, "all");
	market.class_count = 2;
	assert_null(class_of(&market, "nlp", "", 0));
	lt_policy_free(policy);
}

/* Patterns of job names: from the file, and what they match. */
static void
test_class_names(void **state)
{
	static const struct {
		const char *why, *name, *class;
	} rows[] = {
	    {"a prefix", "sys/dashboard/sys/bc_desktop", "waits"},
	    {"no prefix", "my/sys/dashboard", "rest"},
	    {"within, in any case", "My-JupyterLab", "waits"},
	    {"one byte", "vnc1", "waits"},
	    {"not one byte", "vnc10", "rest"},
	    {"two stars", "a-ray-b-worker", "waits"},
	    {"the second star is tried again", "ray-work-worker", "waits"},
	    {"in the wrong order", "worker-ray", "rest"},
	    {"a comma and a space are bytes", "a, b", "comma"},
	    {"of another account", "a, c", "rest"},
	    {"no name", "", "rest"},
	    {"a bracket is a byte", "[x]", "rest"},
	};
	struct lt_policy *policy = parsed("partitions:\n  a: {}\nclasses:\n"
					  "  waits: {name: [\"sys/dashboard/*\", \"*jupyter*\","
					  " \"vnc?\", \"*ray*worker\", \"[a-z]*]\"]}\n"
					  "  comma: {name: \"A, B\"}\n"
					  "  other: {name: \"a, c\", account: other}\n"
					  "  rest: {default: on}\n");
	const struct lt_market market = {
	    .classes = policy->classes, .class_count = (uint32_t)policy->class_count};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lt_class *const found = lt_market_class(&market,
		    &(struct lt_class_of){
			.account = "vision", .qos = "", .name = rows[i].name, .partition = 0});

		if (strcmp(found->name, rows[i].class) != 0)
			fail_msg("%s: %s is %s", rows[i].why, rows[i].name, found->name);
	}
	lt_policy_free(policy);
}

/* However many stars the admin wrote and however long the user's name is. */
static void
test_class_names_end(void **state)
{
	char pattern[LT_JOB_PATTERNS_SIZE], name[LT_JOB_NAME_SIZE];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(pattern); i++)
		pattern[i] = i % 2 ? 'a' : '*';
	pattern[sizeof(pattern) - 1] = '\0';
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(lt_job_name_matches(pattern, name));
	memcpy(pattern, "*a*a*a*a*a*a*a*a*a*a*b", 23);
	assert_false(lt_job_name_matches(pattern, name));
	assert_true(lt_job_name_matches("*a*a*a*a*a*a*a*a*a*a*", name));
	assert_false(lt_job_name_matches("", name));
	assert_false(lt_job_name_matches("*", ""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_classes),
	    cmocka_unit_test(test_class_names),
	    cmocka_unit_test(test_class_names_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
