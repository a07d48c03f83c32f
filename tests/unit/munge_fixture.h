/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A munged of its own and a server that answers one request as lowtided does, or as none should,
 * sealed by whom the test says.
 */
#ifndef LT_TEST_MUNGE_FIXTURE_H
#define LT_TEST_MUNGE_FIXTURE_H

#include <arpa/inet.h>
#include <munge.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MUNGED "/usr/sbin/munged"

static char folder[32] = "/tmp/lowtide-munge.XXXXXX";
static char munge_socket[64];
static pid_t munged = -1;

struct reply {		     /* what the server seals and how */
	const char *payload; /* NULL: text goes as it is */
	const char *text;
	bool open;	    /* not restricted to the caller */
	uid_t as;	    /* who seals it; 0 = we (other uids: root only) */
	uid_t to;	    /* restricted to; 0 = to us */
	const char *status; /* HTTP's; NULL = 200 OK */
};

struct server {
	int listener;
	uint16_t port;
	struct reply reply;
	char body[8192];   /* of the request */
	char payload[512]; /* in its credential */
	uid_t uid;
	char *credential; /* sealed payload */
};

static inline munge_ctx_t
context_new(void)
{
	munge_ctx_t context = munge_ctx_create();

	assert_non_null(context);
	assert_int_equal(munge_ctx_set(context, MUNGE_OPT_SOCKET, munge_socket), 0);
	return context;
}

static inline char *
encode(const struct reply *reply)
{
	munge_ctx_t context = context_new();
	char *credential = NULL;

	if (!reply->open)
		munge_ctx_set(
		    context, MUNGE_OPT_UID_RESTRICTION, reply->to ? reply->to : geteuid());
	munge_encode(&credential, context, reply->payload, (int)strlen(reply->payload));
	munge_ctx_destroy(context);
	return credential;
}

/* By a child that is that user: munged asks the kernel who seals. */
static inline void
seal(struct server *server)
{
	static char text[1024 * 1024];
	int pipe_fd[2];
	ssize_t got, length = 0;

	if (!server->reply.as) {
		server->credential = encode(&server->reply);
		return;
	}
	const uid_t to = server->reply.to ? server->reply.to : geteuid();
	assert_int_equal(pipe(pipe_fd), 0);
	const pid_t child = fork();
	if (child == 0) {
		struct reply reply = server->reply;
		munge_ctx_t context = munge_ctx_create();
		char *credential = NULL;

		if (setuid(reply.as) != 0)
			_exit(1);
		munge_ctx_set(context, MUNGE_OPT_SOCKET, munge_socket);
		munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, to);
		munge_encode(&credential, context, reply.payload, (int)strlen(reply.payload));
		_exit(credential == NULL || write(pipe_fd[1], credential, strlen(credential)) < 0);
	}
	close(pipe_fd[1]);
	while ((got = read(pipe_fd[0], text + length, sizeof(text) - 1 - (size_t)length)) > 0)
		length += got;
	text[length] = '\0';
	close(pipe_fd[0]);
	waitpid(child, NULL, 0);
	server->credential = strdup(text);
}

static inline void
unseal(struct server *server)
{
	munge_ctx_t context = context_new();
	void *payload = NULL;
	int length = 0;
	gid_t gid;

	server->uid = (uid_t)-1;
	if (munge_decode(server->body, context, &payload, &length, &server->uid, &gid) ==
	    EMUNGE_SUCCESS)
		snprintf(server->payload, sizeof(server->payload), "%.*s", length,
		    (const char *)payload);
	free(payload);
	munge_ctx_destroy(context);
}

/* The body of one request: after the head, until Content-Length is there. */
static inline void
read_request(struct server *server, int fd)
{
	char request[16384] = "";
	size_t used = 0;

	for (;;) {
		const ssize_t count = read(fd, request + used, sizeof(request) - 1 - used);

		if (count <= 0)
			return;
		used += (size_t)count;
		request[used] = '\0';
		const char *const end = strstr(request, "\r\n\r\n");
		const char *const length = strcasestr(request, "content-length:");

		if (end == NULL || length == NULL || strlen(end + 4) < (size_t)atoi(length + 15))
			continue;
		snprintf(server->body, sizeof(server->body), "%.8000s", end + 4);
		return;
	}
}

static inline void *
serve(void *argument)
{
	struct server *const server = argument;
	const int fd = accept(server->listener, NULL, NULL);
	const struct reply *const reply = &server->reply;

	if (fd < 0)
		return NULL;
	read_request(server, fd);
	unseal(server);
	if (reply->payload != NULL)
		seal(server);
	dprintf(fd, "HTTP/1.1 %s\r\nConnection: close\r\n\r\n%s",
	    reply->status != NULL ? reply->status : "200 OK",
	    reply->text != NULL		 ? reply->text
	    : server->credential != NULL ? server->credential
					 : "");
	close(fd);
	return NULL;
}

static inline void
start(struct server *server, pthread_t *thread)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);

	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server->listener, 1), 0);
	assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &length), 0);
	server->port = ntohs(address.sin_port);
	assert_int_equal(pthread_create(thread, NULL, serve, server), 0);
}

static inline void
finish(struct server *server, pthread_t thread)
{
	pthread_join(thread, NULL);
	close(server->listener);
}

/* A key, and a munged that has it; ready when a credential goes round. */
static inline bool
start_munged(void)
{
	char key[64], option[4][80];
	char bytes[128];
	struct stat facts;

	snprintf(munge_socket, sizeof(munge_socket), "%s/socket", folder);
	snprintf(key, sizeof(key), "%s/key", folder);
	FILE *const out = fopen(key, "w");

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + 1);
	if (out == NULL || fwrite(bytes, 1, sizeof(bytes), out) != sizeof(bytes) || fclose(out) ||
	    chmod(key, 0600))
		return false;
	snprintf(option[0], sizeof(option[0]), "--socket=%s", munge_socket);
	snprintf(option[1], sizeof(option[1]), "--key-file=%s", key);
	snprintf(option[2], sizeof(option[2]), "--pid-file=%s/pid", folder);
	snprintf(option[3], sizeof(option[3]), "--seed-file=%s/seed", folder);
	chmod(folder, 0755); /* other users seal by this munged */
	munged = fork();
	if (munged == 0) {
		fclose(stdout); /* TAP is ours */
		fclose(stderr);
		execl(MUNGED, MUNGED, "--foreground", "--force", option[0], option[1], option[2],
		    option[3], (char *)NULL);
		_exit(127);
	}
	for (int i = 0; munged > 0 && i < 200; i++) {
		if (stat(munge_socket, &facts) == 0)
			return true;
		usleep(50000);
	}
	return false;
}

static inline void
stop_munged(void)
{
	static const char *const names[] = {
	    "key", "pid", "seed", "socket", "socket.lock", "slurm.conf", "market"};
	char path[80];

	if (munged > 0) {
		kill(munged, SIGTERM);
		waitpid(munged, NULL, 0);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
}

#endif
