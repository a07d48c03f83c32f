/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells how the watch of a batch system (Kubernetes) goes, what waits there,
 * and what runs that is no job. A system that is asked (Slurm) has none of it.
 */
#ifndef LT_BATCH_WATCH_H
#define LT_BATCH_WATCH_H

#include "batch.h"

/* How what is read as it comes goes, and what waits. Times: 0 = never. */
struct lt_batch_watch {
	const char *namespace; /* lowtide's own; lent */
	bool runs;	       /* what reads */
	bool places_anew;      /* a job that finds no node is placed anew */
	int64_t heard_utc_s, failed_utc_s, balances_utc_s;
	int64_t away_from_utc_s, away_to_utc_s; /* nobody watched; the last */
	char failed[LT_ERROR_TEXT_SIZE];	/* the last failure */
	/* Why it is not known what pods are given at their creation; "" = it
	 * is. */
	char given_failed[LT_ERROR_TEXT_SIZE];
	uint32_t waiting, waiting_budget; /* Jobs in all, and for budget */
	uint32_t left;			  /* Jobs that wait for somebody else */
	uint32_t unheld;      /* pods that run and are charged, without a Job */
	uint32_t unsuspended; /* came since the start as no policy lets them,
			       * in a mode that holds back */
};
/* Pods that run, of an owner that is no job: charged, and nothing is held. */
struct lt_batch_unheld {
	char name[2 * LT_MANIFEST_NAME_SIZE]; /* "team-a/deployment/web" */
	char account[LT_ACCOUNT_SIZE], partitions[LT_BATCH_PARTITIONS_SIZE];
	uint32_t id, uid, pods;
};
/* All, by their names; malloc'd, NULL: there are none. */
int lt_batch_unheld(
    struct lt_batch_unheld **all, uint32_t *count, struct lt_error *err);
/* Names who starts a job that lowtide leaves alone; lent. NULL: no such job. */
const char *lt_batch_starter(uint32_t job_id);
/* False: this system is asked, not watched. */
bool lt_batch_watch(struct lt_batch_watch *watch);

/* The last times in which nobody watched that touch this one, oldest first.
 * Returns how many of most there are. */
struct lt_batch_away {
	int64_t from_utc_s, to_utc_s;
};
int lt_batch_aways(struct lt_batch_away *aways, int most, int64_t from_utc_s,
    int64_t to_utc_s);

#endif
