/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST and GET /v1/notice: nodes that their owner takes back, as reported by an admin, or by
 * lowtide-node on the node itself. A notice is stored in the ledger before its jobs are asked for
 * checkpoints. A report by anybody else is refused (access_node.c).
 */
#include <string.h>

#include "access.h"
#include "api.h"
#include "daemon.h"
#include "notice.h"
#include "units.h"

enum { LONGEST_S = 24 * LT_HOUR_S };

static uint32_t
count_there(const struct lt_daemon *d, const char *node)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < d->jobs.list.count; i++)
		count += lt_notice_is_there(&d->jobs.list.jobs[i], node);
	return count;
}

static json_int_t
left_s(int64_t at_utc_s, int64_t now_utc_s)
{
	return at_utc_s > now_utc_s ? at_utc_s - now_utc_s : 0;
}

static json_t *
notice_json(const struct lt_daemon *d, const struct lt_notice *notice, int64_t now_utc_s)
{
	const int64_t requeue_utc_s = lt_notice_requeue_utc_s(&d->site.tables, notice->end_utc_s);

	return json_pack("{s:s,s:o,s:o,s:o,s:I,s:I,s:I}", "node", notice->node, "told",
	    lt_api_time(notice->told_utc_s), "requeue", lt_api_time(requeue_utc_s), "end",
	    lt_api_time(notice->end_utc_s), "requeue_in_s", left_s(requeue_utc_s, now_utc_s),
	    "end_in_s", left_s(notice->end_utc_s, now_utc_s), "jobs",
	    (json_int_t)count_there(d, notice->node));
}

json_t *
lt_api_drained(const struct lt_daemon *d, int64_t now_utc_s, const char *only)
{
	json_t *const list = json_array();

	for (uint32_t i = 0; i < d->notice.notice_count; i++) {
		const struct lt_notice *const notice = &d->notice.notices[i];

		if (notice->stage != LT_NOTICE_LEAVES &&
		    (only == NULL || strcmp(notice->node, only) == 0))
			json_array_append_new(
			    list, json_pack("{s:s,s:o,s:I,s:b}", "node", notice->node, "end",
				      lt_api_time(notice->end_utc_s), "gone_s",
				      left_s(now_utc_s, notice->end_utc_s), "withdrawn",
				      notice->stage == LT_NOTICE_STAYS));
	}
	return list;
}

/* only: a node, or NULL for all. */
static json_t *
notices_json(const struct lt_daemon *d, int64_t now_utc_s, const char *only)
{
	json_t *const list = json_array();

	for (uint32_t i = 0; i < d->notice.notice_count; i++) {
		const struct lt_notice *const notice = &d->notice.notices[i];

		if (notice->stage == LT_NOTICE_LEAVES &&
		    (only == NULL || strcmp(notice->node, only) == 0))
			json_array_append_new(list, notice_json(d, notice, now_utc_s));
	}
	return json_pack(
	    "{s:o,s:o}", "notices", list, "drained", lt_api_drained(d, now_utc_s, only));
}

static int
refuse(json_t **reply, const struct lt_error *err)
{
	return lt_api_error(reply,
	    err->code == LT_ENOENT   ? 404
	    : err->code == LT_EINPUT ? 400
				     : 503,
	    "%s", err->text);
}

int
lt_api_notices(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	struct lt_error err = {0};

	/* A node that is missing in the list would be resumed, and get jobs. */
	if (lt_notice_know(d->ledger, &d->notice, &err) != LT_OK)
		return refuse(reply, &err);
	*reply = notices_json(d, request->now_utc_s, NULL);
	return 200;
}

int
lt_api_notice(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_books books = lt_daemon_books(d);
	const char *node = NULL;
	json_int_t in_s = -1;
	int withdraw = false;
	struct lt_error err = {0};

	const bool is_good = request->body != NULL &&
			     json_unpack(request->body, "{s:s,s?I,s?b}", "node", &node, "in_s",
				 &in_s, "withdraw", &withdraw) == 0 &&
			     node[0] != '\0' && withdraw != (in_s >= 0) && in_s <= LONGEST_S;
	const int allowed = lt_access_check_node(d, request, is_good ? node : NULL, reply);

	if (allowed != 200)
		return allowed;
	if (!is_good)
		return lt_api_error(reply, 400,
		    "want {node, in_s} of 0 to %d seconds, or {node, withdraw: true}",
		    (int)LONGEST_S);
	const int code = withdraw ? lt_notice_withdraw(&d->site, d->ledger, &d->notice, node, &err)
				  : lt_notice_take(&d->site, &books, &d->notice, node,
					request->now_utc_s + in_s, request->now_utc_s, &err);

	if (code != LT_OK)
		return refuse(reply, &err);
	*reply = notices_json(d, request->now_utc_s, request->is_admin ? NULL : node);
	return 200;
}
