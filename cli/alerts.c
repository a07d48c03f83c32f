/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide alerts: a table of the messages about costs that owners and users were sent, and of those
 * that are due. Reads GET /v1/alerts; --json prints the answer as it came.
 */
#include <string.h>

#include "cli.h"

/* When the alert was sent; "due ..." if it is still to be sent. */
static const char *
sent_text(char *out, size_t size, const json_t *alert)
{
	const char *const sent = lt_json_text(alert, "sent", NULL);
	const char *const due = lt_json_text(alert, "due", NULL);
	char at[48];

	if (sent == NULL && due != NULL)
		snprintf(out, size, "due %s", lt_local_time(at, sizeof(at), due));
	else
		lt_local_time(out, size, sent);
	return out;
}

static void
print_alerts(const json_t *answer, bool color)
{
	static const struct lt_table_column columns[] = {
	    {"TEAM", false}, {"PASSED", false}, {"SENT", false}, {"WHAT", false}, {NULL, false}};
	static const char mark[] = "lowtide: "; /* of mail subjects */
	struct lt_table *const table = lt_table_new(columns);
	size_t i;
	const json_t *alert;

	if (table == NULL)
		return;
	json_array_foreach(json_object_get(answer, "alerts"), i, alert) {
		const char *what = lt_json_text(alert, "subject", "?");
		char made[48], sent[64];

		if (strncmp(what, mark, strlen(mark)) == 0)
			what += strlen(mark);
		lt_table_row(
		    table, (const char *[]){lt_json_text(alert, "team", "?"),
			       lt_local_time(made, sizeof(made), lt_json_text(alert, "made", NULL)),
			       sent_text(sent, sizeof(sent), alert), what});
	}
	lt_table_fit(table, lt_cli_columns(), 1 << 0);
	if (i == 0)
		puts("No alerts.");
	else
		lt_table_print(stdout, table, color);
	lt_table_free(table);
}

int
lt_cli_alerts(const struct lt_cli *cli)
{
	json_t *answer = NULL;
	struct lt_error err = {0};
	int status = LT_EXIT_OK;

	if (lt_client_get(&answer, cli, "/v1/alerts", &err) != LT_OK)
		return lt_cli_fail(&err);
	if (cli->json)
		status = lt_cli_print_json(answer);
	else
		print_alerts(answer, cli->color);
	json_decref(answer);
	return status;
}
