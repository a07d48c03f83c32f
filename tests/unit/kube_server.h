/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An API server with TLS for the tests of kubernetes/: it answers a script of turns, one a request,
 * and keeps what each request was.
 */
#ifndef LT_KUBE_SERVER_H
#define LT_KUBE_SERVER_H

#include <dlfcn.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kube.h"
#include "kube_certificates.h"

enum { TURNS_MAX = 16, ASKED_MAX = 32, WAIT_STEP_MS = 20 };

struct step { /* of a body that comes in parts; ended by text NULL */
	int wait_ms;
	const char *text;
	int times; /* 0 = once */
	bool is_cut;
};

struct turn {
	const char *asks; /* words of the request, as asked_text() has it */
	int status;	  /* 0 = 200 */
	const char *body; /* NULL = by steps, or empty */
	const struct step *steps;
	const char *retry_after;
	const char *new_token; /* NULL, or written before the answer */
};

struct asked {
	struct MHD_Connection *connection;
	char uri[1024], body[2048];
	bool is_known;
	const struct step *step;
	int step_times;
	size_t offset;
};

static struct {
	struct MHD_Daemon *daemon;
	int port;
	char dir[64]; /* of the ServiceAccount */
	const struct turn *turns;
	atomic_int turn_count, next, connections;
	atomic_bool closing;
	char problem[2048]; /* the first thing that was asked wrongly */
} kube_server;

static inline void
kube_file(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", kube_server.dir, name);
	FILE *const file = fopen(path, "w");
	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
}

/* "GET /path?query; Bearer token; content type; body; from client" */
static inline void
asked_text(const struct asked *asked, const char *method, char *out, size_t size)
{
	const char *const authorization = MHD_lookup_connection_value(
	    asked->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
	const char *const type = MHD_lookup_connection_value(
	    asked->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
	const union MHD_ConnectionInfo *const session =
	    MHD_get_connection_info(asked->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	int (*verify)(void *session, unsigned *status) = NULL;
	void *const found = dlsym(RTLD_DEFAULT, "gnutls_certificate_verify_peers2");
	unsigned problems = 1;

	memcpy(&verify, &found, sizeof(found));
	if (session == NULL || verify == NULL || verify(session->tls_session, &problems) != 0)
		problems = 1;
	snprintf(out, size, "%s %s; %s; %s; %s%s", method, asked->uri,
	    authorization == NULL ? "" : authorization, type == NULL ? "" : type, asked->body,
	    problems == 0 ? "; a known client" : "");
}

static inline ssize_t
read_steps(void *context, uint64_t position, char *out, size_t size)
{
	struct asked *const asked = context;
	const struct step *const step = asked->step;

	(void)position;
	for (int waited = 0; asked->offset == 0 && waited < step->wait_ms && !kube_server.closing;
	     waited += WAIT_STEP_MS)
		usleep(WAIT_STEP_MS * 1000);
	if (step->text == NULL)
		return step->is_cut ? MHD_CONTENT_READER_END_WITH_ERROR
				    : MHD_CONTENT_READER_END_OF_STREAM;
	const size_t left = strlen(step->text) - asked->offset;
	const size_t length = left < size ? left : size;
	memcpy(out, step->text + asked->offset, length);
	asked->offset += length;
	if (length == left) {
		asked->offset = 0;
		if (++asked->step_times >= step->times) {
			asked->step++;
			asked->step_times = 0;
		}
	}
	return (ssize_t)length;
}

static inline struct MHD_Response *
response_of(struct asked *asked, const struct turn *turn)
{
	struct MHD_Response *response;

	if (turn->steps != NULL) {
		asked->step = turn->steps;
		response = MHD_create_response_from_callback(
		    MHD_SIZE_UNKNOWN, 65536, read_steps, asked, NULL);
	} else {
		response =
		    MHD_create_response_from_buffer(turn->body == NULL ? 0 : strlen(turn->body),
			(void *)turn->body, MHD_RESPMEM_PERSISTENT);
	}
	MHD_add_response_header(response, "Content-Type", "application/json");
	if (turn->retry_after != NULL)
		MHD_add_response_header(response, "Retry-After", turn->retry_after);
	return response;
}

static inline enum MHD_Result
answer_asked(struct asked *asked, const char *method)
{
	static const struct turn too_many = {
	    .status = 500, .body = "{\"message\":\"no turn is left\"}"};
	const int index = kube_server.next++;
	const struct turn *const turn =
	    index < kube_server.turn_count ? &kube_server.turns[index] : &too_many;
	char text[4096];

	asked_text(asked, method, text, sizeof(text));
	if (kube_server.problem[0] == '\0' &&
	    (turn->asks == NULL || strstr(text, turn->asks) == NULL))
		snprintf(kube_server.problem, sizeof(kube_server.problem),
		    "request %d: got \"%.1500s\", want \"%.400s\"", index, text,
		    turn->asks == NULL ? "no more" : turn->asks);
	if (turn->new_token != NULL)
		kube_file("token", turn->new_token);
	struct MHD_Response *const response = response_of(asked, turn);
	const enum MHD_Result result = MHD_queue_response(
	    asked->connection, turn->status == 0 ? 200 : (unsigned)turn->status, response);
	MHD_destroy_response(response);
	return result;
}

static inline enum MHD_Result
on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *upload, size_t *upload_length, void **request_context)
{
	struct asked *const asked = *request_context;
	const size_t used = strlen(asked->body);

	(void)context;
	(void)url;
	(void)version;
	if (!asked->is_known) {
		asked->is_known = true;
		asked->connection = connection;
		return MHD_YES;
	}
	if (*upload_length > 0) {
		snprintf(asked->body + used, sizeof(asked->body) - used, "%.*s",
		    (int)*upload_length, upload);
		*upload_length = 0;
		return MHD_YES;
	}
	return answer_asked(asked, method);
}

static inline void *
on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct asked *const asked = calloc(1, sizeof(*asked));

	(void)context;
	(void)connection;
	snprintf(asked->uri, sizeof(asked->uri), "%s", uri);
	return asked;
}

static inline void
on_completed(void *context, struct MHD_Connection *connection, void **request_context,
    enum MHD_RequestTerminationCode code)
{
	(void)context;
	(void)connection;
	(void)code;
	free(*request_context);
	*request_context = NULL;
}

static inline void
on_connection(void *context, struct MHD_Connection *connection, void **socket,
    enum MHD_ConnectionNotificationCode code)
{
	(void)context;
	(void)connection;
	(void)socket;
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		kube_server.connections++;
}

/* Answers these turns from here on. */
static inline void
kube_script(const struct turn *turns)
{
	int count = 0;

	while (count < TURNS_MAX && (turns[count].asks != NULL))
		count++;
	kube_server.turns = turns;
	kube_server.turn_count = count;
	kube_server.next = 0;
	kube_server.connections = 0;
	kube_server.problem[0] = '\0';
}

static inline int
kube_server_start(void)
{
	strcpy(kube_server.dir, "/tmp/lt-kube-XXXXXX");
	if (mkdtemp(kube_server.dir) == NULL)
		return -1;
	kube_file("token", "first\n");
	kube_file("ca.crt", ca_pem);
	kube_file("namespace", "lowtide");
	kube_server.daemon = MHD_start_daemon(
	    MHD_USE_TLS | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0, NULL,
	    NULL, on_request, NULL, MHD_OPTION_HTTPS_MEM_KEY, server_key_pem,
	    MHD_OPTION_HTTPS_MEM_CERT, server_pem, MHD_OPTION_HTTPS_MEM_TRUST, ca_pem,
	    MHD_OPTION_URI_LOG_CALLBACK, on_uri, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
	    NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, NULL,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)256 * 1024, MHD_OPTION_END);
	if (kube_server.daemon == NULL)
		return -1;
	kube_server.port = MHD_get_daemon_info(kube_server.daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
	return 0;
}

static inline void
kube_server_stop(void)
{
	static const char *const names[] = {
	    "token", "ca.crt", "namespace", "config", "client.crt", "client.key"};
	char path[128];

	kube_server.closing = true;
	MHD_stop_daemon(kube_server.daemon);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", kube_server.dir, names[i]);
		unlink(path);
	}
	rmdir(kube_server.dir);
}

#endif
