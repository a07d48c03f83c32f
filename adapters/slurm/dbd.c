/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runs of slurmdbd, which are charged, and what they used by their steps.
 *
 * CPU time of steps is exact: each task's is taken when it ends. Of GPUs Slurm keeps, for each
 * task, the last sample (TRESUsageInTot and InAve) and the largest one (InMax), neither of which is
 * a mean; only the largest says something of all of the time: no sample was above it. So
 * gpu_used_ppm is an upper bound. Source: jag_common_poll_data() of jobacct_gather/common, 22.05 to
 * 26.05.
 *
 * Each call opens a connection of its own; on failure the list is freed and empty.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dbd_link.h"
#include "slurm_text.h"
#include "units.h"

/* ---- what a run used ---- */

enum { PERCENT = 100 };

/* So many of the run's GPUs, in ppm of all that it had. */
static int64_t
gpu_ppm_of(const slurmdb_step_rec_t *step, uint32_t gpus, uint64_t percent)
{
	const uint64_t tasks = step->ntasks > 0 ? step->ntasks : 1;

	if (percent > UINT32_MAX || percent * tasks >= (uint64_t)PERCENT * gpus)
		return LT_MICROS;
	return (int64_t)(percent * tasks * LT_MICROS / PERCENT / gpus);
}

/* Copies what the steps of a run say that it used. gpu_use_id: of gres/gpuutil in slurmdbd, 0 = it
 * has none. */
static void
copy_used(struct lt_batch_run *to, const slurmdb_job_rec_t *from, uint32_t gpu_use_id)
{
	const int64_t elapsed_s = to->end_utc_s - to->start_utc_s - to->suspended_s;
	int64_t busy = 0; /* ppm x s */

	if (from->steps == NULL || to->start_utc_s == 0 || elapsed_s <= 0)
		return;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(from->steps);
	for (slurmdb_step_rec_t *step; (step = slurm_list_next(iterator)) != NULL;) {
		const char *const used = step->stats.tres_usage_in_tot;
		const int64_t step_s = step->elapsed < elapsed_s ? step->elapsed : elapsed_s;
		uint64_t percent;

		/* Absent where no plugin gathers it. */
		to->has_cpu_used |= used != NULL && used[0] != '\0';
		to->cpu_used_ms +=
		    (int64_t)step->tot_cpu_sec * 1000 + (int64_t)step->tot_cpu_usec / 1000;
		if (gpu_use_id == 0 || to->gpus == 0 ||
		    !lt_tres_count_of(step->stats.tres_usage_in_max, gpu_use_id, &percent))
			continue;
		to->has_gpu_used = true;
		busy += step_s * gpu_ppm_of(step, to->gpus, percent);
	}
	slurm_list_iterator_destroy(iterator);
	to->gpu_used_ppm = busy / elapsed_s < LT_MICROS ? (uint32_t)(busy / elapsed_s) : LT_MICROS;
}

/* ---- runs ---- */

enum {
	GPU_IDS_MAX = 64, /* gres/gpu and its types; more: not counted */
	/* Windows of one day; a million rows in one window take 25 s and 2 GB in slurmdbd. */
	WINDOW_S = LT_DAY_S,
	WINDOWS_MAX = 40 * 366, /* more: refused */
};

/*
 * Names for the numbers in rows. Kept between calls: each question costs slurmdbd 0.1 s. Numbers
 * are never given twice, so they are out of date only once a row has one that is not here.
 */
static struct {
	lt_slurm_list *qos; /* NULL = not loaded */
	struct lt_tres_id gpu_ids[GPU_IDS_MAX];
	uint32_t gpu_id_count, max_tres_id;
	uint32_t gpu_use_id; /* gres/gpuutil; 0 = none */
	bool old;
} names;

static void
drop_runs(struct lt_batch_runs *runs, uint32_t kept)
{
	while (runs->count > kept)
		free(runs->runs[--runs->count].admin_comment);
}

void
lt_slurmdbd_forget(void)
{
	if (names.qos != NULL)
		slurm_list_destroy(names.qos);
	memset(&names, 0, sizeof(names));
}

static void
keep_tres(const slurmdb_tres_rec_t *tres)
{
	if (tres->id > names.max_tres_id)
		names.max_tres_id = tres->id;
	if (tres->type == NULL || strcmp(tres->type, "gres") != 0 || tres->name == NULL ||
	    names.gpu_id_count >= GPU_IDS_MAX)
		return;
	if (strcmp(tres->name, "gpuutil") == 0)
		names.gpu_use_id = tres->id;
	const bool is_shard = strcmp(tres->name, "shard") == 0 || strcmp(tres->name, "mps") == 0;
	if (!is_shard &&
	    (strncmp(tres->name, "gpu", 3) != 0 || (tres->name[3] != '\0' && tres->name[3] != ':')))
		return;
	names.gpu_ids[names.gpu_id_count++] = (struct lt_tres_id){
	    .id = tres->id, .is_typed = !is_shard && tres->name[3] == ':', .is_shard = is_shard};
}

static int
load_names(struct lt_dbd_link *link, struct lt_error *err)
{
	slurmdb_tres_cond_t tres_condition;
	slurmdb_qos_cond_t qos_condition = {0};

	lt_slurmdbd_forget();
	slurmdb_init_tres_cond(&tres_condition, false);
	lt_slurm_list *const list = slurmdb_tres_get(link->connection, &tres_condition);
	if (list == NULL)
		return lt_slurm_fail("slurmdbd: TRES", errno, err);
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(list);
	for (slurmdb_tres_rec_t *tres; (tres = slurm_list_next(iterator)) != NULL;)
		keep_tres(tres);
	slurm_list_iterator_destroy(iterator);
	slurm_list_destroy(list);
	names.qos = slurmdb_qos_get(link->connection, &qos_condition);
	return names.qos == NULL ? lt_slurm_fail("slurmdbd: QOS", errno, err) : LT_OK;
}

static void
copy_qos(char *out, size_t size, uint32_t id)
{
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(names.qos);
	bool found = id == 0;

	lt_copy(out, size, "");
	for (slurmdb_qos_rec_t *qos; !found && (qos = slurm_list_next(iterator)) != NULL;)
		if (qos->id == id) {
			lt_copy(out, size, qos->name);
			found = true;
		}
	slurm_list_iterator_destroy(iterator);
	if (!found)
		names.old = true;
}

static int64_t
row_time(time_t when)
{
	return when <= 0 || (uint64_t)when >= NO_VAL ? 0 : (int64_t)when;
}

static bool
has_names(const char *nodes)
{
	return nodes != NULL && nodes[0] != '\0' && strcmp(nodes, "None assigned") != 0;
}

static void
copy_first_node(char *out, size_t size, const char *list)
{
	const lt_slurm_hostlist nodes = list != NULL ? slurm_hostlist_create(list) : NULL;
	char *const first = nodes != NULL ? slurm_hostlist_shift(nodes) : NULL;

	lt_copy(out, size, first);
	free(first);
	if (nodes != NULL)
		slurm_hostlist_destroy(nodes);
}

/* "/usr/bin/srun --pty bash" */
static bool
is_interactive(const char *submit_line)
{
	static const char *const commands[] = {"srun", "salloc"};
	const char *word = submit_line != NULL ? submit_line : "";
	const size_t path = strcspn(word, " ");

	for (const char *at = word; at < submit_line + path; at++)
		if (*at == '/')
			word = at + 1;
	const size_t length = strcspn(word, " ");

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (length == strlen(commands[i]) && strncmp(word, commands[i], length) == 0)
			return true;
	return false;
}

static int
copy_run(struct lt_batch_run *to, const slurmdb_job_rec_t *from, struct lt_error *err)
{
	struct lt_tres tres;

	to->job_id = from->jobid;
	to->array_job_id = from->array_job_id;
	to->array_task = from->array_task_id == NO_VAL ? UINT32_MAX : from->array_task_id;
	to->uid = from->uid;
	to->restarts = (uint32_t)LT_SLURM_RESTARTS(from);
	lt_user_name(to->user, sizeof(to->user), from->user, from->uid);
	lt_copy_lower(to->account, sizeof(to->account), from->account);
	lt_copy(to->partition, sizeof(to->partition), from->partition);
	lt_copy(to->name, sizeof(to->name), from->jobname);
	lt_copy(to->wckey, sizeof(to->wckey), from->wckey);
	to->exit_code = from->exitcode;
	copy_qos(to->qos, sizeof(to->qos), from->qosid);
	to->is_interactive = is_interactive(from->submit_line);
	to->requeued = (from->state & JOB_REQUEUE) != 0;
	lt_copy(to->state_text, sizeof(to->state_text),
	    to->requeued ? "REQUEUED" : lt_state_name(from->state));
	to->submit_utc_s = row_time(from->submit);
	to->eligible_utc_s = row_time(from->eligible);
	to->start_utc_s = row_time(from->start);
	to->end_utc_s = row_time(from->end);
	/* One that ended before it, too, began by a clock that was set back. */
	to->resized = to->start_utc_s != 0 && to->start_utc_s < to->submit_utc_s &&
		      (to->end_utc_s == 0 || to->end_utc_s >= to->submit_utc_s);
	if (to->resized) /* the rows before have the time before */
		to->start_utc_s = to->submit_utc_s;
	to->goes_on = (from->state & JOB_RESIZING) != 0;
	to->suspended_s = from->suspended == NO_VAL ? 0 : from->suspended;
	to->finished = to->end_utc_s != 0;
	to->limit_s = lt_minutes(from->timelimit, INT64_MAX);
	lt_tres_parse_ids(&tres, from->tres_alloc_str, names.gpu_ids, names.gpu_id_count);
	if (tres.max_id > names.max_tres_id)
		names.old = true;
	/* A job that is cancelled while it waits, and then requeued, has a start and an end in its
	 * row, and never ran. Where slurmctld was killed and forgot that it had run, the row has
	 * its TRES, too, but no node. */
	if (!has_names(from->nodes))
		to->start_utc_s = 0;
	to->nodes = tres.has_nodes ? tres.nodes : from->alloc_nodes;
	to->cpus = tres.cpus;
	to->gpus = tres.gpus;
	to->shards = tres.shards;
	to->has_gpus = tres.has_gpus;
	to->memory_mib = tres.memory_mib;
	to->energy_joules = tres.energy_joules;
	if (to->start_utc_s != 0) /* else "None assigned" */
		copy_first_node(to->first_node, sizeof(to->first_node), from->nodes);
	copy_used(to, from, names.gpu_use_id);
	if (from->admin_comment != NULL && from->admin_comment[0] != '\0') {
		to->admin_comment = strdup(from->admin_comment);
		if (to->admin_comment == NULL)
			return lt_fail(err, LT_ENOMEM, "runs: no memory");
	}
	return LT_OK;
}

static int
append_runs(struct lt_batch_runs *runs, lt_slurm_list *list, struct lt_error *err)
{
	const int added = slurm_list_count(list);

	if (added <= 0)
		return LT_OK;
	struct lt_batch_run *const grown =
	    reallocarray(runs->runs, runs->count + (size_t)added, sizeof(*runs->runs));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "runs: no memory for %d more", added);
	runs->runs = grown;
	memset(&grown[runs->count], 0, (size_t)added * sizeof(*grown));
	int rc = LT_OK;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(list);
	for (slurmdb_job_rec_t *row; rc == LT_OK && (row = slurm_list_next(iterator)) != NULL;)
		rc = copy_run(&runs->runs[runs->count++], row, err);
	slurm_list_iterator_destroy(iterator);
	return rc;
}

static int
compare_runs(const void *left, const void *right)
{
	const struct lt_batch_run *const a = left, *const b = right;

	if (a->job_id != b->job_id)
		return a->job_id < b->job_id ? -1 : 1;
	if (a->submit_utc_s != b->submit_utc_s)
		return a->submit_utc_s < b->submit_utc_s ? -1 : 1;
	/* The row that knows more comes first: finished, then later. */
	if (a->end_utc_s != b->end_utc_s)
		return a->end_utc_s > b->end_utc_s ? -1 : 1;
	return 0;
}

static void
drop_duplicates(struct lt_batch_runs *runs)
{
	uint32_t kept = 0;

	if (runs->count > 1)
		qsort(runs->runs, runs->count, sizeof(*runs->runs), compare_runs);
	for (uint32_t i = 0; i < runs->count; i++) {
		struct lt_batch_run *const run = &runs->runs[i];

		if (kept > 0 && runs->runs[kept - 1].job_id == run->job_id &&
		    runs->runs[kept - 1].submit_utc_s == run->submit_utc_s)
			free(run->admin_comment);
		else
			runs->runs[kept++] = *run;
	}
	runs->count = kept;
}

static int
load_window(struct lt_batch_runs *runs, struct lt_dbd_link *link, slurmdb_job_cond_t *condition,
    struct lt_error *err)
{
	condition->cluster_list = link->clusters;
	condition->flags |= JOBCOND_FLAG_DUP | JOBCOND_FLAG_NO_TRUNC;
	condition->db_flags = SLURMDB_JOB_FLAG_NOTSET;
	lt_slurm_list *const list = slurmdb_jobs_get(link->connection, condition);
	if (list == NULL)
		return lt_slurm_fail("slurmdbd: jobs", errno, err);
	const uint32_t before = runs->count;
	int rc = append_runs(runs, list, err);
	if (rc == LT_OK && names.old) {
		/* Once: a QOS may have been removed for good. */
		drop_runs(runs, before);
		rc = load_names(link, err);
		if (rc == LT_OK)
			rc = append_runs(runs, list, err);
		names.old = false;
	}
	slurm_list_destroy(list);
	return rc;
}

static int
finish_runs(struct lt_batch_runs *runs, struct lt_dbd_link *link, int rc)
{
	lt_dbd_close(link);
	if (rc == LT_OK)
		drop_duplicates(runs);
	else
		lt_batch_runs_free(runs);
	return rc;
}

/*
 * States as slurmdbd wants them. It selects rows in these states by their end, and others by their
 * eligible time, which a job that was held while it ran has lost, and a row whose start was lost
 * never had. RUNNING means everything that started and overlaps, in any state: a suspension that is
 * reported late leaves an ended run SUSPENDED. Source: _state_time_string() and
 * setup_job_cond_limits() of accounting_storage/mysql, 22.05 to 26.05.
 */
static lt_slurm_list *
states_by_end(bool ended_only)
{
	static const uint32_t states[] = {JOB_COMPLETE, JOB_CANCELLED, JOB_FAILED, JOB_TIMEOUT,
	    JOB_NODE_FAIL, JOB_PREEMPTED, JOB_BOOT_FAIL, JOB_DEADLINE, JOB_OOM, JOB_REQUEUE,
	    JOB_RESIZING, JOB_REVOKED, JOB_RUNNING};
	enum { COUNT = sizeof(states) / sizeof(*states) };
	static char texts[COUNT][16];
	lt_slurm_list *const list = slurm_list_create(NULL);

	for (size_t i = 0; i < COUNT; i++) {
		if (ended_only && states[i] == JOB_RUNNING)
			continue;
		snprintf(texts[i], sizeof(texts[i]), "%u", states[i]);
		(void)slurm_list_append(list, texts[i]);
	}
	return list;
}

struct wanted {
	bool ended_only, steps;
};

static int
load_runs(struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct wanted wanted,
    struct lt_error *err)
{
	struct lt_dbd_link link;

	*runs = (struct lt_batch_runs){0};
	if (from_utc_s < 0 || to_utc_s <= from_utc_s ||
	    (to_utc_s - from_utc_s) / WINDOW_S >= WINDOWS_MAX)
		return lt_fail(err, LT_EBUG, "slurmdbd: window from %lld to %lld",
		    (long long)from_utc_s, (long long)to_utc_s);
	int rc = lt_dbd_open(&link, err);
	if (rc == LT_OK && names.qos == NULL)
		rc = load_names(&link, err);
	lt_slurm_list *const states = states_by_end(wanted.ended_only);
	for (int64_t at = from_utc_s; rc == LT_OK && at < to_utc_s; at += WINDOW_S) {
		const int64_t end = at + WINDOW_S < to_utc_s ? at + WINDOW_S : to_utc_s;
		slurmdb_job_cond_t condition = {.state_list = states,
		    .flags = wanted.steps ? 0 : JOBCOND_FLAG_NO_STEP,
		    .usage_start = (time_t)at,
		    .usage_end = (time_t)end};

		rc = load_window(runs, &link, &condition, err);
	}
	slurm_list_destroy(states);
	return finish_runs(runs, &link, rc);
}

int
lt_batch_runs(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	return load_runs(runs, from_utc_s, to_utc_s, (struct wanted){0}, err);
}

int
lt_batch_ended(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	return load_runs(runs, from_utc_s, to_utc_s, (struct wanted){.ended_only = true}, err);
}

int
lt_batch_used(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	return load_runs(
	    runs, from_utc_s, to_utc_s, (struct wanted){.ended_only = true, .steps = true}, err);
}

int
lt_batch_runs_of(
    struct lt_batch_runs *runs, const uint32_t *job_ids, uint32_t count, struct lt_error *err)
{
	struct lt_dbd_link link;
	slurm_selected_step_t *const steps = calloc(count, sizeof(*steps));
	slurmdb_job_cond_t condition = {
	    .flags = JOBCOND_FLAG_NO_DEFAULT_USAGE | JOBCOND_FLAG_NO_STEP};

	assert(count > 0 && count <= LT_BATCH_RUNS_OF_MAX);

	*runs = (struct lt_batch_runs){0};
	if (steps == NULL)
		return lt_fail(err, LT_ENOMEM, "slurmdbd: out of memory");
	int rc = lt_dbd_open(&link, err);
	if (rc == LT_OK && names.qos == NULL)
		rc = load_names(&link, err);
	if (rc == LT_OK) {
		condition.step_list = slurm_list_create(NULL);
		for (uint32_t i = 0; i < count; i++) {
			steps[i] = (slurm_selected_step_t){
			    .array_task_id = NO_VAL, .het_job_offset = NO_VAL};
			steps[i].step_id.job_id = job_ids[i];
			steps[i].step_id.step_id = NO_VAL;
			steps[i].step_id.step_het_comp = NO_VAL;
			(void)slurm_list_append(condition.step_list, &steps[i]);
		}
		rc = load_window(runs, &link, &condition, err);
		slurm_list_destroy(condition.step_list);
	}
	rc = finish_runs(runs, &link, rc);
	free(steps);
	return rc;
}
