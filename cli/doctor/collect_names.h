/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replacements for the names of a site: random ones of the same form (length, case, digits,
 * punctuation), the same one each time. The old name can't be derived from its replacement.
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
	LT_ALIAS_SEEN, /* not a name: a pair that was met */
};

struct lt_aliases;

/* NULL: no memory. */
struct lt_aliases *lt_aliases_open(void);
void lt_aliases_close(struct lt_aliases *aliases);

/* Returns the replacement, valid until lt_aliases_close(). Names that every Slurm has (root,
 * normal) stay, and GPU models that are features. */
const char *lt_alias(struct lt_aliases *aliases, enum lt_alias_kind kind, const char *name);
/* Returns the replacement of the kind's n-th name, in the order met; NULL: no more. */
const char *lt_alias_at(const struct lt_aliases *aliases, enum lt_alias_kind kind, size_t n);
/* True if the pair is met for the first time. */
bool lt_alias_is_new(struct lt_aliases *aliases, const char *first, const char *second);

/* Writes "gpu:a100:4" or "lscratch:200" with replacements; types of GPUs and usual names of GRES
 * stay. */
void lt_alias_gres(struct lt_aliases *aliases, FILE *out, const char *gres);
/* The same for "cpu", "gres/gpu:a100", "license/matlab". */
void lt_alias_tres(struct lt_aliases *aliases, FILE *out, const char *tres);

#endif
