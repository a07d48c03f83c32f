/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A partition's factor for the market-based method: what a supplier or bought
 * certificates say of a kWh, by whom, and from which day on.
 */
#include <stddef.h>
#include <string.h>

#include "reader.h"

struct entry { /* as written; becomes a lt_policy_market_based */
	double g_per_kwh;
	char source[LT_NAME_SIZE], from[LT_NAME_SIZE];
};

/* What a person reads: any text of one line. */
static void
read_text(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	const char *const text = lt_scalar_peek(node);
	const size_t length = text != NULL ? strlen(text) : 0;

	if (length == 0 || length >= key->size) {
		lt_unwanted(reader, key, node, "");
		return;
	}
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '\177') {
			lt_unwanted(reader, key, node, "");
			return;
		}
	memcpy((char *)object + key->offset, text, length + 1);
}

#define AT(field) offsetof(struct entry, field)
static const struct lt_key keys[] = {
    {"g_per_kwh", lt_read_double, AT(g_per_kwh), .min = 0, .max = 10000,
	.required = true, .want = "g CO2e/kWh from 0 to 10000 such as 12"},
    {"source", read_text, AT(source), .size = LT_NAME_SIZE, .required = true,
	.want =
	    "who says so, in at most 63 bytes, such as \"REC 2026, supplier X\""},
    {"from", lt_read_name, AT(from), .size = LT_NAME_SIZE,
	.want = "the first day such as 2026-01-01"},
    {.name = NULL},
};
#undef AT

void
lt_read_market_based(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	struct lt_policy_market_based *const to =
	    (void *)((char *)object + key->offset);
	const int errors = reader->errors->count;
	struct entry entry = {.g_per_kwh = 0};

	if (!lt_read_body(reader,
		&(struct lt_key){
		    .name = key->name, .want = key->want, .keys = keys},
		node, &entry) ||
	    reader->errors->count > errors)
		return;
	to->is_set = true;
	to->g_per_kwh = entry.g_per_kwh;
	memcpy(to->source, entry.source, sizeof(to->source));
	to->from_utc_s = INT64_MIN;
	if (entry.from[0] != '\0' &&
	    !lt_date_utc_s(
		entry.from, reader->policy->timezone, &to->from_utc_s))
		lt_complain(reader, node,
		    "from: got \"%s\", want a day such as 2026-01-01",
		    entry.from);
}
