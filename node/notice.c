/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes a notice from its source to lowtided: keeps the state of the notice between two looks
 * (pure), remembers over a restart that lowtided may have one (an empty file "told" in the run
 * directory), and sends it (POST /v1/notice, sealed by munge). Seconds are sent, not times: clocks
 * of two hosts differ. A failure to send is returned; the caller repeats the task that
 * lt_watch_task() still names.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "notice.h"
#include "seal.h"

/* ---- the state of a notice ---- */

static bool
is_same(int64_t left_utc_s, int64_t right_utc_s)
{
	const int64_t apart_s = left_utc_s - right_utc_s;

	return apart_s <= LT_WATCH_SAME_S && apart_s >= -LT_WATCH_SAME_S;
}

bool
lt_watch_see(struct lt_watch *watch, const struct lt_reading *reading, int64_t now_utc_s)
{
	const bool was_noticed = watch->is_noticed;
	const int64_t old_utc_s = watch->end_utc_s;

	watch->is_seen = true;
	watch->is_noticed = reading->is_noticed;
	if (!reading->is_noticed)
		return was_noticed;
	if (reading->has_end)
		watch->end_utc_s = reading->end_utc_s;
	else if (!was_noticed)
		watch->end_utc_s = now_utc_s + reading->lead_s;
	return !was_noticed || !is_same(watch->end_utc_s, old_utc_s);
}

enum lt_watch_task
lt_watch_task(const struct lt_watch *watch)
{
	if (watch->is_noticed)
		return watch->is_told && is_same(watch->end_utc_s, watch->told_end_utc_s)
			   ? LT_WATCH_NOTHING
			   : LT_WATCH_TELL;
	return watch->is_seen && watch->is_tried ? LT_WATCH_WITHDRAW : LT_WATCH_NOTHING;
}

void
lt_watch_try(struct lt_watch *watch)
{
	watch->is_tried = true;
	watch->is_told = false;
}

void
lt_watch_heard(struct lt_watch *watch, enum lt_watch_task task, int64_t end_utc_s)
{
	watch->is_told = watch->is_tried = task == LT_WATCH_TELL;
	watch->told_end_utc_s = end_utc_s;
}

/* ---- over a restart ---- */

static void
path_of(char path[1024], const char *run_dir)
{
	snprintf(path, 1024, "%s/told", run_dir);
}

bool
lt_told_read(const char *run_dir)
{
	char path[1024];

	path_of(path, run_dir);
	return access(path, F_OK) == 0;
}

int
lt_told_write(const char *run_dir, bool is_told, struct lt_error *err)
{
	char path[1024];
	int fd = -1;

	path_of(path, run_dir);
	if (!is_told && unlink(path) != 0 && errno != ENOENT)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (!is_told)
		return LT_OK;
	(void)mkdir(run_dir, 0755); /* there already, or open() says why not */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	close(fd);
	return LT_OK;
}

/* ---- to lowtided ---- */

int
lt_tell_refused(const struct lt_sealed_reply *reply, struct lt_error *err)
{
	json_t *const body = json_loadb(reply->body, reply->length, 0, NULL);
	const char *const said = json_string_value(json_object_get(body, "error"));
	const int code = lt_fail(err, reply->status == 503 ? LT_ENET : LT_EDENIED,
	    "lowtided answers with status %ld: %s", reply->status, said != NULL ? said : "");

	json_decref(body);
	return code;
}

int
lt_tell_ask(struct lt_sealed_reply *reply, const char *server, const struct lt_tell_words *words,
    struct lt_error *err)
{
	const struct lt_seal_question question = {.method = "POST",
	    .path = words->path,
	    .body = words->body,
	    .connect_ms = LT_TELL_CONNECT_MS,
	    .timeout_ms = LT_TELL_MS};

	return lt_servers_ask(reply, server, &question, err);
}

int64_t
lt_tell_left_s(const struct lt_tell *tell, int64_t end_utc_s)
{
	return end_utc_s > tell->now_utc_s ? end_utc_s - tell->now_utc_s : 0;
}

static char *
body_of(const struct lt_tell *tell, enum lt_watch_task task, int64_t end_utc_s)
{
	json_t *const body = task == LT_WATCH_WITHDRAW
				 ? json_pack("{s:s,s:b}", "node", tell->node, "withdraw", 1)
				 : json_pack("{s:s,s:I}", "node", tell->node, "in_s",
				       (json_int_t)lt_tell_left_s(tell, end_utc_s));
	char *const text = json_dumps(body, JSON_COMPACT);

	json_decref(body);
	return text;
}

int
lt_tell(const struct lt_tell *tell, enum lt_watch_task task, int64_t end_utc_s, bool *had_it,
    struct lt_error *err)
{
	char *const body = body_of(tell, task, end_utc_s);
	const struct lt_tell_words words = {"/v1/notice", body};
	struct lt_sealed_reply reply = {0};

	if (body == NULL)
		return lt_fail(err, LT_EINPUT, "node: want UTF-8");
	*had_it = true;
	if (lt_tell_ask(&reply, tell->server, &words, err) == LT_OK) {
		/* Withdrawn already, or never taken. */
		*had_it = reply.status != 404 || task != LT_WATCH_WITHDRAW;
		if (reply.status != 200 && *had_it)
			lt_tell_refused(&reply, err);
	}
	free(reply.body);
	free(body);
	return err->code;
}
