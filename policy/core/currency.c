/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The currencies of ISO 4217 that money is in, no funds, metals or test codes:
 * their decimals (its list one, where the dinars' thousandths and the yen's lack of any stand), the
 * signs that no other has, and what was paid for a dollar. The rates are those of
 * @fawazahmed0/currency-api 2026.9.29 (npm, CC0), to four digits. They price nothing: only
 * defaults, which are amounts of dollars, are converted by them.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "currency.h"
#include "units.h"

/* Sorted by code, for a binary search. */
static const struct lt_currency rows[] = {
    {"AED", 2, 3.672, NULL},
    {"AFN", 2, 63.98, NULL},
    {"ALL", 2, 81.02, NULL},
    {"AMD", 2, 363.6, NULL},
    {"ANG", 2, 1.803, NULL},
    {"AOA", 2, 918.3, NULL},
    {"ARS", 2, 1525, NULL},
    {"AUD", 2, 1.425, NULL},
    {"AWG", 2, 1.79, NULL},
    {"AZN", 2, 1.7, NULL},
    {"BAM", 2, 1.722, NULL},
    {"BBD", 2, 2, NULL},
    {"BDT", 2, 123.2, NULL},
    {"BGN", 2, 1.722, NULL},
    {"BHD", 3, 0.376, NULL},
    {"BIF", 0, 2999, NULL},
    {"BMD", 2, 1, NULL},
    {"BND", 2, 1.279, NULL},
    {"BOB", 2, 12.16, NULL},
    {"BRL", 2, 5.224, NULL},
    {"BSD", 2, 1, NULL},
    {"BTN", 2, 96.09, NULL},
    {"BWP", 2, 13.67, NULL},
    {"BYN", 2, 3.029, NULL},
    {"BZD", 2, 2.013, NULL},
    {"CAD", 2, 1.419, NULL},
    {"CDF", 2, 2311, NULL},
    {"CHF", 2, 0.8334, NULL},
    {"CLP", 0, 967.7, NULL},
    {"CNY", 2, 6.708, NULL},
    {"COP", 2, 3369, NULL},
    {"CRC", 2, 455.2, NULL},
    {"CUP", 2, 24.02, NULL},
    {"CVE", 2, 97.06, NULL},
    {"CZK", 2, 21.47, NULL},
    {"DJF", 0, 178.1, NULL},
    {"DKK", 2, 6.58, NULL},
    {"DOP", 2, 57.72, NULL},
    {"DZD", 2, 133.8, NULL},
    {"EGP", 2, 52.05, NULL},
    {"ERN", 2, 15, NULL},
    {"ETB", 2, 162.8, NULL},
    {"EUR", 2, 0.8802, "\u20ac"},
    {"FJD", 2, 2.238, NULL},
    {"FKP", 2, 0.7554, NULL},
    {"GBP", 2, 0.7554, "\u00a3"},
    {"GEL", 2, 2.598, NULL},
    {"GHS", 2, 11.65, NULL},
    {"GIP", 2, 0.7554, NULL},
    {"GMD", 2, 74.29, NULL},
    {"GNF", 0, 8802, NULL},
    {"GTQ", 2, 7.636, NULL},
    {"GYD", 2, 209.4, NULL},
    {"HKD", 2, 7.845, NULL},
    {"HNL", 2, 26.87, NULL},
    {"HTG", 2, 130.9, NULL},
    {"HUF", 2, 323.5, NULL},
    {"IDR", 2, 18020, NULL},
    {"ILS", 2, 3.074, NULL},
    {"INR", 2, 96.09, NULL},
    {"IQD", 3, 1311, NULL},
    {"IRR", 2, 1375000, NULL},
    {"ISK", 0, 120.6, NULL},
    {"JMD", 2, 158.2, NULL},
    {"JOD", 3, 0.709, NULL},
    {"JPY", 0, 157.5, "\u00a5"},
    {"KES", 2, 129.7, NULL},
    {"KGS", 2, 87.46, NULL},
    {"KHR", 2, 4061, NULL},
    {"KMF", 0, 433, NULL},
    {"KPW", 2, 900.1, NULL},
    {"KRW", 0, 1358, NULL},
    {"KWD", 3, 0.3087, NULL},
    {"KYD", 2, 0.8318, NULL},
    {"KZT", 2, 441.2, NULL},
    {"LAK", 2, 22470, NULL},
    {"LBP", 2, 89720, NULL},
    {"LKR", 2, 330.9, NULL},
    {"LRD", 2, 172.1, NULL},
    {"LSL", 2, 16.44, NULL},
    {"LYD", 3, 6.401, NULL},
    {"MAD", 2, 9.648, NULL},
    {"MDL", 2, 17.71, NULL},
    {"MGA", 2, 4389, NULL},
    {"MKD", 2, 54.15, NULL},
    {"MMK", 2, 2100, NULL},
    {"MNT", 2, 3599, NULL},
    {"MOP", 2, 8.08, NULL},
    {"MRU", 2, 40.08, NULL},
    {"MUR", 2, 47.61, NULL},
    {"MVR", 2, 15.46, NULL},
    {"MWK", 2, 1735, NULL},
    {"MXN", 2, 18.01, NULL},
    {"MYR", 2, 4.083, NULL},
    {"MZN", 2, 63.83, NULL},
    {"NAD", 2, 16.44, NULL},
    {"NGN", 2, 1326, NULL},
    {"NIO", 2, 36.72, NULL},
    {"NOK", 2, 9.547, NULL},
    {"NPR", 2, 153.8, NULL},
    {"NZD", 2, 1.767, NULL},
    {"OMR", 3, 0.3849, NULL},
    {"PAB", 2, 1, NULL},
    {"PEN", 2, 3.416, NULL},
    {"PGK", 2, 4.469, NULL},
    {"PHP", 2, 62.52, NULL},
    {"PKR", 2, 277.1, NULL},
    {"PLN", 2, 3.849, NULL},
    {"PYG", 0, 5884, NULL},
    {"QAR", 2, 3.64, NULL},
    {"RON", 2, 4.646, NULL},
    {"RSD", 2, 103.4, NULL},
    {"RUB", 2, 84.51, NULL},
    {"RWF", 0, 1476, NULL},
    {"SAR", 2, 3.75, NULL},
    {"SBD", 2, 8.048, NULL},
    {"SCR", 2, 14.26, NULL},
    {"SDG", 2, 600.2, NULL},
    {"SEK", 2, 9.98, NULL},
    {"SGD", 2, 1.279, NULL},
    {"SHP", 2, 0.7554, NULL},
    {"SLE", 2, 22.91, NULL},
    {"SOS", 2, 570.6, NULL},
    {"SRD", 2, 37.71, NULL},
    {"SSP", 2, 5713, NULL},
    {"STN", 2, 21.75, NULL},
    {"SVC", 2, 8.75, NULL},
    {"SYP", 2, 13000, NULL},
    {"SZL", 2, 16.44, NULL},
    {"THB", 2, 33.63, NULL},
    {"TJS", 2, 9.233, NULL},
    {"TMT", 2, 3.5, NULL},
    {"TND", 3, 2.969, NULL},
    {"TOP", 2, 2.408, NULL},
    {"TRY", 2, 49, NULL},
    {"TTD", 2, 6.787, NULL},
    {"TWD", 2, 31.85, NULL},
    {"TZS", 2, 2640, NULL},
    {"UAH", 2, 44.92, NULL},
    {"UGX", 0, 3915, NULL},
    {"USD", 2, 1, "$"},
    {"UYU", 2, 40.1, NULL},
    {"UZS", 2, 11790, NULL},
    {"VED", 2, 856.8, NULL},
    {"VES", 2, 856.8, NULL},
    {"VND", 0, 25950, NULL},
    {"VUV", 0, 119, NULL},
    {"WST", 2, 2.767, NULL},
    {"XAF", 0, 577.4, NULL},
    {"XCD", 2, 2.707, NULL},
    {"XCG", 2, 1.803, NULL},
    {"XDR", 2, 0.7354, NULL},
    {"XOF", 0, 577.4, NULL},
    {"XPF", 0, 105, NULL},
    {"YER", 2, 236.6, NULL},
    {"ZAR", 2, 16.44, NULL},
    {"ZMW", 2, 19.62, NULL},
    {"ZWG", 2, 26.85, NULL},
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };
_Static_assert((int)ROW_COUNT <= (int)LT_CURRENCIES_MAX, "a list of the codes holds all");

const struct lt_currency *
lt_currency_table(int *count)
{
	*count = ROW_COUNT;
	return rows;
}

static int
compare_code(const void *code, const void *row)
{
	return strcmp(code, ((const struct lt_currency *)row)->code);
}

const struct lt_currency *
lt_currency_find(const char *code)
{
	return bsearch(code, rows, ROW_COUNT, sizeof(rows[0]), compare_code);
}

int
lt_currency_decimals(const char *code)
{
	const struct lt_currency *const found = lt_currency_find(code);

	return found != NULL ? found->decimals : 2;
}

int64_t
lt_currency_step(const char *code)
{
	int64_t step = LT_MICROS;

	for (int i = lt_currency_decimals(code); i > 0; i--)
		step /= 10;
	return step;
}

int64_t
lt_currency_of_usd(int64_t usd_micros, const char *code)
{
	const struct lt_currency *const found = lt_currency_find(code);
	double power = 1;

	if (found == NULL || found->per_usd == 1)
		return usd_micros;
	const double micros = (double)usd_micros * found->per_usd;

	while (micros >= power * 10)
		power *= 10;
	const double digit =
	    micros / power < 1.75 ? round(2 * micros / power) / 2 : round(micros / power);

	return llround(digit * power);
}

int64_t
lt_currency_cent(const char *code)
{
	const int64_t step = lt_currency_step(code);
	const int64_t cent = lt_currency_of_usd(LT_MICROS / 100, code);

	return cent > step ? cent : step;
}
