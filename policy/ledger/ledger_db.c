/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens, makes and migrates ledger.db and signals.db; runs prepared statements and reads their
 * rows; keeps small named values. The rest of the ledger stands on it. A failure of SQLite becomes
 * an error with the file's name. A database of a later version is refused.
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
	{LT_SQL_LEDGER_1, LT_SQL_LEDGER_2, LT_SQL_LEDGER_3, LT_SQL_LEDGER_4, LT_SQL_LEDGER_5,
	    LT_SQL_LEDGER_6, LT_SQL_LEDGER_7, LT_SQL_LEDGER_8, LT_SQL_LEDGER_9, LT_SQL_LEDGER_10,
	    LT_SQL_LEDGER_11, LT_SQL_LEDGER_12, LT_SQL_LEDGER_13,
	    LT_SQL_LEDGER_14 LT_SQL_LEDGER_NOBODY, LT_SQL_LEDGER_15, LT_SQL_LEDGER_16,
	    LT_SQL_LEDGER_17, LT_SQL_LEDGER_18, LT_SQL_LEDGER_19, LT_SQL_LEDGER_20,
	    LT_SQL_LEDGER_21, LT_SQL_LEDGER_22, LT_SQL_LEDGER_23, LT_SQL_LEDGER_24,
	    LT_SQL_LEDGER_25, LT_SQL_LEDGER_26, LT_SQL_LEDGER_27, LT_SQL_LEDGER_28,
	    LT_SQL_LEDGER_29, LT_SQL_LEDGER_30}},
    [LT_DB_SIGNALS] = {"signals.db", {LT_SQL_SIGNALS_1, LT_SQL_SIGNALS_2, LT_SQL_SIGNALS_3}},
};

#define TEXT_ROW(name, database, text) {LT_DB_##database, #name, text},
static const struct {
	enum lt_database database;
	const char *name, *text;
} sql_table[LT_SQL_COUNT] = {LT_SQL_EACH_TABLE(TEXT_ROW)};
#undef TEXT_ROW

/* LT_EOVERFLOW, LT_EIO, ... from what SQLite said of that database. */
static int
fail_sql(
    struct lt_ledger *ledger, enum lt_database database, const char *doing, struct lt_error *err)
{
	sqlite3 *const db = ledger->db[database];
	const char *const text = sqlite3_errmsg(db);
	enum lt_code code = LT_EIO;

	if (sqlite3_errcode(db) == SQLITE_NOMEM)
		code = LT_ENOMEM;
	else if (sqlite3_errcode(db) == SQLITE_CONSTRAINT || strcmp(text, "integer overflow") == 0)
		code = LT_EOVERFLOW;
	return lt_fail(err, code, "%s/%s: %s: %s", ledger->state_dir,
	    LT_ROW(databases, database).file, doing, text);
}

/* The statement's text, sqlite3_free(); NULL: no memory. */
static char *
expand_text(const char *text, const struct lt_db_columns *columns, int values)
{
	static const char names_mark[] = "{columns}", values_mark[] = "{values}";
	sqlite3_str *const out = sqlite3_str_new(NULL);

	for (;;) {
		const char *const mark = strchrnul(text, '{');
		const bool is_names = strncmp(mark, names_mark, strlen(names_mark)) == 0;
		const struct lt_db_column *column = NULL;
		int number = values;

		sqlite3_str_append(out, text, (int)(mark - text));
		if (*mark == '\0')
			return sqlite3_str_finish(out);
		assert(columns != NULL &&
		       (is_names || strncmp(mark, values_mark, strlen(values_mark)) == 0));
		while ((column = lt_db_column_next(columns, column)) != NULL) {
			if (++number > values + 1)
				sqlite3_str_appendall(out, ", ");
			if (is_names)
				sqlite3_str_appendall(out, column->name);
			else
				sqlite3_str_appendf(out, "?%d", number);
		}
		text = mark + strlen(is_names ? names_mark : values_mark);
	}
}

static int
prepare_statement(struct lt_rows *rows, const struct lt_bound *bound, sqlite3_stmt **statement,
    struct lt_error *err)
{
	const struct lt_db_columns *const columns =
	    rows->columns != NULL ? rows->columns : bound->columns;
	const enum lt_database database = sql_table[rows->sql].database;
	char *const text = expand_text(sql_table[rows->sql].text, columns, bound->count);

	if (text == NULL)
		return lt_fail(err, LT_ENOMEM, "ledger: no memory for SQL");
	const int rc = sqlite3_prepare_v3(rows->ledger->db[database], text, -1,
	    rows->is_own ? 0 : SQLITE_PREPARE_PERSISTENT, statement, NULL);
	sqlite3_free(text);
	return rc == SQLITE_OK ? LT_OK
			       : fail_sql(rows->ledger, database, sql_table[rows->sql].name, err);
}

static int
bind_value(sqlite3_stmt *statement, int number, const struct lt_value *value)
{
	switch (value->kind) {
	case LT_VALUE_INT:
		return sqlite3_bind_int64(statement, number, value->number);
	case LT_VALUE_REAL:
		return sqlite3_bind_double(statement, number, value->real);
	case LT_VALUE_TEXT:
		return sqlite3_bind_text(statement, number, value->text, -1, SQLITE_STATIC);
	case LT_VALUE_NULL:
		break;
	}
	return sqlite3_bind_null(statement, number);
}

static int
bind_column(
    sqlite3_stmt *statement, int number, const struct lt_db_column *column, const char *record)
{
	const void *const at = record + column->at;

	if (column->is_optional && !*(const bool *)(record + column->has_at))
		return sqlite3_bind_null(statement, number);
	switch (column->type) {
	case LT_DB_COLUMN_BOOL:
		return sqlite3_bind_int(statement, number, *(const bool *)at);
	case LT_DB_COLUMN_INT:
		return sqlite3_bind_int(statement, number, *(const int *)at);
	case LT_DB_COLUMN_UINT32:
		return sqlite3_bind_int64(statement, number, *(const uint32_t *)at);
	case LT_DB_COLUMN_INT64:
		return sqlite3_bind_int64(statement, number, *(const int64_t *)at);
	case LT_DB_COLUMN_UINT64:
		return sqlite3_bind_int64(statement, number, (int64_t) * (const uint64_t *)at);
	case LT_DB_COLUMN_REAL:
		return sqlite3_bind_double(statement, number, *(const double *)at);
	case LT_DB_COLUMN_TEXT:
		break;
	}
	return sqlite3_bind_text(statement, number, at, -1, SQLITE_STATIC);
}

static int
bind_all(sqlite3_stmt *statement, const struct lt_bound *bound)
{
	const struct lt_db_column *column = NULL;
	int rc = SQLITE_OK, number = 0;

	while (number < bound->count && rc == SQLITE_OK) {
		rc = bind_value(statement, number + 1, &bound->values[number]);
		number++;
	}
	while (bound->record != NULL && rc == SQLITE_OK &&
	       (column = lt_db_column_next(bound->columns, column)) != NULL)
		rc = bind_column(statement, ++number, column, bound->record);
	return rc;
}

int
lt_sql_start(struct lt_rows *rows, struct lt_ledger *ledger, struct lt_bound bound,
    const struct lt_db_columns *columns, struct lt_error *err)
{
	assert(bound.values != NULL || bound.count == 0);
	assert(bound.record == NULL || bound.columns != NULL);

	sqlite3_stmt **const known = &ledger->statements[bound.sql];

	*rows = (struct lt_rows){.ledger = ledger,
	    .sql = bound.sql,
	    .columns = columns,
	    .is_own = *known != NULL && sqlite3_stmt_busy(*known)};
	sqlite3_stmt **const statement = rows->is_own ? &rows->statement : known;
	int code = LT_OK;
	if (*statement == NULL)
		code = prepare_statement(rows, &bound, statement, err);
	if (code == LT_OK && bind_all(*statement, &bound) != SQLITE_OK)
		code =
		    fail_sql(ledger, sql_table[bound.sql].database, sql_table[bound.sql].name, err);
	rows->statement = *statement;
	if (code != LT_OK)
		lt_rows_end(rows);
	return code;
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
	return fail_sql(
	    rows->ledger, sql_table[rows->sql].database, sql_table[rows->sql].name, err);
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
	int rc = lt_sql_start(&rows, ledger, bound, NULL, err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	lt_rows_end(&rows);
	return rc < 0 ? rc : LT_OK;
}

int
lt_sql_get(struct lt_ledger *ledger, struct lt_bound bound, const struct lt_db_columns *columns,
    void *record, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger, bound, columns, err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	if (rc == 1 && columns != NULL)
		lt_row_read(&rows, record);
	lt_rows_end(&rows);
	return rc;
}

int
lt_sql_some(struct lt_ledger *ledger, struct lt_bound bound, const struct lt_db_columns *columns,
    void *records, uint32_t room, struct lt_error *err)
{
	struct lt_rows rows;
	uint32_t used = 0;
	int rc = lt_sql_start(&rows, ledger, bound, columns, err);

	while (rc == LT_OK && used < room && (rc = lt_rows_next(&rows, err)) == 1) {
		lt_row_read(&rows, (char *)records + columns->record_size * used++);
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc < 0 ? rc : (int)used;
}

int
lt_sql_list(struct lt_ledger *ledger, struct lt_bound bound, const struct lt_db_columns *columns,
    void *list, uint32_t *count, struct lt_error *err)
{
	struct lt_rows rows;
	char *items = NULL;
	size_t capacity = 0;
	int rc = lt_sql_start(&rows, ledger, bound, columns, err);

	*count = 0;
	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		char *const grown = lt_items_grow(items, &capacity, *count, columns->record_size);

		if (grown == NULL) {
			rc = lt_fail(err, LT_ENOMEM, "ledger: no memory for rows");
			break;
		}
		items = grown;
		lt_row_read(&rows, items + columns->record_size * (*count)++);
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	if (rc != LT_OK) {
		free(items);
		items = NULL;
		*count = 0;
	}
	memcpy(list, &items, sizeof(items)); /* whatever it points to */
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

bool
lt_row_optional(struct lt_rows *rows, int64_t *value)
{
	const bool has = sqlite3_column_type(rows->statement, rows->column) != SQLITE_NULL;

	*value = lt_row_int(rows);
	return has;
}

static void
copy_text(sqlite3_stmt *statement, int column, char *out, size_t size)
{
	assert(size > 0);

	const unsigned char *const text = sqlite3_column_text(statement, column);
	const size_t length = text == NULL ? 0 : strnlen((const char *)text, size - 1);

	if (length > 0)
		memcpy(out, text, length);
	out[length] = '\0';
}

void
lt_row_text(struct lt_rows *rows, char *out, size_t size)
{
	copy_text(rows->statement, rows->column++, out, size);
}

char *
lt_row_text_new(struct lt_rows *rows)
{
	const unsigned char *const text = sqlite3_column_text(rows->statement, rows->column++);

	return text != NULL ? strdup((const char *)text) : NULL;
}

static void
read_column(sqlite3_stmt *statement, int number, const struct lt_db_column *column, char *record)
{
	void *const at = record + column->at;

	if (column->is_optional)
		*(bool *)(record + column->has_at) =
		    sqlite3_column_type(statement, number) != SQLITE_NULL;
	switch (column->type) {
	case LT_DB_COLUMN_BOOL:
		*(bool *)at = sqlite3_column_int64(statement, number) != 0;
		break;
	case LT_DB_COLUMN_INT:
		*(int *)at = sqlite3_column_int(statement, number);
		break;
	case LT_DB_COLUMN_UINT32:
		*(uint32_t *)at = (uint32_t)sqlite3_column_int64(statement, number);
		break;
	case LT_DB_COLUMN_INT64:
		*(int64_t *)at = sqlite3_column_int64(statement, number);
		break;
	case LT_DB_COLUMN_UINT64:
		*(uint64_t *)at = (uint64_t)sqlite3_column_int64(statement, number);
		break;
	case LT_DB_COLUMN_REAL:
		*(double *)at = sqlite3_column_double(statement, number);
		break;
	case LT_DB_COLUMN_TEXT:
		copy_text(statement, number, at, column->size);
		break;
	}
}

void
lt_row_add(struct lt_rows *rows, void *record)
{
	/* Copies: as far as the compiler knows, the record is the rows. */
	const struct lt_db_columns columns = *rows->columns;
	sqlite3_stmt *const statement = rows->statement;
	const struct lt_db_column *column = NULL;
	int number = rows->column;

	while ((column = lt_db_column_next(&columns, column)) != NULL)
		read_column(statement, number++, column, record);
	rows->column = number;
}

void
lt_row_read(struct lt_rows *rows, void *record)
{
	memset(record, 0, rows->columns->record_size);
	lt_row_add(rows, record);
}

int
lt_sql_number(struct lt_ledger *ledger, struct lt_bound bound, int64_t *number, bool *has,
    struct lt_error *err)
{
	struct lt_rows rows;
	int64_t found = 0;
	int rc = lt_sql_start(&rows, ledger, bound, NULL, err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	const bool is_there = rc == 1 && lt_row_optional(&rows, &found);
	lt_rows_end(&rows);
	if (is_there)
		*number = found;
	if (has != NULL)
		*has = is_there;
	return rc < 0 ? rc : LT_OK;
}

/* ---- open ---- */

/* Made 0600 before SQLite sees it; its -wal and -shm take the same mode. */
static int
prepare_file(const char *path, struct lt_error *err)
{
	struct stat status;
	const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

	if (fd < 0)
		return lt_fail(
		    err, errno == EACCES ? LT_EDENIED : LT_EIO, "%s: %s", path, strerror(errno));
	const int rc = fstat(fd, &status);
	(void)close(fd);
	if (rc != 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return lt_fail(err, LT_EDENIED, "%s: not a regular file", path);
	if (status.st_uid != geteuid())
		return lt_fail(err, LT_EDENIED, "%s: owner is uid %u, want %u", path, status.st_uid,
		    geteuid());
	if ((status.st_mode & 077) != 0)
		return lt_fail(
		    err, LT_EDENIED, "%s: mode is %04o, want 0600", path, status.st_mode & 07777);
	return LT_OK;
}

static int
user_version(sqlite3 *db, int *version)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL);

	if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		*version = sqlite3_column_int(statement, 0);
	else
		rc = SQLITE_ERROR;
	(void)sqlite3_finalize(statement);
	return rc;
}

static int
migrate(struct lt_ledger *ledger, enum lt_database database, struct lt_error *err)
{
	sqlite3 *const db = ledger->db[database];
	int version = 0, newest = 0;

	if (user_version(db, &version) != SQLITE_OK)
		return fail_sql(ledger, database, "user_version", err);
	while (newest < MIGRATIONS_MAX && LT_ROW(databases, database).migrations[newest] != NULL)
		newest++;
	if (version < 0 || version > newest)
		return lt_fail(err, LT_EVERSION,
		    "%s/%s: version %d, want at most %d; a newer lowtide wrote it",
		    ledger->state_dir, LT_ROW(databases, database).file, version, newest);
	for (; version < newest; version++) {
		char mark[64];

		(void)snprintf(mark, sizeof(mark), "PRAGMA user_version=%d; COMMIT", version + 1);
		if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
		    sqlite3_exec(db, LT_ROW(databases, database).migrations[version], NULL, NULL,
			NULL) != SQLITE_OK ||
		    sqlite3_exec(db, mark, NULL, NULL, NULL) != SQLITE_OK)
			return fail_sql(ledger, database, "migration", err);
	}
	return LT_OK;
}

static int
open_database(
    struct lt_ledger *ledger, enum lt_database database, bool is_reader, struct lt_error *err)
{
	char path[PATH_SIZE];
	const int flags = is_reader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;

	(void)snprintf(
	    path, sizeof(path), "%s/%s", ledger->state_dir, LT_ROW(databases, database).file);
	const int rc = is_reader ? LT_OK : prepare_file(path, err);
	if (rc != LT_OK)
		return rc;
	if (sqlite3_open_v2(path, &ledger->db[database],
		flags | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX, /* one thread uses it */
		NULL) != SQLITE_OK)
		return ledger->db[database] == NULL ? lt_fail(err, LT_ENOMEM, "%s: no memory", path)
						    : fail_sql(ledger, database, "open", err);
	(void)sqlite3_busy_timeout(ledger->db[database], BUSY_MS);
	if (sqlite3_exec(ledger->db[database], is_reader ? LT_SQL_READER : LT_SQL_PRAGMAS, NULL,
		NULL, NULL) != SQLITE_OK)
		return fail_sql(ledger, database, "set-up", err);
	return is_reader ? LT_OK : migrate(ledger, database, err);
}

static int
connect_to(struct lt_ledger **ledger, const char *state_dir, bool is_reader, struct lt_error *err)
{
	*ledger = NULL;
	struct lt_ledger *const made = calloc(1, sizeof(*made));
	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "ledger: no memory");
	int rc = LT_OK;
	/* SQLITE_OPEN_NOFOLLOW refuses a link anywhere in the path; one above the state directory
	 * is the admin's. */
	made->state_dir = realpath(state_dir, NULL);
	if (made->state_dir == NULL)
		rc = lt_fail(err, errno == ENOENT ? LT_ENOENT : LT_EIO, "%s: %s", state_dir,
		    strerror(errno));
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
lt_ledger_connect(struct lt_ledger **ledger, const char *state_dir, struct lt_error *err)
{
	/* Nobody asks how much it has; counted, each allocation takes a lock. Refused, and not
	 * needed, where one is open. */
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	return connect_to(ledger, state_dir, false, err);
}

int
lt_ledger_open_reader(struct lt_ledger **ledger, const char *state_dir, struct lt_error *err)
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
lt_ledger_put(struct lt_ledger *ledger, const char *name, const char *value, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_NAMED_PUT, LT_TEXT(name), LT_TEXT(value)), err);
}

int
lt_ledger_get(
    struct lt_ledger *ledger, const char *name, char *value, size_t size, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger, LT_BIND(LT_SQL_NAMED_GET, LT_TEXT(name)), NULL, err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	if (rc == 1)
		lt_row_text(&rows, value, size);
	lt_rows_end(&rows);
	if (rc == 0)
		return lt_fail(err, LT_ENOENT, "ledger: no value named \"%s\"", name);
	return rc < 0 ? rc : LT_OK;
}

bool
lt_ledger_get_number(struct lt_ledger *ledger, const char *name, int64_t least, int64_t *number)
{
	char text[32];

	return lt_ledger_get(ledger, name, text, sizeof(text), NULL) == LT_OK &&
	       lt_int64_parse(text, least, INT64_MAX, number, NULL) == LT_OK;
}

int
lt_ledger_put_number(
    struct lt_ledger *ledger, const char *name, int64_t number, struct lt_error *err)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRId64, number);
	return lt_ledger_put(ledger, name, text, err);
}
