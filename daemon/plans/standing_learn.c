/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ledger has learned by now of a job that is decided again: how long
 * its kind runs, on which GPU how much faster, and whether it resumes.
 */
#include <string.h>

#include "history.h"
#include "interrupted.h"
#include "ledger.h"
#include "market.h"
#include "ledger_jobs.h"
#include "standing.h"

/* Of the groups that tell of it, by the limit that its record has, or had
 * before lowtide lowered it. Returns that limit; 0: none. */
static int64_t
keys_of(
    struct lt_history_key keys[LT_HISTORY_GROUPS], const struct lt_standing *s)
{
	const struct lt_run_kind kind = {.uid = s->job->uid,
	    .account = s->job->account,
	    .name = s->job->name,
	    .hash = s->run.kind,
	    .limit_s = s->run.limit_s > s->job->limit_s ? s->run.limit_s
							: s->job->limit_s,
	    .is_interactive = !s->job->is_batch};

	lt_history_keys(keys, &kind);
	return kind.limit_s < INT64_MAX ? kind.limit_s : 0;
}

/* What runs of its kind have shown by now, if not the user said how long it
 * runs; what they had shown before where nothing is told any more. */
static struct lt_expected
learned(const struct lt_standing *s, struct lt_ledger *ledger)
{
	struct lt_history_key keys[LT_HISTORY_GROUPS];
	struct lt_history_figures figures[LT_HISTORY_GROUPS];
	const int64_t limit_s = keys_of(keys, s);
	struct lt_expected now;

	if (s->run.expected.from == LT_HISTORY_SAID)
		return s->run.expected;
	for (int i = 0; i < LT_HISTORY_GROUPS; i++)
		if (lt_ledger_figures(ledger, &keys[i], &figures[i], NULL) !=
		    LT_OK)
			return s->run.expected;
	now = lt_history_expect(figures, limit_s);
	return now.expected_s > 0 ? now : s->run.expected;
}

/* What its runs have shown of the market's GPUs. */
static void
learn_gpus(struct lt_standing *s, const struct lt_market *market,
    struct lt_ledger *ledger)
{
	const struct lt_request *const request = &s->made.request;
	struct lt_history_key keys[LT_HISTORY_GROUPS];
	struct lt_speed speeds[LT_SPEEDS_MAX];
	int count = 0;

	(void)keys_of(keys, s);
	if (keys[LT_HISTORY_NAME].hash != 0 && lt_request_wants_gpus(request))
		count = lt_ledger_speeds(
		    ledger, &keys[LT_HISTORY_NAME], speeds, NULL);
	memset(s->gpu_median_s, 0, sizeof(s->gpu_median_s));
	for (uint32_t g = 0; g < market->gpu_count; g++)
		for (int i = 0; i < count; i++)
			if (strcmp(market->gpus[g].name, speeds[i].gpu) == 0)
				s->gpu_median_s[g] = speeds[i].median_s;
	s->made.request.gpu_median_s = count > 0 ? s->gpu_median_s : NULL;
}

/* What is known by now of its word that it resumes. */
static void
learn_proof(struct lt_standing *s, struct lt_ledger *ledger)
{
	struct lt_request *const request = &s->made.request;
	const struct lt_run_kind kind = {.uid = s->job->uid,
	    .account = s->quote.account,
	    .name = s->job->name};
	struct lt_proof_row row;

	if (!request->checkpoint.enabled || request->script_hash == 0)
		return;
	const struct lt_history_key key =
	    lt_history_proof_key(&kind, request->script_hash);
	if (lt_ledger_proof(ledger, &key, &row, NULL) == LT_OK)
		request->proof = (struct lt_proof){row.survived,
		    (uint32_t)row.write_s, (uint32_t)row.restart_s};
}

/* What is promised is of its first submission, and a requeue is a new one: all
 * but the work that is kept was waiting. */
static int64_t
latest_again(const struct lt_standing *s, const struct lt_market *market)
{
	const struct lt_request *const request = &s->made.request;

	return lt_latest_start(
	    s->job, s->hold.made_utc_s +
			lt_class_max_delay_s(
			    lt_request_class(request, market), market) +
			request->done_s);
}

void
lt_standing_learn(struct lt_standing *s, const struct lt_market *market,
    struct lt_ledger *ledger)
{
	learn_proof(s, ledger);
	lt_interrupted_lay(
	    &s->made.request, ledger, s->job, &s->hold, s->run.limit_s);
	if (!lt_resume_counts(&s->made.request, market))
		s->made.request.done_s = 0; /* it starts over */
	if (s->job->requeued)
		s->made.request.latest_utc_s = latest_again(s, market);
	if (s->made.request.home == lt_market_partition(market, s->quote.home))
		s->made.request.learned = s->run.expected = learned(s, ledger);
	learn_gpus(s, market, ledger);
}

void
lt_standing_learn_place(struct lt_standing *s, const struct lt_market *market,
    struct lt_ledger *ledger)
{
	learn_gpus(s, market, ledger);
	learn_proof(s, ledger);
}
