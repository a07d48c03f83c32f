/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks lowtided for a report, and for its runs: on the host's own socket in the same answer, over
 * TCP page by page. Runs are written as rows while they come, or kept in the report. A failed page
 * is an error; if runs are charged in between, all pages are asked again, five times at most.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "run_lines.h"

/* Writes the path of a query; more: a further parameter, or NULL. */
static int
report_path(char *path, size_t size, const struct lt_report_query *query, const char *more,
    struct lt_error *err)
{
	const struct {
		const char *name, *value;
	} values[] = {{"team", query->team}, {"period", query->period}, {"from", query->from},
	    {"to", query->to}, {"by", query->by}, {"users", query->no_users ? "0" : NULL},
	    {"tcto", query->tcto ? "1" : NULL}, {"unused", query->unused ? "1" : NULL},
	    {"tree", query->tree ? "1" : NULL}, {"trend", query->trend ? "1" : NULL},
	    {"balance", query->balance ? "1" : NULL}, {"months", query->months ? "1" : NULL},
	    {"corrections", query->corrections ? "1" : NULL},
	    {"carbon", query->carbon ? "1" : NULL}};
	int code = LT_OK;

	snprintf(path, size, "/v1/report");
	for (size_t i = 0; code == LT_OK && i < sizeof(values) / sizeof(values[0]); i++)
		code = lt_client_query(path, size, values[i].name, values[i].value, err);
	const size_t used = strlen(path);
	if (more != NULL)
		snprintf(
		    path + used, size - used, "%c%s", strchr(path, '?') != NULL ? '&' : '?', more);
	return code;
}

/* The runs of a report: written as rows while they come, or kept. */
struct runs {
	FILE *out;			 /* NULL: into kept */
	const struct lt_rows_kind *kind; /* of the rows */
	struct lt_rows rows;
	json_t *kept; /* the report's in the end */
	int64_t count, money_micros, carbon_mg;
	const struct lt_run_lines *answer; /* that they come in */
	const struct lt_cli *cli;
	const struct lt_report_query *query;
};

/* Begins the rows once the head of the report is known. */
static int
begin_rows(struct runs *runs, const json_t *report, struct lt_error *err)
{
	if (runs->out == NULL || runs->rows.begun)
		return LT_OK;
	lt_rows_free(&runs->rows);
	return lt_rows_begin(&runs->rows, runs->out, runs->kind, report, err);
}

/* Ends the rows after the last run. */
static int
end_rows(struct runs *runs, struct lt_error *err)
{
	return runs->out != NULL && runs->kind->end != NULL ? runs->kind->end(&runs->rows, err)
							    : LT_OK;
}

/* Returns the row's figure, 0 if it is null. The key can't be found inside a text, where its quotes
 * would be escaped. */
static int64_t
figure_of(const char *json, size_t length, const char *key)
{
	const char *const at = memmem(json, length, key, strlen(key));

	return at != NULL ? strtoll(at + strlen(key), NULL, 10) : 0;
}

static int
take_run(void *context, const char *json, size_t length, struct lt_error *err)
{
	struct runs *const runs = context;

	runs->count++;
	runs->money_micros += figure_of(json, length, "\"money_micros\":");
	runs->carbon_mg += figure_of(json, length, "\"carbon_mg\":");
	if (runs->out == NULL) {
		json_t *const run = json_loadb(json, length, 0, NULL);

		return json_array_append_new(runs->kept, run) == 0
			   ? LT_OK
			   : lt_fail(err, LT_EINPUT, "not a run: \"%.*s\"",
				 (int)(length < 40 ? length : 40), json);
	}
	if (!runs->rows.begun) {
		json_t *const head = lt_run_lines_head(runs->answer);

		begin_rows(runs, head, err);
		json_decref(head);
	}
	if (err->code || runs->kind->run(&runs->rows, json, length, err) != LT_OK)
		return err->code;
	return ferror(runs->out) ? lt_fail(err, LT_EIO, "can't write the report") : LT_OK;
}

/* Asks for an answer whose runs take_run() takes. */
static int
ask_runs(json_t **answer, struct runs *runs, const char *more, struct lt_error *err)
{
	char path[2048];
	struct lt_run_lines lines = {.take = take_run, .context = runs};

	if (report_path(path, sizeof(path), runs->query, more, err))
		return err->code;
	runs->answer = &lines;
	lt_client_get_runs(answer, runs->cli, path, &lines, err);
	lt_run_lines_free(&lines);
	return err->code;
}

static int64_t
sum_of(const json_t *adjustments, const char *key)
{
	int64_t sum = 0, value;
	size_t i;
	const json_t *row;

	json_array_foreach(adjustments, i, row)
		if (lt_json_int(row, key, &value))
			sum += value;
	return sum;
}

/* True if the runs add up to the statement. A user who sees only their own gets fewer. */
static bool
are_all(const struct runs *runs, const json_t *report)
{
	const json_t *const total = json_object_get(report, "total");
	const json_t *const more = json_object_get(report, "adjustments");
	int64_t money, carbon;

	if (json_is_true(json_object_get(report, "own_runs")))
		return true;
	return lt_json_int(total, "cost_micros", &money) &&
	       lt_json_int(total, "carbon_mg", &carbon) &&
	       money == runs->money_micros + sum_of(more, "money_micros") &&
	       carbon == runs->carbon_mg + sum_of(more, "carbon_mg");
}

/* Asks for statement and runs in one answer, of one state of the ledger. */
static int
fetch_at_once(json_t **report, struct runs *runs, struct lt_error *err)
{
	if (ask_runs(report, runs, runs->kind != NULL ? runs->kind->query : "runs=all", err))
		return err->code;
	const char *const error = lt_json_text(*report, "error", NULL);

	if (error != NULL)
		return lt_fail(err, LT_EIO, "lowtided: %s", error);
	if (!are_all(runs, *report) || !json_is_null(json_object_get(*report, "next")))
		return lt_fail(err, LT_EINPUT,
		    "lowtided's answer has %" PRId64 " runs, which do not add up to its statement",
		    runs->count);
	json_object_del(*report, "next");
	if (begin_rows(runs, *report, err))
		return err->code;
	return end_rows(runs, err);
}

/* Asks for one page; *next: the place of the next one, malloc'd, or NULL. */
static int
fetch_page(struct runs *runs, char **next, struct lt_error *err)
{
	const int64_t before = runs->count;
	char after[512], more[520];
	json_t *page = NULL;

	if (lt_client_escape(after, sizeof(after), *next, err))
		return err->code;
	snprintf(more, sizeof(more), "after=%s", after);
	free(*next);
	*next = NULL;
	if (ask_runs(&page, runs, more, err))
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
fetch_pages(json_t **report, struct runs *runs, struct lt_error *err)
{
	char path[2048], *next = strdup("");

	if (report_path(path, sizeof(path), runs->query, NULL, err) == LT_OK &&
	    lt_client_get(report, runs->cli, path, err) == LT_OK)
		begin_rows(runs, *report, err);
	while (next != NULL && !err->code)
		fetch_page(runs, &next, err);
	free(next);
	return err->code;
}

/* Asks for a statement and its pages, again if they differ: a run may be charged in between. */
static int
fetch_until_whole(json_t **report, struct runs *runs, struct lt_error *err)
{
	enum { TRIES = 5 };
	FILE *const out = runs->out;

	for (int i = 0; i < TRIES; i++) {
		char *text = NULL;
		size_t size;

		lt_rows_free(&runs->rows);
		*runs = (struct runs){
		    .kept = runs->kept, .kind = runs->kind, .cli = runs->cli, .query = runs->query};
		json_array_clear(runs->kept);
		if (out != NULL && (runs->out = open_memstream(&text, &size)) == NULL)
			return lt_fail(err, LT_ENOMEM, "runs: no memory");
		fetch_pages(report, runs, err);
		const bool whole =
		    !err->code && are_all(runs, *report) && end_rows(runs, err) == LT_OK;

		if (runs->out != NULL && fclose(runs->out) != 0)
			lt_fail(err, LT_ENOMEM, "runs: no memory");
		if (whole && text != NULL)
			fputs(text, out);
		free(text);
		if (whole || err->code)
			return err->code;
		json_decref(*report);
		*report = NULL;
	}
	return lt_fail(
	    err, LT_ESTALE, "runs are being charged faster than they can be read; try again");
}

int
lt_report_ask(json_t **report, const struct lt_cli *cli, const struct lt_report_query *query,
    bool for_statement, struct lt_error *err)
{
	/* The groups that the sections of a statement show. */
	static const char all[] = "by=day;team;partition;gpu;state;user";
	static const char no_users[] = "by=day;team;partition;gpu;state";
	struct lt_report_query asked = *query;
	char path[2048], more[128];

	asked.unused |= for_statement;
	asked.tree |= for_statement;
	/* A year has its months in its days already. */
	asked.trend |= for_statement && asked.from == NULL &&
		       (asked.period == NULL || strlen(asked.period) != 4);
	asked.corrections |= for_statement;
	for (int i = 0; i < 2; i++) {
		snprintf(
		    more, sizeof(more), "%s&top=10&previous=1", asked.no_users ? no_users : all);
		if (report_path(path, sizeof(path), &asked, for_statement ? more : NULL, err) ==
		    LT_OK)
			lt_client_get(report, cli, path, err);
		/* A member may see the sums of a team but no other member's name. */
		if (err->code != LT_EDENIED || !for_statement || asked.no_users)
			break;
		*err = (struct lt_error){0};
		asked.no_users = true;
	}
	return err->code;
}

int
lt_report_ask_runs(json_t **report, const struct lt_report_rows *to, const struct lt_cli *cli,
    const struct lt_report_query *query, struct lt_error *err)
{
	struct runs runs = {.out = to->out,
	    .kind = to->kind,
	    .cli = cli,
	    .query = query,
	    .kept = to->out == NULL ? json_array() : NULL};

	fetch_at_once(report, &runs, err);
	if (err->code && runs.rows.begun) {
		lt_context(err, "the rows are not all");
	} else if (err->code == LT_EINPUT && *report == NULL && runs.count == 0) {
		*err = (struct lt_error){0}; /* over TCP: page by page */
		if (to->kind == &lt_hour_csv)
			lt_fail(err, LT_EINPUT,
			    "hours of runs are told where lowtided runs, not from afar");
		else
			fetch_until_whole(report, &runs, err);
	}
	if (!err->code && to->out == NULL)
		json_object_set(*report, "runs", runs.kept);
	json_decref(runs.kept);
	lt_rows_free(&runs.rows);
	return err->code;
}
