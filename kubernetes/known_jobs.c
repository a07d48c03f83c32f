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

void
lt_kube_known_job_free(struct lt_kube_known_job *job)
{
	lt_kube_job_free(&job->facts);
	json_decref(job->dry_run);
	free(job);
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

/* The most that its pods had before lowtide was started. */
static struct lt_kube_need
most_of(struct lt_kube_store *store, uint32_t id)
{
	enum { MILLI = 1000, KIB = 1024 };
	struct lt_exact most = {.cpu_milli = 0};

	(void)lt_kube_store_most(store, id, &most, NULL);
	return (struct lt_kube_need){
	    .cpus = (uint32_t)((most.cpu_milli + MILLI - 1) / MILLI),
	    .memory_mib = (most.memory_kib + KIB - 1) / KIB,
	    .exact = most};
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
		if (job->first_utc_s != 0)
			job->had = most_of(c->store, job->id);
	}
	memmove(&c->jobs[at + 1], &c->jobs[at],
	    (c->job_count - at) * sizeof(*c->jobs));
	c->jobs[at] = job;
	c->job_count++;
	return job;
}
