/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What charges and their reasons rest on beside the runs: what holds were
 * made from, the partitions as they last were, the GPUs that
 * slurmdbd does not count.
 */
#include "ledger_db.h"

/* ---- admissions ---- */

int
lt_ledger_admission_due(struct lt_ledger *ledger, uint64_t quote_id,
    bool *is_due, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_ADMISSION_DUE, LT_INT(quote_id)), err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	*is_due = rc == 1 && lt_row_int(&rows) != 0;
	lt_rows_end(&rows);
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_put_admission(struct lt_ledger *ledger, uint64_t quote_id,
    const struct lt_amount *hold, const struct lt_admission *admission,
    struct lt_error *err)
{
	const struct lt_amount *const admitted = &admission->admitted;

	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_ADMISSION_PUT, LT_INT(quote_id),
		LT_OPTIONAL(hold->has_money, hold->money_micros),
		LT_OPTIONAL(hold->has_carbon, hold->carbon_mg),
		LT_OPTIONAL(admitted->has_money, admitted->money_micros),
		LT_OPTIONAL(admitted->has_carbon, admitted->carbon_mg),
		LT_REAL(admission->price), LT_REAL(admission->carbon),
		LT_INT(admission->limit_s)),
	    err);
}

static void
read_admission(struct lt_rows *rows, void *element)
{
	struct lt_admission *const admission = element;
	struct lt_amount *const admitted = &admission->admitted;

	admitted->has_money = lt_row_optional(rows, &admitted->money_micros);
	admitted->has_carbon = lt_row_optional(rows, &admitted->carbon_mg);
	admission->price = lt_row_real(rows);
	admission->carbon = lt_row_real(rows);
	admission->limit_s = lt_row_int(rows);
}

int
lt_ledger_admission(struct lt_ledger *ledger, uint64_t quote_id,
    struct lt_admission *admission, struct lt_error *err)
{
	const int rc =
	    lt_row_one(ledger, LT_BIND(LT_SQL_ADMISSION_GET, LT_INT(quote_id)),
		read_admission, admission, err);

	if (rc == 0)
		return lt_fail(err, LT_ENOENT, "ledger: no admission q=%016llx",
		    (unsigned long long)quote_id);
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_prune_holds(struct lt_ledger *ledger, int64_t void_before_utc_s,
    int64_t settled_before_utc_s, int64_t now_utc_s, struct lt_error *err)
{
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_sql_do(
	    ledger, LT_BIND(LT_SQL_HOLDS_STAMP, LT_INT(now_utc_s)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_HOLDS_PRUNE, LT_INT(LT_HOLD_VOID),
			LT_INT(void_before_utc_s)),
		    err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_HOLDS_PRUNE, LT_INT(LT_HOLD_SETTLED),
			LT_INT(settled_before_utc_s)),
		    err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_PLAIN(LT_SQL_ADMISSIONS_PRUNE), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_PLAIN(LT_SQL_PLANS_PRUNE), err);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

/* ---- plans ---- */

int
lt_ledger_put_plan(struct lt_ledger *ledger, uint64_t quote_id,
    const struct lt_plan_made *plan, struct lt_error *err)
{
	const struct lt_amount *const expected = &plan->expected;

	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_PLAN_PUT, LT_INT(quote_id), LT_INT(plan->made_utc_s),
		LT_TEXT(plan->partition), LT_INT(plan->start_utc_s),
		LT_OPTIONAL(expected->has_money, expected->money_micros),
		LT_OPTIONAL(expected->has_carbon, expected->carbon_mg),
		LT_TEXT(plan->why)),
	    err);
}

static void
read_plan(struct lt_rows *rows, void *element)
{
	struct lt_plan_made *const plan = element;
	struct lt_amount *const expected = &plan->expected;

	plan->made_utc_s = lt_row_int(rows);
	lt_row_text(rows, plan->partition, sizeof(plan->partition));
	plan->start_utc_s = lt_row_int(rows);
	expected->has_money = lt_row_optional(rows, &expected->money_micros);
	expected->has_carbon = lt_row_optional(rows, &expected->carbon_mg);
	lt_row_text(rows, plan->why, sizeof(plan->why));
}

int
lt_ledger_plans(struct lt_ledger *ledger, uint64_t quote_id,
    struct lt_plan_made **plans, uint32_t *count, struct lt_error *err)
{
	struct lt_array array = {.size = sizeof(**plans), .read = read_plan};
	const int rc = lt_rows_all(
	    ledger, LT_BIND(LT_SQL_PLANS_OF, LT_INT(quote_id)), &array, err);

	*plans = array.items;
	*count = (uint32_t)array.count;
	return rc;
}

/* ---- partitions ---- */

int
lt_ledger_put_place(struct lt_ledger *ledger, const char *partition,
    const char *facts, int64_t left_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_PLACE_PUT, LT_TEXT(partition), LT_TEXT(facts),
		LT_INT(left_utc_s)),
	    err);
}

int
lt_ledger_place(struct lt_ledger *ledger, const char *partition,
    struct lt_place_kept *place, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(
	    &rows, ledger, LT_BIND(LT_SQL_PLACE_GET, LT_TEXT(partition)), err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	if (rc == 1) {
		lt_row_text(&rows, place->facts, sizeof(place->facts));
		place->left_utc_s = lt_row_int(&rows);
	}
	lt_rows_end(&rows);
	if (rc == 0)
		return lt_fail(
		    err, LT_ENOENT, "ledger: no partition %s", partition);
	return rc < 0 ? rc : LT_OK;
}

static void
read_name(struct lt_rows *rows, void *element)
{
	lt_row_text(rows, element, LT_NAME_SIZE);
}

int
lt_ledger_places(struct lt_ledger *ledger, char (**names)[LT_NAME_SIZE],
    uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {.read = read_name, .size = sizeof(**names)};
	const int rc =
	    lt_rows_all(ledger, LT_PLAIN(LT_SQL_PLACES), &found, err);

	*names = found.items;
	*count = found.count;
	return rc;
}

int
lt_ledger_rated(struct lt_ledger *ledger, enum lt_rate rate,
    char (**names)[LT_NAME_SIZE], uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {.read = read_name, .size = sizeof(**names)};
	const int rc = lt_rows_all(
	    ledger, LT_BIND(LT_SQL_RATED, LT_INT(rate)), &found, err);

	*names = found.items;
	*count = found.count;
	return rc;
}

/* ---- runs ---- */

int
lt_ledger_put_gpus(struct lt_ledger *ledger, struct lt_run_key key,
    struct lt_run_gpus gpus, int64_t now_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_GPUS_PUT, LT_INT(key.job_id),
		LT_INT(key.submit_utc_s), LT_INT(gpus.gpus),
		LT_INT(gpus.shards), LT_INT(now_utc_s)),
	    err);
}

struct gpus {
	struct lt_run_gpus had;
	int64_t submit_utc_s;
};

static void
read_gpus(struct lt_rows *rows, void *element)
{
	struct gpus *const gpus = element;

	gpus->had.gpus = (uint32_t)lt_row_int(rows);
	gpus->had.shards = (uint32_t)lt_row_int(rows);
	gpus->submit_utc_s = lt_row_int(rows);
}

int
lt_ledger_gpus(struct lt_ledger *ledger, struct lt_run_key *key,
    struct lt_run_gpus *gpus, struct lt_error *err)
{
	struct gpus found = {*gpus, key->submit_utc_s};
	const int rc = lt_row_one(ledger,
	    LT_BIND(LT_SQL_GPUS_GET, LT_INT(key->job_id),
		LT_INT(key->submit_utc_s)),
	    read_gpus, &found, err);

	*gpus = found.had;
	key->submit_utc_s = found.submit_utc_s;
	if (rc == 0)
		return lt_fail(
		    err, LT_ENOENT, "ledger: no GPUs of job %u", key->job_id);
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_prune_gpus(
    struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_GPUS_PRUNE, LT_INT(before_utc_s)), err);
}

int
lt_ledger_over(struct lt_ledger *ledger, int64_t since_utc_s,
    struct lt_over_sum *sums, uint32_t room, struct lt_error *err)
{
	struct lt_rows rows;
	uint32_t used = 0;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_OVER_COUNTS, LT_INT(since_utc_s)), err);

	while (rc == LT_OK && used < room &&
	       (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_over_sum *const sum = &sums[used++];

		lt_row_text(&rows, sum->reason, sizeof(sum->reason));
		sum->runs = (uint32_t)lt_row_int(&rows);
		sum->last_job_id = (uint32_t)lt_row_int(&rows);
		sum->over_micros = lt_row_real(&rows);
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc < 0 ? rc : (int)used;
}

int
lt_ledger_has_money(struct lt_ledger *ledger, bool *has, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger, LT_PLAIN(LT_SQL_HAS_MONEY), err);

	*has = false;
	if (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		*has = lt_row_int(&rows) != 0;
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc;
}
