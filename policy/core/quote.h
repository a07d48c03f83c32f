/*
 * The quote: what a job was promised and what is held for it. Its amounts,
 * and its text in admin_comment.
 */
#ifndef LT_QUOTE_H
#define LT_QUOTE_H

#include "decide.h"

/* An amount per currency. has_x false: not known, never zero. */
struct lt_amount {
	bool has_money, has_carbon;
	int64_t money_micros;
	int64_t carbon_mg;
};

enum lt_quote_flag {
	LT_QUOTE_USER_HOLD = 1 << 0,   /* the user's own --hold: never ours */
	LT_QUOTE_BUDGET_HOLD = 1 << 1, /* on_exceed: hold: we released later */
	LT_QUOTE_CHECKPOINT = 1 << 2,
	LT_QUOTE_UNKNOWN = 1 << 3,     /* held back: balance unknown */
	LT_QUOTE_MODIFY = 1 << 4,      /* ring only: the difference of a change */
};

struct lt_quote {
	uint64_t id;	   /* never 0 */
	uint32_t rev;	   /* our own updates count up */
	uint32_t flags;
	char account[LT_ACCOUNT_SIZE];
	struct lt_amount hold_per_task; /* rounded up */
	uint32_t tasks;
	int64_t start_utc_s, end_utc_s; /* earliest start, latest end */
	char partition[LT_NAME_SIZE];   /* planned */
	int64_t plan_start_utc_s;
	char home[LT_NAME_SIZE];	/* without lowtide */
	int64_t home_start_utc_s;
	struct lt_amount plan_expected, home_expected; /* all tasks */
	enum lt_objective objective;
	enum lt_mode mode;
};

/*
 * Most that one task of the request can be charged, over all partitions it
 * may run in (partitions[] of count): price x nodes x share x limit
 * (+ OverTimeLimit) x worst price in [earliest, latest end] x (1 + margin),
 * rounded up plus 1 (settling may round a part up). Carbon alike. quote's
 * hold_per_task, tasks, start and end are written. An amount without price
 * or intensity (and no worst_intensity) has has_x = false.
 * LT_EINPUT: no limit known. docs/model.md.
 */
int lt_quote_hold(struct lt_quote *quote, const struct lt_request *request,
    const struct lt_market *market, const int *partitions, int count,
    int64_t earliest_start_utc_s, struct lt_error *err);

/*
 * "lowtide:1 q=<16 hex> rev=1 team=vision hold=<micros>,<mg> n=<tasks>
 *  win=<start>-<end> plan=<partition>@<start> base=<partition>@<start>
 *  exp=<micros>,<mg> was=<micros>,<mg> by=<objective> mode=<mode> f=<flags>;"
 * An unknown amount is "-". Names are percent-encoded outside [A-Za-z0-9_.-].
 */
int lt_quote_pack(char *out, size_t size, const struct lt_quote *quote);

/* Reads the first "lowtide:1 ...;" within any text. LT_ENOENT: none there;
 * LT_EINPUT: there and damaged. Survives any bytes up to length. */
int lt_quote_unpack(struct lt_quote *quote, const char *text, size_t length,
    struct lt_error *err);

/* Put ours into what other tools keep there: every "lowtide:...;" of comment
 * (NULL = "") is removed, then `ours` ("" = none) is put first.
 * LT_ELIMIT when it does not fit. */
int lt_quote_merge(char *out, size_t size, const char *comment,
    const char *ours);

#endif
