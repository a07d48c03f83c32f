/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fees and taxes on a price of electricity, as the policy file has them.
 */
#include "tariff_terms.h"
#include "units.h"

enum { ADD_MAX = 10, MULTIPLY_MAX = 10, KWH_PER_MWH = 1000 };

int
lt_tariff_terms_read(const struct lt_source_options *options,
    const char *currency, struct lt_tariff_terms *terms, struct lt_error *err)
{
	const char *const add = lt_source_option(options, "add_per_kwh", "0");
	const char *const multiply = lt_source_option(options, "multiply", "1");

	if (lt_double_parse(add, &terms->add, NULL) != LT_OK ||
	    terms->add < -ADD_MAX || terms->add > ADD_MAX)
		return lt_option_fail(options, "add_per_kwh", err,
		    "%s: add_per_kwh: got \"%s\", want %s per kWh, -%d to %d",
		    options->name, add, currency, ADD_MAX, ADD_MAX);
	if (lt_double_parse(multiply, &terms->multiply, NULL) != LT_OK ||
	    terms->multiply <= 0 || terms->multiply > MULTIPLY_MAX)
		return lt_option_fail(options, "multiply", err,
		    "%s: multiply: got \"%s\", want more than 0, at most %d (1.19 for 19 %% VAT)",
		    options->name, multiply, MULTIPLY_MAX);
	return LT_OK;
}

double
lt_tariff_micros(const struct lt_tariff_terms *terms, double per_mwh)
{
	return lt_quantity_from(LT_QUANTITY_TARIFF,
	    (per_mwh / KWH_PER_MWH + terms->add) * terms->multiply);
}
