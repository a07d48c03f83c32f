/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches: a stream of lines, each an event. A stream has a place in the ring of events and writes
 * what follows it, waiting for more; a thread each.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server.h"

enum { WAIT_MS = 500, DEFAULT_TIMEOUT_S = 1800, FILL_BYTES = 64 * 1024 };

struct stream {
	enum kind_index kind;
	struct selector *selector;
	bool bookmarks, is_ended, is_cut;
	int64_t at; /* the next event */
	int64_t end_ms, bookmark_ms;
	int fd;
	char *text; /* that is still to be sent */
	size_t length, sent;
};

bool
socket_is_gone(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLRDHUP};

	return fd >= 0 && poll(&poll_fd, 1, 0) > 0 &&
	       (poll_fd.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void
stream_socket(struct stream *stream, int fd)
{
	stream->fd = fd;
}

static void
line_write(FILE *out, const char *type, enum kind_index kind, const struct version *version)
{
	fprintf(out,
	    "{\"type\":\"%s\",\"object\":{\"kind\":\"%s\","
	    "\"apiVersion\":\"%s\",%s}\n",
	    type, kinds[kind].kind, kinds[kind].api_version, version->text + 1);
}

static void
bookmark_write(FILE *out, enum kind_index kind, bool is_initial)
{
	fprintf(out,
	    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"%s\","
	    "\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":"
	    "\"%" PRId64 "\",\"creationTimestamp\":null%s},\"spec\":{},"
	    "\"status\":{}}}\n",
	    kinds[kind].kind, kinds[kind].api_version, world.version,
	    is_initial ? ",\"annotations\":{"
			 "\"k8s.io/initial-events-end\":\"true\"}"
		       : "");
}

static void
gone_write(FILE *out, int64_t asked)
{
	char message[128];
	char *status;

	snprintf(message, sizeof(message), "too old resource version: %" PRId64 " (%" PRId64 ")",
	    asked, world.compacted);
	status = status_text(410, message, NULL);
	fprintf(out, "{\"type\":\"ERROR\",\"object\":%s}\n", status);
	free(status);
}

/* The event as this stream's selector sees it, NULL: not at all. */
static const char *
event_word(const struct stream *stream, const struct event *event)
{
	const bool is_in =
	    selector_has(stream->selector, event->key, event->now->labels, event->now->fields);
	const bool was_in =
	    event->fields_before != NULL &&
	    selector_has(stream->selector, event->key, event->labels_before, event->fields_before);

	if (event->type == EVENT_DELETED)
		return was_in ? "DELETED" : NULL;
	if (is_in)
		return was_in ? "MODIFIED" : "ADDED";
	return was_in ? "DELETED" : NULL;
}

/* The first event after a version. */
static int64_t
event_after(int64_t version)
{
	int64_t low = world.first_event, high = world.end_event;

	while (low < high) {
		const int64_t middle = low + (high - low) / 2;
		const struct event *const event = &world.events[middle % world.options.history];

		if (event->now->number <= version)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
stream_all(struct stream *stream, bool wants_end, FILE *out)
{
	for (const struct object *at = store_from(stream->kind, ""); at != NULL; at = at->next[0])
		if (selector_has(stream->selector, at->key, at->now->labels, at->now->fields))
			line_write(out, "ADDED", stream->kind, at->now);
	if (wants_end)
		bookmark_write(out, stream->kind, true);
}

/* Where the stream begins: now, with all that is there, or at a version. */
static void
stream_begin(struct stream *stream, const struct request *request)
{
	const int64_t asked = strtoll(request->version, NULL, 10);
	FILE *const out = open_memstream(&stream->text, &stream->length);

	stream->at = world.end_event;
	if (faults_take(&world.faults.gone) || (asked != 0 && asked < world.compacted)) {
		gone_write(out, asked);
		stream->is_ended = true;
	} else if (asked == 0 || request->initial_events) {
		stream_all(stream, request->initial_events, out);
	} else {
		stream->at = event_after(asked);
	}
	fclose(out);
}

struct stream *
stream_open(const struct request *request, struct reply *reply)
{
	const int64_t timeout_s = request->timeout_s > 0 ? request->timeout_s : DEFAULT_TIMEOUT_S;
	struct stream *stream;
	bool bad;
	struct selector *const selector = selector_read(request, &bad);

	if (bad) {
		reply_fail(reply, request, 400, "unable to parse requirement: \"%s\" \"%s\"",
		    request->labels, request->fields);
		return NULL;
	}
	stream = calloc(1, sizeof(*stream));
	stream->kind = (enum kind_index)request->kind;
	stream->selector = selector;
	stream->bookmarks = request->bookmarks;
	stream->end_ms = now_ms() + timeout_s * 1000;
	stream->bookmark_ms = now_ms() + world.options.bookmark_ms;
	stream->fd = -1;
	stream_begin(stream, request);
	return stream;
}

void
stream_close(struct stream *stream)
{
	selector_free(stream->selector);
	free(stream->text);
	free(stream);
}

/* A fault ends the stream: cleanly, or within a line. */
static void
stream_faults(struct stream *stream, FILE *out)
{
	if (faults_take(&world.faults.gone)) {
		gone_write(out, 0);
		stream->is_ended = true;
	} else if (world.faults.down != 0 || faults_take(&world.faults.cut_streams)) {
		stream->is_cut = true;
	}
}

/* True: it wrote one. */
static bool
stream_event(struct stream *stream, FILE *out)
{
	while (stream->at < world.end_event) {
		const struct event *const event =
		    &world.events[stream->at++ % world.options.history];
		const char *const word =
		    event->kind == stream->kind ? event_word(stream, event) : NULL;

		if (word == NULL)
			continue;
		if (faults_take(&world.faults.cut_mid_line)) {
			fprintf(out, "{\"type\":\"%s\",\"object\":{\"kind\":", word);
			stream->is_cut = true;
			return false;
		}
		line_write(out, word, stream->kind, event->now);
		return true;
	}
	return false;
}

static void
stream_fill(struct stream *stream)
{
	const int64_t now = now_ms();
	FILE *out;

	free(stream->text);
	stream->sent = 0;
	out = open_memstream(&stream->text, &stream->length);
	stream_faults(stream, out);
	if (!stream->is_ended && !stream->is_cut && stream->at < world.first_event) {
		gone_write(out, 0);
		stream->is_ended = true;
	}
	while (!stream->is_ended && !stream->is_cut && ftello(out) < FILL_BYTES &&
	       stream_event(stream, out))
		;
	if (!stream->is_ended && !stream->is_cut && stream->bookmarks &&
	    now >= stream->bookmark_ms && stream->at == world.end_event) {
		bookmark_write(out, stream->kind, false);
		stream->bookmark_ms = now + world.options.bookmark_ms;
	}
	if (now >= stream->end_ms)
		stream->is_ended = true;
	fclose(out);
}

static void
stream_wait(const struct stream *stream)
{
	int64_t until = now_ms() + WAIT_MS;
	struct timespec at;

	if (stream->end_ms < until)
		until = stream->end_ms;
	if (stream->bookmarks && stream->bookmark_ms < until)
		until = stream->bookmark_ms;
	at.tv_sec = (time_t)(until / 1000);
	at.tv_nsec = (long)(until % 1000 + 1) * 1000000 % 1000000000;
	pthread_cond_timedwait(&world.written, &world.lock, &at);
}

int64_t
stream_read(struct stream *stream, char *out, size_t size)
{
	int64_t result = 0;

	pthread_mutex_lock(&world.lock);
	while (result == 0) {
		size_t left = stream->length - stream->sent;

		if (left > 0) {
			left = left < size ? left : size;
			memcpy(out, stream->text + stream->sent, left);
			stream->sent += left;
			result = (int64_t)left;
		} else if (stream->is_cut || socket_is_gone(stream->fd)) {
			result = -2;
		} else if (stream->is_ended) {
			result = -1;
		} else {
			stream_fill(stream);
			if (stream->length == 0 && !stream->is_ended && !stream->is_cut)
				stream_wait(stream);
		}
	}
	pthread_mutex_unlock(&world.lock);
	return result;
}
