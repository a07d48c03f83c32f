/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A socket at which strangers connect to libmicrohttpd: each connection is accepted here, into a
 * slot, and has two seconds until the answer function says who it is; idle ones go first.
 */
#ifndef LT_DOOR_H
#define LT_DOOR_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "error.h"

/* ---- slots ---- */

/*
 * Says who holds how many connections, and until when: no user can take them all, some are kept for
 * admins, and none is held longer than its deadline. Where the socket does not name the user, those
 * who have yet to show it are strangers: few, for a moment, and of too many the one that has waited
 * the longest goes.
 */
enum {
	LT_SLOTS_MAX = 256,	    /* connections of one socket */
	LT_SLOTS_PER_USER = 32,	    /* more: refused, but for admins */
	LT_SLOTS_FOR_ADMINS = 32,   /* others get the rest only */
	LT_SLOTS_PER_HOST = 32,	    /* strangers of a host; */
	LT_SLOTS_STRANGERS = 96,    /* of all, which no user gets */
	LT_SLOT_SHOW_MS = 2000,	    /* to show who it is, in all */
	LT_SLOT_REQUEST_MS = 15000, /* to send a request, in all */
	LT_SLOT_REPLY_MS = 60000,   /* then, to take its answer */
};

struct lt_slot {
	bool taken, is_admin;
	bool is_stranger, is_ending; /* ending: dropped, and counts no more */
	int fd;
	uint32_t who; /* uid; a stranger's address */
	int64_t since_ms, deadline_ms;
};

struct lt_slots { /* start as { 0 } */
	struct lt_slot slots[LT_SLOTS_MAX];
};

/* A slot for a connection that was accepted at now_ms (a clock that is never set); NULL: refused.
 * Its deadline is that of a request. */
struct lt_slot *lt_slot_take(
    struct lt_slots *slots, int fd, uint32_t who, bool is_admin, int64_t now_ms);
/* The same for a stranger from that address; its deadline is LT_SLOT_SHOW_MS from now. */
struct lt_slot *lt_slot_take_stranger(
    struct lt_slots *slots, int fd, uint32_t host, int64_t now_ms);
/* Calls end for the connection of the stranger who has waited the longest: of that host where it
 * has as many as it may, else of the host with the most. */
void lt_slots_drop_stranger(struct lt_slots *slots, uint32_t host, void (*end)(int fd));
/* A stranger has shown who it is: a request's deadline from now on. False: that user has as many as
 * they may; it stays a stranger's. */
bool lt_slot_show(
    struct lt_slots *slots, struct lt_slot *slot, uint32_t who, bool is_admin, int64_t now_ms);
void lt_slot_free(struct lt_slot *slot);

/* Calls end for each connection whose deadline has passed, once: it is closed by that, and its slot
 * freed when it is gone. */
void lt_slots_expire(struct lt_slots *slots, int64_t now_ms, void (*end)(int fd));
/* Milliseconds till the next deadline, at most most_ms. */
int lt_slots_wait_ms(const struct lt_slots *slots, int64_t now_ms, int most_ms);

/* ---- the door ---- */

struct lt_door {		   /* start as { .fd = -1 } */
	int fd;			   /* listens, and does not block; the caller's */
	struct MHD_Daemon *server; /* the caller's; of MHD_USE_NO_LISTEN_SOCKET,
				    * with lt_door_watch() */
	struct lt_slots slots;
	struct lt_slot *accepted; /* becomes a connection just now */
};

/*
 * Listens on a port of all IPv4 addresses. One that is in use is waited for, 10 s, as a program
 * that was killed may leave children for a moment. Returns its descriptor; LT_ECONFLICT: another
 * program listens there; LT_EIO.
 */
int lt_door_listen(uint16_t port, struct lt_error *err);
/* An MHD_NotifyConnectionCallback; its closure is the door. */
void lt_door_watch(void *door, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode code);
/* Hands an accepted connection to libmicrohttpd, which has fd from then on; its slot is freed with
 * it. */
void lt_door_admit(struct lt_door *door, struct lt_slot *slot, int fd,
    const struct sockaddr *address, socklen_t size);
/* Accepts those who wait, as strangers, and runs libmicrohttpd. */
void lt_door_run(struct lt_door *door, int64_t now_ms);
/* The connection's slot, here or where lt_slot_take() gave it; NULL: none. */
struct lt_slot *lt_door_slot(struct MHD_Connection *connection);
/* The connection is of that user: false where they have too many. */
bool lt_door_show(struct lt_door *door, struct MHD_Connection *connection, uint32_t uid,
    bool is_admin, int64_t now_ms);

#endif
