/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Budgets with their periods from a policy file, and the `labels:` of a team, as finance knows it:
 * texts by key that reports show and nothing else reads. The arithmetic of budgets is in
 * policy/include/budget.h.
 *
 * Reads YAML nodes, writes struct lt_policy; a wrong value is a complaint
 * with its line.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "text.h"
#include "units.h"

/* ---- labels: ---- */

#define KEY_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-"
#define OUR_PREFIX "lowtide/" /* of what reports say of jobs themselves */

bool
lt_label_key_is_valid(const char *key)
{
	return key[0] != '\0' && key[strspn(key, KEY_CHARACTERS)] == '\0' &&
	       strlen(key) < LT_LABEL_KEY_SIZE && strncmp(key, OUR_PREFIX, strlen(OUR_PREFIX)) != 0;
}

static bool
take_key(struct lt_reader *reader, const struct lt_policy_team *team, const yaml_node_t *node,
    struct lt_policy_label *label)
{
	const struct lt_key key = {.name = team->name,
	    .want = "a key of 1 to 63 letters, digits, _ . / or -, not beginning with lowtide/"};
	const char *const text = lt_scalar_peek(node);

	if (text == NULL || !lt_label_key_is_valid(text)) {
		lt_unwanted(reader, &key, node, "");
		return false;
	}
	for (int i = 0; i < team->label_count; i++)
		if (strcmp(team->labels[i].key, text) == 0) {
			lt_complain(
			    reader, node, "%s: got %s twice, want it once", team->name, text);
			return false;
		}
	(void)strcpy(label->key, text);
	return true;
}

static bool
take_line(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, char *line)
{
	const char *const text = lt_scalar_peek(node);
	char shown[LT_LABEL_SIZE];

	if (text != NULL && strlen(text) < key->size && strlen(text) >= (size_t)key->min) {
		snprintf(shown, sizeof(shown), "%s", text);
		lt_text_line(shown);
		if (strcmp(shown, text) == 0) {
			(void)strcpy(line, text);
			return true;
		}
	}
	lt_unwanted(reader, key, node, "");
	return false;
}

void
lt_read_line(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	take_line(reader, key, node, (char *)object + key->offset);
}

static bool
take_value(struct lt_reader *reader, const yaml_node_t *node, struct lt_policy_label *label)
{
	const struct lt_key key = {.name = label->key,
	    .size = sizeof(label->value),
	    .want = "a text of at most 255 bytes, no control characters"};

	return take_line(reader, &key, node, label->value);
}

void
lt_read_labels(
    struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item)
{
	struct lt_policy_team *const team = item;
	const struct lt_key body = {
	    .name = team->name, .want = "a mapping such as {cost_center: 4711}"};

	(void)name;
	if (node->type != YAML_MAPPING_NODE) {
		lt_unwanted(reader, &body, node, "");
		return;
	}
	const yaml_node_pair_t *const pairs = node->data.mapping.pairs.start;
	const ptrdiff_t count = node->data.mapping.pairs.top - pairs;
	if (count > LT_LABELS_MAX) {
		lt_complain(reader, node, "%s: got %td labels, want at most %d", team->name, count,
		    LT_LABELS_MAX);
		return;
	}
	team->labels = calloc((size_t)count + 1, sizeof(*team->labels));
	if (team->labels == NULL) {
		lt_complain(reader, node, "%s: out of memory", team->name);
		return;
	}
	for (ptrdiff_t i = 0; i < count && !lt_errors_full(reader); i++) {
		struct lt_policy_label *const label = &team->labels[team->label_count];

		if (take_key(reader, team, yaml_document_get_node(reader->document, pairs[i].key),
			label) &&
		    take_value(
			reader, yaml_document_get_node(reader->document, pairs[i].value), label))
			team->label_count++;
	}
}

/* ---- Budgets ---- */

struct period_days { /* a fixed period as written */
	char from[LT_NAME_SIZE], to[LT_NAME_SIZE];
};

static void
read_fixed_period(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node,
    struct lt_policy_budget *budget)
{
	static const struct lt_key keys[] = {
	    {"from", lt_read_name, offsetof(struct period_days, from), .size = LT_NAME_SIZE,
		.required = true, .want = "a first day such as 2026-11-01"},
	    {"to", lt_read_name, offsetof(struct period_days, to), .size = LT_NAME_SIZE,
		.required = true, .want = "the day after the last such as 2027-02-01"},
	    {.name = NULL},
	};
	const char *zone = reader->policy->timezone;
	const int errors = reader->errors->count;
	struct period_days days = {"", ""};

	lt_read_mapping(reader, keys, node, &days);
	if (reader->errors->count > errors)
		return;
	if (!lt_date_utc_s(days.from, zone, &budget->start_utc_s))
		lt_complain(reader, node, "%s: from: got \"%s\", want a day such as 2026-11-01",
		    key->name, days.from);
	else if (!lt_date_utc_s(days.to, zone, &budget->end_utc_s))
		lt_complain(reader, node, "%s: to: got \"%s\", want a day such as 2027-02-01",
		    key->name, days.to);
	else if (budget->end_utc_s <= budget->start_utc_s)
		lt_complain(reader, node, "%s: got to: %s, want a day after from: %s", key->name,
		    days.to, days.from);
	budget->period = LT_FIXED;
}

static void
read_period(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	static const struct lt_word words[] = {
	    {"month", LT_MONTH},
	    {"quarter", LT_QUARTER},
	    {"year", LT_YEAR},
	    {.name = NULL},
	};
	struct lt_policy_budget *budget = object;

	if (node->type == YAML_MAPPING_NODE) {
		read_fixed_period(reader, key, node, budget);
		return;
	}
	const struct lt_key word = {.name = key->name,
	    .want = key->want,
	    .offset = offsetof(struct lt_policy_budget, period),
	    .words = words};
	lt_read_word(reader, &word, node, budget);
}

#define AT(field) offsetof(struct lt_policy_budget, field)
static const struct lt_word basis_words[] = {
    {"spent", LT_ALERT_ON_SPENT},
    {"held", LT_ALERT_ON_HELD},
    {"forecast", LT_ALERT_ON_FORECAST},
    {.name = NULL},
};
static const struct lt_word exceed_words[] = {
    {"reject", LT_RULE_REJECT},
    {"hold", LT_RULE_HOLD},
    {"warn", LT_RULE_WARN},
    {.name = NULL},
};
#define LIMIT_KEYS(field)                                                                          \
	{"amount", lt_read_money_limit, AT(field), .min = 0, .max = LT_MONEY_MAX,                  \
	    .is_money = true, .want = "money from 0 such as 5000"},                                \
	{                                                                                          \
		"kg_co2e", lt_read_carbon_limit, AT(field), .min = 0, .max = 1e12,                 \
							    .want = "kg CO2e from 0 such as 900"   \
	}
static const struct lt_key per_user_keys[] = {
    LIMIT_KEYS(per_user),
    {.name = NULL},
};
static const struct lt_key budget_keys[] = {
    {"team", lt_read_account, AT(team), .size = LT_ACCOUNT_SIZE, .required = true,
	.want = "a Slurm account"},
    {"period", read_period, 0, .required = true,
	.want = "month, quarter, year, or {from: 2026-11-01, to: 2027-02-01}"},
    LIMIT_KEYS(limit),
    {"per_user", lt_read_keys, 0, .keys = per_user_keys,
	.want = "a mapping such as {amount: 1000}"},
    {"on_exceed", lt_read_word, AT(on_exceed), .words = exceed_words,
	.want = "reject, hold or warn"},
    {"alert_at", lt_read_percents, 0, .min = 1, .max = 1000,
	.want = "a list of whole percents from 1 to 1000 such as [50, 80, 100]"},
    {"alert_on", lt_read_word_bits, AT(alert_on), .words = basis_words,
	.want = "a list of spent, held and forecast"},
    {.name = NULL},
};
#undef AT

/* Two budgets of a team whose periods are the same, or overlap. */
static bool
is_same_budget(const struct lt_policy_budget *a, const struct lt_policy_budget *b)
{
	if (strcmp(a->team, b->team) != 0 || a->period != b->period)
		return false;
	return a->period != LT_FIXED ||
	       (a->start_utc_s < b->end_utc_s && b->start_utc_s < a->end_utc_s);
}

static void
check_per_user(
    struct lt_reader *reader, const yaml_node_t *node, const struct lt_policy_budget *budget)
{
	const struct lt_amount *team = &budget->limit;
	const struct lt_amount *user = &budget->per_user;
	char asked[32], limit[32];

	if (team->has_money && user->has_money && user->money_micros > team->money_micros)
		lt_complain(reader, node, "per_user: got amount %s, want at most the team's %s",
		    lt_micros_exact(asked, sizeof(asked), user->money_micros),
		    lt_micros_exact(limit, sizeof(limit), team->money_micros));
	if (team->has_carbon && user->has_carbon && user->carbon_mg > team->carbon_mg)
		lt_complain(reader, node, "per_user: got kg_co2e %s, want at most the team's %s",
		    lt_kg_exact(asked, sizeof(asked), user->carbon_mg),
		    lt_kg_exact(limit, sizeof(limit), team->carbon_mg));
}

void
lt_read_budget(
    struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item)
{
	(void)name;
	struct lt_policy_budget *budget = item;
	const int errors = reader->errors->count;
	lt_place(node, &budget->line, &budget->column);
	budget->on_exceed = LT_RULE_REJECT;
	if (!lt_read_body(reader,
		&(struct lt_key){.name = "budgets",
		    .want = "a mapping such as {team: vision, period: month, amount: 5000}",
		    .keys = budget_keys},
		node, item) ||
	    reader->errors->count > errors)
		return;
	if (!budget->limit.has_money && !budget->limit.has_carbon)
		lt_complain(reader, node,
		    "%s: amount: missing, want amount (money), kg_co2e, or both", budget->team);
	check_per_user(reader, node, budget);
	const struct lt_policy *policy = reader->policy;
	for (int i = 0; i < policy->budget_count; i++) {
		if (!is_same_budget(&policy->budgets[i], budget))
			continue;
		lt_complain(reader, node,
		    "team: got %s again, but line %d has its budget for the same period",
		    budget->team, policy->budgets[i].line);
		return;
	}
}
