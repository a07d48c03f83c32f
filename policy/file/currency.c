/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The currencies of ISO 4217 that money is in: no funds, metals or test codes.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "nearest.h"
#include "reader.h"

static const char *const codes[] = {"AED", "AFN", "ALL", "AMD", "ANG", "AOA",
    "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BGN", "BHD", "BIF", "BMD",
    "BND", "BOB", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD", "CDF", "CHF",
    "CLP", "CNY", "COP", "CRC", "CUP", "CVE", "CZK", "DJF", "DKK", "DOP", "DZD",
    "EGP", "ERN", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL", "GHS", "GIP", "GMD",
    "GNF", "GTQ", "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "IQD",
    "IRR", "ISK", "JMD", "JOD", "JPY", "KES", "KGS", "KHR", "KMF", "KPW", "KRW",
    "KWD", "KYD", "KZT", "LAK", "LBP", "LKR", "LRD", "LSL", "LYD", "MAD", "MDL",
    "MGA", "MKD", "MMK", "MNT", "MOP", "MRU", "MUR", "MVR", "MWK", "MXN", "MYR",
    "MZN", "NAD", "NGN", "NIO", "NOK", "NPR", "NZD", "OMR", "PAB", "PEN", "PGK",
    "PHP", "PKR", "PLN", "PYG", "QAR", "RON", "RSD", "RUB", "RWF", "SAR", "SBD",
    "SCR", "SDG", "SEK", "SGD", "SHP", "SLE", "SOS", "SRD", "SSP", "STN", "SVC",
    "SYP", "SZL", "THB", "TJS", "TMT", "TND", "TOP", "TRY", "TTD", "TWD", "TZS",
    "UAH", "UGX", "USD", "UYU", "UZS", "VED", "VES", "VND", "VUV", "WST", "XAF",
    "XCD", "XCG", "XOF", "XPF", "XDR", "YER", "ZAR", "ZMW", "ZWG", NULL};

bool
lt_currency_is(const char *code)
{
	for (const char *const *known = codes; *known != NULL; known++)
		if (strcmp(*known, code) == 0)
			return true;
	return false;
}

const char *
lt_currency_hint(char *out, size_t size, const char *code)
{
	const char *const nearest = lt_nearest_word(code, codes);

	out[0] = '\0';
	if (nearest != NULL && strncasecmp(nearest, code, 2) == 0)
		(void)snprintf(out, size, "; did you mean %s?", nearest);
	return out;
}
