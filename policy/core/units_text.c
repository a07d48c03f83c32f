/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of one unit into text: messages, tables, CSV and JSON. Digits of
 * integers, so that no locale changes a byte. The other way round is units.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "currency.h"
#include "date.h"
#include "units.h"

enum { MG_PER_G = 1000, MG_PER_KG = 1000000 };

/* |value|, also of INT64_MIN. */
static uint64_t
magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Half rounds up: with the sign put before it, away from zero. */
static uint64_t
rounded(uint64_t value, uint64_t unit)
{
	return value / unit + (value % unit >= unit - value % unit ? 1 : 0);
}

/* "1,234,567" */
static void
group_thousands(char out[32], uint64_t value)
{
	char digits[24];
	const size_t length = (size_t)snprintf(
	    digits, sizeof(digits), "%llu", (unsigned long long)value);
	size_t at = 0;

	for (size_t i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
}

/* "-", "1,234" and ".57", by the currency's decimals. */
struct digits {
	const char *minus;
	char whole[32], rest[16];
};

static struct digits
digits_of(int64_t micros, const char *currency)
{
	const uint64_t step = (uint64_t)lt_currency_step(currency);
	const uint64_t shown = rounded(magnitude(micros), step);
	const uint64_t whole = LT_MICROS / step;
	struct digits digits = {.minus = micros < 0 && shown > 0 ? "-" : ""};

	group_thousands(digits.whole, shown / whole);
	/* Its leading 1 makes room for zeros; the point takes its place. */
	snprintf(digits.rest, sizeof(digits.rest), "%llu",
	    (unsigned long long)(whole + shown % whole));
	digits.rest[0] = whole > 1 ? '.' : '\0';
	return digits;
}

const char *
lt_money_digits(char *out, size_t size, int64_t micros, const char *currency)
{
	const struct digits digits = digits_of(micros, currency);

	snprintf(out, size, "%s%s%s", digits.minus, digits.whole, digits.rest);
	return out;
}

const char *
lt_money_text(char *out, size_t size, int64_t micros, const char *currency)
{
	const struct digits digits = digits_of(micros, currency);
	const struct lt_currency *const found = lt_currency_find(currency);

	if (found != NULL && found->sign != NULL)
		snprintf(out, size, "%s%s%s%s", digits.minus, found->sign,
		    digits.whole, digits.rest);
	else
		snprintf(out, size, "%s%s%s%s%s", digits.minus, digits.whole,
		    digits.rest, currency[0] ? " " : "", currency);
	return out;
}

const char *
lt_carbon_text(char *out, size_t size, int64_t mg)
{
	const uint64_t amount = magnitude(mg);
	const uint64_t grams = rounded(amount, MG_PER_G);
	const uint64_t tenths = rounded(amount, MG_PER_KG / 10);
	const uint64_t hundredths = rounded(amount, LT_MG_PER_TONNE / 100);
	const char *minus = mg < 0 && grams > 0 ? "-" : "";

	/* By the rounded figure: 999.6 g is "1.0 kg", never "1000 g". */
	if (grams < 1000)
		snprintf(out, size, "%s%u g", minus, (unsigned)grams);
	else if (tenths < 10000)
		snprintf(out, size, "%s%u.%u kg", minus,
		    (unsigned)(tenths / 10), (unsigned)(tenths % 10));
	else
		snprintf(out, size, "%s%llu.%02u t", minus,
		    (unsigned long long)(hundredths / 100),
		    (unsigned)(hundredths % 100));
	return out;
}

const char *
lt_duration_text(char *out, size_t size, int64_t seconds)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'d', LT_DAY_S}, {'h', LT_HOUR_S}, {'m', 60}, {'s', 1}};
	const char *minus = seconds < 0 ? "-" : "";
	const uint64_t amount = magnitude(seconds);
	size_t i = 0;

	while (i < 3 && amount < units[i].seconds)
		i++;
	const uint64_t first = amount / units[i].seconds;
	const uint64_t rest = amount % units[i].seconds;
	const uint64_t second = i < 3 ? rest / units[i + 1].seconds : 0;

	if (second > 0)
		snprintf(out, size, "%s%llu%c %llu%c", minus,
		    (unsigned long long)first, units[i].unit,
		    (unsigned long long)second, units[i + 1].unit);
	else
		snprintf(out, size, "%s%llu%c", minus,
		    (unsigned long long)first, units[i].unit);
	return out;
}

const char *
lt_hours_text(char *out, size_t size, int64_t seconds)
{
	enum { SHORT_S = 600, MINUTES_OF_DAY = LT_DAY_S / 60 };
	const long long minutes = (seconds + 30) / 60;

	if (seconds < SHORT_S)
		return lt_duration_text(out, size, seconds);
	if (minutes >= MINUTES_OF_DAY)
		snprintf(out, size, "%lld-%02lld:%02lld",
		    minutes / MINUTES_OF_DAY, minutes % MINUTES_OF_DAY / 60,
		    minutes % 60);
	else
		snprintf(out, size, "%lld:%02lld", minutes / 60, minutes % 60);
	return out;
}

const char *
lt_slurm_time_text(char *out, size_t size, int64_t seconds)
{
	const uint64_t amount = magnitude(seconds);
	const unsigned long long days = amount / LT_DAY_S;
	const unsigned hour = (unsigned)(amount % LT_DAY_S / 3600);
	const unsigned minute = (unsigned)(amount % 3600 / 60);
	const unsigned second = (unsigned)(amount % 60);

	if (days > 0)
		snprintf(out, size, "%llu-%02u:%02u:%02u", days, hour, minute,
		    second);
	else
		snprintf(out, size, "%u:%02u:%02u", hour, minute, second);
	return out;
}

const char *
lt_utc_text(char *out, size_t size, int64_t utc_s)
{
	const int64_t day = lt_day_of_second(utc_s);
	const int of_day = (int)(utc_s - day * LT_DAY_S);
	const struct lt_date date = lt_date_of_day(day);

	snprintf(out, size, "%04lld-%02d-%02dT%02d:%02d:%02dZ",
	    (long long)date.year, date.month, date.day, of_day / 3600,
	    of_day % 3600 / 60, of_day % 60);
	return out;
}

static const char *
sixths(char *out, size_t size, int64_t value)
{
	char text[32], *at = text + sizeof(text) - 1;
	uint64_t left = magnitude(value);

	/* By hand: each row of ten million has nine of them. */
	*at = '\0';
	for (int digits = 0; digits <= 6 || left > 0; digits++) {
		if (digits == 6)
			*--at = '.';
		*--at = (char)('0' + left % 10);
		left /= 10;
	}
	if (value < 0)
		*--at = '-';
	if (memccpy(out, at, '\0', size) == NULL && size > 0)
		out[size - 1] = '\0';
	return out;
}

const char *
lt_percent_text(char out[LT_PERCENT_SIZE], int64_t part, int64_t whole)
{
	const double percent = 100.0 * (double)part / (double)whole;
	const int tenths =
	    percent > 99 && percent < 101
		? (int)(part > whole ? ceil(percent * 10) : floor(percent * 10))
		: 0;

	if (whole <= 0)
		snprintf(out, LT_PERCENT_SIZE, "all");
	else if (tenths > 0)
		snprintf(
		    out, LT_PERCENT_SIZE, "%d.%d %%", tenths / 10, tenths % 10);
	else
		snprintf(out, LT_PERCENT_SIZE, "%.0f %%", percent);
	return out;
}

const char *
lt_micros_exact(char *out, size_t size, int64_t micros)
{
	return sixths(out, size, micros);
}

const char *
lt_kg_exact(char *out, size_t size, int64_t mg)
{
	return sixths(out, size, mg);
}
