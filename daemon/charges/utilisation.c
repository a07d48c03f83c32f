/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmdbd looks for the steps of each run singly, 0.2 ms each: so one span of
 * time after the other, and a tenth of the time. Steps may come a little after
 * the row of their run. What is known of a run in a closed period stays as its
 * statement has it.
 */
#include "breath.h"
#include "daemon.h"
#include "http.h"
#include "idle_gpus.h"
#include "periods.h"
#include "settle.h"
#include "batch_child.h"
#include "utilisation.h"

enum {
	EVERY_S = 60,
	LATE_S = 30,
	PART = 10,	  /* of the time, where there is more to look at */
	ROWS_MANY = 4000, /* in a child's memory, with their steps */
};

static void
load_until(struct lt_daemon *d)
{
	struct lt_charges *const b = &d->charges;

	if (b->used_until_utc_s != 0)
		return;
	b->used_span_s = LT_SETTLE_WINDOW_LEAST_S;
	if (!lt_ledger_get_number(
		d->ledger, "used_until", 1, &b->used_until_utc_s))
		b->used_until_utc_s =
		    lt_settle_since(d->ledger, b->settled_until_utc_s);
}

static int
save_until(struct lt_daemon *d, int64_t until_utc_s, struct lt_error *err)
{
	d->charges.used_until_utc_s = until_utc_s;
	return lt_ledger_put_number(d->ledger, "used_until", until_utc_s, err);
}

static bool
is_same(const struct lt_run_used *a, const struct lt_run_used *b)
{
	return a->has_cpu == b->has_cpu && a->has_gpu == b->has_gpu &&
	       a->cpu_ms == b->cpu_ms && a->gpu_ppm == b->gpu_ppm;
}

static int
note(struct lt_daemon *d, const struct lt_batch_run *row, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_run_key key = {row->job_id, row->submit_utc_s};
	const struct lt_run_used used = {.has_cpu = row->has_cpu_used,
	    .has_gpu = row->has_gpu_used,
	    .cpu_ms = row->has_cpu_used ? row->cpu_used_ms : 0,
	    .gpu_ppm = row->has_gpu_used ? row->gpu_used_ppm : 0};
	struct lt_run run;

	if ((!used.has_cpu && !used.has_gpu) ||
	    lt_ledger_run(d->ledger, key, &run, NULL) != LT_OK ||
	    run.end_utc_s != row->end_utc_s || is_same(&run.used, &used))
		return LT_OK;
	run.used = used;
	const int code = lt_ledger_describe_run(d->ledger,
	    &(struct lt_settlement){.run = &run,
		.now_utc_s = now_utc_s,
		.open_since_utc_s = lt_ledger_closed_until(d->ledger)},
	    err);
	return code == LT_OK ? lt_idle_gpus_look(d, &run, now_utc_s, err)
			     : code;
}

static int
note_all(struct lt_daemon *d, const struct lt_batch_runs *rows,
    int64_t now_utc_s, struct lt_error *err)
{
	int code = lt_ledger_begin(d->ledger, err);

	if (code != LT_OK)
		return code;
	for (uint32_t i = 0; code == LT_OK && i < rows->count; i++) {
		lt_breath(LT_TURN_READ);
		code = note(d, &rows->runs[i], now_utc_s, err);
	}
	if (code == LT_OK)
		return lt_ledger_commit(d->ledger, err);
	lt_ledger_rollback(d->ledger);
	return code;
}

int
lt_utilisation_read(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_charges *const b = &d->charges;
	const int64_t last_utc_s = b->settled_until_utc_s - LATE_S;
	const int64_t began_ms = lt_monotonic_ms();
	struct lt_batch_runs rows = {0};

	d->charges.next.used = now_utc_s + EVERY_S;
	if (!lt_batch_has_dbd(&d->site.tables.conf))
		return LT_OK;
	load_until(d);
	const int64_t from_utc_s = b->used_until_utc_s;
	if (from_utc_s >= last_utc_s)
		return LT_OK;
	const int64_t to_utc_s = last_utc_s - from_utc_s > b->used_span_s
				     ? from_utc_s + b->used_span_s
				     : last_utc_s;
	int code =
	    lt_child_rows(&rows, lt_batch_used, from_utc_s, to_utc_s, err);
	const int64_t took_ms = lt_monotonic_ms() - began_ms;
	if (code == LT_OK)
		code = note_all(d, &rows, now_utc_s, err);
	/* Unless one came meanwhile that ended before. */
	if (code == LT_OK && b->used_until_utc_s == from_utc_s)
		code = save_until(d, to_utc_s, err);
	if (code == LT_OK && to_utc_s < last_utc_s)
		d->charges.next.used = now_utc_s + 1 + PART * took_ms / 1000;
	b->used_span_s =
	    lt_settle_window(b->used_span_s, rows.count, ROWS_MANY);
	lt_batch_runs_free(&rows);
	return code;
}

int
lt_utilisation_came(
    struct lt_daemon *d, int64_t end_utc_s, struct lt_error *err)
{
	load_until(d);
	if (end_utc_s > d->charges.used_until_utc_s)
		return LT_OK;
	return save_until(d, end_utc_s - 1, err);
}
