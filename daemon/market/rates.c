/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the real cost of a node-hour, a kWh and its carbon in each partition in the ledger as
 * time passes: charges are made from this and nothing else. Only up to now; a forecast is recorded
 * when its hour comes. So is the number of owned nodes, which the site pays for whether they are
 * used or not.
 *
 * Reads the policy, the signals and Slurm's tables. A closed period never changes. What fails is
 * recorded again by the next pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hazard.h"
#include "ledger.h"
#include "periods.h"
#include "price.h"
#include "policy_load.h"
#include "rate.h"
#include "rates.h"
#include "signals.h"
#include "site.h"
#include "units.h"

struct owned_now {
	const struct lt_policy *policy;
	const struct lt_tables *tables;
	int64_t policy_utc_s, now_utc_s;
};

/* Are its nodes paid for, whether they are used or not? */
static bool
is_paid(const struct lt_policy_partition *partition)
{
	return partition->owned || (lt_batch_words.pays_all_nodes &&
				       (partition->price.is_set || partition->has_gpu_price));
}

/* Counts the nodes of a partition of Slurm's that are not counted yet. */
static uint32_t
take_nodes(bool *taken, const struct lt_batch_nodes *nodes, uint32_t partition)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < nodes->range_count; i++) {
		const struct lt_node_range *const range = &nodes->ranges[i];

		if (range->partition != partition)
			continue;
		for (uint32_t k = range->first; k <= range->last && k < nodes->count; k++) {
			count += nodes->are_there[k] && !taken[k];
			taken[k] = true;
		}
	}
	return count;
}

/*
 * Counts the owned nodes of each partition of the policy, in its order: drained and down ones too,
 * not FUTURE, and no cloud's that is powered down. Each node counts once, in the first owned
 * partition that has it; others have none. LT_ENOMEM.
 */
static int
count_owned_nodes(uint32_t counts[LT_PARTITIONS_MAX], const struct lt_policy *policy,
    const struct lt_tables *tables, struct lt_error *err)
{
	bool *const taken = calloc(tables->nodes.count + (size_t)1, sizeof(*taken));

	if (taken == NULL)
		return lt_fail(err, LT_ENOMEM, "owned nodes: out of memory");
	for (int i = 0; i < policy->partition_count; i++) {
		counts[i] = 0;
		for (uint32_t k = 0; is_paid(&policy->partitions[i]) && k < tables->partition_count;
		     k++)
			if (strcmp(tables->partitions[k].name, policy->partitions[i].name) == 0)
				counts[i] += take_nodes(taken, &tables->nodes, k);
	}
	free(taken);
	return LT_OK;
}

static int
put_node_count(struct lt_ledger *ledger, const char *partition, double count, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_rates_asked asked = {partition, LT_RATE_NODES, {now_utc_s, now_utc_s + 1}};
	const int64_t hour_utc_s = now_utc_s - now_utc_s % LT_HOUR_S;
	struct lt_rate_step *steps = NULL;
	struct lt_rate_step fresh = {.start_utc_s = now_utc_s,
	    .end_utc_s = INT64_MAX,
	    .value = count,
	    .quality = LT_QUALITY_CONSTANT};
	uint32_t step_count = 0;
	const int code = lt_ledger_rates(ledger, &asked, &steps, &step_count, err);

	if (code != LT_OK)
		return code;
	/* The first step is a guess about the time before all records. */
	const bool was = step_count > 0 && steps[0].quality == LT_QUALITY_CONSTANT &&
			 steps[0].value != LT_RATE_ENDED;
	const bool same = was ? steps[0].value == count && steps[0].end_utc_s == INT64_MAX
			      : count == LT_RATE_ENDED;
	free(steps);
	if (same)
		return LT_OK;
	if (!was)
		fresh.start_utc_s = hour_utc_s;
	else if (count == LT_RATE_ENDED)
		fresh.start_utc_s = hour_utc_s + LT_HOUR_S;
	return lt_ledger_put_rates(
	    ledger, partition, LT_RATE_NODES, &(struct lt_rates){.count = 1, .steps = &fresh}, err);
}

/* Records the end of those that the policy no longer has, or no longer as owned. */
static int
record_ends(struct lt_ledger *ledger, const struct owned_now *now, struct lt_error *err)
{
	char(*names)[LT_NAME_SIZE] = NULL;
	uint32_t count = 0;
	int code = lt_ledger_rated(ledger, LT_RATE_NODES, &names, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_policy_partition *const partition =
		    lt_policy_partition_find(now->policy, names[i]);

		if (partition == NULL || !is_paid(partition))
			code = put_node_count(ledger, names[i], LT_RATE_ENDED, now->now_utc_s, err);
	}
	free(names);
	return code;
}

/*
 * Records the number of owned nodes as LT_RATE_NODES, where policy or tables are newer than seen:
 * from the start of the hour in which a partition is first seen as owned, from now on where the
 * number has changed, and until the end of the last hour in which it is owned. So paid and booked
 * hours are the same.
 */
static int
record_owned_nodes(struct lt_owned_seen *seen, struct lt_ledger *ledger,
    const struct owned_now *now, struct lt_error *err)
{
	const struct lt_owned_seen fresh = {now->policy_utc_s, now->tables->read_utc_s};
	uint32_t counts[LT_PARTITIONS_MAX];

	/* Without an answer from Slurm the last number stays. */
	if (fresh.tables_utc_s == 0 ||
	    (fresh.tables_utc_s == seen->tables_utc_s && fresh.policy_utc_s == seen->policy_utc_s))
		return LT_OK;
	int code = count_owned_nodes(counts, now->policy, now->tables, err);
	for (int i = 0; code == LT_OK && i < now->policy->partition_count; i++)
		if (is_paid(&now->policy->partitions[i]))
			code = put_node_count(ledger, now->policy->partitions[i].name, counts[i],
			    now->now_utc_s, err);
	if (code == LT_OK)
		code = record_ends(ledger, now, err);
	if (code == LT_OK)
		*seen = fresh;
	return code;
}

enum { PAST_S = 92 * LT_DAY_S }; /* so far back guesses are put right */

struct lt_recorded { /* of one partition and rate */
	char partition[LT_NAME_SIZE];
	uint32_t key;
};

static const struct lt_policy_signal *
signal_of(const struct lt_policy_partition *partition, enum lt_rate rate)
{
	return rate == LT_RATE_PRICE	? &partition->price
	       : rate == LT_RATE_CARBON ? &partition->carbon
					: &partition->tariff;
}

/* Returns the rate's row, a new one if there is none; NULL: no memory for it. */
static struct lt_recorded *
recorded_of(struct lt_recorded *all, const char *partition, enum lt_rate rate)
{
	for (int i = 0; all != NULL && i < LT_PARTITIONS_MAX; i++) {
		struct lt_recorded *const r = &all[i * LT_RATE_COUNT + (int)rate];

		if (r->partition[0] == '\0')
			snprintf(r->partition, sizeof(r->partition), "%s", partition);
		if (strcmp(r->partition, partition) == 0)
			return r;
	}
	return NULL;
}

/* Stores the policy's value for a time instead of the former one, unless they are the same.
 * has_ended: the policy has no value any more. */
static int
record_said(struct lt_ledger *ledger, const struct lt_rates_asked *of,
    const struct lt_rate_step *step, bool has_ended, struct lt_error *err)
{
	const struct lt_rates_asked asked = {
	    of->partition, of->rate, {step->start_utc_s, step->end_utc_s}};
	struct lt_rate_step *steps = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_rates(ledger, &asked, &steps, &count, err);

	if (code != LT_OK)
		return code;
	bool same = count > 0 || has_ended;
	for (uint32_t i = 0; i < count; i++)
		same = same && steps[i].value == step->value &&
		       steps[i].quality == LT_QUALITY_CONSTANT &&
		       strcmp(steps[i].source, step->source) == 0;
	free(steps);
	return same ? LT_OK
		    : lt_ledger_put_rates(ledger, of->partition, of->rate,
			  &(struct lt_rates){.count = 1, .steps = step}, err);
}

/* ---- what came late ---- */

struct past { /* of a source, before the steps that it has in memory */
	struct lt_rates_state *rates;
	struct lt_ledger *ledger;
	const struct lt_rates_asked *of; /* the span is that past */
	struct lt_rate_step *known, *points;
	uint32_t known_count, point_count;
};

static void
right_from(struct lt_rates_state *rates, int64_t utc_s)
{
	if (rates->righted_utc_s == 0 || utc_s < rates->righted_utc_s)
		rates->righted_utc_s = utc_s;
}

/* Records what the source now says about a time that has only a guess, or only the continued step
 * before. A measured step stays. */
static int
lay(const struct past *past, const struct lt_rate_step *said, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < past->known_count; i++) {
		const struct lt_rate_step *const known = &past->known[i];
		struct lt_rate_step step = *said;

		if (step.start_utc_s < known->start_utc_s)
			step.start_utc_s = known->start_utc_s;
		if (step.end_utc_s > known->end_utc_s)
			step.end_utc_s = known->end_utc_s;
		const bool goes_on =
		    known->quality == LT_QUALITY_MEASURED && known->end_utc_s == INT64_MAX;
		const bool is_better =
		    step.quality < known->quality ||
		    (step.quality == LT_QUALITY_LAST_VALUE && step.value != known->value);
		const bool is_guess = known->quality > LT_QUALITY_MEASURED && is_better;
		if (step.start_utc_s >= step.end_utc_s || !(goes_on || is_guess))
			continue;
		code = lt_ledger_put_rates(past->ledger, past->of->partition, past->of->rate,
		    &(struct lt_rates){.count = 1, .steps = &step}, err);
		if (is_guess)
			right_from(past->rates, step.start_utc_s);
	}
	return code;
}

/* Its points, and what lies between them and after the last. */
static int
lay_points(const struct past *past, const struct lt_source *source, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_span span = past->of->span;
	const size_t room = 2 * (size_t)past->point_count + 1;
	struct lt_rate_step *const steps = calloc(room, sizeof(*steps));
	int64_t until_utc_s = span.from_utc_s;
	int code = LT_OK;

	if (steps == NULL)
		return lt_fail(err, LT_ENOMEM, "rates: out of memory");
	uint32_t used = lt_bridge(steps, (uint32_t)room - 1, past->points, past->point_count);
	if (used > 0)
		until_utc_s = steps[used - 1].end_utc_s;
	if (until_utc_s < span.to_utc_s) {
		steps[used] = used > 0 ? steps[used - 1] : past->known[0];
		steps[used].start_utc_s = until_utc_s;
		steps[used].end_utc_s = span.to_utc_s;
		steps[used++].quality = LT_QUALITY_LAST_VALUE;
	}
	for (uint32_t i = 0; code == LT_OK && i < used; i++) {
		if (steps[i].start_utc_s < span.from_utc_s)
			steps[i].start_utc_s = span.from_utc_s;
		if (steps[i].end_utc_s > span.to_utc_s)
			steps[i].end_utc_s = span.to_utc_s;
		steps[i].issued_utc_s = now_utc_s;
		memcpy(steps[i].source, source->policy->name, sizeof(steps[i].source));
		code = lay(past, &steps[i], err);
	}
	free(steps);
	return code;
}

/* Records the past anew: while lowtided was down, or the source was silent, only the last value was
 * known; now the source's values for that time count. */
static int
record_past(struct lt_rates_state *rates, struct lt_ledger *ledger,
    const struct lt_rates_asked *now, const struct lt_source *source, struct lt_error *err)
{
	const int64_t now_utc_s = now->span.from_utc_s;
	struct lt_rates_asked of = {
	    now->partition, now->rate, {now_utc_s - PAST_S, source->steps[0].start_utc_s}};
	struct past past = {.rates = rates, .ledger = ledger, .of = &of};
	int64_t from_utc_s;
	int code = lt_ledger_rate_unsure(ledger, &of, &from_utc_s, err);

	if (code != LT_OK || from_utc_s == INT64_MAX)
		return code;
	of.span.from_utc_s = from_utc_s;
	const struct lt_points_asked asked = {source->key, of.span};
	code = lt_ledger_rates(ledger, &of, &past.known, &past.known_count, err);
	if (code == LT_OK)
		code = lt_ledger_points(ledger, &asked, &past.points, &past.point_count, err);
	if (code == LT_OK && past.known_count > 0)
		code = lay_points(&past, source, now_utc_s, err);
	free(past.known);
	free(past.points);
	return code;
}

/* Notes from when on a guess for the last hours, or the continued step before, differed from the
 * measured value: runs are priced again from there. */
static int
right_guesses(struct lt_rates_state *rates, struct lt_ledger *ledger,
    const struct lt_rates_asked *now, const struct lt_rates *said, struct lt_error *err)
{
	const int64_t now_utc_s = now->span.from_utc_s;
	const struct lt_rates_asked asked = {
	    now->partition, now->rate, {said->steps[0].start_utc_s, now_utc_s + 1}};
	struct lt_rate_step *known = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_rates(ledger, &asked, &known, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < said->count * count; i++) {
		const struct lt_rate_step *const is = &said->steps[i / count];
		const struct lt_rate_step *const was = &known[i % count];
		const int64_t from_utc_s =
		    is->start_utc_s > was->start_utc_s ? is->start_utc_s : was->start_utc_s;

		if (is->quality <= LT_QUALITY_MEASURED && is->value != was->value &&
		    from_utc_s < was->end_utc_s && from_utc_s < is->end_utc_s &&
		    from_utc_s <= now_utc_s &&
		    (was->quality > LT_QUALITY_MEASURED || was->end_utc_s == INT64_MAX))
			right_from(rates, from_utc_s);
	}
	free(known);
	return code;
}

/* Records the steps that began up to now; the last one holds until changed. */
static int
record_source(struct lt_rates_state *rates, struct lt_ledger *ledger,
    const struct lt_rates_asked *now, const struct lt_source *source, struct lt_error *err)
{
	uint32_t count = 0;

	while (
	    count < source->step_count && source->steps[count].start_utc_s <= now->span.from_utc_s)
		count++;
	if (count == 0)
		return LT_OK;
	struct lt_rate_step *const steps = calloc(count, sizeof(*steps));
	if (steps == NULL)
		return lt_fail(err, LT_ENOMEM, "rates: out of memory");
	memcpy(steps, source->steps, count * sizeof(*steps));
	for (uint32_t i = 0; i < count; i++) {
		steps[i].end_utc_s = i + 1 < count ? steps[i + 1].start_utc_s : INT64_MAX;
		steps[i].issued_utc_s = now->span.from_utc_s;
		memcpy(steps[i].source, source->policy->name, sizeof(steps[i].source));
	}
	const struct lt_rates said = {count, steps};
	int code = source->adapter->replay ? LT_OK : right_guesses(rates, ledger, now, &said, err);
	if (code == LT_OK)
		code = lt_ledger_put_rates(ledger, now->partition, now->rate, &said, err);
	free(steps);
	return code;
}

static uint32_t
key_of(int64_t loaded_utc_s, const struct lt_policy_signal *signal, const struct lt_source *source,
    int64_t now_utc_s)
{
	if (source == NULL)
		return lt_crc32c(lt_crc32c(1, &signal->constant, sizeof(signal->constant)),
		    &loaded_utc_s, sizeof(loaded_utc_s));
	uint32_t i = 0;
	while (i < source->step_count && source->steps[i].start_utc_s <= now_utc_s)
		i++;
	const int64_t start = i > 0 ? source->steps[i - 1].start_utc_s : 0;
	uint32_t key = lt_crc32c(2, source->policy->name, LT_NAME_SIZE);
	key = lt_crc32c(key, &source->generation, sizeof(source->generation));
	/* Generations start anew with each policy. */
	key = lt_crc32c(key, &loaded_utc_s, sizeof(loaded_utc_s));
	return lt_crc32c(key, &start, sizeof(start));
}

static int
record_signal(struct lt_site *site, const struct lt_signals_state *signals,
    struct lt_ledger *ledger, const struct lt_policy_partition *partition, enum lt_rate rate,
    int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_policy_signal *const signal = signal_of(partition, rate);
	const struct lt_source *const source =
	    signal->is_constant ? NULL : lt_signal_source(signals, site->policy, signal, now_utc_s);

	if (!signal->is_set || (!signal->is_constant && source == NULL))
		return LT_OK;
	const uint32_t key = key_of(site->policy_loaded_utc_s, signal, source, now_utc_s);
	struct lt_recorded *const last = recorded_of(site->rates.recorded, partition->name, rate);
	if (last != NULL && last->key == key)
		return LT_OK;
	const struct lt_rates_asked now = {partition->name, rate, {now_utc_s, now_utc_s + 1}};
	const bool is_later =
	    rate == LT_RATE_PRICE && partition->price_from_utc_s > site->policy_loaded_utc_s;
	const struct lt_rate_step constant = {
	    .start_utc_s = is_later ? partition->price_from_utc_s : site->policy_loaded_utc_s,
	    .end_utc_s = INT64_MAX,
	    .value = signal->constant,
	    .quality = LT_QUALITY_CONSTANT,
	    .issued_utc_s = now_utc_s};
	int code = LT_OK;
	if (source == NULL)
		code = record_said(ledger, &now, &constant, false, err);
	else if (source->step_count > 0 && !source->adapter->replay)
		code = record_past(&site->rates, ledger, &now, source, err);
	if (code == LT_OK && source != NULL)
		code = record_source(&site->rates, ledger, &now, source, err);
	if (code == LT_OK && last != NULL)
		last->key = key;
	return code;
}

struct said { /* by the policy, of a partition */
	const struct lt_policy *policy;
	const struct lt_policy_partition *partition;
	struct lt_rate_step from_now_on; /* without its value */
};

/* Records each month's own value, also for past months: runs charged from now on use it. Closed
 * periods stay. */
static int
record_pue(struct lt_ledger *ledger, const struct said *said, struct lt_error *err)
{
	const struct lt_policy_partition *const partition = said->partition;
	const struct lt_policy_pue *const pue = &partition->pue;
	const struct lt_rates_asked of = {.partition = partition->name, .rate = LT_RATE_PUE};
	const int64_t closed_utc_s = lt_ledger_closed_until(ledger);
	int code = LT_OK, i = 0;

	do {
		struct lt_rate_step step = said->from_now_on;
		const int64_t month_utc_s = pue->count > 0 ? pue->months[i].from_utc_s : INT64_MIN;

		if (i > 0 || (month_utc_s != INT64_MIN && month_utc_s < step.start_utc_s))
			step.start_utc_s = month_utc_s;
		if (i + 1 < pue->count)
			step.end_utc_s = pue->months[i + 1].from_utc_s;
		step.value = lt_policy_pue(pue, step.start_utc_s);
		if (step.start_utc_s < closed_utc_s)
			step.start_utc_s = closed_utc_s;
		if (step.start_utc_s < step.end_utc_s)
			code = record_said(ledger, &of, &step, false, err);
	} while (code == LT_OK && ++i < pue->count);
	return code;
}

static int
record_embodied(struct lt_ledger *ledger, const struct said *said, struct lt_error *err)
{
	const struct lt_policy_partition *const partition = said->partition;
	struct lt_rate_step step = said->from_now_on;

	step.value = partition->embodied_g_per_node_hour;
	return record_said(ledger,
	    &(struct lt_rates_asked){.partition = partition->name, .rate = LT_RATE_EMBODIED}, &step,
	    false, err);
}

static int
record_market_based(struct lt_ledger *ledger, const struct said *said, struct lt_error *err)
{
	const struct lt_policy_partition *const partition = said->partition;
	const struct lt_policy_market_based *const market = &partition->market_based;
	struct lt_rate_step step = said->from_now_on;

	step.value = market->is_set ? market->g_per_kwh : LT_RATE_ENDED;
	if (market->is_set && market->from_utc_s != INT64_MIN)
		step.start_utc_s = market->from_utc_s;
	memcpy(step.source, market->source, sizeof(step.source));
	return record_said(ledger,
	    &(struct lt_rates_asked){.partition = partition->name, .rate = LT_RATE_MARKET_BASED},
	    &step, !market->is_set, err);
}

/* Records a value that holds for all partitions. Before its first record the value was 0. */
static int
record_for_all(struct lt_ledger *ledger, const struct lt_rates_asked *of,
    const struct lt_rate_step *from_now_on, struct lt_error *err)
{
	const struct lt_rates_asked asked = {
	    of->partition, of->rate, {from_now_on->start_utc_s, from_now_on->end_utc_s}};
	struct lt_rate_step steps[] = {*from_now_on, *from_now_on};
	struct lt_rate_step *known = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_rates(ledger, &asked, &known, &count, err);

	free(known);
	if (code != LT_OK || (count == 0 && from_now_on->value <= 0))
		return code;
	if (count > 0)
		return record_said(ledger, of, from_now_on, false, err);
	steps[0].start_utc_s = 0;
	steps[0].end_utc_s = from_now_on->start_utc_s;
	steps[0].value = 0;
	return lt_ledger_put_rates(
	    ledger, of->partition, of->rate, &(struct lt_rates){.count = 2, .steps = steps}, err);
}

static int
record_charge(struct lt_ledger *ledger, const struct said *said, struct lt_error *err)
{
	const struct lt_policy *const policy = said->policy;
	const struct {
		enum lt_rate rate;
		double value;
	} all[] = {{LT_RATE_CHARGE, (double)policy->charge.micros_per_tonne},
	    {LT_RATE_DISCOUNT, policy->discount.share_ppm},
	    {LT_RATE_DISCOUNT_MOST, (double)policy->discount.most_micros}};
	int code = LT_OK;

	for (int i = 0; code == LT_OK && i < 3; i++) {
		struct lt_rate_step step = said->from_now_on;

		step.value = all[i].value;
		code = record_for_all(ledger,
		    &(struct lt_rates_asked){
			.partition = said->partition->name, .rate = all[i].rate},
		    &step, err);
	}
	return code;
}

static int (*const facts[LT_RATE_COUNT])(
    struct lt_ledger *ledger, const struct said *said, struct lt_error *err) = {
    [LT_RATE_PUE] = record_pue,
    [LT_RATE_EMBODIED] = record_embodied,
    [LT_RATE_MARKET_BASED] = record_market_based,
    [LT_RATE_CHARGE] = record_charge,
};

/* Records what the policy says about a partition that is not a signal: once for each policy. */
static int
record_fact(struct lt_site *site, struct lt_ledger *ledger,
    const struct lt_policy_partition *partition, enum lt_rate rate, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_recorded *const last = recorded_of(site->rates.recorded, partition->name, rate);
	const uint32_t key =
	    lt_crc32c(3, &site->policy_loaded_utc_s, sizeof(site->policy_loaded_utc_s));

	if (last != NULL && last->key == key)
		return LT_OK;
	const int code = facts[rate](ledger,
	    &(struct said){.policy = site->policy,
		.partition = partition,
		.from_now_on = {.start_utc_s = site->policy_loaded_utc_s,
		    .end_utc_s = INT64_MAX,
		    .quality = LT_QUALITY_CONSTANT,
		    .issued_utc_s = now_utc_s}},
	    err);
	if (code == LT_OK && last != NULL)
		last->key = key;
	return code;
}

/* Records all in one transaction: at the start of an hour each partition has news, and a disk takes
 * its time for each commit. */
int
lt_rates_record(struct lt_site *site, const struct lt_signals_state *signals,
    struct lt_ledger *ledger, const struct lt_batch_jobs *list, int64_t now_utc_s,
    struct lt_error *err)
{
	static const enum lt_rate here[] = {LT_RATE_PRICE, LT_RATE_CARBON, LT_RATE_TARIFF,
	    LT_RATE_PUE, LT_RATE_EMBODIED, LT_RATE_MARKET_BASED, LT_RATE_CHARGE};
	int code = lt_ledger_begin(ledger, err);

	if (code != LT_OK)
		return code;
	if (site->rates.recorded == NULL)
		site->rates.recorded = calloc(
		    (size_t)LT_PARTITIONS_MAX * LT_RATE_COUNT, sizeof(*site->rates.recorded));
	for (int i = 0; i < site->policy->partition_count; i++)
		for (size_t r = 0; r < sizeof(here) / sizeof(*here) && code == LT_OK; r++)
			code = facts[here[r]] == NULL
				   ? record_signal(site, signals, ledger,
					 &site->policy->partitions[i], here[r], now_utc_s, err)
				   : record_fact(site, ledger, &site->policy->partitions[i],
					 here[r], now_utc_s, err);
	if (code == LT_OK)
		code = record_owned_nodes(&site->rates.owned_seen, ledger,
		    &(struct owned_now){.policy = site->policy,
			.tables = &site->tables,
			.policy_utc_s = site->policy_loaded_utc_s,
			.now_utc_s = now_utc_s},
		    err);
	if (code == LT_OK)
		code = lt_there_record(&site->there, ledger,
		    &(struct lt_there_now){.policy = site->policy,
			.tables = &site->tables,
			.jobs = list,
			.policy_utc_s = site->policy_loaded_utc_s,
			.now_utc_s = now_utc_s},
		    err);
	if (code == LT_OK)
		code = lt_places_note(&site->market, ledger, site->policy, now_utc_s, err);
	/* The records before a failure are right, and stay. */
	const int kept = lt_ledger_commit(ledger, err);
	if (kept != LT_OK) {
		lt_ledger_rollback(ledger);
		free(site->rates.recorded);
		site->rates.recorded = NULL;
		site->rates.owned_seen = (struct lt_owned_seen){0};
		lt_there_free(site->there);
		site->there = NULL;
	}
	return code == LT_OK ? kept : code;
}
