/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers, units of time and currencies as invoices write them. Numbers are exact: a double would
 * lose cents over some million rows, and units.c stops at millionths. Another currency is converted
 * by --rate or by the rates of the policy; without a rate the row is an error.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "date.h"
#include "reconcile_tie.h"
#include "units.h"

enum {
	PICO_DIGITS = 12,
	WHOLE_DIGITS_MAX = 12,
	EXPONENT_MAX = 99, /* beyond it a number is too large, or 0 */
};

struct decimal { /* 0.DIGITS * 10^point */
	bool negative;
	char digits[64]; /* without zeros in front */
	int count, point;
};

/* Reads digits from at on into number; returns where they end. */
static const char *
take_digits(struct decimal *number, const char *at, bool whole, bool *any, bool *full)
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
parse_decimal(struct decimal *number, const char *text)
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

	if (!parse_decimal(&number, text))
		return lt_fail(err, LT_EINPUT, "got \"%.40s\", want a number such as 12.5", text);
	if (number.count > 0 && number.point > WHOLE_DIGITS_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "got \"%.40s\", want less than 10^%d", text, WHOLE_DIGITS_MAX);
	const int wanted = number.point + PICO_DIGITS;

	for (int i = 0; i < wanted; i++)
		sum = sum * 10 + (i < number.count ? number.digits[i] - '0' : 0);
	if (wanted >= 0 && wanted < number.count && number.digits[wanted] >= '5')
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

int
lt_invoice_rate_parse(struct lt_invoice_rates *rates, const char *text, struct lt_error *err)
{
	static const lt_wide most = (lt_wide)1000000 * 1000000 * 1000000;
	struct lt_invoice_rate *const rate = &rates->list[rates->count];

	*rate = (struct lt_invoice_rate){.is_said = true, .from_utc_s = INT64_MIN};
	snprintf(rate->currency, sizeof(rate->currency), "%.3s", text);
	if (strlen(text) < 5 || text[3] != '=' || strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3 ||
	    strlen(text + 4) >= sizeof(rate->text) ||
	    lt_pico_parse(text + 4, &rate->pico, NULL) != LT_OK || rate->pico <= 0 ||
	    rate->pico > most)
		return lt_fail(err, LT_EINPUT,
		    "--rate: got \"%.40s\", want a currency and what one of it is worth, such as USD=0.92",
		    text);
	strcpy(rate->text, text + 4);
	rates->count++;
	return LT_OK;
}

int
lt_invoice_rates_signals(
    struct lt_invoice_rates *rates, const json_t *signals, struct lt_error *err)
{
	size_t index;
	const json_t *row;

	json_array_foreach(json_object_get(signals, "exchange_rates"), index, row) {
		const char *const from = lt_json_text(row, "from", "");
		struct lt_invoice_rate *const rate = &rates->list[rates->count];

		if (rates->count == LT_TIE_RATES_MAX)
			return lt_fail(
			    err, LT_ELIMIT, "more than %d exchange rates", LT_TIE_RATES_MAX);
		*rate = (struct lt_invoice_rate){.from_utc_s = INT64_MIN};
		snprintf(rate->currency, sizeof(rate->currency), "%s",
		    lt_json_text(row, "currency", ""));
		/* 15 digits are what was written, and not a double's 17. */
		snprintf(rate->text, sizeof(rate->text), "%.15g",
		    json_number_value(json_object_get(row, "rate")));
		if (lt_pico_parse(rate->text, &rate->pico, NULL) != LT_OK || rate->pico <= 0 ||
		    (from[0] && lt_utc_parse(from, &rate->from_utc_s, NULL) != LT_OK))
			return lt_fail(err, LT_EINPUT, "lowtided's exchange rate of %s is none",
			    rate->currency);
		rates->count++;
	}
	return LT_OK;
}

struct lt_invoice_rate *
lt_invoice_rate_find(struct lt_invoice_rates *rates, const char *currency, int64_t utc_s)
{
	struct lt_invoice_rate *found = NULL;

	for (int i = 0; i < rates->count; i++) {
		struct lt_invoice_rate *const rate = &rates->list[i];

		if (strcmp(rate->currency, currency) != 0 || rate->from_utc_s > utc_s)
			continue;
		if (rate->is_said)
			return rate;
		if (found == NULL || rate->from_utc_s > found->from_utc_s)
			found = rate;
	}
	return found;
}

int
lt_invoice_convert(lt_wide *pico, lt_wide rate_pico, struct lt_error *err)
{
	static const lt_wide one = (lt_wide)1000000 * 1000000;
	lt_wide product;

	if (__builtin_mul_overflow(*pico, rate_pico, &product))
		return lt_fail(err, LT_EOVERFLOW, "too large at this rate");
	product += product < 0 ? -(one / 2) : one / 2;
	*pico = product / one;
	return LT_OK;
}
