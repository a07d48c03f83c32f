/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the budget snapshot is written, and the terms with it. A snapshot says of when its figures
 * are; where nothing has changed since, only that is written anew.
 */
#ifndef LT_PUBLISH_H
#define LT_PUBLISH_H

#include <stdint.h>

#include "breath.h"

struct lt_daemon;
struct lt_error;

/* Writes what is due now. */
void lt_publish(struct lt_daemon *d, int64_t now_utc_s);
/* Publishes amid work, however long it is. Amid a transaction nothing is added up, as it may be
 * undone: the snapshot that was right before is renewed. */
void lt_publish_amid(struct lt_daemon *d, enum lt_turn turn);

/* Writes, as a step of a pass, the snapshot of all budgets as of now, and its files. */
int lt_publish_budget(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
