/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long lowtided keeps one waiting: GET PATH over its Unix socket, five times a second, until
 * SIGTERM; then "COUNT FAILED P50 P99 WORST", in ms from connect() to the last byte.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ANSWERS_MAX = 100000, EVERY_US = 200000 };

static volatile sig_atomic_t ended;

static void
end(int signal)
{
	(void)signal;
	ended = 1;
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Whether it was answered with 200. */
static int
ask(const struct sockaddr_un *address, const char *request)
{
	char text[65536], head[16] = "";
	ssize_t got;
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 ||
	    write(fd, request, strlen(request)) != (ssize_t)strlen(request)) {
		close(fd);
		return 0;
	}
	while ((got = read(fd, text, sizeof(text))) > 0)
		if (head[0] == '\0' && got >= (ssize_t)sizeof(head))
			memcpy(head, text, sizeof(head));
	close(fd);
	return got == 0 && strncmp(head, "HTTP/1.1 200", 12) == 0;
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int
main(int argc, char **argv)
{
	static double took_ms[ANSWERS_MAX];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char request[512];
	int count = 0, failed = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: %s SOCKET PATH\n", argv[0]);
		return 2;
	}
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", argv[1]);
	snprintf(request, sizeof(request),
	    "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", argv[2]);
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
	while (!ended && count < ANSWERS_MAX) {
		const double began_ms = now_ms();

		failed += !ask(&address, request);
		took_ms[count++] = now_ms() - began_ms;
		usleep(EVERY_US);
	}
	qsort(took_ms, (size_t)count, sizeof(*took_ms), compare);
	printf("%d %d %.2f %.2f %.2f\n", count, failed, took_ms[count / 2],
	    took_ms[count * 99 / 100], took_ms[count - 1]);
	return 0;
}
