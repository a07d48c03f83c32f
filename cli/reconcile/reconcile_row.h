/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row of an invoice, whatever the format calls its columns. The formats are tables
 * (reconcile_format.c); reconcile_row.c reads rows by them.
 */
#ifndef LT_RECONCILE_ROW_H
#define LT_RECONCILE_ROW_H

#include "csv.h"
#include "reconcile_tie.h"

enum lt_invoice_field {
	LT_FIELD_START,
	LT_FIELD_END, /* absent: a row is a day */
	LT_FIELD_PERIOD_START,
	LT_FIELD_PERIOD_END,
	LT_FIELD_COST,
	LT_FIELD_CURRENCY,
	LT_FIELD_KIND,
	LT_FIELD_QUANTITY,
	LT_FIELD_UNIT,
	LT_FIELD_SERVICE,
	/* The price of savings plans and reservations, spread over their use. */
	LT_FIELD_EFFECTIVE, /* FOCUS: of every row; else of a savings plan */
	LT_FIELD_RESERVED,  /* the same for a reservation */
	LT_FIELD_COMMITTED, /* of a savings plan's fee */
	LT_FIELD_USED,	    /* the used part of that fee */
	LT_FIELD_UNUSED_UPFRONT,
	LT_FIELD_UNUSED_FEE,
	LT_FIELD_RESERVATION, /* whose fee it is */
	LT_FIELD_PRICING,     /* Azure's word for all of this */
	LT_FIELD_ACCOUNT,
	LT_FIELD_TAGS, /* an object, or the beginning of a tag's column */
	/* Where the instance type may stand: the first that has one counts. */
	LT_FIELD_TYPE,
	LT_FIELD_TYPE_OTHER,
	LT_FIELD_DETAILS,
	LT_FIELD_DETAILS_OTHER,
	LT_FIELD_USAGE,
	LT_FIELD_USAGE_OTHER,
	LT_FIELD_COUNT,
};
_Static_assert(LT_FIELD_COUNT <= (int)LT_CSV_WANTED_MAX, "csv.h keeps them");

/* The cost that replaces the billed one if costs are amortised. */
enum lt_invoice_spread {
	LT_SPREAD_NONE, /* the same */
	LT_SPREAD_NOTHING,
	LT_SPREAD_PLAN,	    /* its part of a savings plan */
	LT_SPREAD_RESERVED, /* its part of a reservation */
	LT_SPREAD_PLAN_FEE, /* the unused part of the fee */
	LT_SPREAD_RESERVED_FEE,
	LT_SPREAD_UPFRONT, /* nothing, if it is for a reservation */
	LT_SPREAD_COUNT,
};

struct lt_invoice_kind { /* of a charge */
	const char *name;
	bool is_use;	   /* of an instance, if its type says so */
	bool has_quantity; /* else it is a part of what such a use costs */
	enum lt_invoice_spread spread;
	enum lt_invoice_basis shows; /* of Azure's commitments */
};

struct lt_invoice_format {
	const char *name;
	const char *service; /* that instances are charged as */
	const char *unit;    /* if no column has it */
	bool any_case;	     /* of the columns' names */
	bool is_american;    /* days are 11/30/2026, a period's last in it,
			      * quantities no multiples of their unit */
	bool has_effective;  /* of every row */
	bool has_tag_columns;
	const struct lt_invoice_kind *kinds; /* a name that is NULL ends them */
	struct lt_csv_column columns[LT_FIELD_COUNT];
};
/* Finds the format by the columns that each must have; NULL: none, and err has line and column. */
const struct lt_invoice_format *lt_invoice_format_find(
    const char *bytes, size_t byte_count, struct lt_error *err);

struct lt_invoice_parser {
	const struct lt_invoice_format *format; /* NULL: not known yet */
	struct lt_csv_column columns[LT_FIELD_COUNT];
	enum lt_invoice_basis basis;
	const char *currency;		/* wanted */
	struct lt_invoice_rates *rates; /* NULL: none */
	const struct lt_invoice_filter *filter;
	char tag_column[LT_TIE_TAG_SIZE + 32];
	/* The tags that were read last, and whether the filter takes them. */
	char tags[LT_CSV_CELL_SIZE];
	bool tags_taken;
	/* The details that were read last, and their type: rows repeat them. */
	char details[LT_CSV_CELL_SIZE], details_type[LT_TIE_NAME_SIZE];
};
struct lt_invoice_head { /* the file's first bytes, all of the header */
	const char *bytes;
	size_t byte_count;
};
/* Finds the format and its columns; err has line and column. */
int lt_invoice_parser_start(struct lt_invoice_parser *parser, struct lt_csv *csv,
    const struct lt_invoice_head *head, const struct lt_invoice_ask *ask, struct lt_error *err);
const char *lt_invoice_cost_name(const struct lt_invoice_parser *parser);
const char *lt_invoice_start_name(const struct lt_invoice_parser *parser);

/* Reads the billing period that a row names. LT_EINPUT. */
int lt_invoice_row_period(int64_t *start_utc_s, int64_t *end_utc_s,
    const struct lt_invoice_parser *parser, const struct lt_csv_row *row, struct lt_error *err);

struct lt_invoice_row {
	int64_t start_utc_s;
	bool is_long; /* more than a day */
	lt_wide cost_pico;
	lt_wide billed_pico;
	lt_wide fee_pico;	     /* for a commitment whose unused part no column
				      * has: in no cost */
	enum lt_invoice_basis shows; /* the basis that the row proves for the file */
	char type[LT_TIE_NAME_SIZE]; /* "": not the use of an instance */
	bool has_quantity;	     /* of an instance's use */
	lt_wide quantity_pico;
	int64_t unit_s; /* 0: not in a unit of time */
};
/* Reads a row. Errors are "COLUMN: got ..., want ...". */
int lt_invoice_row_parse(struct lt_invoice_row *parsed, struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, struct lt_error *err);

/* Sets *taken if the row is one of those that were asked for. LT_EINPUT. */
int lt_invoice_filter_row(bool *taken, struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, struct lt_error *err);

#endif
