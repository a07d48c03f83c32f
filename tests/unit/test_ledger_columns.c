/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lists of columns: the one of runs has all that the table has, each column of a run comes back
 * as it was put, and records are compared by the columns of a part only.
 */
#include "ledger_fixture.h"

#include <sqlite3.h>

#include "ledger_db.h"

/* How many columns of the list have that name. */
static int
named(const struct lt_db_columns *columns, const char *name)
{
	const struct lt_db_column *column = NULL;
	int count = 0;

	while ((column = lt_db_column_next(columns, column)) != NULL)
		count += strcmp(column->name, name) == 0;
	return count;
}

static void
the_list_has_all_of_the_table(void **state)
{
	static const char *const tables[] = {"runs", "runs_before"};
	struct fixture *const f = *state;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		sqlite3_stmt *statement = NULL;
		int count = 0;

		assert_int_equal(sqlite3_prepare_v2(f->ledger->db[LT_DB_LEDGER],
				     "SELECT name FROM pragma_table_info(?1)"
				     " WHERE name != 'until_utc_s'",
				     -1, &statement, NULL),
		    SQLITE_OK);
		sqlite3_bind_text(statement, 1, tables[i], -1, SQLITE_STATIC);
		for (; sqlite3_step(statement) == SQLITE_ROW; count++) {
			const char *const name = (const char *)sqlite3_column_text(statement, 0);

			if (named(&lt_run_columns, name) != 1)
				fail_msg("%s of %s is in the list %d times", name, tables[i],
				    named(&lt_run_columns, name));
		}
		sqlite3_finalize(statement);
		assert_int_equal(count, lt_run_columns.count);
	}
}

/* Another value in each column, from its place in the list. */
static void
set_columns(struct lt_run *run)
{
	const struct lt_db_column *column = NULL;
	int number = 1000;

	memset(run, 0, sizeof(*run));
	while ((column = lt_db_column_next(&lt_run_columns, column)) != NULL) {
		void *const at = (char *)run + column->at;

		number++;
		if (column->is_optional)
			*(bool *)((char *)run + column->has_at) = number % 2 == 0;
		if (column->is_optional && number % 2 != 0)
			continue;
		if (column->type == LT_DB_COLUMN_BOOL)
			*(bool *)at = true;
		else if (column->type == LT_DB_COLUMN_UINT32)
			*(uint32_t *)at = (uint32_t)number;
		else if (column->type == LT_DB_COLUMN_TEXT)
			(void)snprintf(at, column->size, "%d", number);
		else
			*(int64_t *)at = number;
	}
}

static void
a_run_comes_back_as_it_was_put(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run, found;

	set_columns(&run);
	must(f, lt_sql_do(f->ledger, LT_RECORD(LT_SQL_RUN_PUT, &lt_run_columns, &run), &f->err));
	must(f, lt_ledger_run(f->ledger, run.key, &found, &f->err));
	assert_memory_equal(&found, &run, sizeof(run));
	assert_true(found.held.has_money != found.held.has_carbon);
}

static void
a_part_is_compared_alone(void **state)
{
	static const struct lt_run zero;
	struct lt_run run = zero;

	(void)state;
	run.money_micros = 1;
	run.name[0] = 'x';
	assert_true(lt_db_columns_equal(&lt_run_facts, &zero, &run));
	assert_false(lt_db_columns_equal(&lt_run_told, &zero, &run));
	assert_false(lt_db_columns_equal(&lt_run_columns, &zero, &run));
	run = zero;
	run.nodes = 1;
	assert_false(lt_db_columns_equal(&lt_run_facts, &zero, &run));
	assert_true(lt_db_columns_equal(&lt_run_told, &zero, &run));
	/* What is not known has no value, and behind a text's end is none. */
	run = zero;
	run.used.cpu_ms = 1;
	run.user[1] = 'x';
	assert_true(lt_db_columns_equal(&lt_run_columns, &zero, &run));
	run.used.has_cpu = true;
	assert_false(lt_db_columns_equal(&lt_run_columns, &zero, &run));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(the_list_has_all_of_the_table),
	    EACH(a_run_comes_back_as_it_was_put),
	    cmocka_unit_test(a_part_is_compared_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
