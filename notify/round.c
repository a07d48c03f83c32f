/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages on their ways. What was taken is written down before the next is
 * sent; a process killed in between sends that one again, with the same
 * Message-ID.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "log.h"
#include "lookup.h"
#include "round.h"
#include "units.h"

enum way_id { WAY_MAIL, WAY_WEBHOOK, WAY_COMMAND, WAY_COUNT };
_Static_assert(
    WAY_COUNT == sizeof(((struct lt_round *)0)->is_away) / sizeof(bool),
    "one each");

/* Users' messages, and the digest of one owner, are nobody else's: they go to a
 * program of the site only where there is no mail. */
static bool
is_of_site(const struct lt_message *message)
{
	return message->kind == LT_MESSAGE_BUDGET_ALERT ||
	       message->kind == LT_MESSAGE_UNUSUAL_DAY ||
	       (message->kind == LT_MESSAGE_BUDGET_DIGEST &&
		   message->to_count == 0);
}

static int
mail_count(
    const struct lt_policy_notify *notify, const struct lt_message *message)
{
	return notify->mail_server[0] != '\0' ? message->to_count : 0;
}

static int
webhook_count(
    const struct lt_policy_notify *notify, const struct lt_message *message)
{
	return notify->webhook_url[0] != '\0' && is_of_site(message);
}

static int
command_count(
    const struct lt_policy_notify *notify, const struct lt_message *message)
{
	return notify->command[0] != '\0' &&
	       (is_of_site(message) || notify->mail_server[0] == '\0');
}

static const struct {
	const char *name;
	/* How often a message goes that way: of mail, to each. */
	int (*count)(const struct lt_policy_notify *notify,
	    const struct lt_message *message);
	int (*send)(const struct lt_sending *sending, struct lt_error *err);
} ways[WAY_COUNT] = {
    [WAY_MAIL] = {"mail", mail_count, lt_send_mail},
    [WAY_WEBHOOK] = {"webhook", webhook_count, lt_send_webhook},
    [WAY_COMMAND] = {"command", command_count, lt_send_command},
};

int64_t
lt_round_wait_s(int64_t retry_s, int tries)
{
	int64_t wait_s = retry_s;

	for (int i = 1; i < tries && wait_s < LT_NOTIFY_RETRY_MAX_S; i++)
		wait_s *= 2;
	return wait_s < LT_NOTIFY_RETRY_MAX_S ? wait_s : LT_NOTIFY_RETRY_MAX_S;
}

static struct lt_waiting *
waiting_of(struct lt_round *round, const char *id)
{
	for (int i = 0; i < round->waiting_count; i++)
		if (strcmp(round->waiting[i].id, id) == 0)
			return &round->waiting[i];
	return NULL;
}

static bool
is_listed(const struct lt_round *round, const char *id)
{
	for (int i = 0; i < round->list.count; i++)
		if (strcmp(round->list.ids[i], id) == 0)
			return true;
	return false;
}

/* Whoever removed one meanwhile: it is not waited for. */
static void
forget_gone(struct lt_round *round)
{
	int kept = 0;

	for (int i = 0; i < round->waiting_count; i++)
		if (is_listed(round, round->waiting[i].id))
			round->waiting[kept++] = round->waiting[i];
	round->waiting_count = kept;
}

/* One way to one recipient. False: it is not gone yet. */
static bool
send_one(
    struct lt_round *round, enum way_id way, const struct lt_sending *sending)
{
	const char *const id = sending->message->id;
	char name[LT_ADDRESS_SIZE + 16];
	struct lt_error failed = {0};

	snprintf(name, sizeof(name), "%s%s%s", LT_ROW(ways, way).name,
	    sending->to != NULL ? ":" : "",
	    sending->to != NULL ? sending->to : "");
	if (lt_sent_has(round->sent, id, name))
		return true;
	if (round->is_away[way])
		return false;
	const int code = LT_ROW(ways, way).send(sending, &failed);
	if (code != LT_OK)
		lt_log(code == LT_EDENIED ? "refused" : "not_sent",
		    "id=%s way=%s why=\"%s\"", id, LT_ROW(ways, way).name,
		    failed.text);
	round->is_away[way] = code == LT_ENET;
	if (code != LT_OK && code != LT_EDENIED)
		return false;
	if (code == LT_OK)
		lt_log("sent", "id=%s way=%s", id, LT_ROW(ways, way).name);
	if (lt_sent_add(round->sent, id, name, sending->now_utc_s, &failed) !=
	    LT_OK)
		lt_log("not_noted", "id=%s why=\"%s\"", id, failed.text);
	return true;
}

/* By all ways; true: it is gone by each. */
static bool
send_all(
    struct lt_round *round, const struct lt_message *message, int64_t now_utc_s)
{
	bool is_gone = true;
	int all = 0;

	for (int way = 0; way < WAY_COUNT; way++) {
		const int count =
		    LT_ROW(ways, way).count(round->notify, message);

		for (int i = 0; i < count; i++) {
			const struct lt_sending sending = {round->notify,
			    message, way == WAY_MAIL ? message->to[i] : NULL,
			    now_utc_s};

			is_gone &= send_one(round, (enum way_id)way, &sending);
		}
		all += count;
	}
	if (all == 0)
		lt_log("dropped", "id=%s why=\"the policy has no way for it\"",
		    message->id);
	return is_gone;
}

static void
put_off(struct lt_round *round, const char *id, int64_t now_ms)
{
	struct lt_waiting *waiting = waiting_of(round, id);

	if (waiting == NULL) {
		if (round->waiting_count == LT_SPOOL_MAX)
			return;
		waiting = &round->waiting[round->waiting_count++];
		*waiting = (struct lt_waiting){0};
		snprintf(waiting->id, sizeof(waiting->id), "%s", id);
	}
	waiting->tries++;
	waiting->due_ms =
	    now_ms + 1000 * lt_round_wait_s(round->retry_s, waiting->tries);
	if (waiting->due_ms < round->due_ms)
		round->due_ms = waiting->due_ms;
}

/* True: it may be removed. */
static bool
is_done(struct lt_round *round, const char *id, int64_t now_utc_s)
{
	static struct lt_message message;
	struct lt_error unread = {0};
	const int code =
	    lt_spool_read(&message, round->notify->spool, id, &unread);

	if (code == LT_EINPUT || code == LT_ELIMIT) {
		lt_log("dropped", "id=%s why=\"%s\"", id, unread.text);
		return true;
	}
	if (code != LT_OK) {
		lt_log("not_read", "id=%s why=\"%s\"", id, unread.text);
		return false;
	}
	if (send_all(round, &message, now_utc_s))
		return true;
	if (now_utc_s - message.made_utc_s < LT_NOTIFY_GIVE_UP_S)
		return false;
	lt_log("dropped", "id=%s why=\"not sent within %d days\"", id,
	    LT_NOTIFY_GIVE_UP_S / LT_DAY_S);
	return true;
}

int
lt_round_run(struct lt_round *round, int64_t now_utc_s, int64_t now_ms,
    struct lt_error *err)
{
	const char *const spool = round->notify->spool;
	int code = lt_spool_list(&round->list, spool, err);

	round->left = 0;
	round->due_ms = INT64_MAX;
	memset(round->is_away, 0, sizeof(round->is_away));
	if (code != LT_OK)
		return code;
	forget_gone(round);
	for (int i = 0; i < round->list.count && code == LT_OK; i++) {
		const char *const id = round->list.ids[i];
		const struct lt_waiting *const waiting = waiting_of(round, id);

		round->left++;
		if (waiting != NULL && waiting->due_ms > now_ms) {
			if (waiting->due_ms < round->due_ms)
				round->due_ms = waiting->due_ms;
			continue;
		}
		if (!is_done(round, id, now_utc_s)) {
			put_off(round, id, now_ms);
		} else {
			code = lt_spool_remove(spool, id, err);
			round->left -= code == LT_OK;
		}
	}
	return code;
}

void
lt_round_end(struct lt_round *round)
{
	lt_spool_list_free(&round->list);
}
