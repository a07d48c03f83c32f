/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/closed, POST /v1/reopen: what is closed, and a closing that is
 * undone. From the end backwards: what corrects a period is booked behind it,
 * and where that is closed it has to stay.
 */
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "api.h"
#include "closed.h"
#include "daemon.h"
#include "log.h"

static json_t *
list_closed(const struct lt_closings *closings, struct lt_error *err)
{
	struct lt_closed *closed = NULL;
	uint32_t count = 0;
	json_t *const list = json_array();
	int code = lt_ledger_all_closed(closings->ledger, &closed, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		if (json_array_append_new(
			list, lt_closed_json(closings, &closed[i], err)) != 0)
			code = lt_fail(err, LT_ENOMEM, "closed: out of memory");
	free(closed);
	if (code == LT_OK)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *
list_reopened(const struct lt_closings *closings, struct lt_error *err)
{
	struct lt_reopened *reopened = NULL;
	uint32_t count = 0;
	const int code =
	    lt_ledger_all_reopened(closings->ledger, &reopened, &count, err);
	json_t *const list = code == LT_OK ? json_array() : NULL;

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(
		    list, lt_reopened_json(closings, &reopened[i]));
	free(reopened);
	return list;
}

int
lt_api_closed(
    struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_access access = lt_access_of(d, request);
	const struct lt_closings closings = {
	    d->ledger, d->site.policy->currency, lt_access_all(&access)};
	struct lt_error err = {0};
	json_t *const closed = list_closed(&closings, &err);
	json_t *const reopened =
	    closed != NULL ? list_reopened(&closings, &err) : NULL;

	if (reopened == NULL) {
		json_decref(closed);
		return lt_api_error(reply, 503, "%s", err.text);
	}
	*reply = json_pack("{s:o,s:o}", "closed", closed, "reopened", reopened);
	return 200;
}

/* Of those that end last the longest: what it has is closed as long as it is.
 * By end and start; NULL: none is closed. */
static const struct lt_closed *
last_of(const struct lt_closed *closed, uint32_t count)
{
	const struct lt_closed *last = count > 0 ? &closed[count - 1] : NULL;

	while (last > closed && last[-1].span.to_utc_s == last->span.to_utc_s)
		last--;
	return last;
}

/* No 409: to wait does not help. */
static int
check_last(struct lt_daemon *d, const struct lt_closed *closed, json_t **reply)
{
	struct lt_closed *all = NULL;
	uint32_t count = 0;
	struct lt_error err = {0};

	if (lt_ledger_all_closed(d->ledger, &all, &count, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	const struct lt_closed *const last = last_of(all, count);
	const int status =
	    last == NULL || strcmp(last->label, closed->label) == 0
		? 200
		: lt_api_error(reply, 400,
		      "%s: %s is closed, too, and has or follows it; open that first: lowtide close --reopen %s",
		      closed->label, last->label, last->label);
	free(all);
	return status;
}

static int
check_reason(const char *reason, json_t **reply)
{
	if (reason[strspn(reason, " \t\r\n")] == '\0')
		return lt_api_error(reply, 400, "want a reason");
	if (strlen(reason) >= LT_REOPEN_REASON_SIZE)
		return lt_api_error(reply, 400,
		    "reason: %zu bytes, want at most %d", strlen(reason),
		    LT_REOPEN_REASON_SIZE - 1);
	return 200;
}

static int
undo(struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_closed *closed, const char *reason, json_t **reply)
{
	const struct lt_closings closings = {
	    d->ledger, d->site.policy->currency, true};
	struct lt_reopened r = {.span = closed->span,
	    .closed_utc_s = closed->closed_utc_s,
	    .reopened_utc_s = request->now_utc_s};
	struct lt_error err = {0};

	memcpy(r.label, closed->label, sizeof(r.label));
	memcpy(r.closed_by, closed->who, sizeof(r.closed_by));
	memcpy(r.checksum, closed->checksum, sizeof(r.checksum));
	(void)strcpy(r.reason, reason);
	lt_api_user_name(d, r.reopened_by, request->uid);
	if (lt_closed_cost(d->ledger, r.span, &r.cost, &err) != LT_OK ||
	    lt_ledger_reopen(d->ledger, &r, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	lt_log("reopened", "period=%s by=%s checksum=%s", r.label,
	    r.reopened_by, r.checksum);
	/* What was corrected counts in another period's budgets now. */
	d->budget.dirty = true;
	*reply = lt_reopened_json(&closings, &r);
	return 200;
}

int
lt_api_reopen(
    struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *text = NULL, *reason = NULL;
	struct lt_period period;
	struct lt_closed closed;
	struct lt_error err = {0};

	if (request->body == NULL ||
	    json_unpack(request->body, "{s:s,s:s}", "period", &text, "reason",
		&reason) != 0)
		return lt_api_error(reply, 400, "want {period, reason}");
	int status = check_reason(reason, reply);
	if (status != 200)
		return status;
	if (lt_calendar_parse(&period, &d->site.offsets, text, &err) != LT_OK)
		return lt_api_error(reply, 400, "%s", err.text);
	const int code = lt_ledger_closed(d->ledger,
	    (struct lt_span){period.start_utc_s, period.end_utc_s}, &closed,
	    &err);
	if (code == LT_ENOENT)
		return lt_api_error(
		    reply, 400, "%s is not closed", period.label);
	if (code != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	status = check_last(d, &closed, reply);
	return status == 200 ? undo(d, request, &closed, reason, reply)
			     : status;
}
