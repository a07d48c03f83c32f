/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mails to users who asked Slurm for some. Slurm itself mails that a job begins or was requeued;
 * what lowtided knows beyond that goes to whoever asked for those: that a plan was moved, that a
 * job lost its nodes, and at the end what it cost.
 *
 * Reads the list of jobs, their quotes, and the ledger's notes of former mails; writes messages
 * into the spool, then the notes into the ledger. When a run's row comes slurmctld may have
 * forgotten the job: that its user asks for a mail at the end is in the ledger from when the job
 * was first seen. If a user's share of the spool is full, that user's mails wait, and nobody
 * else's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alerter.h"
#include "baseline.h"
#include "breath.h"
#include "http.h"
#include "ledger_jobs.h"
#include "log.h"
#include "lookup.h"
#include "alert.h"
#include "mails.h"
#include "replan.h"
#include "site.h"
#include "spool.h"
#include "text.h"
#include "units.h"

enum {
	EVERY_S = 5,
	PART = 20, /* of the time, where all that ask are very many */
	/* The row of a run that ended comes to slurmdbd after the next began, and with it that it
	 * was interrupted. */
	RUN_KNOWN_S = 20,
	/* For one user in a pass: twice what the spool has room for. */
	USER_MAX = 2 * LT_SPOOL_USER_MAX,
};

/* ---- what mails say ---- */

static const char *
reason_of(const char *why)
{
	static const char *const reasons[LT_REPLAN_WHY_COUNT] = {
	    [LT_REPLAN_BETTER] = "by today's forecasts it costs less, or emits less, then",
	    [LT_REPLAN_NO_ROOM] = "there is no room any more where it was to go",
	    [LT_REPLAN_CANNOT_RUN] = "it can't run any more where it was to go",
	    [LT_REPLAN_CANNOT_START] = "Slurm can't start it where it was to go",
	    [LT_REPLAN_TOGETHER] = "other jobs made room, and all together this is better",
	    [LT_REPLAN_DEADLINE] = "its deadline leaves no more time to wait for those nodes",
	    [LT_REPLAN_INTERRUPTED] = "it was interrupted as often as it may be",
	};
	const int found = lt_replan_find(why);

	return LT_WORD_OR(reasons, found, "the plan was made again");
}

/* A name is its user's: no lines of theirs in a mail of the site's. */
static void
copy_name(char out[LT_NAME_SIZE], const char *name)
{
	lt_copy(out, LT_NAME_SIZE, name);
	lt_text_line(out);
}

static void
put_name(struct lt_text *text, const struct lt_mail_facts *facts)
{
	char address[LT_JOB_ADDRESS_SIZE], name[LT_NAME_SIZE];

	copy_name(name, facts->job->name);
	lt_text_put(text, "Job %s", lt_job_address(address, facts->job));
	if (name[0] != '\0')
		lt_text_put(text, " (%s)", name);
}

static void
put_expected(struct lt_text *text, const struct lt_mail_facts *facts)
{
	char amount[128];

	lt_amount_text(amount, sizeof(amount), &facts->quote->plan_expected, facts->currency, "");
	if (amount[0] != '\0')
		lt_text_put(text, "Expected: %s.\n", amount);
}

static const char *
start_text(char out[64], const struct lt_mail_facts *facts, int64_t utc_s)
{
	return utc_s <= facts->now_utc_s
		   ? "as soon as there is room"
		   : lt_zone_text(out, 64, facts->zone, utc_s, facts->now_utc_s);
}

void
lt_mail_moved(struct lt_message *message, const struct lt_mail_facts *facts,
    const struct lt_plan_made *was, const char *why)
{
	struct lt_text text = {.out = message->text, .size = sizeof(message->text)};
	char address[LT_JOB_ADDRESS_SIZE], then[64], now[64];
	const int64_t start_utc_s = facts->quote->plan_start_utc_s;

	lt_job_address(address, facts->job);
	lt_zone_text(then, sizeof(then), facts->zone, was->start_utc_s, facts->now_utc_s);
	message->kind = LT_MESSAGE_MOVED;
	snprintf(message->subject, sizeof(message->subject), "lowtide: job %s starts %s, not %s",
	    address, start_text(now, facts, start_utc_s), then);
	put_name(&text, facts);
	lt_text_put(&text, " was to start %s in %s.\nIt starts %s in %s: %s.\n", then,
	    was->partition, start_text(now, facts, start_utc_s), facts->quote->partition,
	    reason_of(why));
	put_expected(&text, facts);
	lt_text_put(&text,
	    "\nWhy:       lowtide explain %s\n"
	    "At once:   lowtide now %s\n"
	    "Cancel it: scancel %s\n",
	    address, address, address);
	lt_message_clean(message);
}

void
lt_mail_interrupted(struct lt_message *message, const struct lt_mail_facts *facts, int64_t done_s)
{
	struct lt_text text = {.out = message->text, .size = sizeof(message->text)};
	const struct lt_batch_job *const job = facts->job;
	char address[LT_JOB_ADDRESS_SIZE], since[64], kept[32];

	lt_job_address(address, job);
	lt_zone_text(since, sizeof(since), facts->zone, job->start_utc_s, facts->now_utc_s);
	message->kind = LT_MESSAGE_INTERRUPTED;
	snprintf(message->subject, sizeof(message->subject),
	    "lowtide: job %s was interrupted, and runs again", address);
	put_name(&text, facts);
	lt_text_put(&text, " lost its nodes%s, and runs again since %s in %s on %s.\n",
	    job->restarts > 1 ? ", not for the first time" : "", since, job->partition,
	    job->node_list != NULL ? job->node_list : "?");
	if (done_s > 0)
		lt_text_put(&text, "Of its work %s need not be done again, if it resumes.\n",
		    lt_duration_text(kept, sizeof(kept), done_s));
	else
		lt_text_put(&text, "Nothing of its work is known to be kept: it starts over.\n");
	lt_text_put(&text,
	    "\nHow it went: lowtide explain %s\n"
	    "Fewer of them, for the next job: sbatch --max-interruptions=1 ...\n",
	    address);
	lt_message_clean(message);
}

/* ---- moved and interrupted ---- */

/* True if its user asked: an array counts as a whole, unless each task was asked for. */
static bool
is_asked(const struct lt_batch_job *job)
{
	return job->mail_to != NULL && (job->mails_begin || job->mails_requeue) &&
	       (job->array_task == UINT32_MAX || job->mails_tasks);
}

static bool
read_quote(struct lt_quote *quote, const struct lt_batch_job *job)
{
	return job->admin_comment != NULL && lt_quote_unpack(quote, job->admin_comment,
						 strlen(job->admin_comment), NULL) == LT_OK;
}

static bool
is_far(int64_t a_utc_s, int64_t b_utc_s)
{
	return a_utc_s - b_utc_s > LT_MAIL_MOVED_S || b_utc_s - a_utc_s > LT_MAIL_MOVED_S;
}

struct mailing { /* one look at all */
	const struct lt_alerter *by;
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
	return lt_ledger_plans(m->by->ledger, m->quote.id, &m->plans, &m->plan_count, err);
}

/* Makes the row of a job that is seen first: its user knows the plan of its submission. A job
 * without a quote is not lowtide's, or not yet: no row then. */
static int
begin_row(struct mailing *m, struct lt_mailed *row, struct lt_error *err)
{
	if (!read_quote(&m->quote, m->job))
		return LT_OK;
	int code = lt_ledger_mailed(m->by->ledger, m->job->job_id, row, err);
	if (code != LT_ENOENT && (code != LT_OK || row->quote_id == m->quote.id))
		return code;
	*row = (struct lt_mailed){.job_id = m->job->job_id,
	    .quote_id = m->quote.id,
	    .start_utc_s = m->quote.plan_start_utc_s,
	    .run_start_utc_s =
		m->job->state == LT_JOB_PENDING ? m->job->submit_utc_s : m->job->start_utc_s};
	snprintf(row->partition, sizeof(row->partition), "%s", m->quote.partition);
	code = read_plans(m, err);
	if (code == LT_OK && m->plan_count > 0) {
		row->start_utc_s = m->plans[0].start_utc_s;
		memcpy(row->partition, m->plans[0].partition, sizeof(row->partition));
	}
	return code == LT_OK ? lt_ledger_put_mailed(m->by->ledger, row, err) : code;
}

/* Puts a message into the spool; then writes the row, as its user knows by then. LT_ELIMIT without
 * a word: the user's share of the spool is full, and it waits. */
static int
tell_user(struct mailing *m, struct lt_message *message, const struct lt_mailed *row,
    struct lt_error *err)
{
	const struct lt_batch_job *const job = m->job;
	int code = LT_OK;

	message->made_utc_s = m->by->now_utc_s;
	if (!lt_spool_has_room(&m->spool, job->uid) && m->spool.count < LT_SPOOL_MAX)
		return LT_ELIMIT;
	if (lt_address_is(job->mail_to)) {
		message->to_count = 1;
		snprintf(message->to[0], sizeof(message->to[0]), "%s", job->mail_to);
		code = lt_spool_write(m->by->site->policy->notify.spool, message, err);
		if (code == LT_OK)
			lt_spool_count(&m->spool, job->uid);
	}
	if (code == LT_OK)
		code = lt_ledger_put_mailed(m->by->ledger, row, err);
	if (code == LT_OK)
		lt_log(message->to_count > 0 ? "mail" : "mail_refused", "job=%u kind=%s id=%s",
		    job->job_id, lt_message_row(message->kind)->word, message->id);
	return code;
}

static struct lt_mail_facts
facts_of(const struct mailing *m)
{
	return (struct lt_mail_facts){.job = m->job,
	    .quote = &m->quote,
	    .zone = &m->by->site->market.zone,
	    .currency = m->by->site->policy->currency,
	    .now_utc_s = m->by->now_utc_s};
}

/* Looks for a new plan of a job that waits where lowtide put it, far from the one that its user
 * knows. A later run's start is no plan that a user was sent. */
static int
look_moved(struct mailing *m, struct lt_mailed *row, struct lt_error *err)
{
	struct lt_mailed next = *row;
	struct lt_message message = {0};

	if (!m->job->mails_begin || m->job->state != LT_JOB_PENDING || m->job->requeued ||
	    m->job->held || !is_far(m->job->eligible_utc_s, row->start_utc_s) ||
	    !read_quote(&m->quote, m->job) || m->quote.id != row->quote_id ||
	    m->quote.plan_start_utc_s != m->job->eligible_utc_s)
		return LT_OK;
	int code = read_plans(m, err);
	if (code != LT_OK)
		return code;
	const struct lt_plan_made was = {.start_utc_s = row->start_utc_s};
	struct lt_plan_made told = was;
	const char *const why = m->plan_count > 0 ? m->plans[m->plan_count - 1].why : "";

	memcpy(told.partition, row->partition, sizeof(told.partition));
	next.start_utc_s = m->quote.plan_start_utc_s;
	snprintf(next.partition, sizeof(next.partition), "%s", m->quote.partition);
	const int begin = lt_message_id_begin(message.id, m->job->uid);
	snprintf(message.id + begin, sizeof(message.id) - (size_t)begin,
	    "moved-%u-%016" PRIx64 "-%u", m->job->job_id, m->quote.id, m->quote.rev);
	const struct lt_mail_facts facts = facts_of(m);
	lt_mail_moved(&message, &facts, &told, why);
	/* The user moved it, and knows. */
	code = strcmp(why, lt_replan_word(LT_REPLAN_NOW)) == 0
		   ? lt_ledger_put_mailed(m->by->ledger, &next, err)
		   : tell_user(m, &message, &next, err);
	if (code == LT_OK)
		*row = next;
	return code;
}

/* Looks for a job that runs again after a run that lost its nodes. */
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
	    m->by->now_utc_s < job->start_utc_s + RUN_KNOWN_S)
		return LT_OK;
	int code = lt_ledger_losses(m->by->ledger, job->job_id, row->run_start_utc_s, &since, err);
	if (code != LT_OK || !read_quote(&m->quote, job))
		return code;
	code = lt_ledger_hold(m->by->ledger, m->quote.id, &m->hold, err);
	if (code == LT_OK)
		code = lt_ledger_losses(
		    m->by->ledger, job->job_id, m->hold.made_utc_s - LT_HOUR_S, &life, err);
	if (code != LT_OK)
		return code;
	next.run_start_utc_s = job->start_utc_s;
	const int begin = lt_message_id_begin(message.id, job->uid);
	snprintf(message.id + begin, sizeof(message.id) - (size_t)begin,
	    "interrupted-%u-%016" PRIx64 "-%" PRId64, job->job_id, m->quote.id, job->start_utc_s);
	const struct lt_mail_facts facts = facts_of(m);
	lt_mail_interrupted(&message, &facts, life.done_s);
	code = since.interruptions > 0 ? tell_user(m, &message, &next, err)
				       : lt_ledger_put_mailed(m->by->ledger, &next, err);
	if (code == LT_OK)
		*row = next;
	return code;
}

/* Returns the row that is there, if it is that job's. Both are in the order of ids. */
static const struct lt_mailed *
known_row(const struct lt_mail_state *state, uint32_t *at, uint32_t job_id)
{
	while (*at < state->count && state->rows[*at].job_id < job_id)
		(*at)++;
	return *at < state->count && state->rows[*at].job_id == job_id ? &state->rows[*at] : NULL;
}

static int
look_at_job(
    struct mailing *m, const struct lt_mailed *known, struct lt_mailed *row, struct lt_error *err)
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
		count += is_asked(&list->jobs[i]) && list->jobs[i].state != LT_JOB_FINISHED;
	return count;
}

/* Looks at all jobs. A failure stops no other: the first one is the step's. */
static int
look_at_all(
    const struct lt_alerter *by, struct lt_mailed *rows, uint32_t *count, struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &by->jobs->list;
	struct mailing *const m = calloc(1, sizeof(*m));
	uint32_t at = 0;
	int first = LT_OK;

	if (m == NULL)
		return lt_fail(err, LT_ENOMEM, "mails: out of memory");
	m->by = by;
	/* One that can't be read has room: to write there says why not. */
	(void)lt_spool_look(&m->spool, by->site->policy->notify.spool, NULL);
	int code = lt_ledger_begin(by->ledger, err);
	for (uint32_t i = 0; code == LT_OK && i < list->count; i++) {
		struct lt_error failed = {0};

		m->job = &list->jobs[i];
		if (!is_asked(m->job) || m->job->state == LT_JOB_FINISHED)
			continue;
		const struct lt_mailed *const known = known_row(by->mails, &at, m->job->job_id);
		struct lt_mailed *const row = &rows[*count];

		lt_breath(LT_TURN_READ);
		/* If the spool is full the rest is written the next time. */
		if (first == LT_ELIMIT && known != NULL)
			*row = *known;
		else if (look_at_job(m, known, row, &failed) != LT_OK && failed.code != LT_OK &&
			 first == LT_OK)
			first = lt_fail(err, failed.code, "%s", failed.text);
		*count += row->quote_id != 0;
	}
	/* A message in the spool that is not noted gets the same id again. */
	if (code == LT_OK)
		code = lt_ledger_commit(by->ledger, err);
	free(m->plans);
	free(m);
	return first != LT_OK ? first : code;
}

/* ---- at the end ---- */

static const char not_known[] = "what is not known yet";

struct sum { /* of the runs of a job */
	uint32_t runs, tasks;
	bool moved, compared;
	struct lt_amount cost, without;
	struct lt_parts parts;
};

static struct sum
sum_of(const struct lt_run *runs, uint32_t count)
{
	struct sum sum = {.compared = true, .cost = {.has_money = true, .has_carbon = true}};

	for (uint32_t i = 0; i < count; i++) {
		const struct lt_run *const run = &runs[i];

		sum.runs += run->end_utc_s > run->start_utc_s;
		sum.tasks +=
		    run->array_job_id != 0 && (i == 0 || run->key.job_id != runs[i - 1].key.job_id);
		sum.moved |= run->moved;
		sum.compared &= lt_baseline_known(run);
		sum.cost.has_money &= run->priced;
		sum.cost.has_carbon &= run->has_carbon;
		sum.cost.money_micros += run->money_micros;
		sum.cost.carbon_mg += run->carbon_mg;
		sum.without.money_micros += run->baseline_money_micros;
		sum.without.carbon_mg += run->baseline_carbon_mg;
		sum.parts.carbon_charge_micros += run->parts.carbon_charge_micros;
		sum.parts.discount_micros += run->parts.discount_micros;
	}
	/* A sum that one run lacks is not known for both sides. */
	sum.without.has_money = sum.cost.has_money;
	sum.without.has_carbon = sum.cost.has_carbon;
	return sum;
}

static void
put_parts(struct lt_text *text, const struct lt_parts *parts, const char *currency)
{
	char out[64];

	if (parts->carbon_charge_micros != 0)
		lt_text_put(text, "Of that for its carbon: %s.\n",
		    lt_money_text(out, sizeof(out), parts->carbon_charge_micros, currency));
	if (parts->discount_micros != 0)
		lt_text_put(text, "Taken off already, for it waited: %s.\n",
		    lt_money_text(out, sizeof(out), parts->discount_micros, currency));
}

/* Writes what it would have cost; never more than can be shown. */
static void
put_without(struct lt_text *text, const struct sum *sum, const char *currency)
{
	char amount[128];

	if (!sum->moved) {
		lt_text_put(text, "It ran where and when it would have without lowtide.\n");
	} else if (!sum->compared) {
		lt_text_put(text, "What it would have cost without lowtide is not known.\n");
	} else {
		lt_text_put(text, "Without lowtide it would have cost %s.\n",
		    lt_amount_text(amount, sizeof(amount), &sum->without, currency, not_known));
	}
}

void
lt_end_mail_text(struct lt_message *message, uint32_t job_id, const struct lt_run *runs,
    uint32_t count, const char *currency)
{
	const struct sum sum = sum_of(runs, count);
	char name[LT_NAME_SIZE], cost[128];
	struct lt_text text = {.out = message->text, .size = sizeof(message->text)};

	copy_name(name, runs[0].name);
	lt_amount_text(cost, sizeof(cost), &sum.cost, currency, not_known);
	message->kind = LT_MESSAGE_ENDED;
	snprintf(
	    message->subject, sizeof(message->subject), "lowtide: job %u cost %s", job_id, cost);
	lt_text_put(&text, "Job %u%s%s%s of %s has ended", job_id, name[0] != '\0' ? " (" : "",
	    name, name[0] != '\0' ? ")" : "", runs[0].account);
	if (sum.tasks > 1)
		lt_text_put(&text, ", %u tasks", sum.tasks);
	if (sum.runs > 1 && sum.runs > sum.tasks)
		lt_text_put(&text, ", after %u runs", sum.runs);
	if (count == 1)
		lt_text_put(&text, " (%s)", runs[0].state_text);
	lt_text_put(&text, ". It cost %s.\n", cost);
	put_parts(&text, &sum.parts, currency);
	put_without(&text, &sum, currency);
	lt_text_put(&text, "\nWhy: lowtide explain %u\n", job_id);
	lt_message_clean(message);
}

/* Compares structs that begin with a job's id. */
static int
compare_ids(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

struct looking { /* at the list */
	const struct lt_alerter *by;
	struct lt_end_mail *due; /* by id */
	uint32_t due_count;
	struct lt_end_asked *ends; /* malloc'd: all of them, as they are met */
	uint32_t end_count;
};

static int
note_asked(struct looking *l, const struct lt_batch_job *job, const struct lt_end_asked *asked,
    struct lt_error *err)
{
	struct lt_end_mail mail = {.job_id = asked->job_id};
	struct lt_quote quote;

	if (job->admin_comment == NULL || !lt_address_is(job->mail_to) ||
	    lt_quote_unpack(&quote, job->admin_comment, strlen(job->admin_comment), NULL) != LT_OK)
		return LT_OK;
	mail.quote_id = quote.id;
	snprintf(mail.to, sizeof(mail.to), "%s", job->mail_to);
	const int code = lt_ledger_put_end_mail(l->by->ledger, &mail, err);
	if (code == LT_OK)
		l->ends[l->end_count++] = *asked;
	return code;
}

/* Notes in the ledger whether the job's user asks for a mail at the end. */
static int
look_at_end(struct looking *l, const struct lt_batch_job *job, struct lt_error *err)
{
	const struct lt_mail_state *const state = l->by->mails;
	const bool asks = job->mails_end && job->mail_to != NULL;
	struct lt_end_asked now = {
	    .job_id = job->array_job_id != 0 ? job->array_job_id : job->job_id,
	    .to = asks ? lt_crc32c(0, job->mail_to, strlen(job->mail_to)) : 0};
	struct lt_end_mail *const due =
	    l->due_count == 0
		? NULL
		: bsearch(&now.job_id, l->due, l->due_count, sizeof(*l->due), compare_ids);
	const struct lt_end_asked *const known =
	    state->end_count == 0
		? NULL
		: bsearch(&now.job_id, state->ends, state->end_count, sizeof(*known), compare_ids);

	/* It still runs, or its user no longer asks: nothing is due. */
	if (due != NULL && (!asks || job->state != LT_JOB_FINISHED))
		due->to[0] = '\0';
	if (!asks)
		return known != NULL || due != NULL
			   ? lt_ledger_drop_end_mail(l->by->ledger, now.job_id, err)
			   : LT_OK;
	if (known == NULL || known->to != now.to)
		return note_asked(l, job, &now, err);
	l->ends[l->end_count++] = now;
	return LT_OK;
}

static int
look_at_list(
    const struct lt_alerter *by, struct lt_end_mail *due, uint32_t count, struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &by->jobs->list;
	struct looking l = {.by = by,
	    .due = due,
	    .due_count = count,
	    .ends = calloc((size_t)list->count + 1, sizeof(*l.ends))};
	int code = l.ends != NULL ? LT_OK : lt_fail(err, LT_ENOMEM, "mails: out of memory");

	for (uint32_t i = 0; code == LT_OK && i < list->count; i++) {
		lt_breath(LT_TURN_READ);
		code = look_at_end(&l, &list->jobs[i], err);
	}
	if (code != LT_OK) {
		free(l.ends);
		return code;
	}
	if (l.end_count > 1)
		qsort(l.ends, l.end_count, sizeof(*l.ends), compare_ids);
	free(by->mails->ends);
	by->mails->ends = l.ends;
	by->mails->end_count = l.end_count;
	return LT_OK;
}

static int
tell_end(const struct lt_alerter *by, struct lt_spool_state *spool, const struct lt_end_mail *mail,
    struct lt_error *err)
{
	struct lt_message message = {.made_utc_s = by->now_utc_s, .to_count = 1};
	struct lt_run *runs = NULL;
	uint32_t count = 0, own = 0;
	bool waits = false; /* for slurmdbd: its row may say another thing */
	int code = lt_ledger_runs_of_job(by->ledger, mail->job_id, &runs, &count, err);

	/* Not those of a job that had the id before, nor what was cancelled before it ran. */
	for (uint32_t i = 0; i < count; i++)
		if (runs[i].quote_id == mail->quote_id && runs[i].start_utc_s > 0) {
			waits |= runs[i].provisional;
			runs[own++] = runs[i];
		}
	if (code == LT_OK && waits) {
		free(runs);
		return LT_OK;
	}
	if (code == LT_OK && own > 0) {
		lt_end_mail_text(&message, mail->job_id, runs, own, by->site->policy->currency);
		const int begin = lt_message_id_begin(message.id, mail->uid);
		snprintf(message.id + begin, sizeof(message.id) - (size_t)begin,
		    "ended-%u-%016" PRIx64, mail->job_id, mail->quote_id);
		snprintf(message.to[0], sizeof(message.to[0]), "%s", mail->to);
		code = lt_spool_write(by->site->policy->notify.spool, &message, err);
		if (code == LT_OK) {
			lt_spool_count(spool, mail->uid);
			lt_log("mail", "job=%u kind=%s id=%s", mail->job_id,
			    lt_message_row(message.kind)->word, message.id);
		}
	}
	free(runs);
	return code == LT_OK ? lt_ledger_end_mail_told(by->ledger, mail->job_id, by->now_utc_s, err)
			     : code;
}

/* Sends the due mails. A bad message stops no other; if the spool or the ledger refuses one, it
 * refuses all. */
static int
tell_ends(const struct lt_alerter *by, const struct lt_end_mail *due, uint32_t count,
    struct lt_error *err)
{
	struct lt_spool_state spool;
	int code = LT_OK, first = LT_OK;

	/* One that can't be read has room: to write there says why not. */
	(void)lt_spool_look(&spool, by->site->policy->notify.spool, NULL);
	for (uint32_t i = 0; i < count; i++) {
		struct lt_error failed = {0};

		lt_breath(LT_TURN_READ);
		if (due[i].to[0] == '\0' ||
		    (!lt_spool_has_room(&spool, due[i].uid) && spool.count < LT_SPOOL_MAX))
			continue;
		code = tell_end(by, &spool, &due[i], &failed);
		if (code != LT_OK && first == LT_OK)
			first = lt_fail(err, failed.code, "%s", failed.text);
		if (code != LT_OK && code != LT_EINPUT)
			break;
	}
	return first;
}

int
lt_end_mails_run(const struct lt_alerter *by, struct lt_error *err)
{
	struct lt_end_mail *due = NULL;
	uint32_t count = 0;
	int code = lt_ledger_begin(by->ledger, err);

	if (code != LT_OK)
		return code;
	code = lt_ledger_end_mails_due(by->ledger, USER_MAX, &due, &count, err);
	if (code == LT_OK)
		code = look_at_list(by, due, count, err);
	if (code == LT_OK)
		code = tell_ends(by, due, count, err);
	free(due);
	/* The mails written so far stay noted, with a full spool, too. */
	const int kept = lt_ledger_commit(by->ledger, err);
	if (kept != LT_OK)
		by->mails->end_count = 0;
	return code == LT_OK ? kept : code;
}

/* ---- all of them ---- */

int
lt_mails_run(const struct lt_alerter *by, struct lt_error *err)
{
	const int64_t began_ms = lt_monotonic_ms();
	const uint32_t most = asked_count(&by->jobs->list);
	struct lt_mailed *rows;
	uint32_t count = 0;

	lt_breath(LT_TURN_COMMITTED);
	rows = calloc((size_t)most + 1, sizeof(*rows));
	if (rows == NULL)
		return lt_fail(err, LT_ENOMEM, "mails: out of memory");
	int code = look_at_all(by, rows, &count, err);
	if (code == LT_OK)
		code = lt_end_mails_run(by, err);
	free(by->mails->rows);
	by->mails->rows = rows;
	by->mails->count = count;
	const int64_t wait_s = PART * (lt_monotonic_ms() - began_ms) / 1000;
	by->alerts->next.mails = by->now_utc_s + (wait_s > EVERY_S ? wait_s : EVERY_S);
	return code;
}

void
lt_mails_free(struct lt_mail_state *state)
{
	free(state->rows);
	free(state->ends);
	*state = (struct lt_mail_state){0};
}
