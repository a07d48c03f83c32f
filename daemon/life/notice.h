/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node that its owner takes back: drained at once, its jobs asked for a checkpoint, requeued
 * while there is time, and started elsewhere. Finished steps are in the ledger, so that a restart
 * continues and does nothing twice. Afterwards the node is resumed when Slurm has powered it down,
 * or when another machine of its name has registered.
 */
#ifndef LT_LIFE_NOTICE_H
#define LT_LIFE_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger_jobs.h"

struct lt_batch_job;
struct lt_books;
struct lt_ledger;
struct lt_proof_state;
struct lt_replan_state;
struct lt_site;
struct lt_tables;

/* Our reason of a node's state: this, and " at " its end. */
#define LT_NOTICE_REASON "lowtide: taken back"

struct lt_notice_state {   /* start as { 0 } */
	bool is_read;	   /* from the ledger */
	bool is_undrained; /* slurmctld does not have each drain */
	struct lt_notice *notices;
	uint32_t notice_count;
	/* When nodes that are gone are asked for next, and from which on. */
	int64_t look_utc_s;
	uint32_t look_next;
	struct lt_reclaimed *jobs;
	uint32_t job_count;
	size_t job_capacity;
	struct lt_canary *canaries; /* interrupted though no node is taken */
	uint32_t canary_count;
};

int lt_drained_drain(const struct lt_notice *notice, struct lt_error *err);
/* Drains each node that leaves and that slurmctld was not asked to drain, or may not have been. */
void lt_drained_all(struct lt_ledger *ledger, struct lt_notice_state *notices, int64_t now_utc_s,
    struct lt_error *err);
/* LT_ENET: slurmctld is away, and gets it later. */
int lt_drained_down(const struct lt_notice *notice);
/* Puts the stage into the ledger, before it is acted on. */
int lt_drained_put(struct lt_ledger *ledger, struct lt_notice_state *notices,
    struct lt_notice *notice, enum lt_notice_stage stage, struct lt_error *err);
/* LT_OK: this node is drained with our reason. LT_ENOENT: it is not. */
int lt_drained_check(const char *node, struct lt_error *err);
/* Resumes the node if it is time; *is_done: its row is gone. */
int lt_drained_give_back(struct lt_site *site, struct lt_ledger *ledger,
    const struct lt_notice *notice, bool *is_done, struct lt_error *err);
/* Does the same for some whose notice is over, in turn. True: rows are gone, read the ledger
 * again. */
bool lt_drained_look(struct lt_site *site, struct lt_ledger *ledger,
    struct lt_notice_state *notices, int64_t now_utc_s, struct lt_error *err);

/* Takes a notice: from end_utc_s on the node is gone. A second one moves the end. LT_EINPUT,
 * LT_ENOENT: no such node. */
int lt_notice_take(struct lt_site *site, const struct lt_books *books,
    struct lt_notice_state *notices, const char *node, int64_t end_utc_s, int64_t now_utc_s,
    struct lt_error *err);
/* Withdraws the notice, as the node stays or is there again: it is resumed, now or when slurmctld
 * is back, if its drain is ours. LT_ENOENT: it has no notice, and is not drained so. */
int lt_notice_withdraw(struct lt_site *site, struct lt_ledger *ledger,
    struct lt_notice_state *notices, const char *node, struct lt_error *err);
/* Reads the ledger's, if none did since the start. */
int lt_notice_know(struct lt_ledger *ledger, struct lt_notice_state *notices, struct lt_error *err);
/* Does what is due. */
int lt_notice_run(struct lt_site *site, const struct lt_books *books,
    struct lt_replan_state *replan, struct lt_notice_state *notices, struct lt_proof_state *proof,
    int64_t now_utc_s, struct lt_error *err);
/* Returns when jobs of a node that ends then are requeued: as late as Slurm's need of time to end
 * them allows. */
int64_t lt_notice_requeue_utc_s(const struct lt_tables *tables, int64_t end_utc_s);
/* Returns a node that this waiting job named and that was taken back; NULL:
 * none. Lent until the next call here. */
const char *lt_notice_awaited(
    const struct lt_notice_state *notices, const struct lt_batch_job *job);
/* Has this job something on that node? */
bool lt_notice_is_there(const struct lt_batch_job *job, const char *node);
/* Interrupts a job as if its node were taken back: signal, requeue, and start. */
int lt_notice_interrupt(struct lt_ledger *ledger, struct lt_notice_state *notices,
    const struct lt_canary *canary, struct lt_error *err);
/* True if that was done to it, or is about to be. */
bool lt_notice_has(const struct lt_notice_state *state, uint32_t job_id);
bool lt_notice_waits(const struct lt_notice_state *notices, int64_t now_utc_s);
void lt_notice_free(struct lt_notice_state *state);

#endif
