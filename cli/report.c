/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report: the statement of each team for a period. lowtided adds up;
 * here the one answer becomes a table (report_tables.c), CSV (report_csv.c) or
 * JSON, with the same totals in each to the smallest unit.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "run_lines.h"

const struct lt_cli_option lt_cli_report_options[] = {
    {"team", "T", "only this team"},
    {"period", "P", "2026-11, 2026-Q4 or 2026; default: this month"},
    {"format", "F", "table, csv or json"},
    {"runs", NULL, "each run too (csv: the runs instead)"},
    {"tcto", NULL, "total cost to outcome too (csv: instead)"},
    {NULL, NULL, NULL},
};

static int
check_written(FILE *out, struct lt_error *err)
{
	if (fflush(out) || ferror(out))
		return lt_fail(err, LT_EIO, "can't write the report");
	return LT_OK;
}

int
lt_report_print(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	if (lt_report_check(report, err) ||
	    (look->tcto && lt_report_tcto_check(report, err)))
		return err->code;
	switch (look->format) {
	case LT_REPORT_TABLE:
		if (lt_report_tables(
			out, report, look->runs, look->color, err) == LT_OK &&
		    look->tcto)
			lt_report_tcto_table(out, report, look->color, err);
		break;
	case LT_REPORT_CSV:
		if (look->tcto)
			lt_report_tcto_csv(out, report);
		else
			lt_report_csv(out, report);
		break;
	case LT_REPORT_JSON:
		if (json_dumpf(report, out, JSON_INDENT(2)))
			lt_fail(err, LT_EIO, "can't write JSON");
		fputc('\n', out);
		break;
	}
	check_written(out, err);
	return err->code;
}

static int
find_format(enum lt_report_format *format, const struct lt_cli *cli)
{
	static const char *const names[] = {"table", "csv", "json"};
	const char *const word = lt_cli_value(cli, "format");

	*format = cli->json ? LT_REPORT_JSON : LT_REPORT_TABLE;
	for (int i = 0; word != NULL && i < 3; i++) {
		if (strcmp(word, names[i]) == 0) {
			*format = (enum lt_report_format)i;
			return LT_EXIT_OK;
		}
	}
	if (word == NULL)
		return LT_EXIT_OK;
	return lt_cli_usage(
	    cli, "--format: got \"%s\", want table, csv or json", word);
}

/* query: what else is asked, or NULL. */
static int
report_path(char *path, size_t size, const struct lt_cli *cli,
    const char *query, struct lt_error *err)
{
	static const char *const names[] = {"team", "period"};
	char separator = '?';
	size_t used = (size_t)snprintf(path, size, "/v1/report");

	for (int i = 0; i < 2; i++) {
		const char *const value = lt_cli_value(cli, names[i]);
		char escaped[256];

		if (value == NULL)
			continue;
		if (lt_client_escape(escaped, sizeof(escaped), value, err))
			return err->code;
		used += (size_t)snprintf(path + used, size - used, "%c%s=%s",
		    separator, names[i], escaped);
		separator = '&';
	}
	if (lt_cli_value(cli, "tcto") != NULL) {
		used += (size_t)snprintf(
		    path + used, size - used, "%ctcto=1", separator);
		separator = '&';
	}
	if (query != NULL)
		snprintf(path + used, size - used, "%c%s", separator, query);
	return LT_OK;
}

/* The runs of a report: rows of CSV as they come, or kept. */
struct runs {
	FILE *rows;   /* or NULL: into kept */
	json_t *kept; /* then; the report's in the end */
	int64_t count;
	bool begun, has_money;		   /* of rows */
	const struct lt_run_lines *answer; /* that they come in */
};

/* Once it is known whether the site shows money. */
static void
begin_rows(struct runs *runs, const json_t *report)
{
	if (runs->begun || runs->rows == NULL)
		return;
	runs->begun = true;
	runs->has_money = lt_json_text(report, "currency", "")[0] != '\0';
	lt_run_csv_head(runs->rows);
}

static int
take_run(void *context, const char *json, size_t length, struct lt_error *err)
{
	struct runs *const runs = context;

	runs->count++;
	if (runs->rows == NULL) {
		json_t *const run = json_loadb(json, length, 0, NULL);

		return json_array_append_new(runs->kept, run) == 0
			   ? LT_OK
			   : lt_fail(err, LT_EINPUT, "not a run: \"%.*s\"",
				 (int)(length < 40 ? length : 40), json);
	}
	if (!runs->begun) {
		json_t *const head = lt_run_lines_head(runs->answer);

		begin_rows(runs, head);
		json_decref(head);
	}
	if (lt_run_csv(runs->rows, json, length, runs->has_money, err))
		return err->code;
	return ferror(runs->rows)
		   ? lt_fail(err, LT_EIO, "can't write the report")
		   : LT_OK;
}

/* An answer whose runs go where runs says. */
static int
ask_runs(json_t **answer, struct runs *runs, const struct lt_cli *cli,
    const char *query, struct lt_error *err)
{
	char path[2048];
	struct lt_run_lines lines = {.take = take_run, .context = runs};

	if (report_path(path, sizeof(path), cli, query, err))
		return err->code;
	runs->answer = &lines;
	lt_client_get_runs(answer, cli, path, &lines, err);
	lt_run_lines_free(&lines);
	return err->code;
}

/* As many as the statement says? */
static bool
are_all(const struct runs *runs, const json_t *report)
{
	int64_t total;

	return lt_json_int(json_object_get(report, "total"), "runs", &total) &&
	       total == runs->count;
}

/* Statement and runs in one answer, of one state of the ledger. */
static int
fetch_at_once(json_t **report, struct runs *runs, const struct lt_cli *cli,
    struct lt_error *err)
{
	if (ask_runs(report, runs, cli, "runs=all", err))
		return err->code;
	const char *const error = lt_json_text(*report, "error", NULL);

	if (error != NULL)
		return lt_fail(err, LT_EIO, "lowtided: %s", error);
	if (!are_all(runs, *report) ||
	    !json_is_null(json_object_get(*report, "next")))
		return lt_fail(err, LT_EINPUT,
		    "lowtided's answer has %" PRId64
		    " runs, and not as many as its statement",
		    runs->count);
	json_object_del(*report, "next");
	begin_rows(runs, *report);
	return LT_OK;
}

/* One page; *next: the place of the one after it, malloc'd, or NULL. */
static int
fetch_page(struct runs *runs, char **next, const struct lt_cli *cli,
    struct lt_error *err)
{
	const int64_t before = runs->count;
	char after[512], query[520];
	json_t *page = NULL;

	if (lt_client_escape(after, sizeof(after), *next, err))
		return err->code;
	snprintf(query, sizeof(query), "after=%s", after);
	free(*next);
	*next = NULL;
	if (ask_runs(&page, runs, cli, query, err))
		return err->code;
	const char *const text = lt_json_text(page, "next", NULL);

	if (!json_is_array(json_object_get(page, "runs")) ||
	    (text != NULL && runs->count == before))
		lt_fail(err, LT_EINPUT, "runs: not a page of them");
	if (text != NULL && (*next = strdup(text)) == NULL)
		lt_fail(err, LT_ENOMEM, "runs: no memory");
	json_decref(page);
	return err->code;
}

static int
fetch_pages(json_t **report, struct runs *runs, const struct lt_cli *cli,
    struct lt_error *err)
{
	char path[2048], *next = strdup("");

	if (report_path(path, sizeof(path), cli, NULL, err) == LT_OK &&
	    lt_client_get(report, cli, path, err) == LT_OK)
		begin_rows(runs, *report);
	while (next != NULL && !err->code)
		fetch_page(runs, &next, cli, err);
	free(next);
	return err->code;
}

/* Where a run is charged between a statement and its pages they differ, and
 * all are asked again. */
static int
fetch_until_whole(json_t **report, struct runs *runs, const struct lt_cli *cli,
    struct lt_error *err)
{
	enum { TRIES = 5 };
	FILE *const rows = runs->rows;

	for (int i = 0; i < TRIES; i++) {
		char *text = NULL;
		size_t size;

		*runs = (struct runs){.kept = runs->kept};
		json_array_clear(runs->kept);
		if (rows != NULL &&
		    (runs->rows = open_memstream(&text, &size)) == NULL)
			return lt_fail(err, LT_ENOMEM, "runs: no memory");
		fetch_pages(report, runs, cli, err);
		if (runs->rows != NULL && fclose(runs->rows) != 0)
			lt_fail(err, LT_ENOMEM, "runs: no memory");
		const bool whole = !err->code && are_all(runs, *report);

		if (whole && text != NULL)
			fputs(text, rows);
		free(text);
		if (whole || err->code)
			return err->code;
		json_decref(*report);
		*report = NULL;
	}
	return lt_fail(err, LT_ESTALE,
	    "runs are being charged faster than they can be read; try again");
}

/* The statement, and its runs: to rows, or with it. */
static int
fetch(
    json_t **report, FILE *rows, const struct lt_cli *cli, struct lt_error *err)
{
	struct runs runs = {
	    .rows = rows, .kept = rows == NULL ? json_array() : NULL};

	fetch_at_once(report, &runs, cli, err);
	if (err->code && runs.begun) {
		lt_context(err, "the rows are not all");
	} else if (err->code == LT_EINPUT && *report == NULL &&
		   runs.count == 0) {
		*err = (struct lt_error){0}; /* over TCP: page by page */
		fetch_until_whole(report, &runs, cli, err);
	}
	if (!err->code && rows == NULL)
		json_object_set(*report, "runs", runs.kept);
	json_decref(runs.kept);
	return err->code;
}

int
lt_cli_report(const struct lt_cli *cli)
{
	const char *const period = lt_cli_value(cli, "period");
	struct lt_report_look look = {.runs = lt_cli_value(cli, "runs") != NULL,
	    .tcto = lt_cli_value(cli, "tcto") != NULL,
	    .color = cli->color};
	char path[2048];
	json_t *report = NULL;
	struct lt_error err = {0};

	if (find_format(&look.format, cli))
		return LT_EXIT_USAGE;
	if (period != NULL && lt_period_check(period, &err))
		return lt_cli_usage(cli, "%s", err.text);
	const bool as_rows = look.runs && look.format == LT_REPORT_CSV;
	if (as_rows && look.tcto)
		return lt_cli_usage(
		    cli, "--tcto and --runs: one csv can't have both");

	if (look.runs)
		fetch(&report, as_rows ? stdout : NULL, cli, &err);
	else if (report_path(path, sizeof(path), cli, NULL, &err) == LT_OK)
		lt_client_get(&report, cli, path, &err);
	if (!err.code && !as_rows)
		lt_report_print(stdout, report, &look, &err);
	else if (as_rows)
		check_written(stdout, &err);
	json_decref(report);
	return err.code ? lt_cli_fail(&err) : LT_EXIT_OK;
}
