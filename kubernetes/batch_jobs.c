/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs, and pods of their own, where Slurm's adapter has slurmctld's records; pods that ran, where
 * it has slurmdbd's rows; and the record of a Job or Pod that a user has written and nobody
 * created, of which nothing is kept.
 *
 * Reads the cluster as it was seen last, and kube.db. Lists are malloc'd; without memory a call
 * fails and gives none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kube_facts.h"
#include "json.h"
#include "object.h"
#include "site.h"
#include "text.h"
#include "units.h"

enum { PLACES_SIZE = LT_BATCH_PARTITIONS_SIZE };

static enum lt_job_state
state_of(const struct lt_kube_known_job *job)
{
	if (job->forget_utc_s != 0)
		return LT_JOB_FINISHED;
	return job->facts.is_waiting || job->first_utc_s == 0 ? LT_JOB_PENDING : LT_JOB_RUNNING;
}

/* True for a Job that is over by its own status: another watch tells of its pods and may be late,
 * so nobody knows yet that none of them ran. */
static bool
is_completing(const struct lt_kube_known_job *job)
{
	return job->forget_utc_s != 0 && (job->facts.was_started || job->first_utc_s != 0);
}

static const char *
word_of(const struct lt_kube_known_job *job)
{
	return is_completing(job)	? "COMPLETING"
	       : job->forget_utc_s != 0 ? "CANCELLED"
	       : job->facts.is_waiting	? "PENDING"
	       : job->first_utc_s != 0	? "RUNNING"
					: "PENDING";
}

/* More than fits is as much as can be. */
static uint32_t
multiply_capped(uint32_t pods, uint32_t each)
{
	const uint64_t all = (uint64_t)pods * each;

	return all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
}

/* Returns the need of one of its pods, its GPUs as on the node with the most of them, in the pools
 * where it may run. */
static struct lt_kube_need
need_in(const struct lt_kube_known_job *job, const char *places)
{
	const struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	struct lt_kube_need most = job->facts.need, here = most;
	bool any = false;

	for (uint32_t i = 0; most.gpu_kinds.kinds > 0 && i < c->node_count; i++) {
		const struct lt_kube_node *const node = &c->nodes[i].facts;

		if (!lt_kube_offers(node, &most.gpu_kinds) || !lt_text_is_among(node->pool, places))
			continue;
		lt_kube_need_on(&here, &node->gpu_kinds);
		if (!any || here.exact.gpu_micro > most.exact.gpu_micro)
			most = here;
		any = true;
	}
	return most;
}

/* Fills in what all its pods ask for. */
static void
fill_size(struct lt_batch_job *out, struct lt_batch_asked *asked, const struct lt_kube_need *need,
    uint32_t pods)
{
	const uint64_t micro = pods * need->exact.gpu_micro;
	const uint64_t gpus = micro / LT_KUBE_WHOLE_GPU + (micro % LT_KUBE_WHOLE_GPU != 0);

	out->is_allocated = true;
	out->nodes = pods;
	out->cpus = multiply_capped(pods, need->cpus);
	out->gpus = gpus < UINT32_MAX ? (uint32_t)gpus : UINT32_MAX;
	out->memory_mib = pods * need->memory_mib;
	out->exact =
	    (struct lt_exact){pods * need->exact.cpu_milli, pods * need->exact.memory_kib, micro};
	/* Pods share nodes: as many as there are, or fewer. */
	*asked = (struct lt_batch_asked){.min_nodes = 1,
	    .tasks = pods,
	    .cpus_per_task = need->cpus,
	    /* Parts of GPUs share one. */
	    .gpus_per_task = need->exact.gpu_micro % LT_KUBE_WHOLE_GPU == 0 ? need->gpus : 0,
	    .pod = need->exact,
	    .memory_mib_per_cpu = (need->memory_mib + need->cpus - 1) / need->cpus};
	out->asked = asked;
}

static uint64_t
hash_of(const struct lt_kube_known_job *job, const char *places, int64_t limit_s)
{
	const struct lt_kube_job *const f = &job->facts;
	const int64_t facts[] = {limit_s, f->pods, f->need.cpus, f->need.gpus,
	    (int64_t)f->need.memory_mib, (int64_t)f->need.exact.cpu_milli,
	    (int64_t)f->need.exact.memory_kib, (int64_t)f->need.exact.gpu_micro, f->begin_utc_s,
	    f->deadline_utc_s, f->is_waiting, job->stuck_utc_s != 0, f->is_unsized};

	return lt_crc32c(lt_crc32c(0, facts, sizeof(facts)), places, strlen(places));
}

struct record { /* what a job's record lends */
	struct lt_batch_asked asked;
	char places[PLACES_SIZE];
};

static void
fill_job(struct lt_batch_job *out, struct record *r, const struct lt_kube_known_job *job,
    int64_t now_utc_s)
{
	const struct lt_kube_job *const f = &job->facts;
	const char *const quote = lt_kube_job_text(f, LT_KUBE_QUOTE);
	const bool is_over = job->forget_utc_s != 0;

	lt_kube_places(r->places, sizeof(r->places), job);
	const int64_t limit_s = lt_kube_limit_s(job, r->places, now_utc_s);
	*out = (struct lt_batch_job){.job_id = job->id,
	    .array_task = UINT32_MAX,
	    .array_pending = 1,
	    .uid = lt_kube_site.uid,
	    .user = lt_kube_job_text(f, LT_KUBE_USER),
	    .account =
		lt_kube_cluster_team(&lt_kube_site.cluster, lt_kube_job_text(f, LT_KUBE_NAMESPACE)),
	    .qos = lt_kube_job_text(f, LT_KUBE_CLASS),
	    .partition = r->places,
	    .name = lt_kube_job_text(f, LT_KUBE_NAME),
	    .state_text = word_of(job),
	    .reason_text = lt_kube_job_text(f, LT_KUBE_HOLD),
	    .node_list = "",
	    .comment_head = "",
	    .admin_comment = quote[0] != '\0' ? quote : NULL,
	    .wishes = lt_kube_job_text(f, LT_KUBE_WISHES),
	    .state = state_of(job),
	    .reason = job->stuck_utc_s != 0 ? LT_REASON_NEVER : LT_REASON_PASSES,
	    .is_batch = true,
	    .is_kept = true,
	    .held = lt_kube_job_text(f, LT_KUBE_HOLD)[0] != '\0',
	    .partition_named = f->is_placed,
	    .may_stray = lt_kube_is_soft(job),
	    .requeued = lt_kube_runs_again(job),
	    .requeue_allowed = true,
	    .submit_utc_s = lt_kube_runs_again(job) ? f->suspended_utc_s : f->created_utc_s,
	    .eligible_utc_s = f->begin_utc_s,
	    .deadline_utc_s = f->deadline_utc_s,
	    .start_by_utc_s = job->start_by_utc_s,
	    .limit_s = limit_s > 0 ? limit_s : INT64_MAX,
	    .asked_hash = hash_of(job, r->places, limit_s),
	    .completing = is_completing(job),
	    .seen_utc_s = now_utc_s};
	out->is_unsized = f->is_unsized && out->state == LT_JOB_PENDING;
	if (job->start_by_utc_s != 0 && f->deadline_utc_s > job->start_by_utc_s)
		out->deadline_utc_s = job->start_by_utc_s;
	if (out->state == LT_JOB_RUNNING) {
		out->start_utc_s = job->first_utc_s;
		if (limit_s > 0)
			out->end_utc_s = job->first_utc_s + limit_s;
	}
	if (is_over)
		out->end_utc_s = now_utc_s;
	const struct lt_kube_need need = need_in(job, r->places);
	fill_size(out, &r->asked, &need, f->pods);
}

/* A Job that ran is in its pods' rows: after their end only those are shown that never did, and
 * those with a pod whose end is not known yet. */
static bool
is_listed(const struct lt_kube_known_job *job)
{
	struct lt_kube_store *const store = lt_kube_site.cluster.store;

	return lt_kube_is_ours(job) && job->facts.pods > 0 && !lt_kube_is_cron_unknown(job) &&
	       (!lt_kube_is_untried(job) || lt_kube_is_decided(job)) &&
	       (job->forget_utc_s == 0 || job->first_utc_s == 0 ||
		   (store != NULL && lt_kube_store_is_open(store, job->id)));
}

int
lt_batch_jobs_each(const struct lt_batch_jobs_reader *reader, struct lt_error *err)
{
	const struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	const int64_t now_utc_s = (int64_t)time(NULL);
	struct lt_batch_job record;
	struct record lent;
	uint32_t count = 0;

	(void)err;
	for (uint32_t i = 0; i < c->job_count; i++)
		count += is_listed(c->jobs[i]);
	reader->begin(reader->context, count, now_utc_s);
	for (uint32_t i = 0; i < c->job_count; i++) {
		if (!is_listed(c->jobs[i]))
			continue;
		fill_job(&record, &lent, c->jobs[i], now_utc_s);
		reader->take(reader->context, &record);
	}
	return LT_OK;
}

/* Copies what a list lends into a block of the record's own. */
static int
own_texts(struct lt_batch_job *job, const struct record *lent, struct lt_error *err)
{
	const char **const texts[] = {&job->user, &job->account, &job->qos, &job->partition,
	    &job->name, &job->state_text, &job->reason_text, &job->node_list, &job->comment_head,
	    &job->admin_comment, &job->wishes};
	enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };
	size_t size = sizeof(lent->asked);

	for (int i = 0; i < TEXTS; i++)
		size += *texts[i] != NULL ? strlen(*texts[i]) + 1 : 0;
	job->texts = malloc(size);
	if (job->texts == NULL)
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	memcpy(job->texts, &lent->asked, sizeof(lent->asked));
	job->asked = (const struct lt_batch_asked *)(void *)job->texts;
	char *at = job->texts + sizeof(lent->asked);
	for (int i = 0; i < TEXTS; i++) {
		if (*texts[i] == NULL)
			continue;
		strcpy(at, *texts[i]);
		*texts[i] = at;
		at += strlen(at) + 1;
	}
	return LT_OK;
}

int
lt_batch_jobs(struct lt_batch_jobs *jobs, uint32_t job_id, struct lt_error *err)
{
	const struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	const int64_t now_utc_s = (int64_t)time(NULL);
	struct record lent;
	int code = LT_OK;

	*jobs = (struct lt_batch_jobs){0};
	if (!lt_kube_cluster_is_complete(c))
		return lt_fail(err, LT_ENET, "the cluster's Jobs are being listed");
	*jobs = (struct lt_batch_jobs){.begun_utc_s = now_utc_s,
	    .jobs = calloc(job_id != 0 ? 1 : c->job_count + 1u, sizeof(*jobs->jobs))};
	if (jobs->jobs == NULL)
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	for (uint32_t i = 0; code == LT_OK && i < c->job_count; i++) {
		if (!is_listed(c->jobs[i]) || (job_id != 0 && c->jobs[i]->id != job_id))
			continue;
		struct lt_batch_job *const job = &jobs->jobs[jobs->count];
		fill_job(job, &lent, c->jobs[i], now_utc_s);
		code = own_texts(job, &lent, err);
		jobs->count += code == LT_OK;
	}
	if (code == LT_OK && job_id != 0 && jobs->count == 0)
		code = lt_fail(err, LT_ENOENT, "job %u: unknown", job_id);
	if (code != LT_OK)
		lt_batch_jobs_free(jobs);
	return code;
}

int
lt_kube_list_one(struct lt_batch_jobs *jobs, const struct lt_kube_known_job *job, int64_t now_utc_s,
    struct lt_error *err)
{
	struct record lent;

	*jobs = (struct lt_batch_jobs){
	    .begun_utc_s = now_utc_s, .jobs = calloc(1, sizeof(*jobs->jobs))};
	if (jobs->jobs == NULL)
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	fill_job(jobs->jobs, &lent, job, now_utc_s);
	const int code = own_texts(jobs->jobs, &lent, err);
	jobs->count = code == LT_OK;
	if (code != LT_OK)
		lt_batch_jobs_free(jobs);
	return code;
}

int
lt_batch_find(const char *name, uint32_t *job_id, struct lt_error *err)
{
	return lt_kube_store_find(lt_kube_site.state_dir, name, job_id, err);
}

int
lt_batch_unheld(struct lt_batch_unheld **all, uint32_t *count, struct lt_error *err)
{
	const int code = lt_kube_store_owners(all, count, lt_kube_site.state_dir, err);

	for (uint32_t i = 0; code == LT_OK && i < *count; i++)
		(*all)[i].uid = lt_kube_site.uid;
	return code;
}

/* ---- rows ---- */

static int
read_rows(struct lt_batch_runs *runs, struct lt_kube_rows_asked asked, struct lt_error *err)
{
	asked.now_utc_s = (int64_t)time(NULL);
	asked.uid = lt_kube_site.uid;
	return lt_kube_store_rows(runs, lt_kube_site.state_dir, &asked, err);
}

int
lt_batch_runs(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	return read_rows(
	    runs, (struct lt_kube_rows_asked){.from_utc_s = from_utc_s, .to_utc_s = to_utc_s}, err);
}

int
lt_batch_ended(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	return read_rows(runs,
	    (struct lt_kube_rows_asked){
		.from_utc_s = from_utc_s, .to_utc_s = to_utc_s, .ended_only = true},
	    err);
}

/* Nobody accounts what pods used of what they had. */
int
lt_batch_used(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	return lt_batch_ended(runs, from_utc_s, to_utc_s, err);
}

int
lt_batch_runs_of(
    struct lt_batch_runs *runs, const uint32_t *job_ids, uint32_t count, struct lt_error *err)
{
	return read_rows(
	    runs, (struct lt_kube_rows_asked){.job_ids = job_ids, .count = count}, err);
}

/* ---- manifests ---- */

static void
note_remarks(struct lt_batch_manifest *out, const struct lt_kube_known_job *job)
{
	const char *const namespace = lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE);

	const char *const untried = lt_kube_job_text(&job->facts, LT_KUBE_UNTRIED);

	out->note[0] = out->unknown[0] = '\0';
	lt_kube_say_unknown(out->unknown, sizeof(out->unknown), job, NULL);
	snprintf(out->name, sizeof(out->name), "%s/%s", namespace,
	    lt_kube_job_text(&job->facts, LT_KUBE_NAME));
	if (job->facts.is_foreign)
		snprintf(out->note, sizeof(out->note),
		    "lowtide takes no hold for it: %.160s starts it",
		    lt_kube_job_text(&job->facts, LT_KUBE_STARTER));
	else if (!lt_kube_is_ours(job))
		snprintf(out->note, sizeof(out->note),
		    "lowtide leaves it alone: namespace %.63s has no label " LT_KUBE_DOMAIN
		    "managed: \"true\"",
		    namespace);
	else if (untried[0] != '\0')
		snprintf(out->note, sizeof(out->note),
		    "what webhooks add to its pods is held for once the first of them runs: %.160s",
		    untried);
}

static int
read_manifest(
    struct lt_batch_manifest *out, const json_t *object, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_kube_known_job *const job = &lt_kube_site.question;
	struct lt_kube_job facts;
	int code = lt_kube_job_read(&facts, object, &lt_kube_site.cluster.names, err);

	if (code != LT_OK)
		return code == LT_ENOMEM ? code : LT_EINPUT;
	lt_kube_job_free(&job->facts);
	*job = (struct lt_kube_known_job){.uid = "manifest", .facts = facts};
	const char *const fault = lt_kube_job_text(&job->facts, LT_KUBE_FAULT);

	if (fault[0] != '\0')
		code = lt_fail(err, LT_EINPUT, "annotations: %s", fault);
	else if (job->facts.pods == 0)
		code =
		    lt_fail(err, LT_EINPUT, "parallelism and completions: got 0, want 1 or more");
	if (code == LT_OK)
		code = lt_kube_list_one(&out->jobs, job, now_utc_s, err);
	if (code == LT_OK)
		note_remarks(out, job);
	return code;
}

/* Would its pods be, if it were there? */
static bool
needs_dry_run(const json_t *object)
{
	return lt_kube_site.dry_runs && strcmp(lt_kube_string(object, "kind"), "Job") == 0 &&
	       lt_kube_cluster_manages(&lt_kube_site.cluster,
		   lt_kube_string(json_object_get(object, "metadata"), "namespace"));
}

int
lt_batch_job_of_manifest(
    struct lt_batch_manifest *out, const char *text, size_t length, struct lt_error *err)
{
	const int64_t now_utc_s = (int64_t)time(NULL);
	json_t *object = NULL;
	int code = lt_json_load(&object, text, length, err);

	if (code == LT_OK)
		code = lt_kube_manifest_complete(object, now_utc_s, err);
	if (code == LT_OK)
		lt_kube_claims_fetch(lt_kube_site.kube, object);
	if (code == LT_OK && needs_dry_run(object))
		lt_kube_dry_run(object, now_utc_s);
	if (code == LT_OK)
		code = read_manifest(out, object, now_utc_s, err);
	json_decref(object);
	return code;
}
