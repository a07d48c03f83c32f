/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `charge:`, what a tonne of CO2e is charged with, and `deferral_discount:`,
 * what a team gets back of what its jobs' waiting saved.
 */
#include <stddef.h>

#include "reader.h"

#define AT(field) offsetof(struct lt_policy, field)
static const struct lt_key charge_keys[] = {
    {"carbon_per_tonne", lt_read_micros, AT(charge.micros_per_tonne), .min = 0,
	.max = 1e6, .is_money = true, .required = true,
	.want = "money from 0 to 1000000 such as 80"},
    {.name = NULL},
};
static const struct lt_key discount_keys[] = {
    {"share", lt_read_ppm, AT(discount.share_ppm), .min = 0, .max = 100,
	.required = true, .want = "a percentage from 0 to 100 such as 50"},
    {"most_per_month", lt_read_micros, AT(discount.most_micros), .min = 0,
	.max = 1e9, .is_money = true, .required = true,
	.want = "money from 0 such as 500, for each account"},
    {.name = NULL},
};
#undef AT

void
lt_read_charge(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	const struct lt_key body = {
	    .name = key->name, .want = key->want, .keys = charge_keys};

	(void)lt_read_body(reader, &body, node, object);
}

void
lt_read_discount(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	const struct lt_key body = {
	    .name = key->name, .want = key->want, .keys = discount_keys};

	(void)lt_read_body(reader, &body, node, object);
}
