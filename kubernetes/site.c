/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one site that this process serves: which Jobs are lowtide's, where they may run, how they are
 * read and patched, and how long they are held.
 *
 * A Job, or a pod of its own, without activeDeadlineSeconds is held for the assume_time of its
 * class, or of the site, from its start, and for as long again each time that this is over and it
 * still runs. Nothing ends it.
 *
 * lt_kube_spend() bounds the requests of a second; a refused request is returned to the caller.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "http.h"
#include "kube_facts.h"
#include "market.h"
#include "quote.h"
#include "site.h"
#include "text.h"

enum { PATH_BYTES = 512 };

struct lt_kube_site lt_kube_site;

bool
lt_kube_is_ours(const struct lt_kube_known_job *job)
{
	/* A Job that was held for stays ours, too, if the label is gone; a
	 * quote that somebody wrote where no policy forbids it does not
	 * count. */
	return !job->facts.is_foreign &&
	       (lt_kube_cluster_manages(
		    &lt_kube_site.cluster, lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE)) ||
		   (job->was_managed && lt_kube_job_text(&job->facts, LT_KUBE_QUOTE)[0] != '\0'));
}

bool
lt_kube_is_left(const struct lt_kube_known_job *job)
{
	return job->facts.is_foreign && lt_kube_cluster_manages(&lt_kube_site.cluster,
					    lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE));
}

void
lt_kube_know_pools(const struct lt_market *market)
{
	struct lt_kube_site *const site = &lt_kube_site;

	site->pool_count = market->partition_count;
	for (uint32_t i = 0; i < market->partition_count; i++) {
		const struct lt_partition *const p = &market->partitions[i];

		memcpy(site->pools[i], p->name, sizeof(site->pools[i]));
		site->is_managed[i] = (p->flags & LT_PARTITION_MANAGED) != 0;
	}
}

void
lt_kube_where_is(struct lt_kube_where *all, const struct lt_kube_job *job, bool wants_room)
{
	const struct lt_kube_site *const site = &lt_kube_site;
	const char *names[LT_PARTITIONS_MAX];

	for (uint32_t i = 0; i < site->pool_count; i++)
		names[i] = site->pools[i];
	lt_kube_find_where(all, &site->cluster,
	    &(struct lt_kube_where_asked){job, names, site->pool_count, wants_room});
}

/*
 * True for a pool that it may go to by itself. One that the policy does not name has no price: a
 * Job that may run there too is held for by the others, and shown as unpriced if it did. A Job that
 * no node takes now waits for one of a pool that has, or brings, some.
 */
static bool
may_be(uint32_t pool, const struct lt_kube_where *w, int step)
{
	const struct lt_kube_site *const site = &lt_kube_site;
	const bool is_managed = site->is_managed[pool];

	switch (step) {
	case 0:
		return w->takes_alone && is_managed;
	case 1:
		return w->takes_alone;
	case 2:
		return w->takes && is_managed;
	case 3:
		return is_managed && !lt_kube_pool_is_gone(&site->cluster, site->pools[pool]);
	case 4:
		return is_managed;
	default:
		return true;
	}
}

/* Returns the pool where it was decided that it would have gone; else where kube-scheduler would
 * put it now: on the node that is emptiest with it. */
static int
find_home(const struct lt_kube_where *all, const bool *may_go, const char *said)
{
	const struct lt_kube_site *const site = &lt_kube_site;
	int home = -1;

	for (uint32_t i = 0; i < site->pool_count; i++) {
		if (!may_go[i])
			continue;
		if (strcmp(said, site->pools[i]) == 0)
			return (int)i;
		if (home < 0 || all[i].score > all[home].score)
			home = (int)i;
	}
	return home;
}

static void
find_places(char *out, size_t size, const struct lt_kube_job *job)
{
	enum { STEPS = 6 };
	const struct lt_kube_site *const site = &lt_kube_site;
	const char *const quoted = lt_kube_job_text(job, LT_KUBE_QUOTE);
	struct lt_quote quote = {.home = ""};
	struct lt_kube_where all[LT_PARTITIONS_MAX];
	bool may_go[LT_PARTITIONS_MAX] = {false};
	struct lt_text text = {.out = out, .size = size};
	bool any = false;

	(void)lt_quote_unpack(&quote, quoted, strlen(quoted), NULL);
	lt_kube_where_is(all, job, quote.home[0] == '\0');
	for (int step = 0; step < STEPS && !any; step++)
		for (uint32_t i = 0; i < site->pool_count; i++)
			any |= may_go[i] = may_be(i, &all[i], step);
	const int home = find_home(all, may_go, quote.home);
	out[0] = '\0';
	if (home >= 0)
		lt_text_put(&text, "%s", site->pools[home]);
	for (int i = 0; i < (int)site->pool_count; i++)
		if (may_go[i] && i != home && text.at + strlen(site->pools[i]) + 2 <= size)
			lt_text_put(&text, ",%s", site->pools[i]);
}

const char *
lt_kube_places(char *out, size_t size, const struct lt_kube_known_job *job)
{
	const char *const put = lt_kube_job_text(&job->facts, LT_KUBE_POOL);
	const char *const chosen = lt_kube_job_text(&job->facts, LT_KUBE_CHOSEN);

	const bool ran = job->ran_in[0] != '\0' && !job->facts.is_waiting;
	const char *const pool = chosen[0] != '\0' ? chosen : put;

	/* Lists where its pods are, if any; else any node of its pool, by all names that the policy
	 * has for that. */
	if (ran)
		snprintf(out, size, "%s", job->ran_in);
	else if (pool[0] != '\0')
		lt_kube_cluster_parts(&lt_kube_site.cluster, pool, out, size);
	else
		find_places(out, size, &job->facts);
	return out;
}

bool
lt_kube_spend(void)
{
	struct lt_kube_site *const s = &lt_kube_site;
	const int64_t now_ms = lt_monotonic_ms();
	const double since_s = (double)(now_ms - s->allowed_ms) / 1000;

	s->allowed_ms = now_ms;
	s->allowance =
	    fmin(LT_KUBE_REQUESTS_A_SECOND, s->allowance + since_s * LT_KUBE_REQUESTS_A_SECOND);
	if (s->allowance < 1)
		return false;
	s->allowance--;
	return true;
}

static void
path_of(char out[PATH_BYTES], const struct lt_kube_known_job *job)
{
	snprintf(out, PATH_BYTES, "%s/namespaces/%s/%s/%s",
	    job->facts.is_pod ? "/api/v1" : "/apis/batch/v1",
	    lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE), job->facts.is_pod ? "pods" : "jobs",
	    lt_kube_job_text(&job->facts, LT_KUBE_NAME));
}

void
lt_kube_take_answer(const struct lt_kube_known_job *job, json_t *object)
{
	const struct lt_kube_line line = {
	    job->facts.is_pod ? LT_KUBE_PODS : LT_KUBE_JOBS, LT_KUBE_SEEN, object, ""};

	lt_kube_site.cluster.now_utc_s = (int64_t)time(NULL);
	lt_kube_cluster_take(&lt_kube_site.cluster, &line);
}

int
lt_kube_patch(
    const struct lt_kube_known_job *job, const char *type, json_t *body, struct lt_error *err)
{
	char path[PATH_BYTES];
	const struct lt_kube_request request = {
	    .method = "PATCH", .path = path, .content_type = type, .body = body};
	json_t *answer = NULL;
	json_t *metadata = json_object_get(body, "metadata");

	if (metadata == NULL) {
		metadata = json_object();
		json_object_set_new(body, "metadata", metadata);
	}
	/* Another of the same name is another. */
	json_object_set_new(metadata, "uid", json_string(job->uid));
	path_of(path, job);
	const int code = lt_kube_do(lt_kube_site.kube, &request, &answer, err);
	json_decref(body);
	if (code == LT_OK && answer != NULL) {
		lt_kube_claims_fetch(lt_kube_site.kube, answer);
		lt_kube_take_answer(job, answer);
	}
	json_decref(answer);
	return code;
}

void
lt_kube_pin(json_t *body, const struct lt_kube_known_job *job)
{
	char version[24];

	snprintf(version, sizeof(version), "%llu", (unsigned long long)job->facts.version);
	json_object_set_new(
	    json_object_get(body, "metadata"), "resourceVersion", json_string(version));
}

int
lt_kube_get(const struct lt_kube_known_job *job, json_t **answer, struct lt_error *err)
{
	char path[PATH_BYTES];
	const struct lt_kube_request request = {.path = path};

	path_of(path, job);
	const int code = lt_kube_do(lt_kube_site.kube, &request, answer, err);
	if (code == LT_OK)
		lt_kube_claims_fetch(lt_kube_site.kube, *answer);
	return code;
}

void
lt_kube_look_again(const struct lt_kube_known_job *job)
{
	json_t *answer = NULL;

	if (lt_kube_get(job, &answer, NULL) == LT_OK)
		lt_kube_take_answer(job, answer);
	json_decref(answer);
}

void
lt_kube_annotate(json_t *annotations, const char *name, const char *value)
{
	char key[LT_KUBE_KEY_SIZE];

	snprintf(key, sizeof(key), LT_KUBE_DOMAIN "%s", name);
	json_object_set_new(annotations, key, value != NULL ? json_string(value) : json_null());
}

bool
lt_kube_runs_again(const struct lt_kube_known_job *job)
{
	return job->facts.suspended_utc_s > job->facts.created_utc_s && job->first_utc_s != 0 &&
	       job->facts.suspended_utc_s >= job->first_utc_s;
}

/* ---- how long a Job without a deadline is held ---- */

void
lt_kube_know_limits(const struct lt_market *market)
{
	struct lt_kube_site *const s = &lt_kube_site;
	const size_t size = market->class_count * sizeof(*s->classes);

	if (s->class_count == market->class_count && s->assume_time_s == market->assume_time_s &&
	    (size == 0 || memcmp(s->classes, market->classes, size) == 0))
		return;
	struct lt_class *const classes = malloc(size + 1);
	if (classes == NULL)
		return; /* the next market brings them, too */
	if (size > 0)
		memcpy(classes, market->classes, size);
	free(s->classes);
	s->classes = classes;
	s->class_count = market->class_count;
	s->assume_time_s = market->assume_time_s;
	s->cluster.all_changed = true;
}

int64_t
lt_kube_stretch_s(const struct lt_kube_known_job *job, const char *places)
{
	static struct lt_partition home;
	struct lt_kube_site *const s = &lt_kube_site;
	const struct lt_market market = {.classes = s->classes,
	    .class_count = s->class_count,
	    .partitions = &home,
	    .partition_count = 1};

	if (job->facts.limit_s > 0)
		return 0;
	snprintf(home.name, sizeof(home.name), "%.*s", (int)strcspn(places, ","), places);
	const struct lt_class *const class = lt_market_class(
	    &market, &(struct lt_class_of){.account = lt_kube_cluster_team(&s->cluster,
					       lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE)),
			 .qos = lt_kube_job_text(&job->facts, LT_KUBE_CLASS),
			 .name = lt_kube_job_text(&job->facts, LT_KUBE_NAME)});

	return class != NULL && class->assume_time_s > 0 ? class->assume_time_s : s->assume_time_s;
}

int64_t
lt_kube_limit_s(const struct lt_kube_known_job *job, const char *places, int64_t now_utc_s)
{
	const int64_t each_s = lt_kube_stretch_s(job, places);

	if (each_s == 0)
		return job->facts.limit_s;
	return job->facts.is_waiting || job->first_utc_s == 0 || now_utc_s < job->first_utc_s
		   ? each_s
		   : each_s * ((now_utc_s - job->first_utc_s) / each_s + 1);
}

void
lt_kube_renew(struct lt_kube_known_job *job, int64_t now_utc_s)
{
	char places[LT_BATCH_PARTITIONS_SIZE];

	if (job->facts.limit_s > 0 || job->forget_utc_s != 0 || job->facts.is_waiting ||
	    !lt_kube_is_ours(job))
		return;
	const int64_t limit_s =
	    lt_kube_limit_s(job, lt_kube_places(places, sizeof(places), job), now_utc_s);
	if (limit_s == job->held_s)
		return;
	job->held_s = limit_s;
	lt_kube_cluster_changed(&lt_kube_site.cluster, job->id);
}

int64_t
lt_kube_least_assumed_s(const char *team)
{
	const struct lt_kube_site *const s = &lt_kube_site;
	int64_t least_s = s->assume_time_s;

	for (uint32_t i = 0; i < s->class_count; i++) {
		const struct lt_class *const class = &s->classes[i];

		if (class->assume_time_s > 0 &&
		    (class->account[0] == '\0' || strcasecmp(class->account, team) == 0) &&
		    (least_s == 0 || class->assume_time_s < least_s))
			least_s = class->assume_time_s;
	}
	return least_s;
}
