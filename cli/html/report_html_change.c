/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The section on changes against the period before, and their causes: steps from one total to the
 * other that add up, then the largest differences by team and by partition.
 *
 * More or fewer node-hours (runs, if the period before has no hours) count at the cost of a
 * node-hour of all partitions before. The mix is the effect of their being on other partitions, at
 * the earlier cost of an hour there, with all that a new partition costs beyond that mean.
 * Corrections of the period's own hours belong to its use; those of earlier hours are a step of
 * their own. The rest, less adjustments, is the price of an hour.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_html.h"
#include "units.h"

__extension__ typedef __int128 wide;

enum { SHOWN = 6 }; /* differences */

/* ---- the causes ---- */

/* Finds the group with that name; NULL: none. */
static const json_t *
find_group(const json_t *groups, const char *key, const char *name)
{
	size_t index;
	const json_t *group;

	json_array_foreach(groups, index, group)
		if (strcmp(lt_json_text(group, key, ""), name) == 0 &&
		    !json_is_true(json_object_get(group, "adjustment")))
			return group;
	return NULL;
}

/* Returns the cost of the hours of the period itself. */
static int64_t
own_cost(const json_t *group)
{
	int64_t cost = 0, earlier = 0;

	lt_json_int(group, "cost_micros", &cost);
	lt_json_int(group, "earlier_micros", &earlier);
	return cost - earlier;
}

/* Returns the cost of more or fewer hours than before, at the earlier price. */
static int64_t
cost_of_hours(const json_t *now, const json_t *before)
{
	const int64_t cost = own_cost(now), cost_then = own_cost(before);
	int64_t hours = 0, hours_then = 0;

	lt_json_int(now, "node_s", &hours);
	lt_json_int(before, "node_s", &hours_then);
	if (hours_then <= 0)
		return cost;
	return (int64_t)((wide)cost_then * (hours - hours_then) / hours_then);
}

static bool
volume(int64_t *micros, const struct lt_statement *statement)
{
	const json_t *const now = lt_html_groups_by(statement->report, "partition");
	const json_t *const before = lt_html_groups_by(statement->previous, "partition");
	size_t index;
	const json_t *group;

	*micros = 0;
	if (!json_is_array(now) || !json_is_array(before))
		return false;
	json_array_foreach(now, index, group) {
		if (json_is_true(json_object_get(group, "adjustment")))
			continue;
		*micros += cost_of_hours(
		    group, find_group(before, "partition", lt_json_text(group, "partition", "")));
	}
	json_array_foreach(before, index, group)
		if (!json_is_true(json_object_get(group, "adjustment")) &&
		    find_group(now, "partition", lt_json_text(group, "partition", "")) == NULL)
			*micros -= own_cost(group);
	return true;
}

/* Returns the node-seconds of all partitions. */
static int64_t
node_seconds(const json_t *report)
{
	return lt_html_sum_of(lt_html_groups_by(report, "partition"), "node_s");
}

/* Prices the additional hours at the earlier mean, as if they were on the same partitions. */
static int64_t
volume_of_hours(const struct lt_statement *statement, int64_t of_partitions)
{
	const int64_t then = node_seconds(statement->previous);
	const json_t *const before = lt_html_groups_by(statement->previous, "partition");
	int64_t cost = 0;
	size_t index;
	const json_t *group;

	if (then <= 0)
		return of_partitions;
	json_array_foreach(before, index, group)
		if (!json_is_true(json_object_get(group, "adjustment")))
			cost += own_cost(group);
	return (int64_t)((wide)cost * (node_seconds(statement->report) - then) / then);
}

static int64_t
difference(const struct lt_statement *statement, const char *key)
{
	int64_t now = 0, before = 0;

	lt_json_int(statement->total, key, &now);
	lt_json_int(json_object_get(statement->previous, "total"), key, &before);
	return now - before;
}

static int64_t
earlier_difference(const struct lt_statement *statement)
{
	return lt_html_sum_of(lt_html_groups_by(statement->report, "partition"), "earlier_micros") -
	       lt_html_sum_of(
		   lt_html_groups_by(statement->previous, "partition"), "earlier_micros");
}

/* Rounds as shown; the last cause takes the rest of all roundings. */
static int64_t
shown(const struct lt_statement *statement, int64_t micros)
{
	return lt_shown_difference(statement, micros, 0, LT_UNIT_MONEY);
}

static int64_t
cost_difference(const struct lt_statement *statement)
{
	int64_t now = 0, before = 0;

	lt_json_int(statement->total, "cost_micros", &now);
	lt_json_int(json_object_get(statement->previous, "total"), "cost_micros", &before);
	return lt_shown_difference(statement, now, before, LT_UNIT_MONEY);
}

static void
add_step(struct lt_html_table *table, const char *name, int64_t value, bool always)
{
	if (value == 0 && !always)
		return;
	table->rows[table->row_count++] =
	    (struct lt_html_row){.name = name, .has = {true}, .values = {value}};
}

struct cause_names { /* of the steps whose names have figures */
	char hours[256], mix[112], price[112];
};

/* Prices more or fewer runs than before at the earlier mean charge, for an earlier period without
 * groups. */
static bool
volume_of_runs(int64_t *micros, struct cause_names *names, const struct lt_statement *statement)
{
	const json_t *const then = json_object_get(statement->previous, "total");
	char now[LT_FIGURE_SIZE], before[LT_FIGURE_SIZE];
	int64_t runs, runs_then, charges;

	if (!lt_json_int(statement->total, "runs", &runs) ||
	    !lt_json_int(then, "runs", &runs_then) || runs_then <= 0 ||
	    !lt_json_int(then, "charges_micros", &charges))
		return false;
	*micros = (int64_t)((wide)charges * (runs - runs_then) / runs_then);
	snprintf(names->hours, sizeof(names->hours), "Number: %s runs, before %s",
	    lt_figure_text(now, statement, runs, LT_UNIT_COUNT),
	    lt_figure_text(before, statement, runs_then, LT_UNIT_COUNT));
	snprintf(names->price, sizeof(names->price), "What a run cost: its size, length and price");
	return true;
}

/* True if either period has such parts. */
static bool
has_parts(const struct lt_statement *statement)
{
	return lt_report_has_parts(statement->report) || lt_report_has_parts(statement->previous);
}

static void
name_causes(
    struct cause_names *names, const struct lt_statement *statement, int64_t mix, int64_t price)
{
	char now[LT_FIGURE_SIZE], before[LT_FIGURE_SIZE];

	lt_figure_text(now, statement, node_seconds(statement->report), LT_UNIT_HOURS);
	lt_figure_text(before, statement, node_seconds(statement->previous), LT_UNIT_HOURS);
	snprintf(
	    names->hours, sizeof(names->hours), "Hours: %s node-hours, before %s", now, before);
	snprintf(names->mix, sizeof(names->mix), "Mix: more of them on %s partitions",
	    mix < 0 ? "cheaper" : "dearer");
	snprintf(names->price, sizeof(names->price),
	    "Price: a node-hour of the same partition%s cost %s",
	    has_parts(statement) ? ", with its carbon charge and discounts," : "",
	    price < 0	? "less"
	    : price > 0 ? "more"
			: "as much");
}

/* Adds the causes; hours are preferred to numbers of runs. */
static void
add_causes(
    struct lt_html_table *table, const struct lt_statement *statement, struct cause_names *names)
{
	const int64_t adjustments = shown(statement, difference(statement, "adjustments_micros"));
	int64_t corrections = shown(statement, difference(statement, "corrections_micros"));
	int64_t hours, rest = cost_difference(statement) - corrections - adjustments;

	if (volume(&hours, statement)) {
		const int64_t volume_alone = shown(statement, volume_of_hours(statement, hours));

		rest += corrections;
		corrections = shown(statement, earlier_difference(statement));
		hours = shown(statement, hours);
		rest -= hours + corrections;
		name_causes(names, statement, hours - volume_alone, rest);
		add_step(table, names->hours, volume_alone, true);
		add_step(table, names->mix, hours - volume_alone, false);
		add_step(table, names->price, rest, true);
	} else if (volume_of_runs(&hours, names, statement)) {
		hours = shown(statement, hours);
		add_step(table, names->hours, hours, true);
		add_step(table, names->price, rest - hours, true);
	} else {
		add_step(table, "Runs", rest, true);
	}
	add_step(table, "Corrections of earlier periods", corrections, false);
	add_step(table, "Adjustments", adjustments, false);
}

/* Prints the cost of failed runs, which is already in the steps, mostly in hours. */
static void
say_failed(const struct lt_statement *statement)
{
	const json_t *const now = lt_html_groups_by(statement->report, "state");
	const json_t *const before = lt_html_groups_by(statement->previous, "state");
	char text[LT_FIGURE_SIZE], then[LT_FIGURE_SIZE];

	if (!json_is_array(now) || !json_is_array(before))
		return;
	fputs("<p>Runs that did not complete are in this with <strong>", statement->out);
	lt_html_text(statement->out,
	    lt_figure_text(text, statement, lt_html_sum_of(now, "failed_micros"), LT_UNIT_MONEY));
	fputs("</strong>, before with ", statement->out);
	lt_html_text(statement->out, lt_figure_text(then, statement,
					 lt_html_sum_of(before, "failed_micros"), LT_UNIT_MONEY));
	fputs(".</p>\n", statement->out);
}

static void
print_causes(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {
	    {"Amount", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, NULL, NULL, true},
	    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	struct lt_html_row rows[7] = {0}, total = {.has = {true}};
	struct lt_html_table table = {.caption = "From the period before to this",
	    .first = "Step",
	    .columns = columns,
	    .rows = rows,
	    .total = &total,
	    .look = "few"};
	struct cause_names names;
	int64_t before = 0;

	lt_json_int(json_object_get(statement->previous, "total"), "cost_micros", &before);
	before = lt_shown_difference(statement, before, 0, LT_UNIT_MONEY);
	add_step(&table, statement->before, before, true);
	rows[0].plain = true;
	add_causes(&table, statement, &names);
	total.name = statement->name;
	total.plain = true;
	lt_json_int(statement->total, "cost_micros", &total.values[0]);
	total.values[0] = lt_shown_difference(statement, total.values[0], 0, LT_UNIT_MONEY);
	lt_html_table(statement, &table);
}

/* ---- the largest differences ---- */

struct pair {
	const char *name;
	int64_t before, now;
};

struct pairs {
	bool money; /* else carbon */
	int count;
	struct pair *list; /* of both periods; NULL: no memory */
};

static void
add_groups(struct pairs *pairs, const json_t *groups, const char *key, bool now)
{
	const char *const figure = pairs->money ? "cost_micros" : "carbon_mg";
	size_t index;
	const json_t *group;

	json_array_foreach(groups, index, group) {
		const char *name = lt_json_text(group, key, "");
		int64_t value = 0;
		int i = 0;

		if (json_is_true(json_object_get(group, "adjustment")))
			name = "Adjustments";
		lt_json_int(group, figure, &value);
		while (i < pairs->count && strcmp(pairs->list[i].name, name) != 0)
			i++;
		if (i == pairs->count)
			pairs->list[pairs->count++].name = name;
		*(now ? &pairs->list[i].now : &pairs->list[i].before) += value;
	}
}

/* Returns the size of the change, either way. */
static wide
size_of_change(const struct pair *pair)
{
	return pair->now < pair->before ? (wide)pair->before - pair->now
					: (wide)pair->now - pair->before;
}

static int
compare_pairs(const void *left, const void *right)
{
	const struct pair *const one = left, *const two = right;

	if (size_of_change(one) != size_of_change(two))
		return size_of_change(one) > size_of_change(two) ? -1 : 1;
	return strcmp(one->name, two->name);
}

static void
fill_pair(struct lt_html_row *row, const char *name, int64_t before, int64_t now)
{
	row->name = name;
	row->ours = name[0] == '\0';
	if (row->ours)
		row->name = "Not said";
	row->has[0] = row->has[1] = row->has[2] = true;
	row->values[0] += before;
	row->values[1] += now;
}

static void
print_pairs(const struct lt_statement *statement, struct pairs *pairs, const char *caption,
    const char *first)
{
	const enum lt_unit unit = pairs->money ? LT_UNIT_MONEY : LT_UNIT_CARBON;
	const struct lt_html_column columns[] = {
	    {statement->short_before, unit, LT_COLUMN_ADDS_UP, NULL, NULL, false},
	    {statement->short_name, unit, LT_COLUMN_ADDS_UP, NULL, NULL, false},
	    {"Change", unit, LT_COLUMN_DIFFERENCE, NULL, NULL, true},
	    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};
	struct lt_html_row rows[SHOWN + 1] = {0}, total = {0};
	int shown = pairs->count;
	char others[40];

	qsort(pairs->list, (size_t)pairs->count, sizeof(pairs->list[0]), compare_pairs);
	if (shown > SHOWN + 1)
		shown = SHOWN;
	snprintf(others, sizeof(others), "%d others", pairs->count - shown);
	for (int i = 0; i < pairs->count; i++) {
		const struct pair *const pair = &pairs->list[i];
		struct lt_html_row *const row = &rows[i < shown ? i : SHOWN];

		fill_pair(row, i < shown ? pair->name : others, pair->before, pair->now);
		fill_pair(&total, "Total", pair->before, pair->now);
	}
	rows[SHOWN].ours = shown < pairs->count;
	struct lt_html_table table = {.caption = caption,
	    .first = first,
	    .columns = columns,
	    .row_count = shown < pairs->count ? shown + 1 : shown,
	    .rows = rows,
	    .total = &total,
	    .look = "change"};

	lt_html_table(statement, &table);
}

static void
print_differences(
    const struct lt_statement *statement, const char *key, const json_t *now, const json_t *before)
{
	struct pairs pairs = {.money = statement->has_money,
	    .list =
		calloc(json_array_size(now) + json_array_size(before) + 1, sizeof(struct pair))};
	const bool team = strcmp(key, "team") == 0;

	if (pairs.list == NULL) {
		lt_fail(statement->err, LT_ENOMEM, "no memory");
		return;
	}
	add_groups(&pairs, before, key, false);
	add_groups(&pairs, now, key, true);
	if (pairs.count > 0)
		print_pairs(statement, &pairs,
		    team ? "Teams, the largest change first"
			 : "Partitions, the largest change first",
		    team ? "Team" : "Partition");
	free(pairs.list);
}

/* Prints whether as much of both periods is compared. */
static void
say_like(const struct lt_statement *statement)
{
	FILE *const out = statement->out;

	if (!statement->open)
		return;
	if (!statement->partly) {
		fputs(
		    "<p class=\"note\">The period is open, and all of the one before it stands against what has passed.</p>\n",
		    out);
		return;
	}
	fputs("<p>Like for like: ", out);
	lt_html_text(out, statement->name);
	fputs(" until now is compared with as many days, ", out);
	lt_html_text(out, statement->before);
	fputs(
	    ", up to the same hour of the last, in the site\u2019s time zone. What still runs counts once it is charged.</p>\n",
	    out);
}

void
lt_html_change(const struct lt_statement *statement)
{
	const json_t *const before = lt_html_groups_by(statement->previous, "partition");
	int64_t known;

	if (!lt_json_int(json_object_get(statement->previous, "total"),
		statement->has_money ? "cost_micros" : "carbon_mg", &known)) {
		fputs("<p>Nothing is known of the period before.</p>\n", statement->out);
		return;
	}
	say_like(statement);
	if (statement->has_money) {
		print_causes(statement);
		if (json_is_array(before))
			fputs(
			    "<p class=\"note\">More or fewer hours count at what a node-hour cost before. The mix is what it makes that more or fewer of them lay on partitions that were dearer or cheaper then; a partition that is new is in it.</p>\n",
			    statement->out);
		say_failed(statement);
	}
	print_differences(statement, "team", json_object_get(statement->report, "teams"),
	    json_object_get(statement->previous, "teams"));
	if (json_is_array(before))
		print_differences(statement, "partition",
		    lt_html_groups_by(statement->report, "partition"), before);
}
