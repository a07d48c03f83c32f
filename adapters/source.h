/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources, for the table of them, and the headers that each of them uses. Not for the daemon:
 * that is adapter.h.
 */
#ifndef LT_SOURCE_H
#define LT_SOURCE_H

#include "adapter.h"
#include "json.h"
#include "text_mend.h"

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
extern const struct lt_adapter lt_adapter_entsoe_price;
extern const struct lt_adapter lt_adapter_entsoe_day_ahead;
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
extern const struct lt_adapter lt_adapter_oci_price_list;
extern const struct lt_adapter lt_adapter_electricity_maps;
extern const struct lt_adapter lt_adapter_energy_charts;
extern const struct lt_adapter lt_adapter_energy_charts_price;
extern const struct lt_adapter lt_adapter_energy_charts_day_ahead;
extern const struct lt_adapter lt_adapter_open_meteo;

/* ---- for tests and fuzzers ---- */
/* carbon_aware.c: writes the message of an error body (RFC 7807, with the status that the SDK's
 * data source gave it), "" = none. */
void lt_carbon_error(char *out, size_t size, const char *body, size_t length);
/* electricity_maps.c: writes the words of a refusal, for lt_web_do(). */
void lt_em_error_text(char *out, size_t size, const char *body, size_t length);
/* watttime.c: parses an answer of /v3/forecast, /v3/forecast/historical or /v3/historical. The
 * option `region` must be the answer's; without it, any is right. */
lt_parse_fn lt_watttime_parse;
/* Reads a text of an answer of /login or /v3/region-from-loc. */
int lt_watttime_text(
    char *out, size_t size, const struct lt_answer *answer, const char *key, struct lt_error *err);
/* Writes the message of an error body, "" = none. */
void lt_watttime_error(char *out, size_t size, const char *body, size_t length);

#endif
