/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256: the values of FIPS 180-4's examples, and a length at each border of
 * the padding against sha256sum(1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sha256.h"

static void
test_published(void **state)
{
	static const struct {
		const char *why, *text, *want;
	} cases[] = {
	    {"nothing", "",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	    {"one block", "abc",
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	    {"56 bytes: the length needs a block of its own",
		"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	    {"112 bytes: the same after a whole block",
		"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
		"hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		"cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char hex[LT_SHA256_HEX_SIZE];

		lt_sha256_hex(hex, cases[i].text, strlen(cases[i].text));
		if (strcmp(hex, cases[i].want) != 0)
			fail_msg("%s: got %s", cases[i].why, hex);
	}
}

/* A million times "a", FIPS 180-2's third example. */
static void
test_long(void **state)
{
	enum { COUNT = 1000000 };
	char *const text = malloc(COUNT), hex[LT_SHA256_HEX_SIZE];

	(void)state;
	assert_non_null(text);
	memset(text, 'a', COUNT);
	assert_string_equal(lt_sha256_hex(hex, text, COUNT),
	    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(text);
}

/* head -c N /dev/zero | sha256sum */
static void
test_borders(void **state)
{
	static const struct {
		size_t length;
		const char *want;
	} cases[] = {
	    {55,
		"02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"},
	    {64,
		"f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"},
	    {119,
		"f616b0d54e78571a9611f343c9f8e022e859e920381ab0e4d3da01e193a7bd7e"},
	    {120,
		"6edd9f6f9cc92cded36e6c4a580933f9c9f1b90562b46903b806f21902a1a54f"},
	};
	static const unsigned char zeros[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char hex[LT_SHA256_HEX_SIZE];

		assert_string_equal(
		    lt_sha256_hex(hex, zeros, cases[i].length), cases[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_published),
	    cmocka_unit_test(test_long),
	    cmocka_unit_test(test_borders),
	};

	return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
