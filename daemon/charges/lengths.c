/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Learns how long jobs run, and writes it for job_submit. A run's length is its working time, over
 * its requeues too, as if it had run at home; its kind is as its quote says, which is how
 * job_submit saw the request, else as its row says. docs/model.md, (43) to (45).
 *
 * Reads settled runs; writes the ledger and the history file. A failed write of the file is tried
 * again by a later pass.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "charges.h"
#include "http.h"
#include "ledger.h"
#include "lengths.h"
#include "policy.h"
#include "retention.h"
#include "smoke.h"
#include "units.h"

enum {
	EVERY_S = 15,
	PART = 20,	     /* of the time, where groups are very many */
	KINDS_AT_ONCE = 500, /* in a transaction */
	TURNS = 8,	     /* of these in a pass */
	PARTS_MAX = 64,	     /* requeues of a job that are looked back on */
};

int64_t
lt_lengths_since(const struct lt_policy *policy, int64_t now_utc_s)
{
	const int64_t since_utc_s = now_utc_s - (int64_t)policy->history_days * LT_DAY_S;
	const int64_t kept_utc_s = lt_retention_utc_s(policy, now_utc_s);

	if (policy->history_days == 0)
		return INT64_MAX;
	return since_utc_s > kept_utc_s ? since_utc_s : kept_utc_s;
}

/* True if the next run resumes its work. A resized run does; one that was sent back into the queue
 * only if it has checkpoints. */
static bool
went_on(const char *state_text, bool has_checkpoints)
{
	static const char *const sent_back[] = {"REQUEUED", "NODE_FAIL", "PREEMPTED"};

	if (strcmp(state_text, "RESIZING") == 0)
		return true;
	for (size_t i = 0; i < sizeof(sent_back) / sizeof(*sent_back); i++)
		if (strcmp(state_text, sent_back[i]) == 0)
			return has_checkpoints;
	return false;
}

/* Returns the run's working time, with that of the parts before it which it resumed from. */
static int
worked(int64_t *length_s, struct lt_ledger *ledger, const struct lt_ended_run *ended,
    struct lt_error *err)
{
	const struct lt_run *const run = ended->run;
	const bool has_checkpoints =
	    ended->quote != NULL && (ended->quote->flags & LT_QUOTE_CHECKPOINT) != 0;
	struct lt_run_part parts[PARTS_MAX];
	const int count = lt_ledger_parts_before(ledger, run, parts, PARTS_MAX, err);

	*length_s = run->end_utc_s - run->start_utc_s - run->suspended_s;
	for (int i = 0; i < count && went_on(parts[i].state_text, has_checkpoints); i++)
		*length_s += parts[i].length_s;
	return count < 0 ? count : LT_OK;
}

/* Returns the length as at home: for a run in the planned other partition, by the ratio of the plan
 * (3). */
static int64_t
at_home(int64_t length_s, const struct lt_ended_run *ended, const struct lt_quote_run *said)
{
	const struct lt_quote *const quote = ended->quote;
	int64_t home_s;

	if (said->ratio_ppm == 0 || quote == NULL ||
	    strcmp(quote->partition, ended->row->partition) != 0 ||
	    strcmp(quote->partition, quote->home) == 0 ||
	    !lt_scale_up(length_s, LT_MICROS, said->ratio_ppm, &home_s))
		return length_s;
	return home_s;
}

static void
fill_kinds(
    struct lt_length *length, const struct lt_ended_run *ended, const struct lt_quote_run *said)
{
	const struct lt_run *const run = ended->run;
	const struct lt_run_kind kind = {.uid = run->uid,
	    .account = run->account,
	    .name = ended->row->name,
	    .nodes = run->nodes,
	    .cpus = run->cpus,
	    .gpus = run->gpus,
	    .hash = said->kind,
	    .limit_s = length->length.limit_s,
	    .is_interactive = ended->row->is_interactive};

	for (int i = 0; i < LT_HISTORY_GROUPS; i++) {
		struct lt_kind *const to = &length->kinds[i];

		to->group = (enum lt_history_group)i;
		to->key = lt_history_key(&kind, to->group);
		to->band = lt_history_band(&kind, to->group);
		memcpy(to->account, run->account, sizeof(to->account));
		to->last_utc_s = run->end_utc_s;
	}
	struct lt_kind *const name = &length->kinds[LT_HISTORY_NAME];
	if (lt_history_is_name(kind.name))
		lt_history_fold(name->name, sizeof(name->name), kind.name);
	name->nodes = run->nodes;
	name->cpus = run->cpus;
	name->gpus = run->gpus;
}

int
lt_lengths_learn(struct lt_ledger *ledger, const struct lt_ended_run *ended,
    int64_t not_before_utc_s, struct lt_error *err)
{
	const struct lt_batch_run *const row = ended->row;
	const struct lt_run *const run = ended->run;
	const enum lt_run_says says = lt_run_says(row->state_text);
	struct lt_length length = {.run = run->key, .is_new = ended->is_new};
	struct lt_quote_run said = {0};
	int64_t length_s;

	if (says == LT_RUN_SAYS_NOTHING || row->is_part || row->name[0] == '\0' ||
	    run->start_utc_s <= 0 || run->end_utc_s < not_before_utc_s)
		return LT_OK;
	if (ended->quote != NULL && ended->quote->run[0] != '\0')
		(void)lt_quote_run_unpack(
		    &said, ended->quote->run, strlen(ended->quote->run), NULL);
	const int code = worked(&length_s, ledger, ended, err);
	if (code != LT_OK)
		return code;
	length.is_short = length_s < LT_HISTORY_LENGTH_LEAST_S;
	length.length = (struct lt_run_length){.length_s = at_home(length_s, ended, &said),
	    .limit_s = row->limit_s == INT64_MAX ? 0 : row->limit_s,
	    .at_least = says == LT_RUN_SAYS_LEAST};
	/* Parts before a requeue may have run on others. */
	if (says == LT_RUN_SAYS_LENGTH && run->gpu[0] != '\0' &&
	    length_s == run->end_utc_s - run->start_utc_s - run->suspended_s) {
		memcpy(length.gpu, run->gpu, sizeof(length.gpu));
		length.gpu_length_s = length_s > 0 ? length_s : 1;
	}
	fill_kinds(&length, ended, &said);
	return lt_ledger_put_length(ledger, &length, err);
}

/* ---- figures, and the file ---- */

static int
make_figures(
    struct lt_ledger *ledger, struct lt_kind *kind, uint32_t confidence_ppm, struct lt_error *err)
{
	struct lt_run_length *const runs = calloc(LT_RUNS_MOST, sizeof(*runs));

	if (runs == NULL)
		return lt_fail(err, LT_ENOMEM, "history: out of memory");
	const int count = lt_ledger_lengths(ledger, kind, runs, err);
	int code = count;
	if (count >= 0) {
		kind->figures = lt_run_figures(
		    runs, (uint32_t)count, kind->group, confidence_ppm, &kind->ratio_ppm);
		code = lt_ledger_put_figures(ledger, kind, err);
	}
	if (code == LT_OK && kind->group == LT_HISTORY_NAME)
		code = lt_ledger_make_speeds(ledger, &kind->key, err);
	free(runs);
	return code;
}

/* A transaction of them; *count: how many there were. */
static int
refresh_some(
    struct lt_ledger *ledger, uint32_t confidence_ppm, uint32_t *count, struct lt_error *err)
{
	struct lt_kind *kinds = NULL;
	int code = lt_ledger_stale_kinds(ledger, KINDS_AT_ONCE, &kinds, count, err);

	if (code != LT_OK || *count == 0)
		return code;
	code = lt_ledger_begin(ledger, err);
	if (code == LT_OK) {
		for (uint32_t i = 0; code == LT_OK && i < *count; i++) {
			lt_breath(LT_TURN_READ);
			code = make_figures(ledger, &kinds[i], confidence_ppm, err);
		}
		if (code == LT_OK)
			code = lt_ledger_commit(ledger, err);
		else
			lt_ledger_rollback(ledger);
	}
	free(kinds);
	return code;
}

/* Drops figures that were made for another confidence. */
static int
follow_confidence(struct lt_ledger *ledger, uint32_t confidence_ppm, struct lt_error *err)
{
	static const char name[] = "history_confidence";
	char had[16] = "", wanted[16];

	snprintf(wanted, sizeof(wanted), "%" PRIu32, confidence_ppm);
	if (lt_ledger_get(ledger, name, had, sizeof(had), NULL) == LT_OK &&
	    strcmp(had, wanted) == 0)
		return LT_OK;
	const int code = lt_ledger_stale_all(ledger, err);
	return code == LT_OK ? lt_ledger_put(ledger, name, wanted, err) : code;
}

int64_t
lt_lengths_smoke_within_s(const struct lt_policy *policy)
{
	int64_t most_s = 0;

	for (int i = 0; i < policy->class_count; i++)
		if (policy->classes[i].smoke_within_s > most_s)
			most_s = policy->classes[i].smoke_within_s;
	return most_s;
}

static int
write_file(const struct lt_policy *policy, struct lt_ledger *ledger, struct lt_charges *charges,
    const char *path, int64_t now_utc_s, struct lt_error *err)
{
	const int64_t within_s = lt_lengths_smoke_within_s(policy);
	struct lt_history_record *smokes = NULL, *records = NULL, *all = NULL;
	uint32_t smoke_count = 0, count = 0;
	int code = LT_OK;

	if (within_s > 0)
		code = lt_ledger_smokes(ledger, now_utc_s - within_s, &smokes, &smoke_count, err);
	if (code == LT_OK)
		code =
		    lt_ledger_history(ledger, LT_HISTORY_MAX - smoke_count, &records, &count, err);
	if (code == LT_OK)
		all = realloc(records, ((size_t)count + smoke_count + 1) * sizeof(*all));
	if (code == LT_OK && all == NULL)
		code = lt_fail(err, LT_ENOMEM, "history: out of memory");
	if (code == LT_OK) {
		records = all;
		for (uint32_t i = 0; i < smoke_count; i++)
			records[count++] = smokes[i];
		code = lt_history_write(path, records, count, now_utc_s, err);
	}
	charges->history_written = code == LT_OK;
	charges->smoke_within_s = within_s;
	free(records);
	free(smokes);
	return code;
}

void
lt_lengths_ended(
    const struct lt_policy *policy, struct lt_charges *charges, const struct lt_run *run)
{
	if (run->nodes == 0 || run->nodes > LT_SMOKE_NODES_MAX ||
	    strcmp(run->state_text, "COMPLETED") != 0 || lt_lengths_smoke_within_s(policy) == 0)
		return;
	charges->history_written = false;
	if (charges->next.history > charges->next.history_soonest)
		charges->next.history = charges->next.history_soonest;
}

int
lt_lengths_publish(const struct lt_policy *policy, struct lt_ledger *ledger,
    struct lt_charges *charges, const char *path, int64_t now_utc_s, struct lt_error *err)
{
	const uint32_t confidence_ppm = policy->deadline_confidence_ppm;
	const int64_t began_ms = lt_monotonic_ms();
	uint32_t count = KINDS_AT_ONCE;
	int code = follow_confidence(ledger, confidence_ppm, err);

	if (charges->smoke_within_s != lt_lengths_smoke_within_s(policy))
		charges->history_written = false;
	for (int turn = 0; code == LT_OK && count == KINDS_AT_ONCE && turn < TURNS; turn++) {
		code = refresh_some(ledger, confidence_ppm, &count, err);
		if (count > 0)
			charges->history_written = false;
	}
	if (code == LT_OK && !charges->history_written)
		code = write_file(policy, ledger, charges, path, now_utc_s, err);
	const int64_t wait_s = PART * (lt_monotonic_ms() - began_ms) / 1000;
	charges->next.history_soonest = now_utc_s + wait_s + 1;
	charges->next.history = now_utc_s + (wait_s > EVERY_S ? wait_s : EVERY_S);
	return code;
}
