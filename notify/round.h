/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs one round of the spool: messages that are due are sent, once by each way that they have to
 * go; one that failed is due again later; one that has gone by all ways is removed. Alerts of
 * budgets go first, then one mail of each user in turn, and so on. A user's mails to a domain that
 * puts one off are put off with it: the mails of others, and theirs to other domains, are not.
 */
#ifndef LT_NOTIFY_ROUND_H
#define LT_NOTIFY_ROUND_H

#include "spool.h"
#include "ways.h"

/* ---- the file of what was sent ----
 *
 * Lines "2026-11-27T22:00:00Z ID WAY", kept for LT_SENT_KEEP_S, so that nothing is sent twice. */

enum {
	/* lowtided writes an event again only if it was killed in between. */
	LT_SENT_KEEP_S = 30 * 24 * 3600,
	LT_SENT_MAX = 100000,	 /* lines; of more the newer half is kept */
	LT_SENT_LINE_SIZE = 512, /* a longer one is not ours */
};

struct lt_sent { /* lt_sent_open(), lt_sent_close() */
	int fd, lock_fd;
	size_t count, sorted, capacity; /* `sorted` come first, in order */
	char **keys;			/* "ID WAY" */
};

/* Reads DIR/sent, makes it where there is none, and drops what is old. A line that a killed process
 * left half-written is dropped. LT_ECONFLICT: another process has it. */
int lt_sent_open(struct lt_sent *sent, const char *dir, int64_t now_utc_s, struct lt_error *err);
bool lt_sent_has(const struct lt_sent *sent, const char *id, const char *way);
/* On disk when it returns LT_OK; else at least this process knows it. */
int lt_sent_add(
    struct lt_sent *sent, const char *id, const char *way, int64_t now_utc_s, struct lt_error *err);
void lt_sent_close(struct lt_sent *sent);

/* ---- a round ---- */

enum {
	LT_NOTIFY_GIVE_UP_S = 3 * 24 * 3600, /* then it is dropped, and that is logged */
	LT_NOTIFY_RETRY_MAX_S = 3600,	     /* between two tries */
	/* Users' mails at a time: then the spool is looked at for alerts. */
	LT_NOTIFY_TURN_MS = 20000,
	/* Domains of users that are put off; of more the one that is due first is tried by each
	 * mail again. */
	LT_NOTIFY_DOMAINS_MAX = 256,
};

struct lt_waiting { /* a message that was tried */
	char id[LT_MESSAGE_ID_SIZE];
	int tries;
	int64_t due_ms; /* monotonic */
};

struct lt_domain { /* that put off a mail of that user */
	uint32_t uid;
	char name[LT_ADDRESS_SIZE];
	int tries;
	int64_t due_ms; /* monotonic */
};

struct lt_turn { /* of a message in a round */
	const char *id;
	int64_t uid; /* lt_message_uid() */
	int rank;    /* its place among its user's; -1: of no user */
};

struct lt_round { /* start as { 0 }; lt_round_end() */
	const struct lt_policy_notify *notify;
	struct lt_sent *sent;
	int64_t retry_s;			 /* from the first try on */
	struct lt_waiting waiting[LT_SPOOL_MAX]; /* over the rounds */
	int waiting_count;
	struct lt_domain domains[LT_NOTIFY_DOMAINS_MAX]; /* as well */
	int domain_count;
	struct lt_turn turns[LT_SPOOL_MAX]; /* the list, in order */
	struct lt_spool_list list;
	bool is_away[3]; /* by way: nobody answered, in this round */
	int64_t now_ms;
	/* State of the message at hand: was it tried, and when is the first domain due that it was
	 * not tried at? */
	bool is_tried;
	int64_t domain_due_ms;
	int left;	/* messages that are not gone */
	int64_t due_ms; /* of the next of them; INT64_MAX: none */
};

/* Sends what is due. A failure with one message is logged, and the others are sent; the error that
 * is returned is one of the spool or of the file of what was sent. */
int lt_round_run(struct lt_round *round, int64_t now_utc_s, int64_t now_ms, struct lt_error *err);
void lt_round_end(struct lt_round *round);
/* Returns the seconds until the next try: doubled with each, up to LT_NOTIFY_RETRY_MAX_S. tries: so
 * far, from 1. Pure. */
int64_t lt_round_wait_s(int64_t retry_s, int tries);

#endif
