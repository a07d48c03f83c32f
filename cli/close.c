/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide close: what has been closed, and by whom; with a period, close it.
 */
#include <string.h>

#include "cli.h"

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
	if (i == 0)
		puts("No period is closed. lowtide close 2026-11 closes one.");
	else
		lt_table_print(stdout, table, color);
	lt_table_free(table);
}

static void
say_closed(const json_t *answer)
{
	char at[64];

	lt_local_time(at, sizeof(at), lt_json_text(answer, "closed", NULL));
	lt_print_safe(stdout, lt_json_text(answer, "label", "?"));
	printf(" is closed since %s, by ", at);
	lt_print_safe(stdout, lt_json_text(answer, "closed_by", "?"));
	printf(".\nWhat comes later for it is a correction in an open period.\n"
	       "%s\n",
	    lt_json_text(answer, "checksum", ""));
}

int
lt_cli_close(const struct lt_cli *cli)
{
	const char *const period =
	    cli->operand_count > 0 ? cli->operands[0] : NULL;
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (period != NULL && lt_period_check(period, &err))
		return lt_cli_usage(cli, "%s", err.text);
	json_t *const body =
	    period != NULL ? json_pack("{s:s}", "period", period) : NULL;
	if (period != NULL)
		lt_client_post(&answer, cli, "/v1/close", body, &err);
	else
		lt_client_get(&answer, cli, "/v1/closed", &err);
	json_decref(body);
	if (err.code)
		return lt_cli_fail(&err);
	if (cli->json)
		result = lt_cli_print_json(answer);
	else if (period != NULL)
		say_closed(answer);
	else
		print_closed(answer, cli->color);
	json_decref(answer);
	return result;
}
