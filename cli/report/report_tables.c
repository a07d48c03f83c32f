/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report as tables: the sections of figures, a row a team; adjustments
 * and runs (report_lists.c); the notes below. The same totals as CSV and JSON
 * have.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_tables.h"
#include "units.h"

enum { TEXT_SIZE = LT_FIGURE_SIZE };

struct figure {
	const char *key, *title;
	enum lt_unit unit;
	const char *absent; /* what null means */
};

enum { SECTION_FIGURES_MAX = 8 };
struct section {
	const char *title;
	enum lt_unit unit; /* LT_UNIT_MONEY: left out where no money is shown */
	/* Left out unless the report has it; NULL = always. */
	bool (*needed)(const json_t *report);
	struct figure figures[SECTION_FIGURES_MAX + 1];
};

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

static const struct section sections[] = {
    {"Statement", LT_UNIT_MONEY, NULL,
	{{"charges_micros", "CHARGES", LT_UNIT_MONEY, "n/a"},
	    {"corrections_micros", "CORRECTIONS", LT_UNIT_MONEY, "n/a"},
	    {"adjustments_micros", "ADJUSTMENTS", LT_UNIT_MONEY, "n/a"},
	    {"cost_micros", "COST", LT_UNIT_MONEY, "n/a"}}},
    {"The same cost by what it is for", LT_UNIT_MONEY, lt_report_has_parts,
	{{"nodes_micros", "NODES", LT_UNIT_MONEY, "n/a"},
	    {"carbon_charge_micros", "CARBON CHARGE", LT_UNIT_MONEY, "n/a"},
	    {"discount_micros", "LESS DISCOUNT", LT_UNIT_MONEY, "n/a"},
	    {"adjustments_micros", "ADJUSTMENTS", LT_UNIT_MONEY, "n/a"},
	    {"cost_micros", "COST", LT_UNIT_MONEY, "n/a"}}},
    {"Budget", LT_UNIT_MONEY, NULL,
	{{"budget_micros", "BUDGET", LT_UNIT_MONEY, "none"},
	    {"actual_micros", "ACTUAL", LT_UNIT_MONEY, "n/a"},
	    {"held_micros", "HELD", LT_UNIT_MONEY, "n/a"},
	    {"available_micros", "AVAILABLE", LT_UNIT_MONEY, "none"}}},
    {"Carbon statement, kg CO2e", LT_UNIT_CARBON, NULL,
	{{"charges_mg", "CHARGES", LT_UNIT_CARBON, "n/a"},
	    {"corrections_mg", "CORRECTIONS", LT_UNIT_CARBON, "n/a"},
	    {"adjustments_mg", "ADJUSTMENTS", LT_UNIT_CARBON, "n/a"},
	    {"carbon_mg", "CO2e", LT_UNIT_CARBON, "n/a"}}},
    {"Carbon budget, kg CO2e", LT_UNIT_CARBON, has_carbon_budget,
	{{"budget_mg", "BUDGET", LT_UNIT_CARBON, "none"},
	    {"actual_mg", "ACTUAL", LT_UNIT_CARBON, "n/a"},
	    {"held_mg", "HELD", LT_UNIT_CARBON, "n/a"},
	    {"available_mg", "AVAILABLE", LT_UNIT_CARBON, "none"}}},
    {"Runs, and what was saved against the plan without lowtide", LT_UNIT_COUNT,
	NULL,
	{{"runs", "RUNS", LT_UNIT_COUNT, "n/a"},
	    {"moved_runs", "MOVED", LT_UNIT_COUNT, "n/a"},
	    {"unpriced_runs", "UNPRICED", LT_UNIT_COUNT, "n/a"},
	    {"energy_wh", "ENERGY kWh", LT_UNIT_ENERGY, "n/a"},
	    {"carbon_mg", "CO2e kg", LT_UNIT_CARBON, "n/a"},
	    {"saved_mg", "SAVED CO2e kg", LT_UNIT_CARBON, "n/a"},
	    {"saved_micros", "SAVED", LT_UNIT_MONEY, "n/a"}}},
};
enum { SECTION_COUNT = sizeof(sections) / sizeof(sections[0]) };

/* "in 2026-Q4": where a team's budget of a longer period is. */
static void
absent_text(char out[TEXT_SIZE], const json_t *report, const json_t *team,
    const struct figure *figure)
{
	const char *const longer =
	    strcmp(figure->absent, "none") == 0
		? lt_longer_budget(report, lt_json_text(team, "team", ""),
		      figure->unit == LT_UNIT_CARBON ? "budget_mg"
						     : "budget_micros")
		: NULL;

	if (longer != NULL)
		snprintf(out, TEXT_SIZE, "in %s", longer);
	else
		snprintf(out, TEXT_SIZE, "%s", figure->absent);
}

/* One column of a section: a text for each team, then the total's. */
static bool
fill_column(char (*texts)[TEXT_SIZE], const json_t *report,
    const struct figure *figure, const char *currency)
{
	const json_t *const teams = json_object_get(report, "teams");
	const json_t *const total = json_object_get(report, "total");
	const int count = (int)json_array_size(teams);
	int64_t *const values = calloc((size_t)count + 1, sizeof(*values));
	int64_t sum = 0;
	int known = 0;

	if (values == NULL)
		return false;
	for (int i = 0; i < count; i++)
		if (lt_json_int(json_array_get(teams, (size_t)i), figure->key,
			&values[known]))
			known++;
	const bool has_total = lt_json_int(total, figure->key, &sum);

	lt_round_each(
	    values, known, &sum, lt_smallest_shown(figure->unit, currency));
	known = 0;
	for (int i = 0; i < count; i++) {
		int64_t value;

		if (lt_json_int(
			json_array_get(teams, (size_t)i), figure->key, &value))
			lt_cell_text(texts[i], TEXT_SIZE, values[known++],
			    figure->unit, currency);
		else
			absent_text(texts[i], report,
			    json_array_get(teams, (size_t)i), figure);
	}
	if (has_total)
		lt_cell_text(
		    texts[count], TEXT_SIZE, sum, figure->unit, currency);
	else /* budgets of teams within teams have no sum */
		snprintf(texts[count], TEXT_SIZE, "%s",
		    known && strcmp(figure->absent, "none") == 0
			? "-"
			: figure->absent);
	free(values);
	return true;
}

/* Figures of a section that are shown at this site. */
static int
shown_figures(
    const struct figure **shown, const struct section *section, bool has_money)
{
	int count = 0;

	for (const struct figure *figure = section->figures;
	     figure->key != NULL; figure++)
		if (has_money || figure->unit != LT_UNIT_MONEY)
			shown[count++] = figure;
	return count;
}

static void
team_name(char *out, size_t size, const json_t *team)
{
	snprintf(out, size, "%s%s", lt_json_text(team, "team", "?"),
	    json_is_true(json_object_get(team, "replay")) ? " *" : "");
}

static void
add_section_rows(struct lt_table *table, char (*texts)[TEXT_SIZE],
    const json_t *teams, int figure_count)
{
	const int count = (int)json_array_size(teams);
	const char *cells[SECTION_FIGURES_MAX + 1];
	char name[128] = "TOTAL";

	for (int row = 0; row <= count; row++) {
		if (row < count)
			team_name(name, sizeof(name),
			    json_array_get(teams, (size_t)row));
		else
			snprintf(name, sizeof(name), "TOTAL");
		cells[0] = name;
		for (int i = 0; i < figure_count; i++)
			cells[1 + i] = texts[i * (count + 1) + row];
		if (row == count)
			lt_table_rule(table);
		lt_table_row(table, cells);
	}
}

static int
print_section(FILE *out, const struct section *section, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	const json_t *const teams = json_object_get(report, "teams");
	const char *const currency = lt_json_text(report, "currency", "");
	const size_t rows = json_array_size(teams) + 1;
	const struct figure *shown[SECTION_FIGURES_MAX];
	struct lt_table_column columns[SECTION_FIGURES_MAX + 2] = {
	    {"TEAM", false}};
	const int count = shown_figures(shown, section, currency[0]);
	char(*const texts)[TEXT_SIZE] =
	    calloc(rows * SECTION_FIGURES_MAX, sizeof(*texts));

	for (int i = 0; i < count; i++)
		columns[1 + i] =
		    (struct lt_table_column){shown[i]->title, true};
	struct lt_table *const table = lt_table_new(columns);
	bool ok = texts != NULL && table != NULL;

	for (int i = 0; ok && i < count; i++)
		ok = fill_column(
		    texts + (size_t)i * rows, report, shown[i], currency);
	if (ok) {
		add_section_rows(table, texts, teams, count);
		fprintf(out, "\n%s%s%s\n", section->title,
		    section->unit == LT_UNIT_MONEY ? ", " : "",
		    section->unit == LT_UNIT_MONEY ? currency : "");
		lt_table_fit(table, look->columns, 1);
		lt_table_print(out, table, look->color);
	} else {
		lt_fail(err, LT_ENOMEM, "no memory");
	}
	lt_table_free(table);
	free(texts);
	return err->code;
}

static void
print_notes(FILE *out, const json_t *report, bool replay)
{
	static const struct {
		const char *key, *text;
	} counts[] = {
	    {"unpriced_runs",
		"unpriced: no price was known for these runs; they are in no money figure"},
	    {"gpus_slurmctld_runs",
		"by the GPUs of slurmctld's records: slurmdbd does not count them"},
	    {"gpus_unknown_runs",
		"of unknown GPUs, not charged: see lowtide doctor"},
	};
	const json_t *const total = json_object_get(report, "total");
	char lines[LT_MEASURED_LINES][LT_MEASURED_LINE_SIZE];
	const int measured = lt_measured_lines(lines, report);
	const char *const currency = lt_json_text(report, "currency", "");
	char charge[LT_CHARGE_TEXT_SIZE], step[TEXT_SIZE];
	int64_t count;

	fputc('\n', out);
	if (replay)
		fputs("* replayed signals: not real figures\n", out);
	if (strcmp(lt_json_text(report, "carbon_intensity", ""), "marginal") ==
	    0)
		fputs(
		    "CO2e by marginal intensity: what one more kWh causes, not the grid's average\n",
		    out);
	const char *const factors =
	    lt_json_text(report, "emission_factors", "");
	if (factors[0] != '\0')
		fprintf(out, "CO2e by %s emission factors%s\n",
		    strcmp(factors, "lifecycle") == 0 ? "life-cycle" : factors,
		    strcmp(factors, "direct") == 0 ? ": combustion alone" : "");
	if (lt_carbon_charge_text(charge, sizeof(charge), report))
		fprintf(out, "carbon charge: %s\n", charge);
	for (int i = 0; i < measured; i++)
		fprintf(out, "%s\n", lines[i]);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (lt_json_int(total, counts[i].key, &count) && count > 0)
			fprintf(
			    out, "%lld %s\n", (long long)count, counts[i].text);
	if (json_is_false(json_object_get(report, "complete")))
		fputs(
		    "not complete yet: runs of this period may still be settled\n",
		    out);
	fprintf(out,
	    "shown to %s%sthe gram; each amount is rounded by itself, so rows may differ from their total in the last digit; csv and json are exact\n",
	    currency[0] ? lt_step_text(step, sizeof(step), currency) : "",
	    currency[0] ? " and " : "");
}

/* "tide, 2026-10 (2026-10-01 to 2026-10-31, open: not complete)" */
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
	fputs(json_is_false(json_object_get(report, "complete"))
		  ? ": not complete)\n"
		  : ")\n",
	    out);
}

int
lt_report_tables(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err)
{
	const json_t *const teams = json_object_get(report, "teams");
	const char *const currency = lt_json_text(report, "currency", "");
	bool replay = json_is_true(
	    json_object_get(json_object_get(report, "total"), "replay"));
	size_t index;
	const json_t *team;

	json_array_foreach(teams, index, team)
		replay =
		    replay || json_is_true(json_object_get(team, "replay"));
	print_period(out, report, look->team);
	lt_report_reopened(out, report);
	if (replay)
		fprintf(out, "%sreplayed signals: not real figures%s\n",
		    look->color ? "\033[33m" : "",
		    look->color ? "\033[0m" : "");
	if (json_is_true(json_object_get(report, "own_figures")))
		fputs(
		    "your own runs alone: Slurm's PrivateData=usage hides what others used\n",
		    out);
	if (lt_report_over(out, report, look, err))
		return err->code;
	for (int i = 0; i < SECTION_COUNT; i++) {
		if ((sections[i].unit == LT_UNIT_MONEY && !currency[0]) ||
		    (sections[i].needed != NULL && !sections[i].needed(report)))
			continue;
		if (print_section(out, &sections[i], report, look, err))
			return err->code;
	}
	if (lt_report_longer(out, report, look, err) ||
	    lt_report_adjustments(out, report, look, err) ||
	    lt_report_corrections(out, report, look, err) ||
	    (look->runs && lt_report_runs(out, report, look, err)))
		return err->code;
	print_notes(out, report, replay);
	return LT_OK;
}

/* A figure is an integer or null: a fraction would be a rounding that was
 * not ours, a text a lie. */
static int
check_figures(const json_t *row, const char *name, struct lt_error *err)
{
	if (!json_is_object(row))
		return lt_fail(err, LT_EINPUT, "the report lacks %s", name);
	for (int i = 0; i < SECTION_COUNT; i++) {
		for (const struct figure *figure = sections[i].figures;
		     figure->key != NULL; figure++) {
			const json_t *const value =
			    json_object_get(row, figure->key);

			if (value != NULL && !json_is_integer(value) &&
			    !json_is_null(value))
				return lt_fail(err, LT_EINPUT,
				    "the report's %s of %s is no integer",
				    figure->key, name);
		}
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
		if (check_figures(
			team, lt_json_text(team, "team", "a team"), err))
			return err->code;
	return check_figures(
	    json_object_get(report, "total"), "the total", err);
}
