/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs of slurmctld against the ledger's holds.
 */
#ifndef LT_RECONCILE_H
#define LT_RECONCILE_H

#include <stdint.h>

struct lt_daemon;
struct lt_error;

enum {
	LT_JOBS_EVERY_S = 2,	/* poll of slurmctld while jobs live */
	LT_LOCKS_A_PASS = 1000, /* 1 to 2 ms each; the rest in the next */
};

int lt_reconcile(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
