/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which user is to be told what. Slurm itself mails that a job begins or was
 * requeued; what lowtide knows beyond that goes to whoever asked for those.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "daemon.h"
#include "end_mails.h"
#include "http.h"
#include "interruptions.h"
#include "log.h"
#include "mail_text.h"
#include "mailed.h"
#include "mails.h"
#include "replan.h"
#include "spool.h"
#include "units.h"

enum {
	EVERY_S = 5,
	PART = 20, /* of the time, where all that ask are very many */
	/* The row of a run that ended comes to slurmdbd after the next began,
	 * and with it that it was interrupted. */
	RUN_KNOWN_S = 20,
};

/* Of an array all of it, else only who asked for each task. */
static bool
is_asked(const struct lt_batch_job *job)
{
	return job->mail_to != NULL &&
	       (job->mails_begin || job->mails_requeue) &&
	       (job->array_task == UINT32_MAX || job->mails_tasks);
}

static bool
read_quote(struct lt_quote *quote, const struct lt_batch_job *job)
{
	return job->admin_comment != NULL &&
	       lt_quote_unpack(quote, job->admin_comment,
		   strlen(job->admin_comment), NULL) == LT_OK;
}

static bool
is_far(int64_t a_utc_s, int64_t b_utc_s)
{
	return a_utc_s - b_utc_s > LT_MAIL_MOVED_S ||
	       b_utc_s - a_utc_s > LT_MAIL_MOVED_S;
}

struct mailing { /* one look at all */
	struct lt_daemon *d;
	int64_t now_utc_s;
	const struct lt_batch_job *job;
	struct lt_quote quote;
	struct lt_ledger_hold hold;
	struct lt_plan_made *plans; /* malloc'd */
	uint32_t plan_count;
	struct lt_spool_state spool;
};

static int
read_plans(struct mailing *m, struct lt_error *err)
{
	free(m->plans);
	m->plans = NULL;
	m->plan_count = 0;
	return lt_ledger_plans(
	    m->d->ledger, m->quote.id, &m->plans, &m->plan_count, err);
}

/* A job that is seen first: its user knows the plan of its submission. Without
 * a quote it is none of lowtide's, or not yet: no row then. */
static int
begin_row(struct mailing *m, struct lt_mailed *row, struct lt_error *err)
{
	if (!read_quote(&m->quote, m->job))
		return LT_OK;
	int code = lt_ledger_mailed(m->d->ledger, m->job->job_id, row, err);
	if (code != LT_ENOENT &&
	    (code != LT_OK || row->quote_id == m->quote.id))
		return code;
	*row = (struct lt_mailed){.job_id = m->job->job_id,
	    .quote_id = m->quote.id,
	    .start_utc_s = m->quote.plan_start_utc_s,
	    .run_start_utc_s = m->job->state == LT_JOB_PENDING
				   ? m->job->submit_utc_s
				   : m->job->start_utc_s};
	snprintf(
	    row->partition, sizeof(row->partition), "%s", m->quote.partition);
	code = read_plans(m, err);
	if (code == LT_OK && m->plan_count > 0) {
		row->start_utc_s = m->plans[0].start_utc_s;
		memcpy(row->partition, m->plans[0].partition,
		    sizeof(row->partition));
	}
	return code == LT_OK ? lt_ledger_put_mailed(m->d->ledger, row, err)
			     : code;
}

/* Into the spool; then the row is written, whose user knows by then. LT_ELIMIT
 * without a word: the user's share of the spool is full, and it waits. */
static int
tell(struct mailing *m, struct lt_message *message, const struct lt_mailed *row,
    struct lt_error *err)
{
	const struct lt_batch_job *const job = m->job;
	int code = LT_OK;

	message->made_utc_s = m->now_utc_s;
	if (!lt_spool_has_room(&m->spool, job->uid) &&
	    m->spool.count < LT_SPOOL_MAX)
		return LT_ELIMIT;
	if (lt_address_is(job->mail_to)) {
		message->to_count = 1;
		snprintf(
		    message->to[0], sizeof(message->to[0]), "%s", job->mail_to);
		code = lt_spool_write(
		    m->d->site.policy->notify.spool, message, err);
		if (code == LT_OK)
			lt_spool_count(&m->spool, job->uid);
	}
	if (code == LT_OK)
		code = lt_ledger_put_mailed(m->d->ledger, row, err);
	if (code == LT_OK)
		lt_log(message->to_count > 0 ? "mail" : "mail_refused",
		    "job=%u kind=%s id=%s", job->job_id,
		    lt_message_kind_word(message->kind), message->id);
	return code;
}

static struct lt_mail_facts
facts_of(const struct mailing *m)
{
	return (struct lt_mail_facts){.job = m->job,
	    .quote = &m->quote,
	    .zone = &m->d->site.market.zone,
	    .currency = m->d->site.policy->currency,
	    .now_utc_s = m->now_utc_s};
}

/* It waits where lowtide put it, and that is far from what its user knows. A
 * later run's start is no plan that a user was told. */
static int
look_moved(struct mailing *m, struct lt_mailed *row, struct lt_error *err)
{
	struct lt_mailed next = *row;
	struct lt_message message = {0};

	if (!m->job->mails_begin || m->job->state != LT_JOB_PENDING ||
	    m->job->requeued || m->job->held ||
	    !is_far(m->job->eligible_utc_s, row->start_utc_s) ||
	    !read_quote(&m->quote, m->job) || m->quote.id != row->quote_id ||
	    m->quote.plan_start_utc_s != m->job->eligible_utc_s)
		return LT_OK;
	int code = read_plans(m, err);
	if (code != LT_OK)
		return code;
	const struct lt_plan_made was = {.start_utc_s = row->start_utc_s};
	struct lt_plan_made told = was;
	const char *const why =
	    m->plan_count > 0 ? m->plans[m->plan_count - 1].why : "";

	memcpy(told.partition, row->partition, sizeof(told.partition));
	next.start_utc_s = m->quote.plan_start_utc_s;
	snprintf(
	    next.partition, sizeof(next.partition), "%s", m->quote.partition);
	const int begin = lt_message_id_begin(message.id, m->job->uid);
	snprintf(message.id + begin, sizeof(message.id) - (size_t)begin,
	    "moved-%u-%016" PRIx64 "-%u", m->job->job_id, m->quote.id,
	    m->quote.rev);
	const struct lt_mail_facts facts = facts_of(m);
	lt_mail_moved(&message, &facts, &told, why);
	/* By his own hand: he knows. */
	code = strcmp(why, lt_replan_word(LT_REPLAN_NOW)) == 0
		   ? lt_ledger_put_mailed(m->d->ledger, &next, err)
		   : tell(m, &message, &next, err);
	if (code == LT_OK)
		*row = next;
	return code;
}

/* It runs again, and a run before this one lost its nodes. */
static int
look_interrupted(struct mailing *m, struct lt_mailed *row, struct lt_error *err)
{
	const struct lt_batch_job *const job = m->job;
	struct lt_mailed next = *row;
	struct lt_message message = {0};
	struct lt_losses since, life;

	if (!job->mails_requeue || !job->requeued ||
	    (job->state != LT_JOB_RUNNING && job->state != LT_JOB_SUSPENDED) ||
	    job->start_utc_s == row->run_start_utc_s ||
	    m->now_utc_s < job->start_utc_s + RUN_KNOWN_S)
		return LT_OK;
	int code = lt_ledger_losses(
	    m->d->ledger, job->job_id, row->run_start_utc_s, &since, err);
	if (code != LT_OK || !read_quote(&m->quote, job))
		return code;
	code = lt_ledger_hold(m->d->ledger, m->quote.id, &m->hold, err);
	if (code == LT_OK)
		code = lt_ledger_losses(m->d->ledger, job->job_id,
		    m->hold.made_utc_s - LT_HOUR_S, &life, err);
	if (code != LT_OK)
		return code;
	next.run_start_utc_s = job->start_utc_s;
	const int begin = lt_message_id_begin(message.id, job->uid);
	snprintf(message.id + begin, sizeof(message.id) - (size_t)begin,
	    "interrupted-%u-%016" PRIx64 "-%" PRId64, job->job_id, m->quote.id,
	    job->start_utc_s);
	const struct lt_mail_facts facts = facts_of(m);
	lt_mail_interrupted(&message, &facts, life.done_s);
	code = since.interruptions > 0
		   ? tell(m, &message, &next, err)
		   : lt_ledger_put_mailed(m->d->ledger, &next, err);
	if (code == LT_OK)
		*row = next;
	return code;
}

/* Both are in the order of ids: the row that is there, if it is that job's. */
static const struct lt_mailed *
known_row(const struct lt_mail_state *state, uint32_t *at, uint32_t job_id)
{
	while (*at < state->count && state->rows[*at].job_id < job_id)
		(*at)++;
	return *at < state->count && state->rows[*at].job_id == job_id
		   ? &state->rows[*at]
		   : NULL;
}

static int
look_at(struct mailing *m, const struct lt_mailed *known, struct lt_mailed *row,
    struct lt_error *err)
{
	int code = LT_OK;

	if (known != NULL)
		*row = *known;
	else
		code = begin_row(m, row, err);
	if (code != LT_OK || row->quote_id == 0)
		return code;
	code = look_moved(m, row, err);
	return code == LT_OK ? look_interrupted(m, row, err) : code;
}

static uint32_t
asked_count(const struct lt_batch_jobs *list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++)
		count += is_asked(&list->jobs[i]) &&
			 list->jobs[i].state != LT_JOB_FINISHED;
	return count;
}

/* One that fails keeps nobody: the first failure is the step's. */
static int
look_at_all(struct lt_daemon *d, struct lt_mailed *rows, uint32_t *count,
    int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &d->jobs.list;
	struct mailing *const m = calloc(1, sizeof(*m));
	uint32_t at = 0;

	if (m == NULL)
		return lt_fail(err, LT_ENOMEM, "mails: out of memory");
	m->d = d;
	m->now_utc_s = now_utc_s;
	/* One that can't be read has room: to write there says why not. */
	(void)lt_spool_look(&m->spool, d->site.policy->notify.spool, NULL);
	int code = lt_ledger_begin(d->ledger, err);
	for (uint32_t i = 0; code == LT_OK && i < list->count; i++) {
		struct lt_error failed = {0};

		m->job = &list->jobs[i];
		if (!is_asked(m->job) || m->job->state == LT_JOB_FINISHED)
			continue;
		const struct lt_mailed *const known =
		    known_row(&d->mails, &at, m->job->job_id);
		struct lt_mailed *const row = &rows[*count];

		lt_breath(LT_TURN_READ);
		/* With a full spool the rest is told the next time. */
		if (err->code == LT_ELIMIT && known != NULL)
			*row = *known;
		else if (look_at(m, known, row, &failed) != LT_OK &&
			 failed.code != LT_OK)
			(void)lt_fail(err, failed.code, "%s", failed.text);
		*count += row->quote_id != 0;
	}
	/* What is in the spool and not noted then has the same id again. */
	if (code == LT_OK)
		code = lt_ledger_commit(d->ledger, err);
	free(m->plans);
	free(m);
	return err->code;
}

int
lt_mails_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const int64_t began_ms = lt_monotonic_ms();
	const uint32_t most = asked_count(&d->jobs.list);
	struct lt_mailed *rows;
	uint32_t count = 0;

	lt_breath(LT_TURN_COMMITTED);
	rows = calloc((size_t)most + 1, sizeof(*rows));
	if (rows == NULL)
		return lt_fail(err, LT_ENOMEM, "mails: out of memory");
	int code = look_at_all(d, rows, &count, now_utc_s, err);
	if (code == LT_OK)
		code = lt_end_mails_run(d, now_utc_s, err);
	free(d->mails.rows);
	d->mails.rows = rows;
	d->mails.count = count;
	const int64_t wait_s = PART * (lt_monotonic_ms() - began_ms) / 1000;
	d->next.mails = now_utc_s + (wait_s > EVERY_S ? wait_s : EVERY_S);
	return code;
}

void
lt_mails_free(struct lt_mail_state *state)
{
	free(state->rows);
	free(state->ends);
	*state = (struct lt_mail_state){0};
}
