/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every source on the web against every fault of a network, a server and an answer: each fetch ends
 * within its limits of time and memory, with one line that says why, without a point and without a
 * word of its secrets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <cmocka.h>

#include <microhttpd.h>

#include "source_fixture.h"
#include "source_rows.h"
#include "tools/source_server.h"
#include "web.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define SECRET "s3cr3t-of-the-test"

#ifndef __has_feature /* clang's; gcc says it by __SANITIZE_ADDRESS__ */
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { IS_SANITIZED = true };
#else
enum { IS_SANITIZED = false };
#endif

enum {
	AT_ONCE = 48,	 /* children: most of them only wait */
	TLS_AT_ONCE = 3, /* each reads all certificates of the machine */
	/* One request that hangs may be followed by others of the fetch. */
	FETCH_MAX_S = LT_WEB_REQUESTS * (LT_TIMEOUT_S + LT_WEB_READ_S) + 15,
	RESIDENT_MAX_KB = 192 * 1024,
	DEEP = 10000,
};

/* What stands for each fault at the server; by format where it matters. */
static const struct fault {
	const char *path;
	bool of_format;	  /* the path gets ".json", ".xml" or ".csv" */
	const char *says; /* NULL = whatever it says */
	int64_t retry_after_s;
} faults[] = {
    {"/certificate", false, "certificate", 0},
    {"/refused", false, "127.0.0.1: ", 0},
    {"/reset", false, "127.0.0.1: ", 0},
    {"/short", false, "127.0.0.1: ", 0},
    {"/blackhole", false, "127.0.0.1: ", 0},
    {"/slow", false, "127.0.0.1: ", 0},
    {"/endless-headers", false, "headers of more than 65536 bytes", 0},
    {"/endless-body", false, "an answer of more than", 0},
    {"/huge-length", false, "an answer of more than", 0},
    {"/bomb", false, "an answer of more than", 0},
    {"/redirect-loop", false, NULL, 0},
    {"/redirect-host", false, NULL, 0},
    {"/redirect-file", false, NULL, 0},
    {"/redirect-port", false, NULL, 0},
    {"/html", false, "text/html", 0},
    {"/bad-gzip", false, "127.0.0.1: ", 0},
    {"/empty", true, NULL, 0},
    {"/truncated", true, NULL, 0},
    {"/garbage", true, NULL, 0},
    {"/not-utf8", true, NULL, 0},
    {"/bom", true, NULL, 0},
    {"/deep", true, NULL, 0},
    {"/entities", true, NULL, 0},
    {"/status/400", false, "HTTP status 400", 0},
    {"/status/401", false, "401", 0},
    {"/status/403", false, "403", 0},
    {"/status/404", false, "HTTP status 404", 0},
    {"/status/429", false, "HTTP status 429", 7},
    {"/status/500", false, "HTTP status 500", 0},
    {"/status/503", false, "HTTP status 503", 7},
};

static const struct {
	const char *name, *type;
} formats[FORMATS] = {
    [JSON] = {".json", "application/json"},
    [XML] = {".xml", "text/xml;charset=UTF-8"},
    [CSV] = {".csv", "text/plain; charset=utf-8"},
};

/* Bodies that are no answer, by path and format. */
static const struct {
	const char *path, *bodies[FORMATS];
} bodies[] = {
    {"/empty", {"", "", ""}},
    {"/truncated", {"{\"data\":[{\"from\":", "<a><spotPriceHistorySet><item><spot",
		       "InstanceType,Region,SpotPrice\np3.2xlarge,\"eu-we"}},
    {"/garbage",
	{"{\"data\" [1,,2] nothing}", "<a><b></a></b>", "this is\nno,table\n\x01\x02,\"x\"y\n"}},
    {"/not-utf8", {"{\"data\":[\"S\xe3o Paulo\"]}", "<a>S\xe3o Paulo</a>", "S\xe3o,Paulo\n1,2\n"}},
    {"/bom",
	{"\xEF\xBB\xBF{\"data\":[]}", "\xEF\xBB\xBF<a></a>", "\xEF\xBB\xBFInstanceType,Region\n"}},
    {"/entities", {"{\"a\":{\"a\":{\"a\":1e999}}}",
		      "<!DOCTYPE a [<!ENTITY b \"xxxxxxxxxx\">"
		      "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\">"
		      "<!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;\">"
		      "<!ENTITY e SYSTEM \"file:///etc/passwd\">]><a>&d;&e;</a>",
		      "=cmd()|x,\"\"\"\"\n,,,,,\n"}},
};

static void
serve_deep_of(const struct exchange *exchange, enum format format)
{
	static char text[7 * DEEP + 1];
	static const char *const words[FORMATS] = {"[", "<a>", "\"\"\"\","};

	for (int i = 0; i < DEEP; i++)
		strcat(text + (size_t)i * strlen(words[format]), words[format]);
	server_answer(exchange, 200, formats[format].type, "", text);
}

/* "/deep.json" and what an adapter puts behind it. */
static bool
is_path(const char *path, const char *fault, enum format format)
{
	const size_t length = strlen(fault);

	return strncmp(path, fault, length) == 0 &&
	       strncmp(path + length, formats[format].name, strlen(formats[format].name)) == 0;
}

static bool
serve_bodies(const struct exchange *exchange)
{
	const char *const path = exchange->path;

	for (int format = 0; format < FORMATS; format++) {
		if (is_path(path, "/deep", (enum format)format)) {
			serve_deep_of(exchange, (enum format)format);
			return true;
		}
		for (size_t i = 0; i < COUNT(bodies); i++) {
			if (!is_path(path, bodies[i].path, (enum format)format))
				continue;
			server_answer(
			    exchange, 200, formats[format].type, "", bodies[i].bodies[format]);
			return true;
		}
	}
	if (strncmp(path, "/bad-gzip", 9) != 0)
		return false;
	server_head(exchange, "Content-Encoding: gzip\r\n");
	server_write(exchange->fd, "this is no gzip", 15);
	return true;
}

/* A key and certificate that nobody signed, made for this test only. */
static const char key_pem[] = "-----BEGIN PRIVATE KEY-----\n"
			      "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZgr12HuQKF41bV27\n"
			      "BUzfkmIo3+APMdSNMnXB3Fx5/+WhRANCAARYMIcjmZjdAG4A0YptiWYabYKt1vM4\n"
			      "Aoxfo3t6F7AYyRZG8XQywyQAmD8FYDZ6oqaN0aD2VPhh44HRAkzBCAkh\n"
			      "-----END PRIVATE KEY-----\n";
static const char certificate_pem[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBiTCCAS+gAwIBAgIUDHKzPeF6FH2s6vHvki6g2oTEUiYwCgYIKoZIzj0EAwIw\n"
    "GTEXMBUGA1UEAwwObm9ib2R5LmludmFsaWQwIBcNMjYxMTIxMDQ1MDIwWhgPMjEy\n"
    "NjEwMjgwNDUwMjBaMBkxFzAVBgNVBAMMDm5vYm9keS5pbnZhbGlkMFkwEwYHKoZI\n"
    "zj0CAQYIKoZIzj0DAQcDQgAEWDCHI5mY3QBuANGKbYlmGm2CrdbzOAKMX6N7ehew\n"
    "GMkWRvF0MsMkAJg/BWA2eqKmjdGg9lT4YeOB0QJMwQgJIaNTMFEwHQYDVR0OBBYE\n"
    "FEqKWJ9DN/erJlZCBt/pwjgXh+aCMB8GA1UdIwQYMBaAFEqKWJ9DN/erJlZCBt/p\n"
    "wjgXh+aCMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAOcBbIMv\n"
    "any1ViXPpTthuutFrzINH//3TYiodABMbbxGAiAyqikLOOO75mM6gLL86QUCZ8lg\n"
    "MtZnxSG4iLfHAdAP3w==\n"
    "-----END CERTIFICATE-----\n";

static enum MHD_Result
answer_tls(void *context, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *upload, size_t *upload_size, void **state)
{
	static char body[] = "{}";
	struct MHD_Response *const response =
	    MHD_create_response_from_buffer(2, body, MHD_RESPMEM_PERSISTENT);
	const enum MHD_Result result = MHD_queue_response(connection, 200, response);

	(void)context;
	(void)url;
	(void)method;
	(void)version;
	(void)upload;
	(void)upload_size;
	(void)state;
	MHD_destroy_response(response);
	return result;
}

static struct server server;
static int refused_port, tls_port;
static pid_t tls_pid;

static bool
is_of_tls(const struct fault *fault)
{
	return strcmp(fault->path, "/certificate") == 0;
}

static void
base_url(char out[128], const struct fault *fault, enum format format)
{
	const bool is_tls = is_of_tls(fault);
	const int port = is_tls					? tls_port
			 : strcmp(fault->path, "/refused") == 0 ? refused_port
								: server.port;

	snprintf(out, 128, "http%s://127.0.0.1:%d%s%s", is_tls ? "s" : "", port, fault->path,
	    fault->of_format ? formats[format].name : "");
}

struct outcome { /* through a pipe from the child that fetched */
	int code;
	size_t count;
	int64_t retry_after_s;
	struct lt_error err;
	char note[LT_POINTS_NOTE_SIZE], trace[512];
};

static void
fetch_once(const struct source_row *source, const struct fault *fault, int fd)
{
	struct lt_source_options options = options_of(source->pairs);
	struct lt_source_memory memory = {0};
	struct lt_points points = {0};
	struct outcome outcome = {0};
	const int64_t now_utc_s = time(NULL);
	char url[128];

	base_url(url, fault, source->format);
	put_url(&options, url);
	options.memory = &memory;
	outcome.code = lt_adapter_fetch(lt_adapter_find(source->adapter), &options,
	    &(struct lt_window){now_utc_s - 2 * LT_DAY_S, now_utc_s + LT_DAY_S, now_utc_s}, &points,
	    &outcome.err);
	outcome.count = points.count;
	outcome.retry_after_s = points.retry_after_s;
	memcpy(outcome.note, points.note, sizeof(outcome.note));
	memcpy(outcome.trace, memory.trace[0].request, sizeof(outcome.trace));
	if (write(fd, &outcome, sizeof(outcome)) < 0)
		_exit(1);
}

static struct child {
	const struct source_row *source;
	const struct fault *fault;
	pid_t pid;
	int fd;
	time_t began;
} children[AT_ONCE];
static int child_count;

static void
start(const struct source_row *source, const struct fault *fault)
{
	struct child *const child = &children[child_count++];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*child =
	    (struct child){.source = source, .fault = fault, .fd = ends[0], .began = time(NULL)};
	child->pid = fork();
	assert_true(child->pid >= 0);
	if (child->pid == 0) {
		alarm(FETCH_MAX_S);
		fetch_once(source, fault, ends[1]);
		_exit(0);
	}
	close(ends[1]);
}

/* What is wrong with it, told together with all others at the end. */
static const char *
wrong(const struct fault *fault, const struct outcome *outcome)
{
	const char *const text = outcome->err.text;
	char mended[LT_ERROR_TEXT_SIZE];

	memcpy(mended, text, sizeof(mended));
	lt_text_mend(mended);
	if (outcome->code == LT_OK || outcome->count > 0)
		return "taken for good";
	if ((int)outcome->err.code != outcome->code)
		return "the error has another code";
	if (strstr(text, fault->says == NULL ? "127.0.0.1" : fault->says) == NULL)
		return "does not say what is wrong";
	if (strcmp(mended, text) != 0)
		return "is not fit for a log";
	if (strstr(text, SECRET) != NULL || strstr(outcome->note, SECRET) != NULL ||
	    strstr(outcome->trace, SECRET) != NULL)
		return "tells its secret";
	if (outcome->retry_after_s < fault->retry_after_s)
		return "lost that it should wait";
	return NULL;
}

static int wrong_count;

static void
judge(const struct child *child, const struct outcome *outcome, long kilobytes)
{
	const char *const why = !IS_SANITIZED && kilobytes > RESIDENT_MAX_KB
				    ? "takes too much memory"
				    : wrong(child->fault, outcome);

	if (why == NULL)
		return;
	wrong_count++;
	print_error("%s, %s: %s: code %d, %zu points, %ld kB: %s\n", child->source->adapter,
	    child->fault->path, why, outcome->code, outcome->count, kilobytes, outcome->err.text);
}

/* Wait for one child, whichever ends first. */
static void
reap(void)
{
	struct rusage usage;
	int status;
	const pid_t pid = wait4(-1, &status, 0, &usage);

	for (int i = 0; i < child_count; i++) {
		struct child *const child = &children[i];
		struct outcome outcome = {0};

		if (child->pid != pid)
			continue;
		if (read(child->fd, &outcome, sizeof(outcome)) != (ssize_t)sizeof(outcome))
			fail_msg("%s, %s: ended by %s %d after %ld s", child->source->adapter,
			    child->fault->path, WIFSIGNALED(status) ? "signal" : "status",
			    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
			    (long)(time(NULL) - child->began));
		close(child->fd);
		judge(child, &outcome, usage.ru_maxrss);
		*child = children[--child_count];
		return;
	}
}

/* The faults outside, so that the slow ones of all sources run together. */
static void
test_faults(void **state)
{
	(void)state;
	for (size_t f = 0; f < COUNT(faults); f++)
		for (size_t s = 0; s < COUNT(sources); s++) {
			if (s > 0 && strcmp(sources[s - 1].adapter, sources[s].adapter) == 0)
				continue; /* other options of the same */
			while (child_count >= (is_of_tls(&faults[f]) ? TLS_AT_ONCE : AT_ONCE))
				reap();
			start(&sources[s], &faults[f]);
		}
	while (child_count > 0)
		reap();
	assert_int_equal(wrong_count, 0);
}

/* A new source on the web must stand in source_rows.h, with options that its own check takes. */
static void
test_all_are_here(void **state)
{
	(void)state;
	for (const char *const *name = lt_adapter_names(); *name != NULL; name++) {
		const struct lt_adapter *const adapter = lt_adapter_find(*name);
		bool is_on_web = false, is_here = false;

		for (int i = 0; adapter->options[i].key != NULL; i++)
			is_on_web |= strcmp(adapter->options[i].key, "url") == 0;
		for (size_t i = 0; i < COUNT(sources); i++)
			is_here |= strcmp(sources[i].adapter, *name) == 0;
		if (is_on_web && !is_here)
			fail_msg("%s: has no row among the faults", *name);
	}
	for (size_t i = 0; i < COUNT(sources); i++) {
		struct lt_source_options options = options_of(sources[i].pairs);
		struct lt_error err = {0};

		put_url(&options, "http://127.0.0.1");
		if (lt_adapter_check(lt_adapter_find(sources[i].adapter), &options, &err) != LT_OK)
			fail_msg("%s: %s", sources[i].adapter, err.text);
	}
}

/* In a process of its own, as the other server: a thread of ours may hold the allocator's lock when
 * a child is forked, which then hangs. */
static bool
start_tls(void)
{
	int ends[2];

	if (pipe(ends) != 0 || (tls_pid = fork()) < 0)
		return false;
	if (tls_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		struct MHD_Daemon *const tls =
		    MHD_start_daemon(MHD_USE_TLS | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL,
			answer_tls, NULL, MHD_OPTION_HTTPS_MEM_KEY, key_pem,
			MHD_OPTION_HTTPS_MEM_CERT, certificate_pem, MHD_OPTION_END);
		if (tls == NULL)
			_exit(1);
		tls_port = MHD_get_daemon_info(tls, MHD_DAEMON_INFO_BIND_PORT)->port;
		if (write(ends[1], &tls_port, sizeof(tls_port)) > 0)
			for (;;)
				pause();
		_exit(1);
	}
	close(ends[1]);
	const bool is_up = read(ends[0], &tls_port, sizeof(tls_port)) == sizeof(tls_port);
	close(ends[0]);
	return is_up;
}

static int
begin(void **state)
{
	struct server gone = server_start(0, NULL);

	(void)state;
	setenv("LT_TEST_SECRET", SECRET, 1);
	setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1);
	setenv("AWS_SECRET_ACCESS_KEY", SECRET, 1);
	setenv("AWS_SESSION_TOKEN", SECRET, 1);
	refused_port = gone.port;
	server_stop(&gone); /* a port that was free just now */
	server_own = serve_bodies;
	server = server_start(0, NULL);
	if (!start_tls())
		return -1;
	return lt_http_init(NULL);
}

static int
end(void **state)
{
	(void)state;
	server_stop(&server);
	kill(tls_pid, SIGKILL);
	waitpid(tls_pid, NULL, 0);
	lt_http_cleanup();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_are_here),
	    cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
