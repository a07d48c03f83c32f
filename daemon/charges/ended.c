/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps runs that slurmctld saw end and whose rows have not come from slurmdbd:
 * in memory, and in the ledger once they wait, so that neither a lost row nor a restart loses a
 * charge.
 *
 * A line of the ledger's text that cannot be read is skipped; without memory slurmdbd's row is
 * awaited.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ended.h"
#include "grow.h"
#include "jobs.h"
#include "dbd_row.h"
#include "settle.h"
#include "text.h"

enum {
	WORD_BYTES = 3 * LT_NAME_SIZE, /* of a name */
	LINE_MAX_BYTES = 1024,
	SAVED_MAX = 10000, /* as many as MaxDBDMsgs */
	SAVED_FIELDS = 17, /* what 0.1 wrote; the rest came later */
};

static struct lt_ended *
new_ended(struct lt_jobs_state *jobs)
{
	struct lt_ended *const grown =
	    lt_items_grow(jobs->ended, &jobs->ended_capacity, jobs->ended_count, sizeof(*grown));

	if (grown == NULL)
		return NULL;
	jobs->ended = grown;
	return &jobs->ended[jobs->ended_count++];
}

static int
by_key(const void *a, const void *b)
{
	const struct lt_batch_run *const x = &((const struct lt_ended *)a)->run;
	const struct lt_batch_run *const y = &((const struct lt_ended *)b)->run;

	return lt_run_keys_compare(&(struct lt_run_key){x->job_id, x->submit_utc_s},
	    &(struct lt_run_key){y->job_id, y->submit_utc_s});
}

void
lt_ended_sort(struct lt_jobs_state *jobs)
{
	if (jobs->ended_count > 1)
		qsort(jobs->ended, jobs->ended_count, sizeof(*jobs->ended), by_key);
	jobs->ended_sorted = jobs->ended_count;
}

void
lt_settle_saw_end(struct lt_jobs_state *jobs, struct lt_ledger *ledger,
    const struct lt_batch_conf *conf, const struct lt_batch_job *job, int64_t now_utc_s)
{
	struct lt_run known;
	const struct lt_run_key key = {job->job_id, job->submit_utc_s};

	const struct lt_ended wanted = {
	    .run = {.job_id = key.job_id, .submit_utc_s = key.submit_utc_s}};

	if (jobs->ended_sorted > 0 &&
	    bsearch(&wanted, jobs->ended, jobs->ended_sorted, sizeof(wanted), by_key) != NULL)
		return;
	/* One that never ran has its row soon, or (a task of an array) no
	 * row at all; its hold does not wait for it. */
	const bool ran = job->start_utc_s > 0 && job->end_utc_s > job->start_utc_s;
	if (!ran && (lt_never_ran(job) || now_utc_s - job->end_utc_s > LT_SETTLE_EVERY_S))
		return;
	if (lt_ledger_run(ledger, key, &known, NULL) == LT_OK)
		return;
	struct lt_ended *const e = new_ended(jobs);
	if (e == NULL)
		return; /* slurmdbd's row is the usual way */
	*e = (struct lt_ended){.seen_utc_s = now_utc_s,
	    .run = {.job_id = job->job_id,
		.array_job_id = job->array_job_id,
		.array_task = job->array_task,
		.uid = job->uid,
		.finished = true,
		.submit_utc_s = job->submit_utc_s,
		.start_utc_s = job->start_utc_s,
		.end_utc_s = job->end_utc_s,
		.limit_s = job->limit_s,
		.nodes = job->nodes,
		.cpus = job->cpus,
		.gpus = job->gpus,
		.shards = job->shards,
		.has_gpus = conf->gpus_counted && conf->shards_counted,
		.memory_mib = job->memory_mib,
		.suspended_s = job->suspended_s,
		.energy_joules = -1,
		.admin_comment = job->admin_comment != NULL ? strdup(job->admin_comment) : NULL}};
	snprintf(e->run.user, sizeof(e->run.user), "%s", job->user);
	snprintf(e->run.account, sizeof(e->run.account), "%s", job->account);
	snprintf(e->run.partition, sizeof(e->run.partition), "%.*s",
	    (int)strcspn(job->partition, ","), job->partition);
	snprintf(e->run.name, sizeof(e->run.name), "%s", job->name);
	snprintf(e->run.state_text, sizeof(e->run.state_text), "%s", job->state_text);
}

/* A line each, fields in the order of the two formats below. The quote is found by the job's id. */
int
lt_ended_save(const struct lt_jobs_state *jobs, struct lt_ledger *ledger, struct lt_error *err)
{
	const uint32_t count = jobs->ended_count < SAVED_MAX ? jobs->ended_count : SAVED_MAX;
	char *const text = malloc((size_t)count * LINE_MAX_BYTES + 1);
	size_t used = 0;

	if (text == NULL)
		return lt_fail(err, LT_ENOMEM, "settle: out of memory");
	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++) {
		const struct lt_batch_run *const r = &jobs->ended[i].run;
		char user[WORD_BYTES], account[WORD_BYTES], place[WORD_BYTES], ended[WORD_BYTES];

		used += (size_t)snprintf(text + used, LINE_MAX_BYTES,
		    "%" PRId64 " %u %u %u %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
		    " %u %u %u %" PRIu64 " %s %s %s %s %" PRId64 " %u\n",
		    jobs->ended[i].seen_utc_s, r->job_id, r->array_job_id, r->array_task, r->uid,
		    r->submit_utc_s, r->start_utc_s, r->end_utc_s, r->limit_s, r->nodes, r->cpus,
		    r->gpus, r->memory_mib, lt_name_word(user, sizeof(user), r->user),
		    lt_name_word(account, sizeof(account), r->account),
		    lt_name_word(place, sizeof(place), r->partition),
		    lt_name_word(ended, sizeof(ended), r->state_text), r->suspended_s, r->shards);
	}
	const int code = lt_ledger_put(ledger, "ended", text, err);
	free(text);
	return code;
}

void
lt_ended_load(struct lt_jobs_state *jobs, struct lt_ledger *ledger)
{
	const size_t size = (size_t)SAVED_MAX * LINE_MAX_BYTES + 1;
	char *const text = malloc(size);

	if (text == NULL || lt_ledger_get(ledger, "ended", text, size, NULL) != LT_OK) {
		free(text);
		return;
	}
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
		struct lt_ended e = {.run = {.finished = true, .energy_joules = -1}};
		struct lt_batch_run *const r = &e.run;
		char user[WORD_BYTES], account[WORD_BYTES], place[WORD_BYTES], ended[WORD_BYTES];

		if (sscanf(line,
			"%" SCNd64 " %u %u %u %u %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
			" %u %u %u %" SCNu64 " %191s %191s %191s %191s %" SCNd64 " %u",
			&e.seen_utc_s, &r->job_id, &r->array_job_id, &r->array_task, &r->uid,
			&r->submit_utc_s, &r->start_utc_s, &r->end_utc_s, &r->limit_s, &r->nodes,
			&r->cpus, &r->gpus, &r->memory_mib, user, account, place, ended,
			&r->suspended_s, &r->shards) < SAVED_FIELDS)
			continue;
		lt_name_of_word(r->user, sizeof(r->user), user);
		lt_name_of_word(r->account, sizeof(r->account), account);
		lt_name_of_word(r->partition, sizeof(r->partition), place);
		lt_name_of_word(r->state_text, sizeof(r->state_text), ended);
		struct lt_ended *const to = new_ended(jobs);
		if (to != NULL)
			*to = e;
	}
	free(text);
}
