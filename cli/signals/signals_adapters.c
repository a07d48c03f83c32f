/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide signals adapters [NAME]: the sources that this lowtide knows, or the
 * options of one, from the tables that the policy is checked by.
 */
#include <string.h>

#include "adapter.h"
#include "nearest.h"
#include "cli.h"
#include "signals.h"
#include "units.h"

static json_t *
options_json(const struct lt_adapter *adapter)
{
	json_t *const list = json_array();

	for (const struct lt_adapter_option *option = adapter->options;
	     option->key != NULL; option++)
		json_array_append_new(
		    list, json_pack("{s:s, s:b, s:s, s:s?}", "key", option->key,
			      "required", option->required, "usage",
			      option->usage, "default", option->fallback));
	return list;
}

static json_t *
adapter_json(const struct lt_adapter *adapter)
{
	return json_pack("{s:s, s:s, s:I, s:b, s:o}", "name", adapter->name,
	    "usage", adapter->usage, "interval_s",
	    (json_int_t)adapter->interval_s, "replay", adapter->replay,
	    "options", options_json(adapter));
}

static int
list(const struct lt_cli *cli)
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
		const struct lt_adapter *const adapter =
		    lt_adapter_find(names[i]);
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
	for (const struct lt_adapter_option *option = adapter->options;
	     option->key != NULL; option++) {
		char what[512];

		snprintf(what, sizeof(what), "%s%s%s", option->usage,
		    option->fallback != NULL ? "; default " : "",
		    option->fallback != NULL ? option->fallback : "");
		const char *const cells[] = {
		    option->key, option->required ? "yes" : "no", what};

		lt_table_row(table, cells);
	}
	lt_table_print(stdout, table, color);
	lt_table_free(table);
}

int
lt_signals_adapters(const struct lt_cli *cli)
{
	if (cli->operand_count < 2)
		return list(cli);
	const char *const name = cli->operands[1];
	const struct lt_adapter *const adapter = lt_adapter_find(name);
	char interval[64];

	if (adapter == NULL) {
		const char *const nearest =
		    lt_nearest_word(name, lt_adapter_names());

		return lt_cli_usage(cli, "no adapter \"%s\"; %s%s", name,
		    nearest != NULL ? "did you mean "
				    : "signals adapters lists them",
		    nearest != NULL ? nearest : "");
	}
	if (cli->json) {
		json_t *const body = adapter_json(adapter);
		const int result = lt_cli_print_json(body);

		json_decref(body);
		return result;
	}
	lt_duration_text(interval, sizeof(interval), adapter->interval_s);
	printf("%s: %s\nasked each %s; docs/sources/%s.md says more\n\n",
	    adapter->name, adapter->usage, interval, adapter->name);
	print_options(adapter, cli->color);
	return LT_EXIT_OK;
}
