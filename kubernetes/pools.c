/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pools of nodes, and the parts of them that the policy names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "text.h"

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
	return !lt_kube_cluster_has(c, pool) &&
	       lt_kube_pool_brings(c, pool, 0) == 0;
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
		snprintf(
		    out + used, size - used, "%s%s", used > 0 ? "," : "", name);
}

void
lt_kube_cluster_parts(
    const struct lt_kube_cluster *c, const char *pool, char *out, size_t size)
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
lt_kube_cluster_name(
    struct lt_kube_cluster *c, const char *const *names, uint32_t count)
{
	char(*const fresh)[LT_NAME_SIZE] =
	    calloc(count + (size_t)1, sizeof(*fresh));

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
