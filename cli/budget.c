/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide budget: a table of what each budget has spent, held and available, from GET /v1/budget.
 *
 * "budget adjust" adds to a budget or takes from it, with a reason; "budget moved" lists accounts
 * that were moved in Slurm from one budget to another, and accepts such a move. lowtided checks who
 * may; what it refuses is printed, and the exit status is 1.
 */
#include <string.h>

#include "cli.h"
#include "units.h"

const struct lt_cli_option lt_cli_budget_options[] = {
    {"team", "T", "only this team; whose budget to adjust"},
    {"amount", "A", "adjust: money to charge the team; negative gives money back"},
    {"kg-co2e", "K", "adjust: the same for carbon, in kg CO2e"},
    {"reason", "TEXT", "adjust: why; kept with who and when"},
    {"accept", NULL, "moved: its budgets are those of its new place"},
    {NULL, NULL, NULL},
};

enum { FIGURES = 4 };
static const char *const money_keys[FIGURES] = {
    "limit_micros", "spent_micros", "held_micros", "available_micros"};
static const char *const carbon_keys[FIGURES] = {"limit_mg", "spent_mg", "held_mg", "available_mg"};

/* Adds one row: a budget in money or in carbon. */
static void
add_row(struct lt_table *table, const json_t *budget, const char *const *keys, const char *currency)
{
	char texts[FIGURES][64];
	const char *cells[4 + FIGURES] = {
	    lt_json_text(budget, "team", "?"),
	    lt_json_text(budget, "user", ""),
	    lt_json_text(budget, "label", lt_json_text(budget, "period", "")),
	};

	for (int i = 0; i < FIGURES; i++) {
		int64_t value;

		if (!lt_json_int(budget, keys[i], &value))
			snprintf(texts[i], sizeof(texts[i]), "none");
		else if (currency != NULL)
			lt_money_text(texts[i], sizeof(texts[i]), value, currency);
		else
			lt_carbon_text(texts[i], sizeof(texts[i]), value);
		cells[3 + i] = texts[i];
	}
	cells[3 + FIGURES] = lt_json_text(budget, "on_exceed", "");
	lt_table_row(table, cells);
}

static int
print_budgets(const json_t *answer, bool color)
{
	static const struct lt_table_column columns[] = {
	    {"TEAM", false},
	    {"USER", false},
	    {"PERIOD", false},
	    {"LIMIT", true},
	    {"SPENT", true},
	    {"HELD", true},
	    {"AVAILABLE", true},
	    {"WHEN EXCEEDED", false},
	    {NULL, false},
	};
	static const int drops[] = {7, -1}; /* when exceeded: lowtide.yaml has it */
	const json_t *const budgets = json_object_get(answer, "budgets");
	const char *const currency = lt_json_text(answer, "currency", "");
	struct lt_table *const table = lt_table_new(columns);
	size_t index;
	const json_t *budget;

	if (!json_array_size(budgets) || table == NULL) {
		puts("no budgets");
		lt_table_free(table);
		return LT_EXIT_OK;
	}
	json_array_foreach(budgets, index, budget) {
		int64_t limit;
		const bool carbon = lt_json_int(budget, "limit_mg", &limit);

		if (currency[0] && (lt_json_int(budget, "limit_micros", &limit) || !carbon))
			add_row(table, budget, money_keys, currency);
		if (carbon || !currency[0])
			add_row(table, budget, carbon_keys, NULL);
	}
	lt_table_fit(table, lt_cli_columns(), 1 << 0 | 1 << 1);
	lt_table_drop(table, drops);
	lt_table_print(stdout, table, color);
	lt_table_free(table);
	return LT_EXIT_OK;
}

static int
show_budgets(const struct lt_cli *cli)
{
	char path[768] = "/v1/budget";
	json_t *answer = NULL;
	struct lt_error err = {0};

	if (lt_client_query(path, sizeof(path), "team", lt_cli_value(cli, "team"), &err) ||
	    lt_client_get(&answer, cli, path, &err))
		return lt_cli_fail(&err);
	const int result =
	    cli->json ? lt_cli_print_json(answer) : print_budgets(answer, cli->color);

	json_decref(answer);
	return result;
}

/* The body of an adjustment; NULL with err on a bad figure. */
static json_t *
adjustment(const struct lt_cli *cli, struct lt_error *err)
{
	const char *const amount = lt_cli_value(cli, "amount");
	const char *const kg = lt_cli_value(cli, "kg-co2e");
	int64_t money_micros = 0, carbon_mg = 0;

	if (amount != NULL && lt_micros_parse(amount, &money_micros, err)) {
		lt_context(err, "--amount");
		return NULL;
	}
	/* millionths of a kilogram are milligrams */
	if (kg != NULL && lt_micros_parse(kg, &carbon_mg, err)) {
		lt_context(err, "--kg-co2e");
		return NULL;
	}
	json_t *const body = json_pack("{s:s, s:I, s:I, s:s}", "team", lt_cli_value(cli, "team"),
	    "money_micros", (json_int_t)money_micros, "carbon_mg", (json_int_t)carbon_mg, "reason",
	    lt_cli_value(cli, "reason"));

	if (body == NULL)
		lt_fail(err, LT_EINPUT, "--team and --reason must be UTF-8");
	return body;
}

static int
adjust(const struct lt_cli *cli)
{
	const char *const reason = lt_cli_value(cli, "reason");
	const char *const team = lt_cli_value(cli, "team");
	json_t *answer = NULL;
	struct lt_error err = {0};
	int64_t id = 0;

	if (team == NULL || !team[0] || reason == NULL || !reason[0])
		return lt_cli_usage(cli, "adjust wants --team and --reason");
	if (lt_cli_value(cli, "amount") == NULL && lt_cli_value(cli, "kg-co2e") == NULL)
		return lt_cli_usage(cli, "adjust wants --amount or --kg-co2e, or both");
	json_t *const body = adjustment(cli, &err);

	if (body == NULL)
		return lt_cli_usage(cli, "%s", err.text);
	lt_client_post(&answer, cli, "/v1/budget/adjust", body, &err);
	json_decref(body);
	if (err.code)
		return lt_cli_fail(&err);
	if (cli->json) {
		const int result = lt_cli_print_json(answer);

		json_decref(answer);
		return result;
	}
	lt_json_int(answer, "id", &id);
	printf("adjustment %lld of %s is kept\n", (long long)id, team);
	json_decref(answer);
	return LT_EXIT_OK;
}

static int
print_moved(const struct lt_cli *cli, const json_t *moved)
{
	size_t index;
	const json_t *move;

	if (cli->json)
		return lt_cli_print_json(moved);
	if (json_array_size(moved) == 0)
		puts("no account was moved out of or into a budget");
	json_array_foreach(moved, index, move)
		printf(
		    "%s: from %s to %s; the budgets of %s bind it until: lowtide budget moved %s --accept\n",
		    lt_json_text(move, "account", "?"), lt_json_text(move, "from", "?"),
		    lt_json_text(move, "to", "?"), lt_json_text(move, "from", "?"),
		    lt_json_text(move, "account", "?"));
	return LT_EXIT_OK;
}

/* Lists the accounts that were moved, or accepts one move. */
static int
moved(const struct lt_cli *cli)
{
	const bool accept = lt_cli_value(cli, "accept") != NULL;
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result;

	if (accept != (cli->operand_count == 2))
		return lt_cli_usage(
		    cli, "want \"budget moved\", or \"budget moved ACCOUNT --accept\"");
	if (!accept) {
		if (lt_client_get(&answer, cli, "/v1/status", &err) != LT_OK)
			return lt_cli_fail(&err);
		result = print_moved(cli, json_object_get(answer, "moved"));
		json_decref(answer);
		return result;
	}
	json_t *const body = json_pack("{s:s}", "account", cli->operands[1]);
	lt_client_post(&answer, cli, "/v1/budget/moved", body, &err);
	json_decref(body);
	if (err.code)
		return lt_cli_fail(&err);
	result = LT_EXIT_OK;
	if (cli->json)
		result = lt_cli_print_json(answer);
	else
		printf("%s is below %s from now on; what it has spent stays with %s\n",
		    lt_json_text(answer, "account", "?"), lt_json_text(answer, "to", "?"),
		    lt_json_text(answer, "from", "?"));
	json_decref(answer);
	return result;
}

int
lt_cli_budget(const struct lt_cli *cli)
{
	if (!cli->operand_count) {
		for (int i = 1; lt_cli_budget_options[i].name != NULL; i++)
			if (cli->values[i] != NULL)
				return lt_cli_usage(cli, "--%s belongs to \"budget adjust\"",
				    lt_cli_budget_options[i].name);
		return show_budgets(cli);
	}
	if (strcmp(cli->operands[0], "adjust") == 0 && cli->operand_count == 1)
		return adjust(cli);
	if (strcmp(cli->operands[0], "moved") == 0)
		return moved(cli);
	return lt_cli_usage(cli, "got \"%s\", want adjust, moved or nothing", cli->operands[0]);
}
