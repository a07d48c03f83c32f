/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of the ledger: runs that ended before their work did.
 */
#ifndef LT_INTERRUPTIONS_H
#define LT_INTERRUPTIONS_H

#include "ledger.h"

struct lt_interrupted {
	uint32_t job_id;
	int64_t start_utc_s; /* of the run */
	int64_t at_utc_s;
	bool counts;	/* its node was taken; else lowtide moved it */
	int64_t done_s; /* of its work, that it need not do again */
};
struct lt_losses {
	uint32_t interruptions;
	int64_t done_s;
};
/* One that is there stays as it is. */
int lt_ledger_put_interruption(struct lt_ledger *ledger,
    const struct lt_interrupted *run, struct lt_error *err);
/* Of the runs of this id that began since then: an id is given again. */
int lt_ledger_losses(struct lt_ledger *ledger, uint32_t job_id,
    int64_t since_utc_s, struct lt_losses *life, struct lt_error *err);
int lt_ledger_prune_interruptions(
    struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err);

#endif
