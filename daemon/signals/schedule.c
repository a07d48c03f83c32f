/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which source is fetched when: at its adapter's interval with jitter, sooner after
 * failures, not before the source's own Retry-After. A child fetches (fetch.c); its results are
 * taken here.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange_rates.h"
#include "fetch.h"
#include "fitting.h"
#include "log.h"
#include "schedule.h"
#include "signals.h"
#include "text_mend.h"
#include "units.h"
#include "min_max.h"

enum {
	RETRY_FIRST_S = 20,	  /* doubled by each failure in a row */
	RETRY_DOUBLINGS = 6,	  /* then each 21 min, or the interval if shorter */
	JITTER_DIVISOR = 10,	  /* up to a tenth of the interval */
	REFETCH_S = 2 * LT_DAY_S, /* how far back we ask again: late values */
	DEEP_S = LT_DAY_S,	  /* how often we ask for all history again: holes
				   * that were filled, values that were revised */
};

/* Not for secrets: only so that a thousand sites do not ask at once. */
static int64_t
add_jitter(int64_t interval_s)
{
	const int64_t range = interval_s / JITTER_DIVISOR;

	return range > 0 ? random() % range : 0;
}

int64_t
lt_schedule_wait_s(int64_t interval_s, int failures, int64_t retry_after_s)
{
	int64_t wait_s = interval_s;

	if (failures > 0) {
		const int doublings =
		    failures - 1 < RETRY_DOUBLINGS ? failures - 1 : RETRY_DOUBLINGS;

		wait_s = (int64_t)RETRY_FIRST_S << doublings;
		if (wait_s > interval_s)
			wait_s = interval_s;
	}
	const int64_t asked_s = lt_min_i64(retry_after_s, LT_RETRY_AFTER_MAX_S);
	return lt_max_i64(asked_s, wait_s);
}

int64_t
lt_schedule_from(int64_t complete_utc_s, int64_t deep_utc_s, int64_t now_utc_s)
{
	const int64_t recent_utc_s = now_utc_s - REFETCH_S, oldest_utc_s = now_utc_s - LT_HISTORY_S;
	const int64_t from_utc_s = lt_min_i64(complete_utc_s, recent_utc_s);

	return from_utc_s > oldest_utc_s && now_utc_s - deep_utc_s < DEEP_S ? from_utc_s
									    : oldest_utc_s;
}

static int64_t
next_time(const struct lt_source *source, int64_t now_utc_s)
{
	const int64_t wait_s = lt_schedule_wait_s(
	    source->adapter->interval_s, source->failures, source->retry_after_s);

	return now_utc_s + wait_s + add_jitter(wait_s);
}

static struct lt_fetch *
prepare_fetch(const struct lt_policy *policy, struct lt_source *source, int64_t now_utc_s)
{
	struct lt_fetch *const fetch = calloc(1, sizeof(*fetch));

	if (fetch == NULL)
		return NULL;
	const char *const currency =
	    source->adapter->currency != NULL ? source->adapter->currency(&source->options) : "";
	fetch->source = *source->policy;
	fetch->adapter = source->adapter;
	fetch->memory = *source->memory;
	/* "As before" is of another price in our currency from then on. */
	if (lt_exchange_begins(policy, currency, source->fetched_utc_s,
		now_utc_s + 2 * source->adapter->interval_s))
		lt_source_forget(&fetch->memory);
	fetch->now_utc_s = now_utc_s;
	fetch->from_utc_s = lt_schedule_from(source->complete_utc_s, source->deep_utc_s, now_utc_s);
	fetch->to_utc_s = now_utc_s + LT_HORIZON_S;
	return fetch;
}

static void
take_result(struct lt_signals_state *signals, struct lt_ledger *ledger,
    const struct lt_policy *policy, struct lt_fetch *fetch, int64_t now_utc_s)
{
	struct lt_source *source = NULL;

	for (int i = 0; i < signals->source_count; i++)
		if (signals->sources[i].adapter == fetch->adapter &&
		    strcmp(signals->sources[i].policy->name, fetch->source.name) == 0 &&
		    memcmp(signals->sources[i].policy->options, fetch->source.options,
			sizeof(fetch->source.options)) == 0)
			source = &signals->sources[i];
	if (source == NULL)
		return; /* the policy changed meanwhile */
	const uint64_t generation = source->generation;
	source->busy = false;
	*source->memory = fetch->memory;
	source->retry_after_s = fetch->points.retry_after_s;
	source->tries++;
	if (fetch->code != LT_OK) {
		source->failures++;
		lt_text_mend(fetch->err.text);
		memcpy(source->last_error, fetch->err.text, sizeof(source->last_error));
		lt_log("fetch_failed", "source=%s failures=%d error=\"%s\"", fetch->source.name,
		    source->failures, fetch->err.text);
	} else if (lt_signals_take(ledger, policy, source, &fetch->points, now_utc_s) != LT_OK) {
		source->failures++;
	} else {
		source->failures = 0;
		if (fetch->from_utc_s <= fetch->now_utc_s - LT_HISTORY_S &&
		    !fetch->points.past_lost)
			source->deep_utc_s = now_utc_s;
	}
	source->failed_tries += source->failures > 0;
	if (source->generation != generation)
		signals->changed = true;
	source->next_fetch_utc_s = next_time(source, now_utc_s);
}

void
lt_schedule_start(int64_t now_utc_s)
{
	srandom((unsigned)(now_utc_s ^ getpid()));
}

static void
take_all(struct lt_signals_state *signals, struct lt_ledger *ledger, const struct lt_policy *policy,
    int64_t now_utc_s)
{
	for (struct lt_fetch *fetch; (fetch = lt_fetch_take()) != NULL;) {
		take_result(signals, ledger, policy, fetch, now_utc_s);
		lt_fetch_free(fetch);
	}
}

static void
post_fetch(const struct lt_policy *policy, struct lt_source *source, int64_t now_utc_s)
{
	struct lt_fetch *const fetch = prepare_fetch(policy, source, now_utc_s);

	if (fetch == NULL)
		return;
	source->busy = true;
	lt_fetch_post(fetch);
}

/* Those of the same adapter that would be due within the jitter anyway: they share requests. */
static void
post_companions(const struct lt_signals_state *signals, const struct lt_policy *policy,
    const struct lt_source *of, int64_t now_utc_s)
{
	const int64_t soon_utc_s = now_utc_s + of->adapter->interval_s / JITTER_DIVISOR;

	for (int i = 0; i < signals->source_count; i++) {
		struct lt_source *const source = &signals->sources[i];

		if (!source->busy && source->adapter == of->adapter && source->failures == 0 &&
		    source->next_fetch_utc_s <= soon_utc_s)
			post_fetch(policy, source, now_utc_s);
	}
}

int64_t
lt_schedule_run(struct lt_signals_state *signals, struct lt_ledger *ledger,
    const struct lt_policy *policy, int64_t now_utc_s)
{
	int64_t next = now_utc_s + LT_DAY_S;

	take_all(signals, ledger, policy, now_utc_s);
	for (int i = 0; i < signals->source_count; i++) {
		struct lt_source *const source = &signals->sources[i];

		if (!source->busy && source->next_fetch_utc_s <= now_utc_s) {
			post_fetch(policy, source, now_utc_s);
			post_companions(signals, policy, source, now_utc_s);
		}
		if (!source->busy && source->next_fetch_utc_s > now_utc_s &&
		    source->next_fetch_utc_s < next)
			next = source->next_fetch_utc_s;
	}
	/* Begins what was posted. */
	take_all(signals, ledger, policy, now_utc_s);
	lt_fitting_run(signals, ledger, now_utc_s);
	return next;
}

void
lt_schedule_once(struct lt_signals_state *signals, struct lt_ledger *ledger,
    const struct lt_policy *policy, int64_t now_utc_s)
{
	for (int i = 0; i < signals->source_count; i++) {
		struct lt_fetch *const fetch =
		    prepare_fetch(policy, &signals->sources[i], now_utc_s);

		if (fetch == NULL)
			continue;
		lt_fetch_run(fetch);
		take_result(signals, ledger, policy, fetch, now_utc_s);
		lt_fetch_free(fetch);
	}
}
