/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users and the admission policies are told: Events on their Jobs, and
 * balances in a ConfigMap.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "log.h"
#include "lookup.h"
#include "site.h"
#include "size.h"
#include "text.h"
#include "text_mend.h"
#include "units.h"

enum {
	PATH_BYTES = 512,
	NAME_BYTES = 128,
	TEXT_BYTES = 1024,     /* of an Event: the API server's own limit */
	BALANCES_EVERY_S = 2,  /* at most so often, when they change */
	BALANCES_AGAIN_S = 30, /* so that they tell that lowtide is there, and
				* what somebody else did to them is mended */
};

static const char balances_name[] = "lowtide-balances";

void
lt_kube_tell(const struct lt_kube_known_job *job,
    const struct lt_kube_told *told, int64_t now_utc_s)
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
	json_t *const event = json_pack(
	    "{s:s,s:s,s:{s:s,s:s},s:{s:s,s:s,s:s,s:s,s:s},s:s,s:s,s:s,"
	    "s:{s:s},s:s,s:s,s:i}",
	    "apiVersion", "v1", "kind", "Event", "metadata", "generateName",
	    "lowtide.", "namespace", namespace, "involvedObject", "apiVersion",
	    f->is_pod ? "v1" : "batch/v1", "kind", f->is_pod ? "Pod" : "Job",
	    "namespace", namespace, "name", lt_kube_job_text(f, LT_KUBE_NAME),
	    "uid", job->uid, "type", told->type, "reason", told->reason,
	    "message", text, "source", "component", "lowtide", "firstTimestamp",
	    now, "lastTimestamp", now, "count", 1);
	const struct lt_kube_request request = {
	    .method = "POST", .path = path, .body = event};
	if (lt_kube_do(lt_kube_site.kube, &request, NULL, &err) != LT_OK)
		lt_log("event_lost", "job=%u error=\"%s\"", job->id, err.text);
	json_decref(event);
}

/* ---- balances ---- */

static void
put(json_t *data, const char *name, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	json_object_set_new(data, name, json_string(text));
}

static void
put_of(json_t *data, const char *team, const char *what, int64_t number)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%s.%s", team, what);
	put(data, name, number);
}

/* Millionths of a GPU that an nvidia.com/gpu is at least: where they are
 * shared, or cut, it is a part of one. */
static uint32_t
least_gpu_micro(void)
{
	const struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	uint32_t least = LT_KUBE_WHOLE_GPU;

	for (uint32_t i = 0; i < c->node_count; i++) {
		const struct lt_kube_gpu *const gpu = lt_kube_gpus_find(
		    &c->nodes[i].facts.gpu_kinds, "nvidia.com/gpu");

		if (gpu != NULL && gpu->micro < least)
			least = gpu->micro;
	}
	return least;
}

/* The least price of a part of a node, over all pools that have a price: what a
 * Job costs is never less. Rounded down; 0 = not known. */
static int64_t
least_price(const struct lt_market *market, bool of_gpus, int64_t now_utc_s)
{
	const double least_gpu = least_gpu_micro();
	double least = -1;

	for (uint32_t i = 0; i < market->partition_count; i++) {
		const struct lt_partition *const p = &market->partitions[i];

		if (p->price_series < 0 || !(p->flags & LT_PARTITION_MANAGED))
			continue;
		const double price =
		    lt_series_at(&market->series[p->price_series], now_utc_s);
		for (uint32_t k = 0; k < p->shape_count; k++) {
			const struct lt_shape *const shape =
			    &market->shapes[p->first_shape + k];
			const double parts =
			    of_gpus ? (double)shape->exact.gpu_micro / least_gpu
				    : (double)shape->exact.cpu_milli / 1000;
			const double part =
			    price * lt_weight_of(shape, of_gpus) / parts;

			if (parts > 0 && (least < 0 || part < least))
				least = part;
		}
	}
	return least > 0 ? (int64_t)least : 0;
}

struct balance { /* the tightest of a team's */
	const struct lt_period *period;
	int64_t available;
};

static bool
find_balance(struct balance *out, const struct lt_budget_snapshot *s,
    const struct lt_account *account, int64_t now_utc_s)
{
	*out = (struct balance){.available = INT64_MAX};
	for (uint32_t i = 0; i < account->binding_count; i++) {
		const struct lt_budget *const budget =
		    &s->budgets[s->bindings[account->first_binding + i]];

		if (budget->on_exceed != LT_RULE_REJECT)
			continue;
		for (int p = 0; p < LT_PERIODS; p++) {
			const struct lt_period *const at = &budget->periods[p];
			const int64_t available = at->limit.money_micros -
						  at->settled.money_micros -
						  at->held.money_micros;

			if (now_utc_s < at->start_utc_s ||
			    now_utc_s >= at->end_utc_s ||
			    !at->limit.has_money || available >= out->available)
				continue;
			out->period = at;
			out->available = available;
		}
	}
	return out->period != NULL;
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
	const struct lt_budget_snapshot *const s = view->budgets;
	json_t *const data =
	    json_pack("{s:s,s:s,s:s}", "mode", lt_mode_name(view->market->mode),
		"currency", view->market->currency, "on_unknown",
		LT_WORD(unknown, s->on_unknown));

	put(data, "gpu-hour", least_price(view->market, true, now_utc_s));
	put(data, "cpu-hour", least_price(view->market, false, now_utc_s));
	for (uint32_t i = 0; i < s->account_count; i++) {
		const struct lt_account *const account = &s->accounts[i];
		struct balance b;
		char name[NAME_BYTES];

		if (!find_balance(&b, s, account, now_utc_s))
			continue;
		put_of(
		    data, account->name, "limit", b.period->limit.money_micros);
		put_of(data, account->name, "spent",
		    b.period->settled.money_micros);
		put_of(
		    data, account->name, "held", b.period->held.money_micros);
		put_of(data, account->name, "available", b.available);
		snprintf(name, sizeof(name), "%s.period", account->name);
		json_object_set_new(data, name, json_string(b.period->label));
	}
	return data;
}

/* All of data, also what is no more in it. */
static int
send(json_t *data, struct lt_error *err)
{
	struct lt_kube_site *const site = &lt_kube_site;
	char path[PATH_BYTES], one[PATH_BYTES + NAME_BYTES];

	snprintf(path, sizeof(path), "/api/v1/namespaces/%s/configmaps",
	    site->namespace);
	snprintf(one, sizeof(one), "%s/%s", path, balances_name);
	json_t *const map = json_pack("{s:s,s:s,s:{s:s,s:s},s:O}", "apiVersion",
	    "v1", "kind", "ConfigMap", "metadata", "name", balances_name,
	    "namespace", site->namespace, "data", data);
	const struct lt_kube_request replace = {
	    .method = "PUT", .path = one, .body = map};
	const struct lt_kube_request create = {
	    .method = "POST", .path = path, .body = map};
	int code = lt_kube_do(site->kube, &replace, NULL, err);
	if (code == LT_ENOENT)
		code = lt_kube_do(site->kube, &create, NULL, err);
	json_decref(map);
	return code;
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
	const bool is_due =
	    text != NULL &&
	    (s->balances == NULL || strcmp(s->balances, text) != 0 ||
		now_utc_s >= s->balances_utc_s + BALANCES_AGAIN_S);
	if (is_due && lt_kube_spend()) {
		put(data, "written", now_utc_s);
		s->balances_utc_s = now_utc_s;
		if (send(data, &err) == LT_OK) {
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
