/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The days of the HTML statement: cost and carbon of each, from the report's groups by day, with
 * the days that have none; months if the period has more days than a table should.
 * report_html_chart.c draws them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "date.h"
#include "report_html.h"
#include "units.h"

enum { DAYS_MAX = 366 + 366 };

struct sums { /* by day from the period's first */
	int64_t cost[DAYS_MAX], carbon[DAYS_MAX];
	int64_t first, count, last_known;
};

/* Adds groups to their days. Groups outside the period have no day; the table then says that its
 * sums differ from the total. */
static void
add_groups(struct sums *sums, const json_t *groups)
{
	size_t index;
	const json_t *group;

	json_array_foreach(groups, index, group) {
		int64_t day, cost = 0, carbon = 0;

		if (!lt_day_number(lt_json_text(group, "day", ""), &day) || day < sums->first ||
		    day >= sums->first + sums->count)
			continue;
		day -= sums->first;
		lt_json_int(group, "cost_micros", &cost);
		lt_json_int(group, "carbon_mg", &carbon);
		if (!lt_add(&sums->cost[day], cost) || !lt_add(&sums->carbon[day], carbon))
			continue;
		if (day > sums->last_known)
			sums->last_known = day;
	}
}

/* Returns how many days are known: of an open period those until now, else those until its last
 * entry. */
static int64_t
known_days(const struct lt_statement *statement, const struct sums *sums)
{
	int64_t day;

	if (!statement->open)
		return sums->count;
	if (lt_day_number(lt_json_text(statement->report, "as_of", ""), &day) &&
	    day >= sums->first + sums->last_known && day < sums->first + sums->count)
		return day - sums->first + 1;
	return sums->last_known + 1;
}

static struct lt_html_step *
step_of_day(struct lt_html_days *days, int64_t day, bool months)
{
	struct lt_html_step *const last = days->count > 0 ? &days->steps[days->count - 1] : NULL;
	const struct lt_date date = lt_date_of_day(day);
	char text[16];

	snprintf(text, sizeof(text), "%04d-%02d-%02d", (int)date.year % 10000, date.month % 100,
	    date.day % 100);
	if (last != NULL && months && strncmp(last->day, text, 7) == 0)
		return last;
	if (days->count == LT_HTML_STEPS_MAX)
		return last;
	struct lt_html_step *const step = &days->steps[days->count++];

	*step = (struct lt_html_step){0};
	memcpy(step->day, text, sizeof(step->day));
	if (months) {
		text[7] = '\0';
		lt_period_name(step->name, sizeof(step->name), text, LT_DAY_SHORT);
	} else {
		lt_day_text(step->name, sizeof(step->name), text, LT_DAY_SHORT);
	}
	return step;
}

static void
fill_steps(struct lt_html_days *days, const struct lt_statement *statement, const struct sums *sums)
{
	const int64_t known = known_days(statement, sums);
	int64_t so_far = 0;

	for (int64_t i = 0; i < sums->count; i++) {
		struct lt_html_step *const step =
		    step_of_day(days, sums->first + i, statement->months);

		step->cost += sums->cost[i];
		step->carbon += sums->carbon[i];
		so_far += sums->cost[i];
		step->cost_so_far = so_far;
		if (i < known)
			days->known = days->count;
	}
}

bool
lt_html_days_read(struct lt_html_days *days, const struct lt_statement *statement)
{
	const json_t *const period = json_object_get(statement->report, "period");
	const json_t *const groups =
	    json_object_get(json_object_get(statement->report, "by"), "day");
	struct sums *const sums = calloc(1, sizeof(*sums));
	int64_t last;

	*days = (struct lt_html_days){0};
	if (sums == NULL) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
		return false;
	}
	const bool known = json_array_size(groups) > 0 &&
			   lt_day_number(lt_json_text(period, "first_day", ""), &sums->first) &&
			   lt_day_number(lt_json_text(period, "last_day", ""), &last) &&
			   last >= sums->first && last - sums->first < DAYS_MAX;

	if (known) {
		sums->count = last - sums->first + 1;
		sums->last_known = -1;
		add_groups(sums, groups);
		fill_steps(days, statement, sums);
	}
	free(sums);
	return known;
}

/* ---- the sections ---- */

/* Finds the budget that a chart may be drawn against: that of all that is shown. */
static bool
find_budget(const struct lt_statement *statement, int64_t *budget)
{
	return statement->has_money && lt_json_int(statement->total, "budget_micros", budget);
}

/* The columns of a day, the site's main figure first. */
struct day_columns {
	int count;
	struct lt_html_column list[LT_HTML_COLUMNS_MAX + 1];
	int cost, left, carbon; /* where; -1: not there */
	int64_t budget;
};

static int
add_column(
    struct day_columns *columns, const char *title, enum lt_unit unit, enum lt_column_rule rule)
{
	columns->list[columns->count] =
	    (struct lt_html_column){.title = title, .unit = unit, .rule = rule};
	return columns->count++;
}

static void
choose_columns(struct day_columns *columns, const struct lt_statement *statement)
{
	*columns = (struct day_columns){.cost = -1, .left = -1};
	if (statement->has_money) {
		columns->cost = add_column(columns, "Cost", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP);
		add_column(columns, "So far", LT_UNIT_MONEY, LT_COLUMN_SO_FAR);
		if (find_budget(statement, &columns->budget))
			columns->left =
			    add_column(columns, "Left of budget", LT_UNIT_MONEY, LT_COLUMN_LEFT);
	}
	columns->carbon = add_column(columns, "kg CO2e", LT_UNIT_CARBON, LT_COLUMN_ADDS_UP);
	if (!statement->has_money)
		add_column(columns, "kg so far", LT_UNIT_CARBON, LT_COLUMN_SO_FAR);
}

static void
fill_day(struct lt_html_row *row, const struct day_columns *columns, int64_t cost, int64_t carbon)
{
	if (columns->cost >= 0) {
		row->has[columns->cost] = true;
		row->values[columns->cost] = cost;
	}
	if (columns->left >= 0) {
		row->has[columns->left] = true;
		row->values[columns->left] = columns->budget;
	}
	row->has[columns->carbon] = true;
	row->values[columns->carbon] = carbon;
}

static void
print_days(const struct lt_statement *statement, const struct lt_html_days *days)
{
	struct lt_html_row rows[LT_HTML_STEPS_MAX + 1] = {0}, total = {0};
	struct day_columns columns;
	int64_t cost = 0, carbon = 0;
	int count = days->known;

	choose_columns(&columns, statement);
	lt_json_int(statement->total, "cost_micros", &cost);
	lt_json_int(statement->total, "carbon_mg", &carbon);
	fill_day(&total, &columns, cost, carbon);
	total.name = "Total";
	for (int i = 0; i < count; i++) {
		const struct lt_html_step *const step = &days->steps[i];

		rows[i].name = step->name;
		fill_day(&rows[i], &columns, step->cost, step->carbon);
		cost -= step->cost;
		carbon -= step->carbon;
	}
	if ((statement->has_money && cost != 0) || carbon != 0) {
		rows[count].name = "On no day of these";
		rows[count].ours = true;
		fill_day(&rows[count++], &columns, cost, carbon);
	}
	struct lt_html_table table = {
	    .caption = statement->months ? "What each month cost" : "What each day cost",
	    .first = statement->months ? "Month" : "Day",
	    .columns = columns.list,
	    .row_count = count,
	    .rows = rows,
	    .total = &total,
	    .look = "dense"};

	if (!statement->has_money)
		table.caption =
		    statement->months ? "What each month emitted" : "What each day emitted";
	lt_html_table(statement, &table);
}

void
lt_html_by_day(const struct lt_statement *statement)
{
	struct lt_html_days days;

	if (!lt_html_days_read(&days, statement) || days.known == 0) {
		fputs("<p>Nothing was charged on any day.</p>\n", statement->out);
		return;
	}
	lt_html_bars(statement, &days);
	print_days(statement, &days);
}

static void
say_strong(
    const struct lt_statement *statement, const char *before, const char *text, const char *after)
{
	fputs(before, statement->out);
	fputs("<strong>", statement->out);
	lt_html_text(statement->out, text);
	fputs("</strong>", statement->out);
	fputs(after, statement->out);
}

static void
say_money(
    const struct lt_statement *statement, const char *before, int64_t value, const char *after)
{
	char text[LT_FIGURE_SIZE];

	say_strong(statement, before, lt_figure_text(text, statement, value, LT_UNIT_MONEY), after);
}

static void
say_estimate(
    const struct lt_statement *statement, const char *before, int64_t value, const char *after)
{
	char text[LT_FIGURE_SIZE];

	say_strong(
	    statement, before, lt_estimate_text(text, statement, value, LT_UNIT_MONEY), after);
}

static void
say_forecast(const struct lt_statement *statement, const json_t *forecast, int64_t budget)
{
	int64_t low, expected, high;

	if (!lt_json_int(forecast, "low_micros", &low) ||
	    !lt_json_int(forecast, "expected_micros", &expected) ||
	    !lt_json_int(forecast, "high_micros", &high))
		return;
	say_estimate(statement, "<p>At the end of the period about ", expected,
	    " is expected to have been spent, ");
	say_estimate(statement, "between ", low, "");
	say_estimate(statement, " and ", high, ": ");
	if (low > budget)
		fputs("over the budget in all of this range.</p>\n", statement->out);
	else if (high > budget)
		fputs("it may go over the budget.</p>\n", statement->out);
	else
		fputs("within the budget in all of this range.</p>\n", statement->out);
}

void
lt_html_budget(const struct lt_statement *statement)
{
	struct lt_html_days days;
	int64_t budget, cost = 0, held;

	if (!find_budget(statement, &budget)) {
		fputs(
		    "<p>No budget covers all that is in this statement. What each team has left of its own stands under <a href=\"#teams\">By team</a>.</p>\n",
		    statement->out);
		return;
	}
	lt_json_int(statement->total, "cost_micros", &cost);
	say_money(statement, "<p>", cost, " of ");
	say_money(statement, "", budget, " is spent");
	if (lt_json_int(statement->total, "held_micros", &held) && held != 0)
		say_money(statement, "; ", held, " more is held for jobs that wait or run");
	fputs(".</p>\n", statement->out);
	say_forecast(statement, json_object_get(statement->report, "forecast"), budget);
	if (lt_html_days_read(&days, statement) && days.known > 0)
		lt_html_burn_down(statement, &days);
}
