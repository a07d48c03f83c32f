/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server with pages for web.c, and a fetch to make requests in; for the tests of it. Include
 * after cmocka.
 */
#ifndef LT_WEB_FIXTURE_H
#define LT_WEB_FIXTURE_H

#include "source_fixture.h"
#include "tools/source_server.h"
#include "web.h"

static struct server server;

/* What a fetch consists of; too large for a stack with many. */
static struct lt_source_memory memory;
static struct lt_points points;
static struct lt_web web;

static inline void
begin(void)
{
	static struct lt_source_options options = {.name = "src", .memory = &memory};

	points = (struct lt_points){0};
	lt_web_start(&web, &options, &points);
}

static inline const char *
url_of(const char *path)
{
	static char url[LT_URL_SIZE];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", server.port, path);
	return url;
}

static inline int64_t
monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* /type/TEXT answers with that type, '+' for a blank; /cache knows its validators; /count is
 * another answer each time, /echo-500 repeats the request. */
static inline bool
serve_own(const struct exchange *exchange)
{
	static const char validators[] =
	    "ETag: \"v1\"\r\nLast-Modified: Sat, 20 Jan 2018 12:00:00 GMT\r\n";
	char tag[512], date[512], text[512];

	if (strncmp(exchange->path, "/type/", 6) == 0) {
		snprintf(text, sizeof(text), "%s", exchange->path + 6);
		for (char *at = text; *at != '\0'; at++)
			if (*at == '+')
				*at = ' ';
		server_answer(exchange, 200, text, "", "{}");
	} else if (strncmp(exchange->path, "/cache", 6) == 0) {
		server_header(exchange, "If-None-Match", tag);
		server_header(exchange, "If-Modified-Since", date);
		if (strcmp(tag, "\"v1\"") == 0 &&
		    strcmp(date, "Sat, 20 Jan 2018 12:00:00 GMT") == 0)
			server_answer(exchange, 304, "text/plain", "", "");
		else if (strcmp(exchange->path, "/cache-none") == 0)
			server_answer(exchange, 200, "text/plain", "", "no validators");
		else
			server_answer(exchange, 200, "text/plain", validators,
			    tag[0] == '\0' ? "first" : tag);
	} else if (strcmp(exchange->path, "/always-304") == 0) {
		server_answer(exchange, 304, "text/plain", "", "");
	} else if (strncmp(exchange->path, "/count", 6) == 0) {
		snprintf(text, sizeof(text), "%d", (int)getpid());
		server_answer(exchange, strcmp(exchange->path, "/count-404") == 0 ? 404 : 200,
		    "text/plain", "", text);
	} else if (strncmp(exchange->path, "/echo-500", 9) == 0) {
		server_answer(exchange, 500, "text/plain", "", exchange->request);
	} else {
		return false;
	}
	return true;
}

static inline int
web_start(void **state)
{
	(void)state;
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	server_own = serve_own;
	server = server_start(0, NULL);
	return lt_http_init(NULL);
}

static inline int
web_end(void **state)
{
	(void)state;
	lt_http_cleanup();
	server_stop(&server);
	return 0;
}

#endif
