/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what each fuel gave to grams per kWh: factors, which hours are complete, docs/model.md eq.
 * (34). For the adapters eia and entsoe.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuel_mix.h"
#include "lookup.h"
#include "text_mend.h"

enum {
	SLOTS = LT_HOUR_S / LT_MIX_SLOT_S,
	COLUMNS = LT_MIX_CODES_MAX + 1,
	/* Plants that stand still draw power for themselves. */
	OWN_USE_MW = 100,
	OWN_USE_PERCENT = 2,
	DAY = LT_DAY_S / LT_HOUR_S,
	DAYS = 7,	    /* before, by which a fuel is expected */
	MISSED_PERCENT = 1, /* of generation: less is not missed */
};
static const char fuel_is_missing[] = "a fuel is missing";

/*
 * Life cycle and direct: medians of IPCC AR5 WG3 (2014), annex III, table A.III.2. Fuels that it
 * lacks: coal's times the ratio of the CO2 of both fuels per TJ (2006 IPCC Guidelines, volume 2,
 * table 2.2: bituminous coal 94.6, lignite 101, residual fuel oil 77.4, oil shale 107, peat 106).
 * Waste and other: 700, a thermal plant of unknown fuel.
 */
static const struct {
	double lifecycle, direct;
} factors[LT_FUEL_COUNT] = {
    [LT_FUEL_BIOMASS] = {230, 0},
    [LT_FUEL_COAL] = {820, 760},
    [LT_FUEL_GAS] = {490, 370},
    [LT_FUEL_GEOTHERMAL] = {38, 0},
    [LT_FUEL_HYDRO] = {24, 0},
    [LT_FUEL_LIGNITE] = {875, 811},
    [LT_FUEL_MARINE] = {17, 0},
    [LT_FUEL_NUCLEAR] = {12, 0},
    [LT_FUEL_OIL] = {671, 622},
    [LT_FUEL_OIL_SHALE] = {927, 860},
    [LT_FUEL_OTHER] = {700, 649},
    [LT_FUEL_PEAT] = {919, 852},
    [LT_FUEL_SOLAR] = {48, 0},
    [LT_FUEL_SOLAR_BATTERY] = {48, 0},
    [LT_FUEL_WASTE] = {700, 649},
    [LT_FUEL_WIND] = {11, 0},
    [LT_FUEL_WIND_BATTERY] = {11, 0},
    [LT_FUEL_WIND_OFFSHORE] = {12, 0},
};

double
lt_fuel_factor(enum lt_fuel fuel, bool direct)
{
	return direct ? LT_ROW(factors, fuel).direct : LT_ROW(factors, fuel).lifecycle;
}

int
lt_mix_start(struct lt_mix *mix, const struct lt_mix_code *codes, int64_t from_utc_s,
    int64_t to_utc_s, struct lt_error *err)
{
	const int64_t to_hour = to_utc_s / LT_HOUR_S;
	int64_t from_hour = (from_utc_s + LT_HOUR_S - 1) / LT_HOUR_S;

	*mix = (struct lt_mix){.codes = codes};
	while (codes[mix->code_count].code != NULL)
		mix->code_count++;
	if (from_hour < to_hour - LT_MIX_SPAN_S / LT_HOUR_S)
		from_hour = to_hour - LT_MIX_SPAN_S / LT_HOUR_S;
	if (from_hour >= to_hour)
		return lt_fail(err, LT_EINPUT, "no whole hour of the past was asked for");
	mix->start_utc_s = from_hour * LT_HOUR_S;
	mix->hour_count = (int)(to_hour - from_hour);
	mix->mw = malloc((size_t)mix->hour_count * SLOTS * COLUMNS * sizeof(*mix->mw));
	return mix->mw != NULL ? LT_OK : lt_fail(err, LT_ENOMEM, "%d hours", mix->hour_count);
}

void
lt_mix_free(struct lt_mix *mix)
{
	free(mix->mw);
	mix->mw = NULL;
}

static double *
cell(const struct lt_mix *mix, int slot, int column)
{
	return &mix->mw[(size_t)slot * COLUMNS + (size_t)column];
}

static enum lt_fuel
fuel_of(const struct lt_mix *mix, int column)
{
	return column == mix->code_count ? LT_FUEL_OTHER : mix->codes[column].fuel;
}

int
lt_mix_column(struct lt_mix *mix, const char *code)
{
	int i = 0;

	while (i < mix->code_count && strcmp(mix->codes[i].code, code) != 0)
		i++;
	if (i == mix->code_count && mix->unknown[0] == '\0')
		snprintf(mix->unknown, sizeof(mix->unknown), "%s", code);
	return i;
}

static void
clear_hours(const struct lt_mix *mix, int first_hour, int end_hour)
{
	for (int slot = first_hour * SLOTS; slot < end_hour * SLOTS; slot++)
		for (int i = 0; i < COLUMNS; i++)
			*cell(mix, slot, i) = NAN;
}

/* Extends the hours that are cleared and looked at, from the first to the last with a value:
 * answers are often much shorter than the mix. */
static void
reach(struct lt_mix *mix, int first_hour, int end_hour)
{
	if (mix->first_hour == mix->end_hour)
		mix->first_hour = mix->end_hour = first_hour;
	if (first_hour < mix->first_hour) {
		clear_hours(mix, first_hour, mix->first_hour);
		mix->first_hour = first_hour;
	}
	if (end_hour > mix->end_hour) {
		clear_hours(mix, mix->end_hour, end_hour);
		mix->end_hour = end_hour;
	}
}

void
lt_mix_put(struct lt_mix *mix, int column, int64_t start_utc_s, int64_t end_utc_s, double mw)
{
	const int64_t end = mix->start_utc_s + (int64_t)mix->hour_count * LT_HOUR_S;

	if (start_utc_s < mix->start_utc_s)
		start_utc_s = mix->start_utc_s;
	if (end_utc_s > end)
		end_utc_s = end;
	if (start_utc_s >= end_utc_s)
		return;
	reach(mix, (int)((start_utc_s - mix->start_utc_s) / LT_HOUR_S),
	    (int)((end_utc_s - mix->start_utc_s + LT_HOUR_S - 1) / LT_HOUR_S));
	for (int64_t at = start_utc_s; at < end_utc_s; at += LT_MIX_SLOT_S)
		*cell(mix, (int)((at - mix->start_utc_s) / LT_MIX_SLOT_S), column) = mw;
}

void
lt_mix_refuse(struct lt_mix *mix, const char *format, ...)
{
	va_list arguments;

	if (mix->refused++ > 0)
		return;
	mix->refusal.code = LT_EINPUT;
	va_start(arguments, format);
	vsnprintf(mix->refusal.text, sizeof(mix->refusal.text), format, arguments);
	va_end(arguments);
}

/* Returns how many slots of an hour have a value in a column, and their sum. */
static int
hour_sum(const struct lt_mix *mix, int hour, int column, double *sum_mw)
{
	int said = 0;

	*sum_mw = 0;
	for (int i = 0; i < SLOTS; i++) {
		const double mw = *cell(mix, hour * SLOTS + i, column);

		if (isnan(mw))
			continue;
		*sum_mw += mw;
		said++;
	}
	return said;
}

/* Finds the fuels that three quarters of the hours have: an hour without one is incomplete, as the
 * newest hours come fuel by fuel. */
static void
find_usual(const struct lt_mix *mix, bool usual[COLUMNS])
{
	int hours[COLUMNS] = {0}, hours_any = 0;

	for (int hour = mix->first_hour; hour < mix->end_hour; hour++) {
		bool any = false;

		for (int i = 0; i <= mix->code_count; i++) {
			double sum_mw;

			if (hour_sum(mix, hour, i, &sum_mw) == SLOTS) {
				hours[i]++;
				any = true;
			}
		}
		hours_any += any;
	}
	for (int i = 0; i <= mix->code_count; i++)
		usual[i] = fuel_of(mix, i) != LT_FUEL_STORAGE && hours[i] > 0 &&
			   hours[i] * 4 >= hours_any * 3;
}

static bool
is_empty(const struct lt_mix *mix, int hour)
{
	double sum_mw;

	for (int i = 0; i <= mix->code_count; i++)
		if (hour_sum(mix, hour, i, &sum_mw) > 0)
			return false;
	return true;
}

/* True if a fuel gave a part of an hour that would be missed. */
static bool
has_part(const struct lt_mix *mix, int hour, int column)
{
	double sum_mw = 0, own_mw = 0;

	for (int i = 0; i <= mix->code_count; i++) {
		double mw;

		if (fuel_of(mix, i) == LT_FUEL_STORAGE || hour_sum(mix, hour, i, &mw) < SLOTS)
			continue;
		sum_mw += fmax(mw, 0);
		if (i == column)
			own_mw = mw;
	}
	return own_mw > sum_mw * MISSED_PERCENT / 100;
}

/* True if most of the days before had the fuel at this hour, for fuels such as sun that not all
 * hours have. */
static bool
is_expected(const struct lt_mix *mix, int hour, int column)
{
	int days = 0, with = 0;

	for (int i = 1; i <= DAYS && hour - i * DAY >= mix->first_hour; i++) {
		if (is_empty(mix, hour - i * DAY))
			continue;
		days++;
		with += has_part(mix, hour - i * DAY, column);
	}
	return with * 2 > days;
}

/* Computes eq. (34) for one hour; NULL = done, else what is wrong with it. */
static const char *
hour_intensity(
    const struct lt_mix *mix, int hour, const bool *usual, bool direct, double *g_per_kwh)
{
	double sum_mw = 0, sum_g = 0, least_mw = 0;

	for (int i = 0; i <= mix->code_count; i++) {
		const enum lt_fuel fuel = fuel_of(mix, i);
		double mw;

		if (fuel == LT_FUEL_STORAGE)
			continue;
		const int said = hour_sum(mix, hour, i, &mw);
		if (said < SLOTS && (said > 0 || usual[i] || is_expected(mix, hour, i)))
			return fuel_is_missing;
		mw /= SLOTS;
		if (mw < least_mw && fuel != LT_FUEL_SOLAR_BATTERY && fuel != LT_FUEL_WIND_BATTERY)
			least_mw = mw;
		if (mw > 0) {
			sum_mw += mw;
			sum_g += mw * lt_fuel_factor(fuel, direct);
		}
	}
	if (least_mw < -OWN_USE_MW && least_mw < -sum_mw * OWN_USE_PERCENT / 100)
		return "a fuel is far below 0";
	if (!(sum_mw > 0))
		return "no generation at all";
	*g_per_kwh = sum_g / sum_mw;
	return NULL;
}

struct tally {
	int hours, left_out;
	int late;	 /* lack a fuel since the last whole hour: usual, not told */
	const char *why; /* of the last that was left out */
};

/* Counts an hour; wrong: the result of hour_intensity(). */
static void
count_hour(struct tally *tally, const char *wrong)
{
	if (wrong == fuel_is_missing) {
		tally->late++;
		return;
	}
	if (tally->late > 0)
		tally->why = fuel_is_missing;
	if (wrong != NULL)
		tally->why = wrong;
	tally->left_out += tally->late + (wrong != NULL);
	tally->hours += tally->late + 1;
	tally->late = 0;
}

static void
write_note(const struct lt_mix *mix, const struct tally *tally, char note[LT_POINTS_NOTE_SIZE])
{
	int length = 0;

	if (tally->left_out > 0)
		length = snprintf(note, LT_POINTS_NOTE_SIZE, "%d of %d hours left out: %s",
		    tally->left_out, tally->hours, tally->why);
	if (mix->refused > 0)
		length += snprintf(note + length, LT_POINTS_NOTE_SIZE - (size_t)length,
		    "%s%d rows refused: %.60s", length > 0 ? "; " : "", mix->refused,
		    mix->refusal.text);
	if (mix->unknown[0] != '\0')
		snprintf(note + length, LT_POINTS_NOTE_SIZE - (size_t)length,
		    "%sfuel %s is not known, counted as other", length > 0 ? "; " : "",
		    mix->unknown);
	lt_text_mend(note);
}

int
lt_mix_points(const struct lt_mix *mix, const struct lt_source_options *options, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	const bool direct = lt_basis_of_option(options, LT_BASIS_LIFECYCLE) == LT_BASIS_DIRECT;
	struct tally tally = {.why = ""};
	bool usual[COLUMNS];

	points->quantity = LT_QUANTITY_CARBON;
	points->zero_is_data = direct; /* of hours without fossil fuel */
	find_usual(mix, usual);
	for (int hour = mix->first_hour; hour < mix->end_hour; hour++) {
		const int64_t start_utc_s = mix->start_utc_s + (int64_t)hour * LT_HOUR_S;
		struct lt_point point = {.start_utc_s = start_utc_s,
		    .end_utc_s = start_utc_s + LT_HOUR_S,
		    .quality = LT_QUALITY_ESTIMATED};

		if (is_empty(mix, hour))
			continue;
		const char *const wrong = hour_intensity(mix, hour, usual, direct, &point.value);
		count_hour(&tally, wrong);
		if (wrong != NULL)
			continue;
		const int code = lt_points_add(points, &point, err);
		if (code != LT_OK)
			return code;
	}
	if (points->count == 0) {
		const char *const why = tally.late > 0 ? fuel_is_missing : tally.why;

		return lt_fail(err, LT_EINPUT,
		    "no complete hour of the time that was asked for%s%s%s%s",
		    why[0] == '\0' ? "" : ": ", why, mix->refused > 0 ? ": " : "",
		    mix->refusal.text);
	}
	write_note(mix, &tally, points->note);
	lt_points_sort(points);
	lt_points_date(points, now_utc_s);
	return LT_OK;
}

int
lt_mix_power(const struct lt_mix *mix, enum lt_quantity quantity, struct lt_points *points,
    struct lt_error *err)
{
	bool usual[COLUMNS];

	points->quantity = quantity;
	find_usual(mix, usual);
	for (int hour = mix->first_hour; hour < mix->end_hour; hour++) {
		const int64_t start_utc_s = mix->start_utc_s + (int64_t)hour * LT_HOUR_S;
		struct lt_point point = {.start_utc_s = start_utc_s,
		    .end_utc_s = start_utc_s + LT_HOUR_S,
		    .quality = LT_QUALITY_FORECAST};
		bool whole = false;

		for (int i = 0; i < mix->code_count; i++) {
			double mw;

			if (!usual[i])
				continue;
			whole = hour_sum(mix, hour, i, &mw) == SLOTS;
			if (!whole)
				break;
			point.value += fmax(mw, 0) / SLOTS;
		}
		const int code = whole ? lt_points_add(points, &point, err) : LT_OK;
		if (code != LT_OK)
			return code;
	}
	if (points->count == 0)
		return lt_fail(err, LT_EINPUT, "no whole hour%s%s", mix->refused > 0 ? ": " : "",
		    mix->refusal.text);
	points->note[0] = '\0'; /* of an answer before this one */
	if (mix->refused > 0)
		lt_note_add(points, "%d rows refused: %.100s", mix->refused, mix->refusal.text);
	lt_points_sort(points);
	return LT_OK;
}
