/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every source on the web, a row each: options that its check takes, and for one that is a row of
 * sources.c, a recorded answer and what is in it. Read by the tests of faults and of recorded
 * answers, and by the fuzzer of JSON.
 */
#ifndef LT_TEST_SOURCE_ROWS_H
#define LT_TEST_SOURCE_ROWS_H

#include <string.h>

#include "source.h"
#include "source_options.h"

enum format { JSON, XML, CSV, FORMATS };

#define URL "%URL%" /* of the server */

struct recorded {	   /* the points that the answer gives, one after the other */
	const char *file;  /* of tests/fixtures */
	int64_t now_utc_s; /* when it was asked */
	size_t count;
	int64_t start_utc_s, step_s;
	double first, last, sum; /* by hand, or by awk */
	double middle;		 /* 0 = any */
	enum lt_quality quality;
	enum lt_basis basis;
	const char *currency; /* NULL = no money */
	const char *note;     /* NULL = none */
};

/* Of several rows of one adapter the first stands for it among the faults. */
static const struct source_row {
	const char *adapter;
	enum format format;
	struct pair pairs[10];
	struct recorded recorded;
} sources[] = {
    {.adapter = "uk_carbon_intensity", .format = JSON, .pairs = {{"url", URL}, {"region", "13"}}},
    {.adapter = "energy_charts", .format = JSON, .pairs = {{"url", URL}, {"country", "de"}}},
    {.adapter = "energy_charts_price",
	.format = JSON,
	.pairs = {{"url", URL}, {"bidding_zone", "DE-LU"}}},
    {.adapter = "electricity_maps",
	.format = JSON,
	.pairs = {{"url", URL}, {"zone", "DE"}, {"key_env", "LT_TEST_SECRET"}}},
    {.adapter = "watttime",
	.format = JSON,
	.pairs = {{"url", URL}, {"region", "CAISO_NORTH"}, {"username", "u"},
	    {"password_env", "LT_TEST_SECRET"}}},
    {.adapter = "eia",
	.format = JSON,
	.pairs = {{"url", URL}, {"respondent", "CISO"}, {"key_env", "LT_TEST_SECRET"}}},
    {.adapter = "entsoe",
	.format = XML,
	.pairs = {{"url", URL}, {"area", "DE"}, {"token_env", "LT_TEST_SECRET"}}},
    {.adapter = "entsoe_price",
	.format = XML,
	.pairs = {{"url", URL}, {"area", "DE-LU"}, {"token_env", "LT_TEST_SECRET"}}},
    {.adapter = "energy_charts_day_ahead",
	.format = JSON,
	.pairs = {{"url", URL}, {"country", "de"}, {"series", "load"}}},
    {.adapter = "entsoe_day_ahead",
	.format = XML,
	.pairs = {{"url", URL}, {"area", "DE"}, {"series", "wind"},
	    {"token_env", "LT_TEST_SECRET"}}},
    {.adapter = "carbon_aware_sdk",
	.format = JSON,
	.pairs = {{"url", URL}, {"location", "westeurope"}}},
    {.adapter = "aws_spot_price",
	.format = XML,
	.pairs = {{"url", URL}, {"region", "eu-west-2"}, {"zone_id", "euw2-az1"},
	    {"instance_type", "p4d.24xlarge"}}},
    {.adapter = "aws_spot_placement_score",
	.format = XML,
	.pairs = {{"url", URL}, {"region", "eu-west-2"},
	    {"instance_types", "p4d.24xlarge,p3.2xlarge,g5.xlarge"}}},
    {.adapter = "aws_spot_advisor",
	.format = JSON,
	.pairs = {{"url", URL}, {"region", "eu-west-2"}, {"instance_type", "p3.2xlarge"}}},
    {.adapter = "skypilot_catalog",
	.format = CSV,
	.pairs = {{"url", URL}, {"cloud", "aws"}, {"region", "eu-west-2"},
	    {"instance_type", "p3.2xlarge"}}},
    {.adapter = "gcp_billing_sku",
	.format = JSON,
	.pairs = {{"url", URL}, {"region", "us-central1"}, {"cpu_family", "N1"}, {"vcpus", "8"},
	    {"memory_gib", "30"}, {"key_env", "LT_TEST_SECRET"}}},
    {.adapter = "open_meteo",
	.format = JSON,
	.pairs = {{"url", URL}, {"places", "52.5,13.4; 56.3,10"}, {"variable", "temperature_2m"},
	    {"key_env", "LT_TEST_SECRET"}}},
    {.adapter = "azure_retail_price",
	.format = JSON,
	.pairs = {{"url", URL}, {"region", "eastus"}, {"sku", "Standard_NC4as_T4_v3"}}},
    {.adapter = "azure_eviction_rate",
	.format = JSON,
	.pairs = {{"url", URL}, {"login_url", URL}, {"region", "eastus"},
	    {"sku", "Standard_NC4as_T4_v3"}, {"tenant_id", "t"}, {"client_id", "c"},
	    {"secret_env", "LT_TEST_SECRET"}}},
    /* ---- rows of sources.c, and others that json_source.c asks ---- */
    {.adapter = "energi_data_service",
	.format = JSON,
	.pairs = {{"url", URL}, {"area", "DK1"}},
	.recorded = {.file = "energi_data_service/co2emis.json",
	    .now_utc_s = 1771391100,
	    .count = 12,
	    .start_utc_s = 1771387200, /* 2026-02-18T04:00Z */
	    .step_s = 300,
	    .first = 260,
	    .last = 220,
	    .sum = 2877,
	    .note = "12 of 24 records refused: PriceArea: got \"DK2\", want DK1",
	    .quality = LT_QUALITY_MEASURED,
	    .basis = LT_BASIS_DIRECT}},
    {.adapter = "energi_data_service",
	.format = JSON,
	.pairs = {{"url", URL}, {"area", "DK2"}},
	.recorded = {.file = "energi_data_service/co2emis.json",
	    .now_utc_s = 1771391100,
	    .count = 12,
	    .start_utc_s = 1771387200,
	    .step_s = 300,
	    .first = 56,
	    .last = 43,
	    .sum = 858,
	    .note = "12 of 24 records refused: PriceArea: got \"DK1\", want DK2",
	    .quality = LT_QUALITY_MEASURED,
	    .basis = LT_BASIS_DIRECT}},
    /* 99.269997 EUR and 740.951258 DKK per MWh. */
    {.adapter = "energi_data_service_price",
	.format = JSON,
	.pairs = {{"url", URL}, {"area", "DK2"}},
	.recorded = {.file = "energi_data_service_price/day_ahead_dk2.json",
	    .now_utc_s = 1759003200,
	    .count = 1,
	    .start_utc_s = 1759006800, /* 2025-09-27T21:00Z */
	    .step_s = 900,
	    .first = 99270,
	    .last = 99270,
	    .sum = 99270,
	    .quality = LT_QUALITY_FORECAST,
	    .currency = "EUR"}},
    {.adapter = "energi_data_service_price",
	.format = JSON,
	.pairs = {{"url", URL}, {"area", "DK2"}, {"currency", "DKK"}},
	.recorded = {.file = "energi_data_service_price/day_ahead_dk2.json",
	    .now_utc_s = 1759003200,
	    .count = 1,
	    .start_utc_s = 1759006800,
	    .step_s = 900,
	    .first = 740951,
	    .last = 740951,
	    .sum = 740951,
	    .quality = LT_QUALITY_FORECAST,
	    .currency = "DKK"}},
    /* (0.740951258 + 0.9) * 1.25 = 2.0511890725 */
    {.adapter = "energi_data_service_price",
	.format = JSON,
	.pairs = {{"url", URL}, {"area", "DK2"}, {"currency", "DKK"}, {"add_per_kwh", "0.9"},
	    {"multiply", "1.25"}},
	.recorded = {.file = "energi_data_service_price/day_ahead_dk2.json",
	    .now_utc_s = 1759003200,
	    .count = 1,
	    .start_utc_s = 1759006800,
	    .step_s = 900,
	    .first = 2051189,
	    .last = 2051189,
	    .sum = 2051189,
	    .quality = LT_QUALITY_FORECAST,
	    .currency = "DKK"}},
    {.adapter = "energi_data_service_price",
	.format = JSON,
	.pairs = {{"url", URL}, {"area", "DK1"}, {"currency", "DKK"}, {"add_per_kwh", "0.9"},
	    {"multiply", "1.25"}}},
    /* 3 July 2024, with the first quarter hour of the next day. */
    {.adapter = "rte_eco2mix",
	.format = JSON,
	.pairs = {{"url", URL}},
	.recorded = {.file = "rte_eco2mix/export.json",
	    .now_utc_s = 1720058400,
	    .count = 97,
	    .start_utc_s = 1719964800, /* 2024-07-03T00:00Z */
	    .step_s = 900,
	    .first = 13,
	    .last = 14,
	    .sum = 1177,
	    .middle = 11, /* at noon */
	    .quality = LT_QUALITY_ESTIMATED,
	    .basis = LT_BASIS_DIRECT}},
    {.adapter = "cudo_compute",
	.format = JSON,
	.pairs = {{"url", URL}, {"data_center", "no-luster-1"}, {"machine_type", "standard"},
	    {"vcpus", "8"}, {"memory_gib", "32"}, {"key_env", "LT_TEST_SECRET"}},
	.recorded = {.file = "cudo_compute/machine_types_SYNTHETIC.json",
	    .now_utc_s = 1795237800, /* 2026-11-21T05:10Z */
	    .count = 1,
	    .start_utc_s = 1795237200,
	    .step_s = 12 * 3600,
	    .first = 132800,
	    .last = 132800,
	    .sum = 132800,
	    .quality = LT_QUALITY_MEASURED,
	    .currency = "USD"}},
    {.adapter = "cudo_compute",
	.format = JSON,
	.pairs = {{"url", URL}, {"data_center", "d"}, {"machine_type", "m"}, {"vcpus", "8"},
	    {"memory_gib", "32"}, {"gpus", "1"}}},
    {.adapter = "oci_price_list",
	.format = JSON,
	.pairs = {{"url", URL}, {"gpu_part", "B98415"}, {"gpus", "8"}},
	.recorded = {.file = "oci_price_list/products.json",
	    .now_utc_s = 1795237800,
	    .count = 1,
	    .start_utc_s = 1795237200,
	    .step_s = 12 * 3600,
	    .first = 80e6,
	    .last = 80e6,
	    .sum = 80e6,
	    .quality = LT_QUALITY_MEASURED,
	    .currency = "USD"}},
    {.adapter = "oci_price_list",
	.format = JSON,
	.pairs = {{"url", URL}, {"ocpu_part", "B1"}, {"ocpus", "8"}, {"memory_part", "B2"},
	    {"memory_gb", "32"}, {"gpu_part", "B3"}, {"gpus", "1"}}},
};

/* The address of the server, wherever the row has URL. */
static inline void
put_url(struct lt_source_options *options, const char *url)
{
	for (int i = 0; i < options->count; i++)
		if (strcmp(options->items[i].value, URL) == 0)
			options->items[i].value = url;
}

#endif
