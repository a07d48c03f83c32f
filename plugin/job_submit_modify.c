/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_modify: a change that may raise what a job can cost is admitted by its
 * difference, or refused; it never frees and never holds. Slurm gives only
 * the changed fields, so the rest comes from the terms file; lowtided's own
 * updates carry the job's quote and pass.
 */
#include "job_submit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "terms.h"

struct change {
	job_desc_msg_t *job;
	uint32_t job_id, uid, submit_uid;
	bool raises, releases, has_terms;
	int64_t now_utc_s;
	struct lt_view view;
	struct lt_terms terms;
	struct lt_request request;
	int partition; /* old, by the terms; -1 = unknown */
	char account[LT_ACCOUNT_SIZE], old_account[LT_ACCOUNT_SIZE];
	char message[LT_MESSAGE_SIZE];
};

static int
refuse(struct change *c, const char *text)
{
	snprintf(c->message, sizeof(c->message), "lowtide: job %u: %s",
	    c->job_id, text);
	return ESLURM_ACCOUNTING_POLICY;
}

/* The job's number: scontrol sends text ("12", "12_3", "12_[1-9]", "12+1"
 * for 13); all tasks of an array have the terms of their record. */
static uint32_t
job_id_of(const job_desc_msg_t *job)
{
	unsigned long long id;
	char *end;

	if (job->job_id_str && *job->job_id_str) {
		id = strtoull(job->job_id_str, &end, 10);
		/* Components of a het job have ids in a row. */
		if (*end == '+' && id < NO_VAL)
			id += strtoull(end + 1, NULL, 10) % NO_VAL;
		if (id > 0 && id < NO_VAL)
			return (uint32_t)id;
	}
	return lt_job_desc_id(job);
}

static bool
any(const char *text)
{
	return text && *text;
}

static bool
may_raise(const job_desc_msg_t *job)
{
	return job->time_limit != NO_VAL || any(job->partition) ||
	       any(job->account) || job->begin_time > 0 || job->end_time > 0 ||
	       job->min_nodes != NO_VAL || job->max_nodes != NO_VAL ||
	       job->min_cpus != NO_VAL || job->max_cpus != NO_VAL ||
	       job->num_tasks != NO_VAL || job->cpus_per_task != NO_VAL16 ||
	       job->pn_min_cpus != NO_VAL16 ||
	       job->ntasks_per_node != NO_VAL16 ||
	       job->pn_min_memory != NO_VAL64 || job->shared != NO_VAL16 ||
	       job->core_spec != NO_VAL16 || job->ntasks_per_tres != NO_VAL16 ||
	       any(job->tres_per_job) || any(job->tres_per_node) ||
	       any(job->tres_per_task) || any(job->tres_per_socket) ||
	       any(job->cpus_per_tres) || any(job->mem_per_tres);
}

/* lowtided's own update: by SlurmUser (slurmctld's own user) or root, with
 * the quote that the terms know. */
static bool
is_ours(const struct change *c, uint32_t submit_uid)
{
	const char *const comment = c->job->admin_comment;
	struct lt_quote quote = {0};

	if (!comment || (submit_uid != 0 && submit_uid != geteuid()))
		return false;
	if (lt_quote_unpack(&quote, comment, strlen(comment), NULL) != LT_OK)
		return false;
	return quote.rev > 1 &&
	       (!c->has_terms || quote.id == c->terms.quote_id);
}

static int
partition_by_hash(const struct lt_market *market, uint32_t hash)
{
	for (uint32_t i = 0; i < market->partition_count; i++)
		if (lt_name_hash(market->partitions[i].name) == hash)
			return (int)i;
	return -1;
}

static int
account_by_hash(const struct lt_balance_sheet *sheet, uint32_t hash)
{
	for (uint32_t i = 0; i < sheet->account_count; i++)
		if (lt_name_hash(sheet->accounts[i].name) == hash)
			return (int)i;
	return -1;
}

/* Does any budget bind any account of this user? */
static bool
user_budgeted(const struct lt_balance_sheet *sheet, uint32_t uid)
{
	uint32_t low = 0, high = sheet->pair_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (sheet->pairs[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < sheet->pair_count && sheet->pairs[low].uid == uid; low++)
		if (lt_sheet_budgeted(sheet, (int)sheet->pairs[low].account))
			return true;
	return false;
}

/* Is money at stake: for the old account, the new one, or, where nothing is
 * known of the job, for its user? */
static bool
at_stake(const struct change *c)
{
	const struct lt_balance_sheet *const sheet = c->view.sheet;

	if (!sheet || sheet->budget_count == 0)
		return false;
	if (any(c->job->account)) {
		const int account = lt_sheet_account(sheet, c->account);

		if (account < 0 || lt_sheet_budgeted(sheet, account))
			return true;
	}
	if (c->has_terms)
		return c->terms.flags & LT_TERMS_BUDGETED;
	/* user_id is the caller's word: it must not lead to another's account.
	 */
	return user_budgeted(sheet, c->uid) ||
	       user_budgeted(sheet, c->submit_uid);
}

/* An upper bound of what the job had, from its share of a node. */
static void
request_from_terms(struct change *c)
{
	const struct lt_market *const market = c->view.market;
	const struct lt_partition *const partition =
	    &market->partitions[c->partition];
	const struct lt_terms *const terms = &c->terms;
	const uint64_t nodes = terms->nodes ? terms->nodes : 1;
	struct lt_request *const request = &c->request;
	uint64_t cpus = 0, gpus = 0;

	for (uint32_t i = 0; i < partition->shape_count; i++) {
		const struct lt_shape *const shape =
		    &market->shapes[partition->first_shape + i];

		if (shape->cpus > cpus)
			cpus = shape->cpus;
		if (shape->gpus > gpus)
			gpus = shape->gpus;
	}
	cpus = (cpus * terms->share_ppm + 999999) / 1000000 * nodes;
	gpus = gpus * terms->share_ppm / 1000000 * nodes;
	request->cpus = cpus > terms->cpus ? (uint32_t)cpus : terms->cpus;
	request->gpus = (uint32_t)gpus;
	request->min_nodes = request->max_nodes = (uint32_t)nodes;
	request->limit_s = terms->limit_s;
	request->exclusive = terms->flags & LT_TERMS_EXCLUSIVE;
	request->home = c->partition;
}

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Lay the change over what the job had; only upwards but for the limit. */
static int
request_from_change(struct change *c, struct lt_error *err)
{
	struct lt_request changed, *const request = &c->request;
	const int code = lt_request_from_job(
	    &changed, c->job, c->view.market, c->now_utc_s, err);

	if (any(c->job->partition)) {
		if (code != LT_OK)
			return code;
		request->home = changed.home;
		request->named_count = changed.named_count;
		memcpy(request->named, changed.named, sizeof(request->named));
	}
	if (c->job->time_limit != NO_VAL)
		request->limit_s = changed.limit_s;
	/* A running job's end: it ran no longer than its limit until now. */
	if ((int64_t)c->job->end_time > c->now_utc_s)
		request->limit_s += (int64_t)c->job->end_time - c->now_utc_s;
	if (c->job->min_nodes != NO_VAL || c->job->max_nodes != NO_VAL) {
		/* More nodes of the same share each. */
		const uint32_t before = request->max_nodes;

		request->max_nodes = larger(before, changed.max_nodes);
		request->min_nodes = request->max_nodes;
		request->cpus = request->cpus / before * request->max_nodes;
		request->gpus = request->gpus / before * request->max_nodes;
	}
	request->cpus = larger(request->cpus, changed.cpus);
	request->gpus = larger(request->gpus, changed.gpus);
	request->memory_mib_per_node = changed.memory_mib_per_node;
	request->memory_mib_per_cpu = changed.memory_mib_per_cpu;
	request->whole_memory = changed.whole_memory;
	request->exclusive |= changed.exclusive;
	return LT_OK;
}

static int
price_change(
    struct lt_quote *quote, const struct change *c, struct lt_error *err)
{
	const struct lt_request *const request = &c->request;
	int partitions[LT_PARTITIONS_MAX];
	int count = 0;

	for (uint32_t i = 0; i < request->named_count; i++)
		partitions[count++] = request->named[i];
	if (count == 0)
		partitions[count++] = request->home;
	return lt_quote_hold(quote, request, c->view.market, partitions, count,
	    (int64_t)c->job->begin_time > c->now_utc_s
		? (int64_t)c->job->begin_time
		: c->now_utc_s,
	    err);
}

/* new - old, never below nothing; an unknown stays unknown. */
static void
difference(struct lt_amount *more, const struct change *c, bool whole)
{
	const struct lt_terms *const terms = &c->terms;

	if (whole)
		return;
	if (terms->flags & LT_TERMS_HAS_MONEY)
		more->money_micros -= terms->hold_money_micros;
	if (terms->flags & LT_TERMS_HAS_CARBON)
		more->carbon_mg -= terms->hold_carbon_mg;
	if (more->money_micros < 0)
		more->money_micros = 0;
	if (more->carbon_mg < 0)
		more->carbon_mg = 0;
}

static int
unknown(struct change *c, enum lt_rule rule, const char *why)
{
	char text[LT_ERROR_TEXT_SIZE + 128];

	if (rule == LT_RULE_ALLOW || rule == LT_RULE_WARN)
		return SLURM_SUCCESS;
	snprintf(text, sizeof(text),
	    "this may cost more, and the balance is not known: %s", why);
	return refuse(c, text);
}

/* Admit the difference, or all of it where the account changes, or the begin:
 * the hold may lie in a later period, or beyond all that are known. */
static int
admit_change(struct change *c)
{
	const struct lt_balance_sheet *const sheet = c->view.sheet;
	const bool moves_account =
	    any(c->job->account) && strcmp(c->account, c->old_account) != 0;
	const bool moves = moves_account || c->job->begin_time > 0;
	struct lt_quote quote = {0};
	struct lt_error err = {0};
	struct lt_admission admission;
	struct lt_entry entry = {0};
	char verdict[1024];

	c->partition =
	    partition_by_hash(c->view.market, c->terms.partition_hash);
	if (c->partition < 0)
		return unknown(c, sheet->on_unknown,
		    "the job's partition is not known to lowtide");
	request_from_terms(c);
	if (request_from_change(c, &err) != LT_OK ||
	    price_change(&quote, c, &err) != LT_OK)
		return unknown(c, sheet->on_unknown, err.text);
	difference(&quote.hold_per_task, c, moves);
	if (!moves && quote.hold_per_task.money_micros == 0 &&
	    quote.hold_per_task.carbon_mg == 0)
		return SLURM_SUCCESS;
	entry.quote_id = c->terms.quote_id;
	entry.job_id = c->job_id;
	entry.uid = c->uid;
	entry.tasks = c->terms.tasks ? c->terms.tasks : 1;
	entry.flags = LT_QUOTE_MODIFY;
	entry.account = moves_account ? c->account : c->old_account;
	entry.per_task = quote.hold_per_task;
	entry.start_utc_s = quote.start_utc_s;
	entry.end_utc_s = quote.end_utc_s;
	entry.force = c->view.market->mode != LT_MODE_ENFORCE;
	lt_state_admit(&admission, &entry);
	if (entry.force || admission.standing == LT_STANDING_FREE)
		return SLURM_SUCCESS;
	if (admission.standing == LT_STANDING_UNKNOWN)
		return unknown(c, admission.on_unknown, admission.why);
	if (admission.verdict.code == LT_ADMIT ||
	    admission.verdict.rule == LT_RULE_WARN)
		return SLURM_SUCCESS;
	lt_verdict_text(verdict, sizeof(verdict), &admission.verdict,
	    c->view.market->currency);
	for (char *p = verdict; (p = strchr(p, '\n'));)
		*p = ' ';
	return refuse(c, verdict);
}

static int
judge_change(struct change *c)
{
	const struct lt_balance_sheet *const sheet = c->view.sheet;
	int account;

	if (!at_stake(c))
		return SLURM_SUCCESS;
	if (c->view.market && c->view.market->mode != LT_MODE_ENFORCE &&
	    (!c->has_terms || !c->raises))
		return SLURM_SUCCESS;
	if (c->releases &&
	    (!c->has_terms || (c->terms.flags & LT_TERMS_OUR_HOLD)))
		return refuse(c,
		    c->has_terms
			? "held by lowtide, which releases it when the budget "
			  "allows it"
			: "not yet known to lowtide: try again in a few "
			  "seconds");
	if (!c->raises)
		return SLURM_SUCCESS;
	if (!c->has_terms)
		return refuse(c, "this may cost more, and the job is not yet "
				 "known to lowtide: try again in a few "
				 "seconds");
	/* Called once a component, with nothing to tell which: the leader's
	 * terms would let a larger one rise. */
	if ((c->terms.flags & LT_TERMS_HET_LEADER) && c->job->job_id_str &&
	    !strchr(c->job->job_id_str, '+'))
		return refuse(c,
		    "this may cost more, and the job is "
		    "heterogeneous: name the component, as in 12+0");
	if (!c->view.market)
		return unknown(c, sheet->on_unknown,
		    "lowtided's market snapshot can't be read");
	account = account_by_hash(sheet, c->terms.account_hash);
	if (account >= 0)
		snprintf(c->old_account, sizeof(c->old_account), "%s",
		    sheet->accounts[account].name);
	return admit_change(c);
}

int
lt_modify(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg)
{
	struct change c = {.job = job, .partition = -1};
	int code;

	c.raises = may_raise(job);
	/* Slurm computes the priority anew for another nice value, of a held
	 * job too: it would start. */
	c.releases = (job->priority != NO_VAL && job->priority != 0) ||
		     job->nice != NO_VAL;
	if (!c.raises && !c.releases)
		return SLURM_SUCCESS;
	c.job_id = job_id_of(job);
	c.submit_uid = submit_uid;
	c.now_utc_s = (int64_t)time(NULL);
	lt_lower_copy(c.account, sizeof(c.account), job->account);
	lt_state_refresh();
	lt_state_view(&c.view);
	c.has_terms = lt_terms_find(lt_state_terms_path(), c.job_id, &c.terms,
			  NULL) == LT_OK;
	c.uid = c.has_terms		 ? c.terms.uid
		: job->user_id != NO_VAL ? job->user_id
					 : submit_uid;
	code = is_ours(&c, submit_uid) ? SLURM_SUCCESS : judge_change(&c);
	lt_state_release(&c.view);
	if (code != SLURM_SUCCESS)
		slurm_info("%s", c.message); /* 22.05 has no other way */
	lt_message_give(err_msg, c.message);
	return code;
}
