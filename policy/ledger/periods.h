/*
 * The ledger by periods: what is booked in one, the limits of its budgets, and what of it stays
 * when it is closed.
 */
#ifndef LT_PERIODS_H
#define LT_PERIODS_H

#include "ledger.h"

/* The hours of UTC that begin in [from, to): whose entries are of it, if none is cut. */
struct lt_span lt_booked_hours(int64_t from_utc_s, int64_t to_utc_s);
typedef int lt_hour_function(void *context, const struct lt_entry *entry, struct lt_error *err);
/* Entries of a run booked in the span, in order: at, account and figures. */
struct lt_hours_asked {
	struct lt_run_key key;
	struct lt_span span;
};
int lt_ledger_hours(struct lt_ledger *ledger, const struct lt_hours_asked *asked,
    lt_hour_function *take, void *context, struct lt_error *err);
/* The same by what they are of, an entry for each such time and account, by hour of UTC, account
 * and time: kind is CORRECTION where no charge is in it; made when the last of them was; money,
 * carbon and energy. next_utc_s: the first later time that the run was charged for, wherever that
 * is booked and whatever was corrected since, at most an hour later; 0: none. */
typedef int lt_used_function(
    void *context, const struct lt_entry *entry, int64_t next_utc_s, struct lt_error *err);
int lt_ledger_used_hours(struct lt_ledger *ledger, const struct lt_hours_asked *asked,
    lt_used_function *take, void *context, struct lt_error *err);
/* Reads those booked in the span, in order: at, made, account, money, carbon, who and reason. */
int lt_ledger_adjustments(struct lt_ledger *ledger, struct lt_span span, lt_hour_function *take,
    void *context, struct lt_error *err);
/* Additions to the sums of the span that put each correction of a closed period into the hour that
 * it corrects, and not where it is booked: above 0 where it was booked elsewhere, below 0 where it
 * belongs elsewhere. */
struct lt_incurred {
	char partition[LT_NAME_SIZE];
	int64_t money_micros, carbon_charge_micros, discount_micros;
};
typedef int lt_incurred_function(
    void *context, const struct lt_incurred *incurred, struct lt_error *err);
int lt_ledger_incurred(struct lt_ledger *ledger, struct lt_span span, lt_incurred_function *take,
    void *context, struct lt_error *err);
/* Reads those booked in the span, by run, account and the hour that they are for, which at is;
 * made, money and carbon. reason: for a run that was charged before, or that came when its month
 * was closed. */
#define LT_CORRECTION_CHANGED "it changed after it was charged"
#define LT_CORRECTION_LATE "its record came after the close"
int lt_ledger_corrections(struct lt_ledger *ledger, struct lt_span span, lt_hour_function *take,
    void *context, struct lt_error *err);
/* The limit of a team's budget for just that period; the last one counts. */
int lt_ledger_put_limit(struct lt_ledger *ledger, const char *team, struct lt_span span,
    const struct lt_amount *limit, struct lt_error *err);
int lt_ledger_limit(struct lt_ledger *ledger, const char *team, struct lt_span span,
    struct lt_amount *limit, struct lt_error *err); /* LT_ENOENT */
/*
 * A period that is closed: nothing is booked before its end any more, and its statement stays.
 * figures, labels: texts of the caller's, in order.
 */
struct lt_closed {
	struct lt_span span;
	char label[24];
	int64_t closed_utc_s;
	char who[LT_NAME_SIZE], checksum[80];
	char head[1024];  /* text of the caller's */
	bool whole_hours; /* no hour was cut at its ends: read only */
};
struct lt_closed_row {
	char account[LT_ACCOUNT_SIZE];
	char figures[1536];
	char *labels; /* whose it is: see there */
};
/* labels: the caller's. */
int lt_ledger_close_period(struct lt_ledger *ledger, const struct lt_closed *closed,
    const struct lt_closed_row *rows, uint32_t count, struct lt_error *err);
int lt_ledger_closed(struct lt_ledger *ledger, struct lt_span span, struct lt_closed *closed,
    struct lt_error *err); /* LT_ENOENT */
/* The one that was closed first of those that the span lies in. LT_ENOENT */
int lt_ledger_closed_around(
    struct lt_ledger *ledger, struct lt_span span, struct lt_closed *closed, struct lt_error *err);
/* Each of its rows, by account, lent; may read the ledger meanwhile. */
typedef int lt_closed_row_function(
    void *context, const struct lt_closed_row *row, struct lt_error *err);
int lt_ledger_closed_rows(struct lt_ledger *ledger, struct lt_span span,
    lt_closed_row_function *take, void *context, struct lt_error *err);
/* Reads all by end; malloc'd. */
int lt_ledger_all_closed(
    struct lt_ledger *ledger, struct lt_closed **closed, uint32_t *count, struct lt_error *err);
/* Nothing is booked before this any more; 0 = nothing is closed. */
int64_t lt_ledger_closed_until(struct lt_ledger *ledger);
/* When something came to a closed period, and when one that was opened again is closed: after the
 * last closing, whatever the clock says, since statements are as of their closing. */
int lt_closed_stamp(
    struct lt_ledger *ledger, int64_t now_utc_s, int64_t *utc_s, struct lt_error *err);
/*
 * A closing that was undone, and the amounts of the period by it. The caller must see that no
 * closed period lies around it or behind it: what is booked in a closed one stays there.
 * Corrections of hours that are open again are booked at these hours from then on, as if they had
 * always been open.
 */
enum { LT_REOPEN_REASON_SIZE = 256 };
struct lt_reopened {
	struct lt_span span;
	char label[24];
	int64_t closed_utc_s, reopened_utc_s;
	char closed_by[LT_NAME_SIZE], reopened_by[LT_NAME_SIZE], checksum[80];
	struct lt_amount cost;
	char reason[LT_REOPEN_REASON_SIZE];
};
int lt_ledger_reopen(
    struct lt_ledger *ledger, const struct lt_reopened *reopened, struct lt_error *err);
/* Reads all in the order in which they were; malloc'd. */
int lt_ledger_all_reopened(
    struct lt_ledger *ledger, struct lt_reopened **reopened, uint32_t *count, struct lt_error *err);
/* One job more that was refused; at: lt_calendar_hour(). Those of a span by account. */
int lt_ledger_add_refused(
    struct lt_ledger *ledger, const char *account, int64_t at_utc_s, struct lt_error *err);
typedef int lt_refused_function(
    void *context, const char *account, int64_t at_utc_s, int64_t jobs, struct lt_error *err);
int lt_ledger_refused(struct lt_ledger *ledger, struct lt_span span, lt_refused_function *take,
    void *context, struct lt_error *err);
/* Reads the first hour of all entries; false without entries. */
int lt_ledger_first_booked(
    struct lt_ledger *ledger, int64_t *at_utc_s, bool *has, struct lt_error *err);
/* Reads each account's charges for runs in a span: no adjustments, and no corrections, which are
 * booked when they come; malloc'd. */
int lt_ledger_used(struct lt_ledger *ledger, struct lt_span span, struct lt_account_sum **sums,
    uint32_t *count, struct lt_error *err);
/* The same of an account and day of UTC, days from first to last; uid is of no use. In order of the
 * days. */
typedef int lt_day_function(
    void *context, int64_t day, const struct lt_account_sum *sum, struct lt_error *err);
struct lt_days_asked {
	int64_t first, last; /* since 1970-01-01 */
};
int lt_ledger_day_sums(struct lt_ledger *ledger, struct lt_days_asked asked, lt_day_function *take,
    void *context, struct lt_error *err);

#endif
