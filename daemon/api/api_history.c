/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/history, POST /v1/history/forget: the lengths of a user's jobs that forecasts learn from,
 * read from the ledger and forgotten on request. Users see their own; only those who see all runs
 * see others'. A failure is 503.
 */
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "daemon.h"
#include "log.h"
#include "units.h"

enum { KINDS_MAX = 1000 }; /* of an answer; some 250 KiB */

/* Seconds; null: it may be the limit. */
static json_t *
figure_json(uint32_t seconds)
{
	return lt_api_optional(seconds != LT_HISTORY_NEVER, seconds);
}

static json_t *
speeds_json(struct lt_ledger *ledger, const struct lt_kind *kind)
{
	struct lt_speed speeds[LT_SPEEDS_MAX];
	const int count = lt_ledger_speeds(ledger, &kind->key, speeds, NULL);
	json_t *const list = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(list,
		    json_pack("{s:s,s:I,s:I}", "gpu", speeds[i].gpu, "runs",
			(json_int_t)speeds[i].runs, "median_s", (json_int_t)speeds[i].median_s));
	return list;
}

static json_t *
kind_json(struct lt_ledger *ledger, const struct lt_kind *kind)
{
	const struct lt_history_figures *const f = &kind->figures;
	const int64_t limit_s = lt_history_band_limit_s(kind->band, kind->group);

	return json_pack("{s:s,s:s,s:I,s:I,s:I,s:o,s:b,s:I,s:o,s:o,s:b,s:o,s:o,s:o}", "account",
	    kind->account, "name", kind->name, "nodes", (json_int_t)kind->nodes, "cpus",
	    (json_int_t)kind->cpus, "gpus", (json_int_t)kind->gpus, "limit_up_to_s",
	    lt_api_optional(limit_s > 0, limit_s), "interactive", (kind->band & 1) != 0, "runs",
	    (json_int_t)f->runs, "median_s", figure_json(f->median), "upper_s",
	    figure_json(f->upper), "upper_is_longest", f->upper_is_longest, "limit_ratio",
	    kind->ratio_ppm == LT_HISTORY_NEVER ? json_null()
						: json_real((double)kind->ratio_ppm / LT_MICROS),
	    "last", lt_api_time(kind->last_utc_s), "by_gpu", speeds_json(ledger, kind));
}

int
lt_api_history(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *const user = lt_api_value(request, "user");
	const char *const said = lt_api_value(request, "name");
	struct lt_kinds_asked asked = {.uid = request->uid, .most = KINDS_MAX + 1};
	char name[LT_NAME_SIZE] = "";
	struct lt_kind *kinds = NULL;
	uint32_t count = 0;
	struct lt_error err = {0};

	const struct lt_access access = lt_access_of(d, request);
	const int status = user == NULL ? 200
					: lt_access_user(d, request,
					      &(struct lt_access_named){.user = user,
						  .others = lt_access_all(&access),
						  .who = "root, SlurmUser, operators and viewers"},
					      &asked.uid, reply);
	if (status != 200)
		return status;
	if (said != NULL)
		lt_history_fold(name, sizeof(name), said);
	asked.name = name;
	if (lt_ledger_kinds_of(d->ledger, &asked, &kinds, &count, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	json_t *const list = json_array();
	for (uint32_t i = 0; i < count && i < KINDS_MAX; i++)
		json_array_append_new(list, kind_json(d->ledger, &kinds[i]));
	free(kinds);
	*reply = json_pack("{s:I,s:f,s:I,s:o,s:b}", "uid", (json_int_t)asked.uid, "confidence",
	    (double)d->site.policy->deadline_confidence_ppm / LT_MICROS, "history_days",
	    (json_int_t)d->site.policy->history_days, "groups", list, "more", count > KINDS_MAX);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}

int
lt_api_forget(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const char *user = NULL;
	uint32_t uid, count = 0;
	struct lt_error err = {0};
	json_error_t error;

	if (request->body == NULL ||
	    json_unpack_ex(request->body, &error, 0, "{s:s}", "user", &user) != 0)
		return lt_api_error(reply, 400, "want {user}");
	const int status = lt_access_user(d, request,
	    &(struct lt_access_named){
		.user = user, .others = request->is_admin, .who = "root, SlurmUser and that user"},
	    &uid, reply);
	if (status != 200)
		return status;
	if (lt_ledger_forget(d->ledger, uid, request->now_utc_s, &count, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	/* The file follows in the next pass. */
	d->charges.history_written = false;
	d->charges.next.history = 0;
	lt_log("history_forgotten", "uid=%u runs=%u by=%u", uid, count, request->uid);
	*reply = json_pack("{s:I,s:I}", "uid", (json_int_t)uid, "runs", (json_int_t)count);
	return 200;
}
