/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide signals: finds the form that is wanted, by its first operand, and has two of the forms:
 * all sources with their present state, asked of lowtided; and "adapters [NAME]", the sources that
 * this lowtide knows, or the options of one, from the tables that the policy is checked by. An
 * option of another form is a usage error.
 */
#include <string.h>

#include "adapter.h"
#include "cli.h"
#include "text.h"
#include "signals.h"
#include "units.h"

static json_t *
options_json(const struct lt_adapter *adapter)
{
	json_t *const list = json_array();

	for (const struct lt_adapter_option *option = adapter->options; option->key != NULL;
	     option++)
		json_array_append_new(list,
		    json_pack("{s:s, s:b, s:s, s:s?}", "key", option->key, "required",
			option->required, "usage", option->usage, "default", option->fallback));
	return list;
}

static json_t *
adapter_json(const struct lt_adapter *adapter)
{
	return json_pack("{s:s, s:s, s:I, s:b, s:o}", "name", adapter->name, "usage",
	    adapter->usage, "interval_s", (json_int_t)adapter->interval_s, "replay",
	    adapter->replay, "options", options_json(adapter));
}

static int
list_adapters(const struct lt_cli *cli)
{
	static const struct lt_table_column columns[] = {
	    {"ADAPTER", false},
	    {"WHAT IT IS", false},
	    {NULL, false},
	};
	const char *const *const names = lt_adapter_names();
	struct lt_table *const table = lt_table_new(columns);
	json_t *const items = json_array();
	int result = LT_EXIT_OK;

	for (int i = 0; names[i] != NULL; i++) {
		const struct lt_adapter *const adapter = lt_adapter_find(names[i]);
		const char *const cells[] = {adapter->name, adapter->usage};

		json_array_append_new(items, adapter_json(adapter));
		if (table != NULL)
			lt_table_row(table, cells);
	}
	json_t *const body = json_pack("{s:o}", "adapters", items);

	if (cli->json)
		result = lt_cli_print_json(body);
	else if (table != NULL)
		lt_table_print(stdout, table, cli->color);
	json_decref(body);
	lt_table_free(table);
	return result;
}

static void
print_options(const struct lt_adapter *adapter, bool color)
{
	static const struct lt_table_column columns[] = {
	    {"OPTION", false},
	    {"NEEDED", false},
	    {"WHAT", false},
	    {NULL, false},
	};
	struct lt_table *const table = lt_table_new(columns);

	if (table == NULL)
		return;
	for (const struct lt_adapter_option *option = adapter->options; option->key != NULL;
	     option++) {
		char what[512];

		snprintf(what, sizeof(what), "%s%s%s", option->usage,
		    option->fallback != NULL ? "; default " : "",
		    option->fallback != NULL ? option->fallback : "");
		const char *const cells[] = {option->key, option->required ? "yes" : "no", what};

		lt_table_row(table, cells);
	}
	lt_table_print(stdout, table, color);
	lt_table_free(table);
}

static int
show_adapters(const struct lt_cli *cli)
{
	if (cli->operand_count < 2)
		return list_adapters(cli);
	const char *const name = cli->operands[1];
	const struct lt_adapter *const adapter = lt_adapter_find(name);
	char interval[64];

	if (adapter == NULL) {
		const char *const nearest = lt_nearest_word(name, lt_adapter_names());

		return lt_cli_usage(cli, "no adapter \"%s\"; %s%s", name,
		    nearest != NULL ? "did you mean " : "signals adapters lists them",
		    nearest != NULL ? nearest : "");
	}
	if (cli->json) {
		json_t *const body = adapter_json(adapter);
		const int result = lt_cli_print_json(body);

		json_decref(body);
		return result;
	}
	lt_duration_text(interval, sizeof(interval), adapter->interval_s);
	printf("%s: %s\nasked each %s; docs/sources/%s.md says more\n\n", adapter->name,
	    adapter->usage, interval, adapter->name);
	print_options(adapter, cli->color);
	return LT_EXIT_OK;
}

const struct lt_cli_option lt_cli_signals_options[] = {
    {"errors", NULL, "how far forecasts were off, by lead time"},
    {"from", "DAY", "export: from this day or UTC time on"},
    {"to", "DAY", "export: up to this day or time, which is not in it"},
    {"format", "F", "export: csv (default) or json"},
    {"config", "FILE", "test: the policy file (LOWTIDE_CONFIG, /etc/lowtide/lowtide.yaml)"},
    {NULL, NULL, NULL},
};

static int
show_signals(const struct lt_cli *cli)
{
	const struct lt_signals_look look = lt_signals_look(cli);
	const bool errors = lt_cli_value(cli, "errors") != NULL;
	struct lt_error err = {0};
	json_t *const answer =
	    lt_signals_ask(cli, errors ? "/v1/signals/errors" : "/v1/signals", &err);
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
    {NULL, 0, {"errors"}, show_signals},
    {"export", 1, {"from", "to", "format"}, lt_signals_export},
    {"test", 2, {"config"}, lt_signals_test},
    {"adapters", 1, {NULL}, show_adapters},
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

/* Returns the form that takes an option. */
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
		if (word != NULL ? forms[i].word != NULL && strcmp(word, forms[i].word) == 0
				 : forms[i].word == NULL)
			form = &forms[i];
	if (form == NULL)
		return lt_cli_usage(
		    cli, "got \"%s\", want export, test, adapters or nothing", word);
	for (int i = 0; lt_cli_signals_options[i].name != NULL; i++)
		if (cli->values[i] != NULL && !takes(form, lt_cli_signals_options[i].name))
			return word != NULL ? lt_cli_usage(cli, "%s takes no --%s", word,
						  lt_cli_signals_options[i].name)
					    : lt_cli_usage(cli, "--%s comes after %s",
						  lt_cli_signals_options[i].name,
						  form_of(lt_cli_signals_options[i].name));
	if (cli->operand_count < form->operands_min)
		return lt_cli_usage(cli, "%s wants a source's name", word);
	return form->run(cli);
}
