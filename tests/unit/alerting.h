/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Alerts, forecasts and mails with all of a lowtided's parts, as a pass makes them.
 */
#ifndef LT_TEST_ALERTING_H
#define LT_TEST_ALERTING_H

#include "daemon.h"

/* Returns the parts; lent until the next call. */
static inline const struct lt_alerter *
alerter_of(struct lt_daemon *d, int64_t now_utc_s)
{
	static struct lt_alerter by;

	by = lt_daemon_alerter(d, now_utc_s);
	return &by;
}

#endif
