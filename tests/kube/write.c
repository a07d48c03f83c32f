/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST, PUT, PATCH and DELETE: what a change goes through, in the order of a real server: admission
 * that mutates, defaults, rules, admission that refuses, the store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static json_t *
body_read(const struct request *request, struct reply *reply)
{
	json_error_t error;
	json_t *const body = json_loadb(request->body, request->body_length, 0, &error);

	if (body == NULL)
		reply_fail(reply, request, 400,
		    "the object provided is unrecognized: %s at offset %d", error.text,
		    error.position);
	return body;
}

static void
strip_kind(json_t *document)
{
	json_object_del(document, "kind");
	json_object_del(document, "apiVersion");
}

/* As if written, for dryRun. */
static void
reply_document(struct reply *reply, unsigned status, json_t *document, enum kind_index kind)
{
	struct version shown = {
	    .text = json_dumps(document, JSON_COMPACT),
	};

	reply_object(reply, status, &shown, kind);
	free(shown.text);
	json_decref(document);
}

enum { NAME_TRIES = 8 };

/* The name that it is to have, and that its namespace is there. */
static bool
create_name(struct request *request, json_t *document, struct reply *reply)
{
	const char *const space = json_text_at(document, "metadata.namespace");
	const char *const generate = json_text_at(document, "metadata.generateName");
	char suffix[6], name[256];

	if (space[0] != '\0' && strcmp(space, request->space) != 0) {
		reply_fail(reply, request, 400,
		    "the namespace of the provided object does not match the "
		    "namespace sent on the request");
		return false;
	}
	if (kinds[request->kind].namespaced) {
		json_put_at(document, "metadata.namespace", json_string(request->space));
		if (store_find(KUBE_NAMESPACES, "", request->space) == NULL) {
			reply_fail(
			    reply, request, 404, "namespaces \"%s\" not found", request->space);
			return false;
		}
		if (space_is_ending(request->space)) {
			reply_fail(reply, request, 403,
			    "%s \"%s\" is forbidden: unable to create new "
			    "content in namespace %s because it is being "
			    "terminated",
			    request->resource, json_text_at(document, "metadata.name"),
			    request->space);
			return false;
		}
	}
	if (json_text_at(document, "metadata.name")[0] == '\0' && generate[0] != '\0') {
		/* Since 1.30 a name that is taken is made anew, so often. */
		for (int i = 0; i < NAME_TRIES; i++) {
			default_suffix(suffix);
			snprintf(name, sizeof(name), "%.240s%s", generate, suffix);
			if (store_find((enum kind_index)request->kind, request->space, name) ==
			    NULL)
				break;
		}
		json_put_at(document, "metadata.name", json_string(name));
	}
	snprintf(
	    request->name, sizeof(request->name), "%s", json_text_at(document, "metadata.name"));
	return true;
}

static void
create(struct request *request, json_t *document, struct reply *reply)
{
	const enum kind_index kind = (enum kind_index)request->kind;
	char full[600];

	if (!create_name(request, document, reply)) {
		json_decref(document);
		return;
	}
	/* Before admission: what that sets is nobody's. */
	if (!apply_is(request)) {
		default_fields(kind, document);
		apply_note_update(request, NULL, document);
	}
	/* Source: k8s.io/apiserver/pkg/admission/plugin/webhook/errors */
	if (kind == KUBE_PODS && request->dry_run && limits_refuse_dry_runs(request->space)) {
		json_decref(document);
		reply_fail(reply, request, 400,
		    "admission webhook \"sidecar.test\" does not support dry "
		    "run");
		return;
	}
	if (kind == KUBE_PODS)
		limits_give(request->space, document);
	admission_mutate(request, document);
	if (!rules_new(request, document, reply)) {
		json_decref(document);
		return;
	}
	default_new(kind, document);
	if (!admission_validate(request, NULL, document, reply)) {
		json_decref(document);
	} else if (store_find(kind, request->space, request->name) != NULL) {
		json_decref(document);
		reply_fail(reply, request, 409, "%s \"%s\" already exists",
		    resource_full(request, full), request->name);
	} else if (request->dry_run) {
		reply_document(reply, 201, document, kind);
	} else {
		reply_object(reply, 201, store_add(kind, document)->now, kind);
	}
}

void
answer_create(const struct request *request, struct reply *reply)
{
	json_t *const document = body_read(request, reply);
	struct request own = *request;

	if (document == NULL)
		return;
	if (!json_is_object(document) ||
	    strcmp(json_text_at(document, "kind"), kinds[own.kind].kind) != 0 ||
	    strcmp(json_text_at(document, "apiVersion"), kinds[own.kind].api_version) != 0) {
		reply_fail(reply, request, 400,
		    "the object provided is unrecognized: want kind %s of %s", kinds[own.kind].kind,
		    kinds[own.kind].api_version);
		json_decref(document);
		return;
	}
	strip_kind(document);
	create(&own, document, reply);
}

/* What no client writes, and the half that this path does not. */
static void
keep_owned(const struct request *request, const json_t *before, json_t **after)
{
	static const char *const owned[] = {"name", "namespace", "uid", "creationTimestamp",
	    "generation", "deletionTimestamp", "deletionGracePeriodSeconds"};
	json_t *document = *after;

	strip_kind(document);
	if (resize_is(request)) {
		*after = document = resize_only(before, document);
	} else if (strcmp(request->sub, "status") == 0) {
		json_t *const whole = json_deep_copy(before);
		json_t *const status = json_object_get(document, "status");

		if (status != NULL)
			json_object_set(whole, "status", status);
		json_decref(document);
		*after = document = whole;
	} else if (json_object_get(before, "status") != NULL) {
		json_object_set_new(
		    document, "status", json_deep_copy(json_object_get(before, "status")));
	}
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
		json_t *const value = json_object_get(json_at(before, "metadata"), owned[i]);
		char path[64];

		snprintf(path, sizeof(path), "metadata.%s", owned[i]);
		if (value != NULL)
			json_put_at(document, path, json_deep_copy(value));
		else
			json_object_del(json_at(document, "metadata"), owned[i]);
	}
}

static bool
is_newest(const struct request *request, const struct object *object, const json_t *after,
    struct reply *reply)
{
	const char *const version = json_text_at(after, "metadata.resourceVersion");
	char full[600];

	if (version[0] == '\0' || strtoll(version, NULL, 10) == object->now->number)
		return true;
	reply_fail(reply, request, 409,
	    "Operation cannot be fulfilled on %s \"%s\": the object has been "
	    "modified; please apply your changes to the latest version and "
	    "try again",
	    resource_full(request, full), request->name);
	return false;
}

/* Takes the document over. */
static void
change(const struct request *request, struct object *object, json_t *after, struct reply *reply)
{
	const json_t *const before = object->now->document;

	if (!is_newest(request, object, after, reply)) {
		json_decref(after);
		return;
	}
	keep_owned(request, before, &after);
	default_fields(object->kind, after);
	if (!apply_is(request) && request->sub[0] == '\0')
		apply_note_update(request, before, after);
	json_put_at(after, "metadata.resourceVersion",
	    json_incref(json_at(before, "metadata.resourceVersion")));
	if (!rules_change(request, before, after, reply) ||
	    !admission_validate(request, before, after, reply)) {
		json_decref(after);
		return;
	}
	if (json_at(before, "metadata.generation") != NULL &&
	    json_equal(json_at(before, "spec"), json_at(after, "spec")) != 1)
		json_put_at(after, "metadata.generation",
		    json_integer(json_int_at(before, "metadata.generation", 0) + 1));
	if (request->dry_run) {
		reply_document(reply, 200, after, object->kind);
		return;
	}
	if (json_equal(before, after) == 1)
		json_decref(after); /* no write, no event */
	else
		store_put(object, after);
	reply_object(reply, 200, object->now, object->kind);
}

static struct object *
object_of(const struct request *request, struct reply *reply)
{
	struct object *const object =
	    store_find((enum kind_index)request->kind, request->space, request->name);

	if (object == NULL)
		reply_not_found(reply, request);
	else if (request->sub[0] != '\0' && strcmp(request->sub, "status") != 0 &&
		 !resize_is(request))
		reply_fail(reply, request, 404, "the server could not find the requested resource");
	else
		return object;
	return NULL;
}

void
answer_replace(const struct request *request, struct reply *reply)
{
	struct object *const object = object_of(request, reply);
	json_t *body;

	if (object == NULL || (body = body_read(request, reply)) == NULL)
		return;
	if (strcmp(json_text_at(body, "metadata.name"), request->name) != 0) {
		reply_fail(reply, request, 400,
		    "the name of the object (%s) does not match the name on "
		    "the URL (%s)",
		    json_text_at(body, "metadata.name"), request->name);
		json_decref(body);
		return;
	}
	change(request, object, body, reply);
}

/* NULL with a reply: it can't be. */
static json_t *
patched(const struct request *request, const struct object *object, const json_t *patch,
    struct reply *reply)
{
	const size_t length = strcspn(request->type, ";");
	json_t *const document = object_edit(object);
	json_t *result = NULL;

#define IS_TYPE(name) (length == sizeof(name) - 1 && strncmp(request->type, name, length) == 0)
	if (IS_TYPE("application/merge-patch+json"))
		return patch_merge(document, patch);
	if (IS_TYPE("application/strategic-merge-patch+json"))
		return patch_strategic(document, patch);
	if (IS_TYPE("application/json-patch+json")) {
		result = patch_operations(document, patch);
		if (result == NULL)
			reply_fail(reply, request, 422,
			    "the server rejected our request due to an error "
			    "in our request");
		return result;
	}
	reply_fail(reply, request, 415,
	    "the body of the request was in an unknown format - accepted "
	    "media types include: application/json-patch+json, "
	    "application/merge-patch+json, "
	    "application/strategic-merge-patch+json, "
	    "application/apply-patch+yaml");
	json_decref(document);
	return NULL;
}

/* False with a reply: it is no configuration of this object. */
static bool
config_is_good(const struct request *request, const json_t *config, struct reply *reply)
{
	const char *wrong = NULL;

	if (strcmp(json_text_at(config, "kind"), kinds[request->kind].kind) != 0 ||
	    strcmp(json_text_at(config, "apiVersion"), kinds[request->kind].api_version) != 0)
		wrong = "invalid object type";
	else if (strcmp(json_text_at(config, "metadata.name"), request->name) != 0)
		wrong = "the name of the object does not match the name on the "
			"URL";
	else if (json_at(config, "metadata.managedFields") != NULL)
		wrong = "metadata.managedFields must be nil";
	if (wrong != NULL)
		reply_fail(reply, request, 400, "%s", wrong);
	else if (!request->names_manager)
		reply_fail(reply, request, 422,
		    "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: "
		    "Required value: is required for apply patch");
	return wrong == NULL && request->names_manager;
}

/* Its bodies are read as JSON, which is YAML. */
static void
answer_apply(const struct request *request, struct reply *reply)
{
	struct object *const object =
	    store_find((enum kind_index)request->kind, request->space, request->name);
	json_t *const config = body_read(request, reply);
	struct request own = *request;
	json_t *after = NULL;

	if (config == NULL)
		return;
	if (config_is_good(request, config, reply))
		after =
		    apply_to(request, object == NULL ? NULL : object->now->document, config, reply);
	json_decref(config);
	if (after == NULL)
		return;
	strip_kind(after);
	if (object == NULL)
		create(&own, after, reply);
	else
		change(request, object, after, reply);
}

void
answer_patch(const struct request *request, struct reply *reply)
{
	if (apply_is(request) && request->sub[0] == '\0') {
		answer_apply(request, reply);
		return;
	}
	struct object *const object = object_of(request, reply);
	json_t *patch, *after = NULL;

	if (object == NULL || (patch = body_read(request, reply)) == NULL)
		return;
	after = patched(request, object, patch, reply);
	json_decref(patch);
	if (after != NULL)
		change(request, object, after, reply);
}

static bool
pod_is_over(const json_t *pod)
{
	const char *const phase = json_text_at(pod, "status.phase");

	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static void
pod_delete(struct object *pod, int64_t grace_s)
{
	json_t *const now = pod->now->document;
	const double stop_s =
	    atof(json_text_at(json_at(now, "metadata.annotations"), "test/stop-seconds"));
	json_t *after;

	if (grace_s < 0)
		grace_s = json_int_at(now, "spec.terminationGracePeriodSeconds", 30);
	if (grace_s == 0 || pod_is_over(now) || json_text_at(now, "spec.nodeName")[0] == '\0') {
		store_remove(pod);
		return;
	}
	if (json_at(now, "metadata.deletionTimestamp") != NULL)
		return;
	after = object_edit(pod);
	json_put_at(after, "metadata.deletionTimestamp", json_time(now_ms() + grace_s * 1000));
	json_put_at(after, "metadata.deletionGracePeriodSeconds", json_integer(grace_s));
	store_put(pod, after);
	control_at(pod, now_ms() + control_ms(stop_s > 0 && stop_s < (double)grace_s ? stop_s
					      : stop_s > 0 ? (double)grace_s
							   : 0.3));
}

void
object_delete(struct object *object, int64_t grace_s)
{
	if (object->kind == KUBE_PODS) {
		pod_delete(object, grace_s);
		return;
	}
	if (object->kind == KUBE_NAMESPACES) {
		space_delete(object);
		return;
	}
	if (object->kind == KUBE_NODES)
		node_lost(object);
	store_remove(object);
}

/* Its pods go with it, or stay without it. */
void
job_delete(struct object *job, bool orphans)
{
	struct object *pod = job->pods, *next;

	store_remove(job);
	for (; pod != NULL; pod = next) {
		next = pod->next_of_job;
		pod->job = pod->next_of_job = NULL;
		if (orphans) {
			json_t *const after = object_edit(pod);

			json_object_del(json_at(after, "metadata"), "ownerReferences");
			store_put(pod, after);
		} else {
			object_delete(pod, -1);
		}
	}
}

static bool
precondition_holds(const struct request *request, const struct object *object,
    const json_t *options, struct reply *reply)
{
	const char *const uid = json_text_at(options, "preconditions.uid");
	const char *const version = json_text_at(options, "preconditions.resourceVersion");
	const char *const is = json_text_at(object->now->document, "metadata.uid");
	char full[600];

	if ((uid[0] == '\0' || strcmp(uid, is) == 0) &&
	    (version[0] == '\0' || strtoll(version, NULL, 10) == object->now->number))
		return true;
	reply_fail(reply, request, 409,
	    "Operation cannot be fulfilled on %s \"%s\": Precondition failed: "
	    "UID in precondition: %s, UID in object meta: %s",
	    resource_full(request, full), request->name, uid, is);
	return false;
}

/* The options say so, or else a finalizer does, or else it is batch/v1's default. Source:
 * registry/generic, shouldOrphanDependents. */
static bool
leaves_pods(const json_t *job, const json_t *options, const char *policy)
{
	const json_t *const orphans = json_object_get(options, "orphanDependents");
	json_t *finalizer;
	size_t i;

	if (orphans != NULL)
		return json_is_true(orphans);
	if (policy[0] != '\0')
		return strcmp(policy, "Orphan") == 0;
	json_array_foreach(json_at(job, "metadata.finalizers"), i, finalizer)
		if (strcmp(json_string_value(finalizer), "foregroundDeletion") == 0)
			return false;
	return true;
}

static void
delete_with(const struct request *request, struct object *object, const json_t *options,
    struct reply *reply)
{
	const char *const asked = json_text_at(options, "propagationPolicy");
	const char *const policy = asked[0] != '\0' ? asked : request->propagation;
	const bool orphans = leaves_pods(object->now->document, options, policy);
	const int64_t grace_s = json_int_at(options, "gracePeriodSeconds", request->grace_s);
	char text[1024];

	if (!admission_delete(request, object->now->document, orphans, reply))
		return;
	if (request->dry_run) {
		reply_object(reply, 200, object->now, object->kind);
		return;
	}
	if (object->kind == KUBE_PODS) {
		version_hold(object->now);
		struct version *const last = object->now;

		object_delete(object, grace_s);
		reply_object(reply, 200, object->is_removed ? last : object->now, KUBE_PODS);
		version_drop(last);
		return;
	}
	snprintf(text, sizeof(text),
	    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
	    "\"status\":\"Success\",\"details\":{\"name\":\"%s\","
	    "\"group\":\"%s\",\"kind\":\"%s\",\"uid\":\"%s\"}}",
	    request->name, request->group, request->resource,
	    json_text_at(object->now->document, "metadata.uid"));
	if (object->kind != KUBE_JOBS)
		object_delete(object, grace_s);
	else
		job_delete(object, orphans);
	if (kinds[request->kind].group[0] != '\0' && policy[0] == '\0')
		reply->warning = "299 - \"child pods are preserved by default when jobs "
				 "are deleted; set propagationPolicy=Background to remove "
				 "them or set propagationPolicy=Orphan to suppress this "
				 "warning\"";
	reply_text(reply, 200, text);
}

void
answer_delete(const struct request *request, struct reply *reply)
{
	struct object *const object = object_of(request, reply);
	json_t *options = NULL;

	if (object == NULL)
		return;
	if (request->body_length > 0 && (options = body_read(request, reply)) == NULL)
		return;
	if (precondition_holds(request, object, options, reply))
		delete_with(request, object, options, reply);
	json_decref(options);
}
