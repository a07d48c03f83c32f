/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the quote of a job that slurmctld has, and writes it onto the job.
 *
 * Reads the job's record and the market; writes by one update of the job. What slurmctld refuses is
 * logged, and looked at again by the next pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "job_quote.h"
#include "ledger.h"
#include "log.h"
#include "min_max.h"
#include "request.h"
#include "site.h"
#include "size.h"
#include "suspension.h"
#include "units.h"

uint64_t
lt_quote_new_id(void)
{
	uint64_t id = 0;

	while (id == 0)
		if (getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
			id = 0;
	return id;
}

/* Keeps the user's wish, which is in the text on the job alone. */
static void
keep_wish(struct lt_quote *told, const struct lt_batch_job *job)
{
	const char *const text = job->admin_comment;
	struct lt_quote quote;

	if (!told->wish.known && text != NULL &&
	    lt_quote_unpack(&quote, text, strlen(text), NULL) == LT_OK && quote.id == told->id)
		told->wish = quote.wish;
}

/* Returns the tasks that an update would change if it did not name them. */
static uint32_t
kept_tasks(const struct lt_batch_job *job)
{
	const struct lt_batch_asked *const asked = lt_job_asked(job);

	return asked->tasks_per_node > 0 || asked->tasks_per_gpu > 0 ? asked->tasks : 0;
}

/* Writes a quote onto a job. update: what else is written, or LT_LEAVE and the like. */
static int
publish(const struct lt_batch_job *job, const struct lt_quote *quote,
    struct lt_batch_update *update, struct lt_error *err)
{
	char ours[LT_QUOTE_TEXT_SIZE];
	char *const merged = malloc(LT_ADMIN_COMMENT_MAX);
	struct lt_quote told = *quote;
	struct lt_error failed = {0};
	int code = LT_OK;

	keep_wish(&told, job);
	update->tasks = kept_tasks(job);
	if (merged != NULL && lt_quote_pack(ours, sizeof(ours), &told) == LT_OK &&
	    lt_quote_merge(merged, LT_ADMIN_COMMENT_MAX, job->admin_comment, ours) == LT_OK)
		update->admin_comment = merged;
	if (update->admin_comment != NULL || update->hold != LT_LEAVE ||
	    update->begin_utc_s != LT_UNSET_64 || update->partition != NULL)
		code = lt_batch_update_job(update, &failed);
	free(merged);
	if (code == LT_OK)
		return LT_OK;
	/* The job has changed meanwhile: the next pass looks at it again. */
	if (code != LT_ECONFLICT)
		lt_log("update_failed", "job=%u error=\"%s\"", job->job_id, failed.text);
	return lt_fail(err, (enum lt_code)code, "%s", failed.text);
}

int
lt_quote_publish(const struct lt_batch_job *job, const struct lt_quote *quote,
    enum lt_batch_hold action, int64_t begin_utc_s, struct lt_error *err)
{
	struct lt_batch_update update;

	lt_batch_update_init(&update, job->job_id);
	update.hold = action;
	if (begin_utc_s != 0)
		update.begin_utc_s = begin_utc_s;
	return publish(job, quote, &update, err);
}

int
lt_quote_publish_place(const struct lt_batch_job *job, const struct lt_quote *quote,
    enum lt_batch_hold action, int64_t limit_s, struct lt_error *err)
{
	char task[LT_JOB_ADDRESS_SIZE];
	struct lt_batch_update update;

	lt_batch_update_init(&update, job->job_id);
	if (job->array_task != UINT32_MAX)
		update.task = lt_job_address(task, job);
	update.limit_s = limit_s;
	update.hold = action;
	update.begin_utc_s = quote->plan_start_utc_s;
	if (strcmp(job->partition, quote->partition) != 0)
		update.partition = quote->partition;
	return publish(job, quote, &update, err);
}

int
lt_quote_publish_task(const struct lt_batch_job *job, const char *task,
    const struct lt_quote *quote, int64_t begin_utc_s, struct lt_error *err)
{
	struct lt_batch_update update;

	lt_batch_update_init(&update, job->job_id);
	update.task = task;
	update.begin_utc_s = begin_utc_s;
	return publish(job, quote, &update, err);
}

/* Fills in its kind, as job_submit would have. */
static void
fill_run(struct lt_quote *quote, const struct lt_batch_job *job, const struct lt_request *request)
{
	struct lt_run_kind kind = {.uid = job->uid, .account = job->account, .name = job->name};
	struct lt_quote_run run = {.expected.from = LT_HISTORY_NONE, .ratio_ppm = LT_MICROS};

	lt_history_shape(&kind, request);
	run.kind = lt_history_hash(&kind);
	if (lt_quote_run_pack(quote->run, sizeof(quote->run), &run) != LT_OK)
		quote->run[0] = '\0';
}

struct lt_quote_run
lt_quote_run_again(const struct lt_quote *quote, const struct lt_request *request)
{
	struct lt_quote_run run;

	(void)lt_quote_run_unpack(&run, quote->run, strlen(quote->run), NULL);
	run.expected = lt_expected_of(request);
	run.limit_s = request->limit_s;
	return run;
}

void
lt_quote_most(struct lt_quote *most, const struct lt_quote *a, const struct lt_quote *b)
{
	const struct lt_amount *const x = &a->hold_per_task;
	const struct lt_amount *const y = &b->hold_per_task;

	most->hold_per_task = (struct lt_amount){.has_money = x->has_money || y->has_money,
	    .has_carbon = x->has_carbon || y->has_carbon,
	    .money_micros =
		lt_max_i64(x->has_money ? x->money_micros : 0, y->has_money ? y->money_micros : 0),
	    .carbon_mg =
		lt_max_i64(x->has_carbon ? x->carbon_mg : 0, y->has_carbon ? y->carbon_mg : 0)};
	most->start_utc_s = a->start_utc_s < b->start_utc_s ? a->start_utc_s : b->start_utc_s;
	most->end_utc_s = lt_max_i64(a->end_utc_s, b->end_utc_s);
}

/* Makes a fresh quote of what this job may cost at its limit. */
bool
lt_quote_of_job(struct lt_quote *quote, const struct lt_batch_job *job, const struct lt_site *site,
    struct lt_ledger *ledger, int64_t now_utc_s)
{
	struct lt_job_request *const asked = malloc(sizeof(*asked));
	const struct lt_resources got = {.nodes = job->nodes ? job->nodes : 1,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .exact = job->exact,
	    .exclusive = job->exclusive};
	struct lt_error err = {0};
	bool made = false;

	*quote = (struct lt_quote){0};
	if (asked != NULL && !job->is_unsized &&
	    lt_request_of_job(asked, job, &site->market, now_utc_s)) {
		if (job->is_allocated)
			asked->request.allocated = &got;
		made = lt_quote_hold(quote, &asked->request, &site->market, asked->partitions,
			   asked->partition_count, asked->request.earliest_utc_s, &err) == LT_OK;
	}
	if (made)
		fill_run(quote, job, &asked->request);
	free(asked);
	if (!made || !lt_suspension_add(&quote->hold_per_task,
			 quote->end_utc_s - quote->start_utc_s, job, &site->market, ledger))
		return false;
	quote->id = lt_quote_new_id();
	quote->rev = 2; /* ours: job_modify lets it pass */
	quote->mode = site->policy->mode;
	quote->objective = LT_OBJECTIVE_OFF;
	const size_t length = strcspn(job->partition, ",");
	snprintf(quote->account, sizeof(quote->account), "%s", job->account);
	snprintf(quote->partition, sizeof(quote->partition), "%.*s", (int)length, job->partition);
	memcpy(quote->home, quote->partition, sizeof(quote->home));
	quote->plan_start_utc_s = quote->home_start_utc_s = quote->start_utc_s;
	quote->plan_expected = quote->home_expected = (struct lt_amount){0};
	return true;
}
