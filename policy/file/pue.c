/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A partition's PUE: one number, or one of each month, which a site knows when
 * the month is over.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"

double
lt_policy_pue(const struct lt_policy_pue *pue, int64_t utc_s)
{
	int i = pue->count - 1;

	while (i > 0 && pue->months[i].from_utc_s > utc_s)
		i--;
	return i >= 0 ? pue->months[i].value : 1;
}

/* "2026-10", at its first midnight. */
static bool
month_utc_s(const char *text, const char *zone, int64_t *utc_s)
{
	char day[sizeof("2026-10-01")];
	const int length = snprintf(day, sizeof(day), "%s-01", text);

	return length == (int)sizeof(day) - 1 &&
	       lt_date_utc_s(day, zone, utc_s);
}

static void
insert(struct lt_reader *reader, const yaml_node_t *name,
    struct lt_policy_pue *pue, const struct lt_policy_pue_month *month)
{
	int at = pue->count;

	while (at > 0 && pue->months[at - 1].from_utc_s > month->from_utc_s)
		at--;
	if (at > 0 && pue->months[at - 1].from_utc_s == month->from_utc_s) {
		lt_complain(reader, name, "%s: got it twice, want it once",
		    lt_scalar_peek(name));
		return;
	}
	memmove(&pue->months[at + 1], &pue->months[at],
	    (size_t)(pue->count - at) * sizeof(*month));
	pue->months[at] = *month;
	pue->count++;
}

static void
read_month(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_pair_t *pair, struct lt_policy_pue *pue)
{
	const yaml_node_t *const name =
	    yaml_document_get_node(reader->document, pair->key);
	const char *const text = lt_scalar_peek(name);
	const struct lt_key value = {.name = text,
	    .offset = offsetof(struct lt_policy_pue_month, value),
	    .min = key->min,
	    .max = key->max,
	    .want = "a number from 1 to 10 such as 1.15"};
	struct lt_policy_pue_month month = {.value = 1};

	if (text == NULL ||
	    !month_utc_s(text, reader->policy->timezone, &month.from_utc_s)) {
		lt_unwanted(reader,
		    &(struct lt_key){
			.name = key->name, .want = "a month such as 2026-10"},
		    name, "");
		return;
	}
	lt_read_double(reader, &value,
	    yaml_document_get_node(reader->document, pair->value), &month);
	insert(reader, name, pue, &month);
}

void
lt_read_pue(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	struct lt_policy_pue *const pue =
	    (void *)((char *)object + key->offset);

	if (node->type != YAML_MAPPING_NODE) {
		struct lt_key one = *key;

		one.offset = offsetof(struct lt_policy_pue_month, value);
		pue->count = 1;
		pue->months[0] =
		    (struct lt_policy_pue_month){.from_utc_s = INT64_MIN};
		lt_read_double(reader, &one, node, &pue->months[0]);
		return;
	}
	const yaml_node_pair_t *const pairs = node->data.mapping.pairs.start;
	const ptrdiff_t count = node->data.mapping.pairs.top - pairs;
	if (count < 1 || count > LT_PUE_MONTHS_MAX) {
		lt_complain(reader, node, "%s: got %td months, want 1 to %d",
		    key->name, count, LT_PUE_MONTHS_MAX);
		return;
	}
	for (ptrdiff_t i = 0; i < count && !lt_errors_full(reader); i++)
		read_month(reader, key, &pairs[i], pue);
}
