/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Knows the names of GPUs and of parts of them, and what each is worth. Pure; an unknown name is no
 * GPU. Sources: NVIDIA's k8s-device-plugin and k8s-gpu-feature-discovery (names, labels), and the
 * MIG user guide: a GPU is cut into seven compute slices, one of the A30 and the RTX PRO 6000 into
 * four.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "kube_facts.h"
#include "object.h"
#include "text.h"

enum { SLICES = 7, FEW_SLICES = 4 };

static const char mig_prefix[] = "nvidia.com/mig-";
static const char shared[] = ".shared"; /* the time-sliced, renamed */

/* Profiles of GPUs of four slices that no other GPU has. */
static const char *const of_few[] = {"1g.6gb", "2g.12gb", "4g.24gb", "2g.48gb", "4g.96gb"};

static bool
begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static uint32_t
slices_of(const char *profile, const char *gpu)
{
	struct lt_gpu room;
	const struct lt_gpu *const known = gpu[0] != '\0' ? lt_gpu_find(&room, gpu) : NULL;

	if (known != NULL && known->mig_slices > 0)
		return known->mig_slices;
	for (size_t i = 0; i < sizeof(of_few) / sizeof(of_few[0]); i++)
		if (begins_with(profile, of_few[i]))
			return FEW_SLICES;
	return SLICES;
}

uint32_t
lt_kube_mig_micro(const char *profile, const char *gpu)
{
	char *end;
	const unsigned long slices = strtoul(profile, &end, 10);
	const uint32_t all = slices_of(profile, gpu);

	if (profile[0] < '1' || profile[0] > '9' ||
	    !(begins_with(end, "g.") || begins_with(end, "c.")))
		return 0;
	return slices >= all ? LT_KUBE_WHOLE_GPU : (uint32_t)(slices * LT_KUBE_WHOLE_GPU / all);
}

bool
lt_kube_is_gpu(const char *resource)
{
	const char *const slash = strrchr(resource, '/');

	return slash != NULL && strcmp(slash, "/gpu") == 0 &&
	       strncmp(resource, LT_KUBE_OF_CLASS, strlen(LT_KUBE_OF_CLASS)) != 0;
}

/* One of this name, on any node; 0: no GPU. */
static uint32_t
most_of(const char *name)
{
	const char *const slash = strrchr(name, '/');

	if (begins_with(name, mig_prefix))
		return lt_kube_mig_micro(name + strlen(mig_prefix), "");
	return lt_kube_is_gpu(name) || (slash != NULL && strcmp(slash, "/gpu.shared") == 0)
		   ? LT_KUBE_WHOLE_GPU
		   : 0;
}

const struct lt_kube_gpu *
lt_kube_gpus_find(const struct lt_kube_gpus *gpus, const char *name)
{
	for (uint32_t i = 0; i < gpus->kinds; i++)
		if (strcmp(gpus->of[i].name, name) == 0)
			return &gpus->of[i];
	return NULL;
}

int
lt_kube_gpus_add(struct lt_kube_gpus *gpus, const struct lt_kube_gpu *more, struct lt_error *err)
{
	for (uint32_t i = 0; i < gpus->kinds; i++)
		if (strcmp(gpus->of[i].name, more->name) == 0 && gpus->of[i].micro == more->micro) {
			gpus->of[i].count += more->count;
			return LT_OK;
		}
	if (gpus->kinds == LT_KUBE_GPU_KINDS)
		return lt_fail(err, LT_EINPUT, "more than %d kinds of GPU", LT_KUBE_GPU_KINDS);
	gpus->of[gpus->kinds++] = *more;
	return LT_OK;
}

uint64_t
lt_kube_gpus_micro(const struct lt_kube_gpus *gpus, const struct lt_kube_gpus *offered)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < gpus->kinds; i++) {
		const struct lt_kube_gpu *const one = &gpus->of[i];
		const struct lt_kube_gpu *const there =
		    offered != NULL ? lt_kube_gpus_find(offered, one->name) : NULL;
		const uint32_t each = one->micro > 0  ? one->micro
				      : there != NULL ? there->micro
						      : most_of(one->name);

		sum += (uint64_t)one->count * each;
	}
	return sum;
}

/* ---- a node's ---- */

/* "nvidia.com/gpu.shared" and "nvidia.com/gpu" have their label "nvidia.com/gpu.replicas": so many
 * are handed out for each. */
static int64_t
replicas_of(const char *name, const json_t *labels)
{
	char key[LT_KUBE_KEY_SIZE];
	const size_t length = strlen(name), tail = strlen(shared);
	const bool is_shared = length > tail && strcmp(name + length - tail, shared) == 0;

	snprintf(
	    key, sizeof(key), "%.*s.replicas", (int)(is_shared ? length - tail : length), name);
	const long long count = strtoll(lt_kube_string(labels, key), NULL, 10);
	return count > 1 ? count : 1;
}

static uint32_t
micro_on(const char *name, const json_t *labels)
{
	static const char cut[] = "-MIG-";
	char gpu[LT_GPU_NAME_SIZE];
	const char *const product = lt_kube_string(labels, "nvidia.com/gpu.product");
	const char *const profile = strstr(product, cut);
	uint32_t micro = most_of(name);

	/* All of its GPUs are cut alike, and each part is called a GPU. */
	if (begins_with(name, "nvidia.com/gpu") && profile != NULL) {
		lt_copy(gpu, sizeof(gpu), "");
		if ((size_t)(profile - product) < sizeof(gpu))
			snprintf(gpu, sizeof(gpu), "%.*s", (int)(profile - product), product);
		const uint32_t part = lt_kube_mig_micro(profile + strlen(cut), gpu);
		micro = part > 0 ? part : micro;
	} else if (begins_with(name, mig_prefix)) {
		lt_copy(gpu, sizeof(gpu), product);
		micro = lt_kube_mig_micro(name + strlen(mig_prefix), gpu);
	}
	const int64_t part = micro / replicas_of(name, labels);
	return part > 0 ? (uint32_t)part : 1;
}

/* Adds an extended resource, in whole ones; those that are not GPUs add nothing. */
static int
add_kind(struct lt_kube_gpus *gpus, const char *name, const json_t *quantity, struct lt_error *err)
{
	struct lt_kube_gpu one = {.count = 0};

	if (most_of(name) == 0)
		return LT_OK;
	if (strlen(name) >= sizeof(one.name))
		return lt_fail(err, LT_EINPUT, "%.80s: too long a name", name);
	lt_copy(one.name, sizeof(one.name), name);
	const int code = lt_kube_quantity(quantity, 1, &one.count, err);
	if (code != LT_OK || one.count == 0)
		return code;
	return one.count <= UINT32_MAX
		   ? lt_kube_gpus_add(gpus, &one, err)
		   : lt_fail(err, LT_EINPUT, "%s: more than %u", name, UINT32_MAX);
}

int
lt_kube_gpus_offered(struct lt_kube_gpus *gpus, const json_t *allocatable, const json_t *labels,
    struct lt_error *err)
{
	const char *name;
	json_t *quantity;
	int code = LT_OK;

	memset(gpus, 0, sizeof(*gpus)); /* whole: it is compared by bytes */
	json_object_foreach((json_t *)allocatable, name, quantity)
		if (code == LT_OK)
			code = add_kind(gpus, name, quantity, err);
	for (uint32_t i = 0; i < gpus->kinds; i++)
		gpus->of[i].micro = micro_on(gpus->of[i].name, labels);
	return code;
}

/* ---- a pod's ---- */

/* A request that is not there is the limit. */
static int
add_resources(struct lt_kube_gpus *gpus, const json_t *of, struct lt_error *err)
{
	json_t *const requests = (json_t *)lt_kube_part(of, "resources", "requests");
	json_t *const limits = (json_t *)lt_kube_part(of, "resources", "limits");
	const char *name;
	json_t *quantity;
	int code = LT_OK;

	json_object_foreach(requests, name, quantity)
		if (code == LT_OK)
			code = add_kind(gpus, name, quantity, err);
	json_object_foreach(limits, name, quantity)
		if (code == LT_OK && json_object_get(requests, name) == NULL)
			code = add_kind(gpus, name, quantity, err);
	return code;
}

static int
raise_all(struct lt_kube_gpus *to, const struct lt_kube_gpus *least, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < least->kinds; i++) {
		struct lt_kube_gpu more = least->of[i];
		const struct lt_kube_gpu *const has = lt_kube_gpus_find(to, more.name);

		more.count -= has != NULL ? has->count : 0;
		if (more.count > 0)
			code = lt_kube_gpus_add(to, &more, err);
	}
	return code;
}

/* As object.c sums up what else it asks for. */
int
lt_kube_gpus_asked(struct lt_kube_gpus *gpus, const json_t *pod_spec, struct lt_error *err)
{
	struct lt_kube_gpus sum = {.kinds = 0}, most = {.kinds = 0};
	const json_t *container;
	size_t i;
	int code = LT_OK;

	json_array_foreach(json_object_get(pod_spec, "initContainers"), i, container) {
		const bool stays =
		    strcmp(lt_kube_string(container, "restartPolicy"), "Always") == 0;
		struct lt_kube_gpus first = sum;

		if (code == LT_OK)
			code = add_resources(stays ? &sum : &first, container, err);
		if (code == LT_OK)
			code = raise_all(&most, stays ? &sum : &first, err);
	}
	json_array_foreach(json_object_get(pod_spec, "containers"), i, container)
		if (code == LT_OK)
			code = add_resources(&sum, container, err);
	if (code == LT_OK)
		code = raise_all(&sum, &most, err);
	if (code == LT_OK)
		*gpus = sum;
	return code;
}
