/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger is made again from slurmdbd.
 */
#ifndef LT_REBUILD_H
#define LT_REBUILD_H

#include <stdint.h>

struct lt_daemon;
struct lt_error;

struct lt_rebuilt {
	uint32_t runs, kept_runs; /* kept: slurmdbd has them no more */
	int64_t money_micros, kept_micros;
};
int lt_rebuild(struct lt_daemon *d, int64_t now_utc_s,
    struct lt_rebuilt *rebuilt, struct lt_error *err);

#endif
