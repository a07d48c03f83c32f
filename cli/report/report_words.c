/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts of a report that tables and the HTML statement share: teams whose budget is over, or
 * expected to be at its end; lowtide's own balance; parts of the cost that are not for nodes; and
 * what was measured, a line each: the saving of moved jobs against the jobs that were kept, and the
 * accuracy of quotes.
 *
 * Budgets are the report's "budgets", which have periods of their own; a closed period has none,
 * and then they are those of its teams.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "columns.h"
#include "report.h"
#include "units.h"

enum { FIRST_LINES = 12 }; /* budgets named before the figures */

bool
lt_budget_is_over(const struct lt_budget_row *row)
{
	return row->actual > row->budget;
}

bool
lt_budget_will_be_over(const struct lt_budget_row *row)
{
	return !lt_budget_is_over(row) && row->has_expected && row->expected > row->budget;
}

/* ---- the budgets ---- */

/* Adds a row for each currency that the budget limits and that is shown. */
static int
add_rows(struct lt_budget_row *rows, const json_t *of, const char *label, bool has_money)
{
	static const char *const keys[][4] = {
	    {"budget_micros", "actual_micros", "held_micros", "expected_micros"},
	    {"budget_mg", "actual_mg", "held_mg", "expected_mg"}};
	int count = 0;

	for (int i = has_money ? 0 : 1; i < 2; i++) {
		struct lt_budget_row *const row = &rows[count];

		*row = (struct lt_budget_row){.team = lt_json_text(of, "team", "?"),
		    .label = lt_json_text(of, "label", label),
		    .is_carbon = i == 1};
		if (!lt_json_int(of, keys[i][0], &row->budget) ||
		    !lt_json_int(of, keys[i][1], &row->actual))
			continue;
		(void)lt_json_int(of, keys[i][2], &row->held);
		row->has_expected = lt_json_int(of, keys[i][3], &row->expected);
		count++;
	}
	return count;
}

static bool
has_budget(const json_t *budgets, const char *team, const char *label)
{
	size_t index;
	const json_t *one;

	json_array_foreach(budgets, index, one)
		if (strcmp(lt_json_text(one, "team", ""), team) == 0 &&
		    strcmp(lt_json_text(one, "label", ""), label) == 0)
			return true;
	return false;
}

static double
fullness(const struct lt_budget_row *row)
{
	const int64_t part = lt_budget_will_be_over(row) ? row->expected : row->actual;

	return row->budget > 0	 ? (double)part / (double)row->budget
	       : row->actual > 0 ? INFINITY
				 : 0;
}

static int
fullest_first(const void *left, const void *right)
{
	const struct lt_budget_row *const one = left, *const two = right;
	const int ranks[] = {lt_budget_is_over(one)	   ? 0
			     : lt_budget_will_be_over(one) ? 1
							   : 2,
	    lt_budget_is_over(two)	  ? 0
	    : lt_budget_will_be_over(two) ? 1
					  : 2};
	const double a = fullness(one), b = fullness(two);

	if (ranks[0] != ranks[1])
		return ranks[0] - ranks[1];
	if (a != b)
		return a > b ? -1 : 1;
	const int team = strcmp(one->team, two->team);
	return team != 0 ? team : strcmp(one->label, two->label);
}

int
lt_budget_rows(struct lt_budget_row **rows, const json_t *report)
{
	const json_t *const budgets = json_object_get(report, "budgets");
	const json_t *const teams = json_object_get(report, "teams");
	const char *const label = lt_json_text(json_object_get(report, "period"), "label", "");
	const bool has_money = lt_json_text(report, "currency", "")[0] != '\0';
	size_t index;
	const json_t *one;
	int count = 0;

	*rows = calloc(2 * (json_array_size(budgets) + json_array_size(teams)) + 2, sizeof(**rows));
	if (*rows == NULL)
		return -1;
	json_array_foreach(budgets, index, one)
		count += add_rows(&(*rows)[count], one, label, has_money);
	json_array_foreach(teams, index, one)
		if (!has_budget(budgets, lt_json_text(one, "team", ""), label))
			count += add_rows(&(*rows)[count], one, label, has_money);
	qsort(*rows, (size_t)count, sizeof(**rows), fullest_first);
	return count;
}

static const char *
budget_text(
    char *out, size_t size, int64_t value, const struct lt_budget_row *row, const char *currency)
{
	char carbon[48];

	if (!row->is_carbon)
		return lt_money_text(out, size, value, currency);
	snprintf(out, size, "%s CO2e", lt_carbon_text(carbon, sizeof(carbon), value));
	return out;
}

/* Writes " has spent 141 % of its $5,000.00 for 2026-10". */
const char *
lt_budget_said(char out[LT_OVER_SIZE], const struct lt_budget_row *row, const char *currency)
{
	char percent[LT_PERCENT_SIZE], now[LT_PERCENT_SIZE], budget[80];

	budget_text(budget, sizeof(budget), row->budget, row, currency);
	lt_percent_text(now, row->actual, row->budget);
	if (lt_budget_is_over(row) && row->budget > 0)
		snprintf(
		    out, LT_OVER_SIZE, " has spent %s of its %s for %s", now, budget, row->label);
	else if (lt_budget_is_over(row))
		snprintf(out, LT_OVER_SIZE, " is over its %s for %s", budget, row->label);
	else
		snprintf(out, LT_OVER_SIZE,
		    " is expected to spend %s of its %s for %s; %s is spent",
		    lt_percent_text(percent, row->expected, row->budget), budget, row->label, now);
	return out;
}

const char *
lt_none_over_text(const struct lt_budget_row *rows, int count)
{
	for (int i = 0; i < count; i++)
		if (rows[i].has_expected)
			return "No budget is over, nor expected to be.";
	return "No budget is over.";
}

/* ---- lowtide's balance ---- */

/* Uses the measurement against jobs that were kept, if it is known. */
static void
saved_text(char *out, size_t size, const json_t *report, bool is_money)
{
	const json_t *const measured =
	    json_object_get(json_object_get(report, "measured"), is_money ? "micros" : "mg");
	int64_t value = 0;
	char text[64], carbon[48];
	const bool is_measured = lt_json_int(measured, "saved", &value);

	if (!is_measured)
		(void)lt_json_int(json_object_get(report, "total"),
		    is_money ? "saved_micros" : "saved_mg", &value);
	if (is_money)
		lt_money_text(text, sizeof(text), value, lt_json_text(report, "currency", ""));
	else
		snprintf(
		    text, sizeof(text), "%s CO2e", lt_carbon_text(carbon, sizeof(carbon), value));
	snprintf(out, size, "%s (%s)", text, is_measured ? "measured" : "modelled");
}

/* Writes what lowtide refused; "" if nothing. */
static void
refused_text(char *out, size_t size, const json_t *report)
{
	int64_t jobs = 0;

	out[0] = '\0';
	if (lt_json_int(json_object_get(report, "refused"), "jobs", &jobs))
		snprintf(
		    out, size, " It refused %lld job%s.", (long long)jobs, jobs == 1 ? "" : "s");
}

/* Writes how many of the jobs that it moved came out worse; "" if none did, or that is not
 * known. */
static void
worse_text(char *out, size_t size, const json_t *report)
{
	const json_t *const worse = json_object_get(json_object_get(report, "measured"), "worse");
	int64_t jobs = 0, known = 0;

	out[0] = '\0';
	if (lt_json_int(worse, "jobs", &jobs) && jobs > 0 &&
	    lt_json_int(worse, "known_jobs", &known))
		snprintf(out, size,
		    " %lld of %lld moved jobs came out worse: they cost or emitted more than at home.",
		    (long long)jobs, (long long)known);
}

bool
lt_balance_text(char out[LT_BALANCE_SIZE], const json_t *report)
{
	const json_t *const total = json_object_get(report, "total");
	const bool has_money = lt_json_text(report, "currency", "")[0] != '\0';
	char money[96] = "", carbon[96], waited[64] = "", refused[64], worse[128];
	int64_t moved = 0, runs = 0, waited_s;

	(void)lt_json_int(total, "moved_runs", &moved);
	(void)lt_json_int(total, "runs", &runs);
	refused_text(refused, sizeof(refused), report);
	if (runs == 0 && refused[0] == '\0')
		return false;
	if (moved == 0) {
		snprintf(out, LT_BALANCE_SIZE, "lowtide moved no run.%s", refused);
		return true;
	}
	if (has_money)
		saved_text(money, sizeof(money), report, true);
	saved_text(carbon, sizeof(carbon), report, false);
	worse_text(worse, sizeof(worse), report);
	if (lt_json_int(json_object_get(report, "measured"), "waited_s", &waited_s))
		snprintf(
		    waited, sizeof(waited), ", for %.1f hours of waiting", (double)waited_s / 3600);
	snprintf(out, LT_BALANCE_SIZE, "lowtide moved %lld of %lld runs and saved %s%s%s%s.%s%s",
	    (long long)moved, (long long)runs, money, has_money ? " and " : "", carbon, waited,
	    worse, refused);
	return true;
}

/* ---- as text ---- */

/* Prints when nobody watched the cluster. */
static void
print_away(FILE *out, const json_t *report)
{
	size_t index;
	const json_t *away;

	json_array_foreach(json_object_get(report, "away"), index, away)
		fprintf(out,
		    "Nobody watched the cluster from %s to %s: what ended then is charged as estimated.\n",
		    lt_json_text(away, "from", "?"), lt_json_text(away, "to", "?"));
}

int
lt_report_over(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	const char *const currency = lt_json_text(report, "currency", "");
	struct lt_budget_row *rows;
	char text[LT_OVER_SIZE], balance[LT_BALANCE_SIZE];
	const int count = lt_budget_rows(&rows, report);
	int over = 0;

	if (count < 0)
		return lt_fail(err, LT_ENOMEM, "no memory");
	for (; over < count &&
	       (lt_budget_is_over(&rows[over]) || lt_budget_will_be_over(&rows[over]));
	     over++) {
		if (over >= FIRST_LINES)
			continue;
		fputs(look->color ? "\033[31m" : "", out);
		fputs(lt_budget_is_over(&rows[over]) ? "over budget: " : "expected over: ", out);
		lt_print_safe(out, rows[over].team);
		lt_print_safe(out, lt_budget_said(text, &rows[over], currency));
		fputs(look->color ? "\033[0m\n" : "\n", out);
	}
	if (over > FIRST_LINES)
		fprintf(out, "and %d more\n", over - FIRST_LINES);
	if (over == 0 && count > 0)
		fprintf(out, "%s\n", lt_none_over_text(rows, count));
	if (lt_balance_text(balance, report))
		fprintf(out, "%s\n", balance);
	print_away(out, report);
	free(rows);
	return LT_OK;
}

/* ---- budgets of longer periods, as a table ---- */

const char *
lt_longer_budget(const json_t *report, const char *team, const char *limit)
{
	const char *const label = lt_json_text(json_object_get(report, "period"), "label", "");
	size_t index;
	const json_t *one;
	int64_t value;

	json_array_foreach(json_object_get(report, "budgets"), index, one)
		if (strcmp(lt_json_text(one, "team", ""), team) == 0 &&
		    lt_json_int(one, limit, &value) &&
		    strcmp(lt_json_text(one, "label", label), label) != 0)
			return lt_json_text(one, "label", "");
	return NULL;
}

static void
add_longer(struct lt_table *table, const struct lt_budget_row *row, const char *currency)
{
	const int64_t figures[] = {
	    row->budget, row->actual, row->held, row->budget - row->actual - row->held};
	char texts[4][LT_FIGURE_SIZE], spent[LT_PERCENT_SIZE], expected[LT_PERCENT_SIZE] = "n/a";
	const char *cells[] = {
	    row->team, row->label, texts[0], texts[1], texts[2], texts[3], spent, expected};

	for (int i = 0; i < 4; i++)
		budget_text(texts[i], sizeof(texts[i]), figures[i], row, currency);
	lt_percent_text(spent, row->actual, row->budget);
	if (row->has_expected)
		lt_percent_text(expected, row->expected, row->budget);
	lt_table_row(table, cells);
}

int
lt_report_longer(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	static const struct lt_table_column columns[] = {{"TEAM", false}, {"PERIOD", false},
	    {"BUDGET", true}, {"ACTUAL", true}, {"HELD", true}, {"AVAILABLE", true},
	    {"SPENT", true}, {"EXPECTED", true}, {NULL, false}};
	const char *const label = lt_json_text(json_object_get(report, "period"), "label", "");
	struct lt_budget_row *rows;
	const int count = lt_budget_rows(&rows, report);
	struct lt_table *const table = count >= 0 ? lt_table_new(columns) : NULL;
	bool any = false;

	if (table == NULL)
		lt_fail(err, LT_ENOMEM, "no memory");
	for (int i = 0; table != NULL && i < count; i++)
		if (strcmp(rows[i].label, label) != 0) {
			add_longer(table, &rows[i], lt_json_text(report, "currency", ""));
			any = true;
		}
	if (any) {
		fputs("\nBudgets of longer periods\n", out);
		lt_table_fit(table, look->columns, 3);
		lt_table_print(out, table, look->color);
	}
	lt_table_free(table);
	free(rows);
	return err->code;
}

/* ---- parts of the cost ---- */

static bool
has_parts(const json_t *row)
{
	int64_t carbon = 0, discount = 0;

	lt_json_int(row, "carbon_charge_micros", &carbon);
	lt_json_int(row, "discount_micros", &discount);
	return carbon != 0 || discount != 0;
}

/* Looks at each team too: the parts of two teams may add up to 0. */
bool
lt_report_has_parts(const json_t *report)
{
	size_t index;
	const json_t *team;

	json_array_foreach(json_object_get(report, "teams"), index, team)
		if (has_parts(team))
			return true;
	return has_parts(json_object_get(report, "total"));
}

/* Adjustments by hand have no carbon charge of their own. */
bool
lt_carbon_charge_text(char *out, size_t size, const json_t *report)
{
	static const double most = 1e18;
	const char *const currency = lt_json_text(report, "currency", "");
	const json_t *const total = json_object_get(report, "total");
	int64_t charge = 0, all_mg = 0, adjusted_mg = 0;
	char carbon[64], price[64];

	lt_json_int(total, "carbon_charge_micros", &charge);
	lt_json_int(total, "carbon_mg", &all_mg);
	lt_json_int(total, "adjustments_mg", &adjusted_mg);
	const double mg = (double)all_mg - (double)adjusted_mg;
	const double mean = (double)charge * LT_MG_PER_TONNE / mg;

	if (currency[0] == '\0' || charge == 0 || mg < 1 || mg > most || fabs(mean) > most)
		return false;
	snprintf(out, size, "%s CO2e at %s a tonne, in the mean",
	    lt_carbon_text(carbon, sizeof(carbon), llround(mg)),
	    lt_money_text(price, sizeof(price), llround(mean), currency));
	return true;
}

/* ---- what was measured ---- */

static double
percent(int64_t part, int64_t whole)
{
	return whole != 0 ? 100.0 * (double)part / (double)whole : 0;
}

struct saved { /* of money or of carbon */
	int64_t charged, saved, low, high, modelled;
	int64_t quote_charged, quote_low, quote_high; /* whatever they were to take */
	bool has, has_quote, has_modelled;
};

static struct saved
saved_of(const json_t *of)
{
	struct saved s = {0};

	s.has_modelled = lt_json_int(of, "modelled", &s.modelled);
	s.has_quote = lt_json_int(of, "by_quote_charged", &s.quote_charged) &&
		      lt_json_int(of, "by_quote_low", &s.quote_low) &&
		      lt_json_int(of, "by_quote_high", &s.quote_high);
	s.has = lt_json_int(of, "charged", &s.charged) && lt_json_int(of, "saved", &s.saved) &&
		lt_json_int(of, "saved_low", &s.low) && lt_json_int(of, "saved_high", &s.high);
	return s;
}

static const char *
saved_amount(char *out, size_t size, int64_t value, const char *currency)
{
	char carbon[48];

	if (currency[0] != '\0')
		return lt_money_text(out, size, value, currency);
	snprintf(out, size, "%s CO2e", lt_carbon_text(carbon, sizeof(carbon), value));
	return out;
}

/* Writes the line of savings; currency "": in carbon. */
static bool
saved_line(char *out, size_t size, const json_t *of, const char *currency)
{
	const struct saved s = saved_of(of);
	char saved[64], modelled[64] = "not known", quote[64] = "";

	if (!s.has)
		return false;
	if (s.has_modelled)
		saved_amount(modelled, sizeof(modelled), s.modelled, currency);
	if (s.has_quote)
		snprintf(quote, sizeof(quote), "; by quotes %.1f to %.1f %%",
		    percent(s.quote_low, s.quote_charged + s.quote_low),
		    percent(s.quote_high, s.quote_charged + s.quote_high));
	snprintf(out, size,
	    "measured: moving saved %s, %.1f %% (95 %%: %.1f to %.1f %%%s), against jobs that were kept; modelled of the same jobs: %s",
	    saved_amount(saved, sizeof(saved), s.saved, currency),
	    percent(s.saved, s.charged + s.saved), percent(s.low, s.charged + s.low),
	    percent(s.high, s.charged + s.high), quote, modelled);
	return true;
}

static bool
money_line(char *out, size_t size, const json_t *report, const json_t *measured)
{
	const char *const currency = lt_json_text(report, "currency", "");

	return currency[0] != '\0' &&
	       saved_line(out, size, json_object_get(measured, "micros"), currency);
}

static bool
carbon_line(char *out, size_t size, const json_t *report, const json_t *measured)
{
	(void)report;
	return saved_line(out, size, json_object_get(measured, "mg"), "");
}

/* Writes how many jobs were compared, and whether they were enough. */
static bool
jobs_line(char *out, size_t size, const json_t *report, const json_t *measured)
{
	const json_t *const money = json_object_get(measured, "micros");
	const json_t *const carbon = json_object_get(measured, "mg");
	const bool has_any = saved_of(money).has || saved_of(carbon).has;
	int64_t moved = 0, kept = 0, left = 0, days = 0, more = 0;

	(void)report;
	lt_json_int(measured, "moved_jobs", &moved);
	lt_json_int(measured, "kept_jobs", &kept);
	lt_json_int(measured, "left_jobs", &left);
	lt_json_int(money, "kept_user_days", &days);
	lt_json_int(carbon, "kept_user_days", &more);
	if (moved + kept == 0)
		return false;
	const int wrote = snprintf(out, size,
	    "compared: %lld moved jobs with %lld that were kept (holdout) on %lld user-days",
	    (long long)moved, (long long)kept, (long long)(days > more ? days : more));
	size_t used = wrote > 0 ? (size_t)wrote : 0;

	if (left > 0 && used < size)
		used += (size_t)snprintf(out + used, size - used,
		    ", of which users moved %lld, which count as kept", (long long)left);
	if (!has_any && used < size)
		snprintf(out + used, size - used, ": too few to tell what moving saved");
	return true;
}

static bool
quotes_line(char *out, size_t size, const json_t *report, const json_t *measured)
{
	const json_t *const quotes = json_object_get(measured, "quotes");
	const bool has_money = lt_json_text(report, "currency", "")[0] != '\0';
	int64_t jobs = 0, ppm;

	lt_json_int(quotes, "jobs", &jobs);
	if (!lt_json_int(quotes, has_money ? "median_error_ppm" : "median_error_mg_ppm", &ppm))
		return false;
	snprintf(out, size,
	    "quotes: of %lld jobs that completed half were within %.1f %% of what was charged",
	    (long long)jobs, percent(ppm, LT_MICROS));
	return true;
}

static bool
deadlines_line(char *out, size_t size, const json_t *report, const json_t *measured)
{
	const json_t *const quotes = json_object_get(measured, "quotes");
	int64_t jobs = 0, met = 0, stated = 0;

	(void)report;
	lt_json_int(quotes, "deadline_jobs", &jobs);
	lt_json_int(quotes, "deadlines_met", &met);
	lt_json_int(quotes, "stated_ppm", &stated);
	if (jobs == 0)
		return false;
	snprintf(out, size, "deadlines: %lld of %lld met, %.1f %%; stated: %.4g %%", (long long)met,
	    (long long)jobs, percent(met, jobs), percent(stated, LT_MICROS));
	return true;
}

int
lt_measured_lines(char lines[LT_MEASURED_LINES][LT_MEASURED_LINE_SIZE], const json_t *report)
{
	static bool (*const fill[LT_MEASURED_LINES])(char *, size_t, const json_t *,
	    const json_t *) = {jobs_line, money_line, carbon_line, quotes_line, deadlines_line};
	const json_t *const measured = json_object_get(report, "measured");
	int count = 0;

	for (int i = 0; i < LT_MEASURED_LINES; i++)
		if (fill[i](lines[count], LT_MEASURED_LINE_SIZE, report, measured))
			count++;
	return count;
}
