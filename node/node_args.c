/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line. The usage text prints from the table.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node_args.h"
#include "units.h"

#define DMI "/sys/class/dmi/id"

static const struct {
	const char *name, *argument, *usage;
	int letter;
} table[] = {
    {"source", "NAME", "aws, gcp, azure, command [by the firmware]", 's'},
    {"command", "FILE", "a program that says when; then the source is command",
	'c'},
    {"node", "NAME", "Slurm's name of this node [the short host name]", 'n'},
    {"server", "HOST", "lowtided [LOWTIDE_SERVER, each SlurmctldHost]", 'S'},
    {"notice", "DURATION", "ahead, where the cloud says no time [30s]", 'N'},
    {"run", "DIR", "what is kept over a restart [/run/lowtide-node]", 'r'},
    {"progress", "DURATION", "between reports of how far jobs are [1m]", 'p'},
    {"metadata", "URL", "of the metadata service, without a path", 'm'},
    {"help", NULL, "print this", 'h'},
    {"version", NULL, "print the version", 'v'},
};

enum { OPTION_COUNT = sizeof(table) / sizeof(table[0]), USAGE = 2 };

static void
usage(FILE *out)
{
	fputs("usage: lowtide-node [options]\n", out);
	for (int i = 0; i < OPTION_COUNT; i++) {
		char left[40];

		snprintf(left, sizeof(left), "--%s %s", table[i].name,
		    table[i].argument != NULL ? table[i].argument : "");
		fprintf(out, "  %-19s %s\n", left, table[i].usage);
	}
}

static int
refuse(const char *option, const char *got, const char *want)
{
	fprintf(stderr, "lowtide-node: %s: got \"%s\", want %s\n", option, got,
	    want);
	return USAGE;
}

/* By name, by --command, by the firmware. */
static int
choose_source(struct lt_node_args *args, const char *name)
{
	if (name == NULL && args->command != NULL)
		name = lt_node_command.name;
	args->source = name != NULL && strcmp(name, "auto") != 0
			   ? lt_node_source_find(name)
			   : lt_node_source_detect(DMI);
	if (args->source == NULL && name != NULL && strcmp(name, "auto") != 0)
		return refuse("--source", name, lt_node_source_names());
	if (args->source == NULL) {
		fprintf(stderr,
		    "lowtide-node: the firmware (" DMI
		    ") names no cloud that is known; give --source NAME (%s) or --command FILE\n",
		    lt_node_source_names());
		return USAGE;
	}
	if ((args->source == &lt_node_command) != (args->command != NULL))
		return refuse("--source", args->source->name,
		    "command with --command FILE, another without");
	return -1;
}

/* Slurm's own default for slurmd. */
static const char *
host_name(char *out, size_t size)
{
	if (gethostname(out, size - 1) != 0)
		out[0] = '\0';
	out[size - 1] = '\0';
	out[strcspn(out, ".")] = '\0';
	return out;
}

int
lt_node_args_parse(struct lt_node_args *args, int argc, char **argv)
{
	struct option options[OPTION_COUNT + 1] = {0};
	const char *source = NULL;

	args->run_dir = "/run/lowtide-node";
	args->progress_s = 60;
	for (int i = 0; i < OPTION_COUNT; i++) {
		options[i].name = table[i].name;
		options[i].has_arg =
		    table[i].argument != NULL ? required_argument : no_argument;
		options[i].val = table[i].letter;
	}
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 's':
			source = optarg;
			break;
		case 'c':
			args->command = optarg;
			break;
		case 'n':
			args->node = optarg;
			break;
		case 'S':
			args->server = optarg;
			break;
		case 'N':
			if (lt_duration_parse(optarg, &args->lead_s, NULL) !=
				LT_OK ||
			    args->lead_s <= 0 ||
			    args->lead_s > LT_NODE_FUTURE_S)
				return refuse("--notice", optarg,
				    "a duration such as 2m");
			break;
		case 'r':
			args->run_dir = optarg;
			break;
		case 'p':
			if (lt_duration_parse(
				optarg, &args->progress_s, NULL) != LT_OK ||
			    args->progress_s <= 0)
				return refuse("--progress", optarg,
				    "a duration such as 1m");
			break;
		case 'm':
			args->metadata = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'v':
			puts("lowtide-node " LT_VERSION);
			return 0;
		default:
			usage(stderr);
			return USAGE;
		}
	}
	if (optind < argc)
		return refuse("arguments", argv[optind], "options only");
	if (args->node == NULL)
		args->node = host_name(args->host, sizeof(args->host));
	return choose_source(args, source);
}
