/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of parts: what is left out, in which order, and what never is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "brief.h"

static void
test_columns(void **state)
{
	static const struct {
		int columns;
		const char *text;
	} cases[] = {
	    {LT_BRIEF_ALL, "spot: $41.20, 3 kg; saves $9"},
	    {28, "spot: $41.20, 3 kg; saves $9"},
	    {27, "spot: $41.20; saves $9"},
	    {22, "spot: $41.20; saves $9"},
	    {21, "spot: $41.20"},
	    {11, "spot"},
	    {4, "spot"},
	    {3, ""},
	};
	struct lt_brief line = {.count = 0};
	char out[64], tiny[4];

	(void)state;
	lt_brief_put(&line, 0, ". ", "%s", "spot");
	lt_brief_put(&line, 1, ": ", "$%d.20", 41);
	lt_brief_put(&line, 9, ", ", "3 kg");
	lt_brief_put(&line, 5, "; ", "saves $9");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
		    lt_brief_text(out, sizeof(out), &line, cases[i].columns), cases[i].text);
	lt_brief_text(tiny, sizeof(tiny), &line, LT_BRIEF_ALL);
	assert_string_equal(tiny, "spo");
}

/* The last of equals goes first; without what was before it, a part begins. */
static void
test_equals(void **state)
{
	struct lt_brief line = {.count = 0};
	char out[64];

	(void)state;
	lt_brief_put(&line, 7, "; ", "one");
	lt_brief_put(&line, 7, "; ", "two");
	lt_brief_put(&line, 0, "; ", "three");
	assert_string_equal(lt_brief_text(out, sizeof(out), &line, 14), "one; three");
	assert_string_equal(lt_brief_text(out, sizeof(out), &line, 9), "three");
}

static void
test_names(void **state)
{
	static const char name[] = "gpu-h100-80gb-preemptible-eu-west";
	struct lt_brief line = {.count = 0};
	char out[256];

	(void)state;
	lt_brief_put_name(&line, 0, 3, "", name);
	lt_brief_put(&line, 1, ": ", "$1");
	assert_string_equal(
	    lt_brief_text(out, sizeof(out), &line, 37), "gpu-h100-80gb-preemptible-eu-west: $1");
	assert_string_equal(
	    lt_brief_text(out, sizeof(out), &line, 36), "gpu-h100-80gb-preempt...: $1");
	/* Short enough for that. */
	line = (struct lt_brief){.count = 0};
	lt_brief_put_name(&line, 0, 3, "", "gpu-h100-80gb-preemptibl");
	assert_int_equal(line.count, 1);
	/* Characters stay whole, and count once. */
	line = (struct lt_brief){.count = 0};
	lt_brief_put_name(&line, 0, 3, "",
	    "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc"
	    "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc"
	    "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fcz");
	assert_string_equal(lt_brief_text(out, sizeof(out), &line, 24),
	    "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc"
	    "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc...");
}

/* What has no room is not there: never a part of it. */
static void
test_full(void **state)
{
	struct lt_brief line = {.count = 0};
	char long_text[LT_BRIEF_TEXT_SIZE + 1], out[64];

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	lt_brief_put(&line, 0, "", "%s", long_text);
	assert_int_equal(line.count, 0);
	for (int i = 0; i < LT_BRIEF_PARTS + 1; i++)
		lt_brief_put(&line, 0, "", "%c", 'a' + i % 26);
	assert_int_equal(line.count, LT_BRIEF_PARTS);
	assert_string_equal(
	    lt_brief_text(out, sizeof(out), &line, 40), "abcdefghijklmnopqrstuvwxyzabcdef");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_columns),
	    cmocka_unit_test(test_equals),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
