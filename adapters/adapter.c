/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of sources.
 */
#include <string.h>

#include "source.h"

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
    &lt_adapter_energi_data_service,
    &lt_adapter_energi_data_service_price,
    &lt_adapter_rte_eco2mix,
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
