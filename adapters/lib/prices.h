/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options and steps that sources of prices share. Price lists of clouds: spot or on demand, amounts
 * of a machine, one price that holds from now on. Prices of electricity: from an exchange's price
 * to the price that a site pays, fees first, then taxes.
 */
#ifndef LT_PRICES_H
#define LT_PRICES_H

#include "option.h"

enum {
	LT_PRICE_LIST_NAMES_SIZE = 200,
	LT_PRICE_LIST_AMOUNT_MAX = 1000000, /* vCPUs, GiB or GPUs: refused */
};

const char *lt_price_list_usd(const struct lt_source_options *options);

/* The option `capacity`: spot, which is the default, or on_demand. */
extern const struct lt_option_choice lt_price_list_choices[];
bool lt_price_list_is_spot(const struct lt_source_options *options);

/* Reads an amount of a machine in thousandths, exact; 0 if it is not given. */
int lt_price_list_milli(
    const struct lt_source_options *options, const char *key, int64_t *milli, struct lt_error *err);

struct lt_list_price {
	double micros;
	enum lt_quality quality;
	int64_t now_utc_s, interval_s; /* when it was read, and how often */
};
/* Adds one price from this hour on, until two fetches have been missed. */
int lt_price_list_point(
    struct lt_points *points, const struct lt_list_price *price, struct lt_error *err);

/* Adds a name to a list for an error, once; left out if there is no room. */
void lt_price_list_name(char names[LT_PRICE_LIST_NAMES_SIZE], const char *name);

struct lt_tariff_terms { /* (price + add) * multiply, per kWh */
	double add, multiply;
};

/* The entries of both options in an adapter's table. */
#define LT_TARIFF_TERMS_OPTIONS                                                                    \
	{"add_per_kwh", false, "fees and taxes on top, per kWh", "0"},                             \
	{                                                                                          \
		"multiply", false, "then times this, as 1.19 for 19 % VAT", "1"                    \
	}

/* Reads the options add_per_kwh and multiply; currency: for errors. */
int lt_tariff_terms_read(const struct lt_source_options *options, const char *currency,
    struct lt_tariff_terms *terms, struct lt_error *err);
/* Converts a price per MWh to whole micros per kWh, halves away from 0. */
double lt_tariff_micros(const struct lt_tariff_terms *terms, double per_mwh);

#endif
