/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy's precision rules: who gets which mixed precision without
 * --amp. Compute nodes read no policy: they get the rules by plugstack's line
 * (lt_policy_precision_text), and know where the job is.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lookup.h"
#include "reader.h"

struct entry { /* as written; becomes a struct lt_precision_rule */
	char names[LT_PRECISION_OF_COUNT][LT_NAME_SIZE];
	int amp;
};

static const char *const of_names[LT_PRECISION_OF_COUNT] = {
    [LT_PRECISION_OF_ACCOUNT] = "account",
    [LT_PRECISION_OF_QOS] = "qos",
    [LT_PRECISION_OF_PARTITION] = "partition",
};

#define AT(field) offsetof(struct entry, field)
static const struct lt_word amp_words[] = {
    {"auto", LT_PRECISION_AUTO},
    {"off", LT_PRECISION_OFF},
    {"bf16", LT_PRECISION_BF16},
    {"fp16", LT_PRECISION_FP16},
    {"fp8", LT_PRECISION_FP8},
    {.name = NULL},
};
static const struct lt_key keys[] = {
    {"account", lt_read_account, AT(names[LT_PRECISION_OF_ACCOUNT]), .size = LT_ACCOUNT_SIZE,
	.want = "a Slurm account"},
    {"qos", lt_read_account, AT(names[LT_PRECISION_OF_QOS]), .size = LT_ACCOUNT_SIZE,
	.want = "a Slurm QOS"},
    {"partition", lt_read_name, AT(names[LT_PRECISION_OF_PARTITION]), .size = LT_NAME_SIZE,
	.want = "a partition"},
    {"amp", lt_read_word, AT(amp), .words = amp_words, .required = true,
	.want = "auto, off, bf16, fp16 or fp8"},
    {.name = NULL},
};
#undef AT

void
lt_read_precision(
    struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item)
{
	struct lt_precision_rule *const made = item;
	const struct lt_policy *const policy = reader->policy;
	struct entry entry = {.amp = LT_PRECISION_AUTO};
	const int errors = reader->errors->count;
	int said = 0;

	(void)name;
	if (!lt_read_body(reader,
		&(struct lt_key){.name = "precision",
		    .want = "a mapping such as {account: audit, amp: off}",
		    .keys = keys},
		node, &entry) ||
	    reader->errors->count > errors)
		return;
	for (int of = 0; of < LT_PRECISION_OF_COUNT; of++) {
		if (entry.names[of][0] == '\0')
			continue;
		said++;
		made->of = (enum lt_precision_of)of;
		memcpy(made->name, entry.names[of], sizeof(made->name));
	}
	if (said != 1) {
		lt_complain(reader, node,
		    "precision: got %s, want one of account, qos and partition",
		    said == 0 ? "none" : "more than one");
		return;
	}
	made->precision = (enum lt_precision)entry.amp;
	for (int i = 0; i < policy->precision_count; i++)
		if (policy->precisions[i].of == made->of &&
		    strcmp(policy->precisions[i].name, made->name) == 0)
			lt_complain(reader, node, "precision: got %s %s twice, want it once",
			    LT_WORD(of_names, made->of), made->name);
}

const char *
lt_policy_precision_text(char *out, size_t size, const struct lt_policy *policy)
{
	size_t used = 0;

	if (size > 0)
		out[0] = '\0';
	for (int i = 0; i < policy->precision_count && used < size; i++) {
		const struct lt_precision_rule *const rule = &policy->precisions[i];
		const char *word = "";

		for (const struct lt_word *w = amp_words; w->name != NULL; w++)
			if (w->value == (int)rule->precision)
				word = w->name;
		used += (size_t)snprintf(out + used, size - used, "%s%s:%s:%s",
		    i > 0 ? "," : "precision=", LT_WORD(of_names, rule->of), rule->name, word);
	}
	return out;
}
