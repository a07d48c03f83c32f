/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks Slurm in a child process, and copies the answer. The pipe has a head, then records: a
 * length, a struct whose pointers are 1 more than where their text is behind it, and these texts.
 * Both ends are this program: only a cut end is in doubt.
 *
 * Also looks up single jobs by their ids. On failure the caller's list is as before.
 */
#include <assert.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "batch_child.h"
#include "breath.h"
#include "child.h"
#include "http.h"
#include "job_list.h"
#include "jobs.h"

enum {
	LONGEST_MS = 1000,
	NEW_A_PASS = 50, /* where very many come, a list is cheaper */
	NEW_GAP = 8,	 /* ids that no job got */
};

/* Reads the records of an id: none if slurmctld no longer has it. */
static int
load_record(struct lt_batch_jobs *jobs, uint32_t id, struct lt_error *err)
{
	struct lt_error why = {0};
	const int code = lt_batch_jobs(jobs, id, &why);

	if (code == LT_OK || code == LT_ENOENT)
		return LT_OK;
	return lt_fail(err, (enum lt_code)code, "%s", why.text);
}

/* Takes the jobs; on failure they are freed. */
static int
add_record(struct lt_batch_jobs *found, struct lt_batch_jobs *jobs, struct lt_error *err)
{
	struct lt_batch_job *const all =
	    reallocarray(found->jobs, (size_t)found->count + jobs->count + 1, sizeof(*all));

	if (all == NULL) {
		lt_batch_jobs_free(jobs);
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	}
	found->jobs = all;
	if (jobs->count > 0)
		memcpy(all + found->count, jobs->jobs, jobs->count * sizeof(*all));
	found->count += jobs->count;
	free(jobs->jobs);
	return LT_OK;
}

static bool
was_found(const struct lt_batch_jobs *found, uint32_t id)
{
	for (uint32_t i = 0; i < found->count; i++)
		if (found->jobs[i].job_id == id || lt_first_id(&found->jobs[i]) == id)
			return true;
	return false;
}

/* Looks up an id. For a task's own id slurmctld gives the task alone: then its array is asked
 * for. */
static int
look_up_id(struct lt_batch_jobs *found, uint32_t id, bool *is_there, struct lt_error *err)
{
	struct lt_batch_jobs jobs = {0};
	int code = load_record(&jobs, id, err);

	*is_there = code == LT_OK && jobs.count > 0;
	if (*is_there && lt_first_id(&jobs.jobs[0]) != id) {
		const uint32_t first = lt_first_id(&jobs.jobs[0]);

		lt_batch_jobs_free(&jobs);
		if (was_found(found, first))
			return LT_OK;
		code = load_record(&jobs, first, err);
	}
	return code == LT_OK ? add_record(found, &jobs, err) : code;
}

static uint32_t
highest_id(const struct lt_batch_jobs *jobs)
{
	uint32_t highest = 0;

	for (uint32_t i = 0; i < jobs->count; i++)
		if (jobs->jobs[i].job_id > highest)
			highest = jobs->jobs[i].job_id;
	return highest;
}

static int
ask_new(struct lt_job_lookup_found *found, const struct lt_job_lookup *named, int64_t until_ms,
    struct lt_error *err)
{
	uint32_t id = named->after, misses = 0;
	int code = LT_OK;

	for (int i = 0; code == LT_OK && found->seen < named->unseen && misses < NEW_GAP &&
			i < NEW_A_PASS && lt_monotonic_ms() < until_ms;
	     i++) {
		bool is_there;

		code = look_up_id(&found->jobs, ++id, &is_there, err);
		misses = is_there ? 0 : misses + 1;
		found->seen += is_there;
		const uint32_t highest = highest_id(&found->jobs);
		if (highest > id) /* tasks of an array that is new */
			id = highest;
	}
	return code;
}

/* Looks up all ids. While slurmctld is busy each waits for it: after a second those that are left
 * are not asked for. On failure nothing is found. */
static int
look_up_jobs(
    struct lt_job_lookup_found *found, const struct lt_job_lookup *named, struct lt_error *err)
{
	const int64_t until_ms = lt_monotonic_ms() + LONGEST_MS;
	bool is_there;

	*found = (struct lt_job_lookup_found){0};
	int code = ask_new(found, named, until_ms, err);
	for (uint32_t i = 0;
	     code == LT_OK && i < named->count && (i == 0 || lt_monotonic_ms() < until_ms); i++) {
		if (!was_found(&found->jobs, named->ids[i]))
			code = look_up_id(&found->jobs, named->ids[i], &is_there, err);
		found->asked = i + 1;
	}
	if (code != LT_OK)
		lt_batch_jobs_free(&found->jobs);
	return code;
}

struct head {
	int code;
	struct lt_error err;
	uint32_t count;
	int64_t begun_utc_s;  /* of jobs */
	uint32_t asked, seen; /* of named ones */
};

union record {
	struct lt_batch_job job;
	struct lt_batch_run run;
	char bytes[1];
};

/* ---- in the child, which closes nothing: a closed pipe says that its memory
 * is gone, too, and ends the wait for it ---- */

static void
write_record(FILE *out, const void *record, const struct lt_layout *layout)
{
	union record copy;
	uint64_t length = 0;

	memcpy(copy.bytes, record, layout->size);
	for (int i = 0; i < layout->part_count; i++) {
		const struct lt_part *const part = &layout->parts[i];
		const void *const at = lt_part_get(record, part);
		const uintptr_t place = at != NULL ? length + 1 : 0;

		memcpy(copy.bytes + part->at, &place, sizeof(place));
		length += lt_part_length(at, part);
	}
	fwrite(&length, sizeof(length), 1, out);
	fwrite(copy.bytes, layout->size, 1, out);
	for (int i = 0; i < layout->part_count; i++) {
		const void *const at = lt_part_get(record, &layout->parts[i]);

		if (at != NULL)
			fwrite(at, lt_part_length(at, &layout->parts[i]), 1, out);
	}
}

static void
write_all(int fd, const struct head *head, const void *records, const struct lt_layout *layout)
{
	FILE *const out = fdopen(fd, "w");

	if (out == NULL)
		return;
	fwrite(head, sizeof(*head), 1, out);
	for (uint32_t i = 0; head->code == LT_OK && i < head->count; i++)
		write_record(out, (const char *)records + (size_t)i * layout->size, layout);
	fflush(out);
}

struct asked {			 /* of slurmdbd */
	const uint32_t *job_ids; /* NULL: what ended in [from, to] */
	uint32_t count;
	int64_t from_utc_s, to_utc_s;
	lt_rows_function *rows; /* of these */
};

struct listing {
	FILE *out;
	bool begun;
};

static void
begin_jobs(void *context, uint32_t count, int64_t begun_utc_s)
{
	struct listing *const l = context;
	const struct head head = {.count = count, .begun_utc_s = begun_utc_s};

	fwrite(&head, sizeof(head), 1, l->out);
	l->begun = true;
}

static void
write_job(void *context, const struct lt_batch_job *job)
{
	write_record(((struct listing *)context)->out, job, &lt_layout_of_job);
}

/* Writes them one by one: a copy of all, beside slurmctld's answer, would be a quarter of the
 * child's size. A failure amid them ends the child: an incomplete answer is no answer. */
static void
list_jobs(void *work, int fd)
{
	struct lt_jobs_state *const state = work;
	struct listing l = {.out = fdopen(fd, "w")};
	struct head head = {0};

	lt_batch_may_wait();
	/* Copies that nobody reads here, a fifth of what this would have. */
	lt_batch_jobs_free(&state->list);
	free(state->live);
	malloc_trim(0);
	if (l.out == NULL)
		return;
	head.code = lt_batch_jobs_each(
	    &(struct lt_batch_jobs_reader){.context = &l, .begin = begin_jobs, .take = write_job},
	    &head.err);
	if (!l.begun)
		fwrite(&head, sizeof(head), 1, l.out);
	fflush(l.out);
}

static void
find_named(void *work, int fd)
{
	struct lt_job_lookup_found found;
	struct head head = {0};

	lt_batch_may_wait();
	head.code = look_up_jobs(&found, work, &head.err);
	head.count = found.jobs.count;
	head.asked = found.asked;
	head.seen = found.seen;
	write_all(fd, &head, found.jobs.jobs, &lt_layout_of_job);
}

static void
list_runs(void *work, int fd)
{
	const struct asked *const a = work;
	struct lt_batch_runs runs = {0};
	struct head head = {0};

	lt_batch_may_wait();
	if (a->job_ids != NULL)
		head.code = lt_batch_runs_of(&runs, a->job_ids, a->count, &head.err);
	else
		head.code = a->rows(&runs, a->from_utc_s, a->to_utc_s, &head.err);
	head.count = runs.count;
	write_all(fd, &head, runs.runs, &lt_layout_of_run);
}

/* ---- here ---- */

struct taken {
	const struct lt_layout *layout;
	struct head head;
	bool has_head, no_memory;
	char *records; /* head.count, of which `count` are here */
	uint32_t count;
	struct lt_pool *pool; /* of jobs, */
	bool are_apart;	      /* or each has a copy of its own: few, that go
			       * into a list one by one */
};

/* Jobs have their texts in the pool; a run, of which few have any, its own. */
static const void *
take_part(struct taken *t, const struct lt_part *part, const char *bytes)
{
	const void *const taken =
	    t->layout == &lt_layout_of_run ? strdup(bytes) : lt_part_pool(&t->pool, part, bytes);

	t->no_memory |= taken == NULL;
	return taken;
}

/* Points the record's parts to where they are from now on. */
static void
take_parts(struct taken *t, char *to, const char *bytes)
{
	for (int i = 0; i < t->layout->part_count; i++) {
		const struct lt_part *const part = &t->layout->parts[i];
		const void *at = NULL;
		uintptr_t place;

		memcpy(&place, to + part->at, sizeof(place));
		if (place > 0)
			at = t->are_apart ? bytes + place - 1
					  : take_part(t, part, bytes + place - 1);
		lt_part_set(to, part, at);
	}
}

/* Takes one whole record from the pipe's bytes; returns its length there, or 0. */
static size_t
take_record(struct taken *t, const char *bytes, size_t length)
{
	const struct lt_layout *const layout = t->layout;
	char *const to = t->records + (size_t)t->count * layout->size;
	uint64_t part_length;

	if (length < sizeof(part_length) + layout->size)
		return 0;
	memcpy(&part_length, bytes, sizeof(part_length));
	if (length - sizeof(part_length) - layout->size < part_length)
		return 0;
	bytes += sizeof(part_length);
	memcpy(to, bytes, layout->size);
	bytes += layout->size;
	char *const texts = t->are_apart ? malloc(part_length + 1) : NULL;
	if (texts != NULL)
		bytes = memcpy(texts, bytes, part_length);
	t->no_memory |= t->are_apart && texts == NULL;
	take_parts(t, to, bytes);
	if (layout == &lt_layout_of_job)
		((struct lt_batch_job *)(void *)to)->texts = texts;
	t->count++;
	return sizeof(part_length) + layout->size + part_length;
}

/* Takes the whole records out of the child's bytes. */
static void
take_records(struct taken *t, struct lt_child *child)
{
	size_t used = 0;

	if (!t->has_head) {
		if (child->length < sizeof(t->head))
			return;
		memcpy(&t->head, child->bytes, sizeof(t->head));
		used = sizeof(t->head);
		t->has_head = true;
		t->records = calloc((size_t)t->head.count + 1, t->layout->size);
		t->no_memory = t->records == NULL;
	}
	while (!t->no_memory && t->count < t->head.count) {
		const size_t length = take_record(t, child->bytes + used, child->length - used);

		if (length == 0)
			break;
		used += length;
	}
	memmove(child->bytes, child->bytes + used, child->length - used);
	child->length -= used;
}

static int
ask_child(
    struct taken *t, lt_child_function *run, void *work, const char *whom, struct lt_error *err)
{
	struct lt_child child;
	int status = 0;
	const int code = lt_child_start(&child, run, work, LT_BATCH_CHILD_S, err);

	if (code != LT_OK)
		return code;
	do {
		lt_breath_until(LT_TURN_COMMITTED, child.fd);
		const bool ended = lt_child_read(&child, &status);
		take_records(t, &child);
		if (ended)
			break;
	} while (!t->no_memory);
	lt_child_drop(&child);
	if (t->no_memory)
		return lt_fail(err, LT_ENOMEM, "%s: out of memory", whom);
	if (t->has_head && t->head.code != LT_OK)
		return lt_fail(err, t->head.code, "%s", t->head.err.text);
	if (!t->has_head || t->count < t->head.count)
		return WIFSIGNALED(status)
			   ? lt_fail(err, LT_ENET, "%s: asking it was ended by signal %d", whom,
				 WTERMSIG(status))
			   : lt_fail(err, LT_ENET, "%s: asking it gave no answer", whom);
	return LT_OK;
}

int
lt_child_jobs(struct lt_batch_jobs *jobs, const struct lt_jobs_state *state, struct lt_error *err)
{
	struct taken t = {.layout = &lt_layout_of_job};
	struct lt_jobs_state known = *state;

	if (lt_batch_is_near())
		return lt_batch_jobs(jobs, 0, err);
	const int code = ask_child(&t, list_jobs, &known, "slurmctld", err);

	lt_pool_close(t.pool);
	*jobs = (struct lt_batch_jobs){.count = t.count,
	    .pool = t.pool,
	    .jobs = (struct lt_batch_job *)(void *)t.records,
	    .begun_utc_s = t.head.begun_utc_s};
	if (code != LT_OK)
		lt_batch_jobs_free(jobs);
	return code;
}

int
lt_child_named(
    struct lt_job_lookup_found *found, const struct lt_job_lookup *named, struct lt_error *err)
{
	struct taken t = {.layout = &lt_layout_of_job, .are_apart = true};
	struct lt_job_lookup asked = *named;

	if (lt_batch_is_near())
		return look_up_jobs(found, &asked, err);
	const int code = ask_child(&t, find_named, &asked, "slurmctld", err);

	*found = (struct lt_job_lookup_found){
	    .jobs = {.count = t.count, .jobs = (struct lt_batch_job *)(void *)t.records},
	    .asked = t.head.asked,
	    .seen = t.head.seen};
	if (code != LT_OK)
		lt_batch_jobs_free(&found->jobs);
	return code;
}

static int
ask_runs(struct lt_batch_runs *runs, struct asked *asked, struct lt_error *err)
{
	struct taken t = {.layout = &lt_layout_of_run};

	if (lt_batch_is_near())
		return asked->job_ids != NULL
			   ? lt_batch_runs_of(runs, asked->job_ids, asked->count, err)
			   : asked->rows(runs, asked->from_utc_s, asked->to_utc_s, err);
	const int code = ask_child(&t, list_runs, asked, "slurmdbd", err);

	*runs = (struct lt_batch_runs){
	    .count = t.count, .runs = (struct lt_batch_run *)(void *)t.records};
	if (code != LT_OK)
		lt_batch_runs_free(runs);
	return code;
}

int
lt_child_rows(struct lt_batch_runs *runs, lt_rows_function *rows, int64_t from_utc_s,
    int64_t to_utc_s, struct lt_error *err)
{
	return ask_runs(runs,
	    &(struct asked){.from_utc_s = from_utc_s, .to_utc_s = to_utc_s, .rows = rows}, err);
}

int
lt_child_runs_of_jobs(
    struct lt_batch_runs *runs, const uint32_t *job_ids, uint32_t count, struct lt_error *err)
{
	assert(count > 0 && count <= LT_BATCH_RUNS_OF_MAX);
	return ask_runs(runs, &(struct asked){.job_ids = job_ids, .count = count}, err);
}
