/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libmicrohttpd, driven by the main loop. The asking user is known from the kernel on the Unix
 * socket, and from a munge credential on TCP (serve_munge.c). Connections of the Unix socket are
 * accepted here, since libmicrohttpd knows no users (door.c). Answers go through lt_api_begin();
 * long ones through aside.c, and on a login node all of them through question.c. Requests that are
 * too large, too slow or too many are refused or closed.
 */
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "aside.h"
#include "breath.h"
#include "daemon.h"
#include "door.h"
#include "http.h"
#include "connection.h"
#include "log.h"
#include "metrics_listen.h"
#include "publish.h"
#include "serve.h"
#include "serve_munge.h"

enum {
	TIMEOUT_S = 15,	   /* of silence; in all: door.h */
	ACCEPTED_MAX = 64, /* then those that are here have a turn */
	BREATH_MS = 5,	   /* of work, from turn to turn */
	UPLOAD_MAX = 256 * 1024
};

struct exchange;
static struct {			      /* one process serves once */
	struct MHD_Daemon *metrics;   /* lent */
	struct lt_door local, remote; /* local: the kernel says who it is */
	struct lt_daemon *d;
	const struct lt_serve_relay *relay;
	enum lt_turn turn; /* what is answered now */
	bool running;	   /* libmicrohttpd is: it may not be run again */
	int64_t ran_ms;
	struct exchange *waiting; /* for a later turn, first come first */
	char path[LT_PATH_SIZE];
} server = {.local = {.fd = -1}, .remote = {.fd = -1}};

struct exchange { /* one request under way */
	char *uri, *body;
	size_t length;
	bool too_large;
	struct lt_question *question; /* of a follower */
	struct lt_munge_request asked;
	struct MHD_Connection *connection; /* while it sleeps */
	uint32_t uid;
	struct lt_api_kind kind;
	bool ended;	       /* its answer was written beside the loop */
	bool awaits_directory; /* until it has other news than these */
	uint64_t news;
	struct exchange *next;
};

static void *
begin_exchange(void *closure, const char *uri, struct MHD_Connection *connection)
{
	(void)closure;
	(void)connection;
	struct exchange *const e = calloc(1, sizeof(*e));
	if (e != NULL && (e->uri = strdup(uri)) == NULL) {
		free(e);
		return NULL;
	}
	return e;
}

static void
finish_exchange(void *closure, struct MHD_Connection *connection, void **state,
    enum MHD_RequestTerminationCode code)
{
	(void)closure;
	(void)connection;
	(void)code;
	struct exchange *const e = *state;
	if (e == NULL)
		return;
	for (struct exchange **link = &server.waiting; *link != NULL; link = &(*link)->next)
		if (*link == e) {
			*link = e->next;
			break;
		}
	lt_question_free(e->question);
	lt_munge_free(&e->asked);
	free(e->uri);
	free(e->body);
	free(e);
	*state = NULL;
}

/* Collect the body; more than the bound is read and dropped. */
static void
collect(struct exchange *e, const char *data, size_t length)
{
	if (e->too_large || e->length + length > UPLOAD_MAX) {
		e->too_large = true;
		return;
	}
	char *const grown = realloc(e->body, e->length + length + 1);
	if (grown == NULL) {
		e->too_large = true;
		return;
	}
	memcpy(grown + e->length, data, length);
	e->body = grown;
	e->length += length;
	e->body[e->length] = '\0';
}

/* True if the request is here whole; else *result is for libmicrohttpd. */
static bool
is_here(struct exchange *e, const char *data, size_t *length, enum MHD_Result *result)
{
	*result = e != NULL && !e->ended ? MHD_YES : MHD_NO;
	if (*result == MHD_NO)
		return false;
	if (*length > 0) {
		collect(e, data, *length);
		*length = 0;
		return false;
	}
	if (e->length > 0 || e->body != NULL)
		return true;
	e->body = strdup(""); /* first call: headers only */
	*result = e->body != NULL ? MHD_YES : MHD_NO;
	return false;
}

/* True if the request is to be answered now; long ones wait for a thread. */
static bool
may_answer(const struct exchange *e)
{
	return e->kind.turn <= server.turn &&
	       !(e->awaits_directory && e->news == lt_directory_news()) &&
	       (!e->kind.is_long ||
		   lt_aside_has_room(e->uid, lt_is_admin(&server.d->site.tables, e->uid), false));
}

/* The connection sleeps until its turn; then it is asked for anew. */
static enum MHD_Result
await(struct exchange *e, struct MHD_Connection *connection)
{
	struct exchange **link = &server.waiting;

	while (*link != NULL)
		link = &(*link)->next;
	*link = e;
	e->next = NULL;
	e->connection = connection;
	lt_respond_until(connection, INT64_MAX); /* a pass may be long */
	MHD_suspend_connection(connection);
	return MHD_YES;
}

/* Answered anew, from its beginning, when the directory of users has news. */
static enum MHD_Result
await_directory(struct exchange *e, struct MHD_Connection *connection)
{
	e->awaits_directory = true;
	e->news = lt_directory_news();
	return await(e, connection);
}

static void
wake_waiting(bool all)
{
	for (struct exchange **link = &server.waiting; *link != NULL;) {
		struct exchange *const e = *link;

		if (!all && !may_answer(e)) {
			link = &e->next;
			continue;
		}
		*link = e->next;
		MHD_resume_connection(e->connection);
	}
}

/* An lt_aside_function: it is called once more, to be closed. */
static void
end_aside(void *asker)
{
	struct exchange *const e = asker;

	e->ended = true;
	MHD_resume_connection(e->connection);
}

static bool
peer_of(struct MHD_Connection *connection, uint32_t *uid)
{
	const union MHD_ConnectionInfo *const info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info != NULL && lt_listen_peer(info->connect_fd, uid);
}

/* A follower's: the connection sleeps until the controller has answered. */
static enum MHD_Result
answer_relay(struct exchange *e, struct MHD_Connection *connection, uint32_t uid)
{
	char path[LT_API_PATH_MAX];

	if (e->question != NULL) {
		char *const text = e->question->text;

		e->question->text = NULL;
		return text != NULL ? lt_respond(connection, (unsigned)e->question->status, text,
					  "application/json")
				    : MHD_NO;
	}
	if (!server.relay->path(path, sizeof(path), uid, e->uri))
		return lt_respond_error(connection, 404,
		    "this lowtided follows another: it answers /v1/balance and /v1/plan only");
	e->question = lt_question_post(path, e->body, connection);
	if (e->question == NULL)
		return MHD_NO;
	MHD_suspend_connection(connection);
	return MHD_YES;
}

static void
wake(void *asker)
{
	MHD_resume_connection(asker);
}

static enum MHD_Result
refuse_busy(struct MHD_Connection *connection)
{
	return lt_respond_error(
	    connection, 503, "too many reports under way, of this user or in all: try again");
}

/* Written beside the loop, to the connection itself, which sleeps meanwhile. */
static enum MHD_Result
begin_aside(struct exchange *e, struct MHD_Connection *connection, struct lt_api_work *work,
    const char *munge_socket)
{
	const bool is_admin = lt_is_admin(&server.d->site.tables, e->uid);
	const union MHD_ConnectionInfo *const info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (info == NULL || !lt_aside_has_room(e->uid, is_admin, work->is_stream)) {
		free(work);
		return refuse_busy(connection);
	}
	e->connection = connection;
	if (!lt_aside_begin(&(struct lt_aside_order){.work = work,
		.state_dir = server.d->args.state,
		.fd = info->connect_fd,
		.uid = e->uid,
		.is_admin = is_admin,
		.munge_socket = munge_socket,
		.asker = e}))
		return refuse_busy(connection);
	lt_respond_until(connection, INT64_MAX);
	MHD_suspend_connection(connection);
	return MHD_YES;
}

static enum MHD_Result
answer_local(void *closure, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *data, size_t *length, void **state)
{
	(void)url;
	(void)version;
	struct exchange *const e = *state;
	struct lt_api_work *work;
	enum MHD_Result result;
	char *text = NULL;
	if (!is_here(e, data, length, &result))
		return result;
	if (!peer_of(connection, &e->uid))
		return MHD_NO;
	if (e->too_large || e->length > LT_API_BODY_MAX)
		return lt_respond_error(connection, 400, "body too large");
	if (server.relay != NULL)
		return answer_relay(e, connection, e->uid);
	e->kind = lt_api_kind(method, e->uri);
	if (!may_answer(e))
		return await(e, connection);
	const int status = lt_api_begin(closure,
	    &(struct lt_api_asked){.uid = e->uid,
		.method = method,
		.uri = e->uri,
		.body = e->body,
		.body_length = e->length},
	    &text, &work);
	if (status == LT_API_LATER)
		return await_directory(e, connection);
	if (work != NULL)
		return begin_aside(e, connection, work, NULL);
	if (text == NULL)
		return MHD_NO;
	return lt_respond(connection, (unsigned)status, text, "application/json");
}

/* A request that a credential was opened to. */
static enum MHD_Result
answer_asked(struct exchange *e, struct MHD_Connection *connection)
{
	struct lt_daemon *const d = server.d;
	const struct lt_munge_request *const asked = &e->asked;
	struct lt_api_work *work;
	char *reply = NULL, *text = NULL;

	e->uid = asked->uid;
	e->kind = lt_api_kind(asked->payload, asked->path);
	if (!may_answer(e))
		return await(e, connection);
	int status = lt_api_begin(d,
	    &(struct lt_api_asked){.uid = asked->uid,
		.method = asked->payload,
		.uri = asked->path,
		.body = asked->body,
		.body_length = strlen(asked->body),
		.from = &asked->from},
	    &reply, &work);
	if (status == LT_API_LATER)
		return await_directory(e, connection);
	if (work != NULL && !work->is_stream)
		return begin_aside(e, connection, work, d->site.tables.conf.munge_socket);
	if (work != NULL) {
		status = 400;
		reply = lt_api_error_text("runs=all: not by TCP; ask for pages: after=");
	}
	free(work);
	if (reply != NULL)
		status = lt_munge_seal(
		    &text, d->site.tables.conf.munge_socket, asked->uid, status, reply);
	free(reply);
	if (text == NULL)
		return MHD_NO;
	return lt_respond(
	    connection, (unsigned)status, text, status == 200 ? "text/plain" : "application/json");
}

static enum MHD_Result
answer_remote(void *closure, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *data, size_t *length, void **state)
{
	(void)version;
	struct exchange *const e = *state;
	enum MHD_Result result;
	char *text = NULL;
	if (!is_here(e, data, length, &result))
		return result;
	if (e->too_large || strcmp(url, "/munge") != 0 || strcmp(method, "POST") != 0)
		return lt_respond_error(connection, 404, "want POST /munge with a credential");
	const struct lt_daemon *const d = closure;
	int status = 200;
	if (e->asked.payload == NULL)
		status = lt_munge_open(&e->asked, d->site.tables.conf.munge_socket, e->body, &text);
	if (status == 200 && !lt_door_show(&server.remote, connection, e->asked.uid,
				 lt_is_admin(&d->site.tables, e->asked.uid), lt_monotonic_ms()))
		return lt_respond_error(
		    connection, 503, "too many connections, of this user or in all: try again");
	if (status == 200)
		return answer_asked(e, connection);
	return text != NULL ? lt_respond(connection, (unsigned)status, text, "application/json")
			    : MHD_NO;
}

static void
accept_local(void)
{
	for (int i = 0; i < ACCEPTED_MAX; i++) {
		const struct sockaddr_un address = {.sun_family = AF_UNIX};
		struct lt_slot *slot = NULL;
		uint32_t uid;
		const int fd = accept4(server.local.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		if (lt_listen_peer(fd, &uid))
			slot = lt_slot_take(&server.local.slots, fd, uid,
			    lt_is_admin(&server.d->site.tables, uid), lt_monotonic_ms());
		if (slot != NULL)
			lt_door_admit(&server.local, slot, fd, (const struct sockaddr *)&address,
			    sizeof(address));
		else
			lt_listen_refuse(fd);
	}
}

static struct MHD_Daemon **const daemons[] = {
    &server.local.server, &server.remote.server, &server.metrics};
enum { DAEMONS = sizeof(daemons) / sizeof(*daemons) };

int
lt_serve_fds(struct pollfd *fds, int room)
{
	int count = 0;

	if (server.local.server != NULL && room > 1) {
		fds[count++] = (struct pollfd){.fd = server.local.fd, .events = POLLIN};
		fds[count++] = (struct pollfd){.fd = lt_asides_fd(), .events = POLLIN};
	}
	if (server.remote.server != NULL && room > count)
		fds[count++] = (struct pollfd){.fd = server.remote.fd, .events = POLLIN};
	for (int i = 0; i < DAEMONS && count < room; i++) {
		if (*daemons[i] == NULL)
			continue;
		const union MHD_DaemonInfo *const info =
		    MHD_get_daemon_info(*daemons[i], MHD_DAEMON_INFO_EPOLL_FD);
		fds[count++] = (struct pollfd){.fd = info->epoll_fd, .events = POLLIN};
	}
	return count + lt_directory_fds(&fds[count], room - count);
}

int
lt_serve_timeout_ms(int wait_ms)
{
	for (int i = 0; i < DAEMONS; i++) {
		MHD_UNSIGNED_LONG_LONG want;

		if (*daemons[i] != NULL && MHD_get_timeout(*daemons[i], &want) == MHD_YES &&
		    want < (unsigned)wait_ms)
			wait_ms = (int)want;
	}
	const int64_t now_ms = lt_monotonic_ms();
	wait_ms = lt_slots_wait_ms(&server.local.slots, now_ms, wait_ms);
	wait_ms = lt_slots_wait_ms(&server.remote.slots, now_ms, wait_ms);
	wait_ms = lt_directory_wait_ms(now_ms, wait_ms);
	return lt_metrics_wait_ms(now_ms, wait_ms);
}

static void
run_mhd(enum lt_turn turn)
{
	const int64_t now_ms = lt_monotonic_ms();

	server.turn = turn;
	lt_asides_run();
	lt_directory_run(now_ms);
	wake_waiting(false);
	server.running = true;
	if (server.local.server != NULL)
		accept_local();
	lt_slots_expire(&server.local.slots, now_ms, lt_listen_hang_up);
	lt_metrics_expire(now_ms);
	if (server.remote.server != NULL)
		lt_door_run(&server.remote, now_ms);
	for (int i = 0; i < DAEMONS; i++)
		if (*daemons[i] != NULL)
			MHD_run(*daemons[i]);
	lt_directory_run(now_ms); /* what was just asked */
	server.running = false;
	server.ran_ms = lt_monotonic_ms();
}

void
lt_serve_run(void)
{
	server.metrics = lt_metrics_follow(server.d);
	run_mhd(LT_TURN_ALL);
}

/* Publishes for job_submit after each run: it waits for no answer but reads the files. */
static void
run_amid(enum lt_turn turn)
{
	run_mhd(turn);
	lt_publish_amid(server.d, turn);
}

static void
breathe(enum lt_turn turn, int fd)
{
	enum { LONGEST_MS = 1000 };
	/* An answer must find the budgets that jobs are admitted by; and within an answer
	 * libmicrohttpd is running already. */
	const bool may_run =
	    server.d->budget.has_snapshot && server.d->budget.snapshot.ready && !server.running;

	if (fd < 0) {
		if (may_run && lt_monotonic_ms() - server.ran_ms >= BREATH_MS)
			run_amid(turn);
		return;
	}
	for (;;) {
		struct pollfd fds[1 + LT_SERVE_FDS] = {{.fd = fd, .events = POLLIN}};
		nfds_t count = 1;

		if (may_run)
			count += (nfds_t)lt_serve_fds(&fds[1], LT_SERVE_FDS);
		const int wait_ms = may_run ? lt_serve_timeout_ms(LONGEST_MS) : LONGEST_MS;
		if (poll(fds, count, wait_ms) < 0 && errno != EINTR)
			return;
		if (fds[0].revents != 0)
			return;
		if (may_run)
			run_amid(turn);
	}
}

static struct MHD_Daemon *
start_at(struct lt_door *door, MHD_AccessHandlerCallback answer, struct lt_daemon *d)
{
	return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET,
	    0, NULL, NULL, answer, d, MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, d,
	    MHD_OPTION_NOTIFY_COMPLETED, finish_exchange, NULL, MHD_OPTION_NOTIFY_CONNECTION,
	    lt_door_watch, door, MHD_OPTION_CONNECTION_LIMIT, (unsigned)LT_SLOTS_MAX,
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_END);
}

int
lt_serve_start(struct lt_daemon *d, const struct lt_serve_relay *relay, struct lt_error *err)
{
	const uint16_t port = d->site.policy != NULL ? d->site.policy->listen_port : 0;
	struct lt_error refused = {0};

	/* First: another lowtided's socket is left alone then. */
	server.remote.fd = port != 0 ? lt_door_listen(port, &refused) : -1;
	if (server.remote.fd == LT_ECONFLICT)
		return lt_fail(err, LT_ECONFLICT, "%s", refused.text);
	const int fd = lt_listen(d->paths.socket, err);
	if (fd < 0)
		return fd;
	snprintf(server.path, sizeof(server.path), "%s", d->paths.socket);
	const int code = lt_asides_start(end_aside, err);
	if (code != LT_OK) {
		close(fd);
		return code;
	}
	if (relay != NULL)
		lt_questions_start(relay->ask, wake);
	lt_breath_by(breathe);
	server.d = d;
	server.relay = relay;
	server.local.fd = fd;
	server.local.server = start_at(&server.local, answer_local, d);
	if (server.local.server == NULL) {
		close(fd);
		return lt_fail(err, LT_EIO, "%s: the server did not start", d->paths.socket);
	}
	if (server.remote.fd >= 0)
		server.remote.server = start_at(&server.remote, answer_remote, d);
	if (server.remote.server == NULL && port != 0)
		lt_log("no_tcp", "port=%u why=\"%s; login nodes can't ask\"", port, refused.text);
	return LT_OK;
}

void
lt_serve_stop(void)
{
	lt_breath_by(NULL);
	lt_asides_stop(); /* none may sleep when it stops */
	lt_directory_stop();
	wake_waiting(true);
	if (server.local.server != NULL) {
		lt_questions_stop();
		MHD_stop_daemon(server.local.server);
		close(server.local.fd);
		unlink(server.path);
	}
	if (server.remote.server != NULL)
		MHD_stop_daemon(server.remote.server);
	if (server.remote.fd >= 0)
		close(server.remote.fd);
	lt_metrics_stop();
	server.metrics = NULL;
	server.local = server.remote = (struct lt_door){.fd = -1};
}
