/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that something happened to, looked up singly: where slurmctld has very many, a list of all
 * takes long and is rare.
 */
#ifndef LT_POLL_JOBS_H
#define LT_POLL_JOBS_H

#include <stdint.h>

struct lt_daemon;
struct lt_error;

/* Follows the jobs that were named, and those that slurmdbd says have ended. Too many for single
 * questions: a list is due. */
int lt_poll(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
