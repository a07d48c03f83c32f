/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a server refuses by itself: objects that are wrong (400, 422), and changes of what may not
 * change, of a Job that runs or a pod's spec above all.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static bool
name_is_good(const char *name)
{
	const size_t length = strlen(name);

	return length > 0 && length < 254 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == length &&
	       isalnum((unsigned char)name[0]) && isalnum((unsigned char)name[length - 1]);
}

/* Annotations and labels are texts; another type fails to be read at all. */
static bool
texts_are_texts(const struct request *request, const json_t *document, struct reply *reply)
{
	static const char *const maps[] = {"metadata.annotations", "metadata.labels",
	    "spec.template.metadata.annotations", "spec.template.metadata.labels",
	    "spec.nodeSelector", "spec.template.spec.nodeSelector", "data"};
	const char *key;
	json_t *value;

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		json_object_foreach(json_at(document, maps[i]), key, value) {
			if (json_is_string(value))
				continue;
			reply_fail(reply, request, 400,
			    "%s in version \"%s\" cannot be handled as a %s: "
			    "json: cannot unmarshal %s into Go struct field "
			    ".%s of type string",
			    kinds[request->kind].kind, kinds[request->kind].version,
			    kinds[request->kind].kind,
			    json_is_number(value)    ? "number"
			    : json_is_boolean(value) ? "bool"
						     : "object",
			    maps[i]);
			return false;
		}
	return true;
}

static bool
containers_are_there(
    const struct request *request, const json_t *document, const char *path, struct reply *reply)
{
	char field[128];

	snprintf(field, sizeof(field), "%s.containers", path);
	if (json_array_size(json_at(document, field)) > 0)
		return true;
	reply_invalid(reply, request, field, "Required value");
	return false;
}

bool
rules_new(const struct request *request, const json_t *document, struct reply *reply)
{
	const char *const restart = json_text_at(document, "spec.template.spec.restartPolicy");

	if (request->name[0] == '\0') {
		reply_invalid(reply, request, "metadata.name",
		    "Required value: name or generateName is required");
		return false;
	}
	if (!name_is_good(request->name)) {
		reply_invalid(reply, request, "metadata.name",
		    "Invalid value: \"%s\": a lowercase RFC 1123 subdomain "
		    "must consist of lower case alphanumeric characters, '-' "
		    "or '.', and must start and end with an alphanumeric "
		    "character",
		    request->name);
		return false;
	}
	if (!texts_are_texts(request, document, reply))
		return false;
	if (request->kind == KUBE_PODS)
		return containers_are_there(request, document, "spec", reply);
	if (request->kind != KUBE_JOBS)
		return true;
	if (!containers_are_there(request, document, "spec.template.spec", reply))
		return false;
	if (strcmp(restart, "Never") == 0 || strcmp(restart, "OnFailure") == 0)
		return true;
	reply_invalid(reply, request, "spec.template.spec.restartPolicy",
	    "Required value: valid values: \"OnFailure\", \"Never\"");
	return false;
}

static bool
same_at(const json_t *before, const json_t *after, const char *path)
{
	const json_t *const a = json_at(before, path);
	const json_t *const b = json_at(after, path);

	return a == b || json_equal(a, b) == 1;
}

/* Gives "to" what "from" has there, or has not. */
static void
take_at(json_t *to, const json_t *from, const char *path, const char *name)
{
	json_t *const value = json_object_get(json_at(from, path), name);

	if (value != NULL)
		json_object_set(json_at(to, path), name, value);
	else
		json_object_del(json_at(to, path), name);
}

/* As the Job's template may change while it does not run. */
static json_t *
template_allowed(const json_t *before, const json_t *after)
{
	static const struct {
		const char *path, *name;
	} free_to_change[] = {
	    {"metadata", "labels"},
	    {"metadata", "annotations"},
	    {"spec", "nodeSelector"},
	    {"spec", "affinity"},
	    {"spec", "tolerations"},
	    {"spec", "schedulingGates"},
	};
	json_t *const allowed = json_deep_copy(before);
	json_t *container;
	size_t i;

	for (i = 0; i < sizeof(free_to_change) / sizeof(free_to_change[0]); i++)
		take_at(allowed, after, free_to_change[i].path, free_to_change[i].name);
	json_array_foreach(json_at(allowed, "spec.containers"), i, container) {
		json_t *const resources = json_object_get(
		    json_array_get(json_at(after, "spec.containers"), i), "resources");

		if (resources != NULL)
			json_object_set(container, "resources", resources);
	}
	return allowed;
}

static bool
job_template_rule(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	const json_t *const was = json_at(before, "spec.template");
	const json_t *const is = json_at(after, "spec.template");
	const bool rests = json_true_at(before, "spec.suspend") &&
			   (json_at(before, "status.startTime") == NULL ||
			       (condition_is(before, "Suspended") &&
				   json_int_at(before, "status.active", 0) == 0));
	json_t *allowed;
	bool same;

	if (json_equal(was, is) == 1)
		return true;
	allowed = rests ? template_allowed(was, is) : json_deep_copy(was);
	same = json_equal(allowed, is) == 1;
	json_decref(allowed);
	if (!same)
		reply_invalid(
		    reply, request, "spec.template", "Invalid value: {}: field is immutable");
	return same;
}

static bool
job_rules(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	static const char *const fixed[] = {"spec.selector", "spec.completionMode",
	    "spec.completions", "spec.podFailurePolicy", "spec.manualSelector",
	    "spec.successPolicy", "spec.managedBy"};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (!same_at(before, after, fixed[i])) {
			reply_invalid(
			    reply, request, fixed[i], "Invalid value: field is immutable");
			return false;
		}
	return job_template_rule(request, before, after, reply);
}

static bool
gates_only_go(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	json_t *gate;
	size_t i;

	json_array_foreach(json_at(after, "spec.schedulingGates"), i, gate) {
		const char *const name = json_text_at(gate, "name");

		if (json_member(json_at(before, "spec.schedulingGates"), "name", name) != NULL)
			continue;
		reply_invalid(reply, request, "spec.schedulingGates",
		    "Forbidden: only deletion is allowed, but found new "
		    "scheduling gate '%s'",
		    name);
		return false;
	}
	return true;
}

static bool
selector_only_grows(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	const char *key;
	json_t *value;

	json_object_foreach(json_at(before, "spec.nodeSelector"), key, value) {
		const json_t *const now = json_object_get(json_at(after, "spec.nodeSelector"), key);

		if (json_equal(value, now) == 1)
			continue;
		reply_invalid(reply, request, "spec.nodeSelector",
		    "Invalid value: {}: only additions are allowed (no "
		    "mutations or deletions)");
		return false;
	}
	return true;
}

static bool
tolerations_only_grow(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	json_t *const now = json_at(after, "spec.tolerations");
	json_t *toleration, *other;
	size_t i, j;

	json_array_foreach(json_at(before, "spec.tolerations"), i, toleration) {
		bool is_kept = false;

		json_array_foreach(now, j, other)
			is_kept = is_kept || json_equal(toleration, other) == 1;
		if (is_kept)
			continue;
		reply_invalid(reply, request, "spec.tolerations",
		    "Forbidden: existing toleration can not be modified "
		    "except its tolerationSeconds");
		return false;
	}
	return true;
}

/* As a pod's spec may change: more while it has gates. */
static json_t *
pod_spec_allowed(const json_t *before, const json_t *after, bool is_gated)
{
	json_t *const allowed = json_deep_copy(before);
	json_t *container;
	size_t i;

	take_at(allowed, after, "", "schedulingGates");
	take_at(allowed, after, "", "tolerations");
	take_at(allowed, after, "", "activeDeadlineSeconds");
	take_at(allowed, after, "", "terminationGracePeriodSeconds");
	if (is_gated) {
		take_at(allowed, after, "", "nodeSelector");
		take_at(allowed, after, "", "affinity");
	}
	json_array_foreach(json_at(allowed, "containers"), i, container) {
		json_t *const image =
		    json_object_get(json_array_get(json_at(after, "containers"), i), "image");

		if (image != NULL)
			json_object_set(container, "image", image);
	}
	return allowed;
}

static bool
pod_rules(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	const bool is_gated = json_array_size(json_at(before, "spec.schedulingGates")) > 0;
	json_t *allowed;
	bool same;

	if (!gates_only_go(request, before, after, reply) ||
	    !tolerations_only_grow(request, before, after, reply) ||
	    (is_gated && !selector_only_grows(request, before, after, reply)))
		return false;
	allowed = pod_spec_allowed(json_at(before, "spec"), json_at(after, "spec"), is_gated);
	same = json_equal(allowed, json_at(after, "spec")) == 1;
	json_decref(allowed);
	if (!same)
		reply_invalid(reply, request, "spec",
		    "Forbidden: pod updates may not change fields other than "
		    "`spec.containers[*].image`,"
		    "`spec.initContainers[*].image`,"
		    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
		    "additions to existing tolerations),"
		    "`spec.terminationGracePeriodSeconds` (allow it to be set "
		    "to 1 if it was previously negative)");
	return same;
}

bool
rules_change(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	if (!texts_are_texts(request, after, reply))
		return false;
	if (strcmp(request->sub, "status") == 0)
		return true;
	if (resize_is(request))
		return resize_rules(request, before, after, reply);
	if (request->kind == KUBE_JOBS)
		return job_rules(request, before, after, reply);
	if (request->kind == KUBE_PODS)
		return pod_rules(request, before, after, reply);
	return true;
}
