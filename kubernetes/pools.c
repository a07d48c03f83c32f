/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pools of nodes, the parts of them that the policy names, and what a node of a pool is while it
 * has none: as each kind of node was last, by kube.db, else as the policy writes it.
 *
 * Pure but for kube.db, in which a kind of node is written when it changed; a failure is logged,
 * and the kind is known in memory only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "grow.h"
#include "log.h"
#include "object.h"
#include "text.h"
#include "units.h"

/* ---- pools of nodes ---- */

int
lt_kube_cluster_find_node(const struct lt_kube_cluster *c, const char *name)
{
	for (uint32_t i = 0; i < c->node_count; i++)
		if (strcmp(c->nodes[i].facts.name, name) == 0)
			return (int)i;
	return -1;
}

const struct lt_kube_node *
lt_kube_cluster_node(const struct lt_kube_cluster *c, const char *name)
{
	const int at = lt_kube_cluster_find_node(c, name);

	return at >= 0 ? &c->nodes[at].facts : NULL;
}

const char *
lt_kube_cluster_pool(const struct lt_kube_cluster *c, const char *node)
{
	const struct lt_kube_node *const found = lt_kube_cluster_node(c, node);

	return found != NULL ? found->pool : "";
}

bool
lt_kube_cluster_has(const struct lt_kube_cluster *c, const char *pool)
{
	for (uint32_t i = 0; i < c->node_count; i++)
		if (lt_kube_node_is_of(&c->nodes[i].facts, pool))
			return true;
	return false;
}

bool
lt_kube_pool_is_gone(const struct lt_kube_cluster *c, const char *pool)
{
	return !lt_kube_cluster_has(c, pool) && lt_kube_pool_brings(c, pool, 0) == 0;
}

json_t *
lt_kube_cluster_selector(const struct lt_kube_cluster *c, const char *pool)
{
	for (uint32_t i = 0; i < c->node_count; i++)
		if (lt_kube_node_is_of(&c->nodes[i].facts, pool))
			return lt_kube_node_selector(&c->nodes[i].facts, pool);
	const struct lt_kube_node *const kept = lt_kube_kept_of(c, pool);

	return kept != NULL ? lt_kube_node_selector(kept, pool) : NULL;
}

unsigned
lt_kube_cluster_spot_taints(const struct lt_kube_cluster *c, const char *pool)
{
	unsigned taints = 0;

	for (uint32_t i = 0; i < c->node_count; i++)
		if (lt_kube_node_is_of(&c->nodes[i].facts, pool))
			taints |= c->nodes[i].facts.spot_taints;
	for (uint32_t i = 0; i < c->kept_count; i++)
		if (lt_kube_node_is_of(&c->kept[i].facts, pool))
			taints |= c->kept[i].facts.spot_taints;
	return taints;
}

void
lt_kube_add_name(char *out, size_t size, const char *name)
{
	const size_t used = strlen(out);

	if (!lt_text_is_among(name, out) && used + strlen(name) + 2 <= size)
		snprintf(out + used, size - used, "%s%s", used > 0 ? "," : "", name);
}

void
lt_kube_cluster_parts(const struct lt_kube_cluster *c, const char *pool, char *out, size_t size)
{
	bool is_one = false;

	out[0] = '\0';
	for (uint32_t i = 0; i < c->node_count; i++)
		is_one |= strcmp(c->nodes[i].facts.pool, pool) == 0;
	if (is_one)
		lt_kube_add_name(out, size, pool);
	for (uint32_t i = 0; i < c->node_count; i++)
		if (lt_kube_node_is_of(&c->nodes[i].facts, pool))
			lt_kube_add_name(out, size, c->nodes[i].facts.pool);
	if (out[0] == '\0')
		lt_kube_add_name(out, size, pool);
}

void
lt_kube_cluster_name(struct lt_kube_cluster *c, const char *const *names, uint32_t count)
{
	char(*const fresh)[LT_NAME_SIZE] = calloc(count + (size_t)1, sizeof(*fresh));

	if (fresh == NULL)
		return;
	for (uint32_t i = 0; i < count; i++)
		lt_copy(fresh[i], sizeof(fresh[i]), names[i]);
	free(c->named);
	c->named = fresh;
	c->named_count = count;
	for (uint32_t i = 0; i < c->node_count; i++)
		lt_kube_node_name(&c->nodes[i].facts, c->named, c->named_count);
}

/* ---- nodes as they were last ---- */

enum {
	KEPT_MAX = 1024, /* kinds: 2.5 MB; of more the first */
	PODS = 110,	 /* kubelet's default */
};

/* Taints that a node has for a while and the next one will not: those that Cluster Autoscaler
 * leaves out of its templates, and Karpenter's own. */
static const char *const passing[] = {
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "karpenter.sh/",
};

static bool
is_passing(const json_t *taint)
{
	const char *const key = lt_kube_string(taint, "key");

	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (strncmp(key, passing[i], strlen(passing[i])) == 0)
			return true;
	return false;
}

/* Returns the part of a node that lt_kube_node_read() reads and that stays true of the next one. */
static json_t *
template_of(const json_t *object)
{
	const json_t *const spec = json_object_get(object, "spec");
	json_t *const taints = json_array();
	const json_t *taint;
	size_t i;

	json_array_foreach(json_object_get(spec, "taints"), i, taint)
		if (!is_passing(taint))
			json_array_append(taints, (json_t *)taint);
	return json_pack("{s:{s:s,s:O*},s:{s:s,s:o},s:{s:O*}}", "metadata", "name", "kept",
	    "labels", lt_kube_part(object, "metadata", "labels"), "spec", "providerID",
	    lt_kube_string(spec, "providerID"), "taints", taints, "status", "allocatable",
	    lt_kube_part(object, "status", "allocatable"));
}

static bool
read_template(struct lt_kube_node *facts, const struct lt_kube_cluster *c, const json_t *template)
{
	if (lt_kube_node_read(facts, template, &c->names, NULL) != LT_OK || facts->label[0] == '\0')
		return false;
	facts->is_up = true;
	lt_kube_node_name(facts, c->named, c->named_count);
	return true;
}

static bool
is_like(const struct lt_kube_node *a, const struct lt_kube_node *b)
{
	return strcmp(a->label, b->label) == 0 && strcmp(a->instance, b->instance) == 0 &&
	       a->is_reclaimable == b->is_reclaimable && strcmp(a->zone, b->zone) == 0;
}

/* NULL: there is no room for another. */
static struct lt_kube_kept *
find_or_add(struct lt_kube_cluster *c, const struct lt_kube_node *facts)
{
	for (uint32_t i = 0; i < c->kept_count; i++)
		if (!c->kept[i].is_written && is_like(&c->kept[i].facts, facts))
			return &c->kept[i];
	struct lt_kube_kept *const grown =
	    c->kept_count < KEPT_MAX
		? lt_items_grow(c->kept, &c->kept_capacity, c->kept_count, sizeof(*grown))
		: NULL;
	if (grown == NULL)
		return NULL;
	c->kept = grown;
	grown[c->kept_count] = (struct lt_kube_kept){.put_utc_s = 0};
	return &grown[c->kept_count++];
}

static void
put_kept(struct lt_kube_cluster *c, const struct lt_kube_node *facts, const json_t *template)
{
	char kind[4 * LT_NAME_SIZE];
	struct lt_error err = {0};
	char *const text = json_dumps(template, JSON_COMPACT);

	snprintf(kind, sizeof(kind), "%s %s %s %s", facts->label, facts->instance,
	    facts->is_reclaimable ? "spot" : "on-demand", facts->zone);
	if (text == NULL ||
	    lt_kube_store_keep_node(c->store, kind, text, c->now_utc_s, &err) != LT_OK)
		lt_log("node_not_kept", "kind=\"%s\" error=\"%s\"", kind, err.text);
	free(text);
}

void
lt_kube_keep_node(struct lt_kube_cluster *c, const struct lt_kube_node *facts, const json_t *object)
{
	struct lt_kube_node fresh;

	/* One that is not ready yet may lack its GPUs. */
	if (!facts->is_up || facts->label[0] == '\0')
		return;
	json_t *const template = template_of(object);
	struct lt_kube_kept *const kept =
	    read_template(&fresh, c, template) ? find_or_add(c, &fresh) : NULL;
	if (kept != NULL && (memcmp(&kept->facts, &fresh, sizeof(fresh)) != 0 ||
				c->now_utc_s >= kept->put_utc_s + LT_DAY_S)) {
		kept->facts = fresh;
		kept->put_utc_s = c->now_utc_s;
		if (c->store != NULL)
			put_kept(c, &fresh, template);
	}
	json_decref(template);
}

static void
take_kept(void *context, const char *node, int64_t seen_utc_s)
{
	struct lt_kube_cluster *const c = context;
	json_t *const template = json_loads(node, 0, NULL);
	struct lt_kube_node facts;
	struct lt_kube_kept *const kept =
	    read_template(&facts, c, template) ? find_or_add(c, &facts) : NULL;

	if (kept != NULL)
		*kept = (struct lt_kube_kept){facts, false, seen_utc_s};
	json_decref(template);
}

int
lt_kube_kept_load(struct lt_kube_cluster *c, const char *state_dir, struct lt_error *err)
{
	return lt_kube_store_nodes(
	    &(struct lt_kube_nodes_reader){.context = c, .take = take_kept}, state_dir, err);
}

const struct lt_kube_node *
lt_kube_kept_of(const struct lt_kube_cluster *c, const char *pool)
{
	for (uint32_t i = 0; i < c->kept_count; i++)
		if (lt_kube_node_is_of(&c->kept[i].facts, pool))
			return &c->kept[i].facts;
	return NULL;
}

static bool
is_known(const struct lt_kube_cluster *c, const char *pool)
{
	for (uint32_t i = 0; i < c->kept_count; i++)
		if (strcmp(c->kept[i].facts.pool, pool) == 0)
			return true;
	return false;
}

uint32_t
lt_kube_pool_brings(const struct lt_kube_cluster *c, const char *pool, uint32_t has)
{
	for (uint32_t i = 0; c->growth != NULL && i < c->named_count; i++)
		if (strcmp(c->named[i], pool) == 0)
			return c->growth[i].scales && c->growth[i].most > has && is_known(c, pool)
				   ? c->growth[i].most - has
				   : 0;
	return 0;
}

/* ---- as the policy writes them ---- */

/* The label by which all pools that are known are chosen; NULL: they differ, or none is known. */
static const char *
key_of_pools(const struct lt_kube_cluster *c)
{
	const char *key = c->names.pool;

	for (uint32_t i = 0; i < c->node_count + c->kept_count; i++) {
		const struct lt_kube_node *const node =
		    i < c->node_count ? &c->nodes[i].facts : &c->kept[i - c->node_count].facts;

		if (node->pool_key[0] == '\0')
			continue;
		if (key != NULL && strcmp(key, node->pool_key) != 0)
			return NULL;
		key = node->pool_key;
	}
	return key;
}

/* "key=value,key=value" */
static json_t *
labels_of(const struct lt_kube_cluster *c, const struct lt_batch_named *named)
{
	char text[LT_KUBE_TAINTS_SIZE], pool[LT_NAME_SIZE];
	const char *const key = key_of_pools(c);
	json_t *const labels = json_object();
	char *rest = NULL;

	lt_copy(text, sizeof(text), named->labels);
	for (char *at = strtok_r(text, ",", &rest); at != NULL; at = strtok_r(NULL, ",", &rest)) {
		char *const value = strchr(at, '=');

		if (value == NULL)
			continue;
		*value = '\0';
		json_object_set_new(labels, at, json_string(value + 1));
	}
	lt_copy(pool, sizeof(pool), named->name);
	pool[strcspn(pool, "/")] = '\0';
	if (key != NULL && lt_kube_pool_in(labels, &c->names, NULL)[0] == '\0')
		json_object_set_new(labels, key, json_string(pool));
	return labels;
}

/* "key=value:NoSchedule,key:NoExecute" */
static json_t *
taints_of(const struct lt_batch_named *named)
{
	char text[LT_KUBE_TAINTS_SIZE];
	json_t *const taints = json_array();
	char *rest = NULL;

	lt_copy(text, sizeof(text), named->taints);
	for (char *at = strtok_r(text, ",", &rest); at != NULL; at = strtok_r(NULL, ",", &rest)) {
		char *const effect = strrchr(at, ':');
		char *const value = strchr(at, '=');

		if (effect == NULL)
			continue;
		*effect = '\0';
		if (value != NULL)
			*value = '\0';
		json_array_append_new(
		    taints, json_pack("{s:s,s:s,s:s}", "key", at, "value",
				value != NULL ? value + 1 : "", "effect", effect + 1));
	}
	return taints;
}

static void
write_one(struct lt_kube_cluster *c, const struct lt_batch_named *named)
{
	char cpus[16], memory[16], gpus[16], pods[16];
	struct lt_kube_node facts;

	snprintf(cpus, sizeof(cpus), "%u", named->cpus);
	snprintf(memory, sizeof(memory), "%uMi", named->memory_mib);
	snprintf(gpus, sizeof(gpus), "%u", named->gpus);
	snprintf(pods, sizeof(pods), "%d", PODS);
	json_t *const template = json_pack("{s:{s:s,s:o},s:{s:o},s:{s:{s:s,s:s,s:s}}}", "metadata",
	    "name", "written", "labels", labels_of(c, named), "spec", "taints", taints_of(named),
	    "status", "allocatable", "cpu", cpus, "memory", memory, "pods", pods);
	if (named->gpus > 0)
		json_object_set_new(
		    json_object_get(json_object_get(template, "status"), "allocatable"),
		    strstr(named->labels, "amd.com/gpu") != NULL ? "amd.com/gpu" : "nvidia.com/gpu",
		    json_string(gpus));
	struct lt_kube_kept *const grown =
	    read_template(&facts, c, template) && strcmp(facts.pool, named->name) == 0 &&
		    c->kept_count < KEPT_MAX
		? lt_items_grow(c->kept, &c->kept_capacity, c->kept_count, sizeof(*grown))
		: NULL;
	if (grown != NULL) {
		c->kept = grown;
		grown[c->kept_count++] = (struct lt_kube_kept){facts, true, 0};
	}
	json_decref(template);
}

void
lt_kube_kept_name(struct lt_kube_cluster *c, const struct lt_batch_named *named, uint32_t count)
{
	struct lt_kube_growth *const growth =
	    count == c->named_count ? calloc(count + (size_t)1, sizeof(*growth)) : NULL;
	uint32_t kept = 0;

	free(c->growth);
	c->growth = growth;
	for (uint32_t i = 0; i < c->kept_count; i++)
		if (!c->kept[i].is_written)
			c->kept[kept++] = c->kept[i];
	c->kept_count = kept;
	for (uint32_t i = 0; i < kept; i++)
		lt_kube_node_name(&c->kept[i].facts, c->named, c->named_count);
	for (uint32_t i = 0; growth != NULL && i < count; i++) {
		growth[i] = (struct lt_kube_growth){named[i].scales, named[i].most};
		if (named[i].cpus > 0 && !is_known(c, named[i].name))
			write_one(c, &named[i]);
	}
}
