/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger is made again from slurmdbd, a window of its rows a step, beside all else that
 * lowtided does.
 */
#ifndef LT_REBUILD_H
#define LT_REBUILD_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "ledger.h"

struct lt_daemon;

enum lt_rebuild_stage {
	LT_REBUILD_NONE, /* since this lowtided's start */
	LT_REBUILD_RUNS,
	LT_REBUILD_DONE,
	LT_REBUILD_FAILED,
	LT_REBUILD_STAGE_COUNT
};

struct lt_rebuild { /* start as { 0 } */
	enum lt_rebuild_stage stage;
	struct lt_repair repair;      /* of what the ledger has, first */
	int64_t from_utc_s, at_utc_s; /* the first day, the next */
	int64_t window_s;	      /* of rows, from there */
	struct lt_run_key *keys;      /* malloc'd: of rows that slurmdbd has */
	size_t key_count, key_capacity;
	/* When it is done. kept: slurmdbd has them no more. */
	uint32_t runs, kept_runs;
	int64_t money_micros, kept_micros;
	char error[LT_ERROR_TEXT_SIZE]; /* when it failed */
};

/* Starts one; does nothing if one runs already. LT_EINPUT: there is no slurmdbd. */
int lt_rebuild_start(struct lt_daemon *d, struct lt_error *err);
/* Does the next window of one that runs. */
void lt_rebuild_go_on(struct lt_daemon *d, int64_t now_utc_s);

#endif
