/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the file by which job_modify knows on what each live job was admitted.
 *
 * Reads the job list, the budget snapshot and the ledger's holds. The file is replaced as a whole;
 * on failure the one before stays, and the next pass writes again.
 */
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "fits.h"
#include "budget_state.h"
#include "jobs.h"
#include "ledger.h"
#include "lengths.h"
#include "paths.h"
#include "policy.h"
#include "requeue_gate.h"
#include "smoke.h"
#include "terms.h"
#include "units.h"
#include "write_terms.h"

/* Where there are more than have room, only their number is known. */
static void
name_partitions(struct lt_terms *terms, const char *names)
{
	while (*names) {
		const size_t length = strcspn(names, ",");
		char name[LT_NAME_SIZE] = "";

		if (length < sizeof(name))
			memcpy(name, names, length);
		if (terms->partition_count < LT_TERMS_PARTITIONS)
			terms->partition_hash[terms->partition_count] = lt_name_hash(name);
		terms->partition_count++;
		names += length + (names[length] == ',');
	}
}

/* Copies what the job's record asks; a job that has nodes keeps just those. */
static void
copy_asked(struct lt_terms *terms, const struct lt_batch_job *job)
{
	struct lt_terms_asked *const asked = &terms->asked;
	const struct lt_batch_asked *const by = lt_job_asked(job);
#define FIELD(name) asked->name = by->name;
	LT_TERMS_ASKED(FIELD)
#undef FIELD
	if (job->cpus > asked->cpus)
		asked->cpus = job->cpus;
	if (job->gpus > asked->gpus)
		asked->gpus = job->gpus;
	if (job->is_allocated && job->nodes > 0)
		asked->min_nodes = asked->max_nodes = job->nodes;
	asked->memory_mib_per_node = by->memory_mib_per_node;
	asked->memory_mib_per_cpu = by->memory_mib_per_cpu;
	asked->memory_mib_per_gpu = by->memory_mib_per_gpu;
}

static uint32_t
flag(bool set, enum lt_terms_flag which)
{
	return set ? (uint32_t)which : 0;
}

static bool
is_locked(
    struct lt_jobs_state *jobs, const struct lt_batch_job *job, const struct lt_ledger_hold *hold)
{
	return (hold->quote.flags & LT_QUOTE_LOCK) && lt_gate_waits(jobs, job, hold);
}

static uint32_t
flags_of(const struct lt_budget_snapshot *snapshot, struct lt_jobs_state *jobs,
    const struct lt_batch_job *job, const struct lt_ledger_hold *hold)
{
	const int account = lt_sheet_account(snapshot, job->account);
	const struct lt_amount *const amount = &hold->quote.hold_per_task;
	const uint32_t flags = hold->quote.flags;
	const struct lt_batch_asked *const asked = lt_job_asked(job);

	return flag(flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN), LT_TERMS_OUR_HOLD) |
	       flag(flags & LT_QUOTE_USER_HOLD, LT_TERMS_USER_HOLD) |
	       flag(flags & LT_QUOTE_PLANE, LT_TERMS_PLANE) |
	       flag(job->state == LT_JOB_PENDING, LT_TERMS_PENDING) |
	       flag(account >= 0 && lt_sheet_budgeted(snapshot, account), LT_TERMS_BUDGETED) |
	       flag(amount->has_money, LT_TERMS_HAS_MONEY) |
	       flag(amount->has_carbon, LT_TERMS_HAS_CARBON) |
	       flag(job->exclusive, LT_TERMS_EXCLUSIVE) |
	       flag(job->het_job_id && job->het_job_id == job->job_id, LT_TERMS_HET_LEADER) |
	       flag(job->het_job_id != 0, LT_TERMS_HET) |
	       flag(is_locked(jobs, job, hold), LT_TERMS_LOCKED) |
	       flag(asked->spread, LT_TERMS_SPREAD) | flag(asked->expands, LT_TERMS_EXPANDS) |
	       flag(asked->tasks_implied, LT_TERMS_TASKS_IMPLIED) |
	       flag(asked->bind_gpus, LT_TERMS_BIND_GPUS) |
	       flag(asked->overcommit, LT_TERMS_OVERCOMMIT) |
	       flag(asked->whole_memory, LT_TERMS_WHOLE_MEMORY);
}

static void
fill_terms(struct lt_terms *terms, const struct lt_batch_job *job,
    const struct lt_ledger_hold *hold, const struct lt_budget_snapshot *snapshot,
    struct lt_jobs_state *jobs)
{
	const struct lt_amount *const amount = &hold->quote.hold_per_task;
	int64_t start, end;

	lt_hold_window(&start, &end, hold, snapshot->compiled_utc_s);
	*terms = (struct lt_terms){
	    .start_utc_s = start,
	    .end_utc_s = end,
	    .seen_utc_s = job->seen_utc_s,
	    .job_id = job->job_id,
	    .uid = job->uid,
	    .quote_id = hold->quote.id,
	    .hold_money_micros = amount->money_micros,
	    .hold_carbon_mg = amount->carbon_mg,
	    .account_hash = lt_name_hash(job->account),
	    .qos_hash = lt_name_hash(job->qos),
	    .name_hash = lt_smoke_name_hash(job->name),
	    .limit_s = job->limit_s > UINT32_MAX ? UINT32_MAX : (uint32_t)job->limit_s,
	    /* A raise by a change of any task is held for each of them. */
	    .tasks = hold->live_tasks > 0 ? hold->live_tasks : 1,
	    .flags = flags_of(snapshot, jobs, job, hold),
	};
	name_partitions(terms, job->partition);
	copy_asked(terms, job);
}

static int
by_job(const void *a, const void *b)
{
	const uint32_t x = ((const struct lt_terms *)a)->job_id;
	const uint32_t y = ((const struct lt_terms *)b)->job_id;

	return (x > y) - (x < y);
}

/* Marks arrays: job_modify gets a task's array id ("12_3"), so that id must say that a task has
 * run, also when the record of that id has left slurmctld. Sorted, with room for as many records
 * more as there are. */
static uint32_t
mark_arrays(struct lt_terms *records, uint32_t count, const struct lt_batch_jobs *jobs)
{
	uint32_t total = count;

	for (uint32_t i = 0; i < jobs->count; i++) {
		const struct lt_terms id = {.job_id = jobs->jobs[i].job_id};
		const struct lt_terms array = {.job_id = jobs->jobs[i].array_job_id};

		if (array.job_id == 0)
			continue;
		const struct lt_terms *const task =
		    bsearch(&id, records, count, sizeof(*records), by_job);

		if (task == NULL ||
		    (task->flags & (LT_TERMS_LOCKED | LT_TERMS_PENDING)) == LT_TERMS_PENDING)
			continue;
		struct lt_terms *whole = bsearch(&array, records, count, sizeof(*records), by_job);
		for (uint32_t k = count; whole == NULL && k < total; k++)
			if (records[k].job_id == array.job_id)
				whole = &records[k];
		if (whole == NULL) {
			whole = &records[total++];
			*whole = *task;
			whole->job_id = array.job_id;
			whole->flags &= ~(uint32_t)LT_TERMS_LOCKED;
			whole->flags |= LT_TERMS_ARRAY_ONLY;
		}
		whole->flags |= LT_TERMS_ARRAY_RAN;
	}
	return total;
}

/* Marks leaders: a het job is released whole by its leader's id, so that id must say what is held
 * for any component. The first `count` are sorted. */
static void
mark_leaders(struct lt_terms *records, uint32_t count, const struct lt_batch_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->count; i++) {
		const struct lt_terms id = {.job_id = jobs->jobs[i].job_id};
		const struct lt_terms leads = {.job_id = jobs->jobs[i].het_job_id};

		if (leads.job_id == 0)
			continue;
		const struct lt_terms *const part =
		    bsearch(&id, records, count, sizeof(*records), by_job);
		struct lt_terms *const leader =
		    bsearch(&leads, records, count, sizeof(*records), by_job);

		if (part != NULL && leader != NULL)
			leader->flags |= part->flags & (LT_TERMS_OUR_HOLD | LT_TERMS_LOCKED);
	}
}

/* False: no money can be at stake for it. */
static bool
terms_of(struct lt_terms *terms, const struct lt_policy *policy, struct lt_ledger *ledger,
    struct lt_jobs_state *jobs, struct lt_budget_state *budget, const struct lt_batch_job *job)
{
	const struct lt_budget_snapshot *const snapshot = &budget->snapshot;
	struct lt_ledger_hold hold;

	lt_breath(LT_TURN_READ);
	if (job->state == LT_JOB_FINISHED)
		return false;
	if (!lt_hold_of_job(ledger, job, &hold)) {
		/* One without a price. */
		if (!lt_sheet_budgeted(snapshot, lt_sheet_account(snapshot, job->account)) &&
		    !lt_lengths_smoke_within_s(policy))
			return false;
		hold = (struct lt_ledger_hold){0};
	}
	fill_terms(terms, job, &hold, snapshot, jobs);
	return true;
}

static bool
is_part(const struct lt_batch_job *job)
{
	return job->array_job_id != 0 || job->het_job_id != 0;
}

struct parts {			  /* terms of arrays, their tasks and het jobs, sorted */
	struct lt_terms *records; /* malloc'd */
	uint32_t count, added;
};

/* Collects the parts of a job whose terms depend on each other. */
static int
collect_parts(struct parts *parts, const struct lt_policy *policy, struct lt_ledger *ledger,
    struct lt_jobs_state *jobs, struct lt_budget_state *budget, struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &jobs->list;
	size_t room = 0;

	for (uint32_t i = 0; i < list->count; i++)
		room += is_part(&list->jobs[i]) ? 2 : 0;
	*parts = (struct parts){.records = calloc(room + 1, sizeof(*parts->records))};
	if (parts->records == NULL)
		return lt_fail(err, LT_ENOMEM, "terms: out of memory");
	for (uint32_t i = 0; i < list->count; i++)
		if (is_part(&list->jobs[i]) && terms_of(&parts->records[parts->count], policy,
						   ledger, jobs, budget, &list->jobs[i]))
			parts->count++;
	const uint32_t sorted = parts->count;
	parts->count = mark_arrays(parts->records, sorted, list);
	mark_leaders(parts->records, sorted, list);
	if (parts->count > sorted)
		qsort(parts->records, parts->count, sizeof(*parts->records), by_job);
	return LT_OK;
}

static int
add_parts(
    struct parts *parts, struct lt_terms_writer *writer, uint64_t before_id, struct lt_error *err)
{
	int code = LT_OK;

	while (code == LT_OK && parts->added < parts->count &&
	       parts->records[parts->added].job_id < before_id)
		code = lt_terms_add(writer, &parts->records[parts->added++], err);
	return code;
}

/* Adds the terms in the list's order: so many are never there at once. */
static int
add_all(const struct lt_policy *policy, struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    struct lt_budget_state *budget, struct lt_terms_writer *writer, struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &jobs->list;
	struct parts parts;
	int code = collect_parts(&parts, policy, ledger, jobs, budget, err);

	for (uint32_t i = 0; code == LT_OK && i < list->count; i++) {
		const struct lt_batch_job *const job = &list->jobs[i];
		struct lt_terms terms;

		if (is_part(job) || !terms_of(&terms, policy, ledger, jobs, budget, job))
			continue;
		code = add_parts(&parts, writer, job->job_id, err);
		if (code == LT_OK)
			code = lt_terms_add(writer, &terms, err);
	}
	if (code == LT_OK)
		code = add_parts(&parts, writer, UINT64_MAX, err);
	free(parts.records);
	return code;
}

int
lt_write_terms(const struct lt_policy *policy, struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    struct lt_budget_state *budget, const struct lt_paths *paths, struct lt_error *err)
{
	struct lt_terms_writer *writer;
	int code = lt_terms_begin(&writer, paths->terms, budget->snapshot.generation, err);

	if (code != LT_OK)
		return code;
	/* One transaction: SQLite locks once, not for each job. */
	code = lt_ledger_begin(ledger, err);
	if (code == LT_OK) {
		code = add_all(policy, ledger, jobs, budget, writer, err);
		lt_ledger_rollback(ledger); /* nothing was written */
	}
	if (code == LT_OK)
		return lt_terms_end(writer, err);
	lt_terms_drop(writer);
	return code;
}
