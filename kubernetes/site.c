/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "http.h"
#include "site.h"

enum { PATH_BYTES = 512 };

struct lt_kube_site lt_kube_site;

bool
lt_kube_is_ours(const struct lt_kube_known_job *job)
{
	/* What was held for stays ours, too, where the label is gone; a quote
	 * that somebody wrote where no policy forbids it is none. */
	return !job->facts.is_foreign &&
	       (lt_kube_cluster_manages(&lt_kube_site.cluster,
		    lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE)) ||
		   (job->was_managed && lt_kube_job_text(&job->facts,
					    LT_KUBE_QUOTE)[0] != '\0'));
}

bool
lt_kube_is_left(const struct lt_kube_known_job *job)
{
	return job->facts.is_foreign &&
	       lt_kube_cluster_manages(&lt_kube_site.cluster,
		   lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE));
}

static void
add_open_pools(const struct lt_market *market, bool managed_only)
{
	struct lt_kube_site *const site = &lt_kube_site;
	const struct lt_kube_cluster *const c = &site->cluster;
	const size_t size = sizeof(site->open_pools);
	size_t used = 0;

	site->open_pools[0] = '\0';
	for (uint32_t i = 0; i < market->partition_count; i++) {
		const struct lt_partition *const p = &market->partitions[i];
		bool is_open =
		    !managed_only || (p->flags & LT_PARTITION_MANAGED) != 0;

		if (is_open)
			is_open = lt_kube_cluster_is_open(c, p->name);
		if (is_open && used + strlen(p->name) + 2 <= size)
			used += (size_t)snprintf(site->open_pools + used,
			    size - used, "%s%s", used > 0 ? "," : "", p->name);
	}
}

/* A pool that the policy does not name has no price: what may run there too is
 * held for by the others, and shown as unpriced if it did. */
void
lt_kube_find_open_pools(const struct lt_market *market)
{
	add_open_pools(market, true);
	if (lt_kube_site.open_pools[0] == '\0')
		add_open_pools(market, false);
}

const char *
lt_kube_places(char *out, size_t size, const struct lt_kube_known_job *job)
{
	const char *const put = lt_kube_job_text(&job->facts, LT_KUBE_POOL);
	const char *const chosen =
	    lt_kube_job_text(&job->facts, LT_KUBE_CHOSEN);

	const bool ran = job->ran_in[0] != '\0' && !job->facts.is_waiting;
	const char *const pool = chosen[0] != '\0' ? chosen : put;

	/* Where its pods are, whatever was meant; else on any node of its pool,
	 * whatever the policy calls that. */
	if (!ran && pool[0] != '\0')
		lt_kube_cluster_parts(&lt_kube_site.cluster, pool, out, size);
	else
		snprintf(out, size, "%s",
		    ran ? job->ran_in : lt_kube_site.open_pools);
	return out;
}

bool
lt_kube_spend(void)
{
	struct lt_kube_site *const s = &lt_kube_site;
	const int64_t now_ms = lt_monotonic_ms();
	const double since_s = (double)(now_ms - s->allowed_ms) / 1000;

	s->allowed_ms = now_ms;
	s->allowance = fmin(LT_KUBE_REQUESTS_A_SECOND,
	    s->allowance + since_s * LT_KUBE_REQUESTS_A_SECOND);
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
	    lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE),
	    job->facts.is_pod ? "pods" : "jobs",
	    lt_kube_job_text(&job->facts, LT_KUBE_NAME));
}

/* What it is now is known at once: the watch brings it later. */
static void
take_answer(const struct lt_kube_known_job *job, json_t *object)
{
	const struct lt_kube_line line = {
	    job->facts.is_pod ? LT_KUBE_PODS : LT_KUBE_JOBS, LT_KUBE_SEEN,
	    object, ""};

	lt_kube_site.cluster.now_utc_s = (int64_t)time(NULL);
	lt_kube_cluster_take(&lt_kube_site.cluster, &line);
}

int
lt_kube_patch(const struct lt_kube_known_job *job, const char *type,
    json_t *body, struct lt_error *err)
{
	char path[PATH_BYTES];
	const struct lt_kube_request request = {"PATCH", path, type, body};
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
	if (code == LT_OK && answer != NULL)
		take_answer(job, answer);
	json_decref(answer);
	return code;
}

void
lt_kube_annotate(json_t *annotations, const char *name, const char *value)
{
	char key[LT_KUBE_KEY_SIZE];

	snprintf(key, sizeof(key), LT_KUBE_DOMAIN "%s", name);
	json_object_set_new(
	    annotations, key, value != NULL ? json_string(value) : json_null());
}

bool
lt_kube_runs_again(const struct lt_kube_known_job *job)
{
	return job->facts.suspended_utc_s > job->facts.created_utc_s &&
	       job->first_utc_s != 0 &&
	       job->facts.suspended_utc_s >= job->first_utc_s;
}
