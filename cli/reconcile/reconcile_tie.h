/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide reconcile: a cloud's invoice beside what lowtide charged, by day and instance type.
 * reconcile_invoice.c reads the invoice, reconcile_jobs.c the charges that lowtided answers with,
 * reconcile_tie.c puts them together and
 * reconcile_print.c shows the result. Days are UTC days, as in invoices.
 */
#ifndef LT_RECONCILE_TIE_H
#define LT_RECONCILE_TIE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "error.h"

/* Invoices have prices of 10^-10; sums are kept in 10^-12 and rounded once. */
__extension__ typedef __int128 lt_wide;

enum {
	LT_TIE_DAYS_MAX = 400,
	LT_TIE_PARTITIONS_MAX = 256, /* as in a policy */
	LT_TIE_NAME_SIZE = 64,
	LT_TIE_UNKNOWN_MAX = 256,    /* more are not named; all of them are in
				      * "other services" */
	LT_TIE_TAG_SIZE = 256,	     /* of a tag's name; AWS has 128 */
	LT_TIE_MONTHS_MAX = 120,     /* more are refused; nobody corrects more */
	LT_TIE_RATES_MAX = 1024 + 1, /* as in a policy, and --rate */
};

/* ---- the instance types of partitions: reconcile_jobs.c ---- */
struct lt_tie_map {
	int count, type_count;
	struct {
		char name[LT_TIE_NAME_SIZE];
		int type; /* index */
	} partitions[LT_TIE_PARTITIONS_MAX];
	char types[LT_TIE_PARTITIONS_MAX][LT_TIE_NAME_SIZE];
};
/* Adds the type of a partition; its first type stays. LT_EINPUT: an empty or too long name;
 * LT_ELIMIT. */
int lt_tie_map_add(
    struct lt_tie_map *map, const char *partition, const char *type, struct lt_error *err);
/* Adds "P=TYPE,P=TYPE". */
int lt_tie_map_parse(struct lt_tie_map *map, const char *text, struct lt_error *err);
/* Adds the types of /v1/signals: the instance type of the first source of a partition's price. */
int lt_tie_map_signals(struct lt_tie_map *map, const json_t *signals, struct lt_error *err);
/* Index of a type, whatever its case; -1: none. */
int lt_tie_type_find(const struct lt_tie_map *map, const char *type);
/* Type of a partition; -1: none. */
int lt_tie_type_of(const struct lt_tie_map *map, const char *partition);

/* ---- numbers of invoices: reconcile_money.c ---- */
/* Reads "12", "-0.5", "35.2E-7" in 10^-12, half away from zero; below 10^12 either way. The text is
 * the number alone. */
int lt_pico_parse(const char *text, lt_wide *pico, struct lt_error *err);
/* Returns the seconds of "Hrs", "1 Hour", "100 Hours", "Seconds"; 0: not a unit of time, or of time
 * and something else. */
int64_t lt_time_unit(const char *text);

/* ---- other currencies: reconcile_money.c ---- */
struct lt_invoice_rates {
	int count;
	struct lt_invoice_rate {
		char currency[4];
		bool is_said; /* by --rate, before all others */
		int64_t from_utc_s;
		char text[32]; /* the number as it was written */
		lt_wide pico;  /* of lowtide's money, for one unit */
		int64_t rows;  /* how many it converted */
	} list[LT_TIE_RATES_MAX];
};
/* Adds "USD=0.92", at most 10^6, to rates that are empty. LT_EINPUT. */
int lt_invoice_rate_parse(struct lt_invoice_rates *rates, const char *text, struct lt_error *err);
/* Adds the rates of the policy, from /v1/signals. */
int lt_invoice_rates_signals(
    struct lt_invoice_rates *rates, const json_t *signals, struct lt_error *err);
/* Returns the rate of that time; NULL: none. */
struct lt_invoice_rate *lt_invoice_rate_find(
    struct lt_invoice_rates *rates, const char *currency, int64_t utc_s);
/* Converts to lowtide's money, half away from zero. LT_EOVERFLOW. */
int lt_invoice_convert(lt_wide *pico, lt_wide rate_pico, struct lt_error *err);

/* ---- the invoice: reconcile_invoice.c ---- */
struct lt_invoice_sum {
	lt_wide cost_pico;   /* currency / 10^12 */
	lt_wide node_pico_s; /* node-seconds / 10^12 */
	bool has_nodes;	     /* some rows have a time */
	bool nodes_unknown;  /* some have a quantity in another unit */
};
/* How costs are added up: as billed, or with the price of savings plans and reservations spread
 * over what they covered. */
enum lt_invoice_basis {
	LT_INVOICE_AUTO, /* amortised, if the invoice has the columns for it */
	LT_INVOICE_BILLED,
	LT_INVOICE_AMORTISED,
	LT_INVOICE_COLUMN, /* by a column that was asked for */
	LT_INVOICE_BASIS_COUNT,
};
struct lt_invoice_place { /* of a row; path lent by lt_invoice_ask */
	const char *path, *column;
	int64_t utc_s;
	int line;
};
struct lt_invoice { /* lt_invoice_free() */
	const char *format;
	char cost[LT_TIE_NAME_SIZE]; /* the column that was added up */
	enum lt_invoice_basis basis;
	bool has_billed;     /* the billed cost is known */
	lt_wide billed_pico; /* of all rows */
	/* For commitments whose unused part no column has: in none of the costs, if amortised. */
	lt_wide fees_pico;
	int64_t first_day; /* since 1970 */
	int day_count, type_count;
	int64_t rows, left_out_rows; /* the latter are in no sum */
	/* Sums by day, then by type of the map; after each day's types a sum for other services.
	 * The last day has the rows of days outside, all as other services: refunds, corrections,
	 * late usage. */
	struct lt_invoice_sum *sums;
	int64_t outside_rows, outside_first_day, outside_last_day;
	struct lt_invoice_place outside; /* the first of them */
	/* The months that rows outside belong to, the earliest first. */
	int outside_month_count;
	struct lt_invoice_month {
		int64_t month; /* since the year 0 */
		int64_t rows;
		lt_wide cost_pico;
	} outside_months[LT_TIE_MONTHS_MAX];
	/* Instances in there whose type no partition has, dearest first. */
	int unknown_count;
	struct lt_invoice_unknown {
		char type[LT_TIE_NAME_SIZE];
		lt_wide cost_pico;
	} unknown[LT_TIE_UNKNOWN_MAX];
};
/* ---- which rows are taken: reconcile_row.c ---- */
struct lt_invoice_filter {
	const char *only; /* the argument; NULL: all */
	char key[LT_TIE_TAG_SIZE];
	const char *value;
	const char *accounts; /* "1,2"; NULL: all */
};
/* Reads "tag:team=vision". LT_EINPUT. */
int lt_invoice_only_parse(struct lt_invoice_filter *filter, const char *text, struct lt_error *err);
struct lt_invoice_ask {
	struct lt_invoice_filter filter;
	const char *path; /* for errors */
	const char *currency;
	struct lt_invoice_rates *rates; /* NULL: none */
	enum lt_invoice_basis basis;
	const char *cost; /* the column of costs, if asked for; else NULL */
	const char *type; /* column of instance types; NULL: the format's */
	int64_t first_day;
	int day_count; /* 0: the billing period of the first row */
};
/*
 * Adds all of a CSV, a part of the invoice. Every row is in one of the sums, or is an error:
 * "PATH:LINE: COLUMN: ...". *invoice starts as { 0 }.
 */
int lt_invoice_read(struct lt_invoice *invoice, FILE *in, const struct lt_invoice_ask *ask,
    const struct lt_tie_map *map, struct lt_error *err);
/* Completes the invoice after the last part, whose ask it is. LT_EINPUT: no row, or none of its
 * days. */
int lt_invoice_finish(
    struct lt_invoice *invoice, const struct lt_invoice_ask *ask, struct lt_error *err);
void lt_invoice_free(struct lt_invoice *invoice);

/* ---- what lowtide charged: reconcile_jobs.c ---- */
struct lt_tie_jobs { /* lt_tie_jobs_free() */
	int64_t first_day;
	int day_count, type_count;
	struct lt_tie_job_sum {
		int64_t cost_micros, node_s;
	} * sums; /* by day, then by type */
	/* Amounts that no cloud invoices; the first two are in no cost here. */
	int64_t carbon_charge_micros, discount_micros, adjustments_micros;
	/* Corrections of these days that were booked on other days, and,
	 * below 0, those of other days that were booked on these. */
	int64_t corrected_here_micros, corrected_elsewhere_micros;
	int other_count;
	struct {
		char partition[LT_TIE_NAME_SIZE];
		int64_t cost_micros;
	} others[LT_TIE_PARTITIONS_MAX];
	bool complete; /* all that ended on these days is charged */
	bool only_own; /* the caller does not see the jobs of all */
};
/* Starts the sums for the days of the invoice. LT_ENOMEM. */
int lt_tie_jobs_start(
    struct lt_tie_jobs *jobs, const struct lt_invoice *invoice, struct lt_error *err);
/* Writes the path to ask for a day (an index); lt_tie_jobs_add() adds the answer. */
const char *lt_tie_jobs_path(char *out, size_t size, const struct lt_tie_jobs *jobs, int day_index);
int lt_tie_jobs_add(struct lt_tie_jobs *jobs, int day_index, const struct lt_tie_map *map,
    const json_t *report, struct lt_error *err);
void lt_tie_jobs_free(struct lt_tie_jobs *jobs);

/* ---- put together: reconcile_tie.c ---- */
struct lt_tie_row {
	int64_t day; /* 0 if it is outside */
	bool is_outside;
	const char *type; /* NULL: other services; lent by the map */
	/* invoice = jobs + idle + unexplained, to the micro. */
	int64_t invoice_micros, jobs_micros, idle_micros, unexplained_micros;
	bool has_idle; /* else idle_micros is not known, and 0 */
	bool has_nodes;
	int64_t invoice_node_s, jobs_node_s;
};
struct lt_tie {			 /* lt_tie_free() */
	struct lt_tie_row *rows; /* by day, then type; no empty ones */
	int count;
	struct lt_tie_row instances, others, total;
	int64_t billed_micros, fees_micros;
};
struct lt_tie_parts {
	const struct lt_invoice *invoice;
	const struct lt_tie_map *map;
	const struct lt_tie_jobs *jobs;
};
/* Rounds half away from zero, limited to int64_t. */
int64_t lt_tie_micros(lt_wide pico);
/*
 * Makes a row for each day and type, in micros. jobs is what lowtide charged for nodes. idle is the
 * node-hours of the invoice less those of jobs, not below 0, at the mean price of that row (half
 * away from zero). unexplained is the rest. LT_EOVERFLOW.
 */
int lt_tie_make(struct lt_tie *tie, const struct lt_tie_parts *parts, struct lt_error *err);
/* True if more of the instances' invoice than limit_micros / 10^6 per cent is unexplained, either
 * way. */
bool lt_tie_exceeds(const struct lt_tie_row *instances, int64_t limit_micros);
void lt_tie_free(struct lt_tie *tie);

/* ---- shown: reconcile_print.c ---- */
struct lt_tie_shown {
	char **files; /* the arguments */
	int file_count;
	const char *currency;
	const struct lt_invoice_rates *rates;
	const struct lt_invoice_filter *filter;
	const struct lt_tie_parts *parts;
	const struct lt_tie *tie;
};
void lt_tie_table(FILE *out, const struct lt_tie_shown *shown, bool color);
void lt_tie_csv(FILE *out, const struct lt_tie_shown *shown);
/* The caller's; NULL: no memory. */
json_t *lt_tie_json(const struct lt_tie_shown *shown);

#endif
