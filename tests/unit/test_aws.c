/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to EC2: the signature as a server recomputes it, pages, and what error bodies are said
 * to mean.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "aws.h"
#include "source_fixture.h"
#include "tools/sha256.h"
#include "tools/source_server_aws.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define ERROR(code, message)                                                                       \
	"<?xml version=\"1.0\"?><Response><Errors><Error><Code>" code "</Code><Message>" message   \
	"</Message></Error></Errors></Response>"

static struct server server;

static const struct {
	const char *why, *body, *says;
} errors[] = {
    {"no XML", "Service Unavailable", ""},
    {"another XML", "<html><Errors/></html>", ""},
    {"no error", "<Response><Errors/></Response>", ""},
    {"no code",
	"<Response><Errors><Error><Message>m</Message></Error></Errors>"
	"</Response>",
	""},
    {"no message",
	"<Response><Errors><Error><Code>InternalError</Code></Error></Errors>"
	"</Response>",
	"InternalError"},
    {"unknown", ERROR("InvalidParameterValue", "Bad &quot;StartTime&quot;"),
	"InvalidParameterValue: Bad \"StartTime\""},
    {"keys", ERROR("AuthFailure", "m"),
	"AuthFailure (are the keys right, and is the region enabled for the "
	"account?): m"},
    {"not allowed", ERROR("UnauthorizedOperation", "m"),
	"UnauthorizedOperation (allow the IAM action ec2:Do): m"},
    {"the clock", ERROR("RequestExpired", "Request has expired."),
	"RequestExpired (is this machine's clock right, and are the keys still "
	"valid?): Request has expired."},
    {"too often", ERROR("RequestLimitExceeded", "Request limit exceeded."),
	"RequestLimitExceeded (the account asks too often): Request limit "
	"exceeded."},
    {"what was signed is not shown", ERROR("SignatureDoesNotMatch", "x-amz-security-token:SESSION"),
	"SignatureDoesNotMatch (is the secret key right, and this machine's "
	"clock?)"},
    {"too many questions", ERROR("MaxConfigLimitExceeded", "m"),
	"MaxConfigLimitExceeded (too many different questions within 24 "
	"hours): m"},
};

static void
test_error_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(errors); i++) {
		char text[201];

		lt_aws_error_text(
		    text, sizeof(text), errors[i].body, strlen(errors[i].body), "ec2:Do");
		if (strcmp(text, errors[i].says) != 0)
			fail_msg("%s: \"%s\"", errors[i].why, text);
	}
}

static void
test_captured_error(void **state)
{
	static const struct {
		const char *file, *says;
	} cases[] = {
	    {"error_invalid_id.xml", "InvalidInstanceID.Malformed: Invalid id: \"foobar\""},
	    {"error_RequestLimitExceeded_SYNTHETIC_503.xml",
		"RequestLimitExceeded (the account asks too often): Request "
		"limit exceeded."},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char path[128], body[1024], text[201];

		snprintf(path, sizeof(path), "tests/fixtures/aws_spot_price/%s", cases[i].file);
		FILE *const file = fopen(path, "rb");
		assert_non_null(file);
		const size_t length = fread(body, 1, sizeof(body), file);
		fclose(file);
		lt_aws_error_text(text, sizeof(text), body, length, "ec2:Do");
		assert_string_equal(text, cases[i].says);
	}
}

/* ---- the signature ---- */

/* A header's value in a request's head, in the request's own order; name in small letters. */
static void
append_header(char *out, size_t size, const struct exchange *exchange, const char *name)
{
	char value[512];

	server_header(exchange, name, value);
	snprintf(out + strlen(out), size - strlen(out), "%s:%s\n", name, value);
}

/* Signature Version 4 of the request as AWS documents it. */
static void
sign(char out[65], const struct exchange *exchange, const char *names, const char *scope,
    const char *secret)
{
	char canonical[4096], hash[65], date[512], rest[512], to_sign[1024], part[4][64] = {""};
	unsigned char digest[SHA256_SIZE], key[SHA256_SIZE];
	char first[128];
	char *at = rest;

	snprintf(canonical, sizeof(canonical), "%s\n%s\n\n", exchange->method, exchange->path);
	snprintf(rest, sizeof(rest), "%s", names);
	for (char *name; (name = strsep(&at, ";")) != NULL;)
		append_header(canonical, sizeof(canonical), exchange, name);
	sha256(digest, exchange->body, strlen(exchange->body));
	snprintf(canonical + strlen(canonical), sizeof(canonical) - strlen(canonical), "\n%s\n%s",
	    names, sha256_hex(hash, digest));
	sha256(digest, canonical, strlen(canonical));
	server_header(exchange, "X-Amz-Date", date);
	snprintf(to_sign, sizeof(to_sign), "AWS4-HMAC-SHA256\n%s\n%s\n%s", date, scope,
	    sha256_hex(hash, digest));
	assert_int_equal(
	    sscanf(scope, "%63[^/]/%63[^/]/%63[^/]/%63s", part[0], part[1], part[2], part[3]), 4);
	snprintf(first, sizeof(first), "AWS4%s", secret);
	hmac_sha256(key, first, strlen(first), part[0]);
	for (int i = 1; i < 4; i++) {
		memcpy(digest, key, sizeof(digest));
		hmac_sha256(key, digest, sizeof(digest), part[i]);
	}
	hmac_sha256(digest, key, sizeof(key), to_sign);
	sha256_hex(out, digest);
}

static int
take_nothing(void *context, const struct lt_aws_text texts[LT_AWS_FIELDS_MAX], struct lt_error *err)
{
	int *const count = context;

	(void)texts;
	(void)err;
	++*count;
	return LT_OK;
}

static const struct lt_aws_items prices = {
    .root = "DescribeSpotPriceHistoryResponse",
    .set = "spotPriceHistorySet",
    .take = take_nothing,
};

static void
no_error_text(char *out, size_t size, const char *body, size_t length)
{
	lt_aws_error_text(out, size, body, length, "ec2:Do");
}

static int
do_prices(const char *path, const struct lt_aws_login *login, int pages_max, int *count,
    struct lt_source_memory *memory, struct lt_error *err)
{
	char url[64];
	const struct pair pairs[] = {{"region", "eu-west-2"}, {"url", url}, {NULL, NULL}};
	struct lt_source_options options;
	struct lt_points points = {0};
	struct lt_web web;
	char start[32], form[128];
	const struct lt_aws_action action = {
	    .name = "DescribeSpotPriceHistory",
	    .form = form,
	    .items = &prices,
	    .context = count,
	    .pages_max = pages_max,
	    .error_text = no_error_text,
	};

	lt_utc_text(start, sizeof(start), time(NULL) - 28 * 86400);
	snprintf(form, sizeof(form), "&InstanceType.1=a&StartTime=%s", start);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", server.port, path);
	options = options_of(pairs);
	options.memory = memory;
	lt_web_start(&web, &options, &points);
	return lt_aws_do(&web, login, &action, err);
}

/* The request that the server has written down. */
static void
recorded(struct exchange *exchange)
{
	FILE *const file = fopen(aws_record_path, "r");

	memset(exchange, 0, sizeof(*exchange));
	assert_non_null(file);
	exchange->request[fread(exchange->request, 1, sizeof(exchange->request) - 1, file)] = '\0';
	fclose(file);
	exchange->body = strstr(exchange->request, "\r\n\r\n");
	assert_non_null(exchange->body);
	exchange->body += 4;
	assert_int_equal(
	    sscanf(exchange->request, "%15s %2047s", exchange->method, exchange->path), 2);
}

static void
check_signature(const struct lt_aws_login *login, const char *secret)
{
	static struct exchange exchange;
	char authorization[512], id[64], scope[128], names[256], signature[128], wanted[65];
	struct lt_error err = {0};
	int count = 0;

	if (do_prices("/aws/ec2/", login, 10, &count, NULL, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_true(count > 300);
	recorded(&exchange);
	server_header(&exchange, "Authorization", authorization);
	assert_int_equal(sscanf(authorization,
			     "AWS4-HMAC-SHA256 Credential=%63[^/]/%127[^,], "
			     "SignedHeaders=%255[^,], Signature=%127s",
			     id, scope, names, signature),
	    4);
	assert_memory_equal(id, login->pair, strlen(id));
	assert_non_null(strstr(scope, "/eu-west-2/ec2/aws4_request"));
	assert_non_null(strstr(names, "host"));
	assert_non_null(strstr(names, "x-amz-date"));
	if (login->header[0] != '\0')
		assert_non_null(strstr(names, "x-amz-security-token"));
	sign(wanted, &exchange, names, scope, secret);
	assert_string_equal(signature, wanted);
	sign(wanted, &exchange, names, scope, "another");
	assert_string_not_equal(signature, wanted);
}

static void
test_signature(void **state)
{
	static const struct lt_aws_login user = {"AKID:s3/c+ret", ""},
					 session = {
					     "AKID:s3/c+ret", "x-amz-security-token: abc/+=="};

	(void)state;
	check_signature(&user, "s3/c+ret");
	check_signature(&session, "s3/c+ret");
}

/* SHA-256 and HMAC of the test itself: FIPS 180-4's and RFC 4231's values. */
static void
test_sha256(void **state)
{
	unsigned char digest[SHA256_SIZE];
	char hex[65];

	(void)state;
	sha256(digest, "abc", 3);
	assert_string_equal(sha256_hex(hex, digest),
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	hmac_sha256(digest, "Jefe", 4, "what do ya want for nothing?");
	assert_string_equal(sha256_hex(hex, digest),
	    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

/* ---- pages and failures ---- */

static void
test_pages(void **state)
{
	static const struct lt_aws_login login = {"AKID:s3cret", ""};
	struct lt_error loop = {0}, bound = {0};
	int count = 0;

	(void)state;
	assert_int_equal(do_prices("/aws/loop/", &login, 100, &count, NULL, &loop), LT_EINPUT);
	assert_says("loop", &loop, "127.0.0.1: the same nextToken again: pages without end");
	assert_int_equal(count, 2 * (AWS_PAGE + 1));
	count = 0;
	assert_int_equal(do_prices("/aws/ec2/", &login, 2, &count, NULL, &bound), LT_ELIMIT);
	assert_says("bound", &bound, "src: more than 2 pages of DescribeSpotPriceHistory");
	assert_int_equal(count, 2 * (AWS_PAGE + 1));
}

static const struct {
	const char *path, *says;
	bool forgets; /* a role's keys */
} failures[] = {
    {"/aws/error/401/AuthFailure/",
	"127.0.0.1: HTTP status 401, want 200: AuthFailure (are the keys right", true},
    {"/aws/error/403/UnauthorizedOperation/",
	"(allow the IAM action ec2:Do): As AWS \"says\" it & no more.", true},
    {"/aws/error/403/SignatureDoesNotMatch/", "(is the secret key right", true},
    {"/aws/error/400/RequestExpired/", "(is this machine's clock right", false},
    {"/aws/error/503/RequestLimitExceeded/", "503, want 200: RequestLimit", false},
    {"/html", "got text/html, want XML", false},
    {"/status/429", "asks to wait 7 s", false},
};

static void
test_failures(void **state)
{
	static const struct lt_aws_login login = {"AKID:s3cret", "x-amz-security-token: SESSION"};

	(void)state;
	for (size_t i = 0; i < COUNT(failures); i++) {
		static struct lt_source_memory memory;
		struct lt_error err = {0};
		int count = 0;

		strcpy(memory.token, "kept");
		assert_int_equal(
		    do_prices(failures[i].path, &login, 2, &count, &memory, &err), LT_ENET);
		assert_says(failures[i].path, &err, failures[i].says);
		assert_null(strstr(err.text, "HIDDEN"));
		assert_null(strstr(err.text, "s3cret"));
		assert_null(strstr(memory.trace[0].request, "AKID"));
		assert_int_equal(memory.token[0] == '\0', failures[i].forgets);
	}
}

static void
test_names(void **state)
{
	static const struct pair good[] = {{"region", "us-gov-west-1"}, {0}},
				 bad[] = {{"region", "eu west"}, {0}},
				 host[] = {{"region", "a.evil"}, {0}};
	const struct lt_source_options good_options = options_of(good),
				       bad_options = options_of(bad),
				       host_options = options_of(host);

	(void)state;
	assert_true(lt_aws_is_name("u7i-12tb.224xlarge"));
	assert_false(lt_aws_is_name(""));
	assert_false(lt_aws_is_name("g5.xlarge&Action=Run"));
	assert_int_equal(lt_aws_region_check(&good_options, NULL), LT_OK);
	assert_int_equal(lt_aws_region_check(&bad_options, NULL), LT_EINPUT);
	assert_int_equal(lt_aws_region_check(&host_options, NULL), LT_EINPUT);
}

static int
start(void **state)
{
	(void)state;
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	strcpy(aws_record_path, "/tmp/lt-aws-XXXXXX");
	close(mkstemp(aws_record_path));
	server_own = serve_aws;
	server = server_start(0, NULL);
	return lt_http_init(NULL) != LT_OK;
}

static int
end(void **state)
{
	(void)state;
	lt_http_cleanup();
	server_stop(&server);
	unlink(aws_record_path);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_error_text),
	    cmocka_unit_test(test_captured_error),
	    cmocka_unit_test(test_sha256),
	    cmocka_unit_test(test_signature),
	    cmocka_unit_test(test_pages),
	    cmocka_unit_test(test_failures),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, start, end);
}
