/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What explain tells of a run that stands still, or did.
 */
#ifndef LT_PAUSE_TEXT_H
#define LT_PAUSE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct lt_batch_job;
struct lt_daemon;

/* Whole lines; "" of one that never stood still. Returns out. */
const char *lt_pause_text(char *out, size_t size, const struct lt_daemon *d,
    const struct lt_batch_job *job, int64_t now_utc_s);

#endif
