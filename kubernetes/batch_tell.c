/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes Events on Jobs for their users, and balances into a ConfigMap for the admission policies.
 * A failure is logged; balances are sent again by the next pass.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "log.h"
#include "lookup.h"
#include "object.h"
#include "site.h"
#include "size.h"
#include "text.h"
#include "text_mend.h"
#include "units.h"

enum {
	PATH_BYTES = 512,
	NAME_BYTES = 128,
	TEXT_BYTES = 1024,    /* of an Event: the API server's own limit */
	BALANCES_EVERY_S = 2, /* at most so often, when they change */
	/* Balances are sent this often, to show that lowtide is there: the admission policies
	 * ignore what is older than four times that. */
	BALANCES_AGAIN_S = 30,
};

void
lt_kube_tell(
    const struct lt_kube_known_job *job, const struct lt_kube_told *told, int64_t now_utc_s)
{
	const struct lt_kube_job *const f = &job->facts;
	const char *const namespace = lt_kube_job_text(f, LT_KUBE_NAMESPACE);
	char path[PATH_BYTES], now[32], text[TEXT_BYTES];
	struct lt_error err = {0};

	if (!lt_kube_spend())
		return;
	lt_copy(text, sizeof(text), told->text);
	lt_text_whole(text);
	lt_utc_text(now, sizeof(now), now_utc_s);
	snprintf(path, sizeof(path), "/api/v1/namespaces/%s/events", namespace);
	json_t *const event = json_pack("{s:s,s:s,s:{s:s,s:s},s:{s:s,s:s,s:s,s:s,s:s},s:s,s:s,s:s,"
					"s:{s:s},s:s,s:s,s:i}",
	    "apiVersion", "v1", "kind", "Event", "metadata", "generateName", "lowtide.",
	    "namespace", namespace, "involvedObject", "apiVersion", f->is_pod ? "v1" : "batch/v1",
	    "kind", f->is_pod ? "Pod" : "Job", "namespace", namespace, "name",
	    lt_kube_job_text(f, LT_KUBE_NAME), "uid", job->uid, "type", told->type, "reason",
	    told->reason, "message", text, "source", "component", "lowtide", "firstTimestamp", now,
	    "lastTimestamp", now, "count", 1);
	const struct lt_kube_request request = {.method = "POST", .path = path, .body = event};
	if (lt_kube_do(lt_kube_site.kube, &request, NULL, &err) != LT_OK)
		lt_log("event_lost", "job=%u error=\"%s\"", job->id, err.text);
	json_decref(event);
}

/* ---- balances ---- */

static void
put_text(json_t *data, const char *prefix, const char *name, const char *text)
{
	char key[NAME_BYTES + 16];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	json_object_set_new(data, key, json_string(text));
}

static void
put_balance(json_t *data, const char *prefix, const char *name, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	put_text(data, prefix, name, text);
}

/* The least of what holds from now on: who asked to wait is held for by the hours that were
 * chosen. */
static double
least_from(const struct lt_series *series, int64_t now_utc_s)
{
	uint32_t i = lt_series_index(series, now_utc_s);
	double least = series->value[i];

	while (++i < series->count)
		least = fmin(least, series->value[i]);
	return least;
}

/* Millionths of a GPU that an nvidia.com/gpu is at least: where they are shared, or cut, it is a
 * part of one. */
static uint32_t
least_gpu_micro(void)
{
	const struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	uint32_t least = LT_KUBE_WHOLE_GPU;

	for (uint32_t i = 0; i < c->node_count; i++) {
		const struct lt_kube_gpu *const gpu =
		    lt_kube_gpus_find(&c->nodes[i].facts.gpu_kinds, "nvidia.com/gpu");

		if (gpu != NULL && gpu->micro < least)
			least = gpu->micro;
	}
	return least;
}

enum kind { MONEY, CARBON, KINDS }; /* of budgets */
static const char *const kind_prefixes[KINDS] = {
    [MONEY] = "",
    [CARBON] = "carbon-",
};

/* Micros, or mg CO2e, of a node and hour; -1: not known. The carbon is that of lt_quote_hold(). */
static double
least_rate(
    const struct lt_market *market, const struct lt_partition *p, enum kind kind, int64_t now_utc_s)
{
	const double power_w = p->node_idle_w + p->node_cpu_w + p->node_gpu_w;
	double intensity = p->worst_intensity;

	if (!(p->flags & LT_PARTITION_MANAGED))
		return -1;
	if (kind == MONEY)
		return p->price_series < 0
			   ? -1
			   : least_from(&market->series[p->price_series], now_utc_s);
	if (p->carbon_series >= 0)
		intensity = least_from(&market->series[p->carbon_series], now_utc_s);
	else if (intensity <= 0)
		return -1;
	return power_w <= 0
		   ? -1
		   : power_w * p->pue * fmax(intensity, 0) + p->embodied_g_per_node_hour * 1000;
}

/* The part of such a node that so many millionths of a GPU are, or, of 0, a CPU: money by what it
 * is worth, carbon by the resource of which it takes most; 0 = the node has none. */
static double
part_of(const struct lt_shape *shape, enum kind kind, uint32_t gpu_micro)
{
	const double parts = gpu_micro > 0 ? (double)shape->exact.gpu_micro / gpu_micro
					   : (double)shape->exact.cpu_milli / 1000;

	if (parts <= 0)
		return 0;
	return (kind == MONEY ? lt_weight_of(shape, gpu_micro > 0) : 1) / parts;
}

/* The least of a part of a node for an hour, over all pools of which it is known: what a Job is
 * held for is never less. Rounded down; 0 = not known. */
static int64_t
least_of(const struct lt_market *market, enum kind kind, bool of_gpus, int64_t now_utc_s)
{
	const uint32_t least_gpu = least_gpu_micro();
	double least = -1;

	for (uint32_t i = 0; i < market->partition_count; i++) {
		const struct lt_partition *const p = &market->partitions[i];
		const double rate = least_rate(market, p, kind, now_utc_s);

		for (uint32_t k = 0; rate >= 0 && k < p->shape_count; k++) {
			const double part = part_of(
			    &market->shapes[p->first_shape + k], kind, of_gpus ? least_gpu : 0);

			if (part > 0 && (least < 0 || rate * part < least))
				least = rate * part;
		}
	}
	return least > 0 ? (int64_t)least : 0;
}

static int64_t
amount_of(const struct lt_amount *amount, enum kind kind)
{
	return kind == MONEY ? amount->money_micros : amount->carbon_mg;
}

struct balance { /* the tightest of a team's */
	const struct lt_period *period;
	int64_t available;
};

static bool
find_balance(struct balance *out, const struct lt_budget_snapshot *s,
    const struct lt_account *account, enum kind kind, int64_t now_utc_s)
{
	*out = (struct balance){.available = INT64_MAX};
	for (uint32_t i = 0; i < account->binding_count; i++) {
		const struct lt_budget *const budget =
		    &s->budgets[s->bindings[account->first_binding + i]];

		if (budget->on_exceed != LT_RULE_REJECT)
			continue;
		for (int p = 0; p < LT_PERIODS; p++) {
			const struct lt_period *const at = &budget->periods[p];
			const bool is_limited =
			    kind == MONEY ? at->limit.has_money : at->limit.has_carbon;
			const int64_t available = amount_of(&at->limit, kind) -
						  amount_of(&at->settled, kind) -
						  amount_of(&at->held, kind);

			if (now_utc_s < at->start_utc_s || now_utc_s >= at->end_utc_s ||
			    !is_limited || available >= out->available)
				continue;
			out->period = at;
			out->available = available;
		}
	}
	return out->period != NULL;
}

static void
put_balances(json_t *data, const struct lt_budget_snapshot *s, enum kind kind, int64_t now_utc_s)
{
	const char *const prefix = LT_WORD(kind_prefixes, kind);

	for (uint32_t i = 0; i < s->account_count; i++) {
		const struct lt_account *const account = &s->accounts[i];
		struct balance b;
		char name[NAME_BYTES];

		if (!find_balance(&b, s, account, kind, now_utc_s))
			continue;
		snprintf(name, sizeof(name), "%s.", account->name);
		const int64_t assumed_s = lt_kube_least_assumed_s(account->name);
		if (assumed_s > 0)
			put_balance(data, name, "assumed", assumed_s);
		snprintf(name, sizeof(name), "%s.%s", account->name, prefix);
		put_balance(data, name, "limit", amount_of(&b.period->limit, kind));
		put_balance(data, name, "spent", amount_of(&b.period->settled, kind));
		put_balance(data, name, "held", amount_of(&b.period->held, kind));
		put_balance(data, name, "available", b.available);
		put_text(data, name, "period", b.period->label);
	}
}

static json_t *
balances_of(const struct lt_batch_view *view, int64_t now_utc_s)
{
	static const char *const unknown[LT_RULE_COUNT] = {
	    [LT_RULE_REJECT] = "refuse",
	    [LT_RULE_HOLD] = "hold",
	    [LT_RULE_WARN] = "admit",
	    [LT_RULE_ALLOW] = "admit",
	};
	const struct lt_market *const market = view->market;
	json_t *const data =
	    json_pack("{s:s,s:s,s:s}", "mode", lt_mode_name(market->mode), "currency",
		market->currency, "on_unknown", LT_WORD(unknown, view->budgets->on_unknown));

	for (int k = 0; k < KINDS; k++) {
		const enum kind kind = (enum kind)k;
		const char *const prefix = LT_WORD(kind_prefixes, kind);

		put_balance(data, prefix, "gpu-hour", least_of(market, kind, true, now_utc_s));
		put_balance(data, prefix, "cpu-hour", least_of(market, kind, false, now_utc_s));
		put_balances(data, view->budgets, kind, now_utc_s);
	}
	return data;
}

static uint64_t
version_of(const json_t *object)
{
	return strtoull(
	    lt_kube_string(json_object_get(object, "metadata"), "resourceVersion"), NULL, 10);
}

/* All of data, also what is no more in it. */
static int
send_balances(json_t *data, struct lt_error *err)
{
	struct lt_kube_site *const site = &lt_kube_site;
	char path[PATH_BYTES], one[PATH_BYTES + NAME_BYTES];

	snprintf(path, sizeof(path), "/api/v1/namespaces/%s/configmaps", site->namespace);
	snprintf(one, sizeof(one), "%s/" LT_KUBE_BALANCES_NAME, path);
	json_t *const map = json_pack("{s:s,s:s,s:{s:s,s:s},s:O}", "apiVersion", "v1", "kind",
	    "ConfigMap", "metadata", "name", LT_KUBE_BALANCES_NAME, "namespace", site->namespace,
	    "data", data);
	const struct lt_kube_request replace = {.method = "PUT", .path = one, .body = map};
	const struct lt_kube_request create = {.method = "POST", .path = path, .body = map};
	json_t *answer = NULL;
	int code = lt_kube_do(site->kube, &replace, &answer, err);
	if (code == LT_ENOENT)
		code = lt_kube_do(site->kube, &create, &answer, err);
	if (code == LT_OK)
		site->balances_version = version_of(answer);
	json_decref(answer);
	json_decref(map);
	return code;
}

/* A change that is not ours is newer than ours. */
void
lt_kube_see_balances(const struct lt_kube_line *line)
{
	struct lt_kube_site *const site = &lt_kube_site;
	bool is_theirs = false;

	if (line->event == LT_KUBE_FAILED)
		lt_log("balances_unwatched", "error=\"%s\"", line->text);
	else if (line->event == LT_KUBE_BEGIN)
		site->balances_listed = false;
	else if (line->event == LT_KUBE_END)
		is_theirs = !site->balances_listed &&
			    strtoull(line->text, NULL, 10) > site->balances_version;
	else
		is_theirs = version_of(line->object) > site->balances_version;
	site->balances_listed |= line->event == LT_KUBE_SEEN;
	if (!is_theirs || site->balances == NULL)
		return;
	lt_log("balances_changed", "by=\"somebody else\"");
	free(site->balances);
	site->balances = NULL;
}

void
lt_kube_publish_balances(const struct lt_batch_view *view, int64_t now_utc_s)
{
	struct lt_kube_site *const s = &lt_kube_site;
	struct lt_error err = {0};

	if (now_utc_s < s->balances_utc_s + BALANCES_EVERY_S)
		return;
	json_t *const data = balances_of(view, now_utc_s);
	char *const text = json_dumps(data, JSON_COMPACT | JSON_SORT_KEYS);
	const bool is_news = s->balances == NULL || text == NULL || strcmp(s->balances, text) != 0;
	/* Many plans and starts must not make them old. */
	const bool is_due =
	    (is_news && lt_kube_spend()) || now_utc_s >= s->balances_utc_s + BALANCES_AGAIN_S;
	if (text != NULL && is_due) {
		put_balance(data, "", "written", now_utc_s);
		s->balances_utc_s = now_utc_s;
		if (send_balances(data, &err) == LT_OK) {
			free(s->balances);
			s->balances = strdup(text);
			s->balances_sent_utc_s = now_utc_s;
		} else {
			lt_log("balances_lost", "error=\"%s\"", err.text);
		}
	}
	free(text);
	json_decref(data);
}
