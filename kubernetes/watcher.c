/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the child that follows the cluster, a thread for each kind of object, and takes the lines of
 * JSON that it writes. So nobody waits for the API server, and libcurl's and jansson's memory of
 * large lists is not the daemon's. A failure comes as a line; a child that has ended is started
 * again by the caller.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "kube_facts.h"
#include "http.h"
#include "kube.h"
#include "lookup.h"
#include "cluster.h"

/* Jobs are read once their namespaces are known, pods once their Jobs and nodes are: a kind waits
 * for the first whole list of the one before it. */
const char *const lt_kube_paths[LT_KUBE_KINDS] = {
    [LT_KUBE_NAMESPACES] = "/api/v1/namespaces",
    [LT_KUBE_NODES] = "/api/v1/nodes",
    [LT_KUBE_JOBS] = "/apis/batch/v1/jobs",
    [LT_KUBE_PODS] = "/api/v1/pods",
};

static const char event_letters[] = "bsgef";
enum { BALANCES_PATH_SIZE = 128 };

/* ---- in the child ---- */

struct following { /* a thread's */
	enum lt_kube_kind kind;
	const char *namespace; /* of the balances */
	int fd;
	pthread_mutex_t *writing;
	struct turn *turn;
	struct lt_kube *kube;
};

struct turn { /* whose first list is next */
	pthread_mutex_t lock;
	pthread_cond_t passed;
	int kind;
};

/* "<kind><event> <text>\n"; who reads them went away: there is no use in more. */
static void
write_line(const struct following *f, enum lt_kube_event event, const char *text)
{
	const char head[] = {(char)('0' + f->kind), event_letters[event], ' '};
	const size_t length = strlen(text);

	pthread_mutex_lock(f->writing);
	if (!lt_child_write(f->fd, head, sizeof(head)) || !lt_child_write(f->fd, text, length) ||
	    !lt_child_write(f->fd, "\n", 1))
		_exit(1);
	pthread_mutex_unlock(f->writing);
}

static bool
write_begin(void *context)
{
	write_line(context, LT_KUBE_BEGIN, "");
	return true;
}

static bool
write_item(void *context, const struct lt_kube_item *seen)
{
	json_t *const object = json_deep_copy(seen->object);

	if (object == NULL)
		_exit(1);
	lt_kube_strip(object);
	if (seen->change != LT_KUBE_DELETED)
		lt_kube_claims_fetch(((const struct following *)context)->kube, object);
	char *const text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (text == NULL)
		_exit(1);
	write_line(context, seen->change == LT_KUBE_DELETED ? LT_KUBE_GONE : LT_KUBE_SEEN, text);
	free(text);
	return true;
}

static bool
write_end(void *context, const char *resource_version)
{
	const struct following *const f = context;

	write_line(f, LT_KUBE_END, resource_version);
	pthread_mutex_lock(&f->turn->lock);
	if (f->turn->kind == (int)f->kind) {
		f->turn->kind++;
		pthread_cond_broadcast(&f->turn->passed);
	}
	pthread_mutex_unlock(&f->turn->lock);
	return true;
}

static void
write_failure(void *context, const struct lt_error *err)
{
	char text[LT_ERROR_TEXT_SIZE];

	snprintf(text, sizeof(text), "%s", err->text);
	for (char *c = text; *c != '\0'; c++)
		if (*c == '\n')
			*c = ' ';
	write_line(context, LT_KUBE_FAILED, text);
}

static void *
follow_kind(void *context)
{
	struct following *const f = context;
	const struct lt_kube_place place = lt_kube_place_of_environment();
	const bool is_balances = (int)f->kind == LT_KUBE_BALANCES;
	char balances[BALANCES_PATH_SIZE];
	const struct lt_kube_follow wanted = {
	    .path = is_balances ? balances : LT_WORD(lt_kube_paths, f->kind),
	    .query = is_balances ? "fieldSelector=metadata.name%3D" LT_KUBE_BALANCES_NAME : NULL,
	    .begin = write_begin,
	    .item = write_item,
	    .end = write_end,
	    .report = write_failure,
	    .context = f};
	struct lt_error err = {0};

	snprintf(balances, sizeof(balances), "/api/v1/namespaces/%.63s/configmaps", f->namespace);
	pthread_mutex_lock(&f->turn->lock);
	while (f->turn->kind < (int)f->kind)
		pthread_cond_wait(&f->turn->passed, &f->turn->lock);
	pthread_mutex_unlock(&f->turn->lock);
	if (lt_kube_open(&f->kube, &place, &err) == LT_OK)
		lt_kube_follow(f->kube, &wanted, &err);
	write_failure(f, &err);
	_exit(1);
}

static void
watch_kind(void *work, int fd)
{
	pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
	struct turn turn = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
	struct following all[LT_KUBE_WATCHED];
	pthread_t threads[LT_KUBE_WATCHED];

	if (lt_http_init(NULL) != LT_OK)
		return;
	for (int i = 0; i < LT_KUBE_WATCHED; i++) {
		all[i] = (struct following){(enum lt_kube_kind)i, work, fd, &writing, &turn, NULL};
		if (pthread_create(&threads[i], NULL, follow_kind, &all[i]) != 0)
			return;
	}
	pthread_join(threads[0], NULL);
}

/* ---- here ---- */

static struct lt_child child = {.fd = -1};

int
lt_kube_watcher_start(const char *namespace, struct lt_error *err)
{
	if (child.fd >= 0)
		return LT_OK;
	return lt_child_start(&child, watch_kind, (void *)namespace, 0, err);
}

void
lt_kube_watcher_stop(void)
{
	lt_child_drop(&child);
}

int
lt_kube_watcher_fd(void)
{
	return child.fd;
}

static void
take_line(char *text, lt_kube_take_line *take, void *context)
{
	const char *const letter = strchr(event_letters, text[1]);
	struct lt_kube_line line = {.kind = (enum lt_kube_kind)(text[0] - '0'),
	    .event = (enum lt_kube_event)(letter - event_letters),
	    .text = text + 3};

	if (line.event == LT_KUBE_SEEN || line.event == LT_KUBE_GONE) {
		/* The API server takes NUL in texts, too. */
		line.object = json_loads(line.text, JSON_ALLOW_NUL, NULL);
		if (line.object == NULL) {
			line.event = LT_KUBE_FAILED;
			line.text = "an object that the watcher wrote can't be read";
		}
	}
	take(context, &line);
	json_decref(line.object);
}

bool
lt_kube_watcher_take(lt_kube_take_line *take, void *context)
{
	int status = 0;
	const bool ended = child.fd < 0 || lt_child_read(&child, &status);
	size_t used = 0;

	for (char *end_of_line; child.length > used && (end_of_line = memchr(child.bytes + used,
							    '\n', child.length - used)) != NULL;) {
		*end_of_line = '\0';
		take_line(child.bytes + used, take, context);
		used = (size_t)(end_of_line + 1 - child.bytes);
	}
	if (used > 0) {
		child.length -= used;
		memmove(child.bytes, child.bytes + used, child.length);
	}
	if (ended)
		lt_child_drop(&child);
	return !ended;
}
