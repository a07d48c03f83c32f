/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two lists behind one mutex: wanted and done. The queue is bounded by the
 * number of sources, as each has at most one fetch under way.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fetch.h"

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct lt_fetch *wanted, *done;
	bool started, stop;
	int fd;
} worker = { .lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER, .fd = -1 };

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
	struct lt_source_options options = { .name = fetch->source.name,
		.count = fetch->source.option_count };
	for (int i = 0; i < options.count; i++) {
		options.items[i].key = fetch->source.options[i].key;
		options.items[i].value = fetch->source.options[i].value;
		options.items[i].line = fetch->source.options[i].line;
		options.items[i].column = fetch->source.options[i].column;
	}
	fetch->code = fetch->adapter->fetch(&options, fetch->from_utc_s,
	    fetch->to_utc_s, fetch->now_utc_s, &fetch->points, &fetch->err);
	if (fetch->code == LT_OK)
		lt_points_sort(&fetch->points);
}

void
lt_fetch_free(struct lt_fetch *fetch)
{
	if (!fetch)
		return;
	lt_points_free(&fetch->points);
	free(fetch);
}

static void *
work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&worker.lock);
	while (!worker.stop) {
		struct lt_fetch *const fetch = worker.wanted;
		if (!fetch) {
			pthread_cond_wait(&worker.wake, &worker.lock);
			continue;
		}
		worker.wanted = fetch->next;
		pthread_mutex_unlock(&worker.lock);
		lt_fetch_run(fetch);
		pthread_mutex_lock(&worker.lock);
		append(&worker.done, fetch);
		eventfd_write(worker.fd, 1);
	}
	pthread_mutex_unlock(&worker.lock);
	return NULL;
}

int
lt_fetch_start(struct lt_error *err)
{
	sigset_t all, before;
	worker.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker.fd < 0)
		return lt_fail(err, LT_EIO, "eventfd: %s", strerror(errno));
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int failed = pthread_create(&worker.thread, NULL, work, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		return lt_fail(err, LT_EIO, "worker thread: %s",
		    strerror(failed));
	worker.started = true;
	return LT_OK;
}

void
lt_fetch_stop(void)
{
	if (worker.started) {
		pthread_mutex_lock(&worker.lock);
		worker.stop = true;
		pthread_cond_signal(&worker.wake);
		pthread_mutex_unlock(&worker.lock);
		pthread_join(worker.thread, NULL);
		worker.started = worker.stop = false;
	}
	for (struct lt_fetch *f; (f = lt_fetch_take());)
		lt_fetch_free(f);
	for (struct lt_fetch *f; (f = worker.wanted);) {
		worker.wanted = f->next;
		lt_fetch_free(f);
	}
	if (worker.fd >= 0)
		close(worker.fd);
	worker.fd = -1;
}

void
lt_fetch_post(struct lt_fetch *fetch)
{
	pthread_mutex_lock(&worker.lock);
	append(&worker.wanted, fetch);
	pthread_cond_signal(&worker.wake);
	pthread_mutex_unlock(&worker.lock);
}

struct lt_fetch *
lt_fetch_take(void)
{
	eventfd_t ignored;
	pthread_mutex_lock(&worker.lock);
	struct lt_fetch *const fetch = worker.done;
	if (fetch)
		worker.done = fetch->next;
	else if (worker.fd >= 0)
		eventfd_read(worker.fd, &ignored);
	pthread_mutex_unlock(&worker.lock);
	return fetch;
}

int
lt_fetch_fd(void)
{
	return worker.fd;
}
