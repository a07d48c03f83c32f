/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the cluster as it was seen last: takes the watcher's lines into memory, and pods into the
 * store (store.h); catches up on what ran while nobody watched.
 *
 * Pods that were seen to run and are gone, and those that the API server has no more but its Jobs'
 * status counts, are charged as estimated, never beyond what their Job held for. A store that can't
 * be written sets cluster->lost: all lists are then read anew. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "grow.h"
#include "kube_facts.h"
#include "log.h"
#include "object.h"
#include "text.h"

/* ---- Jobs by their uid ---- */

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

/* Returns its place, or the place where it would be. */
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

	return at < c->job_count && strcmp(c->jobs[at]->uid, uid) == 0 ? c->jobs[at] : NULL;
}

struct lt_kube_known_job *
lt_kube_cluster_job(const struct lt_kube_cluster *c, uint32_t id)
{
	for (uint32_t i = 0; i < c->job_count; i++)
		if (c->jobs[i]->id == id)
			return c->jobs[i];
	return NULL;
}

/* Returns a number from the store, or, without a store (a command that only reads), any that is
 * free. */
static int
number_of_uid(const struct lt_kube_cluster *c, const char *uid, uint32_t *id, struct lt_error *err)
{
	*id = c->job_count + 1;
	return c->store != NULL ? lt_kube_store_id(c->store, uid, true, id, err) : LT_OK;
}

/* The most that its pods had before lowtide was started. */
static struct lt_kube_need
most_of(struct lt_kube_store *store, uint32_t id)
{
	enum { MILLI = 1000, KIB = 1024 };
	struct lt_exact most = {.cpu_milli = 0};

	(void)lt_kube_store_most(store, id, &most, NULL);
	return (struct lt_kube_need){.cpus = (uint32_t)((most.cpu_milli + MILLI - 1) / MILLI),
	    .memory_mib = (most.memory_kib + KIB - 1) / KIB,
	    .exact = most};
}

struct lt_kube_known_job *
lt_kube_cluster_add(struct lt_kube_cluster *c, const char *uid, struct lt_error *err)
{
	struct lt_kube_known_job **const grown =
	    lt_items_grow(c->jobs, &c->job_capacity, c->job_count, sizeof(*c->jobs));
	struct lt_kube_known_job *const job = calloc(1, sizeof(*job));

	if (grown != NULL)
		c->jobs = grown;
	const uint32_t at = place_of(c, uid);
	if (grown == NULL || job == NULL)
		lt_fail(err, LT_ENOMEM, "Jobs: out of memory");
	if (err->code != LT_OK || strlen(uid) >= sizeof(job->uid) ||
	    number_of_uid(c, uid, &job->id, err) != LT_OK) {
		free(job);
		return NULL;
	}
	strcpy(job->uid, uid);
	if (c->store != NULL) {
		(void)lt_kube_store_first_start(c->store, job->id, &job->first_utc_s, NULL);
		if (job->first_utc_s != 0)
			job->had = most_of(c->store, job->id);
	}
	memmove(&c->jobs[at + 1], &c->jobs[at], (c->job_count - at) * sizeof(*c->jobs));
	c->jobs[at] = job;
	c->job_count++;
	return job;
}

/* ---- what is seen ---- */

enum { SHOWN_S = 120 }; /* a Job after its end */

/* Notes that the store could not be written: what this pass took is to be taken again. */
static void
note_lost(struct lt_kube_cluster *c, const struct lt_error *err)
{
	c->lost = true;
	lt_log("store_failed", "error=\"%s\"", err->text);
}

/* ---- namespaces and nodes: few, in a row ---- */

static int
find_namespace(const struct lt_kube_cluster *c, const char *name)
{
	for (uint32_t i = 0; i < c->namespace_count; i++)
		if (strcmp(c->namespaces[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool
lt_kube_cluster_manages(const struct lt_kube_cluster *c, const char *namespace)
{
	const int at = find_namespace(c, namespace);

	return at >= 0 && c->namespaces[at].is_managed;
}

const char *
lt_kube_cluster_team(const struct lt_kube_cluster *c, const char *namespace)
{
	const int at = find_namespace(c, namespace);

	return at >= 0 ? c->namespaces[at].team : "";
}

static void
change_namespace(struct lt_kube_cluster *c, struct lt_kube_namespace *known, bool is_managed)
{
	struct lt_error err = {0};

	if (lt_kube_unheld_change(c, known, is_managed, &err) != LT_OK)
		note_lost(c, &err);
}

static void
see_namespace(struct lt_kube_cluster *c, const json_t *object, bool is_gone)
{
	const json_t *const metadata = json_object_get(object, "metadata");
	const char *const name = lt_kube_string(metadata, "name");
	const bool is_managed =
	    !is_gone &&
	    strcmp(lt_kube_string(json_object_get(metadata, "labels"), LT_KUBE_DOMAIN "managed"),
		"true") == 0;
	const char *const label =
	    c->names.team != NULL
		? lt_kube_string(json_object_get(metadata, "labels"), c->names.team)
		: "";
	char team[LT_ACCOUNT_SIZE] = "";
	int at = find_namespace(c, name);

	lt_copy_lower(team, sizeof(team), label[0] != '\0' ? label : name);
	if (at < 0) {
		struct lt_kube_namespace *const grown = lt_items_grow(
		    c->namespaces, &c->namespace_capacity, c->namespace_count, sizeof(*grown));

		if (grown == NULL || strlen(name) >= sizeof(grown->name))
			return;
		c->namespaces = grown;
		at = (int)c->namespace_count++;
		grown[at] = (struct lt_kube_namespace){.is_managed = false};
		snprintf(grown[at].name, sizeof(grown[at].name), "%s", name);
	}
	struct lt_kube_namespace *const known = &c->namespaces[at];
	const bool changed = known->is_managed != is_managed || strcmp(known->team, team) != 0;
	c->namespaces_changed |= changed;
	c->all_changed |= changed;
	if (changed)
		change_namespace(c, known, is_managed);
	known->is_managed = is_managed;
	memcpy(known->team, team, sizeof(team));
	c->namespaces[at].seen = c->lists[LT_KUBE_NAMESPACES];
}

static void
see_node(struct lt_kube_cluster *c, const json_t *object)
{
	struct lt_kube_node facts;
	struct lt_error err = {0};

	if (lt_kube_node_read(&facts, object, &c->names, &err) != LT_OK) {
		lt_log("node_unreadable", "error=\"%s\"", err.text);
		return;
	}
	int at = lt_kube_cluster_find_node(c, facts.name);
	if (at < 0) {
		struct lt_kube_known_node *const grown =
		    lt_items_grow(c->nodes, &c->node_capacity, c->node_count, sizeof(*grown));

		if (grown == NULL)
			return;
		c->nodes = grown;
		at = (int)c->node_count++;
		memset(&grown[at], 0, sizeof(grown[at]));
	}
	lt_kube_node_name(&facts, c->named, c->named_count);
	lt_kube_claims_offered(&facts, c->names.given);
	/* Nodes report every few seconds that they live. */
	c->nodes_changed |= memcmp(&c->nodes[at].facts, &facts, sizeof(facts)) != 0;
	c->nodes[at].facts = facts;
	c->nodes[at].seen = c->lists[LT_KUBE_NODES];
	lt_kube_keep_node(c, &facts, object);
}

static void
lose_node(struct lt_kube_cluster *c, const char *name)
{
	const int at = lt_kube_cluster_find_node(c, name);

	if (at < 0)
		return;
	c->nodes[at] = c->nodes[--c->node_count];
	c->nodes_changed = true;
}

/* ---- Jobs ---- */

/* Marks a Job that makes no pod any more, or one that lives after all: a list or a deletion may
 * have been wrong about it. */
static void
set_ended(struct lt_kube_cluster *c, struct lt_kube_known_job *job, bool has_ended)
{
	if ((job->forget_utc_s != 0) != has_ended) {
		job->forget_utc_s = has_ended ? c->now_utc_s + SHOWN_S : 0;
		lt_kube_cluster_changed(c, job->id);
	}
	if (c->store != NULL)
		(void)lt_kube_store_set_ended(c->store, job->id, has_ended, NULL);
}

/* The API server knows nothing of the dry run. */
static void
put_dry_run(const struct lt_kube_cluster *c, const json_t *object)
{
	const struct lt_kube_known_job *const job =
	    lt_kube_cluster_find(c, lt_kube_string(json_object_get(object, "metadata"), "uid"));

	if (job != NULL && job->dry_run != NULL)
		json_object_set((json_t *)object, LT_KUBE_DRY_RUN, job->dry_run);
}

/* Raises what a Job's pods need to what one of them had. */
static void
raise_need(struct lt_kube_known_job *job)
{
	const struct lt_kube_need was = job->facts.need;

	lt_kube_need_raise(&job->facts.need, &job->had);
	job->is_raised = memcmp(&was.exact, &job->facts.need.exact, sizeof(was.exact)) != 0;
}

static void
see_job(struct lt_kube_cluster *c, const json_t *object, bool is_gone)
{
	struct lt_kube_job facts;
	struct lt_error err = {0};

	put_dry_run(c, object);
	const int code = lt_kube_job_read(&facts, object, &c->names, &err);

	if (code == LT_ENOENT)
		return;
	if (code != LT_OK) {
		const json_t *const metadata = json_object_get(object, "metadata");

		lt_log("job_unreadable", "name=%s/%s error=\"%s\"",
		    lt_kube_string(metadata, "namespace"), lt_kube_string(metadata, "name"),
		    err.text);
		return;
	}
	const char *const uid = lt_kube_job_text(&facts, LT_KUBE_UID);
	struct lt_kube_known_job *job = lt_kube_cluster_find(c, uid);
	const bool is_new = job == NULL;
	if (job == NULL && !is_gone) {
		job = lt_kube_cluster_add(c, uid, &err);
		if (err.code != LT_OK)
			note_lost(c, &err);
		if (job != NULL && c->store != NULL)
			(void)lt_kube_store_name(c->store, job->id,
			    lt_kube_job_text(&facts, LT_KUBE_NAMESPACE),
			    lt_kube_job_text(&facts, LT_KUBE_NAME), NULL);
	}
	if (job != NULL)
		job->seen = c->lists[facts.is_pod ? LT_KUBE_PODS : LT_KUBE_JOBS];
	/* An older one comes late: what was answered to a PATCH is newer. It is in the list all the
	 * same. */
	if (job == NULL || (facts.version < job->facts.version && !is_gone)) {
		lt_kube_job_free(&facts);
		return;
	}
	lt_kube_job_free(&job->facts);
	job->facts = facts;
	/* The pods that it makes once it resumes are its template's. */
	if (facts.is_waiting) {
		job->unschedulable_utc_s = 0;
		job->had = (struct lt_kube_need){.cpus = 0};
	}
	raise_need(job);
	if (is_new && c->holds_back && c->complete[LT_KUBE_JOBS] && !facts.is_waiting &&
	    !facts.is_foreign && !facts.is_finished &&
	    lt_kube_cluster_manages(c, lt_kube_job_text(&facts, LT_KUBE_NAMESPACE)))
		c->unsuspended++;
	job->was_managed |= lt_kube_cluster_manages(c, lt_kube_job_text(&facts, LT_KUBE_NAMESPACE));
	lt_kube_cluster_changed(c, job->id);
	set_ended(c, job, is_gone || facts.is_finished);
}

/* ---- pods ---- */

/* The store has the rest of a Job that is forgotten; a pod that nobody saw has no node. */
int
lt_kube_cluster_put_pod(struct lt_kube_cluster *c, const struct lt_kube_pod *pod,
    const struct lt_kube_known_job *job, uint32_t id, struct lt_error *err)
{
	struct lt_kube_run run = {.pod = pod,
	    .id = id,
	    .pool = lt_kube_cluster_pool(c, pod->node),
	    .team = "",
	    .user = "",
	    .name = "",
	    .qos = "",
	    .quote = "",
	    .node = lt_kube_cluster_node(c, pod->node),
	    .seen_utc_s = c->now_utc_s,
	    .is_estimated = pod->node[0] == '\0',
	    .is_listed = c->listing[LT_KUBE_PODS]};

	if (job != NULL) {
		run.job_id = job->id;
		run.team =
		    lt_kube_cluster_team(c, lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE));
		run.user = lt_kube_job_text(&job->facts, LT_KUBE_USER);
		run.name = lt_kube_job_text(&job->facts, LT_KUBE_NAME);
		run.qos = lt_kube_job_text(&job->facts, LT_KUBE_CLASS);
		run.quote = lt_kube_job_text(&job->facts, LT_KUBE_QUOTE);
		run.limit_s = job->facts.limit_s;
		/* Its node is gone before it was seen. */
		if (run.pool[0] == '\0')
			run.pool = lt_kube_job_text(&job->facts, LT_KUBE_POOL);
		if (run.pool[0] == '\0')
			run.pool = lt_kube_job_text(&job->facts, LT_KUBE_CHOSEN);
	}
	return lt_kube_store_put(c->store, &run, err);
}

static void
note_pool(struct lt_kube_known_job *job, const char *pool)
{
	if (pool[0] != '\0')
		lt_kube_add_name(job->ran_in, sizeof(job->ran_in), pool);
}

/* Counted by the Job: what runs of it now. */
static void
count_pod(struct lt_kube_cluster *c, struct lt_kube_known_job *job, const struct lt_kube_pod *pod)
{
	note_pool(job, lt_kube_cluster_pool(c, pod->node));
	if (pod->end_utc_s == 0 && !job->facts.is_waiting) {
		lt_kube_need_raise(&job->had, &pod->need);
		if (lt_kube_need_raise(&job->facts.need, &job->had)) {
			job->is_raised = true;
			lt_kube_cluster_changed(c, job->id);
		}
	}
	/* An ended Job may have waited for this pod. */
	if (job->forget_utc_s != 0)
		lt_kube_cluster_changed(c, job->id);
	if (job->first_utc_s == 0 || pod->start_utc_s < job->first_utc_s) {
		job->first_utc_s = pod->start_utc_s;
		lt_kube_cluster_changed(c, job->id);
	}
}

/* The job of a pod; NULL: of none that is known. */
static struct lt_kube_known_job *
job_of(const struct lt_kube_cluster *c, const json_t *pod)
{
	const json_t *const owner =
	    lt_kube_is_own(pod) ? json_object_get(pod, "metadata") : lt_kube_controller(pod);

	return lt_kube_cluster_find(c, lt_kube_string(owner, "uid"));
}

/* kube-scheduler says so of each pod that it tried. */
static void
note_unschedulable(struct lt_kube_known_job *job, const json_t *pod)
{
	const json_t *condition;
	size_t i;

	if (lt_kube_string(json_object_get(pod, "spec"), "nodeName")[0] != '\0')
		job->unschedulable_utc_s = 0;
	else
		json_array_foreach(lt_kube_part(pod, "status", "conditions"), i, condition)
			if (strcmp(lt_kube_string(condition, "type"), "PodScheduled") == 0 &&
			    strcmp(lt_kube_string(condition, "reason"), "Unschedulable") == 0)
				job->unschedulable_utc_s =
				    lt_kube_time(condition, "lastTransitionTime");
}

/* Its place is in the list of jobs. */
static bool
is_of_ours(const struct lt_kube_cluster *c, const struct lt_kube_known_job *job, const json_t *pod)
{
	return job != NULL && !job->facts.is_foreign &&
	       lt_kube_cluster_manages(
		   c, lt_kube_string(json_object_get(pod, "metadata"), "namespace"));
}

static int
see_unheld(struct lt_kube_cluster *c, const char *owner, const struct lt_kube_pod *pod,
    struct lt_error *err)
{
	const int at = find_namespace(c, pod->namespace);

	return lt_kube_unheld_see(c,
	    &(struct lt_kube_unheld){owner, pod, at >= 0 ? &c->namespaces[at] : NULL,
		lt_kube_cluster_pool(c, pod->node), lt_kube_cluster_node(c, pod->node)},
	    err);
}

/* A claim that is not understood counts as all that its node has. */
static void
add_claims(const struct lt_kube_cluster *c, struct lt_kube_pod *pod, const json_t *object)
{
	char why[LT_ERROR_TEXT_SIZE];

	lt_kube_claims_add(&pod->need, object, c->names.given, why);
	pod->need.is_unsized = why[0] != '\0';
	if (pod->need.is_unsized)
		lt_log("pod_unsized", "pod=%s why=\"%s\"", pod->uid, why);
}

static void
see_pod(struct lt_kube_cluster *c, const json_t *object, bool is_gone)
{
	const struct lt_kube_seen seen = {c->now_utc_s, is_gone};
	struct lt_kube_pod pod;
	struct lt_error err = {0};
	uint32_t id = 0;
	char owner[LT_KUBE_OWNER_SIZE];

	if (lt_kube_is_own(object))
		see_job(c, object, is_gone);
	struct lt_kube_known_job *const job = job_of(c, object);
	if (job != NULL && !is_gone && !job->facts.is_waiting)
		note_unschedulable(job, object);
	if (!lt_kube_rooms_see(&c->rooms, object, is_gone, is_of_ours(c, job, object)))
		lt_log("rooms_failed", "error=\"out of memory\"");
	const int code = lt_kube_pod_read(&pod, object, &seen, &err);
	if (code == LT_ENOENT || c->store == NULL)
		return;
	if (code != LT_OK) {
		lt_log("pod_unreadable", "error=\"%s\"", err.text);
		return;
	}
	add_claims(c, &pod, object);
	if (job == NULL && lt_kube_unheld_owner(owner, object)) {
		if (see_unheld(c, owner, &pod, &err) != LT_OK)
			note_lost(c, &err);
		return;
	}
	/* One that is a row already is followed to its end, wherever the label went. */
	const bool is_new = job != NULL && lt_kube_cluster_manages(c, pod.namespace);
	const int found = lt_kube_store_id(c->store, pod.uid, is_new, &id, &err);
	if (found == LT_ENOENT)
		return;
	if (found != LT_OK) {
		note_lost(c, &err);
		return;
	}
	if (lt_kube_cluster_put_pod(c, &pod, job, id, &err) != LT_OK)
		note_lost(c, &err);
	if (job != NULL)
		count_pod(c, job, &pod);
}

/* ---- lists ---- */

/* Removes what was not in the list that is whole now. */
static void
sweep_gone(struct lt_kube_cluster *c, enum lt_kube_kind kind)
{
	const uint32_t list = c->lists[kind];

	for (uint32_t i = c->namespace_count; kind == LT_KUBE_NAMESPACES && i-- > 0;)
		if (c->namespaces[i].seen != list) {
			change_namespace(c, &c->namespaces[i], false);
			c->namespaces[i] = c->namespaces[--c->namespace_count];
			c->namespaces_changed = true;
		}
	for (uint32_t i = c->node_count; kind == LT_KUBE_NODES && i-- > 0;)
		if (c->nodes[i].seen != list) {
			c->nodes[i] = c->nodes[--c->node_count];
			c->nodes_changed = true;
		}
	for (uint32_t i = 0; i < c->job_count; i++)
		if (kind == (c->jobs[i]->facts.is_pod ? LT_KUBE_PODS : LT_KUBE_JOBS) &&
		    c->jobs[i]->seen != list)
			set_ended(c, c->jobs[i], true);
	if (kind == LT_KUBE_PODS && !lt_kube_rooms_end(&c->rooms))
		lt_log("rooms_failed", "error=\"out of memory\"");
	c->complete[kind] = true;
	c->listing[kind] = false;
	c->all_changed = true;
	c->must_catch_up |= kind == LT_KUBE_PODS && c->store != NULL;
}

static void
begin_pods(struct lt_kube_cluster *c)
{
	lt_kube_rooms_begin(&c->rooms);
	if (c->since_utc_s == 0 && (c->store == NULL || lt_kube_store_last_heard(c->store,
							    &c->since_utc_s, NULL) != LT_OK))
		c->since_utc_s = c->now_utc_s;
}

void
lt_kube_cluster_take(struct lt_kube_cluster *c, const struct lt_kube_line *line)
{
	const bool is_gone = line->event == LT_KUBE_GONE;

	switch (line->event) {
	case LT_KUBE_BEGIN:
		c->lists[line->kind]++;
		c->listing[line->kind] = true;
		c->began_utc_s[line->kind] = c->now_utc_s;
		if (line->kind == LT_KUBE_PODS)
			begin_pods(c);
		return;
	case LT_KUBE_END:
		sweep_gone(c, line->kind);
		return;
	case LT_KUBE_FAILED:
		c->failed = (struct lt_error){0};
		c->failed_utc_s = c->now_utc_s;
		lt_fail(&c->failed, LT_ENET, "%s", line->text);
		lt_log("kubernetes_failed", "error=\"%s\"", line->text);
		return;
	case LT_KUBE_SEEN:
	case LT_KUBE_GONE:
		c->heard_utc_s = c->now_utc_s;
		break;
	}
	if (line->kind == LT_KUBE_NAMESPACES)
		see_namespace(c, line->object, is_gone);
	else if (line->kind == LT_KUBE_NODES && is_gone)
		lose_node(c, lt_kube_string(json_object_get(line->object, "metadata"), "name"));
	else if (line->kind == LT_KUBE_NODES)
		see_node(c, line->object);
	else if (line->kind == LT_KUBE_JOBS)
		see_job(c, line->object, is_gone);
	else
		see_pod(c, line->object, is_gone);
}

/* True if the watcher may have missed something: it failed, and has not reported an object
 * since. */
bool
lt_kube_cluster_is_behind(const struct lt_kube_cluster *c)
{
	bool is_listing = false;

	for (int i = 0; i < LT_KUBE_KINDS; i++)
		is_listing |= c->listing[i] || !c->complete[i];
	return is_listing || c->heard_utc_s < c->failed_utc_s;
}

void
lt_kube_cluster_forget(struct lt_kube_cluster *c, int64_t now_utc_s)
{
	uint32_t kept = 0;

	if (lt_kube_cluster_is_behind(c))
		return;
	for (uint32_t i = 0; i < c->job_count; i++) {
		struct lt_kube_known_job *const job = c->jobs[i];

		if (job->forget_utc_s != 0 && now_utc_s > job->forget_utc_s) {
			lt_kube_known_job_free(job);
		} else {
			c->jobs[kept++] = job;
		}
	}
	c->job_count = kept;
}

bool
lt_kube_cluster_is_complete(const struct lt_kube_cluster *c)
{
	for (int i = 0; i < LT_KUBE_KINDS; i++)
		if (!c->complete[i])
			return false;
	return true;
}

void
lt_kube_cluster_reset(struct lt_kube_cluster *c)
{
	for (uint32_t i = 0; i < c->job_count; i++)
		lt_kube_known_job_free(c->jobs[i]);
	lt_kube_rooms_free(&c->rooms);
	for (uint32_t i = 0; i < c->kept_count; i++)
		c->kept[i].put_utc_s = 0; /* it may not be on disk */
	c->job_count = c->changed_count = 0;
	memset(c->complete, 0, sizeof(c->complete));
	memset(c->listing, 0, sizeof(c->listing));
	c->must_catch_up = false;
	c->lost = false;
}

void
lt_kube_cluster_free(struct lt_kube_cluster *c)
{
	lt_kube_cluster_reset(c);
	free(c->jobs);
	free(c->nodes);
	free(c->named);
	free(c->growth);
	free(c->kept);
	free(c->namespaces);
	lt_kube_store_close(c->store);
	*c = (struct lt_kube_cluster){0};
}

/* ---- what ran while nobody watched ---- */

enum {
	MARK_EVERY_S = 10,
	AWAY_SHOWN_S = 60, /* a shorter time is a restart */
	ROWS_MAX = 1000,   /* of a Job; of more pods, and not at once: as many */
};

/* Returns when its last pod can have ended; 0 = any may run still. */
static int64_t
end_of(const struct lt_kube_job *facts)
{
	return facts->ended_utc_s != 0 ? facts->ended_utc_s
	       : facts->is_waiting     ? facts->suspended_utc_s
				       : 0;
}

/* Describes so many pods that ran one after the other, no more than `pods` at once, for `seconds`
 * in all. */
struct missing {
	struct lt_batch_away within;
	int64_t first, count, pods, seconds;
};

static int
add_rows(struct lt_kube_cluster *c, const struct lt_kube_known_job *job, const struct missing *m,
    struct lt_error *err)
{
	struct lt_kube_pod pod = {.need = job->facts.need, .created_utc_s = m->within.from_utc_s};
	int code = LT_OK;

	snprintf(
	    pod.state, sizeof(pod.state), "%s", job->facts.is_complete ? "COMPLETED" : "FAILED");
	for (int64_t i = 0; code == LT_OK && i < m->count; i++) {
		const int64_t before_s = m->seconds * i / m->count;
		const int64_t own_s = m->seconds * (i + 1) / m->count - before_s;
		const int64_t latest_utc_s = m->within.to_utc_s - own_s;
		uint32_t id;

		pod.start_utc_s = m->within.from_utc_s + before_s / m->pods;
		if (pod.start_utc_s > latest_utc_s)
			pod.start_utc_s = latest_utc_s;
		pod.end_utc_s = pod.start_utc_s + own_s;
		snprintf(
		    pod.uid, sizeof(pod.uid), "%.40s/%lld", job->uid, (long long)(m->first + i));
		code = lt_kube_store_id(c->store, pod.uid, true, &id, err);
		if (code == LT_OK)
			code = lt_kube_cluster_put_pod(c, &pod, job, id, err);
	}
	lt_log("missed_pods", "job=%u pods=%lld seconds=%lld", job->id, (long long)m->count,
	    (long long)m->seconds);
	return code;
}

/* Adds pods that its status counts and that have no rows: they ran while nobody watched, while the
 * Job did, and where its other pods did not. */
static int
add_missing(struct lt_kube_cluster *c, const struct lt_kube_known_job *job,
    struct lt_batch_away away, struct lt_error *err)
{
	const struct lt_kube_job *const f = &job->facts;
	const int64_t end_utc_s = end_of(f);
	int64_t known = 0, known_s = 0;

	if (f->start_utc_s > away.from_utc_s)
		away.from_utc_s = f->start_utc_s;
	if (end_utc_s != 0 && end_utc_s < away.to_utc_s)
		away.to_utc_s = end_utc_s;
	const int64_t length_s = away.to_utc_s - away.from_utc_s;
	if (f->is_pod || f->start_utc_s == 0 || length_s <= 0 || f->done == 0 || f->pods == 0 ||
	    !lt_kube_cluster_manages(c, lt_kube_job_text(f, LT_KUBE_NAMESPACE)))
		return LT_OK;
	const int code = lt_kube_store_known(c->store, job->id,
	    &(struct lt_kube_known){away.from_utc_s, away.to_utc_s, &known, &known_s}, err);
	const int64_t left_s = f->pods * length_s - known_s;
	if (code != LT_OK || f->done <= known || left_s <= 0)
		return code;
	struct missing missing = {away, known, f->done - known, f->pods, left_s};
	if (missing.count > ROWS_MAX && missing.count > f->pods)
		missing.count = f->pods > ROWS_MAX ? f->pods : ROWS_MAX;
	if (missing.seconds > missing.count * length_s)
		missing.seconds = missing.count * length_s;
	return add_rows(c, job, &missing, err);
}

int
lt_kube_cluster_catch_up(struct lt_kube_cluster *c, struct lt_error *err)
{
	struct lt_batch_away away = {0, c->now_utc_s};

	if (!c->must_catch_up || !c->complete[LT_KUBE_JOBS])
		return LT_OK;
	c->must_catch_up = false;
	int code =
	    lt_kube_store_end_unseen(c->store, c->began_utc_s[LT_KUBE_PODS], c->now_utc_s, err);
	const bool is_known =
	    code == LT_OK && lt_kube_store_last_heard(c->store, &away.from_utc_s, NULL) == LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < c->job_count; i++) {
		const struct lt_kube_known_job *const job = c->jobs[i];
		const int64_t end_utc_s = end_of(&job->facts);

		if (end_utc_s != 0)
			code = lt_kube_store_end_by(c->store, job->id, end_utc_s, err);
		if (code == LT_OK && is_known)
			code = add_missing(c, job, away, err);
	}
	if (code != LT_OK || !is_known || away.to_utc_s - away.from_utc_s < AWAY_SHOWN_S)
		return code;
	c->away_from_utc_s = away.from_utc_s;
	c->away_to_utc_s = away.to_utc_s;
	lt_log(
	    "was_away", "from=%lld to=%lld", (long long)away.from_utc_s, (long long)away.to_utc_s);
	return lt_kube_store_away(c->store, &away, err);
}

int
lt_kube_cluster_mark(struct lt_kube_cluster *c, int64_t now_utc_s, struct lt_error *err)
{
	if (lt_kube_cluster_is_behind(c) ||
	    (now_utc_s >= c->marked_utc_s && now_utc_s < c->marked_utc_s + MARK_EVERY_S))
		return LT_OK;
	c->marked_utc_s = now_utc_s;
	return lt_kube_store_heard(c->store, now_utc_s, err);
}
