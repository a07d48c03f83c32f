/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes one submission through its steps: translate, decide, write the plan into the job, price and
 * admit. The steps read the snapshots of job_state.h. If a step fails before the price, the job is
 * left as it came, and priced all the same.
 */
#include "job_smoke.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ask_text.h"
#include "can_start.h"
#include "job_change.h"
#include "plan_text.h"
#include "size.h"
#include "terms.h"
#include "units.h"

/* The most that a partition of the request lets any job run. */
static int64_t
longest_time_s(const struct lt_request *request, const struct lt_market *market)
{
	int64_t longest_s = market->partitions[request->home].max_time_s;

	for (uint32_t i = 0; i < request->named_count; i++) {
		const struct lt_partition *const named = &market->partitions[request->named[i]];

		if (named->max_time_s > longest_s)
			longest_s = named->max_time_s;
	}
	return longest_s;
}

/* The terms of a job with those of its changes since. False: there are none, or they are those of
 * an array, whose tasks may differ. */
static bool
latest_terms(struct lt_terms *terms, uint32_t job_id)
{
	struct lt_terms changed;

	if (lt_terms_find(lt_state_terms_path(), job_id, terms, NULL) != LT_OK ||
	    terms->tasks > 1 || (terms->flags & (LT_TERMS_ARRAY_ONLY | LT_TERMS_ARRAY_RAN)) != 0)
		return false;
	if (lt_changes_find(&changed, terms)) {
		if (changed.limit_s > terms->limit_s)
			terms->limit_s = changed.limit_s;
		terms->flags |= changed.flags & LT_TERMS_EXCLUSIVE;
	}
	return true;
}

/*
 * --dependency=expand takes what is left of the limit of the job that it
 * expands, and whole nodes if that job has them, where Slurm is to permit it
 * (permit_job_expansion). The most of both where that job is not known.
 */
static void
take_expanded(struct lt_submission *s)
{
	struct lt_request *const request = &s->request;
	const uint32_t job_id = lt_expanded_job(s->job->dependency);
	struct lt_terms terms;

	if (job_id == 0 || !s->known)
		return;
	const bool is_known = latest_terms(&terms, job_id);

	request->exclusive |= !is_known || (terms.flags & LT_TERMS_EXCLUSIVE) != 0;
	request->limit_s = is_known && terms.limit_s < UINT32_MAX
			       ? (int64_t)terms.limit_s
			       : longest_time_s(request, s->view.market);
}

/* Makes the request from the job, its options and the snapshot. */
static void
translate(struct lt_submission *s)
{
	struct lt_request *const request = &s->request;
	const struct lt_budget_snapshot *const snapshot = s->view.snapshot;
	int account;

	s->known =
	    lt_request_from_desc(request, s->job, s->view.market, s->now_utc_s, &s->error) == LT_OK;
	take_expanded(s);
	if (s->het.is_batch)
		request->pins &= ~(uint32_t)LT_PIN_INTERACTIVE;
	if (request->account[0] == '\0' && snapshot != NULL) {
		account = lt_sheet_default_account(snapshot, request->uid);
		if (account >= 0)
			snprintf(request->account, sizeof(request->account), "%s",
			    snapshot->accounts[account].name);
	}
	if (snapshot != NULL) {
		const struct lt_pair *const pair = lt_sheet_pair(
		    snapshot, request->uid, lt_sheet_account(snapshot, request->account));

		request->wall_s = pair != NULL ? pair->wall_s : 0;
		request->wall_always = pair != NULL && pair->wall_always;
	}
	s->asked = lt_request_wishes(request, &s->options, s->view.market);
}

/* On which of the market's GPUs jobs of its name have run, and for how long. */
static void
learn_gpus(struct lt_submission *s, struct lt_history_key name)
{
	const struct lt_market *const market = s->view.market;
	bool looked[LT_GPUS_MAX] = {false};

	for (uint32_t i = 0; i < market->shape_count; i++) {
		const int gpu = market->shapes[i].gpu_index;
		struct lt_history_figures figures;

		if (gpu < 0 || looked[gpu])
			continue;
		looked[gpu] = true;
		if (lt_history_find_one(&figures, lt_history_gpu_key(name, market->gpus[gpu].name),
			s->view.history, NULL) != LT_OK ||
		    figures.runs == 0)
			continue;
		s->gpu_median_s[gpu] = figures.median;
		s->request.gpu_median_s = s->gpu_median_s;
	}
}

/* Was it seen to resume? By its own user's jobs of that name and script. */
static void
learn_proof(struct lt_submission *s, const struct lt_run_kind *kind)
{
	struct lt_request *const request = &s->request;
	struct lt_history_figures figures;

	if (!request->checkpoint.enabled)
		return;
	request->script_hash = lt_script_hash(s->job->script);
	if (request->script_hash == 0 || s->view.history == NULL ||
	    lt_history_find_one(&figures, lt_history_proof_key(kind, request->script_hash),
		s->view.history, NULL) != LT_OK)
		return;
	request->proof = (struct lt_proof){figures.runs, figures.median, figures.upper};
}

/* As slurmdbd will have it: the user's, else the partition's default; without either none, whatever
 * MaxTime says. */
static int64_t
recorded_limit_s(const struct lt_request *request, const struct lt_market *market)
{
	return request->limit_s > 0 || market->partitions[request->home].default_time_s > 0
		   ? lt_limit_of(request, market, request->home)
		   : 0;
}

/* Learns how long jobs of this kind have run; nothing without the file. */
static void
learn(struct lt_submission *s)
{
	struct lt_request *const request = &s->request;
	struct lt_run_kind kind = {.uid = request->uid,
	    .account = request->account,
	    .name = s->job->name != NULL ? s->job->name : "",
	    .limit_s = recorded_limit_s(request, s->view.market),
	    .is_interactive = (request->pins & LT_PIN_INTERACTIVE) != 0};
	struct lt_history_key keys[LT_HISTORY_GROUPS];
	struct lt_history_figures figures[LT_HISTORY_GROUPS];
	struct lt_error err = {0};

	lt_history_shape(&kind, request);
	lt_history_keys(keys, &kind);
	s->run_kind = lt_history_hash(&kind);
	learn_proof(s, &kind);
	if (s->view.history == NULL)
		return;
	if (lt_request_wants_gpus(request) && keys[LT_HISTORY_NAME].hash != 0)
		learn_gpus(s, keys[LT_HISTORY_NAME]);
	if (request->expected_run_s > 0)
		return;
	if (lt_history_find(figures, keys, s->view.history, &err) != LT_OK)
		lt_state_log("%s", err.text);
	request->learned =
	    lt_history_expect(figures, lt_limit_of(request, s->view.market, request->home));
}

/* Learns what is left in the periods in which it runs if it starts at once. */
static void
learn_available(struct lt_submission *s)
{
	struct lt_request *const request = &s->request;
	const int64_t limit_s = lt_limit_of(request, s->view.market, request->home);
	const int64_t start_utc_s = request->earliest_utc_s;
	struct lt_amount available;

	lt_state_available(&available, LT_RULES_BIND, request, start_utc_s,
	    start_utc_s + (limit_s > 0 ? limit_s : 0));
	request->has_available = s->view.snapshot != NULL;
	request->available_micros = available.money_micros;
	request->available_mg = available.carbon_mg;
}

static void
decide(struct lt_submission *s)
{
	struct lt_request *const request = &s->request;

	learn_available(s);
	request->brief = !s->options.plan;
	if (s->view.snapshot != NULL)
		lt_holdout_lay(request, &s->view.snapshot->holdout, s->now_utc_s);
	s->plan = malloc(sizeof(*s->plan));
	if (s->plan == NULL)
		s->known = lt_fail(&s->error, LT_ENOMEM, "out of memory") == LT_OK;
	else if (lt_decide(s->plan, request, s->view.market, s->view.planned, s->view.planned_count,
		     s->now_utc_s, &s->error) != LT_OK)
		s->known = false;
}

static void
set_text(char **field, const char *text)
{
	void *old = *field;

	slurm_xfree(&old);
	*field = slurm_xstrdup(text);
}

/* Slurm's words for what is to be written into the job. */
static void
apply(struct lt_submission *s)
{
	const struct lt_edits *const edits = &s->edits;
	job_desc_msg_t *const job = s->job;
	const uint16_t signal = lt_signal_number(edits->signal);

	if (edits->partition >= 0)
		set_text(&job->partition, s->view.market->partitions[edits->partition].name);
	if (edits->begin_utc_s > 0)
		job->begin_time = (time_t)edits->begin_utc_s;
	if (edits->limit_s > 0)
		job->time_limit = (uint32_t)(edits->limit_s / 60);
	if (edits->memory_mib > 0)
		job->pn_min_memory =
		    edits->memory_mib | (edits->memory_is_per_cpu ? MEM_PER_CPU : 0);
	if (edits->requeue)
		job->requeue = 1;
	/* Else the next run empties the files of the one before. */
	if (edits->requeue && job->open_mode == 0)
		job->open_mode = OPEN_MODE_APPEND;
	if (signal != 0) {
		job->warn_signal = signal;
		job->warn_time = edits->signal_before_s;
	}
}

static void
book(const struct lt_submission *s)
{
	const struct lt_estimate *const chosen = &s->plan->chosen;
	uint32_t at_once = s->request.array_tasks;
	struct lt_planned window = {0};

	if (s->request.array_parallel > 0 && s->request.array_parallel < at_once)
		at_once = s->request.array_parallel;
	window.partition = (uint16_t)chosen->partition;
	window.nodes = (float)(chosen->task_nodes * at_once);
	window.start_utc_s = chosen->start_utc_s;
	window.end_utc_s = chosen->free_utc_s;
	lt_state_book(&s->view, &window);
}

/* admin_comment with our quote, "" = none, beside what others keep there. */
static int
merge_quote(job_desc_msg_t *job, const char *ours)
{
	enum { MERGED_BYTES = 8192 };
	char *const merged = malloc(MERGED_BYTES);
	int code = LT_ENOMEM;

	if (merged != NULL)
		code = lt_quote_merge(merged, MERGED_BYTES, job->admin_comment, ours);
	if (code == LT_OK)
		set_text(&job->admin_comment, merged);
	free(merged);
	return code;
}

static void
write_quote(struct lt_submission *s)
{
	char ours[LT_QUOTE_TEXT_SIZE];

	if (lt_quote_pack(ours, sizeof(ours), &s->quote) < 0)
		return;
	if (merge_quote(s->job, ours) != LT_OK)
		lt_state_log("admin_comment is too long for a quote");
}

/* A forged quote must not stay, whatever else happens. */
static void
remove_forged_quote(job_desc_msg_t *job)
{
	if (job->admin_comment != NULL && strstr(job->admin_comment, "lowtide:") != NULL &&
	    merge_quote(job, "") != LT_OK)
		set_text(&job->admin_comment, "");
}

static int
tell_table(struct lt_submission *s)
{
	char text[LT_MESSAGE_SIZE];

	if (s->het.is_plan && s->job->het_job_offset > 0)
		lt_say(s, "component %u:", s->job->het_job_offset);
	if (s->known) {
		lt_edits_lay(&s->request, &s->edits);
		lt_submission_price(s);
		lt_plan_table(
		    text, sizeof(text), s->plan, &s->request, s->view.market, s->now_utc_s);
		lt_say_lines(s, text);
	} else {
		lt_say(s, "no plan: %s", s->error.text);
	}
	(void)lt_submission_smoke_refuses(s);
	if (s->view.market != NULL)
		lt_het_tell(s);
	if (lt_het_plans_on(s)) {
		if (s->job->het_job_offset == 0)
			lt_say(s, "this is a plan of all components: nothing is submitted.");
		return SLURM_SUCCESS;
	}
	lt_say(s, "this was a plan: nothing was submitted.");
	return ESLURM_DISABLED;
}

/* The hold is for so many nodes, and more would cost more. Slurm would take a maximum for what is
 * wanted: fewer are as good as before; but not fewer than MinNodes, for which Slurm 26.05 refuses
 * that wish. */
static void
bound_nodes(struct lt_submission *s)
{
	if (s->node_bound == 0)
		return;
	s->job->max_nodes = s->node_bound;
	if (s->node_least > s->request.min_nodes)
		s->job->min_nodes = s->node_least;
	s->job->bitflags |= USE_MIN_NODES;
	lt_brief_put(&s->edits.notes, LT_NOTE_NODES, "; ",
	    "kept to %u node%s, as more would cost more", s->node_bound,
	    s->node_bound == 1 ? "" : "s");
	lt_brief_put(&s->edits.notes, LT_NOTE_DETAILS + LT_NOTE_NODES, "; ",
	    "--nodes=1-%u, say, allows more", 2 * s->node_bound);
}

/* The default account may be another one by now than in our tables: where budgets are kept, the job
 * runs in the account that was priced. */
static void
name_account(struct lt_submission *s)
{
	if (lt_mode_may(s->view.market->mode, LT_MAY_EDIT) && s->view.snapshot != NULL &&
	    s->view.snapshot->budget_count > 0 && s->known && s->request.account[0] != '\0' &&
	    (s->job->account == NULL || s->job->account[0] == '\0'))
		set_text(&s->job->account, s->request.account);
}

static int
submit_blind(struct lt_submission *s)
{
	int code;

	if (s->options.plan) {
		lt_fail(&s->error, LT_EIO, "lowtided's market snapshot can't be read");
		return tell_table(s);
	}
	code = lt_submission_blind(s);
	if (code == SLURM_SUCCESS && (s->quote.flags & LT_QUOTE_UNKNOWN))
		write_quote(s);
	return code;
}

/* Leaves the job as it came if lowtide is off, and says so to a user who asked for something. */
static int
submit_off(struct lt_submission *s)
{
	char text[LT_ERROR_TEXT_SIZE];

	(void)lt_off_text(text, sizeof(text), &s->view.off);
	if (s->options.plan) {
		lt_say(s, "no plan: off %s; nothing was submitted.", text);
		return ESLURM_DISABLED;
	}
	if (s->options.carbon_aware_set)
		lt_say(s, "off %s; the job goes as it came.", text);
	return SLURM_SUCCESS;
}

static struct lt_intent
intent_of(const struct lt_submission *s)
{
	return (struct lt_intent){.market = s->view.market,
	    .request = &s->request,
	    .options = &s->options,
	    .plan = s->known ? s->plan : NULL,
	    .fixed = lt_job_fixed(s->job),
	    .asked = s->asked,
	    .now_utc_s = s->now_utc_s};
}

static int
submit(struct lt_submission *s)
{
	int code;

	remove_forged_quote(s->job);
	if (lt_options_from_job(&s->options, s->job, &s->error) != LT_OK) {
		lt_say(s, "%s: lowtide's options are ignored", s->error.text);
		lt_options_init(&s->options);
		memset(&s->error, 0, sizeof(s->error));
	}
	if (s->view.off.is_off)
		return submit_off(s);
	lt_het_begin(s);
	if (s->view.market == NULL)
		return submit_blind(s);
	translate(s);
	if (s->known) {
		learn(s);
		decide(s);
	}
	lt_submission_smoke(s);
	const struct lt_intent intent = intent_of(s);

	lt_edits_of_plan(&s->edits, &intent);
	if (s->options.plan)
		return tell_table(s);
	if (s->edits.refuses)
		lt_say_lines(s, s->edits.refusal);
	lt_het_tell(s);
	if (s->edits.refuses)
		return ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE;
	if (lt_submission_smoke_refuses(s))
		return ESLURM_ACCOUNTING_POLICY;
	apply(s);
	lt_edits_lay(&s->request, &s->edits);
	code = lt_submission_admit(s);
	if (code != SLURM_SUCCESS)
		return code;
	bound_nodes(s);
	name_account(s);
	if (s->edits.moves)
		book(s);
	/* A hold without a price, too: lowtided finds it by its quote. */
	if (s->known || (s->quote.flags & LT_QUOTE_UNKNOWN))
		write_quote(s);
	return SLURM_SUCCESS;
}

bool
lt_submit_is_question(job_desc_msg_t *job, uint32_t submit_uid)
{
	if (lt_job_desc_id(job) == NO_VAL || job->name == NULL ||
	    strcmp(job->name, LT_CAN_START_NAME) != 0 || submit_uid != geteuid() ||
	    job->user_id != submit_uid)
		return false;
	set_text(&job->partition, LT_CAN_START_PARTITION);
	return true;
}

/* In two lines at most, of all that came up. */
static void
say_words(struct lt_submission *s)
{
	char words[LT_EDITS_WORDS_SIZE];
	const struct lt_intent intent = intent_of(s);

	if (s->edits.tells || s->edits.notes.count > 0)
		lt_say_lines(s, lt_edits_words(words, sizeof(words), &s->edits, &intent));
}

/* The account that it runs in, as far as that is said. */
static void
note_asked(const struct lt_submission *s)
{
	const struct lt_budget_snapshot *const snapshot = s->view.snapshot;
	char account[LT_ACCOUNT_SIZE];

	lt_lower_copy(account, sizeof(account), s->job->account);
	lt_asked_note(snapshot, s->job->user_id,
	    snapshot != NULL && account[0] ? lt_sheet_account(snapshot, account) : -1,
	    s->now_utc_s);
}

int
lt_submit(job_desc_msg_t *job, char **err_msg)
{
	struct lt_submission s;
	int code;

	memset(&s, 0, offsetof(struct lt_submission, edits));
	s.edits.moves = s.edits.tells = false;
	s.edits.notes.count = s.edits.notes.used = 0;
	s.job = job;
	s.now_utc_s = (int64_t)time(NULL);
	lt_state_refresh();
	lt_state_view(&s.view);
	code = submit(&s);
	if (code == SLURM_SUCCESS && !s.options.plan)
		say_words(&s);
	note_asked(&s);
	lt_state_release(&s.view);
	free(s.plan);
	lt_message_give(err_msg, s.message);
	free(s.message);
	return code;
}
