/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A manifest: what would be refused by the API server, or read by lowtide as something else, is
 * named; what is not a user's to write is left out.
 */
#include <stdio.h>
#include <string.h>

#include "kube_facts.h"
#include "object.h"
#include "units.h"

enum { SHOWN_MAX = 40 };

/* A value in a message: its text, or its JSON. */
static const char *
shown_value(char out[SHOWN_MAX + 8], const json_t *value)
{
	char text[SHOWN_MAX] = "";
	const size_t length = json_dumpb(value, text, sizeof(text), JSON_ENCODE_ANY | JSON_COMPACT);

	snprintf(out, SHOWN_MAX + 8, "%.*s%s", (int)(length < sizeof(text) ? length : sizeof(text)),
	    text, length > sizeof(text) ? "..." : "");
	return out;
}

static int
check_kind(const json_t *object, struct lt_error *err)
{
	static const struct {
		const char *kind, *version;
	} kinds[] = {{"Job", "batch/v1"}, {"Pod", "v1"}};
	const char *const kind = lt_kube_string(object, "kind");
	const char *const version = lt_kube_string(object, "apiVersion");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kind, kinds[i].kind) != 0)
			continue;
		return strcmp(version, kinds[i].version) == 0
			   ? LT_OK
			   : lt_fail(err, LT_EINPUT, "apiVersion: got \"%.40s\", want %s of a %s",
				 version, kinds[i].version, kind);
	}
	return lt_fail(err, LT_EINPUT, "kind: got \"%.40s\", want Job or Pod", kind);
}

/* Numbers as texts would be read as none. */
static int
check_numbers(const json_t *spec, struct lt_error *err)
{
	static const char *const keys[] = {"parallelism", "completions", "backoffLimit",
	    "activeDeadlineSeconds", "terminationGracePeriodSeconds"};
	char text[SHOWN_MAX + 8];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *const value = json_object_get(spec, keys[i]);

		if (value != NULL && !json_is_null(value) &&
		    (!json_is_integer(value) || json_integer_value(value) < 0))
			return lt_fail(err, LT_EINPUT, "%s: got %s, want a whole number", keys[i],
			    shown_value(text, value));
	}
	return LT_OK;
}

static int
check_spec(const json_t *object, struct lt_error *err)
{
	const json_t *const spec = json_object_get(object, "spec");
	const bool is_job = strcmp(lt_kube_string(object, "kind"), "Job") == 0;
	const json_t *const pod_spec = is_job ? lt_kube_part(spec, "template", "spec") : spec;
	const char *const path = is_job ? "spec.template.spec" : "spec";

	if (!json_is_object(pod_spec))
		return lt_fail(err, LT_EINPUT, "%s: got none, want that of a pod", path);
	if (json_array_size(json_object_get(pod_spec, "containers")) == 0)
		return lt_fail(err, LT_EINPUT, "%s.containers: got none, want one or more", path);
	const int code = check_numbers(spec, err);
	return code != LT_OK ? code : check_numbers(pod_spec, err);
}

/* Texts all; YAML makes of an unquoted true something else. */
static int
check_annotations(const json_t *annotations, struct lt_error *err)
{
	const char *key;
	json_t *value;
	char text[SHOWN_MAX + 8];

	if (annotations != NULL && !json_is_object(annotations) && !json_is_null(annotations))
		return lt_fail(err, LT_EINPUT, "metadata.annotations: want names and texts");
	json_object_foreach((json_t *)annotations, key, value) {
		if (!json_is_string(value))
			return lt_fail(err, LT_EINPUT,
			    "annotation %.80s: got %s, want a text: in quotes", key,
			    shown_value(text, value));
	}
	return LT_OK;
}

/* A manifest that was read from the cluster has them; they are not its user's. */
static void
forget_ours(json_t *metadata)
{
	static const char *const ours[] = {
	    "quote", "plan", "begin", "pool", "hold", "user", "started"};
	json_t *const annotations = json_object_get(metadata, "annotations");
	char key[LT_KUBE_KEY_SIZE];

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		snprintf(key, sizeof(key), LT_KUBE_DOMAIN "%s", ours[i]);
		json_object_del(annotations, key);
	}
	json_object_del(metadata, "deletionTimestamp");
	json_object_del(metadata, "resourceVersion");
}

static int
complete_metadata(json_t *metadata, int64_t now_utc_s, struct lt_error *err)
{
	const char *const prefix = lt_kube_string(metadata, "generateName");
	char now[32];

	if (lt_kube_string(metadata, "name")[0] == '\0') {
		if (prefix[0] == '\0')
			return lt_fail(err, LT_EINPUT, "metadata.name: got none");
		json_object_set_new(metadata, "name", json_string(prefix));
	}
	if (lt_kube_string(metadata, "namespace")[0] == '\0')
		json_object_set_new(metadata, "namespace", json_string("default"));
	json_object_set_new(metadata, "uid", json_string("manifest"));
	json_object_set_new(
	    metadata, "creationTimestamp", json_string(lt_utc_text(now, sizeof(now), now_utc_s)));
	return LT_OK;
}

int
lt_kube_manifest_complete(json_t *object, int64_t now_utc_s, struct lt_error *err)
{
	json_t *const metadata = json_object_get(object, "metadata");
	int code = check_kind(object, err);

	if (code == LT_OK && !json_is_object(metadata))
		code = lt_fail(err, LT_EINPUT, "metadata: got none");
	if (code == LT_OK)
		code = check_annotations(json_object_get(metadata, "annotations"), err);
	if (code == LT_OK)
		code = check_spec(object, err);
	if (code == LT_OK)
		code = complete_metadata(metadata, now_utc_s, err);
	if (code != LT_OK)
		return code;
	forget_ours(metadata);
	json_object_del(object, "status");
	return LT_OK;
}
