/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of the ledger: nodes that their owner takes back, and how far the jobs there
 * are.
 */
#ifndef LT_NOTICES_H
#define LT_NOTICES_H

#include "ledger.h"

enum lt_notice_step { /* of a job there */
	LT_NOTICE_SEEN,
	LT_NOTICE_SIGNALLED, /* it was asked for a checkpoint */
	LT_NOTICE_REQUEUED,
	LT_NOTICE_STARTED, /* may start elsewhere */
	LT_NOTICE_STEP_COUNT
};
struct lt_notice {
	char node[LT_NAME_SIZE];
	int64_t told_utc_s, end_utc_s;
};
struct lt_reclaimed {
	uint32_t job_id;
	int64_t start_utc_s; /* of the run that is interrupted */
	enum lt_notice_step step;
	int64_t at_utc_s; /* of the step */
	bool is_leaving;  /* the daemon's, of a pass; not kept */
};
/* One that is there gets the new end. */
int lt_ledger_put_notice(struct lt_ledger *ledger,
    const struct lt_notice *notice, struct lt_error *err);
int lt_ledger_drop_notice(
    struct lt_ledger *ledger, const char *node, struct lt_error *err);
/* By their names; malloc'd. */
int lt_ledger_notices(struct lt_ledger *ledger, struct lt_notice **notices,
    uint32_t *count, struct lt_error *err);
int lt_ledger_put_reclaimed(struct lt_ledger *ledger,
    const struct lt_reclaimed *job, struct lt_error *err);
int lt_ledger_drop_reclaimed(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err);
/* By their ids; malloc'd. */
int lt_ledger_reclaimed(struct lt_ledger *ledger, struct lt_reclaimed **jobs,
    uint32_t *count, struct lt_error *err);

#endif
