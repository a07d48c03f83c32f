/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Kubernetes client against a server with TLS: who is trusted, what is asked again and when,
 * and which code each refusal has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base64.h"
#include "http.h"
#include "kube_server.h"
#include "source_fixture.h"

static char port[16];

static struct lt_kube *
kube_open(void)
{
	const struct lt_kube_place place = {
	    .account_dir = kube_server.dir, .host = "127.0.0.1", .port = port};
	struct lt_kube *kube = NULL;
	struct lt_error err = {0};

	kube_file("token", "first\n");
	if (lt_kube_open(&kube, &place, &err) != LT_OK)
		fail_msg("%s", err.text);
	return kube;
}

static void
assert_asked(const char *why, int count)
{
	if (kube_server.problem[0] != '\0')
		fail_msg("%s: %s", why, kube_server.problem);
	if (kube_server.next != count)
		fail_msg("%s: %d requests, want %d", why, kube_server.next, count);
}

#define STATUS(words) "{\"kind\":\"Status\",\"message\":\"" words "\"}"

static const struct {
	const char *why;
	struct turn turn;
	int code;
	const char *says;
} codes[] = {
    {"an object", {"GET /x;", 0, "{\"a\":1}", NULL, NULL, NULL}, LT_OK, ""},
    {"created", {"GET /x;", 201, "{\"a\":1}", NULL, NULL, NULL}, LT_OK, ""},
    {"no JSON", {"GET /x;", 0, "<html>", NULL, NULL, NULL}, LT_EINPUT, "/x: not JSON"},
    {"bad request", {"GET /x;", 400, STATUS("what?"), NULL, NULL, NULL}, LT_EINPUT,
	"/x: HTTP status 400: what?"},
    {"no rights", {"GET /x;", 403, STATUS("pods is forbidden"), NULL, NULL, NULL}, LT_EDENIED,
	"/x: HTTP status 403: pods is forbidden"},
    {"not there", {"GET /x;", 404, STATUS("no pod"), NULL, NULL, NULL}, LT_ENOENT,
	"/x: HTTP status 404: no pod"},
    {"changed meanwhile", {"GET /x;", 409, STATUS("again"), NULL, NULL, NULL}, LT_ECONFLICT,
	"409: again"},
    {"too old", {"GET /x;", 410, STATUS("old"), NULL, NULL, NULL}, LT_ESTALE, "410: old"},
    {"invalid", {"GET /x;", 422, STATUS("no"), NULL, NULL, NULL}, LT_EINPUT, "422: no"},
    {"broken", {"GET /x;", 500, "Internal\nerror", NULL, NULL, NULL}, LT_ENET,
	"500: Internal error"},
    {"a longer pause than there is time", {"GET /x;", 429, STATUS("slow"), NULL, "60", NULL},
	LT_ENET, "429, asks to wait 60 s: slow"},
    {"words that no log may show", {"GET /x;", 404, STATUS("a\\u001b[2Jb"), NULL, NULL, NULL},
	LT_ENOENT, "a?[2Jb"},
};

static void
test_codes(void **state)
{
	struct lt_kube *const kube = kube_open();

	(void)state;
	assert_string_equal(lt_kube_namespace(kube), "lowtide");
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		const struct turn turns[2] = {codes[i].turn};
		json_t *answer = NULL;
		struct lt_error err = {0};

		kube_script(turns);
		const int code =
		    lt_kube_do(kube, &(struct lt_kube_request){.path = "/x"}, &answer, &err);
		if (code != codes[i].code)
			fail_msg("%s: %d %s", codes[i].why, code, err.text);
		assert_says(codes[i].why, &err, codes[i].says);
		if (code == LT_OK)
			assert_int_equal(json_integer_value(json_object_get(answer, "a")), 1);
		json_decref(answer);
		assert_asked(codes[i].why, 1);
	}
	lt_kube_close(kube);
}

/* What is sent, and that it all goes over one connection. */
static void
test_requests(void **state)
{
	static const struct turn turns[] = {
	    {"GET /api?limit=1; Bearer first; ; ", 0, "{}", NULL, NULL, NULL},
	    {"PATCH /a; Bearer first; application/merge-patch+json; {\"b\":1}", 0,
		"{\"x\":\"a\\u0000b\"}", NULL, NULL, NULL},
	    {"POST /a; Bearer first; application/json; {\"b\":1}", 201, NULL, NULL, NULL, NULL},
	    {"DELETE /a; Bearer first; ; ", 0, "{}", NULL, NULL, NULL},
	    {.asks = NULL},
	};
	json_t *const body = json_pack("{s:i}", "b", 1);
	const struct lt_kube_request requests[] = {
	    {.path = "/api?limit=1"},
	    {"PATCH", "/a", LT_KUBE_MERGE_PATCH, body, NULL},
	    {"POST", "/a", NULL, body, NULL},
	    {"DELETE", "/a", NULL, NULL, NULL},
	};
	struct lt_kube *const kube = kube_open();

	(void)state;
	kube_script(turns);
	for (int i = 0; i < 4; i++) {
		json_t *answer = NULL;
		struct lt_error err = {0};

		if (lt_kube_do(kube, &requests[i], i == 3 ? NULL : &answer, &err) != LT_OK)
			fail_msg("%d: %s", i, err.text);
		assert_int_equal(answer == NULL, i >= 2);
		json_decref(answer);
	}
	assert_asked("requests", 4);
	assert_int_equal(kube_server.connections, 1);
	json_decref(body);
	lt_kube_close(kube);
}

static const struct {
	const char *why;
	struct turn turns[5];
	int code, asked;
	int64_t least_ms, most_ms;
} tries[] = {
    {"429, then an answer",
	{{"GET /x;", 429, STATUS("slow"), NULL, "1", NULL}, {"GET /x;", 0, "{}", NULL, NULL, NULL}},
	LT_OK, 2, 1000, 3000},
    {"503 without a time, three times",
	{{"GET /x;", 503, "", NULL, NULL, NULL}, {"GET /x;", 503, "", NULL, NULL, NULL},
	    {"GET /x;", 503, "", NULL, NULL, NULL}},
	LT_ENET, 3, 700, 3000},
    {"no time for the pause: at once", {{"GET /x;", 503, "", NULL, "11", NULL}}, LT_ENET, 1, 0,
	1000},
    {"500 is not asked again", {{"GET /x;", 500, "", NULL, NULL, NULL}}, LT_ENET, 1, 0, 1000},
    {"401, and the token is another",
	{{"; Bearer first;", 401, STATUS("who?"), NULL, NULL, "second\n"},
	    {"; Bearer second;", 0, "{}", NULL, NULL, NULL}},
	LT_OK, 2, 0, 1000},
    {"401, and the next token is no good either",
	{{"; Bearer first;", 401, STATUS("who?"), NULL, NULL, "second\n"},
	    {"; Bearer second;", 401, STATUS("who?"), NULL, NULL, "third\n"}},
	LT_EDENIED, 2, 0, 1000},
    {"401, and the token is the same", {{"; Bearer first;", 401, STATUS("who?"), NULL, NULL, NULL}},
	LT_EDENIED, 1, 0, 1000},
    {"401, and the token's file is empty",
	{{"; Bearer first;", 401, STATUS("who?"), NULL, NULL, "\n"}}, LT_EDENIED, 1, 0, 1000},
};

static void
test_tries(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct lt_kube *const kube = kube_open();
		struct lt_error err = {0};
		const int64_t begin_ms = lt_monotonic_ms();

		kube_script(tries[i].turns);
		const int code =
		    lt_kube_do(kube, &(struct lt_kube_request){.path = "/x"}, NULL, &err);
		const int64_t took_ms = lt_monotonic_ms() - begin_ms;
		if (code != tries[i].code)
			fail_msg("%s: %d %s", tries[i].why, code, err.text);
		assert_asked(tries[i].why, tries[i].asked);
		if (took_ms < tries[i].least_ms || took_ms > tries[i].most_ms)
			fail_msg("%s: took %lld ms", tries[i].why, (long long)took_ms);
		lt_kube_close(kube);
	}
}

/* A renewed token is used without being refused first. */
static void
test_token_renewed(void **state)
{
	static const struct turn turns[] = {
	    {"; Bearer first;", 0, "{}", NULL, NULL, "later\n"},
	    {"; Bearer later;", 0, "{}", NULL, NULL, "\n"},
	    {"; Bearer later;", 0, "{}", NULL, NULL, NULL},
	    {.asks = NULL},
	};
	struct lt_kube *const kube = kube_open();

	(void)state;
	kube_script(turns);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
		    lt_kube_do(kube, &(struct lt_kube_request){.path = "/x"}, NULL, NULL), LT_OK);
	assert_asked("renewed", 3);
	lt_kube_close(kube);
}

/* ---- TLS ---- */

static void
data_of(char *out, const char *pem)
{
	lt_base64(out, (const unsigned char *)pem, strlen(pem));
}

static const struct {
	const char *why, *host, *ca; /* NULL = the system's */
	bool has_certificate;
	int code;
	const char *asks, *says;
} trust[] = {
    {"our CA", "127.0.0.1", ca_pem, false, LT_OK, "Bearer t", ""},
    {"a client's certificate", "127.0.0.1", ca_pem, true, LT_OK, "; a known client", ""},
    {"another CA", "127.0.0.1", other_ca_pem, false, LT_ENET, NULL, "127.0.0.1: SSL"},
    {"the system's CAs", "127.0.0.1", NULL, false, LT_ENET, NULL, "127.0.0.1: SSL"},
    {"another name", "localhost", ca_pem, false, LT_ENET, NULL, "localhost: SSL"},
};

static void
write_config(const char *host, const char *ca, bool has_certificate)
{
	char ca_data[2048], config[8192];
	char path[128];

	data_of(ca_data, ca == NULL ? "" : ca);
	kube_file("client.crt", client_pem);
	kube_file("client.key", client_key_pem);
	snprintf(path, sizeof(path), "%s/client.key", kube_server.dir);
	snprintf(config, sizeof(config),
	    "current-context: c\n"
	    "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
	    "clusters: [{name: k, cluster: {server: 'https://%s:%d/', "
	    "certificate-authority-data: '%s'}}]\n"
	    "users: [{name: u, user: {%s%s}}]\n",
	    host, kube_server.port, ca_data,
	    has_certificate ? "client-certificate: client.crt, client-key: " : "token: ",
	    has_certificate ? path : "t");
	kube_file("config", config);
}

static void
test_trust(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/config", kube_server.dir);
	for (size_t i = 0; i < sizeof(trust) / sizeof(trust[0]); i++) {
		const struct turn turns[2] = {{trust[i].asks, 0, "{}", NULL, NULL, NULL}};
		struct lt_kube *kube = NULL;
		struct lt_error err = {0};

		write_config(trust[i].host, trust[i].ca, trust[i].has_certificate);
		if (lt_kube_open(&kube, &(struct lt_kube_place){.kubeconfig = path}, &err) != LT_OK)
			fail_msg("%s: %s", trust[i].why, err.text);
		kube_script(turns);
		const int code =
		    lt_kube_do(kube, &(struct lt_kube_request){.path = "/x"}, NULL, &err);
		if (code != trust[i].code)
			fail_msg("%s: %d %s", trust[i].why, code, err.text);
		assert_says(trust[i].why, &err, trust[i].says);
		assert_asked(trust[i].why, code == LT_OK);
		lt_kube_close(kube);
	}
}

static void
test_unreachable(void **state)
{
	const struct lt_kube_place place = {
	    .account_dir = kube_server.dir, .host = "127.0.0.1", .port = "1"};
	struct lt_kube *kube = NULL;
	struct lt_error err = {0};

	(void)state;
	kube_file("token", "first\n");
	assert_int_equal(lt_kube_open(&kube, &place, &err), LT_OK);
	assert_string_equal(lt_kube_server(kube), "https://127.0.0.1:1");
	assert_int_equal(
	    lt_kube_do(kube, &(struct lt_kube_request){.path = "/x"}, NULL, &err), LT_ENET);
	assert_says("unreachable", &err, "127.0.0.1: ");
	lt_kube_close(kube);
	lt_kube_close(NULL);
}

static int
start(void **state)
{
	(void)state;
	unsetenv("https_proxy");
	unsetenv("HTTPS_PROXY");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	if (kube_server_start() != 0)
		return -1;
	snprintf(port, sizeof(port), "%d", kube_server.port);
	return lt_http_init(NULL);
}

static int
end(void **state)
{
	(void)state;
	lt_http_cleanup();
	kube_server_stop();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_codes),
	    cmocka_unit_test(test_requests),
	    cmocka_unit_test(test_tries),
	    cmocka_unit_test(test_token_renewed),
	    cmocka_unit_test(test_trust),
	    cmocka_unit_test(test_unreachable),
	};

	return cmocka_run_group_tests(tests, start, end);
}
