/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The currency of a first policy file: the locale's, else that of the country in whose time zone
 * the host is. Also the amounts of the file, which are dollars, converted to it by the rates of
 * currency.h.
 */
#include <locale.h>
#include <string.h>

#include "currency.h"
#include "init.h"
#include "units.h"

/* The first entry that the zone begins with counts. All other zones of Europe have the euro. */
static const struct {
	const char *zone, *currency;
} currencies[] = {
    {"Europe/London", "GBP"},
    {"Europe/Belfast", "GBP"},
    {"Europe/Jersey", "GBP"},
    {"Europe/Guernsey", "GBP"},
    {"Europe/Isle_of_Man", "GBP"},
    {"Europe/Gibraltar", "GIP"},
    {"Europe/Zurich", "CHF"},
    {"Europe/Vaduz", "CHF"},
    {"Europe/Stockholm", "SEK"},
    {"Europe/Oslo", "NOK"},
    {"Europe/Copenhagen", "DKK"},
    {"Europe/Warsaw", "PLN"},
    {"Europe/Prague", "CZK"},
    {"Europe/Budapest", "HUF"},
    {"Europe/Bucharest", "RON"},
    {"Europe/Belgrade", "RSD"},
    {"Europe/Sarajevo", "BAM"},
    {"Europe/Chisinau", "MDL"},
    {"Europe/Istanbul", "TRY"},
    {"Europe/Kiev", "UAH"},
    {"Europe/Kyiv", "UAH"},
    {"Europe/Uzhgorod", "UAH"},
    {"Europe/Zaporozhye", "UAH"},
    {"Europe/Moscow", "RUB"},
    {"Europe/Astrakhan", "RUB"},
    {"Europe/Kaliningrad", "RUB"},
    {"Europe/Kirov", "RUB"},
    {"Europe/Samara", "RUB"},
    {"Europe/Saratov", "RUB"},
    {"Europe/Ulyanovsk", "RUB"},
    {"Europe/Volgograd", "RUB"},
    {"Europe/Minsk", "BYN"},
    {"Europe/Tirane", "ALL"},
    {"Europe/Skopje", "MKD"},
    {"Europe/", "EUR"},
    {"Asia/Nicosia", "EUR"},
    {"Atlantic/Azores", "EUR"},
    {"Atlantic/Canary", "EUR"},
    {"Atlantic/Madeira", "EUR"},
    {"Atlantic/Reykjavik", "ISK"},
    {"Asia/Tokyo", "JPY"},
    {"Asia/Seoul", "KRW"},
    {"Asia/Shanghai", "CNY"},
    {"Asia/Hong_Kong", "HKD"},
    {"Asia/Taipei", "TWD"},
    {"Asia/Singapore", "SGD"},
    {"Asia/Kolkata", "INR"},
    {"Asia/Calcutta", "INR"},
    {"Asia/Dubai", "AED"},
    {"Asia/Riyadh", "SAR"},
    {"Asia/Jerusalem", "ILS"},
    {"Asia/Kuala_Lumpur", "MYR"},
    {"Asia/Bangkok", "THB"},
    {"Asia/Jakarta", "IDR"},
    {"Australia/", "AUD"},
    {"Pacific/Auckland", "NZD"},
    {"Africa/Johannesburg", "ZAR"},
    {"America/Toronto", "CAD"},
    {"America/Vancouver", "CAD"},
    {"America/Edmonton", "CAD"},
    {"America/Montreal", "CAD"},
    {"America/Halifax", "CAD"},
    {"America/Winnipeg", "CAD"},
    {"America/Mexico_City", "MXN"},
    {"America/Sao_Paulo", "BRL"},
    {"America/Argentina/", "ARS"},
    {"America/Santiago", "CLP"},
    {"America/Bogota", "COP"},
};

const char *
lt_init_currency(char out[4], const char *zone)
{
	setlocale(LC_MONETARY, "");
	const char *const symbol = localeconv()->int_curr_symbol;

	if (symbol != NULL && strlen(symbol) >= 3) {
		(void)snprintf(out, 4, "%.3s", symbol);
		return out;
	}
	(void)snprintf(out, 4, "USD");
	for (size_t i = 0; i < sizeof(currencies) / sizeof(currencies[0]); i++)
		if (strncmp(currencies[i].zone, zone, strlen(currencies[i].zone)) == 0) {
			(void)snprintf(out, 4, "%s", currencies[i].currency);
			break;
		}
	return out;
}

/* Writes 12.500000 as "12.50" and 15000.000000 as "15000". */
static const char *
plain_amount(char out[LT_INIT_AMOUNT_SIZE], int64_t micros)
{
	lt_micros_exact(out, LT_INIT_AMOUNT_SIZE, micros);
	char *const point = strchr(out, '.');
	size_t end = strlen(out);

	while (out[end - 1] == '0')
		end--;
	if (out + end == point + 1)
		end--;
	else if (out + end == point + 2)
		end++;
	out[end] = '\0';
	return out;
}

const char *
lt_init_amount(char out[LT_INIT_AMOUNT_SIZE], int64_t usd_micros, const struct lt_init_site *site)
{
	return plain_amount(out, lt_currency_of_usd(usd_micros, site->currency));
}

const char *
lt_init_rate(char out[LT_INIT_RATE_SIZE], int64_t usd_micros, const struct lt_init_site *site)
{
	const struct lt_currency *const found = lt_currency_find(site->currency);
	char usd[LT_INIT_AMOUNT_SIZE];

	if (found == NULL || strcmp(site->currency, "USD") == 0)
		out[0] = '\0';
	else
		snprintf(out, LT_INIT_RATE_SIZE, "; %s USD at %.10g %s (" LT_CURRENCY_RATES_DAY ")",
		    plain_amount(usd, usd_micros), found->per_usd, found->code);
	return out;
}
