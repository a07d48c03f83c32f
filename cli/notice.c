/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide notice: reports to lowtided that a node is about to be taken back, or with --withdraw
 * that it stays after all. Without a node, prints a table of the nodes with a notice and of those
 * that lowtide drained. Asks /v1/notice.
 */
#include <string.h>

#include "cli.h"
#include "units.h"

const struct lt_cli_option lt_cli_notice_options[] = {
    {"in", "DURATION", "until the node is gone (2m)"},
    {"withdraw", NULL, "it stays: undone as far as lowtide did it"},
    {NULL, NULL, NULL},
};

enum { DEFAULT_S = 120 };

static void
print_notices(const json_t *answer, bool color)
{
	static const struct lt_table_column columns[] = {{"NODE", false}, {"JOBS", true},
	    {"REQUEUED IN", true}, {"GONE IN", true}, {NULL, false}};
	struct lt_table *const table = lt_table_new(columns);
	size_t i;
	const json_t *notice;

	if (table == NULL)
		return;
	json_array_foreach(json_object_get(answer, "notices"), i, notice) {
		int64_t jobs = 0, requeue_s = 0, end_s = 0;
		char count[24], requeue[48], end[48];

		lt_json_int(notice, "jobs", &jobs);
		lt_json_int(notice, "requeue_in_s", &requeue_s);
		lt_json_int(notice, "end_in_s", &end_s);
		snprintf(count, sizeof(count), "%lld", (long long)jobs);
		const char *const cells[] = {lt_json_text(notice, "node", "?"), count,
		    lt_duration_text(requeue, sizeof(requeue), requeue_s),
		    lt_duration_text(end, sizeof(end), end_s)};

		lt_table_row(table, cells);
	}
	lt_table_fit(table, lt_cli_columns(), 0);
	if (i == 0)
		puts("No node is about to be taken back.");
	else
		lt_table_print(stdout, table, color);
	lt_table_free(table);
}

static void
print_drained(const json_t *answer, bool color)
{
	static const struct lt_table_column columns[] = {
	    {"NODE", false}, {"GONE FOR", true}, {"RESUMED", false}, {NULL, false}};
	const json_t *const drained = json_object_get(answer, "drained");
	struct lt_table *const table = lt_table_new(columns);
	size_t i;
	const json_t *node;

	if (table == NULL)
		return;
	json_array_foreach(drained, i, node) {
		int64_t gone_s = 0;
		char gone[48];

		lt_json_int(node, "gone_s", &gone_s);
		const char *const cells[] = {lt_json_text(node, "node", "?"),
		    lt_duration_text(gone, sizeof(gone), gone_s),
		    json_is_true(json_object_get(node, "withdrawn"))
			? "when slurmctld answers"
			: "when powered down or booted again"};

		lt_table_row(table, cells);
	}
	lt_table_fit(table, lt_cli_columns(), 0);
	if (i > 0) {
		puts("\nGone, and still drained by lowtide:");
		lt_table_print(stdout, table, color);
	}
	lt_table_free(table);
}

int
lt_cli_notice(const struct lt_cli *cli)
{
	const char *const in = lt_cli_value(cli, "in");
	const bool withdraw = lt_cli_value(cli, "withdraw") != NULL;
	const char *const node = cli->operand_count > 0 ? cli->operands[0] : NULL;
	int64_t in_s = DEFAULT_S;
	json_t *answer = NULL;
	struct lt_error err = {0};

	if (node == NULL && (in != NULL || withdraw))
		return lt_cli_usage(cli, "--in and --withdraw want a NODE");
	if (in != NULL && withdraw)
		return lt_cli_usage(cli, "--in and --withdraw are two of them");
	if (in != NULL && (lt_duration_parse(in, &in_s, &err) || in_s < 0))
		return lt_cli_usage(cli, "--in: got \"%.40s\", want a duration such as 2m", in);
	json_t *const body = node == NULL ? NULL
			     : withdraw
				 ? json_pack("{s:s,s:b}", "node", node, "withdraw", 1)
				 : json_pack("{s:s,s:I}", "node", node, "in_s", (json_int_t)in_s);
	const int code = node == NULL ? lt_client_get(&answer, cli, "/v1/notice", &err)
				      : lt_client_post(&answer, cli, "/v1/notice", body, &err);

	json_decref(body);
	if (code != LT_OK)
		return lt_cli_fail(&err);
	int status = LT_EXIT_OK;
	if (cli->json) {
		status = lt_cli_print_json(answer);
	} else {
		print_notices(answer, cli->color);
		print_drained(answer, cli->color);
	}
	json_decref(answer);
	return status;
}
