/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often nodes of a partition are taken away: what is published or written,
 * and what the cluster itself went through. docs/model.md, eq. (35).
 */
#include "daemon.h"

/* A published rate counts as much as so many interruptions seen here: enough
 * that one bad day does not double it, little enough to be outweighed within
 * weeks, for it may be wrong by a factor of 30. */
static const double prior_interruptions = 2;

/* Gamma prior (shape a, rate a / published), Poisson interruptions: the mean
 * of the posterior. */
static void
update(struct lt_hazard *hazard)
{
	const double prior_hours =
	    hazard->published > 0 ? prior_interruptions / hazard->published : 0;
	const double shape = hazard->published > 0 ? prior_interruptions : 0;
	const double hours = prior_hours + hazard->node_hours;
	if (hours <= 0)
		return;
	hazard->value = (shape + hazard->interruptions) / hours;
	hazard->own_share = hazard->node_hours / hours;
}

struct lt_hazard
lt_hazard_of(struct lt_daemon *d, const struct lt_policy_partition *partition,
    int64_t now_utc_s)
{
	const struct lt_policy_signal *const signal = &partition->hazard;
	struct lt_hazard hazard = {
	    .known = signal->is_constant, .published = signal->constant};
	if (!partition->preemptible)
		return (struct lt_hazard){0};
	if (!signal->is_constant) {
		hazard.source = lt_signal_source(d, signal, now_utc_s);
		hazard.known = hazard.source != NULL;
		if (hazard.known)
			hazard.published =
			    lt_source_value(hazard.source, now_utc_s);
	}
	hazard.value = hazard.published;
	hazard.counts_own = partition->own_history == LT_OWN_DEFAULT
				? !signal->is_constant
				: partition->own_history == 1;
	if (hazard.known && hazard.counts_own &&
	    lt_ledger_exposure(d->ledger, partition->name,
		now_utc_s - (int64_t)LT_OWN_DAYS * LT_DAY_S, now_utc_s,
		&hazard.node_hours, &hazard.interruptions, NULL) == LT_OK)
		update(&hazard);
	return hazard;
}
