/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last known accounts and their users, kept for a start while slurmdbd is
 * away: without them every budgeted user would be unknown.
 */
#ifndef LT_ASSOCIATIONS_H
#define LT_ASSOCIATIONS_H

#include "tables.h"

/* <state>/associations, rewritten only when it would change. */
int lt_associations_save(
    const struct lt_tables *tables, const char *state, struct lt_error *err);
/* Accounts, pairs and managers, whole or not at all. */
int lt_associations_load(
    struct lt_tables *tables, const char *state, struct lt_error *err);

#endif
