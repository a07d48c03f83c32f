/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether the signals of a policy and the kinds of its sources agree. For `lowtide check`
 * and lowtided alike, when every source's options are right.
 */
#ifndef LT_SIGNALS_CHECK_H
#define LT_SIGNALS_CHECK_H

#include "policy.h"

/* The kind of one source's values. In words: adapters are beyond this layer. */
struct lt_source_kind {
	const char *quantity; /* lt_quantity_name(): "carbon" */
	const char *title;    /* lt_quantity_title(): "carbon intensity" */
	const char *basis;    /* lt_basis_name(): "direct"; "" = not said */
	bool basis_is_option; /* emission_factors: may be another */
	const char *currency; /* of its money; "" = the site's, or no money */
};

/*
 * Append what is wrong, each "FILE:LINE:COL: carbon: ...": a source of another kind than its key
 * wants, average beside marginal intensity, life-cycle beside direct emissions, money that has no
 * rate. kinds: one per source of the policy, in its order.
 */
void lt_policy_check_signals(const struct lt_policy *policy, const struct lt_source_kind *kinds,
    struct lt_policy_errors *errors);

#endif
