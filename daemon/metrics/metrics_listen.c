/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTTP server of metrics. Every client that reaches the port learns whether lowtided is well;
 * figures need the token. There are few connections, none for longer than its time, so that a
 * stranger can block /metrics but nothing else of lowtided. A port that can't be opened, or a token
 * that can't be read, is logged, and lowtided works without.
 */
#include <arpa/inet.h>
#include <malloc.h>
#include <microhttpd.h>
#include <nettle/memops.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon.h"
#include "http.h"
#include "connection.h"
#include "log.h"
#include "metrics.h"
#include "metrics_listen.h"
#include "out.h"
#include "secret.h"
#include "door.h"

enum {
	CONNECTIONS = 32,	  /* as many as slots: LT_SLOTS_PER_USER */
	CONNECTIONS_PER_HOST = 8, /* a Prometheus needs one */
	SILENCE_S = 5,
};
_Static_assert(CONNECTIONS <= (int)LT_SLOTS_PER_USER, "each has a slot");

static struct { /* one process serves once */
	struct MHD_Daemon *mhd;
	struct lt_daemon *d;
	struct lt_policy_metrics policy; /* by which it was started */
	const struct lt_policy *followed;
	int64_t followed_utc_s;
	bool has_token;
	char token[LT_SECRET_SIZE]; /* zeros behind it */
	struct lt_slots slots;
	struct lt_metrics_sums sums;
	char *room; /* malloc'd: of a text that was sent, for the next */
} server;

static void
watch(void *closure, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode code)
{
	(void)closure;
	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*context != NULL)
			lt_slot_free(*context);
		*context = NULL;
		return;
	}
	const union MHD_ConnectionInfo *const info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	*context = info != NULL
		       ? lt_slot_take(&server.slots, info->connect_fd, 0, false, lt_monotonic_ms())
		       : NULL;
}

/* "Bearer TOKEN", compared in the same time wherever it differs. */
static bool
is_token(const char *authorization)
{
	static const char scheme[] = "Bearer ";
	char token[LT_SECRET_SIZE] = "";
	const size_t length = strlen(scheme);

	if (strncasecmp(authorization, scheme, length) != 0 ||
	    strlen(authorization + length) >= sizeof(token))
		return false;
	strcpy(token, authorization + length);
	const bool is_same = memeql_sec(token, server.token, sizeof(token)) != 0;
	explicit_bzero(token, sizeof(token));
	return server.has_token && is_same;
}

/* As client libraries do it: the older format for who wants that alone. */
static bool
wants_open(struct MHD_Connection *connection)
{
	const char *const accept =
	    MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);

	return accept == NULL || strstr(accept, "application/openmetrics-text") != NULL ||
	       strstr(accept, "text/plain") == NULL;
}

/* Fresh memory is a third of what a text costs. */
static void
keep_room(void *text)
{
	if (server.room == NULL)
		server.room = text;
	else
		free(text);
}

static enum MHD_Result
answer_metrics(struct MHD_Connection *connection, bool has_money)
{
	struct lt_out out = {.most = LT_METRICS_BYTES_MAX,
	    .bytes = server.room,
	    .capacity = malloc_usable_size(server.room)};
	const struct lt_metrics_view view = {.d = server.d,
	    .sums = &server.sums,
	    .has_money = has_money,
	    .is_open = wants_open(connection),
	    .now_utc_s = time(NULL)};

	server.room = NULL;
	lt_metrics_text(&out, &view);
	lt_out_bytes(&out, "", 1);
	if (out.failed) {
		lt_out_free(&out);
		return lt_respond_error(connection, 503, "out of memory, or over 16 MiB");
	}
	return lt_respond_lent(connection, 200, out.bytes,
	    view.is_open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			 : "text/plain; version=0.0.4; charset=utf-8",
	    keep_room);
}

static enum MHD_Result
answer_health(struct MHD_Connection *connection)
{
	const struct lt_daemon *const d = server.d;
	const bool is_ready = d->acting && d->budget.has_snapshot && d->budget.snapshot.ready;
	char *const text = strdup(is_ready ? "ready\n" : "not ready\n");

	return text != NULL
		   ? lt_respond(connection, is_ready ? 200 : 503, text, "text/plain; charset=utf-8")
		   : MHD_NO;
}

static enum MHD_Result
answer(void *closure, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *data, size_t *length, void **state)
{
	static char asked; /* the second call is the one to answer */
	const char *const authorization =
	    MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);

	(void)closure;
	(void)version;
	(void)data;
	if (*state == NULL) {
		*state = &asked;
		return MHD_YES;
	}
	if (*length > 0)
		return MHD_NO; /* a body: nobody asked for one */
	if (strcmp(method, "GET") != 0)
		return lt_respond_error(connection, 405, "want GET /metrics or GET /health");
	if (strcmp(url, "/health") == 0)
		return answer_health(connection);
	if (strcmp(url, "/metrics") != 0)
		return lt_respond_error(connection, 404, "want GET /metrics or GET /health");
	if (server.policy.token_file[0] != '\0' && authorization != NULL &&
	    !is_token(authorization))
		return lt_respond_error(connection, 401, "the token is another");
	return answer_metrics(connection, server.has_token && authorization != NULL);
}

/* ---- as the policy wants it ---- */

static bool
read_token(const char *path, struct lt_error *err)
{
	if (lt_secret_file(path, server.token, sizeof(server.token), err) != LT_OK)
		return false;
	const size_t length = strcspn(server.token, " \t\r\n");
	const size_t blank = strspn(server.token + length, " \t\r\n");

	if (length >= LT_METRICS_TOKEN_LEAST && server.token[length + blank] == '\0') {
		/* Nothing behind it: all of it is compared. */
		memset(server.token + length, 0, sizeof(server.token) - length);
		return true;
	}
	lt_fail(err, LT_EINPUT, "%s: want one line of %d characters or more, without blanks", path,
	    LT_METRICS_TOKEN_LEAST);
	return false;
}

static void
take_token(const struct lt_policy_metrics *policy)
{
	struct lt_error err = {0};

	explicit_bzero(server.token, sizeof(server.token));
	server.has_token = policy->token_file[0] != '\0' && read_token(policy->token_file, &err);
	if (server.has_token || policy->token_file[0] == '\0')
		return;
	explicit_bzero(server.token, sizeof(server.token));
	lt_log("metrics_without_token", "error=\"%s\" served=health", err.text);
}

static void
start_server(const struct lt_policy_metrics *policy)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(policy->port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(policy->port)};
	const bool is_v4 = inet_pton(AF_INET, policy->address, &v4.sin_addr) == 1;

	if (!is_v4 && inet_pton(AF_INET6, policy->address, &v6.sin6_addr) != 1)
		return; /* the policy was checked */
	server.mhd = MHD_start_daemon(MHD_USE_EPOLL | (is_v4 ? 0 : (unsigned)MHD_USE_IPv6),
	    policy->port, NULL, NULL, answer, NULL, MHD_OPTION_SOCK_ADDR,
	    is_v4 ? (void *)&v4 : (void *)&v6, MHD_OPTION_NOTIFY_CONNECTION, watch, NULL,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
	    (unsigned)CONNECTIONS_PER_HOST, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S,
	    MHD_OPTION_END);
	if (server.mhd == NULL)
		lt_log("no_metrics", "address=%s port=%u why=\"in use or not permitted\"",
		    policy->address, policy->port);
	else
		lt_log("metrics", "address=%s port=%u", policy->address, policy->port);
}

struct MHD_Daemon *
lt_metrics_follow(struct lt_daemon *d)
{
	static const struct lt_policy_metrics none;
	const struct lt_policy_metrics *const policy =
	    d->site.policy != NULL ? &d->site.policy->metrics : &none;

	server.d = d;
	if (d->site.policy != server.followed ||
	    d->site.policy_loaded_utc_s != server.followed_utc_s) {
		server.followed = d->site.policy;
		server.followed_utc_s = d->site.policy_loaded_utc_s;
		if (policy->port != server.policy.port ||
		    strcmp(policy->address, server.policy.address) != 0) {
			if (server.mhd != NULL)
				MHD_stop_daemon(server.mhd);
			server.mhd = NULL;
			if (policy->port != 0)
				start_server(policy);
		}
		for (int i = 0; policy->port != 0 && i < d->site.policy->budget_count; i++)
			lt_counters_account(&d->tally, d->site.policy->budgets[i].team);
		server.policy = *policy;
		take_token(policy);
		lt_metrics_soon();
	}
	if (server.mhd != NULL)
		lt_metrics_read(&server.sums, d, server.has_token, time(NULL));
	return server.mhd;
}

void
lt_metrics_expire(int64_t now_ms)
{
	lt_slots_expire(&server.slots, now_ms, lt_listen_hang_up);
}

int
lt_metrics_wait_ms(int64_t now_ms, int most_ms)
{
	return lt_slots_wait_ms(&server.slots, now_ms, most_ms);
}

int
lt_metrics_reading_wait_ms(int64_t now_ms, int most_ms)
{
	return server.mhd != NULL ? lt_metrics_sums_wait_ms(now_ms, most_ms) : most_ms;
}

void
lt_metrics_stop(void)
{
	if (server.mhd != NULL)
		MHD_stop_daemon(server.mhd);
	lt_metrics_forget(&server.sums);
	free(server.room);
	explicit_bzero(&server, sizeof(server));
}
