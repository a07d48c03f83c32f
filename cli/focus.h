/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A charge as a row of FOCUS: made by focus_rows.c of a run or an adjustment,
 * written by focus.c.
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

/* What a row is; bits, for the columns: of a run its nodes, its charge for
 * carbon and its discount, each as it was charged and as that was corrected. */
enum {
	LT_FOCUS_USED = 1,
	LT_FOCUS_USED_CORRECTED = 2,
	LT_FOCUS_CARBON_CHARGED = 4,
	LT_FOCUS_CARBON_CORRECTED = 8,
	LT_FOCUS_DISCOUNTED = 16,
	LT_FOCUS_DISCOUNT_CORRECTED = 32,
	LT_FOCUS_ADJUSTMENT = 64,
};

struct lt_focus_charge { /* texts are lent */
	unsigned entry;
	const char *cluster, *currency, *account;
	const char *tags;  /* a cell as it is written */
	const char *class; /* "Correction"; NULL: of no closed period */
	const char *description, *resource, *who;
	/* UTC seconds: the billing period; what of it was asked; the charge. */
	struct lt_figure period_start, period_end, from, to, start, end;
	/* Millionths: of the currency, kg, kWh, node-hours. */
	struct lt_figure cost, carbon, energy, consumed;
	/* Of a run's cost, as long as it is in one: rows of their own. */
	struct lt_figure carbon_charge, credit;
	struct lt_field fields[LT_FOCUS_FIELDS]; /* of the run */
};

void lt_focus_header(FILE *out);
void lt_focus_print(FILE *out, const struct lt_focus_charge *charge);
/* An object of texts as a cell of CSV, "" of none. */
void lt_focus_tags(FILE *out, const json_t *labels);

#endif
