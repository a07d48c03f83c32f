/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds in the ledger: those that lowtided took over from the ring or made itself, until each has
 * ended once, settled or void. Reads and writes ledger.db; a failure of SQLite is an error, and a
 * hold that is not there is LT_ENOENT.
 */
#include "ledger_db.h"

#define HOLD(column, member) LT_DB_COLUMN(struct lt_ledger_hold, column, member)
#define HAS(member) LT_DB_COLUMN_HAS(struct lt_ledger_hold, member)
static const struct lt_db_column hold_list[] = {
    {HOLD("quote_id", quote.id)},
    {HOLD("rev", quote.rev)},
    {HOLD("flags", quote.flags)},
    {HOLD("account", quote.account)},
    {HOLD("money_micros", quote.hold_per_task.money_micros), HAS(quote.hold_per_task.has_money)},
    {HOLD("carbon_mg", quote.hold_per_task.carbon_mg), HAS(quote.hold_per_task.has_carbon)},
    {HOLD("tasks", quote.tasks)},
    {HOLD("start_utc_s", quote.start_utc_s)},
    {HOLD("end_utc_s", quote.end_utc_s)},
    {HOLD("partition", quote.partition)},
    {HOLD("plan_start_utc_s", quote.plan_start_utc_s)},
    {HOLD("home", quote.home)},
    {HOLD("home_start_utc_s", quote.home_start_utc_s)},
    {HOLD("plan_micros", quote.plan_expected.money_micros), HAS(quote.plan_expected.has_money)},
    {HOLD("plan_mg", quote.plan_expected.carbon_mg), HAS(quote.plan_expected.has_carbon)},
    {HOLD("home_micros", quote.home_expected.money_micros), HAS(quote.home_expected.has_money)},
    {HOLD("home_mg", quote.home_expected.carbon_mg), HAS(quote.home_expected.has_carbon)},
    {HOLD("objective", quote.objective)},
    {HOLD("mode", quote.mode)},
    {HOLD("uid", uid)},
    {HOLD("sequence", sequence)},
    {HOLD("state", state)},
    {HOLD("live_tasks", live_tasks)},
    {HOLD("job_id", job_id)},
    {HOLD("submit_utc_s", submit_utc_s)},
    {HOLD("run_start_utc_s", start_utc_s)},
    {HOLD("made_utc_s", made_utc_s)},
    {HOLD("why", why)},
    {HOLD("candidates", quote.why)},
    {HOLD("run", quote.run)},
    {HOLD("levers", quote.levers)},
};
/* All of them; and to put one all but quote_id, its key. */
static const struct lt_db_columns hold_columns = {LT_DB_COLUMNS(struct lt_ledger_hold, hold_list)};

static const struct lt_db_columns put_columns = {.list = hold_list + 1,
    .count = LT_ROWS_OF(hold_list) - 1,
    .record_size = sizeof(struct lt_ledger_hold)};

int
lt_ledger_put_hold(
    struct lt_ledger *ledger, const struct lt_ledger_hold *hold, struct lt_error *err)
{
	if (hold->quote.id == 0)
		return lt_fail(err, LT_EBUG, "ledger: a hold without an id");
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_HOLD_PUT, &put_columns, hold, LT_INT(hold->quote.id)), err);
}

int
lt_ledger_hold(
    struct lt_ledger *ledger, uint64_t quote_id, struct lt_ledger_hold *hold, struct lt_error *err)
{
	const int rc = lt_sql_get(
	    ledger, LT_BIND(LT_SQL_HOLD_GET, LT_INT(quote_id)), &hold_columns, hold, err);

	if (rc == 0)
		return lt_fail(
		    err, LT_ENOENT, "ledger: no hold q=%016llx", (unsigned long long)quote_id);
	return rc < 0 ? rc : LT_OK;
}

/* The open one, else of the run that was submitted last. */
static bool
is_rather(const struct lt_ledger_hold *a, const struct lt_ledger_hold *b)
{
	const bool a_open = a->state == LT_HOLD_OPEN;
	const bool b_open = b->state == LT_HOLD_OPEN;

	if (a_open != b_open)
		return a_open;
	return a->submit_utc_s != b->submit_utc_s ? a->submit_utc_s > b->submit_utc_s
						  : a->made_utc_s > b->made_utc_s;
}

/* Chosen here: few jobs have two, and SQLite would make a sorter for each. */
int
lt_ledger_hold_of_job(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_ledger_hold *hold, struct lt_error *err)
{
	struct lt_rows rows;
	bool found = false;
	int rc = lt_sql_start(
	    &rows, ledger, LT_BIND(LT_SQL_HOLDS_OF_JOB, LT_INT(job_id)), &hold_columns, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_ledger_hold other;

		lt_row_read(&rows, found ? &other : hold);
		if (found && is_rather(&other, hold))
			*hold = other;
		found = true;
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	if (rc == LT_OK && !found)
		return lt_fail(err, LT_ENOENT, "ledger: no hold of job %u", job_id);
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_each_open(
    struct lt_ledger *ledger, lt_hold_function *take, void *context, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger, LT_PLAIN(LT_SQL_HOLD_OPEN), &hold_columns, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_ledger_hold hold;

		lt_row_read(&rows, &hold);
		rc = take(context, &hold, err);
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_move_holds(
    struct lt_ledger *ledger, int64_t by_s, int64_t now_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_HOLDS_MOVE, LT_INT(by_s), LT_INT(now_utc_s)), err);
}

int
lt_ledger_end_hold(struct lt_ledger *ledger, uint64_t quote_id, enum lt_hold_state state,
    const char *why, struct lt_error *err)
{
	if (state == LT_HOLD_OPEN)
		return lt_fail(err, LT_EBUG, "ledger: a hold ends as open");
	return lt_sql_do(ledger,
	    LT_BIND(
		LT_SQL_HOLD_END, LT_INT(quote_id), LT_INT(state), LT_TEXT(why == NULL ? "" : why)),
	    err);
}

int
lt_ledger_charged_of(struct lt_ledger *ledger, const struct lt_ledger_hold *hold,
    struct lt_amount *charged, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_amount, "money_micros", money_micros)},
	    {LT_DB_COLUMN(struct lt_amount, "carbon_mg", carbon_mg)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_amount, list)};
	const int rc = lt_sql_get(ledger,
	    LT_BIND(LT_SQL_CHARGED_OF, LT_INT(hold->job_id), LT_INT(hold->quote.id),
		LT_INT(hold->submit_utc_s)),
	    &columns, charged, err);

	if (rc == 1)
		charged->has_money = charged->has_carbon = true;
	return rc < 0 ? rc : LT_OK;
}
