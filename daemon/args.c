/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command line, then environment, then defaults. The usage text prints from
 * the table.
 */
#include <getopt.h>
#include <stdlib.h>

#include "args.h"
#include "batch.h"
#include "off.h"
#include "program.h"

static const struct lt_program_option table[] = {
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

static const char *
from_environment(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value != NULL && value[0] ? value : fallback;
}

int
lt_args_parse(struct lt_args *args, int argc, char **argv)
{
	const struct lt_program program = {.name = lt_batch_program,
	    .options = table,
	    .option_count = sizeof(table) / sizeof(table[0]),
	    .width = 16};
	int status = -1;

	*args = (struct lt_args){
	    .config =
		from_environment("LOWTIDE_CONFIG", "/etc/lowtide/lowtide.yaml"),
	    .state = from_environment("LOWTIDE_STATE_DIR", "/var/lib/lowtide"),
	    .off = from_environment(LT_OFF_VARIABLE, LT_OFF_PATH),
	    .run = from_environment("LOWTIDE_RUN_DIR", "/run/lowtide"),
	};
	for (int c;
	     (c = lt_program_next(&program, argc, argv, &status)) != 0;) {
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
		}
	}
	return status;
}
