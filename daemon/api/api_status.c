/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/status, GET /v1/market, /v1/rebuild, /v1/reload: the daemon itself, for `lowtide doctor`
 * and `lowtide status`. The status is made from memory, so that it comes while a step fails: it
 * shows the failures. Figures of jobs and money are null for users who do not see all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access.h"
#include "base64.h"
#include "batch.h"
#include "currency.h"
#include "daemon.h"
#include "log.h"
#include "lookup.h"
#include "over_reason.h"
#include "periods.h"
#include "policy_follow.h"
#include "policy_load.h"
#include "quoted.h"
#include "rebuild.h"
#include "spool.h"
#include "text.h"
#include "units.h"

/* Until when it has said what was; 0: it has not. */
static int64_t
known_until(const struct lt_source *source)
{
	int64_t until_utc_s = 0;

	for (uint32_t i = 0; i < source->step_count; i++)
		if (source->steps[i].quality <= LT_QUALITY_MEASURED)
			until_utc_s = source->steps[i].end_utc_s;
	return until_utc_s;
}

static json_t *
source_json(const struct lt_source *source, int64_t now_utc_s)
{
	const struct lt_rate_step *const step = lt_source_step(source, now_utc_s);
	const int64_t until_utc_s = known_until(source);

	return json_pack("{s:s,s:s,s:s?,s:o,s:s?,s:s,s:o,s:o,s:o,s:o,s:s?,s:b}", "name",
	    source->policy->name, "adapter", source->adapter->name, "quantity",
	    step != NULL ? lt_quantity_name(source->quantity) : NULL, "value_now",
	    step != NULL ? json_real(step->value) : json_null(), "unit",
	    step != NULL ? lt_quantity_unit(source->quantity) : NULL, "quality",
	    lt_quality_name(step != NULL ? step->quality : LT_QUALITY_NONE), "issued",
	    lt_api_time(source->issued_utc_s), "age_s",
	    lt_api_optional(source->issued_utc_s != 0, now_utc_s - source->issued_utc_s),
	    "silent_s",
	    lt_api_optional(
		until_utc_s != 0, now_utc_s > until_utc_s ? now_utc_s - until_utc_s : 0),
	    "next_fetch", lt_api_time(source->next_fetch_utc_s), "last_error",
	    source->last_error[0] ? source->last_error : NULL, "replay", source->adapter->replay);
}

static json_t *
holds_json(const struct lt_budget_state *budget, const struct lt_access *access)
{
	const struct lt_open_holds *const open = &budget->open;

	if (!budget->has_snapshot || !lt_access_all(access))
		return json_null();
	return json_pack("{s:I,s:I,s:I}", "open", (json_int_t)open->count, "pending",
	    (json_int_t)open->pending, "pending_money_micros",
	    (json_int_t)open->pending_money_micros);
}

/* As it is on disk: that is what job_submit and SPANK have, should we fail to write a newer one. */
static json_t *
snapshot_json(const char *path, bool is_private, int64_t now_utc_s)
{
	struct lt_error err = {0};
	uint64_t generation = 0;
	int64_t made = 0;
	const bool has = lt_file_stamp(&generation, &made, path, is_private, &err) == LT_OK;

	return json_pack("{s:I,s:o,s:o,s:s?}", "generation", (json_int_t)generation, "compiled",
	    lt_api_time(has ? made : 0), "age_s",
	    lt_api_optional(has, now_utc_s > made ? now_utc_s - made : 0), "error",
	    has ? NULL : err.text);
}

/* Lines of the journal that the ledger could not take. */
static json_int_t
refused_adjustments(struct lt_ledger *ledger)
{
	int64_t count;

	return lt_ledger_get_number(ledger, LT_JOURNAL_REFUSED, 0, &count) ? (json_int_t)count : 0;
}

/* Runs settled above their holds, of the last 30 days, by reason. */
enum { DAYS = 30 }; /* that sums are of */

static json_t *
no_smoke_json(struct lt_ledger *ledger, int64_t now_utc_s)
{
	uint32_t count;

	return lt_ledger_no_smoke(ledger, now_utc_s - DAYS * LT_DAY_S, &count, NULL) == LT_OK
		   ? json_integer(count)
		   : json_null();
}

static json_t *
over_json(struct lt_ledger *ledger, int64_t now_utc_s)
{
	struct lt_over_sum sums[16];
	json_t *const list = json_array();
	const int count = lt_ledger_over(
	    ledger, now_utc_s - DAYS * LT_DAY_S, sums, sizeof(sums) / sizeof(sums[0]), NULL);

	for (int i = 0; i < count; i++)
		json_array_append_new(
		    list, json_pack("{s:s,s:b,s:I,s:I,s:I}", "reason", sums[i].reason, "defect",
			      lt_over_is_defect(sums[i].reason), "runs", (json_int_t)sums[i].runs,
			      "last_job_id", (json_int_t)sums[i].last_job_id, "over_micros",
			      (json_int_t)sums[i].over_micros));
	return list;
}

static void
add_name(json_t *object, const char *list, const char *name)
{
	json_array_append_new(json_object_get(object, list), json_string(name));
}

/* Are they of one machine, sold in one way, by "instance-type=A,zone=B,spot"? */
static bool
is_alike(const char *a, const char *b)
{
	static const char key[] = "instance-type=";
	const bool has_machine = strncmp(a, key, strlen(key)) == 0;
	const size_t length = has_machine ? strcspn(a, ",") : 0;

	return has_machine == (strncmp(b, key, strlen(key)) == 0) &&
	       (!has_machine || (strcspn(b, ",") == length && strncmp(a, b, length) == 0)) &&
	       lt_text_is_among("spot", a) == lt_text_is_among("spot", b);
}

static bool
is_mixed(const struct lt_partition *p, const struct lt_shape *shapes)
{
	for (uint32_t i = 1; i < p->shape_count; i++)
		if (!is_alike(shapes[p->first_shape].features, shapes[p->first_shape + i].features))
			return true;
	return false;
}

static void
add_pool(json_t *watch, const struct lt_partition *p, const struct lt_policy *policy)
{
	const struct lt_policy_partition *const from = lt_policy_partition_find(policy, p->name);

	if (!(p->flags & LT_PARTITION_NO_NODES))
		add_name(watch, "pools", p->name);
	else
		json_array_append_new(json_object_get(watch, "empty_pools"),
		    json_pack("{s:s,s:b,s:b}", "name", p->name, "scales",
			from != NULL && from->target_said && from->is_target, "known",
			p->shape_count > 0));
}

/* How Kubernetes is watched, and the figures that doctor compares; null at other sites, and for
 * users who do not see all. */
static json_t *
watch_json(const struct lt_daemon *d, const struct lt_access *access, int64_t now_utc_s)
{
	struct lt_batch_watch w;

	if (!lt_batch_watch(&w) || !lt_access_all(access))
		return json_null();
	json_t *const watch = json_pack(
	    "{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:o,s:s?,s:o,s:{s:b,s:o,s:o,s:s?},s:[],s:[],s:[],s:[],s:[],s:[]}",
	    "namespace", w.namespace, "place", w.places_anew ? "firm" : "soft", "waiting",
	    (json_int_t)w.waiting, "waiting_for_budget", (json_int_t)w.waiting_budget,
	    "waiting_for_others", (json_int_t)w.left, "unheld_pods", (json_int_t)w.unheld,
	    "unsuspended", (json_int_t)w.unsuspended, "balances_age_s",
	    lt_api_optional(w.balances_utc_s != 0, now_utc_s - w.balances_utc_s), "given_error",
	    w.given_failed[0] != '\0' ? w.given_failed : NULL, "away",
	    w.away_to_utc_s == 0
		? json_null()
		: json_pack("{s:I,s:I}", "from_utc_s", (json_int_t)w.away_from_utc_s, "to_utc_s",
		      (json_int_t)w.away_to_utc_s),
	    "watcher", "runs", w.runs, "heard_s",
	    lt_api_optional(w.heard_utc_s != 0, now_utc_s - w.heard_utc_s), "failed_s",
	    lt_api_optional(w.failed_utc_s != 0, now_utc_s - w.failed_utc_s), "error",
	    w.failed_utc_s != 0 ? w.failed : NULL, "pools", "empty_pools", "mixed_pools",
	    "priced_pools", "teams", "budgeted_teams");

	for (uint32_t i = 0; i < d->site.tables.partition_count; i++) {
		const struct lt_partition *const p = &d->site.tables.partitions[i];

		add_pool(watch, p, d->site.policy);
		if (lt_policy_partition_find(d->site.policy, p->name) != NULL &&
		    is_mixed(p, d->site.tables.shapes))
			add_name(watch, "mixed_pools", p->name);
	}
	for (int i = 0; i < d->site.policy->partition_count; i++)
		add_name(watch, "priced_pools", d->site.policy->partitions[i].name);
	for (uint32_t i = 0; i < d->site.tables.account_count; i++)
		add_name(watch, "teams", d->site.tables.accounts[i].name);
	for (int i = 0; i < d->site.policy->budget_count; i++)
		add_name(watch, "budgeted_teams", d->site.policy->budgets[i].team);
	return watch;
}

/* Messages that wait for lowtide-notify; null: the policy has no notify:. */
static json_t *
spool_json(const struct lt_policy *policy, int64_t now_utc_s)
{
	struct lt_spool_state state;
	struct lt_error err = {0};

	if (!policy->notify.is_set)
		return json_null();
	const bool is_read = lt_spool_look(&state, policy->notify.spool, &err) == LT_OK;
	return json_pack("{s:s,s:o,s:o,s:s?}", "path", policy->notify.spool, "waiting",
	    is_read ? json_integer(state.count) : json_null(), "oldest_s",
	    lt_api_optional(is_read && state.count > 0, now_utc_s - state.oldest_utc_s), "error",
	    is_read ? NULL : err.text);
}

/* The first month that can be closed and is not; null: none. */
static json_t *
unclosed_json(struct lt_daemon *d, int64_t now_utc_s)
{
	struct lt_period month;
	struct lt_error err = {0};
	bool has;

	if (lt_api_unclosed(d, &month, &has, &err) != LT_OK || !has)
		return json_null();
	char day[LT_DAY_TEXT_SIZE];

	if (now_utc_s < lt_api_close_from(day, d, &month))
		return json_null();
	return json_pack("{s:s,s:s,s:b}", "label", month.label, "since_day", day, "any_closed",
	    lt_ledger_closed_until(d->ledger) > 0);
}

/* Requests to Slurm for jobs that were moved, and their results. */
static json_t *
afterwards_json(const struct lt_daemon *d)
{
	return json_pack("{s:I,s:I,s:I,s:I}", "asked", (json_int_t)d->after.asked, "pause_s",
	    (json_int_t)d->after.pause_s, "home", (json_int_t)d->after.home, "barred",
	    (json_int_t)d->site.bars.count);
}

static json_t *
moved_json(const struct lt_moved_accounts *moved)
{
	json_t *const list = json_array();

	for (uint32_t i = 0; i < moved->count; i++)
		json_array_append_new(
		    list, json_pack("{s:s,s:s,s:s}", "account", moved->list[i].name, "from",
			      moved->list[i].from, "to", moved->list[i].to));
	return list;
}

static json_t *
off_json(const struct lt_off *off)
{
	char text[LT_ERROR_TEXT_SIZE];

	return off->is_off ? json_pack("{s:o,s:s,s:s,s:s}", "since", lt_api_time(off->since_utc_s),
				 "by", off->by, "reason", off->reason, "text",
				 lt_off_text(text, sizeof(text), off))
			   : json_null();
}

/* Adds the members beside the site's own facts. */
static void
add_more(json_t *to, struct lt_daemon *d, const struct lt_access *access, int64_t now)
{
	json_object_set_new(
	    to, "above_hold", lt_access_all(access) ? over_json(d->ledger, now) : json_null());
	json_object_set_new(
	    to, "no_smoke", lt_access_all(access) ? no_smoke_json(d->ledger, now) : json_null());
	json_object_set_new(to, "off", off_json(&d->site.off));
	json_object_set_new(
	    to, "moved", lt_access_all(access) ? moved_json(&d->site.tables.moved) : json_null());
	json_object_set_new(to, "unclosed", unclosed_json(d, now));
	json_object_set_new(to, "drained", lt_api_drained(d, now, NULL));
	json_object_set_new(to, "kubernetes", watch_json(d, access, now));
	json_object_set_new(to, "spool", spool_json(d->site.policy, now));
	json_object_set_new(to, "afterwards", afterwards_json(d));
	json_object_set_new(to, "pass",
	    json_pack("{s:I,s:I}", "last_ms", (json_int_t)d->pass_took_ms, "longest_ms",
		(json_int_t)d->pass_longest_ms));
}

int
lt_api_status(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_access access = lt_access_of(d, request);
	const int64_t now = request->now_utc_s;
	char host[256] = "", failed[LT_ERROR_TEXT_SIZE];

	gethostname(host, sizeof(host) - 1);
	lt_steps_text(failed, &d->steps);
	json_t *const sources = json_array();
	for (int i = 0; i < d->signals.source_count; i++)
		json_array_append_new(sources, source_json(&d->signals.sources[i], now));
	json_t *const budget = snapshot_json(d->paths.snapshot, true, now);
	json_object_set_new(
	    budget, "ready", json_boolean(d->budget.has_snapshot && d->budget.snapshot.ready));
	*reply = json_pack("{s:s,s:i,s:s,s:b,s:s,s:s,s:s,s:s,s:s,s:o,"
			   "s:{s:s,s:s,s:o,s:s?},s:o,s:o,s:{s:I,s:I,s:I},s:o,s:{s:s,s:I},"
			   "s:s?,s:I,s:o,s:s?,s:s?,s:s,s:I,s:i}",
	    "version", LT_VERSION, "pid", (int)getpid(), "host", host, "acting", d->acting, "mode",
	    lt_mode_name(d->site.policy->mode), "currency", d->site.policy->currency, "cluster",
	    d->site.tables.conf.cluster, "program", lt_batch_program, "system",
	    lt_batch_words.system, "started", lt_api_time(d->started_utc_s), "policy", "path",
	    d->args.config, "in_force", d->site.policy->path, "loaded",
	    lt_api_time(d->site.policy_loaded_utc_s), "error",
	    d->policy_error[0] ? d->policy_error : NULL, "market",
	    snapshot_json(d->paths.market, false, now), "budget", budget, "ring", "absorbed",
	    (json_int_t)d->ring.ingested, "highest", (json_int_t)d->ring.highest, "slots",
	    (json_int_t)LT_RING_SLOTS, "holds", holds_json(&d->budget, &access), "slurm", "release",
	    d->site.tables.conf.release, "dbd_queue", (json_int_t)d->charges.dbd_queue, "error",
	    failed[0] ? failed : NULL, "adjustments_refused", refused_adjustments(d->ledger),
	    "sources", sources, "state_dir", d->args.state, "run_dir", d->args.run, "timezone",
	    d->site.policy->timezone, "now_utc_s", (json_int_t)now, "currency_decimals",
	    lt_currency_decimals(d->site.policy->currency));
	if (*reply != NULL)
		add_more(*reply, d, &access, now);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "status: out of memory");
}

/* Reads the policy file now, and says whether it is in force. */
int
lt_api_reload(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	struct lt_error err = {0};

	lt_log("reload", "uid=%u", request->uid);
	if (lt_daemon_reload_policy(d, request->now_utc_s, &err) != LT_OK)
		return lt_api_error(
		    reply, 409, "%s; the policy before it stays in force", err.text);
	*reply = json_pack("{s:s,s:s,s:i,s:i,s:i}", "path", d->site.policy->path, "mode",
	    lt_mode_name(d->site.policy->mode), "sources", d->site.policy->source_count,
	    "partitions", d->site.policy->partition_count, "budgets", d->site.policy->budget_count);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}

static const char *const stages[LT_REBUILD_STAGE_COUNT] = {[LT_REBUILD_NONE] = "none",
    [LT_REBUILD_RUNS] = "running",
    [LT_REBUILD_DONE] = "done",
    [LT_REBUILD_FAILED] = "failed"};

static void
rebuild_text(char *text, size_t size, const struct lt_rebuild *r, const struct lt_policy *policy)
{
	char money[48];

	if (r->stage == LT_REBUILD_NONE)
		snprintf(text, size, "none since lowtided was started");
	else if (r->stage == LT_REBUILD_FAILED)
		snprintf(text, size, "%s", r->error);
	else if (r->stage == LT_REBUILD_RUNS)
		snprintf(text, size, "%zu rows of slurmdbd so far", r->key_count);
	else if (r->kept_runs == 0)
		snprintf(text, size, "%u runs are charged as slurmdbd has them", r->runs);
	else
		snprintf(text, size,
		    "%u runs are charged as slurmdbd has them; %u of them (%s) slurmdbd has no more: kept as they were charged",
		    r->runs, r->kept_runs,
		    lt_money_text(money, sizeof(money), r->kept_micros, policy->currency));
}

/* GET: how far the last one is. POST: begin one. */
int
lt_api_rebuild(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_rebuild *const r = &d->rebuild;
	struct lt_error err = {0};
	char text[LT_ERROR_TEXT_SIZE];

	if (strcmp(request->method, "POST") == 0) {
		lt_log("rebuild", "uid=%u", request->uid);
		if (lt_rebuild_start(d, &err) != LT_OK)
			return lt_api_error(reply, 503, "%s", err.text);
	}
	const bool done = r->stage == LT_REBUILD_DONE;
	rebuild_text(text, sizeof(text), r, d->site.policy);
	*reply = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "state", LT_WORD(stages, r->stage),
	    "from", lt_api_time(r->from_utc_s), "at", lt_api_time(r->at_utc_s), "runs",
	    lt_api_optional(done, r->runs), "charges_micros",
	    lt_api_optional(done, r->money_micros), "kept_runs",
	    lt_api_optional(done, r->kept_runs), "kept_micros",
	    lt_api_optional(done, r->kept_micros), "text", text);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}

int
lt_api_market(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	enum { PAGE = 360 * 1024 }; /* 480 KiB as base64 */
	const char *const text = lt_api_value(request, "offset");
	int64_t offset = 0;
	struct lt_error err = {0};
	unsigned char *bytes = NULL;
	size_t size = 0;

	if (text != NULL && lt_int64_parse(text, 0, LT_FILE_BYTES_MAX, &offset, &err) != LT_OK)
		return lt_api_error(reply, 400, "offset: %s", err.text);
	if (!d->site.has_market)
		return lt_api_error(reply, 503, "no market yet");
	/* Version 0.2 does not say which it reads. */
	if ((lt_api_value(request, "format") != NULL ? lt_market_pack : lt_market_pack_before)(
		&d->site.market, &bytes, &size, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	const size_t at = (size_t)offset < size ? (size_t)offset : size;
	const size_t length = size - at < PAGE ? size - at : PAGE;
	char *const page = malloc(4 * ((length + 2) / 3) + 1);
	if (page != NULL) {
		lt_base64(page, bytes + at, length);
		*reply = json_pack("{s:I,s:I,s:I,s:s}", "generation",
		    (json_int_t)d->site.market.generation, "offset", (json_int_t)at, "size",
		    (json_int_t)size, "base64", page);
	}
	free(page);
	free(bytes);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}
