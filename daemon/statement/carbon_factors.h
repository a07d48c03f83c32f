/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The factors that a carbon report multiplies with: what the ledger has of a
 * partition's intensity, PUE, embodied carbon and market-based factor, kept by
 * partition while runs are read.
 */
#ifndef LT_SERVE_CARBON_FACTORS_H
#define LT_SERVE_CARBON_FACTORS_H

#include "ledger.h"

struct lt_factor { /* over a part of an hour */
	bool is_known;
	double value;		 /* mean */
	enum lt_quality quality; /* the worst */
	/* The first and the last step's; 0 = it is not known of one, of all. */
	int64_t first_issued_utc_s, issued_utc_s;
	const char *source; /* the first step's; lent until the next look-up */
};

struct lt_carbon_factors { /* start as { ledger, period } */
	struct lt_ledger *ledger;
	struct lt_span period;
	struct lt_factor_series { /* by partition and rate */
		char partition[LT_NAME_SIZE];
		enum lt_rate rate;
		struct lt_span span; /* that steps are of */
		struct lt_rate_step *steps;
		uint32_t count;
	} * series;
	size_t capacity;
	uint32_t count, last;
};

/* Of the intensity also what stands for hours without one, by its quality; of
 * the others only what was recorded for just that time. */
int lt_factor_of(struct lt_factor *factor, struct lt_carbon_factors *factors,
    const struct lt_rates_asked *asked, struct lt_error *err);
void lt_carbon_factors_free(struct lt_carbon_factors *factors);

#endif
