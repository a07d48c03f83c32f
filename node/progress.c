/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects the progress of this node's jobs from datagrams of their readers, and sends it to
 * lowtided (POST /v1/progress, sealed by munge).
 */

#include "progress.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "notice.h"
#include "min_max.h"

union credentials {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(struct ucred))];
};

enum { DATAGRAMS_MOST = 1024 /* at a time: then the rest of the loop */ };

static int
fail_socket(int fd, const char *path, struct lt_error *err)
{
	const int code = lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));

	if (fd >= 0)
		close(fd);
	return code;
}

int
lt_node_progress_open(struct lt_node_progress *progress, const char *dir, struct lt_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *const path = address.sun_path;
	const int on = 1;

	progress->fd = -1;
	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s/node.sock", dir) >=
	    (int)sizeof(address.sun_path))
		return lt_fail(err, LT_ELIMIT, "%s: too long for a socket", dir);
	(void)mkdir(dir, 0755); /* there already, or bind() says why not */
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0 ||
	    (unlink(path) != 0 && errno != ENOENT) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || chmod(path, 0666) != 0)
		return fail_socket(fd, path, err);
	progress->fd = fd;
	return LT_OK;
}

static uint32_t
places_of(const struct lt_node_progress *progress, uid_t uid)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < progress->count; i++)
		count += progress->jobs[i].uid == uid;
	return count;
}

/* Returns the entry that a full table forgets: the job that was silent for longest, of the user
 * with the most places. Job ids are the users' words: with as many as they like, they push out
 * their own only. */
static struct lt_node_job *
least_of(struct lt_node_progress *progress)
{
	struct lt_node_job *least = &progress->jobs[0];
	uint32_t most = 0;

	for (uint32_t i = 0; i < progress->count; i++) {
		struct lt_node_job *const job = &progress->jobs[i];
		const uint32_t places = places_of(progress, job->uid);

		if (places > most || (places == most && job->heard_ms < least->heard_ms))
			least = job;
		most = places > most ? places : most;
	}
	return least;
}

static struct lt_node_job *
place_of(struct lt_node_progress *progress, const struct lt_progress_message *message, uid_t uid)
{
	for (uint32_t i = 0; i < progress->count; i++) {
		struct lt_node_job *const job = &progress->jobs[i];

		if (job->message.job_id == message->job_id && job->uid == uid)
			return job;
	}
	struct lt_node_job *const place = progress->count < LT_NODE_JOBS_MAX
					      ? &progress->jobs[progress->count++]
					      : least_of(progress);

	*place = (struct lt_node_job){0};
	return place;
}

void
lt_node_progress_add(struct lt_node_progress *progress, const struct lt_progress_message *message,
    uid_t uid, int64_t now_ms)
{
	struct lt_node_job *const job = place_of(progress, message, uid);
	const bool is_known = job->message.job_id != 0;

	if (is_known && message->restarts < job->message.restarts)
		return;
	if (!is_known || message->restarts > job->message.restarts) {
		job->message = *message;
		job->began_ms = now_ms - 1000 * (int64_t)message->newest_after_s;
		job->is_urgent = job->is_news = true;
	} else if (strcmp(message->newest, job->message.newest) != 0) {
		/* The first marker of a run stays. A step that began later counts its seconds from
		 * its own begin, we count from the first one. */
		job->message.newest_after_s = (uint32_t)((now_ms - job->began_ms) / 1000);
		memcpy(job->message.newest, message->newest, sizeof(job->message.newest));
		job->is_news = true;
		job->is_urgent |= strstr(message->newest, "saved") != NULL;
	}
	job->uid = uid;
	job->heard_ms = now_ms;
}

static void
take_one(
    struct lt_node_progress *progress, const struct msghdr *header, size_t length, int64_t now_ms)
{
	struct lt_progress_message message;
	struct ucred from;

	for (struct cmsghdr *control = CMSG_FIRSTHDR(header); control != NULL;
	     control = CMSG_NXTHDR((struct msghdr *)header, control)) {
		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&from, CMSG_DATA(control), sizeof(from));
		if (!(header->msg_flags & MSG_TRUNC) &&
		    lt_progress_unpack(&message, header->msg_iov->iov_base, length))
			lt_node_progress_add(progress, &message, from.uid, now_ms);
	}
}

void
lt_node_progress_take(struct lt_node_progress *progress, int64_t now_ms)
{
	for (int i = 0; i < DATAGRAMS_MOST; i++) {
		char bytes[LT_PROGRESS_BYTES_MAX];
		union credentials control;
		struct iovec part = {bytes, sizeof(bytes)};
		struct msghdr header = {.msg_iov = &part,
		    .msg_iovlen = 1,
		    .msg_control = &control,
		    .msg_controllen = sizeof(control)};
		const ssize_t length = recvmsg(progress->fd, &header, MSG_CMSG_CLOEXEC);

		if (length < 0)
			return;
		take_one(progress, &header, (size_t)length, now_ms);
	}
}

int64_t
lt_node_progress_due_ms(const struct lt_node_progress *progress)
{
	bool is_news = false, is_urgent = false;

	for (uint32_t i = 0; i < progress->count; i++) {
		is_news |= progress->jobs[i].is_news;
		is_urgent |= progress->jobs[i].is_urgent;
	}
	if (!is_news)
		return INT64_MAX;
	const int64_t due_ms = is_urgent ? progress->told_ms + LT_NODE_SOON_MS
					 : progress->told_ms + progress->every_ms;

	return lt_max_i64(due_ms, progress->not_before_ms);
}

static json_t *
body_of(const struct lt_node_progress *progress, const char *node)
{
	json_t *const jobs = json_array();

	for (uint32_t i = 0; i < progress->count; i++) {
		const struct lt_node_job *const job = &progress->jobs[i];
		const struct lt_progress_message *const m = &job->message;

		if (job->is_news)
			json_array_append_new(
			    jobs, json_pack("{s:I,s:I,s:I,s:s,s:I,s:s,s:I}", "job_id",
				      (json_int_t)m->job_id, "uid", (json_int_t)job->uid,
				      "restarts", (json_int_t)m->restarts, "first", m->first,
				      "first_after_s", (json_int_t)m->first_after_s, "newest",
				      m->newest, "newest_after_s", (json_int_t)m->newest_after_s));
	}
	return json_pack("{s:s,s:o}", "node", node, "jobs", jobs);
}

static bool
is_in(const json_t *list, uint32_t job_id)
{
	const json_t *id;
	size_t i;

	json_array_foreach(list, i, id)
		if (json_integer_value(id) == (json_int_t)job_id)
			return true;
	return false;
}

/* Clears the news that lowtided has taken; jobs that it can't place yet are sent again. */
static void
clear_news(struct lt_node_progress *progress, const json_t *later)
{
	for (uint32_t i = 0; i < progress->count; i++) {
		struct lt_node_job *const job = &progress->jobs[i];

		job->is_news &= is_in(later, job->message.job_id);
		job->is_urgent = job->is_news;
	}
}

static void
forget_silent(struct lt_node_progress *progress, int64_t now_ms)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < progress->count; i++)
		if (now_ms - progress->jobs[i].heard_ms < LT_NODE_SILENT_MS)
			progress->jobs[kept++] = progress->jobs[i];
	progress->count = kept;
}

int
lt_node_progress_tell(
    struct lt_node_progress *progress, const struct lt_node_told *told, struct lt_error *err)
{
	json_t *const body = body_of(progress, told->node);
	char *const text = json_dumps(body, JSON_COMPACT);
	struct lt_sealed_reply reply = {0};
	int code = text == NULL ? lt_fail(err, LT_EINPUT, "node: want UTF-8")
				: lt_tell_ask(&reply, told->server,
				      &(struct lt_tell_words){"/v1/progress", text}, err);

	if (code == LT_OK && reply.status != 200)
		code = lt_tell_refused(&reply, err);
	if (code == LT_OK) {
		json_t *const answer = json_loadb(reply.body, reply.length, 0, NULL);

		clear_news(progress, json_object_get(answer, "later"));
		json_decref(answer);
	}
	forget_silent(progress, told->now_ms);
	progress->told_ms = told->now_ms;
	progress->not_before_ms = code == LT_OK ? 0 : told->now_ms + LT_NODE_FAILED_MS;
	free(reply.body);
	free(text);
	json_decref(body);
	return code;
}
