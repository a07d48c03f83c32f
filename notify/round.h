/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One look at the spool: what is due is sent, by each way that it has to go,
 * once; what failed is due again later; what has gone by all ways is removed.
 */
#ifndef LT_NOTIFY_ROUND_H
#define LT_NOTIFY_ROUND_H

#include "sent.h"
#include "spool.h"
#include "ways.h"

enum {
	LT_NOTIFY_GIVE_UP_S = 3 * 24 * 3600, /* then it is dropped, and said */
	LT_NOTIFY_RETRY_MAX_S = 3600,	     /* between two tries */
};

struct lt_waiting { /* a message that was tried */
	char id[LT_MESSAGE_ID_SIZE];
	int tries;
	int64_t due_ms; /* monotonic */
};

struct lt_round { /* start as { 0 }; lt_round_end() */
	const struct lt_policy_notify *notify;
	struct lt_sent *sent;
	int64_t retry_s;			 /* from the first try on */
	struct lt_waiting waiting[LT_SPOOL_MAX]; /* over the rounds */
	int waiting_count;
	struct lt_spool_list list;
	bool is_away[3]; /* by way: nobody answered, in this round */
	int left;	 /* messages that are not gone */
	int64_t due_ms;	 /* of the next of them; INT64_MAX: none */
};

/* What is wrong with one message is logged, and the others go on; an error is
 * of the spool or of the file of what was sent. */
int lt_round_run(struct lt_round *round, int64_t now_utc_s, int64_t now_ms,
    struct lt_error *err);
void lt_round_end(struct lt_round *round);
/* Seconds until the next try: doubled with each, up to LT_NOTIFY_RETRY_MAX_S.
 * tries: so far, from 1. Pure. */
int64_t lt_round_wait_s(int64_t retry_s, int tries);

#endif
