/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_server PORT: source_server.h as a program, for cluster tests and for
 * trying a source by hand. Prints its port; port 0 takes any free one.
 */
#include "source_server.h"

int
main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: source_server PORT\n", stderr);
		return 2;
	}
	const struct server server = server_start(atoi(argv[1]), NULL);

	printf("%d\n", server.port);
	fflush(stdout);
	waitpid(server.pid, NULL, 0);
	return 0;
}
