/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The namespace controller: one that is deleted is emptied first, its Jobs and pods as if each were
 * deleted, and goes when the last of them is gone.
 */
#include <stdio.h>
#include <string.h>

#include "server.h"

enum { LOOK_AGAIN_MS = 50 };

bool
space_is_ending(const char *name)
{
	const struct object *const space = store_find(KUBE_NAMESPACES, "", name);

	return space != NULL && json_at(space->now->document, "metadata.deletionTimestamp") != NULL;
}

void
space_delete(struct object *space)
{
	if (space_is_ending(object_name(space)))
		return;
	json_t *const after = object_edit(space);

	json_put_at(after, "metadata.deletionTimestamp", json_time(now_ms()));
	json_put_at(after, "status.phase", json_string("Terminating"));
	store_put(space, after);
}

/* Pods take their time; all else goes at once. */
static bool
empty(const char *name)
{
	char prefix[260];
	const size_t length = (size_t)snprintf(prefix, sizeof(prefix), "%s/", name);
	bool is_empty = true;

	for (int kind = 0; kind < KUBE_KIND_COUNT; kind++) {
		struct object *at =
		    kinds[kind].namespaced ? store_from((enum kind_index)kind, prefix) : NULL;

		while (at != NULL && strncmp(at->key, prefix, length) == 0) {
			struct object *const next = at->next[0];

			if (kind == KUBE_JOBS)
				job_delete(at, false);
			else
				object_delete(at, -1);
			is_empty = is_empty && at->is_removed;
			at = next;
		}
	}
	return is_empty;
}

void
space_step(struct object *space, int64_t at_ms)
{
	if (!space_is_ending(object_name(space)))
		return;
	if (empty(object_name(space)))
		store_remove(space);
	else
		control_at(space, at_ms + LOOK_AGAIN_MS);
}
