/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger's accounts: as they last were, and where they stood before.
 */
#ifndef LT_LEDGER_ACCOUNTS_H
#define LT_LEDGER_ACCOUNTS_H

#include "ledger.h"

/* Remember an account's parent ("" = none); the last one counts from now on, the one before for
 * what was booked until now. */
int lt_ledger_put_account(struct lt_ledger *ledger, const char *name, const char *parent,
    int64_t now_utc_s, struct lt_error *err);
struct lt_account_seen {
	char name[LT_ACCOUNT_SIZE], parent[LT_ACCOUNT_SIZE];
	bool charged;	 /* it has entries */
	bool was_parent; /* of an account that was moved */
};
int lt_ledger_accounts(struct lt_ledger *ledger, struct lt_account_seen **seen, uint32_t *count,
    struct lt_error *err); /* by name; malloc'd */
struct lt_account_moves {  /* by name and time */
	struct lt_account_move {
		char name[LT_ACCOUNT_SIZE], parent[LT_ACCOUNT_SIZE];
		int64_t until_utc_s;
	} * list;
	uint32_t count;
};
int lt_ledger_account_moves(
    struct lt_ledger *ledger, struct lt_account_moves *moves, struct lt_error *err); /* malloc'd */
/* The account above it at that time; NULL: the one that is above it now. */
const char *lt_account_parent_then(
    const struct lt_account_moves *moves, const char *name, int64_t at_utc_s);

#endif
