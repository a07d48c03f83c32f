/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The market as it was seen at a time: forecasts of the hour, what runs and what was planned by
 * quarters of an hour, as lowtided compiles it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "site_internal.h"
#include "units.h"

enum {
	GRAIN_S = 900,
	FINE = LT_DAY_S / GRAIN_S, /* quarters; then hours */
	STEPS = FINE + LT_FORECAST_HOURS - 24,
	PLANNED = 128, /* then they become occupancy */
};

struct lt_site_view {
	const struct lt_site_sim *sim;
	struct lt_market market;
	struct lt_partition *partitions;
	/* Those of the market, then an occupancy of each partition. */
	struct lt_series *series;
	int64_t *starts;
	double *values, *integrals;
	double *changes; /* of each partition, STEPS + 1 */
	struct lt_planned planned[PLANNED];
	uint32_t planned_count;
	int64_t now_utc_s, hour;
	bool begun;
};

/* The most that a series has: its steps, and the end. */
static const size_t room = LT_FORECAST_HOURS + FINE;

static int64_t
step_start_s(int i)
{
	return i < FINE ? (int64_t)i * GRAIN_S : LT_DAY_S + (int64_t)(i - FINE) * LT_HOUR_S;
}

/* The step that has that second after the first; up to STEPS. */
static int
step_of(int64_t after_s)
{
	const int64_t i =
	    after_s < LT_DAY_S ? after_s / GRAIN_S : FINE + (after_s - LT_DAY_S) / LT_HOUR_S;

	return after_s < 0 ? 0 : i > STEPS ? STEPS : (int)i;
}

static int64_t
grain_down(int64_t utc_s)
{
	return utc_s - utc_s % GRAIN_S;
}

/* The first step behind that time. */
static int
step_behind(int64_t after_s)
{
	const int i = step_of(after_s);

	return after_s > 0 && i < STEPS && step_start_s(i) < after_s ? i + 1 : i;
}

struct lt_planned
lt_site_view_window(const struct lt_site_view *view, const struct lt_planned *window)
{
	const int64_t now_s = view->now_utc_s;
	struct lt_planned whole = *window;

	whole.start_utc_s = now_s + step_start_s(step_of(window->start_utc_s - now_s));
	whole.end_utc_s = now_s + step_start_s(step_behind(window->end_utc_s - now_s));
	return whole;
}

static int64_t
scaled(int64_t amount, double factor)
{
	return llround((double)amount * factor);
}

int
lt_site_view_open(struct lt_site_view **view, const struct lt_site_sim *sim,
    const struct lt_site_setting *setting, struct lt_error *err)
{
	const struct lt_market *const market = sim->site.market;
	const uint32_t count = market->series_count + market->partition_count;
	struct lt_site_view *const made = calloc(1, sizeof(*made));

	*view = made;
	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "market: no memory");
	made->sim = sim;
	made->market = *market;
	made->partitions = calloc(market->partition_count + 1, sizeof(*made->partitions));
	made->series = calloc(count + 1, sizeof(*made->series));
	made->starts = calloc(count * room + 1, sizeof(*made->starts));
	made->values = calloc(count * room + 1, sizeof(*made->values));
	made->integrals = calloc(count * room + 1, sizeof(*made->integrals));
	made->changes =
	    calloc(market->partition_count * (size_t)(STEPS + 1) + 1, sizeof(*made->changes));
	if (made->partitions == NULL || made->series == NULL || made->starts == NULL ||
	    made->values == NULL || made->integrals == NULL || made->changes == NULL)
		return lt_fail(err, LT_ENOMEM, "market: no memory");
	for (uint32_t i = 0; i < market->partition_count; i++) {
		struct lt_partition *const to = &made->partitions[i];

		*to = market->partitions[i];
		to->occupancy_series = (int)(market->series_count + i);
		/* All that ran then has room here. */
		if (sim->room[i] > to->node_count)
			to->node_count = (uint32_t)ceil(sim->room[i]);
	}
	made->market.partitions = made->partitions;
	made->market.series = made->series;
	made->market.series_count = count;
	made->market.waiting_micros_per_hour =
	    scaled(market->waiting_micros_per_hour, setting->waiting);
	made->market.waiting_mg_per_hour = scaled(market->waiting_mg_per_hour, setting->waiting);
	return LT_OK;
}

void
lt_site_view_close(struct lt_site_view *view)
{
	if (view == NULL)
		return;
	free(view->changes);
	free(view->integrals);
	free(view->values);
	free(view->starts);
	free(view->series);
	free(view->partitions);
	free(view);
}

bool
lt_site_view_is_old(const struct lt_site_view *view, int64_t now_utc_s)
{
	return !view->begun || view->planned_count + 2 > PLANNED ||
	       now_utc_s - now_utc_s % GRAIN_S != view->now_utc_s;
}

static struct lt_series *
series_at(struct lt_site_view *view, uint32_t i)
{
	struct lt_series *const series = &view->series[i];

	series->start_utc_s = view->starts + i * room;
	series->value = view->values + i * room;
	series->integral = view->integrals + i * room;
	return series;
}

static int
see_series(struct lt_site_view *view, uint32_t i, struct lt_error *err)
{
	const struct lt_series *const from = &view->sim->site.market->series[i];
	struct lt_series *const to = series_at(view, i);
	const double *values;

	if (from->count == 0 ||
	    (from->quality != LT_QUALITY_CONSTANT && view->sim->outlooks[i] == NULL))
		return LT_OK; /* as if its source had said nothing */
	to->quality = from->quality;
	to->issued_utc_s = view->hour * LT_HOUR_S;
	memcpy(to->source, from->source, sizeof(to->source));
	if (from->quality == LT_QUALITY_CONSTANT) {
		to->count = 1;
		to->start_utc_s[0] = view->hour * LT_HOUR_S;
		to->start_utc_s[1] = to->start_utc_s[0] + 1;
		to->value[0] = from->value[0];
		return lt_series_prepare(to, err);
	}
	values = lt_sim_outlook_at(view->sim->outlooks[i], view->hour);
	if (values == NULL)
		return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
	to->quality = LT_QUALITY_FORECAST;
	to->count = LT_FORECAST_HOURS;
	for (int k = 0; k < LT_FORECAST_HOURS; k++) {
		to->start_utc_s[k] = (view->hour + k) * LT_HOUR_S;
		to->value[k] = values[k];
	}
	to->start_utc_s[LT_FORECAST_HOURS] = (view->hour + LT_FORECAST_HOURS) * LT_HOUR_S;
	return lt_series_prepare(to, err);
}

int
lt_site_view_begin(struct lt_site_view *view, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_market *const market = view->sim->site.market;
	const int64_t hour = now_utc_s / LT_HOUR_S;

	view->now_utc_s = grain_down(now_utc_s);
	view->planned_count = 0;
	memset(view->changes, 0,
	    market->partition_count * (size_t)(STEPS + 1) * sizeof(*view->changes));
	if (view->begun && view->hour == hour)
		return LT_OK;
	view->hour = hour;
	for (uint32_t i = 0; i < market->series_count; i++)
		if (see_series(view, i, err) != LT_OK)
			return err->code;
	view->begun = true;
	return LT_OK;
}

void
lt_site_view_take(struct lt_site_view *view, const struct lt_planned *window)
{
	double *const changes = view->changes + window->partition * (size_t)(STEPS + 1);
	const int from = step_of(window->start_utc_s - view->now_utc_s);
	const int to = step_behind(window->end_utc_s - view->now_utc_s);

	changes[from] += (double)window->nodes;
	changes[to] -= (double)window->nodes;
}

int
lt_site_view_end(struct lt_site_view *view, const uint32_t *queued, struct lt_error *err)
{
	const struct lt_market *const market = view->sim->site.market;

	for (uint32_t i = 0; i < market->partition_count; i++) {
		const double *const changes = view->changes + i * (size_t)(STEPS + 1);
		struct lt_series *const to = series_at(view, market->series_count + i);
		uint32_t *const flags = &view->partitions[i].flags;
		double taken = 0;

		*flags &= ~(uint32_t)LT_PARTITION_QUEUED;
		*flags |= queued[i] > 0 ? LT_PARTITION_QUEUED : 0;
		to->count = STEPS;
		for (int k = 0; k < STEPS; k++) {
			taken += changes[k];
			to->start_utc_s[k] = view->now_utc_s + step_start_s(k);
			/* Sums of all additions and removals. */
			to->value[k] = taken > 1e-9 ? taken : 0;
		}
		to->start_utc_s[STEPS] = view->now_utc_s + step_start_s(STEPS);
		if (lt_series_prepare(to, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}

void
lt_site_view_plan(struct lt_site_view *view, const struct lt_planned *window)
{
	if (view->planned_count < PLANNED)
		view->planned[view->planned_count++] = *window;
}

void
lt_site_view_unplan(struct lt_site_view *view, uint32_t count)
{
	view->planned_count -= count < view->planned_count ? count : view->planned_count;
}

struct lt_site_seen
lt_site_view_seen(const struct lt_site_view *view)
{
	return (struct lt_site_seen){&view->market, view->planned, view->planned_count};
}
