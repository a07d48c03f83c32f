/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers and units as invoices write them. Exact: a double would lose cents
 * over some million rows, and units.c stops at millionths.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "reconcile_tie.h"
#include "units.h"

enum {
	PICO_DIGITS = 12,
	WHOLE_DIGITS_MAX = 12,
	EXPONENT_MAX = 99, /* what is beyond is too large, or nothing */
};

struct decimal { /* 0.DIGITS * 10^point */
	bool negative;
	char digits[64]; /* without zeros in front */
	int count, point;
};

/* Digits from at on, into number; where they end. */
static const char *
take_digits(
    struct decimal *number, const char *at, bool whole, bool *any, bool *full)
{
	for (; isdigit((unsigned char)*at); at++) {
		*any = true;
		if (number->count == 0 && *at == '0') {
			number->point -= whole ? 0 : 1;
			continue;
		}
		number->point += whole ? 1 : 0;
		if (number->count < (int)sizeof(number->digits))
			number->digits[number->count++] = *at;
		else
			*full = true;
	}
	return at;
}

static bool
take_exponent(struct decimal *number, const char *at)
{
	int exponent = 0;
	const bool negative = *at == '-';

	if (*at == '-' || *at == '+') /* FOCUS writes no "+", others do */
		at++;
	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++)
		if (exponent <= EXPONENT_MAX)
			exponent = exponent * 10 + (*at - '0');
	number->point += negative ? -exponent : exponent;
	return *at == '\0';
}

static bool
parse(struct decimal *number, const char *text)
{
	const char *at = text;
	bool any = false, full = false;

	number->negative = *at == '-';
	if (number->negative)
		at++;
	at = take_digits(number, at, true, &any, &full);
	if (*at == '.')
		at = take_digits(number, at + 1, false, &any, &full);
	if (!any || full)
		return false;
	if (*at == 'e' || *at == 'E')
		return take_exponent(number, at + 1);
	return *at == '\0';
}

int
lt_pico_parse(const char *text, lt_wide *pico, struct lt_error *err)
{
	struct decimal number = {0};
	lt_wide sum = 0;

	if (!parse(&number, text))
		return lt_fail(err, LT_EINPUT,
		    "got \"%.40s\", want a number such as 12.5", text);
	if (number.count > 0 && number.point > WHOLE_DIGITS_MAX)
		return lt_fail(err, LT_ELIMIT,
		    "got \"%.40s\", want less than 10^%d", text,
		    WHOLE_DIGITS_MAX);
	const int wanted = number.point + PICO_DIGITS;

	for (int i = 0; i < wanted; i++)
		sum =
		    sum * 10 + (i < number.count ? number.digits[i] - '0' : 0);
	if (wanted >= 0 && wanted < number.count &&
	    number.digits[wanted] >= '5')
		sum++;
	*pico = number.negative ? -sum : sum;
	return LT_OK;
}

int64_t
lt_time_unit(const char *text)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {
	    {"hrs", LT_HOUR_S},
	    {"hours", LT_HOUR_S},
	    {"hour", LT_HOUR_S},
	    {"hr", LT_HOUR_S},
	    {"h", LT_HOUR_S},
	    {"instance-hours", LT_HOUR_S},
	    {"minutes", 60},
	    {"minute", 60},
	    {"seconds", 1},
	    {"second", 1},
	};
	int64_t count = 0;
	const char *at = text;

	for (; isdigit((unsigned char)*at) && count < 1000; at++)
		count = count * 10 + (*at - '0');
	if (at == text)
		count = 1;
	while (*at == ' ')
		at++;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcasecmp(at, units[i].name) == 0)
			return count * units[i].seconds;
	return 0;
}
