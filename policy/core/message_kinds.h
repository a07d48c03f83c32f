/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kinds of messages, a row each: what files and the API call them, who gets them, and how
 * lowtided's step is called that looks for them. The first are alerts, which wait in the ledger
 * until they are sent (alert.h).
 *
 * A further alert needs a name and a row here, with what the policy says of it; its key in
 * policy/file/notify.c; and daemon/alerts/alert_looks.c, which finds it.
 */
#ifndef LT_MESSAGE_KINDS_H
#define LT_MESSAGE_KINDS_H

#include <stdbool.h>

#include "budget.h"
#include "lookup.h"

enum lt_message_kind {
	/* Alerts. They are stored, and keep their numbers. */
	LT_ALERT_BUDGET,
	LT_ALERT_RUN,
	LT_ALERT_DAY,
	LT_ALERT_IDLE,
	LT_ALERT_STATEMENT,
	LT_ALERT_KIND_COUNT,
	/* Those that are in no file but a message's, by their words. */
	LT_MESSAGE_BUDGET_DIGEST = LT_ALERT_KIND_COUNT,
	LT_MESSAGE_MOVED,
	LT_MESSAGE_INTERRUPTED,
	LT_MESSAGE_ENDED,
	LT_MESSAGE_KIND_COUNT
};

enum lt_hears {
	LT_HEARS_USER,	 /* who asked Slurm for mails of the job */
	LT_HEARS_OWNERS, /* the owners of the team */
	LT_HEARS_RUN,	 /* these, and the user of the run */
	LT_HEARS_SITE,	 /* these, and the site's webhook and program */
};

struct lt_message_row {
	const char *word;  /* in a message */
	const char *alert; /* in GET /v1/alerts; NULL: it is no alert */
	const char *step;  /* in metrics and logs; NULL: it has no own step */
	enum lt_hears hears;
};

/* The policy for alerts that do not belong to a budget; 0: none. */
struct lt_policy_alerts {
	double run_above;    /* times what was expected of it */
	int64_t idle_gpus_s; /* for so long at least */
	struct {
		uint32_t percent;	/* above the same weekday's mean */
		struct lt_amount floor; /* also above it, of what is said */
	} unusual;
};

static inline const struct lt_message_row *
lt_message_row(enum lt_message_kind kind)
{
	static const struct lt_message_row rows[LT_MESSAGE_KIND_COUNT] = {
	    [LT_ALERT_BUDGET] = {.word = "budget-alert", .alert = "budget", .hears = LT_HEARS_SITE},
	    [LT_ALERT_RUN] = {.word = "run-cost",
		.alert = "run",
		.step = "run costs",
		.hears = LT_HEARS_RUN},
	    [LT_ALERT_DAY] = {.word = "unusual-day",
		.alert = "day",
		.step = "unusual days",
		.hears = LT_HEARS_SITE},
	    [LT_ALERT_IDLE] = {.word = "idle-gpus", .alert = "idle", .hears = LT_HEARS_RUN},
	    [LT_ALERT_STATEMENT] = {.word = "statement",
		.alert = "statement",
		.hears = LT_HEARS_OWNERS},
	    /* A day's alerts below 100 %, to one owner; to none: to the site.
	     */
	    [LT_MESSAGE_BUDGET_DIGEST] = {.word = "budget-digest", .hears = LT_HEARS_OWNERS},
	    [LT_MESSAGE_MOVED] = {.word = "moved", .hears = LT_HEARS_USER},
	    [LT_MESSAGE_INTERRUPTED] = {.word = "interrupted", .hears = LT_HEARS_USER},
	    [LT_MESSAGE_ENDED] = {.word = "ended", .hears = LT_HEARS_USER},
	};

	return &LT_ROW(rows, kind);
}

/* "?": a kind of a later release. */
static inline const char *
lt_alert_word(enum lt_message_kind kind)
{
	return kind < LT_ALERT_KIND_COUNT ? lt_message_row(kind)->alert : "?";
}

/* True if it is of one run, and so its user's; else it is a team's. */
static inline bool
lt_alert_is_of_run(enum lt_message_kind kind)
{
	return lt_message_row(kind)->hears == LT_HEARS_RUN;
}

#endif
