/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET of one object, and lists. The pages of a list show one moment: the first one keeps the
 * versions that the others will be made of, under the token in "continue", also past the last page,
 * which may be asked for again, until too many are kept (410).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { LIST_MAX = 8 };

/* The rest of a list that is read in pages. */
static struct list {
	int64_t id, version; /* id 0: free */
	enum kind_index kind;
	struct version **versions;
	size_t count;
	bool is_selected; /* then how many remain is not said */
} lists[LIST_MAX];
static int64_t last_id;

static void
list_free(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		version_drop(list->versions[i]);
	free(list->versions);
	*list = (struct list){0};
}

void
pages_drop(void)
{
	for (int i = 0; i < LIST_MAX; i++)
		list_free(&lists[i]);
}

void
answer_get(const struct request *request, struct reply *reply)
{
	const struct object *const object =
	    store_find((enum kind_index)request->kind, request->space, request->name);

	if (object == NULL)
		reply_not_found(reply, request);
	else
		reply_object(reply, 200, object->now, object->kind);
}

static struct list *
list_place(void)
{
	struct list *oldest = &lists[0];

	for (int i = 0; i < LIST_MAX; i++)
		if (lists[i].id < oldest->id)
			oldest = &lists[i];
	list_free(oldest);
	return oldest;
}

static struct list *
list_make(const struct request *request, const struct selector *selector)
{
	const enum kind_index kind = (enum kind_index)request->kind;
	struct list *const list = list_place();
	char from[260] = "";
	size_t prefix = 0;

	if (request->space[0] != '\0')
		prefix = (size_t)snprintf(from, sizeof(from), "%s/", request->space);
	list->id = ++last_id;
	list->version = world.version;
	list->kind = kind;
	list->is_selected = !selector_is_empty(selector);
	list->versions = calloc(world.object_counts[kind] + 1, sizeof(struct version *));
	for (const struct object *at = store_from(kind, from);
	     at != NULL && strncmp(at->key, from, prefix) == 0; at = at->next[0]) {
		if (!selector_has(selector, at->key, at->now->labels, at->now->fields))
			continue;
		version_hold(at->now);
		list->versions[list->count++] = at->now;
	}
	return list;
}

static struct list *
list_find(const char *page, size_t *from)
{
	int64_t id = 0;

	if (sscanf(page, "played-%" SCNd64 "-%zu", &id, from) != 2)
		return NULL;
	for (int i = 0; i < LIST_MAX; i++)
		if (id != 0 && lists[i].id == id && *from < lists[i].count)
			return &lists[i];
	return NULL;
}

static void
list_write(const struct list *list, size_t from, size_t to, FILE *out)
{
	fprintf(out,
	    "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":{"
	    "\"resourceVersion\":\"%" PRId64 "\"",
	    kinds[list->kind].kind, kinds[list->kind].api_version, list->version);
	if (to < list->count) {
		fprintf(out, ",\"continue\":\"played-%" PRId64 "-%zu\"", list->id, to);
		if (!list->is_selected)
			fprintf(out, ",\"remainingItemCount\":%zu", list->count - to);
	}
	fputs("},\"items\":[", out);
	for (size_t i = from; i < to; i++) {
		if (i > from)
			fputc(',', out);
		fwrite(list->versions[i]->text, 1, list->versions[i]->length, out);
	}
	fputs("]}\n", out);
}

/* What the first page is made of, or where the next one goes on. */
static struct list *
list_of(const struct request *request, struct reply *reply, size_t *from)
{
	struct selector *selector;
	struct list *list;
	bool bad;

	if (request->page[0] != '\0') {
		list =
		    faults_take(&world.faults.page_expire) ? NULL : list_find(request->page, from);
		if (list == NULL)
			reply_fail(reply, request, 410,
			    "The provided continue parameter is too old to "
			    "display a consistent list result. You must start "
			    "a new list without the continue parameter.");
		return list;
	}
	selector = selector_read(request, &bad);
	if (bad) {
		reply_fail(reply, request, 400, "unable to parse requirement: \"%s\" \"%s\"",
		    request->labels, request->fields);
		return NULL;
	}
	list = list_make(request, selector);
	selector_free(selector);
	return list;
}

void
answer_list(const struct request *request, struct reply *reply)
{
	size_t from = 0;
	struct list *const list = list_of(request, reply, &from);
	size_t to;
	FILE *out;

	if (list == NULL)
		return;
	to = request->limit > 0 && from + (size_t)request->limit < list->count
		 ? from + (size_t)request->limit
		 : list->count;
	out = open_memstream(&reply->body, &reply->length);
	list_write(list, from, to, out);
	fclose(out);
	reply->status = 200;
	reply->type = "application/json";
	if (from == 0 && to == list->count)
		list_free(list);
}
