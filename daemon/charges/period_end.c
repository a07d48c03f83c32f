/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates the cost of an open period at its end from the days of the ledger. Days of UTC stand
 * for the site's days with the same numbers: the difference to the period's own bounds counts as
 * spent, but as no day's use, as an adjustment does.
 *
 * Pure but for reading the ledger. Without enough days nothing is expected.
 */
#include "period_end.h"

#include <stdlib.h>

#include "charge.h"
#include "periods.h"
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

/* ---- the last days ---- */

struct reading {
	struct lt_last_days *last;
	const struct lt_last_days_asked *asked;
	int64_t first_day;
};

static int
add_amounts(struct lt_use *use, int at, int64_t micros, int64_t mg, struct lt_error *err)
{
	struct lt_day_amounts *const day = &use->days[at];

	use->is_any = true;
	return lt_add(&day->money_micros, micros) && lt_add(&day->carbon_mg, mg)
		   ? LT_OK
		   : lt_fail(err, LT_EOVERFLOW, "forecast: a day passes its range");
}

/* An lt_day_function. */
static int
take_day(void *context, int64_t day, const struct lt_account_sum *sum, struct lt_error *err)
{
	const struct reading *const r = context;
	const int account = r->asked->index_of(r->asked->context, sum->account);
	const int at = (int)(day - r->first_day);

	if (account < 0)
		return LT_OK;
	const int code =
	    add_amounts(&r->last->uses[account], at, sum->money_micros, sum->carbon_mg, err);
	return code == LT_OK
		   ? add_amounts(&r->last->all, at, sum->money_micros, sum->carbon_mg, err)
		   : code;
}

int
lt_last_days_read(struct lt_last_days *last, struct lt_ledger *ledger,
    const struct lt_last_days_asked *asked, struct lt_error *err)
{
	const int64_t today = day_of(asked->offsets, asked->now_utc_s, NULL);
	struct reading r = {last, asked, today - LT_PERIOD_FORECAST_DAYS};
	bool has = false;

	*last = (struct lt_last_days){
	    .offsets = asked->offsets, .now_utc_s = asked->now_utc_s, .count = asked->count};
	const int code = lt_ledger_first_booked(ledger, &last->first_utc_s, &has, err);
	if (code != LT_OK || !has)
		return code != LT_OK ? code : lt_fail(err, LT_ENOENT, "nothing is booked");
	last->uses = calloc(asked->count + (size_t)1, sizeof(*last->uses));
	if (last->uses == NULL)
		return lt_fail(err, LT_ENOMEM, "forecast: out of memory");
	return lt_ledger_day_sums(
	    ledger, (struct lt_days_asked){r.first_day, today}, take_day, &r, err);
}

void
lt_last_days_free(struct lt_last_days *last)
{
	free(last->uses);
	*last = (struct lt_last_days){0};
}

/* ---- a period ---- */

static void
take_off(struct lt_forecast_range *range, int64_t spent)
{
	range->low -= spent;
	range->expected -= spent;
	range->high -= spent;
}

/* Returns what is still to come by that use alone. */
static int
rest_of(struct lt_period_forecast *rest, const struct lt_period_end *end, const struct lt_use *use,
    struct lt_error *err)
{
	struct lt_use dated = *use;
	struct lt_period_days of = end->of;
	int64_t micros = 0, mg = 0;

	of.days = dated.days;
	of.count = LT_PERIOD_FORECAST_DAYS + 1;
	for (int i = 0; i <= LT_PERIOD_FORECAST_DAYS; i++) {
		struct lt_day_amounts *const day = &dated.days[i];

		day->day = of.today - LT_PERIOD_FORECAST_DAYS + i;
		if (day->day < of.first_day)
			continue;
		micros += day->money_micros;
		mg += day->carbon_mg;
	}
	const int code = lt_period_forecast(rest, &of, err);
	if (code == LT_OK && rest->money.known)
		take_off(&rest->money, micros);
	if (code == LT_OK && rest->carbon.known)
		take_off(&rest->carbon, mg);
	return code;
}

struct split { /* of the site's, by what each account by itself would have */
	double *micros, *mg;
	double sum_micros, sum_mg;
	int64_t *parts;
};

/* Scales to the site's; where no account expects anything nobody does. */
static void
split_one(struct split *s, double *exact, double sum, int64_t site, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		exact[i] = sum > 0 ? exact[i] * ((double)site / sum) : 0;
	lt_charge_split(s->parts, exact, count, sum > 0 ? site : 0);
}

static int
split_site(struct lt_period_end *end, struct split *s, const struct lt_period_forecast *site,
    struct lt_error *err)
{
	const struct lt_last_days *const last = end->last;

	for (uint32_t i = 0; i < last->count; i++) {
		struct lt_period_forecast own = {0};
		const int code =
		    last->uses[i].is_any ? rest_of(&own, end, &last->uses[i], err) : LT_OK;

		if (code != LT_OK)
			return code;
		s->micros[i] = (double)own.money.expected;
		s->mg[i] = (double)own.carbon.expected;
		s->sum_micros += s->micros[i];
		s->sum_mg += s->mg[i];
	}
	split_one(s, s->micros, s->sum_micros, site->money.expected, last->count);
	for (uint32_t i = 0; i < last->count; i++)
		end->accounts[i].money_micros = s->parts[i];
	split_one(s, s->mg, s->sum_mg, site->carbon.expected, last->count);
	for (uint32_t i = 0; i < last->count; i++)
		end->accounts[i].carbon_mg = s->parts[i];
	return LT_OK;
}

int
lt_period_end_make(struct lt_period_end *end, const struct lt_last_days *last,
    struct lt_span period, struct lt_error *err)
{
	const size_t count = last->count + (size_t)1;
	struct split s = {.micros = calloc(count, sizeof(double)),
	    .mg = calloc(count, sizeof(double)),
	    .parts = calloc(count, sizeof(int64_t))};
	struct lt_period_forecast site;
	int64_t gone_ppm;

	*end =
	    (struct lt_period_end){.last = last, .accounts = calloc(count, sizeof(*end->accounts))};
	end->of.first_day = day_of(last->offsets, period.from_utc_s, NULL);
	end->of.last_day = day_of(last->offsets, period.to_utc_s - 1, NULL);
	end->of.known_from = day_of(last->offsets, last->first_utc_s, NULL);
	end->of.today = day_of(last->offsets, last->now_utc_s, &gone_ppm);
	end->of.today_gone_ppm = (uint32_t)gone_ppm;
	int code = s.micros != NULL && s.mg != NULL && s.parts != NULL && end->accounts != NULL
		       ? LT_OK
		       : lt_fail(err, LT_ENOMEM, "forecast: out of memory");
	if (code == LT_OK)
		code = rest_of(&site, end, &last->all, err);
	if (code == LT_OK)
		code = split_site(end, &s, &site, err);
	free(s.micros);
	free(s.mg);
	free(s.parts);
	return code;
}

/* ---- some accounts ---- */

int
lt_period_end_add(struct lt_accounts_end *some, const struct lt_period_end *end, uint32_t account,
    struct lt_error *err)
{
	const struct lt_to_come *const part = &end->accounts[account];
	const struct lt_use *const use = &end->last->uses[account];
	int code = lt_add(&some->to_come.money_micros, part->money_micros) &&
			   lt_add(&some->to_come.carbon_mg, part->carbon_mg)
		       ? LT_OK
		       : lt_fail(err, LT_EOVERFLOW, "forecast: the total passes its range");

	for (int i = 0; code == LT_OK && use->is_any && i <= LT_PERIOD_FORECAST_DAYS; i++)
		code = add_amounts(
		    &some->use, i, use->days[i].money_micros, use->days[i].carbon_mg, err);
	return code;
}

/* The range is theirs by themselves; it holds their part. */
static int
put_range(struct lt_forecast_range *range, int64_t spent, int64_t to_come, struct lt_error *err)
{
	if (!range->known)
		return LT_OK;
	range->expected = to_come;
	if (to_come < range->low)
		range->low = to_come;
	if (to_come > range->high)
		range->high = to_come;
	return lt_add(&range->low, spent) && lt_add(&range->expected, spent) &&
		       lt_add(&range->high, spent)
		   ? LT_OK
		   : lt_fail(err, LT_EOVERFLOW, "forecast: the total passes its range");
}

int
lt_period_end_forecast(struct lt_period_forecast *out, const struct lt_period_end *end,
    const struct lt_accounts_end *some, const struct lt_amount *spent, struct lt_error *err)
{
	struct lt_period_forecast made;
	int code = rest_of(&made, end, &some->use, err);

	if (code == LT_OK)
		code = put_range(&made.money, spent->money_micros, some->to_come.money_micros, err);
	if (code == LT_OK)
		code = put_range(&made.carbon, spent->carbon_mg, some->to_come.carbon_mg, err);
	if (code == LT_OK)
		*out = made;
	return code;
}
