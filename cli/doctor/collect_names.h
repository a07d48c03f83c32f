/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other names for those of a site: random ones of the same form (length, case,
 * digits, punctuation), the same one each time. What a name was can't be found
 * out from its other name.
 */
#ifndef LT_COLLECT_NAMES_H
#define LT_COLLECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum lt_alias_kind {
	LT_ALIAS_PARTITION = 1,
	LT_ALIAS_NODE,
	LT_ALIAS_ACCOUNT,
	LT_ALIAS_QOS,
	LT_ALIAS_GROUP,
	LT_ALIAS_FEATURE,
	LT_ALIAS_LICENSE,
	LT_ALIAS_GRES,
	LT_ALIAS_SEEN, /* no name: what was met */
};

struct lt_aliases;

/* NULL: no memory. */
struct lt_aliases *lt_aliases_open(void);
void lt_aliases_close(struct lt_aliases *aliases);

/* The other name, valid until it is closed; names that each Slurm has (root,
 * normal) stay, and those of GPUs as features. */
const char *lt_alias(
    struct lt_aliases *aliases, enum lt_alias_kind kind, const char *name);
/* The other name of the kind's n-th name, in the order met; NULL: no more. */
const char *lt_alias_at(
    const struct lt_aliases *aliases, enum lt_alias_kind kind, size_t n);
/* Is that pair met for the first time? */
bool lt_alias_is_new(
    struct lt_aliases *aliases, const char *first, const char *second);

/* "gpu:a100:4", "lscratch:200": types of GPUs and usual names of GRES stay. */
void lt_alias_gres(struct lt_aliases *aliases, FILE *out, const char *gres);
/* "cpu", "gres/gpu:a100", "license/matlab". */
void lt_alias_tres(struct lt_aliases *aliases, FILE *out, const char *tres);

#endif
