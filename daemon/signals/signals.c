/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns a source's points into the steps that the market and the charges use:
 * points go into the ledger, and what the ledger then has, extended by our own forecast, becomes
 * source->steps.
 *
 * A failure is logged and stands in source->last_error; the source keeps the steps that it had, and
 * is asked for its points again.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rate.h"
#include "exchange_rates.h"
#include "forecast.h"
#include "forecast_learn.h"
#include "log.h"
#include "lookup.h"
#include "signals.h"
#include "text_mend.h"
#include "units.h"
#include "min_max.h"

enum { LOOK_BACK_S = 2 * LT_HOUR_S }; /* steps kept before now */

/* Spot prices and interruptions have no daily shape worth a guess; a negative tariff is real, all
 * else is more than 0. */
static const struct {
	bool seasonal;
	double floor;
} shapes[LT_QUANTITY_COUNT] = {
    [LT_QUANTITY_CARBON] = {true, 0},
    [LT_QUANTITY_MARGINAL] = {true, 0},
    [LT_QUANTITY_PRICE] = {false, 0},
    [LT_QUANTITY_TARIFF] = {true, -HUGE_VAL},
    [LT_QUANTITY_HAZARD] = {false, 0},
    [LT_QUANTITY_SCORE] = {false, 0},
    /* Its forecasts are the source's. */
    [LT_QUANTITY_WIND] = {false, 0},
    [LT_QUANTITY_SUN] = {false, 0},
    [LT_QUANTITY_TEMPERATURE] = {false, -HUGE_VAL},
    [LT_QUANTITY_WIND_POWER] = {false, 0},
    [LT_QUANTITY_SOLAR_POWER] = {false, 0},
    [LT_QUANTITY_LOAD] = {false, 0},
};

void
lt_signals_key(
    char key[LT_NAME_SIZE], const struct lt_policy *policy, const struct lt_source *source)
{
	const struct lt_policy_source *const p = source->policy;
	uint32_t crc = lt_crc32c(0, p->adapter, strlen(p->adapter));

	if (lt_quantity_scale(lt_adapter_quantity(source->adapter, &source->options)) != 1)
		crc = lt_crc32c(crc, policy->currency, strlen(policy->currency));
	/* A tariff's hours are the site's. */
	if (lt_adapter_quantity(source->adapter, &source->options) == LT_QUANTITY_TARIFF)
		crc = lt_crc32c(crc, policy->timezone, strlen(policy->timezone));
	for (int i = 0; i < p->option_count; i++) {
		/* Its figures are the same, however long one waits. */
		if (strcmp(p->options[i].key, "timeout") == 0)
			continue;
		crc = lt_crc32c(crc, p->options[i].key, strlen(p->options[i].key) + 1);
		crc = lt_crc32c(crc, p->options[i].value, strlen(p->options[i].value) + 1);
	}
	snprintf(key, LT_NAME_SIZE, "%.54s#%08x", p->name, crc);
}

enum lt_basis
lt_signals_basis(const struct lt_signals_state *signals, const struct lt_policy *policy)
{
	enum lt_basis basis = LT_BASIS_UNSAID;

	for (int p = 0; p < policy->partition_count; p++) {
		const struct lt_policy_signal *const signal = &policy->partitions[p].carbon;

		for (int i = 0; basis == LT_BASIS_UNSAID && i < signal->source_count; i++) {
			const struct lt_source *const source =
			    &signals->sources[signal->sources[i]];

			basis = lt_adapter_basis(source->adapter, &source->options);
		}
	}
	return basis;
}

const struct lt_rate_step *
lt_source_step(const struct lt_source *source, int64_t now_utc_s)
{
	const struct lt_rate_step *step = NULL;

	for (uint32_t i = 0; i < source->step_count && source->steps[i].start_utc_s <= now_utc_s;
	     i++)
		step = &source->steps[i];
	return step;
}

double
lt_source_value(const struct lt_source *source, int64_t now_utc_s)
{
	const struct lt_rate_step *const step = lt_source_step(source, now_utc_s);

	return step != NULL ? step->value : source->steps[0].value;
}

void
lt_source_forget(struct lt_source_memory *memory)
{
	memory->etag[0] = memory->last_modified[0] = '\0';
}

static int
store_points(struct lt_ledger *ledger, const struct lt_source *source,
    const struct lt_points *points, struct lt_error *err)
{
	struct lt_rate_step *const steps = calloc(points->count + 1, sizeof(*steps));

	if (steps == NULL)
		return lt_fail(err, LT_ENOMEM, "signals: out of memory");
	for (size_t i = 0; i < points->count; i++) {
		steps[i].start_utc_s = points->points[i].start_utc_s;
		steps[i].end_utc_s = points->points[i].end_utc_s;
		steps[i].value = points->points[i].value;
		steps[i].quality =
		    source->adapter->replay ? LT_QUALITY_REPLAY : points->points[i].quality;
		snprintf(steps[i].source, sizeof(steps[i].source), "%s", source->policy->name);
	}
	const int code =
	    lt_ledger_put_points(ledger, source->key, steps, (uint32_t)points->count, err);
	free(steps);
	return code;
}

struct steps { /* of a source, history in front; malloc'd */
	struct lt_rate_step *items;
	uint32_t count;
};

static int
load_known(struct steps *steps, struct lt_ledger *ledger, const struct lt_source *source,
    int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_points_asked asked = {
	    source->key, {now_utc_s - LT_HISTORY_S, now_utc_s + LT_HORIZON_S}};

	*steps = (struct steps){NULL, 0};
	return lt_ledger_points(ledger, &asked, &steps->items, &steps->count, err);
}

/* Only of the time that the source was asked for. */
static void
tell_revisions(struct lt_ledger *ledger, const struct lt_source *source,
    const struct lt_points *points, int64_t now_utc_s)
{
	struct lt_rate_step *known = NULL;
	uint32_t count;
	double most;

	if (points->count == 0 || points->unchanged || source->adapter->replay)
		return;
	const struct lt_points_asked asked = {
	    source->key, {points->points[0].start_utc_s, now_utc_s}};
	if (lt_ledger_points(ledger, &asked, &known, &count, NULL) != LT_OK)
		return;
	const uint32_t revised = lt_revisions(known, count, points, &most);
	free(known);
	if (revised > 0)
		lt_log("revised", "source=%s values=%u most=%g unit=\"%s\"", source->policy->name,
		    revised, most, lt_quantity_unit(points->quantity));
}

/* Drop what ended before the window; known has history in front. */
static uint32_t
first_needed(const struct lt_rate_step *known, uint32_t count, int64_t from_utc_s)
{
	uint32_t i = 0;

	while (i + 1 < count && known[i].end_utc_s <= from_utc_s)
		i++;
	return i;
}

static struct lt_known
known_of(const struct lt_source *source, const struct steps *steps, int64_t now_utc_s)
{
	return (struct lt_known){.steps = steps->items,
	    .count = steps->count,
	    .seasonal = LT_ROW(shapes, source->quantity).seasonal,
	    .floor = LT_ROW(shapes, source->quantity).floor,
	    .now_utc_s = now_utc_s,
	    .fit = source->fit};
}

/* source->steps from what is known of it. */
static int
make_steps(struct lt_source *source, const struct lt_known *known, struct lt_error *err)
{
	struct lt_rate_step *const steps = calloc(LT_STEPS_MAX, sizeof(*steps));

	if (steps == NULL)
		return lt_fail(err, LT_ENOMEM, "signals: out of memory");
	const uint32_t first =
	    first_needed(known->steps, known->count, known->now_utc_s - LOOK_BACK_S);
	uint32_t used = lt_bridge(steps, LT_STEPS_MAX, known->steps + first, known->count - first);
	used += lt_forecast(steps + used, LT_STEPS_MAX - used, known);
	if (source->adapter->replay)
		for (uint32_t i = 0; i < used; i++)
			steps[i].quality = LT_QUALITY_REPLAY;
	free(source->steps);
	struct lt_rate_step *const cut = realloc(steps, (used + 1) * sizeof(*steps));
	source->steps = cut != NULL ? cut : steps;
	source->step_count = used;
	source->generation++;
	return LT_OK;
}

/* Make source->steps from what the ledger has. When that is news, it is also what forecasts are
 * scored by. */
static int
refresh_steps(struct lt_ledger *ledger, struct lt_source *source, bool is_news, int64_t now_utc_s,
    struct lt_error *err)
{
	struct steps steps;
	int code = load_known(&steps, ledger, source, now_utc_s, err);
	struct lt_known known = known_of(source, &steps, now_utc_s);
	struct lt_weather_keys keys = {.source = source->key};

	memcpy(keys.weather, source->weather, sizeof(keys.weather));
	if (code == LT_OK && source->fit != NULL)
		code = lt_weather_load(&known, ledger, &keys,
		    (const int64_t[]){now_utc_s - LT_HISTORY_S, now_utc_s + LT_HORIZON_S}, err);
	if (code == LT_OK)
		code = make_steps(source, &known, err);
	if (code == LT_OK && is_news && !source->adapter->replay &&
	    !lt_quantity_is_weather(source->quantity))
		code = lt_forecast_learn(ledger, source->key, &known, err);
	lt_weather_free(&known);
	free(steps.items);
	return code;
}

bool
lt_signals_is_seasonal(const struct lt_source *source)
{
	return LT_ROW(shapes, source->quantity).seasonal;
}

bool
lt_signals_take_fit(struct lt_signals_state *signals, struct lt_ledger *ledger,
    struct lt_source *source, const struct lt_forecast_fit *fit, int64_t now_utc_s)
{
	const bool is_fitted = fit->is_fitted[LT_FIT_WITHOUT] || fit->is_fitted[LT_FIT_WITH];
	const bool had = source->fit != NULL;
	struct lt_error err = {0};

	if (is_fitted && !had)
		source->fit = malloc(sizeof(*source->fit));
	if (is_fitted && source->fit != NULL) {
		*source->fit = *fit;
	} else {
		free(source->fit);
		source->fit = NULL;
	}
	if (source->fit == NULL && !had)
		return false;
	if (refresh_steps(ledger, source, false, now_utc_s, &err) == LT_OK)
		signals->changed = true;
	else
		lt_log("signal_lost", "source=%s error=\"%s\"", source->policy->name, err.text);
	return source->fit != NULL;
}

void
lt_signals_restore(struct lt_signals_state *signals, struct lt_ledger *ledger, int64_t now_utc_s)
{
	for (int i = 0; i < signals->source_count; i++) {
		struct lt_source *const source = &signals->sources[i];
		struct lt_error err = {0};
		char value[64];
		int quantity;
		long long issued, complete;

		if (lt_ledger_get(ledger, source->key, value, sizeof(value), NULL) != LT_OK ||
		    sscanf(value, "%d %lld %lld", &quantity, &issued, &complete) != 3 ||
		    quantity < 0 || quantity >= LT_QUANTITY_COUNT)
			continue;
		source->quantity = (enum lt_quantity)quantity;
		source->issued_utc_s = issued;
		source->complete_utc_s = complete;
		if (refresh_steps(ledger, source, false, now_utc_s, &err) == LT_OK)
			signals->changed = true;
		else
			lt_log("signal_lost", "source=%s error=\"%s\"", source->policy->name,
			    err.text);
	}
}

/* The source says "as before": the last point continues. */
static int
extend_last(struct lt_ledger *ledger, const struct lt_source *source, struct lt_points *points,
    int64_t now_utc_s, struct lt_error *err)
{
	struct steps known;
	int code = load_known(&known, ledger, source, now_utc_s, err);

	if (code == LT_OK && known.count > 0) {
		const struct lt_rate_step *const last = &known.items[known.count - 1];
		const struct lt_point point = {.start_utc_s = last->start_utc_s,
		    .end_utc_s = now_utc_s + 2 * source->adapter->interval_s,
		    .value = last->value,
		    .quality = last->quality};

		points->quantity = source->quantity;
		points->zero_is_data = true; /* it was taken before */
		if (point.end_utc_s > last->end_utc_s)
			code = lt_points_add(points, &point, err);
	}
	if (code == LT_OK && known.count == 0)
		code = lt_fail(err, LT_ENOENT,
		    "the source says that nothing has changed, and nothing is known");
	free(known.items);
	return code;
}

/* Stored first: what fails leaves the source as it was. */
static int
keep_steps(struct lt_ledger *ledger, struct lt_source *source, struct lt_points *points,
    int64_t now_utc_s, struct lt_error *err)
{
	const int64_t issued_utc_s =
	    points->issued_utc_s > 0 ? lt_min_i64(points->issued_utc_s, now_utc_s) : now_utc_s;
	const int64_t complete_utc_s = points->past_lost ? source->complete_utc_s : now_utc_s;
	char value[64];

	int code = LT_OK;

	if (lt_quantity_is_weather(points->quantity))
		code = lt_weather_keep_forecasts(ledger, source->key, points, now_utc_s, err);
	else
		tell_revisions(ledger, source, points, now_utc_s);
	if (code == LT_OK)
		code = store_points(ledger, source, points, err);

	snprintf(value, sizeof(value), "%d %lld %lld", (int)points->quantity,
	    (long long)issued_utc_s, (long long)complete_utc_s);
	if (code == LT_OK)
		code = lt_ledger_put(ledger, source->key, value, err);
	if (code != LT_OK)
		return code;
	source->quantity = points->quantity;
	source->fetched = true;
	source->fetched_utc_s = now_utc_s;
	source->issued_utc_s = issued_utc_s;
	source->complete_utc_s = complete_utc_s;
	if (!points->unchanged || points->note[0] != '\0') {
		lt_text_mend(points->note);
		memcpy(source->note, points->note, sizeof(source->note));
	}
	return LT_OK;
}

int
lt_signals_take(struct lt_ledger *ledger, const struct lt_policy *policy, struct lt_source *source,
    struct lt_points *points, int64_t now_utc_s)
{
	struct lt_error err = {0};
	int code = points->unchanged ? extend_last(ledger, source, points, now_utc_s, &err)
				     : lt_points_convert(points, policy, &err);

	if (code == LT_OK)
		code = keep_steps(ledger, source, points, now_utc_s, &err);
	if (code == LT_OK)
		code = refresh_steps(ledger, source, true, now_utc_s, &err);
	memcpy(source->last_error, err.text, sizeof(source->last_error));
	if (code != LT_OK) {
		lt_source_forget(source->memory);
		lt_log("signal_lost", "source=%s error=\"%s\"", source->policy->name, err.text);
		return code;
	}
	lt_log("fetched", "source=%s points=%zu steps=%u%s", source->policy->name, points->count,
	    source->step_count, points->unchanged ? " unchanged" : "");
	return LT_OK;
}
