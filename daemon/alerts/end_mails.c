/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a run's row comes slurmctld may have forgotten the job: who asks is in
 * the ledger from when it was first seen. What a user's share of the spool has
 * no room for waits there, and keeps nobody else's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"
#include "breath.h"
#include "daemon.h"
#include "end_mails.h"
#include "log.h"
#include "mailed.h"
#include "spool.h"
#include "text.h"
#include "units.h"

/* Of one user in a pass: twice what the spool has room for. */
enum { USER_MAX = 2 * LT_SPOOL_USER_MAX };

static const char not_known[] = "what is not known yet";

struct sum {
	uint32_t runs, tasks;
	bool moved, compared;
	struct lt_amount cost, without;
	struct lt_parts parts;
};

static struct sum
sum_of(const struct lt_run *runs, uint32_t count)
{
	struct sum sum = {
	    .compared = true, .cost = {.has_money = true, .has_carbon = true}};

	for (uint32_t i = 0; i < count; i++) {
		const struct lt_run *const run = &runs[i];

		sum.runs += run->end_utc_s > run->start_utc_s;
		sum.tasks +=
		    run->array_job_id != 0 &&
		    (i == 0 || run->key.job_id != runs[i - 1].key.job_id);
		sum.moved |= run->moved;
		sum.compared &= lt_baseline_known(run);
		sum.cost.has_money &= run->priced;
		sum.cost.has_carbon &= run->has_carbon;
		sum.cost.money_micros += run->money_micros;
		sum.cost.carbon_mg += run->carbon_mg;
		sum.without.money_micros += run->baseline_money_micros;
		sum.without.carbon_mg += run->baseline_carbon_mg;
		sum.parts.carbon_charge_micros +=
		    run->parts.carbon_charge_micros;
		sum.parts.discount_micros += run->parts.discount_micros;
	}
	/* What is not known of one is known of neither. */
	sum.without.has_money = sum.cost.has_money;
	sum.without.has_carbon = sum.cost.has_carbon;
	return sum;
}

static void
put_parts(
    struct lt_text *text, const struct lt_parts *parts, const char *currency)
{
	char out[64];

	if (parts->carbon_charge_micros != 0)
		lt_text_put(text, "Of that for its carbon: %s.\n",
		    lt_money_text(out, sizeof(out), parts->carbon_charge_micros,
			currency));
	if (parts->discount_micros != 0)
		lt_text_put(text, "Taken off already, for it waited: %s.\n",
		    lt_money_text(
			out, sizeof(out), parts->discount_micros, currency));
}

/* What it would have cost; never more than can be shown. */
static void
put_without(struct lt_text *text, const struct sum *sum, const char *currency)
{
	char amount[128];

	if (!sum->moved) {
		lt_text_put(text,
		    "It ran where and when it would have without lowtide.\n");
	} else if (!sum->compared) {
		lt_text_put(text,
		    "What it would have cost without lowtide is not known.\n");
	} else {
		lt_text_put(text, "Without lowtide it would have cost %s.\n",
		    lt_amount_text(amount, sizeof(amount), &sum->without,
			currency, not_known));
	}
}

void
lt_end_mail_text(struct lt_message *message, uint32_t job_id,
    const struct lt_run *runs, uint32_t count, const char *currency)
{
	const struct sum sum = sum_of(runs, count);
	char name[LT_NAME_SIZE], cost[128];
	struct lt_text text = {
	    .out = message->text, .size = sizeof(message->text)};

	/* A name is its user's: no lines of his in a mail of the site's. */
	lt_copy(name, sizeof(name), runs[0].name);
	lt_text_line(name);
	lt_amount_text(cost, sizeof(cost), &sum.cost, currency, not_known);
	message->kind = LT_MESSAGE_ENDED;
	snprintf(message->subject, sizeof(message->subject),
	    "lowtide: job %u cost %s", job_id, cost);
	lt_text_put(&text, "Job %u%s%s%s of %s has ended", job_id,
	    name[0] != '\0' ? " (" : "", name, name[0] != '\0' ? ")" : "",
	    runs[0].account);
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

/* Of what begins with a job's id. */
static int
by_id(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

struct looking { /* at the list */
	struct lt_daemon *d;
	struct lt_end_mail *due; /* by id */
	uint32_t due_count;
	struct lt_end_asked *ends; /* malloc'd: all of them, as they are met */
	uint32_t end_count;
};

static int
note(struct looking *l, const struct lt_batch_job *job,
    const struct lt_end_asked *asked, struct lt_error *err)
{
	struct lt_end_mail mail = {.job_id = asked->job_id};
	struct lt_quote quote;

	if (job->admin_comment == NULL || !lt_address_is(job->mail_to) ||
	    lt_quote_unpack(&quote, job->admin_comment,
		strlen(job->admin_comment), NULL) != LT_OK)
		return LT_OK;
	mail.quote_id = quote.id;
	snprintf(mail.to, sizeof(mail.to), "%s", job->mail_to);
	const int code = lt_ledger_put_end_mail(l->d->ledger, &mail, err);
	if (code == LT_OK)
		l->ends[l->end_count++] = *asked;
	return code;
}

/* What the ledger is to have of who asks, and who asks no more. */
static int
look_at(struct looking *l, const struct lt_batch_job *job, struct lt_error *err)
{
	const struct lt_mail_state *const state = &l->d->mails;
	const bool asks = job->mails_end && job->mail_to != NULL;
	struct lt_end_asked now = {
	    job->array_job_id != 0 ? job->array_job_id : job->job_id,
	    asks ? lt_crc32c(0, job->mail_to, strlen(job->mail_to)) : 0};
	struct lt_end_mail *const due =
	    l->due_count == 0 ? NULL
			      : bsearch(&now.job_id, l->due, l->due_count,
				    sizeof(*l->due), by_id);
	const struct lt_end_asked *const known =
	    state->end_count == 0
		? NULL
		: bsearch(&now.job_id, state->ends, state->end_count,
		      sizeof(*known), by_id);

	/* It goes on, or he asks no more: nothing is due. */
	if (due != NULL && (!asks || job->state != LT_JOB_FINISHED))
		due->to[0] = '\0';
	if (!asks)
		return known != NULL || due != NULL
			   ? lt_ledger_drop_end_mail(
				 l->d->ledger, now.job_id, err)
			   : LT_OK;
	if (known == NULL || known->to != now.to)
		return note(l, job, &now, err);
	l->ends[l->end_count++] = now;
	return LT_OK;
}

static int
look_at_list(struct lt_daemon *d, struct lt_end_mail *due, uint32_t count,
    struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &d->jobs.list;
	struct looking l = {.d = d,
	    .due = due,
	    .due_count = count,
	    .ends = calloc((size_t)list->count + 1, sizeof(*l.ends))};
	int code = l.ends != NULL
		       ? LT_OK
		       : lt_fail(err, LT_ENOMEM, "mails: out of memory");

	for (uint32_t i = 0; code == LT_OK && i < list->count; i++) {
		lt_breath(LT_TURN_READ);
		code = look_at(&l, &list->jobs[i], err);
	}
	if (code != LT_OK) {
		free(l.ends);
		return code;
	}
	if (l.end_count > 1)
		qsort(l.ends, l.end_count, sizeof(*l.ends), by_id);
	free(d->mails.ends);
	d->mails.ends = l.ends;
	d->mails.end_count = l.end_count;
	return LT_OK;
}

static int
tell(struct lt_daemon *d, struct lt_spool_state *spool,
    const struct lt_end_mail *mail, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_message message = {.made_utc_s = now_utc_s, .to_count = 1};
	struct lt_run *runs = NULL;
	uint32_t count = 0, own = 0;
	bool waits = false; /* for slurmdbd: its row may say another thing */
	int code =
	    lt_ledger_runs_of_job(d->ledger, mail->job_id, &runs, &count, err);

	/* Not those of a job that had the id before, nor what was cancelled
	 * before it ran. */
	for (uint32_t i = 0; i < count; i++)
		if (runs[i].quote_id == mail->quote_id &&
		    runs[i].start_utc_s > 0) {
			waits |= runs[i].provisional;
			runs[own++] = runs[i];
		}
	if (code == LT_OK && waits) {
		free(runs);
		return LT_OK;
	}
	if (code == LT_OK && own > 0) {
		lt_end_mail_text(&message, mail->job_id, runs, own,
		    d->site.policy->currency);
		const int begin = lt_message_id_begin(message.id, mail->uid);
		snprintf(message.id + begin, sizeof(message.id) - (size_t)begin,
		    "ended-%u-%016" PRIx64, mail->job_id, mail->quote_id);
		snprintf(message.to[0], sizeof(message.to[0]), "%s", mail->to);
		code =
		    lt_spool_write(d->site.policy->notify.spool, &message, err);
		if (code == LT_OK) {
			lt_spool_count(spool, mail->uid);
			lt_log("mail", "job=%u kind=%s id=%s", mail->job_id,
			    lt_message_kind_word(message.kind), message.id);
		}
	}
	free(runs);
	return code == LT_OK ? lt_ledger_end_mail_told(
				   d->ledger, mail->job_id, now_utc_s, err)
			     : code;
}

/* A message that is none keeps nobody; what the spool or the ledger refuses,
 * it refuses for all. */
static int
tell_due(struct lt_daemon *d, const struct lt_end_mail *due, uint32_t count,
    int64_t now_utc_s, struct lt_error *err)
{
	struct lt_spool_state spool;
	int code = LT_OK;

	/* One that can't be read has room: to write there says why not. */
	(void)lt_spool_look(&spool, d->site.policy->notify.spool, NULL);
	for (uint32_t i = 0; i < count; i++) {
		struct lt_error failed = {0};

		lt_breath(LT_TURN_READ);
		if (due[i].to[0] == '\0' ||
		    (!lt_spool_has_room(&spool, due[i].uid) &&
			spool.count < LT_SPOOL_MAX))
			continue;
		code = tell(d, &spool, &due[i], now_utc_s, &failed);
		if (code != LT_OK)
			(void)lt_fail(err, failed.code, "%s", failed.text);
		if (code != LT_OK && code != LT_EINPUT)
			break;
	}
	return err != NULL ? (int)err->code : code;
}

int
lt_end_mails_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_end_mail *due = NULL;
	uint32_t count = 0;
	int code = lt_ledger_begin(d->ledger, err);

	if (code != LT_OK)
		return code;
	code = lt_ledger_end_mails_due(d->ledger, USER_MAX, &due, &count, err);
	if (code == LT_OK)
		code = look_at_list(d, due, count, err);
	if (code == LT_OK)
		code = tell_due(d, due, count, now_utc_s, err);
	free(due);
	/* What was told stays noted, with a full spool, too. */
	const int kept = lt_ledger_commit(d->ledger, err);
	if (kept != LT_OK)
		d->mails.end_count = 0;
	return code == LT_OK ? kept : code;
}
