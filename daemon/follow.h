/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtided on a login node (`--follow HOST`).
 */
#ifndef LT_FOLLOW_H
#define LT_FOLLOW_H

#include "daemon.h"

/* Runs until a signal; the exit status. */
int lt_follow(struct lt_daemon *d, int signals_fd);

/* The answer to a local request, by asking HOST: HTTP status; *reply is
 * malloc'd. */
int lt_follow_balance(const struct lt_daemon *d, uint32_t uid,
    const char *uri, char **reply);

#endif
