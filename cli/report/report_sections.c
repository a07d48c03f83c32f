/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sections of lowtide report that are printed only if asked for, behind the tables; three of
 * them have a CSV of their own.
 *
 * --tree: each team with all teams below it. A team's own figures add up to the
 * statement, and so do the teams at the top. --balance: what lowtide did in each of twelve months,
 * for good and ill. --tcto: the total cost to outcome.
 * --unused: the part of the site's own nodes that was paid for and not used, in
 * no sum with the teams; unknown figures are n/a, never 0. --carbon: energy and carbon by grid
 * zone, partition, source and month; location-based and market- based carbon are two columns and
 * never one, and embodied carbon is in neither.
 *
 * Fails with LT_EVERSION if lowtided's answer lacks the section, LT_EINPUT if a figure in it is not
 * a number.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "currency.h"
#include "lookup.h"
#include "report.h"
#include "units.h"

/* ---- --tree ---- */

enum { INDENT = 2, LEVELS_MAX = 64 };

static int
check_tree(const json_t *report, struct lt_error *err)
{
	const json_t *const tree = json_object_get(report, "tree");
	size_t index;
	const json_t *row;

	if (!json_is_array(tree))
		return lt_fail(
		    err, LT_EVERSION, "lowtided's answer has no tree: it may be an older one");
	json_array_foreach(tree, index, row)
		if (lt_figures_check(row, lt_tree_figures, LT_TREE_FIGURES, "the tree", err) !=
		    LT_OK)
			return err->code;
	return LT_OK;
}

/* Writes a cell of a team with those below; budgets have no sum. */
static const char *
tree_cell(char out[LT_FIGURE_SIZE], const json_t *row, const struct lt_figure_kind *figure,
    bool is_total, const char *currency)
{
	const char *const key = is_total ? figure->total : figure->key;
	int64_t value;

	if (key != NULL && lt_json_int(row, key, &value))
		return lt_cell_alone(out, value, figure->unit, currency);
	return is_total || figure->absent == NULL ? "-" : figure->absent;
}

static void
add_tree_row(struct lt_table *table, const json_t *row, const char *name, bool is_total,
    const char *currency)
{
	char texts[LT_TREE_FIGURES][LT_FIGURE_SIZE];
	const char *cells[1 + LT_TREE_FIGURES] = {name};
	int count = 1;

	for (int i = 0; i < LT_TREE_FIGURES; i++)
		if (lt_tree_figures[i].title != NULL &&
		    lt_unit_is_shown(lt_tree_figures[i].unit, currency))
			cells[count++] =
			    tree_cell(texts[i], row, &lt_tree_figures[i], is_total, currency);
	lt_table_row(table, cells);
}

static int
print_tree(FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	const char *const currency = lt_json_text(report, "currency", "");
	struct lt_table_column heads[LT_TREE_FIGURES + 2] = {{"TEAM", false}};
	size_t index;
	const json_t *row;

	lt_figure_heads(heads, 1, lt_tree_figures, LT_TREE_FIGURES, currency);
	struct lt_table *const table = lt_table_new(heads);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(json_object_get(report, "tree"), index, row) {
		char name[LEVELS_MAX * INDENT + 128];
		int64_t level = 0;

		(void)lt_json_int(row, "level", &level);
		snprintf(name, sizeof(name), "%*s%s",
		    (int)(level < 0	       ? 0
			  : level > LEVELS_MAX ? LEVELS_MAX
					       : level) *
			INDENT,
		    "", lt_json_text(row, "team", "?"));
		add_tree_row(table, row, name, false, currency);
	}
	lt_table_rule(table);
	add_tree_row(table, json_object_get(report, "total"), "TOTAL", true, currency);
	lt_report_section(out, table, "Teams with all teams below them", currency, look);
	lt_table_free(table);
	return LT_OK;
}

static void
print_tree_csv(FILE *out, const json_t *report)
{
	size_t index;
	const json_t *row;

	fputs("team" LT_PERIOD_HEADERS("state") ",parent,level", out);
	lt_csv_headers(out, lt_tree_figures, LT_TREE_FIGURES);
	fputs("\r\n", out);
	json_array_foreach(json_object_get(report, "tree"), index, row) {
		int64_t level;

		lt_csv_text(out, lt_json_text(row, "team", ""));
		lt_period_cells(out, report);
		fputc(',', out);
		lt_csv_text(out, lt_json_text(row, "parent", ""));
		fputc(',', out);
		if (lt_json_int(row, "level", &level))
			fprintf(out, "%" PRId64, level);
		lt_csv_figures(out, report, row, lt_tree_figures, LT_TREE_FIGURES);
		fputs("\r\n", out);
	}
}

/* ---- --balance ---- */

const char lt_report_balance_note[] =
    "Moved: runs. Saved: by the model; measured: against jobs that were kept (holdout), where enough were. Hours waited: how much later than at home jobs were planned. Worse: moved jobs that cost or emitted more than they would have at home, of those of which both are known. Refused: jobs.";

static int
check_month(const json_t *row, struct lt_error *err)
{
	return lt_figures_check(row, lt_balance_figures, LT_BALANCE_FIGURES, "the balance", err);
}

static int
check_balance(const json_t *report, struct lt_error *err)
{
	const json_t *const balance = json_object_get(report, "balance");
	const json_t *const months = json_object_get(balance, "months");
	size_t index;
	const json_t *row;

	if (!json_is_array(months))
		return lt_fail(
		    err, LT_EVERSION, "lowtided's answer has no balance: it may be an older one");
	json_array_foreach(months, index, row)
		if (check_month(row, err) != LT_OK)
			return err->code;
	return check_month(json_object_get(balance, "total"), err);
}

static void
add_month(struct lt_table *table, const json_t *row, const char *name, const char *currency)
{
	char texts[LT_BALANCE_FIGURES][LT_FIGURE_SIZE];
	const char *cells[1 + LT_BALANCE_FIGURES] = {name};
	int count = 1;

	for (int i = 0; i < LT_BALANCE_FIGURES; i++)
		if (lt_unit_is_shown(lt_balance_figures[i].unit, currency))
			cells[count++] =
			    lt_cell_of(texts[i], row, &lt_balance_figures[i], currency);
	lt_table_row(table, cells);
}

static int
print_balance(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	const char *const currency = lt_json_text(report, "currency", "");
	const json_t *const balance = json_object_get(report, "balance");
	const json_t *const total = json_object_get(balance, "total");
	struct lt_table_column heads[LT_BALANCE_FIGURES + 2] = {{"MONTH", false}};
	char title[80];
	size_t index;
	const json_t *row;

	lt_figure_heads(heads, 1, lt_balance_figures, LT_BALANCE_FIGURES, currency);
	struct lt_table *const table = lt_table_new(heads);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(json_object_get(balance, "months"), index, row)
		add_month(table, row, lt_json_text(row, "label", "?"), currency);
	lt_table_rule(table);
	add_month(table, total, "TOTAL", currency);
	snprintf(title, sizeof(title), "What lowtide did, %s", lt_json_text(total, "label", "?"));
	lt_report_section(out, table, title, currency, look);
	lt_table_free(table);
	fprintf(out, "%s\n", lt_report_balance_note);
	return LT_OK;
}

static void
print_balance_csv(FILE *out, const json_t *report)
{
	const json_t *const months = json_object_get(json_object_get(report, "balance"), "months");
	size_t index;
	const json_t *row;

	fputs("month,state,currency", out);
	lt_csv_headers(out, lt_balance_figures, LT_BALANCE_FIGURES);
	fputs("\r\n", out);
	json_array_foreach(months, index, row) {
		lt_csv_text(out, lt_json_text(row, "label", ""));
		fputc(',', out);
		lt_csv_text(out, lt_json_text(row, "state", ""));
		fputc(',', out);
		lt_csv_text(out, lt_json_text(report, "currency", ""));
		lt_csv_figures(out, report, row, lt_balance_figures, LT_BALANCE_FIGURES);
		fputs("\r\n", out);
	}
}

/* ---- --tcto ---- */

enum { PARTS = 5, TCTO_FIGURES = PARTS + 3 }; /* the total, and per unit */

static const struct lt_figure_kind tcto_figures[TCTO_FIGURES] = {
    {"compute_micros", LT_UNIT_MONEY, "compute", .title = "compute"},
    {"energy_micros", LT_UNIT_MONEY, "energy", .title = "energy of owned nodes"},
    {"storage_micros", LT_UNIT_MONEY, "storage", .title = "storage"},
    {"engineer_micros", LT_UNIT_MONEY, "engineer", .title = "engineers after interruptions"},
    {"failed_micros", LT_UNIT_MONEY, "failed", .title = "failed runs"},
    {"total_micros", LT_UNIT_MONEY, "total", .title = "TOTAL"},
    {"per_gpu_hour_micros", LT_UNIT_MONEY, "per_gpu_hour", .title = "a GPU-hour"},
    {"per_completed_run_micros", LT_UNIT_MONEY, "per_completed_run",
	.title = "a run that completed"},
};

static int
check_tcto(const json_t *report, struct lt_error *err)
{
	const json_t *const tcto = json_object_get(report, "tcto");

	if (tcto == NULL)
		return lt_fail(
		    err, LT_EVERSION, "lowtided's answer has no tcto: it may be an older one");
	if (json_is_null(tcto))
		return LT_OK;
	if (!json_is_object(tcto))
		return lt_fail(err, LT_EINPUT, "the report's tcto is no object");
	return lt_figures_check(tcto, tcto_figures, TCTO_FIGURES, "tcto", err);
}

/* Prints "no rate", not 0, for a part without one. */
static void
add_part(struct lt_table *table, const json_t *tcto, const struct lt_figure_kind *part,
    const char *currency)
{
	char text[LT_FIGURE_SIZE];
	int64_t value;

	lt_table_row(table, (const char *const[]){
				part->title, lt_json_int(tcto, part->key, &value)
						 ? lt_cell_alone(text, value, part->unit, currency)
						 : "no rate"});
}

static int
print_tcto(FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	static const struct lt_table_column columns[] = {
	    {"PART", false}, {"COST", true}, {NULL, false}};
	const json_t *const tcto = json_object_get(report, "tcto");
	const char *const currency = lt_json_text(report, "currency", "");
	int64_t value;

	if (json_is_null(tcto)) {
		fputs("\nTotal cost to outcome: this site has no prices\n", out);
		return LT_OK;
	}
	if (!lt_json_int(tcto, tcto_figures[PARTS].key, &value))
		return lt_fail(err, LT_EINPUT, "the report lacks the total of tcto");
	struct lt_table *const table = lt_table_new(columns);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	for (int i = 0; i < PARTS; i++)
		add_part(table, tcto, &tcto_figures[i], currency);
	lt_table_rule(table);
	add_part(table, tcto, &tcto_figures[PARTS], currency);
	fputs("\nTotal cost to outcome, ", out);
	lt_print_safe(out, currency);
	fputc('\n', out);
	lt_table_fit(table, look->columns, 0);
	lt_table_print(out, table, look->color);
	lt_table_free(table);
	for (int i = PARTS + 1; i < TCTO_FIGURES; i++) {
		char text[LT_FIGURE_SIZE];

		if (lt_json_int(tcto, tcto_figures[i].key, &value))
			fprintf(out, "%s: %s\n", tcto_figures[i].title,
			    lt_money_text(text, sizeof(text), value, currency));
	}
	return LT_OK;
}

static void
print_tcto_csv(FILE *out, const json_t *report)
{
	const json_t *const tcto = json_object_get(report, "tcto");
	const char *const texts[] = {
	    lt_json_text(json_object_get(report, "period"), "label", ""),
	    lt_json_text(report, "cluster", ""),
	    lt_json_text(report, "currency", ""),
	};

	fputs("period,cluster,currency,part,amount\r\n", out);
	for (int i = 0; i < TCTO_FIGURES; i++) {
		int64_t value;

		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
			lt_csv_text(out, texts[k]);
			fputc(',', out);
		}
		fprintf(out, "%s,", tcto_figures[i].csv);
		if (lt_json_int(tcto, tcto_figures[i].key, &value))
			lt_csv_amount(out, LT_UNIT_MONEY, value);
		fputs("\r\n", out);
	}
}

/* ---- --unused ---- */

enum { TENTH_S = LT_HOUR_S / 10 };

static int
check_unused_row(const json_t *row, struct lt_error *err)
{
	if (!json_is_object(row))
		return lt_fail(err, LT_EINPUT, "a row of the report's unused is none");
	return lt_figures_check(row, lt_unused_figures, LT_UNUSED_FIGURES, "unused", err);
}

static int
check_unused(const json_t *report, struct lt_error *err)
{
	const json_t *const unused = json_object_get(report, "unused");
	const json_t *const rows = json_object_get(unused, "partitions");
	size_t index;
	const json_t *row;

	if (unused == NULL)
		return lt_fail(
		    err, LT_EVERSION, "lowtided's answer has no unused: it may be an older one");
	if (json_is_null(unused))
		return lt_fail(err, LT_EDENIED,
		    "unused: what was paid for and not used is told of the whole site, to who sees all teams");
	if (!json_is_array(rows))
		return lt_fail(err, LT_EINPUT, "the report's unused has no partitions");
	json_array_foreach(rows, index, row)
		if (check_unused_row(row, err) != LT_OK)
			return err->code;
	return check_unused_row(json_object_get(unused, "total"), err);
}

static const char *
unused_title(const json_t *report)
{
	const json_t *const unused = json_object_get(report, "unused");

	return json_is_true(json_object_get(unused, "all")) ? "Nodes of all pools" : "Owned nodes";
}

const json_t *
lt_report_unused_rows(const json_t *report)
{
	return json_object_get(json_object_get(report, "unused"), "partitions");
}

/* Appends "2026-11-16T00:00:00Z" as "2026-11-16 00:00". */
static void
put_unused_time(char *out, size_t size, const char *word, const char *iso)
{
	const size_t used = strlen(out);

	if (strlen(iso) >= strlen("2026-11-16T00:00"))
		snprintf(out + used, size - used, "%s%s %.10s %.5s", used > 0 ? ", " : "", word,
		    iso, iso + strlen("2026-11-16T"));
}

void
lt_report_unused_name(char *out, size_t size, const json_t *report, const json_t *row)
{
	const json_t *const period = json_object_get(report, "period");
	const char *const from = lt_json_text(row, "from", "");
	const char *const to = lt_json_text(row, "to", "");
	char part[80] = "";

	if (strcmp(from, lt_json_text(period, "start", "")) > 0)
		put_unused_time(part, sizeof(part), "from", from);
	if (strcmp(to, lt_json_text(period, "end", "")) < 0 &&
	    strcmp(to, lt_json_text(report, "as_of", "")) < 0)
		put_unused_time(part, sizeof(part), "until", to);
	snprintf(out, size, part[0] != '\0' ? "%s (%s UTC)" : "%s",
	    lt_json_text(row, "partition", "?"), part);
}

const char *
lt_report_unused_note(const json_t *report)
{
	size_t index;
	const json_t *row;

	json_array_foreach(lt_report_unused_rows(report), index, row) {
		int64_t seconds = 0, micros = 0;

		(void)lt_json_int(row, "unused_node_s", &seconds);
		(void)lt_json_int(row, "unused_micros", &micros);
		if (seconds < 0 || micros < 0)
			return "Below zero: more was booked for runs there than their nodes cost. Jobs that share a node pay the largest of their shares of cores, memory and GPUs each, which may be more than one node together; corrections count in the period in which they are booked.";
	}
	return NULL;
}

/* Returns the value to show: paid and used are rounded, and the rest is their difference. */
static int64_t
shown_value(const json_t *row, int figure, const char *currency)
{
	const bool is_time = figure < LT_UNUSED_PAID;
	int64_t value = 0;

	if (figure == LT_UNUSED_REST_S || figure == LT_UNUSED_REST)
		return shown_value(row, figure - 2, currency) -
		       shown_value(row, figure - 1, currency);
	(void)lt_json_int(row, LT_ROW(lt_unused_figures, figure).key, &value);
	lt_round_each(NULL, 0, &value, is_time ? TENTH_S : lt_currency_step(currency));
	return value;
}

static void
add_partition(struct lt_table *table, const char *name, const json_t *row, const char *currency)
{
	char texts[LT_UNUSED_FIGURES][LT_FIGURE_SIZE];
	const char *cells[LT_UNUSED_FIGURES + 1] = {name};

	for (int i = 0; i < LT_UNUSED_FIGURES; i++) {
		const int64_t value = shown_value(row, i, currency);
		const int64_t tenths = value / TENTH_S;
		int64_t known;

		cells[i + 1] = texts[i];
		if (!lt_json_int(row, lt_unused_figures[i].key, &known))
			cells[i + 1] = "n/a";
		else if (lt_unused_figures[i].unit == LT_UNIT_MONEY)
			lt_money_digits(texts[i], sizeof(texts[i]), value, currency);
		else
			snprintf(texts[i], sizeof(texts[i]), "%s%lld.%lld", tenths < 0 ? "-" : "",
			    llabs(tenths) / 10, llabs(tenths) % 10);
	}
	lt_table_row(table, cells);
}

static int
print_unused(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	const json_t *const rows = lt_report_unused_rows(report);
	const char *const currency = lt_json_text(report, "currency", "");
	struct lt_table_column heads[LT_UNUSED_FIGURES + 2] = {{"PARTITION", false}};
	char title[80];
	size_t index;
	const json_t *row;

	if (json_array_size(rows) == 0) {
		fprintf(out, "\n%s: none in this period\n", unused_title(report));
		return LT_OK;
	}
	lt_figure_heads(heads, 1, lt_unused_figures, LT_UNUSED_FIGURES, currency);
	struct lt_table *const table = lt_table_new(heads);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(rows, index, row) {
		char name[160];

		lt_report_unused_name(name, sizeof(name), report, row);
		add_partition(table, name, row, currency);
	}
	lt_table_rule(table);
	add_partition(
	    table, "TOTAL", json_object_get(json_object_get(report, "unused"), "total"), currency);
	snprintf(title, sizeof(title), "%s, paid whether used or not", unused_title(report));
	lt_report_section(out, table, title, currency, look);
	if (lt_report_unused_note(report) != NULL)
		fprintf(out, "%s\n", lt_report_unused_note(report));
	lt_table_free(table);
	return LT_OK;
}

/* ---- --carbon ---- */

enum { CARBON_TEXTS = 4, CARBON_FIGURES = 4, CARBON_COLUMNS = CARBON_TEXTS + CARBON_FIGURES + 2 };

static const struct {
	const char *key, *title;
	enum lt_unit unit; /* of a figure */
} carbon_columns[CARBON_COLUMNS] = {
    {"zone", "ZONE", LT_UNIT_COUNT},
    {"partition", "PARTITION", LT_UNIT_COUNT},
    {"source", "SOURCE", LT_UNIT_COUNT},
    {"month", "MONTH", LT_UNIT_COUNT},
    {"energy_wh", "ENERGY kWh", LT_UNIT_ENERGY},
    {"location_mg", "LOCATION kg", LT_UNIT_CARBON},
    {"market_mg", "MARKET kg", LT_UNIT_CARBON},
    {"embodied_mg", "EMBODIED kg", LT_UNIT_CARBON},
    {"pue", "PUE", LT_UNIT_COUNT},
    {"estimated_ppm", "ESTIMATED", LT_UNIT_COUNT},
};

static int
check_carbon_row(const json_t *row, struct lt_error *err)
{
	if (!json_is_object(row))
		return lt_fail(err, LT_EINPUT, "a row of the report's carbon is none");
	for (int i = CARBON_TEXTS; i < CARBON_COLUMNS; i++) {
		const json_t *const value = json_object_get(row, carbon_columns[i].key);

		if (!json_is_integer(value) && !json_is_null(value) &&
		    !(json_is_real(value) && i == CARBON_TEXTS + CARBON_FIGURES))
			return lt_fail(err, LT_EINPUT, "the report's %s of carbon is no number",
			    carbon_columns[i].key);
	}
	return LT_OK;
}

static int
check_carbon(const json_t *report, struct lt_error *err)
{
	const json_t *const carbon = json_object_get(report, "carbon");
	size_t index;
	const json_t *row;

	if (!json_is_object(carbon) || !json_is_array(json_object_get(carbon, "rows")))
		return lt_fail(
		    err, LT_EVERSION, "lowtided's answer has no carbon: it may be an older one");
	json_array_foreach(json_object_get(carbon, "rows"), index, row)
		if (check_carbon_row(row, err) != LT_OK)
			return err->code;
	return check_carbon_row(json_object_get(carbon, "total"), err);
}

/* Adds a row; first: in place of the texts, for the total. */
static void
add_carbon_row(struct lt_table *table, const json_t *row, const char *first)
{
	const json_t *const pue = json_object_get(row, "pue");
	char texts[CARBON_FIGURES][LT_FIGURE_SIZE], number[LT_FIGURE_SIZE], share[LT_FIGURE_SIZE];
	const char *cells[CARBON_COLUMNS];
	int64_t value;

	for (int i = 0; i < CARBON_TEXTS; i++)
		cells[i] = first != NULL ? "" : lt_json_text(row, carbon_columns[i].key, "-");
	if (first != NULL)
		cells[0] = first;
	for (int i = CARBON_TEXTS; i < CARBON_COLUMNS; i++)
		cells[i] = "n/a";
	for (int i = 0; i < CARBON_FIGURES; i++)
		if (lt_json_int(row, carbon_columns[CARBON_TEXTS + i].key, &value))
			cells[CARBON_TEXTS + i] = lt_cell_alone(
			    texts[i], value, carbon_columns[CARBON_TEXTS + i].unit, "");
	if (json_is_number(pue)) {
		snprintf(number, sizeof(number), "%.3f", json_number_value(pue));
		cells[CARBON_TEXTS + CARBON_FIGURES] = number;
	}
	if (lt_json_int(row, "estimated_ppm", &value)) {
		snprintf(share, sizeof(share), "%" PRId64 ".%" PRId64 " %%", (value + 500) / 10000,
		    (value + 500) % 10000 / 1000);
		cells[CARBON_TEXTS + CARBON_FIGURES + 1] = share;
	}
	lt_table_row(table, cells);
}

static void
print_method(FILE *out, const json_t *carbon)
{
	static const char *const keys[][2] = {{"boundary", "boundary"}, {"intensity", "intensity"},
	    {"factors", "factors"}, {"gwp", "GWP"}};

	fputs("\nEnergy and carbon, method ", out);
	lt_print_safe(out, lt_json_text(carbon, "method", "?"));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		fprintf(out, "; %s ", keys[i][1]);
		lt_print_safe(out, lt_json_text(carbon, keys[i][0], "not said"));
	}
	fputc('\n', out);
}

static int
print_carbon(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	enum { CUT = 1 << 0 | 1 << 1 | 1 << 2 };
	const json_t *const carbon = json_object_get(report, "carbon");
	struct lt_table_column heads[CARBON_COLUMNS + 1] = {0};
	size_t index;
	const json_t *row;

	for (int i = 0; i < CARBON_COLUMNS; i++)
		heads[i] = (struct lt_table_column){carbon_columns[i].title, i >= CARBON_TEXTS};
	struct lt_table *const table = lt_table_new(heads);
	if (table == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	json_array_foreach(json_object_get(carbon, "rows"), index, row)
		add_carbon_row(table, row, NULL);
	lt_table_rule(table);
	add_carbon_row(table, json_object_get(carbon, "total"), "TOTAL");
	print_method(out, carbon);
	lt_table_fit(table, look->columns, CUT);
	lt_table_print(out, table, look->color);
	fputs(
	    "Location-based and market-based carbon are two methods, never one sum; embodied carbon is in neither.\n",
	    out);
	lt_table_free(table);
	return LT_OK;
}

/* ---- the list of sections ---- */

enum section { TREE, BALANCE, TCTO, UNUSED, CARBON, SECTIONS };

static const struct {
	int (*check)(const json_t *report, struct lt_error *err);
	int (*print)(FILE *out, const json_t *report, const struct lt_report_look *look,
	    struct lt_error *err);
	void (*print_csv)(FILE *out, const json_t *report); /* NULL: none */
} sections[SECTIONS] = {
    [TREE] = {check_tree, print_tree, print_tree_csv},
    [BALANCE] = {check_balance, print_balance, print_balance_csv},
    [TCTO] = {check_tcto, print_tcto, print_tcto_csv},
    [UNUSED] = {check_unused, print_unused, NULL},
    [CARBON] = {check_carbon, print_carbon, NULL},
};

static bool
is_asked(const struct lt_report_look *look, enum section section)
{
	const bool asked[SECTIONS] = {[TREE] = look->tree,
	    [BALANCE] = look->balance,
	    [TCTO] = look->tcto,
	    [UNUSED] = look->unused,
	    [CARBON] = look->carbon};

	return LT_ROW(asked, section);
}

int
lt_report_sections_check(
    const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	for (int i = 0; i < SECTIONS; i++)
		if (is_asked(look, (enum section)i) && sections[i].check(report, err) != LT_OK)
			return err->code;
	return LT_OK;
}

int
lt_report_sections(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	for (int i = 0; i < SECTIONS; i++)
		if (is_asked(look, (enum section)i) &&
		    sections[i].print(out, report, look, err) != LT_OK)
			return err->code;
	return LT_OK;
}

bool
lt_report_section_csv(FILE *out, const json_t *report, const struct lt_report_look *look)
{
	for (int i = 0; i < SECTIONS; i++)
		if (is_asked(look, (enum section)i) && sections[i].print_csv != NULL) {
			sections[i].print_csv(out, report);
			return true;
		}
	return false;
}
