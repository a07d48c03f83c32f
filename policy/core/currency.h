/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The currencies that money is in: how their amounts are written, and what a fixed amount of US
 * dollars is in each.
 */
#ifndef LT_CURRENCY_H
#define LT_CURRENCY_H

#include <stdint.h>

struct lt_currency {
	char code[4];	  /* ISO 4217 */
	uint8_t decimals; /* of its amounts: 0 to 3 */
	double per_usd;	  /* units for a dollar, on LT_CURRENCY_RATES_DAY */
	const char *sign; /* UTF-8; NULL = its code is written behind */
};

enum { LT_CURRENCIES_MAX = 200 }; /* ISO 4217 has some 160 */
#define LT_CURRENCY_RATES_DAY "2026-09-29"

/* All, by code. */
const struct lt_currency *lt_currency_table(int *count) __attribute__((nonnull));

/* NULL: no currency has this code. */
const struct lt_currency *lt_currency_find(const char *code) __attribute__((nonnull));

/* Returns the decimals of its amounts; 2 for an unknown code. */
int lt_currency_decimals(const char *code) __attribute__((nonnull));
/* Micros of the last of them. */
int64_t lt_currency_step(const char *code) __attribute__((nonnull));

/*
 * A fixed amount of dollars in another currency, as a plain figure: one digit,
 * and halves below 2 (15000 for 15750). Dollars, and an unknown code, stay
 * as they are.
 *
 *   usd_micros  micros of a dollar, 1 .. 1e12
 */
int64_t lt_currency_of_usd(int64_t usd_micros, const char *code) __attribute__((nonnull));

/* Micros of what is called a cent: a dollar's, and never less than is shown. */
int64_t lt_currency_cent(const char *code) __attribute__((nonnull));

#endif
