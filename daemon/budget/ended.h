/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs that ended and wait for slurmdbd's row, over a restart.
 */
#ifndef LT_ENDED_H
#define LT_ENDED_H

#include "daemon.h"

int lt_ended_save(struct lt_daemon *d, struct lt_error *err);
/* What was saved, added to d->jobs.ended; nothing saved is no failure. */
void lt_ended_load(struct lt_daemon *d);

#endif
