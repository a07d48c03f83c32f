/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two lists, wanted and done, and one child under way with a batch of one
 * adapter: a source that hangs or breaks the parser takes nothing with it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "child.h"
#include "fetch.h"
#include "web.h"

enum {
	FETCH_MAX_S = 600, /* of one child; longer: killed */
	BATCH_MAX = 8,	   /* fetches of one child, each within
			    * LT_WEB_FETCH_MS */
};

struct result { /* of one fetch, in the pipe: this, then its points */
	int code;
	struct lt_error err;
	struct lt_source_memory memory;
	struct lt_points points; /* without the array */
};

static struct {
	struct lt_fetch *wanted, *done, *current;
	struct lt_child child; /* that works on current, a batch */
} worker = {.child.fd = -1};

static void
append(struct lt_fetch **list, struct lt_fetch *fetch)
{
	fetch->next = NULL;
	while (*list != NULL)
		list = &(*list)->next;
	*list = fetch;
}

struct lt_source_options
lt_fetch_options(const struct lt_policy_source *source)
{
	struct lt_source_options options = {
	    .name = source->name, .count = source->option_count};

	for (int i = 0; i < options.count; i++) {
		options.items[i].key = source->options[i].key;
		options.items[i].value = source->options[i].value;
		options.items[i].line = source->options[i].line;
		options.items[i].column = source->options[i].column;
	}
	return options;
}

void
lt_fetch_run(struct lt_fetch *fetch)
{
	struct lt_source_options options = lt_fetch_options(&fetch->source);

	options.memory = &fetch->memory;
	fetch->memory.trace_count = 0;
	fetch->code = fetch->adapter->fetch(&options,
	    &(struct lt_window){
		fetch->from_utc_s, fetch->to_utc_s, fetch->now_utc_s},
	    &fetch->points, &fetch->err);
	if (fetch->code == LT_OK)
		lt_points_sort(&fetch->points);
}

void
lt_fetch_free(struct lt_fetch *fetch)
{
	if (fetch == NULL)
		return;
	lt_points_free(&fetch->points);
	explicit_bzero(&fetch->memory, sizeof(fetch->memory));
	free(fetch);
}

static void
run_child(void *work, int fd)
{
	lt_web_share();
	for (struct lt_fetch *fetch = work; fetch != NULL;
	     fetch = fetch->next) {
		lt_fetch_run(fetch);
		struct result result = {.code = fetch->code,
		    .err = fetch->err,
		    .memory = fetch->memory,
		    .points = fetch->points};
		result.points.points = NULL;
		result.points.capacity = result.points.count;
		if (!lt_child_write(fd, &result, sizeof(result)) ||
		    !lt_child_write(fd, fetch->points.points,
			fetch->points.count * sizeof(*fetch->points.points)))
			return;
	}
}

/* One result from the pipe's bytes into the fetch that it is of; returns its
 * length, 0 when it is not whole. Both ends are this program: only where the
 * bytes end is in doubt. */
static size_t
understand(struct lt_fetch *fetch, const char *bytes, size_t length)
{
	struct result result;
	const size_t one = sizeof(*fetch->points.points);

	if (length < sizeof(result))
		return 0;
	memcpy(&result, bytes, sizeof(result));
	if (result.points.count > LT_POINTS_MAX ||
	    length - sizeof(result) < result.points.count * one)
		return 0;
	fetch->code = result.code;
	fetch->err = result.err;
	fetch->memory = result.memory;
	explicit_bzero(&result.memory, sizeof(result.memory));
	fetch->points = result.points;
	fetch->points.points = calloc(result.points.count + 1, one);
	if (fetch->points.points != NULL) {
		memcpy(fetch->points.points, bytes + sizeof(result),
		    result.points.count * one);
	} else {
		fetch->points.count = fetch->points.capacity = 0;
		fetch->code =
		    lt_fail(&fetch->err, LT_ENOMEM, "the fetch: out of memory");
	}
	return sizeof(result) + result.points.count * one;
}

static void
give_up(struct lt_fetch *fetch, int status)
{
	fetch->code =
	    WIFSIGNALED(status)
		? lt_fail(&fetch->err, LT_EIO,
		      "the fetch was ended by signal %d", WTERMSIG(status))
		: lt_fail(&fetch->err, LT_EIO, "the fetch gave no result");
}

/* All results of the child that ended: the first fetch without one is what
 * ended it, and those behind it want another child. */
static void
take_batch(int status)
{
	size_t at = 0;
	bool whole = true;

	while (worker.current != NULL && whole) {
		struct lt_fetch *const fetch = worker.current;

		worker.current = fetch->next;
		const size_t length = understand(
		    fetch, worker.child.bytes + at, worker.child.length - at);
		whole = length > 0;
		at += length;
		if (!whole)
			give_up(fetch, status);
		append(&worker.done, fetch);
	}
	if (worker.child.bytes != NULL) /* tokens */
		explicit_bzero(worker.child.bytes, worker.child.length);
	for (struct lt_fetch *f; (f = worker.current) != NULL;) {
		worker.current = f->next;
		append(&worker.wanted, f);
	}
}

/* The first that waits, and the next ones of its adapter. */
static struct lt_fetch *
next_batch(void)
{
	const struct lt_adapter *const adapter = worker.wanted->adapter;
	struct lt_fetch *batch = NULL;
	int count = 0;

	for (struct lt_fetch **at = &worker.wanted;
	     *at != NULL && count < BATCH_MAX;) {
		struct lt_fetch *const fetch = *at;

		if (fetch->adapter != adapter) {
			at = &fetch->next;
			continue;
		}
		*at = fetch->next;
		append(&batch, fetch);
		count++;
	}
	return batch;
}

/* Take in what came, start what is next. */
static void
pump(void)
{
	int status;

	if (worker.current != NULL && lt_child_read(&worker.child, &status)) {
		take_batch(status);
		lt_child_drop(&worker.child);
	}
	while (worker.current == NULL && worker.wanted != NULL) {
		struct lt_error err = {0};

		worker.current = next_batch();
		if (lt_child_start(&worker.child, run_child, worker.current,
			FETCH_MAX_S, &err) == LT_OK)
			return;
		for (struct lt_fetch *f; (f = worker.current) != NULL;) {
			worker.current = f->next;
			f->code = (int)err.code;
			f->err = err;
			append(&worker.done, f);
		}
	}
}

static void
free_list(struct lt_fetch **list)
{
	for (struct lt_fetch *f; (f = *list) != NULL;) {
		*list = f->next;
		lt_fetch_free(f);
	}
}

void
lt_fetch_stop(void)
{
	lt_child_drop(&worker.child);
	free_list(&worker.current);
	free_list(&worker.done);
	free_list(&worker.wanted);
}

void
lt_fetch_post(struct lt_fetch *fetch)
{
	append(&worker.wanted, fetch);
}

struct lt_fetch *
lt_fetch_take(void)
{
	pump();
	struct lt_fetch *const fetch = worker.done;
	if (fetch != NULL)
		worker.done = fetch->next;
	return fetch;
}

int
lt_fetch_fd(void)
{
	return worker.child.fd;
}
