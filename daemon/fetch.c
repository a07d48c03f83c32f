/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two lists, wanted and done, and one child under way: a source that hangs or
 * breaks the parser takes nothing with it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "child.h"
#include "fetch.h"
#include "http.h"

enum {
	FETCH_MAX_S = 600, /* a month of history page by page; longer: killed */
};

struct result { /* what the child writes first, then its points */
	int code;
	struct lt_error err;
	struct lt_points points; /* without the array */
};

static struct {
	struct lt_fetch *wanted, *done, *current;
	struct lt_child child; /* that works on current */
} worker = {.child.fd = -1};

static void
append(struct lt_fetch **list, struct lt_fetch *fetch)
{
	fetch->next = NULL;
	while (*list)
		list = &(*list)->next;
	*list = fetch;
}

void
lt_fetch_run(struct lt_fetch *fetch)
{
	struct lt_source_options options = {
	    .name = fetch->source.name, .count = fetch->source.option_count};
	for (int i = 0; i < options.count; i++) {
		options.items[i].key = fetch->source.options[i].key;
		options.items[i].value = fetch->source.options[i].value;
		options.items[i].line = fetch->source.options[i].line;
		options.items[i].column = fetch->source.options[i].column;
	}
	fetch->code = lt_http_init(&fetch->err);
	if (fetch->code != LT_OK)
		return;
	fetch->code = fetch->adapter->fetch(&options, fetch->from_utc_s,
	    fetch->to_utc_s, fetch->now_utc_s, &fetch->points, &fetch->err);
	if (fetch->code == LT_OK)
		lt_points_sort(&fetch->points);
	lt_http_cleanup();
}

void
lt_fetch_free(struct lt_fetch *fetch)
{
	if (!fetch)
		return;
	lt_points_free(&fetch->points);
	free(fetch);
}

static void
run_child(void *work, int fd)
{
	struct lt_fetch *const fetch = work;
	lt_fetch_run(fetch);
	struct result result = {
	    .code = fetch->code, .err = fetch->err, .points = fetch->points};
	result.points.points = NULL;
	result.points.capacity = result.points.count;
	if (lt_child_write(fd, &result, sizeof(result)))
		(void)lt_child_write(fd, fetch->points.points,
		    fetch->points.count * sizeof(*fetch->points.points));
}

/* What came through the pipe, into the fetch that it is of. Both ends are
 * this program: only its length is in doubt. */
static void
understand(struct lt_fetch *fetch, const char *bytes, size_t length, int status)
{
	struct result result;
	const size_t one = sizeof(*fetch->points.points);
	if (length >= sizeof(result))
		memcpy(&result, bytes, sizeof(result));
	if (length < sizeof(result) || result.points.count > LT_POINTS_MAX ||
	    length - sizeof(result) != result.points.count * one) {
		fetch->code = WIFSIGNALED(status)
				  ? lt_fail(&fetch->err, LT_EIO,
					"the fetch was ended by "
					"signal %d",
					WTERMSIG(status))
				  : lt_fail(&fetch->err, LT_EIO,
					"the fetch gave no result");
		return;
	}
	fetch->code = result.code;
	fetch->err = result.err;
	fetch->points = result.points;
	fetch->points.points = calloc(result.points.count + 1, one);
	if (!fetch->points.points) {
		fetch->points.count = fetch->points.capacity = 0;
		fetch->code =
		    lt_fail(&fetch->err, LT_ENOMEM, "the fetch: out of memory");
		return;
	}
	memcpy(fetch->points.points, bytes + sizeof(result),
	    result.points.count * one);
}

/* Take in what came, start what is next. */
static void
pump(void)
{
	int status;
	if (worker.current && lt_child_read(&worker.child, &status)) {
		understand(worker.current, worker.child.bytes,
		    worker.child.length, status);
		lt_child_drop(&worker.child);
		append(&worker.done, worker.current);
		worker.current = NULL;
	}
	while (!worker.current && worker.wanted) {
		struct lt_fetch *const fetch = worker.wanted;
		worker.wanted = fetch->next;
		fetch->code = lt_child_start(
		    &worker.child, run_child, fetch, FETCH_MAX_S, &fetch->err);
		if (fetch->code == LT_OK)
			worker.current = fetch;
		else
			append(&worker.done, fetch);
	}
}

void
lt_fetch_stop(void)
{
	lt_child_drop(&worker.child);
	lt_fetch_free(worker.current);
	worker.current = NULL;
	for (struct lt_fetch *f; (f = worker.done);) {
		worker.done = f->next;
		lt_fetch_free(f);
	}
	for (struct lt_fetch *f; (f = worker.wanted);) {
		worker.wanted = f->next;
		lt_fetch_free(f);
	}
}

void
lt_fetch_post(struct lt_fetch *fetch)
{
	append(&worker.wanted, fetch);
	pump();
}

struct lt_fetch *
lt_fetch_take(void)
{
	pump();
	struct lt_fetch *const fetch = worker.done;
	if (fetch)
		worker.done = fetch->next;
	return fetch;
}

int
lt_fetch_fd(void)
{
	return worker.child.fd;
}
