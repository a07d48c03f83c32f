/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Secrets that come back: in each form alone, cut at either end, and through each source that has
 * one, from a server that repeats what it was sent in every place where that source's answers have
 * words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base64.h"
#include "guard.h"
#include "adapter_fixture.h"

/* Forms of it by other programs: base64(1), curl --data-urlencode. */
#define SECRET "p+s/w\"d&<k>=9%xQ"
static const char *const forms[] = {
    SECRET, "p%2Bs%2Fw%22d%26%3Ck%3E%3D9%25xQ", "p%2bs%2fw%22d%26%3ck%3e%3d9%25xQ",
    "p+s\\/w\\\"d&<k>=9%xQ", "p+s/w\\\"d&<k>=9%xQ", "p+s/w&quot;d&amp;&lt;k&gt;=9%xQ",
    "cCtzL3ciZCY8az49OSV4UQ==",	    /* alone */
    "dXNlcjpwK3MvdyJkJjxrPj05JXhR", /* user:SECRET */
    "YWJwK3MvdyJkJjxrPj05JXhR",	    /* abSECRET */
};

static void
test_forms(void **state)
{
	(void)state;
	lt_guard_add(SECRET);
	for (size_t i = 0; i < COUNT(forms); i++) {
		char text[512];

		snprintf(text, sizeof(text), "denied: %s, sorry", forms[i]);
		lt_guard_hide(text);
		for (size_t k = 0; k + 6 <= strlen(forms[i]); k++) {
			char part[7];

			snprintf(part, sizeof(part), "%.6s", forms[i] + k);
			/* What stands before it in base64 is no secret. */
			if (strstr(text, part) != NULL && i < 6)
				fail_msg("%s: %s", forms[i], text);
		}
		assert_int_equal(strncmp(text, "denied: ", 8), 0);
		assert_non_null(strstr(text, "***"));
		assert_non_null(strstr(text, ", sorry"));
	}
	lt_guard_forget();
}

/* Whatever is left of it, from 8 bytes on. */
static void
test_cut(void **state)
{
	const size_t length = strlen(SECRET);

	(void)state;
	lt_guard_add(SECRET);
	for (size_t from = 0; from < length; from++)
		for (size_t bytes = 1; from + bytes <= length; bytes++) {
			char text[64];

			snprintf(text, sizeof(text), "key %.*s", (int)bytes, &SECRET[from]);
			lt_guard_hide(text);
			assert_int_equal(strcmp(text, "key ***") == 0, bytes >= 8);
		}
	lt_guard_forget();
	char text[] = "p+s/w\"d&<k>=9%xQ"; /* nobody's any more */
	lt_guard_hide(text);
	assert_string_equal(text, SECRET);
}

static void
test_small(void **state)
{
	char text[] = "to be, or abc, or not abd";

	(void)state;
	lt_guard_add("");
	lt_guard_add("be");
	lt_guard_add("abc");
	lt_guard_hide(text);
	assert_string_equal(text, "to be, or ***, or not abd");
	text[0] = '\0';
	lt_guard_hide(text);
	assert_string_equal(text, "");
	lt_guard_forget();
}

/* ---- through each source ---- */

enum { JSON, XML, PLAIN, SHAPES = PLAIN + 4 };
/* Of a request, that a secret may be in. */
enum part { QUERY, BODY, HEADER };

/* %s: what is repeated. The words of errors, where the sources have them. */
static const struct {
	const char *type, *body;
} shapes[SHAPES] = {
    [JSON] = {"application/json",
	"{\"error\":\"%s\",\"message\":\"%s\",\"error_description\":\"%s\","
	"\"detail\":\"%s\",\"warnings\":[\"%s\"],\"status\":\"%s\"}"},
    [XML] = {"text/xml", "<Acknowledgement_MarketDocument xmlns=\"urn:iec62325.351:tc57wg16:"
			 "451-1:acknowledgementdocument:7:0\"><Reason><code>999</code><text>"
			 "%s</text></Reason></Acknowledgement_MarketDocument>"},
    [PLAIN] = {"text/plain", "%s"},
    {"application/json", "{\"error\":{\"code\":\"%s\",\"message\":\"%s\","
			 "\"status\":\"%s\"}}"},
    {"application/json", "{\"code\":16,\"message\":\"%s\",\"details\":[]}"},
    {"text/xml", "<Response><Errors><Error><Code>%s</Code><Message>%s"
		 "</Message></Error></Errors></Response>"},
};

static void
percent_decode(char *text)
{
	char *to = text;

	for (const char *at = text; *at != '\0'; at++) {
		unsigned byte;

		if (at[0] == '%' && sscanf(at + 1, "%2x", &byte) == 1) {
			*to++ = (char)byte;
			at += 2;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
}

/* The value of the last header that may have a secret. */
static void
secret_header(const struct exchange *exchange, char out[512])
{
	static const char *const names[] = {"Authorization", "auth-token", "X-Amz-Security-Token"};

	out[0] = '\0';
	for (size_t i = 0; i < COUNT(names) && out[0] == '\0'; i++)
		server_header(exchange, names[i], out);
}

/* The part of a request that had a secret, as it came or decoded. */
static void
part_of(const struct exchange *exchange, enum part part, bool decoded, char out[2048])
{
	const char *const last = strrchr(exchange->path, '=');
	char header[512];

	secret_header(exchange, header);
	snprintf(out, 2048, "%s",
	    part == HEADER ? header
	    : part == BODY ? exchange->body
	    : last == NULL ? ""
			   : last + 1);
	if (decoded && part != HEADER)
		percent_decode(out);
	if (decoded && strncmp(header, "Basic ", 6) == 0) {
		const long length = lt_base64_decode((unsigned char *)out, 2047, header + 6);

		out[length < 0 ? 0 : length] = '\0';
	}
}

/* As JSON or XML must write it. */
static void
escape(char *out, size_t size, const char *text, const char *type)
{
	size_t at = 0;

	for (; *text != '\0' && at + 8 < size; text++) {
		const bool is_xml = strstr(type, "xml") != NULL;

		if (is_xml && strchr("&<>", *text) != NULL)
			at += (size_t)sprintf(out + at, "&#%d;", *text);
		else if (!is_xml && strchr("\"\\", *text) != NULL)
			at += (size_t)sprintf(out + at, "\\%c", *text);
		else
			out[at++] = *text;
	}
	out[at] = '\0';
}

/* /echo-PART-DECODED-SHAPE-STATUS/... */
static bool
serve_echoes(const struct exchange *exchange)
{
	static char words[4096], body[32768];
	char part[2048];
	int which, decoded, shape, status, length = 0;

	if (sscanf(exchange->path, "/echo-%d-%d-%d-%d", &which, &decoded, &shape, &status) != 4)
		return false;
	part_of(exchange, (enum part)which, decoded, part);
	escape(words, sizeof(words), part, shape == PLAIN ? "xml" : shapes[shape].type);
	if (shape == PLAIN)
		snprintf(words, sizeof(words), "%s", part);
	for (const char *at = shapes[shape].body; *at != '\0'; at++) {
		if (at[0] == '%' && at[1] == 's') {
			length +=
			    snprintf(body + length, sizeof(body) - (size_t)length, "%s", words);
			at++;
		} else {
			body[length++] = *at;
		}
	}
	body[length] = '\0';
	server_answer(exchange, status, shapes[shape].type, "", body);
	return true;
}

static const struct {
	const char *adapter;
	struct pair pairs[10];
	enum part part;
	bool has_token; /* of a login before: it is the secret */
} sources[] = {
    {"electricity_maps", {{"zone", "DE"}, {"key_env", "GUARD_SECRET"}}, HEADER, false},
    {"watttime",
	{{"region", "CAISO_NORTH"}, {"username", "user"}, {"password_env", "GUARD_SECRET"}}, HEADER,
	false},
    {"watttime", {{"region", "CAISO_NORTH"}, {"username", "user"}, {"password_env", "GUARD_OTHER"}},
	HEADER, true},
    {"eia", {{"respondent", "CISO"}, {"key_env", "GUARD_SECRET"}}, QUERY, false},
    {"entsoe", {{"area", "DE"}, {"token_env", "GUARD_SECRET"}}, QUERY, false},
    {"entsoe_price", {{"area", "FR"}, {"token_env", "GUARD_SECRET"}}, QUERY, false},
    {"entsoe_day_ahead", {{"area", "FR"}, {"series", "load"}, {"token_env", "GUARD_SECRET"}}, QUERY,
	false},
    {"cudo_compute",
	{{"data_center", "se-smedjebacken-1"}, {"machine_type", "epyc-rome-rtx-a5000"},
	    {"vcpus", "8"}, {"memory_gib", "32"}, {"gpus", "1"}, {"key_env", "GUARD_SECRET"}},
	HEADER, false},
    {"gcp_billing_sku",
	{{"region", "us-central1"}, {"cpu_family", "N1"}, {"vcpus", "8"}, {"memory_gib", "30"},
	    {"key_env", "GUARD_SECRET"}},
	QUERY, false},
    {"azure_eviction_rate",
	{{"region", "eastus"}, {"sku", "Standard_NC4as_T4_v3"}, {"tenant_id", "t"},
	    {"client_id", "c"}, {"secret_env", "GUARD_SECRET"}},
	BODY, false},
    {"azure_eviction_rate",
	{{"region", "eastus"}, {"sku", "Standard_NC4as_T4_v3"}, {"tenant_id", "t"},
	    {"client_id", "c"}, {"secret_env", "GUARD_OTHER"}},
	HEADER, true},
};

/* No 8 bytes of any form: by a search of its own. */
static void
assert_clean(const char *where, const char *text)
{
	for (size_t i = 0; i < COUNT(forms); i++) {
		/* Of "user:" and "ab" before it, nothing is secret. */
		const size_t first = i < 7 ? 0 : i == 7 ? 7 : 3;
		const size_t length = strlen(forms[i]);

		for (size_t k = first; k + 8 <= length; k++) {
			char part[9];

			snprintf(part, sizeof(part), "%.8s", forms[i] + k);
			if (strstr(text, part) != NULL)
				fail_msg("%s: %s", where, text);
		}
	}
}

static int
echo_through(size_t source, int decoded, int shape, int status)
{
	char url[128], login_url[128];
	struct lt_source_options options = options_of(sources[source].pairs);
	struct lt_source_memory memory = {0};
	struct lt_points points = {0};
	struct lt_error err = {0};
	char path[48];

	snprintf(path, sizeof(path), "/echo-%d-%d-%d-%d", (int)sources[source].part, decoded, shape,
	    status);
	server_url(url, path);
	server_url(login_url, path);
	options.items[options.count].key = "url";
	options.items[options.count++].value = url;
	options.items[options.count].key = "login_url";
	options.items[options.count++].value = login_url;
	options.memory = &memory;
	if (sources[source].has_token) {
		strcpy(memory.token, SECRET);
		memory.token_until_utc_s = time(NULL) + 600;
	}
	const int code = lt_adapter_fetch(lt_adapter_find(sources[source].adapter), &options,
	    &(struct lt_window){time(NULL) - 86400, time(NULL), time(NULL)}, &points, &err);
	assert_clean(sources[source].adapter, err.text);
	assert_clean(sources[source].adapter, points.note);
	for (int i = 0; i < memory.trace_count && i < LT_TRACE_MAX; i++)
		assert_clean(sources[source].adapter, memory.trace[i].request);
	lt_points_free(&points);
	assert_int_not_equal(code, LT_OK);
	return strstr(err.text, "***") != NULL;
}

static void
test_sources(void **state)
{
	static const int statuses[] = {200, 403};

	(void)state;
	setenv("GUARD_SECRET", SECRET, 1);
	setenv("GUARD_OTHER", "another of them", 1);
	for (size_t source = 0; source < COUNT(sources); source++) {
		int hidden = 0;

		for (int decoded = 0; decoded < 2; decoded++)
			for (int shape = 0; shape < SHAPES; shape++)
				for (size_t i = 0; i < COUNT(statuses); i++)
					hidden += echo_through(source, decoded, shape, statuses[i]);
		/* Else the test would show nothing of it. */
		if (hidden == 0)
			fail_msg("%s: no text had its secret", sources[source].adapter);
	}
}

static int
start(void **state)
{
	(void)state;
	server_own = serve_echoes;
	server = server_start(0, NULL);
	return 0;
}

static int
end_server(void **state)
{
	(void)state;
	server_stop(&server);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_forms),
	    cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_small),
	    cmocka_unit_test_setup_teardown(test_sources, start, end_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
