/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a plan to what is written into the job: only what the user left open,
 * and so that a move changes nothing but place and time.
 */
#include "edits.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "quote.h"
#include "refusal.h"

/* A start this close is "now": no begin time is set for it. */
enum { SOON_S = 60, SIGNAL_BEFORE_S = 60 };

static void
add_words(struct lt_edits *edits, const char *text)
{
	const size_t used = strlen(edits->words);

	snprintf(edits->words + used, sizeof(edits->words) - used, "%s%s",
	    used > 0 && text[0] != '\0' ? "\n" : "", text);
}

/* Resolve by the home partition what the user left open, so that the other
 * partition's defaults don't change the job. */
static void
keep_defaults(struct lt_edits *edits, const struct lt_intent *intent)
{
	const struct lt_request *const request = intent->request;
	const struct lt_partition *const home =
	    &intent->market->partitions[request->home];
	const int64_t limit_s =
	    lt_limit_of(request, intent->market, request->home);

	if (!(intent->fixed & LT_FIXED_LIMIT) && limit_s > 0)
		edits->limit_s = (limit_s + 59) / 60 * 60;
	if (!(intent->fixed & LT_FIXED_MEMORY) &&
	    !lt_memory_by_gpu(request, home)) {
		edits->memory_mib = home->default_memory_mib;
		edits->memory_is_per_cpu = home->default_memory_is_per_cpu;
	}
}

static void
move(struct lt_edits *edits, const struct lt_intent *intent)
{
	const struct lt_request *const request = intent->request;
	const struct lt_estimate *const chosen = &intent->plan->chosen;
	const uint32_t flags =
	    intent->market->partitions[chosen->partition].flags;
	const bool elsewhere = chosen->partition != request->home;

	edits->moves = true;
	if (elsewhere)
		keep_defaults(edits, intent);
	if (elsewhere || request->named_count > 1)
		edits->partition = chosen->partition;
	if (chosen->start_utc_s > intent->now_utc_s + SOON_S &&
	    !(request->pins & (LT_PIN_BEGIN | LT_PIN_INTERACTIVE)))
		edits->begin_utc_s = chosen->start_utc_s;
	edits->requeue = (flags & LT_PARTITION_PREEMPTIBLE) &&
			 request->checkpoint.enabled &&
			 !(intent->fixed & LT_FIXED_REQUEUE);
}

/* A signal only where the user named one, and no --signal of their own. */
static void
set_signal(struct lt_edits *edits, const struct lt_intent *intent)
{
	const struct lt_options *const options = intent->options;
	const uint32_t before_s = options->checkpoint_signal_before_s;

	if (intent->fixed & LT_FIXED_SIGNAL)
		return;
	snprintf(edits->signal, sizeof(edits->signal), "%s",
	    options->checkpoint_signal);
	edits->signal_before_s = before_s > 0 && before_s < UINT16_MAX
				     ? (uint16_t)before_s
				     : SIGNAL_BEFORE_S;
}

static void
tell(struct lt_edits *edits, const struct lt_intent *intent)
{
	const enum lt_mode mode = intent->market->mode;
	const bool moved = intent->plan->moved;
	const bool advised = lt_mode_may(mode, LT_MAY_ADVISE) && moved &&
			     !lt_plan_waits_for_room(intent->plan);
	char text[LT_EDITS_WORDS_SIZE];

	if (!intent->asked && !advised)
		return;
	lt_plan_lines(text, sizeof(text), intent->plan, intent->request,
	    intent->market, intent->now_utc_s);
	add_words(edits, text);
	lt_notes_text(text, sizeof(text), intent->request, intent->market,
	    intent->plan, intent->now_utc_s);
	if (text[0] != '\0')
		add_words(edits, text);
	if (intent->asked) {
		lt_proof_text(
		    text, sizeof(text), intent->request, intent->market);
		if (text[0] != '\0')
			add_words(edits, text);
	}
	if (edits->requeue)
		add_words(edits,
		    "it may be requeued, and then appends to its output unless you set --open-mode.");
	if (edits->moves && !intent->options->carbon_aware_set)
		add_words(edits,
		    "placed by this site's default; --carbon-aware=off leaves a job alone.");
	if (moved && !edits->moves) {
		snprintf(text, sizeof(text),
		    "mode %s: the job was not changed.", lt_mode_name(mode));
		add_words(edits, text);
	}
}

/* What --amp asked for and the GPU lacks, whether a plan was asked for or not:
 * the job computes otherwise. */
static void
tell_precision(struct lt_edits *edits, const struct lt_intent *intent)
{
	char text[128];

	lt_precision_text(text, sizeof(text), intent->request, intent->market,
	    edits->moves ? intent->plan->chosen.partition
			 : intent->request->home);
	if (text[0] != '\0')
		add_words(edits, text);
}

/* A run that is slowed, or would be: whoever did not ask for a plan is told,
 * too, for the job is changed. */
static void
tell_cap(struct lt_edits *edits, const struct lt_intent *intent)
{
	const enum lt_mode mode = intent->market->mode;
	const bool acts = lt_mode_may(mode, LT_MAY_EDIT);
	char cap[160], text[320];

	lt_capped_text(cap, sizeof(cap), &intent->plan->capped);
	if (cap[0] == '\0' ||
	    !(acts || intent->asked || lt_mode_may(mode, LT_MAY_ADVISE)))
		return;
	snprintf(text, sizeof(text), "%s: %s. %s",
	    acts ? "capped" : "would be capped", cap,
	    acts ? "A --gpu-freq or --cpu-freq of your own goes first."
		 : "The job was not changed.");
	add_words(edits, text);
}

void
lt_edits_of_plan(struct lt_edits *edits, const struct lt_intent *intent)
{
	assert(intent->market != NULL && intent->request != NULL);
	assert(intent->options != NULL);
	assert(intent->plan == NULL || intent->plan->candidate_count ==
					   intent->market->partition_count);

	const struct lt_plan *const plan = intent->plan;
	const enum lt_mode mode = intent->market->mode;
	const bool may_edit = lt_mode_may(mode, LT_MAY_EDIT);

	*edits = (struct lt_edits){.partition = -1};
	if (plan != NULL &&
	    lt_plan_refusal(edits->words, sizeof(edits->words), plan,
		intent->request, intent->market) &&
	    lt_mode_may(mode, LT_MAY_REFUSE)) {
		edits->refuses = true;
		return;
	}
	if (may_edit)
		set_signal(edits, intent);
	if (plan == NULL)
		return;
	if (may_edit && intent->asked && plan->moved)
		move(edits, intent);
	tell(edits, intent);
	tell_cap(edits, intent);
	tell_precision(edits, intent);
}

void
lt_edits_lay(struct lt_request *request, const struct lt_edits *edits)
{
	if (edits->limit_s > 0)
		request->limit_s = edits->limit_s;
	if (edits->memory_mib == 0)
		return;
	if (edits->memory_is_per_cpu)
		request->memory_mib_per_cpu = edits->memory_mib;
	else
		request->memory_mib_per_node = edits->memory_mib;
}

int
lt_edits_places(int *partitions, int64_t *earliest_utc_s,
    const struct lt_request *request, const struct lt_plan *plan)
{
	assert(plan == NULL || plan->chosen.partition >= 0);
	assert(request->named_count <= LT_PARTITIONS_MAX);

	int count = 0;

	*earliest_utc_s = request->earliest_utc_s;
	if (plan != NULL) {
		partitions[count++] = plan->chosen.partition;
		if (plan->chosen.start_utc_s > *earliest_utc_s)
			*earliest_utc_s = plan->chosen.start_utc_s;
		return count;
	}
	for (uint32_t i = 0; i < request->named_count; i++)
		partitions[count++] = request->named[i];
	if (count == 0)
		partitions[count++] = request->home;
	return count;
}
