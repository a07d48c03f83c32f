/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTTP server: Unix socket with peer credentials, TCP with munge
 * credentials; both end in lt_api().
 */
#ifndef LT_SERVE_H
#define LT_SERVE_H

#include <poll.h>

#include "daemon.h"

enum { LT_SERVE_FDS = 3 };

int lt_serve_start(struct lt_daemon *d, struct lt_error *err);
void lt_serve_stop(void);
/* Descriptors to poll; how many. */
int lt_serve_fds(struct pollfd *fds, int room);
/* The smaller of wait_ms and what the server needs. */
int lt_serve_timeout_ms(int wait_ms);
/* Do what can be done without waiting. */
void lt_serve_run(struct lt_daemon *d);

#endif
