/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report: the members that it must have, its texts, and its formats other than JSON. Each part
 * is under the name of its file.
 */
#ifndef LT_REPORT_H
#define LT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "error.h"

/* ---- CSV: a column is a member of lowtided's JSON ---- */
enum lt_column_kind { LT_COLUMN_ANY, LT_COLUMN_MONEY, LT_COLUMN_CARBON, LT_COLUMN_ENERGY };
struct lt_column {
	const char *header, *key;
	enum lt_column_kind kind;
};

/* ---- report_words.c: texts that tables and HTML share ---- */
enum { LT_MEASURED_LINES = 5, LT_MEASURED_LINE_SIZE = 320 };
/* Writes what was measured, in words. Returns how many lines; 0: nothing was. */
int lt_measured_lines(char lines[LT_MEASURED_LINES][LT_MEASURED_LINE_SIZE], const json_t *report);

struct lt_budget_row {		  /* a limit of money or of carbon; lent by the report */
	const char *team, *label; /* of its own period: 2026-11, 2026-Q4 */
	bool is_carbon, has_expected;
	int64_t budget, actual, held, expected; /* micros or mg */
};
/* Lists the budgets: those that are over, those expected to be, then others; in each group the
 * fullest first. Returns the count; -1: no memory. free(*rows). */
int lt_budget_rows(struct lt_budget_row **rows, const json_t *report);
bool lt_budget_is_over(const struct lt_budget_row *row);
bool lt_budget_will_be_over(const struct lt_budget_row *row);
enum { LT_OVER_SIZE = 256, LT_BALANCE_SIZE = 512 };
/* Writes what its team did, to stand behind the team's name. */
const char *lt_budget_said(
    char out[LT_OVER_SIZE], const struct lt_budget_row *row, const char *currency);
const char *lt_none_over_text(const struct lt_budget_row *rows, int count);
/* Writes lowtide's own balance; false: nothing ran. */
bool lt_balance_text(char out[LT_BALANCE_SIZE], const json_t *report);
struct lt_report_look;
/* Returns the label of a budget of the team with a longer period and that limit, budget_micros or
 * budget_mg; NULL: none. */
const char *lt_longer_budget(const json_t *report, const char *team, const char *limit);
/* Prints a section of those budgets, if there are any. */
int lt_report_longer(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err);
/* Prints the teams over budget and what lowtide did, a line each. */
int lt_report_over(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err);

/* True if the cost has a carbon charge or a discount. */
bool lt_report_has_parts(const json_t *report);
enum { LT_CHARGE_TEXT_SIZE = 128 };
/* Writes "412.0 kg CO2e at $80.00 a tonne, in the mean"; false: no carbon
 * charge, or no carbon that it is for. */
bool lt_carbon_charge_text(char *out, size_t size, const json_t *report);

/* Prints a row of CSV per team. */
void lt_report_csv(FILE *out, const json_t *report);

/* ---- run_csv.c: rows of runs, and their cells from the report ---- */
/* Returns the label keys of all teams, sorted: an array of texts, the caller's. */
json_t *lt_label_keys(const json_t *report);
/* Print a comma and a cell for each key. */
void lt_label_headers(FILE *out, const json_t *keys);
void lt_label_cells(FILE *out, const json_t *keys, const json_t *labels);
/* Prints a comma and a cell for each of LT_PERIOD_HEADERS. */
#define LT_PERIOD_HEADERS(state) ",period,first_day,last_day," state ",cluster,currency"
enum { LT_PERIOD_CELLS = 6 };
void lt_period_cells(FILE *out, const json_t *report);

/* Rows of a report whose runs come one by one, perhaps a million. The report without them comes
 * first. */
struct lt_rows;
struct lt_rows_kind {
	const char *query; /* asks for them in one answer */
	/* Writes the cells that all rows of a team share; team NULL: a team that is not in the
	 * report. */
	void (*team)(FILE *out, const struct lt_rows *rows, const json_t *team);
	/* Writes the header, and the rows that are not runs. */
	int (*begin)(struct lt_rows *rows, struct lt_error *err);
	/* Writes a run. LT_EINPUT: not a flat JSON object; nothing is written then. */
	int (*run)(struct lt_rows *rows, const char *json, size_t length, struct lt_error *err);
	/* Writes the rows that follow the runs; NULL: none do. */
	int (*end)(struct lt_rows *rows, struct lt_error *err);
	unsigned flags; /* the kind's own */
};
/* lt_hour_csv: each hour of each run, with the factors of its carbon. */
#define LT_HOURS_QUERY "carbon=hours"
extern const struct lt_rows_kind lt_run_csv, lt_hour_csv;
/* With the header, and without it for further months. Both also for a file with a month that is
 * billed. */
extern const struct lt_rows_kind lt_focus_csv, lt_focus_more_csv, lt_focus_billed_csv,
    lt_focus_more_billed_csv;
struct lt_rows { /* lt_rows_begin(), lt_rows_free() */
	FILE *out;
	const struct lt_rows_kind *kind;
	bool begun; /* the header is written */
	json_t *report, *label_keys;
	bool has_money;
	json_t *of_account; /* the cells that kind->team wrote */
	char *other;
	void *own; /* the kind's; freed with the rows */
};
int lt_rows_begin(struct lt_rows *rows, FILE *out, const struct lt_rows_kind *kind,
    const json_t *report, struct lt_error *err);
/* Returns the cells that kind->team wrote for the account. */
const char *lt_rows_of_account(const struct lt_rows *rows, const char *account);
void lt_rows_free(struct lt_rows *rows);
/* ---- columns that are members of the row ---- */
enum { LT_ROW_COLUMNS_MAX = 48 };
struct lt_row_columns {
	const struct lt_column *columns; /* fastest in the members' order */
	int count, account;		 /* account: its column's index */
	const char *first;		 /* text before them: "run," */
};
/* A kind's team(): period and labels, behind the columns. */
void lt_rows_team(FILE *out, const struct lt_rows *rows, const json_t *team);
/* Writes the headers; first: the text before them. */
void lt_rows_headers(struct lt_rows *rows, const struct lt_row_columns *columns, const char *first);
/* Writes a row. LT_EINPUT: not a flat JSON object; nothing is written then. */
int lt_rows_print(struct lt_rows *rows, const struct lt_row_columns *columns, const char *json,
    size_t length, struct lt_error *err);

/* ---- ood.c: balances of users, for Open OnDemand ---- */
struct lt_cli;
int lt_report_ood(const struct lt_cli *cli); /* exit status */
/* Makes the file from lowtided's /v1/balances. */
json_t *lt_ood_file(const json_t *answer, int64_t now_utc_s, struct lt_error *err);

/* ---- report_ask.c ---- */
struct lt_report_query { /* NULL, false: not given */
	const char *team, *period, *from, *to, *by;
	bool no_users, tcto, carbon, unused, months, corrections, tree, trend, balance;
};
/* Asks for a report, with groups if it is for a statement; *report is the caller's. cli only says
 * which lowtided to ask. */
int lt_report_ask(json_t **report, const struct lt_cli *cli, const struct lt_report_query *query,
    bool for_statement, struct lt_error *err);
/* The same with its runs: written to out as rows of kind while they come, so that some may precede
 * an error; out NULL: kept in *report. */
struct lt_report_rows {
	FILE *out;
	const struct lt_rows_kind *kind;
};
int lt_report_ask_runs(json_t **report, const struct lt_report_rows *to, const struct lt_cli *cli,
    const struct lt_report_query *query, struct lt_error *err);

/* ---- focus_rows.c; the query, or the answer, has months ---- */
/* Writes the BillingPeriod dataset of FOCUS. */
int lt_focus_period(FILE *out, const json_t *report, struct lt_error *err);
/* Writes the Cost and Usage dataset, month by month, as the ledger bills. */
int lt_focus_write(
    FILE *out, const struct lt_cli *cli, const struct lt_report_query *query, struct lt_error *err);

/* ---- report.c ---- */
struct lt_report_look;
/* Asks for a report and writes it to out in the form of look. */
int lt_report_write(FILE *out, const struct lt_cli *cli, const struct lt_report_query *query,
    const struct lt_report_look *look, struct lt_error *err);

/* ---- report_sections.c: --tree, --balance, --tcto, --unused, --carbon ---- */
/* Fails with LT_EVERSION if a section that is asked for is missing, LT_EDENIED if the caller may
 * not see it, LT_EINPUT if a figure of it is not a number. */
int lt_report_sections_check(
    const json_t *report, const struct lt_report_look *look, struct lt_error *err);
/* Prints a section for each, behind the others. */
int lt_report_sections(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err);
/* Prints a CSV in place of that of teams; false: none with a CSV is asked for. */
bool lt_report_section_csv(FILE *out, const json_t *report, const struct lt_report_look *look);
/* Explains the columns of the balance. */
extern const char lt_report_balance_note[];
/* Returns the partitions of --unused; NULL or empty: none. */
const json_t *lt_report_unused_rows(const json_t *report);
/* Writes a partition, and its first and last time if they are within the period. */
void lt_report_unused_name(char *out, size_t size, const json_t *report, const json_t *row);
/* Explains a figure below zero; NULL: there is none. */
const char *lt_report_unused_note(const json_t *report);

/* ---- report_by.c: groups, --by ---- */
/* Returns the first list of groups of an answer, and what it is by; NULL: none. */
const json_t *lt_report_groups(const json_t *report, const char **by);
/* True if the cost is not known: none of its runs has a price. */
bool lt_group_is_unpriced(const json_t *group);
int lt_report_by_table(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err);
/* Prints groups as CSV, in place of the teams. */
int lt_report_by_csv(FILE *out, const json_t *report, struct lt_error *err);

/* ---- report_html.c ---- */
/* Writes one HTML file that stands alone, from a report by day, partition, GPU, state and (unless
 * left out) user, with its top and the previous period; sections without data are left out. team:
 * whose statement it is, NULL: all. LT_ENOMEM. */
int lt_report_html(FILE *out, const json_t *report, const char *team, struct lt_error *err);

/* ---- report_tables.c ---- */
/* LT_EINPUT if a figure is neither an integer nor null. */
int lt_report_check(const json_t *report, struct lt_error *err);
int lt_report_tables(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err);

#endif
