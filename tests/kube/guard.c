/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the project's guards refuse, in C: their CEL is not run here.
 *
 *   --guard     policy-guard.yaml: in enforce, changes of what was held for,
 *               and whatever cuts pods loose from their Job
 *   --validate  policy-own.yaml: what lowtide's own account may not change
 *
 * The admin may override; the cluster's own controllers are named.
 */
#include <stdio.h>
#include <string.h>

#include "server.h"

static const char lowtide_user[] = "system:serviceaccount:lowtide:lowtide";

enum { NAMES_MAX = 16 };

static bool
is_in(const char *name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/* An account of the controller manager's, or itself where it has none. */
static bool
is_controller(const struct request *request, const char *const *names)
{
	static const char space[] = "system:serviceaccount:kube-system:";
	const size_t length = sizeof(space) - 1;

	return strcmp(request->user, "system:kube-controller-manager") == 0 ||
	       (strncmp(request->user, space, length) == 0 && is_in(request->user + length, names));
}

#define MAKERS                                                                                     \
	"job-controller", "replicaset-controller", "replication-controller",                       \
	    "statefulset-controller", "daemon-set-controller"

bool
guard_makes_pods(const struct request *request)
{
	static const char *const makers[] = {MAKERS, NULL};

	return is_controller(request, makers) || strncmp(request->user, "system:node:", 12) == 0;
}

bool
guard_may_override(const struct request *request)
{
	return strcmp(request->user, "admin") == 0;
}

static bool
is_asked(const struct request *request)
{
	static const char *const of_jobs[] = {"job-controller", "cronjob-controller",
	    "ttl-after-finished-controller", "generic-garbage-collector", "namespace-controller",
	    NULL};
	static const char *const of_pods[] = {MAKERS, "generic-garbage-collector", NULL};

	return world.options.guards &&
	       strcmp(json_text_at(admission_balances(), "mode"), "enforce") == 0 &&
	       strcmp(request->user, lowtide_user) != 0 && !guard_may_override(request) &&
	       !is_controller(request, request->kind == KUBE_JOBS ? of_jobs : of_pods);
}

static bool
same_at(const json_t *before, const json_t *after, const char *path)
{
	const json_t *const a = json_at(before, path);
	const json_t *const b = json_at(after, path);

	return a == b || json_equal(a, b) == 1;
}

static const json_t *
annotation_of(const json_t *document, const char *name)
{
	return json_object_get(json_at(document, "metadata.annotations"), name);
}

/* ---- Jobs ---- */

static bool
has_finalizer(const json_t *document, const char *name)
{
	json_t *finalizer;
	size_t i;

	json_array_foreach(json_at(document, "metadata.finalizers"), i, finalizer)
		if (strcmp(json_string_value(finalizer), name) == 0)
			return true;
	return false;
}

/* By a label that one of its pods gets later. */
static bool
selector_can_lose(const json_t *job)
{
	static const char *const negative[] = {"NotIn", "DoesNotExist", NULL};
	json_t *expression;
	size_t i;

	json_array_foreach(json_at(job, "spec.selector.matchExpressions"), i, expression)
		if (is_in(json_text_at(expression, "operator"), negative))
			return true;
	return false;
}

static const char *
raised(const json_t *before, const json_t *after)
{
	static const struct {
		const char *path;
		int64_t none;
	} held_for[] = {
	    {"spec.parallelism", 1},
	    {"spec.completions", INT64_MAX},
	    {"spec.backoffLimit", 6},
	    {"spec.activeDeadlineSeconds", INT64_MAX},
	};

	for (size_t i = 0; i < sizeof(held_for) / sizeof(held_for[0]); i++)
		if (json_int_at(after, held_for[i].path, held_for[i].none) >
		    json_int_at(before, held_for[i].path, held_for[i].none))
			return held_for[i].path;
	return strcmp(json_text_at(before, "spec.podReplacementPolicy"), "Failed") == 0 &&
		       !same_at(before, after, "spec.podReplacementPolicy")
		   ? "spec.podReplacementPolicy"
		   : NULL;
}

static bool
job_stays(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	const char *const more = raised(before, after);

	if (json_true_at(before, "spec.suspend") && !json_true_at(after, "spec.suspend"))
		return admission_refuse(
		    request, reply, "lowtide-guard", "this Job waits for its hour or its budget");
	if (more != NULL)
		return admission_refuse(request, reply, "lowtide-guard", more);
	if (annotation_of(before, "lowtide.dev/quote") != NULL &&
	    !same_at(before, after, "spec.template"))
		return admission_refuse(request, reply, "lowtide-guard",
		    "the pod template of this Job is what its hold was made "
		    "for");
	return true;
}

/* before: NULL of a new one. */
static bool
job_keeps_pods(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	if (has_finalizer(after, "orphan") && !has_finalizer(before, "orphan"))
		return admission_refuse(request, reply, "lowtide-orphans",
		    "with the finalizer \"orphan\" this Job would leave pods");
	if (before == NULL && selector_can_lose(after))
		return admission_refuse(request, reply, "lowtide-orphans",
		    "leave NotIn and DoesNotExist out of its selector");
	return true;
}

bool
guard_deletes(const struct request *request, const json_t *job, bool orphans, struct reply *reply)
{
	if (request->kind != KUBE_JOBS || !admission_is_managed(request) || !is_asked(request) ||
	    !orphans || condition_is(job, "Complete") || condition_is(job, "Failed"))
		return true;
	return admission_refuse(request, reply, "lowtide-orphans",
	    "deleted so, this Job would leave pods that run on without a "
	    "limit");
}

/* ---- Pods ---- */

static const json_t *
hold_gate(const json_t *pod)
{
	return json_member(json_at(pod, "spec.schedulingGates"), "name", "lowtide.dev/hold");
}

static bool
is_of_job(const json_t *pod)
{
	json_t *owner;
	size_t i;

	json_array_foreach(json_at(pod, "metadata.ownerReferences"), i, owner)
		if (json_true_at(owner, "controller") &&
		    strcmp(json_text_at(owner, "kind"), "Job") == 0)
			return true;
	return false;
}

static bool
labels_stay(const json_t *before, const json_t *after)
{
	const json_t *const now = json_at(after, "metadata.labels");
	const char *name;
	json_t *value;

	json_object_foreach(json_at(before, "metadata.labels"), name, value)
		if (json_equal(json_object_get(now, name), value) != 1)
			return false;
	return true;
}

static bool
pod_stays(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	static const char *const kept[] = {
	    "spec.nodeSelector", "spec.affinity", "metadata.ownerReferences"};
	const bool is_held =
	    is_of_job(before) || annotation_of(before, "lowtide.dev/quote") != NULL;

	if (hold_gate(before) != NULL && hold_gate(after) == NULL)
		return admission_refuse(request, reply, "lowtide-guard-pods",
		    "this Pod waits for its hour or its budget");
	if (is_held && resize_is(request))
		return admission_refuse(request, reply, "lowtide-guard-pods",
		    "the resources of this Pod are what its hold was made "
		    "for");
	for (size_t i = 0; is_held && i < sizeof(kept) / sizeof(kept[0]); i++)
		if (!same_at(before, after, kept[i]))
			return admission_refuse(request, reply, "lowtide-guard-pods", kept[i]);
	return !is_of_job(before) || labels_stay(before, after) ||
	       admission_refuse(
		   request, reply, "lowtide-guard-pods", "a Job's Pod keeps its labels");
}

bool
guard_changes(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	if ((request->sub[0] != '\0' && !resize_is(request)) || !is_asked(request))
		return true;
	if (request->kind == KUBE_PODS)
		return before == NULL || pod_stays(request, before, after, reply);
	return (before == NULL || job_stays(request, before, after, reply)) &&
	       job_keeps_pods(request, before, after, reply);
}

/* ---- lowtide's own account ---- */

#define ITEM(name) "lowtide.dev/" name
#define SAID                                                                                       \
	ITEM("quote"), ITEM("plan"), ITEM("begin"), ITEM("pool"), ITEM("hold"), ITEM("started"),   \
	    ITEM("pause")
#define READ                                                                                       \
	ITEM("plan-pool"), ITEM("preemptible"), ITEM("precision"), ITEM("trainer-precision"),      \
	    ITEM("checkpoint-interval-seconds")
#define OF_METADATA "annotations", "generation", "managedFields", "resourceVersion"

struct part { /* members of it that may change; deeper ones: another row */
	const char *path;
	const char *free[NAMES_MAX];
};
static const struct part of_a_job[] = {
    {"metadata", {OF_METADATA}},
    {"metadata.annotations", {SAID}},
    {"spec", {"suspend", "template"}},
    {"spec.template", {"metadata", "spec"}},
    {"spec.template.metadata", {"annotations"}},
    {"spec.template.metadata.annotations", {READ}},
    {"spec.template.spec", {"nodeSelector", "affinity", "tolerations"}},
    {"spec.template.spec.affinity", {"nodeAffinity"}},
    {"spec.template.spec.affinity.nodeAffinity",
	{"preferredDuringSchedulingIgnoredDuringExecution"}},
    {NULL, {NULL}},
};
static const struct part of_a_pod[] = {
    {"metadata", {OF_METADATA}},
    {"metadata.annotations", {SAID, READ}},
    {"spec", {"nodeSelector", "tolerations", "schedulingGates"}},
    {NULL, {NULL}},
};

/* A member that is new or another in `is`, and is not free. */
static const char *
changed_member(const json_t *was, const json_t *is, const char *const *may)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)is, name, value)
		if (!is_in(name, may) && json_equal(json_object_get(was, name), value) != 1)
			return name;
	return NULL;
}

static bool
other_gates_stay(const json_t *before, const json_t *after)
{
	json_t *gate;
	size_t i;

	json_array_foreach(json_at(before, "spec.schedulingGates"), i, gate)
		if (gate != hold_gate(before) && json_member(json_at(after, "spec.schedulingGates"),
						     "name", json_text_at(gate, "name")) == NULL)
			return false;
	return true;
}

bool
guard_own(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	const struct part *part = request->kind == KUBE_JOBS ? of_a_job : of_a_pod;

	if ((strcmp(request->user, lowtide_user) != 0 && !tries_is_account(request)) ||
	    strcmp(request->space, "lowtide") == 0 ||
	    (tries_is_account(request) && tries_is_dry_run(request)))
		return true;
	if (before == NULL || after == NULL || request->sub[0] != '\0')
		return admission_refuse(request, reply, "lowtide-own",
		    "its own accounts update Jobs and Pods, and do nothing "
		    "else to them");
	for (; part->path != NULL; part++) {
		const json_t *const was = json_at(before, part->path);
		const json_t *const is = json_at(after, part->path);
		const char *name = changed_member(was, is, part->free);

		if (name == NULL)
			name = changed_member(is, was, part->free);
		if (name != NULL)
			return admission_refuse(request, reply, "lowtide-own", name);
	}
	return other_gates_stay(before, after) ||
	       admission_refuse(request, reply, "lowtide-own",
		   "its own accounts may not take a gate of others off");
}
