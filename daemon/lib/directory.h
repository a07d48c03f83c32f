/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system's directory of users and groups (nsswitch), which may be slow or hang: children ask
 * it, a few at once, and nobody waits for them. What they say is kept for a while, that there is no
 * such user too.
 */
#ifndef LT_DIRECTORY_H
#define LT_DIRECTORY_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "market.h"

enum {
	LT_DIRECTORY_KEPT_MAX = 512, /* answers of a kind; then the oldest goes */
	LT_DIRECTORY_ASKED_MAX = 4,  /* children of a kind at once */
	LT_DIRECTORY_KINDS = 3,	     /* uids, names, members */
	LT_DIRECTORY_FDS = LT_DIRECTORY_KINDS * LT_DIRECTORY_ASKED_MAX,
	LT_DIRECTORY_KEEP_MS = 300000, /* an answer */
	LT_DIRECTORY_AGAIN_MS = 60000, /* that there is none; no answer */
	LT_DIRECTORY_WAIT_MS = 8000,   /* then callers learn that it is silent, */
	LT_DIRECTORY_MEMBER_MS = 1000, /* or goes by what was known */
};

enum lt_found {
	LT_FOUND,
	LT_FOUND_NONE,
	LT_FOUND_LATER,	 /* it is asked: come again when lt_directory_news()
			  * has changed */
	LT_FOUND_SILENT, /* it did not answer in time */
};

/* now_ms, here and below: the clock that is never set. *uid is written with LT_FOUND only. */
enum lt_found lt_directory_uid(const char *name, uint32_t *uid, int64_t now_ms);
/* name: written with LT_FOUND only. */
enum lt_found lt_directory_name(uint32_t uid, char name[LT_NAME_SIZE], int64_t now_ms);

struct lt_groups_asked {
	char (*names)[LT_NAME_SIZE]; /* read only; as long as they are asked
				      * for: lt_directory_forget_members() */
	int count;
	uint32_t uid;
};
/*
 * Says whether the user is in one of these Unix groups, the primary group included: LT_FOUND, or
 * LT_FOUND_NONE if not. A silent directory leaves the answer as it was, at first LT_FOUND_NONE. The
 * groups are the same at each call.
 */
enum lt_found lt_directory_member(const struct lt_groups_asked *asked, int64_t now_ms);
/* Other groups are asked for from now on. */
void lt_directory_forget_members(void);

/* Takes answers, and asks what waits. */
void lt_directory_run(int64_t now_ms);
/* A number that changes with each answer, and with each that did not come. */
uint64_t lt_directory_news(void);
int lt_directory_fds(struct pollfd *fds, int room);
/* The smaller of most_ms and the time until somebody has waited too long. */
int lt_directory_wait_ms(int64_t now_ms, int most_ms);
/* Ends what runs, and forgets all. */
void lt_directory_stop(void);

#endif
