/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside a run of the simulator; simulate.h says which file does what.
 */
#ifndef LT_SIMULATE_INTERNAL_H
#define LT_SIMULATE_INTERNAL_H

#include "decide.h"
#include "run_lengths.h"
#include "simulate.h"
#include "units.h"

/* A job that waits, and what is thought of it. */
struct lt_sim_ask {
	uint32_t cpus;
	int64_t run_s;		/* expected; 0 = the limit */
	int64_t low_s, high_s;	/* as in struct lt_expected */
	int64_t limit_s;	/* at least 1 */
	int64_t latest_utc_s;	/* of its start */
	int64_t standing_utc_s; /* the start it was given; 0 = none yet */
	/* Windows of others; lent. */
	const struct lt_planned *planned;
	uint32_t planned_count;
};

/* One partition with what is expected at one hour. */
struct lt_sim_market;
int lt_sim_market_open(
    struct lt_sim_market **market, const struct lt_sim_options *options, struct lt_error *err);
void lt_sim_market_close(struct lt_sim_market *market);
/* Takes over what is expected from the hour of now on. */
int lt_sim_market_see(struct lt_sim_market *market, struct lt_sim_outlook *outlook,
    int64_t now_utc_s, struct lt_error *err);
/* Does somebody wait in line? */
void lt_sim_market_queue(struct lt_sim_market *market, bool queued);
const struct lt_market *lt_sim_market_of(const struct lt_sim_market *market);
/* A request for what is asked. */
void lt_sim_market_request(struct lt_request *request, const struct lt_sim_market *market,
    const struct lt_sim_ask *ask, int64_t now_utc_s);
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
lt_sim_is_short(const struct lt_sim_options *options, const struct lt_sim_job *job)
{
	return job->run_s < options->short_s;
}

static inline int64_t
lt_sim_wait_s(const struct lt_sim_options *options, const struct lt_sim_job *job)
{
	return lt_sim_is_short(options, job) ? options->short_wait_s : options->long_wait_s;
}

/* The mean of all jobs that are short, or of the others. */
static inline int64_t
lt_sim_average_s(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	return run->average_s[lt_sim_is_short(run->options, job) ? 0 : 1];
}

/* The first whole hour after it. */
static inline int64_t
lt_sim_next_hour_s(int64_t utc_s)
{
	return (utc_s / LT_HOUR_S + 1) * LT_HOUR_S;
}

static inline void
lt_sim_tell(const struct lt_sim_run *run, uint32_t come)
{
	if (run->input->tell != NULL)
		run->input->tell(run->input->context, come);
}

/* ---- job.c ---- */
/* It has ended: its run time is learned. LT_ENOMEM. */
int lt_sim_learn(struct lt_lengths *lengths, const struct lt_sim_job *job);
/* Its request, as far as its run time is known. */
struct lt_sim_ask lt_sim_ask_of(const struct lt_sim_run *run, const struct lt_sim_job *job);
/* The money that it pays for [from, to), at the full price. */
double lt_sim_cost(const struct lt_sim_run *run, const struct lt_sim_job *job, int64_t from_utc_s,
    int64_t to_utc_s);
/* Carbon of so many watts a CPU on [from, to). */
void lt_sim_emit(struct lt_sim_run *run, const struct lt_sim_job *job, double watts_per_cpu,
    int64_t from_utc_s, int64_t to_utc_s);
/* It runs on [from, to): carbon and load. */
int lt_sim_use(struct lt_sim_run *run, const struct lt_sim_job *job, int64_t from_utc_s,
    int64_t to_utc_s, struct lt_error *err);

/* ---- run.c ---- */
/* All jobs, by a policy that suspends none. */
int lt_sim_shift(struct lt_sim_run *run, struct lt_error *err);

/* ---- policies.c ---- */
struct lt_sim_rule { /* a row for each policy */
	const char *name;
	bool decides;	 /* by lt_decide(), and again each hour */
	bool conserving; /* starts early where reserved CPUs are free */
	/* When it shall start; NULL: at once. */
	int64_t (*start)(const struct lt_sim_run *run, const struct lt_sim_job *job);
	/* Runs it, in parts; NULL: it is not suspended. */
	int (*pause)(struct lt_sim_run *run, const struct lt_sim_job *job, struct lt_sim_fate *fate,
	    struct lt_error *err);
};
extern const struct lt_sim_rule lt_sim_rules[LT_SIM_POLICY_COUNT];

#endif
