/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds that no job, row or queue knows end without a charge.
 */
#ifndef LT_VOID_H
#define LT_VOID_H

#include <stdint.h>

struct lt_daemon;
struct lt_error;

enum { LT_VOID_AFTER_S = 60 }; /* see void.c */

int lt_void(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
