/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide signals: which form is wanted, and the first of them: all sources
 * with their present state, asked of lowtided.
 */
#include <string.h>

#include "signals.h"

const struct lt_cli_option lt_cli_signals_options[] = {
    {"errors", NULL, "how far forecasts were off, by lead time"},
    {"from", "DAY", "export: from this day or UTC time on"},
    {"to", "DAY", "export: up to this day or time, which is not in it"},
    {"format", "F", "export: csv (default) or json"},
    {"config", "FILE",
	"test: the policy file (LOWTIDE_CONFIG, /etc/lowtide/lowtide.yaml)"},
    {NULL, NULL, NULL},
};

static int
show(const struct lt_cli *cli)
{
	const struct lt_signals_look look = lt_signals_look(cli);
	const bool errors = lt_cli_value(cli, "errors") != NULL;
	struct lt_error err = {0};
	json_t *const answer = lt_signals_ask(
	    cli, errors ? "/v1/signals/errors" : "/v1/signals", &err);
	int result = LT_EXIT_OK;

	if (answer == NULL)
		return lt_cli_fail(&err);
	if (cli->json)
		result = lt_cli_print_json(answer);
	else if (errors)
		lt_signals_print_errors(stdout, answer, &look);
	else
		lt_signals_print(stdout, answer, &look);
	json_decref(answer);
	return result;
}

static const struct form {
	const char *word; /* the first operand; NULL = none */
	int operands_min;
	const char *options[4]; /* that it takes, NULL ended */
	int (*run)(const struct lt_cli *cli);
} forms[] = {
    {NULL, 0, {"errors"}, show},
    {"export", 1, {"from", "to", "format"}, lt_signals_export},
    {"test", 2, {"config"}, lt_signals_test},
    {"adapters", 1, {NULL}, lt_signals_adapters},
};
enum { FORM_COUNT = sizeof(forms) / sizeof(forms[0]) };

static bool
takes(const struct form *form, const char *option)
{
	for (int i = 0; form->options[i] != NULL; i++)
		if (strcmp(form->options[i], option) == 0)
			return true;
	return false;
}

/* The form that an option is for. */
static const char *
form_of(const char *option)
{
	for (int i = 0; i < FORM_COUNT; i++)
		if (forms[i].word != NULL && takes(&forms[i], option))
			return forms[i].word;
	return "nothing";
}

int
lt_cli_signals(const struct lt_cli *cli)
{
	const char *const word = cli->operand_count ? cli->operands[0] : NULL;
	const struct form *form = NULL;

	for (int i = 0; i < FORM_COUNT; i++)
		if (word != NULL ? forms[i].word != NULL &&
				       strcmp(word, forms[i].word) == 0
				 : forms[i].word == NULL)
			form = &forms[i];
	if (form == NULL)
		return lt_cli_usage(cli,
		    "got \"%s\", want export, test, adapters or nothing", word);
	for (int i = 0; lt_cli_signals_options[i].name != NULL; i++)
		if (cli->values[i] != NULL &&
		    !takes(form, lt_cli_signals_options[i].name))
			return word != NULL
				   ? lt_cli_usage(cli, "%s takes no --%s", word,
					 lt_cli_signals_options[i].name)
				   : lt_cli_usage(cli, "--%s comes after %s",
					 lt_cli_signals_options[i].name,
					 form_of(
					     lt_cli_signals_options[i].name));
	if (cli->operand_count < form->operands_min)
		return lt_cli_usage(cli, "%s wants a source's name", word);
	return form->run(cli);
}
