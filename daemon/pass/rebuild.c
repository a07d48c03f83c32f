/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide rebuild: prices all rows that slurmdbd still has again, and corrects the ledger where it
 * differs. Runs that slurmdbd has purged keep their charges. The ledger is whole at each moment:
 * lowtided may be killed. A failed window is tried again by the next step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "daemon.h"
#include "grow.h"
#include "log.h"
#include "rates.h"
#include "rebuild.h"
#include "reconcile.h"
#include "dbd_row.h"
#include "settle.h"
#include "batch_child.h"
#include "units.h"

int
lt_rebuild_start(struct lt_daemon *d, struct lt_error *err)
{
	struct lt_rebuild *const r = &d->rebuild;

	if (!lt_batch_has_dbd(&d->site.tables.conf))
		return lt_fail(
		    err, LT_EINPUT, "rebuild: this Slurm has no slurmdbd to rebuild from");
	if (r->stage != LT_REBUILD_RUNS)
		*r = (struct lt_rebuild){.stage = LT_REBUILD_RUNS, .window_s = LT_DAY_S};
	return LT_OK;
}

static int
begin_rebuild(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_rebuild *const r = &d->rebuild;
	int code =
	    r->repair.stage == 0 && r->repair.after == 0
		? lt_rates_record(&d->site, &d->signals, d->ledger, &d->jobs.list, now_utc_s, err)
		: LT_OK;

	if (code == LT_OK)
		code = lt_ledger_repair(d->ledger, &r->repair, err);
	if (code == LT_OK && r->repair.stage == LT_REPAIR_DONE)
		r->from_utc_s = r->at_utc_s = lt_settle_since(d->ledger, now_utc_s);
	return code;
}

static int
add_keys(struct lt_rebuild *r, const struct lt_batch_runs *rows, struct lt_error *err)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		struct lt_run_key *const grown =
		    lt_items_grow(r->keys, &r->key_capacity, r->key_count, sizeof(*grown));

		if (grown == NULL)
			return lt_fail(err, LT_ENOMEM, "rebuild: out of memory");
		r->keys = grown;
		r->keys[r->key_count++] =
		    (struct lt_run_key){rows->runs[i].job_id, rows->runs[i].submit_utc_s};
	}
	return LT_OK;
}

static int
settle_window(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_rebuild *const r = &d->rebuild;
	const struct lt_settler by = lt_daemon_settler(d, now_utc_s);
	struct lt_batch_runs rows = {0};
	const int64_t last_utc_s = now_utc_s + LT_SETTLE_OVERLAP_S + 1;
	const int64_t to_utc_s =
	    r->at_utc_s + r->window_s < last_utc_s ? r->at_utc_s + r->window_s : last_utc_s;
	int code = lt_child_rows(&rows, lt_batch_runs, r->at_utc_s, to_utc_s, err);

	if (code == LT_OK)
		code = add_keys(r, &rows, err);
	if (code == LT_OK)
		code = lt_settle_again(&by, &rows, err);
	r->at_utc_s = to_utc_s;
	r->window_s = lt_settle_window(r->window_s, rows.count, LT_SETTLE_ROWS);
	lt_batch_runs_free(&rows);
	return code;
}

static int
count_run(void *rebuild, const struct lt_run_sum *run, struct lt_error *err)
{
	struct lt_rebuild *const r = rebuild;
	const bool kept = !run->provisional &&
			  (r->key_count == 0 || bsearch(&run->key, r->keys, r->key_count,
						    sizeof(*r->keys), lt_run_keys_compare) == NULL);

	lt_breath(LT_TURN_READ);
	r->runs++;
	r->kept_runs += kept;
	if (!lt_add(&r->money_micros, run->money_micros) ||
	    (kept && !lt_add(&r->kept_micros, run->money_micros)))
		return lt_fail(err, LT_EOVERFLOW, "rebuild: charges pass 64 bits");
	return LT_OK;
}

/* Compares what the ledger has now with what slurmdbd still has, and ends the rebuild. */
static int
finish_rebuild(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_rebuild *const r = &d->rebuild;
	int code = lt_settle_save_until(&d->charges, d->ledger, now_utc_s, err);

	if (code == LT_OK)
		code = lt_reconcile(d, now_utc_s, err);
	if (r->key_count > 1)
		qsort(r->keys, r->key_count, sizeof(*r->keys), lt_run_keys_compare);
	if (code == LT_OK)
		code = lt_ledger_each_run(d->ledger, count_run, r, err);
	return code;
}

static void
end_rebuild(struct lt_rebuild *r, enum lt_rebuild_stage stage)
{
	free(r->keys);
	r->keys = NULL;
	r->key_count = r->key_capacity = 0;
	r->stage = stage;
}

void
lt_rebuild_go_on(struct lt_daemon *d, int64_t now_utc_s)
{
	struct lt_rebuild *const r = &d->rebuild;
	struct lt_error err = {0};
	int code;

	if (r->stage != LT_REBUILD_RUNS)
		return;
	d->budget.dirty = true;
	if (r->from_utc_s == 0)
		code = begin_rebuild(d, now_utc_s, &err);
	else if (r->at_utc_s <= now_utc_s + LT_SETTLE_OVERLAP_S)
		code = settle_window(d, now_utc_s, &err);
	else if ((code = finish_rebuild(d, now_utc_s, &err)) == LT_OK)
		end_rebuild(r, LT_REBUILD_DONE);
	if (code != LT_OK) {
		end_rebuild(r, LT_REBUILD_FAILED);
		snprintf(r->error, sizeof(r->error), "%s", err.text);
		lt_log("rebuild_failed", "error=\"%s\"", err.text);
	} else if (r->stage == LT_REBUILD_DONE) {
		lt_log("rebuilt", "runs=%u kept=%u", r->runs, r->kept_runs);
	}
}
