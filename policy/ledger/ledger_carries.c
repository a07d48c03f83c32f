/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole micros of exact charges: what rounding leaves over of one run of a
 * partition goes into its next. A transaction reads and writes it once.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ledger_db.h"
#include "units.h"

/* Bound of one part: 2^52 micros, so that a carry below 1 is still exact to
 * better than half a micro. */
static const double EXACT_MAX = 4503599627370496.0;

static const struct lt_db_column carry_list[] = {
    {.name = "carry", .type = LT_DB_COLUMN_REAL, .size = sizeof(double)},
};
static const struct lt_db_columns carry_columns = {
    LT_DB_COLUMNS(double, carry_list)};

static int
put_carry(struct lt_ledger *ledger, const struct lt_carry *carry,
    struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_CARRY_PUT, LT_TEXT(carry->partition),
		LT_INT(carry->is_carbon), LT_REAL(carry->carry)),
	    err);
}

int
lt_carries_write(struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_carries *const carries = &ledger->carries;

	/* What is refused stays, for then the commit is refused too. */
	for (int i = 0; carries->has_any && i < LT_KEPT_CARRIES; i++) {
		struct lt_carry *const carry = &carries->places[i];
		const int rc =
		    carry->is_used ? put_carry(ledger, carry, err) : LT_OK;

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

/* Read once in a transaction, and written at its end, but where another has its
 * place meanwhile. */
static int
take_carry(struct lt_ledger *ledger, const struct lt_carry_key *key,
    struct lt_carry **carry, struct lt_error *err)
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
	snprintf(
	    place->partition, sizeof(place->partition), "%s", key->partition);
	rc = lt_sql_get(ledger,
	    LT_BIND(LT_SQL_CARRY_GET, LT_TEXT(key->partition),
		LT_INT(key->is_carbon)),
	    &carry_columns, &place->carry, err);
	if (rc < 0)
		return rc;
	place->is_used = ledger->carries.has_any = true;
	return LT_OK;
}

int
lt_ledger_round(struct lt_ledger *ledger, struct lt_carry_key key, double exact,
    int64_t *rounded, struct lt_error *err)
{
	struct lt_carry *carry;

	if (!ledger->in_transaction)
		return lt_fail(
		    err, LT_EBUG, "ledger: round without a transaction");
	if (!isfinite(exact) || fabs(exact) > EXACT_MAX)
		return lt_fail(err, LT_EOVERFLOW,
		    "ledger: a charge of %g in partition %s, limit %g", exact,
		    key.partition, EXACT_MAX);
	const int rc = take_carry(ledger, &key, &carry, err);
	if (rc != LT_OK)
		return rc;
	const double whole = round(carry->carry + exact);
	carry->carry = carry->carry + exact - whole;
	*rounded = (int64_t)whole;
	return LT_OK;
}
