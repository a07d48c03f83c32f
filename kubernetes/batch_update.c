/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lowtide writes into Jobs and pods: its annotations, and, once they may
 * start, where they go. Where Slurm's adapter updates jobs and slurmctld starts
 * them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "http.h"
#include "log.h"
#include "object.h"
#include "quote.h"
#include "site.h"
#include "units.h"

enum {
	PATH_BYTES = 512,
	TIME_BYTES = 32,
	PLAN_BYTES = 400,
	AGAIN_S = 10, /* after the API server refused */
	SOON_S = 2,   /* a begin so near is now */
};

bool
lt_kube_spend(void)
{
	struct lt_kube_site *const s = &lt_kube_site;
	const int64_t now_ms = lt_monotonic_ms();
	const double since_s = (double)(now_ms - s->allowed_ms) / 1000;

	s->allowed_ms = now_ms;
	s->allowance = fmin(LT_KUBE_REQUESTS_A_SECOND,
	    s->allowance + since_s * LT_KUBE_REQUESTS_A_SECOND);
	if (s->allowance < 1)
		return false;
	s->allowance--;
	return true;
}

bool
lt_batch_may_update(void)
{
	const bool may = lt_kube_spend();

	if (may)
		lt_kube_site.allowance++;
	return may;
}

static void
path_of(char out[PATH_BYTES], const struct lt_kube_known_job *job)
{
	snprintf(out, PATH_BYTES, "%s/namespaces/%s/%s/%s",
	    job->facts.is_pod ? "/api/v1" : "/apis/batch/v1",
	    lt_kube_text(&job->facts, LT_KUBE_NAMESPACE),
	    job->facts.is_pod ? "pods" : "jobs",
	    lt_kube_text(&job->facts, LT_KUBE_NAME));
}

/* What it is now is known at once: the watch brings it later. */
static void
take_answer(const struct lt_kube_known_job *job, json_t *object)
{
	const struct lt_kube_line line = {
	    job->facts.is_pod ? LT_KUBE_PODS : LT_KUBE_JOBS, LT_KUBE_SEEN,
	    object, ""};

	lt_kube_site.cluster.now_utc_s = (int64_t)time(NULL);
	lt_kube_cluster_take(&lt_kube_site.cluster, &line);
}

int
lt_kube_patch(const struct lt_kube_known_job *job, const char *type,
    json_t *body, struct lt_error *err)
{
	char path[PATH_BYTES];
	const struct lt_kube_request request = {"PATCH", path, type, body};
	json_t *answer = NULL;
	json_t *metadata = json_object_get(body, "metadata");

	if (metadata == NULL) {
		metadata = json_object();
		json_object_set_new(body, "metadata", metadata);
	}
	/* Another of the same name is another. */
	json_object_set_new(metadata, "uid", json_string(job->uid));
	path_of(path, job);
	const int code = lt_kube_do(lt_kube_site.kube, &request, &answer, err);
	json_decref(body);
	if (code == LT_OK && answer != NULL)
		take_answer(job, answer);
	json_decref(answer);
	return code;
}

/* ---- the plan in a line ---- */

static const char *
amount_text(char *out, size_t size, const struct lt_amount *amount)
{
	char money[48] = "", carbon[48] = "";

	if (amount->has_money)
		lt_money_text(money, sizeof(money), amount->money_micros,
		    lt_kube_site.currency);
	if (amount->has_carbon)
		lt_carbon_text(carbon, sizeof(carbon), amount->carbon_mg);
	snprintf(out, size, "%s%s%s%s", money,
	    money[0] != '\0' && carbon[0] != '\0' ? ", " : "", carbon,
	    carbon[0] != '\0' ? " CO2e" : "");
	return out;
}

static void
plan_line(char *out, size_t size, const struct lt_quote *quote)
{
	char from[TIME_BYTES], is[100], was[100];
	const bool is_moved =
	    strcmp(quote->partition, quote->home) != 0 ||
	    quote->plan_start_utc_s > quote->home_start_utc_s + 60;

	if (quote->flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN)) {
		snprintf(out, size,
		    "waits for budget: %s has less left than the %s that it may cost",
		    quote->account,
		    amount_text(is, sizeof(is), &quote->hold_per_task));
		return;
	}
	if (quote->objective == LT_OBJECTIVE_OFF) {
		snprintf(out, size, "starts now: it may cost at most %s",
		    amount_text(is, sizeof(is), &quote->hold_per_task));
		return;
	}
	amount_text(is, sizeof(is), &quote->plan_expected);
	amount_text(was, sizeof(was), &quote->home_expected);
	lt_utc_text(from, sizeof(from), quote->plan_start_utc_s);
	snprintf(out, size, "%s from %s: %s expected%s%s%s%s", quote->partition,
	    from, is, is_moved ? "; at once on " : "",
	    is_moved ? quote->home : "", is_moved ? " " : "",
	    is_moved ? was : "");
}

/* ---- updates ---- */

static void
annotate(json_t *annotations, const char *name, const char *value)
{
	char key[LT_KUBE_KEY_SIZE];

	snprintf(key, sizeof(key), LT_KUBE_DOMAIN "%s", name);
	json_object_set_new(
	    annotations, key, value != NULL ? json_string(value) : json_null());
}

static void
annotate_all(
    json_t *annotations, const struct lt_batch_update *update, const char *plan)
{
	char begin[TIME_BYTES];

	if (update->admin_comment != NULL)
		annotate(annotations, "quote", update->admin_comment);
	if (plan != NULL)
		annotate(annotations, "plan", plan);
	if (update->begin_utc_s != LT_UNSET_64)
		annotate(annotations, "begin",
		    lt_utc_text(begin, sizeof(begin), update->begin_utc_s));
	if (update->partition != NULL)
		annotate(annotations, "pool", update->partition);
	if (update->hold == LT_HOLD)
		annotate(annotations, "hold", "budget");
	if (update->hold == LT_RELEASE)
		annotate(annotations, "hold", NULL);
}

/* One that was not created suspended, and has not started yet. */
static bool
must_suspend(const struct lt_kube_known_job *job,
    const struct lt_batch_update *update, int64_t now_utc_s)
{
	return !job->facts.is_waiting && !job->facts.is_pod &&
	       job->first_utc_s == 0 &&
	       (update->hold == LT_HOLD ||
		   (update->begin_utc_s != LT_UNSET_64 &&
		       update->begin_utc_s > now_utc_s + SOON_S));
}

int
lt_batch_update_job(const struct lt_batch_update *update, struct lt_error *err)
{
	struct lt_kube_known_job *const job =
	    lt_kube_cluster_job(&lt_kube_site.cluster, update->job_id);
	const int64_t now_utc_s = (int64_t)time(NULL);
	struct lt_quote quote;
	char plan[PLAN_BYTES] = "";

	if (job == NULL)
		return lt_fail(
		    err, LT_ENOENT, "job %u: unknown", update->job_id);
	if (!lt_kube_spend())
		return lt_fail(err, LT_ELIMIT,
		    "more than %d requests a second: it is told later",
		    LT_KUBE_REQUESTS_A_SECOND);
	if (update->admin_comment != NULL &&
	    lt_quote_unpack(&quote, update->admin_comment,
		strlen(update->admin_comment), NULL) == LT_OK)
		plan_line(plan, sizeof(plan), &quote);
	const bool is_news =
	    plan[0] != '\0' &&
	    strcmp(plan, lt_kube_text(&job->facts, LT_KUBE_PLAN)) != 0;
	json_t *const annotations = json_object();
	annotate_all(annotations, update, is_news ? plan : NULL);
	json_t *const body =
	    json_pack("{s:{s:o}}", "metadata", "annotations", annotations);
	if (must_suspend(job, update, now_utc_s))
		json_object_set_new(
		    body, "spec", json_pack("{s:b}", "suspend", 1));
	const int code = lt_kube_patch(job, LT_KUBE_MERGE_PATCH, body, err);
	if (code == LT_OK && is_news)
		lt_kube_tell(job,
		    &(struct lt_kube_told){quote.flags & LT_QUOTE_BUDGET_HOLD
					       ? "Warning"
					       : "Normal",
			quote.flags & LT_QUOTE_BUDGET_HOLD ? "LowtideHeld"
							   : "LowtidePlanned",
			plan},
		    now_utc_s);
	return code;
}

/* Its pods end, as at a suspension: it waits as if it had not been let go. */
int
lt_batch_requeue_held(uint32_t job_id, struct lt_error *err)
{
	const struct lt_kube_known_job *const job =
	    lt_kube_cluster_job(&lt_kube_site.cluster, job_id);

	if (job == NULL || job->facts.is_pod)
		return lt_fail(err, LT_ENOENT,
		    "job %u: no Job that can be suspended", job_id);
	return lt_kube_patch(job, LT_KUBE_MERGE_PATCH,
	    json_pack("{s:{s:{s:s}},s:{s:b}}", "metadata", "annotations",
		LT_KUBE_DOMAIN "hold", "budget", "spec", "suspend", 1),
	    err);
}

/* lowtide has no right to delete: nothing of Slurm's that needs it is here. */
int
lt_batch_cancel(uint32_t job_id, struct lt_error *err)
{
	return lt_fail(
	    err, LT_EINPUT, "job %u: lowtide deletes no Jobs", job_id);
}

/* ---- starts ---- */

static bool
may_start(const struct lt_kube_known_job *job, int64_t now_utc_s)
{
	const char *const text = lt_kube_text(&job->facts, LT_KUBE_QUOTE);
	struct lt_quote quote;

	return job->forget_utc_s == 0 && job->facts.is_waiting &&
	       !job->facts.is_deleted && now_utc_s >= job->try_utc_s &&
	       text[0] != '\0' && job->facts.begin_utc_s <= now_utc_s &&
	       lt_kube_text(&job->facts, LT_KUBE_HOLD)[0] == '\0' &&
	       lt_kube_is_ours(job) &&
	       lt_quote_unpack(&quote, text, strlen(text), NULL) == LT_OK &&
	       lt_mode_may(quote.mode, LT_MAY_HOLD);
}

/* Where the plan puts its pods: on nodes of one pool, also where these may be
 * taken away. */
static void
place(json_t *pod_spec, const struct lt_kube_known_job *job)
{
	const char *const pool = lt_kube_text(&job->facts, LT_KUBE_POOL);
	const char *const tolerations =
	    lt_kube_text(&job->facts, LT_KUBE_TOLERATIONS);
	const char *const key =
	    lt_kube_cluster_pool_key(&lt_kube_site.cluster, pool);

	if (pool[0] == '\0' || key == NULL)
		return;
	json_t *const own = json_loads(tolerations, 0, NULL);
	json_object_set_new(
	    pod_spec, "nodeSelector", json_pack("{s:s}", key, pool));
	json_object_set_new(pod_spec, "tolerations", lt_kube_tolerations(own));
	json_decref(own);
}

/* What its containers' variables read (docs/kubernetes.md). */
static json_t *
facts_of(const struct lt_kube_known_job *job)
{
	json_t *const annotations = json_object();

	annotate(
	    annotations, "plan-pool", lt_kube_text(&job->facts, LT_KUBE_POOL));
	return annotations;
}

static json_t *
start_body(const struct lt_kube_known_job *job)
{
	json_t *const pod_spec = json_object();

	place(pod_spec, job);
	if (job->facts.is_pod) {
		json_object_set_new(pod_spec, "schedulingGates",
		    json_pack("[{s:s,s:s}]", "$patch", "delete", "name",
			LT_KUBE_GATE));
		return json_pack("{s:{s:o},s:o}", "metadata", "annotations",
		    facts_of(job), "spec", pod_spec);
	}
	return json_pack("{s:{s:b,s:{s:{s:o},s:o}}}", "spec", "suspend", 0,
	    "template", "metadata", "annotations", facts_of(job), "spec",
	    pod_spec);
}

static void
start(struct lt_kube_known_job *job, int64_t now_utc_s)
{
	struct lt_error err = {0};
	const char *const type =
	    job->facts.is_pod ? LT_KUBE_STRATEGIC_PATCH : LT_KUBE_MERGE_PATCH;
	int code = lt_kube_patch(job, type, start_body(job), &err);

	/* What has run once keeps its template, on most servers. */
	if (code == LT_EINPUT && !job->facts.is_pod && job->facts.was_started)
		code = lt_kube_patch(job, type,
		    json_pack("{s:{s:b}}", "spec", "suspend", 0), &err);
	if (code == LT_OK) {
		lt_log("started_job", "job=%u name=%s/%s pool=%s", job->id,
		    lt_kube_text(&job->facts, LT_KUBE_NAMESPACE),
		    lt_kube_text(&job->facts, LT_KUBE_NAME),
		    lt_kube_text(&job->facts, LT_KUBE_POOL));
		return;
	}
	job->try_utc_s = now_utc_s + AGAIN_S;
	lt_log("start_failed", "job=%u error=\"%s\"", job->id, err.text);
	if (code == LT_EINPUT)
		lt_kube_tell(job,
		    &(struct lt_kube_told){
			"Warning", "LowtideStartFailed", err.text},
		    now_utc_s);
}

static int
by_begin(const void *a, const void *b)
{
	const struct lt_kube_known_job *const *const x = a;
	const struct lt_kube_known_job *const *const y = b;
	const int64_t p = (*x)->facts.begin_utc_s, q = (*y)->facts.begin_utc_s;

	return p < q ? -1 : p > q;
}

void
lt_batch_tend(const struct lt_batch_view *view, int64_t now_utc_s)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	struct lt_kube_known_job **const due =
	    calloc(c->job_count + 1u, sizeof(*c->jobs));
	uint32_t count = 0;

	snprintf(lt_kube_site.currency, sizeof(lt_kube_site.currency), "%s",
	    view->market->currency);
	for (uint32_t i = 0; due != NULL && i < c->job_count; i++)
		if (may_start(c->jobs[i], now_utc_s))
			due[count++] = c->jobs[i];
	if (count > 1)
		qsort(due, count, sizeof(*due), by_begin);
	for (uint32_t i = 0; i < count && lt_kube_spend(); i++)
		start(due[i], now_utc_s);
	free(due);
	lt_kube_publish_balances(view, now_utc_s);
	lt_kube_cluster_forget(c, now_utc_s);
}
