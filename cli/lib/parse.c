/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments of a subcommand, parsed by its table: "--name value" or
 * "--name=value" anywhere, "--" ends them, the rest are operands.
 */
#include <string.h>

#include "text.h"
#include "parse.h"

enum { WORD_MAX = 32 };

/* "-o FILE" is "--output FILE" where a command has that. */
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
		return lt_fail(err, LT_EINPUT,
		    "no option --%s; did you mean --%s?", name, nearest);
	return lt_fail(err, LT_EINPUT, "no option --%s", name);
}

/* Has it a value as the next word, behind "=" only, or none? */
enum takes { TAKES_WORD, TAKES_OPTIONAL, TAKES_NONE };

static enum takes
takes_of(const struct lt_cli_option *option)
{
	if (option->argument == NULL)
		return TAKES_NONE;
	return option->argument[0] == '[' ? TAKES_OPTIONAL : TAKES_WORD;
}

/* Where the value of a known option goes, and what it takes. */
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

/* One "--name[=value]" at argv[*at], of arguments that NULL ends; *at moves
 * over a value of its own. */
static int
parse_option(
    struct lt_cli *cli, bool *help, char **argv, int *at, struct lt_error *err)
{
	char name[WORD_MAX];
	const char *const text = long_name(cli, argv[*at]) + 2;
	const char *const equals = strchr(text, '=');
	const size_t length =
	    equals != NULL ? (size_t)(equals - text) : strlen(text);
	enum takes takes;

	if (length >= sizeof(name))
		return lt_fail(err, LT_EINPUT, "no option %s", argv[*at]);
	memcpy(name, text, length);
	name[length] = '\0';
	if (equals == NULL && strcmp(name, "help") == 0) {
		*help = true;
		return LT_OK;
	}
	if (equals == NULL && cli->command->has_json &&
	    strcmp(name, "json") == 0) {
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
lt_cli_parse(
    struct lt_cli *cli, bool *help, int argc, char **argv, struct lt_error *err)
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
		} else if (!only_operands &&
			   strncmp(long_name(cli, argv[i]), "--", 2) == 0) {
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
		return lt_fail(err, LT_EINPUT,
		    "\"%s\" is one argument too many",
		    cli->operands[command->operands_max]);
	return LT_OK;
}
