/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulator: jobs of a trace, a signal by the hour, and a policy that says when each starts. It
 * decides by the same library as everything else and has no clock, no network and no files of its
 * own.
 *
 *   trace.c      traces, and what they lack -> struct lt_sim_trace
 *   signal.c     the signal as it was       -> struct lt_sim_signal
 *                what was expected of it    -> struct lt_sim_outlook
 *   simulate.c   one run, from options to sums
 *   policies.c   the table of policies, and all but lt_decide()
 *   run.c        time goes on from event to event; events.c has these
 *   job.c        what a job asks for, and what its running takes
 *   market.c     one partition, and lt_decide() on it
 *
 * Two more simulators: spot.h, of deadlines on nodes that are taken, and site.h, of a site's own
 * runs.
 */
#ifndef LT_SIMULATE_H
#define LT_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

enum {
	LT_SIM_BAD_SHOWN_MAX = 5,	   /* of bad rows: the others are counted */
	LT_SIM_JOBS_MAX = 4 * 1024 * 1024, /* more: refused */
	LT_SIM_HOURS_MAX = 20 * 366 * 24,  /* of a signal; more: refused */
};

struct lt_sim_job {
	int64_t submit_utc_s;
	int64_t run_s;	    /* as it really ran */
	double exact_run_s; /* the same before it was cut to whole ticks */
	int64_t limit_s;    /* the time limit; 0 = not known */
	uint32_t cpus;
	uint32_t user, name; /* numbers of the trace's own; 0 = not known */
	uint32_t number;     /* its place in the file */
};

struct lt_sim_trace { /* by submission; of equals as in the file */
	uint32_t count;
	uint32_t skipped; /* never ran */
	uint32_t parts;	  /* SWF's, of a job that has a line for its sum */
	uint32_t bad;	  /* rows that make no sense: left out */
	struct lt_error bad_first[LT_SIM_BAD_SHOWN_MAX]; /* path, line, why */
	struct lt_sim_job *jobs;
};

struct lt_rate_step; /* rate.h */

/* Hours in a row. */
struct lt_sim_signal {
	int64_t first_hour; /* since 1970 */
	int hours;
	double *seen;  /* NAN = missing */
	double *value; /* holes bridged by a straight line */
	double *sum;   /* of value before each hour; hours + 1 of them */
	/* The same as a source would have given it, holes left out. */
	struct lt_rate_step *steps;
	uint32_t step_count;
};

/* Takes `seen` (hours values, NAN = missing), which stays the caller's. */
int lt_sim_signal_make(struct lt_sim_signal *signal, int64_t first_hour, const double *seen,
    int hours, struct lt_error *err);
void lt_sim_signal_free(struct lt_sim_signal *signal);
/* That hour's value; before the first and after the last as these. */
double lt_sim_signal_at(const struct lt_sim_signal *signal, int64_t hour);
/* Integral in unit-hours over [from, to). */
double lt_sim_signal_integral(
    const struct lt_sim_signal *signal, int64_t from_utc_s, int64_t to_utc_s);

enum lt_sim_policy {
	LT_SIM_NOWAIT,
	LT_SIM_LOWEST_SLOT,
	LT_SIM_LOWEST_WINDOW,
	LT_SIM_CARBON_TIME,
	LT_SIM_ECOVISOR,
	LT_SIM_WAIT_AWHILE,
	LT_SIM_RES_FIRST,
	LT_SIM_OPTIMUM, /* of starts; with suspension it is wait-awhile */
	LT_SIM_LOWTIDE,
	LT_SIM_LOWTIDE_PAUSE,
	LT_SIM_LOWTIDE_SUSPEND,
	LT_SIM_POLICY_COUNT
};

enum lt_sim_forecast { /* what a policy expects of the signal */
	LT_SIM_PERFECT,
	LT_SIM_OWN,	  /* lt_forecast(), fitted where history allows */
	LT_SIM_OWN_WEEKS, /* the same from four weeks alone */
	LT_SIM_YESTERDAY, /* the same hour when last seen */
	LT_SIM_WEEK,	  /* mean of that hour of the week over four weeks */
	LT_SIM_FORECAST_COUNT
};

enum lt_sim_length { /* what it expects of a job's run time */
	LT_SIM_EXACT,
	LT_SIM_AVERAGE, /* of all jobs that are short, or long */
	LT_SIM_LIMIT,
	LT_SIM_LEARNED, /* from those that have ended */
	LT_SIM_LENGTH_COUNT
};

enum lt_sim_again {    /* how a job that waits is looked at again */
	LT_SIM_REPLAN, /* lt_replan(): a change has its cost */
	LT_SIM_DECIDE, /* lt_decide(), as if it came now */
	LT_SIM_NEVER,
	LT_SIM_AGAIN_COUNT
};

/* Their names in options; NULL beyond the last. */
const char *lt_sim_policy_name(int policy);
const char *lt_sim_forecast_name(int forecast);
const char *lt_sim_length_name(int length);
const char *lt_sim_again_name(int again);

struct lt_sim_options {
	enum lt_sim_policy policy;
	enum lt_sim_forecast forecast;
	enum lt_sim_length length;
	enum lt_sim_again again;	   /* each hour until the start */
	int64_t short_s;		   /* runs shorter than this ... */
	int64_t short_wait_s, long_wait_s; /* may wait so long, others so */
	int64_t tick_s;			   /* of the policies of others */
	uint32_t reserved;		   /* CPUs that are paid for anyway */
	bool spot;			   /* short jobs on preemptible CPUs */
	uint32_t capacity;		   /* CPUs; 0 = without limit */
	bool herd;			   /* nobody books: each plans as if alone */
	double watts_per_cpu;
	double idle_watts_per_cpu; /* of that, of a job that stands still */
	/* From the policy file, for lowtide's decision. */
	double waiting_g_per_hour, min_saving_percent;
	double price_per_cpu_hour, spot_price_per_cpu_hour;
	double reserved_part; /* of the price, for a reserved CPU */
};

/* GAIA's: 5 s, waits of 6 and 24 h, 2 h, its prices; 1 kW a CPU. */
extern const struct lt_sim_options lt_sim_defaults;

struct lt_sim_fate { /* what became of a job */
	int64_t start_utc_s, end_utc_s;
	int64_t expected_s; /* run time that its plan was made with */
	bool late;	    /* it started later than it may wait */
};

struct lt_sim_result {
	double carbon_kg, money;
	double wait_s; /* mean: what is not running between coming and end */
	uint32_t late;
	int64_t from_utc_s, to_utc_s; /* first submission to last end */
	struct lt_sim_fate *fates;    /* of each job of the trace */
	/* CPUs in use by the hour, from the hour of from_utc_s on. */
	int load_hours;
	double *load;
};

/* Forecasts as of each hour, kept for all runs on one signal. */
struct lt_sim_outlook;
int lt_sim_outlook_open(struct lt_sim_outlook **outlook, const struct lt_sim_signal *signal,
    enum lt_sim_forecast forecast, struct lt_error *err);
void lt_sim_outlook_close(struct lt_sim_outlook *outlook);
/* LT_FORECAST_HOURS values from that hour on, the first one known if it was seen; lent until
 * closed. NULL: no memory. */
const double *lt_sim_outlook_at(struct lt_sim_outlook *outlook, int64_t hour);

struct lt_sim_look { /* at jobs that may stand still */
	int64_t at_utc_s;
	int64_t done_utc_s; /* what is decided then is so from then on */
};

struct lt_sim_input { /* lent */
	const struct lt_sim_trace *trace;
	const struct lt_sim_signal *signal;
	/* Made by the forecast of the options; NULL for policies of others, which know the
	 * signal. */
	struct lt_sim_outlook *outlook;
	/* Micros per CPU-hour; NULL = that of the options, always. */
	const struct lt_sim_signal *price;
	/* When lowtide-suspend looks, in this order; NULL = at each hour, and when a course
	 * says. */
	const struct lt_sim_look *looks;
	uint32_t look_count;
	/* Told at each step how many jobs have come until then; may be NULL. */
	void (*tell)(void *context, uint32_t come);
	/* Told of each time that job `number` stood still; may be NULL. */
	void (*paused)(void *context, uint32_t number, int64_t from_utc_s, int64_t until_utc_s);
	void *context;
};

/* One run. *result is the caller's to free, also after an error. */
int lt_simulate(struct lt_sim_result *result, const struct lt_sim_input *input,
    const struct lt_sim_options *options, struct lt_error *err);
void lt_sim_result_free(struct lt_sim_result *result);

#endif
