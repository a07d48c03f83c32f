/*
 * Budget arithmetic: the budget snapshot in memory, and the one admission rule: settled + open
 * holds + this hold <= limit, for all that bind, or nothing. Pure; the caller holds the lock.
 */
#ifndef LT_BUDGET_H
#define LT_BUDGET_H

#include "holdout.h"
#include "quote.h"

enum lt_rule { LT_RULE_REJECT, LT_RULE_HOLD, LT_RULE_WARN, LT_RULE_ALLOW, LT_RULE_COUNT };
const char *lt_rule_name(enum lt_rule rule);

enum lt_period_kind { LT_MONTH, LT_QUARTER, LT_YEAR, LT_FIXED, LT_PERIOD_KIND_COUNT };

struct lt_period {
	int64_t start_utc_s, end_utc_s;
	char label[24];		  /* "2026-11", "2026-Q4", "2026" */
	struct lt_amount limit;	  /* has_x: this currency is limited */
	struct lt_amount settled; /* charges and adjustments of the period */
	struct lt_amount held;	  /* open holds ingested up to W */
};

struct lt_budget {
	char team[LT_ACCOUNT_SIZE]; /* account, lower case */
	enum lt_rule on_exceed;
	bool has_per_user;
	struct lt_amount per_user_limit;
	struct lt_period periods[LT_PERIODS]; /* [1].start == [0].end, or unused
					       * (start == end) */
};

/* The figures of one user within a budget: one that has per_user, or where lowtided has holds of
 * submissions that it has seen no job of. */
struct lt_usage {
	uint32_t budget; /* index */
	uint32_t uid;
	struct lt_amount settled[LT_PERIODS], held[LT_PERIODS];
	struct lt_amount unseen[LT_PERIODS]; /* a part of what is held */
};

struct lt_account {
	char name[LT_ACCOUNT_SIZE];	       /* lower case; the table is sorted by it */
	uint32_t first_binding, binding_count; /* into bindings[]: budgets of
						* this account and its parents */
	uint32_t parent;		       /* index + 1; 0 = none */
};

struct lt_pair {	       /* sorted by (uid, account) */
	uint32_t uid, account; /* account: index */
	bool is_default;
	/* Tasks of an array wait there, by jobs_utc_s: they get new ids. */
	bool has_array;
	/* The longest MaxWall that its QOS and association give a job without
	 * --time and DefaultTime, 0 = none; is there one for each? */
	int64_t wall_s;
	bool wall_always;
};

struct lt_manager { /* who may change others' jobs; sorted by both */
	uint32_t uid;
	uint32_t account; /* index + 1, and all below; 0 = all: an operator */
};

struct lt_budget_snapshot { /* the budget snapshot, loaded */
	uint64_t generation;
	int64_t compiled_utc_s;
	uint64_t ring_generation;
	uint64_t ring_absorbed; /* W */
	bool ready;		/* lowtided has loaded all quotes */
	enum lt_rule on_unknown;
	int64_t stale_after_s; /* older: unknown */
	int64_t jobs_utc_s;    /* slurmctld's time of the job list; 0 = none */
	uint32_t budget_count, usage_count, account_count, binding_count, pair_count, manager_count;
	struct lt_budget *budgets;
	struct lt_usage *usages; /* sorted by (budget, uid) */
	struct lt_account *accounts;
	uint32_t *bindings;
	struct lt_pair *pairs;
	struct lt_manager *managers;
	struct lt_holdout holdout; /* here, for nobody else may read it */
	/* Why no balance is known, static text: set where this stands in for a snapshot that can't
	 * be read, and has no figures. NULL else. */
	const char *missing;
	void *arena;
};

/* Index, or -1. The name is compared in lower case. */
int lt_sheet_account(const struct lt_budget_snapshot *snapshot, const char *name);
/* The default account of a uid, -1 = unknown. */
int lt_sheet_default_account(const struct lt_budget_snapshot *snapshot, uint32_t uid);
/* NULL: the user has no association there. */
const struct lt_pair *lt_sheet_pair(
    const struct lt_budget_snapshot *snapshot, uint32_t uid, int account);
/* True if the uid may change jobs of others at all. */
bool lt_sheet_is_manager(const struct lt_budget_snapshot *snapshot, uint32_t uid);
/* True if the uid may change those of the account: an operator, or a coordinator of it or of an
 * account above it. account -1, not known: operators only. */
bool lt_sheet_manages(const struct lt_budget_snapshot *snapshot, uint32_t uid, int account);
/* True if any budget binds this account (its own or a parent's). */
bool lt_sheet_budgeted(const struct lt_budget_snapshot *snapshot, int account);

/* Sums held since W, beside the snapshot: one per budget, and per user in it. */
struct lt_recent; /* opaque; sums, remade for each new snapshot */
size_t lt_recent_size(const struct lt_budget_snapshot *snapshot); /* bytes */
void lt_recent_init(struct lt_recent *recent, const struct lt_budget_snapshot *snapshot);

struct lt_hold {
	uint32_t uid;
	int account;		 /* index in the snapshot */
	struct lt_amount amount; /* all tasks */
	int64_t start_utc_s, end_utc_s;
	/* The hold of a submission: until lowtided sees a job with it, it is unseen. */
	bool is_new;
	/* It may take no more than LT_UNSEEN_PART of what is left, together with what the user
	 * holds unseen beside `own`: that of the other components of the same job. */
	bool is_bounded;
	struct lt_amount own;
};

/* Any call of job_submit may be a --test-only: of what is left, unseen holds of a user take one
 * part in so many, or are of one job. */
enum { LT_UNSEEN_PART = 10 };

enum lt_verdict_code {
	LT_ADMIT,
	LT_OVER,    /* a budget says no: rule = its on_exceed */
	LT_UNKNOWN, /* amount missing where limited, or a bound passed: rule =
		     * on_unknown. A sure LT_OVER by a rule as strict wins. */
};

struct lt_verdict {
	enum lt_verdict_code code;
	enum lt_rule rule;
	/* of the budget that said no by the strictest rule; of several the tightest by what is
	 * available, money before carbon: */
	char team[LT_ACCOUNT_SIZE];
	char label[24];
	bool is_user_cap, is_carbon;
	/* It fits, but for what the user holds unseen: `held` is that, and `available` what is left
	 * without it. The rule is LT_RULE_HOLD. */
	bool is_unseen;
	int64_t asked, available;
	int64_t limit, settled, held; /* limit < 0: not known, nor the others */
	const char *why;	      /* LT_UNKNOWN: static text */
};

/*
 * Check all budgets, currencies and periods that the hold touches; on
 * LT_ADMIT (and with rule WARN when over) add it to recent. What is negative
 * frees (job_modify never passes a negative amount).
 */
void lt_admit(struct lt_verdict *verdict, const struct lt_budget_snapshot *snapshot,
    struct lt_recent *recent, const struct lt_hold *hold);
/* Add without a check: holds that the ring already has. */
void lt_recent_add(struct lt_recent *recent, const struct lt_budget_snapshot *snapshot,
    const struct lt_hold *hold);
/* Take back what lt_admit() added (a failed ring write). */
void lt_recent_remove(struct lt_recent *recent, const struct lt_budget_snapshot *snapshot,
    const struct lt_hold *hold);

/* Sets of rules, by bit: what a job over such a budget does not pass as it came, and what only
 * tells. */
enum {
	LT_RULES_BIND = 1 << LT_RULE_REJECT | 1 << LT_RULE_HOLD,
	LT_RULES_WARN = 1 << LT_RULE_WARN,
};

/* Least available over the budgets, and the user's caps in them, whose rule is in the set;
 * INT64_MAX where none limits. A plan (lt_request.available_*) goes by LT_RULES_BIND: what only
 * warns rules out no place. */
void lt_available(struct lt_amount *available, const struct lt_budget_snapshot *snapshot,
    const struct lt_recent *recent, uint32_t rules, uint32_t uid, int account, int64_t start_utc_s,
    int64_t end_utc_s);

/* True if [start, end) touches a period of a budget of the account that the window of `held` does
 * not. There nothing is held yet. */
bool lt_sheet_new_period(const struct lt_budget_snapshot *snapshot, const struct lt_hold *held,
    int64_t start_utc_s, int64_t end_utc_s);

/* True if each budget of the account has a period that the time is in. */
bool lt_sheet_has_time(const struct lt_budget_snapshot *snapshot, int account, int64_t utc_s);

/* "vision has $312.50 of $5,000.00 left for 2026-11 ($4,100.00 spent,
 * $587.50 held);\nthis job may cost $9,437.76." */
void lt_verdict_text(
    char *out, size_t size, const struct lt_verdict *verdict, const char *currency);

#endif
