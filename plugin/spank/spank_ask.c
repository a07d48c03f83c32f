/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends one HTTP/1.0 request to the lowtided of this host, on its Unix socket, with libc alone and
 * 50 ms in all; and reads values from the flat JSON of the reply. No socket, no reply in time, or
 * another status than 200: no answer.
 */
#include "spank_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "files.h"

enum { ANSWER_MS = 50 };

const char *
lt_json_value(const char *text, const char *key)
{
	char quoted[64];
	const char *p = text;

	snprintf(quoted, sizeof(quoted), "\"%s\"", key);
	while ((p = strstr(p, quoted)) != NULL) {
		p += strlen(quoted);
		p += strspn(p, " \t\r\n");
		if (*p == ':')
			return p + 1 + strspn(p + 1, " \t\r\n");
	}
	return NULL;
}

const char *
lt_json_integer(const char *text, int64_t *value)
{
	char *end;
	intmax_t number;

	if (*text != '-' && (*text < '0' || *text > '9'))
		return NULL;
	errno = 0;
	number = strtoimax(text, &end, 10);
	if (errno != 0 || end == text || *end == '.' || *end == 'e' || *end == 'E')
		return NULL;
	*value = number;
	return end;
}

const char *
lt_json_string(const char *text, char *out, size_t size)
{
	size_t length;

	out[0] = '\0';
	if (*text != '"')
		return NULL;
	length = strcspn(text + 1, "\"\\\n\r");
	if (text[1 + length] != '"' || length >= size)
		return NULL;
	memcpy(out, text + 1, length);
	out[length] = '\0';
	return text + length + 2;
}

static int
left_ms(const struct timespec *start)
{
	struct timespec now;
	int64_t passed_ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	passed_ms = (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
	return passed_ms >= ANSWER_MS ? 0 : ANSWER_MS - (int)passed_ms;
}

static bool
ready(int fd, short events, const struct timespec *start)
{
	struct pollfd one = {.fd = fd, .events = events};
	const int ms = left_ms(start);

	return ms > 0 && poll(&one, 1, ms) == 1;
}

static bool
send_all(int fd, const char *text, size_t length, const struct timespec *start)
{
	while (length > 0) {
		ssize_t sent;

		if (!ready(fd, POLLOUT, start))
			return false;
		sent = send(fd, text, length, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
		text += sent;
		length -= (size_t)sent;
	}
	return true;
}

static bool
receive_all(int fd, char *out, size_t size, const struct timespec *start)
{
	size_t used = 0;

	for (;;) {
		ssize_t got;

		if (used + 1 >= size || !ready(fd, POLLIN, start))
			return false;
		got = recv(fd, out + used, size - 1 - used, 0);
		if (got < 0)
			return false;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	out[used] = '\0';
	return true;
}

const char *
lt_spank_ask(char *reply, size_t size, const char *request)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timespec start;
	const char *body;
	bool whole;
	int fd;

	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", lt_spank.run_dir,
		LT_SOCKET_FILE) >= (int)sizeof(address.sun_path))
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &start);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return NULL;
	/* A Unix socket connects at once or not at all (a full backlog). */
	whole = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		send_all(fd, request, strlen(request), &start) &&
		receive_all(fd, reply, size, &start);
	close(fd);
	if (!whole || strncmp(reply, "HTTP/1.", 7) != 0 || strncmp(reply + 8, " 200", 4) != 0)
		return NULL;
	body = strstr(reply, "\r\n\r\n");
	return body != NULL ? body + 4 : NULL;
}
