/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the pools that take a job's pods, as kube-scheduler would: by taints, labels and the free
 * room of each node; and by the nodes that a pool which scales would bring. Reads the cluster as it
 * was seen last. Pure.
 */
#include <string.h>

#include "object.h"
#include "cluster.h"

struct question { /* what of a job decides on a node */
	const struct lt_kube_job *job;
	json_t *tolerations, *selector;
	const char *gpu;
};

/* Fields that stand for labels of a node: those that a selector may name. */
static bool
has_label(const struct lt_kube_node *node, const char *key, const char *value)
{
	const struct {
		const char *key, *value;
	} labels[] = {
	    {"kubernetes.io/os", node->os},
	    {"kubernetes.io/arch", node->arch},
	    {"topology.kubernetes.io/region", node->region},
	    {"topology.kubernetes.io/zone", node->zone},
	    {"node.kubernetes.io/instance-type", node->instance},
	    {node->pool_key, node->label},
	};

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (strcmp(labels[i].key, key) == 0)
			return strcmp(labels[i].value, value) == 0;
	return lt_kube_node_is_sold(node, key, value);
}

static bool
is_selected(const struct question *q, const struct lt_kube_node *node)
{
	const char *key;
	json_t *value;

	json_object_foreach(q->selector, key, value)
		if (json_string_value(value) == NULL ||
		    (!(q->job->is_put && strcmp(key, node->pool_key) == 0) &&
			!has_label(node, key, json_string_value(value))))
			return false;
	if (!lt_kube_offers(node, &q->job->need.gpu_kinds))
		return false;
	return q->gpu[0] == '\0' || strcmp(node->gpu_resource, q->gpu) == 0;
}

/* The taint that is named as the GPUs that a pod asks for it bears: the API server, or the cloud,
 * adds that toleration. */
static bool
bears_taints(const struct question *q, const char *taints, bool adds)
{
	json_t *const list = json_loads(taints, 0, NULL);
	const json_t *taint;
	bool all = json_is_array(list);
	size_t i;

	json_array_foreach(list, i, taint)
		all &= lt_kube_tolerates(q->tolerations, taint) ||
		       (q->gpu[0] != '\0' && strcmp(lt_kube_string(taint, "key"), q->gpu) == 0) ||
		       (adds && lt_kube_is_spot_taint(taint));
	json_decref(list);
	return all;
}

/* So many of these have room beside those, at most `most`. */
static uint32_t
places_on(const struct lt_kube_amounts *room, const struct lt_kube_amounts *taken,
    const struct lt_kube_amounts *asks, uint32_t most)
{
	int64_t places = most;

	for (int i = 0; i < LT_KUBE_RESOURCES; i++) {
		const int64_t left = room->of[i] - taken->of[i];

		if (asks->of[i] > 0 && left / asks->of[i] < places)
			places = left / asks->of[i];
	}
	return places > 0 ? (uint32_t)places : 0;
}

/* Source: NodeResourcesFit, LeastAllocated, of CPUs and memory alike. */
static double
score_of(const struct lt_kube_amounts *room, const struct lt_kube_amounts *taken,
    const struct lt_kube_amounts *asks)
{
	static const enum lt_kube_resource counted[] = {LT_KUBE_CPU, LT_KUBE_MEMORY};
	double sum = 0;

	for (int i = 0; i < 2; i++) {
		const int64_t has = room->of[counted[i]];
		const int64_t left = has - taken->of[counted[i]] - asks->of[counted[i]];

		if (has > 0 && left > 0)
			sum += (double)left / (double)has / 2;
	}
	return sum;
}

struct borne { /* by nodes of these taints, the last that were looked at */
	const char *taints;
	bool alone, added;
};

static void
look_at_taints(struct lt_kube_where *w, const struct question *q, const struct lt_kube_node *node,
    struct borne *borne)
{
	if (borne->taints == NULL || strcmp(borne->taints, node->taints) != 0)
		*borne = (struct borne){.taints = node->taints,
		    .alone = node->taints[0] == '\0' || bears_taints(q, node->taints, false),
		    .added = node->taints[0] == '\0' || bears_taints(q, node->taints, true)};
	w->takes |= borne->added;
	w->takes_alone |= borne->alone;
}

/* Scores a node that takes it. */
static void
look_at_room(struct lt_kube_where *w, const struct lt_kube_job *job,
    const struct lt_kube_node *node, const struct lt_kube_taken *taken, bool takes_alone)
{
	const struct lt_kube_amounts *const asks = &job->asks;
	const double score = score_of(&node->room, &taken->all, asks);

	w->beside_others +=
	    places_on(&node->room, &taken->others, asks, job->pods - w->beside_others);
	w->now += places_on(&node->room, &taken->all, asks, job->pods - w->now);
	if (takes_alone && score > w->score && places_on(&node->room, &taken->all, asks, 1) > 0)
		w->score = score;
}

static int
find_pool(const struct lt_kube_where_asked *asked, const char *pool)
{
	for (uint32_t i = 0; i < asked->count; i++)
		if (strcmp(asked->pools[i], pool) == 0)
			return (int)i;
	return -1;
}

/* One that the pool would bring, empty; room for so many pods on all of them. */
static uint32_t
look_at_new(struct lt_kube_where *w, const struct question *q, const struct lt_kube_node *node,
    uint32_t brings)
{
	static const struct lt_kube_amounts nothing;
	struct borne borne = {.taints = NULL};
	const uint32_t pods = q->job->pods;
	const uint32_t fits = places_on(&node->room, &nothing, &q->job->asks, pods);

	if (fits == 0 || !is_selected(q, node))
		return 0;
	look_at_taints(w, q, node, &borne);
	if (borne.alone && w->score < LT_KUBE_SCORE_NEW)
		w->score = LT_KUBE_SCORE_NEW;
	if (!borne.added)
		return 0;
	return (uint64_t)fits * brings < pods ? fits * brings : pods;
}

static uint32_t
nodes_of(const struct lt_kube_cluster *c, const char *pool)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < c->node_count; i++)
		count += strcmp(c->nodes[i].facts.pool, pool) == 0;
	return count;
}

/* Counts the kind of node that takes most, for each pool. */
static void
look_at_growth(struct lt_kube_where *w, const struct lt_kube_cluster *c, const struct question *q,
    const char *pool)
{
	const uint32_t brings = lt_kube_pool_brings(c, pool, 0) > 0
				    ? lt_kube_pool_brings(c, pool, nodes_of(c, pool))
				    : 0;
	const uint32_t pods = q->job->pods;
	uint32_t most = 0;

	for (uint32_t i = 0; brings > 0 && i < c->kept_count; i++) {
		if (strcmp(c->kept[i].facts.pool, pool) != 0)
			continue;
		const uint32_t fits = look_at_new(w, q, &c->kept[i].facts, brings);

		if (fits > most)
			most = fits;
	}
	w->beside_others = w->beside_others < pods - most ? w->beside_others + most : pods;
	w->now = w->now < pods - most ? w->now + most : pods;
}

void
lt_kube_find_where(struct lt_kube_where *all, const struct lt_kube_cluster *c,
    const struct lt_kube_where_asked *asked)
{
	const struct lt_kube_job *const job = asked->job;
	const struct question q = {.job = job,
	    .tolerations = json_loads(lt_kube_job_text(job, LT_KUBE_TOLERATIONS), 0, NULL),
	    .selector = json_loads(lt_kube_job_text(job, LT_KUBE_SELECTOR), 0, NULL),
	    .gpu = lt_kube_job_text(job, LT_KUBE_GPU_NAME)};
	const char *pool = NULL; /* of the node before */
	struct borne borne = {.taints = NULL};
	int at = -1;

	for (uint32_t i = 0; i < asked->count; i++)
		all[i] = (struct lt_kube_where){.score = -1};
	for (uint32_t i = 0; i < c->node_count; i++) {
		const struct lt_kube_node *const node = &c->nodes[i].facts;

		if (pool == NULL || strcmp(pool, node->pool) != 0)
			at = find_pool(asked, node->pool);
		pool = node->pool;
		if (at < 0 || (!asked->wants_room && all[at].takes_alone) || !node->is_up ||
		    !is_selected(&q, node))
			continue;
		look_at_taints(&all[at], &q, node, &borne);
		if (asked->wants_room && borne.added)
			look_at_room(&all[at], job, node, lt_kube_rooms_of(&c->rooms, node->name),
			    borne.alone);
	}
	for (uint32_t i = 0; i < asked->count; i++)
		look_at_growth(&all[i], c, &q, asked->pools[i]);
	json_decref(q.tolerations);
	json_decref(q.selector);
}
