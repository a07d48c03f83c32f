/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder between lowtided, which writes messages, and lowtide-notify, which sends and removes
 * them. A message is one file, ID.json, there whole or not at all.
 */
#ifndef LT_SPOOL_H
#define LT_SPOOL_H

#include "message.h"

enum {
	/* Messages that wait; more are refused, and the caller tries again. 1000 of 32 KiB are at
	 * most 32 MB. */
	LT_SPOOL_MAX = 1000,
	/* Messages among these that users' jobs cause (lt_message_uid()):
	 * alerts of budgets always have room, and so has each other user. */
	LT_SPOOL_USERS_MAX = 800,
	LT_SPOOL_USER_MAX = 100,
};

/*
 * Leaves a message there, for the group of the folder to read (mode 0640). One that is there
 * already stays, and is LT_OK. LT_ELIMIT: full, or a user's or all users' share is
 * (lt_spool_has_room() says so before). LT_ENOENT: no such folder. LT_EINPUT: others than its owner
 * and group may enter it, or the message is not valid.
 */
int lt_spool_write(const char *dir, const struct lt_message *message, struct lt_error *err);

struct lt_spool_list { /* start as { 0 }; lt_spool_list_free() */
	int count;
	char (*ids)[LT_MESSAGE_ID_SIZE];
};
/* The ids of at most LT_SPOOL_MAX messages, in no order. */
int lt_spool_list(struct lt_spool_list *list, const char *dir, struct lt_error *err);
void lt_spool_list_free(struct lt_spool_list *list);
/* Reads one of them. LT_ENOENT: it is gone. LT_EINPUT: it is not a message. */
int lt_spool_read(
    struct lt_message *message, const char *dir, const char *id, struct lt_error *err);
int lt_spool_remove(const char *dir, const char *id, struct lt_error *err);

struct lt_spool_state { /* start as { 0 } */
	int count;
	int64_t oldest_utc_s; /* when it was left there; 0: none waits */
	int users_count;      /* by whose jobs they are, one each */
	uint32_t uids[LT_SPOOL_USERS_MAX];
};
int lt_spool_look(struct lt_spool_state *state, const char *dir, struct lt_error *err);
/* True if one more message of that user may be left there. uid: as lt_message_uid(). Pure. */
bool lt_spool_has_room(const struct lt_spool_state *state, int64_t uid);
/* Counts one that was left there since. */
void lt_spool_count(struct lt_spool_state *state, int64_t uid);

#endif
