/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST /v1/notice. Seconds go over, not times: clocks of two hosts differ.
 */
#include <jansson.h>
#include <stdlib.h>

#include "servers.h"
#include "tell.h"

int
lt_tell_refused(const struct lt_sealed_reply *reply, struct lt_error *err)
{
	json_t *const body = json_loadb(reply->body, reply->length, 0, NULL);
	const char *const said =
	    json_string_value(json_object_get(body, "error"));
	const int code =
	    lt_fail(err, reply->status == 503 ? LT_ENET : LT_EDENIED,
		"lowtided answers with status %ld: %s", reply->status,
		said != NULL ? said : "");

	json_decref(body);
	return code;
}

int
lt_tell_ask(struct lt_sealed_reply *reply, const char *server,
    const struct lt_tell_words *words, struct lt_error *err)
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
	json_t *const body =
	    task == LT_WATCH_WITHDRAW
		? json_pack("{s:s,s:b}", "node", tell->node, "withdraw", 1)
		: json_pack("{s:s,s:I}", "node", tell->node, "in_s",
		      (json_int_t)lt_tell_left_s(tell, end_utc_s));
	char *const text = json_dumps(body, JSON_COMPACT);

	json_decref(body);
	return text;
}

int
lt_tell(const struct lt_tell *tell, enum lt_watch_task task, int64_t end_utc_s,
    bool *had_it, struct lt_error *err)
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
