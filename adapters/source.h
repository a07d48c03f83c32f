/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What adapters share among themselves: the list of them, bounded JSON, and
 * small steps on options and points. Not for the daemon: that is adapter.h.
 */
#ifndef LT_SOURCE_H
#define LT_SOURCE_H

#include <jansson.h>

#include "adapter.h"

extern const struct lt_adapter lt_adapter_static;
extern const struct lt_adapter lt_adapter_file;
extern const struct lt_adapter lt_adapter_replay;
extern const struct lt_adapter lt_adapter_uk_carbon_intensity;
extern const struct lt_adapter lt_adapter_climatology;
extern const struct lt_adapter lt_adapter_aws_spot_price;
extern const struct lt_adapter lt_adapter_aws_spot_placement_score;
extern const struct lt_adapter lt_adapter_aws_spot_advisor;
extern const struct lt_adapter lt_adapter_eia;
extern const struct lt_adapter lt_adapter_entsoe;
extern const struct lt_adapter lt_adapter_time_of_use;
extern const struct lt_adapter lt_adapter_watttime;
extern const struct lt_adapter lt_adapter_carbon_aware_sdk;
extern const struct lt_adapter lt_adapter_carbon_aware_file;
extern const struct lt_adapter lt_adapter_cloud_region;
extern const struct lt_adapter lt_adapter_azure_retail_price;
extern const struct lt_adapter lt_adapter_azure_eviction_rate;
extern const struct lt_adapter lt_adapter_skypilot_catalog;
extern const struct lt_adapter lt_adapter_cudo_compute;
extern const struct lt_adapter lt_adapter_gcp_billing_sku;
extern const struct lt_adapter lt_adapter_electricity_maps;
extern const struct lt_adapter lt_adapter_energy_charts;
extern const struct lt_adapter lt_adapter_energy_charts_price;

/*
 * jansson needs up to 130 bytes for an empty container and 100 for a member:
 * with these bounds a hostile answer costs at most 60 MB, for a moment.
 */
enum {
	LT_JSON_BYTES_MAX = 8 * 1024 * 1024, /* more: refused */
	LT_JSON_DEPTH_MAX = 32,		     /* refused */
	LT_JSON_CONTAINERS_MAX = 131072,     /* 15 years of hours: refused */
	LT_JSON_COMMAS_MAX = 393216,	     /* refused */
};

/* On failure err says why, with line and column. A UTF-8 BOM is skipped. The
 * caller owns *json (json_decref), set on success only. Pure. */
int lt_json_load(
    json_t **json, const char *bytes, size_t byte_count, struct lt_error *err);

/* An adapter's parse: lt_json_load(), then read; words of an error mended. */
int lt_json_parse(
    int (*read)(const struct lt_source_options *options, const json_t *json,
	int64_t now_utc_s, struct lt_points *points, struct lt_error *err),
    const struct lt_source_options *options, const char *bytes,
    size_t byte_count, int64_t now_utc_s, struct lt_points *points,
    struct lt_error *err);

/* A number, or a text that is one. False for all else, null too. */
bool lt_json_number(const json_t *json, double *value);

/* Set where in the input a failure is, unless it is already set. */
void lt_error_at(struct lt_error *err, int line, int column);
/* The same, to where an option stands in the policy file. */
void lt_option_at(const struct lt_source_options *options, const char *key,
    struct lt_error *err);
/* LT_EINPUT at the place of an option in the policy file. */
int lt_option_fail(const struct lt_source_options *options, const char *key,
    struct lt_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Texts with words from outside go to logs, terminals and JSON: a byte that
 * is a control or no UTF-8 (a character cut in two, too) becomes '?'. */
void lt_text_mend(char *text);
/* The same of an error's text, NULL allowed. Returns code. */
int lt_error_mend(struct lt_error *err, int code);
/* What ended with code hands its own error on, as lt_fail() does: without its
 * place. Returns code. */
int lt_error_give(struct lt_error *err, int code, const struct lt_error *inner);

/* A value as people write it (money in units of its currency) in the unit of
 * points: whole micros for money. */
double lt_quantity_from(enum lt_quantity quantity, double written);

/* The option `currency` of a source, "" = the site's own: as an adapter's
 * currency(), and checked (three capitals; only of money) into points. */
const char *lt_currency_of_option(const struct lt_source_options *options);
int lt_currency_option(struct lt_points *points,
    const struct lt_source_options *options, struct lt_error *err);

/* Append the points of all that overlap [from, to). */
int lt_points_copy(struct lt_points *points, const struct lt_points *all,
    int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err);
/* Data that covers now is as good as new; data that ended before now is as
 * old as its end. Sets issued_utc_s. */
void lt_points_date(struct lt_points *points, int64_t now_utc_s);

#endif
