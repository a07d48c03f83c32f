/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The classes of a policy file: rules for jobs by account, QOS, partition and name, before they run
 * and while they run. Reads YAML nodes by its table of keys, writes struct lt_class. A wrong value
 * is a complaint with its line.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"
#include "units.h"

enum { PREEMPTIBLE_ALLOWED, PREEMPTIBLE_NEVER };

/* A class as written: its other settings stand behind it. */
struct entry {
	struct lt_class class;
	int preemptible;
	double smoke_above_h;
};

/* One pattern of job names, a line of the entry's. */
static void
add_pattern(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, char *patterns)
{
	const char *const text = lt_scalar_peek(node);
	const size_t used = strlen(patterns);

	if (text == NULL || text[0] == '\0' || strchr(text, '\n') != NULL) {
		lt_unwanted(reader, key, node, "");
		return;
	}
	const int length = snprintf(
	    patterns + used, LT_JOB_PATTERNS_SIZE - used, "%s%s", used > 0 ? "\n" : "", text);

	if (length < 0 || (size_t)length >= LT_JOB_PATTERNS_SIZE - used)
		lt_complain(reader, node,
		    "%s: got more than %d bytes of patterns, want fewer, or a second class",
		    key->name, LT_JOB_PATTERNS_SIZE - 1);
}

static void
read_patterns(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	char *const patterns = (char *)object + key->offset;
	const int errors = reader->errors->count;

	if (node->type != YAML_SEQUENCE_NODE) {
		add_pattern(reader, key, node, patterns);
		return;
	}
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top && reader->errors->count == errors; item++)
		add_pattern(reader, key, yaml_document_get_node(reader->document, *item), patterns);
	if (patterns[0] == '\0' && reader->errors->count == errors)
		lt_unwanted(reader, key, node, "");
}

#define AT(field) offsetof(struct entry, field)
static const struct lt_word default_words[] = {
    {"off", LT_OBJECTIVE_OFF},
    {"on", LT_OBJECTIVE_BALANCED},
    {"balanced", LT_OBJECTIVE_BALANCED},
    {"cost", LT_OBJECTIVE_COST},
    {"carbon", LT_OBJECTIVE_CARBON},
    {"fast", LT_OBJECTIVE_FAST},
    {.name = NULL},
};
static const struct lt_word preemptible_words[] = {
    {"allowed", PREEMPTIBLE_ALLOWED},
    {"never", PREEMPTIBLE_NEVER},
    {.name = NULL},
};
static const struct lt_word pause_words[] = {
    {"never", LT_PAUSE_NEVER},
    {"requeue", LT_PAUSE_REQUEUE},
    {"suspend", LT_PAUSE_SUSPEND},
    {.name = NULL},
};
static const struct lt_key smoke_keys[] = {
    /* A smoke run of a minute must itself need none. */
    {"above_node_hours", lt_read_double, AT(smoke_above_h), .required = true, .min = 0.04,
	.max = 1e6, .want = "node-hours from 0.04 such as 64"},
    {"within", lt_read_duration, AT(class.smoke_within_s), .required = true, .min = LT_HOUR_S,
	.max = 400 * LT_DAY_S, .want = "a duration from 1h to 400d such as 7d"},
    {.name = NULL},
};
static const struct lt_key keys[] = {
    {"account", lt_read_account, AT(class.account), .size = LT_ACCOUNT_SIZE,
	.want = "a Slurm account"},
    {"qos", lt_read_account, AT(class.qos), .size = LT_ACCOUNT_SIZE, .want = "a Slurm QOS"},
    {"partition", lt_read_name, AT(class.partition), .size = LT_NAME_SIZE, .want = "a partition"},
    {"name", read_patterns, AT(class.patterns),
	.want = "a pattern of job names, or a list, such as [\"sys/dashboard/*\", \"*jupyter*\"]"},
    {"default", lt_read_word, AT(class.default_objective), .words = default_words,
	.want = "on, off, balanced, cost, carbon or fast"},
    {"max_delay", lt_read_duration, AT(class.max_delay_s), .min = 0, .max = 30 * LT_DAY_S,
	.want = "a duration from 0 to 30d such as 3h"},
    {"deadline_confidence", lt_read_ppm, AT(class.deadline_confidence_ppm), .min = 1, .max = 99.99,
	.want = "a percentage from 1 to 99.99 such as 99"},
    {"max_price", lt_read_micros, AT(class.max_price_micros), .min = 0.000001, .max = 1e6,
	.is_money = true, .want = "money per node-hour above 0 such as 12.50"},
    {"assume_time", lt_read_duration, AT(class.assume_time_s), .min = 60, .max = 365 * LT_DAY_S,
	.want = "a duration from 1m to 365d such as 2d"},
    {"preemptible", lt_read_word, AT(preemptible), .words = preemptible_words,
	.want = "allowed or never"},
    {"max_interruptions", lt_read_u32, AT(class.max_interruptions), .min = 1, .max = 1000,
	.want = "a number from 1 to 1000 such as 3"},
    {"pause", lt_read_word, AT(class.pause), .words = pause_words,
	.want = "never, requeue or suspend"},
    {"canary", lt_read_bool, AT(class.canary), .want = "true or false"},
    {"require_smoke", lt_read_keys, 0, .keys = smoke_keys,
	.want = "a mapping such as {above_node_hours: 64, within: 7d}"},
    {.name = NULL},
};
#undef AT

static bool
is_same(const struct lt_class *a, const struct lt_class *b)
{
	return strcmp(a->account, b->account) == 0 && strcmp(a->qos, b->qos) == 0 &&
	       strcmp(a->partition, b->partition) == 0 && strcmp(a->patterns, b->patterns) == 0;
}

void
lt_read_class(
    struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item)
{
	enum { NOT_SAID = -1 };
	struct lt_class *const made = item;
	const struct lt_policy *const policy = reader->policy;
	struct entry entry = {.class = *made};
	const int errors = reader->errors->count;

	(void)name;
	entry.class.max_delay_s = NOT_SAID;
	entry.class.max_interruptions = LT_INTERRUPTIONS_ANY;
	if (!lt_read_body(reader,
		&(struct lt_key){.name = made->name,
		    .want = "a mapping such as {qos: batch, max_interruptions: 3}",
		    .keys = keys},
		node, &entry) ||
	    reader->errors->count > errors)
		return;
	*made = entry.class;
	made->has_max_delay = made->max_delay_s != NOT_SAID;
	if (!made->has_max_delay)
		made->max_delay_s = 0;
	made->on_demand_only = entry.preemptible == PREEMPTIBLE_NEVER;
	made->smoke_above_node_s = (int64_t)(entry.smoke_above_h * LT_HOUR_S);
	for (int i = 0; i < policy->class_count; i++)
		if (is_same(&policy->classes[i], made))
			lt_complain(reader, node,
			    "%s: got the same account, qos, partition and name as %s, which counts alone",
			    made->name, policy->classes[i].name);
}

void
lt_read_defaults(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	(void)object;
	lt_complain(reader, node, "%s: is no key any more, want %s", key->name, key->want);
}
