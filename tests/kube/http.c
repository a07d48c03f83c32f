/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP over TLS by libmicrohttpd, a thread for each connection, so that a watch or a fault may wait
 * in its own: collects a request, has it answered under the lock, and sends the answer.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { BODY_MAX = 3 * 1024 * 1024 };

struct exchange {
	char *body;
	size_t length;
};

static enum MHD_Result
read_query(void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
	(void)kind;
	request_query(cls, key, value == NULL ? "" : value);
	return MHD_YES;
}

static const char *
header(struct MHD_Connection *connection, const char *name)
{
	const char *const value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

	return value == NULL ? "" : value;
}

static void
answer_resource(const struct request *request, struct reply *reply)
{
	static const struct {
		const char *method;
		void (*answer)(const struct request *request, struct reply *reply);
		bool has_name;
	} answers[] = {
	    {"GET", answer_get, true},
	    {"GET", answer_list, false},
	    {"POST", answer_create, false},
	    {"PUT", answer_replace, true},
	    {"PATCH", answer_patch, true},
	    {"DELETE", answer_delete, true},
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (strcmp(answers[i].method, request->method) == 0 &&
		    answers[i].has_name == (request->name[0] != '\0')) {
			answers[i].answer(request, reply);
			return;
		}
	reply_fail(reply, request, 405,
	    "the server does not allow this method on the requested "
	    "resource");
}

static void
answer(struct request *request, struct reply *reply)
{
	if (!request_admit(request, reply))
		return;
	if (request->watch && strcmp(request->method, "GET") == 0)
		reply->stream = stream_open(request, reply);
	else
		answer_resource(request, reply);
	if (reply->body == NULL && reply->stream == NULL && !reply->is_dropped)
		reply_fail(reply, request, 500, "no answer");
	if (faults_loses(request))
		reply->is_dropped = true;
}

static ssize_t
read_stream(void *cls, uint64_t at, char *out, size_t size)
{
	const int64_t length = stream_read(cls, out, size);

	(void)at;
	if (length == -1)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (length == -2)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	return (ssize_t)length;
}

static void
close_stream(void *cls)
{
	pthread_mutex_lock(&world.lock);
	stream_close(cls);
	pthread_mutex_unlock(&world.lock);
}

static struct MHD_Response *
response_of(struct reply *reply, int fd)
{
	struct MHD_Response *response;
	char number[32];

	if (reply->stream != NULL) {
		stream_socket(reply->stream, fd);
		response = MHD_create_response_from_callback(
		    MHD_SIZE_UNKNOWN, 64 * 1024, read_stream, reply->stream, close_stream);
		reply->type = "application/json";
	} else {
		response = MHD_create_response_from_buffer(
		    reply->length, reply->body, MHD_RESPMEM_MUST_FREE);
	}
	MHD_add_response_header(response, "Content-Type", reply->type);
	MHD_add_response_header(response, "Cache-Control", "no-cache, private");
	snprintf(number, sizeof(number), "%lld", (long long)reply->retry_after);
	if (reply->retry_after > 0)
		MHD_add_response_header(response, "Retry-After", number);
	if (reply->warning != NULL)
		MHD_add_response_header(response, "Warning", reply->warning);
	return response;
}

static enum MHD_Result
respond(struct MHD_Connection *connection, struct request *request)
{
	const union MHD_ConnectionInfo *const info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const int fd = info == NULL ? -1 : info->connect_fd;
	struct reply reply = {.type = "application/json"};
	struct MHD_Response *response;
	enum MHD_Result result;

	if (!faults_before(request, &reply, fd)) {
		pthread_mutex_lock(&world.lock);
		answer(request, &reply);
		pthread_mutex_unlock(&world.lock);
	}
	if (reply.is_dropped) {
		free(reply.body);
		if (reply.stream != NULL)
			close_stream(reply.stream);
		return MHD_NO;
	}
	response = response_of(&reply, fd);
	result = MHD_queue_response(connection, reply.status == 0 ? 200 : reply.status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result
handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *upload, size_t *upload_size, void **state)
{
	struct exchange *const exchange = *state;
	struct request *request;
	enum MHD_Result result;

	(void)cls;
	(void)version;
	if (exchange == NULL) {
		*state = calloc(1, sizeof(struct exchange));
		return MHD_YES;
	}
	if (*upload_size > 0) {
		if (exchange->length + *upload_size > BODY_MAX)
			return MHD_NO;
		exchange->body = realloc(exchange->body, exchange->length + *upload_size);
		memcpy(exchange->body + exchange->length, upload, *upload_size);
		exchange->length += *upload_size;
		*upload_size = 0;
		return MHD_YES;
	}
	request = calloc(1, sizeof(*request));
	request->method = method;
	request->path = url;
	request->body = exchange->body == NULL ? "" : exchange->body;
	request->body_length = exchange->length;
	request->type = header(connection, "Content-Type");
	request->authorization = header(connection, "Authorization");
	request->impersonates = header(connection, "Impersonate-User");
	/* "lowtide" of "lowtide/0.3.0", unless the query says another. */
	const char *const agent = header(connection, "User-Agent");
	snprintf(
	    request->manager, sizeof(request->manager), "%.*s", (int)strcspn(agent, "/"), agent);
	request->grace_s = -1;
	request_read(request);
	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, read_query, request);
	result = respond(connection, request);
	free(request);
	return result;
}

static void
completed(void *cls, struct MHD_Connection *connection, void **state,
    enum MHD_RequestTerminationCode code)
{
	struct exchange *const exchange = *state;

	(void)cls;
	(void)connection;
	(void)code;
	if (exchange == NULL)
		return;
	free(exchange->body);
	free(exchange);
	*state = NULL;
}

int
http_start(const struct certificates *certificates, int port)
{
	const struct sockaddr_in at = {
	    .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct MHD_Daemon *const daemon =
	    MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
				 MHD_USE_POLL | MHD_USE_TLS,
		(uint16_t)port, NULL, NULL, handle, NULL, MHD_OPTION_SOCK_ADDR, &at,
		MHD_OPTION_HTTPS_MEM_KEY, certificates->key, MHD_OPTION_HTTPS_MEM_CERT,
		certificates->certificate, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U,
		MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_CONNECTION_TIMEOUT, 0U,
		MHD_OPTION_END);
	const union MHD_DaemonInfo *const info =
	    daemon == NULL ? NULL : MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info == NULL ? -1 : info->port;
}
