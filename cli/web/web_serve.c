/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers the requests to "lowtide web", by libmicrohttpd: the three files of its page, and the
 * requests to lowtided that the page makes, which are asked as the command asks. A request without
 * the token, or by a foreign host name, gets no answer.
 */
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "door.h"
#include "http.h"
#include "web_page.h"
#include "web_files.h"

enum {
	TIMEOUT_S = 30,		  /* of silence */
	MEMORY_BYTES = 64 * 1024, /* of a request, with cookies of other ports */
	ARGUMENTS_MAX = 4,
	PATH_SIZE = 2048,
};

static const struct {
	const char *path, *type;
	const unsigned char *bytes;
	size_t length;
} files[] = {
    {"/", "text/html; charset=utf-8", web_index_html, sizeof(web_index_html)},
    {"/page.css", "text/css; charset=utf-8", web_page_css, sizeof(web_page_css)},
    {"/page.js", "text/javascript; charset=utf-8", web_page_js, sizeof(web_page_js)},
};

/* All requests that are passed to lowtided: they only read, with these words alone. */
static const struct {
	const char *path, *asked;
	const char *arguments[ARGUMENTS_MAX + 1]; /* NULL ended */
} questions[] = {
    {"/v1/status", "/v1/status", {NULL}},
    {"/v1/signals", "/v1/signals", {"offset", NULL}},
    {"/v1/jobs", "/v1/jobs?all=1", {"after", NULL}},
    {"/v1/budget", "/v1/budget", {NULL}},
    {"/v1/report", "/v1/report?by=day", {"team", "period", "from", "to", NULL}},
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const headers[][2] = {
    {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; "
				"connect-src 'self'; base-uri 'none'; form-action 'none'; "
				"frame-ancestors 'none'"},
    {"Cache-Control", "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Frame-Options", "DENY"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

struct answer {
	unsigned status;
	const char *type; /* NULL: no body */
	const void *bytes;
	size_t length;
	bool copied; /* else they stay where they are */
};

/* A request with the token, or on the Unix socket, is the user's; all others are strangers'. */
static struct lt_door door;

static enum MHD_Result
send_answer(struct MHD_Connection *connection, const struct answer *answer)
{
	struct MHD_Response *const response =
	    MHD_create_response_from_buffer(answer->length, (void *)(uintptr_t)answer->bytes,
		answer->copied ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_PERSISTENT);

	if (response == NULL)
		return MHD_NO;
	for (size_t i = 0; i < COUNT(headers); i++)
		(void)MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (answer->type != NULL)
		(void)MHD_add_response_header(response, "Content-Type", answer->type);
	const enum MHD_Result result = MHD_queue_response(connection, answer->status, response);

	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result
send_nothing(struct MHD_Connection *connection, unsigned status)
{
	return send_answer(connection, &(struct answer){.status = status, .bytes = ""});
}

static enum MHD_Result
send_json(struct MHD_Connection *connection, unsigned status, const json_t *body)
{
	char *const text = body != NULL ? json_dumps(body, LT_CLI_JSON | JSON_COMPACT) : NULL;

	if (text == NULL)
		return MHD_NO;
	const enum MHD_Result result = send_answer(connection, &(struct answer){.status = status,
								   .type = "application/json",
								   .bytes = text,
								   .length = strlen(text),
								   .copied = true});

	free(text);
	return result;
}

/* Sends lowtided's own error, or why it did not answer. */
static enum MHD_Result
send_error(struct MHD_Connection *connection, const struct lt_error *err)
{
	const unsigned status = err->code == LT_EDENIED	    ? 403
				: err->code == LT_ENOENT    ? 404
				: err->code == LT_ECONFLICT ? 409
				: err->code == LT_EINPUT    ? 400
							    : 502;
	json_t *const body = json_pack("{s:s}", "error", err->text);
	const enum MHD_Result result = send_json(connection, status, body);

	json_decref(body);
	return result;
}

static enum MHD_Result
send_question(const struct lt_page *page, struct MHD_Connection *connection, size_t index)
{
	char path[PATH_SIZE];
	struct lt_error err = {0};
	json_t *body = NULL;

	snprintf(path, sizeof(path), "%s", questions[index].asked);
	for (int i = 0; questions[index].arguments[i] != NULL; i++) {
		const char *const name = questions[index].arguments[i];

		(void)lt_client_query(path, sizeof(path), name,
		    MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name), &err);
	}
	if (err.code == LT_OK)
		(void)lt_client_get(&body, page->cli, path, &err);
	if (err.code != LT_OK)
		return send_error(connection, &err);
	const enum MHD_Result result = send_json(connection, 200, body);

	json_decref(body);
	return result;
}

/* Returns the path behind the token; NULL: the token is wrong or absent. The time that this takes
 * does not show how much of a token was right. */
static const char *
path_behind(const struct lt_page *page, const char *url)
{
	const size_t length = strlen(page->token);
	unsigned differs = 0;

	if (length == 0)
		return url;
	if (strlen(url) < length + 2 || url[0] != '/' || url[length + 1] != '/')
		return NULL;
	for (size_t i = 0; i < length; i++)
		differs |= (unsigned)(url[i + 1] ^ page->token[i]);
	return differs == 0 ? url + length + 1 : NULL;
}

/* True if the Host header is this host. A page from elsewhere whose name leads here (DNS rebinding)
 * sends its own name. A Unix socket may be forwarded from any port. */
static bool
is_own_host(const struct lt_page *page, const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	char port[8];

	snprintf(port, sizeof(port), "%d", page->port);
	for (size_t i = 0; host != NULL && i < COUNT(names); i++) {
		const size_t length = strlen(names[i]);
		const char *const rest = host + length;

		if (strncasecmp(host, names[i], length) != 0)
			continue;
		if (page->port != 0)
			return rest[0] == ':' && strcmp(rest + 1, port) == 0;
		return rest[0] == '\0' ||
		       (rest[0] == ':' && strspn(rest + 1, "0123456789") == strlen(rest + 1));
	}
	return false;
}

/* libmicrohttpd's parameters. */
static enum MHD_Result
answer(void *closure, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *data, size_t *length, void **state)
{
	const struct lt_page *const page = closure;
	const char *const path = path_behind(page, url);

	(void)version;
	(void)data;
	(void)length;
	(void)state;
	/* MHD_NO closes the connection without an answer. */
	if (path == NULL ||
	    !is_own_host(page, MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host")))
		return MHD_NO;
	if (lt_door_show(&door, connection, geteuid(), true, lt_monotonic_ms()))
		/* From now on only TIMEOUT_S of silence ends it. */
		lt_door_slot(connection)->deadline_ms = INT64_MAX;
	if (strcmp(method, "GET") != 0)
		return send_nothing(connection, 405);
	for (size_t i = 0; i < COUNT(files); i++)
		if (strcmp(path, files[i].path) == 0)
			return send_answer(connection, &(struct answer){.status = 200,
							   .type = files[i].type,
							   .bytes = files[i].bytes,
							   .length = files[i].length});
	for (size_t i = 0; i < COUNT(questions); i++)
		if (strcmp(path, questions[i].path) == 0)
			return send_question(page, connection, i);
	return send_nothing(connection, 404);
}

int
lt_page_serve(const struct lt_page *page, struct lt_error *err)
{
	door = (struct lt_door){.fd = page->fd};
	struct MHD_Daemon *const server = door.server =
	    MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, answer,
		(void *)(uintptr_t)page, MHD_OPTION_NOTIFY_CONNECTION, lt_door_watch, &door,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)LT_SLOTS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES,
		MHD_OPTION_END);
	const union MHD_DaemonInfo *const info =
	    server != NULL ? MHD_get_daemon_info(server, MHD_DAEMON_INFO_EPOLL_FD) : NULL;

	if (info == NULL)
		return lt_fail(err, LT_EIO, "the server did not start");
	struct pollfd ready[] = {
	    {.fd = page->fd, .events = POLLIN}, {.fd = info->epoll_fd, .events = POLLIN}};

	for (;;) {
		MHD_UNSIGNED_LONG_LONG wait_ms;
		int most_ms = TIMEOUT_S * 1000;

		if (MHD_get_timeout(server, &wait_ms) == MHD_YES && wait_ms < (unsigned)most_ms)
			most_ms = (int)wait_ms;
		most_ms = lt_slots_wait_ms(&door.slots, lt_monotonic_ms(), most_ms);
		if (poll(ready, 2, most_ms) < 0 && errno != EINTR)
			break;
		lt_door_run(&door, lt_monotonic_ms());
	}
	lt_fail(err, LT_EIO, "the server ended: %s", strerror(errno));
	MHD_stop_daemon(server);
	return err->code;
}
