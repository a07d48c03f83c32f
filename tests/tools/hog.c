/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens COUNT connections to a Unix socket, or to a port of this host, and keeps each busy with one
 * byte every second, so that none is ever silent. Prints how many are left after each second; ends
 * when none is.
 *
 *   hog SOCKET|PORT COUNT
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { COUNT_MAX = 1024 };

static int
open_one(const char *where)
{
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	struct sockaddr_in remote = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	    .sin_port = htons((uint16_t)atoi(where))};
	const int is_local = where[0] == '/';
	const int fd = socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

	snprintf(local.sun_path, sizeof(local.sun_path), "%s", where);
	if (is_local ? connect(fd, (struct sockaddr *)&local, sizeof(local)) == 0
		     : connect(fd, (struct sockaddr *)&remote, sizeof(remote)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Gone: the other side has ended it (what it said before is read away). */
static int
is_gone(int fd)
{
	char text[4096];
	ssize_t got;

	while ((got = recv(fd, text, sizeof(text), MSG_DONTWAIT)) > 0)
		;
	return got == 0 || send(fd, "G", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0;
}

int
main(int argc, char **argv)
{
	int fds[COUNT_MAX], left = 0;

	if (argc != 3 || atoi(argv[2]) < 1 || atoi(argv[2]) > COUNT_MAX) {
		fputs("hog SOCKET|PORT COUNT\n", stderr);
		return 2;
	}
	for (int i = 0; i < atoi(argv[2]); i++)
		if ((fds[left] = open_one(argv[1])) >= 0)
			left++;
	for (;;) {
		for (int i = 0; i < left;)
			if (is_gone(fds[i])) {
				close(fds[i]);
				fds[i] = fds[--left];
			} else {
				i++;
			}
		printf("%d\n", left);
		fflush(stdout);
		if (left == 0)
			return 0;
		sleep(1);
	}
}
