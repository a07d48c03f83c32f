/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subject of a report, copied from the state of the loop, and its text, made from this copy and
 * a ledger alone.
 */
#ifndef LT_SERVE_REPORT_H
#define LT_SERVE_REPORT_H

#include "access.h"
#include "budget.h"
#include "calendar.h"
#include "period_forecast.h"
#include "periods.h"
#include "report_accounts.h"
#include "policy.h"
#include "report_carbon.h"
#include "report_groups.h"
#include "report_line.h"
#include "tcto_json.h"

enum { LT_TREND_MONTHS = 12 };

struct lt_report_account { /* by name, as in the budget snapshot */
	char name[LT_ACCOUNT_SIZE];
	int parent;   /* among these; -1 = none */
	bool is_seen; /* by the asking user, and asked for */
	/* The first to the last time at which it was below the team that is asked for; always
	 * without one. */
	struct lt_span asked;
	bool own_sums;	 /* only the asking user's own cost is shown, */
	bool own_runs;	 /* and only their own runs */
	bool has_budget; /* of just this period */
	struct lt_period budget;
	int label_count;		      /* now; its own, or of an account above it */
	const struct lt_policy_label *labels; /* behind the accounts */
};

/* A budget of an account whose sums are seen, for a period that contains the report's. */
struct lt_report_budget {
	int account;
	struct lt_period period;
	struct lt_period_forecast forecast; /* of the current period; else {0} */
};

struct lt_report_work {
	struct lt_api_work work;
	struct lt_period period, previous; /* previous: only if has_previous */
	bool has_previous, has_tcto, has_months, has_corrections;
	bool has_trend;		    /* of twelve months */
	bool has_balance;	    /* of the same: what lowtide did in them */
	bool has_tree;		    /* with those below each account */
	bool has_unused, sees_site; /* it is asked for; lt_access_site() */
	bool has_incurred;
	/* Sums of energy and carbon; or each hour of each run, in its stream */
	bool has_carbon, has_hours;
	uint32_t zone_count;
	struct lt_carbon_zone zones[LT_SOURCES_MAX];
	struct lt_tcto_site tcto;
	struct lt_policy_billing billing; /* today's */
	int64_t now_utc_s;
	struct lt_offsets offsets;
	struct lt_groupings groupings;
	char currency[8], cluster[LT_NAME_SIZE];
	bool is_marginal;
	const char *basis; /* lt_basis_name() of the intensities, today */
	bool is_settled;   /* all rows that are due are in */
	bool has_budget;   /* of the one team that was asked for */
	struct lt_period budget;
	/* A page begins after this run and has at most so many. */
	bool has_after, after_late;
	struct lt_run after; /* its account: among those below, or gone */
	uint32_t most;
	bool is_everyones;	      /* all runs of all accounts are seen */
	uint32_t uid;		      /* the asking user */
	struct lt_access_users users; /* how much of users is shown */
	uint32_t budget_count;
	struct lt_report_budget *budgets; /* by account; behind the accounts */
	uint32_t account_count;
	struct lt_report_account accounts[]; /* sorted */
};

typedef int lt_report_function(
    const struct lt_api_work *work, struct lt_ledger *ledger, struct lt_out *out);
lt_report_function lt_report_statement, lt_report_page, lt_report_all;
/* Copies all that the request's report needs; NULL: no memory. free() it. */
struct lt_report_work *lt_report_take(
    struct lt_daemon *d, const struct lt_api_request *request, const struct lt_period *period);
/* The members of a statement that belong to the site: currency, cluster, kinds of figures. */
json_t *lt_report_head(const struct lt_report_work *work);
struct lt_report_row { /* of one account; lent */
	const char *account;
	const struct lt_report_line *line;
	const struct lt_period *budget; /* NULL = none of just this period */
	json_t *labels;			/* {key: text} */
};
typedef int lt_row_function(void *context, const struct lt_report_row *row, struct lt_error *err);
struct lt_report_view { /* a period of the work's */
	const struct lt_report_work *work;
	const struct lt_period *period;
	struct lt_ledger *ledger;
	bool is_closed, no_budgets; /* no_budgets: lines without them */
	struct lt_closed closed;
	int64_t runs_utc_s; /* runs are as they were then; 0: as they are */
};
/* Gives `take` the row of each account that is seen, by name, as it is booked now, or as it was
 * when the period was closed. */
int lt_report_lines(
    const struct lt_report_view *view, lt_row_function *take, void *context, struct lt_error *err);
/* Parses the "next" of a page; false if it is malformed. */
bool lt_report_place(struct lt_run *after, bool *is_late, const char *text);

#endif
