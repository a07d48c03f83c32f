/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide rebuild: all rows that slurmdbd still has are priced again, and what
 * the ledger has otherwise is put right. What slurmdbd has purged stays as it
 * was charged. At each moment the ledger is whole: it may be killed.
 */
#include <stdlib.h>
#include <string.h>

#include "reconcile.h"
#include "daemon.h"
#include "rates.h"
#include "rebuild.h"
#include "row.h"
#include "settle.h"
#include "slurm_child.h"
#include "units.h"

struct keys { /* of rows that slurmdbd has */
	struct lt_run_key *items;
	size_t count, capacity;
};

static int
add_keys(
    struct keys *keys, const struct lt_slurm_runs *rows, struct lt_error *err)
{
	if (keys->count + rows->count > keys->capacity) {
		const size_t capacity = (keys->count + rows->count) * 2;
		struct lt_run_key *const grown =
		    reallocarray(keys->items, capacity, sizeof(*keys->items));

		if (grown == NULL)
			return lt_fail(
			    err, LT_ENOMEM, "rebuild: out of memory");
		keys->items = grown;
		keys->capacity = capacity;
	}
	for (uint32_t i = 0; i < rows->count; i++)
		keys->items[keys->count++] = (struct lt_run_key){
		    rows->runs[i].job_id, rows->runs[i].submit_utc_s};
	return LT_OK;
}

static int
settle_window(struct lt_daemon *d, struct keys *keys, int64_t from_utc_s,
    int64_t now_utc_s, struct lt_error *err)
{
	struct lt_slurm_runs rows = {0};
	int code = lt_child_runs(&rows, from_utc_s, from_utc_s + LT_DAY_S, err);

	if (code != LT_OK)
		return code;
	code = add_keys(keys, &rows, err);
	if (code == LT_OK)
		code = lt_settle_again(d, &rows, now_utc_s, err);
	lt_slurm_runs_free(&rows);
	return code;
}

/* What the ledger has now, and which of it slurmdbd has no more. */
static int
count_runs(struct lt_ledger *ledger, struct keys *keys,
    struct lt_rebuilt *rebuilt, struct lt_error *err)
{
	struct lt_run *runs = NULL;
	uint32_t count = 0;
	int code =
	    lt_ledger_runs(ledger, NULL, 0, INT64_MAX, &runs, &count, err);

	if (keys->count > 1)
		qsort(keys->items, keys->count, sizeof(*keys->items),
		    lt_run_keys_compare);
	*rebuilt = (struct lt_rebuilt){.runs = count};
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_run *const run = &runs[i];
		const bool kept =
		    !run->provisional &&
		    (keys->count == 0 ||
			bsearch(&run->key, keys->items, keys->count,
			    sizeof(*keys->items), lt_run_keys_compare) == NULL);

		if (!lt_add(&rebuilt->money_micros, run->money_micros) ||
		    (kept && !lt_add(&rebuilt->kept_micros, run->money_micros)))
			code = lt_fail(
			    err, LT_EOVERFLOW, "rebuild: charges pass 64 bits");
		rebuilt->kept_runs += kept;
	}
	free(runs);
	return code;
}

int
lt_rebuild(struct lt_daemon *d, int64_t now_utc_s, struct lt_rebuilt *rebuilt,
    struct lt_error *err)
{
	struct keys keys = {0};

	if (strstr(d->tables.conf.accounting_storage, "slurmdbd") == NULL)
		return lt_fail(err, LT_EINPUT,
		    "rebuild: this Slurm has no slurmdbd to rebuild from");
	const int64_t first = lt_settle_since(d->ledger, now_utc_s);
	int code = lt_rates_record(d, now_utc_s, err);
	if (code == LT_OK)
		code = lt_ledger_repair(d->ledger, err);
	for (int64_t at = first;
	     code == LT_OK && at <= now_utc_s + LT_SETTLE_OVERLAP_S;
	     at += LT_DAY_S)
		code = settle_window(d, &keys, at, now_utc_s, err);
	if (code == LT_OK)
		code =
		    lt_settle_save_until(&d->budget, d->ledger, now_utc_s, err);
	if (code == LT_OK)
		code = lt_reconcile(d, now_utc_s, err);
	if (code == LT_OK)
		code = count_runs(d->ledger, &keys, rebuilt, err);
	free(keys.items);
	d->budget.dirty = true;
	return code;
}
