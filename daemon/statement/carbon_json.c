/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is not stored is null, never 0. Market-based and location-based carbon
 * are two figures and never become one.
 */
#include <math.h>
#include <stdio.h>

#include "carbon_json.h"
#include "units.h"

#define METHOD "lowtide-1" /* docs/model.md, eqs. (49) to (53) */

/* As exact as it takes to recompute. */
static void
put_real(struct lt_out *out, const char *key, bool has, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.15g", value);
	lt_out_text(out, key);
	lt_out_text(out, has ? text : "null");
}

/* ---- an hour of a run ---- */

static void
put_factors(struct lt_out *out, const struct lt_carbon_hour *hour)
{
	const struct lt_factor *const i = &hour->intensity;
	const struct lt_factor *const market = &hour->market;

	lt_out_put_known(out, ",\"zone\":", hour->zone);
	lt_out_put_known(out, ",\"source\":", i->source);
	lt_out_put_known(out,
	    ",\"quality\":", i->is_known ? lt_quality_name(i->quality) : NULL);
	put_real(out, ",\"g_per_kwh\":", i->is_known, i->value);
	lt_out_put_time(
	    out, ",\"issued\":", hour->has_date ? i->issued_utc_s : 0);
	put_real(out, ",\"pue\":", hour->has_pue, hour->pue.value);
	lt_out_put_known(out,
	    ",\"market_source\":", market->is_known ? market->source : NULL);
	put_real(
	    out, ",\"market_g_per_kwh\":", market->is_known, market->value);
}

void
lt_carbon_hour_write(struct lt_out *out, const struct lt_carbon_hour *hour)
{
	const struct lt_run *const run = hour->run;
	const struct lt_entry *const entry = hour->entry;
	const bool has_mg = hour->intensity.is_known || entry->carbon_mg != 0;

	lt_out_put_int(out, "{\"job_id\":", true, run->key.job_id);
	lt_out_put_time(out, ",\"submit\":", run->key.submit_utc_s);
	lt_out_put_known(out, ",\"account\":", entry->account);
	lt_out_put_known(out, ",\"partition\":", run->partition);
	lt_out_put_time(out, ",\"hour\":", entry->at_utc_s);
	lt_out_put_int(out, ",\"seconds\":", true, hour->seconds);
	lt_out_text(out, entry->kind == LT_ENTRY_CORRECTION
			     ? ",\"correction\":true"
			     : ",\"correction\":false");
	put_factors(out, hour);
	lt_out_put_int(out, ",\"energy_wh\":", true, entry->energy_wh);
	lt_out_put_int(out, ",\"location_mg\":", has_mg, hour->location_mg);
	lt_out_put_int(
	    out, ",\"market_mg\":", hour->market.is_known, hour->market_mg);
	lt_out_put_int(
	    out, ",\"embodied_mg\":", hour->has_embodied, hour->embodied_mg);
	lt_out_put_int(out, ",\"carbon_mg\":", has_mg, entry->carbon_mg);
	lt_out_put_int(out, ",\"money_micros\":", true, entry->money_micros);
	lt_out_text(out, "}");
}

/* ---- sums ---- */

static bool
has_location(const struct lt_carbon_row *row)
{
	return row->has_intensity || row->location_mg != 0;
}

/* What a row and the total have alike. */
static void
put_sums(struct lt_out *out, const struct lt_carbon_row *row)
{
	const bool has_share = row->energy_wh > 0 && row->estimated_wh >= 0 &&
			       row->estimated_wh <= row->energy_wh;
	const double share =
	    has_share ? (double)row->estimated_wh / (double)row->energy_wh : 0;

	lt_out_put_int(out, "\"energy_wh\":", true, row->energy_wh);
	lt_out_put_int(
	    out, ",\"location_mg\":", has_location(row), row->location_mg);
	lt_out_put_int(out, ",\"market_mg\":", row->has_market, row->market_mg);
	lt_out_put_int(
	    out, ",\"embodied_mg\":", row->has_embodied, row->embodied_mg);
	put_real(out, ",\"pue\":", row->has_pue && row->it_wh > 0,
	    round((double)row->energy_wh / row->it_wh * 1e6) / 1e6);
	lt_out_put_int(
	    out, ",\"estimated_ppm\":", has_share, llround(share * LT_MICROS));
	lt_out_put_time(
	    out, ",\"first\":", row->hours > 0 ? row->first_utc_s : 0);
	lt_out_put_time(
	    out, ",\"last\":", row->hours > 0 ? row->last_utc_s : 0);
	lt_out_put_int(out, ",\"hours\":", true, row->hours);
	lt_out_put_time(out, ",\"issued_first\":",
	    row->last_issued_utc_s > 0 ? row->first_issued_utc_s : 0);
	lt_out_put_time(out, ",\"issued_last\":", row->last_issued_utc_s);
	lt_out_put_int(out, ",\"undated_hours\":", true, row->undated_hours);
	lt_out_text(out, "}");
}

static void
put_row(struct lt_out *out, const struct lt_carbon_row *row)
{
	lt_out_put_known(out, "{\"zone\":", row->zone);
	lt_out_put_known(out, ",\"partition\":", row->partition);
	lt_out_put_known(out, ",\"source\":", row->source);
	lt_out_put_known(out, ",\"adapter\":", row->adapter);
	lt_out_put_known(out, ",\"version\":", row->version);
	lt_out_put_known(out, ",\"market_source\":", row->market_source);
	lt_out_put_known(out, ",\"month\":", row->month.label);
	lt_out_text(out, ",");
	put_sums(out, row);
}

/* PUE and market-based carbon are of all rows or not at all. Embodied carbon is
 * of those that have some; the location-based is the rest of the statement's.
 */
static struct lt_carbon_row
total_of(const struct lt_carbon_row *rows, uint32_t count)
{
	struct lt_carbon_row all = {.has_intensity = true,
	    .has_pue = count > 0,
	    .has_market = count > 0,
	    .first_utc_s = INT64_MAX,
	    .first_issued_utc_s = INT64_MAX};

	for (uint32_t i = 0; i < count; i++) {
		const struct lt_carbon_row *const row = &rows[i];

		all.has_pue = all.has_pue && row->has_pue;
		all.has_market = all.has_market && row->has_market;
		all.has_embodied = all.has_embodied || row->has_embodied;
		all.energy_wh += row->energy_wh;
		all.estimated_wh += row->estimated_wh;
		all.location_mg += row->location_mg;
		all.embodied_mg += row->embodied_mg;
		all.market_mg += row->market_mg;
		all.it_wh += row->it_wh;
		all.hours += row->hours;
		all.undated_hours += row->undated_hours;
		if (row->first_issued_utc_s < all.first_issued_utc_s)
			all.first_issued_utc_s = row->first_issued_utc_s;
		if (row->last_issued_utc_s > all.last_issued_utc_s)
			all.last_issued_utc_s = row->last_issued_utc_s;
		if (row->first_utc_s < all.first_utc_s)
			all.first_utc_s = row->first_utc_s;
		if (row->last_utc_s > all.last_utc_s)
			all.last_utc_s = row->last_utc_s;
	}
	return all;
}

/* With PUE it is the facility's; where rows differ, or their PUE is not known,
 * it is not said. */
static const char *
boundary_of(const struct lt_carbon_row *rows, uint32_t count)
{
	uint32_t it = 0, facility = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!rows[i].has_pue || rows[i].it_wh <= 0)
			continue;
		if ((double)rows[i].energy_wh > rows[i].it_wh)
			facility++;
		else
			it++;
	}
	if (count == 0 || it + facility < count)
		return NULL;
	return it == count ? "it" : facility == count ? "facility" : NULL;
}

void
lt_carbon_rows_write(struct lt_out *out, const struct lt_carbon_row *rows,
    uint32_t count, const json_t *head)
{
	const struct lt_carbon_row total = total_of(rows, count);

	lt_out_text(out, ",\"carbon\":{\"method\":\"" METHOD "\"");
	lt_out_put_known(out, ",\"boundary\":", boundary_of(rows, count));
	lt_out_put_known(out, ",\"intensity\":",
	    json_string_value(json_object_get(head, "carbon_intensity")));
	lt_out_put_known(out, ",\"factors\":",
	    json_string_value(json_object_get(head, "emission_factors")));
	lt_out_put_known(out, ",\"gwp\":", NULL); /* no source says it */
	lt_out_text(out, ",\"rows\":[");
	for (uint32_t i = 0; i < count; i++) {
		lt_out_text(out, i > 0 ? "," : "");
		put_row(out, &rows[i]);
	}
	lt_out_text(out, "],\"total\":{");
	put_sums(out, &total);
	lt_out_text(out, "}");
}
