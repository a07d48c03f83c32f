/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users write, made fit for a line of a log: every byte that could begin a line or steer a
 * terminal goes, all else stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text.h"

static void
test_lines(void **state)
{
	static const struct {
		const char *why, *text, *line;
	} cases[] = {
	    {"plain", "team vision, 5 %", "team vision, 5 %"},
	    {"empty", "", ""},
	    {"a line that is not ours", "x\n[2026-11-22T05:00:00] error: y",
		"x?[2026-11-22T05:00:00] error: y"},
	    {"carriage return and tab", "a\r\tb", "a??b"},
	    {"colours", "\033[31mred\033[0m", "?[31mred?[0m"},
	    {"delete", "a\177b", "a?b"},
	    {"C1 as UTF-8 is one character", "a\302\233b", "a?b"},
	    {"the last C1, and the first that is none", "\302\237\302\240", "?\302\240"},
	    {"C1 as one byte", "a\23331mb", "a?31mb"},
	    {"accents and more stay", "caf\303\251 \342\202\254 \360\237\214\212",
		"caf\303\251 \342\202\254 \360\237\214\212"},
	    {"from right to left, and isolated", "a\342\200\256b \342\201\246c\342\201\251",
		"a?b ?c?"},
	    {"ends of lines and paragraphs", "\342\200\250a\342\200\251", "?a?"},
	    {"what is beside them stays", "\342\200\247\342\200\257\342\201\245\342\201\252",
		"\342\200\247\342\200\257\342\201\245\342\201\252"},
	    {"a character that is cut off", "a\342\202", "a??"},
	    {"a character cut by a line end", "\303\nb", "??b"},
	    {"overlong", "\300\212", "??"},
	    {"no such lead byte", "\377\376", "??"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[128];

		strcpy(text, cases[i].text);
		lt_text_line(text);
		if (strcmp(text, cases[i].line) != 0)
			fail_msg("%s: got \"%s\"", cases[i].why, text);
	}
}

static void
test_terminal(void **state)
{
	char text[] = "plan:\n\tspot\033[2J\r\n\302\2332J \303\251";

	(void)state;
	lt_text_lines(text);
	assert_string_equal(text, "plan:\n\tspot?[2J?\n?2J \303\251");
}

/* Every single byte and every pair: no control byte is left, nothing plain is lost, and nothing is
 * read beyond the end. */
static void
test_all_pairs(void **state)
{
	(void)state;
	for (unsigned first = 1; first < 256; first++)
		for (unsigned second = 0; second < 256; second++) {
			char text[4] = {(char)first, (char)second, '\0'};

			lt_text_line(text);
			assert_true(strlen(text) <= 2 && strlen(text) >= 1);
			for (const char *c = text; *c; c++)
				assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
			if (first >= ' ' && first < 0x7f)
				assert_int_equal(text[0], (char)first);
		}
}

static void
test_put(void **state)
{
	char out[8] = "";
	struct lt_text text = {.out = out, .size = sizeof(out)};

	(void)state;
	lt_text_put(&text, "%d, ", 42);
	lt_text_put(&text, "%s", "abc");
	assert_string_equal(out, "42, abc");
	assert_false(text.full);
	lt_text_put(&text, "%s", "");
	assert_false(text.full);
	lt_text_put(&text, "d");
	assert_true(text.full);
	lt_text_put(&text, "e");
	assert_string_equal(out, "42, abc");
	/* Cut in the middle of what is put; and no room at all. */
	text = (struct lt_text){.out = out, .size = 4};
	lt_text_put(&text, "%s", "abcdef");
	assert_string_equal(out, "abc");
	text = (struct lt_text){.out = out};
	lt_text_put(&text, "x");
	assert_true(text.full);
	assert_string_equal(out, "abc");
}

/* As printf has them, cut where that would be. */
static void
test_put_as_printf(void **state)
{
	static const int64_t numbers[] = {0, 7, 10, -1, 1234567890, INT64_MAX, INT64_MIN};
	char out[24], wanted[24];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (size_t size = 1; size <= sizeof(out); size++) {
			struct lt_text is = {.out = out, .size = size};
			struct lt_text was = {.out = wanted, .size = size};

			lt_text_put_bytes(&is, "x=", 2);
			lt_text_put_number(&is, numbers[i]);
			lt_text_put(&was, "%s", "x=");
			lt_text_put(&was, "%lld", (long long)numbers[i]);
			assert_string_equal(out, wanted);
			assert_int_equal(is.at, was.at);
			assert_int_equal(is.full, was.full);
		}
}

static void
test_words(void **state)
{
	static const struct {
		const char *why, *text;
		int columns;
		const char *first;
	} cases[] = {
	    {"nothing", "", 5, ""},
	    {"it fits to the column", "one two", 7, "one two"},
	    {"one less", "one two", 6, "one"},
	    {"a word is never broken", "/a/long/path x", 4, "/a/long/path"},
	    {"nor the only one", "/a/long/path", 4, "/a/long/path"},
	    {"no room at all", "one two", 0, "one"},
	    {"code points, not bytes", "\xc3\xa4\xc3\xb6\xc3\xbc \xe2\x96\x88", 5,
		"\xc3\xa4\xc3\xb6\xc3\xbc \xe2\x96\x88"},
	    {"escapes take no room", "\033[31mone\033[0m two", 7, "\033[31mone\033[0m two"},
	    {"and what stands before stays", "  - one two", 8, "  - one"},
	    {"between cells", "partition   1,000.00 SEK  best of all", 30,
		"partition   1,000.00 SEK"},
	    {"but not right behind the first", "mode  it enforces all", 17, "mode  it enforces"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t bytes = lt_text_words(cases[i].text, cases[i].columns);

		if (bytes != strlen(cases[i].first) ||
		    strncmp(cases[i].text, cases[i].first, bytes) != 0)
			fail_msg("%s: got \"%.*s\"", cases[i].why, (int)bytes, cases[i].text);
	}
	assert_int_equal(lt_text_width("\033[1m\xc3\xa4"
				       "b\033[0m"),
	    2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_terminal),
	    cmocka_unit_test(test_all_pairs),
	    cmocka_unit_test(test_put),
	    cmocka_unit_test(test_put_as_printf),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
