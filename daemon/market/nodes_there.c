/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the nodes that are there at each reading of the batch system's tables, records each change
 * of their number in signals.db, and learns from these steps how long work waits for nodes. A
 * failed write is an error of the caller's pass; without a record nothing is learned.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "log.h"
#include "posterior.h"
#include "text.h"
#include "nodes_there.h"
#include "units.h"
#include "waits.h"

enum {
	LEARN_EVERY_S = 6 * LT_HOUR_S,
	BOOT_LEAST_S = 600, /* Slurm's ResumeTimeout is as much where it is
			     * said for clouds */
};

struct row {
	char partition[LT_NAME_SIZE];
	bool is_recorded;
	uint32_t count;
	int64_t learned_utc_s; /* 0 = never */
	struct lt_availability availability;
};
struct lt_there {
	int64_t policy_utc_s; /* whose ends are recorded */
	uint32_t count;
	struct row *rows[LT_PARTITIONS_MAX];
};

void
lt_there_free(struct lt_there *there)
{
	for (uint32_t i = 0; there != NULL && i < there->count; i++)
		free(there->rows[i]);
	free(there);
}

/* NULL = no memory. */
static struct row *
row_of(struct lt_there **there, const char *partition)
{
	if (*there == NULL)
		*there = calloc(1, sizeof(**there));
	if (*there == NULL)
		return NULL;
	for (uint32_t i = 0; i < (*there)->count; i++)
		if (strcmp((*there)->rows[i]->partition, partition) == 0)
			return (*there)->rows[i];
	struct row *const row =
	    (*there)->count < LT_PARTITIONS_MAX ? calloc(1, sizeof(*row)) : NULL;
	if (row == NULL)
		return NULL;
	memcpy(row->partition, partition, LT_NAME_SIZE);
	return (*there)->rows[(*there)->count++] = row;
}

/* Does a job of it wait for nodes longer than they boot? */
static bool
is_waited_for(const struct lt_there_now *now, const char *partition, int64_t restart_s)
{
	const int64_t boot_s = restart_s > BOOT_LEAST_S ? restart_s : BOOT_LEAST_S;

	for (uint32_t i = 0; i < now->jobs->count; i++) {
		const struct lt_batch_job *const job = &now->jobs->jobs[i];
		const int64_t since_utc_s = job->eligible_utc_s > job->submit_utc_s
						? job->eligible_utc_s
						: job->submit_utc_s;

		if (job->state == LT_JOB_PENDING && !job->held &&
		    strcmp(job->reason_text, "Resources") == 0 &&
		    lt_text_is_among(partition, job->partition) &&
		    now->now_utc_s - since_utc_s > boot_s)
			return true;
	}
	return false;
}

uint32_t
lt_there_count(const struct lt_there_now *now, uint32_t partition, int64_t restart_s)
{
	const struct lt_batch_nodes *const nodes = &now->tables->nodes;
	uint32_t there = 0, powered_down = 0;

	for (uint32_t i = 0; i < nodes->range_count; i++) {
		const struct lt_node_range *const range = &nodes->ranges[i];

		for (uint32_t k = range->first;
		     range->partition == partition && k <= range->last && k < nodes->count; k++) {
			there +=
			    nodes->are_there[k] && !(nodes->are_away != NULL && nodes->are_away[k]);
			powered_down += !nodes->are_there[k];
		}
	}
	if (powered_down > 0 &&
	    !is_waited_for(now, now->tables->partitions[partition].name, restart_s))
		there += powered_down;
	return there;
}

bool
lt_there_counts(const struct lt_policy_partition *partition)
{
	return partition->preemptible &&
	       !(lt_batch_words.brings_nodes && partition->target_said && partition->is_target);
}

static int
put_count(struct lt_ledger *ledger, const char *partition, double value, int64_t now_utc_s,
    struct lt_error *err)
{
	return lt_ledger_put_rates(ledger, partition, LT_RATE_THERE,
	    &(struct lt_rates){.count = 1,
		.steps = &(struct lt_rate_step){.start_utc_s = now_utc_s,
		    .end_utc_s = INT64_MAX,
		    .value = value,
		    .quality = LT_QUALITY_MEASURED}},
	    err);
}

static int
record_partition(struct lt_there **there, struct lt_ledger *ledger, const struct lt_there_now *now,
    const struct lt_policy_partition *partition, struct lt_error *err)
{
	struct row *const row = row_of(there, partition->name);
	uint32_t index = 0;

	while (index < now->tables->partition_count &&
	       strcmp(now->tables->partitions[index].name, partition->name) != 0)
		index++;
	if (index == now->tables->partition_count)
		return LT_OK;
	const uint32_t count = lt_there_count(now, index, partition->restart_s);
	if (row != NULL && row->is_recorded && row->count == count)
		return LT_OK;
	const int code = put_count(ledger, partition->name, count, now->now_utc_s, err);
	if (code == LT_OK && row != NULL) {
		row->is_recorded = true;
		row->count = count;
	}
	return code;
}

static bool
is_preemptible(const struct lt_policy *policy, const char *partition)
{
	for (int i = 0; i < policy->partition_count; i++)
		if (strcmp(policy->partitions[i].name, partition) == 0)
			return policy->partitions[i].preemptible;
	return false;
}

static int
record_end(struct lt_ledger *ledger, const char *partition, const struct lt_there_now *now,
    struct lt_error *err)
{
	const struct lt_rates_asked asked = {
	    partition, LT_RATE_THERE, {now->now_utc_s, now->now_utc_s + 1}};
	struct lt_rate_step *steps = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_rates(ledger, &asked, &steps, &count, err);
	const bool has_ended = count > 0 && steps[count - 1].value == LT_RATE_ENDED;

	free(steps);
	return code != LT_OK || has_ended
		   ? code
		   : put_count(ledger, partition, LT_RATE_ENDED, now->now_utc_s, err);
}

/* Records the end of those that were preemptible by an earlier policy. */
static int
record_ends(struct lt_there **there, struct lt_ledger *ledger, const struct lt_there_now *now,
    struct lt_error *err)
{
	char(*names)[LT_NAME_SIZE] = NULL;
	uint32_t count = 0;

	if (*there == NULL && (*there = calloc(1, sizeof(**there))) == NULL)
		return lt_fail(err, LT_ENOMEM, "nodes there: no memory");
	if ((*there)->policy_utc_s == now->policy_utc_s)
		return LT_OK;
	int code = lt_ledger_rated(ledger, LT_RATE_THERE, &names, &count, err);
	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		if (!is_preemptible(now->policy, names[i]))
			code = record_end(ledger, names[i], now, err);
	free(names);
	for (uint32_t i = 0; i < (*there)->count; i++)
		if (!is_preemptible(now->policy, (*there)->rows[i]->partition))
			(*there)->rows[i]->is_recorded = false;
	if (code == LT_OK)
		(*there)->policy_utc_s = now->policy_utc_s;
	return code;
}

int
lt_there_record(struct lt_there **there, struct lt_ledger *ledger, const struct lt_there_now *now,
    struct lt_error *err)
{
	int code = LT_OK;

	if (now->tables->read_utc_s == 0)
		return LT_OK;
	code = record_ends(there, ledger, now, err);
	for (int i = 0; code == LT_OK && i < now->policy->partition_count; i++)
		if (lt_there_counts(&now->policy->partitions[i]))
			code =
			    record_partition(there, ledger, now, &now->policy->partitions[i], err);
	return code;
}

/* Learns from the measured steps up to now, without guesses. */
static int
learn_availability(struct lt_availability *availability, struct lt_ledger *ledger,
    const struct lt_partition *partition, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_rates_asked asked = {partition->name, LT_RATE_THERE,
	    {now_utc_s - (int64_t)LT_OWN_DAYS * LT_DAY_S, now_utc_s}};
	struct lt_rate_step *steps = NULL;
	uint32_t step_count = 0, count = 0;
	int code = lt_ledger_rates(ledger, &asked, &steps, &step_count, err);

	if (code != LT_OK)
		return code;
	const uint32_t first = step_count > LT_SPELLS_MAX ? step_count - LT_SPELLS_MAX : 0;
	struct lt_spell *const spells = calloc(step_count - first + (size_t)1, sizeof(*spells));
	for (uint32_t i = first; spells != NULL && i < step_count; i++) {
		const struct lt_rate_step *const step = &steps[i];
		const int64_t from_utc_s = step->start_utc_s > asked.span.from_utc_s
					       ? step->start_utc_s
					       : asked.span.from_utc_s;
		const int64_t to_utc_s = step->end_utc_s < now_utc_s ? step->end_utc_s : now_utc_s;

		if (step->quality == LT_QUALITY_MEASURED && step->value != LT_RATE_ENDED &&
		    from_utc_s < to_utc_s)
			spells[count++] =
			    (struct lt_spell){from_utc_s, to_utc_s, (uint32_t)step->value,
				partition->node_count > 0 ? partition->node_count : 1};
	}
	code = spells == NULL ? lt_fail(err, LT_ENOMEM, "nodes there: no memory")
			      : lt_waits_learn(availability, spells, count, err);
	free(steps);
	free(spells);
	return code;
}

const struct lt_availability *
lt_there_learned(struct lt_there **there, struct lt_ledger *ledger,
    const struct lt_partition *partition, int64_t now_utc_s)
{
	struct row *const row = row_of(there, partition->name);
	struct lt_error err = {0};

	if (row == NULL)
		return NULL;
	if (row->learned_utc_s != 0 && row->learned_utc_s > now_utc_s - LEARN_EVERY_S)
		return &row->availability;
	row->learned_utc_s = now_utc_s;
	if (learn_availability(&row->availability, ledger, partition, now_utc_s, &err) != LT_OK) {
		row->availability = (struct lt_availability){0};
		lt_log(
		    "availability_unknown", "partition=%s error=\"%s\"", partition->name, err.text);
	}
	return &row->availability;
}
