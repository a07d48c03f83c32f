/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other tables of the HTML statement, and its end: parts of the cost, what lowtide did in twelve
 * months, owned nodes that were paid for whether used or not; carbon and energy, also as an auditor
 * asks for them; adjustments and corrections, how much of the data is estimated, the method, the
 * checksum.
 */
#include <stdlib.h>
#include <string.h>

#include <nettle/base16.h>
#include <nettle/sha2.h>

#include "cli.h"
#include "lookup.h"
#include "report.h"
#include "report_html.h"
#include "units.h"

static void
print_fact(FILE *out, const char *name, const char *value)
{
	fputs("<tr><th scope=\"row\">", out);
	lt_html_text(out, name);
	fputs("</th><td>", out);
	lt_html_text(out, value);
	fputs("</td></tr>\n", out);
}

static void
open_facts(FILE *out, const char *caption, const char *first, const char *second)
{
	fprintf(out,
	    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n"
	    "<table class=\"facts\"><caption>%s</caption>\n"
	    "<thead><tr><th scope=\"col\">%s</th><th scope=\"col\">%s</th></tr></thead>\n<tbody>\n",
	    caption, caption, first, second);
}

/* ---- carbon and energy ---- */

static void
figure_fact(const struct lt_statement *statement, enum lt_team_figure id)
{
	const struct lt_figure_kind *const figure = &LT_ROW(lt_team_figures, id);
	char text[LT_FIGURE_SIZE];
	int64_t value;

	if (lt_json_int(statement->total, figure->key, &value))
		print_fact(statement->out, figure->html,
		    lt_figure_text(text, statement, value, figure->unit));
}

/* Prints the intensity, mg / Wh = g CO2e/kWh, of energy whose intensity is known. Carbon of making
 * the hardware and of adjustments belongs to no kWh, and only an answer with energy and carbon by
 * place separates it. */
static void
intensity_fact(const struct lt_statement *statement)
{
	const json_t *const rows =
	    json_object_get(json_object_get(statement->report, "carbon"), "rows");
	char text[LT_FIGURE_SIZE];
	int64_t mg = 0, wh = 0;
	size_t index;
	const json_t *row;

	json_array_foreach(rows, index, row) {
		int64_t row_mg, row_wh;

		if (lt_json_int(row, "location_mg", &row_mg) &&
		    lt_json_int(row, "energy_wh", &row_wh)) {
			mg += row_mg;
			wh += row_wh;
		}
	}
	if (wh > 0)
		print_fact(statement->out, "Mean of its energy, g CO2e per kWh",
		    lt_figure_text(text, statement, (mg + wh / 2) / wh, LT_UNIT_COUNT));
}

static void
saved_row(const struct lt_statement *statement, struct lt_html_table *table, const char *name,
    const char *lever)
{
	struct lt_html_row *const row = &table->rows[table->row_count++];
	const int carbon = statement->has_money ? 1 : 0;

	row->name = name;
	if (statement->has_money)
		row->has[0] = lt_json_int(
		    json_object_get(statement->total, "saved_by_micros"), lever, &row->values[0]);
	row->has[carbon] = lt_json_int(
	    json_object_get(statement->total, "saved_by_mg"), lever, &row->values[carbon]);
}

static void
print_saved(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {
	    {"Money", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, "saved_micros", NULL, false},
	    {"kg CO2e", LT_UNIT_CARBON, LT_COLUMN_ADDS_UP, "saved_mg", NULL, false},
	    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	struct lt_html_row rows[3] = {0}, total = {.name = "Total"};
	struct lt_html_table table = {
	    .caption = "Saved against the same jobs run at once and at home",
	    .first = "By",
	    .columns = lt_html_columns(statement, shown, columns),
	    .rows = rows,
	    .total = &total};

	if (!json_is_object(json_object_get(statement->total, "saved_by_mg")))
		return;
	saved_row(statement, &table, "When they ran", "time");
	saved_row(statement, &table, "Where they ran", "place");
	saved_row(statement, &table, "How fast the nodes are", "gpu");
	for (int i = 0; shown[i].title != NULL; i++)
		total.has[i] = lt_json_int(statement->total, shown[i].key, &total.values[i]);
	lt_html_table(statement, &table);
}

static void
print_measured(const struct lt_statement *statement)
{
	char lines[LT_MEASURED_LINES][LT_MEASURED_LINE_SIZE];
	const int count = lt_measured_lines(lines, statement->report);

	for (int i = 0; i < count; i++) {
		fputs("<p>", statement->out);
		lt_html_text(statement->out, lines[i]);
		fputs("</p>\n", statement->out);
	}
}

void
lt_html_carbon(const struct lt_statement *statement)
{
	static const enum lt_team_figure facts[] = {LT_TEAM_CHARGES_MG, LT_TEAM_CORRECTIONS_MG,
	    LT_TEAM_ADJUSTMENTS_MG, LT_TEAM_CARBON, LT_TEAM_BUDGET_MG, LT_TEAM_ENERGY};
	FILE *const out = statement->out;
	const char *const factors = lt_json_text(statement->report, "emission_factors", "");
	const char *const intensity = lt_json_text(statement->report, "carbon_intensity", "");

	open_facts(out, "Carbon and energy of the period", "What", "Figure");
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		figure_fact(statement, facts[i]);
	intensity_fact(statement);
	print_fact(out, "Intensity of the grid",
	    strcmp(intensity, "marginal") == 0	? "marginal: what one more kWh causes"
	    : strcmp(intensity, "average") == 0 ? "average: what a kWh of the grid's mix causes"
						: "not said");
	print_fact(out, "Emission factors",
	    strcmp(factors, "lifecycle") == 0 ? "life-cycle: fuel, building and operation"
	    : strcmp(factors, "direct") == 0  ? "direct: combustion alone"
					      : "not said");
	fputs("</tbody></table></div>\n", out);
	print_saved(statement);
	print_measured(statement);
}

/* ---- adjustments ---- */

static void
adjustment_figure(
    const struct lt_statement *statement, const json_t *one, const char *key, enum lt_unit unit)
{
	char text[LT_FIGURE_SIZE];
	int64_t value;

	fputs("<td>", statement->out);
	if (lt_json_int(one, key, &value))
		lt_html_text(statement->out, lt_change_text(text, statement, value, unit));
	else
		fputs("<span class=\"none\">\u2013</span>", statement->out);
	fputs("</td>", statement->out);
}

static void
adjustment_text(FILE *out, const json_t *one, const char *key)
{
	fputs("<td class=\"text\"><bdi>", out);
	lt_html_text(out, lt_json_text(one, key, ""));
	fputs("</bdi></td>", out);
}

static void
print_adjustment(const struct lt_statement *statement, const json_t *one)
{
	FILE *const out = statement->out;
	char day[40];

	fputs("<tr><th scope=\"row\">", out);
	lt_html_text(
	    out, lt_day_text(day, sizeof(day), lt_json_text(one, "day", ""), LT_DAY_SHORT));
	fputs("</th>", out);
	adjustment_text(out, one, "team");
	if (statement->has_money)
		adjustment_figure(statement, one, "money_micros", LT_UNIT_MONEY);
	adjustment_figure(statement, one, "carbon_mg", LT_UNIT_CARBON);
	adjustment_text(out, one, "who");
	adjustment_text(out, one, "reason");
	fputs("</tr>\n", out);
}

void
lt_html_adjustments(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	const json_t *const list = json_object_get(statement->report, "adjustments");
	size_t index;
	const json_t *one;

	if (json_array_size(list) == 0) {
		fputs("<p>None in this period.</p>\n", out);
		return;
	}
	fprintf(out,
	    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Adjustments\">\n"
	    "<table class=\"wide\"><caption>What was charged or given back by hand</caption>\n"
	    "<thead><tr><th scope=\"col\">Day</th><th class=\"text\" scope=\"col\">Team</th>%s"
	    "<th scope=\"col\">kg CO2e</th><th class=\"text\" scope=\"col\">By</th>"
	    "<th class=\"text\" scope=\"col\">Reason</th></tr></thead>\n<tbody>\n",
	    statement->has_money ? "<th scope=\"col\">Amount</th>" : "");
	json_array_foreach(list, index, one)
		print_adjustment(statement, one);
	fputs("</tbody></table></div>\n", out);
}

static void
print_correction(const struct lt_statement *statement, const json_t *one)
{
	FILE *const out = statement->out;
	char month[48];
	int64_t job, others;

	fputs("<tr><th scope=\"row\">", out);
	lt_html_text(out,
	    lt_period_name(month, sizeof(month), lt_json_text(one, "month", ""), LT_DAY_SHORT));
	if (lt_json_int(one, "count", &others))
		fprintf(out, "%lld others", (long long)others);
	fputs("</th><td>", out);
	if (lt_json_int(one, "job_id", &job))
		fprintf(out, "%lld", (long long)job);
	else
		fputs("<span class=\"none\">\u2013</span>", out);
	fputs("</td>", out);
	adjustment_text(out, one, "team");
	if (statement->has_money)
		adjustment_figure(statement, one, "money_micros", LT_UNIT_MONEY);
	adjustment_figure(statement, one, "carbon_mg", LT_UNIT_CARBON);
	adjustment_text(out, one, "why");
	fputs("</tr>\n", out);
}

void
lt_html_corrections(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	const json_t *const list = json_object_get(statement->report, "corrections");
	const json_t *const more = json_object_get(statement->report, "more_corrections");
	int64_t others = 0;
	size_t index;
	const json_t *one;

	if (json_array_size(list) == 0) {
		fputs("<p>None in this period.</p>\n", out);
		return;
	}
	fprintf(out,
	    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Corrections\">\n"
	    "<table class=\"wide\"><caption>What was found later, booked in this period</caption>\n"
	    "<thead><tr><th scope=\"col\">Of</th><th scope=\"col\">Job</th><th class=\"text\" scope=\"col\">Team</th>%s"
	    "<th scope=\"col\">kg CO2e</th><th class=\"text\" scope=\"col\">Why</th></tr></thead>\n<tbody>\n",
	    statement->has_money ? "<th scope=\"col\">Amount</th>" : "");
	json_array_foreach(list, index, one)
		print_correction(statement, one);
	if (lt_json_int(more, "count", &others) && others > 0)
		print_correction(statement, more);
	fputs("</tbody></table></div>\n", out);
}

/* ---- the data ---- */

/* Reads a count of the total, or adds up the teams where it lacks it. False: neither has it. */
static bool
read_count(int64_t *value, const struct lt_statement *statement, const char *key)
{
	const json_t *const teams = lt_html_groups_by(statement->report, "team");

	if (lt_json_int(statement->total, key, value))
		return true;
	*value = lt_html_sum_of(teams, key);
	return json_object_get(json_array_get(teams, 0), key) != NULL;
}

void
lt_html_quality(const struct lt_statement *statement)
{
	static const struct {
		const char *key, *name;
		bool money; /* says nothing where none is shown */
	} counts[] = {
	    {"runs", "Runs", false},
	    {"estimated_runs", "by estimated signals or energy", false},
	    {"unpriced_runs", "without a known price, in no figure of money", true},
	    {"gpus_slurmctld_runs",
		"by the GPUs of slurmctld's records, which slurmdbd does not count", false},
	    {"gpus_unknown_runs", "of unknown GPUs, whose GPUs are not charged", false},
	    {"moved_runs", "moved in time or place", false},
	};
	FILE *const out = statement->out;
	char number[LT_FIGURE_SIZE], share[LT_FIGURE_SIZE], text[160];
	int64_t runs = 0, value, ppm;

	lt_json_int(statement->total, "runs", &runs);
	open_facts(out, "How runs were measured", "Runs", "Count");
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (!read_count(&value, statement, counts[i].key) ||
		    (counts[i].money && !statement->has_money))
			continue;
		lt_figure_text(number, statement, value, LT_UNIT_COUNT);
		if (i > 0 && lt_ppm(&ppm, value, runs))
			snprintf(text, sizeof(text), "%s (%s)", number,
			    lt_figure_text(share, statement, ppm, LT_UNIT_SHARE));
		else
			snprintf(text, sizeof(text), "%s", number);
		print_fact(out, counts[i].name, text);
	}
	fputs("</tbody></table></div>\n", out);
}

void
lt_html_method(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	char step[LT_FIGURE_SIZE];

	fputs("<ul>\n", out);
	if (statement->has_money)
		fputs(
		    "<li>Cost: what each run had of its nodes, for as long as it ran, at the price that held in each hour. A run on part of a node pays the largest of its shares of cores, memory and GPUs.</li>\n",
		    out);
	fputs(
	    "<li>Energy: the power of the share of a node that a run had, with the power usage effectiveness (PUE) of its partition.</li>\n"
	    "<li>Carbon: the energy of each hour at the intensity of the grid in that hour, location-based, and what the policy counts for making the hardware. No certificates or offsets are taken off.</li>\n"
	    "<li>A run that crosses the end of the period is in it with the part that fell into it. Late findings are corrections; adjustments are made by hand, each with a reason.</li>\n"
	    "<li>Sources: slurmdbd\u2019s records of each run; prices and intensities as lowtided stored them when they held. Formulas: docs/model.md of lowtide.</li>\n",
	    out);
	fprintf(out,
	    "<li>Figures are exact inside and rounded here once, each by itself, to %s%swhat is shown: rows of a column may differ from its total in the last digit; CSV and JSON have all digits. \u201c\u2013\u201d is not known or none, never zero.</li>\n</ul>\n",
	    statement->has_money ? lt_step_text(step, sizeof(step), statement->currency) : "",
	    statement->has_money ? " and " : "");
}

void
lt_html_checksum(const struct lt_statement *statement)
{
	char *const text = json_dumps(statement->report, JSON_COMPACT | JSON_SORT_KEYS);
	const char *const kept =
	    lt_json_text(json_object_get(statement->report, "period"), "checksum", "");
	char hex[BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx hash;

	if (text == NULL) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
		return;
	}
	sha256_init(&hash);
	sha256_update(&hash, strlen(text), (const uint8_t *)text);
	sha256_digest(&hash, sizeof(digest), digest);
	base16_encode_update(hex, sizeof(digest), digest);
	fprintf(statement->out,
	    "<p>SHA-256 of the figures: <code>%s</code></p>\n"
	    "<p class=\"note\">Of the report\u2019s JSON with sorted keys and no white space, in UTF-8. Statements of the same figures have the same.</p>\n",
	    hex);
	free(text);
	if (kept[0] == '\0')
		return;
	fputs("<p>Kept when the period was closed: <code>", statement->out);
	lt_html_text(statement->out, kept);
	fputs("</code></p>\n", statement->out);
}

/* ---- parts of the cost ---- */

void
lt_html_parts(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {
	    {"Amount", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, NULL, NULL, false},
	    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	const struct lt_section *const section = &lt_sections[LT_SECTION_PARTS];
	struct lt_html_row rows[LT_SECTION_FIGURES_MAX] = {0}, total = {.name = "Total"};
	struct lt_html_table table = {.caption = "Cost of the period",
	    .first = "For",
	    .columns = columns,
	    .rows = rows,
	    .total = &total,
	    .look = "few"};
	char charge[LT_CHARGE_TEXT_SIZE];

	/* The last column is the total. */
	for (int i = 0; section->columns[i + 1].title != NULL; i++) {
		const enum lt_team_figure id = section->columns[i].figure;
		const struct lt_figure_kind *const figure = &LT_ROW(lt_team_figures, id);
		int64_t value = 0;

		lt_json_int(statement->total, figure->key, &value);
		if (value != 0)
			rows[table.row_count++] = (struct lt_html_row){.name = figure->html,
			    .has = {true},
			    .values = {id == LT_TEAM_DISCOUNT ? -value : value}};
	}
	total.has[0] =
	    lt_json_int(statement->total, lt_team_figures[LT_TEAM_COST].key, &total.values[0]);
	lt_html_table(statement, &table);
	if (lt_carbon_charge_text(charge, sizeof(charge), statement->report)) {
		fputs("<p class=\"note\">Carbon charge: ", statement->out);
		lt_html_text(statement->out, charge);
		fputs(".</p>\n", statement->out);
	}
}

/* ---- what lowtide did in twelve months ---- */

enum { MONTHS_MAX = 24 };

void
lt_html_balance(const struct lt_statement *statement)
{
	const json_t *const balance = json_object_get(statement->report, "balance");
	const json_t *const months = json_object_get(balance, "months");
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	struct lt_html_row rows[MONTHS_MAX] = {0}, total = {.name = "All"};
	char names[MONTHS_MAX][48];
	struct lt_html_table table = {.caption = "What lowtide did, month by month",
	    .first = "Month",
	    .columns =
		lt_html_figure_columns(statement, shown, lt_balance_figures, LT_BALANCE_FIGURES),
	    .rows = rows,
	    .total = &total,
	    .look = "dense"};
	size_t index;
	const json_t *month;

	json_array_foreach(months, index, month) {
		if (index >= MONTHS_MAX)
			break;
		lt_period_name(names[index], sizeof(names[index]), lt_json_text(month, "label", ""),
		    LT_DAY_SHORT);
		rows[index].name = names[index];
		lt_html_row_fill(&rows[index], month, table.columns);
		table.row_count++;
	}
	lt_html_row_fill(&total, json_object_get(balance, "total"), table.columns);
	lt_html_table(statement, &table);
	fputs("<p>", statement->out);
	lt_html_text(statement->out, lt_report_balance_note);
	fputs("</p>\n", statement->out);
}

/* ---- owned nodes ---- */

enum { PARTITION_NAME_SIZE = 160 };

/* Chooses the columns; the rest is the difference of the two before it, as shown. */
static void
choose_columns(struct lt_html_column *shown, const struct lt_statement *statement)
{
	static const enum lt_unused_figure order[] = {LT_UNUSED_USED_S, LT_UNUSED_PAID_S,
	    LT_UNUSED_REST_S, LT_UNUSED_USED, LT_UNUSED_PAID, LT_UNUSED_REST};
	struct lt_html_column all[LT_UNUSED_FIGURES + 1] = {0};

	for (int i = 0; i < LT_UNUSED_FIGURES; i++) {
		const struct lt_figure_kind *const figure = &LT_ROW(lt_unused_figures, order[i]);

		all[i] = (struct lt_html_column){.title = figure->html,
		    .unit = figure->unit,
		    .rule = i % 3 == 2 ? LT_COLUMN_DIFFERENCE : LT_COLUMN_ADDS_UP,
		    .key = figure->key};
	}
	lt_html_columns(statement, shown, all);
}

static void
print_unused(const struct lt_statement *statement, const json_t *list)
{
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	struct lt_html_row *const rows = calloc(LT_HTML_ROWS_MAX, sizeof(*rows));
	char(*const names)[PARTITION_NAME_SIZE] = calloc(LT_HTML_ROWS_MAX, PARTITION_NAME_SIZE);
	struct lt_html_row total = {.name = "Total"};
	struct lt_html_table table = {.caption = "Partitions that the site owns",
	    .first = "Partition",
	    .columns = shown,
	    .rows = rows,
	    .total = &total};

	choose_columns(shown, statement);
	if (rows == NULL || names == NULL) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
	} else {
		for (size_t i = 0; i < json_array_size(list); i++) {
			const json_t *const row = json_array_get(list, i);

			lt_report_unused_name(
			    names[i], PARTITION_NAME_SIZE, statement->report, row);
			rows[i].name = names[i];
			lt_html_row_fill(&rows[i], row, shown);
			table.row_count++;
		}
		lt_html_row_fill(&total,
		    json_object_get(json_object_get(statement->report, "unused"), "total"), shown);
		lt_html_table(statement, &table);
	}
	free(rows);
	free(names);
}

void
lt_html_unused(const struct lt_statement *statement)
{
	const json_t *const list = lt_report_unused_rows(statement->report);

	if (json_array_size(list) > LT_HTML_ROWS_MAX)
		fputs("<p>Too many rows for a page: the table and JSON have them.</p>\n",
		    statement->out);
	else
		print_unused(statement, list);
	fputs(
	    "<p class=\"note\">Paid is what the nodes of these partitions cost by the hour, drained and down ones too. Used is what is booked for runs there, which the teams have above. Not used is no team's, and in no other sum of this statement.</p>\n",
	    statement->out);
	if (lt_report_unused_note(statement->report) != NULL)
		fprintf(statement->out, "<p class=\"note\">%s</p>\n",
		    lt_report_unused_note(statement->report));
}

/* ---- energy and carbon as an auditor asks for them, if the report has
 * them ---- */

enum { PLACE_NAME_SIZE = 400 };

static const struct lt_html_column audit_columns[] = {
    {"kWh", LT_UNIT_ENERGY, LT_COLUMN_ADDS_UP, "energy_wh", NULL, false},
    {"Location-based, kg", LT_UNIT_CARBON, LT_COLUMN_ADDS_UP, "location_mg", NULL, false},
    {"Market-based, kg", LT_UNIT_CARBON, LT_COLUMN_ALONE, "market_mg", NULL, false},
    {"Embodied, kg", LT_UNIT_CARBON, LT_COLUMN_ADDS_UP, "embodied_mg", NULL, false},
    {"Estimated", LT_UNIT_SHARE, LT_COLUMN_ALONE, "estimated_ppm", NULL, false},
    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false},
};

static void
name_place(char name[PLACE_NAME_SIZE], const json_t *row)
{
	static const char *const keys[] = {"zone", "partition", "month", "market_source"};
	size_t used = 0;

	name[0] = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *const text = lt_json_text(row, keys[i], "");

		if (text[0] != '\0' && used < PLACE_NAME_SIZE)
			used += (size_t)snprintf(name + used, PLACE_NAME_SIZE - used, "%s%s",
			    used > 0 ? ", " : "", text);
	}
}

static void
print_places(const struct lt_statement *statement, const json_t *carbon)
{
	const json_t *const list = json_object_get(carbon, "rows");
	struct lt_html_row *const rows = calloc(LT_HTML_ROWS_MAX, sizeof(*rows));
	char(*const names)[PLACE_NAME_SIZE] = calloc(LT_HTML_ROWS_MAX, PLACE_NAME_SIZE);
	struct lt_html_row total = {.name = "Total"};
	struct lt_html_table table = {.caption = "By grid zone, partition and month",
	    .first = "Where and when",
	    .columns = audit_columns,
	    .rows = rows,
	    .total = &total};

	if (rows == NULL || names == NULL) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
	} else {
		for (size_t i = 0; i < json_array_size(list); i++) {
			const json_t *const row = json_array_get(list, i);

			name_place(names[i], row);
			rows[i].name = names[i];
			lt_html_row_fill(&rows[i], row, audit_columns);
			table.row_count++;
		}
		lt_html_row_fill(&total, json_object_get(carbon, "total"), audit_columns);
		lt_html_table(statement, &table);
	}
	free(rows);
	free(names);
}

static bool
is_first(const json_t *rows, size_t index, const char *source)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(lt_json_text(json_array_get(rows, i), "source", ""), source) == 0)
			return false;
	return true;
}

/* Prints each source and since when its figures have been known. */
static void
print_sources(FILE *out, const json_t *carbon)
{
	const json_t *const rows = json_object_get(carbon, "rows");
	const json_t *const total = json_object_get(carbon, "total");
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) {
		const char *const source = lt_json_text(row, "source", "");

		if (source[0] == '\0' || !is_first(rows, i, source))
			continue;
		fputs("<p>Source ", out);
		lt_html_text(out, source);
		fputs(": ", out);
		lt_html_text(out, lt_json_text(row, "adapter", "not known"));
		fputs("; version and method: ", out);
		lt_html_text(out, lt_json_text(row, "version", "not said"));
		fputs(".</p>\n", out);
	}
	fputs("<p>Intensities were recorded from ", out);
	lt_html_text(out, lt_json_text(total, "issued_first", "n/a"));
	fputs(" to ", out);
	lt_html_text(out, lt_json_text(total, "issued_last", "n/a"));
	fputs(".</p>\n", out);
}

void
lt_html_audit(const struct lt_statement *statement)
{
	static const char *const facts[][2] = {{"boundary", "Boundary: "},
	    {"intensity", "; intensity: "}, {"factors", "; emission factors: "},
	    {"gwp", "; warming potentials: "}};
	FILE *const out = statement->out;
	const json_t *const carbon = json_object_get(statement->report, "carbon");
	const size_t count = json_array_size(json_object_get(carbon, "rows"));

	if (count == 0 || count > LT_HTML_ROWS_MAX)
		fputs(count == 0 ? "<p>Nothing ran.</p>\n"
				 : "<p>Too many rows for a page: CSV and JSON have them.</p>\n",
		    out);
	else
		print_places(statement, carbon);
	fputs("<p>", out);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		fputs(facts[i][1], out);
		lt_html_text(out, lt_json_text(carbon, facts[i][0], "not said"));
	}
	fputs("; method: ", out);
	lt_html_text(out, lt_json_text(carbon, "method", "not said"));
	fputs(".</p>\n", out);
	print_sources(out, carbon);
	fputs(
	    "<p class=\"note\">Location-based and market-based carbon are two methods, never one sum. Embodied carbon is in neither. Estimated is the part of the energy whose intensity was not measured.</p>\n",
	    out);
}
