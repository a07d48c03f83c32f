/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy and carbon for an auditor, docs/model.md, eqs. (49) to (53): reads the factors that held
 * from the ledger, applies them to each hour of a run, and writes the sums by grid zone, partition,
 * source and month as JSON (docs/api.md). A factor that is not stored is null, never 0.
 * Market-based and location-based carbon are two figures and are never added up.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "charge.h"
#include "grow.h"
#include "ledger.h"
#include "min_max.h"
#include "out.h"
#include "report_carbon.h"
#include "units.h"

/* ---- factors of a partition, kept while runs are read ---- */

struct factor { /* over a part of an hour */
	bool is_known;
	double value;		 /* mean */
	enum lt_quality quality; /* the worst */
	/* The first and the last step's; 0 = it is not known of one, of all. */
	int64_t first_issued_utc_s, issued_utc_s;
	const char *source; /* the first step's; lent until the next look-up */
};

struct factors { /* start as { ledger, period } */
	struct lt_ledger *ledger;
	struct lt_span period;
	struct factor_series { /* by partition and rate */
		char partition[LT_NAME_SIZE];
		enum lt_rate rate;
		struct lt_span span; /* that steps are of */
		struct lt_rate_step *steps;
		uint32_t count;
	} * series;
	size_t capacity;
	uint32_t count, last;
};

static bool
is_of(const struct factor_series *s, const struct lt_rates_asked *asked)
{
	return s->rate == asked->rate && strcmp(s->partition, asked->partition) == 0;
}

/* NULL: no memory. */
static struct factor_series *
series_of(struct factors *f, const struct lt_rates_asked *asked)
{
	for (uint32_t i = 0; i < f->count; i++) {
		/* Runs of one partition follow each other. */
		const uint32_t at = (f->last + i) % f->count;

		if (is_of(&f->series[at], asked)) {
			f->last = at;
			return &f->series[at];
		}
	}
	struct factor_series *const grown =
	    lt_items_grow(f->series, &f->capacity, f->count, sizeof(*grown));
	if (grown == NULL)
		return NULL;
	f->series = grown;
	f->last = f->count++;
	grown[f->last] =
	    (struct factor_series){.rate = asked->rate, .span = {INT64_MAX, INT64_MIN}};
	snprintf(
	    grown[f->last].partition, sizeof(grown[f->last].partition), "%s", asked->partition);
	return &grown[f->last];
}

static int
load_factors(
    struct factor_series *s, const struct factors *f, struct lt_span span, struct lt_error *err)
{
	const struct lt_span *const all[] = {&span, &f->period, &s->span};
	struct lt_rates_asked asked = {s->partition, s->rate, span};

	for (int i = 0; i < 3; i++) {
		if (all[i]->from_utc_s < asked.span.from_utc_s)
			asked.span.from_utc_s = all[i]->from_utc_s;
		if (all[i]->to_utc_s > asked.span.to_utc_s)
			asked.span.to_utc_s = all[i]->to_utc_s;
	}
	free(s->steps);
	s->steps = NULL;
	s->count = 0;
	s->span = asked.span;
	return lt_ledger_rates(f->ledger, &asked, &s->steps, &s->count, err);
}

/* The steps that touch the span; there is one, unless there is none at all. */
static struct lt_rates
steps_of(const struct factor_series *s, struct lt_span span)
{
	uint32_t low = 0, high = s->count, end;

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (s->steps[middle].start_utc_s <= span.from_utc_s)
			low = middle;
		else
			high = middle;
	}
	for (end = low; end < s->count; end++)
		if (end > low && s->steps[end].start_utc_s >= span.to_utc_s)
			break;
	return (struct lt_rates){end - low, s->steps + low};
}

/* Finds the factor of an hour. An intensity may also be the one that stands for hours without one,
 * marked by its quality; other factors count only if they were recorded for that time. */
static int
find_factor(struct factor *factor, struct factors *factors, const struct lt_rates_asked *asked,
    struct lt_error *err)
{
	const struct lt_span span = asked->span;
	struct factor_series *const s = series_of(factors, asked);

	*factor = (struct factor){.source = ""};
	if (s == NULL)
		return lt_fail(err, LT_ENOMEM, "carbon: no memory");
	if (span.from_utc_s < s->span.from_utc_s || span.to_utc_s > s->span.to_utc_s) {
		const int rc = load_factors(s, factors, span, err);

		if (rc != LT_OK)
			return rc;
	}
	if (s->count == 0 || span.from_utc_s >= span.to_utc_s)
		return LT_OK;
	const struct lt_rates rates = steps_of(s, span);
	const double sum =
	    lt_rates_integral(&rates, span.from_utc_s, span.to_utc_s, &factor->quality);

	factor->value = rates.count == 1 ? rates.steps[0].value
					 : sum / (double)(span.to_utc_s - span.from_utc_s);
	factor->source = rates.steps[0].source;
	factor->is_known = asked->rate == LT_RATE_CARBON || factor->quality == LT_QUALITY_CONSTANT;
	for (uint32_t i = 0; i < rates.count; i++) {
		const struct lt_rate_step *const step = &rates.steps[i];

		if (i == 0 || step->issued_utc_s < factor->first_issued_utc_s)
			factor->first_issued_utc_s = step->issued_utc_s;
		if (step->issued_utc_s > factor->issued_utc_s)
			factor->issued_utc_s = step->issued_utc_s;
		if (asked->rate == LT_RATE_MARKET_BASED && step->value < 0)
			factor->is_known = false;
	}
	return LT_OK;
}

static void
free_factors(struct factors *factors)
{
	for (uint32_t i = 0; i < factors->count; i++)
		free(factors->series[i].steps);
	free(factors->series);
}

/* ---- hours and sums, and their JSON ---- */

struct carbon_hour { /* of a run, for an account */
	const struct lt_run *run;
	const struct lt_entry *entry; /* sums; at is the hour of UTC, or the
				       * midnight of the site amid it */
	int64_t from_utc_s, seconds;  /* that it ran in it */
	struct factor intensity, pue, embodied, market;
	const char *zone;	       /* the place of the source, or its name; "" = none */
	const char *adapter, *version; /* the source's, today; NULL = not known */
	bool has_pue;		       /* it is the one that was charged with */
	bool has_date;		       /* so is the intensity, and since when it is known */
	bool has_embodied;	       /* it was recorded then, and there is some */
	int64_t location_mg, embodied_mg, market_mg; /* the first two are what
						      * was charged */
};

struct carbon_row { /* sums of those that are alike */
	char zone[160], source[LT_NAME_SIZE], partition[LT_NAME_SIZE], market_source[LT_NAME_SIZE];
	struct lt_period month;
	bool has_pue, has_embodied, has_intensity, has_market;
	int64_t energy_wh, estimated_wh, location_mg, embodied_mg, market_mg;
	double it_wh;
	int64_t hours, first_utc_s, last_utc_s;
	const char *adapter, *version;
	/* The dates of intensities that have one; hours of those that have none. */
	int64_t first_issued_utc_s, last_issued_utc_s, undated_hours;
};

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

/* ---- an hour as JSON ---- */

static void
put_factors(struct lt_out *out, const struct carbon_hour *hour)
{
	const struct factor *const i = &hour->intensity;
	const struct factor *const market = &hour->market;

	lt_out_put_known(out, ",\"zone\":", hour->zone);
	lt_out_put_known(out, ",\"source\":", i->source);
	lt_out_put_known(out, ",\"quality\":", i->is_known ? lt_quality_name(i->quality) : NULL);
	put_real(out, ",\"g_per_kwh\":", i->is_known, i->value);
	lt_out_put_time(out, ",\"issued\":", hour->has_date ? i->issued_utc_s : 0);
	put_real(out, ",\"pue\":", hour->has_pue, hour->pue.value);
	lt_out_put_known(out, ",\"market_source\":", market->is_known ? market->source : NULL);
	put_real(out, ",\"market_g_per_kwh\":", market->is_known, market->value);
}

static void
write_hour(struct lt_out *out, const struct carbon_hour *hour)
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
	lt_out_text(out,
	    entry->kind == LT_ENTRY_CORRECTION ? ",\"correction\":true" : ",\"correction\":false");
	put_factors(out, hour);
	lt_out_put_int(out, ",\"energy_wh\":", true, entry->energy_wh);
	lt_out_put_int(out, ",\"location_mg\":", has_mg, hour->location_mg);
	lt_out_put_int(out, ",\"market_mg\":", hour->market.is_known, hour->market_mg);
	lt_out_put_int(out, ",\"embodied_mg\":", hour->has_embodied, hour->embodied_mg);
	lt_out_put_int(out, ",\"carbon_mg\":", has_mg, entry->carbon_mg);
	lt_out_put_int(out, ",\"money_micros\":", true, entry->money_micros);
	lt_out_text(out, "}");
}

/* ---- sums as JSON ---- */

static bool
has_location(const struct carbon_row *row)
{
	return row->has_intensity || row->location_mg != 0;
}

/* Writes the members that a row and the total share. */
static void
put_sums(struct lt_out *out, const struct carbon_row *row)
{
	const bool has_share =
	    row->energy_wh > 0 && row->estimated_wh >= 0 && row->estimated_wh <= row->energy_wh;
	const double share = has_share ? (double)row->estimated_wh / (double)row->energy_wh : 0;

	lt_out_put_int(out, "\"energy_wh\":", true, row->energy_wh);
	lt_out_put_int(out, ",\"location_mg\":", has_location(row), row->location_mg);
	lt_out_put_int(out, ",\"market_mg\":", row->has_market, row->market_mg);
	lt_out_put_int(out, ",\"embodied_mg\":", row->has_embodied, row->embodied_mg);
	put_real(out, ",\"pue\":", row->has_pue && row->it_wh > 0,
	    round((double)row->energy_wh / row->it_wh * 1e6) / 1e6);
	lt_out_put_int(out, ",\"estimated_ppm\":", has_share, llround(share * LT_MICROS));
	lt_out_put_time(out, ",\"first\":", row->hours > 0 ? row->first_utc_s : 0);
	lt_out_put_time(out, ",\"last\":", row->hours > 0 ? row->last_utc_s : 0);
	lt_out_put_int(out, ",\"hours\":", true, row->hours);
	lt_out_put_time(
	    out, ",\"issued_first\":", row->last_issued_utc_s > 0 ? row->first_issued_utc_s : 0);
	lt_out_put_time(out, ",\"issued_last\":", row->last_issued_utc_s);
	lt_out_put_int(out, ",\"undated_hours\":", true, row->undated_hours);
	lt_out_text(out, "}");
}

static void
put_row(struct lt_out *out, const struct carbon_row *row)
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

/* PUE and market-based carbon are of all rows or not at all. Embodied carbon is of those that have
 * some; the location-based is the rest of the statement's. */
static struct carbon_row
total_of(const struct carbon_row *rows, uint32_t count)
{
	struct carbon_row all = {.has_intensity = true,
	    .has_pue = count > 0,
	    .has_market = count > 0,
	    .first_utc_s = INT64_MAX,
	    .first_issued_utc_s = INT64_MAX};

	for (uint32_t i = 0; i < count; i++) {
		const struct carbon_row *const row = &rows[i];

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

/* With PUE it is the facility's; where rows differ, or their PUE is not known, it is not said. */
static const char *
boundary_of(const struct carbon_row *rows, uint32_t count)
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

/* ,"carbon":{...} with their total. */
static void
write_rows(struct lt_out *out, const struct carbon_row *rows, uint32_t count, const json_t *head)
{
	const struct carbon_row total = total_of(rows, count);

	lt_out_text(out, ",\"carbon\":{\"method\":\"" METHOD "\"");
	lt_out_put_known(out, ",\"boundary\":", boundary_of(rows, count));
	lt_out_put_known(
	    out, ",\"intensity\":", json_string_value(json_object_get(head, "carbon_intensity")));
	lt_out_put_known(
	    out, ",\"factors\":", json_string_value(json_object_get(head, "emission_factors")));
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

/* ---- the report ---- */

struct lt_report_carbon {
	struct lt_carbon_asked asked;
	struct factors factors;
	struct carbon_row *rows;
	size_t capacity;
	uint32_t count;
	uint64_t written; /* hours */
};

struct taker { /* of the hours of a run */
	struct lt_report_carbon *c;
	const struct lt_run *run;
	const char *account;
	/* The sum of this hour so far; end 0: no hour is begun. */
	struct lt_entry sum;
	int64_t end_utc_s;
};

struct lt_report_carbon *
lt_report_carbon_new(const struct lt_carbon_asked *asked)
{
	struct lt_report_carbon *const c = calloc(1, sizeof(*c));

	if (c != NULL) {
		c->asked = *asked;
		c->factors = (struct factors){.ledger = asked->ledger, .period = asked->period};
	}
	return c;
}

void
lt_report_carbon_free(struct lt_report_carbon *c)
{
	if (c == NULL)
		return;
	free_factors(&c->factors);
	free(c->rows);
	free(c);
}

/* ---- an hour of a run ---- */

/* The part of the hour that it ran in; of one that it no more ran in, after corrections, all of
 * it. */
static struct lt_span
part_of(const struct lt_run *run, struct lt_span hour)
{
	const struct lt_span part = {.from_utc_s = lt_max_i64(run->start_utc_s, hour.from_utc_s),
	    .to_utc_s = lt_min_i64(run->end_utc_s, hour.to_utc_s)};

	return part.from_utc_s < part.to_utc_s ? part : hour;
}

/* The embodied part of the carbon: by the hour's length, or for a correction the same share as in
 * the whole run, eq. (50). */
static int64_t
embodied_of(const struct carbon_hour *hour, const struct lt_run *run, double g_per_h)
{
	static const double mg_per_g = 1000;
	const int64_t all = hour->entry->carbon_mg;
	const int64_t length = run->end_utc_s - run->start_utc_s;
	const double on = length > 0 ? 1 - (double)run->suspended_s / (double)length : 1;
	const double mg_per_s = g_per_h * mg_per_g * run->nodes * on *
				(double)run->share_numerator / (double)run->share_denominator /
				LT_HOUR_S;
	double mg = mg_per_s * (double)hour->seconds;

	if (hour->entry->kind == LT_ENTRY_CORRECTION) {
		const double part =
		    run->carbon_mg > 0 ? mg_per_s * (double)length / (double)run->carbon_mg : 0;

		mg = (double)all * (part < 1 ? part : 1);
		return llround(mg);
	}
	return mg < (double)all ? llround(mg) : all > 0 ? all : 0;
}

static int
fill_factors(struct carbon_hour *hour, const struct taker *t, struct lt_error *err)
{
	const struct lt_run *const run = t->run;
	struct lt_rates_asked asked = {run->partition, LT_RATE_CARBON,
	    part_of(run, (struct lt_span){t->sum.at_utc_s, t->end_utc_s})};
	const struct {
		enum lt_rate rate;
		struct factor *to;
	} all[] = {{LT_RATE_CARBON, &hour->intensity}, {LT_RATE_PUE, &hour->pue},
	    {LT_RATE_EMBODIED, &hour->embodied}, {LT_RATE_MARKET_BASED, &hour->market}};
	int rc = LT_OK;

	hour->from_utc_s = asked.span.from_utc_s;
	hour->seconds = asked.span.to_utc_s - asked.span.from_utc_s;
	for (size_t i = 0; rc == LT_OK && i < sizeof(all) / sizeof(*all); i++) {
		asked.rate = all[i].rate;
		rc = find_factor(all[i].to, &t->c->factors, &asked, err);
	}
	/* A run without one was charged none. */
	if (rc == LT_OK && !run->has_carbon && hour->entry->carbon_mg == 0)
		hour->intensity = (struct factor){.source = ""};
	return rc;
}

static int
fill_hour(struct carbon_hour *hour, const struct taker *t, struct lt_error *err)
{
	const struct lt_report_carbon *const c = t->c;
	const struct lt_entry *const entry = &t->sum;

	*hour = (struct carbon_hour){.run = t->run, .entry = entry};
	const int rc = fill_factors(hour, t, err);
	if (rc != LT_OK)
		return rc;
	/* Another value may have come after the charge. */
	hour->has_pue = hour->pue.is_known && hour->pue.issued_utc_s <= entry->made_utc_s;
	hour->has_date = hour->intensity.is_known && hour->intensity.first_issued_utc_s > 0 &&
			 hour->intensity.issued_utc_s <= entry->made_utc_s;
	hour->has_embodied = hour->embodied.is_known && hour->embodied.value > 0;
	if (hour->has_embodied)
		hour->embodied_mg = embodied_of(hour, t->run, hour->embodied.value);
	hour->location_mg = entry->carbon_mg - hour->embodied_mg;
	if (hour->market.is_known)
		hour->market_mg = llround((double)entry->energy_wh * hour->market.value);
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
is_in(const struct carbon_row *row, const struct carbon_hour *hour)
{
	const int64_t at = hour->from_utc_s;

	return at >= row->month.start_utc_s && at < row->month.end_utc_s &&
	       row->has_pue == hour->has_pue && row->has_embodied == hour->has_embodied &&
	       row->has_intensity == hour->intensity.is_known &&
	       row->has_market == hour->market.is_known &&
	       strcmp(row->partition, hour->run->partition) == 0 &&
	       strcmp(row->source, hour->intensity.source) == 0 &&
	       (!row->has_market || strcmp(row->market_source, hour->market.source) == 0);
}

/* There are few: the last one found is tried first. */
static struct carbon_row *
row_of(struct lt_report_carbon *c, const struct carbon_hour *hour)
{
	for (uint32_t i = c->count; i > 0; i--)
		if (is_in(&c->rows[i - 1], hour))
			return &c->rows[i - 1];
	struct carbon_row *const grown =
	    lt_items_grow(c->rows, &c->capacity, c->count, sizeof(*grown));

	if (grown == NULL)
		return NULL;
	c->rows = grown;
	struct carbon_row *const row = &grown[c->count++];
	*row = (struct carbon_row){.has_pue = hour->has_pue,
	    .has_embodied = hour->has_embodied,
	    .has_intensity = hour->intensity.is_known,
	    .has_market = hour->market.is_known,
	    .adapter = hour->adapter,
	    .version = hour->version,
	    .first_utc_s = INT64_MAX,
	    .first_issued_utc_s = INT64_MAX};
	lt_calendar_period(&row->month, c->asked.offsets, LT_MONTH, hour->from_utc_s, 0);
	snprintf(row->zone, sizeof(row->zone), "%s", hour->zone);
	snprintf(row->source, sizeof(row->source), "%s", hour->intensity.source);
	snprintf(row->partition, sizeof(row->partition), "%s", hour->run->partition);
	if (row->has_market)
		snprintf(row->market_source, sizeof(row->market_source), "%s", hour->market.source);
	return row;
}

static void
add_date(struct carbon_row *row, const struct carbon_hour *hour)
{
	const struct factor *const i = &hour->intensity;

	row->undated_hours += !hour->has_date;
	if (hour->has_date && i->first_issued_utc_s < row->first_issued_utc_s)
		row->first_issued_utc_s = i->first_issued_utc_s;
	if (hour->has_date && i->issued_utc_s > row->last_issued_utc_s)
		row->last_issued_utc_s = i->issued_utc_s;
}

static int
add_hour(struct lt_report_carbon *c, const struct carbon_hour *hour, struct lt_error *err)
{
	struct carbon_row *const row = row_of(c, hour);
	const int64_t wh = hour->entry->energy_wh, at = hour->entry->at_utc_s;
	const bool is_measured =
	    hour->intensity.is_known && hour->intensity.quality == LT_QUALITY_MEASURED;

	if (row == NULL)
		return lt_fail(err, LT_ENOMEM, "carbon: no memory");
	if (!lt_add(&row->energy_wh, wh) || !lt_add(&row->estimated_wh, is_measured ? 0 : wh) ||
	    !lt_add(&row->location_mg, hour->location_mg) ||
	    !lt_add(&row->embodied_mg, hour->embodied_mg) ||
	    !lt_add(&row->market_mg, hour->market_mg))
		return lt_fail(err, LT_EOVERFLOW, "carbon: a sum passes 64 bits");
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
	struct carbon_hour hour;

	if (t->end_utc_s == 0)
		return LT_OK;
	const int rc = fill_hour(&hour, t, err);
	if (rc != LT_OK || out == NULL)
		return rc != LT_OK ? rc : add_hour(c, &hour, err);
	lt_out_text(out, c->written++ > 0 ? ",\n" : "\n");
	write_hour(out, &hour);
	return out->failed ? lt_fail(err, LT_EIO, "nobody takes the answer") : LT_OK;
}

/* True if a day begins then, amid an hour of UTC and the run. */
static bool
is_cut(const struct taker *t, int64_t utc_s)
{
	return utc_s % LT_HOUR_S != 0 && utc_s > t->run->start_utc_s &&
	       lt_calendar_hour(t->c->asked.offsets, utc_s) == utc_s;
}

/* An lt_used_function: an hour that was cut at a midnight is two. */
static int
take_entry(void *context, const struct lt_entry *entry, int64_t next_utc_s, struct lt_error *err)
{
	struct taker *const t = context;
	const int64_t at = entry->at_utc_s, hour = at - at % LT_HOUR_S;
	const int64_t end =
	    next_utc_s < hour + LT_HOUR_S && is_cut(t, next_utc_s) ? next_utc_s : hour + LT_HOUR_S;
	const bool is_new = is_cut(t, at) || t->sum.at_utc_s < hour || t->end_utc_s == 0;
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
lt_report_carbon_run(
    struct lt_report_carbon *c, const struct lt_run *run, const char *account, struct lt_error *err)
{
	struct taker t = {.c = c, .run = run, .account = account};
	const int rc = lt_ledger_used_hours(c->asked.ledger,
	    &(struct lt_hours_asked){.key = run->key, .span = c->asked.period}, take_entry, &t,
	    err);

	return rc == LT_OK ? end_hour(&t, err) : rc;
}

static int
by_key(const void *a, const void *b)
{
	const struct carbon_row *const x = a, *const y = b;
	const int orders[] = {strcmp(x->zone, y->zone), strcmp(x->partition, y->partition),
	    strcmp(x->source, y->source),
	    (x->first_utc_s > y->first_utc_s) - (x->first_utc_s < y->first_utc_s),
	    x->has_pue - y->has_pue, x->has_embodied - y->has_embodied,
	    x->has_intensity - y->has_intensity, x->has_market - y->has_market,
	    strcmp(x->market_source, y->market_source)};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (orders[i] != 0)
			return orders[i];
	return 0;
}

void
lt_report_carbon_write(struct lt_out *out, struct lt_report_carbon *c, const json_t *head)
{
	if (c->count > 1)
		qsort(c->rows, c->count, sizeof(*c->rows), by_key);
	write_rows(out, c->rows, c->count, head);
}
