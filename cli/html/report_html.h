/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement: declarations that its files share. report_html.c has the order of the
 * sections, each of which is a function here; report_html_text.c writes texts of others, and
 * figures; report_html_table.c writes all tables.
 */
#ifndef LT_REPORT_HTML_H
#define LT_REPORT_HTML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "columns.h"
#include "error.h"

struct lt_statement { /* the report, read once */
	FILE *out;
	struct lt_error *err; /* why a section could not be written */
	const json_t *report, *total;
	const json_t *previous; /* NULL: not asked for, or none */
	const char *team;	/* whose it is; NULL: all teams' */
	const char *currency;	/* "": money is shown nowhere */
	bool has_money;
	bool open;   /* figures may still change */
	bool partly; /* of the period before only as much is compared */
	bool months; /* a long period: its steps are months, not days */
	/* The smallest amount that is shown: a gram or 0.1 kg, 1 or 100 Wh,
	 * by the size of the total. */
	int64_t carbon_unit_mg, energy_unit_wh;
	char name[48], before[48];	       /* "October 2026", "September 2026" */
	char short_name[48], short_before[48]; /* "Oct 2026" */
};

/* ---- report_html_text.c ---- */
enum { LT_HTML_TEXT_MAX = 400 };
/*
 * Writes text of others for an element or a quoted attribute; no other way leads into the page.
 * Markup is escaped; characters that control, hide or reverse text become U+FFFD; after
 * LT_HTML_TEXT_MAX characters comes "...".
 */
void lt_html_text(FILE *out, const char *text);
/* Writes a figure, rounded as it is shown. Returns out. */
const char *lt_figure_text(char out[LT_FIGURE_SIZE], const struct lt_statement *statement,
    int64_t value, enum lt_unit unit);
/* Writes an estimate with three digits, "$41,300", "1.23". Returns out. */
const char *lt_estimate_text(char out[LT_FIGURE_SIZE], const struct lt_statement *statement,
    int64_t value, enum lt_unit unit);
/* The same with its sign, "+$3.00", but for 0. */
const char *lt_change_text(char out[LT_FIGURE_SIZE], const struct lt_statement *statement,
    int64_t value, enum lt_unit unit);
/* Returns one unit of a shown figure: 10000 micros for dollars. */
int64_t lt_unit_shown(const struct lt_statement *statement, enum lt_unit unit);
/* Returns one - other as the figures are shown, so that it fits those beside it. */
int64_t lt_shown_difference(
    const struct lt_statement *statement, int64_t one, int64_t other, enum lt_unit unit);
/* Writes part of whole in ppm, half away from zero; false: whole is not above 0. */
bool lt_ppm(int64_t *ppm, int64_t part, int64_t whole);
/* Return the report's groups by that dimension, NULL: it has none; and the sum of a figure over
 * groups, 0 without any. */
const json_t *lt_html_groups_by(const json_t *report, const char *dimension);
int64_t lt_html_sum_of(const json_t *groups, const char *key);
/* Writes "2026-10-05" as "5 October 2026", "5 Oct"; other text unchanged. */
enum lt_day_look { LT_DAY_LONG, LT_DAY_SHORT };
const char *lt_day_text(char *out, size_t size, const char *day, enum lt_day_look look);
/* Writes "2026-10" as "October 2026", "Oct 2026"; "2026-Q4" as "Q4 2026". */
const char *lt_period_name(char *out, size_t size, const char *label, enum lt_day_look look);
/* Reads "2026-10-05..." as days since 1970; false: not a date. */
bool lt_day_number(const char *text, int64_t *day);

/* ---- report_html_table.c ---- */
enum { LT_HTML_COLUMNS_MAX = 8, LT_HTML_ROWS_MAX = 64, LT_HTML_LEVELS = 4 };
enum lt_column_rule {
	LT_COLUMN_ALONE,      /* each rounded by itself */
	LT_COLUMN_ADDS_UP,    /* parts of the total, but for rounding */
	LT_COLUMN_SHARE,      /* of the first column's total; adds up */
	LT_COLUMN_DIFFERENCE, /* of the two columns before it, as shown */
	LT_COLUMN_SO_FAR,     /* sum of the first column up to this row */
	LT_COLUMN_LEFT,	      /* its value less the column before it */
	/* The column before less the first, as shown, if it is just that: a budget without holds;
	 * else rounded by itself. */
	LT_COLUMN_BALANCE,
};
struct lt_html_column {
	const char *title; /* NULL ends the list */
	enum lt_unit unit;
	enum lt_column_rule rule;
	/* The member of a row of JSON; if over is not NULL, the value is divided by that member: a
	 * price per hour of its seconds. */
	const char *key, *over;
	bool signs; /* shown as a change */
};
struct lt_html_row {
	const char *name;     /* text of others */
	const json_t *labels; /* shown under the name; NULL = none */
	int level;	      /* how deep it is indented */
	bool ours;	      /* our own words, "12 others": in italics */
	bool plain;	      /* no signs, in a column that has them */
	bool balanced;	      /* set by lt_html_table() */
	bool has[LT_HTML_COLUMNS_MAX];
	int64_t values[LT_HTML_COLUMNS_MAX];
};
struct lt_html_table {
	const char *caption, *first; /* title of the names' column */
	const struct lt_html_column *columns;
	int row_count;
	struct lt_html_row *rows;
	const struct lt_html_row *total; /* NULL: none */
	bool bars;			 /* for the first column */
	const char *look;		 /* a class of the table: "few", "dense"; or NULL */
};
/* Prints the table; changes its values to the shown ones. */
void lt_html_table(const struct lt_statement *statement, struct lt_html_table *table);
/* Copies the columns that this site shows: without money, none of money. Returns shown. */
const struct lt_html_column *lt_html_columns(const struct lt_statement *statement,
    struct lt_html_column *shown, const struct lt_html_column *all);

/* Makes columns of the figures that have a title, each rounded by itself. */
const struct lt_html_column *lt_html_figure_columns(const struct lt_statement *statement,
    struct lt_html_column *shown, const struct lt_figure_kind *figures, int count);
/* Fills the row with figures from JSON, by the keys of the columns. */
void lt_html_row_fill(
    struct lt_html_row *row, const json_t *from, const struct lt_html_column *columns);

/* A table of groups of JSON, at most LT_HTML_ROWS_MAX rows. */
struct lt_html_groups {
	const char *caption, *first, *key; /* key: the member with the name */
	const char *absent;		   /* the name for "" */
	const char *others;		   /* "%d other teams" */
	const struct lt_html_column *columns;
	const json_t *groups;
};
/* Prints the table: the largest first, the rest as one row, and the difference to the report's
 * total as another, so that columns add up. */
void lt_html_groups(const struct lt_statement *statement, const struct lt_html_groups *groups);

/* ---- report_html_days.c: amounts by day ---- */
enum { LT_HTML_STEPS_MAX = 62 };
struct lt_html_step { /* a day, or a month of a long period */
	char day[16], name[24];
	int64_t cost, cost_so_far, carbon;
};
struct lt_html_days {
	int count, known; /* all steps, and those that have happened */
	struct lt_html_step steps[LT_HTML_STEPS_MAX];
};
/* Reads the days; false: the report has none. */
bool lt_html_days_read(struct lt_html_days *days, const struct lt_statement *statement);

/* ---- report_html_chart.c ---- */
enum { LT_HTML_CHART_WIDTH = 720 };
struct lt_html_axis {
	double low, high, step; /* its ends, and its lines */
	double per_unit;	/* a shown unit: money or kg */
};
/* Chooses lines at 1, 2 or 5 times a power of ten, four or a few more. */
void lt_html_axis_choose(struct lt_html_axis *axis, double low, double high);
/* Returns the number of the last line; the first is 0. */
int lt_html_axis_last(const struct lt_html_axis *axis);
/* Returns where a line is, and writes its text: "0", "20k", "-1.5M", units of the currency or
 * kilograms. */
enum { LT_AXIS_TEXT_SIZE = 40 };
double lt_html_axis_line(char text[LT_AXIS_TEXT_SIZE], const struct lt_html_axis *axis, int line);
/* Begins a picture with its description; its width is 720. */
void lt_html_svg_open(
    FILE *out, const char *id, const char *title, const char *description, int height);
void lt_html_burn_down(const struct lt_statement *statement, const struct lt_html_days *days);
void lt_html_bars(const struct lt_statement *statement, const struct lt_html_days *days);

/* Draws the teams at the top with all below them, else all teams; a single team is not drawn. */
void lt_html_team_bars(const struct lt_statement *statement);

/* ---- report_html_groups.c ---- */
/* True if any team has a label. */
bool lt_html_has_labels(const json_t *report);
/* True if any team is below another. */
bool lt_html_has_tree(const json_t *report);

/* ---- sections: each prints itself, or nothing without its data ---- */
void lt_html_over(const struct lt_statement *statement);
void lt_html_budgets(const struct lt_statement *statement);
void lt_html_glance(const struct lt_statement *statement);
void lt_html_parts(const struct lt_statement *statement);
void lt_html_change(const struct lt_statement *statement);
void lt_html_budget(const struct lt_statement *statement);
void lt_html_by_day(const struct lt_statement *statement);
void lt_html_trend(const struct lt_statement *statement);
void lt_html_balance(const struct lt_statement *statement);
void lt_html_by_team(const struct lt_statement *statement);
void lt_html_tree(const struct lt_statement *statement);
void lt_html_by_label(const struct lt_statement *statement);
void lt_html_by_partition(const struct lt_statement *statement);
void lt_html_unused(const struct lt_statement *statement);
void lt_html_by_gpu(const struct lt_statement *statement);
void lt_html_by_user(const struct lt_statement *statement);
void lt_html_failed(const struct lt_statement *statement);
void lt_html_top(const struct lt_statement *statement);
void lt_html_carbon(const struct lt_statement *statement);
void lt_html_audit(const struct lt_statement *statement);
void lt_html_corrections(const struct lt_statement *statement);
void lt_html_adjustments(const struct lt_statement *statement);
void lt_html_quality(const struct lt_statement *statement);
void lt_html_method(const struct lt_statement *statement);
void lt_html_checksum(const struct lt_statement *statement);

#endif
