/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums what the pods of a cluster take of its nodes: trees of pods and of nodes by name
 * (tsearch(3)). Only memory can lack: then false, and pods are listed anew.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "cluster.h"

struct node { /* begins with its name: by_name() */
	char name[LT_KUBE_KEY_SIZE];
	struct lt_kube_taken taken;
	uint32_t pod_count;
};

struct pod { /* the same with its uid */
	char uid[48];
	struct node *node;
	struct lt_kube_amounts amounts;
	uint32_t seen;
	bool is_ours;
};

static int
by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void
add_amounts(struct lt_kube_amounts *to, const struct lt_kube_amounts *amounts, int sign)
{
	for (int i = 0; i < LT_KUBE_RESOURCES; i++)
		to->of[i] += sign * amounts->of[i];
}

static void
count_pod(const struct pod *pod, int sign)
{
	struct node *const node = pod->node;

	add_amounts(&node->taken.all, &pod->amounts, sign);
	if (!pod->is_ours)
		add_amounts(&node->taken.others, &pod->amounts, sign);
}

/* Frees the node's sum with the node's last pod: names come and go. */
static void
lose_pod(struct lt_kube_rooms *rooms, struct pod *pod)
{
	struct node *const node = pod->node;

	count_pod(pod, -1);
	if (--node->pod_count == 0) {
		tdelete(node, &rooms->nodes, by_name);
		free(node);
	}
	tdelete(pod, &rooms->pods, by_name);
	free(pod);
	rooms->pod_count--;
}

/* A pod that can't be counted leaves no room beside it. */
static void
read_amounts(struct lt_kube_amounts *amounts, const json_t *pod)
{
	enum { WHOLE = 1 << 30 };

	if (lt_kube_asks_read(amounts, json_object_get(pod, "spec"), NULL) != LT_OK)
		*amounts = (struct lt_kube_amounts){.of = {[LT_KUBE_POD_COUNT] = WHOLE}};
}

/* Finds the one of this name, or makes it; NULL: no memory. size: of all of it. */
static void *
find_or_make(void **root, const char *name, size_t size)
{
	void **found = tfind(name, root, by_name);

	if (found != NULL)
		return *found;
	void *const made = calloc(1, size);
	if (made == NULL)
		return NULL;
	strcpy(made, name);
	if (tsearch(made, root, by_name) != NULL)
		return made;
	free(made);
	return NULL;
}

bool
lt_kube_rooms_see(struct lt_kube_rooms *rooms, const json_t *pod, bool is_gone, bool is_ours)
{
	const char *const uid = lt_kube_string(json_object_get(pod, "metadata"), "uid");
	const char *const node = lt_kube_string(json_object_get(pod, "spec"), "nodeName");
	const char *const phase = lt_kube_string(json_object_get(pod, "status"), "phase");
	void **const found = tfind(uid, &rooms->pods, by_name);
	struct pod *known = found != NULL ? *found : NULL;

	if (is_gone || strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0) {
		if (known != NULL)
			lose_pod(rooms, known);
		return true;
	}
	if (node[0] == '\0' || uid[0] == '\0' || strlen(uid) >= sizeof(known->uid) ||
	    strlen(node) >= LT_KUBE_KEY_SIZE)
		return true;
	if (known != NULL) {
		count_pod(known, -1);
	} else {
		struct node *const its = find_or_make(&rooms->nodes, node, sizeof(*its));

		known = its != NULL ? find_or_make(&rooms->pods, uid, sizeof(*known)) : NULL;
		if (known == NULL)
			return false;
		known->node = its;
		its->pod_count++;
		rooms->pod_count++;
	}
	known->seen = rooms->list;
	known->is_ours = is_ours;
	read_amounts(&known->amounts, pod);
	count_pod(known, 1);
	return true;
}

void
lt_kube_rooms_begin(struct lt_kube_rooms *rooms)
{
	rooms->list++;
}

struct unseen {
	struct pod **pods;
	uint32_t list, count;
};

static void
note_unseen(const void *at, VISIT visit, void *context)
{
	struct pod *const pod = *(struct pod *const *)at;
	struct unseen *const unseen = context;

	if ((visit == postorder || visit == leaf) && pod->seen != unseen->list)
		unseen->pods[unseen->count++] = pod;
}

bool
lt_kube_rooms_end(struct lt_kube_rooms *rooms)
{
	struct unseen unseen = {
	    .pods = calloc(rooms->pod_count + 1u, sizeof(struct pod *)), .list = rooms->list};

	if (unseen.pods == NULL)
		return false;
	twalk_r(rooms->pods, note_unseen, &unseen);
	for (uint32_t i = 0; i < unseen.count; i++)
		lose_pod(rooms, unseen.pods[i]);
	free(unseen.pods);
	return true;
}

const struct lt_kube_taken *
lt_kube_rooms_of(const struct lt_kube_rooms *rooms, const char *node)
{
	static const struct lt_kube_taken nothing;
	void *const *const found = tfind(node, &rooms->nodes, by_name);

	return found != NULL ? &(*(struct node *const *)found)->taken : &nothing;
}

void
lt_kube_rooms_free(struct lt_kube_rooms *rooms)
{
	tdestroy(rooms->pods, free);
	tdestroy(rooms->nodes, free);
	*rooms = (struct lt_kube_rooms){0};
}
