/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts and their users, read by a child: each user is a question to the
 * system's directory, which may be slow.
 */
#ifndef LT_ASSOCIATIONS_CHILD_H
#define LT_ASSOCIATIONS_CHILD_H

#include "batch.h"

enum { LT_ASSOCIATIONS_S = 600 };

/* lt_batch_associations(), with turns for others meanwhile; LT_ENET when it
 * takes longer than LT_ASSOCIATIONS_S. */
int lt_child_associations(
    struct lt_batch_associations *all, struct lt_error *err);

#endif
