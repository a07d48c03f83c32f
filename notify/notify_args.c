/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line. The usage text prints from the table.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "notify_args.h"
#include "units.h"

static const struct {
	const char *name, *argument, *usage;
	int letter;
} table[] = {
    {"config", "FILE", "the policy [/etc/lowtide/lowtide.yaml]", 'c'},
    {"state", "DIR", "what was sent [/var/lib/lowtide-notify]", 's'},
    {"retry", "DURATION", "from the first try to the second [30s]", 'r'},
    {"once", NULL, "try each once; exit status 1: some are left", 'o'},
    {"help", NULL, "print this", 'h'},
    {"version", NULL, "print the version", 'v'},
};

enum { OPTION_COUNT = sizeof(table) / sizeof(table[0]), USAGE = 2 };

static void
usage(FILE *out)
{
	fputs("usage: lowtide-notify [options]\n", out);
	for (int i = 0; i < OPTION_COUNT; i++) {
		char left[40];

		snprintf(left, sizeof(left), "--%s %s", table[i].name,
		    table[i].argument != NULL ? table[i].argument : "");
		fprintf(out, "  %-17s %s\n", left, table[i].usage);
	}
}

static int
refuse(const char *option, const char *got, const char *want)
{
	fprintf(stderr, "lowtide-notify: %s: got \"%s\", want %s\n", option,
	    got, want);
	return USAGE;
}

int
lt_notify_args_parse(struct lt_notify_args *args, int argc, char **argv)
{
	struct option options[OPTION_COUNT + 1] = {0};
	const char *const given = getenv("STATE_DIRECTORY"); /* of the unit */

	*args = (struct lt_notify_args){.config = "/etc/lowtide/lowtide.yaml",
	    .state_dir = given != NULL ? given : "/var/lib/lowtide-notify",
	    .retry_s = 30};
	for (int i = 0; i < OPTION_COUNT; i++) {
		options[i].name = table[i].name;
		options[i].has_arg =
		    table[i].argument != NULL ? required_argument : no_argument;
		options[i].val = table[i].letter;
	}
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
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
				return refuse("--retry", optarg,
				    "a duration up to 1h such as 30s");
			break;
		case 'o':
			args->once = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'v':
			puts("lowtide-notify " LT_VERSION);
			return 0;
		default:
			usage(stderr);
			return USAGE;
		}
	}
	return optind < argc ? refuse("arguments", argv[optind], "options only")
			     : -1;
}
