/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report as tables, and as CSV of teams. Tables: the sections of figures.h, a row per team;
 * lists of adjustments, corrections and runs; notes below. CSV: a row per team and no other, so
 * that a column adds up to the total. Both have the same totals as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "lookup.h"
#include "report.h"
#include "units.h"

/* ---- sections, a row a team ---- */

static bool
has_carbon_budget(const json_t *report)
{
	size_t index;
	const json_t *team;
	int64_t value;

	json_array_foreach(json_object_get(report, "teams"), index, team)
		if (lt_json_int(team, "budget_mg", &value))
			return true;
	return false;
}

static bool
is_needed(enum lt_section_id section, const json_t *report)
{
	if (LT_ROW(lt_sections, section).is_money && !lt_json_text(report, "currency", "")[0])
		return false;
	if (section == LT_SECTION_PARTS)
		return lt_report_has_parts(report);
	if (section == LT_SECTION_CARBON_BUDGET)
		return has_carbon_budget(report);
	return true;
}

/* Writes a team's cell; "in 2026-Q4" if its budget has a longer period. */
static const char *
team_cell(char out[LT_FIGURE_SIZE], const json_t *report, const json_t *team,
    const struct lt_figure_kind *figure)
{
	const char *const currency = lt_json_text(report, "currency", "");
	int64_t value;
	const char *const longer =
	    figure->absent != NULL && !lt_json_int(team, figure->key, &value)
		? lt_longer_budget(report, lt_json_text(team, "team", ""),
		      figure->unit == LT_UNIT_CARBON ? "budget_mg" : "budget_micros")
		: NULL;

	if (longer == NULL)
		return lt_cell_of(out, team, figure, currency);
	snprintf(out, LT_FIGURE_SIZE, "in %s", longer);
	return out;
}

/* Writes a cell of the total; budgets of teams within teams have no sum. */
static const char *
total_cell(char out[LT_FIGURE_SIZE], const json_t *report, const struct lt_figure_kind *figure)
{
	const json_t *const total = json_object_get(report, "total");
	size_t index;
	const json_t *team;
	int64_t value;

	if (figure->absent != NULL && !lt_json_int(total, figure->key, &value))
		json_array_foreach(json_object_get(report, "teams"), index, team)
			if (lt_json_int(team, figure->key, &value))
				return "-";
	return lt_cell_of(out, total, figure, lt_json_text(report, "currency", ""));
}

struct shown { /* columns of a section that this site has */
	int count;
	const struct lt_figure_kind *figures[LT_SECTION_FIGURES_MAX];
};

/* Adds the row of a team; NULL: of the total. */
static void
add_row(struct lt_table *table, const struct shown *shown, const json_t *report, const json_t *team)
{
	char texts[LT_SECTION_FIGURES_MAX][LT_FIGURE_SIZE], name[128] = "TOTAL";
	const char *cells[LT_SECTION_FIGURES_MAX + 1] = {name};

	if (team != NULL)
		snprintf(name, sizeof(name), "%s%s", lt_json_text(team, "team", "?"),
		    json_is_true(json_object_get(team, "replay")) ? " *" : "");
	for (int i = 0; i < shown->count; i++)
		cells[1 + i] = team != NULL ? team_cell(texts[i], report, team, shown->figures[i])
					    : total_cell(texts[i], report, shown->figures[i]);
	lt_table_row(table, cells);
}

static int
print_section(FILE *out, const struct lt_section *section, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	const char *const currency = lt_json_text(report, "currency", "");
	struct lt_table_column heads[LT_SECTION_FIGURES_MAX + 2] = {{"TEAM", false}};
	struct shown shown = {.count = 0};
	size_t index;
	const json_t *team;

	for (int i = 0; section->columns[i].title != NULL; i++) {
		const struct lt_figure_kind *const figure =
		    &LT_ROW(lt_team_figures, section->columns[i].figure);

		if (!lt_unit_is_shown(figure->unit, currency))
			continue;
		shown.figures[shown.count++] = figure;
		heads[shown.count] = (struct lt_table_column){section->columns[i].title, true};
	}
	struct lt_table *const table = lt_table_new(heads);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(json_object_get(report, "teams"), index, team)
		add_row(table, &shown, report, team);
	lt_table_rule(table);
	add_row(table, &shown, report, NULL);
	lt_report_section(out, table, section->title, section->is_money ? currency : "", look);
	lt_table_free(table);
	return LT_OK;
}

/* ---- lists ---- */

enum cell { TEXT, JOB, YES, MONEY, CARBON, ENERGY };
enum { LIST_COLUMNS_MAX = 13 };
struct list {
	const char *title, *key, *more; /* more: of those past the list */
	unsigned cut;			/* columns that may be cut, a bit each */
	const int *drops;		/* those that may be left out; NULL: none */
	struct {
		const char *title; /* NULL ends the list */
		enum cell cell;
		const char *key, *absent;
	} columns[LIST_COLUMNS_MAX + 1];
};

/* quality, moved, energy, name, end, state, carbon, start */
static const int run_drops[] = {11, 10, 9, 4, 6, 7, 8, 5, -1};
static const struct list runs = {.title = "Runs",
    .key = "runs",
    .cut = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4,
    .drops = run_drops,
    .columns = {{"JOB", JOB, "job_id", "?"}, {"USER", TEXT, "user", "?"},
	{"ACCOUNT", TEXT, "account", "?"}, {"PARTITION", TEXT, "partition", "?"},
	{"NAME", TEXT, "name", "-"}, {"START", TEXT, "start", "-"}, {"END", TEXT, "end", "-"},
	{"STATE", TEXT, "state", "-"}, {"CO2e kg", CARBON, "carbon_mg", "n/a"},
	{"ENERGY kWh", ENERGY, "energy_wh", "n/a"}, {"MOVED", YES, "moved", "no"},
	{"QUALITY", TEXT, "quality", "-"}, {"COST", MONEY, "money_micros", "n/a"}}};
static const struct list adjustments = {.title = "Adjustments",
    .key = "adjustments",
    .cut = 1 << 1 | 1 << 3 | 1 << 4,
    .columns = {{"DAY", TEXT, "day", "?"}, {"TEAM", TEXT, "team", "?"},
	{"CO2e kg", CARBON, "carbon_mg", "n/a"}, {"WHO", TEXT, "who", "?"},
	{"REASON", TEXT, "reason", ""}, {"MONEY", MONEY, "money_micros", "n/a"}}};
static const struct list corrections = {.title = "Corrections",
    .key = "corrections",
    .more = "more_corrections",
    .cut = 1 << 2 | 1 << 4,
    .columns = {{"OF", TEXT, "month", "-"}, {"JOB", JOB, "job_id", "-"},
	{"TEAM", TEXT, "team", "-"}, {"CO2e kg", CARBON, "carbon_mg", "n/a"},
	{"WHY", TEXT, "why", ""}, {"MONEY", MONEY, "money_micros", "n/a"}}};

/* Writes a job id as squeue does: "1234", a task of an array "1230_4". */
static const char *
job_text(char out[LT_FIGURE_SIZE], const json_t *run, const char *absent)
{
	int64_t id, array, task;

	if (lt_json_int(run, "array_job_id", &array) && lt_json_int(run, "array_task", &task))
		snprintf(out, LT_FIGURE_SIZE, "%lld_%lld", (long long)array, (long long)task);
	else if (lt_json_int(run, "job_id", &id))
		snprintf(out, LT_FIGURE_SIZE, "%lld", (long long)id);
	else
		return absent;
	return out;
}

static enum lt_unit
unit_of(enum cell cell)
{
	return cell == MONEY ? LT_UNIT_MONEY : cell == CARBON ? LT_UNIT_CARBON : LT_UNIT_ENERGY;
}

static void
add_list_row(
    struct lt_table *table, const struct list *list, const json_t *row, const char *currency)
{
	char texts[LIST_COLUMNS_MAX][LT_FIGURE_SIZE];
	const char *cells[LIST_COLUMNS_MAX];

	for (int i = 0; list->columns[i].title != NULL; i++) {
		const char *const key = list->columns[i].key;
		const char *const absent = list->columns[i].absent;
		const enum cell cell = list->columns[i].cell;
		int64_t value;

		if (cell == TEXT)
			cells[i] = lt_json_text(row, key, absent);
		else if (cell == JOB)
			cells[i] = job_text(texts[i], row, absent);
		else if (cell == YES)
			cells[i] = json_is_true(json_object_get(row, key)) ? "yes" : absent;
		else
			cells[i] = lt_json_int(row, key, &value)
				       ? lt_cell_alone(texts[i], value, unit_of(cell), currency)
				       : absent;
	}
	lt_table_row(table, cells);
}

/* Adds one row for all that the list leaves out. */
static void
add_more(struct lt_table *table, const struct list *list, const json_t *more, const char *currency)
{
	int64_t count = 0;
	char why[64];

	if (!lt_json_int(more, "count", &count) || count <= 0)
		return;
	snprintf(why, sizeof(why), "%lld others", (long long)count);
	json_t *const row = json_copy((json_t *)(uintptr_t)more);
	json_object_set_new(row, "why", json_string(why));
	add_list_row(table, list, row, currency);
	json_decref(row);
}

/* Prints a list, unless it is empty; an empty list of runs is printed. */
static int
print_list(FILE *out, const struct list *list, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	const char *const currency = lt_json_text(report, "currency", "");
	const json_t *const rows = json_object_get(report, list->key);
	struct lt_table_column heads[LIST_COLUMNS_MAX + 1] = {0};
	size_t index;
	const json_t *row;

	if (json_array_size(rows) == 0 && list != &runs)
		return LT_OK;
	/* Money is the last column. */
	for (int i = 0; list->columns[i].title != NULL; i++)
		if (list->columns[i].cell != MONEY || currency[0])
			heads[i] = (struct lt_table_column){list->columns[i].title,
			    list->columns[i].cell != TEXT && list->columns[i].cell != YES};
	struct lt_table *const table = lt_table_new(heads);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(rows, index, row)
		add_list_row(table, list, row, currency);
	if (list->more != NULL)
		add_more(table, list, json_object_get(report, list->more), currency);
	fprintf(out, "\n%s\n", list->title);
	if (list->drops != NULL)
		lt_table_drop(table, list->drops);
	lt_table_fit(table, look->columns, list->cut);
	lt_table_print(out, table, look->color);
	lt_table_free(table);
	return LT_OK;
}

/* ---- the whole report ---- */

static void
print_notes(FILE *out, const json_t *report, bool replay)
{
	static const struct {
		enum lt_team_figure figure;
		const char *text;
	} counts[] = {
	    {LT_TEAM_UNPRICED_RUNS,
		"unpriced: no price was known for these runs; they are in no money figure"},
	    {LT_TEAM_GPUS_SLURMCTLD_RUNS,
		"by the GPUs of slurmctld's records: slurmdbd does not count them"},
	    {LT_TEAM_GPUS_UNKNOWN_RUNS, "of unknown GPUs, not charged: see lowtide doctor"},
	};
	const json_t *const total = json_object_get(report, "total");
	char lines[LT_MEASURED_LINES][LT_MEASURED_LINE_SIZE];
	const int measured = lt_measured_lines(lines, report);
	const char *const currency = lt_json_text(report, "currency", "");
	char charge[LT_CHARGE_TEXT_SIZE], step[LT_FIGURE_SIZE];
	int64_t count;

	fputc('\n', out);
	if (replay)
		fputs("* replayed signals: not real figures\n", out);
	if (strcmp(lt_json_text(report, "carbon_intensity", ""), "marginal") == 0)
		fputs(
		    "CO2e by marginal intensity: what one more kWh causes, not the grid's average\n",
		    out);
	const char *const factors = lt_json_text(report, "emission_factors", "");
	if (factors[0] != '\0')
		fprintf(out, "CO2e by %s emission factors%s\n",
		    strcmp(factors, "lifecycle") == 0 ? "life-cycle" : factors,
		    strcmp(factors, "direct") == 0 ? ": combustion alone" : "");
	if (lt_carbon_charge_text(charge, sizeof(charge), report))
		fprintf(out, "carbon charge: %s\n", charge);
	for (int i = 0; i < measured; i++)
		fprintf(out, "%s\n", lines[i]);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (lt_json_int(total, LT_ROW(lt_team_figures, counts[i].figure).key, &count) &&
		    count > 0)
			fprintf(out, "%lld %s\n", (long long)count, counts[i].text);
	if (json_is_false(json_object_get(report, "complete")))
		fputs("not complete yet: runs of this period may still be settled\n", out);
	fprintf(out,
	    "shown to %s%sthe gram; each amount is rounded by itself, so rows may differ from their total in the last digit; csv and json are exact\n",
	    currency[0] ? lt_step_text(step, sizeof(step), currency) : "",
	    currency[0] ? " and " : "");
}

/* Prints "tide, 2026-10 (2026-10-01 to 2026-10-31, open: not complete)". */
static void
print_period(FILE *out, const json_t *report, const char *team)
{
	const json_t *const period = json_object_get(report, "period");
	const char *const texts[][2] = {
	    {"", lt_json_text(report, "cluster", "?")},
	    {team != NULL ? ", team " : "", team != NULL ? team : ""},
	    {", ", lt_json_text(period, "label", "?")},
	    {" (", lt_json_text(period, "first_day", "?")},
	    {" to ", lt_json_text(period, "last_day", "?")},
	    {", ", lt_json_text(period, "state", "?")},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fputs(texts[i][0], out);
		lt_print_safe(out, texts[i][1]);
	}
	fputs(
	    json_is_false(json_object_get(report, "complete")) ? ": not complete)\n" : ")\n", out);
}

/* Writes the day on which a closing was undone, "2026-11-12". */
static const char *
day_reopened(char out[sizeof("2026-11-12")], const json_t *reopened)
{
	snprintf(out, sizeof("2026-11-12"), "%s", lt_json_text(reopened, "reopened", "?"));
	return out;
}

/* Prints a line for each time that the period was closed and opened again. */
static void
print_reopened(FILE *out, const json_t *report)
{
	const json_t *reopened;
	char day[sizeof("2026-11-12")];
	size_t i;

	json_array_foreach(
	    json_object_get(json_object_get(report, "period"), "reopened"), i, reopened) {
		const char *const texts[][2] = {{"reopened on ", day_reopened(day, reopened)},
		    {" by ", lt_json_text(reopened, "reopened_by", "?")},
		    {": ", lt_json_text(reopened, "reason", "?")}};

		for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
			fputs(texts[k][0], out);
			lt_print_safe(out, texts[k][1]);
		}
		fputc('\n', out);
	}
}

int
lt_report_tables(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	const json_t *const teams = json_object_get(report, "teams");
	bool replay = json_is_true(json_object_get(json_object_get(report, "total"), "replay"));
	size_t index;
	const json_t *team;

	json_array_foreach(teams, index, team)
		replay = replay || json_is_true(json_object_get(team, "replay"));
	print_period(out, report, look->team);
	print_reopened(out, report);
	if (replay)
		fprintf(out, "%sreplayed signals: not real figures%s\n",
		    look->color ? "\033[33m" : "", look->color ? "\033[0m" : "");
	if (json_is_true(json_object_get(report, "own_figures")))
		fputs(
		    "your own runs alone: Slurm's PrivateData=usage hides what others used\n", out);
	if (lt_report_over(out, report, look, err))
		return err->code;
	for (int i = 0; i < LT_SECTIONS; i++)
		if (is_needed((enum lt_section_id)i, report) &&
		    print_section(out, &lt_sections[i], report, look, err))
			return err->code;
	if (lt_report_longer(out, report, look, err) ||
	    print_list(out, &adjustments, report, look, err) ||
	    print_list(out, &corrections, report, look, err) ||
	    (look->runs && print_list(out, &runs, report, look, err)))
		return err->code;
	print_notes(out, report, replay);
	return LT_OK;
}

static int
check_row(const json_t *row, const char *name, struct lt_error *err)
{
	if (!json_is_object(row))
		return lt_fail(err, LT_EINPUT, "the report lacks %s", name);
	for (int i = 0; i < LT_SECTIONS; i++)
		for (int k = 0; lt_sections[i].columns[k].title != NULL; k++) {
			const char *const key =
			    LT_ROW(lt_team_figures, lt_sections[i].columns[k].figure).key;
			const json_t *const value = json_object_get(row, key);

			if (value != NULL && !json_is_integer(value) && !json_is_null(value))
				return lt_fail(err, LT_EINPUT,
				    "the report's %s of %s is no integer", key, name);
		}
	return LT_OK;
}

int
lt_report_check(const json_t *report, struct lt_error *err)
{
	const json_t *const teams = json_object_get(report, "teams");
	size_t index;
	const json_t *team;

	if (!json_is_array(teams))
		return lt_fail(err, LT_EINPUT, "the report lacks its teams");
	json_array_foreach(teams, index, team)
		if (check_row(team, lt_json_text(team, "team", "a team"), err))
			return err->code;
	return check_row(json_object_get(report, "total"), "the total", err);
}

/* ---- CSV ---- */

void
lt_report_csv(FILE *out, const json_t *report)
{
	json_t *const keys = lt_label_keys(report);
	size_t index;
	const json_t *team;

	fputs("team" LT_PERIOD_HEADERS("state"), out);
	lt_csv_headers(out, lt_team_figures, LT_TEAM_FIGURES);
	lt_label_headers(out, keys);
	fputs("\r\n", out);
	json_array_foreach(json_object_get(report, "teams"), index, team) {
		lt_csv_text(out, lt_json_text(team, "team", ""));
		lt_period_cells(out, report);
		lt_csv_figures(out, report, team, lt_team_figures, LT_TEAM_FIGURES);
		lt_label_cells(out, keys, json_object_get(team, "labels"));
		fputs("\r\n", out);
	}
	json_decref(keys);
}
