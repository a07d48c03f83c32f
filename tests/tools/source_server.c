/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_server PORT [FAULT-FILE]: all sources on the web at once, each under its own path, for
 * cluster tests and for trying a source by hand. Prints its port; port 0 takes any free one. While
 * FAULT-FILE has a path of
 * source_server.h ("/reset", "/status/503"), every request gets that instead.
 */
#include "source_server.h"
/* after it: they use what it defines */
#include "source_server_aws.h"
#include "source_server_azure.h"
#include "source_server_price_list.h"
#include "source_server_europe.h"
#include "source_server_marginal.h"
#include "source_server_mix.h"
#include "source_server_weather.h"

static const char *fault_file;

static bool
serve_fault(const struct exchange *exchange)
{
	struct exchange faulty = *exchange;
	FILE *const file = fault_file == NULL ? NULL : fopen(fault_file, "r");
	bool wanted = false;

	if (file != NULL) {
		wanted = fscanf(file, "%2047s", faulty.path) == 1;
		fclose(file);
	}
	if (!wanted)
		return false;
	server_own = NULL; /* of this process, which answers once */
	server_route(&faulty);
	return true;
}

static bool
serve_all(const struct exchange *exchange)
{
	static bool (*const groups[])(const struct exchange *exchange) = {serve_fault, serve_aws,
	    serve_azure, serve_price_list, serve_europe, serve_marginal, serve_mix, serve_weather};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (groups[i](exchange))
			return true;
	return false;
}

int
main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		fputs("usage: source_server PORT [FAULT-FILE]\n", stderr);
		return 2;
	}
	fault_file = argv[2];
	server_own = serve_all;
	const struct server server = server_start(atoi(argv[1]), NULL);

	printf("%d\n", server.port);
	fflush(stdout);
	waitpid(server.pid, NULL, 0);
	return 0;
}
