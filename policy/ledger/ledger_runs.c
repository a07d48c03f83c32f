/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs and their entries: settle once, correct by the difference, end one
 * share of the hold, all in one transaction; read runs back for reports.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "ledger_kept.h"
#include "periods.h"
#include "units.h"

/* In the order of LT_SQL_RUN_COLUMNS. */
static int
put_run(
    struct lt_ledger *ledger, const struct lt_run *run, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_RUN_PUT, LT_INT(run->key.job_id),
		LT_INT(run->key.submit_utc_s), LT_INT(run->array_job_id),
		LT_INT(run->array_task), LT_INT(run->uid), LT_TEXT(run->user),
		LT_TEXT(run->account), LT_TEXT(run->partition),
		LT_TEXT(run->state_text), LT_INT(run->start_utc_s),
		LT_INT(run->end_utc_s), LT_INT(run->nodes), LT_INT(run->cpus),
		LT_INT(run->gpus), LT_INT(run->memory_mib),
		LT_INT(run->share_numerator), LT_INT(run->share_denominator),
		LT_INT(run->quote_id), LT_INT(run->priced),
		LT_INT(run->provisional), LT_INT(run->has_carbon),
		LT_INT(run->money_micros), LT_INT(run->carbon_mg),
		LT_INT(run->energy_wh), LT_INT(run->has_baseline),
		LT_INT(run->baseline_money_micros),
		LT_INT(run->baseline_carbon_mg), LT_INT(run->moved),
		LT_TEXT(run->baseline_text), LT_TEXT(run->over_reason),
		LT_INT(run->worst_quality), LT_INT(run->suspended_s),
		LT_INT(run->gpus_from),
		LT_OPTIONAL(run->held.has_money, run->held.money_micros),
		LT_OPTIONAL(run->held.has_carbon, run->held.carbon_mg),
		LT_INT(run->shards), LT_INT(run->saved_by.time_micros),
		LT_INT(run->saved_by.time_mg), LT_INT(run->saved_by.gpu_micros),
		LT_INT(run->saved_by.gpu_mg),
		LT_INT(run->parts.carbon_charge_micros),
		LT_INT(run->parts.discount_micros), LT_TEXT(run->name),
		LT_TEXT(run->qos), LT_TEXT(run->wckey), LT_TEXT(run->gpu),
		LT_INT(run->exit_code), LT_INT(run->restarts),
		LT_INT(run->corrected), LT_INT(run->settled_utc_s),
		LT_INT(run->changed_utc_s),
		LT_OPTIONAL(run->used.has_cpu, run->used.cpu_ms),
		LT_OPTIONAL(run->used.has_gpu, run->used.gpu_ppm)),
	    err);
}

void
lt_run_read(struct lt_rows *rows, void *element)
{
	struct lt_run *const run = element;

	memset(run, 0, sizeof(*run));
	run->key.job_id = (uint32_t)lt_row_int(rows);
	run->key.submit_utc_s = lt_row_int(rows);
	run->array_job_id = (uint32_t)lt_row_int(rows);
	run->array_task = (uint32_t)lt_row_int(rows);
	run->uid = (uint32_t)lt_row_int(rows);
	lt_row_text(rows, run->user, sizeof(run->user));
	lt_row_text(rows, run->account, sizeof(run->account));
	lt_row_text(rows, run->partition, sizeof(run->partition));
	lt_row_text(rows, run->state_text, sizeof(run->state_text));
	run->start_utc_s = lt_row_int(rows);
	run->end_utc_s = lt_row_int(rows);
	run->nodes = (uint32_t)lt_row_int(rows);
	run->cpus = (uint32_t)lt_row_int(rows);
	run->gpus = (uint32_t)lt_row_int(rows);
	run->memory_mib = (uint64_t)lt_row_int(rows);
	run->share_numerator = lt_row_int(rows);
	run->share_denominator = lt_row_int(rows);
	run->quote_id = (uint64_t)lt_row_int(rows);
	run->priced = lt_row_int(rows) != 0;
	run->provisional = lt_row_int(rows) != 0;
	run->has_carbon = lt_row_int(rows) != 0;
	run->money_micros = lt_row_int(rows);
	run->carbon_mg = lt_row_int(rows);
	run->energy_wh = lt_row_int(rows);
	run->has_baseline = lt_row_int(rows) != 0;
	run->baseline_money_micros = lt_row_int(rows);
	run->baseline_carbon_mg = lt_row_int(rows);
	run->moved = lt_row_int(rows) != 0;
	lt_row_text(rows, run->baseline_text, sizeof(run->baseline_text));
	lt_row_text(rows, run->over_reason, sizeof(run->over_reason));
	run->worst_quality = (enum lt_quality)lt_row_int(rows);
	run->suspended_s = lt_row_int(rows);
	run->gpus_from = (enum lt_gpus_from)lt_row_int(rows);
	run->held.has_money = lt_row_optional(rows, &run->held.money_micros);
	run->held.has_carbon = lt_row_optional(rows, &run->held.carbon_mg);
	run->shards = (uint32_t)lt_row_int(rows);
	lt_row_saved_by(rows, &run->saved_by);
	lt_row_parts(rows, &run->parts);
	lt_row_text(rows, run->name, sizeof(run->name));
	lt_row_text(rows, run->qos, sizeof(run->qos));
	lt_row_text(rows, run->wckey, sizeof(run->wckey));
	lt_row_text(rows, run->gpu, sizeof(run->gpu));
	run->exit_code = (uint32_t)lt_row_int(rows);
	run->restarts = (uint32_t)lt_row_int(rows);
	run->corrected = lt_row_int(rows) != 0;
	run->settled_utc_s = lt_row_int(rows);
	run->changed_utc_s = lt_row_int(rows);
	run->used.has_cpu = lt_row_optional(rows, &run->used.cpu_ms);
	int64_t gpu_ppm = 0;
	run->used.has_gpu = lt_row_optional(rows, &gpu_ppm);
	run->used.gpu_ppm = (uint32_t)gpu_ppm;
}

int
lt_entry_put(struct lt_ledger *ledger, const struct lt_entry *entry,
    int64_t for_utc_s, struct lt_error *err)
{
	/* The sums first: they are what can be refused. */
	int rc = lt_days_add(ledger, entry, err);

	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_ENTRY_PUT, LT_INT(entry->kind),
			LT_INT(entry->run.job_id),
			LT_INT(entry->run.submit_utc_s),
			LT_INT(entry->at_utc_s), LT_INT(for_utc_s),
			LT_INT(entry->made_utc_s), LT_TEXT(entry->account),
			LT_INT(entry->uid), LT_INT(entry->money_micros),
			LT_INT(entry->carbon_mg), LT_INT(entry->energy_wh),
			LT_INT(entry->baseline_money_micros),
			LT_INT(entry->baseline_carbon_mg), LT_TEXT(entry->who),
			LT_TEXT(entry->reason),
			LT_INT(entry->saved_by.time_micros),
			LT_INT(entry->saved_by.time_mg),
			LT_INT(entry->saved_by.gpu_micros),
			LT_INT(entry->saved_by.gpu_mg),
			LT_INT(entry->parts.carbon_charge_micros),
			LT_INT(entry->parts.discount_micros)),
		    err);
	if (rc == LT_OK)
		lt_kept_add(ledger, entry);
	return rc;
}

static bool
no_figures(struct lt_entry *entry)
{
	int64_t *of[LT_ENTRY_FIGURES];

	lt_entry_figures(of, entry);
	for (int i = 0; i < LT_ENTRY_FIGURES; i++)
		if (*of[i] != 0)
			return false;
	return true;
}

static int
check_sum(const struct lt_settlement *s, struct lt_error *err)
{
	const struct lt_run *const run = s->run;
	struct lt_entry sum = {0};
	const struct lt_entry want = lt_entry_of_run(run);

	for (uint32_t i = 0; i < s->count; i++)
		if (!lt_entry_add(&sum, &s->entries[i], 1))
			return lt_fail(err, LT_EOVERFLOW,
			    "job %u: charges pass 64 bits", run->key.job_id);
	if (!lt_entry_add(&sum, &want, -1))
		return lt_fail(err, LT_EOVERFLOW,
		    "job %u: charges pass 64 bits", run->key.job_id);
	if (!no_figures(&sum))
		return lt_fail(err, LT_EBUG,
		    "job %u: entries differ from the run by %lld micros, %lld mg",
		    run->key.job_id, (long long)sum.money_micros,
		    (long long)sum.carbon_mg);
	return LT_OK;
}

static bool
same_charge(const struct lt_run *a, const struct lt_run *b)
{
	struct lt_entry difference = lt_entry_of_run(a);
	const struct lt_entry other = lt_entry_of_run(b);

	return lt_entry_add(&difference, &other, -1) &&
	       no_figures(&difference) && a->uid == b->uid &&
	       strcmp(a->account, b->account) == 0;
}

static bool
same_row(const struct lt_run *a, const struct lt_run *b)
{
	return a->provisional == b->provisional && a->priced == b->priced &&
	       a->has_carbon == b->has_carbon &&
	       a->has_baseline == b->has_baseline &&
	       a->start_utc_s == b->start_utc_s &&
	       a->end_utc_s == b->end_utc_s && a->moved == b->moved &&
	       strcmp(a->partition, b->partition) == 0 &&
	       strcmp(a->state_text, b->state_text) == 0 &&
	       strcmp(a->over_reason, b->over_reason) == 0 &&
	       a->nodes == b->nodes && a->cpus == b->cpus &&
	       a->memory_mib == b->memory_mib && a->gpus == b->gpus &&
	       a->shards == b->shards && a->gpus_from == b->gpus_from &&
	       a->suspended_s == b->suspended_s &&
	       a->array_job_id == b->array_job_id; /* its task comes with it */
}

/* Where it is booked: its own hour, unless that is closed. */
static int
book(struct lt_ledger *ledger, const struct lt_settlement *s,
    struct lt_entry *entry, struct lt_error *err)
{
	const int64_t for_utc_s = entry->at_utc_s;

	entry->run = s->run->key;
	entry->made_utc_s = s->now_utc_s;
	if (for_utc_s < s->open_since_utc_s) {
		entry->kind = LT_ENTRY_CORRECTION;
		entry->at_utc_s = s->hour_utc_s > s->open_since_utc_s
				      ? s->hour_utc_s
				      : s->open_since_utc_s;
	}
	return lt_entry_put(ledger, entry, for_utc_s, err);
}

/* The charges of a run that the ledger did not have. */
static int
charge(struct lt_ledger *ledger, const struct lt_settlement *s,
    struct lt_run *run, struct lt_error *err)
{
	int rc = LT_OK;

	for (uint32_t i = 0; i < s->count && rc == LT_OK; i++) {
		struct lt_entry entry = s->entries[i];

		entry.kind = LT_ENTRY_CHARGE;
		entry.uid = run->uid;
		memcpy(entry.account, run->account, sizeof(entry.account));
		rc = book(ledger, s, &entry, err);
		run->corrected |= entry.kind == LT_ENTRY_CORRECTION;
	}
	if (rc == LT_OK && run->quote_id != 0 && !run->goes_on)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_HOLD_SETTLE_SHARE, LT_INT(run->quote_id)),
		    err);
	return rc;
}

struct differences { /* by (account, uid, hour used) */
	struct lt_entry *items;
	uint32_t count;
	size_t capacity;
};

static int
add_difference(struct differences *all, const struct lt_entry *entry, int sign,
    struct lt_error *err)
{
	uint32_t i = 0;

	while (i < all->count &&
	       (all->items[i].at_utc_s != entry->at_utc_s ||
		   all->items[i].uid != entry->uid ||
		   strcmp(all->items[i].account, entry->account) != 0))
		i++;
	if (i == all->count) {
		struct lt_entry *const grown = lt_items_grow(
		    all->items, &all->capacity, all->count, sizeof(*grown));

		if (grown == NULL)
			return lt_fail(
			    err, LT_ENOMEM, "ledger: no memory for entries");
		all->items = grown;
		all->items[all->count++] =
		    (struct lt_entry){.kind = LT_ENTRY_CORRECTION,
			.at_utc_s = entry->at_utc_s,
			.uid = entry->uid};
		memcpy(all->items[i].account, entry->account,
		    sizeof(entry->account));
	}
	if (!lt_entry_add(&all->items[i], entry, sign))
		return lt_fail(
		    err, LT_EOVERFLOW, "a correction passes 64 bits");
	return LT_OK;
}

/* Minus what the ledger has of the run, all corrections in. */
static int
subtract_known(struct lt_ledger *ledger, struct lt_run_key key,
    struct differences *all, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_ENTRIES_OF_RUN, LT_INT(key.job_id),
		LT_INT(key.submit_utc_s)),
	    err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_entry known = {0};

		lt_row_text(&rows, known.account, sizeof(known.account));
		known.uid = (uint32_t)lt_row_int(&rows);
		known.at_utc_s = lt_row_int(&rows);
		lt_row_figures(&rows, &known);
		rc = add_difference(all, &known, -1, err);
	}
	lt_rows_end(&rows);
	return rc;
}

static int
correct(struct lt_ledger *ledger, const struct lt_settlement *s,
    struct lt_error *err)
{
	const struct lt_run *const run = s->run;
	struct differences all = {0};
	int rc = subtract_known(ledger, run->key, &all, err);

	for (uint32_t i = 0; i < s->count && rc == LT_OK; i++) {
		struct lt_entry entry = s->entries[i];

		entry.uid = run->uid;
		memcpy(entry.account, run->account, sizeof(entry.account));
		rc = add_difference(&all, &entry, 1, err);
	}
	for (uint32_t i = 0; i < all.count && rc == LT_OK; i++) {
		if (!no_figures(&all.items[i]))
			rc = book(ledger, s, &all.items[i], err);
	}
	free(all.items);
	return rc;
}

static bool
is_of_closed(const struct lt_settlement *s, const struct lt_run *run)
{
	return run->start_utc_s < s->open_since_utc_s;
}

/* The statement of a closed period goes on to show the run as it was.
 * *changed_utc_s: the run's. */
static int
keep_closed(struct lt_ledger *ledger, const struct lt_settlement *s,
    const struct lt_run *known, int64_t *changed_utc_s, struct lt_error *err)
{
	if (!is_of_closed(s, known) && !is_of_closed(s, s->run))
		return LT_OK;
	return lt_run_keep(
	    ledger, known->key, s->now_utc_s, changed_utc_s, err);
}

/* 1 = found, 0 = not, negative = failed. */
static int
find_run(struct lt_ledger *ledger, struct lt_run_key key, struct lt_run *run,
    struct lt_error *err)
{
	return lt_row_one(ledger,
	    LT_BIND(
		LT_SQL_RUN_GET, LT_INT(key.job_id), LT_INT(key.submit_utc_s)),
	    lt_run_read, run, err);
}

int
lt_ledger_settle(struct lt_ledger *ledger,
    const struct lt_settlement *settlement, bool *changed, struct lt_error *err)
{
	const struct lt_run *const run = settlement->run;
	/* A savepoint each would copy all pages that a run touches, a third of
	 * what it costs. */
	const bool is_alone = !ledger->in_transaction;
	struct lt_run known;

	*changed = false;
	if (run->key.job_id == 0)
		return lt_fail(err, LT_EBUG, "ledger: a run without a job id");
	int rc = check_sum(settlement, err);
	if (rc == LT_OK && is_alone)
		rc = lt_call_begin(ledger, LT_DB_LEDGER, err);
	if (rc != LT_OK)
		return rc;
	const int found =
	    settlement->is_new ? 0 : find_run(ledger, run->key, &known, err);
	struct lt_run row = *run;
	bool differs = false;
	row.corrected = found == 1 && known.corrected;
	row.settled_utc_s =
	    found == 1 ? known.settled_utc_s : settlement->now_utc_s;
	row.changed_utc_s = found == 1 ? known.changed_utc_s : 0;
	if (found < 0) {
		rc = found;
	} else if (found == 0) {
		differs = true;
		if (is_of_closed(settlement, run))
			rc = lt_closed_stamp(ledger, settlement->now_utc_s,
			    &row.settled_utc_s, err);
		if (rc == LT_OK)
			rc = charge(ledger, settlement, &row, err);
	} else if (!same_charge(&known, run)) {
		differs = row.corrected = true;
		rc = correct(ledger, settlement, err);
	}
	if (rc == LT_OK && found == 1 && (differs || !same_row(&known, run)))
		rc = keep_closed(
		    ledger, settlement, &known, &row.changed_utc_s, err);
	if (rc == LT_OK && (differs || !same_row(&known, run)))
		rc = put_run(ledger, &row, err);
	if (is_alone)
		rc = lt_call_end(ledger, LT_DB_LEDGER, rc, err);
	*changed = rc == LT_OK && differs;
	return rc;
}

static int
describe(struct lt_ledger *ledger, const struct lt_settlement *s,
    const struct lt_run *known, struct lt_error *err)
{
	const struct lt_run *const run = s->run;
	int64_t changed_utc_s = known->changed_utc_s;
	const int rc = keep_closed(ledger, s, known, &changed_utc_s, err);

	if (rc != LT_OK)
		return rc;
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_RUN_DESCRIBE, LT_INT(run->key.job_id),
		LT_INT(run->key.submit_utc_s), LT_TEXT(run->name),
		LT_TEXT(run->qos), LT_TEXT(run->wckey), LT_TEXT(run->gpu),
		LT_INT(run->exit_code), LT_INT(run->restarts),
		LT_INT(changed_utc_s),
		LT_OPTIONAL(run->used.has_cpu, run->used.cpu_ms),
		LT_OPTIONAL(run->used.has_gpu, run->used.gpu_ppm)),
	    err);
}

int
lt_ledger_describe_run(struct lt_ledger *ledger,
    const struct lt_settlement *settlement, struct lt_error *err)
{
	struct lt_run known;
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	rc = find_run(ledger, settlement->run->key, &known, err);
	if (rc == 1)
		rc = describe(ledger, settlement, &known, err);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

int
lt_ledger_run(struct lt_ledger *ledger, struct lt_run_key key,
    struct lt_run *run, struct lt_error *err)
{
	const int rc = find_run(ledger, key, run, err);

	if (rc == 0)
		return lt_fail(err, LT_ENOENT,
		    "ledger: no run of job %u submitted at %lld", key.job_id,
		    (long long)key.submit_utc_s);
	return rc < 0 ? rc : LT_OK;
}

static int
runs_of(struct lt_ledger *ledger, struct lt_bound asked, struct lt_run **runs,
    uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {.read = lt_run_read, .size = sizeof(**runs)};
	const int rc = lt_rows_all(ledger, asked, &found, err);

	*runs = found.items;
	*count = found.count;
	return rc;
}

int
lt_ledger_runs_of_id(struct lt_ledger *ledger, uint32_t job_id,
    struct lt_run **runs, uint32_t *count, struct lt_error *err)
{
	return runs_of(ledger, LT_BIND(LT_SQL_RUNS_OF_ID, LT_INT(job_id)), runs,
	    count, err);
}

int
lt_ledger_runs_of_job(struct lt_ledger *ledger, uint32_t job_id,
    struct lt_run **runs, uint32_t *count, struct lt_error *err)
{
	return runs_of(ledger, LT_BIND(LT_SQL_RUNS_OF_JOB, LT_INT(job_id)),
	    runs, count, err);
}

int
lt_ledger_each_run(struct lt_ledger *ledger, lt_run_sum_function *take,
    void *context, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger, LT_PLAIN(LT_SQL_RUN_SUMS), err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_run_sum sum;

		sum.key.job_id = (uint32_t)lt_row_int(&rows);
		sum.key.submit_utc_s = lt_row_int(&rows);
		sum.provisional = lt_row_int(&rows) != 0;
		sum.money_micros = lt_row_int(&rows);
		rc = take(context, &sum, err);
	}
	lt_rows_end(&rows);
	return rc;
}
