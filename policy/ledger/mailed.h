/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of the ledger: what users were told of their jobs.
 */
#ifndef LT_MAILED_H
#define LT_MAILED_H

#include "address.h"
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
/* Whose user asks for a mail at the end of a job, or of all of an array, by its
 * first id. One that was told is told again only with another quote. */
struct lt_end_mail {
	uint32_t job_id;
	uint64_t quote_id;
	char to[LT_ADDRESS_SIZE];
	uint32_t uid; /* whose job it was; only read */
};
int lt_ledger_put_end_mail(struct lt_ledger *ledger,
    const struct lt_end_mail *mail, struct lt_error *err);
/* He asks no more. */
int lt_ledger_drop_end_mail(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err);
/* Those that are not told, of jobs whose holds are settled, or are void though
 * the job ran: for 0 s. At most user_max of each user; by id, malloc'd. */
int lt_ledger_end_mails_due(struct lt_ledger *ledger, uint32_t user_max,
    struct lt_end_mail **mails, uint32_t *count, struct lt_error *err);
int lt_ledger_end_mail_told(struct lt_ledger *ledger, uint32_t job_id,
    int64_t now_utc_s, struct lt_error *err);

/* Those of jobs that have no open hold; of ends, those whose holds are no more,
 * and those that were told before. */
int lt_ledger_prune_mailed(
    struct lt_ledger *ledger, int64_t told_before_utc_s, struct lt_error *err);

#endif
