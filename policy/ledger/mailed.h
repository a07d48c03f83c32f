/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of the ledger: what users were told of their jobs.
 */
#ifndef LT_MAILED_H
#define LT_MAILED_H

#include "ledger.h"

struct lt_mailed {
	uint32_t job_id;
	uint64_t quote_id;   /* an id is given again, a quote's is not */
	int64_t start_utc_s; /* that its user knows of */
	char partition[LT_NAME_SIZE];
	int64_t run_start_utc_s; /* of the run up to which all is told; of one
				  * that has not run yet its submission */
};
int lt_ledger_put_mailed(struct lt_ledger *ledger,
    const struct lt_mailed *mailed, struct lt_error *err);
/* LT_ENOENT: nothing yet. */
int lt_ledger_mailed(struct lt_ledger *ledger, uint32_t job_id,
    struct lt_mailed *mailed, struct lt_error *err);
/* Those of jobs that have no open hold. */
int lt_ledger_prune_mailed(struct lt_ledger *ledger, struct lt_error *err);

#endif
