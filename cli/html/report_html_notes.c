/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement's end: carbon and energy, adjustments, how much of the
 * data is estimated, the method, and the checksum.
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
fact(FILE *out, const char *name, const char *value)
{
	fputs("<tr><th scope=\"row\">", out);
	lt_html_text(out, name);
	fputs("</th><td>", out);
	lt_html_text(out, value);
	fputs("</td></tr>\n", out);
}

static void
open_facts(
    FILE *out, const char *caption, const char *first, const char *second)
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
	const struct lt_figure_kind *const figure =
	    &LT_ROW(lt_team_figures, id);
	char text[LT_FIGURE_SIZE];
	int64_t value;

	if (lt_json_int(statement->total, figure->key, &value))
		fact(statement->out, figure->html,
		    lt_figure_text(text, statement, value, figure->unit));
}

/* g CO2e/kWh: mg / Wh of what the energy emitted, where its intensity is known.
 * Carbon of making the hardware and of adjustments is of no kWh, and only an
 * answer with energy and carbon by place tells it apart. */
static void
intensity_fact(const struct lt_statement *statement)
{
	const json_t *const rows = json_object_get(
	    json_object_get(statement->report, "carbon"), "rows");
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
		fact(statement->out, "Mean of its energy, g CO2e per kWh",
		    lt_figure_text(
			text, statement, (mg + wh / 2) / wh, LT_UNIT_COUNT));
}

static void
saved_row(const struct lt_statement *statement, struct lt_html_table *table,
    const char *name, const char *lever)
{
	struct lt_html_row *const row = &table->rows[table->row_count++];
	const int carbon = statement->has_money ? 1 : 0;

	row->name = name;
	if (statement->has_money)
		row->has[0] = lt_json_int(
		    json_object_get(statement->total, "saved_by_micros"), lever,
		    &row->values[0]);
	row->has[carbon] =
	    lt_json_int(json_object_get(statement->total, "saved_by_mg"), lever,
		&row->values[carbon]);
}

static void
print_saved(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {
	    {"Money", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, "saved_micros", NULL,
		false},
	    {"kg CO2e", LT_UNIT_CARBON, LT_COLUMN_ADDS_UP, "saved_mg", NULL,
		false},
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
		total.has[i] = lt_json_int(
		    statement->total, shown[i].key, &total.values[i]);
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
	static const enum lt_team_figure facts[] = {LT_TEAM_CHARGES_MG,
	    LT_TEAM_CORRECTIONS_MG, LT_TEAM_ADJUSTMENTS_MG, LT_TEAM_CARBON,
	    LT_TEAM_BUDGET_MG, LT_TEAM_ENERGY};
	FILE *const out = statement->out;
	const char *const factors =
	    lt_json_text(statement->report, "emission_factors", "");
	const char *const intensity =
	    lt_json_text(statement->report, "carbon_intensity", "");

	open_facts(out, "Carbon and energy of the period", "What", "Figure");
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		figure_fact(statement, facts[i]);
	intensity_fact(statement);
	fact(out, "Intensity of the grid",
	    strcmp(intensity, "marginal") == 0
		? "marginal: what one more kWh causes"
	    : strcmp(intensity, "average") == 0
		? "average: what a kWh of the grid's mix causes"
		: "not said");
	fact(out, "Emission factors",
	    strcmp(factors, "lifecycle") == 0
		? "life-cycle: fuel, building and operation"
	    : strcmp(factors, "direct") == 0 ? "direct: combustion alone"
					     : "not said");
	fputs("</tbody></table></div>\n", out);
	print_saved(statement);
	print_measured(statement);
}

/* ---- adjustments ---- */

static void
adjustment_figure(const struct lt_statement *statement, const json_t *one,
    const char *key, enum lt_unit unit)
{
	char text[LT_FIGURE_SIZE];
	int64_t value;

	fputs("<td>", statement->out);
	if (lt_json_int(one, key, &value))
		lt_html_text(statement->out,
		    lt_change_text(text, statement, value, unit));
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
	lt_html_text(out, lt_day_text(day, sizeof(day),
			      lt_json_text(one, "day", ""), LT_DAY_SHORT));
	fputs("</th>", out);
	adjustment_text(out, one, "team");
	if (statement->has_money)
		adjustment_figure(
		    statement, one, "money_micros", LT_UNIT_MONEY);
	adjustment_figure(statement, one, "carbon_mg", LT_UNIT_CARBON);
	adjustment_text(out, one, "who");
	adjustment_text(out, one, "reason");
	fputs("</tr>\n", out);
}

void
lt_html_adjustments(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	const json_t *const list =
	    json_object_get(statement->report, "adjustments");
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
	lt_html_text(out, lt_period_name(month, sizeof(month),
			      lt_json_text(one, "month", ""), LT_DAY_SHORT));
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
		adjustment_figure(
		    statement, one, "money_micros", LT_UNIT_MONEY);
	adjustment_figure(statement, one, "carbon_mg", LT_UNIT_CARBON);
	adjustment_text(out, one, "why");
	fputs("</tr>\n", out);
}

void
lt_html_corrections(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	const json_t *const list =
	    json_object_get(statement->report, "corrections");
	const json_t *const more =
	    json_object_get(statement->report, "more_corrections");
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

void
lt_html_quality(const struct lt_statement *statement)
{
	static const struct {
		const char *key, *name;
		bool money; /* says nothing where none is shown */
	} counts[] = {
	    {"runs", "Runs", false},
	    {"estimated_runs", "by estimated signals or energy", false},
	    {"unpriced_runs", "without a known price, in no figure of money",
		true},
	    {"gpus_slurmctld_runs",
		"by the GPUs of slurmctld's records, which slurmdbd does not count",
		false},
	    {"gpus_unknown_runs", "of unknown GPUs, whose GPUs are not charged",
		false},
	    {"moved_runs", "moved in time or place", false},
	};
	FILE *const out = statement->out;
	char number[LT_FIGURE_SIZE], share[LT_FIGURE_SIZE], text[160];
	int64_t runs = 0, value, ppm;

	lt_json_int(statement->total, "runs", &runs);
	open_facts(out, "How runs were measured", "Runs", "Count");
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (!lt_json_int(statement->total, counts[i].key, &value) ||
		    (counts[i].money && !statement->has_money))
			continue;
		lt_figure_text(number, statement, value, LT_UNIT_COUNT);
		if (i > 0 && lt_ppm(&ppm, value, runs))
			snprintf(text, sizeof(text), "%s (%s)", number,
			    lt_figure_text(
				share, statement, ppm, LT_UNIT_SHARE));
		else
			snprintf(text, sizeof(text), "%s", number);
		fact(out, counts[i].name, text);
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
	    statement->has_money
		? lt_step_text(step, sizeof(step), statement->currency)
		: "",
	    statement->has_money ? " and " : "");
}

void
lt_html_checksum(const struct lt_statement *statement)
{
	char *const text =
	    json_dumps(statement->report, JSON_COMPACT | JSON_SORT_KEYS);
	const char *const kept = lt_json_text(
	    json_object_get(statement->report, "period"), "checksum", "");
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
