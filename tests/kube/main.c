/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server DIR [OPTION...]: a played Kubernetes API server with a small cluster behind it, at a free
 * port of 127.0.0.1, until it is ended. DIR gets what clients need; DIR/port is written when it is
 * ready.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "server.h"

static const char usage[] =
    "usage: server DIR [OPTION...]\n"
    "  --port N          listen there (0: any that is free)\n"
    "  --nodes FILE      JSON list of the nodes there are at the start\n"
    "  --history N       events kept for watches (10000)\n"
    "  --bookmark MS     time between bookmarks (5000)\n"
    "  --speed F         durations of pods and Jobs pass so much faster (1)\n"
    "  --validate        refuse what lowtide's policies refuse\n"
    "  --guard           refuse what lowtide's guards refuse, too\n"
    "  --mutate          suspend and gate what lowtide's policies do\n"
    "  --team-label L    the label that names a Job's team (its namespace)\n"
    "  --minor N         it is Kubernetes 1.N (36)\n"
    "  --dry-runs        lowtide may ask for dry runs of pods\n"
    "  --no-control      no controllers: clients write all status\n"
    "  --with-parent     end when the parent process does\n";

static bool
read_option(int letter)
{
	struct options *const options = &world.options;

	switch (letter) {
	case 'p':
		options->port = atoi(optarg);
		return true;
	case 'n':
		options->nodes = optarg;
		return true;
	case 'h':
		options->history = atoll(optarg);
		return options->history > 0;
	case 'b':
		options->bookmark_ms = atoll(optarg);
		return options->bookmark_ms > 0;
	case 's':
		options->speed = atof(optarg);
		return options->speed > 0;
	case 'v':
		options->validates = true;
		return true;
	case 'g':
		options->guards = true;
		return true;
	case 'm':
		options->mutates = true;
		return true;
	case 'd':
		options->tries = true;
		return true;
	case 't':
		options->team_label = optarg;
		return true;
	case 'c':
		options->no_control = true;
		return true;
	case 'i':
		options->minor = atoi(optarg);
		return options->minor > 0;
	case 'w':
		return prctl(PR_SET_PDEATHSIG, SIGTERM) == 0;
	default:
		return false;
	}
}

static bool
read_options(int argc, char **argv)
{
	static const struct option names[] = {
	    {"port", required_argument, NULL, 'p'},
	    {"nodes", required_argument, NULL, 'n'},
	    {"history", required_argument, NULL, 'h'},
	    {"bookmark", required_argument, NULL, 'b'},
	    {"speed", required_argument, NULL, 's'},
	    {"validate", no_argument, NULL, 'v'},
	    {"guard", no_argument, NULL, 'g'},
	    {"mutate", no_argument, NULL, 'm'},
	    {"team-label", required_argument, NULL, 't'},
	    {"minor", required_argument, NULL, 'i'},
	    {"dry-runs", no_argument, NULL, 'd'},
	    {"no-control", no_argument, NULL, 'c'},
	    {"with-parent", no_argument, NULL, 'w'},
	    {0},
	};
	int letter;

	world.options.history = 10000;
	world.options.bookmark_ms = 5000;
	world.options.speed = 1;
	world.options.minor = 36;
	while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1)
		if (!read_option(letter))
			return false;
	if (optind + 1 != argc)
		return false;
	world.options.folder = argv[optind];
	return true;
}

static void
spaces_start(void)
{
	static const char *const names[] = {"default", "kube-system", "lowtide"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_t *const space = json_pack("{s:{s:s}}", "metadata", "name", names[i]);

		default_new(KUBE_NAMESPACES, space);
		store_add(KUBE_NAMESPACES, space);
	}
}

int
main(int argc, char **argv)
{
	struct certificates certificates;

	if (!read_options(argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	store_start();
	spaces_start();
	nodes_start();
	certificates = files_certificates();
	files_token(world.token);
	files_token(world.admin_token);
	world.options.port = http_start(&certificates, world.options.port);
	if (world.options.port < 0) {
		fputs("kube server: can't listen\n", stderr);
		return 1;
	}
	files_access(world.options.port);
	control_start();
	for (;;)
		pause();
}
