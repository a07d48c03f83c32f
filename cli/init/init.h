/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a first policy file, apart from where its facts come from.
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
	const char *vendor; /* of the machine: "Amazon EC2" */
	const char *region; /* of its cloud: "eu-west-2" */
	bool is_kubernetes;
	const char *prices;	 /* --price, "gpu=6.40,cpu=0.90"; NULL = none */
	const char *electricity; /* --electricity, "0.28"; NULL = not said */
};

/* facts: lowtided --probe. */
void lt_init_write(
    FILE *out, const json_t *facts, const struct lt_init_site *site);

/* init_currency.c: ISO 4217; USD where nothing says it. Returns out. */
const char *lt_init_currency(char out[4], const char *zone);
enum { LT_INIT_AMOUNT_SIZE = 32, LT_INIT_RATE_SIZE = 64 };
/* So many dollars in the site's currency, "15000". Returns out. */
const char *lt_init_amount(char out[LT_INIT_AMOUNT_SIZE], int64_t usd_micros,
    const struct lt_init_site *site);
/* "; 100 USD at 157.5 JPY (2026-09-29)", "" in dollars. Returns out. */
const char *lt_init_rate(char out[LT_INIT_RATE_SIZE], int64_t usd_micros,
    const struct lt_init_site *site);

/* init_sources.c: the section of sources. Returns what `carbon:` of a
 * partition is to be, "[grid, profile]"; NULL = none is known. */
const char *lt_init_sources(FILE *out, const struct lt_init_site *site);

/* Is what the partition's machines cost listed without a key? */
bool lt_init_has_price(
    const json_t *partition, const struct lt_init_site *site);
/* Their sources; has_sources: that section is begun. */
void lt_init_prices(FILE *out, const json_t *facts,
    const struct lt_init_site *site, bool has_sources);
/* --price and --electricity name amounts, of partitions that there are. */
int lt_init_check_said(
    const json_t *facts, const struct lt_init_site *site, struct lt_error *err);
/* Does --price say what its nodes cost? */
bool lt_init_is_said(const json_t *partition, const struct lt_init_site *site);
/* Its price and how often it goes, or lines to fill in. */
void lt_init_price_of(
    FILE *out, const json_t *partition, const struct lt_init_site *site);

#endif
