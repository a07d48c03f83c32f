/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units: text of people into numbers of one unit, exact arithmetic on these, and numbers back into
 * text for messages, tables, CSV and JSON. Every option, policy value and source goes through here.
 *
 * Digits are made from integers, so no locale changes a byte. Text that is not exactly a value is
 * an error; arithmetic returns false when a result passes int64_t; text that does not fit is cut.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "currency.h"
#include "date.h"
#include "units.h"

/* ---- Text to numbers, and arithmetic ---- */

/* Longest number that is worth reading; longer text is a mistake. */
enum { NUMBER_TEXT_MAX = 64, QUOTED_MAX = 80 };

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Read digits at *text into *value and step over them; false when there are none or they pass
 * int64_t. */
static bool
take_digits(const char **text, int64_t *value)
{
	const char *at = *text;
	int64_t sum = 0;

	if (!is_digit(*at))
		return false;
	for (; is_digit(*at); at++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, *at - '0', &sum))
			return false;
	*text = at;
	*value = sum;
	return true;
}

int
lt_duration_parse(const char *text, int64_t *seconds, struct lt_error *err)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'d', LT_DAY_S}, {'h', LT_HOUR_S}, {'m', 60}, {'s', 1}};
	const char *at = text;
	int64_t sum = 0, count;
	size_t next = 0;

	if (strcmp(text, "0") == 0) {
		*seconds = 0;
		return LT_OK;
	}
	do {
		if (!take_digits(&at, &count))
			goto out;
		while (next < 4 && units[next].unit != *at)
			next++;
		if (next == 4 || __builtin_mul_overflow(count, units[next].seconds, &count) ||
		    __builtin_add_overflow(sum, count, &sum))
			goto out;
		next++;
		at++;
	} while (*at != '\0');
	*seconds = sum;
	return LT_OK;
out:
	return lt_fail(err, LT_EINPUT,
	    "got \"%.*s\", want a duration such as 90s, 2m, 24h or 7d12h", QUOTED_MAX, text);
}

int
lt_slurm_time_parse(const char *text, int64_t *seconds, struct lt_error *err)
{
	/* Seconds that each number is worth, by how many numbers there are. */
	static const int64_t plain[3][3] = {{60}, {60, 1}, {3600, 60, 1}};
	static const int64_t after_days[3] = {3600, 60, 1};
	const char *at = text;
	int64_t part[3], value, sum = 0;
	bool days = false;
	int count = 0;

	if (lt_duration_parse(text, seconds, NULL) == LT_OK && *text != '0')
		return LT_OK;
	if (!take_digits(&at, &value))
		goto out;
	if (*at == '-') {
		days = true;
		if (__builtin_mul_overflow(value, LT_DAY_S, &sum))
			goto out;
		at++;
		if (!take_digits(&at, &value))
			goto out;
	}
	for (;;) {
		part[count++] = value;
		if (*at != ':' || count == 3)
			break;
		at++;
		if (!take_digits(&at, &value))
			goto out;
	}
	if (*at != '\0')
		goto out;
	for (int i = 0; i < count; i++)
		if (__builtin_mul_overflow(
			part[i], days ? after_days[i] : plain[count - 1][i], &value) ||
		    __builtin_add_overflow(sum, value, &sum))
			goto out;
	*seconds = sum;
	return LT_OK;
out:
	return lt_fail(err, LT_EINPUT,
	    "got \"%.*s\", want a time such as 90 (minutes), 2:30:00, 1-12:00 or 36h", QUOTED_MAX,
	    text);
}

int
lt_mebibytes_parse(const char *text, int64_t *mebibytes, struct lt_error *err)
{
	static const struct {
		const char *suffix;
		int64_t mebibytes;
	} units[] = {{"", 1}, {"M", 1}, {"G", 1024}, {"T", 1024 * 1024}};
	static const char *const endings[] = {"", "B", "iB"};
	const char *at = text;
	int64_t value;

	if (!take_digits(&at, &value))
		goto out;
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		const size_t length = strlen(units[u].suffix);

		if (strncasecmp(at, units[u].suffix, length) != 0)
			continue;
		for (size_t e = 0; e < (length > 0 ? 3 : 1); e++) {
			if (strcasecmp(at + length, endings[e]) != 0)
				continue;
			if (__builtin_mul_overflow(value, units[u].mebibytes, &value))
				goto out;
			*mebibytes = value;
			return LT_OK;
		}
	}
out:
	return lt_fail(err, LT_EINPUT, "got \"%.*s\", want a size such as 40G, 81920M or 1T",
	    QUOTED_MAX, text);
}

int
lt_micros_parse(const char *text, int64_t *micros, struct lt_error *err)
{
	const char *at = text;
	int64_t whole = 0, unit = LT_MICROS, fraction = 0;
	const bool negative = *at == '-';

	if (negative)
		at++;
	if (!take_digits(&at, &whole))
		goto out;
	if (*at == '.') {
		at++;
		if (!is_digit(*at))
			goto out;
		for (; is_digit(*at) && unit > 1; at++) {
			unit /= 10;
			fraction += (*at - '0') * unit;
		}
	}
	if (*at != '\0' || __builtin_mul_overflow(whole, (int64_t)LT_MICROS, &whole) ||
	    __builtin_add_overflow(whole, fraction, &whole))
		goto out;
	*micros = negative ? -whole : whole;
	return LT_OK;
out:
	return lt_fail(err, LT_EINPUT,
	    "got \"%.*s\", want an amount such as 5000 or 32.77, at most six decimals", QUOTED_MAX,
	    text);
}

/* [+-]digits[.digits][e[+-]digits], with a digit before or after the point. */
static bool
is_decimal(const char *at)
{
	size_t digits = 0;

	if (*at == '+' || *at == '-')
		at++;
	for (; is_digit(*at); at++)
		digits++;
	if (*at == '.')
		for (at++; is_digit(*at); at++)
			digits++;
	if (digits == 0)
		return false;
	if (*at == 'e' || *at == 'E') {
		at++;
		if (*at == '+' || *at == '-')
			at++;
		if (!is_digit(*at))
			return false;
		while (is_digit(*at))
			at++;
	}
	return *at == '\0';
}

int
lt_double_parse(const char *text, double *value, struct lt_error *err)
{
	locale_t plain;
	double result;

	if (strlen(text) > NUMBER_TEXT_MAX || !is_decimal(text))
		return lt_fail(err, LT_EINPUT, "got \"%.*s\", want a number such as 12 or 0.5",
		    QUOTED_MAX, text);
	/* The process's own locale may write its point as a comma. */
	plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (plain == (locale_t)0)
		return lt_fail(err, LT_ENOMEM, "no memory for the C locale");
	result = strtod_l(text, NULL, plain);
	freelocale(plain);
	if (!isfinite(result))
		return lt_fail(err, LT_EINPUT, "got \"%.*s\", too large", QUOTED_MAX, text);
	*value = result;
	return LT_OK;
}

int
lt_int64_parse(const char *text, int64_t min, int64_t max, int64_t *value, struct lt_error *err)
{
	char *end;
	long long result;

	errno = 0;
	result = strtoll(text, &end, 10);
	if (!(is_digit(*text) || (*text == '-' && is_digit(text[1]))) || *end != '\0' ||
	    errno == ERANGE || result < min || result > max)
		return lt_fail(err, LT_EINPUT,
		    "got \"%.*s\", want a whole number from %lld to %lld", QUOTED_MAX, text,
		    (long long)min, (long long)max);
	*value = result;
	return LT_OK;
}

/* Exactly `width` digits within [min, max]. */
static bool
take_field(const char **at, int width, int min, int max, int *value)
{
	*value = 0;
	for (int i = 0; i < width; i++, (*at)++) {
		if (!is_digit(**at))
			return false;
		*value = *value * 10 + (**at - '0');
	}
	return *value >= min && *value <= max;
}

static bool
take_char(const char **at, const char *any_of)
{
	if (**at == '\0' || strchr(any_of, **at) == NULL)
		return false;
	(*at)++;
	return true;
}

/* "Z", "+HH:MM", "-HHMM" or "+HH" at *at, in seconds east. */
static bool
take_offset(const char **at, int *offset_s)
{
	int hour, minute = 0;
	const bool west = **at == '-';

	*offset_s = 0;
	if (take_char(at, "Zz"))
		return true;
	if (!take_char(at, "+-") || !take_field(at, 2, 0, 23, &hour))
		return false;
	if (**at != '\0') {
		take_char(at, ":");
		if (!take_field(at, 2, 0, 59, &minute))
			return false;
	}
	*offset_s = (west ? -1 : 1) * (hour * 3600 + minute * 60);
	return true;
}

int
lt_utc_parse(const char *text, int64_t *utc_s, struct lt_error *err)
{
	static const int month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const char *at = text;
	int year, month, day, hour, minute, second = 0, offset_s;

	if (!take_field(&at, 4, 0, 9999, &year) || !take_char(&at, "-") ||
	    !take_field(&at, 2, 1, 12, &month) || !take_char(&at, "-") ||
	    !take_field(&at, 2, 1, month_days[month - 1], &day) || !take_char(&at, "Tt ") ||
	    !take_field(&at, 2, 0, 23, &hour) || !take_char(&at, ":") ||
	    !take_field(&at, 2, 0, 59, &minute))
		goto out;
	if (month == 2 && day == 29 && (year % 4 != 0 || (year % 100 == 0 && year % 400 != 0)))
		goto out;
	if (take_char(&at, ":")) {
		/* 60: a leap second, which UTC seconds do not count. */
		if (!take_field(&at, 2, 0, 60, &second))
			goto out;
		if (take_char(&at, ".")) {
			if (!is_digit(*at))
				goto out;
			while (is_digit(*at))
				at++;
		}
	}
	if (!take_offset(&at, &offset_s) || *at != '\0')
		goto out;
	*utc_s = lt_day_of_date(year, month, day) * LT_DAY_S + hour * 3600 + minute * 60 + second -
		 offset_s;
	return LT_OK;
out:
	return lt_fail(err, LT_EINPUT,
	    "got \"%.*s\", want a time with zone such as 2026-11-21T02:00Z", QUOTED_MAX, text);
}

__extension__ typedef __int128 wide_int;

/* amount * numerator / denominator; the remainder has the product's sign. */
static bool
divide(
    int64_t amount, int64_t numerator, int64_t denominator, wide_int *quotient, wide_int *remainder)
{
	if (denominator <= 0)
		return false;
	*quotient = (wide_int)amount * numerator / denominator;
	*remainder = (wide_int)amount * numerator % denominator;
	return true;
}

static bool
narrow(wide_int wide, int64_t *result)
{
	if (wide > INT64_MAX || wide < INT64_MIN)
		return false;
	*result = (int64_t)wide;
	return true;
}

bool
lt_scale_up(int64_t amount, int64_t numerator, int64_t denominator, int64_t *result)
{
	wide_int quotient, remainder;

	if (!divide(amount, numerator, denominator, &quotient, &remainder))
		return false;
	return narrow(quotient + (remainder > 0 ? 1 : 0), result);
}

bool
lt_add(int64_t *sum, int64_t addend)
{
	int64_t result;

	if (__builtin_add_overflow(*sum, addend, &result))
		return false;
	*sum = result;
	return true;
}

uint32_t
lt_name_hash(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name != '\0'; name++) {
		unsigned char byte = (unsigned char)*name;

		if (byte >= 'A' && byte <= 'Z')
			byte = (unsigned char)(byte - 'A' + 'a');
		hash = (hash ^ byte) * 16777619u;
	}
	return hash;
}

uint64_t
lt_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* ---- Numbers to text ---- */

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
	const size_t length =
	    (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
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
	snprintf(
	    digits.rest, sizeof(digits.rest), "%llu", (unsigned long long)(whole + shown % whole));
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
		snprintf(
		    out, size, "%s%s%s%s", digits.minus, found->sign, digits.whole, digits.rest);
	else
		snprintf(out, size, "%s%s%s%s%s", digits.minus, digits.whole, digits.rest,
		    currency[0] ? " " : "", currency);
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

	/* Goes by the rounded figure: 999.6 g is "1.0 kg", never "1000 g". */
	if (grams < 1000)
		snprintf(out, size, "%s%u g", minus, (unsigned)grams);
	else if (tenths < 10000)
		snprintf(out, size, "%s%u.%u kg", minus, (unsigned)(tenths / 10),
		    (unsigned)(tenths % 10));
	else
		snprintf(out, size, "%s%llu.%02u t", minus, (unsigned long long)(hundredths / 100),
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
		snprintf(out, size, "%s%llu%c %llu%c", minus, (unsigned long long)first,
		    units[i].unit, (unsigned long long)second, units[i + 1].unit);
	else
		snprintf(out, size, "%s%llu%c", minus, (unsigned long long)first, units[i].unit);
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
		snprintf(out, size, "%lld-%02lld:%02lld", minutes / MINUTES_OF_DAY,
		    minutes % MINUTES_OF_DAY / 60, minutes % 60);
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
		snprintf(out, size, "%llu-%02u:%02u:%02u", days, hour, minute, second);
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

	snprintf(out, size, "%04lld-%02d-%02dT%02d:%02d:%02dZ", (long long)date.year, date.month,
	    date.day, of_day / 3600, of_day % 3600 / 60, of_day % 60);
	return out;
}

static const char *
sixths(char *out, size_t size, int64_t value)
{
	char text[32], *at = text + sizeof(text) - 1;
	uint64_t left = magnitude(value);

	/* Written without printf: each row of ten million has nine of them. */
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
	const int tenths = percent > 99 && percent < 101
			       ? (int)(part > whole ? ceil(percent * 10) : floor(percent * 10))
			       : 0;

	if (whole <= 0)
		snprintf(out, LT_PERCENT_SIZE, "all");
	else if (tenths > 0)
		snprintf(out, LT_PERCENT_SIZE, "%d.%d %%", tenths / 10, tenths % 10);
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
