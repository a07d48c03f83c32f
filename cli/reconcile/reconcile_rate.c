/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an invoice's other currency is worth: by --rate on all days, else by
 * the policy's exchange_rates:, which lowtided says, from a day on.
 */
#include <string.h>

#include "cli.h"
#include "date.h"
#include "reconcile_tie.h"
#include "units.h"

int
lt_invoice_rate_parse(
    struct lt_invoice_rates *rates, const char *text, struct lt_error *err)
{
	static const lt_wide most = (lt_wide)1000000 * 1000000 * 1000000;
	struct lt_invoice_rate *const rate = &rates->list[rates->count];

	*rate =
	    (struct lt_invoice_rate){.is_said = true, .from_utc_s = INT64_MIN};
	snprintf(rate->currency, sizeof(rate->currency), "%.3s", text);
	if (strlen(text) < 5 || text[3] != '=' ||
	    strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3 ||
	    strlen(text + 4) >= sizeof(rate->text) ||
	    lt_pico_parse(text + 4, &rate->pico, NULL) != LT_OK ||
	    rate->pico <= 0 || rate->pico > most)
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

	json_array_foreach(
	    json_object_get(signals, "exchange_rates"), index, row) {
		const char *const from = lt_json_text(row, "from", "");
		struct lt_invoice_rate *const rate = &rates->list[rates->count];

		if (rates->count == LT_TIE_RATES_MAX)
			return lt_fail(err, LT_ELIMIT,
			    "more than %d exchange rates", LT_TIE_RATES_MAX);
		*rate = (struct lt_invoice_rate){.from_utc_s = INT64_MIN};
		snprintf(rate->currency, sizeof(rate->currency), "%s",
		    lt_json_text(row, "currency", ""));
		/* 15 digits are what was written, and not a double's 17. */
		snprintf(rate->text, sizeof(rate->text), "%.15g",
		    json_number_value(json_object_get(row, "rate")));
		if (lt_pico_parse(rate->text, &rate->pico, NULL) != LT_OK ||
		    rate->pico <= 0 ||
		    (from[0] &&
			lt_utc_parse(from, &rate->from_utc_s, NULL) != LT_OK))
			return lt_fail(err, LT_EINPUT,
			    "lowtided's exchange rate of %s is none",
			    rate->currency);
		rates->count++;
	}
	return LT_OK;
}

struct lt_invoice_rate *
lt_invoice_rate_find(
    struct lt_invoice_rates *rates, const char *currency, int64_t utc_s)
{
	struct lt_invoice_rate *found = NULL;

	for (int i = 0; i < rates->count; i++) {
		struct lt_invoice_rate *const rate = &rates->list[i];

		if (strcmp(rate->currency, currency) != 0 ||
		    rate->from_utc_s > utc_s)
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
