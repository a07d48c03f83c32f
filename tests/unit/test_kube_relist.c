/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists, changes, answers to PATCHes, 410s and kills of the watcher in any order: no Job is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

static struct lt_kube_cluster cluster; /* without a store: as fast as memory */

static void
tell(enum lt_kube_event event, json_t *object)
{
	lt_kube_cluster_take(&cluster, &(struct lt_kube_line){LT_KUBE_JOBS, event, object, ""});
	json_decref(object);
}

enum { PLAYED_JOBS = 40, PLAYED_CHANGES = 600, PLAYED_STEPS = 1200 };

struct played { /* an API server's history of Jobs, and one who follows it */
	struct {
		int job;
		bool is_gone;
	} changes[PLAYED_CHANGES]; /* [i] made version i + 1 */
	bool is_gone[PLAYED_JOBS];
	int version;	  /* the last one */
	int list_version; /* what is being listed is of then */
	int next_job;	  /* of the list; PLAYED_JOBS: its end */
	bool lists;
	int at; /* the version that the watch has told */
	unsigned random;
};

static unsigned
any(struct played *p, unsigned below)
{
	p->random = p->random * 1103515245u + 12345u;
	return (p->random >> 16) % below;
}

/* The Job's version at that time; 0: it was not there. */
static int
version_at(const struct played *p, int job, int version)
{
	for (; version > 0; version--)
		if (p->changes[version - 1].job == job)
			return p->changes[version - 1].is_gone ? 0 : version;
	return 0;
}

static const struct lt_kube_known_job *
known(int job)
{
	char uid[16];

	snprintf(uid, sizeof(uid), "played-%d", job);
	for (uint32_t i = 0; i < cluster.job_count; i++)
		if (strcmp(cluster.jobs[i]->uid, uid) == 0)
			return cluster.jobs[i];
	return NULL;
}

static void
tell_played(int job, int version, enum lt_kube_event event)
{
	char uid[16], text[16];

	snprintf(uid, sizeof(uid), "played-%d", job);
	snprintf(text, sizeof(text), "%d", version);
	tell(event, json_pack("{s:{s:s,s:s,s:s,s:s},s:{s:b,s:{s:{}}}}", "metadata", "name", uid,
			"namespace", "a", "uid", uid, "resourceVersion", text, "spec", "suspend", 1,
			"template", "spec"));
}

/* The next line of the watcher; false: it has told all. */
static bool
tell_next(struct played *p)
{
	if (!p->lists && p->at == p->version)
		return false;
	if (!p->lists) {
		const int version = ++p->at;

		tell_played(p->changes[version - 1].job, version,
		    p->changes[version - 1].is_gone ? LT_KUBE_GONE : LT_KUBE_SEEN);
		return true;
	}
	for (; p->next_job < PLAYED_JOBS; p->next_job++) {
		const int version = version_at(p, p->next_job, p->list_version);

		if (version == 0)
			continue;
		tell_played(p->next_job++, version, LT_KUBE_SEEN);
		return true;
	}
	tell(LT_KUBE_END, NULL);
	p->lists = false;
	p->at = p->list_version;
	return true;
}

/* After a 410, or as a new watcher; behind: by a server that lags. */
static void
list_anew(struct played *p, int behind)
{
	tell(LT_KUBE_BEGIN, NULL);
	p->lists = true;
	p->next_job = 0;
	p->list_version = p->version > behind ? p->version - behind : 0;
}

/* One Job is created, changed, PATCHed by us, or deleted for ever. */
static void
change_one(struct played *p)
{
	const int job = (int)any(p, PLAYED_JOBS);
	const unsigned what = any(p, 8);

	if (p->version == PLAYED_CHANGES || p->is_gone[job])
		return;
	p->is_gone[job] = version_at(p, job, p->version) > 0 && what == 0;
	p->changes[p->version].job = job;
	p->changes[p->version++].is_gone = p->is_gone[job];
	/* The answer to a PATCH comes before the watch's word. */
	if (what > 3 && known(job) != NULL)
		tell_played(job, p->version, LT_KUBE_SEEN);
}

/* What the API server has now lives here, too, once it was heard of. */
static void
check_played(const struct played *p, bool all_was_told)
{
	for (int job = 0; job < PLAYED_JOBS; job++) {
		const int version = version_at(p, job, p->version);

		if (version == 0) {
			assert_true(
			    !all_was_told || known(job) == NULL || known(job)->forget_utc_s != 0);
			continue;
		}
		if (!all_was_told && known(job) == NULL)
			continue;
		assert_non_null(known(job));
		assert_int_equal(known(job)->forget_utc_s, 0);
		if (all_was_told)
			assert_int_equal(known(job)->facts.version, version);
	}
}

static void
test_no_job_is_lost_in_any_order(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 40; seed++) {
		struct played p = {.random = seed};
		const bool lags = seed % 2 == 0;

		lt_kube_cluster_reset(&cluster);
		list_anew(&p, 0);
		for (int step = 0; step < PLAYED_STEPS; step++) {
			switch (any(&p, 40)) {
			case 0:
				list_anew(&p, lags ? (int)any(&p, 9) : 0);
				break;
			case 1:
				cluster.now_utc_s += 70;
				lt_kube_cluster_forget(&cluster, cluster.now_utc_s);
				break;
			default:
				if (any(&p, 3) == 0)
					change_one(&p);
				else
					(void)tell_next(&p);
			}
			if (!lags)
				check_played(&p, false);
		}
		list_anew(&p, 0);
		while (tell_next(&p))
			;
		check_played(&p, true);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_job_is_lost_in_any_order)};
	const int status = cmocka_run_group_tests(tests, NULL, NULL);

	lt_kube_cluster_free(&cluster);
	return status;
}
