/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report is about, taken from the state of the loop, and its text, made
 * of this and a ledger alone.
 */
#ifndef LT_SERVE_REPORT_H
#define LT_SERVE_REPORT_H

#include "access.h"
#include "budget.h"
#include "ledger.h"

struct lt_report_account { /* by name, as in the budget snapshot */
	char name[LT_ACCOUNT_SIZE];
	bool own_sums;	 /* of who asks only: of what it cost, */
	bool own_runs;	 /* and of its runs */
	bool has_budget; /* of just this period */
	struct lt_period budget;
};

struct lt_report_work {
	struct lt_api_work work;
	struct lt_period period;
	char currency[8], cluster[LT_NAME_SIZE];
	bool is_marginal;
	const char *basis; /* lt_basis_name() of the intensities, today */
	bool is_settled;   /* all rows that are due are in */
	bool has_budget;   /* of the one team that was asked for */
	struct lt_period budget;
	/* Of a page: where it begins, and its length. */
	bool has_after;
	struct lt_run after; /* its account: among those below, or gone */
	uint32_t most;
	bool is_everyones;
	uint32_t uid;		      /* who asks */
	struct lt_access_users users; /* what of users is shown */
	uint32_t account_count;
	struct lt_report_account accounts[]; /* sorted */
};

typedef int lt_report_function(const struct lt_api_work *work,
    struct lt_ledger *ledger, struct lt_out *out);
lt_report_function lt_report_statement, lt_report_page, lt_report_all;
/* From the "next" of a page; false: it is none. */
bool lt_report_place(struct lt_run *after, const char *text);

#endif
