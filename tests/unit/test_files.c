/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Market and budget snapshots: what is packed comes back, bad structs are not
 * written, damaged bytes and untrusted files not read.
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "files.h"
#include "units.h"

enum { STEPS = 2016, SERIES = 3, START = 1763683200 };

static int64_t starts[SERIES][STEPS + 1];
static double values[SERIES][STEPS], integrals[SERIES][STEPS + 1];
static struct lt_series series[SERIES];
static struct lt_partition partitions[2];
static struct lt_shape shapes[3];
static struct lt_gpu gpus[1];
static struct lt_default defaults[1];
static struct lt_market market;

static struct lt_budget budgets[2];
static struct lt_usage usages[2];
static struct lt_account accounts[2];
static uint32_t bindings[3];
static struct lt_pair pairs[3];
static struct lt_balance_sheet sheet;

static char directory[64], path[96];

static void
make_market(void)
{
	for (int s = 0; s < SERIES; s++) {
		for (int i = 0; i <= STEPS; i++)
			starts[s][i] = START + 300 * i;
		for (int i = 0; i < STEPS; i++)
			values[s][i] = s * 100.0 + i % 7 - 2.5;
		series[s] = (struct lt_series){ .count = STEPS,
			.quality = LT_QUALITY_FORECAST, .issued_utc_s = START,
			.source = "london", .start_utc_s = starts[s],
			.value = values[s], .integral = integrals[s] };
		assert_int_equal(lt_series_prepare(&series[s], NULL), LT_OK);
	}
	for (int i = 0; i < 2; i++)
		partitions[i] = (struct lt_partition){ .flags = LT_PARTITION_UP,
			.max_time_s = INT64_MAX, .min_nodes = 1,
			.max_nodes = UINT32_MAX, .node_count = 4,
			.shape_count = 1, .first_shape = (uint32_t)i,
			.price_series = i, .carbon_series = 2,
			.tariff_series = LT_NO_SERIES,
			.busy_series = LT_NO_SERIES, .node_idle_w = 300,
			.pue = 1.15, .allow_accounts = i ? "a,b" : "",
			.allow_qos = i ? "normal" : NULL };
	strcpy(partitions[0].name, "ondemand");
	strcpy(partitions[1].name, "spot");
	shapes[1] = (struct lt_shape){ 4, 64, 8, 1024000, "h100", 0 };
	shapes[0] = shapes[2] = (struct lt_shape){ .gpu_index = -1 };
	gpus[0] = (struct lt_gpu){ .name = "H100", .memory_mib = 81559,
		.tflops = { [LT_PRECISION_FP8] = 1979 } };
	defaults[0] = (struct lt_default){ true, "green",
		LT_OBJECTIVE_CARBON };
	market = (struct lt_market){ .generation = 7, .compiled_utc_s = START,
		.cluster = "c1", .currency = "USD", .mode = LT_MODE_ENFORCE,
		.max_delay_s = 86400, .over_time_limit_s = INT64_MAX,
		.hold_margin_ppm = 50000, .partition_count = 2,
		.shape_count = 3, .series_count = SERIES, .gpu_count = 1,
		.default_count = 1, .partitions = partitions,
		.shapes = shapes, .series = series, .gpus = gpus,
		.defaults = defaults };
	market.zone.count = 2;
	market.zone.steps[0].start_utc_s = INT64_MIN;
	market.zone.steps[1].offset_s = -3600;
	strcpy(market.zone.steps[1].abbreviation, "CET");
}

static void
make_sheet(void)
{
	const struct lt_amount some = { true, false, -3, 0 };
	for (int i = 0; i < 2; i++) {
		memset(&budgets[i], 0, sizeof budgets[i]);
		strcpy(budgets[i].team, i ? "vision" : "research");
		budgets[i].on_exceed = LT_RULE_WARN;
		budgets[i].has_per_user = i == 1;
		budgets[i].periods[0] = (struct lt_period){ 10, 20,
			"November", some, some, some };
		budgets[i].periods[1] = (struct lt_period){ 20, 30,
			"December", some, some, some };
	}
	usages[0] = (struct lt_usage){ .budget = 1, .uid = 5 };
	usages[1] = (struct lt_usage){ .budget = 1, .uid = 6 };
	accounts[0] = (struct lt_account){ "research", 0, 1 };
	accounts[1] = (struct lt_account){ "vision", 1, 2 };
	bindings[0] = 0;
	bindings[1] = 1;
	bindings[2] = 0;
	pairs[0] = (struct lt_pair){ 5, 0, false };
	pairs[1] = (struct lt_pair){ 5, 1, true };
	pairs[2] = (struct lt_pair){ 6, 0, true };
	sheet = (struct lt_balance_sheet){ .generation = 9,
		.compiled_utc_s = START, .ring_generation = UINT64_MAX,
		.ring_absorbed = 77, .ready = true,
		.on_unknown = LT_RULE_HOLD, .stale_after_s = 120,
		.budget_count = 2, .usage_count = 2, .account_count = 2,
		.binding_count = 3, .pair_count = 3, .budgets = budgets,
		.usages = usages, .accounts = accounts,
		.bindings = bindings, .pairs = pairs };
}

static int
setup(void **state)
{
	(void)state;
	make_market();
	make_sheet();
	snprintf(directory, sizeof directory, "/tmp/lt-files-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/file", directory);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	unlink(path);
	/* Fails when a ".new" was left. */
	return rmdir(directory);
}

/* Equal when they pack to the same bytes. */
static void
assert_same_market(const struct lt_market *a, const struct lt_market *b)
{
	unsigned char *x = NULL, *y = NULL;
	size_t x_count = 0, y_count = 0;
	assert_int_equal(lt_market_pack(a, &x, &x_count, NULL), LT_OK);
	assert_int_equal(lt_market_pack(b, &y, &y_count, NULL), LT_OK);
	assert_int_equal(x_count, y_count);
	assert_memory_equal(x, y, x_count);
	free(x);
	free(y);
}

static void
test_market_comes_back(void **state)
{
	(void)state;
	struct lt_market back;
	struct stat status;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0644);
	assert_int_equal(lt_market_load(&back, path, NULL, NULL), LT_OK);
	assert_same_market(&back, &market);
	assert_int_equal(back.generation, 7);
	assert_int_equal(back.compiled_utc_s, START);
	assert_string_equal(back.currency, "USD");
	assert_string_equal(back.partitions[1].name, "spot");
	assert_string_equal(back.partitions[1].allow_accounts, "a,b");
	assert_string_equal(back.partitions[1].allow_qos, "normal");
	assert_string_equal(back.partitions[0].allow_qos, "");
	assert_true(back.over_time_limit_s == INT64_MAX);
	assert_true(back.zone.steps[0].start_utc_s == INT64_MIN);
	assert_int_equal(back.zone.steps[1].offset_s, -3600);
	assert_string_equal(back.gpus[0].name, "H100");
	for (int s = 0; s < SERIES; s++)
		assert_memory_equal(back.series[s].integral, integrals[s],
		    sizeof integrals[s]);
	lt_market_free(&back);
	assert_null(back.arena);
}

static void
test_empty_market(void **state)
{
	(void)state;
	const struct lt_market empty = { 0 };
	struct lt_market back;
	assert_int_equal(lt_market_save(&empty, path, NULL), LT_OK);
	assert_int_equal(lt_market_load(&back, path, NULL, NULL), LT_OK);
	assert_int_equal(back.partition_count, 0);
	lt_market_free(&back);
}

static void
test_unchanged_series_are_copied(void **state)
{
	(void)state;
	struct lt_market first, second;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(lt_market_load(&first, path, NULL, NULL), LT_OK);
	/* Seen in the copy: it came from memory, not from the file. */
	first.series[0].value[1] = 4711;
	series[1].value[5] = 12345;
	assert_int_equal(lt_series_prepare(&series[1], NULL), LT_OK);
	market.generation = 8;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(lt_market_load(&second, path, &first, NULL), LT_OK);
	lt_market_free(&first);
	assert_int_equal(second.generation, 8);
	assert_true(second.series[0].value[1] == 4711);
	assert_true(second.series[1].value[5] == 12345);
	second.series[0].value[1] = series[0].value[1];
	assert_same_market(&second, &market);
	lt_market_free(&second);
}

static void
test_changed_head_is_not_copied(void **state)
{
	(void)state;
	struct lt_market first, second;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(lt_market_load(&first, path, NULL, NULL), LT_OK);
	first.series[0].value[1] = 4711;
	series[0].issued_utc_s++;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(lt_market_load(&second, path, &first, NULL), LT_OK);
	assert_same_market(&second, &market);
	lt_market_free(&first);
	lt_market_free(&second);
}

/* Each spoils one thing in the struct; none may be written. */
static void spoil_mode(void) { market.mode = (enum lt_mode)3; }
static void spoil_shape(void) { partitions[1].first_shape = 3; }
static void spoil_overflow(void) { partitions[1].first_shape = UINT32_MAX; }
static void spoil_series(void) { partitions[1].busy_series = SERIES; }
static void spoil_negative(void) { partitions[1].price_series = -2; }
static void spoil_gpu(void) { shapes[1].gpu_index = 1; }
static void spoil_nan(void) { partitions[0].pue = NAN; }
static void spoil_infinity(void) { values[1][3] = INFINITY; }
static void spoil_order(void) { starts[1][3] = starts[1][4]; }
static void spoil_steps(void) { series[1].count = 0; }
static void spoil_quality(void) { series[1].quality = LT_QUALITY_COUNT; }
static void spoil_name(void) { strcpy(partitions[1].name, "ondemand"); }
static void spoil_no_name(void) { partitions[1].name[0] = '\0'; }
static void spoil_end(void) { memset(market.cluster, 'x', LT_NAME_SIZE); }
static void spoil_objective(void) { defaults[0].objective = LT_OBJECTIVE_COUNT; }
static void spoil_zone(void) { market.zone.count = LT_ZONE_STEPS_MAX + 1; }
static void spoil_count(void) { market.partition_count = 257; }
static void spoil_delay(void) { market.max_delay_s = -1; }

static void spoil_rule(void) { budgets[1].on_exceed = (enum lt_rule)4; }
static void spoil_unknown(void) { sheet.on_unknown = LT_RULE_WARN; }
static void spoil_period(void) { budgets[1].periods[1].start_utc_s = 21; }
static void spoil_usage(void) { usages[1].uid = 5; }
static void spoil_usage_budget(void) { usages[1].budget = 2; }
static void spoil_case(void) { strcpy(accounts[1].name, "Vision"); }
static void spoil_accounts(void) { strcpy(accounts[1].name, "abc"); }
static void spoil_binding(void) { bindings[2] = 2; }
static void spoil_twice(void) { bindings[2] = 1; }
static void spoil_range(void) { accounts[1].binding_count = 3; }
static void spoil_pair(void) { pairs[2].account = 2; }
static void spoil_pairs(void) { pairs[2].uid = 4; }
static void spoil_label(void) { memset(budgets[0].periods[0].label, 'x', 24); }

static const struct {
	const char *why;
	void (*spoil)(void);
	bool is_sheet;
	int code;
} spoiled[] = {
	{ "mode", spoil_mode, false, LT_EINPUT },
	{ "shapes past the end", spoil_shape, false, LT_EINPUT },
	{ "shapes past 32 bits", spoil_overflow, false, LT_EINPUT },
	{ "series past the end", spoil_series, false, LT_EINPUT },
	{ "series below -1", spoil_negative, false, LT_EINPUT },
	{ "GPU past the end", spoil_gpu, false, LT_EINPUT },
	{ "not a number", spoil_nan, false, LT_EINPUT },
	{ "infinite price", spoil_infinity, false, LT_EINPUT },
	{ "steps out of order", spoil_order, false, LT_EINPUT },
	{ "no steps", spoil_steps, false, LT_EINPUT },
	{ "quality", spoil_quality, false, LT_EINPUT },
	{ "a partition twice", spoil_name, false, LT_EINPUT },
	{ "a partition without name", spoil_no_name, false, LT_EINPUT },
	{ "a text without end", spoil_end, false, LT_EBUG },
	{ "objective", spoil_objective, false, LT_EINPUT },
	{ "zone steps", spoil_zone, false, LT_EINPUT },
	{ "too many partitions", spoil_count, false, LT_ELIMIT },
	{ "negative delay", spoil_delay, false, LT_EINPUT },
	{ "rule", spoil_rule, true, LT_EINPUT },
	{ "warn is no answer to unknown", spoil_unknown, true, LT_EINPUT },
	{ "a hole between periods", spoil_period, true, LT_EINPUT },
	{ "usage twice", spoil_usage, true, LT_EINPUT },
	{ "usage of no budget", spoil_usage_budget, true, LT_EINPUT },
	{ "upper case", spoil_case, true, LT_EINPUT },
	{ "accounts out of order", spoil_accounts, true, LT_EINPUT },
	{ "binding of no budget", spoil_binding, true, LT_EINPUT },
	{ "bound twice", spoil_twice, true, LT_EINPUT },
	{ "bindings past the end", spoil_range, true, LT_EINPUT },
	{ "pair of no account", spoil_pair, true, LT_EINPUT },
	{ "pairs out of order", spoil_pairs, true, LT_EINPUT },
	{ "a label without end", spoil_label, true, LT_EBUG },
};

static void
test_spoiled(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof spoiled / sizeof spoiled[0]; i++) {
		struct lt_error err = { 0 };
		print_message("%s\n", spoiled[i].why);
		make_market();
		make_sheet();
		spoiled[i].spoil();
		const int code = spoiled[i].is_sheet ?
		    lt_sheet_save(&sheet, path, &err) :
		    lt_market_save(&market, path, &err);
		assert_int_equal(code, spoiled[i].code);
		assert_true(err.text[0] != '\0');
		assert_int_equal(access(path, F_OK), -1);
	}
}

/* Any bit turned, any length: refused with a reason, nothing left behind. */
static void
test_damaged_market(void **state)
{
	(void)state;
	unsigned char *bytes = NULL;
	size_t byte_count = 0;
	for (int s = 0; s < SERIES; s++)
		series[s].count = 20;
	assert_int_equal(lt_market_pack(&market, &bytes, &byte_count, NULL),
	    LT_OK);
	for (size_t at = 0; at < byte_count; at++) {
		struct lt_market back;
		struct lt_error err = { 0 };
		bytes[at] ^= 4;
		assert_true(lt_market_unpack(&back, bytes, byte_count, &err) <
		    0);
		assert_true(err.text[0] != '\0' && back.arena == NULL);
		bytes[at] ^= 4;
	}
	for (size_t length = 0; length < byte_count; length += 3) {
		struct lt_market back;
		unsigned char *const cut = malloc(length + 1);
		memcpy(cut, bytes, length);
		assert_true(lt_market_unpack(&back, cut, length, NULL) < 0);
		free(cut);
	}
	free(bytes);
}

static void
test_sheet(void **state)
{
	(void)state;
	struct lt_balance_sheet back;
	struct stat status;
	unsigned char *x = NULL, *y = NULL;
	size_t x_count = 0, y_count = 0;
	assert_int_equal(lt_sheet_save(&sheet, path, NULL), LT_OK);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(lt_sheet_load(&back, path, NULL), LT_OK);
	assert_int_equal(back.generation, 9);
	assert_true(back.ring_generation == UINT64_MAX);
	assert_int_equal(back.ring_absorbed, 77);
	assert_true(back.ready);
	assert_int_equal(back.budgets[1].periods[1].settled.money_micros, -3);
	assert_false(back.budgets[1].periods[1].settled.has_carbon);
	assert_int_equal(lt_sheet_account(&back, "VISION"), 1);
	assert_int_equal(lt_sheet_default_account(&back, 5), 1);
	assert_int_equal(lt_sheet_pack(&sheet, &x, &x_count, NULL), LT_OK);
	assert_int_equal(lt_sheet_pack(&back, &y, &y_count, NULL), LT_OK);
	assert_int_equal(x_count, y_count);
	assert_memory_equal(x, y, x_count);
	lt_sheet_free(&back);
	for (size_t at = 0; at < x_count; at++) {
		struct lt_error err = { 0 };
		x[at] ^= 1;
		assert_true(lt_sheet_unpack(&back, x, x_count, &err) < 0);
		assert_true(err.text[0] != '\0' && back.arena == NULL);
		x[at] ^= 1;
		assert_true(lt_sheet_unpack(&back, x, at, NULL) < 0);
	}
	free(x);
	free(y);
	const struct lt_balance_sheet empty = { 0 };
	assert_int_equal(lt_sheet_save(&empty, path, NULL), LT_OK);
	assert_int_equal(lt_sheet_load(&back, path, NULL), LT_OK);
	assert_false(back.ready);
	lt_sheet_free(&back);
}

static void
test_untrusted_files(void **state)
{
	(void)state;
	struct lt_balance_sheet back;
	struct lt_market loaded;
	struct lt_error err = { 0 };
	char other[128];
	assert_int_equal(lt_sheet_load(&back, path, NULL), LT_ENOENT);
	assert_int_equal(lt_sheet_save(&sheet, path, NULL), LT_OK);
	assert_int_equal(chmod(path, 0604), 0);
	assert_int_equal(lt_sheet_load(&back, path, &err), LT_EDENIED);
	assert_non_null(strstr(err.text, "mode is 0604, want 0600"));
	/* The other kind of file says which it is not. */
	assert_int_equal(lt_market_load(&loaded, path, NULL, NULL),
	    LT_EVERSION);
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(lt_market_load(&loaded, path, NULL, NULL),
	    LT_EDENIED);
	snprintf(other, sizeof other, "%s.link", path);
	assert_int_equal(symlink(path, other), 0);
	assert_int_equal(lt_market_load(&loaded, other, NULL, NULL), LT_EIO);
	unlink(other);
	assert_int_equal(lt_market_load(&loaded, directory, NULL, NULL),
	    LT_EDENIED);
	if (geteuid() == 0) {
		assert_int_equal(lt_sheet_save(&sheet, path, NULL), LT_OK);
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(lt_sheet_load(&back, path, NULL),
		    LT_EDENIED);
	}
}

static void
test_file_id(void **state)
{
	(void)state;
	struct lt_file_id before, after;
	assert_false(lt_file_id(&before, path));
	assert_int_equal(lt_sheet_save(&sheet, path, NULL), LT_OK);
	assert_true(lt_file_id(&before, path));
	assert_true(lt_file_id(&after, path));
	assert_memory_equal(&before, &after, sizeof before);
	assert_int_equal(lt_sheet_save(&sheet, path, NULL), LT_OK);
	assert_true(lt_file_id(&after, path));
	assert_true(memcmp(&before, &after, sizeof before) != 0);
}

static void
test_failed_save_keeps_the_old(void **state)
{
	(void)state;
	struct lt_balance_sheet back;
	char blocked[128], inside[160];
	assert_int_equal(lt_sheet_save(&sheet, path, NULL), LT_OK);
	/* A directory where the new file would be made. */
	snprintf(blocked, sizeof blocked, "%s.new", path);
	snprintf(inside, sizeof inside, "%s/x", blocked);
	assert_int_equal(mkdir(blocked, 0700), 0);
	assert_int_equal(mkdir(inside, 0700), 0);
	assert_int_equal(lt_sheet_save(&sheet, path, NULL), LT_EIO);
	assert_int_equal(lt_sheet_load(&back, path, NULL), LT_OK);
	lt_sheet_free(&back);
	rmdir(inside);
	rmdir(blocked);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_market_comes_back),
		TEST(test_empty_market),
		TEST(test_unchanged_series_are_copied),
		TEST(test_changed_head_is_not_copied),
		TEST(test_spoiled),
		TEST(test_damaged_market),
		TEST(test_sheet),
		TEST(test_untrusted_files),
		TEST(test_file_id),
		TEST(test_failed_save_keeps_the_old),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
