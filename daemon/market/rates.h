/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rates that held, for charges.
 */
#ifndef LT_RATES_H
#define LT_RATES_H

#include <stdint.h>

struct lt_daemon;
struct lt_error;

/* Record what holds now in each managed partition. */
int lt_rates_record(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
