/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.db: the rate that held in a partition at each moment, without overlaps, so that a run can
 * be charged again years later; the raw points of each source, for forecasts; the forecasts that
 * wait for their measured value, and daily sums of how far those of the last 90 days were off.
 * policy/model/forecast_error.c scores.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "ledger_db.h"
#include "units.h"

struct steps { /* grows */
	struct lt_rate_step *items;
	uint32_t count;
	size_t capacity;
};

static int
add_step(struct steps *steps, const struct lt_rate_step *step, struct lt_error *err)
{
	struct lt_rate_step *const grown =
	    lt_items_grow(steps->items, &steps->capacity, steps->count, sizeof(*grown));

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "ledger: no memory for rates");
	steps->items = grown;
	steps->items[steps->count++] = *step;
	return LT_OK;
}

#define STEP(column, member) LT_DB_COLUMN(struct lt_rate_step, column, member)
static const struct lt_db_column step_list[] = {
    {STEP("start_utc_s", start_utc_s)},
    {STEP("end_utc_s", end_utc_s)},
    {STEP("value", value)},
    {STEP("quality", quality)},
    {STEP("source", source)},
    {STEP("issued_utc_s", issued_utc_s)},
};
static const struct lt_db_columns step_columns = {LT_DB_COLUMNS(struct lt_rate_step, step_list)};

/* steps: of none. */
static int
load_steps(
    struct steps *steps, struct lt_ledger *ledger, struct lt_bound bound, struct lt_error *err)
{
	return lt_sql_list(ledger, bound, &step_columns, &steps->items, &steps->count, err);
}

/* Stored steps that overlap the span, and perhaps one that ends before. */
static int
load_rates(struct lt_ledger *ledger, const struct lt_rates_asked *asked, struct steps *steps,
    struct lt_error *err)
{
	return load_steps(steps, ledger,
	    LT_BIND(LT_SQL_RATES_TOUCHING, LT_TEXT(asked->partition), LT_INT(asked->rate),
		LT_INT(asked->span.from_utc_s), LT_INT(asked->span.to_utc_s)),
	    err);
}

static int
check_steps(const struct lt_rate_step *steps, uint32_t count, const char *of, struct lt_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!isfinite(steps[i].value))
			return lt_fail(err, LT_EINPUT, "%s: value %u is not a number", of, i);
		if (steps[i].end_utc_s <= steps[i].start_utc_s)
			return lt_fail(err, LT_EINPUT, "%s: step %u ends at %lld, want after %lld",
			    of, i, (long long)steps[i].end_utc_s, (long long)steps[i].start_utc_s);
	}
	return LT_OK;
}

static bool
is_forecast(enum lt_quality quality)
{
	return quality == LT_QUALITY_FORECAST || quality == LT_QUALITY_CLIMATOLOGY ||
	       quality == LT_QUALITY_LAST_VALUE;
}

/* A measured step with an end stays under a forecast. One that holds "until changed" is a guess
 * about its future: it ends where the new one starts. */
static bool
stays(const struct lt_rate_step *old, const struct lt_rate_step *fresh)
{
	return old->quality == LT_QUALITY_MEASURED && old->end_utc_s != INT64_MAX &&
	       is_forecast(fresh->quality);
}

struct target { /* where steps are put */
	struct lt_ledger *ledger;
	const char *partition;
	enum lt_rate rate;
};

/* The step on another span, if that is not empty. */
static int
put_step(const struct target *to, const struct lt_rate_step *step, struct lt_span span,
    struct lt_error *err)
{
	if (span.from_utc_s >= span.to_utc_s)
		return LT_OK;
	return lt_sql_do(to->ledger,
	    LT_BIND(LT_SQL_RATE_PUT, LT_TEXT(to->partition), LT_INT(to->rate),
		LT_INT(span.from_utc_s), LT_INT(span.to_utc_s), LT_REAL(step->value),
		LT_INT(step->quality), LT_TEXT(step->source),
		LT_OPTIONAL(step->issued_utc_s != 0, step->issued_utc_s)),
	    err);
}

/* Lays one step over the stored ones: cuts the old ones, leaves those that stay, and fills the gaps
 * with the new one. */
static int
overlay(const struct target *to, const struct lt_rate_step *fresh, const struct steps *old,
    struct lt_error *err)
{
	int64_t filled_utc_s = fresh->start_utc_s;
	int rc = LT_OK;

	for (uint32_t i = 0; i < old->count && rc == LT_OK; i++) {
		const struct lt_rate_step *const step = &old->items[i];

		if (step->end_utc_s <= fresh->start_utc_s || step->start_utc_s >= fresh->end_utc_s)
			continue;
		if (stays(step, fresh)) {
			rc = put_step(
			    to, fresh, (struct lt_span){filled_utc_s, step->start_utc_s}, err);
			filled_utc_s = step->end_utc_s;
			continue;
		}
		rc = lt_sql_do(to->ledger,
		    LT_BIND(LT_SQL_RATE_DELETE, LT_TEXT(to->partition), LT_INT(to->rate),
			LT_INT(step->start_utc_s)),
		    err);
		if (rc == LT_OK)
			rc = put_step(
			    to, step, (struct lt_span){step->start_utc_s, fresh->start_utc_s}, err);
		if (rc == LT_OK)
			rc = put_step(
			    to, step, (struct lt_span){fresh->end_utc_s, step->end_utc_s}, err);
	}
	return rc == LT_OK
		   ? put_step(to, fresh, (struct lt_span){filled_utc_s, fresh->end_utc_s}, err)
		   : rc;
}

/* It says all that the other does, maybe for longer. */
static bool
says_it(const struct lt_rate_step *step, const struct lt_rate_step *other)
{
	return step->start_utc_s == other->start_utc_s && step->end_utc_s >= other->end_utc_s &&
	       step->value == other->value && step->quality == other->quality &&
	       strcmp(step->source, other->source) == 0;
}

static int
put_one_rate(const struct target *to, const struct lt_rate_step *fresh, struct lt_error *err)
{
	const struct lt_rates_asked asked = {
	    .partition = to->partition,
	    .rate = to->rate,
	    .span = {fresh->start_utc_s, fresh->end_utc_s},
	};
	struct steps old = {0};
	struct lt_rate_step step = *fresh;
	int rc = load_rates(to->ledger, &asked, &old, err);
	const bool is_known = old.count == 1 && says_it(&old.items[0], fresh);

	if (is_known)
		step.issued_utc_s = old.items[0].issued_utc_s;
	/* Most points that are put each few minutes are there already. */
	if (rc == LT_OK && !(is_known && old.items[0].end_utc_s == fresh->end_utc_s))
		rc = overlay(to, &step, &old, err);
	free(old.items);
	return rc;
}

int
lt_ledger_put_rates(struct lt_ledger *ledger, const char *partition, enum lt_rate rate,
    const struct lt_rates *rates, struct lt_error *err)
{
	assert(rate < LT_RATE_COUNT);

	const struct target to = {ledger, partition, rate};
	int rc = check_steps(rates->steps, rates->count, partition, err);

	if (rc == LT_OK)
		rc = lt_call_begin(ledger, LT_DB_SIGNALS, err);
	if (rc != LT_OK)
		return rc;
	ledger->seen_rates.count = 0;
	for (uint32_t i = 0; i < rates->count && rc == LT_OK; i++)
		rc = put_one_rate(&to, &rates->steps[i], err);
	return lt_call_end(ledger, LT_DB_SIGNALS, rc, err);
}

/* Add `step` on another span and of another quality, if that is not empty. */
static int
add_guess(struct steps *steps, const struct lt_rate_step *step, enum lt_quality quality,
    struct lt_span span, struct lt_error *err)
{
	struct lt_rate_step guess = *step;

	if (span.from_utc_s >= span.to_utc_s)
		return LT_OK;
	guess.start_utc_s = span.from_utc_s;
	guess.end_utc_s = span.to_utc_s;
	guess.quality = quality;
	return add_step(steps, &guess, err);
}

/* Lists the known ones and guesses before, between and after them. */
static int
fill_gaps(
    struct steps *all, const struct steps *known, const struct lt_span *span, struct lt_error *err)
{
	const int64_t to_utc_s = span->to_utc_s;
	int64_t covered_utc_s = span->from_utc_s;
	int rc = LT_OK;

	for (uint32_t i = 0; i < known->count && rc == LT_OK; i++) {
		const struct lt_rate_step *const step = &known->items[i];
		const struct lt_span gap = {
		    covered_utc_s, step->start_utc_s < to_utc_s ? step->start_utc_s : to_utc_s};

		rc = i == 0 ? add_guess(all, step, LT_QUALITY_ESTIMATED, gap, err)
			    : add_guess(all, step - 1, LT_QUALITY_LAST_VALUE, gap, err);
		if (rc == LT_OK && step->end_utc_s > span->from_utc_s &&
		    step->start_utc_s < to_utc_s)
			rc = add_step(all, step, err);
		if (step->end_utc_s > covered_utc_s)
			covered_utc_s = step->end_utc_s;
	}
	if (rc == LT_OK && known->count > 0 &&
	    known->items[known->count - 1].start_utc_s < to_utc_s)
		rc = add_guess(all, &known->items[known->count - 1], LT_QUALITY_LAST_VALUE,
		    (struct lt_span){covered_utc_s, to_utc_s}, err);
	return rc;
}

static bool
holds_over(const struct lt_rate_step *step, struct lt_span span)
{
	return step->start_utc_s <= span.from_utc_s && step->end_utc_s >= span.to_utc_s;
}

/* True if the item is an answer for the span: the first of all steps is one for a time before it,
 * too. */
static bool
is_seen(const struct lt_seen_rate *item, struct lt_span span)
{
	return item->is_none || holds_over(&item->step, span) ||
	       (item->is_first && span.to_utc_s <= item->step.start_utc_s);
}

/* Returns a step seen before: runs of a transaction ask for the same step again and again, and
 * nobody changes it meanwhile. NULL = no step that holds all the while, as far as is seen. */
static const struct lt_seen_rate *
seen_rate(const struct lt_ledger *ledger, const struct lt_rates_asked *asked)
{
	const struct lt_seen_rates *const seen = &ledger->seen_rates;

	for (uint32_t i = 0; i < seen->count && i < LT_SEEN_RATES; i++) {
		const struct lt_seen_rate *const item = &seen->items[i];

		if (item->rate == asked->rate && is_seen(item, asked->span) &&
		    strcmp(item->partition, asked->partition) == 0)
			return item;
	}
	return NULL;
}

static void
note_rate(struct lt_ledger *ledger, const struct lt_rates_asked *asked, const struct steps *known)
{
	struct lt_seen_rates *const seen = &ledger->seen_rates;
	struct lt_seen_rate *const item = &seen->items[seen->count % LT_SEEN_RATES];

	/* One that does not overlap is the first: known_rates(). */
	const bool is_first =
	    known->count == 1 && asked->span.to_utc_s <= known->items[0].start_utc_s;

	if (!ledger->in_transaction || known->count > 1 ||
	    (known->count == 1 && !is_first && !holds_over(&known->items[0], asked->span)))
		return;
	snprintf(item->partition, sizeof(item->partition), "%s", asked->partition);
	item->rate = asked->rate;
	item->is_none = known->count == 0;
	item->is_first = is_first;
	if (!item->is_none)
		item->step = known->items[0];
	seen->count++;
}

/* Reads those that overlap the span; if none does, the first of all, if any. */
static int
known_rates(struct lt_ledger *ledger, const struct lt_rates_asked *asked, struct steps *known,
    struct lt_error *err)
{
	const struct lt_seen_rate *const seen =
	    ledger->in_transaction ? seen_rate(ledger, asked) : NULL;

	if (seen != NULL)
		return seen->is_none ? LT_OK : add_step(known, &seen->step, err);
	int rc = load_rates(ledger, asked, known, err);
	if (rc == LT_OK && known->count == 0)
		rc = load_steps(known, ledger,
		    LT_BIND(LT_SQL_RATE_FIRST, LT_TEXT(asked->partition), LT_INT(asked->rate)),
		    err);
	if (rc == LT_OK)
		note_rate(ledger, asked, known);
	return rc;
}

int
lt_ledger_rates(struct lt_ledger *ledger, const struct lt_rates_asked *asked,
    struct lt_rate_step **steps, uint32_t *count, struct lt_error *err)
{
	assert(asked->rate < LT_RATE_COUNT);

	struct steps known = {0}, all = {0};
	int rc = known_rates(ledger, asked, &known, err);

	if (rc == LT_OK)
		rc = fill_gaps(&all, &known, &asked->span, err);
	free(known.items);
	if (rc != LT_OK) {
		free(all.items);
		all = (struct steps){0};
	}
	*steps = all.items;
	*count = all.count;
	return rc;
}

int
lt_ledger_rate_unsure(struct lt_ledger *ledger, const struct lt_rates_asked *asked,
    int64_t *start_utc_s, struct lt_error *err)
{
	*start_utc_s = INT64_MAX;
	return lt_sql_number(ledger,
	    LT_BIND(LT_SQL_RATE_UNSURE, LT_TEXT(asked->partition), LT_INT(asked->rate),
		LT_INT(asked->span.from_utc_s), LT_INT(asked->span.to_utc_s),
		LT_INT(LT_QUALITY_ESTIMATED), LT_INT(LT_QUALITY_LAST_VALUE), LT_INT(INT64_MAX)),
	    start_utc_s, NULL, err);
}

/* A list of prices says at each fetch the same for a while from then on: the point that is there
 * goes on, and no other is made. */
static int
put_point(struct lt_ledger *ledger, const char *source, const struct lt_rate_step *step,
    struct lt_error *err)
{
	const int rc = lt_sql_do(ledger,
	    LT_BIND(LT_SQL_POINT_EXTEND, LT_TEXT(source), LT_INT(step->start_utc_s),
		LT_INT(step->end_utc_s), LT_REAL(step->value), LT_INT(step->quality)),
	    err);

	if (rc != LT_OK || sqlite3_changes(ledger->db[LT_DB_SIGNALS]) > 0)
		return rc;
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_POINT_PUT, LT_TEXT(source), LT_INT(step->start_utc_s),
		LT_INT(step->end_utc_s), LT_REAL(step->value), LT_INT(step->quality),
		LT_INT(LT_QUALITY_MEASURED), LT_INT(is_forecast(step->quality))),
	    err);
}

int
lt_ledger_put_points(struct lt_ledger *ledger, const char *source, const struct lt_rate_step *steps,
    uint32_t count, struct lt_error *err)
{
	int rc = check_steps(steps, count, source, err);

	if (rc == LT_OK)
		rc = lt_call_begin(ledger, LT_DB_SIGNALS, err);
	if (rc != LT_OK)
		return rc;
	for (uint32_t i = 0; i < count && rc == LT_OK; i++)
		rc = put_point(ledger, source, &steps[i], err);
	return lt_call_end(ledger, LT_DB_SIGNALS, rc, err);
}

int
lt_ledger_points(struct lt_ledger *ledger, const struct lt_points_asked *asked,
    struct lt_rate_step **steps, uint32_t *count, struct lt_error *err)
{
	struct steps all = {0};
	const int rc = load_steps(&all, ledger,
	    LT_BIND(LT_SQL_POINTS_TOUCHING, LT_TEXT(asked->source), LT_INT(asked->span.from_utc_s),
		LT_INT(asked->span.to_utc_s)),
	    err);

	for (uint32_t i = 1; i < all.count; i++)
		if (all.items[i - 1].end_utc_s > all.items[i].start_utc_s)
			all.items[i - 1].end_utc_s = all.items[i].start_utc_s;
	*steps = all.items;
	*count = all.count;
	return rc;
}

int
lt_ledger_prune_signals(
    struct lt_ledger *ledger, int64_t before_utc_s, uint32_t points_max, struct lt_error *err)
{
	const int rc = lt_sql_do(ledger, LT_BIND(LT_SQL_POINTS_PRUNE, LT_INT(before_utc_s)), err);

	return rc != LT_OK
		   ? rc
		   : lt_sql_do(ledger, LT_BIND(LT_SQL_POINTS_BOUND, LT_INT(points_max)), err);
}

enum { DAY_HOURS = LT_DAY_S / LT_HOUR_S };

#define ISSUED(column, member) LT_DB_COLUMN(struct lt_issued, column, member)
static const struct lt_db_column issued_list[] = {
    {ISSUED("issued_hour", issued_hour)},
    {ISSUED("target_hour", target_hour)},
    {ISSUED("kind", kind)},
    {ISSUED("value", value)},
};
static const struct lt_db_columns issued_columns = {LT_DB_COLUMNS(struct lt_issued, issued_list)};

#define SUM(column, member) LT_DB_COLUMN(struct lt_error_sum, column, member)
static const struct lt_db_column sum_list[] = {
    {SUM("kind", kind)},
    {SUM("bucket", bucket)},
    {SUM("count", count)},
    {SUM("sum", sum)},
    {SUM("sum_abs", sum_abs)},
};
static const struct lt_db_columns sum_columns = {LT_DB_COLUMNS(struct lt_error_sum, sum_list)};

static int
put_issued(struct lt_ledger *ledger, const char *source, const struct lt_issued *issued,
    struct lt_error *err)
{
	if (!isfinite(issued->value))
		return lt_fail(err, LT_EINPUT, "%s: a forecast is not a number", source);
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_FORECAST_PUT, &issued_columns, issued, LT_TEXT(source)), err);
}

static int
forget_issued(struct lt_ledger *ledger, const char *source, const struct lt_issued *issued,
    struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_FORECAST_FORGET, LT_TEXT(source), LT_INT(issued->issued_hour),
		LT_INT(issued->target_hour), LT_INT(issued->kind)),
	    err);
}

static int
add_sum(struct lt_ledger *ledger, const char *source, int64_t day, const struct lt_error_sum *sum,
    struct lt_error *err)
{
	if (sum->count == 0)
		return LT_OK;
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_ERROR_ADD, &sum_columns, sum, LT_TEXT(source), LT_INT(day)), err);
}

int
lt_ledger_put_forecasts(struct lt_ledger *ledger, const char *source,
    const struct lt_forecast_news *news, struct lt_error *err)
{
	assert(news->fresh != NULL || news->fresh_count == 0);
	assert(news->scored != NULL || news->scored_count == 0);

	const int64_t day = news->hour / DAY_HOURS;
	int rc = lt_call_begin(ledger, LT_DB_SIGNALS, err);

	if (rc != LT_OK)
		return rc;
	for (uint32_t i = 0; i < news->scored_count && rc == LT_OK; i++)
		rc = forget_issued(ledger, source, &news->scored[i], err);
	for (uint32_t i = 0; i < news->fresh_count && rc == LT_OK; i++)
		rc = put_issued(ledger, source, &news->fresh[i], err);
	for (uint32_t i = 0; i < news->sum_count && rc == LT_OK; i++)
		rc = add_sum(ledger, source, day, &news->sums[i], err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_FORECASTS_PRUNE, LT_INT(news->hour - LT_FORECASTS_WAIT_HOURS)),
		    err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_ERRORS_PRUNE, LT_INT(day - LT_FORECAST_ERROR_DAYS)), err);
	return lt_call_end(ledger, LT_DB_SIGNALS, rc, err);
}

int
lt_ledger_due_forecasts(struct lt_ledger *ledger, const char *source, int64_t hour,
    struct lt_due *due, struct lt_error *err)
{
	return lt_sql_list(ledger, LT_BIND(LT_SQL_FORECASTS_DUE, LT_TEXT(source), LT_INT(hour)),
	    &issued_columns, &due->issued, &due->count, err);
}

int
lt_ledger_last_forecast(
    struct lt_ledger *ledger, const char *source, int64_t *hour, struct lt_error *err)
{
	*hour = -1;
	return lt_sql_number(
	    ledger, LT_BIND(LT_SQL_FORECAST_LAST, LT_TEXT(source)), hour, NULL, err);
}

int
lt_ledger_forecast_errors(struct lt_ledger *ledger, const char *source, struct lt_error_sum *sums,
    uint32_t room, struct lt_error *err)
{
	return lt_sql_some(
	    ledger, LT_BIND(LT_SQL_ERROR_SUMS, LT_TEXT(source)), &sum_columns, sums, room, err);
}
