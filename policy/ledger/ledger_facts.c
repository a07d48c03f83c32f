/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts beside the runs, on which charges and their reasons rest: what holds were made from, the
 * partitions as they last were, the GPUs that slurmdbd does not count. And runs beside the quotes
 * of their jobs: figures of their own and not those of `runs`, because a closed period's stay as
 * they were.
 *
 * Reads and writes the ledger; a failure of SQLite is an error.
 */
#include "ledger_db.h"
#include "quoted.h"

/* ---- admissions ---- */

/* ---- Facts ---- */

#define ADMISSION(column, member) LT_DB_COLUMN(struct lt_admission, column, member)
static const struct lt_db_column admission_list[] = {
    {ADMISSION("admitted_micros", admitted.money_micros),
	LT_DB_COLUMN_HAS(struct lt_admission, admitted.has_money)},
    {ADMISSION("admitted_mg", admitted.carbon_mg),
	LT_DB_COLUMN_HAS(struct lt_admission, admitted.has_carbon)},
    {ADMISSION("price", price)},
    {ADMISSION("carbon", carbon)},
    {ADMISSION("limit_s", limit_s)},
};
static const struct lt_db_columns admission_columns = {
    LT_DB_COLUMNS(struct lt_admission, admission_list)};

int
lt_ledger_admission_due(
    struct lt_ledger *ledger, uint64_t quote_id, bool *is_due, struct lt_error *err)
{
	int64_t due = 0;
	const int rc =
	    lt_sql_number(ledger, LT_BIND(LT_SQL_ADMISSION_DUE, LT_INT(quote_id)), &due, NULL, err);

	*is_due = due != 0;
	return rc;
}

int
lt_ledger_put_admission(struct lt_ledger *ledger, uint64_t quote_id, const struct lt_amount *hold,
    const struct lt_admission *admission, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_ADMISSION_PUT, &admission_columns, admission, LT_INT(quote_id),
		LT_OPTIONAL(hold->has_money, hold->money_micros),
		LT_OPTIONAL(hold->has_carbon, hold->carbon_mg)),
	    err);
}

int
lt_ledger_admission(struct lt_ledger *ledger, uint64_t quote_id, struct lt_admission *admission,
    struct lt_error *err)
{
	const int rc = lt_sql_get(ledger, LT_BIND(LT_SQL_ADMISSION_GET, LT_INT(quote_id)),
	    &admission_columns, admission, err);

	if (rc == 0)
		return lt_fail(
		    err, LT_ENOENT, "ledger: no admission q=%016llx", (unsigned long long)quote_id);
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_prune_holds(struct lt_ledger *ledger, int64_t void_before_utc_s,
    int64_t settled_before_utc_s, int64_t now_utc_s, struct lt_error *err)
{
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_sql_do(ledger, LT_BIND(LT_SQL_HOLDS_STAMP, LT_INT(now_utc_s)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_HOLDS_PRUNE, LT_INT(LT_HOLD_VOID), LT_INT(void_before_utc_s)),
		    err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(
			LT_SQL_HOLDS_PRUNE, LT_INT(LT_HOLD_SETTLED), LT_INT(settled_before_utc_s)),
		    err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_PLAIN(LT_SQL_ADMISSIONS_PRUNE), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_PLAIN(LT_SQL_PLANS_PRUNE), err);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

/* ---- plans ---- */

#define PLAN(column, member) LT_DB_COLUMN(struct lt_plan_made, column, member)
static const struct lt_db_column plan_list[] = {
    {PLAN("made_utc_s", made_utc_s)},
    {PLAN("partition", partition)},
    {PLAN("start_utc_s", start_utc_s)},
    {PLAN("money_micros", expected.money_micros),
	LT_DB_COLUMN_HAS(struct lt_plan_made, expected.has_money)},
    {PLAN("carbon_mg", expected.carbon_mg),
	LT_DB_COLUMN_HAS(struct lt_plan_made, expected.has_carbon)},
    {PLAN("why", why)},
};
static const struct lt_db_columns plan_columns = {LT_DB_COLUMNS(struct lt_plan_made, plan_list)};

int
lt_ledger_put_plan(struct lt_ledger *ledger, uint64_t quote_id, const struct lt_plan_made *plan,
    struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND_RECORD(LT_SQL_PLAN_PUT, &plan_columns, plan, LT_INT(quote_id)), err);
}

int
lt_ledger_plans(struct lt_ledger *ledger, uint64_t quote_id, struct lt_plan_made **plans,
    uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(
	    ledger, LT_BIND(LT_SQL_PLANS_OF, LT_INT(quote_id)), &plan_columns, plans, count, err);
}

/* ---- partitions ---- */

int
lt_ledger_put_place(struct lt_ledger *ledger, const char *partition, const char *facts,
    int64_t left_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_PLACE_PUT, LT_TEXT(partition), LT_TEXT(facts), LT_INT(left_utc_s)), err);
}

int
lt_ledger_place(struct lt_ledger *ledger, const char *partition, struct lt_place_kept *place,
    struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_place_kept, "facts", facts)},
	    {LT_DB_COLUMN(struct lt_place_kept, "left_utc_s", left_utc_s)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_place_kept, list)};
	const int rc =
	    lt_sql_get(ledger, LT_BIND(LT_SQL_PLACE_GET, LT_TEXT(partition)), &columns, place, err);

	if (rc == 0)
		return lt_fail(err, LT_ENOENT, "ledger: no partition %s", partition);
	return rc < 0 ? rc : LT_OK;
}

static const struct lt_db_column name_list[] = {
    {.name = "partition", .type = LT_DB_COLUMN_TEXT, .size = LT_NAME_SIZE},
};
static const struct lt_db_columns name_columns = {LT_DB_COLUMNS(char[LT_NAME_SIZE], name_list)};

int
lt_ledger_places(
    struct lt_ledger *ledger, char (**names)[LT_NAME_SIZE], uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(ledger, LT_PLAIN(LT_SQL_PLACES), &name_columns, names, count, err);
}

int
lt_ledger_rated(struct lt_ledger *ledger, enum lt_rate rate, char (**names)[LT_NAME_SIZE],
    uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(
	    ledger, LT_BIND(LT_SQL_RATED, LT_INT(rate)), &name_columns, names, count, err);
}

/* ---- runs ---- */

int
lt_ledger_put_gpus(struct lt_ledger *ledger, struct lt_run_key key, struct lt_run_gpus gpus,
    int64_t now_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_GPUS_PUT, LT_INT(key.job_id), LT_INT(key.submit_utc_s),
		LT_INT(gpus.gpus), LT_INT(gpus.shards), LT_INT(now_utc_s)),
	    err);
}

int
lt_ledger_gpus(struct lt_ledger *ledger, struct lt_run_key *key, struct lt_run_gpus *gpus,
    struct lt_error *err)
{
	struct gpus {
		struct lt_run_gpus had;
		int64_t submit_utc_s;
	} found;
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct gpus, "gpus", had.gpus)},
	    {LT_DB_COLUMN(struct gpus, "shards", had.shards)},
	    {LT_DB_COLUMN(struct gpus, "submit_utc_s", submit_utc_s)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct gpus, list)};
	const int rc = lt_sql_get(ledger,
	    LT_BIND(LT_SQL_GPUS_GET, LT_INT(key->job_id), LT_INT(key->submit_utc_s)), &columns,
	    &found, err);

	if (rc == 0)
		return lt_fail(err, LT_ENOENT, "ledger: no GPUs of job %u", key->job_id);
	if (rc < 0)
		return rc;
	*gpus = found.had;
	key->submit_utc_s = found.submit_utc_s;
	return LT_OK;
}

int
lt_ledger_prune_gpus(struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_GPUS_PRUNE, LT_INT(before_utc_s)), err);
}

int
lt_ledger_over(struct lt_ledger *ledger, int64_t since_utc_s, struct lt_over_sum *sums,
    uint32_t room, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_over_sum, "over_reason", reason)},
	    {LT_DB_COLUMN(struct lt_over_sum, "runs", runs)},
	    {LT_DB_COLUMN(struct lt_over_sum, "last_job_id", last_job_id)},
	    {LT_DB_COLUMN(struct lt_over_sum, "over_micros", over_micros)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_over_sum, list)};

	return lt_sql_some(
	    ledger, LT_BIND(LT_SQL_OVER_COUNTS, LT_INT(since_utc_s)), &columns, sums, room, err);
}

int
lt_ledger_has_money(struct lt_ledger *ledger, bool *has, struct lt_error *err)
{
	int64_t any = 0;
	const int rc = lt_sql_number(ledger, LT_PLAIN(LT_SQL_HAS_MONEY), &any, NULL, err);

	*has = any != 0;
	return rc;
}

/* ---- Quoted runs ---- */

#define QUOTED(column, member) LT_DB_COLUMN(struct lt_quoted, column, member)
#define HAS(member) LT_DB_COLUMN_HAS(struct lt_quoted, member)
static const struct lt_db_column quoted_list[] = {
    {QUOTED("job_id", run.job_id)},
    {QUOTED("submit_utc_s", run.submit_utc_s)},
    {QUOTED("quote_id", quote_id)},
    {QUOTED("account", account)},
    {QUOTED("compared", compared)},
    {QUOTED("draw", draw)},
    {QUOTED("plan_micros", plan.money_micros), HAS(plan.has_money)},
    {QUOTED("plan_mg", plan.carbon_mg), HAS(plan.has_carbon)},
    {QUOTED("home_micros", home.money_micros), HAS(home.has_money)},
    {QUOTED("home_mg", home.carbon_mg), HAS(home.has_carbon)},
    {QUOTED("money_micros", charged.money_micros), HAS(charged.has_money)},
    {QUOTED("carbon_mg", charged.carbon_mg), HAS(charged.has_carbon)},
    {QUOTED("base_micros", base.money_micros), HAS(base.has_money)},
    {QUOTED("base_mg", base.carbon_mg), HAS(base.has_carbon)},
    {QUOTED("work_micros", work.money_micros), HAS(work.has_money)},
    {QUOTED("work_mg", work.carbon_mg), HAS(work.has_carbon)},
    {QUOTED("end_utc_s", end_utc_s)},
    {QUOTED("how_ended", end)},
    {QUOTED("has_left", left)},
    {QUOTED("deadline_utc_s", deadline_utc_s)},
    {QUOTED("stated_ppm", stated_ppm)},
};
static const struct lt_db_columns quoted_columns = {LT_DB_COLUMNS(struct lt_quoted, quoted_list)};

int
lt_ledger_put_quoted(struct lt_ledger *ledger, const struct lt_quoted *quoted, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_RECORD(LT_SQL_QUOTED_PUT, &quoted_columns, quoted), err);
}

int
lt_ledger_each_quoted(struct lt_ledger *ledger, struct lt_span span, lt_quoted_function *take,
    void *context, struct lt_error *err)
{
	struct lt_quoted quoted;
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_QUOTED_ENDED, LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)),
	    &quoted_columns, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		lt_row_read(&rows, &quoted);
		quoted.waited_s = lt_row_int(&rows);
		rc = take(context, &quoted, err);
	}
	lt_rows_end(&rows);
	return rc;
}

_Static_assert(LT_QUOTE_NO_SMOKE == 8192, "as the index and its query have it");

int
lt_ledger_no_smoke(
    struct lt_ledger *ledger, int64_t since_utc_s, uint32_t *count, struct lt_error *err)
{
	int64_t jobs = 0;
	const int rc = lt_sql_number(
	    ledger, LT_BIND(LT_SQL_QUOTED_NO_SMOKE, LT_INT(since_utc_s)), &jobs, NULL, err);

	*count = (uint32_t)jobs;
	return rc;
}
