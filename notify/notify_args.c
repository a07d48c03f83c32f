/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line. The usage text prints from the table.
 */
#include <getopt.h>
#include <stdlib.h>

#include "notify_args.h"
#include "program.h"
#include "units.h"

static const struct lt_program_option table[] = {
    {"config", "FILE", "the policy [/etc/lowtide/lowtide.yaml]", 'c'},
    {"state", "DIR", "what was sent [/var/lib/lowtide-notify]", 's'},
    {"retry", "DURATION", "from the first try to the second [30s]", 'r'},
    {"once", NULL, "try each once; exit status 1: some are left", 'o'},
    {"help", NULL, "print this", 'h'},
    {"version", NULL, "print the version", 'v'},
};

static const struct lt_program program = {.name = "lowtide-notify",
    .options = table,
    .option_count = sizeof(table) / sizeof(table[0]),
    .width = 17};

int
lt_notify_args_parse(struct lt_notify_args *args, int argc, char **argv)
{
	const char *const given = getenv("STATE_DIRECTORY"); /* of the unit */
	int status = -1;

	*args = (struct lt_notify_args){.config = "/etc/lowtide/lowtide.yaml",
	    .state_dir = given != NULL ? given : "/var/lib/lowtide-notify",
	    .retry_s = 30};
	for (int c;
	     (c = lt_program_next(&program, argc, argv, &status)) != 0;) {
		switch (c) {
		case 'c':
			args->config = optarg;
			break;
		case 's':
			args->state_dir = optarg;
			break;
		case 'r':
			if (lt_duration_parse(optarg, &args->retry_s, NULL) !=
				LT_OK ||
			    args->retry_s <= 0 || args->retry_s > LT_HOUR_S)
				return lt_program_refuse(&program, "--retry",
				    optarg, "a duration up to 1h such as 30s");
			break;
		case 'o':
			args->once = true;
			break;
		}
	}
	return status;
}
