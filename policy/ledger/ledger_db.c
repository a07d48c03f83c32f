/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens, makes and migrates ledger.db and signals.db; prepared statements; the
 * small named values. The rest of the ledger stands on it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grow.h"
#include "ledger_db.h"
#include "lookup.h"
#include "units.h"

enum { BUSY_MS = 10000, PATH_SIZE = 4096 + 16, MIGRATIONS_MAX = 32 };

static const struct {
	const char *file;
	/* To version 1, 2, ...; NULL, or the array's end, ends. */
	const char *migrations[MIGRATIONS_MAX];
} databases[LT_DB_COUNT] = {
    [LT_DB_LEDGER] = {"ledger.db",
	{LT_SQL_LEDGER_1, LT_SQL_LEDGER_2, LT_SQL_LEDGER_3, LT_SQL_LEDGER_4,
	    LT_SQL_LEDGER_5, LT_SQL_LEDGER_6, LT_SQL_LEDGER_7, LT_SQL_LEDGER_8,
	    LT_SQL_LEDGER_9, LT_SQL_LEDGER_10, LT_SQL_LEDGER_11,
	    LT_SQL_LEDGER_12, LT_SQL_LEDGER_13,
	    LT_SQL_LEDGER_14 LT_SQL_LEDGER_NOBODY, LT_SQL_LEDGER_15,
	    LT_SQL_LEDGER_16, LT_SQL_LEDGER_17, LT_SQL_LEDGER_18,
	    LT_SQL_LEDGER_19, LT_SQL_LEDGER_20, LT_SQL_LEDGER_21,
	    LT_SQL_LEDGER_22, LT_SQL_LEDGER_23, LT_SQL_LEDGER_24,
	    LT_SQL_LEDGER_25, LT_SQL_LEDGER_26, LT_SQL_LEDGER_27,
	    LT_SQL_LEDGER_28, LT_SQL_LEDGER_29, LT_SQL_LEDGER_30}},
    [LT_DB_SIGNALS] = {"signals.db",
	{LT_SQL_SIGNALS_1, LT_SQL_SIGNALS_2, LT_SQL_SIGNALS_3}},
};

#define TEXT_ROW(name, database, text) {LT_DB_##database, #name, text},
static const struct {
	enum lt_database database;
	const char *name, *text;
} sql_table[LT_SQL_COUNT] = {LT_SQL_TABLE(TEXT_ROW) LT_SQL_LENGTHS_TABLE(
    TEXT_ROW) LT_SQL_PLANS_TABLE(TEXT_ROW) LT_SQL_PERIODS_TABLE(TEXT_ROW)
	LT_SQL_USERS_TABLE(TEXT_ROW) LT_SQL_NOTICES_TABLE(TEXT_ROW)
	    LT_SQL_INTERRUPTIONS_TABLE(TEXT_ROW) LT_SQL_PAUSES_TABLE(TEXT_ROW)
		LT_SQL_PROOFS_TABLE(TEXT_ROW) LT_SQL_QUOTED_TABLE(TEXT_ROW)
		    LT_SQL_MAILS_TABLE(TEXT_ROW) LT_SQL_ALERTS_TABLE(TEXT_ROW)
			LT_SQL_ACCOUNTS_TABLE(TEXT_ROW)};
#undef TEXT_ROW

/* LT_EOVERFLOW, LT_EIO, ... from what SQLite said of that database. */
static int
fail_sql(struct lt_ledger *ledger, enum lt_database database, const char *doing,
    struct lt_error *err)
{
	sqlite3 *const db = ledger->db[database];
	const char *const text = sqlite3_errmsg(db);
	enum lt_code code = LT_EIO;

	if (sqlite3_errcode(db) == SQLITE_NOMEM)
		code = LT_ENOMEM;
	else if (sqlite3_errcode(db) == SQLITE_CONSTRAINT ||
		 strcmp(text, "integer overflow") == 0)
		code = LT_EOVERFLOW;
	return lt_fail(err, code, "%s/%s: %s: %s", ledger->state_dir,
	    LT_ROW(databases, database).file, doing, text);
}

static int
bind_values(sqlite3_stmt *statement, const struct lt_bound *bound)
{
	const struct lt_value *const values = bound->values;
	int rc = SQLITE_OK;

	for (int i = 0; i < bound->count && rc == SQLITE_OK; i++) {
		switch (values[i].kind) {
		case LT_VALUE_NULL:
			rc = sqlite3_bind_null(statement, i + 1);
			break;
		case LT_VALUE_INT:
			rc = sqlite3_bind_int64(
			    statement, i + 1, values[i].number);
			break;
		case LT_VALUE_REAL:
			rc = sqlite3_bind_double(
			    statement, i + 1, values[i].real);
			break;
		case LT_VALUE_TEXT:
			rc = sqlite3_bind_text(statement, i + 1, values[i].text,
			    -1, SQLITE_STATIC);
			break;
		}
	}
	return rc;
}

int
lt_sql_start(struct lt_rows *rows, struct lt_ledger *ledger,
    struct lt_bound bound, struct lt_error *err)
{
	assert(bound.values != NULL || bound.count == 0);

	const enum lt_sql sql = bound.sql;
	const enum lt_database database = sql_table[sql].database;

	*rows = (struct lt_rows){.ledger = ledger,
	    .sql = sql,
	    .is_own = ledger->statements[sql] != NULL &&
		      sqlite3_stmt_busy(ledger->statements[sql])};
	sqlite3_stmt **const statement =
	    rows->is_own ? &rows->statement : &ledger->statements[sql];
	if (*statement == NULL &&
	    sqlite3_prepare_v3(ledger->db[database], sql_table[sql].text, -1,
		rows->is_own ? 0 : SQLITE_PREPARE_PERSISTENT, statement,
		NULL) != SQLITE_OK)
		return fail_sql(ledger, database, sql_table[sql].name, err);
	if (bind_values(*statement, &bound) != SQLITE_OK) {
		const int code =
		    fail_sql(ledger, database, sql_table[sql].name, err);

		lt_rows_end(rows);
		return code;
	}
	rows->statement = *statement;
	return LT_OK;
}

int
lt_rows_next(struct lt_rows *rows, struct lt_error *err)
{
	assert(rows->statement != NULL);

	const int rc = sqlite3_step(rows->statement);

	rows->column = 0;
	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	return fail_sql(rows->ledger, sql_table[rows->sql].database,
	    sql_table[rows->sql].name, err);
}

void
lt_rows_end(struct lt_rows *rows)
{
	if (rows->statement == NULL)
		return;
	if (rows->is_own) {
		(void)sqlite3_finalize(rows->statement);
	} else {
		(void)sqlite3_reset(rows->statement);
		(void)sqlite3_clear_bindings(rows->statement);
	}
	rows->statement = NULL;
}

int
lt_sql_do(struct lt_ledger *ledger, struct lt_bound bound, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger, bound, err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	lt_rows_end(&rows);
	return rc < 0 ? rc : LT_OK;
}

int
lt_row_one(struct lt_ledger *ledger, struct lt_bound bound, lt_row_reader *read,
    void *out, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger, bound, err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	if (rc == 1)
		read(&rows, out);
	lt_rows_end(&rows);
	return rc;
}

int
lt_rows_all(struct lt_ledger *ledger, struct lt_bound bound,
    struct lt_array *array, struct lt_error *err)
{
	struct lt_rows rows;
	size_t capacity = 0;
	int rc = lt_sql_start(&rows, ledger, bound, err);

	array->items = NULL;
	array->count = 0;
	for (; rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1;
	     rc = LT_OK) {
		void *const grown = lt_items_grow(
		    array->items, &capacity, array->count, array->size);

		if (grown == NULL) {
			rc = lt_fail(
			    err, LT_ENOMEM, "ledger: no memory for rows");
			break;
		}
		array->items = grown;
		array->read(
		    &rows, (char *)array->items + array->size * array->count++);
	}
	lt_rows_end(&rows);
	if (rc != LT_OK) {
		free(array->items);
		array->items = NULL;
		array->count = 0;
	}
	return rc;
}

int64_t
lt_row_int(struct lt_rows *rows)
{
	return sqlite3_column_int64(rows->statement, rows->column++);
}

double
lt_row_real(struct lt_rows *rows)
{
	return sqlite3_column_double(rows->statement, rows->column++);
}

void
lt_row_number(struct lt_rows *rows, void *element)
{
	int64_t *const number = element;

	*number = lt_row_int(rows);
}

void
lt_row_figures(struct lt_rows *rows, struct lt_entry *entry)
{
	int64_t *of[LT_ENTRY_FIGURES];

	lt_entry_figures(of, entry);
	for (int i = 0; i < LT_ENTRY_FIGURES; i++)
		*of[i] = lt_row_int(rows);
}

void
lt_row_saved_by(struct lt_rows *rows, struct lt_saved_by *by)
{
	by->time_micros = lt_row_int(rows);
	by->time_mg = lt_row_int(rows);
	by->gpu_micros = lt_row_int(rows);
	by->gpu_mg = lt_row_int(rows);
}

void
lt_row_parts(struct lt_rows *rows, struct lt_parts *parts)
{
	parts->carbon_charge_micros = lt_row_int(rows);
	parts->discount_micros = lt_row_int(rows);
}

bool
lt_row_optional(struct lt_rows *rows, int64_t *value)
{
	const bool has =
	    sqlite3_column_type(rows->statement, rows->column) != SQLITE_NULL;

	*value = lt_row_int(rows);
	return has;
}

void
lt_row_text(struct lt_rows *rows, char *out, size_t size)
{
	assert(size > 0);

	const unsigned char *const text =
	    sqlite3_column_text(rows->statement, rows->column++);
	const size_t length =
	    text == NULL ? 0 : strnlen((const char *)text, size - 1);

	if (length > 0)
		memcpy(out, text, length);
	out[length] = '\0';
}

char *
lt_row_text_new(struct lt_rows *rows)
{
	const unsigned char *const text =
	    sqlite3_column_text(rows->statement, rows->column++);

	return text != NULL ? strdup((const char *)text) : NULL;
}

/* ---- open ---- */

/* Made 0600 before SQLite sees it; its -wal and -shm take the same mode. */
static int
prepare_file(const char *path, struct lt_error *err)
{
	struct stat status;
	const int fd = open(
	    path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

	if (fd < 0)
		return lt_fail(err, errno == EACCES ? LT_EDENIED : LT_EIO,
		    "%s: %s", path, strerror(errno));
	const int rc = fstat(fd, &status);
	(void)close(fd);
	if (rc != 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return lt_fail(err, LT_EDENIED, "%s: not a regular file", path);
	if (status.st_uid != geteuid())
		return lt_fail(err, LT_EDENIED, "%s: owner is uid %u, want %u",
		    path, status.st_uid, geteuid());
	if ((status.st_mode & 077) != 0)
		return lt_fail(err, LT_EDENIED, "%s: mode is %04o, want 0600",
		    path, status.st_mode & 07777);
	return LT_OK;
}

static int
user_version(sqlite3 *db, int *version)
{
	sqlite3_stmt *statement = NULL;
	int rc =
	    sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL);

	if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		*version = sqlite3_column_int(statement, 0);
	else
		rc = SQLITE_ERROR;
	(void)sqlite3_finalize(statement);
	return rc;
}

static int
migrate(
    struct lt_ledger *ledger, enum lt_database database, struct lt_error *err)
{
	sqlite3 *const db = ledger->db[database];
	int version = 0, newest = 0;

	if (user_version(db, &version) != SQLITE_OK)
		return fail_sql(ledger, database, "user_version", err);
	while (newest < MIGRATIONS_MAX &&
	       LT_ROW(databases, database).migrations[newest] != NULL)
		newest++;
	if (version < 0 || version > newest)
		return lt_fail(err, LT_EVERSION,
		    "%s/%s: version %d, want at most %d; a newer lowtide wrote it",
		    ledger->state_dir, LT_ROW(databases, database).file,
		    version, newest);
	for (; version < newest; version++) {
		char mark[64];

		(void)snprintf(mark, sizeof(mark),
		    "PRAGMA user_version=%d; COMMIT", version + 1);
		if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) !=
			SQLITE_OK ||
		    sqlite3_exec(db,
			LT_ROW(databases, database).migrations[version], NULL,
			NULL, NULL) != SQLITE_OK ||
		    sqlite3_exec(db, mark, NULL, NULL, NULL) != SQLITE_OK)
			return fail_sql(ledger, database, "migration", err);
	}
	return LT_OK;
}

static int
open_database(struct lt_ledger *ledger, enum lt_database database,
    bool is_reader, struct lt_error *err)
{
	char path[PATH_SIZE];
	const int flags =
	    is_reader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;

	(void)snprintf(path, sizeof(path), "%s/%s", ledger->state_dir,
	    LT_ROW(databases, database).file);
	const int rc = is_reader ? LT_OK : prepare_file(path, err);
	if (rc != LT_OK)
		return rc;
	if (sqlite3_open_v2(path, &ledger->db[database],
		flags | SQLITE_OPEN_NOFOLLOW |
		    SQLITE_OPEN_NOMUTEX, /* one thread uses it */
		NULL) != SQLITE_OK)
		return ledger->db[database] == NULL
			   ? lt_fail(err, LT_ENOMEM, "%s: no memory", path)
			   : fail_sql(ledger, database, "open", err);
	(void)sqlite3_busy_timeout(ledger->db[database], BUSY_MS);
	if (sqlite3_exec(ledger->db[database],
		is_reader ? LT_SQL_READER : LT_SQL_PRAGMAS, NULL, NULL,
		NULL) != SQLITE_OK)
		return fail_sql(ledger, database, "set-up", err);
	return is_reader ? LT_OK : migrate(ledger, database, err);
}

static int
connect_to(struct lt_ledger **ledger, const char *state_dir, bool is_reader,
    struct lt_error *err)
{
	*ledger = NULL;
	struct lt_ledger *const made = calloc(1, sizeof(*made));
	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "ledger: no memory");
	int rc = LT_OK;
	/* SQLITE_OPEN_NOFOLLOW refuses a link anywhere in the path; one above
	 * the state directory is the admin's. */
	made->state_dir = realpath(state_dir, NULL);
	if (made->state_dir == NULL)
		rc = lt_fail(err, errno == ENOENT ? LT_ENOENT : LT_EIO,
		    "%s: %s", state_dir, strerror(errno));
	for (int i = 0; i < LT_DB_COUNT && rc == LT_OK; i++)
		rc = open_database(made, (enum lt_database)i, is_reader, err);
	if (rc != LT_OK) {
		lt_ledger_close(made);
		return rc;
	}
	*ledger = made;
	return LT_OK;
}

int
lt_ledger_connect(
    struct lt_ledger **ledger, const char *state_dir, struct lt_error *err)
{
	/* Nobody asks how much it has; counted, each allocation takes a lock.
	 * Refused, and not needed, where one is open. */
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	return connect_to(ledger, state_dir, false, err);
}

int
lt_ledger_open_reader(
    struct lt_ledger **ledger, const char *state_dir, struct lt_error *err)
{
	return connect_to(ledger, state_dir, true, err);
}

const char *
lt_ledger_state(const struct lt_ledger *ledger)
{
	return ledger->state_dir;
}

void
lt_kept_drop(struct lt_ledger *ledger)
{
	for (int i = 0; i < LT_KEPT_SPANS; i++) {
		struct lt_kept_span *const kept = &ledger->kept.spans[i];

		free(kept->sums.items);
		*kept = (struct lt_kept_span){0};
	}
}

void
lt_ledger_close(struct lt_ledger *ledger)
{
	if (ledger == NULL)
		return;
	for (int i = 0; i < LT_SQL_COUNT; i++)
		(void)sqlite3_finalize(ledger->statements[i]);
	for (int i = 0; i < LT_DB_COUNT; i++)
		(void)sqlite3_close(ledger->db[i]);
	lt_kept_drop(ledger);
	free(ledger->new_lengths.items);
	free(ledger->state_dir);
	free(ledger);
}

/* ---- named values ---- */

int
lt_ledger_put(struct lt_ledger *ledger, const char *name, const char *value,
    struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_NAMED_PUT, LT_TEXT(name), LT_TEXT(value)), err);
}

int
lt_ledger_get(struct lt_ledger *ledger, const char *name, char *value,
    size_t size, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(
	    &rows, ledger, LT_BIND(LT_SQL_NAMED_GET, LT_TEXT(name)), err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	if (rc == 1)
		lt_row_text(&rows, value, size);
	lt_rows_end(&rows);
	if (rc == 0)
		return lt_fail(
		    err, LT_ENOENT, "ledger: no value named \"%s\"", name);
	return rc < 0 ? rc : LT_OK;
}

bool
lt_ledger_get_number(
    struct lt_ledger *ledger, const char *name, int64_t least, int64_t *number)
{
	char text[32];

	return lt_ledger_get(ledger, name, text, sizeof(text), NULL) == LT_OK &&
	       lt_int64_parse(text, least, INT64_MAX, number, NULL) == LT_OK;
}

int
lt_ledger_put_number(struct lt_ledger *ledger, const char *name, int64_t number,
    struct lt_error *err)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRId64, number);
	return lt_ledger_put(ledger, name, text, err);
}
