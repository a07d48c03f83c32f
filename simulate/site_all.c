/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings beside each other: each is one thread's alone, and what they share
 * nobody changes.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "site_internal.h"

enum { THREADS_MAX = 16 };

struct all {
	struct lt_site_result *results;
	const struct lt_site_sim *sim;
	const struct lt_site_settings *settings;
	atomic_uint next;
	pthread_mutex_t lock;
	struct lt_error err; /* the first */
};

static void *
work(void *context)
{
	struct all *const all = context;
	uint32_t i;

	while ((i = atomic_fetch_add(&all->next, 1)) < all->settings->count) {
		struct lt_error err = {0};

		if (lt_site_simulate(&all->results[i], all->sim,
			&all->settings->list[i], &err) == LT_OK)
			continue;
		pthread_mutex_lock(&all->lock);
		if (all->err.code == LT_OK)
			all->err = err;
		pthread_mutex_unlock(&all->lock);
	}
	return NULL;
}

int
lt_site_simulate_all(struct lt_site_result *results,
    const struct lt_site_sim *sim, const struct lt_site_settings *settings,
    struct lt_error *err)
{
	struct all all = {.results = results,
	    .sim = sim,
	    .settings = settings,
	    .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t threads[THREADS_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < settings->count; i++)
		results[i] = (struct lt_site_result){0};
	/* This thread is one of them; where no other can be had, the only one.
	 */
	while (count + 1 < settings->threads && count < THREADS_MAX &&
	       pthread_create(&threads[count], NULL, work, &all) == 0)
		count++;
	work(&all);
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&all.lock);
	if (all.err.code != LT_OK)
		*err = all.err;
	return all.err.code;
}
