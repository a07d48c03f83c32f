/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a list: lists it, then watches from there, and again whenever the server no longer has
 * what came since. One stream is many lines, each the JSON of one change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "send.h"
#include "text_mend.h"
#include "units.h"
#include "min_max.h"

enum {
	HEALTHY_MS = 10000,	/* a stream that lasts as long is no failure */
	LINE_BYTES_MIN = 65536, /* first room of a line in parts */
};

struct watch {
	struct lt_kube_run run;
	char *line; /* the part of a line that has come */
	size_t length, capacity;
	bool heard;	 /* a change or a bookmark, in this stream */
	bool must_list;	 /* what comes from here on is not all */
	int64_t pause_s; /* that the server asks for */
	int failures;	 /* since something was heard */
	struct lt_error problem;
};

/* ---- lines ---- */

static void
keep_version(struct watch *watch, const json_t *object)
{
	const char *const version = lt_kube_version_of(object);

	watch->heard = true;
	if (version[0] != '\0' && strlen(version) < sizeof(watch->run.version))
		strcpy(watch->run.version, version);
}

/* A Status instead of a change: the stream is over. Only what passes is resumed from the same
 * version. */
static bool
on_error_event(struct watch *watch, const json_t *status)
{
	const json_int_t code = json_integer_value(json_object_get(status, "code"));
	const char *const message = json_string_value(json_object_get(status, "message"));

	watch->must_list = code != 429 && code < 500;
	if (code != 410) {
		lt_fail(&watch->problem, LT_ENET, "%.200s: the watch ends with status %lld: %.200s",
		    watch->run.follow->path, (long long)code, message == NULL ? "" : message);
		lt_error_mend(&watch->problem, LT_ENET);
	}
	return false;
}

/* False: the stream is of no more use. */
static bool
on_event(struct watch *watch, const json_t *event)
{
	static const struct {
		const char *type;
		enum lt_kube_change change;
	} types[] = {
	    {"ADDED", LT_KUBE_ADDED},
	    {"MODIFIED", LT_KUBE_MODIFIED},
	    {"DELETED", LT_KUBE_DELETED},
	};
	const char *const type = json_string_value(json_object_get(event, "type"));
	const json_t *const object = json_object_get(event, "object");

	for (size_t i = 0; type != NULL && i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(type, types[i].type) != 0)
			continue;
		/* First the version: a callback that ends all has seen it. */
		keep_version(watch, object);
		return lt_kube_run_item(&watch->run, types[i].change, object);
	}
	if (type != NULL && strcmp(type, "BOOKMARK") == 0) {
		keep_version(watch, object);
		return true;
	}
	if (type != NULL && strcmp(type, "ERROR") == 0)
		return on_error_event(watch, object);
	watch->must_list = true;
	lt_fail(&watch->problem, LT_ENET, "%.200s: got a line without a type that is known",
	    watch->run.follow->path);
	return false;
}

static bool
on_line(struct watch *watch, const char *line, size_t length)
{
	struct lt_error problem = {0};
	json_t *event = NULL;

	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0)
		return true;
	const int code = lt_json_load_nul(&event, line, length, &problem);
	if (code == LT_OK) {
		const bool more = on_event(watch, event);

		json_decref(event);
		return more;
	}
	lt_context(&problem, "%.200s: a change%s", watch->run.follow->path,
	    code == LT_ELIMIT ? ", left out" : "");
	lt_error_mend(&problem, code);
	/* Whole, but over our bounds: a list would not have it either. */
	if (code == LT_ELIMIT) {
		lt_kube_run_report(&watch->run, &problem);
		return true;
	}
	watch->must_list = true;
	watch->problem = problem;
	return false;
}

static bool
keep_part(struct watch *watch, const char *bytes, size_t length)
{
	const size_t wanted = watch->length + length;

	if (wanted > LT_KUBE_LINE_BYTES_MAX) {
		watch->must_list = true;
		lt_fail(&watch->problem, LT_ELIMIT, "%.200s: a change of more than %d bytes",
		    watch->run.follow->path, LT_KUBE_LINE_BYTES_MAX);
		return false;
	}
	if (wanted > watch->capacity) {
		const size_t capacity = wanted < LINE_BYTES_MIN ? LINE_BYTES_MIN : 2 * wanted;
		char *const grown = realloc(watch->line, capacity);

		if (grown == NULL) {
			watch->must_list = true;
			lt_fail(&watch->problem, LT_ENOMEM, "a change");
			return false;
		}
		watch->line = grown;
		watch->capacity = capacity;
	}
	memcpy(watch->line + watch->length, bytes, length);
	watch->length = wanted;
	return true;
}

static bool
on_bytes(void *context, const char *bytes, size_t length)
{
	struct watch *const watch = context;
	const char *newline;

	while ((newline = memchr(bytes, '\n', length)) != NULL) {
		const size_t part = (size_t)(newline - bytes);
		bool more;

		if (watch->length == 0) {
			more = on_line(watch, bytes, part);
		} else {
			more = keep_part(watch, bytes, part) &&
			       on_line(watch, watch->line, watch->length);
			watch->length = 0;
		}
		if (!more)
			return false;
		bytes += part + 1;
		length -= part + 1;
	}
	return length == 0 || keep_part(watch, bytes, length);
}

/* ---- streams ---- */

static bool
on_second(void *context)
{
	struct watch *const watch = context;

	return lt_kube_run_stop(&watch->run);
}

/* Half to all of a pause that doubles: many clients of a server that comes back must not all ask at
 * once. */
static void
back_off(struct watch *watch)
{
	const int64_t first_ms =
	    watch->run.follow->backoff_ms > 0 ? watch->run.follow->backoff_ms : LT_KUBE_BACKOFF_MS;
	const int64_t doubled_ms = first_ms << (watch->failures < 16 ? watch->failures : 16);
	const int64_t bound_ms = lt_min_i64(doubled_ms, LT_KUBE_BACKOFF_MAX_MS);
	int64_t wait_ms = bound_ms / 2 + (int64_t)(lt_random(&watch->run.kube->random) %
						   (uint64_t)(bound_ms / 2 + 1));

	if (watch->pause_s > LT_KUBE_BACKOFF_MAX_MS / 1000)
		wait_ms = LT_KUBE_BACKOFF_MAX_MS;
	else if (watch->pause_s * 1000 > wait_ms)
		wait_ms = watch->pause_s * 1000;
	lt_kube_pause(wait_ms, lt_kube_run_stop, &watch->run);
}

static char *
watch_path(const struct watch *watch)
{
	const struct lt_kube_follow *const follow = watch->run.follow;
	const int64_t timeout_s = LT_KUBE_WATCH_S + (int64_t)(lt_random(&watch->run.kube->random) %
							      (LT_KUBE_WATCH_S / 2));
	char *path = NULL;

	if (asprintf(&path,
		"%s?watch=1&allowWatchBookmarks=true&resourceVersion=%s&timeoutSeconds=%lld%s%s",
		follow->path, watch->run.version, (long long)timeout_s,
		follow->query != NULL ? "&" : "", follow->query != NULL ? follow->query : "") < 0)
		return NULL;
	return path;
}

static void
one_stream(struct watch *watch)
{
	const struct lt_kube_follow *const follow = watch->run.follow;
	struct lt_http_request http = {
	    .total_ms = LT_KUBE_TOTAL_MS, /* of tries until it starts */
	    .headers = {NULL, "Accept: application/json"},
	    .stall_s = follow->silence_s > 0 ? follow->silence_s : LT_KUBE_SILENCE_S,
	    .stall_bytes_s = 1,
	    .take = on_bytes,
	    .stop = on_second,
	    .context = watch,
	};
	struct lt_http_response response = {0};
	struct lt_error problem = {0};
	char *const path = watch_path(watch);
	int code;

	watch->length = 0;
	watch->pause_s = 0;
	if (path == NULL) {
		lt_fail(&watch->problem, LT_ENOMEM, "a request");
		return;
	}
	const int64_t begin_ms = lt_monotonic_ms();
	code = lt_kube_send(watch->run.kube, path, &http, &response, &problem);
	/* Older servers send no bookmarks of a kind of which nothing happens:
	 * silence is no problem, and the next connection shows whether it
	 * was one. */
	if (code == LT_ENET && response.status == 200 &&
	    lt_monotonic_ms() - begin_ms >= http.stall_s * INT64_C(1000))
		problem = (struct lt_error){0};
	if (code == LT_OK)
		code = lt_kube_check(path, &response, &problem);
	if (code == LT_ESTALE)
		watch->must_list = true;
	else if (!watch->must_list && watch->problem.code == LT_OK)
		watch->problem = problem; /* else it was us who ended it */
	watch->pause_s = response.retry_after_s;
	lt_http_free(&response);
	free(path);
}

/* Streams from the same list on, until a new one is needed. That a stream ends is nothing to
 * report, as long as each brings something or lasts. */
static void
watch_on(struct watch *watch)
{
	watch->must_list = false;
	while (!watch->must_list && !watch->run.stopped) {
		const int64_t begin_ms = lt_monotonic_ms();

		watch->heard = false;
		watch->problem = (struct lt_error){0};
		one_stream(watch);
		if (watch->run.stopped)
			return;
		/* Without bookmarks a stream may be silent to its end; one that never got an answer
		 * has no end, but a problem. */
		const bool is_healthy =
		    watch->heard ||
		    (watch->problem.code == LT_OK && lt_monotonic_ms() - begin_ms >= HEALTHY_MS);
		watch->failures = is_healthy ? 0 : watch->failures + 1;
		if (watch->problem.code != LT_OK && (!is_healthy || watch->must_list))
			lt_kube_run_report(&watch->run, &watch->problem);
		if (watch->failures > 0 && watch->failures % LT_KUBE_RESUMES == 0)
			watch->must_list = true;
		if (!watch->must_list || watch->failures > 0)
			back_off(watch);
	}
}

int
lt_kube_follow(struct lt_kube *kube, const struct lt_kube_follow *follow, struct lt_error *err)
{
	struct watch watch = {.run = {.kube = kube, .follow = follow}};

	if (follow->path == NULL || follow->path[0] != '/')
		return lt_fail(err, LT_EINPUT, "a watch without a path");
	while (!lt_kube_run_stop(&watch.run)) {
		struct lt_error problem = {0};

		if (lt_kube_run_list(&watch.run, &problem) == LT_OK) {
			if (!watch.run.stopped)
				watch_on(&watch);
			continue;
		}
		if (watch.run.stopped)
			break;
		lt_kube_run_report(&watch.run, &problem);
		watch.failures++;
		watch.pause_s = 0;
		back_off(&watch);
	}
	free(watch.line);
	return LT_OK;
}
