/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report must have, and its formats that are not its JSON.
 */
#ifndef LT_REPORT_H
#define LT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "error.h"

/* ---- CSV: a column is a member of lowtided's JSON ---- */
enum lt_column_kind {
	LT_COLUMN_ANY,
	LT_COLUMN_MONEY,
	LT_COLUMN_CARBON,
	LT_COLUMN_ENERGY
};
struct lt_column {
	const char *header, *key;
	enum lt_column_kind kind;
};

/* ---- report_words.c: what tables and HTML say alike ---- */
enum { LT_MEASURED_LINES = 5, LT_MEASURED_LINE_SIZE = 320 };
/* What was measured, in words; the count, 0 where nothing was. */
int lt_measured_lines(
    char lines[LT_MEASURED_LINES][LT_MEASURED_LINE_SIZE], const json_t *report);

/* Who is over budget. */
struct lt_budget_row { /* a limit of money or of carbon; lent by the report */
	const char *team, *label; /* of its own period: 2026-11, 2026-Q4 */
	bool is_carbon, has_expected;
	int64_t budget, actual, held, expected; /* micros or mg */
};
/* Those that are over, those expected to be, others; of each the fullest first.
 * free(); -1: no memory. */
int lt_budget_rows(struct lt_budget_row **rows, const json_t *report);
bool lt_budget_is_over(const struct lt_budget_row *row);
bool lt_budget_will_be_over(const struct lt_budget_row *row);
enum { LT_OVER_SIZE = 256, LT_BALANCE_SIZE = 512 };
/* What its team did, to be written behind the team's name. */
const char *lt_budget_said(char out[LT_OVER_SIZE],
    const struct lt_budget_row *row, const char *currency);
const char *lt_none_over_text(const struct lt_budget_row *rows, int count);
/* lowtide's own balance; false: nothing ran. */
bool lt_balance_text(char out[LT_BALANCE_SIZE], const json_t *report);
struct lt_report_look;
/* The label of a budget of the team's whose period is longer, and that has that
 * limit, budget_micros or budget_mg; NULL: none. */
const char *lt_longer_budget(
    const json_t *report, const char *team, const char *limit);
/* A section of those; nothing without. */
int lt_report_longer(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err);
/* Who is over and what lowtide did, a line each. */
int lt_report_over(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err);

/* What else than nodes the cost is for. */
/* A carbon charge or a discount. */
bool lt_report_has_parts(const json_t *report);
enum { LT_CHARGE_TEXT_SIZE = 128 };
/* "412.0 kg CO2e at $80.00 a tonne, in the mean"; false: no carbon charge, or
 * no carbon that it is for. */
bool lt_carbon_charge_text(char *out, size_t size, const json_t *report);

/* A row per team. */
void lt_report_csv(FILE *out, const json_t *report);

/* ---- run_csv.c: rows of runs, and what each row has from the report ---- */
/* The label keys of all teams, sorted: an array of texts, the caller's. */
json_t *lt_label_keys(const json_t *report);
/* A comma and a cell for each key. */
void lt_label_headers(FILE *out, const json_t *keys);
void lt_label_cells(FILE *out, const json_t *keys, const json_t *labels);
/* A comma and a cell for each of LT_PERIOD_HEADERS. */
#define LT_PERIOD_HEADERS(state)                                               \
	",period,first_day,last_day," state ",cluster,currency"
enum { LT_PERIOD_CELLS = 6 };
void lt_period_cells(FILE *out, const json_t *report);

/* Rows of a report whose runs come one by one, be they a million: the report
 * without them is there first. */
struct lt_rows;
struct lt_rows_kind {
	const char *query; /* that asks for them in one answer */
	/* What rows of a team have alike; team NULL: of one that is not in the
	 * report. */
	void (*team)(FILE *out, const struct lt_rows *rows, const json_t *team);
	/* The header, and the rows that are not of runs. */
	int (*begin)(struct lt_rows *rows, struct lt_error *err);
	/* LT_EINPUT: no flat JSON object; nothing is written then. */
	int (*run)(struct lt_rows *rows, const char *json, size_t length,
	    struct lt_error *err);
	/* Rows that follow those of the runs; NULL: none do. */
	int (*end)(struct lt_rows *rows, struct lt_error *err);
	unsigned flags; /* the kind's own */
};
/* lt_hour_csv: each hour of each run, with what its carbon is made of. */
#define LT_HOURS_QUERY "carbon=hours"
extern const struct lt_rows_kind lt_run_csv, lt_hour_csv;
/* With the header, and without: of a further month. Both also for a file of
 * which any month is billed. */
extern const struct lt_rows_kind lt_focus_csv, lt_focus_more_csv,
    lt_focus_billed_csv, lt_focus_more_billed_csv;
struct lt_rows { /* lt_rows_begin(), lt_rows_free() */
	FILE *out;
	const struct lt_rows_kind *kind;
	bool begun; /* the header is written */
	json_t *report, *label_keys;
	bool has_money;
	json_t *of_account; /* what kind->team wrote */
	char *other;
	void *own; /* the kind's; it is freed with them */
};
int lt_rows_begin(struct lt_rows *rows, FILE *out,
    const struct lt_rows_kind *kind, const json_t *report,
    struct lt_error *err);
/* What kind->team wrote for it. */
const char *lt_rows_of_account(const struct lt_rows *rows, const char *account);
void lt_rows_free(struct lt_rows *rows);
/* ---- columns that are members of the row ---- */
enum { LT_ROW_COLUMNS_MAX = 48 };
struct lt_row_columns {
	const struct lt_column *columns; /* in the order of the members, where
					  * they are found at once */
	int count, account;		 /* account: which column is it */
	const char *first;		 /* what stands before them: "run," */
};
/* A kind's team: period and labels, behind the columns. */
void lt_rows_team(FILE *out, const struct lt_rows *rows, const json_t *team);
/* first: what stands before them. */
void lt_rows_headers(struct lt_rows *rows, const struct lt_row_columns *columns,
    const char *first);
/* LT_EINPUT: no flat JSON object; nothing is written then. */
int lt_rows_print(struct lt_rows *rows, const struct lt_row_columns *columns,
    const char *json, size_t length, struct lt_error *err);

/* ---- ood.c: what each user has left, for Open OnDemand ---- */
struct lt_cli;
int lt_report_ood(const struct lt_cli *cli); /* exit status */
/* The file of lowtided's /v1/balances. */
json_t *lt_ood_file(
    const json_t *answer, int64_t now_utc_s, struct lt_error *err);

/* ---- report_ask.c ---- */
struct lt_report_query { /* of what and with what; NULL, false: not said */
	const char *team, *period, *from, *to, *by;
	bool no_users, tcto, carbon, unused, months, corrections, tree, trend,
	    balance;
};
/* Ask for it, for a statement with its groups; *report is the caller's. cli
 * says only whom to ask. */
int lt_report_ask(json_t **report, const struct lt_cli *cli,
    const struct lt_report_query *query, bool for_statement,
    struct lt_error *err);
/* With its runs: rows of kind to out as they come, and so perhaps some before
 * an error; out NULL: in *report. */
struct lt_report_rows {
	FILE *out;
	const struct lt_rows_kind *kind;
};
int lt_report_ask_runs(json_t **report, const struct lt_report_rows *to,
    const struct lt_cli *cli, const struct lt_report_query *query,
    struct lt_error *err);

/* ---- focus_rows.c; both of a query, or an answer, with months ---- */
/* The BillingPeriod dataset of FOCUS. */
int lt_focus_period(FILE *out, const json_t *report, struct lt_error *err);
/* Its Cost and Usage, month by month, for that is what the ledger bills. */
int lt_focus_write(FILE *out, const struct lt_cli *cli,
    const struct lt_report_query *query, struct lt_error *err);

/* ---- report.c ---- */
struct lt_report_look;
/* Ask, and write what came to out as it is to look. */
int lt_report_write(FILE *out, const struct lt_cli *cli,
    const struct lt_report_query *query, const struct lt_report_look *look,
    struct lt_error *err);

/* ---- report_sections.c: --tree, --balance, --tcto, --unused, --carbon ---- */
/* LT_EVERSION without what is asked for, LT_EDENIED where it is not told,
 * LT_EINPUT where a figure of it is no number. */
int lt_report_sections_check(const json_t *report,
    const struct lt_report_look *look, struct lt_error *err);
/* A section for each behind the others. */
int lt_report_sections(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err);
/* Instead of the teams; false: none of those with a CSV is asked for. */
bool lt_report_section_csv(
    FILE *out, const json_t *report, const struct lt_report_look *look);
/* Explains the columns of the balance. */
extern const char lt_report_balance_note[];
/* Partitions of --unused; NULL or empty: none. */
const json_t *lt_report_unused_rows(const json_t *report);
/* A partition, and since and until when where that is within the period. */
void lt_report_unused_name(
    char *out, size_t size, const json_t *report, const json_t *row);
/* Why some of them is below zero; NULL: none is. */
const char *lt_report_unused_note(const json_t *report);

/* ---- report_by.c: groups, --by ---- */
/* The first list of an answer that has groups, and by what; NULL: none. */
const json_t *lt_report_groups(const json_t *report, const char **by);
/* Its cost is not known: none of its runs has a price. */
bool lt_group_is_unpriced(const json_t *group);
int lt_report_by_table(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err);
/* Instead of the teams. */
int lt_report_by_csv(FILE *out, const json_t *report, struct lt_error *err);

/* ---- report_html.c ---- */
/* One file that stands alone, of a report by day, partition, GPU, state and
 * (unless left out) user, with its top and the previous period; what is not
 * there is left out. team: whose statement it is, NULL: all. LT_ENOMEM. */
int lt_report_html(
    FILE *out, const json_t *report, const char *team, struct lt_error *err);

/* LT_EINPUT where a figure is no integer and not null. */
int lt_report_check(const json_t *report, struct lt_error *err);
int lt_report_tables(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err);

#endif
