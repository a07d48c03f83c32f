/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * URLs of sources: the admin's base, paths, percent-encoding, and the bounds of each, to the byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "source_fixture.h"
#include "web.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	const char *why, *url;
	const char *says; /* NULL = good */
} check_cases[] = {
    {"none: the default", NULL, NULL},
    {"https", "https://api.example.org", NULL},
    {"http, a port and a path", "http://127.0.0.1:8080/uk/", NULL},
    {"IPv6", "https://[::1]:443/", NULL},
    {"empty", "", "want http:// or https://"},
    {"a file", "file:///etc/passwd", "want http:// or https://"},
    {"another scheme", "ftp://a", "want http:// or https://"},
    {"no scheme", "api.example.org", "want http:// or https://"},
    {"no host", "https://", "want a base URL"},
    {"a path for a host", "http:///etc", "want a base URL"},
    {"a query", "https://a/?key=k", "without query or login"},
    {"a fragment", "https://a/#b", "without query or login"},
    {"a login", "https://user:word@a/", "without query or login"},
    {"a blank", "https://a b/", "want a base URL"},
    {"a line break", "https://a/\nb", "want a base URL"},
    {"a backslash", "https://a\\b/", "want a base URL"},
    {"not ASCII", "https://\xC3\xA4/", "want a base URL"},
};

static void
test_check(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(check_cases); i++) {
		const struct pair pairs[] = {
		    {check_cases[i].url == NULL ? NULL : "url", check_cases[i].url}, {0}};
		const struct lt_source_options options = options_of(pairs);
		struct lt_error err = {0};
		const int code = lt_url_check(&options, "url", &err);

		if ((code == LT_OK) != (check_cases[i].says == NULL))
			fail_msg("%s: %d %s", check_cases[i].why, code, err.text);
		if (code == LT_OK)
			continue;
		assert_int_equal(code, LT_EINPUT);
		assert_int_equal(err.line, 10);
		assert_says(check_cases[i].why, &err, check_cases[i].says);
		/* It may hold a password. */
		if (check_cases[i].url[0] != '\0' && strstr(err.text, check_cases[i].url) != NULL)
			fail_msg("%s: %s", check_cases[i].why, err.text);
	}
}

/* A quarter of the size: path and query need room, too. */
static void
test_check_length(void **state)
{
	char url[LT_URL_SIZE / 4 + 2] = "https://";
	const struct pair pairs[] = {{"url", url}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	memset(url + 8, 'a', sizeof(url) - 1 - 8);
	assert_int_equal(lt_url_check(&options, "url", NULL), LT_EINPUT);
	url[LT_URL_SIZE / 4] = '\0';
	assert_int_equal(lt_url_check(&options, "url", NULL), LT_OK);
}

static void
test_start(void **state)
{
	static const struct {
		const char *base, *path, *url;
	} cases[] = {
	    {NULL, "a", "https://default/a"},
	    {"http://h", "a/b", "http://h/a/b"},
	    {"http://h/", "/a", "http://h/a"},
	    {"http://h/p//", "//a", "http://h/p/a"},
	    {"http://h", "", "http://h/"},
	};
	char out[LT_URL_SIZE];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct pair pairs[] = {
		    {cases[i].base == NULL ? NULL : "url", cases[i].base}, {0}};
		const struct lt_source_options options = options_of(pairs);

		assert_int_equal(
		    lt_url_start(out, lt_source_option(&options, "url", "https://default"),
			cases[i].path, NULL),
		    LT_OK);
		assert_string_equal(out, cases[i].url);
	}
}

static void
test_start_length(void **state)
{
	static const struct pair pairs[] = {{"url", "http://h"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	char path[LT_URL_SIZE], out[LT_URL_SIZE];
	struct lt_error err = {0};
	const size_t room = LT_URL_SIZE - 1 - strlen("http://h/");

	(void)state;
	memset(path, 'a', room + 1);
	path[room + 1] = '\0';
	assert_int_equal(
	    lt_url_start(out, lt_source_option(&options, "url", NULL), path, &err), LT_ELIMIT);
	assert_says("too long", &err, "a URL of more than 2047 bytes");
	path[room] = '\0';
	assert_int_equal(
	    lt_url_start(out, lt_source_option(&options, "url", NULL), path, NULL), LT_OK);
	assert_int_equal(strlen(out), LT_URL_SIZE - 1);
}

static void
test_escape(void **state)
{
	static const struct {
		const char *text, *escaped;
	} cases[] = {
	    {"", ""},
	    {"AZaz09-._~", "AZaz09-._~"},
	    {"a b+c", "a%20b%2Bc"},
	    {"x=1&y=2?#/", "x%3D1%26y%3D2%3F%23%2F"},
	    {"100%", "100%25"},
	    {"\r\n\x01\x7f", "%0D%0A%01%7F"},
	    {"\xC3\xA4\xff", "%C3%A4%FF"},
	    {"10Y1001A1001A83F", "10Y1001A1001A83F"},
	    {"2018-01-20T12:00Z", "2018-01-20T12%3A00Z"},
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(lt_url_escape(out, sizeof(out), cases[i].text, NULL), LT_OK);
		assert_string_equal(out, cases[i].escaped);
	}
}

static void
test_escape_length(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		int code;
	} cases[] = {
	    {"abc", 4, LT_OK},
	    {"abc", 3, LT_ELIMIT},
	    {"/", 4, LT_OK},
	    {"/", 3, LT_ELIMIT},
	    {"a/", 5, LT_OK},
	    {"a/", 4, LT_ELIMIT},
	    {"", 1, LT_OK},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_error err = {0};
		char *const out = malloc(cases[i].size); /* to the byte */

		assert_non_null(out);
		if (lt_url_escape(out, cases[i].size, cases[i].text, &err) != cases[i].code)
			fail_msg("%s in %zu: %s", cases[i].text, cases[i].size, err.text);
		/* A secret may be what is too long. */
		assert_null(strstr(err.text, "abc"));
		free(out);
	}
}

static void
test_add(void **state)
{
	char out[LT_URL_SIZE] = "http://h/p";

	(void)state;
	assert_int_equal(lt_url_add(out, "a", "1 2", NULL), LT_OK);
	assert_int_equal(lt_url_add(out, "b[]", "x&y=?", NULL), LT_OK);
	assert_int_equal(lt_url_add(out, "c", "", NULL), LT_OK);
	assert_string_equal(out, "http://h/p?a=1%202&b%5B%5D=x%26y%3D%3F&c=");
}

static void
test_add_length(void **state)
{
	char out[LT_URL_SIZE] = "http://h/", value[LT_URL_SIZE];
	const size_t room = LT_URL_SIZE - 1 - strlen("http://h/?a=");
	struct lt_error err = {0};

	(void)state;
	memset(value, 'b', room + 1);
	value[room + 1] = '\0';
	assert_int_equal(lt_url_add(out, "a", value, &err), LT_ELIMIT);
	assert_says("a byte too many", &err, "a URL of more than 2047 bytes");
	strcpy(out, "http://h/");
	value[room] = '\0';
	assert_int_equal(lt_url_add(out, "a", value, NULL), LT_OK);
	assert_int_equal(strlen(out), LT_URL_SIZE - 1);
	/* Full: not even an empty one. */
	assert_int_equal(lt_url_add(out, "", "", NULL), LT_ELIMIT);
	strcpy(out, "http://h/");
	memset(value, '/', LT_URL_SIZE / 3);
	value[LT_URL_SIZE / 3] = '\0';
	assert_int_equal(lt_url_add(out, "a", value, NULL), LT_ELIMIT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_check),
	    cmocka_unit_test(test_check_length),
	    cmocka_unit_test(test_start),
	    cmocka_unit_test(test_start_length),
	    cmocka_unit_test(test_escape),
	    cmocka_unit_test(test_escape_length),
	    cmocka_unit_test(test_add),
	    cmocka_unit_test(test_add_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
