/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_modify: a change that may raise the cost of a job is admitted by its difference, or refused;
 * it never frees and never holds a job back. Slurm gives only the changed fields, which are laid
 * over the job's request in the terms file; lowtided's own updates carry the job's quote and pass.
 * A job that the terms do not have, or a balance that is not known, goes by on_unknown.
 */
#include "job_submit.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ask_text.h"
#include "job_change.h"
#include "job_smoke.h"
#include "text.h"

/* Slurm lets a job wait so long after a requeue: within it lowtided has looked
 * (docs/budgets.md). */
enum { REQUEUE_WAIT_S = 121 };

struct change {
	job_desc_msg_t *job;
	uint32_t job_id, uid, submit_uid;
	bool raises, releases, has_terms;
	bool not_there; /* the terms can be read, and do not have it */
	int64_t now_utc_s;
	struct lt_view view;
	struct lt_terms terms;
	/* The terms; and what they are after changes that they do not know yet, if Slurm took
	 * those. */
	struct lt_terms before[2];
	int before_count;
	char account[LT_ACCOUNT_SIZE], old_account[LT_ACCOUNT_SIZE];
	char message[LT_MESSAGE_SIZE]; /* last, for it is not zeroed */
};

static int
refuse(struct change *c, const char *text)
{
	snprintf(c->message, sizeof(c->message), "lowtide: job %u: %s", c->job_id, text);
	if (c->job_id == 0)
		snprintf(c->message, sizeof(c->message),
		    "lowtide: name the job by its number, as squeue -o %%A shows it");
	return ESLURM_ACCOUNTING_POLICY;
}

/* lowtided's own update: by SlurmUser (slurmctld's own user) or root, with
 * the quote that the terms know. */
static bool
is_ours(const struct change *c, uint32_t submit_uid)
{
	const char *const comment = c->job->admin_comment;
	struct lt_quote quote = {0};

	if (comment == NULL || (submit_uid != 0 && submit_uid != geteuid()))
		return false;
	if (lt_quote_unpack(&quote, comment, strlen(comment), NULL) != LT_OK)
		return false;
	return quote.rev > 1 && (!c->has_terms || quote.id == c->terms.quote_id);
}

static int
account_by_hash(const struct lt_budget_snapshot *snapshot, uint32_t hash)
{
	for (uint32_t i = 0; i < snapshot->account_count; i++)
		if (lt_name_hash(snapshot->accounts[i].name) == hash)
			return (int)i;
	return -1;
}

/* True if money is at stake: for the old account, the new one, or, if the job is not known, for its
 * user. */
static bool
at_stake(const struct change *c)
{
	const struct lt_budget_snapshot *const snapshot = c->view.snapshot;

	if (snapshot == NULL || snapshot->budget_count == 0)
		return false;
	if (any(c->job->account)) {
		const int account = lt_sheet_account(snapshot, c->account);

		if (account < 0 || lt_sheet_budgeted(snapshot, account))
			return true;
	}
	if (c->has_terms)
		return c->terms.flags & LT_TERMS_BUDGETED;
	/* user_id is the caller's word: it must not lead to another's account. */
	return lt_user_budgeted(snapshot, c->uid) || lt_user_budgeted(snapshot, c->submit_uid);
}

static bool
lets_pass(enum lt_rule rule)
{
	return rule == LT_RULE_ALLOW || rule == LT_RULE_WARN;
}

static int
unknown(struct change *c, enum lt_rule rule, const char *why)
{
	char text[LT_ERROR_TEXT_SIZE + 128];

	if (lets_pass(rule))
		return SLURM_SUCCESS;
	snprintf(text, sizeof(text), "this may cost more, and the balance is not known: %s", why);
	return refuse(c, text);
}

/* Would it run in a period where nothing is held for it? */
static bool
moves_period(const struct change *c, const struct lt_terms *before, const struct lt_quote *quote)
{
	const struct lt_hold held = {.account = lt_sheet_account(c->view.snapshot, c->old_account),
	    .start_utc_s = before->start_utc_s,
	    .end_utc_s = before->end_utc_s};

	return held.account < 0 ||
	       lt_sheet_new_period(c->view.snapshot, &held, quote->start_utc_s, quote->end_utc_s);
}

struct begin { /* of the window that a job had, or of its new one */
	int64_t utc_s, length_s;
};

static int
price(struct lt_quote *quote, const struct change *c, struct lt_request *request,
    const struct begin *begin, struct lt_error *err)
{
	int partitions[LT_PARTITIONS_MAX];
	int count = 0;
	const int64_t begin_utc_s = begin->utc_s > c->now_utc_s ? begin->utc_s : c->now_utc_s;

	if (__builtin_add_overflow(begin_utc_s, begin->length_s, &request->deadline_utc_s))
		request->deadline_utc_s = INT64_MAX;
	for (uint32_t i = 0; i < request->named_count; i++)
		partitions[count++] = request->named[i];
	if (count == 0)
		partitions[count++] = request->home;
	return lt_quote_hold(quote, request, c->view.market, partitions, count, begin_utc_s, err);
}

/* The job before and after the change, by one of c->before. */
struct step {
	struct lt_request request;
	struct lt_quote was, is; /* was: nothing known where not has_x */
	bool moves;
	bool loses; /* a price that it had */
};

/*
 * The hold of the job as it was at c->before[i]. slurmctld asks once for each record of an array,
 * whose tasks share one amount: a raise by the first call is never given back (ingest.c), whatever
 * Slurm then said, so it is there for the next call.
 */
static const struct lt_terms *
held_at(const struct change *c, int i)
{
	return &c->before[c->terms.tasks > 1 ? c->before_count - 1 : i];
}

static int
take_step(struct step *step, const struct change *c, int i, struct lt_error *err)
{
	const struct lt_terms *const before = &c->before[i];
	const int64_t length_s = before->end_utc_s - before->start_utc_s;
	const struct begin was = {before->start_utc_s, length_s};
	const struct begin is = {
	    c->job->begin_time > 0 ? (int64_t)c->job->begin_time : before->start_utc_s, length_s};
	bool priced = false;
	int code;

	memset(step, 0, sizeof(*step));
	code = lt_request_from_terms(&step->request, before, c->view.market, err);
	if (code == LT_OK)
		priced = price(&step->was, c, &step->request, &was, NULL) == LT_OK;
	else if (c->job->partition == NULL || !*c->job->partition)
		return code;
	code = lt_request_lay(&step->request, c->job, c->view.market, c->now_utc_s, err);
	if (code == LT_OK)
		code = price(&step->is, c, &step->request, &is, err);
	step->moves = moves_period(c, held_at(c, i), &step->is);
	step->loses =
	    ((!priced || step->was.hold_per_task.has_money) && !step->is.hold_per_task.has_money) ||
	    ((!priced || step->was.hold_per_task.has_carbon) && !step->is.hold_per_task.has_carbon);
	return code;
}

/*
 * The amount that must be held in addition, of one currency. A change that does not raise the job's
 * price needs nothing, even if prices rose since it was held. A release does, beyond a hundredth,
 * as in reprice.c.
 */
static int64_t
rise(bool releases, int64_t is, int64_t was, int64_t held)
{
	if (releases ? is - held <= held / 100 : is <= was)
		return 0;
	return is > held ? is - held : 0;
}

static void
add_rise(struct lt_amount *more, const struct change *c, const struct step *step,
    const struct lt_terms *held, bool whole)
{
	const struct lt_amount *const is = &step->is.hold_per_task;
	const struct lt_amount *const was = &step->was.hold_per_task;
	const uint32_t flags = held->flags;
	int64_t money = is->money_micros, carbon = is->carbon_mg;

	if (!whole && (flags & LT_TERMS_HAS_MONEY))
		money = rise(c->releases, money, was->has_money ? was->money_micros : -1,
		    held->hold_money_micros);
	if (!whole && (flags & LT_TERMS_HAS_CARBON))
		carbon = rise(c->releases, carbon, was->has_carbon ? was->carbon_mg : -1,
		    held->hold_carbon_mg);
	if (money > more->money_micros)
		more->money_micros = money;
	if (carbon > more->carbon_mg)
		more->carbon_mg = carbon;
	more->has_money = is->has_money;
	more->has_carbon = is->has_carbon;
}

/* Keeps the terms as they will be, for the next change. */
static void
keep_terms(
    const struct change *c, const struct step *step, bool whole, const struct lt_new_hold *entry)
{
	struct lt_terms after = c->before[c->before_count - 1];

	if (whole)
		after.hold_money_micros = after.hold_carbon_mg = 0;
	if (__builtin_add_overflow(
		after.hold_money_micros, entry->per_task.money_micros, &after.hold_money_micros) ||
	    __builtin_add_overflow(
		after.hold_carbon_mg, entry->per_task.carbon_mg, &after.hold_carbon_mg))
		return;
	after.account_hash = lt_name_hash(entry->account);
	if (entry->start_utc_s < after.start_utc_s)
		after.start_utc_s = entry->start_utc_s;
	if (entry->end_utc_s > after.end_utc_s)
		after.end_utc_s = entry->end_utc_s;
	lt_terms_lay(&after, &step->request, c->view.market);
	lt_changes_keep(&after, c->now_utc_s);
}

/* *recorded: the entry is in the ring. */
static int
judge_rise(struct change *c, const struct lt_new_hold *entry, bool *recorded)
{
	struct lt_admission admission;
	char verdict[1024];

	lt_state_admit(&admission, entry);
	*recorded = admission.recorded;
	if (entry->force || admission.standing == LT_STANDING_FREE)
		return SLURM_SUCCESS;
	if (admission.standing == LT_STANDING_UNKNOWN)
		return unknown(c, admission.on_unknown, admission.why);
	if (admission.verdict.code == LT_ADMIT || admission.verdict.rule == LT_RULE_WARN)
		return SLURM_SUCCESS;
	lt_verdict_text(verdict, sizeof(verdict), &admission.verdict, c->view.market->currency);
	for (char *p = verdict; (p = strchr(p, '\n')) != NULL;)
		*p = ' ';
	return refuse(c, verdict);
}

/*
 * Admit the difference, or all of it where the account changes, or the
 * period: the hold may lie in a later one, or beyond all that are known. Of
 * an earlier change nobody knows yet whether Slurm took it: the more of both.
 */
static int
admit_change(struct change *c)
{
	struct step steps[2], *const last = &steps[c->before_count - 1];
	struct lt_new_hold entry = {0};
	struct lt_error err = {0};
	const bool moves_account = c->account[0] != '\0' && strcmp(c->account, c->old_account) != 0;
	bool whole = moves_account, loses = false, recorded = false;
	int code = SLURM_SUCCESS;

	for (int i = 0; i < c->before_count; i++) {
		if (take_step(&steps[i], c, i, &err) != LT_OK)
			return unknown(c, c->view.snapshot->on_unknown, err.text);
		whole |= steps[i].moves;
		loses |= steps[i].loses;
	}
	for (int i = 0; i < c->before_count; i++)
		add_rise(&entry.per_task, c, &steps[i], held_at(c, i), whole);
	entry.quote_id = c->terms.quote_id;
	entry.job_id = c->job_id;
	entry.uid = c->uid;
	entry.tasks = c->terms.tasks ? c->terms.tasks : 1;
	entry.flags = LT_QUOTE_MODIFY | (whole ? (uint32_t)LT_QUOTE_WHOLE : 0);
	entry.account = moves_account ? c->account : c->old_account;
	entry.start_utc_s = last->is.start_utc_s;
	entry.end_utc_s = last->is.end_utc_s;
	entry.force = !lt_mode_may(c->view.market->mode, LT_MAY_REFUSE);
	if (whole || loses || entry.per_task.money_micros > 0 || entry.per_task.carbon_mg > 0)
		code = judge_rise(c, &entry, &recorded);
	else
		lt_state_note(&entry);
	if (!recorded) /* nothing more is held */
		entry.per_task = (struct lt_amount){0};
	if (code == SLURM_SUCCESS)
		keep_terms(c, last, whole, &entry);
	return code;
}

/* Nothing but a time limit that is not above the one it has. */
static bool
only_lowers(const struct change *c)
{
	job_desc_msg_t rest = *c->job;

	rest.time_limit = NO_VAL;
	if (c->job->time_limit == NO_VAL || c->before_count == 0 || lt_job_may_raise(&rest))
		return false;
	for (int i = 0; i < c->before_count; i++)
		if (lt_limit_from_minutes(c->job->time_limit) > (int64_t)c->before[i].limit_s)
			return false;
	return true;
}

/* Notes a change that lowers the cost, which needs no money, so that lowtided looks at the job. */
static void
note_lower(const struct change *c)
{
	const struct lt_new_hold nothing = {.quote_id = c->terms.quote_id,
	    .uid = c->uid,
	    .job_id = c->job_id,
	    .tasks = 1,
	    .flags = LT_QUOTE_MODIFY,
	    .account = c->old_account,
	    .start_utc_s = c->terms.start_utc_s,
	    .end_utc_s = c->terms.end_utc_s};

	lt_state_note(&nothing);
}

/* Refuses a change of a job that the terms do not have yet. If lowtided is away they won't have it
 * soon, and the site's rule for that decides. */
static int
not_in_terms(struct change *c, const char *text)
{
	const enum lt_rule rule = c->view.snapshot->on_unknown;

	if (lets_pass(rule) && lt_state_unknown() != NULL)
		return SLURM_SUCCESS;
	return refuse(c, text);
}

/* Before lowtided has surely looked at a job that was requeued. */
static bool
begins_soon(const struct change *c)
{
	return c->job->begin_time > 0 &&
	       (int64_t)c->job->begin_time < c->now_utc_s + REQUEUE_WAIT_S;
}

/* True if lowtide holds the job. Slurm itself lets no user release an admin's hold, but computes a
 * priority for another nice value. */
static bool
is_held(const struct change *c)
{
	const uint32_t flags = c->terms.flags;

	return flags & (LT_TERMS_OUR_HOLD | LT_TERMS_LOCKED);
}

/* True for the id of an array with a task that waits for its new run: it is not known which task is
 * meant. */
static bool
touches_all(const struct change *c)
{
	return (c->terms.flags & LT_TERMS_ARRAY_RAN) && (c->job->nice != NO_VAL || begins_soon(c));
}

/* A job that ran, by the terms, and is to begin at another time was requeued since: it would run
 * again before lowtided has looked. */
static bool
runs_again(const struct change *c)
{
	const uint32_t flags = c->terms.flags;

	return begins_soon(c) && (!(flags & LT_TERMS_PENDING) || (flags & LT_TERMS_LOCKED));
}

/*
 * 22.05 asks us before it looks whether the caller may change the job at all. Slurm's rule: the
 * owner, operators, and coordinators of its account; of both where the account changes. Of anybody
 * else nothing is held, and Slurm's "Invalid user id" is the only answer, for ours would tell the
 * balance.
 */
static bool
is_stranger(const struct change *c)
{
	const struct lt_budget_snapshot *const snapshot = c->view.snapshot;
	const uint32_t uid = c->submit_uid;

	if (!c->has_terms || uid == c->terms.uid || uid == 0 || uid == geteuid())
		return false;
	if (any(c->job->account) &&
	    !lt_sheet_manages(snapshot, uid, lt_sheet_account(snapshot, c->account)))
		return true;
	return !lt_sheet_manages(
	    snapshot, uid, account_by_hash(snapshot, c->before[c->before_count - 1].account_hash));
}

/* A job that the terms lack, by its number, of a user who has none of a budget that they could
 * lack, and does not move it into one. */
static bool
is_of_no_budget(const struct change *c)
{
	const struct lt_budget_snapshot *const snapshot = c->view.snapshot;
	const int account = lt_sheet_account(snapshot, c->account);

	return c->not_there && c->job_id != 0 && lt_asked_nothing(snapshot, c->submit_uid) &&
	       (!any(c->job->account) || (account >= 0 && !lt_sheet_budgeted(snapshot, account)));
}

/* Why a raise of the job named can't be judged; NULL = it can. */
static const char *
is_unclear(const struct change *c)
{
	const char *const id = c->job->job_id_str;

	/* The mode is not known: a budget snapshot of the others says so. */
	if (c->view.market == NULL && lets_pass(c->view.snapshot->on_unknown))
		return NULL;
	if (c->terms.flags & LT_TERMS_ARRAY_ONLY)
		return "this may cost more: name the task by its own job id, as squeue -o %A shows it";
	if ((c->terms.flags & LT_TERMS_EXPANDS) || lt_expanded_job(c->job->dependency) > 0)
		return "it takes the limit of the job that it expands, now or when it starts: submit it anew";
	/* Called once a component, with nothing to tell which: the leader's terms would let a
	 * larger one rise. */
	if ((c->terms.flags & LT_TERMS_HET_LEADER) && id != NULL && strchr(id, '+') == NULL)
		return "this may cost more, and the job is heterogeneous: name the component, as in 12+0";
	return NULL;
}

static int
judge_change(struct change *c)
{
	const struct lt_budget_snapshot *const snapshot = c->view.snapshot;
	int account;

	if (!at_stake(c) || is_stranger(c) || is_of_no_budget(c))
		return SLURM_SUCCESS;
	if (c->releases && !c->has_terms)
		return not_in_terms(c, "not yet known to lowtide: try again in a few seconds");
	if (c->releases && is_held(c))
		return refuse(c, "held by lowtide, which releases it when the budget allows it");
	if (c->has_terms && touches_all(c))
		return refuse(c,
		    "a task of this array runs or has run: name those that wait by their own job ids, as squeue -o %A shows them");
	if (c->has_terms && runs_again(c))
		return refuse(
		    c, "requeued, and its new run is not yet admitted: try again in a few seconds");
	/* A release may be in a dear hour. To that of an array or het job as a whole reprice.c
	 * alone sees. */
	if (!c->raises && (!(c->terms.flags & LT_TERMS_PENDING) || is_unclear(c) != NULL))
		return SLURM_SUCCESS;
	if (!c->has_terms)
		return not_in_terms(c,
		    "this may cost more, and the job is not yet known to lowtide: try again in a few seconds");
	if (is_unclear(c) != NULL)
		return refuse(c, is_unclear(c));
	account = account_by_hash(snapshot, c->before[c->before_count - 1].account_hash);
	if (account >= 0)
		snprintf(
		    c->old_account, sizeof(c->old_account), "%s", snapshot->accounts[account].name);
	if (only_lowers(c)) {
		note_lower(c);
		return SLURM_SUCCESS;
	}
	if (c->view.market == NULL)
		return unknown(c, snapshot->on_unknown, "lowtided's market snapshot can't be read");
	return admit_change(c);
}

static int
judge_smoke(struct change *c)
{
	const struct lt_smoke_change change = {.job = c->job,
	    .view = &c->view,
	    .before = c->before,
	    .before_count = c->before_count,
	    .now_utc_s = c->now_utc_s};
	char text[LT_ERROR_TEXT_SIZE + 128];

	return lt_change_lacks_smoke(text, sizeof(text), &change) ? refuse(c, text) : SLURM_SUCCESS;
}

int
lt_modify(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg)
{
	struct change c;
	int code;

	memset(&c, 0, offsetof(struct change, message));
	c.message[0] = '\0';
	c.job = job;
	c.raises = lt_job_may_raise(job);
	/* Slurm computes the priority anew for another nice value, of a held job too: it would
	 * start. */
	c.releases = (job->priority != NO_VAL && job->priority != 0) || job->nice != NO_VAL;
	/* As lowtided's own updates: of most nothing is looked at. */
	if (!c.raises && !c.releases && !any(job->name) && !any(job->qos))
		return SLURM_SUCCESS;
	lt_state_refresh();
	lt_state_view(&c.view);
	const bool may_need_smoke = lt_smoke_may_matter(c.view.market, job);
	if (c.view.off.is_off || !(c.raises || c.releases || may_need_smoke)) {
		lt_state_release(&c.view);
		return SLURM_SUCCESS;
	}
	c.job_id = lt_changed_job_id(job);
	c.submit_uid = submit_uid;
	c.now_utc_s = (int64_t)time(NULL);
	lt_lower_copy(c.account, sizeof(c.account), job->account);
	code = lt_terms_find(lt_state_terms_path(), c.job_id, &c.terms, NULL);
	c.has_terms = code == LT_OK;
	c.not_there = code == LT_ENOENT;
	if (c.has_terms)
		c.before[c.before_count++] = c.terms;
	if (c.has_terms && lt_changes_find(&c.before[1], &c.terms))
		c.before_count++;
	c.uid = c.has_terms ? c.terms.uid : job->user_id != NO_VAL ? job->user_id : submit_uid;
	const bool is_own = is_ours(&c, submit_uid);
	code = is_own || !(c.raises || c.releases) ? SLURM_SUCCESS : judge_change(&c);
	if (code == SLURM_SUCCESS && may_need_smoke && !is_own && !is_stranger(&c))
		code = judge_smoke(&c);
	/* Other modes hold what they can and refuse nothing. */
	if (c.view.market != NULL && !lt_mode_may(c.view.market->mode, LT_MAY_REFUSE)) {
		code = SLURM_SUCCESS;
		c.message[0] = '\0';
	}
	lt_state_release(&c.view);
	lt_text_line(c.message); /* names in it are words of the user */
	if (code != SLURM_SUCCESS)
		slurm_info("%s", c.message); /* 22.05 has no other way */
	lt_message_give(err_msg, c.message);
	return code;
}
