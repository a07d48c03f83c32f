/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide init: the text of a first policy file, apart from where its facts come from. init.c
 * writes the file, init_sources.c its sources and prices,
 * init_currency.c has its currency.
 */
#ifndef LT_INIT_H
#define LT_INIT_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "error.h"

struct lt_init_site { /* "" = not known */
	const char *currency;
	const char *zone;   /* "Europe/London" */
	const char *vendor; /* by the machine's firmware: "Amazon EC2" */
	const char *region; /* of its cloud: "eu-west-2" */
	bool is_kubernetes;
	const char *prices;	 /* --price, "gpu=6.40,cpu=0.90"; NULL = none */
	const char *electricity; /* --electricity, "0.28"; NULL = not given */
};

/* Writes the policy file; facts: the answer of lowtided --probe. */
void lt_init_write(FILE *out, const json_t *facts, const struct lt_init_site *site);

/* ---- init_currency.c ---- */
/* Writes the site's currency, ISO 4217; USD if nothing shows it. Returns out. */
const char *lt_init_currency(char out[4], const char *zone);
enum { LT_INIT_AMOUNT_SIZE = 32, LT_INIT_RATE_SIZE = 64 };
/* Writes an amount of dollars in the site's currency, "15000". Returns out. */
const char *lt_init_amount(
    char out[LT_INIT_AMOUNT_SIZE], int64_t usd_micros, const struct lt_init_site *site);
/* Writes "; 100 USD at 157.5 JPY (2026-09-29)", "" for dollars. Returns out. */
const char *lt_init_rate(
    char out[LT_INIT_RATE_SIZE], int64_t usd_micros, const struct lt_init_site *site);

/* ---- init_sources.c ---- */
/* Writes the section of sources. Returns the `carbon:` of partitions, "[grid, profile]"; NULL =
 * none is known. */
const char *lt_init_sources(FILE *out, const struct lt_init_site *site);

/* True if a source without a key lists the price of the partition's machines. */
bool lt_init_has_price(const json_t *partition, const struct lt_init_site *site);
/* Writes the sources of prices; has_sources: the section has begun. */
void lt_init_prices(
    FILE *out, const json_t *facts, const struct lt_init_site *site, bool has_sources);
/* Checks --price and --electricity: amounts, of partitions that exist. */
int lt_init_check_said(const json_t *facts, const struct lt_init_site *site, struct lt_error *err);
/* True if --price has the price of its nodes. */
bool lt_init_is_said(const json_t *partition, const struct lt_init_site *site);
/* Writes a partition's price and interruption rate, or lines to fill in. */
void lt_init_price_of(FILE *out, const json_t *partition, const struct lt_init_site *site);

#endif
