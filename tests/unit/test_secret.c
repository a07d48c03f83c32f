/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Credentials from files and the environment: who may read a file, what is one, and that no error
 * has any of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "source_fixture.h"
#include "web.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define SECRET "hunter2/ae+7="

static char directory[] = "/tmp/test_secret.XXXXXX";
static char path[64], other_path[64];

static const struct {
	const char *why;
	struct pair pairs[3];
	bool required;
	int line;
	const char *says; /* NULL = good */
} check_cases[] = {
    {"a file", {{"key_file", "/etc/a"}}, true, 0, NULL},
    {"a variable", {{"key_env", "A"}}, true, 0, NULL},
    {"none where none is needed", {{NULL, NULL}}, false, 0, NULL},
    {"none", {{NULL, NULL}}, true, 0,
	"src: key_file or key_env: missing, want where the secret is"},
    {"both", {{"key_file", "/a"}, {"key_env", "A"}}, true, 11,
	"src: key_file and key_env, want one of them"},
    {"both where none is needed", {{"key_file", "/a"}, {"key_env", "A"}}, false, 11,
	"want one of them"},
    {"a relative path", {{"key_file", "a"}}, true, 10,
	"key_file: got \"a\", want an absolute path"},
    {"no path", {{"key_file", ""}}, true, 10, "want an absolute path"},
    {"no name", {{"key_env", ""}}, true, 10, "want the name of an environment variable"},
    {"more than a name", {{"key_env", "A=b"}}, true, 10,
	"want the name of an environment variable"},
    {"over a network in the clear", {{"key_env", "A"}, {"url", "http://example.org/v3"}}, true, 11,
	"url: got http:// to another host, want https://"},
    {"a name that looks like this host",
	{{"key_env", "A"}, {"url", "http://127.0.0.1.example.org"}}, true, 11, "want https://"},
    {"the login", {{"key_env", "A"}, {"login_url", "http://10.0.0.1"}}, true, 11,
	"login_url: got http://"},
    {"to this host", {{"key_env", "A"}, {"url", "http://127.0.0.1:80/x"}}, true, 0, NULL},
    {"to this host by name", {{"key_env", "A"}, {"url", "http://localhost"}}, true, 0, NULL},
    {"without a secret", {{"url", "http://example.org"}}, false, 0, NULL},
};

static void
test_check(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(check_cases); i++) {
		const struct lt_source_options options = options_of(check_cases[i].pairs);
		struct lt_error err = {0};
		const int code = lt_secret_check(&options, "key", check_cases[i].required, &err);

		if ((code == LT_OK) != (check_cases[i].says == NULL) ||
		    err.line != check_cases[i].line)
			fail_msg("%s: %d %d %s", check_cases[i].why, code, err.line, err.text);
		if (code != LT_OK)
			assert_says(check_cases[i].why, &err, check_cases[i].says);
	}
}

/* A file with these bytes and this mode, whatever the umask. */
static void
make_file(const char *bytes, size_t byte_count, mode_t mode)
{
	FILE *const file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, byte_count, file), byte_count);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static int
read_secret(const char *key, const char *value, char *out, size_t size, struct lt_error *err)
{
	const struct pair pairs[] = {{key, value}, {0}};
	const struct lt_source_options options = options_of(pairs);

	*err = (struct lt_error){0};
	return lt_secret_read(&options, "key", out, size, err);
}

static void
assert_discreet(const char *why, const struct lt_error *err)
{
	if (strstr(err->text, "hunter") != NULL || strstr(err->text, "ae+7") != NULL)
		fail_msg("%s: has the secret: %s", why, err->text);
}

static void
test_modes(void **state)
{
	static const struct {
		mode_t mode;
		bool ok;
	} modes[] = {{0600, true}, {0400, true}, {0700, true}, {0640, false}, {0604, false},
	    {0620, false}, {0602, false}, {0610, false}, {0601, false}, {0666, false}};
	char out[LT_SECRET_SIZE];
	struct lt_error err;

	(void)state;
	for (size_t i = 0; i < COUNT(modes); i++) {
		char says[64];

		unlink(path);
		make_file(SECRET, strlen(SECRET), modes[i].mode);
		const int code = read_secret("key_file", path, out, sizeof(out), &err);
		if (code != (modes[i].ok ? LT_OK : LT_EDENIED))
			fail_msg("%o: %d %s", (unsigned)modes[i].mode, code, err.text);
		if (code == LT_OK) {
			assert_string_equal(out, SECRET);
			continue;
		}
		snprintf(says, sizeof(says), ": mode %04o lets others read a secret, want 0600",
		    (unsigned)modes[i].mode);
		assert_says("mode", &err, says);
		assert_says("mode", &err, path);
		assert_discreet("mode", &err);
	}
}

static void
test_links(void **state)
{
	char out[LT_SECRET_SIZE];
	struct lt_error err;

	(void)state;
	unlink(path);
	make_file(SECRET, strlen(SECRET), 0600);
	assert_int_equal(symlink(path, other_path), 0);
	assert_int_equal(read_secret("key_file", other_path, out, sizeof(out), &err), LT_OK);
	assert_string_equal(out, SECRET);
	assert_int_equal(chmod(path, 0644), 0); /* the target's mode counts */
	assert_int_equal(read_secret("key_file", other_path, out, sizeof(out), &err), LT_EDENIED);
	unlink(path); /* now it leads nowhere */
	assert_int_equal(read_secret("key_file", other_path, out, sizeof(out), &err), LT_ENOENT);
	assert_says("nowhere", &err, other_path);
	unlink(other_path);
	assert_int_equal(symlink(other_path, other_path), 0);
	assert_int_equal(read_secret("key_file", other_path, out, sizeof(out), &err), LT_EIO);
	unlink(other_path);
}

/* Neither waits for a writer. */
static void
test_no_files(void **state)
{
	char out[LT_SECRET_SIZE];
	struct lt_error err;

	(void)state;
	unlink(path);
	assert_int_equal(read_secret("key_file", path, out, sizeof(out), &err), LT_ENOENT);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(read_secret("key_file", path, out, sizeof(out), &err), LT_EDENIED);
	assert_says("a directory", &err, "want a plain file");
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(read_secret("key_file", path, out, sizeof(out), &err), LT_EDENIED);
	assert_says("a FIFO", &err, "want a plain file");
	unlink(path);
	assert_int_equal(read_secret("key_file", "/dev/zero", out, sizeof(out), &err), LT_EDENIED);
}

static const struct {
	const char *why, *bytes;
	size_t length;
	int code;
	const char *says; /* of the error, or the secret */
} contents[] = {
    {"as it is", SECRET, 13, LT_OK, SECRET},
    {"a line", SECRET "\n", 14, LT_OK, SECRET},
    {"a line of DOS", SECRET "\r\n", 15, LT_OK, SECRET},
    {"blanks around", " \t\n" SECRET " \n\n", 19, LT_OK, SECRET},
    {"a blank within", "a b\n", 4, LT_OK, "a b"},
    {"empty", "", 0, LT_EINPUT, "want a secret on one line"},
    {"blanks only", " \n\t\n", 4, LT_EINPUT, "want a secret on one line"},
    {"two lines", "hunter2\nhunter3\n", 16, LT_EINPUT, "want a secret on one line"},
    {"a tab within", "hunter\t2", 8, LT_EINPUT, "want a secret on one line"},
    {"an escape", "hunter\x1b[2J", 10, LT_EINPUT, "want a secret on one line"},
    {"a NUL within", "hunter\0two", 10, LT_EINPUT, "has a NUL byte"},
    {"a NUL at the end", "hunter2\0", 8, LT_EINPUT, "has a NUL byte"},
};

static void
test_contents(void **state)
{
	char out[LT_SECRET_SIZE];
	struct lt_error err;

	(void)state;
	for (size_t i = 0; i < COUNT(contents); i++) {
		unlink(path);
		make_file(contents[i].bytes, contents[i].length, 0600);
		if (read_secret("key_file", path, out, sizeof(out), &err) != contents[i].code)
			fail_msg("%s: %s", contents[i].why, err.text);
		if (contents[i].code == LT_OK) {
			assert_string_equal(out, contents[i].says);
			continue;
		}
		assert_says(contents[i].why, &err, contents[i].says);
		assert_says(contents[i].why, &err, path);
		assert_discreet(contents[i].why, &err);
	}
}

static void
test_length(void **state)
{
	char bytes[32], out[17];
	struct lt_error err;

	(void)state;
	memset(bytes, 'h', sizeof(bytes));
	for (size_t length = 15; length <= 18; length++) {
		unlink(path);
		make_file(bytes, length, 0600);
		assert_int_equal(read_secret("key_file", path, out, sizeof(out), &err),
		    length <= 16 ? LT_OK : LT_ELIMIT);
		assert_null(strstr(err.text, "hhh"));
		if (length <= 16)
			assert_int_equal(strlen(out), length);
	}
	assert_says("too long", &err, "17 bytes and more, want a secret");
	bytes[17] = '\0';
	setenv("LT_TEST_SECRET", bytes, 1);
	assert_int_equal(
	    read_secret("key_env", "LT_TEST_SECRET", out, sizeof(out), &err), LT_ELIMIT);
	assert_says("variable", &err, "LT_TEST_SECRET: 17 bytes and more");
	assert_null(strstr(err.text, "hhh"));
	bytes[16] = '\0';
	setenv("LT_TEST_SECRET", bytes, 1);
	assert_int_equal(read_secret("key_env", "LT_TEST_SECRET", out, sizeof(out), &err), LT_OK);
}

static void
test_environment(void **state)
{
	static const struct {
		const char *why, *value; /* NULL = not set */
		int code;
		const char *says;
	} cases[] = {
	    {"missing", NULL, LT_EINPUT, "LT_TEST_SECRET: not in the environment of this process"},
	    {"empty", "", LT_EINPUT, "LT_TEST_SECRET: want a secret on one line"},
	    {"two lines", "hunter2\nae+7", LT_EINPUT, "LT_TEST_SECRET: want a secret on one line"},
	    {"good", " " SECRET "\n", LT_OK, SECRET},
	};
	char out[LT_SECRET_SIZE];
	struct lt_error err;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsetenv("LT_TEST_SECRET");
		if (cases[i].value != NULL)
			setenv("LT_TEST_SECRET", cases[i].value, 1);
		if (read_secret("key_env", "LT_TEST_SECRET", out, sizeof(out), &err) !=
		    cases[i].code)
			fail_msg("%s: %s", cases[i].why, err.text);
		if (cases[i].code == LT_OK)
			assert_string_equal(out, cases[i].says);
		else
			assert_says(cases[i].why, &err, cases[i].says);
		assert_discreet(cases[i].why, &err);
	}
	assert_int_equal(read_secret("other", "x", out, sizeof(out), &err), LT_ENOENT);
	assert_says("not named", &err, "neither key_file nor key_env");
}

/* A refused secret does not stay in the buffer either. */
static void
test_wiped(void **state)
{
	static const char *const bad[] = {"hunter2\nhunter3", "hunter2\0", "hunter2hunter2hunter2"};
	static const size_t lengths[] = {15, 8, 21};
	char out[16];
	struct lt_error err;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		unlink(path);
		make_file(bad[i], lengths[i], 0600);
		memset(out, 0, sizeof(out));
		assert_int_not_equal(read_secret("key_file", path, out, sizeof(out), &err), LT_OK);
		for (size_t j = 0; j < sizeof(out); j++)
			if (out[j] != '\0')
				fail_msg("%zu: byte %zu", i, j);
	}
}

/* Whole files, as a service account's JSON, have lines. */
static void
test_whole_file(void **state)
{
	static const char json[] = "{\n \"key\": \"" SECRET "\"\n}\n";
	char out[64];
	struct lt_error err = {0};

	(void)state;
	unlink(path);
	make_file(json, strlen(json), 0400);
	assert_int_equal(lt_secret_file(path, out, sizeof(out), NULL), LT_OK);
	assert_string_equal(out, json);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(lt_secret_file(path, out, sizeof(out), &err), LT_EDENIED);
	assert_discreet("whole file", &err);
}

static int
start(void **state)
{
	(void)state;
	if (mkdtemp(directory) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/secret", directory);
	snprintf(other_path, sizeof(other_path), "%s/link", directory);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	unlink(path);
	unlink(other_path);
	return rmdir(directory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_check),
	    cmocka_unit_test(test_modes),
	    cmocka_unit_test(test_links),
	    cmocka_unit_test(test_no_files),
	    cmocka_unit_test(test_contents),
	    cmocka_unit_test(test_length),
	    cmocka_unit_test(test_environment),
	    cmocka_unit_test(test_wiped),
	    cmocka_unit_test(test_whole_file),
	};

	return cmocka_run_group_tests(tests, start, end);
}
