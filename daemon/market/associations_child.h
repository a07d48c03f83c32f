/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts and their users, read by a child: each user is a question to the
 * system's directory, which may be slow; and where accounts were made.
 */
#ifndef LT_ASSOCIATIONS_CHILD_H
#define LT_ASSOCIATIONS_CHILD_H

#include "batch.h"

enum {
	LT_ASSOCIATIONS_S = 600,
	LT_BIRTHS_S = 120, /* slurmdbd's own limit is MessageTimeout + 35 */
};

/* lt_batch_associations(), with turns for others meanwhile; LT_ENET when it
 * takes longer than LT_ASSOCIATIONS_S. */
int lt_child_associations(
    struct lt_batch_associations *all, struct lt_error *err);
/* lt_batch_births(), in the same way; LT_ENET after LT_BIRTHS_S. The accounts
 * are as they were on failure. */
int lt_child_births(struct lt_batch_account *accounts, uint32_t count,
    int64_t since_utc_s, struct lt_error *err);

#endif
