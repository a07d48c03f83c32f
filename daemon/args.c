/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command line, then environment, then defaults. The usage text prints from
 * the table.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "batch.h"

static const struct {
	const char *name, *argument, *usage;
	int letter;
} table[] = {
    {"config", "FILE", "policy [LOWTIDE_CONFIG, /etc/lowtide/lowtide.yaml]",
	'c'},
    {"state", "DIR",
	"ledger, ring, terms [LOWTIDE_STATE_DIR, /var/lib/lowtide]", 's'},
    {"run", "DIR", "market, socket [LOWTIDE_RUN_DIR, /run/lowtide]", 'r'},
    {"once", NULL, "fetch, compile, settle once, then exit", 'o'},
    {"probe", NULL, "print what Slurm says, as JSON, then exit", 'p'},
    {"follow", "HOST", "keep HOST's market here (login nodes)", 'f'},
    {"log", "FILE", "append the log there [stderr]", 'l'},
    {"foreground", NULL, "the only mode; accepted and ignored", 'F'},
    {"help", NULL, "print this", 'h'},
    {"version", NULL, "print the version", 'v'},
};

enum { OPTION_COUNT = sizeof(table) / sizeof(table[0]) };

static void
usage(FILE *out)
{
	fprintf(out, "usage: %s [options]\n", lt_batch_program);
	for (int i = 0; i < OPTION_COUNT; i++) {
		char left[40];

		snprintf(left, sizeof(left), "--%s %s", table[i].name,
		    table[i].argument != NULL ? table[i].argument : "");
		fprintf(out, "  %-16s %s\n", left, table[i].usage);
	}
}

static const char *
from_environment(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value != NULL && value[0] ? value : fallback;
}

int
lt_args_parse(struct lt_args *args, int argc, char **argv)
{
	struct option options[OPTION_COUNT + 1] = {0};

	for (int i = 0; i < OPTION_COUNT; i++) {
		options[i].name = table[i].name;
		options[i].has_arg =
		    table[i].argument != NULL ? required_argument : no_argument;
		options[i].val = table[i].letter;
	}
	*args = (struct lt_args){
	    .config =
		from_environment("LOWTIDE_CONFIG", "/etc/lowtide/lowtide.yaml"),
	    .state = from_environment("LOWTIDE_STATE_DIR", "/var/lib/lowtide"),
	    .run = from_environment("LOWTIDE_RUN_DIR", "/run/lowtide"),
	};
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 'c':
			args->config = optarg;
			break;
		case 's':
			args->state = optarg;
			break;
		case 'r':
			args->run = optarg;
			break;
		case 'o':
			args->once = true;
			break;
		case 'p':
			args->probe = true;
			break;
		case 'f':
			args->follow = optarg;
			break;
		case 'l':
			args->log = optarg;
			break;
		case 'F':
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'v':
			printf("%s " LT_VERSION "\n", lt_batch_program);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: got \"%s\", want options only\n",
		    lt_batch_program, argv[optind]);
		return 2;
	}
	return -1;
}
