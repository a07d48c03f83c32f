/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prices a submission as it will be, holds it against the budgets that bind it, and acts on the
 * verdict: reject, hold or warn. Every job comes through here; docs/budgets has the rules. A price
 * or balance that is not known is a failure: on_unknown decides whether the job passes, is held or
 * is rejected.
 */
#include "job_submit.h"

#include <stdio.h>
#include <string.h>

#include "array_text.h"
#include "plan_text.h"
#include "refusal.h"
#include "size.h"
#include "units.h"

/* Without a market the mode is not known: the budget snapshot's rule is that of the mode. */
static bool
may(const struct lt_submission *s, enum lt_may what)
{
	return s->view.market == NULL || lt_mode_may(s->view.market->mode, what);
}

/* srun, salloc and scrontab can't be held: for them hold means reject. */
static bool
can_be_held(const struct lt_submission *s)
{
	return !(s->request.pins & (LT_PIN_INTERACTIVE | LT_PIN_CRON));
}

/* Everything of the quote but the hold. */
static void
fill_quote(struct lt_submission *s)
{
	struct lt_quote *const quote = &s->quote;
	const struct lt_request *const request = &s->request;
	const struct lt_market *const market = s->view.market;
	const struct lt_plan *const plan = s->plan;

	quote->id = lt_state_quote_id();
	quote->rev = 1;
	lt_quote_of_request(quote, request, market->mode);
	if (s->job->priority == 0)
		quote->flags |= LT_QUOTE_USER_HOLD;
	if (!s->known || plan->chosen.partition < 0 || plan->home.partition < 0)
		return;
	const struct lt_case of = {.market = market,
	    .plan = plan,
	    .run = {.kind = s->run_kind,
		.expected = lt_expected_of(request),
		.limit_s = lt_limit_of(request, market, request->home)}};

	lt_quote_of_plan(quote, &of);
	/* Its node may be taken back, and it may prove that it resumes, wherever it runs: known
	 * here and never again. */
	if (request->objective != LT_OBJECTIVE_OFF || request->checkpoint.enabled)
		lt_wish_of_request(&quote->wish, request);
}

/* True if a budget binds the account, or if it is not known. */
static bool
may_be_budgeted(const struct lt_submission *s)
{
	const struct lt_budget_snapshot *const snapshot = s->view.snapshot;
	int account;

	if (snapshot == NULL || snapshot->budget_count == 0)
		return false;
	account = lt_sheet_account(snapshot, s->request.account);
	return account < 0 || lt_sheet_budgeted(snapshot, account);
}

/* Limits a job to the nodes that it needs, and holds for these, where more nodes cost more. A job
 * that no budget limits, or that is only watched, is left alone. */
static void
bound_nodes(struct lt_submission *s, const int *partitions, int count)
{
	if (!may(s, LT_MAY_EDIT) || !may_be_budgeted(s))
		return;
	s->node_bound = lt_nodes_bound(&s->request, s->view.market, partitions, count);
	if (s->node_bound == 0)
		return;
	s->node_least = UINT32_MAX;
	for (int i = 0; i < count; i++) {
		const uint32_t least = s->view.market->partitions[partitions[i]].min_nodes;

		if (least < s->node_least)
			s->node_least = least;
	}
	s->request.max_nodes = s->node_bound;
	s->request.nodes_open = false;
}

/* slurmctld lowers a maximum of nodes to the GPUs when it makes the job, but not one that is set
 * later: gres_job_state_validate(). */
static void
lower_maximum(struct lt_request *request)
{
	const uint64_t gpus = lt_gpus_in_total(request);

	if (request->nodes_open || gpus == 0)
		return;
	if (request->max_nodes > gpus)
		request->max_nodes = (uint32_t)gpus;
	if (request->max_nodes < request->min_nodes)
		request->max_nodes = request->min_nodes;
}

bool
lt_submission_price(struct lt_submission *s)
{
	int partitions[LT_PARTITIONS_MAX];
	int64_t earliest_utc_s;
	const int count = lt_edits_places(
	    partitions, &earliest_utc_s, &s->request, s->edits.moves ? s->plan : NULL);

	lower_maximum(&s->request);
	bound_nodes(s, partitions, count);
	if (lt_quote_hold(&s->quote, &s->request, s->view.market, partitions, count, earliest_utc_s,
		&s->error) != LT_OK)
		return false;
	if (s->request.has_available && (s->edits.tells || s->options.plan)) {
		struct lt_amount available;

		lt_state_available(&available, LT_RULES_BIND, &s->request, s->quote.start_utc_s,
		    s->quote.end_utc_s);
		s->request.left = lt_left_behind(&available, &s->quote);
	}
	return true;
}

/* Returns the verdict for a component: by the wish of the whole job, without the holds of the
 * components before it. */
static struct lt_verdict
verdict_of_all(const struct lt_submission *s)
{
	struct lt_verdict all = s->admission.verdict;
	const struct lt_amount *const held = &s->het.held;
	const int64_t before = all.is_carbon ? held->carbon_mg : held->money_micros;

	if (all.code != LT_OVER || before <= 0 || all.held < before)
		return all;
	all.asked += before;
	all.held -= before;
	all.available += before;
	return all;
}

static void
tell_over(struct lt_submission *s)
{
	const struct lt_verdict all = verdict_of_all(s);
	const struct lt_verdict *const verdict = &all;
	struct lt_over over = {.verdict = verdict,
	    .request = &s->request,
	    .market = s->view.market,
	    .plan = s->known && !s->edits.moves ? s->plan : NULL,
	    .asked = s->asked};
	char text[LT_ERROR_TEXT_SIZE * 4];

	lt_state_available(
	    &over.available, LT_RULES_BIND, &s->request, s->quote.start_utc_s, s->quote.end_utc_s);
	lt_over_text(text, sizeof(text), &over);
	lt_say(s, "%s", text);
}

/* Says the same as a note, for a job that passes, or is held. */
static void
note_over(struct lt_submission *s, const char *what)
{
	const struct lt_verdict all = verdict_of_all(s);

	lt_over_note(&s->edits.notes, what, &all, s->view.market->currency);
}

/* Keep the job back: what Slurm makes of priority 0 is a user hold; lowtided makes it an admin
 * hold, and job_modify guards it until then. */
static void
hold_back(struct lt_submission *s, uint32_t flag)
{
	if (!(s->quote.flags & LT_QUOTE_USER_HOLD)) {
		s->job->priority = 0;
		s->held = true;
	}
	s->quote.flags |= flag;
}

static void
make_entry(struct lt_new_hold *entry, const struct lt_submission *s)
{
	memset(entry, 0, sizeof(*entry));
	entry->quote_id = s->quote.id;
	entry->uid = s->request.uid;
	entry->tasks = s->quote.tasks;
	entry->flags = s->quote.flags;
	entry->account = s->request.account;
	entry->per_task = s->quote.hold_per_task;
	entry->start_utc_s = s->quote.start_utc_s;
	entry->end_utc_s = s->quote.end_utc_s;
	entry->force = !may(s, LT_MAY_REFUSE);
	/* A table of cron jobs comes at once, and has no --test-only. */
	entry->is_bounded = !(s->request.pins & LT_PIN_CRON);
	entry->own = s->het.held;
}

/* True if lowtided has seen the account. */
static bool
is_known(const struct lt_submission *s)
{
	return s->view.snapshot != NULL &&
	       lt_sheet_account(s->view.snapshot, s->request.account) >= 0;
}

/* No job is made: only what is noted here lets lowtided count it. Names that nobody knows are the
 * user's invention. */
static int
refuse(const struct lt_submission *s, uint32_t why)
{
	struct lt_new_hold entry;

	make_entry(&entry, s);
	entry.flags = LT_QUOTE_REFUSED | why;
	entry.per_task = (struct lt_amount){.has_money = true, .has_carbon = true};
	if (!is_known(s))
		entry.account = "";
	lt_state_note(&entry);
	return ESLURM_ACCOUNTING_POLICY;
}

/* Turns hold into reject for srun, salloc and scrontab, which can't wait. */
static enum lt_rule
rule_for(const struct lt_submission *s, enum lt_rule rule)
{
	return rule == LT_RULE_HOLD && !can_be_held(s) ? LT_RULE_REJECT : rule;
}

static void
note_unknown(struct lt_submission *s, const char *why)
{
	struct lt_brief *const notes = &s->edits.notes;

	lt_brief_put(notes, LT_NOTE_BUDGET, "; ", "%sthe balance", s->held ? "held until " : "");
	if (s->request.account[0] != '\0')
		lt_brief_put(
		    notes, 2 * LT_NOTE_DETAILS + LT_NOTE_BUDGET, "", " of %s", s->request.account);
	lt_brief_put(notes, LT_NOTE_BUDGET, "", " is %sknown", s->held ? "" : "not ");
	lt_brief_put(notes, LT_NOTE_LEFT, ": ", "%s", why);
}

/* Acts on a balance that is not known: a message, and what the rule wants. */
static int
act_on_unknown(struct lt_submission *s, enum lt_rule rule, const char *why)
{
	const bool no_limit = s->error.code == LT_EINPUT;

	if (!may(s, LT_MAY_REFUSE)) {
		if (s->asked)
			note_unknown(s, why);
		return SLURM_SUCCESS;
	}
	if (rule == LT_RULE_ALLOW || rule == LT_RULE_WARN) {
		if (rule == LT_RULE_WARN)
			note_unknown(s, why);
		return SLURM_SUCCESS;
	}
	if (no_limit) { /* waiting does not help */
		lt_say(s, "this job of %s can't be priced: %s.", s->request.account, s->error.text);
		return refuse(s, LT_QUOTE_UNKNOWN);
	}
	if (rule_for(s, rule) == LT_RULE_HOLD) {
		hold_back(s, LT_QUOTE_UNKNOWN);
		note_unknown(s, why);
		return SLURM_SUCCESS;
	}
	lt_say(s, "%s%s%s: %s.", s->request.account[0] ? "" : "the account", s->request.account,
	    is_known(s) ? " has a budget, and its balance is not known" : "", why);
	return rule_for(s, rule) == LT_RULE_REJECT ? refuse(s, LT_QUOTE_UNKNOWN) : SLURM_SUCCESS;
}

/* Holds a job until lowtide sees the account in some seconds; srun is to try again. */
static int
act_on_unseen(struct lt_submission *s)
{
	char text[LT_ERROR_TEXT_SIZE * 2];

	if (rule_for(s, LT_RULE_HOLD) == LT_RULE_HOLD) {
		hold_back(s, LT_QUOTE_BUDGET_HOLD);
		lt_brief_put(&s->edits.notes, LT_NOTE_BUDGET, "; ",
		    "held some seconds, until lowtide sees your other jobs");
		return SLURM_SUCCESS;
	}
	lt_verdict_text(text, sizeof(text), &s->admission.verdict, s->view.market->currency);
	lt_say(s, "%s Try again in some seconds.", text);
	return refuse(s, LT_QUOTE_BUDGET_HOLD);
}

static int
act_on_verdict(struct lt_submission *s)
{
	static const char over[] = "over the budget";
	const struct lt_verdict all = verdict_of_all(s);

	if (all.code == LT_ADMIT)
		return SLURM_SUCCESS;
	if (!may(s, LT_MAY_REFUSE)) {
		if (s->asked || lt_mode_may(s->view.market->mode, LT_MAY_ADVISE))
			note_over(s, "over the budget, not enforced");
		return SLURM_SUCCESS;
	}
	if (all.is_unseen)
		return act_on_unseen(s);
	switch (rule_for(s, all.rule)) {
	case LT_RULE_REJECT:
		tell_over(s);
		return refuse(s, LT_QUOTE_BUDGET_HOLD);
	case LT_RULE_HOLD:
		hold_back(s, LT_QUOTE_BUDGET_HOLD);
		note_over(s, !s->held ? over
			     : all.limit >= 0 && all.asked > all.limit
				 ? "held until the budget is raised or --time lowered"
				 : "held until the budget allows it");
		break;
	case LT_RULE_WARN:
	case LT_RULE_ALLOW:
	case LT_RULE_COUNT:
		note_over(s, over);
		break;
	}
	return SLURM_SUCCESS;
}

int
lt_submission_admit(struct lt_submission *s)
{
	struct lt_new_hold entry;

	fill_quote(s);
	if (!s->known || !lt_submission_price(s)) {
		/* No amount: where a budget limits, that is unknown. */
		memset(&s->quote.hold_per_task, 0, sizeof(s->quote.hold_per_task));
		s->quote.start_utc_s = s->quote.end_utc_s = s->now_utc_s;
	}
	s->quote.tasks = s->request.array_tasks;
	make_entry(&entry, s);
	lt_state_admit(&s->admission, &entry);
	lt_het_held(s);
	switch (s->admission.standing) {
	case LT_STANDING_FREE:
		break;
	case LT_STANDING_UNKNOWN:
		return act_on_unknown(s, s->admission.on_unknown,
		    s->error.text[0] ? s->error.text : s->admission.why);
	case LT_STANDING_JUDGED:
		return act_on_verdict(s);
	}
	return SLURM_SUCCESS;
}

/* Lets lowtided recognise its hold, price the job and release it. */
static void
fill_blind_quote(struct lt_submission *s)
{
	struct lt_quote *const quote = &s->quote;
	uint32_t at_once;

	quote->id = lt_state_quote_id();
	quote->rev = 1;
	quote->mode = LT_MODE_ENFORCE;
	quote->start_utc_s = quote->end_utc_s = s->now_utc_s;
	if (s->job->array_inx == NULL ||
	    lt_array_count(s->job->array_inx, 0, &quote->tasks, &at_once, NULL) != LT_OK)
		quote->tasks = 1;
	snprintf(quote->account, sizeof(quote->account), "%s", s->request.account);
	if (s->job->priority == 0)
		quote->flags |= LT_QUOTE_USER_HOLD;
}

int
lt_submission_blind(struct lt_submission *s)
{
	struct lt_request *const request = &s->request;
	const struct lt_budget_snapshot *const snapshot = s->view.snapshot;
	int account;

	if (snapshot == NULL || snapshot->budget_count == 0)
		return SLURM_SUCCESS;
	request->uid = s->job->user_id;
	if (s->job->script == NULL && s->job->script_buf == NULL && !s->het.is_batch)
		request->pins |= LT_PIN_INTERACTIVE;
	if (s->job->bitflags & CRON_JOB)
		request->pins |= LT_PIN_CRON;
	lt_lower_copy(request->account, sizeof(request->account), s->job->account);
	account = request->account[0] ? lt_sheet_account(snapshot, request->account)
				      : lt_sheet_default_account(snapshot, request->uid);
	if (account >= 0)
		snprintf(request->account, sizeof(request->account), "%s",
		    snapshot->accounts[account].name);
	if (account >= 0 && !lt_sheet_budgeted(snapshot, account))
		return SLURM_SUCCESS;
	fill_blind_quote(s);
	return act_on_unknown(s, snapshot->on_unknown,
	    snapshot->missing != NULL ? snapshot->missing
				      : "lowtided's market snapshot can't be read");
}
