/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rolls a statement up along the tree of accounts. Each line is added to its account and to each
 * account above it that is seen, so that the rows of the top, and the own amounts of all rows, each
 * add up to the total. An amount counts in the accounts that were above its own when it was booked,
 * as in budgets: the line of an account that was moved is cut at that time. A ledger that can't be
 * read, or no memory, fails the report.
 */
#include "report_tree.h"

#include <stdlib.h>
#include <string.h>

#include "account_tree.h"
#include "accounts.h"
#include "grow.h"
#include "out.h"
#include "report_parts.h"

struct node {				/* an account below certain others */
	int64_t account, parent;	/* parent: a node; -1: on top */
	int64_t first, last, next;	/* children, by account; -1 */
	struct lt_report_line own, all; /* all: with those below it */
	bool has_budget;
};

struct given { /* of an account */
	struct lt_report_line line;
	bool has_line, has_budget;
	struct lt_period budget;
};

struct lt_report_tree {
	const struct lt_report_view *view;
	struct lt_account_moves moves;
	int64_t *cuts; /* in the period, when accounts were moved; malloc'd */
	uint32_t cut_count;
	struct node *nodes; /* the first: above all */
	uint32_t count;
	size_t capacity;
	struct given given[]; /* as the work's accounts */
};

struct chain { /* an account and those above it, as they were */
	int depth;
	int64_t accounts[LT_TREE_DEPTH_MAX];
};

struct lt_report_tree *
lt_report_tree_new(const struct lt_report_view *view)
{
	struct lt_report_tree *const tree =
	    calloc(1, sizeof(*tree) + view->work->account_count * sizeof(tree->given[0]));

	if (tree != NULL)
		tree->view = view;
	return tree;
}

void
lt_report_tree_free(struct lt_report_tree *tree)
{
	if (tree == NULL)
		return;
	free(tree->moves.list);
	free(tree->cuts);
	free(tree->nodes);
	free(tree);
}

void
lt_report_tree_add(struct lt_report_tree *tree, const struct lt_report_row *row)
{
	const int at = lt_report_account_index(tree->view->work, row->account);

	if (at < 0)
		return;
	tree->given[at] =
	    (struct given){.line = *row->line, .has_line = true, .has_budget = row->budget != NULL};
	if (row->budget != NULL)
		tree->given[at].budget = *row->budget;
}

/* ---- what is above an account ---- */

static int
by_time(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int
read_moves(struct lt_report_tree *tree, struct lt_error *err)
{
	const struct lt_period *const period = tree->view->period;
	const int code = lt_ledger_account_moves(tree->view->ledger, &tree->moves, err);

	if (code != LT_OK)
		return code;
	tree->cuts = calloc((size_t)tree->moves.count + 1, sizeof(*tree->cuts));
	if (tree->cuts == NULL)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	for (uint32_t i = 0; i < tree->moves.count; i++) {
		const int64_t at = tree->moves.list[i].until_utc_s;

		if (at > period->start_utc_s && at < period->end_utc_s)
			tree->cuts[tree->cut_count++] = at;
	}
	qsort(tree->cuts, tree->cut_count, sizeof(*tree->cuts), by_time);
	return LT_OK;
}

/* Slurm's root without entries and a budget says what the total says. */
static bool
is_row(const struct lt_report_tree *tree, int64_t account)
{
	const struct lt_report_account *const a = &tree->view->work->accounts[account];

	return tree->given[account].has_line || (a->is_seen && strcmp(a->name, "root") != 0);
}

/* In a loop, which no tree has, an account stands alone. */
static void
find_chain(
    struct chain *chain, const struct lt_report_tree *tree, int64_t account, int64_t at_utc_s)
{
	int64_t at = account;

	*chain = (struct chain){.depth = 1, .accounts = {account}};
	for (int depth = 1; at >= 0; depth++) {
		at = lt_report_account_parent(tree->view->work, &tree->moves, at, at_utc_s);
		if (at >= 0 && depth == LT_TREE_DEPTH_MAX) {
			chain->depth = 1;
			return;
		}
		if (at >= 0 && is_row(tree, at))
			chain->accounts[chain->depth++] = at;
	}
}

static bool
is_same(const struct chain *one, const struct chain *other)
{
	return one->depth == other->depth &&
	       memcmp(one->accounts, other->accounts,
		   (size_t)one->depth * sizeof(one->accounts[0])) == 0;
}

/* ---- nodes ---- */

static int64_t
new_node(struct lt_report_tree *tree, int64_t account, int64_t parent)
{
	struct node *const grown =
	    lt_items_grow(tree->nodes, &tree->capacity, tree->count, sizeof(*grown));

	if (grown == NULL)
		return -1;
	tree->nodes = grown;
	grown[tree->count] = (struct node){
	    .account = account, .parent = parent, .first = -1, .last = -1, .next = -1};
	return tree->count++;
}

/* Returns the node of the account below that one, made if it is new; -1: no memory. */
static int64_t
child_of(struct lt_report_tree *tree, int64_t parent, int64_t account)
{
	int64_t before = -1, at = tree->nodes[parent].first;
	const int64_t last = tree->nodes[parent].last;

	if (last >= 0 && tree->nodes[last].account < account) {
		before = last;
		at = -1;
	}
	while (at >= 0 && tree->nodes[at].account < account) {
		before = at;
		at = tree->nodes[at].next;
	}
	if (at >= 0 && tree->nodes[at].account == account)
		return at;
	const int64_t node = new_node(tree, account, parent);
	if (node < 0)
		return -1;
	tree->nodes[node].next = at;
	if (before >= 0)
		tree->nodes[before].next = node;
	else
		tree->nodes[parent].first = node;
	if (at < 0)
		tree->nodes[parent].last = node;
	return node;
}

static int
add_line(struct lt_report_tree *tree, const struct chain *chain, const struct lt_report_line *line,
    bool has_budget, struct lt_error *err)
{
	int64_t at = 0;

	for (int k = chain->depth - 1; at >= 0 && k >= 0; k--)
		at = child_of(tree, at, chain->accounts[k]);
	if (at < 0)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	lt_report_line_add(&tree->nodes[at].own, line);
	tree->nodes[at].has_budget |= has_budget;
	for (; at > 0; at = tree->nodes[at].parent)
		lt_report_line_add(&tree->nodes[at].all, line);
	return LT_OK;
}

/* Adds the bookings from the one time to the other. */
static int
add_part(struct lt_report_tree *tree, const struct chain *chain, struct lt_span span, bool is_last,
    struct lt_error *err)
{
	const struct lt_report_work *const w = tree->view->work;
	const int64_t account = chain->accounts[0];
	const struct lt_runs_asked asked = {.account = w->accounts[account].name,
	    .from_utc_s = span.from_utc_s,
	    .to_utc_s = span.to_utc_s,
	    .of_one = w->accounts[account].own_sums,
	    .uid = w->uid};
	const bool has_budget = is_last && tree->given[account].has_budget;
	struct lt_report_line line;
	const int code = lt_report_line_fill(&line, tree->view->ledger, &asked, err);

	if (code != LT_OK || (!has_budget && lt_report_line_is_empty(&line)))
		return code;
	return add_line(tree, chain, &line, has_budget, err);
}

/* Its line as a whole where it stood below the same all the time. */
static int
add_account(struct lt_report_tree *tree, int64_t account, struct lt_error *err)
{
	const struct given *const given = &tree->given[account];
	const struct lt_span asked =
	    lt_report_asked(&tree->view->work->accounts[account], tree->view->period);
	struct lt_span part = asked;
	struct chain chain, next;
	bool is_whole = true;
	int code = LT_OK;

	find_chain(
	    &chain, tree, account, (tree->cut_count > 0 ? tree->cuts[0] : asked.to_utc_s) - 1);
	for (uint32_t i = 0; code == LT_OK && i < tree->cut_count; i++) {
		find_chain(&next, tree, account,
		    (i + 1 < tree->cut_count ? tree->cuts[i + 1] : asked.to_utc_s) - 1);
		if (is_same(&chain, &next) || tree->cuts[i] >= asked.to_utc_s)
			continue;
		part.to_utc_s = tree->cuts[i];
		if (part.from_utc_s < part.to_utc_s) {
			code = add_part(tree, &chain, part, false, err);
			part.from_utc_s = part.to_utc_s;
			is_whole = false;
		}
		chain = next;
	}
	part.to_utc_s = asked.to_utc_s;
	if (code != LT_OK)
		return code;
	return is_whole ? add_line(tree, &chain, &given->line, given->has_budget, err)
			: add_part(tree, &chain, part, true, err);
}

/* ---- as JSON ---- */

static json_t *
row_json(const struct lt_report_tree *tree, const struct node *node, int level)
{
	const struct lt_report_account *const accounts = tree->view->work->accounts;
	const struct lt_amount own = lt_report_line_cost(&node->own);
	json_t *const row = lt_report_line_json(accounts[node->account].name, &node->all,
	    node->has_budget ? &tree->given[node->account].budget : NULL);
	json_t *const more = json_pack("{s:s?,s:i,s:I,s:I,s:I}", "parent",
	    node->parent > 0 ? accounts[tree->nodes[node->parent].account].name : NULL, "level",
	    level, "own_micros", (json_int_t)own.money_micros, "own_mg", (json_int_t)own.carbon_mg,
	    "own_runs", (json_int_t)node->own.in[LT_ENTRY_CHARGE].runs);

	json_object_update(row, more);
	json_decref(more);
	return row;
}

/* Each node, then what is below it. */
static json_t *
rows_json(const struct lt_report_tree *tree)
{
	json_t *const rows = json_array();
	int64_t at = tree->nodes[0].first;
	int level = 0;

	while (at > 0) {
		const struct node *const node = &tree->nodes[at];

		json_array_append_new(rows, row_json(tree, node, level));
		if (node->first >= 0) {
			at = node->first;
			level++;
			continue;
		}
		while (at > 0 && tree->nodes[at].next < 0) {
			at = tree->nodes[at].parent;
			level--;
		}
		if (at > 0)
			at = tree->nodes[at].next;
	}
	return rows;
}

int
lt_report_tree_put(struct lt_out *out, struct lt_report_tree *tree, struct lt_error *err)
{
	int code = read_moves(tree, err);

	if (code == LT_OK && new_node(tree, -1, -1) < 0)
		code = lt_fail(err, LT_ENOMEM, "report: out of memory");
	for (uint32_t i = 0; code == LT_OK && i < tree->view->work->account_count; i++)
		if (tree->given[i].has_line)
			code = add_account(tree, i, err);
	if (code != LT_OK)
		return code;
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o}", "tree", rows_json(tree)));
	return LT_OK;
}
