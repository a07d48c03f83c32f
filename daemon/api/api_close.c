/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST /v1/close, POST /v1/reopen, GET /v1/closed. A period whose runs are all settled gets a
 * statement that stays, in the ledger; later changes are corrections in an open period. A closing
 * can be undone, the last one first:
 * corrections of a period are booked in a later one, and stay if that is closed. A period that
 * can't be closed or reopened is refused with 400, or 409 if waiting helps; nothing is written
 * then.
 */
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "api.h"
#include "breath.h"
#include "closed.h"
#include "closed_alerts.h"
#include "daemon.h"
#include "grow.h"
#include "log.h"
#include "report.h"
#include "text.h"
#include "units.h"

/* ---- may it be closed? ---- */

int
lt_api_unclosed(struct lt_daemon *d, struct lt_period *month, bool *has, struct lt_error *err)
{
	const int64_t until = lt_ledger_closed_until(d->ledger);
	int64_t first = 0;

	if (lt_ledger_first_booked(d->ledger, &first, has, err) != LT_OK)
		return err->code;
	if (until > first)
		first = until;
	if (*has)
		lt_calendar_period(month, &d->site.offsets, LT_MONTH, first, 0);
	return LT_OK;
}

/* No 409: to wait does not help. */
static int
check_order(struct lt_daemon *d, const struct lt_period *period, json_t **reply)
{
	struct lt_period month;
	struct lt_error err = {0};
	bool has;

	if (lt_api_unclosed(d, &month, &has, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	if (!has || month.start_utc_s >= period->start_utc_s)
		return 200;
	return lt_api_error(reply, 400, "%s: %s is not closed; close it first: lowtide close %s",
	    period->label, month.label, month.label);
}

int64_t
lt_api_close_from(
    char day[LT_DAY_TEXT_SIZE], const struct lt_daemon *d, const struct lt_period *period)
{
	const int64_t from = period->end_utc_s + d->site.policy->close_after_s;
	int64_t start, end;

	lt_calendar_day(day, &start, &end, &d->site.offsets, from);
	return from;
}

static int
check_time(struct lt_daemon *d, const struct lt_period *period, int64_t now_utc_s, json_t **reply)
{
	char day[LT_DAY_TEXT_SIZE];

	if (now_utc_s >= lt_api_close_from(day, d, period))
		return 200;
	return lt_api_error(reply, 409,
	    "%s: can be closed from %s on: close_after is %lld h after its end", period->label, day,
	    (long long)(d->site.policy->close_after_s / LT_HOUR_S));
}

/* A timer that closes the last month leaves one that was opened again to who opened it. */
static int
check_again(struct lt_daemon *d, const struct lt_period *period, json_t **reply)
{
	struct lt_reopened last;
	struct lt_error err = {0};
	const int undone = lt_closed_reopened(
	    d->ledger, (struct lt_span){period->start_utc_s, period->end_utc_s}, &last, &err);

	if (undone < 0)
		return lt_api_error(reply, 503, "%s", err.text);
	return undone == 0
		   ? 200
		   : lt_api_error(reply, 409,
			 "%s: %s opened it again, and closes it by its name: lowtide close %s",
			 period->label, last.reopened_by, period->label);
}

/* ---- its statement, to be kept ---- */

struct statement {
	struct lt_closed_row *rows;
	uint32_t count;
	size_t capacity;
	int64_t provisional_runs;
	bool is_again; /* its closing was undone: owners were notified once */
	struct sha256_ctx hash;
};

static void
hash_text(struct statement *s, const char *text)
{
	sha256_update(&s->hash, strlen(text), (const uint8_t *)text);
}

static int
keep_line(void *context, const struct lt_report_row *from, struct lt_error *err)
{
	struct statement *const s = context;
	struct lt_closed_row *const grown =
	    lt_items_grow(s->rows, &s->capacity, s->count, sizeof(*grown));

	lt_breath(LT_TURN_READ);
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "close: out of memory");
	s->rows = grown;
	struct lt_closed_row *const row = &grown[s->count++];
	struct lt_text text = {.out = row->figures, .size = sizeof(row->figures)};
	*row = (struct lt_closed_row){0};
	snprintf(row->account, sizeof(row->account), "%s", from->account);
	lt_report_line_pack(&text, from->line, from->budget);
	if (text.full)
		return lt_fail(err, LT_ELIMIT, "close: the row of %s is too long", from->account);
	row->labels = json_dumps(from->labels, JSON_COMPACT);
	if (row->labels == NULL)
		return lt_fail(err, LT_ENOMEM, "close: out of memory");
	s->provisional_runs += from->line->in[LT_ENTRY_CHARGE].provisional_runs;
	hash_text(s, row->account);
	hash_text(s, " ");
	hash_text(s, row->figures);
	hash_text(s, " ");
	hash_text(s, row->labels);
	hash_text(s, "\n");
	return LT_OK;
}

static void
free_rows(struct statement *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		free(s->rows[i].labels);
	free(s->rows);
}

static void
end_hash(struct statement *s, char *checksum, size_t size)
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	size_t used = (size_t)snprintf(checksum, size, "sha256:");

	sha256_digest(&s->hash, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		used += (size_t)snprintf(checksum + used, size - used, "%02x", digest[i]);
}

static int
set_head(struct lt_closed *c, const struct lt_report_work *w, struct lt_error *err)
{
	json_t *const json = lt_report_head(w);
	char *const text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	const bool fits = text != NULL && strlen(text) < sizeof(c->head);
	if (fits)
		(void)strcpy(c->head, text);
	free(text);
	return fits ? LT_OK : lt_fail(err, LT_ENOMEM, "close: out of memory");
}

static int
close_and_tell(struct lt_daemon *d, const struct lt_api_request *request, const struct lt_closed *c,
    const struct statement *s, struct lt_error *err)
{
	int code = lt_ledger_begin(d->ledger, err);

	if (code != LT_OK)
		return code;
	code = lt_ledger_close_period(d->ledger, c, s->rows, s->count, err);
	if (code == LT_OK && d->site.policy->notify.is_set && !s->is_again)
		code = lt_closed_alerts(d, request, c, err);
	if (code != LT_OK) {
		lt_ledger_rollback(d->ledger);
		return code;
	}
	return lt_ledger_commit(d->ledger, err);
}

/* The answer to who closes a period, or has closed it. */
static int
tell_closed(struct lt_daemon *d, const struct lt_closed *c, json_t **reply)
{
	const struct lt_closings closings = {d->ledger, d->site.policy->currency, true};
	struct lt_error err = {0};

	*reply = lt_closed_json(&closings, c, &err);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "%s", err.text);
}

/* After the closing that was undone, and all that came meanwhile, by the ledger's order too. */
static int
set_again(struct lt_daemon *d, struct statement *s, struct lt_closed *c, struct lt_error *err)
{
	struct lt_reopened last;
	const int undone = lt_closed_reopened(d->ledger, c->span, &last, err);

	s->is_again = undone > 0;
	return undone > 0 ? lt_closed_stamp(d->ledger, c->closed_utc_s, &c->closed_utc_s, err)
			  : undone;
}

static int
close_settled(struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_report_work *w, json_t **reply)
{
	struct statement s = {.rows = NULL};
	struct lt_closed c = {.span = {w->period.start_utc_s, w->period.end_utc_s},
	    .closed_utc_s = request->now_utc_s};
	const struct lt_report_view view = {.work = w, .period = &w->period, .ledger = d->ledger};
	struct lt_error err = {0};
	int status = 200;

	memcpy(c.label, w->period.label, sizeof(c.label));
	lt_api_user_name(d, c.who, request->uid);
	sha256_init(&s.hash);
	int code = set_head(&c, w, &err);
	if (code == LT_OK)
		code = set_again(d, &s, &c, &err);
	hash_text(&s, c.head);
	hash_text(&s, "\n");
	if (code == LT_OK)
		code = lt_report_lines(&view, keep_line, &s, &err);
	end_hash(&s, c.checksum, sizeof(c.checksum));
	if (code == LT_OK && s.provisional_runs > 0)
		status = lt_api_error(reply, 409,
		    "%s: %lld runs are charged by slurmctld's last record: slurmdbd has no row of them yet",
		    c.label, (long long)s.provisional_runs);
	else if (code == LT_OK)
		code = close_and_tell(d, request, &c, &s, &err);
	free_rows(&s);
	if (code != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	if (status != 200)
		return status;
	lt_log("closed", "period=%s by=%s checksum=%s", c.label, c.who, c.checksum);
	return tell_closed(d, &c, reply);
}

/* Gives the month before the current one, in the site's time zone. */
static void
last_month(struct lt_period *period, const struct lt_daemon *d, int64_t now_utc_s)
{
	lt_calendar_period(period, &d->site.offsets, LT_MONTH, now_utc_s, 0);
	lt_calendar_period(period, &d->site.offsets, LT_MONTH, period->start_utc_s - 1, 0);
}

int
lt_api_close(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *text = NULL;
	struct lt_period period;
	struct lt_closed known;
	struct lt_error err = {0};

	if (request->body == NULL || json_unpack(request->body, "{s:s}", "period", &text) != 0)
		return lt_api_error(reply, 400, "want {period}");
	const bool is_last = strcmp(text, "last") == 0;
	if (is_last)
		last_month(&period, d, request->now_utc_s);
	else if (lt_calendar_parse(&period, &d->site.offsets, text, &err) != LT_OK)
		return lt_api_error(reply, 400, "%s", err.text);
	if (lt_ledger_closed(d->ledger, (struct lt_span){period.start_utc_s, period.end_utc_s},
		&known, NULL) == LT_OK)
		return tell_closed(d, &known, reply);
	int status = check_time(d, &period, request->now_utc_s, reply);
	if (status == 200)
		status = check_order(d, &period, reply);
	if (status == 200 && is_last)
		status = check_again(d, &period, reply);
	if (status != 200)
		return status;
	if (!d->budget.has_snapshot)
		return lt_api_error(reply, 503, "no budget snapshot yet");
	struct lt_report_work *const w = lt_report_take(d, request, &period);
	if (w == NULL)
		return lt_api_error(reply, 503, "out of memory");
	if (!w->is_settled)
		status = lt_api_error(reply, 409,
		    "%s: runs that ended in it are not settled yet; lowtide status says what it waits for",
		    period.label);
	else
		status = close_settled(d, request, w, reply);
	free(w);
	return status;
}

static json_t *
list_closed(const struct lt_closings *closings, struct lt_error *err)
{
	struct lt_closed *closed = NULL;
	uint32_t count = 0;
	json_t *const list = json_array();
	int code = lt_ledger_all_closed(closings->ledger, &closed, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		if (json_array_append_new(list, lt_closed_json(closings, &closed[i], err)) != 0)
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
	const int code = lt_ledger_all_reopened(closings->ledger, &reopened, &count, err);
	json_t *const list = code == LT_OK ? json_array() : NULL;

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, lt_reopened_json(closings, &reopened[i]));
	free(reopened);
	return list;
}

int
lt_api_closed(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_access access = lt_access_of(d, request);
	const struct lt_closings closings = {
	    d->ledger, d->site.policy->currency, lt_access_all(&access)};
	struct lt_error err = {0};
	json_t *const closed = list_closed(&closings, &err);
	json_t *const reopened = closed != NULL ? list_reopened(&closings, &err) : NULL;

	if (reopened == NULL) {
		json_decref(closed);
		return lt_api_error(reply, 503, "%s", err.text);
	}
	*reply = json_pack("{s:o,s:o}", "closed", closed, "reopened", reopened);
	return 200;
}

/* Returns the closed period that ends last, the longest of these: the periods in it stay closed as
 * long as it is. The list is ordered by end and start. NULL: no period is closed. */
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
		return lt_api_error(reply, 400, "reason: %zu bytes, want at most %d",
		    strlen(reason), LT_REOPEN_REASON_SIZE - 1);
	return 200;
}

static int
undo(struct lt_daemon *d, const struct lt_api_request *request, const struct lt_closed *closed,
    const char *reason, json_t **reply)
{
	const struct lt_closings closings = {d->ledger, d->site.policy->currency, true};
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
	lt_log("reopened", "period=%s by=%s checksum=%s", r.label, r.reopened_by, r.checksum);
	/* Corrections count in another period's budgets now. */
	d->budget.dirty = true;
	*reply = lt_reopened_json(&closings, &r);
	return 200;
}

int
lt_api_reopen(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *text = NULL, *reason = NULL;
	struct lt_period period;
	struct lt_closed closed;
	struct lt_error err = {0};

	if (request->body == NULL ||
	    json_unpack(request->body, "{s:s,s:s}", "period", &text, "reason", &reason) != 0)
		return lt_api_error(reply, 400, "want {period, reason}");
	int status = check_reason(reason, reply);
	if (status != 200)
		return status;
	if (lt_calendar_parse(&period, &d->site.offsets, text, &err) != LT_OK)
		return lt_api_error(reply, 400, "%s", err.text);
	const int code = lt_ledger_closed(
	    d->ledger, (struct lt_span){period.start_utc_s, period.end_utc_s}, &closed, &err);
	if (code == LT_ENOENT)
		return lt_api_error(reply, 400, "%s is not closed", period.label);
	if (code != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	status = check_last(d, &closed, reply);
	return status == 200 ? undo(d, request, &closed, reason, reply) : status;
}
