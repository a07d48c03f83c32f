/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds in the ledger: what lowtided took over from the ring or made itself,
 * until each has ended once, settled or void.
 */
#include <string.h>

#include "ledger_db.h"

int
lt_ledger_put_hold(struct lt_ledger *ledger, const struct lt_ledger_hold *hold,
    struct lt_error *err)
{
	const struct lt_quote *const q = &hold->quote;

	if (q->id == 0)
		return lt_fail(err, LT_EBUG, "ledger: a hold without an id");
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_HOLD_PUT, LT_INT(q->id), LT_INT(q->rev),
		LT_INT(q->flags), LT_TEXT(q->account),
		LT_OPTIONAL(
		    q->hold_per_task.has_money, q->hold_per_task.money_micros),
		LT_OPTIONAL(
		    q->hold_per_task.has_carbon, q->hold_per_task.carbon_mg),
		LT_INT(q->tasks), LT_INT(q->start_utc_s), LT_INT(q->end_utc_s),
		LT_TEXT(q->partition), LT_INT(q->plan_start_utc_s),
		LT_TEXT(q->home), LT_INT(q->home_start_utc_s),
		LT_OPTIONAL(
		    q->plan_expected.has_money, q->plan_expected.money_micros),
		LT_OPTIONAL(
		    q->plan_expected.has_carbon, q->plan_expected.carbon_mg),
		LT_OPTIONAL(
		    q->home_expected.has_money, q->home_expected.money_micros),
		LT_OPTIONAL(
		    q->home_expected.has_carbon, q->home_expected.carbon_mg),
		LT_INT(q->objective), LT_INT(q->mode), LT_INT(hold->uid),
		LT_INT(hold->sequence), LT_INT(hold->state),
		LT_INT(hold->live_tasks), LT_INT(hold->job_id),
		LT_INT(hold->submit_utc_s), LT_INT(hold->start_utc_s),
		LT_INT(hold->made_utc_s), LT_TEXT(hold->why), LT_TEXT(q->why),
		LT_TEXT(q->run), LT_TEXT(q->levers)),
	    err);
}

static void
read_amount(struct lt_rows *rows, struct lt_amount *amount)
{
	amount->has_money = lt_row_optional(rows, &amount->money_micros);
	amount->has_carbon = lt_row_optional(rows, &amount->carbon_mg);
}

/* In the order of LT_SQL_HOLD_COLUMNS. */
static void
read_hold(struct lt_rows *rows, void *element)
{
	struct lt_ledger_hold *const hold = element;
	struct lt_quote *const q = &hold->quote;

	memset(hold, 0, sizeof(*hold));
	q->id = (uint64_t)lt_row_int(rows);
	q->rev = (uint32_t)lt_row_int(rows);
	q->flags = (uint32_t)lt_row_int(rows);
	lt_row_text(rows, q->account, sizeof(q->account));
	read_amount(rows, &q->hold_per_task);
	q->tasks = (uint32_t)lt_row_int(rows);
	q->start_utc_s = lt_row_int(rows);
	q->end_utc_s = lt_row_int(rows);
	lt_row_text(rows, q->partition, sizeof(q->partition));
	q->plan_start_utc_s = lt_row_int(rows);
	lt_row_text(rows, q->home, sizeof(q->home));
	q->home_start_utc_s = lt_row_int(rows);
	read_amount(rows, &q->plan_expected);
	read_amount(rows, &q->home_expected);
	q->objective = (enum lt_objective)lt_row_int(rows);
	q->mode = (enum lt_mode)lt_row_int(rows);
	hold->uid = (uint32_t)lt_row_int(rows);
	hold->sequence = (uint64_t)lt_row_int(rows);
	hold->state = (enum lt_hold_state)lt_row_int(rows);
	hold->live_tasks = (uint32_t)lt_row_int(rows);
	hold->job_id = (uint32_t)lt_row_int(rows);
	hold->submit_utc_s = lt_row_int(rows);
	hold->start_utc_s = lt_row_int(rows);
	hold->made_utc_s = lt_row_int(rows);
	lt_row_text(rows, hold->why, sizeof(hold->why));
	lt_row_text(rows, q->why, sizeof(q->why));
	lt_row_text(rows, q->run, sizeof(q->run));
	lt_row_text(rows, q->levers, sizeof(q->levers));
}

int
lt_ledger_hold(struct lt_ledger *ledger, uint64_t quote_id,
    struct lt_ledger_hold *hold, struct lt_error *err)
{
	const int rc = lt_row_one(ledger,
	    LT_BIND(LT_SQL_HOLD_GET, LT_INT(quote_id)), read_hold, hold, err);

	if (rc == 0)
		return lt_fail(err, LT_ENOENT, "ledger: no hold q=%016llx",
		    (unsigned long long)quote_id);
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
	return a->submit_utc_s != b->submit_utc_s
		   ? a->submit_utc_s > b->submit_utc_s
		   : a->made_utc_s > b->made_utc_s;
}

/* Chosen here: few jobs have two, and SQLite would make a sorter for each. */
int
lt_ledger_hold_of_job(struct lt_ledger *ledger, uint32_t job_id,
    struct lt_ledger_hold *hold, struct lt_error *err)
{
	struct lt_rows rows;
	bool found = false;
	int rc = lt_sql_start(
	    &rows, ledger, LT_BIND(LT_SQL_HOLDS_OF_JOB, LT_INT(job_id)), err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_ledger_hold other;

		read_hold(&rows, found ? &other : hold);
		if (found && is_rather(&other, hold))
			*hold = other;
		found = true;
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	if (rc == LT_OK && !found)
		return lt_fail(
		    err, LT_ENOENT, "ledger: no hold of job %u", job_id);
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_each_open(struct lt_ledger *ledger, lt_hold_function *take,
    void *context, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger, LT_PLAIN(LT_SQL_HOLD_OPEN), err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_ledger_hold hold;

		read_hold(&rows, &hold);
		rc = take(context, &hold, err);
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_move_holds(struct lt_ledger *ledger, int64_t by_s, int64_t now_utc_s,
    struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_HOLDS_MOVE, LT_INT(by_s), LT_INT(now_utc_s)), err);
}

int
lt_ledger_end_hold(struct lt_ledger *ledger, uint64_t quote_id,
    enum lt_hold_state state, const char *why, struct lt_error *err)
{
	if (state == LT_HOLD_OPEN)
		return lt_fail(err, LT_EBUG, "ledger: a hold ends as open");
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_HOLD_END, LT_INT(quote_id), LT_INT(state),
		LT_TEXT(why == NULL ? "" : why)),
	    err);
}

static void
read_charged(struct lt_rows *rows, void *out)
{
	struct lt_amount *const charged = out;

	*charged = (struct lt_amount){.has_money = true, .has_carbon = true};
	charged->money_micros = lt_row_int(rows);
	charged->carbon_mg = lt_row_int(rows);
}

int
lt_ledger_charged_of(struct lt_ledger *ledger,
    const struct lt_ledger_hold *hold, struct lt_amount *charged,
    struct lt_error *err)
{
	const int rc = lt_row_one(ledger,
	    LT_BIND(LT_SQL_CHARGED_OF, LT_INT(hold->job_id),
		LT_INT(hold->quote.id), LT_INT(hold->submit_utc_s)),
	    read_charged, charged, err);

	return rc < 0 ? rc : LT_OK;
}
