/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Days of UTC stand for the days of the site that have their numbers: by what
 * they differ from the period's own bounds is spent, and no day's use, as an
 * adjustment is.
 */
#include "grow.h"
#include "period_end.h"
#include "units.h"

static int64_t
day_of(const struct lt_offsets *offsets, int64_t utc_s, int64_t *gone_ppm)
{
	char text[LT_DAY_TEXT_SIZE];
	int64_t start, end;
	const int64_t day = lt_calendar_day(text, &start, &end, offsets, utc_s);

	if (gone_ppm != NULL)
		*gone_ppm = (utc_s - start) * LT_MICROS / (end - start);
	return day;
}

void
lt_period_end_begin(struct lt_period_end *end, const struct lt_offsets *offsets,
    const struct lt_period_moment *moment)
{
	const struct lt_span *const period = &moment->period;
	int64_t gone_ppm;

	*end = (struct lt_period_end){0};
	end->of.first_day = day_of(offsets, period->from_utc_s, NULL);
	end->of.last_day = day_of(offsets, period->to_utc_s - 1, NULL);
	end->of.known_from = day_of(offsets, moment->first_utc_s, NULL);
	end->of.today = day_of(offsets, moment->now_utc_s, &gone_ppm);
	end->of.today_gone_ppm = (uint32_t)gone_ppm;
}

struct lt_days_asked
lt_period_end_days(const struct lt_period_end *end)
{
	const int64_t known = end->of.today - LT_PERIOD_FORECAST_DAYS;

	return (struct lt_days_asked){
	    known < end->of.first_day ? known : end->of.first_day,
	    end->of.today};
}

int
lt_period_end_add(struct lt_period_end *end, int64_t day,
    const struct lt_account_sum *sum, struct lt_error *err)
{
	uint32_t *const count = &end->of.count;

	if (*count == 0 || end->items[*count - 1].day != day) {
		struct lt_day_amounts *const grown = lt_items_grow(
		    end->items, &end->capacity, *count, sizeof(*grown));

		if (grown == NULL)
			return lt_fail(
			    err, LT_ENOMEM, "forecast: out of memory");
		end->items = grown;
		grown[(*count)++] = (struct lt_day_amounts){.day = day};
	}
	end->items[*count - 1].money_micros += sum->money_micros;
	end->items[*count - 1].carbon_mg += sum->carbon_mg;
	return LT_OK;
}

int
lt_period_end_forecast(struct lt_period_forecast *out,
    struct lt_period_end *end, const struct lt_amount *spent,
    struct lt_error *err)
{
	end->of.days = end->items;
	end->of.booked_micros = spent->money_micros;
	end->of.booked_mg = spent->carbon_mg;
	for (uint32_t i = 0; i < end->of.count; i++)
		if (end->items[i].day >= end->of.first_day) {
			end->of.booked_micros -= end->items[i].money_micros;
			end->of.booked_mg -= end->items[i].carbon_mg;
		}
	return lt_period_forecast(out, &end->of, err);
}
