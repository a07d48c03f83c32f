/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may stand in a mail's envelope and header, and which hosts are this one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "address.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	const char *text;
	bool is_one;
} addresses[] = {
    {"alice", true},
    {"u123", true},
    {"alice@example.org", true},
    {"first.last+tag=x%y~z-w@sub.example.co.uk", true},
    {"a@b", true},
    {"", false},
    {"@example.org", false},
    {"alice@", false},
    {"alice@-example.org", false},
    {"alice@example-.org", false},
    {"alice@example..org", false},
    {"alice@.org", false},
    {"alice@example.org.", false},
    {"alice@bob@example.org", false},
    {"-oQ/tmp", false},
    {".alice", false},
    {"alice bob", false},
    {"alice,bob", false},
    {"alice;bob", false},
    {"Alice <alice@example.org>", false},
    {"\"alice\"@example.org", false},
    {"alice\n", false},
    {"alice\r\nBcc: bob", false},
    {"alice@example.org\r\nBcc: bob@example.org", false},
    {"|/bin/sh", false},
    {"/var/mail/x", false},
    {"$(id)", false},
    {"`id`@example.org", false},
    {"alic\xc3\xa9", false},
    {"alice@[127.0.0.1]", false},
};

static void
test_addresses(void **state)
{
	char longest[80], long_host[400];

	(void)state;
	for (size_t i = 0; i < COUNT(addresses); i++)
		if (lt_address_is(addresses[i].text) != addresses[i].is_one)
			fail_msg("\"%s\"", addresses[i].text);
	memset(longest, 'a', sizeof(longest));
	longest[64] = '\0';
	assert_true(lt_address_is(longest));
	longest[64] = 'a';
	longest[65] = '\0';
	assert_false(lt_address_is(longest));
	strcpy(long_host, "a@b");
	while (strlen(long_host) + 2 < LT_ADDRESS_SIZE)
		strcat(long_host, ".b");
	assert_true(lt_address_is(long_host));
	strcat(long_host, ".b");
	assert_false(lt_address_is(long_host));
}

static const struct {
	const char *url;
	bool is_here;
} urls[] = {
    {"http://localhost", true},
    {"http://localhost:8080/x?y", true},
    {"smtp://localhost", true},
    {"smtp://127.0.0.1:25", true},
    {"http://127.1.2.3/", true},
    {"http://[::1]:80/x", true},
    {"http://[::1]", true},
    {"http://[0:0:0:0:0:0:0:1]:80", true},
    {"http://127.1", false}, /* not inet_pton(3)'s */
    {"http://127.", false},
    {"http://127.0.0.1.5", false},
    {"http://127.0.0.256", false},
    {"http://127.0.0.1\\@evil.example", false},
    {"http://Localhost", false},
    {"http://[::ffff:10.0.0.1]", false},
    {"http://[127.0.0.1]", false},
    {"http://[]", false},
    {"x?y=http://localhost", false},
    {"http://localhost.example.org", false},
    {"http://127.0.0.1.example.org", false},
    {"http://127.evil.example", false},
    {"http://10.0.0.1", false},
    {"http://[::2]", false},
    {"http://[::1", false},
    {"http://[::1]x", false},
    {"http://localhost@example.org/", false},
    {"http://user:x@localhost/", false},
    {"http://localhost:80@example.org/", false},
    {"http://example.org/@localhost", false},
    {"http://", false},
    {"localhost", false},
    {"", false},
};

static void
test_loopback(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(urls); i++)
		if (lt_url_is_loopback(urls[i].url) != urls[i].is_here)
			fail_msg("\"%s\"", urls[i].url);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_addresses),
	    cmocka_unit_test(test_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
