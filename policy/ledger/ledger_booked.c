/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a statement: of each run what is booked in the period. Nearly all lie in it as they
 * are; of one that goes over an end, or was corrected, its entries are added up, and each account
 * that they name gets a row.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ledger_db.h"
#include "periods.h"
#include "units.h"

struct taker {
	struct lt_ledger *ledger;
	const struct lt_runs_asked *asked;
	lt_run_function *take;
	void *context;
	bool is_late;
	int64_t left; /* so many more are wanted; negative: all */
};

/* Entries are of hours of UTC: the first one at that time or after it. */
static int64_t
hour_from(int64_t utc_s)
{
	return utc_s <= 0 ? utc_s : (utc_s + LT_HOUR_S - 1) / LT_HOUR_S * LT_HOUR_S;
}

struct lt_span
lt_booked_hours(int64_t from_utc_s, int64_t to_utc_s)
{
	return (struct lt_span){hour_from(from_utc_s), hour_from(to_utc_s)};
}

static int
give_row(
    struct taker *t, const struct lt_run *run, const struct lt_booked *booked, struct lt_error *err)
{
	const char *const account = t->asked->account;

	if (account != NULL && strcmp(account, booked->account) != 0)
		return LT_OK;
	if (t->is_late && !booked->has_entries)
		return LT_OK;
	t->left -= t->left > 0;
	return t->take(t->context, run, booked, err);
}

/* Returns the span that both have. */
static struct lt_span
common(struct lt_span a, struct lt_span b)
{
	return (struct lt_span){a.from_utc_s > b.from_utc_s ? a.from_utc_s : b.from_utc_s,
	    a.to_utc_s < b.to_utc_s ? a.to_utc_s : b.to_utc_s};
}

/* Returns the span from the hour of the first to that of the last, before the period: the part that
 * the run has, and all where it has none. */
static struct lt_span
earlier_hours(
    const struct taker *t, const struct lt_run *run, int64_t first_utc_s, int64_t last_utc_s)
{
	const struct lt_span hours = common((struct lt_span){first_utc_s - first_utc_s % LT_HOUR_S,
						last_utc_s - last_utc_s % LT_HOUR_S + LT_HOUR_S},
	    (struct lt_span){INT64_MIN, t->asked->from_utc_s});
	const struct lt_span part =
	    common(hours, (struct lt_span){run->start_utc_s, run->end_utc_s});

	return part.from_utc_s < part.to_utc_s ? part : hours;
}

static int
read_booked(struct lt_rows *rows, const struct taker *t, const struct lt_run *run,
    struct lt_booked *booked, struct lt_error *err)
{
	const bool is_charge = lt_row_int(rows) == LT_ENTRY_CHARGE;
	const bool is_earlier = lt_row_int(rows) != 0;
	const int64_t first_utc_s = lt_row_int(rows);
	const int64_t last_utc_s = lt_row_int(rows);
	struct lt_entry sum = {0};

	lt_row_figures(rows, &sum);
	booked->has_entries = true;
	if (is_charge) {
		booked->charge = sum;
		return LT_OK;
	}
	if (booked->for_utc_s == 0 || first_utc_s < booked->for_utc_s)
		booked->for_utc_s = first_utc_s;
	if (is_earlier) {
		booked->earlier = sum;
		booked->earlier_hours = earlier_hours(t, run, first_utc_s, last_utc_s);
	}
	return lt_entry_add(&booked->correction, &sum, 1)
		   ? LT_OK
		   : lt_fail(err, LT_EOVERFLOW, "ledger: a run passes 64 bits");
}

/* Reads what is late of the run, which completes its row, and gives the row. */
static int
give_part(struct taker *t, const struct lt_run *run, struct lt_booked *booked, struct lt_error *err)
{
	int rc = LT_OK;

	if (booked->earlier_hours.to_utc_s != 0)
		rc = lt_sql_number(t->ledger,
		    LT_BIND(LT_SQL_LATE_OF_RUN, LT_INT(run->key.job_id),
			LT_INT(run->key.submit_utc_s), LT_INT(t->asked->from_utc_s),
			LT_INT(t->asked->to_utc_s), LT_INT(run->start_utc_s),
			LT_INT(run->end_utc_s), LT_TEXT(booked->account)),
		    &booked->late_s, NULL, err);
	return rc < 0 ? rc : give_row(t, run, booked, err);
}

/* A row an account; of one without entries here one of nothing. */
static int
give_parts(struct taker *t, const struct lt_run *run, struct lt_error *err)
{
	struct lt_booked booked = {.is_late = t->is_late};
	char account[LT_ACCOUNT_SIZE];
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, t->ledger,
	    LT_BIND(LT_SQL_BOOKED_OF_RUN, LT_INT(run->key.job_id), LT_INT(run->key.submit_utc_s),
		LT_INT(t->asked->from_utc_s), LT_INT(t->asked->to_utc_s)),
	    NULL, err);

	memcpy(booked.account, run->account, sizeof(booked.account));
	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		lt_row_text(&rows, account, sizeof(account));
		rc = LT_OK;
		if (booked.has_entries && strcmp(account, booked.account) != 0) {
			rc = give_part(t, run, &booked, err);
			booked = (struct lt_booked){.is_late = t->is_late};
		}
		memcpy(booked.account, account, sizeof(account));
		if (rc == LT_OK)
			rc = read_booked(&rows, t, run, &booked, err);
	}
	lt_rows_end(&rows);
	return rc == LT_OK ? give_part(t, run, &booked, err) : rc;
}

/* All of its entries are of the period: the first is of its start. Of one that ended after it they
 * have to be read: an hour may be cut, or not, where the period ends. */
static bool
is_within(const struct lt_run *run, const struct lt_runs_asked *asked)
{
	return !run->corrected && run->start_utc_s >= asked->from_utc_s &&
	       run->end_utc_s <= asked->to_utc_s;
}

static int
give_run(struct taker *t, const struct lt_run *run, struct lt_error *err)
{
	const int64_t closed_utc_s = t->asked->closed_utc_s;

	if ((closed_utc_s != 0 && run->settled_utc_s > closed_utc_s) ||
	    (t->asked->of_one && run->uid != t->asked->uid))
		return LT_OK;
	if (t->is_late || !is_within(run, t->asked))
		return give_parts(t, run, err);
	struct lt_booked booked = {.has_entries = true, .charge = lt_entry_of_run(run)};
	memcpy(booked.account, run->account, sizeof(booked.account));
	return give_row(t, run, &booked, err);
}

static int
take_part(struct taker *t, struct lt_bound part, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, t->ledger, part, &lt_run_columns, err);

	while (rc == LT_OK && t->left != 0 && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_run run;

		lt_row_read(&rows, &run);
		rc = give_run(t, &run, err);
	}
	lt_rows_end(&rows);
	return rc;
}

/* The parts of a list, one after the other: as it is, and as it was when the period was closed. */
static const struct list {
	enum lt_sql parts[3]; /* the last: those that corrections name */
} lists[][2] = {
    {{{LT_SQL_ALL_NEAR, LT_SQL_ALL_FAR, LT_SQL_ALL_CORRECTED}},
	{{LT_SQL_ALL_NEAR_THEN, LT_SQL_ALL_FAR_THEN, LT_SQL_ALL_CORRECTED_THEN}}},
    {{{LT_SQL_RUNS_NEAR, LT_SQL_RUNS_FAR, LT_SQL_CORRECTED_OF}},
	{{LT_SQL_RUNS_NEAR_THEN, LT_SQL_RUNS_FAR_THEN, LT_SQL_CORRECTED_OF_THEN}}},
};

/* Binds as many values as each of them has: ?10 is only for the figures as they were. */
static struct lt_bound
bound_of(enum lt_sql sql, const struct lt_value values[10], bool was, int count)
{
	return (struct lt_bound){.sql = sql, .values = values, .count = was ? 10 : count};
}

int
lt_ledger_runs(struct lt_ledger *ledger, const struct lt_runs_asked *asked, lt_run_function *take,
    void *context, struct lt_error *err)
{
	/* Behind all that ended as the period begins. */
	static const struct lt_run before = {.start_utc_s = INT64_MAX};
	static const int counts[2][3] = {{3, 3, 3}, {9, 9, 5}};
	const struct lt_run *const after = asked->after != NULL ? asked->after : &before;
	const bool of_one = asked->account != NULL, was = asked->closed_utc_s;
	const struct list *const list = &lists[of_one][was];
	struct taker t = {.ledger = ledger,
	    .asked = asked,
	    .take = take,
	    .context = context,
	    .left = asked->most > 0 ? (int64_t)asked->most : -1};
	int rc = LT_OK;

	assert(of_one || (asked->after == NULL && asked->most == 0));
	for (int i = asked->after_late ? 2 : 0; i < 3 && rc == LT_OK && t.left != 0; i++) {
		const bool is_late = i == 2;
		const struct lt_run_key key =
		    asked->after_late ? after->key : (struct lt_run_key){0};
		const struct lt_value first = of_one ? LT_TEXT(asked->account) : LT_INT(0);
		const struct lt_value values[10] = {first, LT_INT(asked->from_utc_s),
		    LT_INT(asked->to_utc_s), LT_INT(is_late ? key.job_id : after->end_utc_s),
		    LT_INT(is_late ? key.submit_utc_s : after->start_utc_s), LT_INT(after->moved),
		    LT_INT(after->priced), LT_INT(after->key.job_id),
		    LT_INT(after->key.submit_utc_s), LT_INT(asked->closed_utc_s)};

		t.is_late = is_late;
		rc = take_part(&t, bound_of(list->parts[i], values, was, counts[of_one][i]), err);
	}
	return rc;
}

int
lt_ledger_hours(struct lt_ledger *ledger, const struct lt_hours_asked *asked,
    lt_hour_function *take, void *context, struct lt_error *err)
{
	const struct lt_run_key key = asked->key;
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_HOURS_OF_RUN, LT_INT(key.job_id), LT_INT(key.submit_utc_s),
		LT_INT(asked->span.from_utc_s), LT_INT(asked->span.to_utc_s)),
	    NULL, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_entry entry = {.run = key};

		entry.at_utc_s = lt_row_int(&rows);
		lt_row_text(&rows, entry.account, sizeof(entry.account));
		lt_row_figures(&rows, &entry);
		rc = take(context, &entry, err);
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_used_hours(struct lt_ledger *ledger, const struct lt_hours_asked *asked,
    lt_used_function *take, void *context, struct lt_error *err)
{
	const struct lt_run_key key = asked->key;
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_USED_OF_RUN, LT_INT(key.job_id), LT_INT(key.submit_utc_s),
		LT_INT(asked->span.from_utc_s), LT_INT(asked->span.to_utc_s)),
	    NULL, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_entry entry = {.run = key};

		entry.at_utc_s = lt_row_int(&rows);
		lt_row_text(&rows, entry.account, sizeof(entry.account));
		entry.kind = (enum lt_entry_kind)lt_row_int(&rows);
		entry.made_utc_s = lt_row_int(&rows);
		entry.money_micros = lt_row_int(&rows);
		entry.carbon_mg = lt_row_int(&rows);
		entry.energy_wh = lt_row_int(&rows);
		rc = take(context, &entry, lt_row_int(&rows), err);
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_adjustments(struct lt_ledger *ledger, struct lt_span span, lt_hour_function *take,
    void *context, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_ADJUSTMENTS, LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)), NULL, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_entry entry = {.kind = LT_ENTRY_ADJUSTMENT};

		entry.at_utc_s = lt_row_int(&rows);
		entry.made_utc_s = lt_row_int(&rows);
		lt_row_text(&rows, entry.account, sizeof(entry.account));
		entry.money_micros = lt_row_int(&rows);
		entry.carbon_mg = lt_row_int(&rows);
		lt_row_text(&rows, entry.who, sizeof(entry.who));
		lt_row_text(&rows, entry.reason, sizeof(entry.reason));
		rc = take(context, &entry, err);
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_corrections(struct lt_ledger *ledger, struct lt_span span, lt_hour_function *take,
    void *context, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_CORRECTIONS, LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)), NULL, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_entry entry = {.kind = LT_ENTRY_CORRECTION};

		entry.run.job_id = (uint32_t)lt_row_int(&rows);
		entry.run.submit_utc_s = lt_row_int(&rows);
		entry.uid = (uint32_t)lt_row_int(&rows);
		lt_row_text(&rows, entry.account, sizeof(entry.account));
		entry.at_utc_s = lt_row_int(&rows);
		entry.money_micros = lt_row_int(&rows);
		entry.carbon_mg = lt_row_int(&rows);
		entry.made_utc_s = lt_row_int(&rows);
		snprintf(entry.reason, sizeof(entry.reason), "%s",
		    lt_row_int(&rows) != 0 ? LT_CORRECTION_CHANGED : LT_CORRECTION_LATE);
		rc = take(context, &entry, err);
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_incurred(struct lt_ledger *ledger, struct lt_span span, lt_incurred_function *take,
    void *context, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_INCURRED, LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)), NULL, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_incurred one = {.partition = ""};

		lt_row_text(&rows, one.partition, sizeof(one.partition));
		one.money_micros = lt_row_int(&rows);
		one.carbon_charge_micros = lt_row_int(&rows);
		one.discount_micros = lt_row_int(&rows);
		rc = take(context, &one, err);
	}
	lt_rows_end(&rows);
	return rc;
}
