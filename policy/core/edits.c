/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns a plan into edits of the job: only what the user left open, and so that a move changes
 * nothing but place and time; and into the words that the user sees. job_submit, SPANK and the
 * simulator only apply the edits. Pure; nothing fails.
 */
#include "edits.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "plan_text.h"
#include "quote.h"
#include "refusal.h"
#include "text.h"

/* A start this close is "now": no begin time is set for it. */
enum { SOON_S = 60, SIGNAL_BEFORE_S = 60 };

/* Resolves by the home partition what the user left open, so that the other partition's defaults
 * don't change the job. */
static void
keep_defaults(struct lt_edits *edits, const struct lt_intent *intent)
{
	const struct lt_request *const request = intent->request;
	const struct lt_partition *const home = &intent->market->partitions[request->home];
	const int64_t limit_s = lt_limit_of(request, intent->market, request->home);

	if (!(intent->fixed & LT_FIXED_LIMIT) && limit_s > 0)
		edits->limit_s = (limit_s + 59) / 60 * 60;
	if (!(intent->fixed & LT_FIXED_MEMORY) && !lt_memory_by_gpu(request, home)) {
		edits->memory_mib = home->default_memory_mib;
		edits->memory_is_per_cpu = home->default_memory_is_per_cpu;
	}
}

static void
move_job(struct lt_edits *edits, const struct lt_intent *intent)
{
	const struct lt_request *const request = intent->request;
	const struct lt_estimate *const chosen = &intent->plan->chosen;
	const uint32_t flags = intent->market->partitions[chosen->partition].flags;
	const bool elsewhere = chosen->partition != request->home;

	edits->moves = true;
	if (elsewhere)
		keep_defaults(edits, intent);
	if (elsewhere || request->named_count > 1)
		edits->partition = chosen->partition;
	if (chosen->start_utc_s > intent->now_utc_s + SOON_S &&
	    !(request->pins & (LT_PIN_BEGIN | LT_PIN_INTERACTIVE)))
		edits->begin_utc_s = chosen->start_utc_s;
	edits->requeue = (flags & LT_PARTITION_PREEMPTIBLE) && request->checkpoint.enabled &&
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
	snprintf(edits->signal, sizeof(edits->signal), "%s", options->checkpoint_signal);
	edits->signal_before_s =
	    before_s > 0 && before_s < UINT16_MAX ? (uint16_t)before_s : SIGNAL_BEFORE_S;
}

static struct lt_told
told_of(const struct lt_intent *intent)
{
	return (struct lt_told){
	    intent->plan, intent->request, intent->market, intent->now_utc_s, true};
}

static void
write_words(struct lt_edits *edits, const struct lt_intent *intent)
{
	const enum lt_mode mode = intent->market->mode;
	const bool moved = intent->plan->moved;
	const bool advised =
	    lt_mode_may(mode, LT_MAY_ADVISE) && moved && !lt_plan_waits_for_room(intent->plan);
	const struct lt_told told = told_of(intent);

	if ((!intent->asked && !advised) || lt_plan_is_nothing(&told))
		return;
	edits->tells = true;
	lt_plan_notes(&edits->notes, &told);
	if (intent->asked)
		lt_proof_note(&edits->notes, intent->request, intent->market);
	if (edits->requeue) {
		lt_brief_put(&edits->notes, LT_NOTE_REQUEUE, "; ",
		    "it may be requeued, and then appends to its output");
		lt_brief_put(&edits->notes, LT_NOTE_DETAILS + LT_NOTE_REQUEUE, " ",
		    "unless you set --open-mode");
	}
	if (edits->moves && !intent->options->carbon_aware_set) {
		lt_brief_put(&edits->notes, LT_NOTE_DETAILS + LT_NOTE_DEFAULT, "; ",
		    "placed by this site's default");
		lt_brief_put(
		    &edits->notes, LT_NOTE_DEFAULT, "; ", "--carbon-aware=off leaves a job alone");
	}
	if (moved && !edits->moves)
		lt_brief_put(&edits->notes, LT_NOTE_MODE, "; ", "mode %s: the job was not changed",
		    lt_mode_name(mode));
}

/* Reports what --amp asked for and the GPU lacks, whether a plan was asked for or not: the job
 * computes otherwise. */
static void
note_precision(struct lt_edits *edits, const struct lt_intent *intent)
{
	char text[128];

	lt_precision_text(text, sizeof(text), intent->request, intent->market,
	    edits->moves ? intent->plan->chosen.partition : intent->request->home);
	if (text[0] != '\0')
		lt_brief_put(&edits->notes, LT_NOTE_PRECISION, "; ", "%s", text);
}

/* Notes that a run is slowed, or would be. A user who did not ask for a plan gets the note, too,
 * because the job is changed. */
static void
note_cap(struct lt_edits *edits, const struct lt_intent *intent)
{
	const enum lt_mode mode = intent->market->mode;
	const bool acts = lt_mode_may(mode, LT_MAY_EDIT);

	if (!lt_is_capped(&intent->plan->capped) ||
	    !(acts || intent->asked || lt_mode_may(mode, LT_MAY_ADVISE)))
		return;
	lt_capped_note(
	    &edits->notes, acts ? "capped: " : "would be capped: ", &intent->plan->capped);
	if (acts)
		lt_brief_put(&edits->notes, 3 * LT_NOTE_DETAILS + LT_NOTE_CAP, "; ",
		    "--gpu-freq or --cpu-freq of your own goes first");
}

static void
set_refusal(struct lt_edits *edits)
{
	struct lt_text text = {.out = edits->refusal, .size = sizeof(edits->refusal)};
	char words[LT_BRIEF_TEXT_SIZE];

	lt_text_put(&text, "%s.", lt_brief_text(words, sizeof(words), &edits->notes, LT_BRIEF_ALL));
	edits->notes = (struct lt_brief){.count = 0};
	lt_text_wrap(edits->refusal, LT_ERROR_COLUMNS);
}

void
lt_edits_of_plan(struct lt_edits *edits, const struct lt_intent *intent)
{
	assert(intent->market != NULL && intent->request != NULL);
	assert(intent->options != NULL);
	assert(intent->plan == NULL ||
	       intent->plan->candidate_count == intent->market->partition_count);

	const struct lt_plan *const plan = intent->plan;
	const enum lt_mode mode = intent->market->mode;
	const bool may_edit = lt_mode_may(mode, LT_MAY_EDIT);

	*edits = (struct lt_edits){.partition = -1};
	/* The reason is a note where the mode refuses nothing. */
	if (plan != NULL && lt_plan_refusal(&edits->notes, plan, intent->request, intent->market)) {
		edits->refuses = lt_mode_may(mode, LT_MAY_REFUSE);
		if (edits->refuses) {
			set_refusal(edits);
			return;
		}
	}
	if (may_edit)
		set_signal(edits, intent);
	if (plan == NULL)
		return;
	if (may_edit && intent->asked && plan->moved)
		move_job(edits, intent);
	write_words(edits, intent);
	note_cap(edits, intent);
	note_precision(edits, intent);
}

const char *
lt_edits_words(char *out, size_t size, const struct lt_edits *edits, const struct lt_intent *intent)
{
	struct lt_text text = {.out = out, .size = size};
	char line[LT_BRIEF_TEXT_SIZE] = "";
	struct lt_brief plan;

	if (size > 0)
		out[0] = '\0';
	if (edits->tells) {
		const struct lt_told told = told_of(intent);

		lt_plan_line(&plan, &told);
		lt_brief_text(line, sizeof(line), &plan, LT_BRIEF_COLUMNS);
	}
	lt_text_put(&text, "%s", line);
	lt_brief_text(line, sizeof(line), &edits->notes, LT_BRIEF_COLUMNS);
	lt_text_put(&text, "%s%s", text.at > 0 && line[0] != '\0' ? "\n" : "", line);
	return out;
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
lt_edits_places(int *partitions, int64_t *earliest_utc_s, const struct lt_request *request,
    const struct lt_plan *plan)
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
