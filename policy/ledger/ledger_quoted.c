/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs beside what their jobs were quoted. Figures of their own, and not those
 * of `runs`: a closed period's stay as they were.
 */
#include "ledger_db.h"
#include "quoted.h"

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
static const struct lt_db_columns quoted_columns = {
    LT_DB_COLUMNS(struct lt_quoted, quoted_list)};

int
lt_ledger_put_quoted(struct lt_ledger *ledger, const struct lt_quoted *quoted,
    struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_RECORD(LT_SQL_QUOTED_PUT, &quoted_columns, quoted), err);
}

int
lt_ledger_each_quoted(struct lt_ledger *ledger, struct lt_span span,
    lt_quoted_function *take, void *context, struct lt_error *err)
{
	struct lt_quoted quoted;
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_QUOTED_ENDED, LT_INT(span.from_utc_s),
		LT_INT(span.to_utc_s)),
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
lt_ledger_no_smoke(struct lt_ledger *ledger, int64_t since_utc_s,
    uint32_t *count, struct lt_error *err)
{
	int64_t jobs = 0;
	const int rc = lt_sql_number(ledger,
	    LT_BIND(LT_SQL_QUOTED_NO_SMOKE, LT_INT(since_utc_s)), &jobs, NULL,
	    err);

	*count = (uint32_t)jobs;
	return rc;
}
