/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Unix socket: made, and what the kernel says of who connects.
 */
#ifndef LT_LISTEN_H
#define LT_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

/* A fresh socket under a new name, then renamed: no moment without one that
 * works, and a stale one is replaced. Its descriptor, or a negative code. */
int lt_listen(const char *path, struct lt_error *err);
/* Closes a connection that there is no room for, and says so. */
void lt_listen_refuse(int fd);
/* libmicrohttpd sees the end of it, and closes. */
void lt_listen_hang_up(int fd);
bool lt_listen_peer(int fd, uint32_t *uid);

#endif
