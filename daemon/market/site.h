/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The site as lowtided knows it: the policy in force, Slurm's tables, and the market that is made
 * of both and of signals. Rooms from here on read it; this room alone writes it.
 */
#ifndef LT_SITE_H
#define LT_SITE_H

#include "bars.h"
#include "calendar.h"
#include "market.h"
#include "nodes_there.h"
#include "off.h"
#include "policy.h"
#include "rates.h"
#include "tables.h"

struct lt_site { /* start as { 0 } */
	struct lt_policy *policy;
	int64_t policy_loaded_utc_s;
	struct lt_off off;
	struct lt_offsets offsets; /* the site's zone; with the policy */
	struct lt_tables tables;
	struct lt_market market;
	bool has_market;
	struct lt_rates_state rates;
	struct lt_there *there; /* nodes_there.c: what was seen of nodes */
	struct lt_bars_state bars;
	struct {
		int64_t tables, market; /* when each is due; 0 = at once */
	} next;
};

/* May lowtided act so: by the policy's mode, and while it is not switched off? What plugins read
 * keeps the mode: they have the switch themselves. */
static inline bool
lt_site_may(const struct lt_site *site, enum lt_may what)
{
	return !site->off.is_off && lt_mode_may(site->policy->mode, what);
}

#endif
