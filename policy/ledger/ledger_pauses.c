/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that lowtide lets stand still: each step is written before it is done,
 * so that none is done twice.
 */
#include "ledger_db.h"
#include "pauses.h"

#define PAUSED(column, member) LT_DB_COLUMN(struct lt_paused, column, member)
static const struct lt_db_column paused_list[] = {
    {PAUSED("job_id", job_id)},
    {PAUSED("start_utc_s", start_utc_s)},
    {PAUSED("step", step)},
    {PAUSED("at_utc_s", at_utc_s)},
    {PAUSED("until_utc_s", until_utc_s)},
    {PAUSED("held_s", held_s)},
    {PAUSED("changed_utc_s", changed_utc_s)},
    {PAUSED("saves_micros", saves.money_micros),
	LT_DB_COLUMN_HAS(struct lt_paused, saves.has_money)},
    {PAUSED("saves_mg", saves.carbon_mg),
	LT_DB_COLUMN_HAS(struct lt_paused, saves.has_carbon)},
};
static const struct lt_db_columns paused_columns = {
    LT_DB_COLUMNS(struct lt_paused, paused_list)};

int
lt_ledger_put_paused(struct lt_ledger *ledger, const struct lt_paused *paused,
    struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_RECORD(LT_SQL_PAUSED_PUT, &paused_columns, paused), err);
}

int
lt_ledger_drop_paused(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_PAUSED_DROP, LT_INT(job_id)), err);
}

int
lt_ledger_paused(struct lt_ledger *ledger, struct lt_paused **paused,
    uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(ledger, LT_PLAIN(LT_SQL_PAUSED), &paused_columns,
	    paused, count, err);
}
