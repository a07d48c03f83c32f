/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy's classes: what becomes of whose jobs once they run.
 */
#include <stddef.h>
#include <string.h>

#include "reader.h"

enum { PREEMPTIBLE_ALLOWED, PREEMPTIBLE_NEVER };

struct entry { /* as written; becomes a struct lt_class */
	char account[LT_ACCOUNT_SIZE], qos[LT_ACCOUNT_SIZE],
	    partition[LT_NAME_SIZE];
	int preemptible, pause;
	uint32_t max_interruptions;
	bool canary;
};

#define AT(field) offsetof(struct entry, field)
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
static const struct lt_key keys[] = {
    {"account", lt_read_account, AT(account), .size = LT_ACCOUNT_SIZE,
	.want = "a Slurm account"},
    {"qos", lt_read_account, AT(qos), .size = LT_ACCOUNT_SIZE,
	.want = "a Slurm QOS"},
    {"partition", lt_read_name, AT(partition), .size = LT_NAME_SIZE,
	.want = "a partition"},
    {"preemptible", lt_read_word, AT(preemptible), .words = preemptible_words,
	.want = "allowed or never"},
    {"max_interruptions", lt_read_u32, AT(max_interruptions), .min = 1,
	.max = 1000, .want = "a number from 1 to 1000 such as 3"},
    {"pause", lt_read_word, AT(pause), .words = pause_words,
	.want = "never, requeue or suspend"},
    {"canary", lt_read_bool, AT(canary), .want = "true or false"},
    {.name = NULL},
};
#undef AT

static bool
is_same(const struct lt_class *a, const struct lt_class *b)
{
	return strcmp(a->account, b->account) == 0 &&
	       strcmp(a->qos, b->qos) == 0 &&
	       strcmp(a->partition, b->partition) == 0;
}

void
lt_read_class(struct lt_reader *reader, const yaml_node_t *name,
    const yaml_node_t *node, void *item)
{
	struct lt_class *const made = item;
	const struct lt_policy *const policy = reader->policy;
	struct entry entry = {.max_interruptions = LT_INTERRUPTIONS_ANY};
	const int errors = reader->errors->count;

	(void)name;
	if (!lt_read_body(reader,
		&(struct lt_key){.name = made->name,
		    .want =
			"a mapping such as {qos: batch, max_interruptions: 3}",
		    .keys = keys},
		node, &entry) ||
	    reader->errors->count > errors)
		return;
	memcpy(made->account, entry.account, sizeof(made->account));
	memcpy(made->qos, entry.qos, sizeof(made->qos));
	memcpy(made->partition, entry.partition, sizeof(made->partition));
	made->on_demand_only = entry.preemptible == PREEMPTIBLE_NEVER;
	made->max_interruptions = entry.max_interruptions;
	made->pause = (enum lt_pause)entry.pause;
	made->canary = entry.canary;
	for (int i = 0; i < policy->class_count; i++)
		if (is_same(&policy->classes[i], made))
			lt_complain(reader, node,
			    "%s: got the same account, qos and partition as %s, which counts alone",
			    made->name, policy->classes[i].name);
}
