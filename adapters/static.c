/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source that is one number which the admin wrote: exact, and the same at all times, so it prices
 * and accounts but moves no job.
 */
#include <math.h>
#include <string.h>

#include "source.h"
#include "units.h"

static const struct lt_adapter_option static_options[] = {
    {"value", true, "the number, such as 230 or 0.31", NULL},
    {"unit", true,
	"g_co2_per_kwh, marginal_g_co2_per_kwh, per_node_hour, per_kwh, or interruptions_per_node_hour",
	NULL},
    {"currency", false, "of a price, as USD", "the site's own"},
    LT_BASIS_OPTION,
    {NULL, false, NULL, NULL},
};

static const struct {
	const char *unit;
	enum lt_quantity quantity;
} units[] = {
    {"g_co2_per_kwh", LT_QUANTITY_CARBON},
    {"marginal_g_co2_per_kwh", LT_QUANTITY_MARGINAL},
    {"per_node_hour", LT_QUANTITY_PRICE},
    {"per_kwh", LT_QUANTITY_TARIFF},
    {"interruptions_per_node_hour", LT_QUANTITY_HAZARD},
};
enum { UNIT_COUNT = sizeof(units) / sizeof(units[0]) };

static enum lt_quantity
static_quantity(const struct lt_source_options *options)
{
	const char *const unit = lt_source_option(options, "unit", "");

	for (int i = 0; i < UNIT_COUNT; i++)
		if (strcmp(units[i].unit, unit) == 0)
			return units[i].quantity;
	return LT_QUANTITY_COUNT;
}

/* The value as points have it; 0 is what the admin wrote, not a gap. */
static int
static_point(const struct lt_source_options *options, int64_t from_utc_s, int64_t to_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_point point = {
	    .start_utc_s = from_utc_s, .end_utc_s = to_utc_s, .quality = LT_QUALITY_CONSTANT};

	int code;

	points->quantity = static_quantity(options);
	if (points->quantity == LT_QUANTITY_COUNT)
		return lt_option_fail(options, "unit", err, "%s: unit: got \"%s\", want %s",
		    options->name, lt_source_option(options, "unit", ""), static_options[1].usage);
	code = lt_currency_option(points, options, err);
	if (code != LT_OK)
		return code;
	if (lt_double_parse(lt_source_option(options, "value", ""), &point.value, NULL) != LT_OK)
		return lt_option_fail(options, "value", err, "%s: value: got \"%s\", want a number",
		    options->name, lt_source_option(options, "value", ""));
	point.value = lt_quantity_from(points->quantity, point.value);
	code = lt_points_add(points, &point, err);
	if (code != LT_OK)
		lt_context(err, "%s: value", options->name);
	return code;
}

static int
static_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct lt_points points = {0};
	const int code = static_point(options, 0, 1, &points, err);

	lt_points_free(&points);
	if (code != LT_OK)
		lt_option_at(options, "value", err);
	return code;
}

static int
static_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	return static_point(options, window->from_utc_s, window->to_utc_s, points, err);
}

const struct lt_adapter lt_adapter_static = {
    .name = "static",
    .usage = "one number that you write",
    .options = static_options,
    .interval_s = LT_DAY_S,
    .quantity = static_quantity,
    .currency = lt_currency_of_option,
    .check = static_check,
    .fetch = static_fetch,
};
