/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From method and path to the function that answers, by one table.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api.h"
#include "daemon.h"

static const struct {
	const char *method, *path;
	bool has_rest, admin_only;
	enum lt_turn turn;
	lt_api_function *answer;
} table[] = {
    {"GET", "/v1/status", false, false, LT_TURN_READ, lt_api_status},
    {"GET", "/v1/budget", false, false, LT_TURN_READ, lt_api_budget},
    {"POST", "/v1/budget/adjust", false, true, LT_TURN_ALL, lt_api_adjust},
    {"GET", "/v1/report", false, false, LT_TURN_COMMITTED, lt_api_report},
    /* It may make a pass of its own, to see a job that just came. */
    {"GET", "/v1/explain/", true, false, LT_TURN_ALL, lt_api_explain},
    {"POST", "/v1/now/", true, false, LT_TURN_ALL, lt_api_now},
    {"GET", "/v1/rebuild", false, true, LT_TURN_READ, lt_api_rebuild},
    {"POST", "/v1/rebuild", false, true, LT_TURN_ALL, lt_api_rebuild},
    {"GET", "/v1/balance", false, false, LT_TURN_READ, lt_api_balance},
    {"GET", "/v1/market", false, false, LT_TURN_READ, lt_api_market},
    {"GET", "/v1/signals", false, false, LT_TURN_READ, lt_api_signals},
    {"GET", "/v1/signals/export", false, false, LT_TURN_READ,
	lt_api_signals_export},
    {"GET", "/v1/signals/errors", false, false, LT_TURN_READ,
	lt_api_signals_errors},
};

static int
hex(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-decode length bytes into out; false: too long, or a NUL. */
static bool
decode(char *out, size_t size, const char *text, size_t length, bool plus)
{
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (c == '+' && plus)
			c = ' ';
		if (c == '%' && i + 2 < length && hex(text[i + 1]) >= 0 &&
		    hex(text[i + 2]) >= 0) {
			c = (char)(hex(text[i + 1]) * 16 + hex(text[i + 2]));
			i += 2;
		}
		if (c == '\0' || used + 1 >= size)
			return false;
		out[used++] = c;
	}
	out[used] = '\0';
	return true;
}

static bool
parse_uri(struct lt_api_request *request, const char *uri)
{
	const size_t path = strcspn(uri, "?");

	if (!decode(request->path, sizeof(request->path), uri, path, false))
		return false;
	const char *at = uri + path;
	while (*at) {
		at++;
		const size_t length = strcspn(at, "&");
		const size_t key = strcspn(at, "=&");
		if (request->value_count >= LT_API_VALUES_MAX)
			return false;
		const int i = request->value_count++;
		if (!decode(request->values[i].key,
			sizeof(request->values[i].key), at, key, true) ||
		    (key < length && !decode(request->values[i].value,
					 sizeof(request->values[i].value),
					 at + key + 1, length - key - 1, true)))
			return false;
		at += length;
	}
	return true;
}

/* Its place in the table, or -1; *known: with another method it has one. */
static int
find(const struct lt_api_request *request, bool *known)
{
	*known = false;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].has_rest
			? strncmp(request->path, table[i].path,
			      strlen(table[i].path)) != 0
			: strcmp(request->path, table[i].path) != 0)
			continue;
		*known = true;
		if (strcmp(request->method, table[i].method) == 0)
			return (int)i;
	}
	return -1;
}

static int
dispatch(struct lt_daemon *d, struct lt_api_request *request, json_t **reply)
{
	bool known;
	const int at = find(request, &known);

	if (at < 0 && known)
		return lt_api_error(reply, 400,
		    "%s: got method %s, want the other one", request->path,
		    request->method);
	if (at < 0)
		return lt_api_error(
		    reply, 404, "%s: no such request", request->path);
	if (table[at].admin_only && !request->is_admin)
		return lt_api_error(reply, 403,
		    "%s: only for root and SlurmUser", request->path);
	request->rest = request->path + strlen(table[at].path);
	return table[at].answer(d, request, reply);
}

enum lt_turn
lt_api_turn(const char *method, const char *uri)
{
	struct lt_api_request request = {.method = method};
	bool known;
	const int at = parse_uri(&request, uri) ? find(&request, &known) : -1;

	return at < 0 ? LT_TURN_READ : table[at].turn;
}

int
lt_api(struct lt_daemon *d, uint32_t uid, const char *method, const char *uri,
    const char *body, size_t body_length, char **reply)
{
	struct lt_api_request request = {.uid = uid,
	    .method = method,
	    .is_admin = lt_is_admin(&d->tables, uid),
	    .now_utc_s = time(NULL)};
	json_t *answer = NULL;
	json_error_t error;
	int status;

	if (!parse_uri(&request, uri))
		status = lt_api_error(&answer, 400, "bad path or query");
	else if (body_length > 0 &&
		 !(request.body = json_loadb(
		       body, body_length, JSON_REJECT_DUPLICATES, &error)))
		status = lt_api_error(&answer, 400, "body: %s", error.text);
	else
		status = dispatch(d, &request, &answer);
	json_decref(request.body);
	*reply = answer != NULL ? json_dumps(answer, JSON_COMPACT) : NULL;
	json_decref(answer);
	if (*reply == NULL) {
		*reply = strdup(
		    "{\"error\":\"out of memory, or a text that is not UTF-8\"}");
		return 503;
	}
	return status;
}
