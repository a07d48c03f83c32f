/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide close: what has been closed, and by whom; with a period, close it,
 * and with a folder, write its statement there (statement.c).
 */
#include <string.h>

#include "cli.h"
#include "report.h"
#include "statement.h"

const struct lt_cli_option lt_cli_close_options[] = {
    {"last", NULL, "the last month that is over, once it can be"},
    {"output", "DIR", "write its statement to DIR/PERIOD (-o DIR)"},
    {"no-users", NULL, "whose runs they are, and their names, left out"},
    {NULL, NULL, NULL},
};

static void
print_closed(const json_t *answer, bool color)
{
	static const struct lt_table_column columns[] = {{"PERIOD", false},
	    {"CLOSED", false}, {"BY", false}, {"CHECKSUM", false},
	    {NULL, false}};
	struct lt_table *const table = lt_table_new(columns);
	size_t i;
	const json_t *closed;

	if (table == NULL)
		return;
	json_array_foreach(json_object_get(answer, "closed"), i, closed) {
		char at[64];
		const char *const cells[] = {lt_json_text(closed, "label", "?"),
		    lt_local_time(
			at, sizeof(at), lt_json_text(closed, "closed", NULL)),
		    lt_json_text(closed, "closed_by", "?"),
		    lt_json_text(closed, "checksum", "?")};

		lt_table_row(table, cells);
	}
	lt_table_fit(table, lt_cli_columns(), 1 << 2);
	if (i == 0)
		puts("No period is closed. lowtide close 2026-11 closes one.");
	else
		lt_table_print(stdout, table, color);
	lt_table_free(table);
}

static void
say_closed(const struct lt_cli *cli, const json_t *answer)
{
	const char *const folder = lt_cli_value(cli, "output");
	char at[64];

	lt_local_time(at, sizeof(at), lt_json_text(answer, "closed", NULL));
	lt_print_safe(stdout, lt_json_text(answer, "label", "?"));
	printf(" is closed since %s, by ", at);
	lt_print_safe(stdout, lt_json_text(answer, "closed_by", "?"));
	printf(".\nWhat comes later for it is a correction in an open period.\n"
	       "%s\n",
	    lt_json_text(answer, "checksum", ""));
	if (folder != NULL)
		printf("%s/%s\n", folder, lt_json_text(answer, "label", ""));
}

static int
check_use(const struct lt_cli *cli, const char *period, bool last)
{
	struct lt_error err = {0};

	if (period != NULL && last)
		return lt_cli_usage(cli, "PERIOD and --last are two of them");
	if (period != NULL && lt_period_check(period, &err))
		return lt_cli_usage(cli, "%s", err.text);
	if (period == NULL && !last && lt_cli_value(cli, "output") != NULL)
		return lt_cli_usage(
		    cli, "--output wants PERIOD or --last beside it");
	if (lt_cli_value(cli, "output") == NULL &&
	    lt_cli_value(cli, "no-users") != NULL)
		return lt_cli_usage(cli, "--no-users belongs to --output");
	return LT_EXIT_OK;
}

/* A timer asks each day until it can be: that is nothing to wake anybody. */
static int
say_not_yet(const struct lt_cli *cli, const struct lt_error *err)
{
	if (cli->json) {
		json_t *const body = json_pack("{s:s}", "not_yet", err->text);
		const int result = lt_cli_print_json(body);

		json_decref(body);
		return result;
	}
	fputs("Not yet: ", stdout);
	lt_print_safe(stdout, err->text);
	putchar('\n');
	return LT_EXIT_OK;
}

/* lowtided says which period it is: "last" is of the site's time zone. */
static int
write_files(
    const struct lt_cli *cli, const json_t *answer, struct lt_error *err)
{
	const struct lt_report_query query = {
	    .period = lt_json_text(answer, "label", ""),
	    .no_users = lt_cli_value(cli, "no-users") != NULL,
	};

	if (lt_cli_value(cli, "output") == NULL)
		return LT_OK;
	if (lt_period_check(query.period, err))
		return err->code;
	return lt_statement_write(
	    cli, lt_cli_value(cli, "output"), &query, err);
}

static int
close_period(const struct lt_cli *cli, const char *period, bool last)
{
	json_t *const body =
	    json_pack("{s:s}", "period", last ? "last" : period);
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	lt_client_post(&answer, cli, "/v1/close", body, &err);
	json_decref(body);
	if (last && err.code == LT_ECONFLICT)
		return say_not_yet(cli, &err);
	if (err.code || write_files(cli, answer, &err))
		result = lt_cli_fail(&err);
	else if (cli->json)
		result = lt_cli_print_json(answer);
	else
		say_closed(cli, answer);
	json_decref(answer);
	return result;
}

static int
list_closed(const struct lt_cli *cli)
{
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (lt_client_get(&answer, cli, "/v1/closed", &err))
		return lt_cli_fail(&err);
	if (cli->json)
		result = lt_cli_print_json(answer);
	else
		print_closed(answer, cli->color);
	json_decref(answer);
	return result;
}

int
lt_cli_close(const struct lt_cli *cli)
{
	const char *const period =
	    cli->operand_count > 0 ? cli->operands[0] : NULL;
	const bool last = lt_cli_value(cli, "last") != NULL;

	if (check_use(cli, period, last))
		return LT_EXIT_USAGE;
	return period != NULL || last ? close_period(cli, period, last)
				      : list_closed(cli);
}
