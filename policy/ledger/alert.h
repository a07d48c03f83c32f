/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Alerts and mails in the ledger: messages about costs to owners, users and the site, a row each
 * with when it was sent, so that a restart sends nothing twice. Lists are malloc'd and the
 * caller's. LT_OK or an error of SQLite.
 */
#ifndef LT_ALERT_H
#define LT_ALERT_H

#include "address.h"
#include "ledger.h"
#include "message_kinds.h"

enum {
	LT_ALERT_NAME_SIZE = 160,
	LT_ALERT_SUBJECT_SIZE = 160,
	LT_ALERT_TEXT_SIZE = 1024,
	LT_ALERT_TO_SIZE = 256,
	LT_ALERTS_SHOWN_MAX = 1000, /* of lt_ledger_alerts_last() */
};

struct lt_alert {
	/* The event's name; its message's id is made from it. begins: for BUDGET the part that all
	 * percentages of one budget, period and basis share. */
	char name[LT_ALERT_NAME_SIZE], begins[LT_ALERT_NAME_SIZE];
	enum lt_message_kind kind;
	char team[LT_ACCOUNT_SIZE];
	uint32_t uid; /* of a run; else LT_NOBODY_UID */
	uint32_t job_id;
	uint64_t quote_id; /* of a run; else 0 */
	int percent;	   /* of BUDGET */
	uint32_t times;	   /* it came back and was sent anew so often, from 1 */
	bool is_over;	   /* and has not come back since */
	int64_t made_utc_s;
	int64_t told_utc_s;  /* 0: it is due */
	int64_t until_utc_s; /* of BUDGET the period's end */
	char subject[LT_ALERT_SUBJECT_SIZE], text[LT_ALERT_TEXT_SIZE];
	char to[LT_ALERT_TO_SIZE]; /* a user or an address beside the owners */
};

/* Written anew where its name is there. */
int lt_ledger_put_alert(
    struct lt_ledger *ledger, const struct lt_alert *alert, struct lt_error *err);
int lt_ledger_drop_alert(struct lt_ledger *ledger, const char *name, struct lt_error *err);
/* LT_ENOENT: nothing yet. */
int lt_ledger_alert(
    struct lt_ledger *ledger, const char *name, struct lt_alert *alert, struct lt_error *err);

struct lt_alerts { /* start as { 0 }; free() rows */
	struct lt_alert *rows;
	uint32_t count;
};
/* Reads those of budgets whose period is not over, by name. */
int lt_ledger_alerts_of_budgets(
    struct lt_ledger *ledger, int64_t now_utc_s, struct lt_alerts *alerts, struct lt_error *err);
/* Reads those that are to be sent, by name. */
int lt_ledger_alerts_due(struct lt_ledger *ledger, struct lt_alerts *alerts, struct lt_error *err);
/* The newest LT_ALERTS_SHOWN_MAX, newest first. */
int lt_ledger_alerts_last(struct lt_ledger *ledger, struct lt_alerts *alerts, struct lt_error *err);
/* Drops those of periods that ended before, or made before without a period; for runs not those
 * whose holds are open. */
int lt_ledger_prune_alerts(struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err);

/* ---- Mails to users about their jobs ---- */

struct lt_mailed {
	uint32_t job_id;
	uint64_t quote_id;   /* an id is given again, a quote's is not */
	int64_t start_utc_s; /* that its user knows of */
	char partition[LT_NAME_SIZE];
	int64_t run_start_utc_s; /* of the run up to which all is sent; of one
				  * that has not run yet its submission */
};
int lt_ledger_put_mailed(
    struct lt_ledger *ledger, const struct lt_mailed *mailed, struct lt_error *err);
/* LT_ENOENT: nothing yet. */
int lt_ledger_mailed(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_mailed *mailed, struct lt_error *err);
/* A mail that a job's user wants at the end of the job, or of all of an array, by its first id. One
 * that was sent is sent again only with another quote. */
struct lt_end_mail {
	uint32_t job_id;
	uint64_t quote_id;
	char to[LT_ADDRESS_SIZE];
	uint32_t uid; /* whose job it was; only read */
};
int lt_ledger_put_end_mail(
    struct lt_ledger *ledger, const struct lt_end_mail *mail, struct lt_error *err);
/* The user no longer asks for it. */
int lt_ledger_drop_end_mail(struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err);
/* Reads those that are not sent, of jobs whose holds are settled, or are void though the job ran:
 * for 0 s. At most user_max for each user; by id, malloc'd. */
int lt_ledger_end_mails_due(struct lt_ledger *ledger, uint32_t user_max, struct lt_end_mail **mails,
    uint32_t *count, struct lt_error *err);
int lt_ledger_end_mail_told(
    struct lt_ledger *ledger, uint32_t job_id, int64_t now_utc_s, struct lt_error *err);

/* Drops those of jobs that have no open hold; of ends, those whose holds are gone, and those that
 * were sent before. */
int lt_ledger_prune_mailed(
    struct lt_ledger *ledger, int64_t told_before_utc_s, struct lt_error *err);

#endif
