/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what lowtide would have saved at a site: its own runs, as they were, and each decided by
 * lt_decide() and lt_replan() on the site's market, with what was known at that hour. Pure.
 *
 *   site.c        what all settings share, and settings beside each other
 *   site_price.c  a run as the job that it was, and what it cost
 *   site_view.c   the market as it was seen at a time
 *   site_loop.c   one setting, from event to event to its sums
 */
#ifndef LT_SIM_SITE_H
#define LT_SIM_SITE_H

#include "decide.h"
#include "simulate.h"

enum {
	LT_SITE_WEEKS_MAX = 20,	    /* of a window; longer: refused */
	LT_SITE_RUNS_MAX = 1 << 22, /* more: refused */
};

struct lt_site_run { /* as it ran; texts are lent */
	int64_t submit_utc_s, start_utc_s, end_utc_s;
	int64_t eligible_utc_s; /* not before; the submission where it is none */
	int64_t limit_s;	/* LT_UNSET_64 = not known */
	uint32_t uid;
	uint32_t nodes, cpus, gpus; /* of the whole job */
	uint64_t memory_mib;	    /* of the whole job; 0 = not known */
	uint32_t pins;		    /* enum lt_pin: what its user fixed */
	uint16_t partition;	    /* of the market: where it ran */
	const char *account, *qos, *name;
	const char *features; /* --constraint */
};

struct lt_site { /* all lent */
	const struct lt_market *market;
	/* For each series of the market its source as it was: hours 0 = none was found, and
	 * partitions of it take no part. Not used of constants. */
	const struct lt_sim_signal *signals;
	struct lt_site_run *runs; /* by submission, then as given */
	uint32_t run_count;
	/* Runs that were submitted in it are decided; what others take of the room they take. */
	int64_t from_utc_s, to_utc_s;
	/* Told that so many more runs have come, by several threads at once; may be NULL. */
	void (*tell)(void *context, uint32_t more);
	void *context;
};

struct lt_site_setting {
	enum lt_objective objective;
	double waiting; /* what waiting is worth, times the policy's */
};

struct lt_site_sums { /* saved may be negative */
	uint32_t runs, moved;
	double base_micros, saved_micros, base_mg, saved_mg;
};

struct lt_site_result {
	struct lt_site_sums all;
	struct lt_site_sums weeks[LT_SITE_WEEKS_MAX];
	struct lt_site_sums *partitions; /* by where it ran; the caller's */
	int week_count;
	double wait_s, base_wait_s; /* mean, submission to start */
	uint32_t late;		    /* moved, and started after what was promised */
};

struct lt_site_counts { /* why runs were not decided */
	uint32_t counted;
	uint32_t no_signal; /* in hours of which a signal is missing */
	uint32_t no_place;  /* today's market can't run or price it there */
	uint32_t fixed;	    /* of counted: may move neither when nor where */
};

struct lt_site_sim; /* what all settings share */
/* LT_EINPUT: a window that is too long; LT_ELIMIT, LT_ENOMEM. *sim is the caller's to close, also
 * after an error. */
int lt_site_open(struct lt_site_sim **sim, const struct lt_site *site, struct lt_error *err);
void lt_site_close(struct lt_site_sim *sim);
const struct lt_site_counts *lt_site_counts(const struct lt_site_sim *sim);
/* *result is the caller's to free, also after an error. The same again for the
 * same setting. */
int lt_site_simulate(struct lt_site_result *result, const struct lt_site_sim *sim,
    const struct lt_site_setting *setting, struct lt_error *err);
struct lt_site_settings {
	const struct lt_site_setting *list;
	uint32_t count;
	uint32_t threads; /* at most so many at once, 1 or more */
};
/* All of them, in any order, into results[count], which are as above. */
int lt_site_simulate_all(struct lt_site_result *results, const struct lt_site_sim *sim,
    const struct lt_site_settings *settings, struct lt_error *err);
void lt_site_result_free(struct lt_site_result *result);

/* A part of a sum with its interval, from sums of weeks. */
struct lt_jackknife {
	bool has_part;	   /* there was something to save of */
	double part;	   /* of all: sum of saved over sum of base */
	bool has_interval; /* two weeks or more */
	double low, high;  /* 95 % */
};

/*
 * Leave one week out: p(-w) = (S - s_w) / (B - b_w), variance
 * (n - 1) / n x sum of (p(-w) - their mean)^2, interval p +- t(0.975, n - 1) x
 * its root. A week without base is no week. docs/model.md, (61).
 *
 *   saved, base  of `count` weeks, any unit; may be negative
 */
struct lt_jackknife lt_jackknife_part(const double *saved, const double *base, int count);

#endif
