/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside the ledger only: the two databases, cached statements, values to
 * bind and columns to read. ledger.h is what others see.
 */
#ifndef LT_LEDGER_DB_H
#define LT_LEDGER_DB_H

#include <sqlite3.h>

#include "columns.h"
#include "ledger.h"
#include "sql.h"

enum lt_database { LT_DB_LEDGER, LT_DB_SIGNALS, LT_DB_COUNT };

#define LT_SQL_ENUM(name, database, text) LT_SQL_##name,
enum lt_sql { LT_SQL_EACH_TABLE(LT_SQL_ENUM) LT_SQL_COUNT };
#undef LT_SQL_ENUM

struct lt_sums { /* in the order of tree, account and uid */
	struct lt_account_sum *items;
	uint32_t count;
	size_t capacity;
	int64_t tree_utc_s; /* of the last tree */
};

enum { LT_KEPT_SPANS = 8 };
struct lt_kept {	      /* ledger_sums.c */
	int64_t data_version; /* changes where others wrote */
	uint64_t asked;	      /* how often */
	bool has_added;	      /* since the transaction began */
	struct lt_kept_span {
		struct lt_span span;
		uint64_t asked; /* when last; 0: nothing is kept */
		struct lt_sums sums;
	} spans[LT_KEPT_SPANS];
};

enum { LT_SEEN_RATES = 32 }; /* all rates of a few partitions */
struct lt_seen_rates {	     /* ledger_signals.c: since the transaction began */
	uint32_t count;	     /* of which the last LT_SEEN_RATES are here */
	struct lt_seen_rate {
		char partition[LT_NAME_SIZE];
		enum lt_rate rate;
		bool is_none;  /* nothing of it is known, at any time */
		bool is_first; /* nothing of it is known before */
		struct lt_rate_step step;
	} items[LT_SEEN_RATES];
};

enum { LT_DAY_PLACES = 64 };
struct lt_days { /* ledger_days.c: what the transaction adds to days */
	bool has_any;
	struct lt_day {
		bool is_used;
		int64_t day; /* since 1970 */
		char account[LT_ACCOUNT_SIZE];
		uint32_t uid;
		enum lt_entry_kind kind;
		int64_t figures[LT_ENTRY_FIGURES]; /* as in the table */
	} places[LT_DAY_PLACES];		   /* by hash, one each */
};

/* ledger_new_lengths.c: of the transaction's runs. Some 0.7 KiB each, all of settle.c's at once. */
enum { LT_NEW_LENGTHS_MAX = 1024 };
struct lt_new_lengths {
	struct lt_length *items; /* malloc'd */
	uint32_t count;
	size_t capacity;
};

enum { LT_KEPT_CARRIES = 16 };
struct lt_carries { /* ledger_days.c: the partitions of the transaction */
	bool has_any;
	struct lt_carry {
		bool is_used, is_carbon;
		char partition[LT_NAME_SIZE];
		double carry;
	} places[LT_KEPT_CARRIES]; /* by hash, one each */
};

struct lt_ledger {
	sqlite3 *db[LT_DB_COUNT];
	sqlite3_stmt *statements[LT_SQL_COUNT];
	bool in_transaction; /* lt_ledger_begin() */
	char *state_dir;     /* absolute, no links */
	struct lt_kept kept;
	struct lt_seen_rates seen_rates;
	struct lt_days days;
	struct lt_new_lengths new_lengths;
	struct lt_carries carries;
};

struct lt_value { /* to bind, in order ?1, ?2, ... */
	enum { LT_VALUE_NULL, LT_VALUE_INT, LT_VALUE_REAL, LT_VALUE_TEXT } kind;
	int64_t number;
	double real;
	const char *text;
};
#define LT_INT(x) ((struct lt_value){.kind = LT_VALUE_INT, .number = (int64_t)(x)})
#define LT_REAL(x) ((struct lt_value){.kind = LT_VALUE_REAL, .real = (x)})
#define LT_TEXT(x) ((struct lt_value){.kind = LT_VALUE_TEXT, .text = (x)})
#define LT_OPTIONAL(has, x)                                                                        \
	((struct lt_value){.kind = (has) ? LT_VALUE_INT : LT_VALUE_NULL, .number = (x)})
struct lt_bound { /* a statement with its values, then those of a record */
	enum lt_sql sql;
	const struct lt_value *values;
	int count;
	const struct lt_db_columns *columns;
	const void *record; /* NULL: the columns are only named */
};
#define LT_BIND(name, ...) LT_BIND_RECORD(name, NULL, NULL, __VA_ARGS__)
#define LT_BIND_RECORD(name, its_columns, its_record, ...)                                         \
	((struct lt_bound){.sql = (name),                                                          \
	    .values = (const struct lt_value[]){__VA_ARGS__},                                      \
	    .count =                                                                               \
		(int)(sizeof((const struct lt_value[]){__VA_ARGS__}) / sizeof(struct lt_value)),   \
	    .columns = (its_columns),                                                              \
	    .record = (its_record)})
#define LT_RECORD(name, its_columns, its_record)                                                   \
	((struct lt_bound){.sql = (name), .columns = (its_columns), .record = (its_record)})
#define LT_PLAIN(name) ((struct lt_bound){.sql = (name)})

struct lt_split { /* what LT_SQL_PERIOD binds */
	int64_t from_utc_s, to_utc_s, first_day, end_day;
	int64_t head_end_utc_s, tail_utc_s;
};

/* Whole UTC days inside [from, to), and the edges around them. */
struct lt_split lt_split_period(struct lt_span span);
#define LT_BIND_PERIOD(p)                                                                          \
	LT_INT((p).from_utc_s), LT_INT((p).to_utc_s), LT_INT((p).first_day), LT_INT((p).end_day),  \
	    LT_INT((p).head_end_utc_s), LT_INT((p).tail_utc_s)

/* ledger_sums.c: adds an entry that was put to the spans that it lies in. */
void lt_kept_add(struct lt_ledger *ledger, const struct lt_entry *entry);

/* No sums are kept: the next look reads all. */
void lt_kept_drop(struct lt_ledger *ledger);

/* lt_ledger_open() without the journal. */
int lt_ledger_connect(struct lt_ledger **ledger, const char *state_dir, struct lt_error *err);

/*
 * In a statement's text {columns} becomes the names of its columns with ", " between them, and
 * {values} as many parameters, numbered behind its values.
 */
/* Run a statement that gives no rows. */
int lt_sql_do(struct lt_ledger *ledger, struct lt_bound bound, struct lt_error *err);

struct lt_rows { /* of one statement; lt_rows_end() */
	struct lt_ledger *ledger;
	enum lt_sql sql;
	sqlite3_stmt *statement;
	const struct lt_db_columns *columns; /* as they are read; NULL: by hand */
	bool is_own;			     /* the ledger's is in use, around this one */
	int column;			     /* the next to read */
};
/* Texts that are bound must outlast lt_rows_end(). */
int lt_sql_start(struct lt_rows *rows, struct lt_ledger *ledger, struct lt_bound bound,
    const struct lt_db_columns *columns, struct lt_error *err);
/* 1 = a row, 0 = no more, negative = failed. */
int lt_rows_next(struct lt_rows *rows, struct lt_error *err);
void lt_rows_end(struct lt_rows *rows);
/* The columns that the rows are read by; the rest of the record becomes 0, or stays. */
void lt_row_read(struct lt_rows *rows, void *record);
void lt_row_add(struct lt_rows *rows, void *record);
/* The next column of the row. */
int64_t lt_row_int(struct lt_rows *rows);
double lt_row_real(struct lt_rows *rows);
bool lt_row_optional(struct lt_rows *rows, int64_t *value);
/* All figures of an entry. */
void lt_row_figures(struct lt_rows *rows, struct lt_entry *entry);
void lt_row_text(struct lt_rows *rows, char *out, size_t size);
/* malloc'd; NULL: no memory. */
char *lt_row_text_new(struct lt_rows *rows);

/* The first row. 1 = read, 0 = none (record is untouched), negative = failed. columns NULL: nothing
 * is read. */
int lt_sql_get(struct lt_ledger *ledger, struct lt_bound bound, const struct lt_db_columns *columns,
    void *record, struct lt_error *err);
/* The first rows into an array that has room: how many; negative = failed. */
int lt_sql_some(struct lt_ledger *ledger, struct lt_bound bound,
    const struct lt_db_columns *columns, void *records, uint32_t room, struct lt_error *err);
/* All rows, malloc'd. list: the address of a pointer to such records, which becomes NULL, and
 * *count 0, on failure. */
int lt_sql_list(struct lt_ledger *ledger, struct lt_bound bound,
    const struct lt_db_columns *columns, void *list, uint32_t *count, struct lt_error *err);
/* The first row's one number; it stays where there is none, or NULL: then *has, which may be NULL,
 * is false. */
int lt_sql_number(struct lt_ledger *ledger, struct lt_bound bound, int64_t *number, bool *has,
    struct lt_error *err);

/* Around one call: a savepoint in the caller's transaction, else its own. lt_call_end() keeps it
 * when code is LT_OK, else undoes it, and returns the call's result. */
int lt_call_begin(struct lt_ledger *ledger, enum lt_database database, struct lt_error *err);
int lt_call_end(
    struct lt_ledger *ledger, enum lt_database database, int code, struct lt_error *err);

/* The entry's part of its day's sums: at once, or by the end of lt_ledger_begin()'s transaction. */
int lt_days_add(struct lt_ledger *ledger, const struct lt_entry *entry, struct lt_error *err);
/* All that is not written yet, for who ends the transaction or reads days. On failure the commit
 * will fail, too. */
int lt_days_write(struct lt_ledger *ledger, struct lt_error *err);
/* It is undone. */
void lt_days_drop(struct lt_ledger *ledger);

/* The same of lengths, and of carries. */
int lt_lengths_keep(struct lt_ledger *ledger, const struct lt_length *length, struct lt_error *err);
/* Writes it at once; in the order of by_name(). */
int lt_lengths_put(struct lt_ledger *ledger, const struct lt_length *lengths, uint32_t count,
    struct lt_error *err);
int lt_lengths_write(struct lt_ledger *ledger, struct lt_error *err);
void lt_lengths_drop(struct lt_ledger *ledger);
int lt_carries_write(struct lt_ledger *ledger, struct lt_error *err);
void lt_carries_drop(struct lt_ledger *ledger);

/* Entry row and its day's sums; for_utc_s: the hour that was used. */
int lt_entry_put(struct lt_ledger *ledger, const struct lt_entry *entry, int64_t for_utc_s,
    struct lt_error *err);

/* Insert what the journal has beyond the last line known; drops a torn last line (it was never
 * acknowledged). */
int lt_journal_catch_up(struct lt_ledger *ledger, struct lt_error *err);
/* All adjustments of the ledger anew from it. */
int lt_journal_repair(struct lt_ledger *ledger, struct lt_error *err);

#endif
