/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The controllers' loop: objects that changed or are due are looked at one by one, each by its
 * kind's step, which writes what a cluster would write. It sleeps until something changes or the
 * next one is due.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server.h"

enum { STEPS_AT_ONCE = 200, PAUSE_MS = 20 };

int64_t
control_ms(double seconds)
{
	return (int64_t)(seconds * 1000 / world.options.speed);
}

void
control_queue(struct object *object)
{
	if (object->is_queued)
		return;
	object->is_queued = true;
	object->next_changed = NULL;
	*world.changed_end = object;
	world.changed_end = &object->next_changed;
	pthread_cond_signal(&world.work);
}

void
control_at(struct object *object, int64_t at_ms)
{
	object->due_ms = at_ms;
	if (at_ms < world.next_due_ms) {
		world.next_due_ms = at_ms;
		pthread_cond_signal(&world.work);
	}
}

/* Ties a new pod to the Job that owns it. */
static void
pod_adopt(struct object *pod)
{
	const json_t *const owner =
	    json_array_get(json_at(pod->now->document, "metadata.ownerReferences"), 0);
	char space[256];
	struct object *const job =
	    strcmp(json_text_at(owner, "kind"), "Job") != 0
		? NULL
		: store_find(KUBE_JOBS, object_space(pod, space), json_text_at(owner, "name"));

	if (job == NULL || strcmp(json_text_at(owner, "uid"),
			       json_text_at(job->now->document, "metadata.uid")) != 0)
		return;
	pod->job = job;
	pod->next_of_job = job->pods;
	job->pods = pod;
}

static void
pod_leave(struct object *pod)
{
	struct object **at;

	node_release(pod);
	if (pod->job == NULL)
		return;
	job_pod_ended(pod);
	for (at = &pod->job->pods; *at != NULL; at = &(*at)->next_of_job)
		if (*at == pod) {
			*at = pod->next_of_job;
			break;
		}
	control_queue(pod->job);
	pod->job = NULL;
}

static bool
pod_is_selected(const struct object *pod, const struct object *job)
{
	const json_t *const labels = json_at(pod->now->document, "metadata.labels");
	const char *name;
	json_t *value;

	json_object_foreach(json_at(job->now->document, "spec.selector.matchLabels"), name, value)
		if (json_equal(json_object_get(labels, name), value) != 1)
			return false;
	return true;
}

static bool
pod_is_owned(const struct object *pod, const struct object *job)
{
	return json_member(json_at(pod->now->document, "metadata.ownerReferences"), "uid",
		   json_text_at(job->now->document, "metadata.uid")) != NULL;
}

/* By its labels it is the Job's again. */
static void
pod_own_again(struct object *pod)
{
	json_t *const after = object_edit(pod);

	json_put_at(after, "metadata.ownerReferences", job_owners(pod->job->now->document));
	store_put(pod, after);
}

/* One that was cut loose runs on, and its Job makes another. */
static void
pod_release(struct object *pod)
{
	struct object *const job = pod->job;
	json_t *const after = object_edit(pod);

	for (struct object **at = &job->pods; *at != NULL; at = &(*at)->next_of_job)
		if (*at == pod) {
			*at = pod->next_of_job;
			break;
		}
	pod->job = pod->next_of_job = NULL;
	json_object_del(json_at(after, "metadata"), "ownerReferences");
	store_put(pod, after);
	control_queue(job);
}

static void
pod_seen(struct object *pod, enum event_type type)
{
	if (type == EVENT_DELETED) {
		pod_leave(pod);
		return;
	}
	if (type == EVENT_ADDED)
		pod_adopt(pod);
	pod_learn(pod);
	if (pod->job != NULL && !pod_is_selected(pod, pod->job))
		pod_release(pod);
	else if (pod->job != NULL && !pod_is_owned(pod, pod->job))
		pod_own_again(pod);
	else if (pod->job != NULL)
		control_queue(pod->job);
}

void
control_seen(struct object *object, enum event_type type)
{
	if (object->kind == KUBE_PODS)
		pod_seen(object, type);
	else if (object->kind == KUBE_NODES && type != EVENT_DELETED)
		node_learn(object);
	else if (object->kind == KUBE_JOBS && type == EVENT_DELETED)
		while (object->pods != NULL) {
			struct object *const pod = object->pods;

			object->pods = pod->next_of_job;
			pod->job = pod->next_of_job = NULL;
		}
	control_queue(object);
}

static void
queue_due(int64_t at_ms)
{
	static const enum kind_index timed[] = {KUBE_NAMESPACES, KUBE_JOBS, KUBE_PODS};

	if (world.next_due_ms > at_ms)
		return;
	world.next_due_ms = INT64_MAX;
	for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++)
		for (struct object *at = world.heads[timed[i]][0]; at != NULL; at = at->next[0]) {
			if (at->due_ms <= at_ms)
				control_queue(at);
			else if (at->due_ms < world.next_due_ms)
				world.next_due_ms = at->due_ms;
		}
}

static void
step(struct object *object, int64_t at_ms)
{
	if (world.options.no_control)
		return;
	if (object->kind == KUBE_JOBS)
		job_step(object, at_ms);
	else if (object->kind == KUBE_PODS)
		pod_step(object, at_ms);
	else if (object->kind == KUBE_NAMESPACES)
		space_step(object, at_ms);
}

static void
object_free(struct object *object)
{
	version_drop(object->now);
	free(object->key);
	free(object);
}

/* True: more is to be done at once. */
static bool
pass(int64_t at_ms)
{
	queue_due(at_ms);
	for (int i = 0; i < STEPS_AT_ONCE; i++) {
		struct object *const object = world.changed;

		if (object == NULL)
			break;
		world.changed = object->next_changed;
		if (world.changed == NULL)
			world.changed_end = &world.changed;
		object->is_queued = false;
		if (object->is_removed)
			object_free(object);
		else
			step(object, at_ms);
	}
	if (world.changed == NULL && world.must_schedule && !world.options.no_control) {
		world.must_schedule = false;
		schedule_all(at_ms);
	}
	return world.changed != NULL;
}

static void
wait_for_work(void)
{
	const int64_t now = now_ms();
	int64_t until = now + 1000;
	struct timespec at;

	if (world.next_due_ms < until)
		until = world.next_due_ms > now ? world.next_due_ms : now;
	at.tv_sec = (time_t)(until / 1000);
	at.tv_nsec = (long)(until % 1000) * 1000000;
	pthread_cond_timedwait(&world.work, &world.lock, &at);
}

static void *
control_loop(void *unused)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};

	(void)unused;
	for (;;) {
		bool more;

		pthread_mutex_lock(&world.lock);
		more = pass(now_ms());
		if (!more)
			wait_for_work();
		pthread_mutex_unlock(&world.lock);
		/* Requests come in between. */
		if (more)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
	return NULL;
}

void
control_start(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, control_loop, NULL);
	pthread_detach(thread);
}
