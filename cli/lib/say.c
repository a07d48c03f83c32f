/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every subcommand does the same way: look up an option's value, say
 * that something failed, print usage and JSON.
 */
#include <stdarg.h>
#include <string.h>

#include "cli.h"
#include "parse.h"

/* A usage text has a line per form of the command. */
void
lt_cli_print_usage(FILE *out, const struct lt_cli_command *command)
{
	const char *prefix = "usage:";
	const char *line = command->usage;

	while (line != NULL) {
		const char *const end = strchr(line, '\n');
		const int length =
		    (int)(end != NULL ? end - line : (long)strlen(line));

		fprintf(out, "%s lowtide %s %.*s\n", prefix, command->name,
		    length, line);
		prefix = "      ";
		line = end != NULL ? end + 1 : NULL;
	}
}

const char *
lt_cli_value(const struct lt_cli *cli, const char *name)
{
	const struct lt_cli_option *const options = cli->command->options;

	for (int i = 0; options != NULL && options[i].name != NULL; i++)
		if (strcmp(options[i].name, name) == 0)
			return cli->values[i];
	return NULL;
}

int
lt_cli_fail(const struct lt_error *err)
{
	fputs("lowtide: ", stderr);
	lt_print_safe(stderr, err->text[0] ? err->text : "failed");
	fputc('\n', stderr);
	return LT_EXIT_FAILURE;
}

int
lt_cli_usage(const struct lt_cli *cli, const char *format, ...)
{
	char text[LT_ERROR_TEXT_SIZE];
	va_list arguments;

	fprintf(stderr, "lowtide: %s: ", cli->command->name);
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	lt_print_safe(stderr, text);
	fputc('\n', stderr);
	lt_cli_print_usage(stderr, cli->command);
	return LT_EXIT_USAGE;
}

int
lt_cli_print_json(const json_t *body)
{
	lt_cli_whole_lines();
	if (json_dumpf(body, stdout, LT_CLI_JSON | JSON_INDENT(2)) ||
	    putchar('\n') == EOF || fflush(stdout)) {
		const struct lt_error err = {.text = "can't write the answer"};

		return lt_cli_fail(&err);
	}
	return LT_EXIT_OK;
}
