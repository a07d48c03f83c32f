/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide report as tables: the sections of figures, a row a team; each run;
 * the notes below. The same totals as CSV and JSON have.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "units.h"

enum { CENT_MICROS = 10000, GRAM_MG = 1000, TEXT_SIZE = 48 };

enum unit { MONEY, CARBON, ENERGY, COUNT };

struct figure {
	const char *key, *title;
	enum unit unit;
	const char *absent; /* what null means */
};

enum { SECTION_FIGURES_MAX = 8 };
struct section {
	const char *title;
	enum unit unit;	    /* MONEY: left out where no money is shown */
	const char *needed; /* left out unless a team has this; NULL = always */
	struct figure figures[SECTION_FIGURES_MAX + 1];
};

static const struct section sections[] = {
    {"Statement", MONEY, NULL,
	{{"opening_micros", "OPENING", MONEY, "n/a"},
	    {"charges_micros", "CHARGES", MONEY, "n/a"},
	    {"corrections_micros", "CORRECTIONS", MONEY, "n/a"},
	    {"adjustments_micros", "ADJUSTMENTS", MONEY, "n/a"},
	    {"closing_micros", "CLOSING", MONEY, "n/a"}}},
    {"Budget", MONEY, NULL,
	{{"budget_micros", "BUDGET", MONEY, "none"},
	    {"actual_micros", "ACTUAL", MONEY, "n/a"},
	    {"held_micros", "HELD", MONEY, "n/a"},
	    {"available_micros", "AVAILABLE", MONEY, "none"}}},
    {"Carbon statement, kg CO2e", CARBON, NULL,
	{{"opening_mg", "OPENING", CARBON, "n/a"},
	    {"charges_mg", "CHARGES", CARBON, "n/a"},
	    {"corrections_mg", "CORRECTIONS", CARBON, "n/a"},
	    {"adjustments_mg", "ADJUSTMENTS", CARBON, "n/a"},
	    {"closing_mg", "CLOSING", CARBON, "n/a"}}},
    {"Carbon budget, kg CO2e", CARBON, "budget_mg",
	{{"budget_mg", "BUDGET", CARBON, "none"},
	    {"actual_mg", "ACTUAL", CARBON, "n/a"},
	    {"held_mg", "HELD", CARBON, "n/a"},
	    {"available_mg", "AVAILABLE", CARBON, "none"}}},
    {"Runs, and what was saved against the plan without lowtide", COUNT, NULL,
	{{"runs", "RUNS", COUNT, "n/a"}, {"moved_runs", "MOVED", COUNT, "n/a"},
	    {"unpriced_runs", "UNPRICED", COUNT, "n/a"},
	    {"energy_wh", "ENERGY kWh", ENERGY, "n/a"},
	    {"charges_mg", "CO2e kg", CARBON, "n/a"},
	    {"saved_mg", "SAVED CO2e kg", CARBON, "n/a"},
	    {"saved_micros", "SAVED", MONEY, "n/a"}}},
};
enum { SECTION_COUNT = sizeof(sections) / sizeof(sections[0]) };

/* Thousandths as "-1234.567". */
static void
thousandths_text(char *out, size_t size, int64_t value)
{
	const uint64_t size_of =
	    value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	snprintf(out, size, "%s%llu.%03llu", value < 0 ? "-" : "",
	    (unsigned long long)(size_of / 1000),
	    (unsigned long long)(size_of % 1000));
}

static void
figure_text(
    char *out, size_t size, int64_t value, enum unit unit, const char *currency)
{
	switch (unit) {
	case MONEY:
		lt_money_text(out, size, value, currency);
		break;
	case CARBON:
		thousandths_text(out, size, value / GRAM_MG);
		break;
	case ENERGY:
		thousandths_text(out, size, value);
		break;
	case COUNT:
		snprintf(out, size, "%lld", (long long)value);
		break;
	}
}

static int64_t
smallest_shown(enum unit unit)
{
	return unit == MONEY ? CENT_MICROS : unit == CARBON ? GRAM_MG : 1;
}

/*
 * One column of a section: a text for each team, then the total's. What
 * rows lose or win by rounding is shared out, so that what is shown adds up.
 */
static bool
fill_column(char (*texts)[TEXT_SIZE], const json_t *teams, const json_t *total,
    const struct figure *figure, const char *currency)
{
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

	lt_round_column(values, known, &sum, smallest_shown(figure->unit));
	known = 0;
	for (int i = 0; i < count; i++) {
		int64_t value;

		if (lt_json_int(
			json_array_get(teams, (size_t)i), figure->key, &value))
			figure_text(texts[i], TEXT_SIZE, values[known++],
			    figure->unit, currency);
		else
			snprintf(texts[i], TEXT_SIZE, "%s", figure->absent);
	}
	if (has_total)
		figure_text(
		    texts[count], TEXT_SIZE, sum, figure->unit, currency);
	else /* budgets of teams within teams have no sum */
		snprintf(texts[count], TEXT_SIZE, "%s",
		    known && strcmp(figure->absent, "none") == 0
			? "-"
			: figure->absent);
	free(values);
	return true;
}

static bool
any_has(const json_t *teams, const char *key)
{
	size_t index;
	const json_t *team;
	int64_t value;

	json_array_foreach(teams, index, team)
		if (lt_json_int(team, key, &value))
			return true;
	return false;
}

/* Figures of a section that are shown at this site. */
static int
shown_figures(
    const struct figure **shown, const struct section *section, bool has_money)
{
	int count = 0;

	for (const struct figure *figure = section->figures;
	     figure->key != NULL; figure++)
		if (has_money || figure->unit != MONEY)
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
    bool color, struct lt_error *err)
{
	const json_t *const teams = json_object_get(report, "teams");
	const json_t *const total = json_object_get(report, "total");
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
		    texts + (size_t)i * rows, teams, total, shown[i], currency);
	if (ok) {
		add_section_rows(table, texts, teams, count);
		fprintf(out, "\n%s%s%s\n", section->title,
		    section->unit == MONEY ? ", " : "",
		    section->unit == MONEY ? currency : "");
		lt_table_print(out, table, color);
	} else {
		lt_fail(err, LT_ENOMEM, "no memory");
	}
	lt_table_free(table);
	free(texts);
	return err->code;
}

/* A run's figure, rounded by itself. */
static const char *
run_figure(char out[TEXT_SIZE], const json_t *run, const char *key,
    enum unit unit, const char *currency)
{
	int64_t value;

	if (!lt_json_int(run, key, &value)) {
		snprintf(out, TEXT_SIZE, "n/a");
		return out;
	}
	lt_round_column(NULL, 0, &value, smallest_shown(unit));
	figure_text(out, TEXT_SIZE, value, unit, currency);
	return out;
}

/* As squeue names it: "1234", a task of an array "1230_4". */
static const char *
job_text(char *out, size_t size, const json_t *run)
{
	int64_t id = 0, array = 0, task = 0;

	if (lt_json_int(run, "array_job_id", &array) &&
	    lt_json_int(run, "array_task", &task))
		snprintf(
		    out, size, "%lld_%lld", (long long)array, (long long)task);
	else if (lt_json_int(run, "job_id", &id))
		snprintf(out, size, "%lld", (long long)id);
	else
		snprintf(out, size, "?");
	return out;
}

static int
print_runs(FILE *out, const json_t *report, bool color, struct lt_error *err)
{
	static const struct lt_table_column columns[] = {
	    {"JOB", true},
	    {"USER", false},
	    {"ACCOUNT", false},
	    {"PARTITION", false},
	    {"START", false},
	    {"END", false},
	    {"CO2e kg", true},
	    {"ENERGY kWh", true},
	    {"MOVED", false},
	    {"QUALITY", false},
	    {"COST", true},
	    {NULL, false},
	};
	const char *const currency = lt_json_text(report, "currency", "");
	struct lt_table_column shown[LT_TABLE_COLUMNS_MAX] = {0};
	const int count = currency[0] ? 11 : 10;
	size_t index;
	const json_t *run;

	memcpy(shown, columns, (size_t)count * sizeof(shown[0]));
	struct lt_table *const table = lt_table_new(shown);

	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(json_object_get(report, "runs"), index, run) {
		char job[48], carbon[TEXT_SIZE], energy[TEXT_SIZE],
		    money[TEXT_SIZE];
		const char *const cells[] = {job_text(job, sizeof(job), run),
		    lt_json_text(run, "user", ""),
		    lt_json_text(run, "account", "?"),
		    lt_json_text(run, "partition", "?"),
		    lt_json_text(run, "start", "-"),
		    lt_json_text(run, "end", "-"),
		    run_figure(carbon, run, "carbon_mg", CARBON, currency),
		    run_figure(energy, run, "energy_wh", ENERGY, currency),
		    json_is_true(json_object_get(run, "moved")) ? "yes" : "no",
		    lt_json_text(run, "quality", "-"),
		    run_figure(money, run, "money_micros", MONEY, currency)};

		lt_table_row(table, cells);
	}
	fputs("\nRuns\n", out);
	lt_table_print(out, table, color);
	lt_table_free(table);
	return LT_OK;
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
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (lt_json_int(total, counts[i].key, &count) && count > 0)
			fprintf(
			    out, "%lld %s\n", (long long)count, counts[i].text);
	if (json_is_false(json_object_get(report, "complete")))
		fputs(
		    "not complete yet: runs of this period may still be settled\n",
		    out);
	if (lt_json_text(report, "currency", "")[0])
		fputs(
		    "shown to the cent and the gram, rounded from exact totals so that columns add up; csv and json are exact\n",
		    out);
	else
		fputs(
		    "shown to the gram, rounded from exact totals so that columns add up; csv and json are exact\n",
		    out);
}

int
lt_report_tables(FILE *out, const json_t *report, bool runs, bool color,
    struct lt_error *err)
{
	const json_t *const teams = json_object_get(report, "teams");
	const json_t *const period = json_object_get(report, "period");
	const char *const currency = lt_json_text(report, "currency", "");
	bool replay = json_is_true(
	    json_object_get(json_object_get(report, "total"), "replay"));
	size_t index;
	const json_t *team;

	json_array_foreach(teams, index, team)
		replay =
		    replay || json_is_true(json_object_get(team, "replay"));
	lt_print_safe(out, lt_json_text(report, "cluster", "?"));
	fputs(", ", out);
	lt_print_safe(out, lt_json_text(period, "label", "?"));
	fprintf(out, " (");
	lt_print_safe(out, lt_json_text(period, "start", "?"));
	fputs(" to ", out);
	lt_print_safe(out, lt_json_text(period, "end", "?"));
	fputs(")\n", out);
	if (replay)
		fprintf(out, "%sreplayed signals: not real figures%s\n",
		    color ? "\033[33m" : "", color ? "\033[0m" : "");
	if (json_is_true(json_object_get(report, "own_figures")))
		fputs(
		    "your own runs alone: Slurm's PrivateData=usage hides what others used\n",
		    out);
	for (int i = 0; i < SECTION_COUNT; i++) {
		if ((sections[i].unit == MONEY && !currency[0]) ||
		    (sections[i].needed != NULL &&
			!any_has(teams, sections[i].needed)))
			continue;
		if (print_section(out, &sections[i], report, color, err))
			return err->code;
	}
	if (runs && print_runs(out, report, color, err))
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
