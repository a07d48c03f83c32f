/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement by team, partition, GPU and user; failed runs; the jobs that cost most; then
 * teams with all teams below them, and teams by the labels that the policy gives them, such as a
 * cost center.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_html.h"
#include "units.h"

/* Columns of more than one table. */
#define COST                                                                                       \
	{                                                                                          \
		"Cost", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, "cost_micros", NULL, false               \
	}
#define SHARE                                                                                      \
	{                                                                                          \
		"Share", LT_UNIT_SHARE, LT_COLUMN_SHARE, NULL, NULL, false                         \
	}
#define CARBON                                                                                     \
	{                                                                                          \
		"kg CO2e", LT_UNIT_CARBON, LT_COLUMN_ADDS_UP, "carbon_mg", NULL, false             \
	}
#define RUNS                                                                                       \
	{                                                                                          \
		"Runs", LT_UNIT_COUNT, LT_COLUMN_ALONE, "runs", NULL, false                        \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false                            \
	}

/* Prints a table of groups. all: the columns, of which a site without money shows fewer. */
static void
print_groups(const struct lt_statement *statement, const struct lt_html_groups *groups,
    const struct lt_html_column *all)
{
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	struct lt_html_groups printed = *groups;

	if (json_array_size(groups->groups) == 0) {
		fputs("<p>Nothing ran, and nothing was adjusted.</p>\n", statement->out);
		return;
	}
	printed.columns = lt_html_columns(statement, shown, all);
	lt_html_groups(statement, &printed);
}

void
lt_html_by_team(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {COST, SHARE,
	    {"Budget", LT_UNIT_MONEY, LT_COLUMN_ALONE, "budget_micros", NULL, false},
	    {"Left", LT_UNIT_MONEY, LT_COLUMN_BALANCE, "available_micros", NULL, false}, CARBON,
	    RUNS, END};
	const struct lt_html_groups groups = {.caption = "Teams, the largest first",
	    .first = "Team",
	    .key = "team",
	    .absent = "No team",
	    .others = "other teams",
	    .groups = json_object_get(statement->report, "teams")};

	lt_html_team_bars(statement);
	print_groups(statement, &groups, columns);
	if (statement->has_money && json_array_size(groups.groups) > 0)
		fputs(
		    "<p class=\"note\">Each amount is in the row of one team. Budget and what is left of it, after what is held for jobs that wait or run, are of a team and all below it, so they do not add up. Those of longer periods stand under <a href=\"#budgets\">Budgets</a>.</p>\n",
		    statement->out);
}

/* Prints which groups have runs without a price. */
static void
say_unpriced(const struct lt_statement *statement, const json_t *groups)
{
	enum { NAMED = 12 };
	FILE *const out = statement->out;
	char count[LT_FIGURE_SIZE];
	const char *before = "<p class=\"note\">Without a known price, and so in no amount: ";
	size_t index;
	const json_t *group;
	int named = 0;

	json_array_foreach(groups, index, group) {
		int64_t runs = 0;

		if (!lt_json_int(group, "unpriced_runs", &runs) || runs == 0)
			continue;
		if (++named > NAMED)
			continue;
		fprintf(out, "%s%s %s of <bdi>", before,
		    lt_figure_text(count, statement, runs, LT_UNIT_COUNT),
		    runs == 1 ? "run" : "runs");
		lt_html_text(out, lt_json_text(group, "partition", ""));
		fputs("</bdi>", out);
		before = ", ";
	}
	if (named > NAMED)
		fprintf(out, ", and those of %d more", named - NAMED);
	if (named > 0)
		fputs(".</p>\n", out);
}

void
lt_html_by_partition(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {COST, SHARE,
	    {"Node-hours", LT_UNIT_HOURS, LT_COLUMN_ADDS_UP, "node_s", NULL, false},
	    {"Per node-hour", LT_UNIT_MONEY, LT_COLUMN_ALONE, "cost_micros", "node_s", false},
	    CARBON, RUNS, END};
	const struct lt_html_groups groups = {.caption = "Partitions, the largest first",
	    .first = "Partition",
	    .key = "partition",
	    .absent = "Not said",
	    .others = "other partitions",
	    .groups = lt_html_groups_by(statement->report, "partition")};

	print_groups(statement, &groups, columns);
	if (statement->has_money)
		say_unpriced(statement, groups.groups);
}

void
lt_html_by_gpu(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {COST, SHARE,
	    {"GPU-hours", LT_UNIT_HOURS, LT_COLUMN_ADDS_UP, "gpu_s", NULL, false},
	    {"Per GPU-hour", LT_UNIT_MONEY, LT_COLUMN_ALONE, "cost_micros", "gpu_s", false}, CARBON,
	    RUNS, END};
	const struct lt_html_groups groups = {.caption = "GPU models, the largest first",
	    .first = "GPU",
	    .key = "gpu",
	    .absent = "No GPU, or its model is not known",
	    .others = "other models",
	    .groups = lt_html_groups_by(statement->report, "gpu")};

	print_groups(statement, &groups, columns);
}

void
lt_html_by_user(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {COST, SHARE,
	    {"Of it failed", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, "failed_micros", NULL, false},
	    CARBON, RUNS, END};
	const struct lt_html_groups groups = {.caption = "Users, the largest first",
	    .first = "User",
	    .key = "user",
	    .absent = "Not named",
	    .others = "other users",
	    .groups = lt_html_groups_by(statement->report, "user")};

	print_groups(statement, &groups, columns);
}

/* ---- failed, idle ---- */

/* Slurm's states in words. */
static const struct state {
	const char *state, *name, *long_name;
} states[] = {{"COMPLETED", "Completed", "Completed"},
    {"FAILED", "Failed", "Failed: the program ended with an error"},
    {"TIMEOUT", "Timed out", "Timed out: ended at its time limit"},
    {"OUT_OF_MEMORY", "Out of memory", "Out of memory"}, {"CANCELLED", "Cancelled", "Cancelled"},
    {"NODE_FAIL", "Node failed", "Node failed"},
    {"PREEMPTED", "Preempted", "Preempted by other jobs"},
    {"REQUEUED", "Requeued", "Requeued: what ran before it began anew"},
    {"DEADLINE", "Deadline", "Ended at its deadline"},
    {"BOOT_FAIL", "Boot failed", "Node did not boot"}};

static const char *
state_text(const char *state, bool longer)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(states[i].state, state) == 0)
			return longer ? states[i].long_name : states[i].name;
	return state;
}

enum { STATES_MAX = 24 };

/* Makes a row for each state that lost money or runs, and the sum of all. */
static int
failed_rows(
    struct lt_html_row *rows, struct lt_html_row *total, const struct lt_statement *statement)
{
	const int money = statement->has_money ? 0 : -1, runs = money + 1;
	size_t index;
	const json_t *group;
	int count = 0;

	json_array_foreach(lt_html_groups_by(statement->report, "state"), index, group) {
		int64_t failed_runs = 0, failed = 0;

		lt_json_int(group, "failed_runs", &failed_runs);
		lt_json_int(group, "failed_micros", &failed);
		if ((failed_runs == 0 && failed == 0) || count == STATES_MAX)
			continue;
		rows[count].name = state_text(lt_json_text(group, "state", ""), true);
		if (money == 0) {
			rows[count].has[money] = total->has[money] = true;
			rows[count].values[money] = failed;
			total->values[money] += failed;
		}
		rows[count].has[runs] = total->has[runs] = true;
		rows[count++].values[runs] = failed_runs;
		total->values[runs] += failed_runs;
	}
	return count;
}

static int
compare_rows(const void *left, const void *right)
{
	const struct lt_html_row *const one = left, *const two = right;

	return one->values[0] > two->values[0]	 ? -1
	       : one->values[0] < two->values[0] ? 1
						 : strcmp(one->name, two->name);
}

static void
say_idle(const struct lt_statement *statement)
{
	const json_t *const groups = lt_html_groups_by(statement->report, "state");
	const int64_t idle = lt_html_sum_of(groups, "idle_micros");
	const int64_t measured = lt_html_sum_of(groups, "measured_micros");
	int64_t cost = 0, of_cost, of_measured;
	char text[LT_FIGURE_SIZE];

	lt_json_int(statement->total, "cost_micros", &cost);
	if (!statement->has_money || !lt_ppm(&of_measured, idle, measured) ||
	    !lt_ppm(&of_cost, measured, cost))
		return;
	fputs("<p>Held by jobs but idle: at least <strong>", statement->out);
	lt_html_text(statement->out, lt_figure_text(text, statement, idle, LT_UNIT_MONEY));
	fprintf(statement->out, "</strong>. That is %s",
	    lt_figure_text(text, statement, of_measured, LT_UNIT_SHARE));
	fprintf(statement->out,
	    " of what the runs cost whose use Slurm measured; they are %s of the cost.</p>\n",
	    lt_figure_text(text, statement, of_cost, LT_UNIT_SHARE));
}

void
lt_html_failed(const struct lt_statement *statement)
{
	static const struct lt_html_column columns[] = {
	    {"Cost", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, NULL, NULL, false},
	    {"Runs", LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}, END};
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	struct lt_html_row rows[STATES_MAX] = {0}, total = {.name = "Total"};
	const int count = failed_rows(rows, &total, statement);
	int64_t ppm, cost = 0;

	lt_json_int(statement->total, "cost_micros", &cost);
	qsort(rows, (size_t)count, sizeof(rows[0]), compare_rows);
	say_idle(statement);
	if (count == 0) {
		fputs("<p>No run failed.</p>\n", statement->out);
		return;
	}
	if (statement->has_money && lt_ppm(&ppm, total.values[0], cost)) {
		char money[LT_FIGURE_SIZE], share[LT_FIGURE_SIZE];

		fputs("<p><strong>", statement->out);
		lt_html_text(statement->out,
		    lt_figure_text(money, statement, total.values[0], LT_UNIT_MONEY));
		fprintf(statement->out,
		    "</strong>, %s of the cost, went to runs that did not complete.</p>\n",
		    lt_figure_text(share, statement, ppm, LT_UNIT_SHARE));
	}
	struct lt_html_table table = {.caption = "Runs that did not complete, by how they ended",
	    .first = "How it ended",
	    .columns = lt_html_columns(statement, shown, columns),
	    .row_count = count,
	    .rows = rows,
	    .total = &total,
	    .bars = true};

	lt_html_table(statement, &table);
}

/* ---- top jobs ---- */

static void
text_cell(FILE *out, const char *text)
{
	fputs("<td class=\"text\"><bdi>", out);
	lt_html_text(out, text);
	fputs("</bdi></td>", out);
}

static void
figure_cell(
    const struct lt_statement *statement, const json_t *run, const char *key, enum lt_unit unit)
{
	char text[LT_FIGURE_SIZE];
	int64_t value;

	fputs("<td>", statement->out);
	if (lt_json_int(run, key, &value))
		lt_html_text(statement->out, lt_figure_text(text, statement, value, unit));
	else
		fputs("<span class=\"none\">\u2013</span>", statement->out);
	fputs("</td>", statement->out);
}

/* Prints a job id as squeue does, and its name below. */
static void
job_cell(const struct lt_statement *statement, const json_t *run)
{
	FILE *const out = statement->out;
	int64_t id = 0, array, task, part, whole;
	char text[LT_FIGURE_SIZE];
	const char *const name = lt_json_text(run, "name", "");

	lt_json_int(run, "job_id", &id);
	fputs("<th scope=\"row\">", out);
	if (lt_json_int(run, "array_job_id", &array) && lt_json_int(run, "array_task", &task))
		fprintf(out, "%lld_%lld", (long long)array, (long long)task);
	else
		fprintf(out, "%lld", (long long)id);
	if (name[0] != '\0') {
		fputs("<small><bdi>", out);
		lt_html_text(out, name);
		fputs("</bdi></small>", out);
	}
	if (statement->has_money && lt_json_int(run, "money_micros", &part) &&
	    lt_json_int(run, "whole_micros", &whole) && part != whole) {
		fputs("<small>a part; in all ", out);
		lt_html_text(out, lt_figure_text(text, statement, whole, LT_UNIT_MONEY));
		fputs("</small>", out);
	}
	fputs("</th>", out);
}

static void
print_run(const struct lt_statement *statement, const json_t *run, bool has_users)
{
	FILE *const out = statement->out;

	fputs("<tr>", out);
	job_cell(statement, run);
	if (has_users)
		text_cell(out, lt_json_text(run, "user", ""));
	text_cell(out, lt_json_text(run, "account", ""));
	text_cell(out, lt_json_text(run, "partition", ""));
	text_cell(out, state_text(lt_json_text(run, "state", ""), false));
	figure_cell(statement, run, "elapsed_s", LT_UNIT_HOURS);
	figure_cell(statement, run, "carbon_mg", LT_UNIT_CARBON);
	if (statement->has_money)
		figure_cell(statement, run, "money_micros", LT_UNIT_MONEY);
	fputs("</tr>\n", out);
}

void
lt_html_top(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	const json_t *const runs = json_object_get(statement->report, "top");
	/* Left out if the report leaves users out. */
	const bool has_users = lt_html_groups_by(statement->report, "user") != NULL;
	size_t index;
	const json_t *run;

	if (json_array_size(runs) == 0) {
		fputs("<p>No job ran.</p>\n", out);
		return;
	}
	fprintf(out,
	    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Top jobs\">\n"
	    "<table class=\"wide\"><caption>The jobs that %s most in this period</caption>\n"
	    "<thead><tr><th scope=\"col\">Job</th>%s<th class=\"text\" scope=\"col\">Account</th>"
	    "<th class=\"text\" scope=\"col\">Partition</th><th class=\"text\" scope=\"col\">State</th>"
	    "<th scope=\"col\">Hours</th><th scope=\"col\">kg CO2e</th>%s</tr></thead>\n<tbody>\n",
	    statement->has_money ? "cost" : "emitted",
	    has_users ? "<th class=\"text\" scope=\"col\">User</th>" : "",
	    statement->has_money ? "<th scope=\"col\">Cost</th>" : "");
	json_array_foreach(runs, index, run)
		print_run(statement, run, has_users);
	fputs("</tbody></table></div>\n", out);
}

/* ---- teams in groups ---- */

enum { KEYS_SHOWN = 8 };

static const struct lt_html_column tree_columns[] = {
    {"With all below", LT_UNIT_MONEY, LT_COLUMN_ALONE, "cost_micros", NULL, false},
    {"Its own", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, "own_micros", NULL, false},
    {"Budget", LT_UNIT_MONEY, LT_COLUMN_ALONE, "budget_micros", NULL, false},
    {"Left", LT_UNIT_MONEY, LT_COLUMN_BALANCE, "available_micros", NULL, false},
    {"kg CO2e", LT_UNIT_CARBON, LT_COLUMN_ALONE, "carbon_mg", NULL, false},
    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};

static const struct lt_html_column label_columns[] = {
    {"Cost", LT_UNIT_MONEY, LT_COLUMN_ADDS_UP, "cost_micros", NULL, false},
    {"Share", LT_UNIT_SHARE, LT_COLUMN_SHARE, NULL, NULL, false},
    {"kg CO2e", LT_UNIT_CARBON, LT_COLUMN_ADDS_UP, "carbon_mg", NULL, false},
    {"Runs", LT_UNIT_COUNT, LT_COLUMN_ALONE, "runs", NULL, false},
    {NULL, LT_UNIT_COUNT, LT_COLUMN_ALONE, NULL, NULL, false}};

/* ---- each team with those below it ---- */

static int64_t
level_of(const json_t *row)
{
	int64_t level = 0;

	(void)lt_json_int(row, "level", &level);
	return level;
}

bool
lt_html_has_tree(const json_t *report)
{
	size_t index;
	const json_t *row;

	json_array_foreach(json_object_get(report, "tree"), index, row)
		if (level_of(row) > 0)
			return true;
	return false;
}

/* Returns the deepest level down to which a table has room for all rows; -1:
 * the top has too many. */
static int64_t
deepest_shown(const json_t *tree)
{
	int64_t counts[LT_HTML_ROWS_MAX] = {0}, sum = 0, level = 0;
	size_t index;
	const json_t *row;

	json_array_foreach(tree, index, row)
		if (level_of(row) >= 0 && level_of(row) < LT_HTML_ROWS_MAX)
			counts[level_of(row)]++;
	while (level < LT_HTML_ROWS_MAX && sum + counts[level] <= LT_HTML_ROWS_MAX)
		sum += counts[level++];
	return level - 1;
}

/* Fills the total of all that is shown. */
static void
fill_total(struct lt_html_row *total, const struct lt_statement *statement,
    const struct lt_html_column *columns)
{
	lt_html_row_fill(total, statement->total, columns);
	total->name = "Total";
	for (int i = 0; columns[i].title != NULL; i++)
		if (strcmp(columns[i].key, "own_micros") == 0)
			total->has[i] =
			    lt_json_int(statement->total, "cost_micros", &total->values[i]);
}

void
lt_html_tree(const struct lt_statement *statement)
{
	const json_t *const tree = json_object_get(statement->report, "tree");
	const int64_t deepest = deepest_shown(tree);
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	struct lt_html_row rows[LT_HTML_ROWS_MAX] = {0}, total = {0};
	struct lt_html_table table = {.caption = "Teams, each below the one that it belongs to",
	    .first = "Team",
	    .columns = lt_html_columns(statement, shown, tree_columns),
	    .rows = rows,
	    .total = &total,
	    .bars = true};
	bool any_left_out = false;
	size_t index;
	const json_t *row;

	json_array_foreach(tree, index, row) {
		struct lt_html_row *const to = &rows[table.row_count];

		any_left_out |= level_of(row) > deepest;
		if (level_of(row) > deepest || level_of(row) < 0)
			continue;
		to->name = lt_json_text(row, "team", "");
		to->level = (int)level_of(row);
		lt_html_row_fill(to, row, table.columns);
		table.row_count++;
	}
	fill_total(&total, statement, table.columns);
	if (table.row_count > 0)
		lt_html_table(statement, &table);
	fprintf(statement->out,
	    "<p class=\"note\">What is below a team is in its amount: the rows that are not indented add up to the total%s</p>\n",
	    any_left_out
		? ". Teams further down are left out here and are in the amounts of those above them; json and csv have all."
		: ", and so does what is each team\u2019s own.");
}

/* ---- by label ---- */

bool
lt_html_has_labels(const json_t *report)
{
	json_t *const keys = lt_label_keys(report);
	const bool has = json_array_size(keys) > 0;

	json_decref(keys);
	return has;
}

static void
add_figure(json_t *to, const json_t *team, const char *key)
{
	int64_t sum = 0, value;

	(void)lt_json_int(to, key, &sum);
	if (lt_json_int(team, key, &value) && lt_add(&sum, value))
		json_object_set_new(to, key, json_integer(sum));
}

/* Sums the teams by each value of the key, and those without it. */
static json_t *
sums_by(const json_t *report, const char *key)
{
	static const char *const figures[] = {"cost_micros", "carbon_mg", "runs"};
	json_t *const of_value = json_object();
	json_t *const rows = json_array();
	size_t index;
	const json_t *team;

	json_array_foreach(json_object_get(report, "teams"), index, team) {
		const char *const value = lt_json_text(json_object_get(team, "labels"), key, "");
		json_t *row = json_object_get(of_value, value);

		if (row == NULL) {
			row = json_pack("{s:s}", "label", value);
			json_object_set(of_value, value, row);
			json_array_append_new(rows, row);
		}
		for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
			add_figure(row, team, figures[i]);
	}
	json_decref(of_value);
	return rows;
}

void
lt_html_by_label(const struct lt_statement *statement)
{
	json_t *const keys = lt_label_keys(statement->report);
	struct lt_html_column shown[LT_HTML_COLUMNS_MAX + 1];
	size_t index;
	const json_t *key;

	json_array_foreach(keys, index, key) {
		const char *const name = json_string_value(key);
		char caption[128];

		if (index == KEYS_SHOWN)
			break;
		json_t *const rows = sums_by(statement->report, name);
		snprintf(caption, sizeof(caption), "By %s, the largest first", name);
		lt_html_groups(
		    statement, &(struct lt_html_groups){.caption = caption,
				   .first = name,
				   .key = "label",
				   .absent = "(none)",
				   .others = "others",
				   .columns = lt_html_columns(statement, shown, label_columns),
				   .groups = rows});
		json_decref(rows);
	}
	fprintf(statement->out,
	    "<p class=\"note\">A team has the labels of the policy, in a closed period those of when it was closed; (none) are teams without that one.%s</p>\n",
	    json_array_size(keys) > KEYS_SHOWN ? " Labels past the eighth are in csv and json."
					       : "");
	json_decref(keys);
}
