/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds names in a policy that the batch system does not have: a misspelt name there is a rule for
 * nobody, and nothing else reports it.
 */
#ifndef LT_KNOWN_NAMES_H
#define LT_KNOWN_NAMES_H

#include "policy.h"

struct lt_known_names { /* lent; each ended by NULL; NULL = not known */
	const char *const *partitions;
	const char *const *accounts;
	const char *const *qoses;
};
struct lt_unknown_name {
	/* FILE:12:3: partitions: partition "spott": the cluster has none of that name; did you mean
	 * spot? */
	char text[768];
	const char *key;     /* as it is written before it: "team", "qos"; "":
			      * the name is a key itself */
	const char *name;    /* lent, as the next */
	const char *nearest; /* NULL: none is near */
	int line;	     /* 0: not known */
	bool is_limit;	     /* a budget, which then limits nobody */
};
struct lt_unknown_teller {
	void *context;
	void (*tell)(void *context, const struct lt_unknown_name *unknown);
};

/* Calls back for each; returns how many. */
int lt_policy_unknown_names(const struct lt_policy *policy, const struct lt_known_names *known,
    const struct lt_unknown_teller *teller);

#endif
