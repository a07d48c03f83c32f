/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the messages of the spool, round by round. What was taken is written to the file of what
 * was sent before the next is sent; a process killed in between sends that one again, with the same
 * Message-ID. One process at a time has the file, by a lock beside it.
 *
 * A failure with one message is logged and puts that message off; an error of the spool or of the
 * file of what was sent ends the round and is returned.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grow.h"
#include "http.h"
#include "log.h"
#include "lookup.h"
#include "round.h"
#include "units.h"
#include "min_max.h"

/* ---- the file of what was sent ---- */

enum { PATH_SIZE = 4096 };

static int
compare_keys(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool
lt_sent_has(const struct lt_sent *sent, const char *id, const char *way)
{
	char key[LT_SENT_LINE_SIZE];
	const char *const wanted = key;

	snprintf(key, sizeof(key), "%s %s", id, way);
	for (size_t i = sent->sorted; i < sent->count; i++)
		if (strcmp(sent->keys[i], key) == 0)
			return true;
	return sent->sorted > 0 && bsearch(&wanted, sent->keys, sent->sorted, sizeof(*sent->keys),
				       compare_keys) != NULL;
}

static int
remember_key(struct lt_sent *sent, const char *key, struct lt_error *err)
{
	char **const grown =
	    lt_items_grow(sent->keys, &sent->capacity, sent->count, sizeof(*grown));

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "sent: no memory");
	sent->keys = grown;
	sent->keys[sent->count] = strdup(key);
	if (sent->keys[sent->count] == NULL)
		return lt_fail(err, LT_ENOMEM, "sent: no memory");
	sent->count++;
	return LT_OK;
}

/* A whole line that is young enough; *key points into it. */
static bool
is_kept(char *line, int64_t since_utc_s, const char **key)
{
	char *const blank = strchr(line, ' ');
	const size_t length = strlen(line);
	int64_t at_utc_s;

	if (blank == NULL || length == 0 || line[length - 1] != '\n')
		return false;
	line[length - 1] = '\0';
	*blank = '\0';
	*key = blank + 1;
	return lt_utc_parse(line, &at_utc_s, NULL) == LT_OK && at_utc_s >= since_utc_s;
}

/* Copies the lines of `in` that count into `out` as they are. Of too many, the newest: skip says
 * how many are left out. */
static int
copy_kept(struct lt_sent *sent, FILE *in, FILE *out, int64_t since_utc_s, struct lt_error *err)
{
	char line[LT_SENT_LINE_SIZE], copy[LT_SENT_LINE_SIZE];
	const char *key;
	size_t skip = 0;

	while (fgets(line, sizeof(line), in) != NULL)
		skip += is_kept(line, since_utc_s, &key);
	skip = skip > LT_SENT_MAX ? skip - LT_SENT_MAX / 2 : 0;
	rewind(in);
	while (fgets(line, sizeof(line), in) != NULL) {
		memcpy(copy, line, sizeof(copy));
		if (!is_kept(line, since_utc_s, &key))
			continue;
		if (skip > 0) {
			skip--;
			continue;
		}
		if (fputs(copy, out) == EOF)
			return lt_fail(err, LT_EIO, "sent: can't write");
		const int code = remember_key(sent, key, err);
		if (code != LT_OK)
			return code;
	}
	return ferror(in) ? lt_fail(err, LT_EIO, "sent: can't read") : LT_OK;
}

static int
rewrite_sent(struct lt_sent *sent, const char *path, int64_t since_utc_s, struct lt_error *err)
{
	char new_path[PATH_SIZE + 8];
	FILE *const in = fopen(path, "re");
	/* None is there at first; one that can't be read is no beginning. */
	const bool in_failed = in == NULL && errno != ENOENT;

	snprintf(new_path, sizeof(new_path), "%s.new", path);
	FILE *const out = fopen(new_path, "we");
	int code = out == NULL ? lt_fail(err, LT_EIO, "%s: %s", new_path, strerror(errno))
		   : in_failed ? lt_fail(err, LT_EIO, "%s: can't be read", path)
			       : LT_OK;
	if (code == LT_OK && in != NULL)
		code = copy_kept(sent, in, out, since_utc_s, err);
	if (code == LT_OK && (fflush(out) != 0 || fsync(fileno(out)) != 0))
		code = lt_fail(err, LT_EIO, "%s: %s", new_path, strerror(errno));
	if (in != NULL)
		fclose(in);
	if (out != NULL)
		fclose(out);
	if (code == LT_OK && rename(new_path, path) != 0)
		code = lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (sent->count > 1)
		qsort(sent->keys, sent->count, sizeof(*sent->keys), compare_keys);
	sent->sorted = sent->count;
	return code;
}

/* Syncs the directory. Otherwise a loss of power could bring the old file back, and what is sent
 * from now on would be sent again. */
static int
sync_directory(const char *dir, struct lt_error *err)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Some file systems can't; they say EINVAL. */
	const bool failed = fd < 0 || (fsync(fd) != 0 && errno != EINVAL);
	const int why = errno;

	if (fd >= 0)
		close(fd);
	return failed ? lt_fail(err, LT_EIO, "%s: %s", dir, strerror(why)) : LT_OK;
}

/* The lock is a file of its own: that of the lines is replaced. */
static int
take_lock(const char *dir, int *fd, struct lt_error *err)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/lock", dir);
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
		return LT_OK;
	close(*fd);
	*fd = -1;
	return lt_fail(err, LT_ECONFLICT, "%s: another lowtide-notify is at work", path);
}

int
lt_sent_open(struct lt_sent *sent, const char *dir, int64_t now_utc_s, struct lt_error *err)
{
	char path[PATH_SIZE];
	int code;

	*sent = (struct lt_sent){.fd = -1, .lock_fd = -1};
	if (strlen(dir) >= PATH_SIZE - 16)
		return lt_fail(err, LT_ELIMIT, "--state: a path too long");
	snprintf(path, sizeof(path), "%s/sent", dir);
	code = take_lock(dir, &sent->lock_fd, err);
	if (code == LT_OK)
		code = rewrite_sent(sent, path, now_utc_s - LT_SENT_KEEP_S, err);
	if (code == LT_OK)
		code = sync_directory(dir, err);
	if (code == LT_OK) {
		sent->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (sent->fd < 0)
			code = lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	}
	if (code != LT_OK)
		lt_sent_close(sent);
	return code;
}

int
lt_sent_add(
    struct lt_sent *sent, const char *id, const char *way, int64_t now_utc_s, struct lt_error *err)
{
	char when[32], line[LT_SENT_LINE_SIZE];
	const int length = snprintf(
	    line, sizeof(line), "%s %s %s\n", lt_utc_text(when, sizeof(when), now_utc_s), id, way);

	if (length < 0 || length >= (int)sizeof(line))
		return lt_fail(err, LT_ELIMIT, "sent: a line too long");
	const off_t before = lseek(sent->fd, 0, SEEK_END);
	const bool written =
	    write(sent->fd, line, (size_t)length) == length && fdatasync(sent->fd) == 0;
	const int why = errno;

	/* Half a line would take the next one with it. */
	if (!written && before >= 0)
		(void)!ftruncate(sent->fd, before);
	line[length - 1] = '\0';
	const int code = remember_key(sent, strchr(line, ' ') + 1, err);
	return written ? code : lt_fail(err, LT_EIO, "sent: %s", strerror(why));
}

void
lt_sent_close(struct lt_sent *sent)
{
	for (size_t i = 0; i < sent->count; i++)
		free(sent->keys[i]);
	free(sent->keys);
	if (sent->fd >= 0)
		close(sent->fd);
	if (sent->lock_fd >= 0)
		close(sent->lock_fd);
	*sent = (struct lt_sent){.fd = -1, .lock_fd = -1};
}

/* ---- a round ---- */

enum way_id { WAY_MAIL, WAY_WEBHOOK, WAY_COMMAND, WAY_COUNT };
_Static_assert(WAY_COUNT == sizeof(((struct lt_round *)0)->is_away) / sizeof(bool), "one each");

/* Users' messages, and the digest of one owner, are nobody else's: they go to a program of the site
 * only where there is no mail. */
static bool
is_of_site(const struct lt_message *message)
{
	return lt_message_row(message->kind)->hears == LT_HEARS_SITE ||
	       (message->kind == LT_MESSAGE_BUDGET_DIGEST && message->to_count == 0);
}

static int
mail_count(const struct lt_policy_notify *notify, const struct lt_message *message)
{
	return notify->mail_server[0] != '\0' ? message->to_count : 0;
}

static int
webhook_count(const struct lt_policy_notify *notify, const struct lt_message *message)
{
	return notify->webhook_url[0] != '\0' && is_of_site(message);
}

static int
command_count(const struct lt_policy_notify *notify, const struct lt_message *message)
{
	return notify->command[0] != '\0' &&
	       (is_of_site(message) || notify->mail_server[0] == '\0');
}

static const struct {
	const char *name;
	/* Counts how often a message goes that way: a mail for each
	 * recipient. */
	int (*count)(const struct lt_policy_notify *notify, const struct lt_message *message);
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
	return lt_min_i64(wait_s, LT_NOTIFY_RETRY_MAX_S);
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

/* Forgets messages that somebody removed meanwhile. */
static void
forget_gone(struct lt_round *round)
{
	int kept = 0;

	for (int i = 0; i < round->waiting_count; i++)
		if (is_listed(round, round->waiting[i].id))
			round->waiting[kept++] = round->waiting[i];
	round->waiting_count = kept;
}

/* ---- domains that put off a user's mails ---- */

/* Returns the domain of "ada@example.org"; a name alone is of the server's own. */
static const char *
domain_of(const char *to)
{
	const char *const at = strrchr(to, '@');

	return at != NULL ? at + 1 : "";
}

static struct lt_domain *
domain_find(struct lt_round *round, int64_t uid, const char *to)
{
	for (int i = 0; uid >= 0 && i < round->domain_count; i++)
		if (round->domains[i].uid == (uint32_t)uid &&
		    strcasecmp(round->domains[i].name, domain_of(to)) == 0)
			return &round->domains[i];
	return NULL;
}

static void
domain_put_off(struct lt_round *round, int64_t uid, const char *to)
{
	struct lt_domain *domain = domain_find(round, uid, to);

	if (uid < 0)
		return;
	if (domain == NULL) {
		domain = &round->domains[0];
		for (int i = 1; i < round->domain_count; i++)
			if (round->domains[i].due_ms < domain->due_ms)
				domain = &round->domains[i];
		if (round->domain_count < LT_NOTIFY_DOMAINS_MAX)
			domain = &round->domains[round->domain_count++];
		*domain = (struct lt_domain){.uid = (uint32_t)uid};
		snprintf(domain->name, sizeof(domain->name), "%s", domain_of(to));
	}
	domain->tries++;
	domain->due_ms = round->now_ms + 1000 * lt_round_wait_s(round->retry_s, domain->tries);
}

static void
domain_answers(struct lt_round *round, int64_t uid, const char *to)
{
	struct lt_domain *const domain = domain_find(round, uid, to);

	if (domain != NULL)
		*domain = round->domains[--round->domain_count];
}

/* One way to one recipient. False: it is not gone yet. */
static bool
send_one(struct lt_round *round, enum way_id way, const struct lt_sending *sending)
{
	const char *const id = sending->message->id;
	const char *const to = sending->to;
	const int64_t uid = to != NULL ? lt_message_uid(id) : LT_MESSAGE_OF_SITE;
	char name[LT_ADDRESS_SIZE + 16];
	struct lt_error failed = {0};

	snprintf(name, sizeof(name), "%s%s%s", LT_ROW(ways, way).name, to != NULL ? ":" : "",
	    to != NULL ? to : "");
	if (lt_sent_has(round->sent, id, name))
		return true;
	const struct lt_domain *const domain = to != NULL ? domain_find(round, uid, to) : NULL;
	if (domain != NULL && domain->due_ms > round->now_ms) {
		if (domain->due_ms < round->domain_due_ms)
			round->domain_due_ms = domain->due_ms;
		return false;
	}
	round->is_tried = true;
	if (round->is_away[way])
		return false;
	const int code = LT_ROW(ways, way).send(sending, &failed);
	if (code != LT_OK)
		lt_log(code == LT_EDENIED ? "refused" : "not_sent", "id=%s way=%s why=\"%s\"", id,
		    LT_ROW(ways, way).name, failed.text);
	round->is_away[way] = code == LT_ENET;
	if (to != NULL && code == LT_ESTALE)
		domain_put_off(round, uid, to);
	else if (to != NULL && code == LT_OK)
		domain_answers(round, uid, to);
	if (code != LT_OK && code != LT_EDENIED)
		return false;
	if (code == LT_OK)
		lt_log("sent", "id=%s way=%s", id, LT_ROW(ways, way).name);
	if (lt_sent_add(round->sent, id, name, sending->now_utc_s, &failed) != LT_OK)
		lt_log("not_noted", "id=%s why=\"%s\"", id, failed.text);
	return true;
}

/* Sends it by all ways. Returns true if it is gone by each. */
static bool
send_all(struct lt_round *round, const struct lt_message *message, int64_t now_utc_s)
{
	bool is_gone = true;
	int all = 0;

	for (int way = 0; way < WAY_COUNT; way++) {
		const int count = LT_ROW(ways, way).count(round->notify, message);

		for (int i = 0; i < count; i++) {
			const struct lt_sending sending = {round->notify, message,
			    way == WAY_MAIL ? message->to[i] : NULL, now_utc_s};

			is_gone &= send_one(round, (enum way_id)way, &sending);
		}
		all += count;
	}
	if (all == 0)
		lt_log("dropped", "id=%s why=\"the policy has no way for it\"", message->id);
	return is_gone;
}

/* Puts it off with its domain, or by its own count of tries. */
static void
put_off(struct lt_round *round, const char *id)
{
	struct lt_waiting *waiting = waiting_of(round, id);

	if (waiting == NULL) {
		if (round->waiting_count == LT_SPOOL_MAX)
			return;
		waiting = &round->waiting[round->waiting_count++];
		*waiting = (struct lt_waiting){0};
		snprintf(waiting->id, sizeof(waiting->id), "%s", id);
	}
	waiting->due_ms = round->domain_due_ms;
	if (round->is_tried) {
		waiting->tries++;
		waiting->due_ms =
		    round->now_ms + 1000 * lt_round_wait_s(round->retry_s, waiting->tries);
	}
	if (waiting->due_ms < round->due_ms)
		round->due_ms = waiting->due_ms;
}

/* Returns true if it may be removed. */
static bool
is_done(struct lt_round *round, const char *id, int64_t now_utc_s)
{
	static struct lt_message message;
	struct lt_error unread = {0};
	const int code = lt_spool_read(&message, round->notify->spool, id, &unread);

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
	lt_log(
	    "dropped", "id=%s why=\"not sent within %d days\"", id, LT_NOTIFY_GIVE_UP_S / LT_DAY_S);
	return true;
}

/* ---- who goes first ---- */

static int
by_user(const void *a, const void *b)
{
	const struct lt_turn *const x = a, *const y = b;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return strcmp(x->id, y->id);
}

static int
by_rank(const void *a, const void *b)
{
	const struct lt_turn *const x = a, *const y = b;

	return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : by_user(a, b);
}

/* The list as turns: the site's, then of each user one, then the second of each, and so on. */
static void
put_in_order(struct lt_round *round)
{
	struct lt_turn *const turns = round->turns;
	const int count = round->list.count;

	for (int i = 0; i < count; i++)
		turns[i] = (struct lt_turn){.id = round->list.ids[i],
		    .uid = lt_message_uid(round->list.ids[i]),
		    .rank = -1};
	qsort(turns, (size_t)count, sizeof(*turns), by_user);
	for (int i = 0; i < count; i++)
		if (turns[i].uid >= 0)
			turns[i].rank =
			    i > 0 && turns[i - 1].uid == turns[i].uid ? turns[i - 1].rank + 1 : 0;
	qsort(turns, (size_t)count, sizeof(*turns), by_rank);
}

int
lt_round_run(struct lt_round *round, int64_t now_utc_s, int64_t now_ms, struct lt_error *err)
{
	const char *const spool = round->notify->spool;
	const int64_t began_ms = lt_monotonic_ms();
	int code = lt_spool_list(&round->list, spool, err);

	round->left = 0;
	round->due_ms = INT64_MAX;
	round->now_ms = now_ms;
	memset(round->is_away, 0, sizeof(round->is_away));
	if (code != LT_OK)
		return code;
	forget_gone(round);
	put_in_order(round);
	for (int i = 0; i < round->list.count && code == LT_OK; i++) {
		const char *const id = round->turns[i].id;
		const struct lt_waiting *const waiting = waiting_of(round, id);

		round->left++;
		if (waiting != NULL && waiting->due_ms > now_ms) {
			if (waiting->due_ms < round->due_ms)
				round->due_ms = waiting->due_ms;
			continue;
		}
		/* An alert may have come: the rest goes with the next look. */
		if (round->turns[i].uid >= 0 && lt_monotonic_ms() - began_ms > LT_NOTIFY_TURN_MS) {
			round->due_ms = now_ms;
			continue;
		}
		round->is_tried = false;
		round->domain_due_ms = INT64_MAX;
		if (!is_done(round, id, now_utc_s)) {
			put_off(round, id);
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
