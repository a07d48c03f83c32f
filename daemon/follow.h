/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtided on a login node (`--follow HOST`).
 */
#ifndef LT_FOLLOW_H
#define LT_FOLLOW_H

#include "daemon.h"

/* Runs until a signal; the exit status. */
int lt_follow(struct lt_daemon *d, int signals_fd);

#endif
