/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of job_submit between calls: the loaded market and budget snapshot and the opened
 * history (shared by reference count), the holds since the snapshot, and the ring. One short mutex
 * guards memory arithmetic; files are read outside of it.
 */
#ifndef LT_JOB_STATE_H
#define LT_JOB_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "budget.h"
#include "files.h"
#include "history_file.h"
#include "market.h"
#include "off.h"
#include "ring.h"

struct lt_view {				   /* lent until lt_state_release() */
	const struct lt_market *market;		   /* NULL: never loaded */
	const struct lt_budget_snapshot *snapshot; /* NULL: never loaded */
	const struct lt_history_file *history;	   /* NULL: never loaded */
	const struct lt_planned *planned;
	uint32_t planned_count;
	struct lt_off off;
	struct lt_market_box *market_box;
	struct lt_sheet_box *sheet_box;
	struct lt_history_box *history_box;
};

enum lt_standing {
	LT_STANDING_FREE,    /* no budget binds, or no budget was ever known */
	LT_STANDING_JUDGED,  /* verdict says */
	LT_STANDING_UNKNOWN, /* why says; on_unknown decides */
};

struct lt_new_hold { /* what is to be held */
	uint64_t quote_id;
	uint32_t uid, job_id, tasks, flags;
	const char *account; /* lower case, never NULL */
	struct lt_amount per_task;
	int64_t start_utc_s, end_utc_s;
	bool force;	      /* observe, advise: hold it even when over */
	bool is_bounded;      /* as in struct lt_hold, */
	struct lt_amount own; /* and this */
};

struct lt_admission {
	enum lt_standing standing;
	struct lt_verdict verdict;
	enum lt_rule on_unknown;
	const char *why; /* static text */
	bool recorded;	 /* it is in the ring */
};

/* Forget everything, find the directories, load what is there. */
void lt_state_init(void);
void lt_state_fini(void);

/* Reload what changed on disk, at most once in 200 ms, by one thread. */
void lt_state_refresh(void);

void lt_state_view(struct lt_view *view);
void lt_state_release(struct lt_view *view);

/* Judge and hold; one ring write, outside the mutex. */
void lt_state_admit(struct lt_admission *admission, const struct lt_new_hold *entry);

/* A record of nothing, where there is room: lowtided looks at the job, or counts one that was
 * refused. */
void lt_state_note(const struct lt_new_hold *entry);

/* Why no balance can be known now; static text, NULL if it can. */
const char *lt_state_unknown(void);

/* Least that is available to the request's user and account over the window, by the budgets of
 * these rules: lt_available(). */
void lt_state_available(struct lt_amount *available, uint32_t rules,
    const struct lt_request *request, int64_t start_utc_s, int64_t end_utc_s);

/* Book a window, so that the next decisions see it. */
void lt_state_book(const struct lt_view *view, const struct lt_planned *window);

/* Never 0, never twice in a process, random between processes. */
uint64_t lt_state_quote_id(void);

/* Submissions that are not known to be of an account without budget (account:
 * an index of the snapshot, -1 = not known). */
void lt_asked_forget(int64_t now_utc_s);
void lt_asked_note(
    const struct lt_budget_snapshot *snapshot, uint32_t uid, int account, int64_t now_utc_s);
/*
 * True for a plain user whose jobs of budgets are all in the terms, which are as old as the
 * snapshot: they submitted none since, and no task of an array of theirs may have got a new id.
 * False if that is not sure.
 */
bool lt_asked_nothing(const struct lt_budget_snapshot *snapshot, uint32_t uid);
/* True if any budget binds any account of this user. */
bool lt_user_budgeted(const struct lt_budget_snapshot *snapshot, uint32_t uid);

/* The terms file. */
const char *lt_state_terms_path(void);

/* slurm_error(), but the same text at most once a minute. */
void lt_state_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
