/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two lists, wanted and done, and children between them, each with a batch of one adapter: a source
 * that hangs or breaks the parser takes nothing with it, and what is behind it in its batch waits
 * for it alone.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "child.h"
#include "fetch.h"
#include "web.h"

enum {
	BATCH_MAX = 8, /* fetches of one child */
	/* Time for a fetch beyond that of its requests, to read and sort; longer: killed. */
	SPARE_S = 15,
};

struct result { /* of one fetch, in the pipe: this, then its points */
	int code;
	struct lt_error err;
	struct lt_source_memory memory;
	struct lt_points points; /* without the array */
};

struct worker {
	bool is_running;
	struct lt_fetch *batch; /* what its child has not given yet: none, and
				 * it still runs, until it has ended */
	struct lt_child child;
	size_t at; /* of its bytes: up to there are results, taken */
};

static struct {
	struct lt_fetch *wanted, *done;
	struct worker workers[LT_FETCH_FDS];
} fetches;

static void
append_bytes(struct lt_fetch **list, struct lt_fetch *fetch)
{
	fetch->next = NULL;
	while (*list != NULL)
		list = &(*list)->next;
	*list = fetch;
}

struct lt_source_options
lt_fetch_options(const struct lt_policy_source *source, const struct lt_adapter *adapter)
{
	struct lt_source_options options = {.name = source->name, .count = source->option_count};

	for (int i = 0; i < options.count; i++) {
		options.items[i].key = source->options[i].key;
		options.items[i].value = source->options[i].value;
		options.items[i].line = source->options[i].line;
		options.items[i].column = source->options[i].column;
	}
	options.timeout_s = lt_adapter_timeout_s(adapter, &options);
	return options;
}

void
lt_fetch_run(struct lt_fetch *fetch)
{
	struct lt_source_options options = lt_fetch_options(&fetch->source, fetch->adapter);

	options.memory = &fetch->memory;
	fetch->memory.trace_count = 0;
	fetch->code = lt_adapter_fetch(fetch->adapter, &options,
	    &(struct lt_window){fetch->from_utc_s, fetch->to_utc_s, fetch->now_utc_s},
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
	for (struct lt_fetch *fetch = work; fetch != NULL; fetch = fetch->next) {
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

/* One result from the pipe's bytes into the fetch that it is of; returns its length, 0 when it is
 * not whole. Both ends are this program: only where the bytes end is in doubt. */
static size_t
read_result(struct lt_fetch *fetch, const char *bytes, size_t length)
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
		memcpy(fetch->points.points, bytes + sizeof(result), result.points.count * one);
	} else {
		fetch->points.count = fetch->points.capacity = 0;
		fetch->code = lt_fail(&fetch->err, LT_ENOMEM, "the fetch: out of memory");
	}
	return sizeof(result) + result.points.count * one;
}

static void
give_up(struct lt_fetch *fetch, int status)
{
	fetch->code =
	    WIFSIGNALED(status)
		? lt_fail(&fetch->err, LT_EIO, "the fetch was ended by signal %d", WTERMSIG(status))
		: lt_fail(&fetch->err, LT_EIO, "the fetch gave no result");
}

/* The results that are whole. */
static void
take_results(struct worker *worker)
{
	while (worker->batch != NULL) {
		struct lt_fetch *const fetch = worker->batch;
		const size_t length = read_result(
		    fetch, worker->child.bytes + worker->at, worker->child.length - worker->at);

		if (length == 0)
			return;
		worker->batch = fetch->next;
		worker->at += length;
		append_bytes(&fetches.done, fetch);
	}
}

/* The child has ended: the first fetch without a result is what ended it, and those behind it want
 * another child. */
static void
end_batch(struct worker *worker, int status)
{
	struct lt_fetch *fetch = worker->batch;

	if (fetch != NULL) {
		worker->batch = fetch->next;
		give_up(fetch, status);
		append_bytes(&fetches.done, fetch);
	}
	while ((fetch = worker->batch) != NULL) {
		worker->batch = fetch->next;
		append_bytes(&fetches.wanted, fetch);
	}
	if (worker->child.bytes != NULL) /* tokens */
		explicit_bzero(worker->child.bytes, worker->child.length);
	lt_child_drop(&worker->child);
	worker->is_running = false;
}

/* One child at a time asks the hosts of an adapter: some want a pause between two requests. */
static bool
is_under_way(const struct lt_adapter *adapter)
{
	for (int i = 0; i < LT_FETCH_FDS; i++)
		if (fetches.workers[i].batch != NULL &&
		    fetches.workers[i].batch->adapter == adapter)
			return true;
	return false;
}

/* The first that waits and may be done, and the next ones of its adapter. */
static struct lt_fetch *
next_batch(void)
{
	const struct lt_adapter *adapter = NULL;
	struct lt_fetch *batch = NULL;
	int count = 0;

	for (struct lt_fetch **at = &fetches.wanted; *at != NULL && count < BATCH_MAX;) {
		struct lt_fetch *const fetch = *at;

		if (adapter == NULL && !is_under_way(fetch->adapter))
			adapter = fetch->adapter;
		if (fetch->adapter != adapter) {
			at = &fetch->next;
			continue;
		}
		*at = fetch->next;
		append_bytes(&batch, fetch);
		count++;
	}
	return batch;
}

static unsigned
most_s(const struct lt_fetch *batch)
{
	unsigned sum_s = 0;

	for (; batch != NULL; batch = batch->next) {
		const struct lt_source_options options =
		    lt_fetch_options(&batch->source, batch->adapter);

		sum_s += SPARE_S + (unsigned)(lt_web_fetch_ms(&options) / 1000);
	}
	return sum_s;
}

static void
start_fetch(struct worker *worker, struct lt_fetch *batch)
{
	struct lt_error err = {0};

	worker->at = 0;
	if (lt_child_start(&worker->child, run_child, batch, most_s(batch), &err) == LT_OK) {
		worker->is_running = true;
		worker->batch = batch;
		return;
	}
	for (struct lt_fetch *fetch; (fetch = batch) != NULL;) {
		batch = fetch->next;
		fetch->code = (int)err.code;
		fetch->err = err;
		append_bytes(&fetches.done, fetch);
	}
}

/* Take in what came, start what is next. */
static void
pump_fetches(void)
{
	for (int i = 0; i < LT_FETCH_FDS; i++) {
		struct worker *const worker = &fetches.workers[i];
		struct lt_fetch *batch;
		int status;

		if (worker->is_running) {
			const bool ended = lt_child_read(&worker->child, &status);

			take_results(worker);
			if (ended)
				end_batch(worker, status);
		}
		if (!worker->is_running && (batch = next_batch()) != NULL)
			start_fetch(worker, batch);
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
	for (int i = 0; i < LT_FETCH_FDS; i++) {
		if (fetches.workers[i].is_running)
			lt_child_drop(&fetches.workers[i].child);
		fetches.workers[i].is_running = false;
		free_list(&fetches.workers[i].batch);
	}
	free_list(&fetches.done);
	free_list(&fetches.wanted);
}

void
lt_fetch_post(struct lt_fetch *fetch)
{
	append_bytes(&fetches.wanted, fetch);
}

struct lt_fetch *
lt_fetch_take(void)
{
	pump_fetches();
	struct lt_fetch *const fetch = fetches.done;
	if (fetch != NULL)
		fetches.done = fetch->next;
	return fetch;
}

int
lt_fetch_fds(struct pollfd *fds)
{
	int count = 0;

	for (int i = 0; i < LT_FETCH_FDS; i++)
		if (fetches.workers[i].is_running)
			fds[count++] =
			    (struct pollfd){.fd = fetches.workers[i].child.fd, .events = POLLIN};
	return count;
}
