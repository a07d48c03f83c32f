/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtided as a whole: one struct for the process, which has one thread. Each room's part of it is
 * in that room's header; a function gets the parts that it needs, and all of it only where these
 * are many.
 */
#ifndef LT_DAEMON_H
#define LT_DAEMON_H

#include "alerts/alerter.h"
#include "charges/settle.h"
#include "clock.h"
#include "files.h"
#include "holds/books.h"
#include "jobs/budget_state.h"
#include "jobs/counters.h"
#include "life/afterwards.h"
#include "life/again.h"
#include "life/notice.h"
#include "life/pass_time.h"
#include "life/proof.h"
#include "life/pause_jobs.h"
#include "market/site.h"
#include "pass/rebuild.h"
#include "paths.h"
#include "plans/announced.h"
#include "plans/replanning.h"
#include "signals/signals.h"
#include "steps.h"

struct lt_schedule { /* when each is due, by the wall clock of this pass;
		      * clock.c moves them when that is set */
	int64_t snapshot, renewal, dirty, voids, policy, policy_told, prune;
};

struct lt_args { /* of the command line and the environment */
	const char *config, *state, *run, *off, *follow, *log;
	bool once, probe;
};

struct lt_daemon {
	struct lt_args args;
	struct lt_paths paths;
	int lock_fd;
	int64_t started_utc_s;
	/* lt_cycle(), for a request that can't wait for it. */
	int (*cycle)(struct lt_daemon *d, int64_t now_utc_s);
	bool acting;

	struct lt_site site;
	struct lt_file_id policy_id;
	int64_t names_told_utc_s; /* of the policy that was loaded then */
	char policy_error[LT_ERROR_TEXT_SIZE];
	int64_t off_told_utc_s; /* when the log last said so */

	struct lt_steps steps; /* what fails now */
	struct lt_ledger *ledger;
	struct lt_signals_state signals;
	struct lt_charges charges;
	struct lt_budget_state budget;
	struct lt_ring_state ring;
	struct lt_jobs_state jobs;
	struct lt_rebuild rebuild;
	struct lt_replan_state replan;
	struct lt_notice_state notice;
	struct lt_again_state again;
	struct lt_after_state after;
	struct lt_mail_state mails;
	struct lt_alert_state alerts;
	struct lt_pausing_state still;
	struct lt_proof_state proof;
	struct lt_announced_state announced;
	struct lt_counters tally;

	struct lt_pass_time pass;
	int64_t pass_took_ms, pass_longest_ms; /* the last, and since the start */
	struct lt_clock clock;
	struct lt_schedule next;
};

/* All that settling writes, and what it prices by. */
static inline struct lt_settler
lt_daemon_settler(struct lt_daemon *d, int64_t now_utc_s)
{
	return (struct lt_settler){.site = &d->site,
	    .signals = &d->signals,
	    .ledger = d->ledger,
	    .charges = &d->charges,
	    .jobs = &d->jobs,
	    .budget = &d->budget,
	    .now_utc_s = now_utc_s};
}

/* All that holds are kept by. */
static inline struct lt_books
lt_daemon_books(struct lt_daemon *d)
{
	return (struct lt_books){.site = &d->site,
	    .paths = &d->paths,
	    .ledger = d->ledger,
	    .jobs = &d->jobs,
	    .budget = &d->budget,
	    .ring = &d->ring,
	    .tally = &d->tally};
}

/* All that alerts, forecasts and mails are made from. */
static inline struct lt_alerter
lt_daemon_alerter(struct lt_daemon *d, int64_t now_utc_s)
{
	return (struct lt_alerter){.site = &d->site,
	    .ledger = d->ledger,
	    .jobs = &d->jobs,
	    .charges = &d->charges,
	    .budget = &d->budget,
	    .alerts = &d->alerts,
	    .mails = &d->mails,
	    .now_utc_s = now_utc_s};
}

/* cycle.c: one pass over all that is due; returns seconds till the next. */
int lt_cycle(struct lt_daemon *d, int64_t now_utc_s);

/* probe.c: prints what Slurm says as JSON on stdout, for `lowtide init` and `doctor`; returns the
 * exit status. */
int lt_probe(void);

#endif
