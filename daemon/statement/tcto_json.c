/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the figures of total cost to outcome from a report's groups, and makes their JSON. The
 * arithmetic is in policy/model/tcto.c. A sum that passes its range is LT_EOVERFLOW; a site without
 * money gets null.
 */
#include "tcto_json.h"

#include <stdio.h>
#include <string.h>

#include "api.h"
#include "posterior.h"
#include "units.h"

void
lt_tcto_site_of(struct lt_tcto_site *site, const struct lt_policy *policy)
{
	const struct lt_policy_tcto *const tcto = &policy->tcto;

	memset(site, 0, sizeof(*site));
	site->rates = (struct lt_tcto_rates){.energy_micros_per_kwh = tcto->energy_micros_per_kwh,
	    .storage_gb = tcto->storage_gb,
	    .storage_micros_per_gb_month = tcto->storage_micros_per_gb_month,
	    .engineer_micros_per_hour = tcto->engineer_micros_per_hour,
	    .engineer_hour_millionths = tcto->engineer_hour_millionths};
	for (int i = 0; i < policy->partition_count; i++)
		if (policy->partitions[i].owned)
			snprintf(site->owned[site->owned_count++], LT_NAME_SIZE, "%s",
			    policy->partitions[i].name);
}

static bool
is_owned(const struct lt_tcto_site *site, const char *partition)
{
	for (uint32_t i = 0; i < site->owned_count; i++)
		if (strcmp(site->owned[i], partition) == 0)
			return true;
	return false;
}

int
lt_tcto_add(struct lt_tcto_figures *figures, const struct lt_tcto_site *site,
    const struct lt_tcto_group *group, struct lt_error *err)
{
	const bool completed = strcmp(group->state, "COMPLETED") == 0;
	/* A job that changed its size still runs; adjustments are no runs. */
	const bool failed =
	    !completed && group->state[0] != '\0' && strcmp(group->state, "RESIZING") != 0;
	const struct {
		bool counts;
		int64_t *sum, value;
	} sums[] = {
	    {true, &figures->cost_micros, group->cost_micros},
	    {failed, &figures->failed_micros, group->cost_micros},
	    {is_owned(site, group->partition), &figures->owned_energy_wh, group->energy_wh},
	    {lt_is_interruption(group->state), &figures->interruptions, group->ended},
	    {completed, &figures->completed_runs, group->ended},
	    {true, &figures->gpu_s, group->gpu_s},
	};

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (sums[i].counts && !lt_add(sums[i].sum, sums[i].value))
			return lt_fail(err, LT_EOVERFLOW, "tcto: a sum passes its range");
	return LT_OK;
}

json_t *
lt_tcto_json(const struct lt_tcto_site *site, const struct lt_tcto_figures *figures,
    const char *currency, struct lt_error *err)
{
	struct lt_tcto tcto;

	if (currency[0] == '\0')
		return json_null();
	if (lt_tcto_of(&tcto, &site->rates, figures, err) != LT_OK)
		return NULL;
	json_t *const all = json_pack("{s:I,s:o,s:o,s:I,s:I,s:I,s:I}", "total_micros",
	    (json_int_t)tcto.total_micros, "per_gpu_hour_micros",
	    lt_api_optional(tcto.has_per_gpu_hour, tcto.per_gpu_hour_micros),
	    "per_completed_run_micros",
	    lt_api_optional(tcto.has_per_completed_run, tcto.per_completed_run_micros), "gpu_s",
	    (json_int_t)figures->gpu_s, "completed_runs", (json_int_t)figures->completed_runs,
	    "interruptions", (json_int_t)figures->interruptions, "owned_energy_wh",
	    (json_int_t)figures->owned_energy_wh);

	for (int i = 0; i < LT_TCTO_PARTS; i++) {
		char key[32];

		snprintf(key, sizeof(key), "%s_micros", lt_tcto_part_name((enum lt_tcto_part)i));
		json_object_set_new(all, key, lt_api_optional(tcto.has[i], tcto.micros[i]));
	}
	return all;
}
