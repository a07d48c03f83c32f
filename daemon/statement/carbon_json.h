/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a carbon report, and their JSON (docs/api.md).
 */
#ifndef LT_SERVE_CARBON_JSON_H
#define LT_SERVE_CARBON_JSON_H

#include "budget.h"
#include "carbon_factors.h"
#include "out.h"

struct lt_carbon_hour { /* of a run, for an account */
	const struct lt_run *run;
	const struct lt_entry *entry; /* sums; at is the hour of UTC, or the
				       * midnight of the site amid it */
	int64_t from_utc_s, seconds;  /* that it ran in it */
	struct lt_factor intensity, pue, embodied, market;
	const char *zone; /* the place of the source, or its name; "" = none */
	const char *adapter,
	    *version;	   /* the source's, today; NULL = not known */
	bool has_pue;	   /* it is the one that was charged with */
	bool has_date;	   /* so is the intensity, and since when it is known */
	bool has_embodied; /* it was recorded then, and there is some */
	int64_t location_mg, embodied_mg, market_mg; /* the first two are what
						      * was charged */
};

struct lt_carbon_row { /* sums of those that are alike */
	char zone[160], source[LT_NAME_SIZE], partition[LT_NAME_SIZE],
	    market_source[LT_NAME_SIZE];
	struct lt_period month;
	bool has_pue, has_embodied, has_intensity, has_market;
	int64_t energy_wh, estimated_wh, location_mg, embodied_mg, market_mg;
	double it_wh;
	int64_t hours, first_utc_s, last_utc_s;
	const char *adapter, *version;
	/* Of the intensities with a date; hours of those without. */
	int64_t first_issued_utc_s, last_issued_utc_s, undated_hours;
};

void lt_carbon_hour_write(
    struct lt_out *out, const struct lt_carbon_hour *hour);
/* ,"carbon":{...} with their total. */
void lt_carbon_rows_write(struct lt_out *out, const struct lt_carbon_row *rows,
    uint32_t count, const json_t *head);

#endif
