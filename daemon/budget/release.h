/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admin holds, and what is freed.
 */
#ifndef LT_RELEASE_H
#define LT_RELEASE_H

#include <stdint.h>

struct lt_daemon;
struct lt_error;

int lt_release(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
