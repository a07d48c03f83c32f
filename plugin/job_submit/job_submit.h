/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One submission on its way through job_submit: translated, decided, priced, admitted, applied.
 * Lives on the stack of one call, but for the plan and the message.
 */
#ifndef LT_JOB_SUBMIT_H
#define LT_JOB_SUBMIT_H

#include "job_from_slurm.h"
#include "job_state.h"
#include "quote.h"
#include "smoke.h"

/* A heterogeneous job, as its components before this one show it. */
struct lt_het {
	bool is_batch, is_plan; /* of the first */
	bool asks;		/* --carbon-aware of the first, for all: */
	enum lt_objective objective;
	int64_t node_s;		   /* for require_smoke; with this one */
	struct lt_amount expected; /* by their plans */
	struct lt_amount held;
};

struct lt_submission {
	job_desc_msg_t *job;
	int64_t now_utc_s;
	struct lt_view view;
	struct lt_options options;
	struct lt_request request;
	uint32_t gpu_median_s[LT_GPUS_MAX]; /* lent to the request */
	uint64_t run_kind;		    /* lt_history_key(); 0 = not known */
	bool asked;			    /* by option, environment or the site's default */
	bool known;			    /* the request is whole: it can be priced */
	bool held;			    /* priority 0 is ours */
	struct lt_het het;		    /* of components */
	enum lt_smoke smoke;
	int64_t smoke_node_s;  /* that it is judged by */
	uint32_t node_bound;   /* max_nodes that the hold pays for; 0 = as asked */
	uint32_t node_least;   /* MinNodes of where it may go, then */
	struct lt_error error; /* why it can't be priced */
	struct lt_quote quote;
	struct lt_admission admission;
	char *message; /* LT_MESSAGE_SIZE allocated; NULL = nothing said */
	size_t message_length;
	struct lt_plan *plan; /* allocated; of use where known */
	/* Not zeroed. slurmctld starts a thread for each request, and each page of its new stack is
	 * a fault that costs more than a price: what a submission that says nothing does not need
	 * is no part of its frames. tests/fake_slurm/fake_stack.c measures. */
	struct lt_edits edits;
};

/* Room for both texts, though a submission has them allocated: the rest,
 * tests/fake_slurm/fake_stack.c measures. */
_Static_assert(sizeof(struct lt_submission) + 2 * LT_MESSAGE_SIZE <= LT_STACK_BYTES_MAX / 2,
    "a submission and its message leave half of the stack to the rest");

/* Add lines for the user, each with "lowtide: " before it: as they are, or broken where they would
 * be longer than a terminal is wide. */
void lt_say_lines(struct lt_submission *submission, const char *text);
void lt_say(struct lt_submission *submission, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Join a message to what an earlier plugin left in *err_msg. */
void lt_message_give(char **err_msg, const char *message);

/* True if it is lowtided's question whether a job can start (can_start.h), and no submission. Then
 * it can no longer submit anything. */
bool lt_submit_is_question(job_desc_msg_t *job, uint32_t submit_uid);
/* Steps for a component of a heterogeneous job; other jobs are left alone. begin: sets s->het, and
 * what it inherits; held: adds its hold to the sum; tell: says the sum of all; plans_on: true if
 * the rest is to be planned too, and then no job is made of it. node_s: with the components
 * before. */
void lt_het_begin(struct lt_submission *submission);
int64_t lt_het_node_s(struct lt_submission *submission, int64_t node_s);
void lt_het_held(struct lt_submission *submission);
void lt_het_tell(struct lt_submission *submission);
bool lt_het_plans_on(struct lt_submission *submission);

/* job_submit(). */
int lt_submit(job_desc_msg_t *job, char **err_msg);

/* The hold of the job as it will be, and what its budgets have left behind it. False when that
 * can't be known; s->error says why. */
bool lt_submission_price(struct lt_submission *submission);

/* Price the job as it will be, hold it and act on the verdict: an error code of Slurm, or
 * SLURM_SUCCESS. */
int lt_submission_admit(struct lt_submission *submission);

/* No market was ever loaded: only who is budgeted may be known. */
int lt_submission_blind(struct lt_submission *submission);

/* job_modify(). NULL err_msg on 22.05. */
int lt_modify(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg);

#endif
