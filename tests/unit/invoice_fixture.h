/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Invoices as bytes, read for a site with two instance types.
 */
#ifndef LT_TEST_INVOICE_FIXTURE_H
#define LT_TEST_INVOICE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reconcile_tie.h"

#define E12 ((lt_wide)1000000000000)

static const struct lt_invoice_ask plain = {
    .path = "i.csv", .currency = "USD", .basis = LT_INVOICE_BILLED};

static inline void
map_init(struct lt_tie_map *map)
{
	struct lt_error err = {0};

	*map = (struct lt_tie_map){0};
	assert_int_equal(lt_tie_map_parse(map, "a=p4d.24xlarge,b=g5.xlarge", &err), LT_OK);
}

static inline int
read_bytes(struct lt_invoice *invoice, const char *bytes, size_t byte_count,
    const struct lt_invoice_ask *ask, struct lt_error *err)
{
	struct lt_tie_map map;
	FILE *const in = fmemopen((void *)(uintptr_t)bytes, byte_count, "r");

	assert_non_null(in);
	map_init(&map);
	*invoice = (struct lt_invoice){0};
	if (lt_invoice_read(invoice, in, ask, &map, err) == LT_OK)
		lt_invoice_finish(invoice, ask, err);
	fclose(in);
	return err->code;
}

#define FOCUS                                                                                      \
	"BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,"                                   \
	"ChargePeriodEnd,ChargeCategory,ServiceCategory,SkuMeter,"                                 \
	"SkuPriceDetails,ConsumedQuantity,ConsumedUnit,BilledCost,"                                \
	"EffectiveCost,BillingCurrency\n"
#define OCTOBER "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,"
#define DAY_7 OCTOBER "2026-10-07T00:00:00Z,2026-10-08T00:00:00Z,"

#endif
