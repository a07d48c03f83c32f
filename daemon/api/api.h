/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requests of docs/api.md, once the transport knows the asking user.
 */
#ifndef LT_API_H
#define LT_API_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "breath.h"
#include "calendar.h"
#include "limits.h"

struct lt_amount;
struct lt_daemon;
struct lt_ledger;
struct lt_out;

enum {
	LT_API_REPLY_MAX = 512 * 1024,	     /* in a credential */
	LT_API_WHOLE_MAX = 16 * 1024 * 1024, /* of all but streams */
	LT_API_BODY_MAX = 64 * 1024,
	LT_API_VALUES_MAX = 16,
	LT_API_PATH_MAX = 1024
};

struct lt_api_request {
	uint32_t uid;
	bool is_admin;
	const char *method;
	char path[LT_API_PATH_MAX]; /* decoded, without query */
	int value_count;
	struct {
		char key[32], value[256];
	} values[LT_API_VALUES_MAX];
	json_t *body;	  /* NULL = none */
	const char *rest; /* path after the entry's prefix */
	int64_t now_utc_s;
	const struct in_addr *from; /* as asked */
};

/* Value of the query, or NULL. */
const char *lt_api_value(const struct lt_api_request *request, const char *key);

/*
 * The rest of an answer that takes long. It is made of what was copied into this and of a ledger
 * alone, so that it can be beside the loop (aside.h). free() it.
 */
struct lt_api_work {
	bool is_stream; /* of any length: handed on in pieces */
	/* The status; of what was handed on meanwhile it is 200. */
	int (*write)(const struct lt_api_work *work, struct lt_ledger *ledger, struct lt_out *out);
};

struct lt_api_asked {
	uint32_t uid;
	const char *method, *uri; /* path and query as sent */
	const char *body;
	size_t body_length;
	const struct in_addr *from; /* by munge; NULL = the host's own socket */
};
enum { LT_API_LATER = 0 };
/*
 * Answers one request: returns the HTTP status, and in *reply the JSON text, malloc'd, or in *work
 * the rest of the work. LT_API_LATER, and neither: the request waits for the directory of users,
 * and nothing was done; begin it again when lt_directory_news() has changed.
 */
int lt_api_begin(
    struct lt_daemon *d, const struct lt_api_asked *asked, char **reply, struct lt_api_work **work);
/* Does the rest of the work, which stays the caller's. */
int lt_api_end(const struct lt_api_work *work, struct lt_ledger *ledger, char **reply);
/* Answers at once, however long the directory takes. */
int lt_api(struct lt_daemon *d, const struct lt_api_asked *asked, char **reply);

struct lt_api_kind {
	enum lt_turn turn; /* the first in which it is answered */
	bool is_long;	   /* it may leave work to do */
};
struct lt_api_kind lt_api_kind(const char *method, const char *uri);

/* Gives all requests by index; false after the last. */
bool lt_api_request_at(size_t index, const char **method, const char **path);

/* An {"error": text} reply; returns status. */
int lt_api_error(json_t **reply, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same as text, malloc'd; NULL: no memory. */
char *lt_api_error_text(const char *why);
/* The name of a uid; its number if it has none, or if the directory has yet to answer. */
const char *lt_api_user_name(const struct lt_daemon *d, char out[LT_NAME_SIZE], uint32_t uid);
/* Words of users, which may be no UTF-8; cut to so many bytes with the NUL. */
enum { LT_API_STRING_SIZE = 200 };
json_t *lt_api_string(const char *text);
/* "2026-11-21T02:00:00Z", null for 0. */
json_t *lt_api_time(int64_t utc_s);
/* Nodes whose notice is over, and that lowtide has yet to resume; only: a node, or NULL for all. */
json_t *lt_api_drained(const struct lt_daemon *d, int64_t now_utc_s, const char *only);
/* The number, or null. */
json_t *lt_api_optional(bool has, int64_t value);
/* {"money_micros", "carbon_mg"}, null each where it is not known. */
json_t *lt_api_amount(const struct lt_amount *amount);

typedef int lt_api_function(
    struct lt_daemon *d, const struct lt_api_request *request, json_t **reply);
lt_api_function lt_api_status, lt_api_budget, lt_api_adjust, lt_api_moved, lt_api_explain,
    lt_api_now, lt_api_rebuild, lt_api_notice, lt_api_notices, lt_api_balance, lt_api_balances,
    lt_api_market, lt_api_signals, lt_api_signals_errors, lt_api_history, lt_api_forget,
    lt_api_plan, lt_api_plan_manifest, lt_api_progress, lt_api_canary, lt_api_closed, lt_api_close,
    lt_api_reopen, lt_api_jobs, lt_api_one_job, lt_api_alerts, lt_api_reload;
/* Finds the first month with entries that nobody closed; *has: there is one. */
int lt_api_unclosed(struct lt_daemon *d, struct lt_period *month, bool *has, struct lt_error *err);
/* When a period may be closed, and the day of it in the site's zone. */
int64_t lt_api_close_from(
    char day[LT_DAY_TEXT_SIZE], const struct lt_daemon *d, const struct lt_period *period);
/* With 200 they give work, and no reply. */
typedef int lt_api_long_function(struct lt_daemon *d, const struct lt_api_request *request,
    struct lt_api_work **work, json_t **reply);
lt_api_long_function lt_api_report, lt_api_signals_export;

struct lt_budget;
struct lt_budget_snapshot;
/* The tightest budget of these rules (by bit) for an account of the snapshot now, by money, then
 * carbon; NULL: none. */
const struct lt_budget *lt_api_tightest(
    const struct lt_budget_snapshot *snapshot, int account, uint32_t rules);

#endif
