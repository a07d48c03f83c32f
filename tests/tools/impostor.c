/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers POST /munge as lowtided would, sealed by whoever runs it: a request for /v1/market gets
 * FILE's bytes as its one page. Prints its port, then answers until it is killed.
 *
 *   impostor MUNGE-SOCKET RESTRICTED-UID FILE
 */
#include <arpa/inet.h>
#include <munge.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "market_page.h"

enum { REQUEST_MAX = 64 * 1024 };

static char *
payload_of(const char *path)
{
	struct lt_market market;
	struct lt_error err = {0};
	char *text = NULL;

	if (lt_market_load(&market, path, NULL, &err) == LT_OK)
		text = market_page(&market, &err);
	if (text == NULL) {
		fprintf(stderr, "impostor: %s\n", err.text);
		exit(1);
	}
	return text;
}

/* Until the body that Content-Length promises is there. */
static void
read_request(int fd)
{
	static char request[REQUEST_MAX];
	size_t used = 0;
	ssize_t got;

	while (used + 1 < sizeof(request) &&
	       (got = read(fd, request + used, sizeof(request) - 1 - used)) > 0) {
		used += (size_t)got;
		request[used] = '\0';
		const char *const end = strstr(request, "\r\n\r\n");
		const char *const length = strcasestr(request, "content-length:");
		if (end != NULL && length != NULL && strlen(end + 4) >= (size_t)atoi(length + 15))
			return;
	}
}

static void
answer(int fd, const char *munge_socket, uid_t uid, const char *payload)
{
	munge_ctx_t context = munge_ctx_create();
	char *credential = NULL;

	read_request(fd);
	munge_ctx_set(context, MUNGE_OPT_SOCKET, munge_socket);
	munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, uid);
	if (munge_encode(&credential, context, payload, (int)strlen(payload)))
		fprintf(stderr, "impostor: %s\n", munge_ctx_strerror(context));
	else
		dprintf(fd,
		    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
		    "Connection: close\r\n\r\n%s",
		    credential);
	munge_ctx_destroy(context);
	free(credential);
}

int
main(int argc, char **argv)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);

	if (argc != 4) {
		fputs("impostor MUNGE-SOCKET RESTRICTED-UID FILE\n", stderr);
		return 2;
	}
	char *const payload = payload_of(argv[3]);
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 8) ||
	    getsockname(listener, (struct sockaddr *)&address, &length))
		return 1;
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd))
		answer(fd, argv[1], (uid_t)atoi(argv[2]), payload);
	free(payload);
	return 0;
}
