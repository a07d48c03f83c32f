/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carbon_factors.h"
#include "carbon_json.h"
#include "grow.h"
#include "report_carbon.h"
#include "units.h"

struct lt_report_carbon {
	struct lt_carbon_asked asked;
	struct lt_carbon_factors factors;
	struct lt_carbon_row *rows;
	size_t capacity;
	uint32_t count;
	uint64_t written; /* hours */
};

struct taker { /* of the hours of a run */
	struct lt_report_carbon *c;
	const struct lt_run *run;
	const char *account;
	/* What came of this hour; end 0: none has. */
	struct lt_entry sum;
	int64_t end_utc_s;
};

struct lt_report_carbon *
lt_report_carbon_new(const struct lt_carbon_asked *asked)
{
	struct lt_report_carbon *const c = calloc(1, sizeof(*c));

	if (c != NULL) {
		c->asked = *asked;
		c->factors = (struct lt_carbon_factors){
		    .ledger = asked->ledger, .period = asked->period};
	}
	return c;
}

void
lt_report_carbon_free(struct lt_report_carbon *c)
{
	if (c == NULL)
		return;
	lt_carbon_factors_free(&c->factors);
	free(c->rows);
	free(c);
}

/* ---- an hour of a run ---- */

/* The part of the hour that it ran in; of one that it no more ran in, after
 * corrections, all of it. */
static struct lt_span
part_of(const struct lt_run *run, struct lt_span hour)
{
	const struct lt_span part = {run->start_utc_s > hour.from_utc_s
					 ? run->start_utc_s
					 : hour.from_utc_s,
	    run->end_utc_s < hour.to_utc_s ? run->end_utc_s : hour.to_utc_s};

	return part.from_utc_s < part.to_utc_s ? part : hour;
}

/* What of the carbon is embodied: by the hour's length, or, of a correction,
 * as much of it as of the whole run, eq. (50). */
static int64_t
embodied_of(
    const struct lt_carbon_hour *hour, const struct lt_run *run, double g_per_h)
{
	static const double mg_per_g = 1000;
	const int64_t all = hour->entry->carbon_mg;
	const int64_t length = run->end_utc_s - run->start_utc_s;
	const double on =
	    length > 0 ? 1 - (double)run->suspended_s / (double)length : 1;
	const double mg_per_s = g_per_h * mg_per_g * run->nodes * on *
				(double)run->share_numerator /
				(double)run->share_denominator / LT_HOUR_S;
	double mg = mg_per_s * (double)hour->seconds;

	if (hour->entry->kind == LT_ENTRY_CORRECTION) {
		const double part =
		    run->carbon_mg > 0
			? mg_per_s * (double)length / (double)run->carbon_mg
			: 0;

		mg = (double)all * (part < 1 ? part : 1);
		return llround(mg);
	}
	return mg < (double)all ? llround(mg) : all > 0 ? all : 0;
}

static int
fill_factors(
    struct lt_carbon_hour *hour, const struct taker *t, struct lt_error *err)
{
	const struct lt_run *const run = t->run;
	struct lt_rates_asked asked = {run->partition, LT_RATE_CARBON,
	    part_of(run, (struct lt_span){t->sum.at_utc_s, t->end_utc_s})};
	const struct {
		enum lt_rate rate;
		struct lt_factor *to;
	} all[] = {{LT_RATE_CARBON, &hour->intensity},
	    {LT_RATE_PUE, &hour->pue}, {LT_RATE_EMBODIED, &hour->embodied},
	    {LT_RATE_MARKET_BASED, &hour->market}};
	int rc = LT_OK;

	hour->from_utc_s = asked.span.from_utc_s;
	hour->seconds = asked.span.to_utc_s - asked.span.from_utc_s;
	for (size_t i = 0; rc == LT_OK && i < sizeof(all) / sizeof(*all); i++) {
		asked.rate = all[i].rate;
		rc = lt_factor_of(all[i].to, &t->c->factors, &asked, err);
	}
	/* A run without one was charged none. */
	if (rc == LT_OK && !run->has_carbon && hour->entry->carbon_mg == 0)
		hour->intensity = (struct lt_factor){.source = ""};
	return rc;
}

static int
fill_hour(
    struct lt_carbon_hour *hour, const struct taker *t, struct lt_error *err)
{
	const struct lt_report_carbon *const c = t->c;
	const struct lt_entry *const entry = &t->sum;

	*hour = (struct lt_carbon_hour){.run = t->run, .entry = entry};
	const int rc = fill_factors(hour, t, err);
	if (rc != LT_OK)
		return rc;
	/* Another value may have come after the charge. */
	hour->has_pue =
	    hour->pue.is_known && hour->pue.issued_utc_s <= entry->made_utc_s;
	hour->has_date = hour->intensity.is_known &&
			 hour->intensity.first_issued_utc_s > 0 &&
			 hour->intensity.issued_utc_s <= entry->made_utc_s;
	hour->has_embodied =
	    hour->embodied.is_known && hour->embodied.value > 0;
	if (hour->has_embodied)
		hour->embodied_mg =
		    embodied_of(hour, t->run, hour->embodied.value);
	hour->location_mg = entry->carbon_mg - hour->embodied_mg;
	if (hour->market.is_known)
		hour->market_mg =
		    llround((double)entry->energy_wh * hour->market.value);
	hour->zone = hour->intensity.source;
	for (uint32_t i = 0; i < c->asked.zone_count; i++)
		if (strcmp(c->asked.zones[i].source, hour->zone) == 0) {
			hour->adapter = c->asked.zones[i].adapter;
			hour->version = c->asked.zones[i].version;
			if (c->asked.zones[i].where[0] != '\0')
				hour->zone = c->asked.zones[i].where;
			break;
		}
	return LT_OK;
}

/* ---- sums ---- */

static bool
is_in(const struct lt_carbon_row *row, const struct lt_carbon_hour *hour)
{
	const int64_t at = hour->from_utc_s;

	return at >= row->month.start_utc_s && at < row->month.end_utc_s &&
	       row->has_pue == hour->has_pue &&
	       row->has_embodied == hour->has_embodied &&
	       row->has_intensity == hour->intensity.is_known &&
	       row->has_market == hour->market.is_known &&
	       strcmp(row->partition, hour->run->partition) == 0 &&
	       strcmp(row->source, hour->intensity.source) == 0 &&
	       (!row->has_market ||
		   strcmp(row->market_source, hour->market.source) == 0);
}

/* There are few: the last one found is tried first. */
static struct lt_carbon_row *
row_of(struct lt_report_carbon *c, const struct lt_carbon_hour *hour)
{
	for (uint32_t i = c->count; i > 0; i--)
		if (is_in(&c->rows[i - 1], hour))
			return &c->rows[i - 1];
	struct lt_carbon_row *const grown =
	    lt_items_grow(c->rows, &c->capacity, c->count, sizeof(*grown));

	if (grown == NULL)
		return NULL;
	c->rows = grown;
	struct lt_carbon_row *const row = &grown[c->count++];
	*row = (struct lt_carbon_row){.has_pue = hour->has_pue,
	    .has_embodied = hour->has_embodied,
	    .has_intensity = hour->intensity.is_known,
	    .has_market = hour->market.is_known,
	    .adapter = hour->adapter,
	    .version = hour->version,
	    .first_utc_s = INT64_MAX,
	    .first_issued_utc_s = INT64_MAX};
	lt_calendar_period(
	    &row->month, c->asked.offsets, LT_MONTH, hour->from_utc_s, 0);
	snprintf(row->zone, sizeof(row->zone), "%s", hour->zone);
	snprintf(
	    row->source, sizeof(row->source), "%s", hour->intensity.source);
	snprintf(
	    row->partition, sizeof(row->partition), "%s", hour->run->partition);
	if (row->has_market)
		snprintf(row->market_source, sizeof(row->market_source), "%s",
		    hour->market.source);
	return row;
}

static void
add_date(struct lt_carbon_row *row, const struct lt_carbon_hour *hour)
{
	const struct lt_factor *const i = &hour->intensity;

	row->undated_hours += !hour->has_date;
	if (hour->has_date && i->first_issued_utc_s < row->first_issued_utc_s)
		row->first_issued_utc_s = i->first_issued_utc_s;
	if (hour->has_date && i->issued_utc_s > row->last_issued_utc_s)
		row->last_issued_utc_s = i->issued_utc_s;
}

static int
add_hour(struct lt_report_carbon *c, const struct lt_carbon_hour *hour,
    struct lt_error *err)
{
	struct lt_carbon_row *const row = row_of(c, hour);
	const int64_t wh = hour->entry->energy_wh, at = hour->entry->at_utc_s;
	const bool is_measured = hour->intensity.is_known &&
				 hour->intensity.quality == LT_QUALITY_MEASURED;

	if (row == NULL)
		return lt_fail(err, LT_ENOMEM, "carbon: no memory");
	if (!lt_add(&row->energy_wh, wh) ||
	    !lt_add(&row->estimated_wh, is_measured ? 0 : wh) ||
	    !lt_add(&row->location_mg, hour->location_mg) ||
	    !lt_add(&row->embodied_mg, hour->embodied_mg) ||
	    !lt_add(&row->market_mg, hour->market_mg))
		return lt_fail(
		    err, LT_EOVERFLOW, "carbon: a sum passes 64 bits");
	if (hour->has_pue)
		row->it_wh += (double)wh / hour->pue.value;
	add_date(row, hour);
	row->hours++;
	if (at < row->first_utc_s)
		row->first_utc_s = at;
	if (at > row->last_utc_s)
		row->last_utc_s = at;
	return LT_OK;
}

static int
end_hour(const struct taker *t, struct lt_error *err)
{
	struct lt_report_carbon *const c = t->c;
	struct lt_out *const out = c->asked.hours;
	struct lt_carbon_hour hour;

	if (t->end_utc_s == 0)
		return LT_OK;
	const int rc = fill_hour(&hour, t, err);
	if (rc != LT_OK || out == NULL)
		return rc != LT_OK ? rc : add_hour(c, &hour, err);
	lt_out_text(out, c->written++ > 0 ? ",\n" : "\n");
	lt_carbon_hour_write(out, &hour);
	return out->failed ? lt_fail(err, LT_EIO, "nobody takes the answer")
			   : LT_OK;
}

/* Does a day begin then, amid an hour of UTC and the run? */
static bool
is_cut(const struct taker *t, int64_t utc_s)
{
	return utc_s % LT_HOUR_S != 0 && utc_s > t->run->start_utc_s &&
	       lt_calendar_hour(t->c->asked.offsets, utc_s) == utc_s;
}

/* An lt_used_function: an hour that was cut at a midnight is two. */
static int
take_entry(void *context, const struct lt_entry *entry, int64_t next_utc_s,
    struct lt_error *err)
{
	struct taker *const t = context;
	const int64_t at = entry->at_utc_s, hour = at - at % LT_HOUR_S;
	const int64_t end =
	    next_utc_s < hour + LT_HOUR_S && is_cut(t, next_utc_s)
		? next_utc_s
		: hour + LT_HOUR_S;
	const bool is_new =
	    is_cut(t, at) || t->sum.at_utc_s < hour || t->end_utc_s == 0;
	int rc = LT_OK;

	if (strcmp(entry->account, t->account) != 0)
		return LT_OK;
	if (is_new) {
		rc = end_hour(t, err);
		t->sum = *entry;
		t->sum.at_utc_s = is_cut(t, at) ? at : hour;
		t->end_utc_s = end;
		return rc;
	}
	if (entry->kind < t->sum.kind)
		t->sum.kind = entry->kind;
	if (entry->made_utc_s > t->sum.made_utc_s)
		t->sum.made_utc_s = entry->made_utc_s;
	if (end < t->end_utc_s)
		t->end_utc_s = end;
	return lt_entry_add(&t->sum, entry, 1)
		   ? LT_OK
		   : lt_fail(err, LT_EOVERFLOW, "carbon: a sum passes 64 bits");
}

int
lt_report_carbon_run(struct lt_report_carbon *c, const struct lt_run *run,
    const char *account, struct lt_error *err)
{
	struct taker t = {.c = c, .run = run, .account = account};
	const int rc = lt_ledger_used_hours(c->asked.ledger,
	    &(struct lt_hours_asked){run->key, c->asked.period}, take_entry, &t,
	    err);

	return rc == LT_OK ? end_hour(&t, err) : rc;
}

static int
by_key(const void *a, const void *b)
{
	const struct lt_carbon_row *const x = a, *const y = b;
	const int orders[] = {strcmp(x->zone, y->zone),
	    strcmp(x->partition, y->partition), strcmp(x->source, y->source),
	    (x->first_utc_s > y->first_utc_s) -
		(x->first_utc_s < y->first_utc_s),
	    x->has_pue - y->has_pue, x->has_embodied - y->has_embodied,
	    x->has_intensity - y->has_intensity, x->has_market - y->has_market,
	    strcmp(x->market_source, y->market_source)};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (orders[i] != 0)
			return orders[i];
	return 0;
}

void
lt_report_carbon_write(
    struct lt_out *out, struct lt_report_carbon *c, const json_t *head)
{
	if (c->count > 1)
		qsort(c->rows, c->count, sizeof(*c->rows), by_key);
	lt_carbon_rows_write(out, c->rows, c->count, head);
}
