/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A team's balance from the lowtided of this host: one HTTP/1.0 request on
 * its Unix socket, with libc alone, 50 ms in all. docs/api.md has the fields.
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

enum { ANSWER_MS = 50, REPLY_BYTES = 8192 };

/* The text after "key": of a flat object, NULL without it. */
static const char *
value_of(const char *text, const char *key)
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

static bool
integer_of(const char *text, const char *key, int64_t *value)
{
	const char *const start = value_of(text, key);
	char *end;
	intmax_t number;

	if (start == NULL || (*start != '-' && (*start < '0' || *start > '9')))
		return false;
	errno = 0;
	number = strtoimax(start, &end, 10);
	if (errno != 0 || end == start || *end == '.' || *end == 'e' ||
	    *end == 'E')
		return false;
	*value = number;
	return true;
}

/* Names of teams and periods: an escape in them is not ours, so none. */
static bool
string_of(const char *text, const char *key, char *out, size_t size)
{
	const char *const start = value_of(text, key);
	size_t length;

	out[0] = '\0';
	if (start == NULL || *start != '"')
		return false;
	length = strcspn(start + 1, "\"\\\n\r");
	if (start[1 + length] != '"' || length >= size)
		return false;
	memcpy(out, start + 1, length);
	out[length] = '\0';
	return true;
}

static bool
figure_of(const char *text, const char *name, const char *unit, int64_t *value)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_%s", name, unit);
	return integer_of(text, key, value);
}

static void
figures_of(struct lt_balance_of *of, const char *text, const char *unit)
{
	of->is_limited = figure_of(text, "available", unit, &of->available);
	if (!figure_of(text, "limit", unit, &of->limit) ||
	    !figure_of(text, "spent", unit, &of->spent) ||
	    !figure_of(text, "held", unit, &of->held))
		of->limit = -1; /* another budget's, or an older lowtided */
}

bool
lt_balance_parse(struct lt_balance *balance, const char *text)
{
	const char *const budgeted = value_of(text, "budgeted");

	memset(balance, 0, sizeof(*balance));
	if (budgeted == NULL)
		return false;
	if (strncmp(budgeted, "false", 5) == 0)
		return true;
	if (strncmp(budgeted, "true", 4) != 0)
		return false;
	balance->budgeted = true;
	string_of(text, "team", balance->team, sizeof(balance->team));
	string_of(text, "label", balance->label, sizeof(balance->label));
	string_of(
	    text, "currency", balance->currency, sizeof(balance->currency));
	figures_of(&balance->money, text, "micros");
	figures_of(&balance->carbon, text, "mg");
	return true;
}

static int
left_ms(const struct timespec *start)
{
	struct timespec now;
	int64_t passed_ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	passed_ms = (now.tv_sec - start->tv_sec) * 1000 +
		    (now.tv_nsec - start->tv_nsec) / 1000000;
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

/* "/v1/balance?account=name", everything but plain characters encoded. */
static void
make_request(char *out, size_t size, const char *account)
{
	char encoded[3 * LT_ACCOUNT_SIZE] = "";
	size_t used = 0;

	for (const unsigned char *p = (const unsigned char *)account; *p; p++) {
		if ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') ||
		    *p == '_' || *p == '-' || *p == '.')
			encoded[used++] = (char)*p;
		else
			used += (size_t)snprintf(encoded + used,
			    sizeof(encoded) - used, "%%%02X", *p);
	}
	encoded[used] = '\0';
	snprintf(out, size,
	    "GET /v1/balance%s%s HTTP/1.0\r\nHost: localhost\r\n\r\n",
	    used ? "?account=" : "", encoded);
}

bool
lt_spank_balance(
    struct lt_balance *balance, const char *run_dir, const char *account)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timespec start;
	char request[512], reply[REPLY_BYTES];
	const char *body;
	bool whole;
	int fd;

	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s",
		run_dir, LT_SOCKET_FILE) >= (int)sizeof(address.sun_path))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &start);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	make_request(request, sizeof(request), account);
	/* A Unix socket connects at once or not at all (a full backlog). */
	whole =
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    send_all(fd, request, strlen(request), &start) &&
	    receive_all(fd, reply, sizeof(reply), &start);
	close(fd);
	if (!whole || strncmp(reply, "HTTP/1.", 7) != 0 ||
	    strncmp(reply + 8, " 200", 4) != 0)
		return false;
	body = strstr(reply, "\r\n\r\n");
	return body != NULL && lt_balance_parse(balance, body + 4);
}
