/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources of the policy at run time: what each gave, and the steps that the market and the
 * charges get from it. Fetched by children (fetch.c).
 */
#ifndef LT_SIGNALS_H
#define LT_SIGNALS_H

#include "adapter.h"
#include "forecast_fit.h"
#include "ledger.h"
#include "policy.h"

enum {
	LT_HORIZON_S = 14 * 86400,	/* how far a series looks ahead */
	LT_HISTORY_S = 28 * 86400,	/* what a forecast is made from */
	LT_POINTS_KEEP_S = 400 * 86400, /* raw points: a year and a bit */
};

struct lt_source { /* one source of the policy at run time */
	const struct lt_policy_source *policy;
	const struct lt_adapter *adapter;
	struct lt_source_options options; /* into policy */
	/* Key in the ledger: its name and options, for another region or currency is another
	 * history. */
	char key[LT_NAME_SIZE];
	/* Keys of the sources of weather for its forecasts; NULL = none. */
	const char *weather[LT_AHEAD_COUNT];
	enum lt_quantity quantity;
	bool busy, fetched;
	/* issued: when the source made what we have; its age is by this */
	int64_t next_fetch_utc_s, fetched_utc_s, issued_utc_s;
	int64_t complete_utc_s;		 /* its past up to then was asked for, and came;
					  * 0 = not yet */
	int64_t deep_utc_s;		 /* all of its history was asked for, and came; in
					  * this process */
	int failures;			 /* tries in a row that failed */
	uint64_t tries, failed_tries;	 /* in this process */
	struct lt_source_memory *memory; /* tokens, validators; own */
	char note[LT_POINTS_NOTE_SIZE];	 /* of the last good fetch */
	int64_t retry_after_s;		 /* the source asked for it; 0 = for none */
	char last_error[LT_ERROR_TEXT_SIZE];
	/* what it gives the market: measured, forecast, then our own */
	uint32_t step_count;
	struct lt_rate_step *steps;
	uint64_t generation;	     /* counts up with each change of steps */
	struct lt_forecast_fit *fit; /* to its long history; NULL = none */
	int64_t fit_utc_s;	     /* when it was asked for; 0 = never */
};

struct lt_signals_state {
	int source_count;
	struct lt_source *sources;
	struct lt_chosen *chosen;  /* hazard.c: the sources in use */
	struct lt_seen_here *seen; /* hazard.c: interruptions, for a while */
	bool seen_dirty;	   /* a run was interrupted since */
	bool changed;		   /* what the market is made of, since it was made */
};

/* Takes points of a source into the ledger and its steps. A failure is logged and in last_error;
 * the source keeps what it had, and is asked for all of it again. */
int lt_signals_take(struct lt_ledger *ledger, const struct lt_policy *policy,
    struct lt_source *source, struct lt_points *points, int64_t now_utc_s);
/* Restores what the ledger has of each source, at start and after a reload. */
void lt_signals_restore(
    struct lt_signals_state *signals, struct lt_ledger *ledger, int64_t now_utc_s);
/* Takes a fit that was made meanwhile, for its steps from now on. False:
 * nothing was fitted, and what it had is dropped. */
bool lt_signals_take_fit(struct lt_signals_state *signals, struct lt_ledger *ledger,
    struct lt_source *source, const struct lt_forecast_fit *fit, int64_t now_utc_s);
/* True if its days are alike, so that forecasts of it mean something. */
bool lt_signals_is_seasonal(const struct lt_source *source);
/* Makes source->key; its policy, adapter and options are there. */
void lt_signals_key(
    char key[LT_NAME_SIZE], const struct lt_policy *policy, const struct lt_source *source);
/* Returns what the intensities of the partitions' sources count: all the same, as the policy was
 * checked for. */
enum lt_basis lt_signals_basis(
    const struct lt_signals_state *signals, const struct lt_policy *policy);
/* Returns its step of now, or the last that began; NULL: none has begun. */
const struct lt_rate_step *lt_source_step(const struct lt_source *source, int64_t now_utc_s);
/* Returns that step's value, else the first one's; it has steps. */
double lt_source_value(const struct lt_source *source, int64_t now_utc_s);
/* Forgets validators: the next answer is whole. */
void lt_source_forget(struct lt_source_memory *memory);

#endif
