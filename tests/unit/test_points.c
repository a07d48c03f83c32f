/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * points.c and adapter.c: what is refused, how doubles and overlaps end, and
 * what the check of options says, with its place in the policy file.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy.h"
#include "source.h"

static const struct {
	const char *why;
	enum lt_quantity quantity;
	struct lt_point point;
	int code;
	const char *says;
} added[] = {
    {"a usual intensity", LT_QUANTITY_CARBON, {0, 1800, 231, LT_QUALITY_MEASURED}, LT_OK, ""},
    {"0 stands for missing", LT_QUANTITY_CARBON, {0, 1800, 0, LT_QUALITY_FORECAST}, LT_EINPUT,
	"missing"},
    {"0 that the admin wrote", LT_QUANTITY_CARBON, {0, 1800, 0, LT_QUALITY_CONSTANT}, LT_OK, ""},
    {"a negative intensity", LT_QUANTITY_CARBON, {0, 1800, -1, LT_QUALITY_MEASURED}, LT_EINPUT,
	"more than 0"},
    {"not a number", LT_QUANTITY_CARBON, {0, 1800, NAN, LT_QUALITY_MEASURED}, LT_EINPUT, "number"},
    {"infinite", LT_QUANTITY_TARIFF, {0, 1800, INFINITY, LT_QUALITY_MEASURED}, LT_EINPUT, "number"},
    {"milligrams taken for grams", LT_QUANTITY_CARBON, {0, 1800, 231000, LT_QUALITY_MEASURED},
	LT_EINPUT, "unit"},
    {"a price of 0", LT_QUANTITY_PRICE, {0, 1800, 0, LT_QUALITY_MEASURED}, LT_EINPUT, "missing"},
    {"a negative price, even by the admin", LT_QUANTITY_PRICE, {0, 1800, -1, LT_QUALITY_CONSTANT},
	LT_EINPUT, "more than 0"},
    {"exchanges have negative tariffs", LT_QUANTITY_TARIFF, {0, 1800, -50000, LT_QUALITY_FORECAST},
	LT_OK, ""},
    {"and tariffs of 0", LT_QUANTITY_TARIFF, {0, 1800, 0, LT_QUALITY_FORECAST}, LT_OK, ""},
    {"no time at all", LT_QUANTITY_CARBON, {1800, 1800, 231, LT_QUALITY_MEASURED}, LT_EINPUT,
	"ends"},
    {"backwards", LT_QUANTITY_CARBON, {1800, 0, 231, LT_QUALITY_MEASURED}, LT_EINPUT, "ends"},
};

static void
test_add(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		struct lt_points points = {.quantity = added[i].quantity};
		struct lt_error err = {0};
		const int code = lt_points_add(&points, &added[i].point, &err);

		if (code != added[i].code || strstr(err.text, added[i].says) == NULL)
			fail_msg("%s: %d, %s", added[i].why, code, err.text);
		assert_int_equal(points.count, code == LT_OK);
		lt_points_free(&points);
	}
}

static void
test_limit(void **state)
{
	struct lt_points points = {0};
	struct lt_error err = {0};
	struct lt_point point = {0, 1, 1, LT_QUALITY_MEASURED};

	(void)state;
	for (int i = 0; i < LT_POINTS_MAX; i++)
		assert_int_equal(lt_points_add(&points, &point, NULL), LT_OK);
	assert_int_equal(lt_points_add(&points, &point, &err), LT_ELIMIT);
	assert_non_null(strstr(err.text, "more than"));
	lt_points_free(&points);
}

static void
add(struct lt_points *points, int64_t start_utc_s, int64_t end_utc_s, double value)
{
	const struct lt_point point = {start_utc_s, end_utc_s, value, LT_QUALITY_MEASURED};

	assert_int_equal(lt_points_add(points, &point, NULL), LT_OK);
}

static void
test_sort(void **state)
{
	static const struct lt_point want[] = {
	    {0, 50, 1, LT_QUALITY_MEASURED},
	    {50, 100, 4, LT_QUALITY_MEASURED},
	    {100, 200, 5, LT_QUALITY_MEASURED},
	    {300, 400, 2, LT_QUALITY_MEASURED},
	};
	struct lt_points points = {0};

	(void)state;
	lt_points_sort(&points);
	assert_int_equal(points.count, 0);
	add(&points, 300, 400, 2);
	add(&points, 100, 250, 3); /* revised below */
	add(&points, 0, 100, 1);   /* cut by the next */
	add(&points, 50, 110, 4);  /* cut, too */
	add(&points, 100, 200, 5);
	lt_points_sort(&points);
	assert_int_equal(points.count, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(points.points[i].start_utc_s, want[i].start_utc_s);
		assert_int_equal(points.points[i].end_utc_s, want[i].end_utc_s);
		assert_true(points.points[i].value == want[i].value);
	}
	lt_points_free(&points);
}

/* Many doubles in any order: the last of each start must be left. */
static void
test_sort_is_stable(void **state)
{
	struct lt_points points = {0};

	(void)state;
	for (int i = 0; i < 1000; i++)
		add(&points, (i * 7 % 100) * 10, (i * 7 % 100) * 10 + 10, i + 1);
	lt_points_sort(&points);
	assert_int_equal(points.count, 100);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(points.points[i].start_utc_s, i * 10);
		assert_true(points.points[i].value > 900);
	}
	lt_points_free(&points);
}

static void
test_date(void **state)
{
	struct lt_points points = {0};

	(void)state;
	add(&points, 0, 100, 1);
	lt_points_date(&points, 99);
	assert_int_equal(points.issued_utc_s, 0);
	lt_points_date(&points, 100); /* over: as old as its end */
	assert_int_equal(points.issued_utc_s, 100);
	lt_points_free(&points);
}

static void
test_names(void **state)
{
	const char *const *const names = lt_adapter_names();
	int count = 0;

	(void)state;
	for (; names[count] != NULL; count++) {
		const struct lt_adapter *const adapter = lt_adapter_find(names[count]);

		assert_non_null(adapter);
		assert_string_equal(adapter->name, names[count]);
		assert_true(adapter->interval_s > 0);
	}
	assert_true(count >= 4);
	assert_null(lt_adapter_find("uk_carbon"));
	assert_null(lt_adapter_find(""));
}

/* Only what overlaps [from, to); the rest of the source's answer with it. */
static void
test_copy(void **state)
{
	struct lt_points all = {.quantity = LT_QUANTITY_TARIFF}, some = {0};

	(void)state;
	for (int i = 0; i < 10; i++)
		add(&all, i * 10, i * 10 + 10, i);
	all.issued_utc_s = 77;
	assert_int_equal(lt_points_copy(&some, &all, 20, 45, NULL), LT_OK);
	assert_int_equal(some.count, 3);
	assert_int_equal(some.points[0].start_utc_s, 20);
	assert_int_equal(some.points[2].start_utc_s, 40);
	assert_int_equal(some.quantity, LT_QUANTITY_TARIFF);
	assert_int_equal(some.issued_utc_s, 77);
	lt_points_free(&some);
	lt_points_free(&all);
}

static void
page_has_options(const char *page, const struct lt_adapter *adapter)
{
	for (const struct lt_adapter_option *option = adapter->options; option->key != NULL;
	     option++) {
		char row[128];

		snprintf(row, sizeof(row), "\n| `%s` | %s | ", option->key,
		    option->required ? "yes" : "no");
		if (strstr(page, row) == NULL)
			fail_msg("%s: the page has no \"%s\"", adapter->name, row + 1);
		if (option->fallback != NULL && strstr(page, option->fallback) == NULL)
			fail_msg("%s: %s: the page has no default \"%s\"", adapter->name,
			    option->key, option->fallback);
	}
}

/* The page of each source has the option table, and its example is good. */
static void
test_pages(void **state)
{
	static const char fence[] = "```yaml\n";

	(void)state;
	for (const char *const *name = lt_adapter_names(); *name != NULL; name++) {
		char path[128], page[16384];
		struct lt_policy *policy = NULL;
		struct lt_policy_errors errors = {0};

		snprintf(path, sizeof(path), "docs/sources/%s.md", *name);
		FILE *const file = fopen(path, "rb");
		if (file == NULL)
			fail_msg("%s: no page", path);
		page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
		fclose(file);
		page_has_options(page, lt_adapter_find(*name));
		const char *const example = strstr(page, fence);
		assert_non_null(example);
		const char *const begin = example + strlen(fence);
		const char *const end = strstr(begin, "\n```\n");
		assert_non_null(end);
		if (lt_policy_parse_all(&policy,
			&(struct lt_policy_text){path, begin, (size_t)(end + 1 - begin)},
			lt_adapter_names(), &errors) != LT_OK)
			fail_msg("%s", errors.items[0].text);
		assert_string_equal(policy->sources[0].adapter, *name);
		lt_policy_free(policy);
	}
}

static const struct {
	const char *why, *adapter;
	struct lt_source_options options;
	int code, line;
	const char *says;
} checked[] = {
    {"as in the manual", "uk_carbon_intensity",
	{.name = "gb", .count = 1, .items = {{"region", "13", 4, 9}}}, LT_OK, 0, ""},
    {"the nearest key", "uk_carbon_intensity",
	{.name = "gb", .count = 1, .items = {{"regoin", "13", 4, 9}}}, LT_EINPUT, 4,
	"did you mean \"region\""},
    {"nothing near: all keys", "static",
	{.name = "gb", .count = 1, .items = {{"instance_type", "x", 5, 1}}}, LT_EINPUT, 5,
	"value, unit"},
    {"a short word is near to few", "uk_carbon_intensity",
	{.name = "gb", .count = 1, .items = {{"abc", "x", 5, 1}}}, LT_EINPUT, 5,
	"want one of: region, postcode, url, timeout"},
    {"a missing key says what it is", "file",
	{.name = "gb", .count = 1, .items = {{"quantity", "price", 4, 9}}}, LT_EINPUT, 0,
	"needs \"path\""},
    {"silence in a unit", "uk_carbon_intensity",
	{.name = "gb", .count = 1, .items = {{"timeout", "90s", 4, 9}}}, LT_OK, 0, ""},
    {"silence without a unit", "uk_carbon_intensity",
	{.name = "gb", .count = 1, .items = {{"timeout", "90", 4, 9}}}, LT_EINPUT, 4,
	"timeout: got \"90\", want 1s to 5m, such as 90s"},
    {"silence too long", "entsoe",
	{.name = "fr",
	    .count = 3,
	    .items = {{"timeout", "6m", 4, 9}, {"area", "FR", 5, 9}, {"token_env", "T", 6, 9}}},
	LT_EINPUT, 4, "got \"6m\""},
    {"the adapter's own check", "uk_carbon_intensity",
	{.name = "gb", .count = 1, .items = {{"region", "18", 7, 2}}}, LT_EINPUT, 7,
	"got \"18\", want 1 to 17"},
};

static void
test_check(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(checked) / sizeof(checked[0]); i++) {
		struct lt_error err = {0};
		const int code = lt_adapter_check(
		    lt_adapter_find(checked[i].adapter), &checked[i].options, &err);

		if (code != checked[i].code || err.line != checked[i].line ||
		    strstr(err.text, checked[i].says) == NULL)
			fail_msg("%s: %d, line %d, %s", checked[i].why, code, err.line, err.text);
		assert_int_equal(lt_adapter_check(lt_adapter_find(checked[i].adapter),
				     &checked[i].options, NULL),
		    code);
	}
}

static const struct {
	const char *why, *text, *want;
} mended[] = {
    {"plain", "a b", "a b"},
    {"UTF-8 stays", "S\xc3\xa3o \xe2\x82\xac \xf0\x9f\x98\x80",
	"S\xc3\xa3o \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"controls, an escape of terminals", "a\x1b[31m\n", "a?[31m?"},
    {"Latin-1", "S\xe3o", "S?o"},
    {"cut in a character", "\xe2\x82", "??"},
    {"a C1 control", "\xc2\x9b", "??"},
    {"too long a form", "\xe0\x80\xaf", "???"},
    {"a surrogate", "\xed\xa0\x80", "???"},
    {"past the last", "\xf4\x90\x80\x80", "????"},
};

/* Where mending writes '?', nothing stays. */
static void
check_whole(const char *text, const char *mended_text)
{
	char got[64], want[64];
	size_t length = 0;

	for (; *mended_text != '\0'; mended_text++)
		if (*mended_text != '?')
			want[length++] = *mended_text;
	want[length] = '\0';
	strcpy(got, text);
	lt_text_whole(got);
	assert_string_equal(got, want);
}

static void
test_mend(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mended) / sizeof(mended[0]); i++) {
		char text[64];

		strcpy(text, mended[i].text);
		lt_text_mend(text);
		if (strcmp(text, mended[i].want) != 0)
			fail_msg("%s: %s", mended[i].why, text);
		check_whole(mended[i].text, mended[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_add),
	    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_sort),
	    cmocka_unit_test(test_sort_is_stable),
	    cmocka_unit_test(test_date),
	    cmocka_unit_test(test_copy),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_pages),
	    cmocka_unit_test(test_check),
	    cmocka_unit_test(test_mend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
