/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections of lowtided: the Unix socket, the user at its other end, and whole replies through
 * libmicrohttpd with the time that they may take.
 */
#ifndef LT_CONNECTION_H
#define LT_CONNECTION_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"

/* Makes the socket under a new name and renames it, so that there is always one that works and a
 * stale one is replaced. Returns its descriptor, or a negative code. */
int lt_listen(const char *path, struct lt_error *err);
/* Closes a connection beyond the limit, after a reply that says so. */
void lt_listen_refuse(int fd);
/* Shuts the connection down; libmicrohttpd sees its end and closes it. */
void lt_listen_hang_up(int fd);
bool lt_listen_peer(int fd, uint32_t *uid);

/* text: malloc'd, taken over. */
enum MHD_Result lt_respond(
    struct MHD_Connection *connection, unsigned status, char *text, const char *type);
/* The same; release is called with the text once it is sent. */
enum MHD_Result lt_respond_lent(struct MHD_Connection *connection, unsigned status, char *text,
    const char *type, void (*release)(void *text));
/* Replies {"error": why}. */
enum MHD_Result lt_respond_error(
    struct MHD_Connection *connection, unsigned status, const char *why);
/* Sets when the connection is closed: at first by when a request must be here, then by when the
 * reply must be sent. */
void lt_respond_until(struct MHD_Connection *connection, int64_t deadline_ms);

#endif
