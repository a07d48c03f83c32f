/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what a claim asks for (spec.devices.requests) and got (status.allocation). A driver, a
 * class, a mode or a claim that is not known is named in `why`, and never counts as nothing.
 * Sources: resource.k8s.io/v1; gpu.nvidia.com's devices have the attributes type ("gpu", "mig",
 * "vfio"), profile and productName.
 */
#include <stdio.h>
#include <string.h>

#include "kube_facts.h"
#include "kube.h"
#include "object.h"
#include "text.h"

enum { PATH_BYTES = 1024 };

static const char key[] = "lowtideClaims";
static const char api[] = "/apis/resource.k8s.io/v1/namespaces";

/* Drivers, and whether their devices are GPUs. Those of networks and memory that GPUs use are no
 * part of what a node is shared by. */
static const struct {
	const char *name;
	bool has_gpus;
} drivers[] = {
    {"gpu.nvidia.com", true},
    {"gpu.amd.com", true},
    {"gpu.intel.com", true},
    {"gpu.example.com", true},
    {"compute-domain.nvidia.com", false},
    {"dra.net", false},
};
enum { DRIVERS = sizeof(drivers) / sizeof(drivers[0]) };

static int
find_driver(const char *name)
{
	for (int i = 0; i < DRIVERS; i++)
		if (strcmp(drivers[i].name, name) == 0)
			return i;
	return -1;
}

static const json_t *
pod_spec_of(const json_t *object)
{
	const json_t *const spec = json_object_get(object, "spec");
	const json_t *const template = json_object_get(spec, "template");

	return template != NULL ? json_object_get(template, "spec") : spec;
}

/* ---- as they are now ---- */

/* Fetches a claim, or a template of claims, without what is not read; NULL: it can't be had. */
static json_t *
fetch_object(struct lt_kube *kube, const json_t *object, const char *resource, const char *name)
{
	char path[PATH_BYTES];
	const struct lt_kube_request request = {.path = path};
	json_t *answer = NULL;

	snprintf(path, sizeof(path), "%s/%s/%s/%s", api,
	    lt_kube_string(json_object_get(object, "metadata"), "namespace"), resource, name);
	if (name[0] == '\0' || lt_kube_do(kube, &request, &answer, NULL) != LT_OK)
		return NULL;
	const json_t *const status = json_object_get(answer, "status");
	const json_t *spec = json_object_get(answer, "spec");
	if (json_object_get(spec, "spec") != NULL) /* a template's */
		spec = json_object_get(spec, "spec");
	json_t *const kept = json_object();
	json_object_set(kept, "requests", (json_t *)lt_kube_part(spec, "devices", "requests"));
	json_object_set(kept, "results",
	    json_object_get(lt_kube_part(status, "allocation", "devices"), "results"));
	json_object_set_new(kept, "sharers",
	    json_integer((json_int_t)json_array_size(json_object_get(status, "reservedFor"))));
	json_decref(answer);
	return kept;
}

/* The claim that was made for it from a template; "": none yet. */
static const char *
made_for(const json_t *object, const char *name)
{
	const json_t *status;
	size_t i;

	json_array_foreach(lt_kube_part(object, "status", "resourceClaimStatuses"), i, status)
		if (strcmp(lt_kube_string(status, "name"), name) == 0)
			return lt_kube_string(status, "resourceClaimName");
	return "";
}

void
lt_kube_claims_fetch(struct lt_kube *kube, json_t *object)
{
	const json_t *const claims = json_object_get(pod_spec_of(object), "resourceClaims");
	const json_t *const extended =
	    lt_kube_part(object, "status", "extendedResourceClaimStatus");
	const json_t *claim;
	size_t i;

	if (json_array_size(claims) == 0 && extended == NULL)
		return;
	json_t *const all = json_object();
	json_array_foreach(claims, i, claim) {
		const char *const as = lt_kube_string(claim, "name");
		const char *const made = made_for(object, as);
		const char *const named = lt_kube_string(claim, "resourceClaimName");
		json_t *it =
		    fetch_object(kube, object, "resourceclaims", made[0] != '\0' ? made : named);

		/* A claim that was made for a pod is deleted once the pod has ended. */
		if (it == NULL)
			it = fetch_object(kube, object, "resourceclaimtemplates",
			    lt_kube_string(claim, "resourceClaimTemplateName"));
		if (it != NULL)
			json_object_set_new(all, as, it);
	}
	if (extended != NULL)
		json_object_set_new(all, "",
		    fetch_object(kube, object, "resourceclaims",
			lt_kube_string(extended, "resourceClaimName")));
	json_object_set_new(object, key, all);
}

/* ---- classes and devices ---- */

/* Writes the value behind `name` == in a selector that has no other way to be true; "": nothing. */
static void
equals_in(char *out, size_t size, const json_t *selectors, const char *name)
{
	const json_t *selector;
	size_t i;

	json_array_foreach(selectors, i, selector) {
		const char *const text =
		    lt_kube_string(json_object_get(selector, "cel"), "expression");
		const char *at = strstr(text, name);

		if (at == NULL || strstr(text, "||") != NULL || strchr(text, '!') != NULL ||
		    strchr(text, '?') != NULL)
			continue;
		at += strlen(name);
		at += strspn(at, " ");
		if (strncmp(at, "==", 2) != 0)
			continue;
		at += 2;
		at += strspn(at, " ");
		const char quote = *at;
		const char *const end =
		    quote == '\'' || quote == '"' ? strchr(at + 1, quote) : NULL;
		if (end != NULL && (size_t)(end - at) < size)
			snprintf(out, size, "%.*s", (int)(end - at - 1), at + 1);
	}
}

json_t *
lt_kube_claims_classes(const json_t *device_classes)
{
	json_t *const all = json_object();
	json_t *class;
	size_t i;

	json_array_foreach(device_classes, i, class) {
		const json_t *const spec = json_object_get(class, "spec");
		json_t *const kept = json_object();

		json_object_set(kept, "selectors", json_object_get(spec, "selectors"));
		json_object_set(
		    kept, "extendedResourceName", json_object_get(spec, "extendedResourceName"));
		json_object_set_new(
		    all, lt_kube_string(json_object_get(class, "metadata"), "name"), kept);
	}
	return all;
}

/* A device's attribute, plain or with its driver's name before it. */
static const char *
attribute_of(const json_t *device, const char *driver, const char *name)
{
	const json_t *const all = json_object_get(device, "attributes");
	char full[LT_KUBE_KEY_SIZE];

	snprintf(full, sizeof(full), "%s/%s", driver, name);
	const char *const plain = lt_kube_string(json_object_get(all, name), "string");
	return plain[0] != '\0' ? plain : lt_kube_string(json_object_get(all, full), "string");
}

static uint32_t
micro_of(const json_t *device, const char *driver)
{
	if (strcmp(attribute_of(device, driver, "type"), "mig") != 0)
		return LT_KUBE_WHOLE_GPU;
	const char *gpu = attribute_of(device, driver, "productName");
	const uint32_t part = lt_kube_mig_micro(
	    attribute_of(device, driver, "profile"), strlen(gpu) < LT_GPU_NAME_SIZE ? gpu : "");
	return part > 0 ? part : LT_KUBE_WHOLE_GPU;
}

/* Returns what a device is worth, and whether it counts for its node: parts that a GPU may be cut
 * into are no more than it. */
json_t *
lt_kube_claims_devices(const json_t *resource_slices)
{
	json_t *const all = json_object();
	const json_t *slice, *device;
	size_t i, k;

	json_array_foreach(resource_slices, i, slice) {
		const json_t *const spec = json_object_get(slice, "spec");
		const char *const driver = lt_kube_string(spec, "driver");
		json_t *const of_it = lt_kube_object_at(
		    lt_kube_object_at(
			lt_kube_object_at(all, lt_kube_string(spec, "nodeName")), driver),
		    lt_kube_string(json_object_get(spec, "pool"), "name"));

		json_array_foreach(json_object_get(spec, "devices"), k, device)
			json_object_set_new(of_it, lt_kube_string(device, "name"),
			    json_integer(micro_of(device, driver)));
	}
	return all;
}

void
lt_kube_claims_offered(struct lt_kube_node *node, const struct lt_kube_given *given)
{
	json_t *const of_node = given != NULL && given->devices != NULL
				    ? json_object_get(given->devices, node->name)
				    : NULL;
	struct lt_kube_gpus *const gpus = &node->gpu_kinds;
	const struct lt_kube_gpus before = *gpus;
	const char *driver, *name;
	json_t *pools, *devices, *micro;

	memset(gpus, 0, sizeof(*gpus)); /* whole: it is compared by bytes */
	for (uint32_t i = 0; i < before.kinds; i++)
		if (find_driver(before.of[i].name) < 0)
			gpus->of[gpus->kinds++] = before.of[i];
	json_object_foreach(of_node, driver, pools) {
		const int at = find_driver(driver);
		struct lt_kube_gpu one;
		int64_t whole = 0, parts = 0;

		if (at < 0 || !drivers[at].has_gpus)
			continue;
		json_object_foreach(pools, name, devices) {
			const char *device;

			json_object_foreach(devices, device, micro)
				*(json_integer_value(micro) == LT_KUBE_WHOLE_GPU ? &whole
										 : &parts) +=
				    json_integer_value(micro);
		}
		memset(&one, 0, sizeof(one));
		lt_copy(one.name, sizeof(one.name), driver);
		one.count = whole > 0 ? whole / LT_KUBE_WHOLE_GPU : 1;
		one.micro = whole > 0 ? LT_KUBE_WHOLE_GPU : (uint32_t)parts;
		(void)lt_kube_gpus_add(gpus, &one, NULL);
	}
	const uint64_t sum = lt_kube_gpus_micro(gpus, NULL);
	node->exact.gpu_micro = sum;
	node->gpus = (uint32_t)((sum + LT_KUBE_WHOLE_GPU - 1) / LT_KUBE_WHOLE_GPU);
}

/* ---- what a pod has ---- */

struct reading {
	struct lt_kube_need *need;
	const struct lt_kube_given *given;
	char *why;
	const char *claim;
};

static void
say_unknown(const struct reading *r, const char *what, const char *name)
{
	if (r->why[0] == '\0')
		snprintf(
		    r->why, LT_ERROR_TEXT_SIZE, "claim %.60s: %s %.120s", r->claim, what, name);
}

static void
add_gpus(const struct reading *r, const char *driver, int64_t count, uint32_t micro)
{
	struct lt_kube_gpu one;

	memset(&one, 0, sizeof(one));
	lt_copy(one.name, sizeof(one.name), driver);
	one.count = count;
	one.micro = micro;
	if (lt_kube_gpus_add(&r->need->gpu_kinds, &one, NULL) != LT_OK)
		say_unknown(r, "more kinds of device than are counted, as", driver);
}

/* Returns what a request, or one of its alternatives, is at most: whole GPUs, but for one MIG
 * profile. *driver: -1 = not understood. */
static uint64_t
most_of(
    const struct reading *r, const json_t *request, int *driver, int64_t *count, uint32_t *micro)
{
	const char *const class = lt_kube_string(request, "deviceClassName");
	const char *const mode = lt_kube_string(request, "allocationMode");
	const json_t *const known =
	    r->given != NULL ? json_object_get(r->given->device_classes, class) : NULL;
	const json_t *const selectors[] = {
	    json_object_get(known, "selectors"), json_object_get(request, "selectors")};
	char name[LT_NAME_SIZE] = "", profile[LT_NAME_SIZE] = "";

	for (int i = 0; i < 2; i++) {
		equals_in(name, sizeof(name), selectors[i], "device.driver");
		equals_in(profile, sizeof(profile), selectors[i], ".profile");
	}
	*driver = known != NULL ? find_driver(name) : -1;
	*count = lt_kube_number(request, "count", 1);
	const uint32_t part = profile[0] != '\0' ? lt_kube_mig_micro(profile, "") : 0;
	*micro = part > 0 ? part : LT_KUBE_WHOLE_GPU;
	if (*driver < 0) {
		say_unknown(r, "not known is DeviceClass", class);
	} else if ((mode[0] != '\0' && strcmp(mode, "ExactCount") != 0) || *count < 1 ||
		   *count > UINT32_MAX) {
		say_unknown(r, "not counted is allocationMode", mode);
		*driver = -1;
	}
	return *driver >= 0 && drivers[*driver].has_gpus ? (uint64_t)*count * *micro : 0;
}

static void
add_asked(const struct reading *r, const json_t *request)
{
	const json_t *const exactly = json_object_get(request, "exactly");
	const json_t *const first = json_object_get(request, "firstAvailable");
	const size_t count = exactly != NULL ? 1 : json_array_size(first);
	struct {
		int driver;
		int64_t count;
		uint32_t micro;
	} one, dearest = {-1, 0, 0};
	uint64_t most = 0;

	/* A request that only watches takes nothing. */
	if (lt_kube_is_true(exactly, "adminAccess"))
		return;
	if (count == 0)
		say_unknown(
		    r, "not understood is a request of it,", lt_kube_string(request, "name"));
	for (size_t i = 0; i < count; i++) {
		const uint64_t here =
		    most_of(r, exactly != NULL ? exactly : json_array_get(first, i), &one.driver,
			&one.count, &one.micro);

		if (here <= most)
			continue;
		most = here;
		dearest.driver = one.driver;
		dearest.count = one.count;
		dearest.micro = one.micro;
	}
	if (most > 0)
		add_gpus(r, drivers[dearest.driver].name, dearest.count, dearest.micro);
}

/* One device that the claim got, or its part of it where pods share the claim. */
static void
add_device(const struct reading *r, const json_t *result, int64_t sharers)
{
	const char *const driver = lt_kube_string(result, "driver");
	const char *const pool = lt_kube_string(result, "pool");
	const char *const name = lt_kube_string(result, "device");
	const int at = find_driver(driver);
	int64_t micro = LT_KUBE_WHOLE_GPU;
	const char *node;
	json_t *of_node;

	if (lt_kube_is_true(result, "adminAccess"))
		return;
	if (at < 0)
		say_unknown(r, "not known is driver", driver);
	if (at < 0 || !drivers[at].has_gpus)
		return;
	if (r->given != NULL)
		json_object_foreach(r->given->devices, node, of_node)
			micro = lt_kube_number(lt_kube_part(of_node, driver, pool), name, micro);
	micro /= sharers > 1 ? sharers : 1;
	add_gpus(r, driver, 1, micro > 0 ? (uint32_t)micro : 1);
}

static void
add_claim(const struct reading *r, const json_t *claim)
{
	const json_t *const results = json_object_get(claim, "results");
	const json_t *part;
	size_t i;

	if (claim == NULL) {
		say_unknown(r, "it can't be read", "");
		return;
	}
	json_array_foreach(results, i, part)
		add_device(r, part, lt_kube_number(claim, "sharers", 1));
	if (json_array_size(results) > 0)
		return;
	json_array_foreach(json_object_get(claim, "requests"), i, part)
		add_asked(r, part);
}

/* An extended resource that stands for a class; NULL: of none. */
static json_t *
request_for(const char *name, const struct lt_kube_given *given)
{
	const char *class, *found = NULL;
	json_t *known;

	if (strncmp(name, LT_KUBE_OF_CLASS, strlen(LT_KUBE_OF_CLASS)) == 0)
		found = name + strlen(LT_KUBE_OF_CLASS);
	else if (given != NULL)
		json_object_foreach(given->device_classes, class, known)
			if (strcmp(lt_kube_string(known, "extendedResourceName"), name) == 0 &&
			    !lt_kube_is_gpu(name))
				found = class;
	return found != NULL ? json_pack("{s:{s:s}}", "exactly", "deviceClassName", found) : NULL;
}

/* All containers together, which is no less than what they have at once. */
static void
add_extended(struct reading *r, const json_t *pod_spec)
{
	const json_t *container;
	const char *name;
	json_t *quantity;
	size_t i;

	for (size_t k = 0; k < LT_KUBE_CONTAINER_LISTS; k++)
		json_array_foreach(
		    json_object_get(pod_spec, lt_kube_container_lists[k]), i, container)
			json_object_foreach(
			    (json_t *)lt_kube_part(container, "resources", "limits"), name,
			    quantity) {
				json_t *const request = request_for(name, r->given);
				int64_t count = 0;

				r->claim = name;
				if (request != NULL &&
				    lt_kube_quantity(quantity, 1, &count, NULL) == LT_OK &&
				    count > 0) {
					json_object_set_new(json_object_get(request, "exactly"),
					    "count", json_integer(count));
					add_asked(r, request);
				}
				json_decref(request);
			}
}

/* Those of extended resources that a driver gave it: by their devices, not by their names. */
static bool
add_given(struct reading *r, const json_t *object)
{
	const json_t *const status = lt_kube_part(object, "status", "extendedResourceClaimStatus");
	const json_t *const claim = json_object_get(json_object_get(object, key), "");
	struct lt_kube_gpus *const gpus = &r->need->gpu_kinds;
	const json_t *mapping;
	size_t i;

	if (json_array_size(json_object_get(claim, "results")) == 0)
		return false;
	json_array_foreach(json_object_get(status, "requestMappings"), i, mapping)
		for (uint32_t k = 0; k < gpus->kinds; k++)
			if (strcmp(gpus->of[k].name, lt_kube_string(mapping, "resourceName")) == 0)
				gpus->of[k].count = 0;
	r->claim = lt_kube_string(status, "resourceClaimName");
	add_claim(r, claim);
	return true;
}

void
lt_kube_claims_add(struct lt_kube_need *need, const json_t *object,
    const struct lt_kube_given *given, char why[LT_ERROR_TEXT_SIZE])
{
	const json_t *const pod_spec = pod_spec_of(object);
	const json_t *const known = json_object_get(object, key);
	const json_t *claim;
	struct reading r = {.need = need, .given = given, .why = why};
	size_t i;

	why[0] = '\0';
	json_array_foreach(json_object_get(pod_spec, "resourceClaims"), i, claim) {
		r.claim = lt_kube_string(claim, "name");
		add_claim(&r, json_object_get(known, r.claim));
	}
	if (!add_given(&r, object))
		add_extended(&r, pod_spec);
	lt_kube_need_on(need, NULL);
}
