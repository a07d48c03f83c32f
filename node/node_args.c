/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line. The usage text prints from the table.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node_args.h"
#include "program.h"
#include "units.h"

#define DMI "/sys/class/dmi/id"

static const struct lt_program_option table[] = {
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

static const struct lt_program program = {.name = "lowtide-node",
    .options = table,
    .option_count = sizeof(table) / sizeof(table[0]),
    .width = 19};

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
		return lt_program_refuse(
		    &program, "--source", name, lt_node_source_names());
	if (args->source == NULL) {
		fprintf(stderr,
		    "lowtide-node: the firmware (" DMI
		    ") names no cloud that is known; give --source NAME (%s) or --command FILE\n",
		    lt_node_source_names());
		return LT_PROGRAM_MISUSE;
	}
	if ((args->source == &lt_node_command) != (args->command != NULL))
		return lt_program_refuse(&program, "--source",
		    args->source->name,
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
	const char *source = NULL;
	int status = -1;

	args->run_dir = "/run/lowtide-node";
	args->progress_s = 60;
	for (int c;
	     (c = lt_program_next(&program, argc, argv, &status)) != 0;) {
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
				return lt_program_refuse(&program, "--notice",
				    optarg, "a duration such as 2m");
			break;
		case 'r':
			args->run_dir = optarg;
			break;
		case 'p':
			if (lt_duration_parse(
				optarg, &args->progress_s, NULL) != LT_OK ||
			    args->progress_s <= 0)
				return lt_program_refuse(&program, "--progress",
				    optarg, "a duration such as 1m");
			break;
		case 'm':
			args->metadata = optarg;
			break;
		}
	}
	if (status >= 0)
		return status;
	if (args->node == NULL)
		args->node = host_name(args->host, sizeof(args->host));
	return choose_source(args, source);
}
