/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settling with all of a lowtided's parts, as a pass does it.
 */
#ifndef LT_TEST_SETTLING_H
#define LT_TEST_SETTLING_H

#include "daemon.h"
#include "expire.h"
#include "settle.h"

static inline int
settle_rows(
    struct lt_daemon *d, struct lt_batch_runs *rows, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_settler by = lt_daemon_settler(d, now_utc_s);

	return lt_settle_again(&by, rows, err);
}

static inline int
settle_between(struct lt_daemon *d, int64_t from_utc_s, int64_t to_utc_s, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_settler by = lt_daemon_settler(d, now_utc_s);

	return lt_settle(&by, from_utc_s, to_utc_s, err);
}

static inline int
settle_what_is_due(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_settler by = lt_daemon_settler(d, now_utc_s);

	return lt_settle_due(&by, err);
}

static inline int
expire_holds(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_settler by = lt_daemon_settler(d, now_utc_s);

	return lt_expire(&by, err);
}

#endif
