/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row of an invoice, whatever the format calls its columns.
 */
#ifndef LT_RECONCILE_ROW_H
#define LT_RECONCILE_ROW_H

#include "csv.h"
#include "reconcile_tie.h"

enum lt_invoice_field {
	LT_FIELD_START,
	LT_FIELD_END,
	LT_FIELD_PERIOD_START,
	LT_FIELD_PERIOD_END,
	LT_FIELD_COST,
	LT_FIELD_CURRENCY,
	LT_FIELD_KIND,
	LT_FIELD_QUANTITY,
	LT_FIELD_UNIT,
	LT_FIELD_SERVICE,
	/* Where the instance type may stand: the first that says one counts. */
	LT_FIELD_TYPE,
	LT_FIELD_TYPE_OTHER,
	LT_FIELD_DETAILS,
	LT_FIELD_DETAILS_OTHER,
	LT_FIELD_USAGE,
	LT_FIELD_USAGE_OTHER,
	LT_FIELD_COUNT,
};
_Static_assert(LT_FIELD_COUNT <= (int)LT_CSV_WANTED_MAX, "csv.h keeps them");

struct lt_invoice_format; /* reconcile_row.c */
struct lt_invoice_parser {
	const struct lt_invoice_format *format; /* NULL: not known yet */
	struct lt_csv_column columns[LT_FIELD_COUNT];
	const char *currency;		/* wanted */
	struct lt_invoice_rates *rates; /* NULL: none */
	/* The details that were read last, and their type: rows repeat them. */
	char details[LT_CSV_CELL_SIZE], details_type[LT_TIE_NAME_SIZE];
};
struct lt_invoice_head { /* the file's first bytes, all of the header */
	const char *bytes;
	size_t byte_count;
};
/* Which format is it, and where are its columns? err has line and column. */
int lt_invoice_parser_start(struct lt_invoice_parser *parser,
    struct lt_csv *csv, const struct lt_invoice_head *head,
    const struct lt_invoice_ask *ask, struct lt_error *err);
const char *lt_invoice_format_name(const struct lt_invoice_parser *parser);
const char *lt_invoice_cost_name(const struct lt_invoice_parser *parser);
const char *lt_invoice_start_name(const struct lt_invoice_parser *parser);

/* The billing period that a row names. LT_EINPUT. */
int lt_invoice_row_period(int64_t *start_utc_s, int64_t *end_utc_s,
    const struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    struct lt_error *err);

struct lt_invoice_row {
	int64_t start_utc_s;
	bool is_long; /* more than a day */
	lt_wide cost_pico;
	char type[LT_TIE_NAME_SIZE]; /* "": no use of an instance */
	bool has_quantity;	     /* of an instance's use */
	lt_wide quantity_pico;
	int64_t unit_s; /* 0: not in a unit of time */
};
/* "COLUMN: got ..., want ..." */
int lt_invoice_row_parse(struct lt_invoice_row *parsed,
    struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    struct lt_error *err);

#endif
