/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what runs used. slurmdbd looks for the steps of each run singly, 0.2 ms each: so one
 * span of time is read after the other, and for a tenth of the time. Steps may come a little after
 * the row of their run. A run in a closed period stays as its statement has it.
 *
 * Reads steps by a child; writes the ledger's runs. On failure the span is read again later.
 */
#include "batch_child.h"
#include "breath.h"
#include "charges.h"
#include "http.h"
#include "ledger.h"
#include "periods.h"
#include "settle.h"
#include "tables.h"
#include "utilisation.h"

enum {
	EVERY_S = 60,
	LATE_S = 30,
	PART = 10,	  /* of the time, where there is more to look at */
	ROWS_MANY = 4000, /* in a child's memory, with their steps */
};

static void
load_until(struct lt_ledger *ledger, struct lt_charges *charges)
{
	if (charges->used_until_utc_s != 0)
		return;
	charges->used_span_s = LT_SETTLE_WINDOW_LEAST_S;
	if (!lt_ledger_get_number(ledger, "used_until", 1, &charges->used_until_utc_s))
		charges->used_until_utc_s = lt_settle_since(ledger, charges->settled_until_utc_s);
}

static int
save_until(
    struct lt_ledger *ledger, struct lt_charges *charges, int64_t until_utc_s, struct lt_error *err)
{
	charges->used_until_utc_s = until_utc_s;
	return lt_ledger_put_number(ledger, "used_until", until_utc_s, err);
}

static bool
is_same(const struct lt_run_used *a, const struct lt_run_used *b)
{
	return a->has_cpu == b->has_cpu && a->has_gpu == b->has_gpu && a->cpu_ms == b->cpu_ms &&
	       a->gpu_ppm == b->gpu_ppm;
}

static int
note_used(struct lt_ledger *ledger, const struct lt_batch_run *row,
    const struct lt_measured *measured, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_run_key key = {row->job_id, row->submit_utc_s};
	const struct lt_run_used used = {.has_cpu = row->has_cpu_used,
	    .has_gpu = row->has_gpu_used,
	    .cpu_ms = row->has_cpu_used ? row->cpu_used_ms : 0,
	    .gpu_ppm = row->has_gpu_used ? row->gpu_used_ppm : 0};
	struct lt_run run;

	if ((!used.has_cpu && !used.has_gpu) || lt_ledger_run(ledger, key, &run, NULL) != LT_OK ||
	    run.end_utc_s != row->end_utc_s || is_same(&run.used, &used))
		return LT_OK;
	run.used = used;
	const int code = lt_ledger_describe_run(ledger,
	    &(struct lt_settlement){.run = &run,
		.now_utc_s = now_utc_s,
		.open_since_utc_s = lt_ledger_closed_until(ledger)},
	    err);
	return code == LT_OK ? measured->look(measured->context, &run, now_utc_s, err) : code;
}

static int
note_all(struct lt_ledger *ledger, const struct lt_batch_runs *rows,
    const struct lt_measured *measured, int64_t now_utc_s, struct lt_error *err)
{
	int code = lt_ledger_begin(ledger, err);

	if (code != LT_OK)
		return code;
	for (uint32_t i = 0; code == LT_OK && i < rows->count; i++) {
		lt_breath(LT_TURN_READ);
		code = note_used(ledger, &rows->runs[i], measured, now_utc_s, err);
	}
	if (code == LT_OK)
		return lt_ledger_commit(ledger, err);
	lt_ledger_rollback(ledger);
	return code;
}

int
lt_utilisation_read(const struct lt_tables *tables, struct lt_ledger *ledger,
    struct lt_charges *charges, const struct lt_measured *measured, int64_t now_utc_s,
    struct lt_error *err)
{
	const int64_t last_utc_s = charges->settled_until_utc_s - LATE_S;
	const int64_t began_ms = lt_monotonic_ms();
	struct lt_batch_runs rows = {0};

	charges->next.used = now_utc_s + EVERY_S;
	if (!lt_batch_has_dbd(&tables->conf))
		return LT_OK;
	load_until(ledger, charges);
	const int64_t from_utc_s = charges->used_until_utc_s;
	if (from_utc_s >= last_utc_s)
		return LT_OK;
	const int64_t to_utc_s = last_utc_s - from_utc_s > charges->used_span_s
				     ? from_utc_s + charges->used_span_s
				     : last_utc_s;
	int code = lt_child_rows(&rows, lt_batch_used, from_utc_s, to_utc_s, err);
	const int64_t took_ms = lt_monotonic_ms() - began_ms;
	if (code == LT_OK)
		code = note_all(ledger, &rows, measured, now_utc_s, err);
	/* Unless one came meanwhile that ended before. */
	if (code == LT_OK && charges->used_until_utc_s == from_utc_s)
		code = save_until(ledger, charges, to_utc_s, err);
	if (code == LT_OK && to_utc_s < last_utc_s)
		charges->next.used = now_utc_s + 1 + PART * took_ms / 1000;
	charges->used_span_s = lt_settle_window(charges->used_span_s, rows.count, ROWS_MANY);
	lt_batch_runs_free(&rows);
	return code;
}

int
lt_utilisation_came(
    struct lt_ledger *ledger, struct lt_charges *charges, int64_t end_utc_s, struct lt_error *err)
{
	load_until(ledger, charges);
	if (end_utc_s > charges->used_until_utc_s)
		return LT_OK;
	return save_until(ledger, charges, end_utc_s - 1, err);
}
