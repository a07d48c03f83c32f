/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the function that answers a request, by method and path, in one table; parses the query and
 * the body, and checks the rights that the table asks for.
 * serve.c calls it for each request. A bad request is answered with 400 to 404,
 * a reply that can't be made with 503.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "access.h"
#include "daemon.h"
#include "directory.h"
#include "http.h"
#include "out.h"

/* Answers of the directory of users that a request waits for. */
enum needs {
	NEEDS_NOTHING,
	NEEDS_ROLE, /* lt_access_of() says who is a viewer; where it seldom
		     * matters the answer asks by lt_access_is_known() */
	NEEDS_NAME, /* of the asking user; it is kept */
};

static const struct {
	const char *method, *path;
	bool has_rest, admin_only;
	enum needs needs;
	enum lt_turn turn;
	lt_api_function *answer;
	lt_api_long_function *begin; /* or this */
} table[] = {
    {"POST", "/v1/reload", false, true, NEEDS_NOTHING, LT_TURN_ALL, lt_api_reload, NULL},
    {"GET", "/v1/status", false, false, NEEDS_ROLE, LT_TURN_READ, lt_api_status, NULL},
    {"GET", "/v1/budget", false, false, NEEDS_ROLE, LT_TURN_READ, lt_api_budget, NULL},
    {"GET", "/v1/alerts", false, false, NEEDS_ROLE, LT_TURN_READ, lt_api_alerts, NULL},
    {"POST", "/v1/budget/adjust", false, true, NEEDS_NAME, LT_TURN_ALL, lt_api_adjust, NULL},
    {"GET", "/v1/report", false, false, NEEDS_ROLE, LT_TURN_COMMITTED, NULL, lt_api_report},
    {"GET", "/v1/closed", false, false, NEEDS_ROLE, LT_TURN_COMMITTED, lt_api_closed, NULL},
    {"POST", "/v1/close", false, true, NEEDS_NAME, LT_TURN_ALL, lt_api_close, NULL},
    {"POST", "/v1/reopen", false, true, NEEDS_NAME, LT_TURN_ALL, lt_api_reopen, NULL},
    {"POST", "/v1/budget/moved", false, true, NEEDS_NOTHING, LT_TURN_ALL, lt_api_moved, NULL},
    /* It may make a pass of its own, to see a job that just came. */
    {"GET", "/v1/explain/", true, false, NEEDS_ROLE, LT_TURN_ALL, lt_api_explain, NULL},
    {"GET", "/v1/jobs", false, false, NEEDS_ROLE, LT_TURN_ALL, lt_api_jobs, NULL},
    {"GET", "/v1/jobs/", true, false, NEEDS_ROLE, LT_TURN_ALL, lt_api_one_job, NULL},
    {"POST", "/v1/now/", true, false, NEEDS_ROLE, LT_TURN_ALL, lt_api_now, NULL},
    {"GET", "/v1/rebuild", false, true, NEEDS_NOTHING, LT_TURN_READ, lt_api_rebuild, NULL},
    {"POST", "/v1/rebuild", false, true, NEEDS_NOTHING, LT_TURN_ALL, lt_api_rebuild, NULL},
    {"GET", "/v1/balance", false, false, NEEDS_NOTHING, LT_TURN_READ, lt_api_balance, NULL},
    {"GET", "/v1/balances", false, false, NEEDS_ROLE, LT_TURN_READ, lt_api_balances, NULL},
    {"POST", "/v1/plan", false, false, NEEDS_NOTHING, LT_TURN_READ, lt_api_plan, NULL},
    {"POST", "/v1/plan/manifest", false, false, NEEDS_ROLE, LT_TURN_ALL, lt_api_plan_manifest,
	NULL},
    {"GET", "/v1/notice", false, true, NEEDS_NOTHING, LT_TURN_READ, lt_api_notices, NULL},
    /* Nodes too: lt_access_check_node(). */
    {"POST", "/v1/notice", false, false, NEEDS_NOTHING, LT_TURN_ALL, lt_api_notice, NULL},
    {"POST", "/v1/progress", false, false, NEEDS_NOTHING, LT_TURN_ALL, lt_api_progress, NULL},
    {"POST", "/v1/canary/", true, false, NEEDS_ROLE, LT_TURN_ALL, lt_api_canary, NULL},
    {"GET", "/v1/market", false, false, NEEDS_NOTHING, LT_TURN_READ, lt_api_market, NULL},
    {"GET", "/v1/history", false, false, NEEDS_ROLE, LT_TURN_COMMITTED, lt_api_history, NULL},
    {"POST", "/v1/history/forget", false, false, NEEDS_NOTHING, LT_TURN_ALL, lt_api_forget, NULL},
    {"GET", "/v1/signals", false, false, NEEDS_NOTHING, LT_TURN_READ, lt_api_signals, NULL},
    {"GET", "/v1/signals/export", false, false, NEEDS_NOTHING, LT_TURN_READ, NULL,
	lt_api_signals_export},
    {"GET", "/v1/signals/errors", false, false, NEEDS_NOTHING, LT_TURN_READ, lt_api_signals_errors,
	NULL},
};

bool
lt_api_request_at(size_t index, const char **method, const char **path)
{
	if (index >= sizeof(table) / sizeof(table[0]))
		return false;
	*method = table[index].method;
	*path = table[index].path;
	return true;
}

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
		if (c == '%' && i + 2 < length && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
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
		if (!decode(
			request->values[i].key, sizeof(request->values[i].key), at, key, true) ||
		    (key < length &&
			!decode(request->values[i].value, sizeof(request->values[i].value),
			    at + key + 1, length - key - 1, true)))
			return false;
		at += length;
	}
	return true;
}

/* Returns the request's index in the table, or -1. *known: the path is there, perhaps with another
 * method. */
static int
find_entry(const struct lt_api_request *request, bool *known)
{
	*known = false;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].has_rest
			? strncmp(request->path, table[i].path, strlen(table[i].path)) != 0
			: strcmp(request->path, table[i].path) != 0)
			continue;
		*known = true;
		if (strcmp(request->method, table[i].method) == 0)
			return (int)i;
	}
	return -1;
}

static bool
awaits_directory(const struct lt_daemon *d, const struct lt_api_request *request, int at)
{
	char name[LT_NAME_SIZE];

	if (table[at].needs == NEEDS_ROLE)
		return !lt_access_is_known(d, request);
	return table[at].needs == NEEDS_NAME &&
	       lt_pairs_user(d->site.tables.pairs, d->site.tables.pair_count, request->uid) ==
		   NULL &&
	       lt_directory_name(request->uid, name, lt_monotonic_ms()) == LT_FOUND_LATER;
}

static int
dispatch(
    struct lt_daemon *d, struct lt_api_request *request, struct lt_api_work **work, json_t **reply)
{
	bool known;
	const int at = find_entry(request, &known);

	if (at < 0 && known)
		return lt_api_error(reply, 400, "%s: got method %s, want the other one",
		    request->path, request->method);
	if (at < 0)
		return lt_api_error(reply, 404, "%s: no such request", request->path);
	if (table[at].admin_only && !request->is_admin)
		return lt_api_error(reply, 403, "%s: only for root and SlurmUser", request->path);
	if (awaits_directory(d, request, at))
		return LT_API_LATER;
	request->rest = request->path + strlen(table[at].path);
	return table[at].answer != NULL ? table[at].answer(d, request, reply)
					: table[at].begin(d, request, work, reply);
}

struct lt_api_kind
lt_api_kind(const char *method, const char *uri)
{
	struct lt_api_request request = {.method = method};
	bool known;
	const int at = parse_uri(&request, uri) ? find_entry(&request, &known) : -1;

	return at < 0 ? (struct lt_api_kind){.turn = LT_TURN_READ}
		      : (struct lt_api_kind){
			    .turn = table[at].turn, .is_long = table[at].begin != NULL};
}

int
lt_api_begin(
    struct lt_daemon *d, const struct lt_api_asked *asked, char **reply, struct lt_api_work **work)
{
	struct lt_api_request request = {.uid = asked->uid,
	    .method = asked->method,
	    .is_admin = lt_is_admin(&d->site.tables, asked->uid),
	    .now_utc_s = time(NULL),
	    .from = asked->from};
	json_t *answer = NULL;
	json_error_t error;
	int status;

	*reply = NULL;
	*work = NULL;
	if (!parse_uri(&request, asked->uri))
		status = lt_api_error(&answer, 400, "bad path or query");
	else if (asked->body_length > 0 &&
		 (request.body = json_loadb(
		      asked->body, asked->body_length, JSON_REJECT_DUPLICATES, &error)) == NULL)
		status = lt_api_error(&answer, 400, "body: %s", error.text);
	else
		status = dispatch(d, &request, work, &answer);
	json_decref(request.body);
	if (*work != NULL || status == LT_API_LATER)
		return status;
	*reply = answer != NULL ? json_dumps(answer, JSON_COMPACT) : NULL;
	json_decref(answer);
	if (*reply == NULL) {
		*reply = strdup("{\"error\":\"out of memory, or a text that is not UTF-8\"}");
		return 503;
	}
	return status;
}

int
lt_api_end(const struct lt_api_work *work, struct lt_ledger *ledger, char **reply)
{
	struct lt_out out = {.most = LT_API_WHOLE_MAX};
	int status = work->write(work, ledger, &out);

	lt_out_bytes(&out, "", 1);
	if (out.failed) {
		status = lt_out_error(&out, 503, "out of memory, or an answer of over 16 MiB");
		lt_out_bytes(&out, "", 1);
	}
	*reply = out.failed ? NULL : out.bytes;
	if (*reply == NULL)
		lt_out_free(&out);
	return status;
}

int
lt_api(struct lt_daemon *d, const struct lt_api_asked *asked, char **reply)
{
	struct lt_api_work *work;
	int status;

	while ((status = lt_api_begin(d, asked, reply, &work)) == LT_API_LATER) {
		struct pollfd fds[LT_DIRECTORY_FDS];
		const int64_t now_ms = lt_monotonic_ms();

		lt_directory_run(now_ms);
		(void)poll(fds, (nfds_t)lt_directory_fds(fds, LT_DIRECTORY_FDS),
		    lt_directory_wait_ms(now_ms, LT_DIRECTORY_WAIT_MS));
		lt_directory_run(lt_monotonic_ms());
	}
	if (work != NULL)
		status = lt_api_end(work, d->ledger, reply);
	free(work);
	return status;
}
