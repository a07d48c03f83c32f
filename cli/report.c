/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report: the statement of each team for a period.
 *
 * lowtided does the sums. Its one answer (report_ask.c) becomes a table or CSV (report_tables.c,
 * report_by.c, report_sections.c, run_csv.c), FOCUS (focus.c), JSON or a statement in HTML
 * (report_html.c), with the same totals in each to the smallest unit. Figures and their columns are
 * listed in figures.h. This file has the options and the formats. An answer that is not a report is
 * an error, and then nothing is written to --output.
 */
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "lookup.h"
#include "report.h"

const struct lt_cli_option lt_cli_report_options[] = {
    {"team", "T", "only this team"},
    {"period", "P", "2026-11, 2026-Q4 or 2026; default: this month"},
    {"from", "DAY", "days instead of a period, with --to"},
    {"to", "DAY", "the last of them"},
    {"by", "D,...",
	"by day, month, team, user, partition, qos, gpu, name, wckey, state, label:KEY"},
    {"tree", NULL, "each team with all below it too (csv: instead)"},
    {"balance", NULL, "what lowtide did in twelve months, for good and ill, too (csv: instead)"},
    {"format", "F", "table, csv, json, html, focus or ood"},
    {"dataset", "D", "focus: cost-and-usage (default) or billing-period"},
    {"runs", NULL, "each run too (csv: runs and adjustments instead)"},
    {"carbon", NULL, "energy and carbon too, as an auditor asks (csv: each hour instead)"},
    {"tcto", NULL, "total cost to outcome too (csv: instead)"},
    {"unused", NULL, "what of the site's own nodes was paid and not used too"},
    {"output", "FILE", "where to (-o FILE, or a folder); default: standard output"},
    {"no-users", NULL, "whose runs they are, and their names, left out"},
    {NULL, NULL, NULL},
};

static const char *const format_names[LT_REPORT_FORMAT_COUNT] = {
    [LT_REPORT_TABLE] = "table",
    [LT_REPORT_CSV] = "csv",
    [LT_REPORT_JSON] = "json",
    [LT_REPORT_FOCUS] = "focus",
    [LT_REPORT_OOD] = "ood",
    [LT_REPORT_HTML] = "html",
};

static int
check_written(FILE *out, struct lt_error *err)
{
	if (fflush(out) || ferror(out))
		return lt_fail(err, LT_EIO, "can't write the report");
	return LT_OK;
}

/* Prints the report as JSON, with the schema by which it is to be read. */
static void
print_json(FILE *out, const json_t *report, struct lt_error *err)
{
	json_t *const named = json_pack("{s:s}", "$schema", LT_REPORT_SCHEMA);

	if (json_object_update(named, (json_t *)(uintptr_t)report) ||
	    json_dumpf(named, out, JSON_INDENT(2)))
		lt_fail(err, LT_EIO, "can't write JSON");
	fputc('\n', out);
	json_decref(named);
}

static void
print_tables(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	if (lt_report_tables(out, report, look, err) == LT_OK && look->by)
		lt_report_by_table(out, report, look, err);
	if (!err->code)
		lt_report_sections(out, report, look, err);
}

int
lt_report_print(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	if (lt_report_check(report, err) || lt_report_sections_check(report, look, err))
		return err->code;
	switch (look->format) {
	case LT_REPORT_TABLE:
		print_tables(out, report, look, err);
		break;
	case LT_REPORT_CSV:
		if (lt_report_section_csv(out, report, look))
			break;
		if (look->by)
			lt_report_by_csv(out, report, err);
		else
			lt_report_csv(out, report);
		break;
	case LT_REPORT_JSON:
		print_json(out, report, err);
		break;
	case LT_REPORT_FOCUS:
		lt_focus_period(out, report, err);
		break;
	case LT_REPORT_HTML:
		lt_report_html(out, report, look->team, err);
		break;
	case LT_REPORT_OOD:
	case LT_REPORT_FORMAT_COUNT:
		break;
	}
	if (!err->code)
		check_written(out, err);
	return err->code;
}

static int
find_format(enum lt_report_format *format, const struct lt_cli *cli)
{
	const char *const word = lt_cli_value(cli, "format");

	*format = cli->json ? LT_REPORT_JSON : LT_REPORT_TABLE;
	for (int i = 0; word != NULL && i < LT_REPORT_FORMAT_COUNT; i++) {
		if (strcmp(word, format_names[i]) == 0) {
			*format = (enum lt_report_format)i;
			return LT_EXIT_OK;
		}
	}
	if (word == NULL)
		return LT_EXIT_OK;
	return lt_cli_usage(
	    cli, "--format: got \"%s\", want table, csv, json, html, focus or ood", word);
}

/* Sets *charges to false if the FOCUS dataset is billing-period; to true for the dataset of charges
 * and for all other formats. */
static int
find_dataset(bool *charges, const struct lt_cli *cli, bool is_focus)
{
	const char *const word = lt_cli_value(cli, "dataset");

	*charges = word == NULL || strcmp(word, "cost-and-usage") == 0;
	if (word != NULL && !is_focus)
		return lt_cli_usage(cli, "--dataset belongs to --format focus");
	if (!*charges && strcmp(word, "billing-period") != 0)
		return lt_cli_usage(
		    cli, "--dataset: got \"%s\", want cost-and-usage or billing-period", word);
	return LT_EXIT_OK;
}

/* Returns how rows of runs are printed as they come; NULL if the report is printed once it is
 * complete. */
static const struct lt_rows_kind *
rows_of(const struct lt_report_look *look)
{
	if (look->format != LT_REPORT_CSV)
		return NULL;
	return look->carbon ? &lt_hour_csv : look->runs ? &lt_run_csv : NULL;
}

int
lt_report_write(FILE *out, const struct lt_cli *cli, const struct lt_report_query *query,
    const struct lt_report_look *look, struct lt_error *err)
{
	const bool is_focus = look->format == LT_REPORT_FOCUS;
	const struct lt_rows_kind *const kind = rows_of(look);
	const struct lt_report_rows to = {kind != NULL ? out : NULL, kind};
	struct lt_report_query asked = *query;
	json_t *report = NULL;

	asked.months = is_focus;
	if (is_focus && look->charges)
		return lt_focus_write(out, cli, &asked, err) == LT_OK ? check_written(out, err)
								      : err->code;
	if (kind != NULL || (look->runs && !is_focus))
		lt_report_ask_runs(&report, &to, cli, &asked, err);
	else
		lt_report_ask(&report, cli, &asked, look->format == LT_REPORT_HTML, err);
	if (!err->code && kind == NULL)
		lt_report_print(out, report, look, err);
	else if (kind != NULL)
		check_written(out, err);
	json_decref(report);
	return err->code;
}

/* Writes "FOLDER/PERIOD-TEAM.html"; "/" in a team's name becomes "_". */
static int
name_in_folder(char *path, size_t size, const char *folder, const struct lt_report_query *query,
    const struct lt_report_look *look)
{
	static const char *const ends[LT_REPORT_FORMAT_COUNT] = {
	    [LT_REPORT_TABLE] = "txt",
	    [LT_REPORT_CSV] = "csv",
	    [LT_REPORT_JSON] = "json",
	    [LT_REPORT_FOCUS] = "focus.csv",
	    [LT_REPORT_OOD] = "ood.json",
	    [LT_REPORT_HTML] = "html",
	};
	const bool is_days = query->from != NULL;
	char team[128] = "";

	if (query->team != NULL)
		snprintf(team, sizeof(team), "-%s", query->team);
	for (char *c = team; *c != '\0'; c++)
		if (*c == '/' || (unsigned char)*c < ' ')
			*c = '_';
	return snprintf(path, size, "%s/%s%s%s%s.%s", folder, is_days ? query->from : query->period,
	    is_days ? ".." : "", is_days && query->to != NULL ? query->to : "", team,
	    LT_WORD(ends, look->format));
}

static int
print_report(const struct lt_cli *cli, struct lt_report_look *look)
{
	const struct lt_report_query query = {
	    .team = lt_cli_value(cli, "team"),
	    .period = lt_cli_value(cli, "period"),
	    .from = lt_cli_value(cli, "from"),
	    .to = lt_cli_value(cli, "to"),
	    .by = lt_cli_value(cli, "by"),
	    .no_users = lt_cli_value(cli, "no-users") != NULL,
	    .tcto = look->tcto,
	    .unused = look->unused,
	    .tree = look->tree,
	    .balance = look->balance,
	    /* JSON stays as it was kept for a closed period, without. */
	    .corrections = look->format == LT_REPORT_TABLE,
	    /* Hours are asked for with their rows. */
	    .carbon = look->carbon && rows_of(look) == NULL,
	};
	const char *to = lt_cli_value(cli, "output");
	char path[4096];
	struct stat there;
	struct lt_output output;
	struct lt_error err = {0};

	if (to != NULL && stat(to, &there) == 0 && S_ISDIR(there.st_mode)) {
		if (query.period == NULL && query.from == NULL)
			return lt_cli_usage(
			    cli, "--output: a folder wants --period, by which the file is named");
		if (name_in_folder(path, sizeof(path), to, &query, look) >= (int)sizeof(path))
			return lt_cli_usage(cli, "--output: the name is too long");
		to = path;
	}
	if (lt_output_open(&output, to, &err))
		return lt_cli_fail(&err);
	if (output.out != stdout) {
		look->color = false;
		look->columns = 0;
	}
	lt_report_write(output.out, cli, &query, look, &err);
	lt_output_close(&output, &err);
	return err.code ? lt_cli_fail(&err) : LT_EXIT_OK;
}

/* Prints the format for Open OnDemand, which takes no period and no team. */
static int
print_ood(const struct lt_cli *cli)
{
	static const char *const not_its[] = {"team", "period", "from", "to", "by", "tree",
	    "balance", "runs", "tcto", "carbon", "unused", "no-users"};

	for (size_t i = 0; i < sizeof(not_its) / sizeof(not_its[0]); i++)
		if (lt_cli_value(cli, not_its[i]) != NULL)
			return lt_cli_usage(
			    cli, "--%s does not belong to --format ood", not_its[i]);
	return lt_report_ood(cli);
}

int
lt_cli_report(const struct lt_cli *cli)
{
	const char *const period = lt_cli_value(cli, "period");
	struct lt_report_look look = {
	    .runs = lt_cli_value(cli, "runs") != NULL,
	    .tcto = lt_cli_value(cli, "tcto") != NULL,
	    .unused = lt_cli_value(cli, "unused") != NULL,
	    .by = lt_cli_value(cli, "by") != NULL,
	    .tree = lt_cli_value(cli, "tree") != NULL,
	    .balance = lt_cli_value(cli, "balance") != NULL,
	    .carbon = lt_cli_value(cli, "carbon") != NULL,
	    .color = cli->color,
	    .columns = lt_cli_columns(),
	    .team = lt_cli_value(cli, "team"),
	};
	struct lt_error err = {0};

	if (find_format(&look.format, cli) ||
	    find_dataset(&look.charges, cli, look.format == LT_REPORT_FOCUS))
		return LT_EXIT_USAGE;
	if (period != NULL && lt_period_check(period, &err))
		return lt_cli_usage(cli, "%s", err.text);
	if (look.format != LT_REPORT_TABLE)
		lt_cli_whole_lines();
	if (look.format == LT_REPORT_OOD)
		return print_ood(cli);
	if (look.format == LT_REPORT_HTML && look.runs)
		return lt_cli_usage(
		    cli, "--runs: html has the ten that cost most; csv and json have all");
	if (look.format == LT_REPORT_HTML && look.by)
		return lt_cli_usage(cli, "--by: html has groups of its own");
	if (look.runs + look.tcto + look.by + look.tree + look.balance + look.carbon > 1 &&
	    look.format == LT_REPORT_CSV)
		return lt_cli_usage(cli,
		    "--runs, --by, --tree, --balance, --tcto and --carbon: one csv can't have two of them");
	if ((look.tree || look.balance) && look.format == LT_REPORT_FOCUS)
		return lt_cli_usage(cli,
		    "--%s: focus has each amount once; table, csv, json and html have it",
		    look.tree ? "tree" : "balance");
	if (look.unused && (look.format == LT_REPORT_CSV || look.format == LT_REPORT_FOCUS))
		return lt_cli_usage(cli,
		    "--unused: csv and focus have what is a team's; table, json and html have it");
	if (look.carbon && look.format == LT_REPORT_FOCUS)
		return lt_cli_usage(
		    cli, "--carbon: focus has energy and carbon in its own columns");
	return print_report(cli, &look);
}
