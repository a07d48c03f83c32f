/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Alerts that are due, into the spool: what can't wait at once, the rest in one message a day to
 * each who is concerned.
 */
#ifndef LT_ALERT_SEND_H
#define LT_ALERT_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

struct lt_alert;
struct lt_alerter;
struct lt_offsets;

/*
 * Sends at once: a budget from 100 % on, for the largest percentage of its period and basis, with
 * the smaller ones in it; and all other alerts. Percentages below go out once a day, those made
 * before the last digest_hour, a line a budget. The spool is written first, then the ledger: if
 * lowtided is killed between the two it writes the same message, by the same id. Without notify: it
 * does nothing.
 */
int lt_alerts_send(const struct lt_alerter *by, struct lt_error *err);

/* True if it goes out at once, not with the day's digest. Pure. */
bool lt_alert_is_at_once(const struct lt_alert *alert);

/* Returns the last time at or before now at which the site's clock stood at that hour; on a day
 * that the clock is set, from its midnight on. Pure. */
int64_t lt_alert_digest_utc_s(const struct lt_offsets *offsets, uint32_t hour, int64_t now_utc_s);
/* Returns the next one. Pure. */
int64_t lt_alert_next_digest_utc_s(
    const struct lt_offsets *offsets, uint32_t hour, int64_t now_utc_s);

#endif
