/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes into Jobs and pods: lowtide's annotations, and, once they may start, where they go. Stands
 * where Slurm's adapter updates jobs and slurmctld starts them.
 *
 * Each change is one PATCH of the Job as it was seen. A refusal is logged and tried again in a
 * while; a conflict waits for the watch to bring the Job anew.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "budget.h"
#include "log.h"
#include "quote.h"
#include "site.h"
#include "text.h"
#include "text_mend.h"
#include "units.h"

/* ---- why a sum is unknown ---- */

static bool
is_named(const char *pool)
{
	const struct lt_kube_site *const site = &lt_kube_site;

	for (uint32_t i = 0; i < site->pool_count; i++)
		if (strcmp(site->pools[i], pool) == 0)
			return site->is_managed[i];
	return false;
}

/* Writes why the first pool has no price: the first among those where it may run that the policy
 * does not price, or that has no node; false: there is none. */
static bool
say_pool(char *out, size_t size, const char *places)
{
	char pool[LT_NAME_SIZE];

	for (const char *at = places; *at != '\0';) {
		const size_t length = strcspn(at, ",");

		snprintf(pool, sizeof(pool), "%.*s", (int)length, at);
		at += length + (at[length] == ',');
		if (is_named(pool) && lt_kube_cluster_has(&lt_kube_site.cluster, pool))
			continue;
		snprintf(out, size,
		    is_named(pool) ? "as no node of pool %s is known,"
				   : "as pool %s has no price in the policy,",
		    pool);
		return true;
	}
	return false;
}

void
lt_kube_say_unknown(
    char *out, size_t size, const struct lt_kube_known_job *job, const struct lt_amount *known)
{
	char places[LT_BATCH_PARTITIONS_SIZE];

	lt_kube_places(places, sizeof(places), job);
	if (job->facts.is_unsized)
		snprintf(out, size, "without the right to list LimitRanges and RuntimeClasses");
	else if (lt_kube_limit_s(job, places, 0) == 0)
		snprintf(out, size, "without activeDeadlineSeconds");
	else if (say_pool(out, size, places) || known == NULL)
		return;
	else if (!known->has_money)
		snprintf(out, size, "as no price of %.80s is known,", places);
	else if (!known->has_carbon)
		snprintf(out, size, "as the CO2e of %.80s is not known,", places);
	else
		snprintf(out, size, "as not all sums are known,");
}

/* ---- updates ---- */

enum {
	TIME_BYTES = 32,
	PLAN_BYTES = 900,
	UNKNOWN_BYTES = 400,
	SOON_S = 2, /* a begin so near is now */
	KEPT_DAYS = 400,
	AGAIN_S = 10, /* after the API server refused */
};

#define RAISED "; its hold was raised to what its pods have"

bool
lt_batch_may_update(void)
{
	const bool may = lt_kube_spend();

	if (may)
		lt_kube_site.allowance++;
	return may;
}

/* ---- the plan in a line ---- */

/* A Job that its user suspended, and has not let go again. */
static bool
is_stopped(const struct lt_kube_known_job *job)
{
	return job->facts.is_waiting && !job->facts.is_pod &&
	       (job->facts.is_paused || (lt_kube_ran(job) && !job->facts.goes_on));
}

/* True if it has run for longer than it was held for at first. */
static bool
is_renewed(const struct lt_kube_known_job *job)
{
	char places[LT_BATCH_PARTITIONS_SIZE];

	return job->held_s > 0 && !job->facts.is_waiting &&
	       job->held_s > lt_kube_stretch_s(job, lt_kube_places(places, sizeof(places), job));
}

/* Why nobody knows what it may cost, and whose budget that concerns. */
static const char *
unknown_text(
    char *out, size_t size, const struct lt_quote *quote, const struct lt_kube_known_job *job)
{
	const char *const unsized = lt_kube_job_text(&job->facts, LT_KUBE_UNSIZED);
	char why[LT_KUBE_WHY_SIZE] = "";

	if (unsized[0] == '\0')
		lt_kube_say_unknown(why, sizeof(why), job, &quote->hold_per_task);
	snprintf(out, size, "%.200s%s nobody knows what it may %s of the budget of %s",
	    unsized[0] != '\0' ? unsized : why, unsized[0] != '\0' ? ", so" : "",
	    unsized[0] != '\0' ? "cost" : "take", quote->account);
	return out;
}

static void
plan_line(char *out, size_t size, const struct lt_quote *quote, const struct lt_kube_known_job *job)
{
	const char *const currency = lt_kube_site.currency;
	char from[TIME_BYTES], is[100], was[100], why[UNKNOWN_BYTES];
	const bool is_moved = strcmp(quote->partition, quote->home) != 0 ||
			      quote->plan_start_utc_s > quote->home_start_utc_s + 60;
	const char *const home = quote->flags & LT_QUOTE_NOT_HOME ? "another pool" : quote->home;

	if (quote->flags & LT_QUOTE_UNKNOWN) {
		snprintf(out, size, "waits: %s%s", unknown_text(why, sizeof(why), quote, job),
		    lt_kube_site.rejects_unknown
			? "; on_unknown is reject, but lowtide deletes nothing: it waits until that is known"
			: "");
		return;
	}
	if (quote->flags & LT_QUOTE_BUDGET_HOLD) {
		snprintf(out, size,
		    "waits for budget: %s has less left than the %s that it may cost",
		    quote->account,
		    lt_amount_text(is, sizeof(is), &quote->hold_per_task, currency, ""));
		return;
	}
	if (quote->objective == LT_OBJECTIVE_OFF) {
		lt_amount_text(is, sizeof(is), &quote->hold_per_task, currency, "");
		snprintf(out, size, "%s%s%s", is_renewed(job) ? "runs on" : "starts now",
		    is[0] != '\0' ? ": it may cost at most " : "", is);
		return;
	}
	lt_amount_text(is, sizeof(is), &quote->plan_expected, currency, "");
	lt_amount_text(was, sizeof(was), &quote->home_expected, currency, "");
	lt_utc_text(from, sizeof(from), quote->plan_start_utc_s);
	snprintf(out, size, "%s%s from %s: %s expected%s%s%s%s",
	    lt_mode_may(quote->mode, LT_MAY_EDIT) ? "" : "nothing is changed in this mode, else ",
	    quote->partition, from, is, is_moved ? "; at once on " : "", is_moved ? home : "",
	    is_moved ? " " : "", is_moved ? was : "");
}

static void
add_raised(struct lt_text *text, const struct lt_kube_known_job *job)
{
	const struct lt_exact *const had = &job->facts.need.exact;

	lt_text_put(
	    text, RAISED ": %" PRIu64 "m CPUs, %" PRIu64 " KiB", had->cpu_milli, had->memory_kib);
	if (had->gpu_micro > 0)
		lt_text_put(text, ", %.2f GPUs", (double)had->gpu_micro / LT_KUBE_WHOLE_GPU);
}

/* Adds for how long a Job without a limit of its own is held. */
static void
add_stretch(struct lt_text *text, const struct lt_kube_known_job *job)
{
	char places[LT_BATCH_PARTITIONS_SIZE], each[64], all[64], more[80] = "";
	const int64_t each_s = lt_kube_stretch_s(job, lt_kube_places(places, sizeof(places), job));

	if (each_s == 0)
		return;
	lt_duration_text(each, sizeof(each), each_s);
	if (is_renewed(job))
		snprintf(more, sizeof(more), ", %s by now",
		    lt_duration_text(all, sizeof(all), job->held_s));
	lt_text_put(
	    text, "; without activeDeadlineSeconds it is held for %s at a time%s", each, more);
}

/* Behind the plan: for how long it is held, what nobody knows of it, that its user has to say when
 * it starts, and what of its annotations can't be read. */
static void
add_remarks(
    char *plan, size_t size, const struct lt_quote *quote, const struct lt_kube_known_job *job)
{
	const char *const fault = lt_kube_job_text(&job->facts, LT_KUBE_FAULT);
	const char *const bound = lt_kube_job_text(&job->facts, LT_KUBE_BOUND);
	const char *const untried = lt_kube_job_text(&job->facts, LT_KUBE_UNTRIED);
	char why[UNKNOWN_BYTES];
	struct lt_text text = {.out = plan, .size = size, .at = strlen(plan)};

	add_stretch(&text, job);
	if (quote->flags & LT_QUOTE_LET)
		lt_text_put(&text, "; %s, and on_unknown is allow",
		    unknown_text(why, sizeof(why), quote, job));
	if (bound[0] != '\0')
		lt_text_put(&text, "; its place stays, by its %s", bound);
	if (untried[0] != '\0' && !job->is_raised)
		lt_text_put(&text,
		    "; what webhooks add to its pods is held for once the first of them runs: %.200s",
		    untried);
	if (job->is_raised)
		add_raised(&text, job);
	if (is_stopped(job))
		lt_text_put(&text,
		    "; suspended by its user, it waits for kubectl annotate --overwrite job %s lowtide.dev/pause=false",
		    lt_kube_job_text(&job->facts, LT_KUBE_NAME));
	if (fault[0] != '\0')
		lt_text_put(&text, "; ignored: %s", fault);
	lt_text_whole(plan);
}

/* ---- updates ---- */

static void
annotate_all(json_t *annotations, const struct lt_batch_update *update,
    const struct lt_kube_known_job *job, const char *plan)
{
	char begin[TIME_BYTES], places[LT_BATCH_PARTITIONS_SIZE];

	if (update->admin_comment != NULL)
		lt_kube_annotate(annotations, "quote", update->admin_comment);
	if (plan != NULL)
		lt_kube_annotate(annotations, "plan", plan);
	if (update->begin_utc_s != LT_UNSET_64)
		lt_kube_annotate(
		    annotations, "begin", lt_utc_text(begin, sizeof(begin), update->begin_utc_s));
	/* Its place from then on, also where it was by itself. */
	if (update->partition != NULL) {
		lt_kube_annotate(annotations, "pool", update->partition);
	} else if (update->begin_utc_s != LT_UNSET_64 && !job->facts.is_placed) {
		lt_kube_places(places, sizeof(places), job);
		places[strcspn(places, ",")] = '\0';
		lt_kube_annotate(annotations, "pool", places);
	}
	if (update->hold == LT_HOLD)
		lt_kube_annotate(annotations, "hold", "budget");
	if (update->hold == LT_RELEASE)
		lt_kube_annotate(annotations, "hold", NULL);
}

/* One that was not created suspended, and has not started yet. */
static bool
must_suspend(
    const struct lt_kube_known_job *job, const struct lt_batch_update *update, int64_t now_utc_s)
{
	return !job->facts.is_waiting && !job->facts.is_pod && job->first_utc_s == 0 &&
	       (update->hold == LT_HOLD || (update->begin_utc_s != LT_UNSET_64 &&
					       update->begin_utc_s > now_utc_s + SOON_S));
}

static void
tell_plan(const struct lt_kube_known_job *job, const struct lt_quote *quote, const char *plan,
    int64_t now_utc_s)
{
	const bool waits = quote->flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN);
	const bool warns =
	    waits || job->is_raised || lt_kube_job_text(&job->facts, LT_KUBE_FAULT)[0] != '\0';

	lt_kube_tell(job,
	    &(struct lt_kube_told){warns ? "Warning" : "Normal",
		waits		 ? "LowtideHeld"
		: job->is_raised ? "LowtideRaised"
				 : "LowtidePlanned",
		plan},
	    now_utc_s);
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
		return lt_fail(err, LT_ENOENT, "job %u: unknown", update->job_id);
	if (!lt_kube_spend())
		return lt_fail(err, LT_ELIMIT, "more than %d requests a second: it is told later",
		    LT_KUBE_REQUESTS_A_SECOND);
	lt_kube_renew(job, now_utc_s);
	if (update->admin_comment != NULL && lt_quote_unpack(&quote, update->admin_comment,
						 strlen(update->admin_comment), NULL) == LT_OK)
		plan_line(plan, sizeof(plan), &quote, job);
	if (plan[0] != '\0')
		add_remarks(plan, sizeof(plan), &quote, job);
	const bool is_news =
	    plan[0] != '\0' && strcmp(plan, lt_kube_job_text(&job->facts, LT_KUBE_PLAN)) != 0;
	json_t *const annotations = json_object();
	annotate_all(annotations, update, job, is_news ? plan : NULL);
	json_t *const body = json_pack("{s:{s:o}}", "metadata", "annotations", annotations);
	/* The API server refuses unless the Job is the one that was priced. */
	if (update->admin_comment != NULL && !job->facts.is_pod)
		lt_kube_pin(body, job);
	if (must_suspend(job, update, now_utc_s)) {
		/* If a pod of it has run, lowtide lets it continue. */
		lt_kube_annotate(annotations, "pause", "false");
		json_object_set_new(body, "spec", json_pack("{s:b}", "suspend", 1));
	}
	const int code = lt_kube_patch(job, LT_KUBE_MERGE_PATCH, body, err);
	if (code == LT_OK && is_news)
		tell_plan(job, &quote, plan, now_utc_s);
	return code;
}

/* Its pods end, as at a suspension: it waits as if it had not been let go. */
int
lt_batch_requeue_held(const struct lt_batch_job *record, struct lt_error *err)
{
	const struct lt_kube_known_job *const job =
	    lt_kube_cluster_job(&lt_kube_site.cluster, record->job_id);

	if (job == NULL || job->facts.is_pod)
		return lt_fail(
		    err, LT_ENOENT, "job %u: no Job that can be suspended", record->job_id);
	return lt_kube_patch(job, LT_KUBE_MERGE_PATCH,
	    json_pack("{s:{s:{s:s,s:s}},s:{s:b}}", "metadata", "annotations", LT_KUBE_DOMAIN "hold",
		"budget", LT_KUBE_DOMAIN "pause", "false", "spec", "suspend", 1),
	    err);
}

/* lowtide has no right to delete: nothing of Slurm's that needs it is here. */
int
lt_batch_cancel(uint32_t job_id, struct lt_error *err)
{
	return lt_fail(err, LT_EINPUT, "job %u: lowtide deletes no Jobs", job_id);
}

/* Tells of a Job that runs and was raised, if its plan does not say so yet:
 * once, over restarts too. */
static void
tell_raised(struct lt_kube_known_job *job, int64_t now_utc_s)
{
	const char *const was = lt_kube_job_text(&job->facts, LT_KUBE_PLAN);
	char plan[PLAN_BYTES];
	struct lt_text text = {.out = plan, .size = sizeof(plan)};
	struct lt_error err = {0};

	if (!job->is_raised || job->forget_utc_s != 0 || now_utc_s < job->try_utc_s ||
	    !lt_kube_is_decided(job) || !lt_kube_is_ours(job) || strstr(was, RAISED) != NULL ||
	    !lt_kube_spend())
		return;
	lt_text_put(&text, "%s", was);
	add_raised(&text, job);
	lt_text_whole(plan);
	json_t *const annotations = json_object();
	lt_kube_annotate(annotations, "plan", plan);
	if (lt_kube_patch(job, LT_KUBE_MERGE_PATCH,
		json_pack("{s:{s:o}}", "metadata", "annotations", annotations), &err) == LT_OK) {
		lt_kube_tell(
		    job, &(struct lt_kube_told){"Warning", "LowtideRaised", plan}, now_utc_s);
		return;
	}
	lt_log("raise_untold", "job=%u error=\"%s\"", job->id, err.text);
	job->try_utc_s = now_utc_s + AGAIN_S;
}

/* ---- starts ---- */

static int
by_begin(const void *a, const void *b)
{
	const struct lt_kube_known_job *const *const x = a;
	const struct lt_kube_known_job *const *const y = b;
	const int64_t p = (*x)->facts.begin_utc_s, q = (*y)->facts.begin_utc_s;

	return p < q ? -1 : p > q;
}

/* Prunes rows as the ledger prunes settled holds, and users as it prunes those. */
static void
prune_store(int64_t erase_before_utc_s, int64_t now_utc_s)
{
	struct lt_kube_site *const s = &lt_kube_site;
	struct lt_error err = {0};

	if (now_utc_s < s->pruned_utc_s + LT_DAY_S)
		return;
	s->pruned_utc_s = now_utc_s;
	if (lt_kube_store_prune(
		s->cluster.store, now_utc_s - KEPT_DAYS * (int64_t)LT_DAY_S, &err) != LT_OK ||
	    lt_kube_store_erase(s->cluster.store, erase_before_utc_s, &err) != LT_OK)
		lt_log("prune_failed", "error=\"%s\"", err.text);
}

/* One that ran without being let go by lowtide, and waits now: that it ran is written on it, for
 * lowtide-kube release has no store. */
static void
mark_run(const struct lt_kube_known_job *job)
{
	char first[TIME_BYTES];
	struct lt_error err = {0};

	if (job->forget_utc_s != 0 || !job->facts.is_waiting || job->facts.is_pod ||
	    job->facts.is_deleted || job->first_utc_s == 0 || job->facts.started_utc_s != 0 ||
	    !lt_kube_is_ours(job) || !lt_kube_spend())
		return;
	json_t *const annotations = json_object();
	lt_kube_annotate(
	    annotations, "started", lt_utc_text(first, sizeof(first), job->first_utc_s));
	if (lt_kube_patch(job, LT_KUBE_MERGE_PATCH,
		json_pack("{s:{s:o}}", "metadata", "annotations", annotations), &err) != LT_OK)
		lt_log("mark_failed", "job=%u error=\"%s\"", job->id, err.text);
}

void
lt_batch_tend(const struct lt_batch_view *view, int64_t now_utc_s)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	struct lt_kube_known_job **const due = calloc(c->job_count + 1u, sizeof(*c->jobs));
	uint32_t count = 0;

	c->holds_back = !view->is_off && lt_mode_may(view->market->mode, LT_MAY_HOLD);
	snprintf(
	    lt_kube_site.currency, sizeof(lt_kube_site.currency), "%s", view->market->currency);
	for (uint32_t i = 0; due != NULL && i < c->job_count; i++) {
		mark_run(c->jobs[i]);
		tell_raised(c->jobs[i], now_utc_s);
		lt_kube_renew(c->jobs[i], now_utc_s);
		if (lt_kube_may_start(c->jobs[i], now_utc_s))
			due[count++] = c->jobs[i];
		else
			c->jobs[i]->stuck_utc_s = 0;
	}
	if (count > 1)
		qsort(due, count, sizeof(*due), by_begin);
	lt_kube_site.rejects_unknown = view->budgets->on_unknown == LT_RULE_REJECT;
	lt_kube_site.market = view->market;
	for (uint32_t i = 0; i < c->job_count; i++)
		lt_kube_take_back(c->jobs[i], now_utc_s);
	for (uint32_t i = 0; i < count && lt_kube_spend(); i++)
		if (!lt_kube_is_stuck(due[i], now_utc_s))
			(void)lt_kube_start(due[i], now_utc_s);
	lt_kube_site.market = NULL;
	free(due);
	lt_kube_publish_balances(view, now_utc_s);
	lt_kube_cluster_forget(c, now_utc_s);
	prune_store(view->erase_before_utc_s, now_utc_s);
}
