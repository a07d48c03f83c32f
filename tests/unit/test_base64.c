/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vectors of RFC 4648, section 10, both ways, and text that is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base64.h"

static void
test_vectors(void **state)
{
	static const struct {
		const char *plain, *text;
	} cases[] = {
	    {"", ""},
	    {"f", "Zg=="},
	    {"fo", "Zm8="},
	    {"foo", "Zm9v"},
	    {"foob", "Zm9vYg=="},
	    {"fooba", "Zm9vYmE="},
	    {"foobar", "Zm9vYmFy"},
	    {"\xfb\xff\xfe", "+//+"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t length = strlen(cases[i].plain);
		unsigned char back[8];
		char text[16];

		lt_base64(text, (const unsigned char *)cases[i].plain, length);
		assert_string_equal(text, cases[i].text);
		assert_int_equal(lt_base64_decode(back, sizeof(back), text), (long)length);
		assert_memory_equal(back, cases[i].plain, length);
	}
}

static void
test_refused(void **state)
{
	static const struct {
		const char *why, *text;
		size_t room;
	} cases[] = {
	    {"a letter that is none", "Zm9*", 8},
	    {"a blank", "Zm 9v", 8},
	    {"a byte more than there is room", "Zm9v", 2},
	};
	unsigned char bytes[8];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (lt_base64_decode(bytes, cases[i].room, cases[i].text) != -1)
			fail_msg("%s", cases[i].why);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vectors),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
