/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts and their users, read by a child: each user is a look-up in the system's directory,
 * which may be slow. The last answer is kept in a file for a start while slurmdbd is away: without
 * it every budgeted user would be unknown.
 */
#ifndef LT_ASSOCIATIONS_H
#define LT_ASSOCIATIONS_H

#include "batch.h"
#include "tables.h"

enum {
	LT_ASSOCIATIONS_S = 600,
	LT_BIRTHS_S = 120, /* slurmdbd's own limit is MessageTimeout + 35 */
};

/* lt_batch_associations(), with turns for others meanwhile; LT_ENET when it takes longer than
 * LT_ASSOCIATIONS_S. */
int lt_child_associations(struct lt_batch_associations *all, struct lt_error *err);
/* Asks lt_batch_births() in the same way; LT_ENET after LT_BIRTHS_S. The accounts are as they were
 * on failure. */
int lt_child_births(
    struct lt_batch_account *accounts, uint32_t count, int64_t since_utc_s, struct lt_error *err);

/* <state>/associations, rewritten only when it would change. */
int lt_associations_save(const struct lt_tables *tables, const char *state, struct lt_error *err);
/* Accounts, pairs and managers, whole or not at all. */
int lt_associations_load(struct lt_tables *tables, const char *state, struct lt_error *err);

#endif
