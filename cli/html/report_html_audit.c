/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement's energy and carbon as an auditor asks for them, where the
 * report was asked for them too.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report_html.h"

enum { NAME_SIZE = 400 };

static const struct lt_html_column columns[] = {
    {"kWh", LT_UNIT_ENERGY, LT_COLUMN_ADDS_UP, "energy_wh", NULL, false},
    {"Location-based, kg", LT_UNIT_CARBON, LT_COLUMN_ADDS_UP, "location_mg",
	NULL, false},
    {"Market-based, kg", LT_UNIT_CARBON, LT_COLUMN_ALONE, "market_mg", NULL,
	false},
    {"Embodied, kg", LT_UNIT_CARBON, LT_COLUMN_ADDS_UP, "embodied_mg", NULL,
	false},
    {"Estimated", LT_UNIT_SHARE, LT_COLUMN_ALONE, "estimated_ppm", NULL, false},
    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false},
};

static void
name_row(char name[NAME_SIZE], const json_t *row)
{
	static const char *const keys[] = {
	    "zone", "partition", "month", "market_source"};
	size_t used = 0;

	name[0] = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *const text = lt_json_text(row, keys[i], "");

		if (text[0] != '\0' && used < NAME_SIZE)
			used += (size_t)snprintf(name + used, NAME_SIZE - used,
			    "%s%s", used > 0 ? ", " : "", text);
	}
}

static void
print_rows(const struct lt_statement *statement, const json_t *carbon)
{
	const json_t *const list = json_object_get(carbon, "rows");
	struct lt_html_row *const rows =
	    calloc(LT_HTML_ROWS_MAX, sizeof(*rows));
	char(*const names)[NAME_SIZE] = calloc(LT_HTML_ROWS_MAX, NAME_SIZE);
	struct lt_html_row total = {.name = "Total"};
	struct lt_html_table table = {
	    .caption = "By grid zone, partition and month",
	    .first = "Where and when",
	    .columns = columns,
	    .rows = rows,
	    .total = &total};

	if (rows == NULL || names == NULL) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
	} else {
		for (size_t i = 0; i < json_array_size(list); i++) {
			const json_t *const row = json_array_get(list, i);

			name_row(names[i], row);
			rows[i].name = names[i];
			lt_html_row_fill(&rows[i], row, columns);
			table.row_count++;
		}
		lt_html_row_fill(
		    &total, json_object_get(carbon, "total"), columns);
		lt_html_table(statement, &table);
	}
	free(rows);
	free(names);
}

static bool
is_first(const json_t *rows, size_t index, const char *source)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(lt_json_text(json_array_get(rows, i), "source", ""),
			source) == 0)
			return false;
	return true;
}

/* What each source gives, and since when its figures were known. */
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
	const json_t *const carbon =
	    json_object_get(statement->report, "carbon");
	const size_t count = json_array_size(json_object_get(carbon, "rows"));

	if (count == 0 || count > LT_HTML_ROWS_MAX)
		fputs(
		    count == 0
			? "<p>Nothing ran.</p>\n"
			: "<p>Too many rows for a page: CSV and JSON have them.</p>\n",
		    out);
	else
		print_rows(statement, carbon);
	fputs("<p>", out);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		fputs(facts[i][1], out);
		lt_html_text(
		    out, lt_json_text(carbon, facts[i][0], "not said"));
	}
	fputs("; method: ", out);
	lt_html_text(out, lt_json_text(carbon, "method", "not said"));
	fputs(".</p>\n", out);
	print_sources(out, carbon);
	fputs(
	    "<p class=\"note\">Location-based and market-based carbon are two methods, never one sum. Embodied carbon is in neither. Estimated is the part of the energy whose intensity was not measured.</p>\n",
	    out);
}
