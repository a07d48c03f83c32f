/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report: the statement of each team for a period. lowtided adds up;
 * here the one answer becomes a table (report_tables.c), CSV (report_csv.c) or
 * JSON, with the same totals in each to the smallest unit.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "units.h"

const struct lt_cli_option lt_cli_report_options[] = {
    {"team", "T", "only this team"},
    {"period", "P", "2026-11, 2026-Q4 or 2026; default: this month"},
    {"format", "F", "table, csv or json"},
    {"runs", NULL, "each run too (csv: the runs instead)"},
    {NULL, NULL, NULL},
};

int
lt_report_print(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	if (lt_report_check(report, err))
		return err->code;
	switch (look->format) {
	case LT_REPORT_TABLE:
		lt_report_tables(out, report, look->runs, look->color, err);
		break;
	case LT_REPORT_CSV:
		lt_report_csv(out, report, look->runs);
		break;
	case LT_REPORT_JSON:
		if (json_dumpf(report, out, JSON_INDENT(2)))
			lt_fail(err, LT_EIO, "can't write JSON");
		fputc('\n', out);
		break;
	}
	if (fflush(out) || ferror(out))
		return lt_fail(err, LT_EIO, "can't write the report");
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

static int
report_path(
    char *path, size_t size, const struct lt_cli *cli, struct lt_error *err)
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
	return LT_OK;
}

/* The runs of a statement, page by page. */
struct pages {
	const struct lt_cli *cli;
	const char *path; /* of the statement */
	json_t *report;
	json_t *runs; /* all of them; or NULL: as rows, a tenth of the memory */
	FILE *rows;
	int64_t count;
	char *next; /* malloc'd, of the page that is next; NULL: none */
};

static int
fetch_page(struct pages *p, struct lt_error *err)
{
	char page_path[2048], after[512];
	json_t *page = NULL;

	if (lt_client_escape(after, sizeof(after), p->next, err))
		return err->code;
	free(p->next);
	p->next = NULL;
	snprintf(page_path, sizeof(page_path), "%s%cafter=%s", p->path,
	    strchr(p->path, '?') != NULL ? '&' : '?', after);
	if (lt_client_get(&page, p->cli, page_path, err))
		return err->code;
	const json_t *const more = json_object_get(page, "runs");
	const char *const text = lt_json_text(page, "next", NULL);

	p->count += (int64_t)json_array_size(more);
	if (!json_is_array(more) ||
	    (text != NULL && json_array_size(more) == 0))
		lt_fail(err, LT_EINPUT, "runs: not a page of them");
	else if (p->runs == NULL)
		lt_report_csv_runs(p->rows, p->report, more);
	else if (json_array_extend(p->runs, (json_t *)more))
		lt_fail(err, LT_ENOMEM, "runs: no memory");
	if (text != NULL && (p->next = strdup(text)) == NULL)
		lt_fail(err, LT_ENOMEM, "runs: no memory");
	json_decref(page);
	return err->code;
}

/* Are they all? Else one was charged since the statement. */
static int
fetch_runs(struct pages *p, bool *all, struct lt_error *err)
{
	int64_t total;

	p->next = strdup("");
	if (p->rows == NULL) {
		p->runs = json_array();
		json_object_set_new(p->report, "runs", p->runs);
	} else {
		lt_report_csv_head(p->rows);
	}
	while (p->next != NULL && !err->code)
		fetch_page(p, err);
	free(p->next);
	if (!err->code &&
	    !lt_json_int(json_object_get(p->report, "total"), "runs", &total))
		lt_fail(err, LT_EINPUT, "report: not a statement");
	*all = !err->code && total == p->count;
	return err->code;
}

/* The statement, and its runs if wanted. Where one is charged between the two
 * they differ, and both are asked again. *rows: the runs as CSV, malloc'd;
 * NULL = they are in the report. */
static int
fetch(json_t **report, char **rows, const struct lt_cli *cli, const char *path,
    struct lt_error *err)
{
	enum { TRIES = 5 };
	bool all = lt_cli_value(cli, "runs") == NULL;

	for (int i = 0; i < TRIES && !err->code; i++) {
		FILE *out = NULL;
		size_t size;

		if (lt_client_get(report, cli, path, err) || all)
			return err->code;
		if (rows != NULL && (out = open_memstream(rows, &size)) == NULL)
			return lt_fail(err, LT_ENOMEM, "runs: no memory");
		struct pages pages = {
		    .cli = cli, .path = path, .report = *report, .rows = out};
		fetch_runs(&pages, &all, err);
		if (out != NULL && (fflush(out) || ferror(out)))
			lt_fail(err, LT_ENOMEM, "runs: no memory");
		if (out != NULL)
			fclose(out);
		if (all && !err->code)
			return LT_OK;
		json_decref(*report);
		*report = NULL;
		if (rows != NULL) {
			free(*rows);
			*rows = NULL;
		}
	}
	return err->code
		   ? err->code
		   : lt_fail(err, LT_ESTALE,
			 "runs are being charged faster than they can be read; try again");
}

int
lt_cli_report(const struct lt_cli *cli)
{
	const char *const period = lt_cli_value(cli, "period");
	struct lt_report_look look = {
	    .runs = lt_cli_value(cli, "runs") != NULL, .color = cli->color};
	char path[1024], *rows = NULL;
	json_t *answer = NULL;
	struct lt_error err = {0};

	if (find_format(&look.format, cli))
		return LT_EXIT_USAGE;
	if (period != NULL && lt_period_check(period, &err))
		return lt_cli_usage(cli, "%s", err.text);
	const bool as_rows = look.runs && look.format == LT_REPORT_CSV;
	if (report_path(path, sizeof(path), cli, &err) ||
	    fetch(&answer, as_rows ? &rows : NULL, cli, path, &err))
		return lt_cli_fail(&err);
	if (!as_rows)
		lt_report_print(stdout, answer, &look, &err);
	else if (fputs(rows, stdout) < 0 || fflush(stdout))
		lt_fail(&err, LT_EIO, "can't write the report");
	free(rows);
	json_decref(answer);
	return err.code ? lt_cli_fail(&err) : LT_EXIT_OK;
}
