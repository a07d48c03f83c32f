/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One list of all stamps of lowtided that intervals depend on. A clock that goes back must stall
 * nothing, one that jumps must expire nothing early. The loop calls lt_clock_follow() before each
 * turn; stamps in the ledger are moved too, and tried again in the next turn if it can't be
 * written.
 */
#include <stddef.h>

#include "clock.h"
#include "daemon.h"
#include "log.h"

int64_t
lt_clock_step(struct lt_clock *clock, int64_t wall_ms, int64_t monotonic_ms)
{
	const int64_t offset_ms = wall_ms - monotonic_ms;

	if (!clock->known) {
		*clock = (struct lt_clock){.known = true, .behind = true, .offset_ms = offset_ms};
		return 0;
	}
	const int64_t by_s = (offset_ms - clock->offset_ms) / 1000;
	clock->offset_ms += by_s * 1000;
	return by_s;
}

/* Times at which something is due, or was; 0 stays "at once", or "never". */
static const size_t stamps[] = {
    offsetof(struct lt_daemon, jobs.next.list),
    offsetof(struct lt_daemon, jobs.next.list_from),
    offsetof(struct lt_daemon, jobs.next.list_soonest),
    offsetof(struct lt_daemon, jobs.next.ended),
    offsetof(struct lt_daemon, jobs.next.started),
    offsetof(struct lt_daemon, site.next.tables),
    offsetof(struct lt_daemon, site.next.market),
    offsetof(struct lt_daemon, next.snapshot),
    offsetof(struct lt_daemon, next.renewal),
    offsetof(struct lt_daemon, next.dirty),
    offsetof(struct lt_daemon, charges.next.settle),
    offsetof(struct lt_daemon, next.voids),
    offsetof(struct lt_daemon, next.policy),
    offsetof(struct lt_daemon, next.policy_told),
    offsetof(struct lt_daemon, next.prune),
    offsetof(struct lt_daemon, charges.next.history),
    offsetof(struct lt_daemon, charges.next.history_soonest),
    offsetof(struct lt_daemon, charges.next.used),
    offsetof(struct lt_daemon, alerts.next.mails),
    offsetof(struct lt_daemon, alerts.next.forecasts),
    offsetof(struct lt_daemon, budget.counted_utc_s),
    offsetof(struct lt_daemon, ring.looked_utc_s),
    offsetof(struct lt_daemon, ring.stuck_utc_s),
    offsetof(struct lt_daemon, jobs.list.begun_utc_s),
    offsetof(struct lt_daemon, jobs.ended_until_utc_s),
};

static void
move_stamp(int64_t *stamp, int64_t by_s)
{
	if (*stamp != 0)
		*stamp += by_s;
}

/* The first start of all: before it nothing is charged. Set back, the clock shows that time once
 * more. */
static int
move_since(struct lt_ledger *ledger, int64_t now_utc_s, struct lt_error *err)
{
	int64_t since_utc_s;

	if (!lt_ledger_get_number(ledger, "since", 0, &since_utc_s) || since_utc_s <= now_utc_s)
		return LT_OK;
	return lt_ledger_put_number(ledger, "since", now_utc_s, err);
}

/* Moves the stamps in the ledger; again in the next turn if that fails. */
static void
move_ledger(struct lt_clock *clock, struct lt_ledger *ledger, int64_t now_utc_s)
{
	struct lt_error err = {0};

	if (!clock->behind || ledger == NULL)
		return;
	int code = lt_ledger_move_holds(ledger, clock->behind_by_s, now_utc_s, &err);
	if (code == LT_OK) {
		clock->behind_by_s = 0;
		code = move_since(ledger, now_utc_s, &err);
	}
	clock->behind = code != LT_OK;
	if (code != LT_OK)
		lt_log("clock_not_followed", "error=\"%s\"", err.text);
}

void
lt_clock_follow(struct lt_daemon *d, int64_t wall_ms, int64_t monotonic_ms)
{
	const int64_t by_s = lt_clock_step(&d->clock, wall_ms, monotonic_ms);

	if (by_s != 0) {
		lt_log("clock_was_set", "by_s=%lld", (long long)by_s);
		for (size_t i = 0; i < sizeof(stamps) / sizeof(*stamps); i++)
			move_stamp((int64_t *)((char *)d + stamps[i]), by_s);
		for (int i = 0; i < LT_ALERT_KIND_COUNT; i++)
			move_stamp(&d->alerts.next.looks[i], by_s);
		for (int i = 0; i < d->signals.source_count; i++)
			move_stamp(&d->signals.sources[i].next_fetch_utc_s, by_s);
		for (uint32_t i = 0; i < d->jobs.ended_count; i++)
			move_stamp(&d->jobs.ended[i].seen_utc_s, by_s);
		d->clock.behind_by_s += by_s;
		d->clock.behind = true;
		d->signals.seen_dirty = true; /* hazard.c looks again */
		/* Files have their age by the clock as it was. */
		d->signals.changed = d->budget.dirty = d->budget.is_of_other_clock = true;
	}
	move_ledger(&d->clock, d->ledger, wall_ms / 1000);
}
