/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs and their entries: settles a run once, corrects it by the difference, and ends one share of
 * its hold, all in one transaction; reads runs back for reports. A failure of SQLite, or a sum that
 * passes 64 bits, is an error, and nothing of the call is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "ledger_db.h"
#include "periods.h"
#include "units.h"

#define RUN(column, member) LT_DB_COLUMN(struct lt_run, column, member)
#define HAS(member) LT_DB_COLUMN_HAS(struct lt_run, member)
#define FIGURE(column, member) {RUN(#column, member)},
/* The order is of no weight, but that a statement sorts by the first two. */
/* A table: clang-format would make paragraphs of it. */
/* clang-format off */
static const struct lt_db_column run_list[] = {
	{RUN("job_id", key.job_id)},
	{RUN("submit_utc_s", key.submit_utc_s)},
	{RUN("array_job_id", array_job_id), .parts = LT_RUN_FACT},
	{RUN("array_task", array_task)},
	{RUN("uid", uid), .parts = LT_RUN_FACT},
	{RUN("user", user)},
	{RUN("account", account), .parts = LT_RUN_FACT},
	{RUN("partition", partition), .parts = LT_RUN_FACT},
	{RUN("state_text", state_text), .parts = LT_RUN_RESULT},
	{RUN("start_utc_s", start_utc_s), .parts = LT_RUN_FACT},
	{RUN("end_utc_s", end_utc_s), .parts = LT_RUN_FACT},
	{RUN("nodes", nodes), .parts = LT_RUN_FACT},
	{RUN("cpus", cpus), .parts = LT_RUN_FACT},
	{RUN("gpus", gpus), .parts = LT_RUN_FACT},
	{RUN("memory_mib", memory_mib), .parts = LT_RUN_FACT},
	{RUN("share_numerator", share_numerator)},
	{RUN("share_denominator", share_denominator)},
	{RUN("quote_id", quote_id)},
	{RUN("priced", priced), .parts = LT_RUN_RESULT},
	{RUN("provisional", provisional), .parts = LT_RUN_RESULT},
	{RUN("has_carbon", has_carbon), .parts = LT_RUN_RESULT},
	LT_FIGURES(FIGURE)
	{RUN("has_base", has_baseline), .parts = LT_RUN_RESULT},
	{RUN("moved", moved), .parts = LT_RUN_RESULT},
	{RUN("base_text", baseline_text)},
	{RUN("over_reason", over_reason), .parts = LT_RUN_RESULT},
	{RUN("worst_quality", worst_quality)},
	{RUN("suspended_s", suspended_s), .parts = LT_RUN_FACT},
	{RUN("gpus_from", gpus_from), .parts = LT_RUN_FACT},
	{RUN("held_micros", held.money_micros), HAS(held.has_money)},
	{RUN("held_mg", held.carbon_mg), HAS(held.has_carbon)},
	{RUN("shards", shards), .parts = LT_RUN_FACT},
	{RUN("name", name), .parts = LT_RUN_TOLD},
	{RUN("qos", qos), .parts = LT_RUN_TOLD},
	{RUN("wckey", wckey), .parts = LT_RUN_TOLD},
	{RUN("gpu", gpu), .parts = LT_RUN_TOLD},
	{RUN("exit_code", exit_code), .parts = LT_RUN_TOLD},
	{RUN("restarts", restarts), .parts = LT_RUN_TOLD},
	{RUN("corrected", corrected)},
	{RUN("settled_utc_s", settled_utc_s)},
	{RUN("changed_utc_s", changed_utc_s)},
	{RUN("cpu_used_ms", used.cpu_ms), HAS(used.has_cpu), .parts = LT_RUN_USED},
	{RUN("gpu_used_ppm", used.gpu_ppm), HAS(used.has_gpu), .parts = LT_RUN_USED},
};
/* clang-format on */
#undef FIGURE
const struct lt_db_columns lt_run_columns = {LT_DB_COLUMNS(struct lt_run, run_list)};
const struct lt_db_columns lt_run_facts = {
    LT_DB_COLUMNS(struct lt_run, run_list), .parts = LT_RUN_FACT};
const struct lt_db_columns lt_run_told = {
    LT_DB_COLUMNS(struct lt_run, run_list), .parts = LT_RUN_TOLD};
static const struct lt_db_columns described = {
    LT_DB_COLUMNS(struct lt_run, run_list), .parts = LT_RUN_TOLD | LT_RUN_USED};
/* Where one of them is another, the row is written anew. */
static const struct lt_db_columns compared = {
    LT_DB_COLUMNS(struct lt_run, run_list), .parts = LT_RUN_FACT | LT_RUN_RESULT};

#define ENTRY(column, member) LT_DB_COLUMN(struct lt_entry, column, member)
#define FIGURE(column, member) {ENTRY(#column, member)},
/* clang-format off */
static const struct lt_db_column entry_list[] = {
	{ENTRY("kind", kind)},
	{ENTRY("job_id", run.job_id)},
	{ENTRY("submit_utc_s", run.submit_utc_s)},
	{ENTRY("at_utc_s", at_utc_s)},
	{ENTRY("made_utc_s", made_utc_s)},
	{ENTRY("account", account)},
	{ENTRY("uid", uid)},
	LT_FIGURES(FIGURE)
	{ENTRY("who", who)},
	{ENTRY("reason", reason)},
};
/* clang-format on */
#undef FIGURE
static const struct lt_db_columns entry_columns = {LT_DB_COLUMNS(struct lt_entry, entry_list)};

int
lt_entry_put(
    struct lt_ledger *ledger, const struct lt_entry *entry, int64_t for_utc_s, struct lt_error *err)
{
	/* The sums first: they are what can be refused. */
	int rc = lt_days_add(ledger, entry, err);

	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND_RECORD(LT_SQL_ENTRY_PUT, &entry_columns, entry, LT_INT(for_utc_s)),
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
			return lt_fail(
			    err, LT_EOVERFLOW, "job %u: charges pass 64 bits", run->key.job_id);
	if (!lt_entry_add(&sum, &want, -1))
		return lt_fail(err, LT_EOVERFLOW, "job %u: charges pass 64 bits", run->key.job_id);
	if (!no_figures(&sum))
		return lt_fail(err, LT_EBUG,
		    "job %u: entries differ from the run by %lld micros, %lld mg", run->key.job_id,
		    (long long)sum.money_micros, (long long)sum.carbon_mg);
	return LT_OK;
}

static bool
same_charge(const struct lt_run *a, const struct lt_run *b)
{
	struct lt_entry difference = lt_entry_of_run(a);
	const struct lt_entry other = lt_entry_of_run(b);

	return lt_entry_add(&difference, &other, -1) && no_figures(&difference) &&
	       a->uid == b->uid && strcmp(a->account, b->account) == 0;
}

/* Where it is booked: its own hour, unless that is closed. */
static int
book(struct lt_ledger *ledger, const struct lt_settlement *s, struct lt_entry *entry,
    struct lt_error *err)
{
	const int64_t for_utc_s = entry->at_utc_s;

	entry->run = s->run->key;
	entry->made_utc_s = s->now_utc_s;
	if (for_utc_s < s->open_since_utc_s) {
		entry->kind = LT_ENTRY_CORRECTION;
		entry->at_utc_s =
		    s->hour_utc_s > s->open_since_utc_s ? s->hour_utc_s : s->open_since_utc_s;
	}
	return lt_entry_put(ledger, entry, for_utc_s, err);
}

/* The charges of a run that the ledger did not have. */
static int
charge(struct lt_ledger *ledger, const struct lt_settlement *s, struct lt_run *run,
    struct lt_error *err)
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
		rc = lt_sql_do(
		    ledger, LT_BIND(LT_SQL_HOLD_SETTLE_SHARE, LT_INT(run->quote_id)), err);
	return rc;
}

struct differences { /* by (account, uid, hour used) */
	struct lt_entry *items;
	uint32_t count;
	size_t capacity;
};

static int
add_difference(
    struct differences *all, const struct lt_entry *entry, int sign, struct lt_error *err)
{
	uint32_t i = 0;

	while (i < all->count &&
	       (all->items[i].at_utc_s != entry->at_utc_s || all->items[i].uid != entry->uid ||
		   strcmp(all->items[i].account, entry->account) != 0))
		i++;
	if (i == all->count) {
		struct lt_entry *const grown =
		    lt_items_grow(all->items, &all->capacity, all->count, sizeof(*grown));

		if (grown == NULL)
			return lt_fail(err, LT_ENOMEM, "ledger: no memory for entries");
		all->items = grown;
		all->items[all->count++] = (struct lt_entry){
		    .kind = LT_ENTRY_CORRECTION, .at_utc_s = entry->at_utc_s, .uid = entry->uid};
		memcpy(all->items[i].account, entry->account, sizeof(entry->account));
	}
	if (!lt_entry_add(&all->items[i], entry, sign))
		return lt_fail(err, LT_EOVERFLOW, "a correction passes 64 bits");
	return LT_OK;
}

/* Puts minus what the ledger has of the run, all corrections in. */
static int
subtract_known(
    struct lt_ledger *ledger, struct lt_run_key key, struct differences *all, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_ENTRIES_OF_RUN, LT_INT(key.job_id), LT_INT(key.submit_utc_s)), NULL,
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
correct(struct lt_ledger *ledger, const struct lt_settlement *s, struct lt_error *err)
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

/* Before a run of a closed period changes: it is kept as it is.
 * *changed_utc_s: when it changed last, which becomes when it does now. */
static int
keep_run(struct lt_ledger *ledger, struct lt_run_key key, int64_t now_utc_s, int64_t *changed_utc_s,
    struct lt_error *err)
{
	int64_t stamp;
	const int rc = lt_closed_stamp(ledger, now_utc_s, &stamp, err);

	if (rc != LT_OK)
		return rc;
	/* Not before a change that is kept: the first one after a closing
	 * says what it had. */
	if (stamp > *changed_utc_s)
		*changed_utc_s = stamp;
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_RUN_KEEP, &lt_run_columns, NULL, LT_INT(key.job_id),
		LT_INT(key.submit_utc_s), LT_INT(*changed_utc_s)),
	    err);
}

/* The statement of a closed period goes on to show the run as it was.
 * *changed_utc_s: the run's. */
static int
keep_closed(struct lt_ledger *ledger, const struct lt_settlement *s, const struct lt_run *known,
    int64_t *changed_utc_s, struct lt_error *err)
{
	if (!is_of_closed(s, known) && !is_of_closed(s, s->run))
		return LT_OK;
	return keep_run(ledger, known->key, s->now_utc_s, changed_utc_s, err);
}

/* 1 = found, 0 = not, negative = failed. */
static int
find_run(struct lt_ledger *ledger, struct lt_run_key key, struct lt_run *run, struct lt_error *err)
{
	return lt_sql_get(ledger,
	    LT_BIND(LT_SQL_RUN_GET, LT_INT(key.job_id), LT_INT(key.submit_utc_s)), &lt_run_columns,
	    run, err);
}

int
lt_ledger_settle(struct lt_ledger *ledger, const struct lt_settlement *settlement, bool *changed,
    struct lt_error *err)
{
	const struct lt_run *const run = settlement->run;
	/* A savepoint for each would copy all pages that a run touches, a third of its cost. */
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
	const int found = settlement->is_new ? 0 : find_run(ledger, run->key, &known, err);
	struct lt_run row = *run;
	bool differs = false;
	row.corrected = found == 1 && known.corrected;
	row.settled_utc_s = found == 1 ? known.settled_utc_s : settlement->now_utc_s;
	row.changed_utc_s = found == 1 ? known.changed_utc_s : 0;
	if (found < 0) {
		rc = found;
	} else if (found == 0) {
		differs = true;
		if (is_of_closed(settlement, run))
			rc =
			    lt_closed_stamp(ledger, settlement->now_utc_s, &row.settled_utc_s, err);
		if (rc == LT_OK)
			rc = charge(ledger, settlement, &row, err);
	} else if (!same_charge(&known, run)) {
		differs = row.corrected = true;
		rc = correct(ledger, settlement, err);
	}
	if (rc == LT_OK && found == 1 && (differs || !lt_db_columns_equal(&compared, &known, run)))
		rc = keep_closed(ledger, settlement, &known, &row.changed_utc_s, err);
	if (rc == LT_OK && (differs || !lt_db_columns_equal(&compared, &known, run)))
		rc = lt_sql_do(ledger, LT_RECORD(LT_SQL_RUN_PUT, &lt_run_columns, &row), err);
	if (is_alone)
		rc = lt_call_end(ledger, LT_DB_LEDGER, rc, err);
	*changed = rc == LT_OK && differs;
	return rc;
}

static int
describe(struct lt_ledger *ledger, const struct lt_settlement *s, const struct lt_run *known,
    struct lt_error *err)
{
	const struct lt_run *const run = s->run;
	int64_t changed_utc_s = known->changed_utc_s;
	const int rc = keep_closed(ledger, s, known, &changed_utc_s, err);

	if (rc != LT_OK)
		return rc;
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_RUN_DESCRIBE, &described, run, LT_INT(run->key.job_id),
		LT_INT(run->key.submit_utc_s), LT_INT(changed_utc_s)),
	    err);
}

int
lt_ledger_describe_run(
    struct lt_ledger *ledger, const struct lt_settlement *settlement, struct lt_error *err)
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
lt_ledger_run(
    struct lt_ledger *ledger, struct lt_run_key key, struct lt_run *run, struct lt_error *err)
{
	const int rc = find_run(ledger, key, run, err);

	if (rc == 0)
		return lt_fail(err, LT_ENOENT, "ledger: no run of job %u submitted at %lld",
		    key.job_id, (long long)key.submit_utc_s);
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_runs_of_id(struct lt_ledger *ledger, uint32_t job_id, struct lt_run **runs,
    uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(
	    ledger, LT_BIND(LT_SQL_RUNS_OF_ID, LT_INT(job_id)), &lt_run_columns, runs, count, err);
}

int
lt_ledger_runs_of_job(struct lt_ledger *ledger, uint32_t job_id, struct lt_run **runs,
    uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(
	    ledger, LT_BIND(LT_SQL_RUNS_OF_JOB, LT_INT(job_id)), &lt_run_columns, runs, count, err);
}

int
lt_ledger_each_run(
    struct lt_ledger *ledger, lt_run_sum_function *take, void *context, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_run_sum, "job_id", key.job_id)},
	    {LT_DB_COLUMN(struct lt_run_sum, "submit_utc_s", key.submit_utc_s)},
	    {LT_DB_COLUMN(struct lt_run_sum, "provisional", provisional)},
	    {LT_DB_COLUMN(struct lt_run_sum, "money_micros", money_micros)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_run_sum, list)};
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger, LT_PLAIN(LT_SQL_RUN_SUMS), &columns, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_run_sum sum;

		lt_row_read(&rows, &sum);
		rc = take(context, &sum, err);
	}
	lt_rows_end(&rows);
	return rc;
}
