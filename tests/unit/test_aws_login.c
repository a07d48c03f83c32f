/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of AWS from the environment, a file and an instance's role; none of them in an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "adapter_fixture.h"
#include "aws.h"
#include "tools/source_server_aws.h"

static const struct lt_adapter_option login_options[] = {
    LT_AWS_LOGIN_OPTIONS, {NULL, false, NULL, NULL}};
/* Of an adapter only what all of AWS share. */
static const struct lt_adapter login_adapter = {
    .name = "login", .options = login_options, .check = lt_aws_login_check};

static const struct option_case option_cases[] = {
    {"nothing: the environment", {{NULL, NULL}}, 0, NULL},
    {"another kind", {{"credentials", "vault"}}, 10, "want environment, file or instance"},
    {"no file", {{"credentials", "file"}}, 10, "credentials_file: missing"},
    {"a relative file", {{"credentials", "file"}, {"credentials_file", "aws"}}, 11,
	"want an absolute path"},
    {"a file that is not read", {{"credentials_file", "/aws"}}, 10, "need credentials: file"},
    {"a profile of no file", {{"profile", "a"}}, 10, "need credentials: file"},
    {"a file", {{"credentials", "file"}, {"credentials_file", "/aws"}}, 0, NULL},
    {"the role of another host", {{"imds_url", "169.254.169.254"}}, 10, "want http://"},
    {"a role", {{"credentials", "instance"}}, 0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	adapter = &login_adapter;
	check_options(option_cases, COUNT(option_cases));
}

static const struct {
	const char *why, *text, *profile;
	const char *says; /* NULL = good */
	const char *pair, *header;
} file_cases[] = {
    {.why = "empty", .text = "", .profile = "default", .says = "no section"},
    {.why = "another section",
	.text = "[a]\naws_access_key_id=AKID\naws_secret_access_key=s3cret\n",
	.profile = "b",
	.says = "no section [b]"},
    {.why = "no secret",
	.text = "[b]\naws_access_key_id=AKID\n[c]\naws_secret_access_key=s3cret",
	.profile = "b",
	.says = "section [b]: no secret access key"},
    {.why = "no id",
	.text = "[b]\naws_secret_access_key=s3cret",
	.profile = "b",
	.says = "section [b]: no access key id"},
    {.why = "blanks in a key",
	.text = "[b]\naws_access_key_id=AK ID\naws_secret_access_key=s3cret",
	.profile = "b",
	.says = "want it as AWS gave it"},
    {.why = "a colon would end the id",
	.text = "[b]\naws_access_key_id=AK:ID\naws_secret_access_key=s3cret",
	.profile = "b",
	.says = "want it as AWS gave it"},
    {.why = "as AWS writes it",
	.text = "[default]\r\naws_access_key_id = AKID\r\n"
		"aws_secret_access_key = s3/c+ret=\r\n",
	.profile = "default",
	.pair = "AKID:s3/c+ret=",
	.header = ""},
    {.why = "one of many, with a session",
	.text = "# keys\n[a]\naws_access_key_id=no\n\n  [b]  \nregion=x\n"
		";aws_access_key_id=no\n aws_access_key_id=AKID\nwords\n"
		"aws_secret_access_key=s3cret\naws_session_token=t==\n"
		"[c]\naws_access_key_id=no",
	.profile = "b",
	.pair = "AKID:s3cret",
	.header = "x-amz-security-token: t=="},
};

static void
test_file_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(file_cases); i++) {
		char text[512];
		struct lt_aws_login login = {"", ""};
		struct lt_error err = {0};
		int code;

		strcpy(text, file_cases[i].text);
		code = lt_aws_login_of_file(&login, text, file_cases[i].profile, &err);
		if ((code == LT_OK) != (file_cases[i].says == NULL))
			fail_msg("%s: %s", file_cases[i].why, err.text);
		assert_null(strstr(err.text, "s3cret"));
		if (code == LT_OK) {
			assert_string_equal(login.pair, file_cases[i].pair);
			assert_string_equal(login.header, file_cases[i].header);
		} else {
			assert_says(file_cases[i].why, &err, file_cases[i].says);
		}
	}
}

static int
get(const struct pair *pairs, struct lt_source_memory *memory, int64_t now_utc_s,
    struct lt_aws_login *login, struct lt_error *err)
{
	struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_web web;

	options.memory = memory;
	lt_web_start(&web, &options, &points);
	return lt_aws_login_get(&web, now_utc_s, login, err);
}

static void
test_file(void **state)
{
	char path[] = "/tmp/lt-aws-XXXXXX";
	const struct pair pairs[] = {
	    {"credentials", "file"}, {"credentials_file", path}, {"profile", "p"}, {NULL, NULL}};
	static const char text[] = "[p]\naws_access_key_id=AKID\naws_secret_access_key=s3cret\n";
	struct lt_aws_login login = {"", ""};
	struct lt_error err = {0}, wide = {0}, gone = {0};

	(void)state;
	write_file(path, text, strlen(text));
	assert_int_equal(get(pairs, NULL, 0, &login, &err), LT_OK);
	assert_string_equal(login.pair, "AKID:s3cret");
	chmod(path, 0640);
	assert_int_equal(get(pairs, NULL, 0, &login, &wide), LT_EDENIED);
	assert_says("mode", &wide, "mode 0640 lets others read a secret");
	unlink(path);
	assert_int_equal(get(pairs, NULL, 0, &login, &gone), LT_ENOENT);
}

static void
test_environment(void **state)
{
	static const struct pair none[] = {{NULL, NULL}};
	struct lt_aws_login login = {"", ""};
	struct lt_error no_id = {0}, no_secret = {0}, err = {0};

	(void)state;
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
	unsetenv("AWS_SESSION_TOKEN");
	assert_int_equal(get(none, NULL, 0, &login, &no_id), LT_EINPUT);
	assert_says("none", &no_id, "in the environment: no access key id");
	setenv("AWS_ACCESS_KEY_ID", "AKENV", 1);
	assert_int_equal(get(none, NULL, 0, &login, &no_secret), LT_EINPUT);
	assert_says("half", &no_secret, "no secret access key");
	setenv("AWS_SECRET_ACCESS_KEY", "env/secret", 1);
	assert_int_equal(get(none, NULL, 0, &login, &err), LT_OK);
	assert_string_equal(login.pair, "AKENV:env/secret");
	assert_string_equal(login.header, "");
	setenv("AWS_SESSION_TOKEN", "session", 1);
	assert_int_equal(get(none, NULL, 0, &login, &err), LT_OK);
	assert_string_equal(login.header, "x-amz-security-token: session");
}

/* Three requests, then none until five minutes before the keys' end. */
static void
test_role(void **state)
{
	char url[128];
	const struct pair pairs[] = {{"credentials", "instance"}, {"imds_url", url}, {NULL, NULL}};
	static struct lt_source_memory memory;
	struct lt_aws_login login = {"", ""};
	struct lt_error err = {0};
	const int64_t now_utc_s = server_stop_clock();

	(void)state;
	server_url(url, "/aws/imds");
	if (get(pairs, &memory, now_utc_s, &login, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_string_equal(login.pair, "AKROLE:role/secret");
	assert_string_equal(login.header, "x-amz-security-token: role-session==");
	assert_int_equal(memory.trace_count, 3);
	assert_non_null(strstr(memory.trace[0].request, "PUT http://127"));
	assert_non_null(strstr(memory.trace[2].request, "/security-credentials/lowtide-role"));
	assert_between(memory.token_until_utc_s, now_utc_s + 3299, now_utc_s + 3302);
	memset(&login, 0, sizeof(login));
	assert_int_equal(get(pairs, &memory, now_utc_s + 3200, &login, &err), LT_OK);
	assert_int_equal(memory.trace_count, 0);
	assert_string_equal(login.pair, "AKROLE:role/secret");
	assert_string_equal(login.header, "x-amz-security-token: role-session==");
	assert_int_equal(get(pairs, &memory, now_utc_s + 3310, &login, &err), LT_OK);
	assert_int_equal(memory.trace_count, 3);
}

/* A proxy is not asked for our keys. */
static void
test_role_past_proxy(void **state)
{
	char url[128];
	const struct pair pairs[] = {{"credentials", "instance"}, {"imds_url", url}, {NULL, NULL}};
	struct lt_aws_login login = {"", ""};
	struct lt_error err = {0};

	(void)state;
	server_url(url, "/aws/imds");
	setenv("http_proxy", "http://127.0.0.1:1/", 1);
	assert_int_equal(get(pairs, NULL, 0, &login, &err), LT_OK);
	unsetenv("http_proxy");
}

static void
test_role_faults(void **state)
{
	static const struct {
		const char *path, *says;
	} faults[] = {
	    {"/aws/imds-norole", "credentials: the instance has no IAM role: "
				 "127.0.0.1: HTTP status 404"},
	    {"/aws/imds-bad", "AssumeRoleUnauthorizedAccess, want Success"},
	    {"/status/403", "credentials: 127.0.0.1: HTTP status 403"},
	    {"/empty", "instance metadata: the answer is no session"},
	    {"/ok", "credentials of the role: no time in"},
	    {"/reset", "credentials: 127.0.0.1: "},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		char url[128];
		const struct pair pairs[] = {
		    {"credentials", "instance"}, {"imds_url", url}, {NULL, NULL}};
		struct lt_aws_login login = {"", ""};
		struct lt_error err = {0};

		server_url(url, faults[i].path);
		if (get(pairs, NULL, 0, &login, &err) == LT_OK)
			fail_msg("%s", faults[i].path);
		assert_says(faults[i].path, &err, faults[i].says);
	}
}

static const struct {
	const char *why, *bytes, *says;
} role_cases[] = {
    {"empty", "", "want one JSON object"},
    {"cut off after the secret", "{\"SecretAccessKey\":\"s3cret\",", "want one JSON object"},
    {"a list", "[\"s3cret\"]", "no time in \"Expiration\""},
    {"no end",
	"{\"Code\":\"Success\",\"AccessKeyId\":\"AK\","
	"\"SecretAccessKey\":\"s3cret\",\"Token\":\"t\"}",
	"no time in \"Expiration\""},
    {"no id",
	"{\"Expiration\":\"2026-01-01T00:00:00Z\","
	"\"SecretAccessKey\":\"s3cret\"}",
	"no access key id"},
    {"a number",
	"{\"Expiration\":\"2026-01-01T00:00:00Z\","
	"\"AccessKeyId\":\"AK\",\"SecretAccessKey\":7}",
	"no secret access key"},
    {"a line break in the token would be a header of its own",
	"{\"Expiration\":\"2026-01-01T00:00:00Z\",\"AccessKeyId\":\"AK\","
	"\"SecretAccessKey\":\"s3cret\",\"Token\":\"t\\r\\nHost: b\"}",
	"blanks or controls"},
};

static void
test_role_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(role_cases); i++) {
		struct lt_aws_login login = {"", ""};
		struct lt_error err = {0};
		int64_t until_utc_s;

		assert_int_equal(lt_aws_login_of_role(&login, role_cases[i].bytes,
				     strlen(role_cases[i].bytes), &until_utc_s, &err),
		    LT_EINPUT);
		assert_says(role_cases[i].why, &err, role_cases[i].says);
		assert_null(strstr(err.text, "s3cret"));
	}
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("aws_spot_price", serve_aws);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_file_text),
	    cmocka_unit_test(test_file),
	    cmocka_unit_test(test_environment),
	    cmocka_unit_test(test_role),
	    cmocka_unit_test(test_role_past_proxy),
	    cmocka_unit_test(test_role_faults),
	    cmocka_unit_test(test_role_text),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
