/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes wrong on purpose. POST /faults with any of these sets them, GET /faults shows what is
 * left of them and how many requests came, by verb and resource; neither needs a token.
 *
 *   gone, cut_streams, cut_mid_line  n: of the watches that are open or opened,
 *                  n end with 410; without an end; within their next line
 *   status, retry_after, count  the next count requests get this status
 *   slow_ms        each request waits so long
 *   hang, drop     n requests get no answer; the connection's end instead
 *   lose_reply     n requests are done, and the connection ends unanswered
 *   down           1: as a server that has crashed, until 0: what is being done
 *                  is done, and nobody gets an answer; watches end
 *   method, match  count, hang, drop and lose_reply are for requests of this
 *                  method and with this text in their path only; "" for all
 *   page_expire    as many "continue" are too old
 *   compact        true: no event of the past is there any more
 *   expire_token   true: there is a new token, also in the folder's files
 *   speed          how fast the world's durations pass from now on
 *   reset          true: all of the above as at the start
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server.h"

static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
    {"gone", offsetof(struct faults, gone)},
    {"cut_streams", offsetof(struct faults, cut_streams)},
    {"cut_mid_line", offsetof(struct faults, cut_mid_line)},
    {"slow_ms", offsetof(struct faults, slow_ms)},
    {"hang", offsetof(struct faults, hang)},
    {"drop", offsetof(struct faults, drop)},
    {"lose_reply", offsetof(struct faults, lose_reply)},
    {"down", offsetof(struct faults, down)},
    {"status", offsetof(struct faults, status)},
    {"retry_after", offsetof(struct faults, retry_after)},
    {"count", offsetof(struct faults, count)},
    {"page_expire", offsetof(struct faults, page_expire)},
};

enum { NUMBER_COUNT = sizeof(numbers) / sizeof(numbers[0]) };

bool
faults_take(int64_t *left)
{
	if (*left <= 0)
		return false;
	--*left;
	return true;
}

void
faults_count(const char *verb, const char *resource)
{
	char path[600];

	snprintf(path, sizeof(path), "%s.%s", verb, resource);
	json_put_at(world.counts, path, json_integer(json_int_at(world.counts, path, 0) + 1));
}

static int64_t *
number_at(size_t i)
{
	return (int64_t *)(void *)((char *)&world.faults + numbers[i].offset);
}

static void
faults_set(const json_t *wanted)
{
	struct faults *const faults = &world.faults;

	if (json_true_at(wanted, "reset"))
		*faults = (struct faults){0};
	for (size_t i = 0; i < NUMBER_COUNT; i++)
		*number_at(i) = json_int_at(wanted, numbers[i].name, *number_at(i));
	/* A status alone is for one request. */
	if (json_at(wanted, "status") != NULL && json_at(wanted, "count") == NULL)
		faults->count = 1;
	if (json_at(wanted, "method") != NULL)
		snprintf(
		    faults->method, sizeof(faults->method), "%s", json_text_at(wanted, "method"));
	if (json_at(wanted, "match") != NULL)
		snprintf(faults->match, sizeof(faults->match), "%s", json_text_at(wanted, "match"));
	if (json_number_value(json_at(wanted, "speed")) > 0)
		world.options.speed = json_number_value(json_at(wanted, "speed"));
	if (json_true_at(wanted, "compact")) {
		store_compact();
		pages_drop();
	}
	if (json_true_at(wanted, "expire_token")) {
		files_token(world.token);
		files_access(world.options.port);
	}
	pthread_cond_broadcast(&world.written);
}

void
answer_faults(const struct request *request, struct reply *reply)
{
	json_t *const answer = json_object();
	char *text;

	if (strcmp(request->method, "POST") == 0) {
		json_t *const wanted = json_loadb(request->body, request->body_length, 0, NULL);

		if (wanted == NULL) {
			reply_fail(reply, request, 400, "not JSON");
			json_decref(answer);
			return;
		}
		faults_set(wanted);
		json_decref(wanted);
	}
	for (size_t i = 0; i < NUMBER_COUNT; i++)
		json_object_set_new(answer, numbers[i].name, json_integer(*number_at(i)));
	json_object_set(answer, "requests", world.counts);
	json_object_set_new(answer, "resourceVersion", json_integer(world.version));
	text = json_dumps(answer, JSON_COMPACT);
	reply_text(reply, 200, text);
	free(text);
	json_decref(answer);
}

static void
sleep_ms(int64_t ms)
{
	const struct timespec pause = {
	    .tv_sec = (time_t)(ms / 1000),
	    .tv_nsec = (long)(ms % 1000) * 1000000,
	};

	nanosleep(&pause, NULL);
}

/* Until the client has gone. */
static void
hang(int fd)
{
	while (!socket_is_gone(fd))
		sleep_ms(50);
}

static bool
is_meant(const struct request *request)
{
	const struct faults *const faults = &world.faults;

	return (faults->method[0] == '\0' || strcmp(faults->method, request->method) == 0) &&
	       (faults->match[0] == '\0' || strstr(request->path, faults->match) != NULL);
}

bool
faults_before(const struct request *request, struct reply *reply, int fd)
{
	struct faults *const faults = &world.faults;
	bool hangs = false, answered = false;
	int64_t slow_ms;

	if (strcmp(request->path, "/faults") == 0)
		return false;
	pthread_mutex_lock(&world.lock);
	slow_ms = faults->slow_ms;
	if (faults->down != 0) {
		reply->is_dropped = answered = true;
	} else if (!is_meant(request)) {
		/* another's */
	} else if (faults_take(&faults->hang)) {
		hangs = true;
	} else if (faults_take(&faults->drop)) {
		reply->is_dropped = answered = true;
	} else if (faults_take(&faults->count)) {
		reply->retry_after = faults->retry_after;
		reply_fail(reply, request, (unsigned)faults->status,
		    faults->status == 429 ? "Too many requests, please try again later."
					  : "a fault that was asked for");
		answered = true;
	}
	pthread_mutex_unlock(&world.lock);
	if (slow_ms > 0)
		sleep_ms(slow_ms);
	if (hangs) {
		hang(fd);
		reply->is_dropped = true;
	}
	return hangs || answered;
}

/* After a request was done: whether its answer gets lost. */
bool
faults_loses(const struct request *request)
{
	return strcmp(request->path, "/faults") != 0 &&
	       (world.faults.down != 0 ||
		   (is_meant(request) && faults_take(&world.faults.lose_reply)));
}
