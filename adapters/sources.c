/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of sources: those with a file of their own, by name, and before it those that are a
 * row. docs/sources/ has a page about each.
 */
#include <string.h>

#include "json_source.h"
#include "source.h"
#include "prices.h"
#include "units.h"

#define EDS_URL "https://api.energidataservice.dk"

/* ---- sources that are a row of json_source.h ---- */

static const struct lt_adapter_option eds_options[] = {
    {"area", true, "DK1 (west) or DK2 (east)", NULL},
    {"url", false, "base URL of a mirror", EDS_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const struct lt_option_choice eds_choices[] = {
    {"area", {"DK1", "DK2"}, "DK1 (west) or DK2 (east)"},
    {NULL, {NULL}, NULL},
};

/*
 * Carbon intensity of electricity consumed in Denmark by Energi Data Service (Energinet), measured
 * and ahead. Missing: null, or no record. A 0 is taken for missing, too: Denmark burns something in
 * every hour, and no recorded answer has one.
 *
 * It takes start and end as Danish time, which is up to two hours ahead: what was meant as UTC
 * begins early, and must end later; more than asked for is dropped. One request a minute, dataset
 * and address; no limit but the times.
 */
static const struct lt_adapter energi_data_service = {
    .name = "energi_data_service",
    .usage = "carbon intensity of Denmark, by Energi Data Service; no key",
    .options = eds_options,
    .choices = eds_choices,
    .interval_s = LT_HOUR_S / 2,
    .basis = LT_BASIS_DIRECT,
    .version = "CO2Emis, CO2EmisProg; 125 % method for heat",
    .gives = LT_QUANTITY_CARBON,
    .json =
	&(const struct lt_json_source){
	    .ahead = {.path = "dataset/CO2EmisProg",
		.query = {{"start", "<start-minute>"}, {"filter", "{\"PriceArea\":[\"<area>\"]}"},
		    {"columns", "Minutes5UTC,PriceArea,CO2Emission"}, {"limit", "0"}},
		.dataset = "CO2EmisProg",
		.kind = LT_JSON_OUTLOOK},
	    .past = {.path = "dataset/CO2Emis",
		.query = {{"start", "<start-minute>"}, {"end", "<end-minute>"},
		    {"filter", "{\"PriceArea\":[\"<area>\"]}"},
		    {"columns", "Minutes5UTC,PriceArea,CO2Emission"}, {"limit", "0"}},
		.dataset = "CO2Emis",
		.kind = LT_JSON_MEASURED},
	    .margin_s = 3 * LT_HOUR_S,
	    .pause_s = 60,
	    .rows = {.list = "records",
		.row = "record",
		.gaps = "records",
		.is_zoneless = true,
		.place = "PriceArea",
		.place_option = "area",
		.time = "Minutes5UTC",
		.value = "CO2Emission",
		.step_s = 300},
	},
};

static const struct lt_adapter_option eds_price_options[] = {
    {"area", true, "DK1 (west) or DK2 (east)", NULL},
    {"currency", false, "EUR or DKK", "EUR"},
    LT_TARIFF_TERMS_OPTIONS,
    {"url", false, "base URL of a mirror", EDS_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const struct lt_option_choice eds_price_choices[] = {
    {"area", {"DK1", "DK2"}, "DK1 (west) or DK2 (east)"},
    {"currency", {"EUR", "DKK"}, "EUR or DKK"},
    {NULL, {NULL}, NULL},
};

static const char *
eds_currency(const struct lt_source_options *options)
{
	return lt_source_option(options, "currency", "EUR");
}

/*
 * Day-ahead prices of Denmark's two bidding zones by Energi Data Service, as a tariff; with
 * yesterday, so that there are prices before today's are. Missing: null, or no record. 0 and less
 * are prices. Quarter hours since October 2025; hours before that are three quarters short.
 */
static const struct lt_adapter energi_data_service_price = {
    .name = "energi_data_service_price",
    .usage = "day-ahead price of DK1 or DK2, by Energi Data Service; no key",
    .options = eds_price_options,
    .choices = eds_price_choices,
    .interval_s = LT_HOUR_S,
    .gives = LT_QUANTITY_TARIFF,
    .currency = eds_currency,
    .json =
	&(const struct lt_json_source){
	    .ahead = {.path = "dataset/DayAheadPrices",
		.query = {{"start", "<start-minute>"}, {"filter", "{\"PriceArea\":[\"<area>\"]}"},
		    {"columns", "TimeUTC,PriceArea,DayAheadPrice<currency>"}, {"limit", "0"}},
		.dataset = "DayAheadPrices",
		.kind = LT_JSON_MEASURED},
	    .reach_s = 2 * LT_DAY_S,
	    .pause_s = 60,
	    .rows = {.list = "records",
		.row = "record",
		.gaps = "records",
		.is_zoneless = true,
		.place = "PriceArea",
		.place_option = "area",
		.time = "TimeUTC",
		.value = "DayAheadPrice<currency>",
		.step_s = 900,
		.is_price = true},
	},
};

static const struct lt_adapter_option rte_options[] = {
    {"url", false, "base URL of a mirror", "https://odre.opendatasoft.com"},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

/*
 * Carbon intensity of France by RTE's eCO2mix, from the open data platform ODRE, by quarter hour.
 * An export is a list of rows; a page of records has one. Missing: null, as of every quarter hour
 * to come. A 0 is taken for missing, too: it has been seen in place of null, and France burns
 * something always.
 */
static const struct lt_adapter rte_eco2mix = {
    .name = "rte_eco2mix",
    .usage = "carbon intensity of France, by RTE's eCO2mix; no key",
    .options = rte_options,
    .interval_s = LT_HOUR_S / 2,
    .fresh_s = 2 * LT_HOUR_S,
    .basis = LT_BASIS_DIRECT,
    .version = "eco2mix-national-tr, taux_co2; imports not counted",
    .gives = LT_QUANTITY_CARBON,
    .json =
	&(const struct lt_json_source){
	    .all = {.path = "api/explore/v2.1/catalog/datasets/"
			    "eco2mix-national-tr/exports/json",
		.query = {{"select", "date_heure,taux_co2"},
		    {"where", "date_heure IN [date'<start>+00:00' TO date'<end>+00:00'["},
		    {"order_by", "date_heure asc"}, {"timezone", "UTC"}},
		.kind = LT_JSON_ESTIMATES},
	    .reach_s = LT_DAY_S, /* more than one late hour */
	    .error_text = lt_json_error_text,
	    .rows = {.list = "results",
		.may_be_bare = true,
		.row = "row",
		.gaps = "quarter hours",
		.time = "date_heure",
		.value = "taux_co2",
		.step_s = 900,
		.ends_in_nulls = true},
	},
};

/* ---- the table ---- */

static const struct lt_adapter *const adapters[] = {
    &lt_adapter_static,
    &lt_adapter_file,
    &lt_adapter_replay,
    &lt_adapter_uk_carbon_intensity,
    &lt_adapter_climatology,
    &lt_adapter_aws_spot_price,
    &lt_adapter_aws_spot_placement_score,
    &lt_adapter_aws_spot_advisor,
    &lt_adapter_eia,
    &lt_adapter_entsoe,
    &lt_adapter_entsoe_price,
    &lt_adapter_time_of_use,
    &lt_adapter_watttime,
    &lt_adapter_carbon_aware_sdk,
    &lt_adapter_carbon_aware_file,
    &lt_adapter_cloud_region,
    &lt_adapter_azure_retail_price,
    &lt_adapter_azure_eviction_rate,
    &lt_adapter_skypilot_catalog,
    &lt_adapter_cudo_compute,
    &lt_adapter_gcp_billing_sku,
    &lt_adapter_oci_price_list,
    &lt_adapter_electricity_maps,
    &lt_adapter_energy_charts,
    &lt_adapter_energy_charts_price,
    &energi_data_service,
    &energi_data_service_price,
    &rte_eco2mix,
    &lt_adapter_open_meteo,
    &lt_adapter_energy_charts_day_ahead,
    &lt_adapter_entsoe_day_ahead,
};

enum { ADAPTER_COUNT = sizeof(adapters) / sizeof(adapters[0]) };

const struct lt_adapter *
lt_adapter_find(const char *name)
{
	for (int i = 0; i < ADAPTER_COUNT; i++)
		if (strcmp(adapters[i]->name, name) == 0)
			return adapters[i];
	return NULL;
}

const char *const *
lt_adapter_names(void)
{
	static const char *names[ADAPTER_COUNT + 1];

	for (int i = 0; i < ADAPTER_COUNT; i++)
		names[i] = adapters[i]->name;
	return names;
}
