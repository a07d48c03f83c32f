/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drain of a node that is taken back: set with lowtide's reason, and undone
 * when Slurm has powered the node down, when another machine of its name has
 * registered, or on a withdrawal. Somebody else's drain or reason is left
 * alone. The row of the notice, in the ledger, is what lowtide remembers it by.
 */
#ifndef LT_LIFE_DRAINED_H
#define LT_LIFE_DRAINED_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger_jobs.h"

struct lt_ledger;
struct lt_notice_state;
struct lt_site;

/* Our reason of a node's state: this, and " at " its end. */
#define LT_NOTICE_REASON "lowtide: taken back"

int lt_drained_drain(const struct lt_notice *notice, struct lt_error *err);
/* Each that leaves: slurmctld was not told of it, or nobody knows. */
void lt_drained_all(struct lt_ledger *ledger, struct lt_notice_state *notices,
    int64_t now_utc_s, struct lt_error *err);
/* LT_ENET: slurmctld is away, and is told later. */
int lt_drained_down(const struct lt_notice *notice);
/* The stage in the ledger: written before it is acted on. */
int lt_drained_put(struct lt_ledger *ledger, struct lt_notice_state *notices,
    struct lt_notice *notice, enum lt_notice_stage stage, struct lt_error *err);
/* LT_OK: this node is drained with our reason. LT_ENOENT: it is not. */
int lt_drained_check(const char *node, struct lt_error *err);
/* Resumes the node if it is time; *is_done: its row is gone. */
int lt_drained_give_back(struct lt_site *site, struct lt_ledger *ledger,
    const struct lt_notice *notice, bool *is_done, struct lt_error *err);
/* The same of some whose notice is over, in turn. True: rows are gone, read the
 * ledger again. */
bool lt_drained_look(struct lt_site *site, struct lt_ledger *ledger,
    struct lt_notice_state *notices, int64_t now_utc_s, struct lt_error *err);

#endif
