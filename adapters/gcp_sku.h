/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SKUs of Google Cloud's price list: which of them are of a machine, and what
 * it costs. For gcp_billing_sku.c alone.
 */
#ifndef LT_GCP_SKU_H
#define LT_GCP_SKU_H

#include "source.h"

enum lt_gcp_part { LT_GCP_CORE, LT_GCP_RAM, LT_GCP_GPU, LT_GCP_PART_COUNT };

enum { LT_GCP_NAME_MAX = 64 }; /* bytes of a family or GPU; more: refused */

struct lt_gcp_search { /* of all pages; no memory of its own */
	const char *region, *currency;
	bool is_spot;
	int64_t now_utc_s;
	struct lt_gcp_price {
		const char *name; /* CPU family or GPU, of a description */
		int64_t milli;	  /* vCPUs, GiB or GPUs; 0 = not wanted */
		int64_t nanos;	  /* of the currency per hour of one */
		int64_t
		    other_nanos; /* of a second, different price; 0 = none */
		int matched;	 /* in the region, with a usable price */
		int elsewhere;	 /* in other regions */
	} parts[LT_GCP_PART_COUNT];
	int sku_count, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

void lt_gcp_add(struct lt_gcp_search *search, const json_t *sku);
/* Micros of a node-hour, half away from zero; *micros only on success. An
 * absent or ambiguous SKU is LT_EINPUT and named. */
int lt_gcp_sum(
    const struct lt_gcp_search *search, int64_t *micros, struct lt_error *err);

#endif
