/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a Job, or a pod of its own that waits behind lowtide's gate: whether it waits, its request,
 * and the annotations on it. Pure. An annotation that can't be read is a fault of the Job,
 * LT_KUBE_FAULT, and no failure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_facts.h"
#include "object.h"
#include "options.h"
#include "text.h"
#include "text_mend.h"
#include "units.h"

enum {
	LONGEST_S = 366 * LT_DAY_S,
	GRACE_S = 30, /* terminationGracePeriodSeconds, where none is said */
	WISHES_SIZE = 512,
	FAULT_SIZE = LT_ERROR_TEXT_SIZE,
	STARTER_SIZE = 160,
};

struct draft { /* a job's texts, before they are kept in one piece */
	const char *texts[LT_KUBE_TEXTS];
	char wishes[WISHES_SIZE], fault[FAULT_SIZE], starter[STARTER_SIZE], bound[LT_KUBE_KEY_SIZE];
	char unsized[LT_ERROR_TEXT_SIZE];
	const char *cron;
	char *tolerations, *selector, *preferred; /* malloc'd */
};

static int
keep_texts(struct lt_kube_job *job, const struct draft *draft, struct lt_error *err)
{
	size_t size = 0;

	for (int i = 0; i < LT_KUBE_TEXTS; i++) {
		job->at[i] = (uint32_t)size;
		size += strlen(draft->texts[i]) + 1;
	}
	job->text = malloc(size);
	if (job->text == NULL)
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	for (int i = 0; i < LT_KUBE_TEXTS; i++)
		strcpy(job->text + job->at[i], draft->texts[i]);
	return LT_OK;
}

/* ---- what its user wrote ---- */

static const char *
annotation_of(const json_t *metadata, const char *name)
{
	char key[LT_KUBE_KEY_SIZE];

	snprintf(key, sizeof(key), LT_KUBE_DOMAIN "%s", name);
	return lt_kube_string(json_object_get(metadata, "annotations"), key);
}

/* 0 = none, or no time. */
static int64_t
time_of(const json_t *metadata, const char *name)
{
	int64_t utc_s = 0;

	return lt_utc_parse(annotation_of(metadata, name), &utc_s, NULL) == LT_OK ? utc_s : 0;
}

/* Reads its wishes as sbatch's options, each in a line; one that can't be read is noted as a fault,
 * and the rest is kept. */
static void
read_wishes(struct draft *draft, const json_t *metadata)
{
	struct lt_text wishes = {.out = draft->wishes, .size = sizeof(draft->wishes)};
	struct lt_text fault = {.out = draft->fault, .size = sizeof(draft->fault)};

	draft->wishes[0] = draft->fault[0] = '\0';
	for (int i = 0; i < LT_OPTION_COUNT; i++) {
		const char *const name = lt_option_table[i].name;
		char key[LT_KUBE_KEY_SIZE];
		struct lt_options options;
		struct lt_error err = {0};

		snprintf(key, sizeof(key), LT_KUBE_DOMAIN "%s", name);
		const json_t *const value =
		    json_object_get(json_object_get(metadata, "annotations"), key);
		const char *text = json_string_value(value);
		if (text == NULL)
			continue;
		/* A flag is "true" there. */
		if (strcmp(text, "true") == 0 && lt_option_table[i].argument_optional)
			text = "";
		lt_options_init(&options);
		if (strchr(text, '\n') != NULL ||
		    lt_option_parse(&options, (enum lt_option_id)i, text, &err) != LT_OK)
			lt_text_put(&fault, "%s%s%s", fault.at > 0 ? "; " : "", LT_KUBE_DOMAIN,
			    strncmp(err.text, "--", 2) == 0 ? err.text + 2 : name);
		else
			lt_text_put(&wishes, "%s=%s\n", name, text);
	}
}

/* Reads a time, or a duration after it was created. */
static void
read_deadline(struct lt_kube_job *job, struct draft *draft, const json_t *metadata)
{
	const char *const text = annotation_of(metadata, "deadline");
	int64_t seconds;

	if (text[0] == '\0')
		return;
	if (lt_utc_parse(text, &job->deadline_utc_s, NULL) == LT_OK)
		return;
	if (lt_duration_parse(text + (text[0] == '+'), &seconds, NULL) == LT_OK && seconds > 0 &&
	    seconds <= LONGEST_S) {
		job->deadline_utc_s = job->created_utc_s + seconds;
		return;
	}
	job->deadline_utc_s = 0;
	const size_t used = strlen(draft->fault);
	snprintf(draft->fault + used, sizeof(draft->fault) - used,
	    "%slowtide.dev/deadline: got \"%.40s\", want a time such as 2026-11-21T02:00:00Z, or 12h",
	    used > 0 ? "; " : "", text);
}

/* ---- what it is ---- */

struct source { /* what it is read from */
	const json_t *object, *pod_spec;
	const struct lt_kube_names *names;
};

/* The tick is written in the CronJob's own zone: "2026-11-29T02:00:00+01:00". */
static void
read_cron(struct lt_kube_job *job, struct draft *draft, const json_t *object)
{
	static const char key[] = "batch.kubernetes.io/cronjob-scheduled-timestamp";
	const json_t *const owner = lt_kube_controller(object);
	const char *const tick =
	    lt_kube_string(lt_kube_part(object, "metadata", "annotations"), key);
	const size_t length = strlen(tick);
	const char *const zone = tick + (length > 6 ? length - 6 : length);
	int hours, minutes;

	draft->cron = owner != NULL && strcmp(lt_kube_string(owner, "kind"), "CronJob") == 0
			  ? lt_kube_string(owner, "name")
			  : "";
	if (lt_utc_parse(tick, &job->scheduled_utc_s, NULL) != LT_OK)
		job->scheduled_utc_s = job->created_utc_s;
	else if ((zone[0] == '+' || zone[0] == '-') &&
		 sscanf(zone + 1, "%2d:%2d", &hours, &minutes) == 2)
		job->zone_offset_s = (zone[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/* Writes JSON as text; malloc'd; NULL for no value. */
static char *
dump_json(const json_t *part)
{
	return part != NULL ? json_dumps(part, JSON_COMPACT) : NULL;
}

/* Reads what a pod of it asks for, and what of that is not known. */
static int
read_size(
    struct lt_kube_job *job, struct draft *draft, const struct source *from, struct lt_error *err)
{
	int code = lt_kube_asks_read(&job->asks, from->pod_spec, err);

	if (code == LT_OK)
		code = lt_kube_need_read(&job->need, from->pod_spec, err);
	if (code != LT_OK)
		return code;
	lt_kube_claims_add(&job->need, from->object, from->names->given, draft->unsized);
	job->is_unsized |= draft->unsized[0] != '\0';
	return LT_OK;
}

static int
read_common(
    struct lt_kube_job *job, struct draft *draft, const struct source *from, struct lt_error *err)
{
	const json_t *const metadata = json_object_get(from->object, "metadata");
	const json_t *const tolerations = json_object_get(from->pod_spec, "tolerations");
	const json_t *const selector = json_object_get(from->pod_spec, "nodeSelector");
	const char *const chosen = lt_kube_pool_in(selector, from->names, NULL);
	const json_t *const dry_run = lt_kube_dry_run_of(from->object);

	job->created_utc_s = lt_kube_time(metadata, "creationTimestamp");
	job->is_deleted = lt_kube_time(metadata, "deletionTimestamp") != 0;
	job->is_paused = strcmp(annotation_of(metadata, "pause"), "true") == 0;
	job->is_tried = dry_run != NULL;
	job->goes_on = strcmp(annotation_of(metadata, "pause"), "false") == 0;
	job->version = strtoull(lt_kube_string(metadata, "resourceVersion"), NULL, 10);
	job->begin_utc_s = time_of(metadata, "begin");
	job->started_utc_s = time_of(metadata, "started");
	read_wishes(draft, metadata);
	read_deadline(job, draft, metadata);
	lt_text_whole(draft->fault);
	draft->tolerations = dump_json(tolerations);
	draft->selector = dump_json(selector);
	draft->preferred = dump_json(json_object_get(
	    lt_kube_part(from->pod_spec, "affinity", "nodeAffinity"), LT_KUBE_PREFERS));
	(void)lt_kube_bound(draft->bound, sizeof(draft->bound), from->pod_spec, from->names);
	/* lowtide names a pool only where the user named none. */
	job->is_put = from->names->places_anew && chosen[0] != '\0' &&
		      annotation_of(metadata, "pool")[0] != '\0' && job->started_utc_s != 0;
	job->is_placed = (chosen[0] != '\0' && !job->is_put) || draft->bound[0] != '\0';
	read_cron(job, draft, from->object);
	const int code = read_size(job, draft, from, err);
	if (code != LT_OK)
		return code;
	const char *const texts[LT_KUBE_TEXTS] = {
	    [LT_KUBE_UID] = lt_kube_string(metadata, "uid"),
	    [LT_KUBE_NAMESPACE] = lt_kube_string(metadata, "namespace"),
	    [LT_KUBE_NAME] = lt_kube_string(metadata, "name"),
	    [LT_KUBE_USER] = annotation_of(metadata, "user"),
	    [LT_KUBE_CLASS] = annotation_of(metadata, "class"),
	    [LT_KUBE_QUOTE] = annotation_of(metadata, "quote"),
	    [LT_KUBE_POOL] = annotation_of(metadata, "pool"),
	    [LT_KUBE_HOLD] = annotation_of(metadata, "hold"),
	    [LT_KUBE_PLAN] = annotation_of(metadata, "plan"),
	    [LT_KUBE_WISHES] = draft->wishes,
	    [LT_KUBE_CHOSEN] = job->is_put ? "" : chosen,
	    [LT_KUBE_TOLERATIONS] = draft->tolerations != NULL ? draft->tolerations : "",
	    [LT_KUBE_SELECTOR] = draft->selector != NULL ? draft->selector : "",
	    [LT_KUBE_PREFERRED] = draft->preferred != NULL ? draft->preferred : "",
	    [LT_KUBE_GPU_NAME] = lt_kube_gpu_name(from->pod_spec),
	    [LT_KUBE_BOUND] = draft->bound,
	    [LT_KUBE_UNSIZED] = draft->unsized,
	    [LT_KUBE_UNTRIED] = lt_kube_string(dry_run, "why"),
	    [LT_KUBE_FAULT] = draft->fault,
	    [LT_KUBE_STARTER] = draft->starter,
	    [LT_KUBE_CRON] = draft->cron,
	};
	memcpy(draft->texts, texts, sizeof(draft->texts));
	if (texts[LT_KUBE_UID][0] == '\0' || texts[LT_KUBE_NAME][0] == '\0')
		return lt_fail(err, LT_EINPUT, "an object without uid or name");
	return LT_OK;
}

/*
 * Kueue and JobSet suspend and resume Jobs of their own. A Job of another controller is decided
 * like a user's where it waits; where nobody suspended it its controller may override, and it is
 * left alone. What lowtide held for stays its own, whatever is written on it since.
 */
static void
find_starter(struct draft *draft, const json_t *object)
{
	static const char jobset[] = "jobset.x-k8s.io/";
	const json_t *const metadata = json_object_get(object, "metadata");
	const json_t *const owner = lt_kube_controller(object);
	const char *const kind = lt_kube_string(owner, "kind");
	const bool is_jobset =
	    strcmp(kind, "JobSet") == 0 &&
	    strncmp(lt_kube_string(owner, "apiVersion"), jobset, strlen(jobset)) == 0;
	const bool is_waiting = lt_kube_is_true(json_object_get(object, "spec"), "suspend");

	draft->starter[0] = '\0';
	if (annotation_of(metadata, "quote")[0] != '\0')
		return;
	if (lt_kube_string(json_object_get(metadata, "labels"), "kueue.x-k8s.io/queue-name")[0] !=
	    '\0')
		snprintf(draft->starter, sizeof(draft->starter), "Kueue");
	else if (owner != NULL && strcmp(kind, "CronJob") != 0 && (is_jobset || !is_waiting))
		snprintf(draft->starter, sizeof(draft->starter), "%.60s %.80s", kind,
		    lt_kube_string(owner, "name"));
}

/*
 * Returns its deadline plus what its pods may take to end after it, and, where the Job controller
 * makes a pod anew while the one before ends, once more of that for each pod. Source: batch/v1,
 * podReplacementPolicy.
 */
static int64_t
limit_of(const json_t *spec, const json_t *pod_spec)
{
	const int64_t deadline_s = lt_kube_number(spec, "activeDeadlineSeconds", 0);
	int64_t grace_s = lt_kube_number(pod_spec, "terminationGracePeriodSeconds", GRACE_S);
	const bool waits = strcmp(lt_kube_string(spec, "podReplacementPolicy"), "Failed") == 0;

	if (deadline_s <= 0)
		return 0;
	/* A longer one is a year that nobody pays for. */
	if (deadline_s > LONGEST_S)
		return LONGEST_S;
	if (grace_s < 0)
		grace_s = 0;
	if (grace_s > LONGEST_S)
		grace_s = LONGEST_S;
	return deadline_s + (waits ? 1 : 2) * grace_s;
}

static void
read_job(struct lt_kube_job *job, const json_t *object, const json_t *pod_spec)
{
	const json_t *const spec = json_object_get(object, "spec");
	const json_t *const status = json_object_get(object, "status");
	const int64_t parallel = lt_kube_number(spec, "parallelism", 1);
	const int64_t wanted = lt_kube_number(spec, "completions", parallel);

	job->is_waiting = lt_kube_is_true(spec, "suspend");
	job->suspended_utc_s =
	    lt_kube_time(lt_kube_condition(object, "Suspended"), "lastTransitionTime");
	job->start_utc_s = lt_kube_time(status, "startTime");
	job->was_started = job->start_utc_s != 0;
	/* Source: validation of batch/v1, a Job that is suspended and whose controller has said
	 * so. */
	job->is_resting = !job->was_started ||
			  (job->suspended_utc_s != 0 && lt_kube_number(status, "active", 0) == 0);
	job->done = lt_kube_number(status, "succeeded", 0) + lt_kube_number(status, "failed", 0);
	const json_t *ended = lt_kube_condition(object, "Complete");
	job->is_complete = ended != NULL;
	if (ended == NULL)
		ended = lt_kube_condition(object, "Failed");
	job->is_finished = ended != NULL;
	job->ended_utc_s = lt_kube_time(ended, "lastTransitionTime");
	const int64_t pods = parallel < wanted ? parallel : wanted;
	job->pods = pods > 0 && pods <= UINT32_MAX ? (uint32_t)pods : 0;
	job->limit_s = limit_of(spec, pod_spec);
}

static void
read_pod(struct lt_kube_job *job, const json_t *object)
{
	const json_t *const spec = json_object_get(object, "spec");
	const char *const phase = lt_kube_string(json_object_get(object, "status"), "phase");
	const json_t *gate;
	size_t i;

	job->is_pod = job->is_resting = true;
	json_array_foreach(json_object_get(spec, "schedulingGates"), i, gate) {
		if (strcmp(lt_kube_string(gate, "name"), LT_KUBE_GATE) == 0)
			job->is_waiting = true;
	}
	job->was_started = lt_kube_time(json_object_get(object, "status"), "startTime") != 0;
	job->is_finished = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
	job->pods = 1;
	job->limit_s = limit_of(spec, spec);
}

int
lt_kube_job_read(struct lt_kube_job *job, const json_t *object, const struct lt_kube_names *names,
    struct lt_error *err)
{
	const json_t *const spec = json_object_get(object, "spec");
	/* In lists they don't say what kind they are. */
	const bool is_pod = json_object_get(spec, "template") == NULL;
	struct lt_kube_job read = {0};
	struct draft draft = {0};
	struct lt_kube_sized sized;

	if (is_pod && !lt_kube_is_own(object))
		return lt_fail(err, LT_ENOENT, "a pod of a controller");
	json_t *const pod_spec = is_pod
				     ? lt_kube_sized_spec(&sized, object)
				     : lt_kube_given_spec(object, names->given, &read.is_unsized);
	const struct source from = {object, pod_spec, names};
	int code = read_common(&read, &draft, &from, err);
	if (code == LT_OK) {
		if (is_pod) {
			read_pod(&read, object);
		} else {
			read_job(&read, object, pod_spec);
			find_starter(&draft, object);
		}
		read.is_foreign = draft.starter[0] != '\0';
		code = keep_texts(&read, &draft, err);
	}
	free(draft.tolerations);
	free(draft.selector);
	free(draft.preferred);
	json_decref(pod_spec);
	if (code == LT_OK)
		*job = read;
	return code;
}

void
lt_kube_job_free(struct lt_kube_job *job)
{
	free(job->text);
	job->text = NULL;
}
