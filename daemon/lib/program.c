/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a command line by its table, prints its usage from the same table, and turns SIGTERM and
 * SIGINT into a descriptor. Misuse is printed to stderr.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

#include "program.h"

static void
print_usage(const struct lt_program *program, FILE *out)
{
	fprintf(out, "usage: %s [options]\n", program->name);
	for (int i = 0; i < program->option_count; i++) {
		const struct lt_program_option *const option = &program->options[i];
		char left[40];

		snprintf(left, sizeof(left), "--%s %s", option->name,
		    option->argument != NULL ? option->argument : "");
		fprintf(out, "  %-*s %s\n", program->width, left, option->usage);
	}
}

int
lt_program_refuse(
    const struct lt_program *program, const char *option, const char *got, const char *want)
{
	fprintf(stderr, "%s: %s: got \"%s\", want %s\n", program->name, option, got, want);
	return LT_PROGRAM_MISUSE;
}

int
lt_program_next(const struct lt_program *program, int argc, char **argv, int *status)
{
	struct option options[LT_PROGRAM_OPTIONS_MAX + 1] = {0};

	for (int i = 0; i < program->option_count; i++) {
		options[i].name = program->options[i].name;
		options[i].has_arg =
		    program->options[i].argument != NULL ? required_argument : no_argument;
		options[i].val = program->options[i].letter;
	}
	const int letter = getopt_long(argc, argv, "", options, NULL);
	switch (letter) {
	case -1:
		*status = optind < argc ? lt_program_refuse(
					      program, "arguments", argv[optind], "options only")
					: -1;
		return 0;
	case 'h':
		print_usage(program, stdout);
		*status = 0;
		return 0;
	case 'v':
		printf("%s " LT_VERSION "\n", program->name);
		*status = 0;
		return 0;
	case '?':
		print_usage(program, stderr);
		*status = LT_PROGRAM_MISUSE;
		return 0;
	default:
		return letter;
	}
}

int
lt_program_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}
