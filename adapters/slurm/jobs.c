/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs as slurmctld has them, and whether one that waits could start (Slurm's "will run");
 * job_changes.c changes them. One record may stand for many pending tasks of an array. "Will run"
 * looks at held jobs and those that wait for their begin, too, as of their begin; so did 22.05 to
 * 26.05.
 *
 * Keeps nothing between calls; a failed question is returned in Slurm's words.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ask_text.h"
#include "can_start.h"
#include "compat.h"
#include "decide.h"
#include "slurm_text.h"
#include "min_max.h"

/* ---- could it start? ---- */

/* Reads an errno of Slurm as an answer; any other is an error. */
static int
answer_of(enum lt_start *start, int slurm_errno, struct lt_error *err)
{
	switch (slurm_errno) {
	case 0:
		*start = LT_START_CAN;
		return LT_OK;
	case ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE:
	case ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE:
		*start = LT_START_CANNOT;
		return LT_OK;
	case ESLURM_INVALID_JOB_ID:
	case ESLURM_DISABLED: /* it runs, or has ended */
		return lt_fail(err, LT_ENOENT, "it waits no more");
	default:
		return lt_slurm_fail("slurmctld: can it start", slurm_errno, err);
	}
}

int
lt_batch_can_start(struct lt_start_answer *answer, uint32_t job_id, struct lt_error *err)
{
	will_run_response_msg_t *reply = NULL;
	job_desc_msg_t question;
	char name[] = LT_CAN_START_NAME, host[] = "localhost";

	*answer = (struct lt_start_answer){.start = LT_START_UNKNOWN};
	int code = lt_slurm_answers(err);
	if (code != LT_OK)
		return code;
	slurm_init_job_desc_msg(&question);
	LT_SLURM_JOB_ID(&question) = job_id;
	question.name = name;
	question.alloc_node = host;
	question.user_id = getuid();
	question.group_id = getgid();
	const int slurm_errno = slurm_job_will_run2(&question, &reply) == SLURM_SUCCESS ? 0 : errno;
	if (reply != NULL) {
		answer->start_utc_s = (int64_t)reply->start_time;
		slurm_free_will_run_response_msg(reply);
	}
	code = answer_of(&answer->start, slurm_errno, err);
	return code == LT_OK ? code : lt_context(err, "job %u", job_id);
}

/* ---- records of jobs ---- */

enum { MAIL_SIZE = 512, HEAD_MOST = 127, NODES_MOST = 1023, ALL = INT32_MAX };

/* Slurm's allocator; exported by libslurm, declared in no installed header. */
extern void slurm_xfree(void **item);

static enum lt_job_state
state_of(uint32_t state)
{
	switch (state & JOB_STATE_BASE) {
	case JOB_PENDING:
		return LT_JOB_PENDING;
	case JOB_RUNNING:
		return LT_JOB_RUNNING;
	case JOB_SUSPENDED:
		return LT_JOB_SUSPENDED;
	default:
		return LT_JOB_FINISHED;
	}
}

/* Slurm's 0 and its "not set" are both no time. */
static int64_t
time_or_none(time_t when)
{
	return when <= 0 || (uint64_t)when >= NO_VAL ? 0 : (int64_t)when;
}

static uint64_t
gpus_in(const char *text)
{
	return lt_gres_count(text, "gpu", NULL);
}

/* Reads what was asked for, where the TRES of a waiting job lack GPUs. */
static uint32_t
asked_gpus(const slurm_job_info_t *from)
{
	const uint64_t nodes = from->num_nodes > 0 ? from->num_nodes : 1;
	const uint64_t tasks = from->num_tasks > 0 ? from->num_tasks : 1;
	const uint64_t ways[] = {gpus_in(from->tres_per_job), gpus_in(from->tres_per_node) * nodes,
	    gpus_in(from->tres_per_socket) * nodes, gpus_in(from->tres_per_task) * tasks};
	uint64_t most = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (ways[i] > most)
			most = ways[i];
	return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

/*
 * Without allocated memory (CR_Core without _Memory), Slurm still says that a pending job asked for
 * all of the node's, and forgets it at the start.
 */
static void
copy_size(struct lt_batch_job *to, const slurm_job_info_t *from)
{
	struct lt_tres tres;
	const bool has_alloc = from->tres_alloc_str != NULL && from->tres_alloc_str[0] != '\0';

	lt_tres_parse(&tres, has_alloc ? from->tres_alloc_str : from->tres_req_str);
	to->is_allocated = has_alloc;
	to->nodes = tres.has_nodes ? tres.nodes : from->num_nodes;
	to->cpus = tres.has_cpus ? tres.cpus : from->num_cpus;
	to->gpus = tres.gpus;
	to->shards = tres.shards;
	/* Without gres/gpu in AccountingStorageTRES the TRES have no GPUs. */
	if (!tres.has_gpus && !has_alloc) {
		to->gpus = asked_gpus(from);
	} else if (!tres.has_gpus) {
		struct lt_shape given = {0};

		lt_gres_parse(from->gres_total, &given);
		to->gpus = given.gpus;
		to->shards = lt_shards_count(from->gres_total);
	}
	if (has_alloc || lt_slurm_memory_counts())
		to->memory_mib = tres.memory_mib;
}

/* FNV-1a, 64 bits. */
static void
mix_hash(uint64_t *hash, const void *bytes, size_t count)
{
	const unsigned char *const at = bytes;

	for (size_t i = 0; i < count; i++)
		*hash = (*hash ^ at[i]) * 0x100000001b3U;
}

/* Whatever of it changes, the job may come to another size. */
static uint64_t
hash_asked(const slurm_job_info_t *job)
{
	const char *const texts[] = {job->account, job->partition, job->features, job->prefer,
	    job->req_nodes, job->exc_nodes, job->cpus_per_tres, job->mem_per_tres,
	    job->tres_per_job, job->tres_per_node, job->tres_per_socket, job->tres_per_task,
	    job->tres_req_str};
	const uint64_t numbers[] = {job->time_limit, (uint64_t)job->eligible_time, job->num_nodes,
	    job->max_nodes, job->num_cpus, job->max_cpus, job->num_tasks, job->cpus_per_task,
	    job->ntasks_per_node, job->ntasks_per_socket, job->ntasks_per_core,
	    job->ntasks_per_board, job->ntasks_per_tres, job->pn_min_cpus, job->pn_min_memory,
	    job->sockets_per_node, job->cores_per_socket, job->threads_per_core,
	    job->boards_per_node, job->core_spec, job->contiguous, LT_SLURM_EXCLUSIVE(job),
	    job->job_state};
	uint64_t hash = 0xcbf29ce484222325U;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i] != NULL)
			mix_hash(&hash, texts[i], strlen(texts[i]));
		mix_hash(&hash, "", 1);
	}
	mix_hash(&hash, numbers, sizeof(numbers));
	return hash;
}

static uint32_t
known32(uint32_t value)
{
	return value == NO_VAL || value == INFINITE ? 0 : value;
}

static uint32_t
known16(uint16_t value)
{
	return value == NO_VAL16 || value == INFINITE16 ? 0 : value;
}

/* slurmctld shows the default memory as if it was asked. */
static void
copy_asked_memory(struct lt_batch_asked *to, const slurm_job_info_t *from)
{
	const uint64_t memory = from->pn_min_memory;

	to->memory_mib_per_gpu = lt_gres_count(from->mem_per_tres, "gpu", NULL);
	if (memory == NO_VAL64 || memory == INFINITE64 || !(from->bitflags & JOB_MEM_SET))
		return;
	if (memory & MEM_PER_CPU)
		to->memory_mib_per_cpu = memory & ~MEM_PER_CPU;
	else
		to->memory_mib_per_node = memory;
	to->whole_memory = to->memory_mib_per_cpu == 0 && to->memory_mib_per_node == 0;
}

static void
copy_asked(struct lt_batch_asked *to, const slurm_job_info_t *from)
{
	const uint32_t named = lt_hosts_count(from->req_nodes);
	const uint32_t counted = lt_features_count(from->features);
	const uint32_t wished = lt_features_count(from->prefer);
	const char *const per_node = from->tres_per_node;

	*to = (struct lt_batch_asked){
	    .min_nodes = known32(from->num_nodes),
	    .max_nodes = known32(from->max_nodes),
	    .tasks = known32(from->num_tasks),
	    .cpus_per_task = known16(from->cpus_per_task),
	    .cpus = known32(from->num_cpus),
	    .cpus_per_node = known16(from->pn_min_cpus),
	    .max_cpus = known32(from->max_cpus),
	    .tasks_per_node = known16(from->ntasks_per_node),
	    .tasks_per_socket = known16(from->ntasks_per_socket),
	    .tasks_per_core = known16(from->ntasks_per_core),
	    .tasks_per_board = known16(from->ntasks_per_board),
	    .tasks_per_gpu = known16(from->ntasks_per_tres),
	    .sockets_per_node = known16(from->sockets_per_node),
	    .threads_per_core = known16(from->threads_per_core),
	    .gpus = lt_gres_count(from->tres_per_job, "gpu", NULL),
	    .gpus_per_node = lt_gres_count(per_node, "gpu", NULL),
	    .gpus_per_socket = lt_gres_count(from->tres_per_socket, "gpu", NULL),
	    .gpus_per_task = lt_gres_count(from->tres_per_task, "gpu", NULL),
	    .cpus_per_gpu = lt_gres_count(from->cpus_per_tres, "gpu", NULL),
	    .spec_cores =
		from->core_spec == NO_VAL16 ? 0 : from->core_spec & (CORE_SPEC_THREAD - 1U),
	    .nodes_named = named,
	    .nodes_counted = counted > wished ? counted : wished,
	    .tasks_implied = !(from->bitflags & JOB_NTASKS_SET),
	    .spread = (from->bitflags & SPREAD_JOB) != 0,
	    .expands = lt_expanded_job(from->dependency) > 0,
	    .bind_gpus = (from->bitflags & GRES_ENFORCE_BIND) != 0,
	};
	to->shards_per_node = lt_shards_count(per_node);
	/* Slurm does not say; but each task counts as a CPU without it. */
	to->overcommit = to->tasks > to->cpus;
	if (named > to->min_nodes)
		to->min_nodes = named;
	copy_asked_memory(to, from);
}

static void
copy_array(struct lt_batch_job *to, const slurm_job_info_t *from)
{
	to->array_job_id = from->array_job_id;
	to->array_task = from->array_task_id == NO_VAL ? UINT32_MAX : from->array_task_id;
	to->array_pending = 1;
	/* The text is cut when it is long; the bitmap is whole. */
	if (from->array_task_id == NO_VAL && from->array_bitmap != NULL &&
	    to->state == LT_JOB_PENDING) {
		const int32_t tasks = slurm_bit_set_count(from->array_bitmap);

		to->array_pending = tasks > 1 ? (uint32_t)tasks : 1;
	}
}

/* Slurm has how long it ran before it was last suspended or resumed, and when that was: all else of
 * its time it was suspended. */
static int64_t
suspended_s_of(const struct lt_batch_job *job, const slurm_job_info_t *from, int64_t now_utc_s)
{
	const int64_t changed = time_or_none(from->suspend_time);
	const int64_t until = job->state == LT_JOB_FINISHED ? job->end_utc_s : now_utc_s;
	int64_t active = (int64_t)from->pre_sus_time;

	if (job->start_utc_s == 0 || changed < job->start_utc_s || changed > until)
		return 0;
	if (job->state != LT_JOB_SUSPENDED)
		active += until - changed;
	return active >= 0 && active < until - job->start_utc_s ? until - job->start_utc_s - active
								: 0;
}

/* Finds the recipient as Slurm does: without --mail-user its user, at MailDomain if that is set.
 * NULL: no mail about it is wanted. */
static const char *
mail_to(char out[MAIL_SIZE], const slurm_job_info_t *from)
{
	const char *const domain = slurm_conf.mail_domain;
	char user[LT_NAME_SIZE];

	if (!(from->mail_type & (MAIL_JOB_BEGIN | MAIL_JOB_REQUEUE | MAIL_JOB_END)))
		return NULL;
	lt_user_name(user, sizeof(user), from->user_name, from->user_id);
	if (from->mail_user != NULL && from->mail_user[0] != '\0')
		lt_copy(out, MAIL_SIZE, from->mail_user);
	else
		snprintf(out, MAIL_SIZE, "%s%s%s", user, domain != NULL ? "@" : "",
		    domain != NULL ? domain : "");
	return out;
}

/* And what was asked, before them. */
static int
copy_texts(struct lt_batch_job *to, const slurm_job_info_t *from, struct lt_error *err)
{
	struct lt_batch_asked asked;
	char user[LT_NAME_SIZE], account[LT_ACCOUNT_SIZE], reason[LT_REASON_SIZE], mail[MAIL_SIZE];
	const bool has_comment = from->admin_comment != NULL && from->admin_comment[0] != '\0';
	const char *const mails = mail_to(mail, from);
	const struct {
		const char **to, *from;
		int most;
	} texts[] = {{&to->user, user, ALL}, {&to->account, account, ALL},
	    {&to->qos, from->qos, LT_ACCOUNT_SIZE - 1},
	    {&to->partition, from->partition, LT_BATCH_PARTITIONS_SIZE - 1},
	    {&to->name, from->name, HEAD_MOST},
	    {&to->state_text, lt_state_name(from->job_state), ALL},
	    {&to->reason_text, lt_wait_reason(&to->reason, from->state_reason, reason), ALL},
	    {&to->node_list, from->nodes, NODES_MOST},
	    {&to->comment_head, from->comment, HEAD_MOST},
	    {&to->array_tasks, from->array_task_str, from->array_task_str != NULL ? HEAD_MOST : -1},
	    {&to->req_nodes, from->req_nodes,
		from->req_nodes != NULL && from->req_nodes[0] != '\0' ? NODES_MOST : -1},
	    {&to->mail_to, mails, mails != NULL ? ALL : -1},
	    {&to->admin_comment, from->admin_comment, has_comment ? ALL : -1}};
	const size_t count = sizeof(texts) / sizeof(texts[0]);
	size_t size = sizeof(asked) + 1;

	copy_asked(&asked, from);
	lt_user_name(user, sizeof(user), from->user_name, from->user_id);
	lt_copy_lower(account, sizeof(account), from->account);
	for (size_t i = 0; i < count; i++)
		if (texts[i].from != NULL && texts[i].most >= 0)
			size += strnlen(texts[i].from, (size_t)texts[i].most) + 1;
	char *at = to->texts = calloc(1, size);
	if (at == NULL)
		return lt_fail(err, LT_ENOMEM, "jobs: no memory");
	to->asked = memcpy(at, &asked, sizeof(asked));
	at += sizeof(asked);
	for (size_t i = 0; i < count; i++) {
		if (texts[i].most < 0)
			continue;
		*texts[i].to = to->texts + size - 1; /* "" */
		if (texts[i].from == NULL)
			continue;
		const size_t length = strnlen(texts[i].from, (size_t)texts[i].most);
		*texts[i].to = memcpy(at, texts[i].from, length);
		at += length + 1;
	}
	return LT_OK;
}

struct answer { /* of slurmctld */
	job_info_msg_t *message;
	int64_t asked_utc_s, begun_utc_s;
};

static int
copy_job(struct lt_batch_job *to, const struct answer *answer, uint32_t index, struct lt_error *err)
{
	const slurm_job_info_t *const from = &answer->message->job_array[index];

	to->seen_utc_s = answer->begun_utc_s;
	to->job_id = LT_SLURM_JOB_ID(from);
	to->het_job_id = from->het_job_id;
	to->uid = from->user_id;
	to->state = state_of(from->job_state);
	to->completing = (from->job_state & JOB_COMPLETING) != 0;
	to->restarts = from->restart_cnt;
	to->requeued = from->restart_cnt > 0;
	to->is_cron = (from->bitflags & CRON_JOB) != 0;
	to->is_batch = from->batch_flag != 0;
	to->held = to->state != LT_JOB_FINISHED && from->priority == 0;
	to->user_held = to->held && from->state_reason == WAIT_HELD_USER;
	to->exclusive = LT_SLURM_EXCLUSIVE(from);
	to->requeue_allowed = from->requeue == 1;
	to->mails_begin = (from->mail_type & MAIL_JOB_BEGIN) != 0;
	to->mails_requeue = (from->mail_type & MAIL_JOB_REQUEUE) != 0;
	to->mails_end = (from->mail_type & MAIL_JOB_END) != 0;
	to->mails_tasks = (from->mail_type & MAIL_ARRAY_TASKS) != 0;
	to->submit_utc_s = time_or_none(from->submit_time);
	/* For a pending job Slurm gives its guess; that is not a run. */
	if (to->state != LT_JOB_PENDING) {
		to->start_utc_s = time_or_none(from->start_time);
		to->end_utc_s = time_or_none(from->end_time);
	}
	to->suspended_s = suspended_s_of(to, from, answer->asked_utc_s);
	to->changed_utc_s = time_or_none(from->suspend_time);
	to->eligible_utc_s = time_or_none(from->eligible_time);
	to->deadline_utc_s = time_or_none(from->deadline);
	to->limit_s = lt_minutes(from->time_limit, INT64_MAX);
	to->priority = from->priority;
	to->asked_hash = hash_asked(from);
	copy_size(to, from);
	copy_array(to, from);
	return copy_texts(to, from, err);
}

static int
load_records(struct answer *answer, uint32_t job_id, struct lt_error *err)
{
	const int64_t asked_utc_s = time(NULL);
	int rc = lt_slurm_answers(err);

	*answer = (struct answer){.asked_utc_s = asked_utc_s};
	if (rc != LT_OK)
		return rc;
	if (job_id == 0)
		rc = slurm_load_jobs(0, &answer->message, SHOW_ALL | SHOW_LOCAL);
	else
		rc = LT_SLURM_LOAD_JOB(&answer->message, job_id, SHOW_ALL | SHOW_LOCAL);
	if (rc != SLURM_SUCCESS || answer->message == NULL)
		return lt_slurm_fail("slurmctld: jobs", errno, err);
	/* slurmctld's clock, but never after we asked: a job that came later may be missing. */
	const int64_t update_utc_s = (int64_t)answer->message->last_update;
	answer->begun_utc_s = lt_min_i64(update_utc_s, asked_utc_s);
	return LT_OK;
}

static void
free_message(job_info_msg_t *message)
{
	/* 22.05 forgets this one: 200 bytes a job and poll. */
	for (uint32_t i = 0; i < message->record_count; i++)
		slurm_xfree((void **)&message->job_array[i].admin_comment);
	slurm_free_job_info_msg(message);
}

int
lt_batch_jobs(struct lt_batch_jobs *jobs, uint32_t job_id, struct lt_error *err)
{
	struct answer answer;
	int rc = load_records(&answer, job_id, err);

	*jobs = (struct lt_batch_jobs){.begun_utc_s = answer.begun_utc_s};
	if (rc != LT_OK)
		return rc;
	const uint32_t count = answer.message->record_count;
	if (count > 0)
		jobs->jobs = calloc(count, sizeof(*jobs->jobs));
	if (count > 0 && jobs->jobs == NULL)
		rc = lt_fail(err, LT_ENOMEM, "jobs: no memory for %u", count);
	for (uint32_t i = 0; i < count && rc == LT_OK; i++)
		rc = copy_job(&jobs->jobs[jobs->count++], &answer, i, err);
	free_message(answer.message);
	if (rc != LT_OK)
		lt_batch_jobs_free(jobs);
	return rc;
}

static int
compare_places(const void *a, const void *b, void *message)
{
	const slurm_job_info_t *const jobs = ((const job_info_msg_t *)message)->job_array;
	const uint32_t x = LT_SLURM_JOB_ID(&jobs[*(const uint32_t *)a]);
	const uint32_t y = LT_SLURM_JOB_ID(&jobs[*(const uint32_t *)b]);

	return (x > y) - (x < y);
}

/* Places in the message by the ids of its jobs; malloc'd. */
static uint32_t *
places_by_id(job_info_msg_t *message)
{
	uint32_t *const places = calloc((size_t)message->record_count + 1, sizeof(*places));

	if (places == NULL)
		return NULL;
	for (uint32_t i = 0; i < message->record_count; i++)
		places[i] = i;
	qsort_r(places, message->record_count, sizeof(*places), compare_places, message);
	return places;
}

int
lt_batch_jobs_each(const struct lt_batch_jobs_reader *reader, struct lt_error *err)
{
	struct answer answer;
	int rc = load_records(&answer, 0, err);

	if (rc != LT_OK)
		return rc;
	const uint32_t count = answer.message->record_count;
	uint32_t *const places = places_by_id(answer.message);
	if (places == NULL)
		rc = lt_fail(err, LT_ENOMEM, "jobs: no memory for %u", count);
	else
		reader->begin(reader->context, count, answer.begun_utc_s);
	for (uint32_t i = 0; i < count && rc == LT_OK; i++) {
		struct lt_batch_job job = {0};

		rc = copy_job(&job, &answer, places[i], err);
		if (rc == LT_OK)
			reader->take(reader->context, &job);
		free(job.texts);
	}
	free(places);
	free_message(answer.message);
	return rc;
}
