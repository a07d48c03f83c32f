/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns due rows of alerts into messages in the spool. Each id is made of the event, or of the
 * recipient and the digest's hour, so that a message whose note in the ledger is lost is written as
 * the same one.
 *
 * A full spool or a failed write leaves the row due, for the next pass.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert.h"
#include "alert_send.h"
#include "alerter.h"
#include "alerts.h"
#include "calendar.h"
#include "files.h"
#include "site.h"
#include "spool.h"
#include "text.h"
#include "units.h"

enum {
	AT_ONCE_PERCENT = 100,
	LINE_MAX_BYTES = 320,
	REST_BYTES = 160, /* of a digest: what it ends with */
};

/* The digest's hour of the day that has at_utc_s; *end_utc_s: of that day. */
static int64_t
digest_of_day(int64_t *end_utc_s, const struct lt_offsets *offsets, uint32_t hour, int64_t at_utc_s)
{
	char text[LT_DAY_TEXT_SIZE];
	int64_t start_utc_s;

	(void)lt_calendar_day(text, &start_utc_s, end_utc_s, offsets, at_utc_s);
	return start_utc_s + (int64_t)hour * LT_HOUR_S;
}

int64_t
lt_alert_digest_utc_s(const struct lt_offsets *offsets, uint32_t hour, int64_t now_utc_s)
{
	int64_t end_utc_s;
	const int64_t today = digest_of_day(&end_utc_s, offsets, hour, now_utc_s);
	const int64_t start_utc_s = today - (int64_t)hour * LT_HOUR_S;

	return today <= now_utc_s ? today
				  : digest_of_day(&end_utc_s, offsets, hour, start_utc_s - 1);
}

int64_t
lt_alert_next_digest_utc_s(const struct lt_offsets *offsets, uint32_t hour, int64_t now_utc_s)
{
	int64_t end_utc_s;
	const int64_t today = digest_of_day(&end_utc_s, offsets, hour, now_utc_s);

	return today > now_utc_s ? today : digest_of_day(&end_utc_s, offsets, hour, end_utc_s);
}

bool
lt_alert_is_at_once(const struct lt_alert *alert)
{
	return alert->kind != LT_ALERT_BUDGET || alert->percent >= AT_ONCE_PERCENT;
}

static int
note_told(const struct lt_alerter *by, struct lt_alert *alert, struct lt_error *err)
{
	alert->told_utc_s = by->now_utc_s;
	return lt_ledger_put_alert(by->ledger, alert, err);
}

_Static_assert(sizeof(((struct lt_message *)0)->to) > sizeof(((struct lt_policy_owners *)0)->to),
    "all owners, and the user");

static void
write_recipients(
    struct lt_message *message, const struct lt_alert *alert, const struct lt_policy_owners *owners)
{
	if (alert->to[0] != '\0')
		snprintf(message->to[message->to_count++], LT_ADDRESS_SIZE, "%s", alert->to);
	for (int i = 0; owners != NULL && i < owners->count; i++)
		if (strcmp(owners->to[i], alert->to) != 0)
			snprintf(
			    message->to[message->to_count++], LT_ADDRESS_SIZE, "%s", owners->to[i]);
}

static int
write_one(const struct lt_alerter *by, const struct lt_alert *alert, struct lt_error *err)
{
	const struct lt_policy_owners *const owners =
	    lt_policy_owners_of(by->site->policy, alert->team);
	struct lt_message message = {.kind = alert->kind, .made_utc_s = by->now_utc_s};
	char id[LT_MESSAGE_ID_SIZE], again[24] = "";
	int begin = 0;

	if (lt_alert_is_of_run(alert->kind))
		begin = lt_message_id_begin(id, alert->uid);
	if (alert->times > 1)
		snprintf(again, sizeof(again), ":again:%u", alert->times);
	snprintf(id + begin, sizeof(id) - (size_t)begin, "%s%s", alert->name, again);
	lt_message_id_of(message.id, id);
	write_recipients(&message, alert, owners);
	snprintf(message.subject, sizeof(message.subject), "%s", alert->subject);
	snprintf(message.text, sizeof(message.text), "%s", alert->text);
	lt_message_clean(&message);
	/* A run whose user has no address, of a team without owners; or the statement of a team
	 * that has no owners any more. */
	return message.to_count == 0 && lt_message_row(alert->kind)->hears != LT_HEARS_SITE
		   ? LT_OK
		   : lt_spool_write(by->site->policy->notify.spool, &message, err);
}

/* Returns the largest of rows[first, end), which are of one budget, period and basis; NULL:
 * none. */
static struct lt_alert *
largest(const struct lt_alerts *due, uint32_t first, uint32_t end)
{
	struct lt_alert *most = NULL;

	for (uint32_t i = first; i < end; i++)
		if (due->rows[i].told_utc_s == 0 &&
		    (most == NULL || due->rows[i].percent > most->percent))
			most = &due->rows[i];
	return most;
}

/* Returns the end of a group: those of one budget, period and basis stand together, others each
 * alone. */
static uint32_t
end_of(const struct lt_alerts *due, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < due->count && due->rows[first].kind == LT_ALERT_BUDGET &&
	       strcmp(due->rows[end].begins, due->rows[first].begins) == 0)
		end++;
	return end;
}

static int
send_at_once(const struct lt_alerter *by, struct lt_alerts *due, struct lt_error *err)
{
	struct lt_spool_state spool;
	int code = LT_OK;

	/* One that can't be read has room: to write there says why not. */
	(void)lt_spool_look(&spool, by->site->policy->notify.spool, NULL);
	for (uint32_t first = 0, end; code == LT_OK && first < due->count; first = end) {
		end = end_of(due, first);
		const struct lt_alert *const most = largest(due, first, end);

		if (most == NULL || !lt_alert_is_at_once(most))
			continue;
		const int64_t uid =
		    lt_alert_is_of_run(most->kind) ? (int64_t)most->uid : LT_MESSAGE_OF_SITE;
		/* A user's share is full: theirs waits, the others do not. */
		if (!lt_spool_has_room(&spool, uid) && spool.count < LT_SPOOL_MAX)
			continue;
		code = write_one(by, most, err);
		if (code == LT_OK)
			lt_spool_count(&spool, uid);
		for (uint32_t i = first; code == LT_OK && i < end; i++)
			code = note_told(by, &due->rows[i], err);
	}
	return code;
}

/* ---- the digest ---- */

struct line { /* of a digest: one budget's, to one of its owners */
	const char *to;
	const struct lt_alert *alert;
};
struct digest {
	struct line *lines, *all; /* malloc'd; all: each budget once */
	uint32_t count, all_count;
	int64_t at_utc_s;
};

/* Sorts by recipient, then by team. */
static int
compare_lines(const void *a, const void *b)
{
	const struct line *const x = a, *const y = b;
	const int by_to = strcmp(x->to, y->to);

	return by_to != 0 ? by_to : strcmp(x->alert->name, y->alert->name);
}

static int
gather(struct digest *digest, const struct lt_policy *policy, const struct lt_alerts *due,
    struct lt_error *err)
{
	digest->all = calloc((size_t)due->count + 1, sizeof(*digest->all));
	digest->lines = calloc((size_t)due->count * LT_MESSAGE_TO_MAX + 1, sizeof(*digest->lines));
	if (digest->all == NULL || digest->lines == NULL)
		return lt_fail(err, LT_ENOMEM, "alerts: out of memory");
	for (uint32_t first = 0, end; first < due->count; first = end) {
		end = end_of(due, first);
		const struct lt_alert *const most = largest(due, first, end);

		if (most == NULL)
			continue;
		const struct lt_policy_owners *const owners =
		    lt_policy_owners_of(policy, most->team);
		digest->all[digest->all_count++] = (struct line){"", most};
		for (int i = 0; owners != NULL && i < owners->count; i++)
			digest->lines[digest->count++] = (struct line){owners->to[i], most};
	}
	qsort(digest->lines, digest->count, sizeof(*digest->lines), compare_lines);
	return LT_OK;
}

/* Writes one recipient's lines; to "": the site's. Lines that do not fit are counted. */
static int
write_digest(const struct lt_alerter *by, const struct digest *digest, const struct line *lines,
    uint32_t count, struct lt_error *err)
{
	const char *const to = lines[0].to;
	struct lt_message message = {.kind = LT_MESSAGE_BUDGET_DIGEST,
	    .made_utc_s = by->now_utc_s,
	    .to_count = to[0] != '\0'};
	struct lt_text text = {.out = message.text, .size = sizeof(message.text)};
	char id[LT_MESSAGE_ID_SIZE + LT_ADDRESS_SIZE];
	uint32_t put = 0;

	/* Ids are cut, and two long addresses may begin alike. */
	snprintf(id, sizeof(id), "digest:%" PRId64 ":%08x:%s", digest->at_utc_s,
	    lt_crc32c(0, to, strlen(to)), to);
	lt_message_id_of(message.id, id);
	snprintf(message.to[0], sizeof(message.to[0]), "%s", to);
	snprintf(message.subject, sizeof(message.subject), "lowtide: %u budget%s passed an alert",
	    count, count == 1 ? "" : "s");
	for (; put < count &&
	       strlen(message.text) + LINE_MAX_BYTES < sizeof(message.text) - REST_BYTES;
	     put++) {
		const char *const line = lines[put].alert->text;
		const size_t length = strcspn(line, "\n");

		lt_text_put(&text, "%.*s\n",
		    (int)(length < LINE_MAX_BYTES ? length : LINE_MAX_BYTES - 1), line);
	}
	if (put < count)
		lt_text_put(&text, "And %u more.\n", count - put);
	lt_text_put(&text, "\nAll:     lowtide alerts\n"
			   "Now:     lowtide budget\n"
			   "By whom: lowtide report --by user\n");
	lt_message_clean(&message);
	return lt_spool_write(by->site->policy->notify.spool, &message, err);
}

static int
write_digests(const struct lt_alerter *by, const struct digest *digest, struct lt_error *err)
{
	const struct lt_policy_notify *const notify = &by->site->policy->notify;
	struct lt_digest_sent *const sent = &by->alerts->digest;
	int code = LT_OK;

	if (sent->at_utc_s != digest->at_utc_s)
		*sent = (struct lt_digest_sent){.at_utc_s = digest->at_utc_s};
	if (digest->all_count > 0 && (notify->webhook_url[0] != '\0' || notify->command[0] != '\0'))
		code = write_digest(by, digest, digest->all, digest->all_count, err);
	if (notify->mail_server[0] == '\0' && notify->command[0] == '\0')
		return code;
	for (uint32_t i = 0, end; code == LT_OK && i < digest->count; i = end) {
		const struct line *const first = &digest->lines[i];

		for (end = i + 1;
		     end < digest->count && strcmp(digest->lines[end].to, first->to) == 0; end++)
			;
		if (strcmp(first->to, sent->after) <= 0)
			continue;
		code = write_digest(by, digest, first, end - i, err);
		if (code == LT_OK)
			snprintf(sent->after, sizeof(sent->after), "%s", first->to);
	}
	return code;
}

static int
send_digest(const struct lt_alerter *by, struct lt_alerts *due, struct lt_error *err)
{
	struct digest digest = {.at_utc_s = lt_alert_digest_utc_s(&by->site->offsets,
				    by->site->policy->notify.digest_hour, by->now_utc_s)};
	uint32_t kept = 0;

	for (uint32_t i = 0; i < due->count; i++)
		if (due->rows[i].told_utc_s == 0 && !lt_alert_is_at_once(&due->rows[i]) &&
		    due->rows[i].made_utc_s < digest.at_utc_s)
			due->rows[kept++] = due->rows[i];
	due->count = kept;
	if (kept == 0)
		return LT_OK;
	int code = gather(&digest, by->site->policy, due, err);
	if (code == LT_OK)
		code = write_digests(by, &digest, err);
	for (uint32_t i = 0; code == LT_OK && i < due->count; i++)
		code = note_told(by, &due->rows[i], err);
	if (code == LT_OK)
		by->alerts->digest = (struct lt_digest_sent){0};
	free(digest.lines);
	free(digest.all);
	return code;
}

int
lt_alerts_send(const struct lt_alerter *by, struct lt_error *err)
{
	struct lt_alerts due = {0};
	struct lt_error failed = {0};

	if (!by->site->policy->notify.is_set)
		return LT_OK;
	int code = lt_ledger_alerts_due(by->ledger, &due, err);
	if (code == LT_OK)
		code = send_at_once(by, &due, err);
	/* A full spool is the same for both. */
	if (send_digest(by, &due, &failed) != LT_OK && code == LT_OK)
		code = lt_fail(err, failed.code, "%s", failed.text);
	free(due.rows);
	return code;
}
