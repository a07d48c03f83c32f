/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that lowtide lets stand still: each step is written before it is done,
 * so that none is done twice.
 */
#include "ledger_db.h"
#include "pauses.h"

int
lt_ledger_put_paused(struct lt_ledger *ledger, const struct lt_paused *paused,
    struct lt_error *err)
{
	const struct lt_amount *const saves = &paused->saves;

	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_PAUSED_PUT, LT_INT(paused->job_id),
		LT_INT(paused->start_utc_s), LT_INT(paused->step),
		LT_INT(paused->at_utc_s), LT_INT(paused->until_utc_s),
		LT_INT(paused->held_s), LT_INT(paused->changed_utc_s),
		LT_OPTIONAL(saves->has_money, saves->money_micros),
		LT_OPTIONAL(saves->has_carbon, saves->carbon_mg)),
	    err);
}

int
lt_ledger_drop_paused(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_PAUSED_DROP, LT_INT(job_id)), err);
}

static void
read_paused(struct lt_rows *rows, void *element)
{
	struct lt_paused *const paused = element;

	paused->job_id = (uint32_t)lt_row_int(rows);
	paused->start_utc_s = lt_row_int(rows);
	paused->step = (enum lt_pause_step)lt_row_int(rows);
	paused->at_utc_s = lt_row_int(rows);
	paused->until_utc_s = lt_row_int(rows);
	paused->held_s = lt_row_int(rows);
	paused->changed_utc_s = lt_row_int(rows);
	paused->saves = (struct lt_amount){.has_money = false};
	paused->saves.has_money =
	    lt_row_optional(rows, &paused->saves.money_micros);
	paused->saves.has_carbon =
	    lt_row_optional(rows, &paused->saves.carbon_mg);
}

int
lt_ledger_paused(struct lt_ledger *ledger, struct lt_paused **paused,
    uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {.read = read_paused, .size = sizeof(**paused)};
	const int code =
	    lt_rows_all(ledger, LT_PLAIN(LT_SQL_PAUSED), &found, err);

	*paused = found.items;
	*count = found.count;
	return code;
}
