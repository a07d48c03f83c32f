/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide signals export: prints the points that lowtided has stored, as CSV or JSON, page by page,
 * so that a year needs no more memory than a page. If a page fails, the exit status is 1 and what
 * was printed before stays.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"
#include "units.h"

struct export
{
	const struct lt_cli *cli;
	bool json, shows_progress; /* on standard error */
	bool started;		   /* the output has begun */
	const char *source;
	char after[64]; /* where its next page begins; "" = at its first */
	bool began;	/* JSON: this source's points have begun */
	size_t count;	/* points of this source so far */
};

static int
path_of(char *path, size_t size, const struct export *export, struct lt_error *err)
{
	const char *const after = export->after[0] ? export->after : NULL;
	const struct {
		const char *key, *value;
	} values[] = {
	    {"source", export->source},
	    {"from", lt_cli_value(export->cli, "from")},
	    {"to", lt_cli_value(export->cli, "to")},
	    {"after", after},
	};
	int code = LT_OK;

	snprintf(path, size, "/v1/signals/export");
	for (size_t i = 0; code == LT_OK && i < sizeof(values) / sizeof(values[0]); i++)
		code = lt_client_query(path, size, values[i].key, values[i].value, err);
	return code;
}

/* Prints money per unit of its currency, exactly as stored: micros have six decimals at most. */
static void
print_value(double value, double scale)
{
	char text[64];

	if (scale == 1) {
		printf("%.10g", value);
		return;
	}
	lt_micros_exact(text, sizeof(text), (int64_t)value);
	fputs(text, stdout);
}

static void
print_csv(const json_t *page, const char *source)
{
	const double scale = json_number_value(json_object_get(page, "scale"));
	const enum lt_quantity quantity = lt_quantity_find(lt_json_text(page, "quantity", ""));
	char unit[64];
	size_t index;
	const json_t *point;

	lt_unit_text(unit, sizeof(unit), quantity, lt_json_text(page, "currency", ""));
	json_array_foreach(json_object_get(page, "points"), index, point) {
		lt_csv_text(stdout, lt_json_text(point, "start", ""));
		putchar(',');
		lt_csv_text(stdout, lt_json_text(point, "end", ""));
		putchar(',');
		print_value(json_number_value(json_object_get(point, "value")), scale);
		putchar(',');
		lt_csv_text(stdout, unit);
		putchar(',');
		lt_csv_text(stdout, lt_json_text(point, "quality", ""));
		putchar(',');
		lt_csv_text(stdout, source);
		fputs("\r\n", stdout);
	}
}

/* Prints one object per source, and its points as they come: they are never whole in memory. */
static void
print_json(struct export *export, const json_t *page)
{
	size_t index;
	const json_t *point;

	if (!export->began) {
		json_t *const head = json_copy((json_t *)page);

		json_object_del(head, "points");
		json_object_del(head, "next");
		char *const text = json_dumps(head, LT_CLI_JSON | JSON_COMPACT);

		/* without its closing brace */
		printf("%.*s,\"points\":[", text != NULL ? (int)strlen(text) - 1 : 0,
		    text != NULL ? text : "");
		free(text);
		json_decref(head);
	}
	json_array_foreach(json_object_get(page, "points"), index, point) {
		fputs(export->began || index > 0 ? ",\n" : "\n", stdout);
		json_dumpf(point, stdout, LT_CLI_JSON | JSON_COMPACT);
	}
	export->began = true;
}

/* Begins the output once lowtided has answered: an error prints nothing. */
static void
start_output(struct export *export)
{
	if (!export->started)
		fputs(export->json ? "{\"sources\":[" : "start,end,value,unit,quality,source\r\n",
		    stdout);
	export->started = true;
}

static int
take_page(struct export *export, const json_t *page, struct lt_error *err)
{
	const char *const source = export->source;
	const json_t *const points = json_object_get(page, "points");

	if (!json_is_array(points) || !json_is_number(json_object_get(page, "scale")))
		return lt_fail(err, LT_EINPUT, "%s: not a page of points", source);
	start_output(export);
	if (export->json)
		print_json(export, page);
	else
		print_csv(page, source);
	export->count += json_array_size(points);
	if (export->shows_progress && json_array_size(points))
		fprintf(stderr, "\r%s: %zu points\033[K", source, export->count);
	if (ferror(stdout))
		return lt_fail(err, LT_EIO, "can't write the points");
	return LT_OK;
}

static int
export_source(struct export *export, const char *source, struct lt_error *err)
{
	char path[2048];
	bool more = true;

	export->source = source;
	export->after[0] = '\0';
	export->began = false;
	export->count = 0;
	while (more) {
		json_t *page = NULL;

		if (path_of(path, sizeof(path), export, err) ||
		    lt_client_get(&page, export->cli, path, err))
			return err->code;
		const char *const next = lt_json_text(page, "next", "");

		/* Times of one form sort as texts do: pages must advance. */
		if (next[0] && strcmp(next, export->after) <= 0)
			lt_fail(err, LT_EINPUT, "%s: the pages don't go on", source);
		else
			take_page(export, page, err);
		more = next[0] != '\0';
		snprintf(export->after, sizeof(export->after), "%s", next);
		json_decref(page);
		if (err->code)
			return err->code;
	}
	if (export->json)
		fputs("]}", stdout);
	return LT_OK;
}

static int
export_all(struct export *export, struct lt_error *err)
{
	json_t *const answer = lt_signals_ask(export->cli, "/v1/signals", err);
	size_t index;
	const json_t *source;

	json_array_foreach(json_object_get(answer, "sources"), index, source) {
		if (index > 0 && export->json)
			fputs(",\n", stdout);
		if (export_source(export, lt_json_text(source, "name", "?"), err))
			break;
	}
	json_decref(answer);
	return err->code;
}

int
lt_signals_export(const struct lt_cli *cli)
{
	const char *const format = lt_cli_value(cli, "format");
	struct export export = {.cli = cli,
	    .json = cli->json || (format != NULL && strcmp(format, "json") == 0),
	    .shows_progress = lt_cli_escapes(STDERR_FILENO) && !isatty(STDOUT_FILENO)};
	struct lt_error err = {0};

	if (format != NULL && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0)
		return lt_cli_usage(cli, "--format: got \"%s\", want csv or json", format);
	lt_cli_whole_lines();
	if (cli->operand_count > 1)
		export_source(&export, cli->operands[1], &err);
	else
		export_all(&export, &err);
	if (export.shows_progress)
		fputs("\r\033[K", stderr);
	if (!err.code)
		start_output(&export);
	if (!err.code && export.json)
		fputs("]}\n", stdout);
	if (!err.code && (fflush(stdout) || ferror(stdout)))
		lt_fail(&err, LT_EIO, "can't write the points");
	return err.code ? lt_cli_fail(&err) : LT_EXIT_OK;
}
