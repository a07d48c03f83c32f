/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes sums beside entries. It has the one list of an entry's figures, and:
 *
 * days: the sums of entries by UTC day. Many runs of a transaction have the same account, user and
 * day: their figures are collected here, and each sum is written once, before the transaction ends
 * and before anybody reads days. Around a savepoint as well (lt_call_begin()), so that an undone
 * call takes its part of the sums with it.
 *
 * carries: whole micros of exact charges. The remainder of rounding one run
 * of a partition goes into its next run. A transaction reads and writes it
 * once.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ledger_db.h"
#include "units.h"

/* ---- Days ---- */

void
lt_entry_figures(int64_t *out[LT_ENTRY_FIGURES], struct lt_entry *entry)
{
#define FIGURE(column, member) *out++ = &entry->member;
	LT_FIGURES(FIGURE)
#undef FIGURE
}

bool
lt_entry_add(struct lt_entry *sum, const struct lt_entry *addend, int sign)
{
	struct lt_entry copy = *addend;
	int64_t *to[LT_ENTRY_FIGURES], *from[LT_ENTRY_FIGURES];

	lt_entry_figures(to, sum);
	lt_entry_figures(from, &copy);
	for (int i = 0; i < LT_ENTRY_FIGURES; i++)
		if (sign > 0 ? __builtin_add_overflow(*to[i], *from[i], to[i])
			     : __builtin_sub_overflow(*to[i], *from[i], to[i]))
			return false;
	return true;
}

struct lt_entry
lt_entry_of_run(const struct lt_run *run)
{
#define FIGURE(column, member) .member = run->member,
	return (struct lt_entry){LT_FIGURES(FIGURE)};
#undef FIGURE
}

void
lt_row_figures(struct lt_rows *rows, struct lt_entry *entry)
{
	int64_t *of[LT_ENTRY_FIGURES];

	lt_entry_figures(of, entry);
	for (int i = 0; i < LT_ENTRY_FIGURES; i++)
		*of[i] = lt_row_int(rows);
}

/* ---- days ---- */

static int
put_day(struct lt_ledger *ledger, const struct lt_day *day, struct lt_error *err)
{
	enum { KEYS = 4, VALUES = KEYS + LT_ENTRY_FIGURES };
	struct lt_value values[VALUES] = {
	    LT_INT(day->day), LT_TEXT(day->account), LT_INT(day->uid), LT_INT(day->kind)};

	for (int i = 0; i < LT_ENTRY_FIGURES; i++)
		values[KEYS + i] = LT_INT(day->figures[i]);
	return lt_sql_do(ledger,
	    (struct lt_bound){.sql = LT_SQL_DAY_ADD, .values = values, .count = VALUES}, err);
}

/* Returns the place of a sum: by its account, with the users and days of that near each other. */
static struct lt_day *
place_of(struct lt_days *days, const struct lt_day *day)
{
	const uint32_t hash = lt_name_hash(day->account) + day->uid + 7 * (uint32_t)day->day;

	return &days->places[hash % LT_DAY_PLACES];
}

static bool
is_same(const struct lt_day *a, const struct lt_day *b)
{
	return a->day == b->day && a->uid == b->uid && a->kind == b->kind &&
	       strcmp(a->account, b->account) == 0;
}

static int
keep_day(struct lt_ledger *ledger, const struct lt_day *day, struct lt_error *err)
{
	struct lt_days *const days = &ledger->days;
	struct lt_day *const place = place_of(days, day);
	struct lt_day sum = *day;

	if (place->is_used && is_same(place, day)) {
		for (int i = 0; i < LT_ENTRY_FIGURES; i++)
			if (__builtin_add_overflow(
				sum.figures[i], place->figures[i], &sum.figures[i]))
				return lt_fail(
				    err, LT_EOVERFLOW, "ledger: a day's sum passes 64 bits");
	} else if (place->is_used) {
		const int rc = put_day(ledger, place, err);

		if (rc != LT_OK)
			return rc;
	}
	*place = sum;
	days->has_any = true;
	return LT_OK;
}

int
lt_days_add(struct lt_ledger *ledger, const struct lt_entry *entry, struct lt_error *err)
{
	struct lt_day day = {.is_used = true,
	    .day = entry->at_utc_s / LT_DAY_S,
	    .uid = entry->uid,
	    .kind = entry->kind};
	struct lt_entry copy = *entry;
	int64_t *figures[LT_ENTRY_FIGURES];

	lt_entry_figures(figures, &copy);
	for (int i = 0; i < LT_ENTRY_FIGURES; i++)
		day.figures[i] = *figures[i];
	memcpy(day.account, entry->account, sizeof(day.account));
	return ledger->in_transaction ? keep_day(ledger, &day, err) : put_day(ledger, &day, err);
}

int
lt_days_write(struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_days *const days = &ledger->days;
	int rc = LT_OK;

	/* A refused row stays, for then the commit is refused too. */
	for (int i = 0; days->has_any && i < LT_DAY_PLACES; i++) {
		struct lt_day *const place = &days->places[i];

		if (!place->is_used)
			continue;
		rc = put_day(ledger, place, err);
		if (rc != LT_OK)
			return rc;
		place->is_used = false;
	}
	days->has_any = false;
	return rc;
}

void
lt_days_drop(struct lt_ledger *ledger)
{
	if (ledger->days.has_any)
		ledger->days = (struct lt_days){0};
}

/* ---- Carries ---- */

/* Bound of one part: 2^52 micros, so that a carry below 1 is still exact to better than half a
 * micro. */
static const double EXACT_MAX = 4503599627370496.0;

static const struct lt_db_column carry_list[] = {
    {.name = "carry", .type = LT_DB_COLUMN_REAL, .size = sizeof(double)},
};
static const struct lt_db_columns carry_columns = {LT_DB_COLUMNS(double, carry_list)};

static int
put_carry(struct lt_ledger *ledger, const struct lt_carry *carry, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_CARRY_PUT, LT_TEXT(carry->partition), LT_INT(carry->is_carbon),
		LT_REAL(carry->carry)),
	    err);
}

int
lt_carries_write(struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_carries *const carries = &ledger->carries;

	/* A refused row stays, for then the commit is refused too. */
	for (int i = 0; carries->has_any && i < LT_KEPT_CARRIES; i++) {
		struct lt_carry *const carry = &carries->places[i];
		const int rc = carry->is_used ? put_carry(ledger, carry, err) : LT_OK;

		if (rc != LT_OK)
			return rc;
		carry->is_used = false;
	}
	carries->has_any = false;
	return LT_OK;
}

void
lt_carries_drop(struct lt_ledger *ledger)
{
	if (ledger->carries.has_any)
		ledger->carries = (struct lt_carries){0};
}

/* Read once in a transaction, and written at its end, but where another has its place meanwhile. */
static int
take_carry(struct lt_ledger *ledger, const struct lt_carry_key *key, struct lt_carry **carry,
    struct lt_error *err)
{
	const uint32_t hash = lt_name_hash(key->partition) + key->is_carbon;

	*carry = &ledger->carries.places[hash % LT_KEPT_CARRIES];
	struct lt_carry *const place = *carry;
	if (place->is_used && place->is_carbon == key->is_carbon &&
	    strcmp(place->partition, key->partition) == 0)
		return LT_OK;
	int rc = place->is_used ? put_carry(ledger, place, err) : LT_OK;
	if (rc != LT_OK)
		return rc;
	*place = (struct lt_carry){.is_carbon = key->is_carbon};
	snprintf(place->partition, sizeof(place->partition), "%s", key->partition);
	rc = lt_sql_get(ledger,
	    LT_BIND(LT_SQL_CARRY_GET, LT_TEXT(key->partition), LT_INT(key->is_carbon)),
	    &carry_columns, &place->carry, err);
	if (rc < 0)
		return rc;
	place->is_used = ledger->carries.has_any = true;
	return LT_OK;
}

int
lt_ledger_round(struct lt_ledger *ledger, struct lt_carry_key key, double exact, int64_t *rounded,
    struct lt_error *err)
{
	struct lt_carry *carry;

	if (!ledger->in_transaction)
		return lt_fail(err, LT_EBUG, "ledger: round without a transaction");
	if (!isfinite(exact) || fabs(exact) > EXACT_MAX)
		return lt_fail(err, LT_EOVERFLOW,
		    "ledger: a charge of %g in partition %s, limit %g", exact, key.partition,
		    EXACT_MAX);
	const int rc = take_carry(ledger, &key, &carry, err);
	if (rc != LT_OK)
		return rc;
	const double whole = round(carry->carry + exact);
	carry->carry = carry->carry + exact - whole;
	*rounded = (int64_t)whole;
	return LT_OK;
}
