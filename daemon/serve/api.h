/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requests of docs/api.md, after the transport said who asks.
 */
#ifndef LT_API_H
#define LT_API_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "breath.h"
#include "limits.h"

struct lt_budget_state;
struct lt_daemon;

enum {
	LT_API_REPLY_MAX = 512 * 1024,
	LT_API_BODY_MAX = 64 * 1024,
	LT_API_VALUES_MAX = 8,
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
};

/* Value of the query, or NULL. */
const char *lt_api_value(const struct lt_api_request *request, const char *key);

/*
 * Answer one request: returns the HTTP status; *reply is the JSON text,
 * malloc'd. uri: path and query as sent.
 */
int lt_api(struct lt_daemon *d, uint32_t uid, const char *method,
    const char *uri, const char *body, size_t body_length, char **reply);

/* The first turn in which this is answered. */
enum lt_turn lt_api_turn(const char *method, const char *uri);

/* An {"error": text} reply; returns status. */
int lt_api_error(json_t **reply, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* May this caller see this team? Its own associations and what is above. */
bool lt_api_sees(const struct lt_budget_state *budget,
    const struct lt_api_request *request, const char *team);
/* "2026-11-21T02:00:00Z", null for 0. */
json_t *lt_api_time(int64_t utc_s);
/* Name of a uid, or its number. */
const char *lt_api_user_name(char out[LT_NAME_SIZE], uint32_t uid);
/* The number, or null. */
json_t *lt_api_optional(bool has, int64_t value);

typedef int lt_api_function(
    struct lt_daemon *d, const struct lt_api_request *request, json_t **reply);
lt_api_function lt_api_status, lt_api_budget, lt_api_adjust, lt_api_report,
    lt_api_explain, lt_api_now, lt_api_rebuild, lt_api_balance, lt_api_market,
    lt_api_signals, lt_api_signals_export, lt_api_signals_errors;

#endif
