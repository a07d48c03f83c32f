/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of spank_lowtide.so: its plugstack arguments and the user's options (spank_options.c),
 * the decision in the client (spank_place.c), what it asks of lowtided (spank_ask.c,
 * spank_balance.c, spank_booking.c), and on the node its GPUs (spank_gpu.c), the environment
 * (spank_env.c), the power cap of its run (spank_cap.c) and its progress (spank_progress.c).
 */
#ifndef LT_SPANK_PARTS_H
#define LT_SPANK_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "job_from_slurm.h"
#include "quote.h"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#include <slurm/spank.h>
#pragma GCC diagnostic pop

enum lt_presence { LT_PRESENCE_AUTO, LT_PRESENCE_YES, LT_PRESENCE_NO };

/* The component of a heterogeneous job that is being submitted, from 0, and their number; 0: none
 * was yet. */
struct lt_component {
	int index, count;
};

struct lt_spank { /* arguments of the plugstack line, and the user's wishes */
	struct lt_component component;
	const char *run_dir;
	const char *node_dir; /* of lowtide-node */
	const char *off_file;
	enum lt_presence job_submit;
	const char *preemptible; /* "spot:0.004:120,low:0.01", NULL = none */
	const char *gpu;	 /* "a[1-2]:A100-SXM4-40GB,v:V100", NULL */
	const char *precision;	 /* "account:audit:off,qos:fast:bf16", NULL */
	bool amp;		 /* amp=auto: also for jobs that say nothing */
	bool power_cap;		 /* power_cap=yes: ask for the job's quote */
	struct lt_options options;
	bool given[LT_OPTION_COUNT];
};
extern struct lt_spank lt_spank;

/* The component that this call is for, once for each. words: the script and its arguments, as
 * sbatch has them, each after a space; written to; NULL: none. */
struct lt_component lt_spank_component(char *words);

static inline bool
lt_spank_is_het(struct lt_component at)
{
	return at.count > 1 || at.index > 0;
}

/* slurm_spank_init: read the arguments, register the options; in the client take those of the
 * environment. */
void lt_spank_begin(spank_t spank, int count, char **arguments, bool is_client);

/* slurm_spank_init_post_opt in sbatch, salloc, srun. Ends the command with 1 when the job is
 * refused or was only a plan. */
void lt_spank_client(void);

/* The same in the step daemon: the job's environment. */
void lt_spank_environment(spank_t spank);

/* slurm_spank_task_init: what is known of a task only then. */
void lt_spank_task(spank_t spank);

/* slurm_spank_task_post_fork of each task: where the job names a file of its progress and
 * lowtide-node is there, a process that reads it. It ends with the last task, else with this one
 * (slurm_spank_exit). */
void lt_spank_progress_begin(spank_t spank);
void lt_spank_progress_task_over(void);
void lt_spank_progress_end(void);

/* Did the user give any of lowtide's options? */
bool lt_spank_is_asked(void);

/* Within a job: the variables of that job are none of the next one's. */
void lt_spank_forget_outer(void);

/* The client's word to the node, in UTC seconds: with --export=NONE, too, for it begins with
 * SLURM. */
#define LT_SPANK_DEADLINE "SLURM_LOWTIDE_DEADLINE"

/* The client's plan's power cap, "<start>,<lt_capped_pack()>", where no job_submit decides. */
#define LT_SPANK_CAP "SLURM_LOWTIDE_CAP"
/* It is the plan's for starts from then on; nothing without a cap. */
void lt_spank_tell_cap(const struct lt_capped *capped, int64_t start_utc_s);

/* Variables that srun reads, and the mark that they are lowtide's: "1". */
#define LT_SPANK_GPU_FREQ "SLURM_GPU_FREQ"
#define LT_SPANK_CPU_FREQ "SLURM_CPU_FREQ_REQ"
#define LT_SPANK_CAPPED "LOWTIDE_POWER_CAP"

/* slurm_spank_init_post_opt in the step daemon of a batch script: slow what its srun starts, if
 * that is its plan. */
void lt_spank_cap(spank_t spank);

struct lt_gpu_here {
	enum lt_precision top; /* of all of them; AUTO = there is none */
	uint32_t memory_mib;   /* the least of them; 0 = not known */
};
struct lt_gpu_here lt_spank_gpu_here(void);

/* Name of the environment variable by which Slurm passes an option. */
void lt_spank_variable(char *out, size_t size, enum lt_option_id id);

/* Every line with "lowtide: " before it, to the user. */
void lt_spank_say(const char *text, bool is_error);

struct lt_balance { /* what lowtided answers */
	bool budgeted;
	struct lt_balance_by_rule { /* none limits: neither is_limited */
		char team[LT_ACCOUNT_SIZE], label[24];
		struct lt_balance_of {
			bool is_limited;
			int64_t available;
			int64_t limit, spent, held; /* limit -1: not shown */
		} money, carbon;		    /* micros, mg CO2e */
	} binding, warning;			    /* budgets that bind, that only warn */
};

/* One whole HTTP request to the lowtided of this host, 50 ms in all: the body of its answer, in
 * reply; NULL: none, or a refusal. */
const char *lt_spank_ask(char *reply, size_t size, const char *request);
/* In outside bytes that should be JSON: the text after "key": of a flat object, NULL without it;
 * what is behind an integer; what is behind a string, whose escapes are not read: one in it, or too
 * long: NULL and "". */
const char *lt_json_value(const char *text, const char *key);
const char *lt_json_integer(const char *text, int64_t *value);
const char *lt_json_string(const char *text, char *out, size_t size);

/* account "" = the default one. False when it can't be known. */
bool lt_spank_balance(struct lt_balance *balance, const char *account);

/* One flat JSON object out of outside bytes; exported for fuzzing. */
bool lt_balance_parse(struct lt_balance *balance, const char *text);

struct lt_others {     /* windows that no market has yet */
	bool known;    /* from lowtided */
	uint64_t seen; /* the last one that it gave */
	uint32_t count;
	struct lt_planned windows[LT_PLANNED_MAX];
};

struct lt_own_plan {		      /* to be announced: lent */
	const struct lt_quote *quote; /* what was asked, and where it is put */
	const struct lt_estimate *chosen;
};

/* Asks for the plans that came since *others, and adds them there. A plan is announced; true if and
 * only if it is booked, which it is not if others came. */
bool lt_spank_book(
    struct lt_others *others, const struct lt_market *market, const struct lt_own_plan *plan);

/* An answer of lowtided, into others; true: booked. For fuzzing, too. */
bool lt_others_parse(struct lt_others *others, const struct lt_market *market, const char *text);

#endif
