/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Azure: Scheduled Events. All VMs of a scale set see the same events, so the VM's own name
 * decides. Preempt (30 s ahead) and Terminate (of a scale set, minutes ahead) take the machine
 * back. After Reboot and Redeploy it is there again, where a notice would leave it drained: they
 * are logged, and no more. An event that is gone was cancelled, or is over. The first request of a
 * machine can take Azure two minutes: until then it fails, and that is said once.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "json.h"
#include "reclaim.h"

#define EVENTS "/metadata/scheduledevents?api-version=2020-07-01"
#define NAME "/metadata/instance/compute/name?api-version=2021-02-01&format=text"

static bool
names_vm(const json_t *event, const char *vm_name)
{
	size_t i;
	const json_t *resource;

	json_array_foreach(json_object_get(event, "Resources"), i, resource) {
		const char *const name = json_string_value(resource);

		if (name != NULL && strcasecmp(name, vm_name) == 0)
			return true;
	}
	return false;
}

/* NotBefore is "" once it has begun: then the end is now, or the one that is known already. */
static int
take_event(struct lt_reading *reading, const json_t *event, int64_t now_utc_s, struct lt_error *err)
{
	const char *const type = json_string_value(json_object_get(event, "EventType"));
	const char *const not_before = json_string_value(json_object_get(event, "NotBefore"));
	struct lt_reading found = {.is_noticed = true};

	if (type == NULL)
		return lt_fail(err, LT_EINPUT, "an event without EventType");
	if (strcasecmp(type, "Preempt") != 0 && strcasecmp(type, "Terminate") != 0) {
		snprintf(reading->aside, sizeof(reading->aside), "%.40s is scheduled: %.60s", type,
		    not_before != NULL ? not_before : "");
		return LT_OK;
	}
	if (not_before != NULL && not_before[0] != '\0') {
		const int64_t end_utc_s = lt_http_date(not_before);

		if (end_utc_s == 0)
			return lt_fail(
			    err, LT_EINPUT, "NotBefore: got \"%.40s\", want a date", not_before);
		if (lt_reading_end(&found, end_utc_s, now_utc_s, err) != LT_OK)
			return err->code;
	}
	snprintf(found.what, sizeof(found.what), "%s", type);
	if (!reading->is_noticed || !found.has_end ||
	    (reading->has_end && found.end_utc_s < reading->end_utc_s)) {
		snprintf(found.aside, sizeof(found.aside), "%s", reading->aside);
		*reading = found;
	}
	return LT_OK;
}

int
lt_azure_events_parse(struct lt_reading *reading, const char *vm_name,
    const struct lt_http_response *response, int64_t now_utc_s, struct lt_error *err)
{
	json_t *json = NULL;
	size_t i;
	const json_t *event;
	int code = lt_json_load(&json, response->body, response->body_length, err);
	const json_t *const events = json_object_get(json, "Events");

	if (code == LT_OK && !json_is_array(events))
		code = lt_fail(err, LT_EINPUT, "want {Events: [...]}");
	json_array_foreach(events, i, event) {
		if (code == LT_OK && names_vm(event, vm_name))
			code = take_event(reading, event, now_utc_s, err);
	}
	json_decref(json);
	return code == LT_OK ? LT_OK : lt_context(err, EVENTS);
}

static int
get_path(struct lt_asker *asker, const char *path, struct lt_http_response *response,
    struct lt_error *err)
{
	const struct lt_metadata_request request = {.path = path, .headers = {"Metadata: true"}};
	const int code = lt_metadata_ask(asker, &request, response, err);

	return code == LT_OK && response->status != 200 ? lt_metadata_fail(path, response, err)
							: code;
}

/* Once: a VM's name never changes. */
static int
get_name(struct lt_asker *asker, struct lt_error *err)
{
	struct lt_http_response response = {0};
	int code = LT_OK;

	if (asker->vm_name[0] != '\0')
		return LT_OK;
	code = get_path(asker, NAME, &response, err);
	if (code == LT_OK &&
	    (response.body_length == 0 || response.body_length >= sizeof(asker->vm_name)))
		code = lt_metadata_fail(NAME, &response, err);
	if (code == LT_OK) {
		snprintf(asker->vm_name, sizeof(asker->vm_name), "%s", response.body);
		asker->vm_name[strcspn(asker->vm_name, " \r\n")] = '\0';
	}
	lt_http_free(&response);
	return code;
}

static int
look_at_azure(struct lt_asker *asker, struct lt_reading *reading, struct lt_error *err)
{
	struct lt_http_response response = {0};
	struct lt_reading found = {0};
	int code = get_name(asker, err);

	if (code == LT_OK)
		code = get_path(asker, EVENTS, &response, err);
	if (code == LT_OK)
		code =
		    lt_azure_events_parse(&found, asker->vm_name, &response, asker->now_utc_s, err);
	lt_http_free(&response);
	if (code == LT_OK)
		*reading = found;
	return code;
}

const struct lt_node_source lt_node_azure = {
    .name = "azure", .base = "http://169.254.169.254", .look = look_at_azure};
