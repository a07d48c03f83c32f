/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points: each source's answer becomes points before lowtided merges sources into series. No 0
 * passes that stands for a missing value. Points are kept in memory up to LT_POINTS_MAX; a value
 * that can't be right is an error that names it.
 *
 * Also the means of whole hours that people are shown, and the note that figures which lowtide
 * brings along are old.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grow.h"
#include "lookup.h"
#include "option.h"
#include "points.h"
#include "text_mend.h"

/* Far above anything real, far below what int64_t micros can carry. */
static const struct {
	const char *name, *title, *unit;
	double max;
	double scale; /* points per unit that people write */
	bool may_be_negative;
} quantities[LT_QUANTITY_COUNT] = {
    [LT_QUANTITY_CARBON] = {"carbon", "carbon intensity", "g CO2e/kWh", 1e4, 1, false},
    [LT_QUANTITY_MARGINAL] = {"marginal_carbon", "marginal carbon intensity", "g CO2e/kWh", 1e4, 1,
	false},
    [LT_QUANTITY_PRICE] = {"price", "node price", "micros/node-h", 1e15, 1e6, false},
    [LT_QUANTITY_TARIFF] = {"tariff", "electricity price", "micros/kWh", 1e12, 1e6, true},
    [LT_QUANTITY_HAZARD] = {"interruption", "interruption rate", "interruptions/node-h", 60, 1,
	false},
    [LT_QUANTITY_SCORE] = {"placement_score", "placement score", "of 10", 10, 1, false},
    [LT_QUANTITY_WIND] = {"wind", "wind speed", "m/s", 150, 1, false},
    [LT_QUANTITY_SUN] = {"sun", "solar irradiance", "W/m2", 2000, 1, false},
    [LT_QUANTITY_TEMPERATURE] = {"temperature", "temperature", "\u00b0C", 100, 1, true},
    [LT_QUANTITY_WIND_POWER] = {"wind_power", "wind power", "MW", 1e7, 1, false},
    [LT_QUANTITY_SOLAR_POWER] = {"solar_power", "solar power", "MW", 1e7, 1, false},
    [LT_QUANTITY_LOAD] = {"load", "load", "MW", 1e7, 1, false},
};

enum lt_quantity
lt_quantity_find(const char *name)
{
	int i = 0;

	while (i < LT_QUANTITY_COUNT && strcmp(quantities[i].name, name) != 0)
		i++;
	return (enum lt_quantity)i;
}

const char *
lt_basis_name(enum lt_basis basis)
{
	static const char *const names[LT_BASIS_COUNT] = {
	    [LT_BASIS_UNSAID] = "",
	    [LT_BASIS_LIFECYCLE] = "lifecycle",
	    [LT_BASIS_DIRECT] = "direct",
	};

	return LT_WORD(names, basis);
}

bool
lt_quantity_is_carbon(enum lt_quantity quantity)
{
	return quantity == LT_QUANTITY_CARBON || quantity == LT_QUANTITY_MARGINAL;
}

bool
lt_quantity_is_weather(enum lt_quantity quantity)
{
	return quantity >= LT_QUANTITY_WIND && quantity < LT_QUANTITY_COUNT;
}

static bool
is_known(enum lt_quantity quantity)
{
	return (unsigned)quantity < LT_QUANTITY_COUNT;
}

const char *
lt_quantity_name(enum lt_quantity quantity)
{
	return is_known(quantity) ? LT_ROW(quantities, quantity).name : "unknown";
}

const char *
lt_quantity_title(enum lt_quantity quantity)
{
	return is_known(quantity) ? LT_ROW(quantities, quantity).title : "unknown";
}

const char *
lt_quantity_unit(enum lt_quantity quantity)
{
	return is_known(quantity) ? LT_ROW(quantities, quantity).unit : "unknown";
}

double
lt_quantity_scale(enum lt_quantity quantity)
{
	return is_known(quantity) ? LT_ROW(quantities, quantity).scale : 1;
}

double
lt_quantity_from(enum lt_quantity quantity, double written)
{
	const double scale = lt_quantity_scale(quantity);

	return scale == 1 ? written : round(written * scale);
}

enum lt_basis
lt_basis_of_option(const struct lt_source_options *options, enum lt_basis fallback)
{
	const char *const word = lt_source_option(options, "emission_factors", NULL);

	for (int i = LT_BASIS_UNSAID + 1; word != NULL && i < LT_BASIS_COUNT; i++)
		if (strcmp(lt_basis_name((enum lt_basis)i), word) == 0)
			return (enum lt_basis)i;
	return fallback;
}

const char *
lt_currency_of_option(const struct lt_source_options *options)
{
	return lt_source_option(options, "currency", "");
}

int
lt_currency_option(
    struct lt_points *points, const struct lt_source_options *options, struct lt_error *err)
{
	const char *const code = lt_currency_of_option(options);

	if (code[0] == '\0')
		return LT_OK;
	if (strlen(code) != 3 || strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
		return lt_option_fail(options, "currency", err,
		    "%s: currency: got \"%s\", want an ISO 4217 code in capitals such as USD",
		    options->name, code);
	if (lt_quantity_scale(points->quantity) == 1)
		return lt_option_fail(options, "currency", err, "%s: currency: %s is no money",
		    options->name, lt_quantity_title(points->quantity));
	strcpy(points->currency, code);
	return LT_OK;
}

static int
point_check(const struct lt_points *points, const struct lt_point *point, struct lt_error *err)
{
	const enum lt_quantity quantity = points->quantity;
	const double value = point->value;

	if (!is_known(quantity))
		return lt_fail(err, LT_EBUG, "points: quantity %d", (int)quantity);
	if (point->end_utc_s <= point->start_utc_s)
		return lt_fail(err, LT_EINPUT,
		    "%s: ends at %" PRId64 ", not after its start %" PRId64,
		    LT_ROW(quantities, quantity).name, point->end_utc_s, point->start_utc_s);
	if (!isfinite(value))
		return lt_fail(err, LT_EINPUT, "%s: got %f, want a number",
		    LT_ROW(quantities, quantity).name, value);
	if (fabs(value) > LT_ROW(quantities, quantity).max)
		return lt_fail(err, LT_EINPUT, "%s: got %g %s, want at most %g: is the unit right?",
		    LT_ROW(quantities, quantity).name, value, LT_ROW(quantities, quantity).unit,
		    LT_ROW(quantities, quantity).max);
	if (LT_ROW(quantities, quantity).may_be_negative)
		return LT_OK;
	if (value < 0)
		return lt_fail(err, LT_EINPUT, "%s: got %g %s, want more than 0",
		    LT_ROW(quantities, quantity).name, value, LT_ROW(quantities, quantity).unit);
	if (value == 0 && point->quality != LT_QUALITY_CONSTANT && !points->zero_is_data &&
	    !lt_quantity_is_weather(quantity))
		return lt_fail(err, LT_EINPUT,
		    "%s: got 0 %s, which stands for a missing value; want more than 0",
		    LT_ROW(quantities, quantity).name, LT_ROW(quantities, quantity).unit);
	return LT_OK;
}

int
lt_points_add(struct lt_points *points, const struct lt_point *point, struct lt_error *err)
{
	const int code = point_check(points, point, err);

	if (code != LT_OK)
		return code;
	if (points->count >= LT_POINTS_MAX)
		return lt_fail(err, LT_ELIMIT, "more than %d points", LT_POINTS_MAX);
	struct lt_point *const grown =
	    lt_items_grow(points->points, &points->capacity, points->count, sizeof(*grown));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "%zu points", points->count + 1);
	points->points = grown;
	points->points[points->count++] = *point;
	return LT_OK;
}

void
lt_note_add(struct lt_points *points, const char *format, ...)
{
	const size_t length = strlen(points->note);
	const size_t room = sizeof(points->note) - length;
	char words[LT_POINTS_NOTE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	if (snprintf(points->note + length, room, "%s%s", length == 0 ? "" : "; ", words) >=
	    (int)room)
		memcpy(points->note + sizeof(points->note) - 4, "...", 4);
	lt_text_mend(points->note); /* maybe cut in a character */
}

static bool
goes_before(const struct lt_point *left, const struct lt_point *right)
{
	return left->start_utc_s <= right->start_utc_s;
}

/* Merge sort: of equal starts the order of adding must stay, and qsort() does not promise that. */
static void
merge_sort(struct lt_point *points, struct lt_point *spare, size_t count)
{
	const size_t half = count / 2;
	size_t left = 0, right = half, out = 0;

	if (count < 2)
		return;
	merge_sort(points, spare, half);
	merge_sort(points + half, spare, count - half);
	memcpy(spare, points, half * sizeof(*spare));
	while (left < half)
		points[out++] = right == count || goes_before(&spare[left], &points[right])
				    ? spare[left++]
				    : points[right++];
}

/* Without memory for the spare half: in place, slower, the same result. */
static void
insertion_sort(struct lt_point *points, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const struct lt_point point = points[i];
		size_t at = i;

		while (at > 0 && !goes_before(&points[at - 1], &point)) {
			points[at] = points[at - 1];
			at--;
		}
		points[at] = point;
	}
}

void
lt_points_sort(struct lt_points *points)
{
	struct lt_point *const list = points->points;
	struct lt_point *const spare = malloc((points->count / 2 + 1) * sizeof(*spare));
	size_t kept = 0;

	if (spare != NULL)
		merge_sort(list, spare, points->count);
	else
		insertion_sort(list, points->count);
	free(spare);
	for (size_t i = 0; i < points->count; i++) {
		if (kept > 0 && list[kept - 1].start_utc_s == list[i].start_utc_s)
			kept--;
		if (kept > 0 && list[kept - 1].end_utc_s > list[i].start_utc_s)
			list[kept - 1].end_utc_s = list[i].start_utc_s;
		list[kept++] = list[i];
	}
	points->count = kept;
}

void
lt_points_free(struct lt_points *points)
{
	free(points->points);
	points->points = NULL;
	points->count = points->capacity = 0;
}

int
lt_points_copy(struct lt_points *points, const struct lt_points *all, int64_t from_utc_s,
    int64_t to_utc_s, struct lt_error *err)
{
	points->quantity = all->quantity;
	points->zero_is_data = all->zero_is_data;
	memcpy(points->currency, all->currency, sizeof(points->currency));
	points->issued_utc_s = all->issued_utc_s;
	for (size_t i = 0; i < all->count; i++) {
		const struct lt_point *const point = &all->points[i];

		if (point->end_utc_s <= from_utc_s || point->start_utc_s >= to_utc_s)
			continue;
		const int code = lt_points_add(points, point, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

void
lt_points_date(struct lt_points *points, int64_t now_utc_s)
{
	int64_t end_utc_s = INT64_MIN;

	for (size_t i = 0; i < points->count; i++)
		if (points->points[i].end_utc_s > end_utc_s)
			end_utc_s = points->points[i].end_utc_s;
	points->issued_utc_s = points->count == 0 || end_utc_s > now_utc_s ? 0 : end_utc_s;
}

enum { HOUR_S = 3600 };

static struct lt_hour
mean(int64_t from_utc_s, const struct lt_point *points, size_t point_count)
{
	const int64_t to_utc_s = from_utc_s + HOUR_S;
	struct lt_hour hour = {.quality = LT_QUALITY_NONE};
	int64_t covered_s = 0;
	double sum = 0;

	for (size_t i = 0; i < point_count && points[i].start_utc_s < to_utc_s; i++) {
		const struct lt_point *const point = &points[i];
		const int64_t start =
		    point->start_utc_s > from_utc_s ? point->start_utc_s : from_utc_s;
		const int64_t end = point->end_utc_s < to_utc_s ? point->end_utc_s : to_utc_s;

		if (end <= start)
			continue;
		covered_s += end - start;
		sum += point->value * (double)(end - start);
		if (point->quality > hour.quality)
			hour.quality = point->quality;
	}
	hour.known = covered_s >= HOUR_S / 2;
	if (hour.known)
		hour.value = sum / (double)covered_s;
	else
		hour.quality = LT_QUALITY_NONE;
	return hour;
}

void
lt_points_hours(struct lt_hour *hours, int count, int64_t start_utc_s,
    const struct lt_point *points, size_t point_count)
{
	for (int i = 0; i < count; i++)
		hours[i] = mean(start_utc_s + i * HOUR_S, points, point_count);
}

bool
lt_table_is_old(int year, int64_t now_utc_s)
{
	const time_t before = now_utc_s - 1; /* the end itself is not over */
	struct tm parts;

	(void)gmtime_r(&before, &parts);
	return parts.tm_year + 1900 > year + LT_TABLE_YEARS_MAX;
}

void
lt_table_age_note(struct lt_points *points, int year, int64_t now_utc_s)
{
	if (lt_table_is_old(year, now_utc_s))
		lt_note_add(points, "%d ended more than %d years ago", year, LT_TABLE_YEARS_MAX);
}
