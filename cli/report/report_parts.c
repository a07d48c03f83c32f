/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What else than nodes the cost of a report is for, in words.
 */
#include <math.h>

#include "cli.h"
#include "report.h"
#include "units.h"

static bool
has_parts(const json_t *row)
{
	int64_t carbon = 0, discount = 0;

	lt_json_int(row, "carbon_charge_micros", &carbon);
	lt_json_int(row, "discount_micros", &discount);
	return carbon != 0 || discount != 0;
}

/* Of a team too: what two teams have may add up to nothing. */
bool
lt_report_has_parts(const json_t *report)
{
	size_t index;
	const json_t *team;

	json_array_foreach(json_object_get(report, "teams"), index, team)
		if (has_parts(team))
			return true;
	return has_parts(json_object_get(report, "total"));
}

/* What is adjusted by hand has no charge of its own. */
bool
lt_carbon_charge_text(char *out, size_t size, const json_t *report)
{
	static const double most = 1e18;
	const char *const currency = lt_json_text(report, "currency", "");
	const json_t *const total = json_object_get(report, "total");
	int64_t charge = 0, all_mg = 0, adjusted_mg = 0;
	char carbon[64], price[64];

	lt_json_int(total, "carbon_charge_micros", &charge);
	lt_json_int(total, "carbon_mg", &all_mg);
	lt_json_int(total, "adjustments_mg", &adjusted_mg);
	const double mg = (double)all_mg - (double)adjusted_mg;
	const double mean = (double)charge * LT_MG_PER_TONNE / mg;

	if (currency[0] == '\0' || charge == 0 || mg < 1 || mg > most ||
	    fabs(mean) > most)
		return false;
	snprintf(out, size, "%s CO2e at %s a tonne, in the mean",
	    lt_carbon_text(carbon, sizeof(carbon), llround(mg)),
	    lt_money_text(price, sizeof(price), llround(mean), currency));
	return true;
}
