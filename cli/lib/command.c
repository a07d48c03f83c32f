/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by all subcommands: its arguments, parsed by its table; the values
 * of its options; errors, usage and JSON, printed; periods and times as users
 * write and read them.
 *
 * "--name value" or "--name=value" may stand anywhere, "--" ends the options, and the rest are
 * operands. Periods are checked here so that a slip is a usage error; lowtided gives them their
 * meaning.
 */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "text.h"
#include "units.h"

enum { WORD_MAX = 32 };

/* Returns "--output" for "-o" if the command has that option. */
static const char *
long_name(const struct lt_cli *cli, const char *argument)
{
	const struct lt_cli_option *option = cli->command->options;

	if (strcmp(argument, "-o") != 0)
		return argument;
	for (; option != NULL && option->name != NULL; option++)
		if (strcmp(option->name, "output") == 0)
			return "--output";
	return argument;
}

static int
unknown_option(const struct lt_cli *cli, const char *name, struct lt_error *err)
{
	const char *names[LT_CLI_OPTIONS_MAX + 4] = {"help", "run"};
	int count = 2;

	if (cli->command->has_json)
		names[count++] = "json";
	for (const struct lt_cli_option *option = cli->command->options;
	     option != NULL && option->name != NULL; option++)
		names[count++] = option->name;
	const char *const nearest = lt_nearest_word(name, names);

	if (nearest != NULL)
		return lt_fail(err, LT_EINPUT, "no option --%s; did you mean --%s?", name, nearest);
	return lt_fail(err, LT_EINPUT, "no option --%s", name);
}

/* How an option has its value: as the next word, behind "=" only, or not. */
enum takes { TAKES_WORD, TAKES_OPTIONAL, TAKES_NONE };

static enum takes
takes_of(const struct lt_cli_option *option)
{
	if (option->argument == NULL)
		return TAKES_NONE;
	return option->argument[0] == '[' ? TAKES_OPTIONAL : TAKES_WORD;
}

/* Returns where the value of a known option goes, and how it takes one. */
static const char **
find_slot(struct lt_cli *cli, const char *name, enum takes *takes)
{
	const struct lt_cli_option *const options = cli->command->options;

	*takes = TAKES_WORD;
	if (strcmp(name, "run") == 0)
		return &cli->run_dir;
	for (int i = 0; options != NULL && options[i].name != NULL; i++) {
		if (strcmp(options[i].name, name) == 0) {
			*takes = takes_of(&options[i]);
			return &cli->values[i];
		}
	}
	return NULL;
}

/* Parses one "--name[=value]" at argv[*at]; NULL ends argv. *at moves over a value in a word of its
 * own. */
static int
parse_option(struct lt_cli *cli, bool *help, char **argv, int *at, struct lt_error *err)
{
	char name[WORD_MAX];
	const char *const text = long_name(cli, argv[*at]) + 2;
	const char *const equals = strchr(text, '=');
	const size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
	enum takes takes;

	if (length >= sizeof(name))
		return lt_fail(err, LT_EINPUT, "no option %s", argv[*at]);
	memcpy(name, text, length);
	name[length] = '\0';
	if (equals == NULL && strcmp(name, "help") == 0) {
		*help = true;
		return LT_OK;
	}
	if (equals == NULL && cli->command->has_json && strcmp(name, "json") == 0) {
		cli->json = true;
		return LT_OK;
	}
	const char **const slot = find_slot(cli, name, &takes);

	if (slot == NULL)
		return unknown_option(cli, name, err);
	if (takes == TAKES_NONE && equals != NULL)
		return lt_fail(err, LT_EINPUT, "--%s takes no value", name);
	if (takes != TAKES_WORD && equals == NULL) {
		*slot = "";
		return LT_OK;
	}
	if (equals == NULL && argv[*at + 1] == NULL)
		return lt_fail(err, LT_EINPUT, "--%s wants a value", name);
	*slot = equals != NULL ? equals + 1 : argv[++*at];
	return LT_OK;
}

int
lt_cli_parse(struct lt_cli *cli, bool *help, int argc, char **argv, struct lt_error *err)
{
	const struct lt_cli_command *const command = cli->command;
	bool only_operands = false;

	cli->operands = argv;
	if (command->raw) {
		*help = argc > 0 && strcmp(argv[0], "--help") == 0;
		cli->operand_count = argc;
		return LT_OK;
	}
	for (int i = 0; i < argc; i++) {
		if (!only_operands && strcmp(argv[i], "--") == 0) {
			only_operands = true;
		} else if (!only_operands && strncmp(long_name(cli, argv[i]), "--", 2) == 0) {
			if (parse_option(cli, help, argv, &i, err))
				return err->code;
		} else if (!only_operands && strcmp(argv[i], "-h") == 0) {
			*help = true;
		} else if (!only_operands && argv[i][0] == '-' && argv[i][1]) {
			return lt_fail(err, LT_EINPUT, "no option %s", argv[i]);
		} else {
			argv[cli->operand_count++] = argv[i];
		}
	}
	if (*help)
		return LT_OK;
	if (cli->operand_count < command->operands_min)
		return lt_fail(err, LT_EINPUT, "an argument is missing");
	if (cli->operand_count > command->operands_max)
		return lt_fail(err, LT_EINPUT, "\"%s\" is one argument too many",
		    cli->operands[command->operands_max]);
	return LT_OK;
}

void
lt_cli_print_usage(FILE *out, const struct lt_cli_command *command)
{
	const char *prefix = "usage:";
	const char *line = command->usage;

	while (line != NULL) {
		const char *const end = strchr(line, '\n');
		const int length = (int)(end != NULL ? end - line : (long)strlen(line));

		fprintf(out, "%s lowtide %s %.*s\n", prefix, command->name, length, line);
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
	if (json_dumpf(body, stdout, LT_CLI_JSON | JSON_INDENT(2)) || putchar('\n') == EOF ||
	    fflush(stdout)) {
		const struct lt_error err = {.text = "can't write the answer"};

		return lt_cli_fail(&err);
	}
	return LT_EXIT_OK;
}

/* True if text has the shape, in which 0 stands for any digit. */
static bool
has_shape(const char *text, size_t length, const char *shape)
{
	if (length != strlen(shape))
		return false;
	for (size_t i = 0; i < length; i++)
		if (shape[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != shape[i])
			return false;
	return true;
}

static int
number(const char *text, int digits)
{
	int value = 0;

	while (digits-- > 0)
		value = value * 10 + (*text++ - '0');
	return value;
}

int
lt_period_check(const char *text, struct lt_error *err)
{
	const size_t length = strlen(text);

	if (has_shape(text, length, "0000"))
		return LT_OK;
	if (has_shape(text, length, "0000-Q0") && text[6] >= '1' && text[6] <= '4')
		return LT_OK;
	if (has_shape(text, length, "0000-00") && number(text + 5, 2) >= 1 &&
	    number(text + 5, 2) <= 12)
		return LT_OK;
	return lt_fail(err, LT_EINPUT, "period: got \"%s\", want 2026-11, 2026-Q4 or 2026", text);
}

const char *
lt_local_time(char *out, size_t size, const char *iso)
{
	struct tm local;
	int64_t utc_s;

	if (iso == NULL) {
		snprintf(out, size, "-");
		return out;
	}
	if (lt_utc_parse(iso, &utc_s, NULL) ||
	    localtime_r(&(time_t){(time_t)utc_s}, &local) == NULL ||
	    !strftime(out, size, "%a %e %b %Y %H:%M %Z", &local))
		snprintf(out, size, "%s", iso);
	return out;
}
