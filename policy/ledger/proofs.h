/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of the ledger: who was seen to resume, and the jobs that are watched for it.
 */
#ifndef LT_PROOFS_H
#define LT_PROOFS_H

#include "ledger.h"
#include "life.h"

struct lt_proof_of { /* whose; strings are lent */
	struct lt_history_key key;
	const char *account, *name;
	uint64_t script_hash;
};
struct lt_proof_row {
	int64_t proven_utc_s;	   /* last; 0 = never */
	uint32_t survived, failed; /* survived: since it failed last */
	int64_t write_s, restart_s;
	int64_t canary_utc_s; /* by its class; 0 = not yet */
	int64_t last_utc_s;   /* when something was learned of it */
};
/* { 0 } where nothing is known. */
int lt_ledger_proof(struct lt_ledger *ledger, const struct lt_history_key *key,
    struct lt_proof_row *row, struct lt_error *err);
int lt_ledger_put_proof(struct lt_ledger *ledger, const struct lt_proof_of *of,
    const struct lt_proof_row *row, struct lt_error *err);
int lt_ledger_prune_proofs(
    struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err);

int lt_ledger_put_life(
    struct lt_ledger *ledger, const struct lt_life *life, struct lt_error *err);
int lt_ledger_drop_life(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err);
/* By their ids; malloc'd. */
int lt_ledger_lives(struct lt_ledger *ledger, struct lt_life **lives,
    uint32_t *count, struct lt_error *err);

struct lt_canary { /* a run that is interrupted to see what comes of it */
	uint32_t job_id;
	int64_t start_utc_s, requeue_utc_s;
};
int lt_ledger_put_canary(struct lt_ledger *ledger,
    const struct lt_canary *canary, struct lt_error *err);
int lt_ledger_drop_canary(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err);
/* By their ids; malloc'd. */
int lt_ledger_canaries(struct lt_ledger *ledger, struct lt_canary **canaries,
    uint32_t *count, struct lt_error *err);

#endif
