/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of files_check.c: a market or snapshot that breaks one is refused with a reason, and
 * nothing is written.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "files_fixture.h"

/* Each spoils one thing in the struct; none may be written. */
static void
spoil_mode(void)
{
	market.mode = (enum lt_mode)3;
}
static void
spoil_shape(void)
{
	partitions[1].first_shape = 3;
}
static void
spoil_overflow(void)
{
	partitions[1].first_shape = UINT32_MAX;
}
static void
spoil_series(void)
{
	partitions[1].occupancy_series = SERIES;
}
static void
spoil_negative(void)
{
	partitions[1].price_series = -2;
}
static void
spoil_gpu(void)
{
	shapes[1].gpu_index = 1;
}
static void
spoil_nan(void)
{
	partitions[0].pue = NAN;
}
static void
spoil_infinity(void)
{
	values[1][3] = INFINITY;
}
static void
spoil_order(void)
{
	starts[1][3] = starts[1][4];
}
static void
spoil_steps(void)
{
	series[1].count = 0;
}
static void
spoil_quality(void)
{
	series[1].quality = LT_QUALITY_COUNT;
}
static void
spoil_name(void)
{
	strcpy(partitions[1].name, "ondemand");
}
static void
spoil_no_name(void)
{
	partitions[1].name[0] = '\0';
}
static void
spoil_end(void)
{
	memset(market.cluster, 'x', LT_NAME_SIZE);
}
static void
spoil_objective(void)
{
	classes[0].default_objective = LT_OBJECTIVE_COUNT;
}
static void
spoil_slow_down(void)
{
	power_caps[0].slow_down = 0.99;
}
static void
spoil_power(void)
{
	power_caps[0].power = 1.01;
}
static void
spoil_frequency(void)
{
	strcpy(power_caps[0].cpu_freq, "1,2");
}
static void
spoil_above(void)
{
	market.power_cap_above = -1;
}
static void
spoil_rule_kind(void)
{
	precision_rules[0].of = LT_PRECISION_OF_COUNT;
}
static void
spoil_precision(void)
{
	precision_rules[0].precision = LT_PRECISION_COUNT;
}
static void
spoil_bar_asked(void)
{
	bars[0].asked = 0;
}
static void
spoil_bar_partition(void)
{
	bars[1].partition = 2;
}
static void
spoil_bar_order(void)
{
	bars[1] = bars[0];
}
static void
spoil_zone(void)
{
	market.zone.count = LT_ZONE_STEPS_MAX + 1;
}
static void
spoil_count(void)
{
	market.partition_count = 257;
}
static void
spoil_delay(void)
{
	market.max_delay_s = -1;
}

static void
spoil_issued(void)
{
	series[0].issued_utc_s = INT64_MIN;
}
static void
spoil_start(void)
{
	starts[1][0] = -(INT64_C(1) << 41);
}
static void
spoil_memory(void)
{
	shapes[1].memory_mib = UINT64_MAX;
}
static void
spoil_rule(void)
{
	budgets[1].on_exceed = LT_RULE_ALLOW;
}
static void
spoil_unknown(void)
{
	snapshot.on_unknown = LT_RULE_WARN;
}
static void
spoil_period(void)
{
	budgets[1].periods[1].start_utc_s = 21;
}
static void
spoil_usage(void)
{
	usages[1].uid = 5;
}
static void
spoil_usage_budget(void)
{
	usages[1].budget = 2;
}
static void
spoil_case(void)
{
	strcpy(accounts[1].name, "Vision");
}
static void
spoil_accounts(void)
{
	strcpy(accounts[1].name, "abc");
}
static void
spoil_binding(void)
{
	bindings[2] = 2;
}
static void
spoil_twice(void)
{
	bindings[2] = 1;
}
static void
spoil_range(void)
{
	accounts[1].binding_count = 3;
}
static void
spoil_pair(void)
{
	pairs[2].account = 2;
}
static void
spoil_manager(void)
{
	managers[1].account = 3;
}
static void
spoil_managers(void)
{
	managers[1] = managers[0];
}
static void
spoil_parent(void)
{
	accounts[0].parent = 3;
}
static void
spoil_jobs_time(void)
{
	snapshot.jobs_utc_s = INT64_MIN;
}
static void
spoil_pairs(void)
{
	pairs[2].uid = 4;
}
static void
spoil_label(void)
{
	memset(budgets[0].periods[0].label, 'x', 24);
}

static const struct {
	const char *why;
	void (*spoil)(void);
	bool is_sheet;
	int code;
} spoiled[] = {
    {"mode", spoil_mode, false, LT_EINPUT},
    {"shapes past the end", spoil_shape, false, LT_EINPUT},
    {"shapes past 32 bits", spoil_overflow, false, LT_EINPUT},
    {"series past the end", spoil_series, false, LT_EINPUT},
    {"series below -1", spoil_negative, false, LT_EINPUT},
    {"GPU past the end", spoil_gpu, false, LT_EINPUT},
    {"not a number", spoil_nan, false, LT_EINPUT},
    {"infinite price", spoil_infinity, false, LT_EINPUT},
    {"steps out of order", spoil_order, false, LT_EINPUT},
    {"no steps", spoil_steps, false, LT_EINPUT},
    {"quality", spoil_quality, false, LT_EINPUT},
    {"a partition twice", spoil_name, false, LT_EINPUT},
    {"a partition without name", spoil_no_name, false, LT_EINPUT},
    {"a text without end", spoil_end, false, LT_EBUG},
    {"objective", spoil_objective, false, LT_EINPUT},
    {"a cap that is faster", spoil_slow_down, false, LT_EINPUT},
    {"a cap that takes more", spoil_power, false, LT_EINPUT},
    {"a frequency with a comma", spoil_frequency, false, LT_EINPUT},
    {"a cap above less than nothing", spoil_above, false, LT_EINPUT},
    {"a rule of nobody", spoil_rule_kind, false, LT_EINPUT},
    {"a precision too many", spoil_precision, false, LT_EINPUT},
    {"a bar of no request", spoil_bar_asked, false, LT_EINPUT},
    {"a bar of no partition", spoil_bar_partition, false, LT_EINPUT},
    {"a bar twice", spoil_bar_order, false, LT_EINPUT},
    {"zone steps", spoil_zone, false, LT_EINPUT},
    {"too many partitions", spoil_count, false, LT_ELIMIT},
    {"issued before all time", spoil_issued, false, LT_EINPUT},
    {"starts before all time", spoil_start, false, LT_EINPUT},
    {"memory of no machine", spoil_memory, false, LT_ELIMIT},
    {"negative delay", spoil_delay, false, LT_EINPUT},
    {"allow is no answer to over", spoil_rule, true, LT_EINPUT},
    {"warn is no answer to unknown", spoil_unknown, true, LT_EINPUT},
    {"a hole between periods", spoil_period, true, LT_EINPUT},
    {"usage twice", spoil_usage, true, LT_EINPUT},
    {"usage of no budget", spoil_usage_budget, true, LT_EINPUT},
    {"upper case", spoil_case, true, LT_EINPUT},
    {"accounts out of order", spoil_accounts, true, LT_EINPUT},
    {"binding of no budget", spoil_binding, true, LT_EINPUT},
    {"bound twice", spoil_twice, true, LT_EINPUT},
    {"bindings past the end", spoil_range, true, LT_EINPUT},
    {"pair of no account", spoil_pair, true, LT_EINPUT},
    {"pairs out of order", spoil_pairs, true, LT_EINPUT},
    {"a manager of an account beyond", spoil_manager, true, LT_EINPUT},
    {"a manager twice", spoil_managers, true, LT_EINPUT},
    {"a parent beyond", spoil_parent, true, LT_EINPUT},
    {"a job list of no time", spoil_jobs_time, true, LT_EINPUT},
    {"a label without end", spoil_label, true, LT_EBUG},
};

static void
test_spoiled(void **state)
{
	char directory[] = "/tmp/lt-check-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/file", directory);
	for (size_t i = 0; i < sizeof(spoiled) / sizeof(spoiled[0]); i++) {
		struct lt_error err = {0};

		print_message("%s\n", spoiled[i].why);
		make_market();
		make_sheet();
		spoiled[i].spoil();
		const int code = spoiled[i].is_sheet ? lt_sheet_save(&snapshot, path, &err)
						     : lt_market_save(&market, path, &err);
		assert_int_equal(code, spoiled[i].code);
		assert_true(err.text[0] != '\0');
		assert_int_equal(access(path, F_OK), -1);
	}
	assert_int_equal(rmdir(directory), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_spoiled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
