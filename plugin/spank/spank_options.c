/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the plugstack line's arguments and the user's options, also from the environment as Slurm
 * does; and writes lines to the user. An option that is malformed stops the submission with a
 * message; an unknown argument is logged.
 */
#include "lookup.h"
#include "off.h"
#include "spank_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.h"

struct lt_spank lt_spank;

static const char *
argument_value(const char *argument, const char *name)
{
	const size_t length = strlen(name);

	return strncmp(argument, name, length) == 0 && argument[length] == '='
		   ? argument + length + 1
		   : NULL;
}

static int
presence_of(const char *text, enum lt_presence *presence)
{
	static const char *const words[] = {"auto", "yes", "no"};

	for (int i = 0; i < 3; i++)
		if (strcmp(text, words[i]) == 0) {
			*presence = (enum lt_presence)i;
			return 0;
		}
	return -1;
}

/* A wrong argument is said and left: no job fails for it. */
static void
read_arguments(int count, char **arguments)
{
	const char *value;

	for (int i = 0; i < count; i++) {
		if ((value = argument_value(arguments[i], "run_dir")) != NULL)
			lt_spank.run_dir = value;
		else if ((value = argument_value(arguments[i], "node_dir")) != NULL)
			lt_spank.node_dir = value;
		else if ((value = argument_value(arguments[i], "off_file")) != NULL)
			lt_spank.off_file = value;
		else if ((value = argument_value(arguments[i], "preemptible")) != NULL)
			lt_spank.preemptible = value;
		else if ((value = argument_value(arguments[i], "gpu")) != NULL)
			lt_spank.gpu = value;
		else if ((value = argument_value(arguments[i], "precision")) != NULL)
			lt_spank.precision = value;
		else if ((value = argument_value(arguments[i], "amp")) != NULL)
			lt_spank.amp = strcmp(value, "auto") == 0;
		else if ((value = argument_value(arguments[i], "power_cap")) != NULL)
			lt_spank.power_cap = strcmp(value, "yes") == 0;
		else if ((value = argument_value(arguments[i], "job_submit")) == NULL ||
			 presence_of(value, &lt_spank.job_submit) != 0)
			slurm_error(
			    "lowtide: plugstack.conf: got %s, want run_dir=, node_dir=, off_file=, preemptible=, gpu=, precision=, amp=auto|off, power_cap=yes|no, job_submit=auto|yes|no",
			    arguments[i]);
	}
}

enum { LINE_SIZE = 1024 };

/* The columns of the terminal behind "sbatch: error: lowtide: "; unlimited if Slurm's messages go
 * elsewhere. */
static int
room_for(bool is_error)
{
	const char *const before = is_error ? ": error: lowtide: " : ": lowtide: ";
	struct winsize size = {0};

	if (!isatty(STDERR_FILENO) || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 ||
	    size.ws_col == 0)
		return LINE_SIZE;
	const int taken = lt_text_width(program_invocation_short_name) + lt_text_width(before);

	return size.ws_col > taken ? size.ws_col - taken : 1;
}

static void
say_line(const char *line, int room, bool is_error)
{
	while (*line != '\0') {
		const int bytes = (int)lt_text_words(line, room);

		if (is_error)
			slurm_error("lowtide: %.*s", bytes, line);
		else
			slurm_info("lowtide: %.*s", bytes, line);
		line += bytes;
		line += strspn(line, " ");
	}
}

void
lt_spank_say(const char *text, bool is_error)
{
	const int room = room_for(is_error);

	for (const char *from = text; *from;) {
		const int length = (int)strcspn(from, "\n");
		char line[LINE_SIZE];

		snprintf(line, sizeof(line), "%.*s", length, from);
		lt_text_line(line);
		say_line(line, room, is_error);
		from += length;
		from += *from != '\0';
	}
}

/* Runs once for each source in Slurm's order, #SBATCH, environment, command line, so the last value
 * stays. */
static int
on_option(int id, const char *value, int remote)
{
	struct lt_error err = {0};

	if (id < 0 || id >= LT_OPTION_COUNT)
		return 0;
	/* "--checkpoint=$EVERY" of a variable that is not set. */
	if (value != NULL && value[0] == '\0' && !remote &&
	    LT_ROW(lt_option_table, id).argument != NULL) {
		slurm_error("lowtide: --%s=: got nothing behind the =, want %s",
		    LT_ROW(lt_option_table, id).name, LT_ROW(lt_option_table, id).argument);
		return -1;
	}
	if (lt_option_parse(&lt_spank.options, (enum lt_option_id)id, value, &err) == LT_OK) {
		lt_spank.given[id] = true;
		return 0;
	}
	if (remote)
		return 0;	/* never fail a job that is already there */
	lt_text_line(err.text); /* what was given is in it */
	slurm_error("lowtide: %s", err.text);
	return -1;
}

bool
lt_spank_is_asked(void)
{
	bool is = false;

	for (int id = 0; id < LT_OPTION_COUNT; id++)
		is |= lt_spank.given[id];
	return is;
}

void
lt_spank_variable(char *out, size_t size, enum lt_option_id id)
{
	snprintf(out, size, "SLURM_SPANK__SLURM_SPANK_OPTION_lowtide_%s",
	    LT_ROW(lt_option_table, id).name);
	for (char *p = out; *p; p++)
		if (*p == '-')
			*p = '_';
}

/*
 * SBATCH_CARBON_AWARE and its like become the variable that Slurm itself reads for a SPANK option,
 * so Slurm ranks it: above #SBATCH, under the command line. Only the command's own prefix counts,
 * as for Slurm's options.
 */
static void
map_environment(void)
{
	static const struct {
		const char *symbol; /* only this command has it */
		const char *prefix;
	} commands[] = {
	    {"sbopt", "SBATCH_"},
	    {"saopt", "SALLOC_"},
	    {"sropt", "SLURM_"},
	};
	const char *prefix = NULL;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (dlsym(RTLD_DEFAULT, commands[i].symbol) != NULL)
			prefix = commands[i].prefix;
	for (int id = 0; prefix != NULL && id < LT_OPTION_COUNT; id++) {
		char from[64], to[128];
		const char *value;

		snprintf(from, sizeof(from), "%s%s", prefix, LT_ROW(lt_option_table, id).variable);
		value = getenv(from);
		if (value == NULL || value[0] == '\0')
			continue;
		lt_spank_variable(to, sizeof(to), (enum lt_option_id)id);
		setenv(to, value, 1);
	}
}

static void
register_options(spank_t spank)
{
	for (int id = 0; id < LT_OPTION_COUNT; id++) {
		const struct lt_option *const row = &LT_ROW(lt_option_table, id);
		struct spank_option option = {
		    .name = (char *)(uintptr_t)row->name,
		    .arginfo = (char *)(uintptr_t)row->argument,
		    .usage = (char *)(uintptr_t)row->usage,
		    .has_arg = row->argument == NULL	? 0
			       : row->argument_optional ? 2
							: 1,
		    .val = id,
		    .cb = on_option,
		};

		/* Slurm copies it. */
		if (spank_option_register(spank, &option) != 0)
			slurm_error("lowtide: --%s can't be registered", row->name);
	}
}

void
lt_spank_begin(spank_t spank, int count, char **arguments, bool is_client)
{
	lt_spank = (struct lt_spank){
	    .run_dir = "/run/lowtide", .node_dir = "/run/lowtide-node", .off_file = LT_OFF_PATH};
	lt_options_init(&lt_spank.options);
	read_arguments(count, arguments);
	if (is_client)
		map_environment();
	register_options(spank);
}
