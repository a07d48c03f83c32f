/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside a run of the simulator; simulate.h says which file does what.
 */
#ifndef LT_SIMULATE_INTERNAL_H
#define LT_SIMULATE_INTERNAL_H

#include "decide.h"
#include "learn.h"
#include "simulate.h"

/* A job that waits, and what is thought of it. */
struct lt_sim_ask {
	uint32_t cpus;
	int64_t run_s;		/* expected; 0 = the limit */
	int64_t low_s, high_s;	/* as in struct lt_expected */
	int64_t limit_s;	/* at least 1 */
	int64_t latest_utc_s;	/* of its start */
	int64_t standing_utc_s; /* the start it was given; 0 = none yet */
	/* What others take; lent. */
	const struct lt_planned *planned;
	uint32_t planned_count;
};

/* One partition with what is expected at one hour. */
struct lt_sim_market;
int lt_sim_market_open(struct lt_sim_market **market,
    const struct lt_sim_options *options, struct lt_error *err);
void lt_sim_market_close(struct lt_sim_market *market);
/* From the hour of now on, LT_FORECAST_HOURS values. */
int lt_sim_market_see(struct lt_sim_market *market, const double *values,
    int64_t now_utc_s, struct lt_error *err);
/* Does somebody wait in line? */
void lt_sim_market_queue(struct lt_sim_market *market, bool queued);
const struct lt_market *lt_sim_market_of(const struct lt_sim_market *market);
/* A request for what is asked. */
void lt_sim_market_request(struct lt_request *request,
    const struct lt_sim_market *market, const struct lt_sim_ask *ask,
    int64_t now_utc_s);
/* When lt_decide() would start it, of all that is seen now. */
int lt_sim_market_decide(int64_t *start_utc_s, struct lt_sim_market *market,
    const struct lt_sim_ask *ask, int64_t now_utc_s, struct lt_error *err);

struct lt_sim_run {
	const struct lt_sim_input *input;
	const struct lt_sim_trace *trace;
	const struct lt_sim_signal *signal;
	struct lt_sim_outlook *outlook;
	const struct lt_sim_signal *price; /* NULL = that of the options */
	const struct lt_sim_options *options;
	const struct lt_sim_rule *rule;
	struct lt_sim_market *market;
	struct lt_sim_result *result;
	struct lt_lengths *lengths; /* NULL = nothing is learned */
	int64_t average_s[2];	    /* run time of short and of long jobs */
	uint32_t reserved_free;
};

static inline bool
lt_sim_is_short(
    const struct lt_sim_options *options, const struct lt_sim_job *job)
{
	return job->run_s < options->short_s;
}

static inline int64_t
lt_sim_wait_s(
    const struct lt_sim_options *options, const struct lt_sim_job *job)
{
	return lt_sim_is_short(options, job) ? options->short_wait_s
					     : options->long_wait_s;
}

static inline void
lt_sim_tell(const struct lt_sim_run *run, uint32_t come)
{
	if (run->input->tell != NULL)
		run->input->tell(run->input->context, come);
}

/* What it pays for [from, to), at the full price. */
double lt_sim_cost(const struct lt_sim_run *run, const struct lt_sim_job *job,
    int64_t from_utc_s, int64_t to_utc_s);
/* It runs on [from, to): carbon and load. */
int lt_sim_use(struct lt_sim_run *run, const struct lt_sim_job *job,
    int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err);

/* baseline.c: when it shall start, by the signal as it will be. */
int64_t lt_sim_lowest_slot(
    const struct lt_sim_run *run, const struct lt_sim_job *job);
int64_t lt_sim_lowest_window(
    const struct lt_sim_run *run, const struct lt_sim_job *job);
int64_t lt_sim_carbon_time(
    const struct lt_sim_run *run, const struct lt_sim_job *job);
/* Not of others: the least there is for its real run, if it may not be
 * suspended and there is room. */
int64_t lt_sim_optimum(
    const struct lt_sim_run *run, const struct lt_sim_job *job);

/* pause.c: all its parts are used; *end is that of the last. */
int lt_sim_ecovisor(struct lt_sim_run *run, const struct lt_sim_job *job,
    struct lt_sim_fate *fate, struct lt_error *err);
int lt_sim_wait_awhile(struct lt_sim_run *run, const struct lt_sim_job *job,
    struct lt_sim_fate *fate, struct lt_error *err);
int lt_sim_pause(struct lt_sim_run *run, const struct lt_sim_job *job,
    struct lt_sim_fate *fate, struct lt_error *err);

/* suspend.c */
int lt_sim_suspend(struct lt_sim_run *run, const struct lt_sim_job *job,
    struct lt_sim_fate *fate, struct lt_error *err);

/* ties.c: `list`, in the order of rank[] by place, as it is after so many
 * ticks. LT_ENOMEM. */
int lt_sim_turn_ties(
    uint32_t *list, const int64_t *rank, uint32_t count, int64_t times);

/* run.c */
int lt_sim_shift(struct lt_sim_run *run, struct lt_error *err);

struct lt_sim_rule { /* a row for each policy */
	const char *name, *help;
	bool decides;	 /* by lt_decide(), and again each hour */
	bool conserving; /* starts early where reserved CPUs are free */
	int64_t (*start)(
	    const struct lt_sim_run *run, const struct lt_sim_job *job);
	int (*pause)(struct lt_sim_run *run, const struct lt_sim_job *job,
	    struct lt_sim_fate *fate, struct lt_error *err);
};
extern const struct lt_sim_rule lt_sim_rules[LT_SIM_POLICY_COUNT];

#endif
