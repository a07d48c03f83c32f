/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where a job's pods have a node, as kube-scheduler will place them: what slurmctld does
 * itself. Suspends a Job again whose pods find none. Reads the cluster as it was seen last; a PATCH
 * that is refused is logged and tried again.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "site.h"
#include "text.h"
#include "units.h"

enum {
	DECIDED_S = 60,	       /* until then there is another plan, or none better */
	UNSCHEDULABLE_S = 120, /* since kube-scheduler found no node */
	/* In a pool that scales: as long as Cluster Autoscaler (--max-node-provision-time) and
	 * Karpenter (registration) give a node. */
	BROUGHT_S = 15 * LT_MINUTE_S,
};

/* True if a pool that the policy names, and that is not in `but`, has room for all of them. */
static bool
has_another(const struct lt_kube_where *all, uint32_t pods, bool beside_others, const char *but)
{
	const struct lt_kube_site *const site = &lt_kube_site;

	for (uint32_t i = 0; i < site->pool_count; i++)
		if (site->is_managed[i] && !lt_text_is_among(site->pools[i], but) &&
		    (beside_others ? all[i].beside_others : all[i].now) >= pods)
			return true;
	return false;
}

/* Returns for how many pods a pool must have room so as not to be left out, where another than
 * those of `but` has room: for all of them, else for one, as kube-scheduler runs one after the
 * other. 0: no other has room. */
static uint32_t
enough_pods(const struct lt_kube_where *all, uint32_t pods, bool beside_others, const char *but)
{
	return has_another(all, pods, beside_others, but) ? pods
	       : has_another(all, 1, beside_others, but)  ? 1
							  : 0;
}

void
lt_batch_places(
    struct lt_batch_places *places, const struct lt_batch_job *job, const struct lt_market *market)
{
	const struct lt_kube_site *const site = &lt_kube_site;
	const struct lt_kube_known_job *const known =
	    job->job_id != 0 ? lt_kube_cluster_job(&site->cluster, job->job_id) : &site->question;
	struct lt_kube_where all[LT_PARTITIONS_MAX];

	*places = (struct lt_batch_places){{false}, {false}};
	/* A Job whose user chose the place stays there. */
	if (known == NULL || known->facts.text == NULL || known->facts.is_placed)
		return;
	lt_kube_where_is(all, &known->facts, true);
	const uint32_t pods = known->facts.pods;
	const uint32_t room = enough_pods(all, pods, true, known->refused);
	const uint32_t now = enough_pods(all, pods, false, known->refused);
	for (uint32_t i = 0; i < site->pool_count; i++) {
		const int at = lt_market_partition(market, site->pools[i]);
		const bool refused = lt_text_is_among(site->pools[i], known->refused);

		if (at < 0)
			continue;
		places->closed[at] =
		    !all[i].takes || (room > 0 && refused) || all[i].beside_others < room;
		places->full[at] = (now > 0 && refused) || all[i].now < now;
	}
}

/* Returns the part of a node's GPUs, if it has some, as what else is there takes little of them;
 * all, once no pod has room. */
static double
part_of(const struct lt_kube_amounts *room, const struct lt_kube_amounts *taken)
{
	static const int64_t least[LT_KUBE_RESOURCES] = {
	    [LT_KUBE_CPU] = 1000, [LT_KUBE_POD_COUNT] = 1};
	const bool has_gpus = room->of[LT_KUBE_GPU] > 0;
	double part = 0;

	for (int i = 0; i < LT_KUBE_RESOURCES; i++) {
		const bool counts =
		    has_gpus ? i == LT_KUBE_GPU : i == LT_KUBE_CPU || i == LT_KUBE_MEMORY;

		if (room->of[i] - taken->of[i] < least[i])
			return 1;
		if (counts && room->of[i] > 0)
			part = fmax(part, (double)taken->of[i] / (double)room->of[i]);
	}
	return fmin(part, 1);
}

double
lt_batch_taken(const char *partition)
{
	const struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	double taken = 0;

	for (uint32_t i = 0; i < c->node_count; i++) {
		const struct lt_kube_node *const node = &c->nodes[i].facts;

		if (strcmp(node->pool, partition) != 0)
			continue;
		taken += node->is_up ? part_of(&node->room,
					   &lt_kube_rooms_of(&c->rooms, node->name)->others)
				     : 1;
	}
	return taken;
}

/* ---- at its hour ---- */

static bool
has_place(const struct lt_kube_known_job *job, const char *pool)
{
	const struct lt_market *const market = lt_kube_site.market;
	const struct lt_batch_job record = {.job_id = job->id};
	const int at = lt_market_partition(market, pool);
	struct lt_batch_places places;

	if (at < 0)
		return false;
	lt_batch_places(&places, &record, market);
	return !places.closed[at] && !places.full[at];
}

static void
tell_no_place(const struct lt_kube_known_job *job, const char *what, int64_t now_utc_s)
{
	char text[LT_NAME_SIZE + 120];

	snprintf(
	    text, sizeof(text), "pool %s %s", lt_kube_job_text(&job->facts, LT_KUBE_POOL), what);
	lt_kube_tell(job, &(struct lt_kube_told){"Warning", "LowtideNoRoom", text}, now_utc_s);
}

bool
lt_kube_is_stuck(struct lt_kube_known_job *job, int64_t now_utc_s)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	const char *const pool = lt_kube_job_text(&job->facts, LT_KUBE_POOL);
	const bool is_gone = lt_kube_pool_is_gone(c, pool);

	if (pool[0] == '\0' || job->facts.is_placed || has_place(job, pool)) {
		job->stuck_utc_s = 0;
		return false;
	}
	if (job->stuck_utc_s == 0) {
		job->stuck_utc_s = now_utc_s;
		lt_kube_cluster_changed(c, job->id);
		lt_log("no_place", "job=%u pool=%s gone=%d", job->id, pool, is_gone);
		tell_no_place(job,
		    is_gone ? "has no node now: it is planned again"
			    : "has no room for it now: it is planned again",
		    now_utc_s);
		return true;
	}
	if (now_utc_s < job->stuck_utc_s + DECIDED_S)
		return true;
	/* It may run in a pool that has no price. */
	if (is_gone)
		tell_no_place(job,
		    "has no node, and there is no other plan: kube-scheduler chooses where it runs",
		    now_utc_s);
	return false;
}

/* ---- let go, and without a node ---- */

/* Once it is suspended, and no pod of it is left, it is stuck, and decided again. */
static int
suspend_job(struct lt_kube_known_job *job, struct lt_error *err)
{
	char version[24];

	/* If a pod of it has found a node by now, the API server refuses, or the pod continues. */
	snprintf(version, sizeof(version), "%llu", (unsigned long long)job->facts.version);
	return lt_kube_patch(job, LT_KUBE_MERGE_PATCH,
	    json_pack("{s:{s:s,s:{s:s}},s:{s:b}}", "metadata", "resourceVersion", version,
		"annotations", LT_KUBE_DOMAIN "pause", "false", "spec", "suspend", 1),
	    err);
}

void
lt_kube_take_back(struct lt_kube_known_job *job, int64_t now_utc_s)
{
	const struct lt_kube_job *const f = &job->facts;
	const char *const pool = lt_kube_job_text(f, LT_KUBE_POOL);
	const int wait_s =
	    lt_kube_pool_brings(&lt_kube_site.cluster, pool, 0) > 0 ? BROUGHT_S : UNSCHEDULABLE_S;
	struct lt_kube_where all[LT_PARTITIONS_MAX];
	char text[LT_NAME_SIZE + 120], refused[sizeof(job->refused)];
	struct lt_error err = {0};

	/* One of whose pods some run is left alone: they would end. */
	if (job->unschedulable_utc_s == 0 || now_utc_s < job->unschedulable_utc_s + wait_s ||
	    now_utc_s < job->try_utc_s || job->first_utc_s != 0 || job->forget_utc_s != 0 ||
	    f->is_waiting || f->is_pod || f->is_deleted || f->is_placed || !f->is_put ||
	    !lt_kube_is_ours(job))
		return;
	job->try_utc_s = now_utc_s + DECIDED_S;
	lt_kube_where_is(all, f, true);
	lt_copy(refused, sizeof(refused), job->refused);
	lt_kube_add_name(refused, sizeof(refused), pool);
	if (enough_pods(all, f->pods, false, refused) == 0 || !lt_kube_spend())
		return;
	/* The answer is its facts from then on: pool is no more. */
	snprintf(text, sizeof(text),
	    "no node of pool %s took it within %d s: it is suspended again, and planned anew", pool,
	    wait_s);
	if (suspend_job(job, &err) != LT_OK) {
		lt_log("take_back_failed", "job=%u error=\"%s\"", job->id, err.text);
		return;
	}
	lt_copy(job->refused, sizeof(job->refused), refused);
	job->try_utc_s = 0;
	lt_log("taken_back", "job=%u refused=%s", job->id, refused);
	lt_kube_tell(
	    job, &(struct lt_kube_told){"Warning", "LowtideUnschedulable", text}, now_utc_s);
}
