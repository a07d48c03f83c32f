/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the names in a policy with those that the batch system knows:
 * partitions, accounts and QOS. Reads both, calls back for each name that is not known, with the
 * name that may have been meant. Nothing fails.
 */
#include <stdio.h>
#include <string.h>

#include "known_names.h"
#include "lookup.h"
#include "text.h"

enum { KIND_PARTITION, KIND_ACCOUNT, KIND_QOS, KINDS };
static const char *const kind_words[KINDS] = {
    [KIND_PARTITION] = "partition",
    [KIND_ACCOUNT] = "account",
    [KIND_QOS] = "QOS",
};

struct look {
	const struct lt_policy *policy;
	const struct lt_unknown_teller *teller;
	const char *const *names[KINDS];
	int count;
};

struct place {
	const char *section; /* "classes: big: " */
	const char *key;     /* NULL: its kind's */
	int line, column;    /* 0 = not known */
};

static bool
is_known(const char *const *names, const char *name)
{
	for (; *names != NULL; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static void
look_at(struct look *look, const struct place *place, int kind, const char *name)
{
	const char *const *const names = look->names[kind];
	static const char *const keys[KINDS] = {
	    [KIND_PARTITION] = "partition",
	    [KIND_ACCOUNT] = "account",
	    [KIND_QOS] = "qos",
	};
	struct lt_unknown_name unknown = {
	    .key = place->key != NULL ? place->key : LT_WORD(keys, kind),
	    .name = name,
	    .line = place->line,
	    .is_limit = strcmp(place->section, "budgets: ") == 0};
	char at[48] = "";

	if (names == NULL || name[0] == '\0' || is_known(names, name))
		return;
	const char *const nearest = lt_nearest_word(name, names);

	if (place->line > 0)
		(void)snprintf(at, sizeof(at), ":%d:%d", place->line, place->column);
	(void)snprintf(unknown.text, sizeof(unknown.text),
	    "%.255s%s: %s%s \"%s\": the cluster has none of that name%s%s%s", look->policy->path,
	    at, place->section, LT_WORD(kind_words, kind), name,
	    nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
	    nearest != NULL ? "?" : "");
	look->count++;
	unknown.nearest = nearest;
	look->teller->tell(look->teller->context, &unknown);
}

static void
look_at_classes(struct look *look)
{
	const struct lt_policy *const policy = look->policy;

	for (int i = 0; i < policy->class_count; i++) {
		const struct lt_class *const class = &policy->classes[i];
		char section[LT_NAME_SIZE + 16];
		const struct place place = {.section = section};

		(void)snprintf(section, sizeof(section), "classes: %s: ", class->name);
		look_at(look, &place, KIND_ACCOUNT, class->account);
		look_at(look, &place, KIND_QOS, class->qos);
		look_at(look, &place, KIND_PARTITION, class->partition);
	}
}

static void
look_at_rules(struct look *look)
{
	static const int kind_of[LT_PRECISION_OF_COUNT] = {
	    [LT_PRECISION_OF_ACCOUNT] = KIND_ACCOUNT,
	    [LT_PRECISION_OF_QOS] = KIND_QOS,
	    [LT_PRECISION_OF_PARTITION] = KIND_PARTITION,
	};
	const struct lt_policy *const policy = look->policy;
	const struct place precision = {.section = "precision: "};
	const struct place cap = {.section = "power_cap: "};

	for (int i = 0; i < policy->precision_count; i++)
		look_at(look, &precision, LT_ROW(kind_of, policy->precisions[i].of),
		    policy->precisions[i].name);
	for (int i = 0; i < policy->power_cap_count; i++) {
		look_at(look, &cap, KIND_ACCOUNT, policy->power_caps[i].account);
		look_at(look, &cap, KIND_QOS, policy->power_caps[i].qos);
		look_at(look, &cap, KIND_PARTITION, policy->power_caps[i].partition);
	}
}

int
lt_policy_unknown_names(const struct lt_policy *policy, const struct lt_known_names *known,
    const struct lt_unknown_teller *teller)
{
	struct look look = {.policy = policy,
	    .teller = teller,
	    .names = {[KIND_PARTITION] = known->partitions,
		[KIND_ACCOUNT] = known->accounts,
		[KIND_QOS] = known->qoses}};

	for (int i = 0; i < policy->partition_count; i++)
		look_at(&look,
		    &(struct place){.section = "partitions: ",
			.key = "",
			.line = policy->partitions[i].line,
			.column = policy->partitions[i].column},
		    KIND_PARTITION, policy->partitions[i].name);
	for (int i = 0; i < policy->budget_count; i++)
		look_at(&look,
		    &(struct place){.section = "budgets: ",
			.key = "team",
			.line = policy->budgets[i].line,
			.column = policy->budgets[i].column},
		    KIND_ACCOUNT, policy->budgets[i].team);
	look_at_classes(&look);
	look_at_rules(&look);
	for (int i = 0; i < policy->team_count; i++)
		look_at(&look, &(struct place){.section = "labels: ", .key = ""}, KIND_ACCOUNT,
		    policy->teams[i].name);
	for (int i = 0; i < policy->notify.owner_count; i++)
		look_at(&look, &(struct place){.section = "notify: owners: ", .key = ""},
		    KIND_ACCOUNT, policy->notify.owners[i].team);
	return look.count;
}
