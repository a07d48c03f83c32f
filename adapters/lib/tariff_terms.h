/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an exchange's price to what a site pays: fees on top, then taxes. For
 * the sources of day-ahead prices.
 */
#ifndef LT_TARIFF_TERMS_H
#define LT_TARIFF_TERMS_H

#include "option.h"

struct lt_tariff_terms { /* (price + add) * multiply, per kWh */
	double add, multiply;
};

/* The entries of both options in an adapter's table. */
#define LT_TARIFF_TERMS_OPTIONS                                                \
	{"add_per_kwh", false, "fees and taxes on top, per kWh", "0"},         \
	{                                                                      \
		"multiply", false, "then times this, as 1.19 for 19 % VAT",    \
		    "1"                                                        \
	}

/* The options add_per_kwh (of this currency, for errors) and multiply. */
int lt_tariff_terms_read(const struct lt_source_options *options,
    const char *currency, struct lt_tariff_terms *terms, struct lt_error *err);
/* A price per MWh in whole micros per kWh, halves away from 0. */
double lt_tariff_micros(const struct lt_tariff_terms *terms, double per_mwh);

#endif
