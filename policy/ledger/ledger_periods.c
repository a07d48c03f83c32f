/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a period had: the limits of its budgets, and, once it is closed, its
 * statement.
 */
#include <stdio.h>
#include <string.h>

#include "ledger_db.h"
#include "units.h"

int
lt_ledger_put_limit(struct lt_ledger *ledger, const char *team,
    struct lt_span span, const struct lt_amount *limit, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_LIMIT_PUT, LT_TEXT(team), LT_INT(span.from_utc_s),
		LT_INT(span.to_utc_s),
		LT_OPTIONAL(limit->has_money, limit->money_micros),
		LT_OPTIONAL(limit->has_carbon, limit->carbon_mg)),
	    err);
}

static void
read_limit(struct lt_rows *rows, void *element)
{
	struct lt_amount *const limit = element;

	limit->has_money = lt_row_optional(rows, &limit->money_micros);
	limit->has_carbon = lt_row_optional(rows, &limit->carbon_mg);
}

int
lt_ledger_limit(struct lt_ledger *ledger, const char *team, struct lt_span span,
    struct lt_amount *limit, struct lt_error *err)
{
	const int rc = lt_row_one(ledger,
	    LT_BIND(LT_SQL_LIMIT_GET, LT_TEXT(team), LT_INT(span.from_utc_s),
		LT_INT(span.to_utc_s)),
	    read_limit, limit, err);

	if (rc == 0)
		return lt_fail(err, LT_ENOENT, "ledger: no limit of %s", team);
	return rc < 0 ? rc : LT_OK;
}
