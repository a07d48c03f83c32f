/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A socket at which strangers connect to libmicrohttpd: each connection is
 * accepted here, into a slot, and has two seconds until the answer function
 * says who it is; idle ones go first.
 */
#ifndef LT_DOOR_H
#define LT_DOOR_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "error.h"
#include "slots.h"

struct lt_door { /* start as { .fd = -1 } */
	int fd;	 /* listens, and does not block; the caller's */
	struct MHD_Daemon *server; /* the caller's; of MHD_USE_NO_LISTEN_SOCKET,
				    * with lt_door_watch() */
	struct lt_slots slots;
	struct lt_slot *accepted; /* becomes a connection just now */
};

/*
 * Listens on a port of all IPv4 addresses. One that is in use is waited for,
 * 10 s, as a program that was killed may leave children for a moment. Returns
 * its descriptor; LT_ECONFLICT: another program listens there; LT_EIO.
 */
int lt_door_listen(uint16_t port, struct lt_error *err);
/* An MHD_NotifyConnectionCallback; its closure is the door. */
void lt_door_watch(void *door, struct MHD_Connection *connection,
    void **context, enum MHD_ConnectionNotificationCode code);
/* Hands an accepted connection to libmicrohttpd, which has fd from then on; its
 * slot is freed with it. */
void lt_door_admit(struct lt_door *door, struct lt_slot *slot, int fd,
    const struct sockaddr *address, socklen_t size);
/* Accepts those who wait, as strangers, and runs libmicrohttpd. */
void lt_door_run(struct lt_door *door, int64_t now_ms);
/* The connection's slot, here or where lt_slot_take() gave it; NULL: none. */
struct lt_slot *lt_door_slot(struct MHD_Connection *connection);
/* The connection is of that user: false where they have too many. */
bool lt_door_show(struct lt_door *door, struct MHD_Connection *connection,
    uint32_t uid, bool is_admin, int64_t now_ms);

#endif
