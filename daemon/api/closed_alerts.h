/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statement of a closed month, as a message to the owners of each team.
 */
#ifndef LT_CLOSED_ALERTS_H
#define LT_CLOSED_ALERTS_H

#include "daemon.h"
#include "periods.h"

/* Notes an alert for each team of `notify: owners` that has anything booked in the period; within
 * the transaction that closes it. request: of who closes it, who sees all. */
int lt_closed_alerts(struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_closed *closed, struct lt_error *err);

#endif
