/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options and steps that sources of prices share, from the options in the policy file to the price
 * of a node or of a kWh. A wrong option is an error at its place in the file.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "prices.h"
#include "units.h"

const char *
lt_price_list_usd(const struct lt_source_options *options)
{
	(void)options;
	return "USD";
}

const struct lt_option_choice lt_price_list_choices[] = {
    {"capacity", {"spot", "on_demand"}, "spot or on_demand"},
    {NULL, {NULL}, NULL},
};

bool
lt_price_list_is_spot(const struct lt_source_options *options)
{
	return strcmp(lt_source_option(options, "capacity", "spot"), "spot") == 0;
}

int
lt_price_list_milli(
    const struct lt_source_options *options, const char *key, int64_t *milli, struct lt_error *err)
{
	const char *const text = lt_source_option(options, key, "0");
	int64_t micros;

	if (lt_micros_parse(text, &micros, NULL) != LT_OK || micros < 0 || micros % 1000 != 0 ||
	    micros > (int64_t)LT_PRICE_LIST_AMOUNT_MAX * LT_MICROS)
		return lt_option_fail(options, key, err,
		    "%s: %s: got \"%s\", want a number up to %d with at most three decimals",
		    options->name, key, text, LT_PRICE_LIST_AMOUNT_MAX);
	*milli = micros / 1000;
	return LT_OK;
}

int
lt_price_list_point(
    struct lt_points *points, const struct lt_list_price *price, struct lt_error *err)
{
	const int64_t past_s = (price->now_utc_s % LT_HOUR_S + LT_HOUR_S) % LT_HOUR_S;
	const int64_t start_utc_s = price->now_utc_s - past_s;
	const struct lt_point point = {.start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + 2 * price->interval_s,
	    .value = round(price->micros),
	    .quality = price->quality};

	points->quantity = LT_QUANTITY_PRICE;
	points->issued_utc_s = 0;
	return lt_points_add(points, &point, err);
}

/* True if name is in the comma-separated list. */
static bool
is_named(const char *names, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = names; (at = strstr(at, name)) != NULL; at++)
		if ((at == names || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
			return true;
	return false;
}

void
lt_price_list_name(char names[LT_PRICE_LIST_NAMES_SIZE], const char *name)
{
	const size_t length = strlen(names);

	if (name[0] == '\0' || is_named(names, name) ||
	    length + strlen(name) + sizeof(", ") > LT_PRICE_LIST_NAMES_SIZE)
		return;
	snprintf(names + length, LT_PRICE_LIST_NAMES_SIZE - length, "%s%s", length == 0 ? "" : ", ",
	    name);
}

enum { ADD_MAX = 10, MULTIPLY_MAX = 10, KWH_PER_MWH = 1000 };

int
lt_tariff_terms_read(const struct lt_source_options *options, const char *currency,
    struct lt_tariff_terms *terms, struct lt_error *err)
{
	const char *const add = lt_source_option(options, "add_per_kwh", "0");
	const char *const multiply = lt_source_option(options, "multiply", "1");

	if (lt_double_parse(add, &terms->add, NULL) != LT_OK || terms->add < -ADD_MAX ||
	    terms->add > ADD_MAX)
		return lt_option_fail(options, "add_per_kwh", err,
		    "%s: add_per_kwh: got \"%s\", want %s per kWh, -%d to %d", options->name, add,
		    currency, ADD_MAX, ADD_MAX);
	if (lt_double_parse(multiply, &terms->multiply, NULL) != LT_OK || terms->multiply <= 0 ||
	    terms->multiply > MULTIPLY_MAX)
		return lt_option_fail(options, "multiply", err,
		    "%s: multiply: got \"%s\", want more than 0, at most %d (1.19 for 19 %% VAT)",
		    options->name, multiply, MULTIPLY_MAX);
	return LT_OK;
}

double
lt_tariff_micros(const struct lt_tariff_terms *terms, double per_mwh)
{
	return lt_quantity_from(
	    LT_QUANTITY_TARIFF, (per_mwh / KWH_PER_MWH + terms->add) * terms->multiply);
}
