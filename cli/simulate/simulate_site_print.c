/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints what lowtide would have saved at the site: a row per setting, and the assumptions; the
 * same as JSON; and a picture with the part of money and of carbon that each setting saves, with
 * its interval. No name of a user, account or job is printed.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "simulate_site.h"
#include "units.h"

enum { NOTES_MAX = 16, NOTE_SIZE = 200 };
enum currency { MONEY, CARBON };

static struct lt_jackknife
part_of(const struct lt_site_result *result, enum currency currency)
{
	double saved[LT_SITE_WEEKS_MAX], base[LT_SITE_WEEKS_MAX];

	for (int i = 0; i < result->week_count; i++) {
		const struct lt_site_sums *const week = &result->weeks[i];

		saved[i] = currency == MONEY ? week->saved_micros : week->saved_mg;
		base[i] = currency == MONEY ? week->base_micros : week->base_mg;
	}
	return lt_jackknife_part(saved, base, result->week_count);
}

static const char *
waiting_text(char *out, size_t size, double waiting)
{
	(void)snprintf(out, size, "%gx%s", waiting, waiting > 0 && waiting <= 1 ? " (policy)" : "");
	return out;
}

static const char *
part_text(char *out, size_t size, const struct lt_jackknife *part)
{
	if (!part->has_part)
		return "-";
	(void)snprintf(out, size, "%.1f %%", part->part * 100);
	return out;
}

static const char *
interval_text(char *out, size_t size, const struct lt_jackknife *part)
{
	if (!part->has_interval)
		return "-";
	(void)snprintf(out, size, "%.1f..%.1f %%", part->low * 100, part->high * 100);
	return out;
}

/* ---- assumptions ---- */

struct notes {
	int count;
	char list[NOTES_MAX][NOTE_SIZE];
};

static void __attribute__((format(printf, 2, 3))) note(struct notes *notes, const char *format, ...)
{
	va_list args;

	if (notes->count == NOTES_MAX)
		return;
	va_start(args, format);
	(void)vsnprintf(notes->list[notes->count++], NOTE_SIZE, format, args);
	va_end(args);
}

static bool
has_gpus(const struct lt_market *market)
{
	for (uint32_t i = 0; i < market->shape_count; i++)
		if (market->shapes[i].gpus > 0)
			return true;
	return false;
}

static void
note_left_out(struct notes *notes, const struct lt_site_page *page)
{
	const struct lt_site_counts *const counts = lt_site_counts(page->sim);
	const struct {
		uint32_t count;
		const char *why;
	} all[] = {
	    {counts->no_signal,
		"ran, or might have waited, in hours of which a signal is not known"},
	    {counts->no_place, "fit none of today's nodes, or have neither price nor carbon"},
	    {page->rows.no_partition, "ran in a partition that is not there any more"},
	    {page->rows.unended, "still wait or run"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].count > 0)
			note(notes, "left out: %u that %s", all[i].count, all[i].why);
	if (page->silent_count > 0)
		note(notes,
		    "%u sources have nothing stored of that time: as if they were not in the policy",
		    page->silent_count);
	if (has_gpus(&page->market) && page->rows.gpu_runs == 0)
		note(notes,
		    "slurmdbd has no GPUs of any run (AccountingStorageTRES lacks gres/gpu): all count as without");
}

static void
make_notes(struct notes *notes, const struct lt_site_page *page)
{
	const struct lt_site_counts *const counts = lt_site_counts(page->sim);
	char delay[32];

	notes->count = 0;
	note_left_out(notes, page);
	note(notes, "each run is decided as if its user had asked: who does not, saves nothing");
	note(notes, "may start up to %s later, as max_delay says; without deadlines or checkpoints",
	    lt_duration_text(delay, sizeof(delay), page->market.max_delay_s));
	note(notes,
	    "%u stay where and when they were: begin, dependency, reservation, licenses, burst buffer or a part of a heterogeneous job",
	    counts->fixed);
	note(notes, "who was not in the default partition is taken to have chosen it");
	note(
	    notes, "what stays starts when it did; room that moves make is given to nobody sooner");
	note(notes, "known at each decision: four weeks of signals, and runs that had ended");
	note(notes,
	    "partitions, constant prices and interruption rates are today's; budgets are not looked at");
	if (page->results[0].week_count >= 2)
		note(notes, "interval: 95 %%, leaving out one week at a time");
	else
		note(notes, "no interval: that takes two weeks, --last 14d or more");
}

/* ---- for people ---- */

static const struct lt_table_column columns[] = {
    {"objective", false},
    {"waiting", false},
    {"money saved", true},
    {"of all", true},
    {"95 %", true},
    {"CO2e saved", true},
    {"of all", true},
    {"95 %", true},
    {"moved", true},
    {"mean wait", true},
    {"late", true},
    {NULL, false},
};
enum { CELLS = sizeof(columns) / sizeof(columns[0]) - 1 };

static bool
has_money(const struct lt_site_page *page)
{
	return page->market.currency[0] != '\0';
}

static void
add_setting(struct lt_table *table, const struct lt_site_page *page, uint32_t i)
{
	const struct lt_site_result *const result = &page->results[i];
	const struct lt_jackknife money = part_of(result, MONEY);
	const struct lt_jackknife carbon = part_of(result, CARBON);
	char cells[CELLS][48];
	enum { SIZE = sizeof(cells[0]) };
	const bool is_money = has_money(page) && money.has_part;
	const char *const row[CELLS] = {lt_objective_name(page->settings[i].objective),
	    waiting_text(cells[1], SIZE, page->settings[i].waiting),
	    is_money ? lt_money_text(
			   cells[2], SIZE, llround(result->all.saved_micros), page->market.currency)
		     : "-",
	    is_money ? part_text(cells[3], SIZE, &money) : "-",
	    is_money ? interval_text(cells[4], SIZE, &money) : "-",
	    carbon.has_part ? lt_carbon_text(cells[5], SIZE, llround(result->all.saved_mg)) : "-",
	    part_text(cells[6], SIZE, &carbon), interval_text(cells[7], SIZE, &carbon), cells[8],
	    lt_hours_text(cells[9], SIZE, llround(result->wait_s)), cells[10]};

	(void)snprintf(cells[8], SIZE, "%u", result->all.moved);
	(void)snprintf(cells[10], SIZE, "%u", result->late);
	lt_table_row(table, row);
}

static const char *
partition_name(char *out, size_t size, const struct lt_site_page *page, uint32_t i)
{
	if (page->anonymous)
		(void)snprintf(out, size, "partition-%u", i + 1);
	else
		(void)snprintf(out, size, "%s", page->market.partitions[i].name);
	return out;
}

/* Prints a row for each partition with runs, at the policy's own price of waiting. */
static void
print_partitions(FILE *out, const struct lt_site_page *page)
{
	static const struct lt_table_column list[] = {{"ran in", false}, {"runs", true},
	    {"moved", true}, {"cost", true}, {"saved", true}, {"CO2e", true}, {"saved", true},
	    {NULL, false}};
	struct lt_table *const table = lt_table_new(list);
	const struct lt_site_result *const result = &page->results[page->shown];

	for (uint32_t i = 0; table != NULL && i < page->market.partition_count; i++) {
		const struct lt_site_sums *const sums = &result->partitions[i];
		const char *const currency = page->market.currency;
		char cells[7][64];
		enum { SIZE = sizeof(cells[0]) };
		const char *const row[] = {partition_name(cells[0], SIZE, page, i), cells[1],
		    cells[2],
		    !has_money(page)
			? "-"
			: lt_money_text(cells[3], SIZE, llround(sums->base_micros), currency),
		    !has_money(page)
			? "-"
			: lt_money_text(cells[4], SIZE, llround(sums->saved_micros), currency),
		    lt_carbon_text(cells[5], SIZE, llround(sums->base_mg)),
		    lt_carbon_text(cells[6], SIZE, llround(sums->saved_mg))};

		if (sums->runs == 0)
			continue;
		(void)snprintf(cells[1], SIZE, "%u", sums->runs);
		(void)snprintf(cells[2], SIZE, "%u", sums->moved);
		lt_table_row(table, row);
	}
	if (table != NULL) {
		lt_table_fit(table, lt_cli_columns(), 1 << 0);
		lt_table_print(out, table, page->cli->color);
	}
	lt_table_free(table);
}

void
lt_site_print(FILE *out, const struct lt_site_page *page)
{
	const struct lt_site_result *const first = &page->results[0];
	struct lt_table *const table = lt_table_new(columns);
	/* moved, mean wait, both intervals, late */
	static const int drops[] = {8, 9, 7, 4, 10, -1};
	char from[96], to[96], iso[2][40], money[64], carbon[64], wait[32];
	struct notes notes;

	if (table == NULL)
		return;
	fprintf(out, "%s%s%u runs that were submitted from %s to %s\n",
	    page->anonymous ? "" : page->market.cluster, page->anonymous ? "" : ": ",
	    first->all.runs,
	    lt_local_time(
		from, sizeof(from), lt_utc_text(iso[0], sizeof(iso[0]), page->from_utc_s)),
	    lt_local_time(to, sizeof(to), lt_utc_text(iso[1], sizeof(iso[1]), page->to_utc_s)));
	fprintf(out, "as they ran: %s%s%s CO2e, mean wait %s\n",
	    has_money(page) ? lt_money_text(money, sizeof(money), llround(first->all.base_micros),
				  page->market.currency)
			    : "",
	    has_money(page) ? ", " : "",
	    lt_carbon_text(carbon, sizeof(carbon), llround(first->all.base_mg)),
	    lt_hours_text(wait, sizeof(wait), llround(first->base_wait_s)));
	fputs(
	    "what lowtide would have saved, by objective and by what an hour of waiting is worth:\n",
	    out);
	for (uint32_t i = 0; i < page->setting_count; i++)
		add_setting(table, page, i);
	lt_table_fit(table, lt_cli_columns(), 0);
	lt_table_drop(table, drops);
	lt_table_print(out, table, page->cli->color);
	lt_table_free(table);
	fprintf(out, "\n%s, waiting %s:\n",
	    lt_objective_name(page->settings[page->shown].objective),
	    waiting_text(wait, sizeof(wait), page->settings[page->shown].waiting));
	print_partitions(out, page);
	make_notes(&notes, page);
	fputs("\n", out);
	for (int i = 0; i < notes.count; i++)
		fprintf(out, "- %s\n", notes.list[i]);
}

/* ---- JSON ---- */

static json_t *
part_json(const struct lt_jackknife *part)
{
	return json_pack("{s:o, s:o, s:o}", "part",
	    part->has_part ? json_real(part->part) : json_null(), "low",
	    part->has_interval ? json_real(part->low) : json_null(), "high",
	    part->has_interval ? json_real(part->high) : json_null());
}

static json_t *
setting_json(const struct lt_site_page *page, uint32_t i)
{
	const struct lt_site_result *const result = &page->results[i];
	const struct lt_jackknife money = part_of(result, MONEY);
	const struct lt_jackknife carbon = part_of(result, CARBON);
	const bool is_money = has_money(page) && money.has_part;

	return json_pack("{s:s, s:f, s:o, s:o, s:o, s:o, s:i, s:f, s:i}", "objective",
	    lt_objective_name(page->settings[i].objective), "waiting", page->settings[i].waiting,
	    "saved_micros",
	    is_money ? json_integer(llround(result->all.saved_micros)) : json_null(), "saved_mg",
	    carbon.has_part ? json_integer(llround(result->all.saved_mg)) : json_null(), "money",
	    is_money ? part_json(&money) : json_null(), "carbon",
	    carbon.has_part ? part_json(&carbon) : json_null(), "moved", (int)result->all.moved,
	    "mean_wait_s", result->wait_s, "late", (int)result->late);
}

static json_t *
micros_json(const struct lt_site_page *page, double micros)
{
	return has_money(page) ? json_real(micros) : json_null();
}

static json_t *
partitions_json(const struct lt_site_page *page)
{
	json_t *const list = json_array();

	for (uint32_t i = 0; i < page->market.partition_count; i++) {
		const struct lt_site_sums *const sums = &page->results[page->shown].partitions[i];
		char name[LT_NAME_SIZE + 16];

		if (sums->runs == 0)
			continue;
		json_array_append_new(
		    list, json_pack("{s:s, s:i, s:i, s:o, s:o, s:f, s:f}", "partition",
			      partition_name(name, sizeof(name), page, i), "runs", (int)sums->runs,
			      "moved", (int)sums->moved, "cost_micros",
			      micros_json(page, sums->base_micros), "saved_micros",
			      micros_json(page, sums->saved_micros), "carbon_mg", sums->base_mg,
			      "saved_mg", sums->saved_mg));
	}
	return list;
}

json_t *
lt_site_json(const struct lt_site_page *page)
{
	const struct lt_site_result *const first = &page->results[0];
	const struct lt_site_counts *const counts = lt_site_counts(page->sim);
	json_t *const settings = json_array(), *const notes = json_array();
	char from[40], to[40];
	struct notes list;

	for (uint32_t i = 0; i < page->setting_count; i++)
		json_array_append_new(settings, setting_json(page, i));
	make_notes(&list, page);
	for (int i = 0; i < list.count; i++)
		json_array_append_new(notes, json_string(list.list[i]));
	return json_pack("{s:o, s:s, s:s, s:s, s:o, s:{s:i, s:i, s:i, s:i, s:i, s:i}, "
			 "s:o, s:f, s:f, s:i, s:o, s:{s:s, s:f}, s:o, s:o}",
	    "cluster", page->anonymous ? json_null() : json_string(page->market.cluster), "from",
	    lt_utc_text(from, sizeof(from), page->from_utc_s), "to",
	    lt_utc_text(to, sizeof(to), page->to_utc_s), "currency", page->market.currency,
	    "rows_read", json_integer(page->rows.count), "runs", "counted", (int)counts->counted,
	    "fixed", (int)counts->fixed, "no_signal", (int)counts->no_signal, "no_place",
	    (int)counts->no_place, "no_partition", (int)page->rows.no_partition, "unended",
	    (int)page->rows.unended, "base_micros", micros_json(page, first->all.base_micros),
	    "base_mg", first->all.base_mg, "base_mean_wait_s", first->base_wait_s, "weeks",
	    first->week_count, "settings", settings, "partitions_of", "objective",
	    lt_objective_name(page->settings[page->shown].objective), "waiting",
	    page->settings[page->shown].waiting, "partitions", partitions_json(page), "notes",
	    notes);
}

/* ---- as a picture ---- */

enum {
	WIDTH = 960,
	LEFT = 190, /* of the bars; room for their names */
	RIGHT = 850,
	TOP = 70,
	ROW = 52,
	BAR = 16,
};

struct scale { /* percent from low to high between LEFT and RIGHT */
	double low, high;
};

static double
x_of(const struct scale *scale, double part)
{
	return LEFT + (RIGHT - LEFT) * (part * 100 - scale->low) / (scale->high - scale->low);
}

static void
stretch(struct scale *scale, const struct lt_jackknife *part)
{
	if (!part->has_part)
		return;
	const double low = (part->has_interval ? part->low : part->part) * 100;
	const double high = (part->has_interval ? part->high : part->part) * 100;

	while (low < scale->low && scale->low > -100)
		scale->low -= 10;
	while (high > scale->high && scale->high < 100)
		scale->high += 10;
}

static double
within(const struct scale *scale, double part)
{
	return fmin(fmax(part, scale->low / 100), scale->high / 100);
}

static void
draw_bar(
    FILE *out, const struct scale *scale, const struct lt_jackknife *part, const char *color, int y)
{
	if (!part->has_part)
		return;
	const double zero = x_of(scale, 0);
	const double end = x_of(scale, within(scale, part->part));
	const int middle = y + BAR / 2;

	fprintf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
	    fmin(zero, end), y, fabs(end - zero), BAR, color);
	if (part->has_interval) {
		const double low = x_of(scale, within(scale, part->low));
		const double high = x_of(scale, within(scale, part->high));

		fprintf(out, "<path d=\"M%.1f %dH%.1fM%.1f %dv%dM%.1f %dv%d\" stroke=\"#000\"/>\n",
		    low, middle, high, low, y + 3, BAR - 6, high, y + 3, BAR - 6);
	}
	fprintf(out, "<text x=\"%d\" y=\"%d\">%.1f %%</text>\n", RIGHT + 12, y + BAR - 4,
	    part->part * 100);
}

static void
draw_scale(FILE *out, const struct scale *scale, int bottom)
{
	for (double at = scale->low; at <= scale->high + 0.5; at += 10)
		fprintf(out,
		    "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/>"
		    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g %%</text>\n",
		    x_of(scale, at / 100), TOP - 10, bottom, x_of(scale, at / 100), bottom + 16,
		    at);
}

static void
draw(FILE *out, const struct lt_site_page *page)
{
	const int bottom = TOP + (int)page->setting_count * ROW;
	struct lt_jackknife money[LT_SITE_SETTINGS_MAX] = {0};
	struct lt_jackknife carbon[LT_SITE_SETTINGS_MAX];
	struct scale scale = {0, 10};
	char from[40], to[40], waiting[32];

	for (uint32_t i = 0; i < page->setting_count; i++) {
		if (has_money(page))
			money[i] = part_of(&page->results[i], MONEY);
		carbon[i] = part_of(&page->results[i], CARBON);
		stretch(&scale, &money[i]);
		stretch(&scale, &carbon[i]);
	}
	fprintf(out,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
	    "font-family=\"sans-serif\" font-size=\"12\">\n"
	    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
	    "<text x=\"20\" y=\"24\" font-size=\"15\" font-weight=\"bold\">What lowtide would have saved, %.10s to %.10s, %u runs</text>\n"
	    "<text x=\"20\" y=\"44\">%s<tspan fill=\"#383\">green: of CO2e</tspan>; line: 95 %%; each run as if its user had asked</text>\n",
	    WIDTH, bottom + 40, lt_utc_text(from, sizeof(from), page->from_utc_s),
	    lt_utc_text(to, sizeof(to), page->to_utc_s), page->results[0].all.runs,
	    has_money(page) ? "<tspan fill=\"#06c\">blue: of money</tspan>; " : "");
	draw_scale(out, &scale, bottom);
	for (uint32_t i = 0; i < page->setting_count; i++) {
		const int y = TOP + (int)i * ROW;

		fprintf(out, "<text x=\"20\" y=\"%d\">%s, waiting %s</text>\n", y + BAR + 4,
		    lt_objective_name(page->settings[i].objective),
		    waiting_text(waiting, sizeof(waiting), page->settings[i].waiting));
		draw_bar(out, &scale, &money[i], "#06c", y);
		draw_bar(out, &scale, &carbon[i], "#383", y + BAR + 4);
	}
	fputs("</svg>\n", out);
}

int
lt_site_write_svg(const struct lt_site_page *page, const char *path, struct lt_error *err)
{
	struct lt_output output;

	if (lt_output_open(&output, path, err) != LT_OK)
		return err->code;
	draw(output.out, page);
	return lt_output_close(&output, err);
}
