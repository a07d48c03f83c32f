/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * require_smoke: finds whether a submission, or a change of a job, needs a smoke run that it has
 * not had, before the job is priced. Reads the market, the terms and the smoke runs of the
 * snapshot. If these are not known, on_unknown decides.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_change.h"
#include "job_smoke.h"
#include "plan_text.h"
#include "size.h"
#include "smoke.h"
#include "units.h"

struct who {
	uint32_t uid;
	const char *account;
	uint32_t name_hash;
	int64_t now_utc_s;
};

static enum lt_smoke
look_up(
    const struct lt_view *view, const struct lt_class *class, int64_t node_s, const struct who *who)
{
	const struct lt_history_key key = lt_smoke_key(who->uid, who->account, who->name_hash);
	struct lt_history_figures figures;
	/* Without the snapshot the account is not known, either. */
	const bool is_known = view->history != NULL && view->snapshot != NULL &&
			      lt_history_find_one(&figures, key, view->history, NULL) == LT_OK;

	return lt_smoke_judge(class, node_s, is_known ? &figures : NULL, who->now_utc_s);
}

static bool
wants_smoke(const struct lt_class *class)
{
	return class != NULL && class->smoke_within_s > 0;
}

/* True if on_unknown rejects what is not known: a hold would wait for nothing that comes. */
static bool
binds_unknown(const struct lt_view *view)
{
	return view->snapshot != NULL && view->snapshot->on_unknown != LT_RULE_ALLOW &&
	       view->snapshot->on_unknown != LT_RULE_WARN;
}

/* Which of two wants a smoke run of smaller jobs. */
static const struct lt_class *
stricter(const struct lt_class *found, const struct lt_class *class)
{
	return wants_smoke(class) && (!wants_smoke(found) ||
					 class->smoke_above_node_s < found->smoke_above_node_s)
		   ? class
		   : found;
}

/* Slurm may start it in any of the partitions that it names: of their classes the one that wants a
 * smoke run of the smallest jobs. */
static const struct lt_class *
strictest(const struct lt_request *request, const struct lt_market *market)
{
	const struct lt_class *found = lt_request_class(request, market);

	for (uint32_t i = 0; i < request->named_count; i++)
		found = stricter(found,
		    lt_market_class(market, &(struct lt_class_of){.account = request->account,
						.qos = request->qos,
						.name = request->name,
						.partition = request->named[i]}));
	return found;
}

void
lt_submission_smoke(struct lt_submission *s)
{
	const struct lt_class *const class =
	    s->known ? strictest(&s->request, s->view.market) : NULL;
	const int64_t own_s = wants_smoke(class) ? lt_smoke_node_s(&s->request, s->view.market) : 0;

	/* The limit counts for all components together. */
	s->smoke_node_s = lt_het_node_s(s, own_s);
	s->smoke = LT_SMOKE_FREE;
	if (!wants_smoke(class))
		return;
	s->smoke = look_up(&s->view, class, s->smoke_node_s,
	    &(struct who){.uid = s->request.uid,
		.account = s->request.account,
		.name_hash = lt_smoke_name_hash(s->job->name != NULL ? s->job->name : ""),
		.now_utc_s = s->now_utc_s});
}

/* On the first that it may run on: what it names, else its home. */
static uint32_t
likely_nodes(const struct lt_submission *s)
{
	const struct lt_request *const request = &s->request;
	const int partition = request->named_count > 0 ? request->named[0] : request->home;

	return partition >= 0 ? lt_share_likely(request, s->view.market, partition).nodes
			      : request->min_nodes;
}

static void
say_smoke(struct lt_submission *s)
{
	enum { TEXT_BYTES = 2048 };
	char *const text = malloc(TEXT_BYTES);

	if (text == NULL)
		return;
	lt_smoke_text(text, TEXT_BYTES,
	    &(struct lt_smoke_job){.class = strictest(&s->request, s->view.market),
		.request = &s->request,
		.nodes = likely_nodes(s),
		.node_s = s->smoke_node_s,
		.name = s->job->name != NULL ? s->job->name : "",
		.command = (const char *const *)s->job->argv,
		.command_count = s->job->argv != NULL ? s->job->argc : 0});
	/* A command is copied: its line stays whole. */
	char *const command = strchr(text, '\n');

	if (command != NULL)
		*command = '\0';
	lt_say(s, "%s", text);
	if (command != NULL)
		lt_say_lines(s, command + 1);
	free(text);
}

bool
lt_submission_smoke_refuses(struct lt_submission *s)
{
	/* As without a market, too. */
	if (s->smoke == LT_SMOKE_FREE || s->smoke == LT_SMOKE_DONE)
		return false;
	const enum lt_mode mode = s->view.market->mode;
	const bool may = lt_mode_may(mode, LT_MAY_REFUSE);
	const bool tells = may || s->options.plan || s->asked || lt_mode_may(mode, LT_MAY_ADVISE);

	if (s->smoke == LT_SMOKE_UNKNOWN) {
		if (tells)
			lt_say(s,
			    "whether %s had its smoke run is not known: lowtided's file of run lengths can't be read",
			    s->job->name != NULL ? s->job->name : "the job");
		return may && binds_unknown(&s->view);
	}
	s->quote.flags |= LT_QUOTE_NO_SMOKE;
	if (tells && (may || s->options.plan))
		say_smoke(s);
	else if (tells)
		lt_brief_put(&s->edits.notes, LT_NOTE_SMOKE, "; ",
		    "mode %s: it goes on without the smoke run of its class", lt_mode_name(mode));
	return may;
}

/* ---- changes ---- */

static bool
is_same(const char *rule, uint32_t hash)
{
	return rule[0] == '\0' || lt_name_hash(rule) == hash;
}

/* As lt_market_class(), of names that are known by their hashes. Whether a job's name is like a
 * pattern no hash shows: it is of the stricter class. */
static const struct lt_class *
class_there(const struct lt_market *market, const struct lt_terms *terms, uint32_t partition_hash)
{
	const struct lt_class *found = NULL;

	for (uint32_t i = 0; i < market->class_count; i++) {
		const struct lt_class *const class = &market->classes[i];

		if (!is_same(class->account, terms->account_hash) ||
		    !is_same(class->qos, terms->qos_hash) ||
		    !is_same(class->partition, partition_hash))
			continue;
		found = stricter(found, class);
		if (class->patterns[0] == '\0')
			break;
	}
	return found;
}

/* As strictest(). */
static const struct lt_class *
class_of(const struct lt_market *market, const struct lt_terms *terms)
{
	const struct lt_class *found = class_there(market, terms, terms->partition_hash[0]);

	for (int i = 1; i < LT_TERMS_PARTITIONS; i++)
		if (terms->partition_hash[i] != 0)
			found =
			    stricter(found, class_there(market, terms, terms->partition_hash[i]));
	return found;
}

bool
lt_smoke_may_matter(const struct lt_market *market, const job_desc_msg_t *job)
{
	bool wanted = false;

	for (uint32_t i = 0; market != NULL && i < market->class_count; i++)
		wanted |= wants_smoke(&market->classes[i]);
	return wanted && (lt_job_may_raise(job) || any(job->name) || any(job->qos));
}

static int64_t
node_s_of(
    const struct lt_request *request, const struct lt_market *market, const struct lt_terms *terms)
{
	struct lt_request all = *request;

	/* A change of one task of an array may be made for each of them. */
	all.array_tasks = terms->tasks > 0 ? terms->tasks : 1;
	return lt_smoke_node_s(&all, market);
}

struct laid {		       /* a change, over all that the job may be now */
	struct lt_terms after; /* of the newest */
	int64_t was_s, is_s;   /* node-seconds: the least, the most */
	bool is_another;       /* name, account or class */
};

/* The terms as they are after it. */
static void
rename_terms(struct lt_terms *after, const job_desc_msg_t *job)
{
	char name[LT_ACCOUNT_SIZE];

	if (any(job->account)) {
		lt_lower_copy(name, sizeof(name), job->account);
		after->account_hash = lt_name_hash(name);
	}
	if (any(job->qos)) {
		lt_lower_copy(name, sizeof(name), job->qos);
		after->qos_hash = lt_name_hash(name);
	}
	if (any(job->name))
		after->name_hash = lt_smoke_name_hash(job->name);
}

/* False: its partition is not known. */
static bool
lay(struct laid *laid, const struct lt_terms *before, const struct lt_smoke_change *change)
{
	const struct lt_market *const market = change->view->market;
	struct lt_terms *const after = &laid->after;
	struct lt_request request;
	int64_t was_s = 0, is_s;

	if (lt_request_from_terms(&request, before, market, NULL) == LT_OK)
		was_s = node_s_of(&request, market, before);
	else if (!any(change->job->partition))
		return false;
	if (lt_request_lay(&request, change->job, market, change->now_utc_s, NULL) != LT_OK)
		return false;
	is_s = node_s_of(&request, market, before);
	*after = *before;
	lt_terms_lay(after, &request, market);
	rename_terms(after, change->job);
	laid->was_s = was_s < laid->was_s ? was_s : laid->was_s;
	laid->is_s = is_s > laid->is_s ? is_s : laid->is_s;
	laid->is_another |= after->name_hash != before->name_hash ||
			    after->account_hash != before->account_hash ||
			    class_of(market, after) != class_of(market, before);
	return true;
}

/* The account that a hash is of. */
static const char *
account_of(const struct lt_view *view, uint32_t hash)
{
	const struct lt_budget_snapshot *const snapshot = view->snapshot;

	for (uint32_t i = 0; snapshot != NULL && i < snapshot->account_count; i++)
		if (lt_name_hash(snapshot->accounts[i].name) == hash)
			return snapshot->accounts[i].name;
	return "";
}

/* Until the terms have it, the next change is laid over this one, if Slurm takes it; what is held
 * is as the budgets' half has kept it. */
static void
keep_change(const struct lt_terms *after, const struct lt_smoke_change *change)
{
	struct lt_terms kept = *after, latest;

	if (lt_changes_find(&latest, &change->before[0])) {
		kept.hold_money_micros = latest.hold_money_micros;
		kept.hold_carbon_mg = latest.hold_carbon_mg;
		kept.start_utc_s = latest.start_utc_s;
		kept.end_utc_s = latest.end_utc_s;
	}
	lt_changes_keep(&kept, change->now_utc_s);
}

bool
lt_change_lacks_smoke(char *out, size_t size, const struct lt_smoke_change *change)
{
	struct laid laid = {.was_s = INT64_MAX};
	bool is_known = change->before_count > 0;
	enum lt_smoke smoke = LT_SMOKE_FREE;

	for (int i = 0; is_known && i < change->before_count; i++)
		is_known = lay(&laid, &change->before[i], change);
	if (!is_known) {
		snprintf(out, size,
		    "this may need a smoke run, and the job is not yet known to lowtide: try again in a few seconds");
		return binds_unknown(change->view);
	}
	const struct lt_terms *const after = &laid.after;
	const struct lt_class *const class = class_of(change->view->market, after);
	const bool rises = laid.is_s > laid.was_s;
	/* Only this one of its components is known here. */
	const int64_t node_s = rises && after->flags & LT_TERMS_HET ? INT64_MAX : laid.is_s;

	if (wants_smoke(class) && (rises || laid.is_another))
		smoke = look_up(change->view, class, node_s,
		    &(struct who){.uid = after->uid,
			.account = account_of(change->view, after->account_hash),
			.name_hash = after->name_hash,
			.now_utc_s = change->now_utc_s});
	if (smoke == LT_SMOKE_MISSING)
		lt_smoke_text(out, size, &(struct lt_smoke_job){.class = class});
	else if (smoke == LT_SMOKE_UNKNOWN)
		snprintf(out, size,
		    "this needs a smoke run, and whether it had one is not known: lowtided's file of run lengths can't be read");
	if (smoke == LT_SMOKE_MISSING || (smoke == LT_SMOKE_UNKNOWN && binds_unknown(change->view)))
		return true;
	keep_change(after, change);
	return false;
}
