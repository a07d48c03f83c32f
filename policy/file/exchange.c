/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dated exchange rates of a policy file: what one unit of another currency
 * is in the site's.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

struct exchange_entry { /* as written; becomes a lt_policy_exchange */
	char currency[8], from[LT_NAME_SIZE];
	double rate;
};

#define AT(field) offsetof(struct exchange_entry, field)
static const struct lt_key exchange_keys[] = {
    {"currency", lt_read_currency, AT(currency), .required = true,
	.want = "an ISO 4217 code in capitals such as USD"},
    {"rate", lt_read_double, AT(rate), .min = 1e-9, .max = 1e9,
	.required = true,
	.want = "what one unit is in the site's currency, such as 0.93"},
    {"from", lt_read_name, AT(from), .size = LT_NAME_SIZE,
	.want = "the first day such as 2026-11-01"},
    {.name = NULL},
};
#undef AT

void
lt_read_exchange(struct lt_reader *reader, const yaml_node_t *name,
    const yaml_node_t *node, void *item)
{
	(void)name;
	struct lt_policy_exchange *exchange = item;
	struct exchange_entry entry = {.rate = 0};
	const int errors = reader->errors->count;
	if (!lt_read_body(reader,
		&(struct lt_key){.name = "exchange_rates",
		    .want =
			"a mapping such as {currency: USD, rate: 0.93, from: 2026-11-01}",
		    .keys = exchange_keys},
		node, &entry) ||
	    reader->errors->count > errors)
		return;
	memcpy(exchange->currency, entry.currency, sizeof(entry.currency));
	exchange->rate = entry.rate;
	exchange->from_utc_s = INT64_MIN;
	if (entry.from[0] != '\0' &&
	    !lt_date_utc_s(
		entry.from, reader->policy->timezone, &exchange->from_utc_s))
		lt_complain(reader, node,
		    "from: got \"%s\", want a day such as 2026-11-01",
		    entry.from);
}

static int
compare(const void *a, const void *b)
{
	const struct lt_policy_exchange *first = a, *second = b;
	const int order = strcmp(first->currency, second->currency);

	if (order != 0)
		return order;
	return (first->from_utc_s > second->from_utc_s) -
	       (first->from_utc_s < second->from_utc_s);
}

void
lt_exchanges_finish(struct lt_reader *reader)
{
	const struct lt_policy *policy = reader->policy;
	struct lt_policy_exchange *rows = policy->exchanges;

	if (policy->exchange_count == 0)
		return;
	if (policy->currency[0] == '\0') {
		lt_complain(reader, NULL,
		    "exchange_rates: are into the site's currency, but currency: is missing, want a line such as currency: EUR");
		return;
	}
	qsort(rows, (size_t)policy->exchange_count, sizeof(*rows), compare);
	for (int i = 0; i < policy->exchange_count; i++) {
		if (rows[i].currency[0] == '\0')
			continue; /* a row that was refused */
		if (strcmp(rows[i].currency, policy->currency) == 0)
			lt_complain(reader, NULL,
			    "exchange_rates: got a rate of %s, the site's own currency, want others only",
			    rows[i].currency);
		if (i > 0 && compare(&rows[i - 1], &rows[i]) == 0)
			lt_complain(reader, NULL,
			    "exchange_rates: got two rates of %s for the same day, want one",
			    rows[i].currency);
	}
}
