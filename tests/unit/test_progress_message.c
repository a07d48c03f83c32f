/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The datagram of a job's progress: exactly what is written is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "progress_message.h"

#define HEAD "lowtide progress 1 "
#define SIXTY "123456789012345678901234567890123456789012345678901234567890"

static void
test_both_ways(void **state)
{
	const struct lt_progress_message most = {.job_id = UINT32_MAX,
	    .restarts = UINT32_MAX,
	    .first_after_s = UINT32_MAX,
	    .newest_after_s = UINT32_MAX,
	    .first = SIXTY "123",
	    .newest = SIXTY "456"};
	struct lt_progress_message back = {0};
	char bytes[LT_PROGRESS_BYTES_MAX];
	const size_t length = lt_progress_pack(bytes, &most);

	(void)state;
	assert_true(lt_progress_unpack(&back, bytes, length));
	assert_memory_equal(&back, &most, sizeof(most));
	/* Cut anywhere it is none. */
	for (size_t i = 0; i < length; i++)
		assert_false(lt_progress_unpack(&back, bytes, i));
}

static void
test_refused(void **state)
{
	static const struct {
		const char *why, *text;
		bool ok;
	} cases[] = {
	    {"whole", HEAD "7 0 2 9\n1\n5 saved\n", true},
	    {"empty", "", false},
	    {"another version", "lowtide progress 2 7 0 2 9\n1\n5\n", false},
	    {"no job", HEAD "0 0 2 9\n1\n5\n", false},
	    {"a leading zero", HEAD "07 0 2 9\n1\n5\n", false},
	    {"a sign", HEAD "-7 0 2 9\n1\n5\n", false},
	    {"too large", HEAD "4294967296 0 2 9\n1\n5\n", false},
	    {"a number missing", HEAD "7 0 2\n1\n5\n", false},
	    {"an empty marker", HEAD "7 0 2 9\n\n5\n", false},
	    {"a marker without a number", HEAD "7 0 2 9\none\n5\n", false},
	    {"a marker too long", HEAD "7 0 2 9\n1\n" SIXTY "1234\n", false},
	    {"not printable", HEAD "7 0 2 9\n1\t\n5\n", false},
	    {"more behind it", HEAD "7 0 2 9\n1\n5\n6\n", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_progress_message message;

		if (lt_progress_unpack(&message, cases[i].text, strlen(cases[i].text)) !=
		    cases[i].ok)
			fail_msg("%s", cases[i].why);
	}
}

static void
test_lines(void **state)
{
	static const struct {
		const char *why, *bytes;
		size_t length;
		bool ok;
		const char *line;
	} cases[] = {
	    {"empty", "", 0, false, ""},
	    {"no number", "soon\n12", 7, false, "soon"},
	    {"the first line", "12 of 90\nand more", 17, true, "12 of 90"},
	    {"without its end", "12", 2, true, "12"},
	    {"a NUL is no end", "1\0002", 3, true, "1?2"},
	    {"bytes above ASCII", "12 \xc3\xa9", 5, true, "12 ??"},
	    {"cut", SIXTY "1234", 64, true, SIXTY "123"},
	    {"a number behind the cut is none",
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx7", 65, false,
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[LT_MARKER_SIZE];

		if (lt_progress_line(line, cases[i].bytes, cases[i].length) != cases[i].ok ||
		    strcmp(line, cases[i].line) != 0)
			fail_msg("%s: \"%s\"", cases[i].why, line);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_both_ways),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
