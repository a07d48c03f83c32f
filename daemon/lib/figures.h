/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of a report, each once: its name in lowtided's JSON, its unit, the header of its CSV
 * column, its title in tables and in the HTML statement. lowtided counts them (daemon/statement/)
 * and the command shows them (cli/report/, cli/html/); neither spells a name or a title again.
 *
 * A new figure is a name in an enum, its row in figures.c, the line of daemon/statement/ that
 * counts it, and docs/report.schema.json. What shows it is said in figures.c, too: the row, or the
 * lists of sections and columns.
 */
#ifndef LT_FIGURES_H
#define LT_FIGURES_H

#include <stdbool.h>

enum lt_unit {
	LT_UNIT_MONEY,	/* micros, to the currency's decimals */
	LT_UNIT_CARBON, /* mg, shown as kg */
	LT_UNIT_ENERGY, /* Wh, shown as kWh */
	LT_UNIT_HOURS,	/* s, shown as hours */
	LT_UNIT_COUNT,
	LT_UNIT_SHARE, /* ppm, shown as per cent */
	LT_UNIT_FLAG,  /* a boolean of JSON */
};

struct lt_figure_kind {
	const char *key; /* in JSON */
	enum lt_unit unit;
	const char *csv;    /* header of its column; NULL: CSV lacks it */
	const char *title;  /* of its column in a table; NULL: in none */
	const char *absent; /* what null means there; NULL: "n/a" */
	const char *html;   /* its title in the HTML statement; NULL: in none */
	const char *total;  /* of a tree: its key in the report's total */
};

/* ---- of a team and a period; in the order of CSV ---- */
enum lt_team_figure {
	LT_TEAM_CHARGES,
	LT_TEAM_CORRECTIONS,
	LT_TEAM_ADJUSTMENTS,
	LT_TEAM_COST, /* the three of them */
	LT_TEAM_BUDGET,
	LT_TEAM_ACTUAL,
	LT_TEAM_HELD,
	LT_TEAM_AVAILABLE,
	LT_TEAM_BASE, /* without lowtide */
	LT_TEAM_SAVED,
	LT_TEAM_CHARGES_MG,
	LT_TEAM_CORRECTIONS_MG,
	LT_TEAM_ADJUSTMENTS_MG,
	LT_TEAM_CARBON,
	LT_TEAM_BUDGET_MG,
	LT_TEAM_ACTUAL_MG,
	LT_TEAM_HELD_MG,
	LT_TEAM_AVAILABLE_MG,
	LT_TEAM_BASE_MG,
	LT_TEAM_SAVED_MG,
	LT_TEAM_ENERGY,
	LT_TEAM_RUNS,
	LT_TEAM_MOVED_RUNS,
	LT_TEAM_UNPRICED_RUNS,
	LT_TEAM_REPLAY,
	LT_TEAM_NODES,
	LT_TEAM_CARBON_CHARGE,
	LT_TEAM_DISCOUNT,
	LT_TEAM_GPUS_SLURMCTLD_RUNS,
	LT_TEAM_GPUS_UNKNOWN_RUNS,
	LT_TEAM_FIGURES
};
extern const struct lt_figure_kind lt_team_figures[LT_TEAM_FIGURES];

/* Sections of the tables of teams, in their order. */
enum lt_section_id {
	LT_SECTION_STATEMENT,
	LT_SECTION_PARTS, /* what the cost is for; HTML has it, too */
	LT_SECTION_BUDGET,
	LT_SECTION_CARBON,
	LT_SECTION_CARBON_BUDGET,
	LT_SECTION_RUNS,
	LT_SECTIONS
};
enum { LT_SECTION_FIGURES_MAX = 8 };
struct lt_section {
	const char *title;
	bool is_money; /* left out where no money is shown */
	struct {
		enum lt_team_figure figure;
		const char *title; /* NULL ends the list */
	} columns[LT_SECTION_FIGURES_MAX + 1];
};
extern const struct lt_section lt_sections[LT_SECTIONS];

/* ---- of a group of runs; in the order of JSON ---- */
enum lt_group_figure {
	LT_GROUP_RUNS,
	LT_GROUP_COST,
	LT_GROUP_CARBON,
	LT_GROUP_ENERGY,
	LT_GROUP_BASE,
	LT_GROUP_BASE_MG,
	LT_GROUP_CPU_S,
	LT_GROUP_GPU_S,
	LT_GROUP_NODE_S,
	LT_GROUP_FAILED_RUNS,
	LT_GROUP_FAILED,
	LT_GROUP_ESTIMATED_RUNS,
	LT_GROUP_ESTIMATED_MG,
	LT_GROUP_MEASURED,	/* cost of runs whose use is known, */
	LT_GROUP_IDLE,		/* and what of it was idle, at least */
	LT_GROUP_CARBON_CHARGE, /* in its cost */
	LT_GROUP_DISCOUNT,	/* taken off it */
	LT_GROUP_UNPRICED,	/* runs without a known price, in no cost */
	LT_GROUP_EARLIER,	/* in its cost: hours before the period; groupings by
				 * day or month lack it */
	LT_GROUP_ENDED,		/* runs that ended in the period; in no JSON */
	LT_GROUP_FIGURES
};
extern const struct lt_figure_kind lt_group_figures[LT_GROUP_FIGURES];

/* Columns of the groups' CSV and table; LT_GROUP_FIGURES ends a list. CSV has those of more_csv
 * behind the labels. */
extern const enum lt_group_figure lt_group_csv[], lt_group_more_csv[];
struct lt_group_column {
	enum lt_group_figure figure;
	/* It is shown where any group has that; LT_GROUP_FIGURES: always. */
	enum lt_group_figure needs;
};
enum { LT_GROUP_COLUMNS = 13 };
extern const struct lt_group_column lt_group_columns[LT_GROUP_COLUMNS];

/* ---- of a team with all teams below it; in the order of CSV ---- */
enum { LT_TREE_FIGURES = 12 };
extern const struct lt_figure_kind lt_tree_figures[LT_TREE_FIGURES];

/* ---- of a month of lowtide's own balance; in the order of CSV ---- */
enum lt_balance_figure {
	LT_BALANCE_RUNS,
	LT_BALANCE_MOVED_RUNS,
	LT_BALANCE_SAVED,
	LT_BALANCE_MEASURED,
	LT_BALANCE_SAVED_MG,
	LT_BALANCE_MEASURED_MG,
	LT_BALANCE_WAITED,
	LT_BALANCE_WORSE_JOBS,
	LT_BALANCE_WORSE_OF_JOBS,
	LT_BALANCE_REFUSED_JOBS,
	LT_BALANCE_FIGURES
};
extern const struct lt_figure_kind lt_balance_figures[LT_BALANCE_FIGURES];

/* ---- of an owned partition: paid and used, and the rest of them, twice ---- */
enum lt_unused_figure {
	LT_UNUSED_PAID_S,
	LT_UNUSED_USED_S,
	LT_UNUSED_REST_S,
	LT_UNUSED_PAID,
	LT_UNUSED_USED,
	LT_UNUSED_REST,
	LT_UNUSED_FIGURES
};
extern const struct lt_figure_kind lt_unused_figures[LT_UNUSED_FIGURES];

#endif
