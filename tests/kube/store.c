/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects, each kind in a skip list by key, so that one is found and a namespace listed in
 * order without looking at others; the one counter that is everything's resourceVersion; and the
 * last events, which watches go by.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

const struct kind kinds[KUBE_KIND_COUNT] = {
    [KUBE_NAMESPACES] = {"namespaces", "Namespace", "", "v1", "v1", false},
    [KUBE_NODES] = {"nodes", "Node", "", "v1", "v1", false},
    [KUBE_PODS] = {"pods", "Pod", "", "v1", "v1", true},
    [KUBE_CONFIGMAPS] = {"configmaps", "ConfigMap", "", "v1", "v1", true},
    [KUBE_EVENTS] = {"events", "Event", "", "v1", "v1", true},
    [KUBE_JOBS] = {"jobs", "Job", "batch", "v1", "batch/v1", true},
    [KUBE_CRON_JOBS] = {"cronjobs", "CronJob", "batch", "v1", "batch/v1", true},
    [KUBE_LIMIT_RANGES] = {"limitranges", "LimitRange", "", "v1", "v1", true},
    [KUBE_RUNTIME_CLASSES] = {"runtimeclasses", "RuntimeClass", "node.k8s.io", "v1",
	"node.k8s.io/v1", false},
#define DEVICES(resource, kind, namespaced)                                                        \
	{                                                                                          \
		resource, kind, "resource.k8s.io", "v1", "resource.k8s.io/v1", namespaced          \
	}
    [KUBE_DEVICE_CLASSES] = DEVICES("deviceclasses", "DeviceClass", false),
    [KUBE_RESOURCE_SLICES] = DEVICES("resourceslices", "ResourceSlice", false),
    [KUBE_RESOURCE_CLAIMS] = DEVICES("resourceclaims", "ResourceClaim", true),
    [KUBE_CLAIM_TEMPLATES] = DEVICES("resourceclaimtemplates", "ResourceClaimTemplate", true),
#undef DEVICES
#define ADMISSION(resource, kind)                                                                  \
	{                                                                                          \
		resource, kind, "admissionregistration.k8s.io", "v1",                              \
		    "admissionregistration.k8s.io/v1", false                                       \
	}
    [KUBE_MUTATING] = ADMISSION("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    [KUBE_MUTATING_BINDINGS] =
	ADMISSION("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
    [KUBE_VALIDATING] = ADMISSION("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    [KUBE_VALIDATING_BINDINGS] =
	ADMISSION("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
#undef ADMISSION
};

struct world world = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .written = PTHREAD_COND_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .version = 1000,
};

void
store_start(void)
{
	world.events = calloc((size_t)world.options.history, sizeof(*world.events));
	world.changed_end = &world.changed;
	world.next_due_ms = INT64_MAX;
	world.counts = json_object();
}

void
version_hold(struct version *version)
{
	version->refs++;
}

void
version_drop(struct version *version)
{
	if (version == NULL || --version->refs > 0)
		return;
	json_decref(version->document);
	json_decref(version->labels);
	json_decref(version->fields);
	free(version->text);
	free(version);
}

/* What a field selector may ask of. */
static json_t *
fields_of(const json_t *document)
{
	static const char *const names[] = {"metadata.name", "metadata.namespace", "spec.nodeName",
	    "spec.schedulerName", "status.phase"};
	json_t *const fields = json_object();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		json_object_set_new(
		    fields, names[i], json_string(json_text_at(document, names[i])));
	return fields;
}

static struct version *
version_new(json_t *document)
{
	struct version *const version = calloc(1, sizeof(*version));
	char number[32];

	version->refs = 1;
	version->number = ++world.version;
	snprintf(number, sizeof(number), "%lld", (long long)version->number);
	json_put_at(document, "metadata.resourceVersion", json_string(number));
	version->document = document;
	version->labels = json_incref(json_at(document, "metadata.labels"));
	version->fields = fields_of(document);
	version->text = json_dumps(document, JSON_COMPACT);
	version->length = strlen(version->text);
	return version;
}

static void
event_free(struct event *event)
{
	free(event->key);
	version_drop(event->now);
	json_decref(event->labels_before);
	json_decref(event->fields_before);
	*event = (struct event){0};
}

static void
event_forget(void)
{
	struct event *const oldest = &world.events[world.first_event++ % world.options.history];

	world.compacted = oldest->now->number;
	event_free(oldest);
}

void
store_compact(void)
{
	while (world.first_event < world.end_event)
		event_forget();
	world.compacted = world.version;
}

static void
event_add(enum event_type type, const struct object *object, const struct version *before)
{
	struct event *event;

	if (world.end_event - world.first_event == world.options.history)
		event_forget();
	event = &world.events[world.end_event++ % world.options.history];
	event->type = type;
	event->kind = object->kind;
	event->key = strdup(object->key);
	event->now = object->now;
	version_hold(event->now);
	if (before != NULL) {
		event->labels_before = json_incref(before->labels);
		event->fields_before = json_incref(before->fields);
	}
	pthread_cond_broadcast(&world.written);
}

/* The last before key on each level, as places where a next stands. */
static void
store_places(enum kind_index kind, const char *key, struct object **places[STORE_LEVELS])
{
	struct object **next = world.heads[kind];

	for (int level = STORE_LEVELS - 1; level >= 0; level--) {
		while (next[level] != NULL && strcmp(next[level]->key, key) < 0)
			next = next[level]->next;
		places[level] = &next[level];
	}
}

struct object *
store_from(enum kind_index kind, const char *key)
{
	struct object **places[STORE_LEVELS];

	store_places(kind, key, places);
	return *places[0];
}

static void
key_write(enum kind_index kind, const char *space, const char *name, char out[520])
{
	if (kinds[kind].namespaced)
		snprintf(out, 520, "%s/%s", space, name);
	else
		snprintf(out, 520, "%s", name);
}

struct object *
store_find(enum kind_index kind, const char *space, const char *name)
{
	struct object *object;
	char key[520];

	key_write(kind, space, name, key);
	object = store_from(kind, key);
	return object != NULL && strcmp(object->key, key) == 0 ? object : NULL;
}

/* One in four of a level is in the next one too. */
static int
random_level(void)
{
	static uint64_t state = 88172645463325252u;
	int level = 1;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	for (uint64_t bits = state; level < STORE_LEVELS && bits % 4 == 0; bits /= 4)
		level++;
	return level;
}

struct object *
store_add(enum kind_index kind, json_t *document)
{
	struct object *const object = calloc(1, sizeof(*object));
	struct object **places[STORE_LEVELS];
	char key[520];

	key_write(kind, json_text_at(document, "metadata.namespace"),
	    json_text_at(document, "metadata.name"), key);
	object->kind = kind;
	object->key = strdup(key);
	object->due_ms = object->end_ms = object->resized_ms = INT64_MAX;
	object->level = random_level();
	store_places(kind, key, places);
	for (int level = 0; level < object->level; level++) {
		object->next[level] = *places[level];
		*places[level] = object;
	}
	world.object_counts[kind]++;
	object->now = version_new(document);
	event_add(EVENT_ADDED, object, NULL);
	control_seen(object, EVENT_ADDED);
	return object;
}

/* Of an older version only the text is asked for. */
static void
version_retire(struct version *version)
{
	json_decref(version->document);
	version->document = NULL;
	version_drop(version);
}

void
store_put(struct object *object, json_t *document)
{
	struct version *const before = object->now;

	object->now = version_new(document);
	event_add(EVENT_MODIFIED, object, before);
	version_retire(before);
	control_seen(object, EVENT_MODIFIED);
}

void
store_remove(struct object *object)
{
	struct object **places[STORE_LEVELS];
	struct version *const before = object->now;

	object->now = version_new(object_edit(object));
	event_add(EVENT_DELETED, object, before);
	version_retire(before);
	store_places(object->kind, object->key, places);
	for (int level = 0; level < object->level; level++)
		*places[level] = object->next[level];
	world.object_counts[object->kind]--;
	object->is_removed = true;
	control_seen(object, EVENT_DELETED);
}
