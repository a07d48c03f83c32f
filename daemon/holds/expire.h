/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of holds that no job, row or queue knows, without a charge.
 */
#ifndef LT_EXPIRE_H
#define LT_EXPIRE_H

#include "budget_state.h"
#include "ledger.h"

struct lt_settler;

enum { /* from when the hold was ingested until a list that lacks its job proves
	* something; see expire.c */
	LT_VOID_AFTER_S = 60,
	LT_VOID_UNSEEN_S = 2, /* no job was ever seen with it: more than that */
};

/* For a job without a second in slurmdbd: cancelled while it waited, or done at once. */
#define LT_VOID_UNUSED "it used nothing: cancelled, or over at once"

/* The hold ends: why is logged and shown. */
int lt_expire_hold(struct lt_budget_state *budget, struct lt_ledger *ledger,
    const struct lt_ledger_hold *hold, const char *why, struct lt_error *err);
int lt_expire(const struct lt_settler *by, struct lt_error *err);

#endif
