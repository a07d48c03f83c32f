/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Jobs of the cluster, by their uid. */
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "grow.h"

void
lt_kube_cluster_changed(struct lt_kube_cluster *c, uint32_t id)
{
	for (uint32_t i = 0; i < c->changed_count; i++)
		if (c->changed[i] == id)
			return;
	if (c->changed_count == LT_BATCH_CHANGED_MAX)
		c->all_changed = true;
	else
		c->changed[c->changed_count++] = id;
}

/* Where it is, or would be. */
static uint32_t
place_of(const struct lt_kube_cluster *c, const char *uid)
{
	uint32_t low = 0, high = c->job_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (strcmp(c->jobs[middle]->uid, uid) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct lt_kube_known_job *
lt_kube_cluster_find(const struct lt_kube_cluster *c, const char *uid)
{
	const uint32_t at = place_of(c, uid);

	return at < c->job_count && strcmp(c->jobs[at]->uid, uid) == 0
		   ? c->jobs[at]
		   : NULL;
}

struct lt_kube_known_job *
lt_kube_cluster_job(const struct lt_kube_cluster *c, uint32_t id)
{
	for (uint32_t i = 0; i < c->job_count; i++)
		if (c->jobs[i]->id == id)
			return c->jobs[i];
	return NULL;
}

/* A number from the store, or, where there is none because it only looks, any
 * that is free. */
static int
number(const struct lt_kube_cluster *c, const char *uid, uint32_t *id,
    struct lt_error *err)
{
	*id = c->job_count + 1;
	return c->store != NULL ? lt_kube_store_id(c->store, uid, true, id, err)
				: LT_OK;
}

bool
lt_kube_add_grown(struct lt_exact *grown, const struct lt_exact *pod)
{
	const struct lt_exact was = *grown;

	if (pod->cpu_milli > grown->cpu_milli)
		grown->cpu_milli = pod->cpu_milli;
	if (pod->memory_kib > grown->memory_kib)
		grown->memory_kib = pod->memory_kib;
	return grown->cpu_milli != was.cpu_milli ||
	       grown->memory_kib != was.memory_kib;
}

struct lt_kube_known_job *
lt_kube_cluster_add(
    struct lt_kube_cluster *c, const char *uid, struct lt_error *err)
{
	struct lt_kube_known_job **const grown = lt_items_grow(
	    c->jobs, &c->job_capacity, c->job_count, sizeof(*c->jobs));
	struct lt_kube_known_job *const job = calloc(1, sizeof(*job));

	if (grown != NULL)
		c->jobs = grown;
	const uint32_t at = place_of(c, uid);
	if (grown == NULL || job == NULL)
		lt_fail(err, LT_ENOMEM, "Jobs: out of memory");
	if (err->code != LT_OK || strlen(uid) >= sizeof(job->uid) ||
	    number(c, uid, &job->id, err) != LT_OK) {
		free(job);
		return NULL;
	}
	strcpy(job->uid, uid);
	if (c->store != NULL) {
		(void)lt_kube_store_first_start(
		    c->store, job->id, &job->first_utc_s, NULL);
		(void)lt_kube_store_most(c->store, job->id, &job->grown, NULL);
	}
	memmove(&c->jobs[at + 1], &c->jobs[at],
	    (c->job_count - at) * sizeof(*c->jobs));
	c->jobs[at] = job;
	c->job_count++;
	return job;
}
