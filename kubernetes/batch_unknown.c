/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why nobody knows what a Job may take of a budget, for its plan.
 */
#include <stdio.h>
#include <string.h>

#include "site.h"

static bool
is_named(const char *pool)
{
	const struct lt_kube_site *const site = &lt_kube_site;

	for (uint32_t i = 0; i < site->pool_count; i++)
		if (strcmp(site->pools[i], pool) == 0)
			return site->is_managed[i];
	return false;
}

/* The first pool among those where it may run that has no price in the policy,
 * or no node; false: there is none. */
static bool
say_pool(char *out, size_t size, const char *places)
{
	char pool[LT_NAME_SIZE];

	for (const char *at = places; *at != '\0';) {
		const size_t length = strcspn(at, ",");

		snprintf(pool, sizeof(pool), "%.*s", (int)length, at);
		at += length + (at[length] == ',');
		if (is_named(pool) &&
		    lt_kube_cluster_has(&lt_kube_site.cluster, pool))
			continue;
		snprintf(out, size,
		    is_named(pool) ? "as no node of pool %s is known,"
				   : "as pool %s has no price in the policy,",
		    pool);
		return true;
	}
	return false;
}

void
lt_kube_say_unknown(char *out, size_t size, const struct lt_kube_known_job *job,
    const struct lt_amount *known)
{
	char places[LT_BATCH_PARTITIONS_SIZE];

	lt_kube_places(places, sizeof(places), job);
	if (job->facts.is_unsized)
		snprintf(out, size,
		    "without the right to list LimitRanges and RuntimeClasses");
	else if (lt_kube_limit_s(job, places, 0) == 0)
		snprintf(out, size, "without activeDeadlineSeconds");
	else if (say_pool(out, size, places) || known == NULL)
		return;
	else if (!known->has_money)
		snprintf(out, size, "as no price of %.80s is known,", places);
	else if (!known->has_carbon)
		snprintf(
		    out, size, "as the CO2e of %.80s is not known,", places);
	else
		snprintf(out, size, "as not all sums are known,");
}
