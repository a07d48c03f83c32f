/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Total cost to outcome of a period, computed from a report's groups by partition and state, for
 * GET /v1/report?tcto=1.
 */
#ifndef LT_TCTO_JSON_H
#define LT_TCTO_JSON_H

#include <jansson.h>

#include "policy.h"
#include "tcto.h"

/* The policy's part, copied from the state of the loop for a report's thread. */
struct lt_tcto_site {
	struct lt_tcto_rates rates;
	uint32_t owned_count;
	char owned[LT_PARTITIONS_MAX][LT_NAME_SIZE]; /* partitions */
};
void lt_tcto_site_of(struct lt_tcto_site *site, const struct lt_policy *policy);

/* One group of a period by partition and state ("" and "" of adjustments). */
struct lt_tcto_group {
	const char *partition, *state;
	int64_t ended, cost_micros, energy_wh, gpu_s;
};
/* Adds it to the figures, which start as { 0 }. LT_EOVERFLOW: nothing is promised of them then. */
int lt_tcto_add(struct lt_tcto_figures *figures, const struct lt_tcto_site *site,
    const struct lt_tcto_group *group, struct lt_error *err);

/*
 * {compute_micros, energy_micros, storage_micros, engineer_micros, failed_micros (null: no rate),
 * total_micros, per_gpu_hour_micros, per_completed_run_micros (null: none ran), gpu_s,
 * completed_runs, interruptions, owned_energy_wh}; null at a site without money. NULL where a sum
 * passes int64_t; the caller's.
 */
json_t *lt_tcto_json(const struct lt_tcto_site *site, const struct lt_tcto_figures *figures,
    const char *currency, struct lt_error *err);

#endif
