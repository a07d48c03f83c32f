/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long a Job or a pod of its own is held that has no
 * activeDeadlineSeconds: for the assume_time of its class, or of the site, from
 * its start, and for as long again each time that this is over and it still
 * runs. Nothing ends it.
 */
#include <stdlib.h>
#include <string.h>

#include "market.h"
#include "site.h"

void
lt_kube_know_limits(const struct lt_market *market)
{
	struct lt_kube_site *const s = &lt_kube_site;
	const size_t size = market->class_count * sizeof(*s->classes);

	if (s->class_count == market->class_count &&
	    s->assume_time_s == market->assume_time_s &&
	    (size == 0 || memcmp(s->classes, market->classes, size) == 0))
		return;
	struct lt_class *const classes = malloc(size + 1);
	if (classes == NULL)
		return; /* the next market is told, too */
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
	snprintf(home.name, sizeof(home.name), "%.*s",
	    (int)strcspn(places, ","), places);
	const struct lt_class *const class = lt_market_class(
	    &market, &(struct lt_class_of){
			 .account = lt_kube_cluster_team(&s->cluster,
			     lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE)),
			 .qos = lt_kube_job_text(&job->facts, LT_KUBE_CLASS),
			 .name = lt_kube_job_text(&job->facts, LT_KUBE_NAME)});

	return class != NULL && class->assume_time_s > 0 ? class->assume_time_s
							 : s->assume_time_s;
}

int64_t
lt_kube_limit_s(
    const struct lt_kube_known_job *job, const char *places, int64_t now_utc_s)
{
	const int64_t each_s = lt_kube_stretch_s(job, places);

	if (each_s == 0)
		return job->facts.limit_s;
	return job->facts.is_waiting || job->first_utc_s == 0 ||
		       now_utc_s < job->first_utc_s
		   ? each_s
		   : each_s * ((now_utc_s - job->first_utc_s) / each_s + 1);
}

void
lt_kube_renew(struct lt_kube_known_job *job, int64_t now_utc_s)
{
	char places[LT_BATCH_PARTITIONS_SIZE];

	if (job->facts.limit_s > 0 || job->forget_utc_s != 0 ||
	    job->facts.is_waiting || !lt_kube_is_ours(job))
		return;
	const int64_t limit_s = lt_kube_limit_s(
	    job, lt_kube_places(places, sizeof(places), job), now_utc_s);
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
		    (class->account[0] == '\0' ||
			strcasecmp(class->account, team) == 0) &&
		    (least_s == 0 || class->assume_time_s < least_s))
			least_s = class->assume_time_s;
	}
	return least_s;
}
