/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A charge as a row of FOCUS. focus_rows.c makes charges of runs, adjustments and unused nodes;
 * focus.c writes them.
 */
#ifndef LT_FOCUS_H
#define LT_FOCUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "run_lines.h"

/* The members of a run that are used, in lowtided's order. */
enum lt_focus_field {
	LT_FOCUS_JOB_ID,
	LT_FOCUS_ARRAY_JOB_ID,
	LT_FOCUS_ARRAY_TASK,
	LT_FOCUS_USER,
	LT_FOCUS_ACCOUNT,
	LT_FOCUS_PARTITION,
	LT_FOCUS_SUBMIT,
	LT_FOCUS_START,
	LT_FOCUS_END,
	LT_FOCUS_NODES,
	LT_FOCUS_SHARE,
	LT_FOCUS_MONEY,
	LT_FOCUS_CARBON_CHARGE,
	LT_FOCUS_DISCOUNT,
	LT_FOCUS_CARBON,
	LT_FOCUS_ENERGY,
	LT_FOCUS_CORRECTIONS,
	LT_FOCUS_CARBON_CHARGE_CORRECTIONS,
	LT_FOCUS_DISCOUNT_CORRECTIONS,
	LT_FOCUS_CARBON_CORRECTIONS,
	LT_FOCUS_EARLIER_START,
	LT_FOCUS_EARLIER_END,
	LT_FOCUS_EARLIER_LATE,
	LT_FOCUS_EARLIER,
	LT_FOCUS_EARLIER_CARBON_CHARGE,
	LT_FOCUS_EARLIER_DISCOUNT,
	LT_FOCUS_EARLIER_CARBON,
	LT_FOCUS_EARLIER_ENERGY,
	LT_FOCUS_ACCOUNT_NOW,
	LT_FOCUS_QUALITY,
	LT_FOCUS_GPUS,
	LT_FOCUS_STATE,
	LT_FOCUS_EXIT_CODE,
	LT_FOCUS_NAME,
	LT_FOCUS_QOS,
	LT_FOCUS_WCKEY,
	LT_FOCUS_GPU,
	LT_FOCUS_CPUS,
	LT_FOCUS_MEMORY,
	LT_FOCUS_FIELDS
};

struct lt_figure {
	bool known;
	int64_t value;
};

/* The kinds of rows, as bits for the columns: a run's nodes, its charge for carbon and its
 * discount, each as it was charged and as that was corrected. */
enum {
	LT_FOCUS_USED = 1,
	LT_FOCUS_USED_CORRECTED = 2,
	LT_FOCUS_CARBON_CHARGED = 4,
	LT_FOCUS_CARBON_CORRECTED = 8,
	LT_FOCUS_DISCOUNTED = 16,
	LT_FOCUS_DISCOUNT_CORRECTED = 32,
	LT_FOCUS_ADJUSTMENT = 64,
};
/* The part of the site's own nodes that was charged to no job, and the part of it that corrections
 * of closed periods take away. */
enum {
	LT_FOCUS_UNALLOCATED = 128,
	LT_FOCUS_UNALLOCATED_CORRECTED = 256,
};

#define LT_FOCUS_NODE_SHARE "lowtide-node-share"
struct lt_focus_billing; /* a month that the site bills */

struct lt_focus_charge { /* texts are lent */
	unsigned entry;
	struct lt_focus_billing *billing;		/* NULL: nobody here bills */
	bool has_category;				/* the file has PricingCategory */
	const char *issuer, *account_id, *account_name; /* of the invoice */
	const char *cluster, *currency, *account, *partition;
	const char *sku_price, *category; /* of nodes; of rows with a price */
	const char *tags;		  /* a cell as it is written */
	const char *class;		  /* "Correction"; NULL: not of a closed period */
	const char *description, *resource, *who;
	/* UTC seconds: the billing period; the part asked for; the charge. */
	struct lt_figure period_start, period_end, from, to, start, end;
	/* In millionths of the currency, kg, kWh, node-hours. */
	struct lt_figure cost, carbon, energy, consumed;
	struct lt_figure billed; /* not known: nobody here bills, 0 */
	/* Parts of a run's cost that get rows of their own. */
	struct lt_figure carbon_charge, credit;
	struct lt_field fields[LT_FOCUS_FIELDS]; /* of the run */
};

enum { /* flags of a kind of rows: a month of a file */
	LT_FOCUS_HAS_HEADER = 1,
	LT_FOCUS_HAS_CATEGORY = 2, /* some month of the file is billed */
};

void lt_focus_header(FILE *out, bool has_category);
void lt_focus_print(FILE *out, const struct lt_focus_charge *charge);
/* Writes an object of texts as a cell of CSV, empty if there are none. */
void lt_focus_tags(FILE *out, const json_t *labels);

/* ---- members that all charges have ---- */
struct lt_rows;
int lt_focus_span(
    struct lt_figure *start, struct lt_figure *end, const json_t *period, struct lt_error *err);
/* Returns the months of the report's period; NULL: it has none. */
const json_t *lt_focus_months(const json_t *report, struct lt_error *err);
/* Sets the members that come from the report. LT_EINPUT: it can't be FOCUS. */
int lt_focus_start(struct lt_focus_charge *charge, const json_t *report, struct lt_error *err);
/* Sets the charge's times, within [from, to) and never empty: the end is exclusive. */
void lt_focus_times(
    struct lt_focus_charge *charge, int64_t start, int64_t end, int64_t from, int64_t to);
/* The same for a row of the file. */
int lt_focus_start_row(
    struct lt_focus_charge *charge, const struct lt_rows *rows, struct lt_error *err);

#endif
