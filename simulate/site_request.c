/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run as the job that it was when it came: what it was given is taken for
 * what it asked, and how long it would run for what its kind had shown by then.
 */
#include <stdlib.h>

#include "run_lengths.h"
#include "site_internal.h"
#include "text.h"
#include "units.h"

static const uint32_t starts_at_once =
    LT_PIN_BEGIN | LT_PIN_HET | LT_PIN_RESERVATION | LT_PIN_DEPENDENCY |
    LT_PIN_LICENSES | LT_PIN_BURST_BUFFER | LT_PIN_CRON | LT_PIN_INTERACTIVE;

/* A person waits for it: the class of its name places it only if asked. */
static bool
is_waited_for(const struct lt_market *market, const struct lt_site_run *run)
{
	char account[LT_ACCOUNT_SIZE];

	lt_copy_lower(account, sizeof(account), run->account);
	const struct lt_class *const class = lt_market_class(market,
	    &(struct lt_class_of){.account = account,
		.qos = run->qos,
		.name = run->name,
		.partition = run->partition});

	return class != NULL && class->patterns[0] != '\0' &&
	       class->default_objective == LT_OBJECTIVE_OFF;
}

bool
lt_site_is_free(const struct lt_market *market, const struct lt_site_run *run)
{
	if (is_waited_for(market, run))
		return false;
	return (run->pins & starts_at_once) == 0 ||
	       (run->pins & ~(uint32_t)LT_PIN_FREQUENCY) == LT_PIN_INTERACTIVE;
}

int64_t
lt_site_length_s(const struct lt_site_run *run)
{
	return run->end_utc_s - run->start_utc_s;
}

void
lt_site_request(struct lt_request *request, const struct lt_site_sim *sim,
    uint32_t index, int64_t length_s)
{
	const struct lt_site_run *const run = &sim->site.runs[index];
	const struct lt_expected *const learned = &sim->bases[index].learned;

	*request = (struct lt_request){.uid = run->uid,
	    .min_nodes = run->nodes,
	    .max_nodes = run->nodes,
	    .cpus = run->cpus,
	    .gpus = run->gpus,
	    .memory_mib_per_node =
		run->nodes > 0 ? (run->memory_mib + run->nodes - 1) / run->nodes
			       : 0,
	    .array_tasks = 1,
	    .limit_s = run->limit_s,
	    .expected_run_s = length_s > 0 ? length_s : LT_UNSET_64,
	    .deadline_utc_s = LT_UNSET_64,
	    .max_cost_micros = LT_UNSET_64,
	    .pins = run->pins,
	    .home = run->partition,
	    .earliest_utc_s = run->eligible_utc_s};
	lt_copy_lower(request->account, sizeof(request->account), run->account);
	lt_copy(request->qos, sizeof(request->qos), run->qos);
	lt_copy(request->name, sizeof(request->name), run->name);
	lt_copy(request->features, sizeof(request->features), run->features);
	if (length_s <= 0)
		request->learned = *learned;
	/* Slurm let it run past its limit, or its end was late. */
	else if (request->limit_s > 0 && request->limit_s < length_s)
		request->limit_s = length_s;
}

struct order { /* runs by their ends */
	int64_t end_utc_s;
	uint32_t index;
};

static int
by_end(const void *a, const void *b)
{
	const struct order *const x = a, *const y = b;

	if (x->end_utc_s != y->end_utc_s)
		return x->end_utc_s > y->end_utc_s ? 1 : -1;
	return x->index > y->index ? 1 : -1;
}

static struct lt_run_kind
kind_of(const struct lt_site_run *run)
{
	return (struct lt_run_kind){.uid = run->uid,
	    .account = run->account,
	    .name = run->name,
	    .nodes = run->nodes,
	    .cpus = run->cpus,
	    .gpus = run->gpus,
	    .limit_s = run->limit_s,
	    .is_interactive = (run->pins & LT_PIN_INTERACTIVE) != 0};
}

static int
learn(struct lt_lengths *lengths, const struct lt_site_run *run)
{
	const struct lt_run_kind kind = kind_of(run);
	const int64_t length_s = lt_site_length_s(run);
	const struct lt_run_length length = {.length_s = length_s,
	    .limit_s = run->limit_s,
	    .at_least = run->limit_s > 0 && length_s >= run->limit_s};

	return lt_lengths_add(lengths, &kind, &length);
}

int
lt_site_learn(struct lt_site_sim *sim, struct lt_error *err)
{
	const uint32_t count = sim->site.run_count;
	struct lt_lengths *const lengths =
	    lt_lengths_new(sim->site.market->deadline_confidence_ppm);
	struct order *const order = calloc(count + 1, sizeof(*order));
	uint32_t ended = 0;
	int code = lengths != NULL && order != NULL ? LT_OK : LT_ENOMEM;

	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		order[i] = (struct order){sim->site.runs[i].end_utc_s, i};
	if (code == LT_OK)
		qsort(order, count, sizeof(*order), by_end);
	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_site_run *const run = &sim->site.runs[i];
		const struct lt_run_kind kind = kind_of(run);

		while (code == LT_OK && ended < count &&
		       order[ended].end_utc_s <= run->submit_utc_s)
			code = learn(
			    lengths, &sim->site.runs[order[ended++].index]);
		sim->bases[i].learned =
		    lt_lengths_ask(lengths, &kind, run->limit_s);
	}
	free(order);
	lt_lengths_free(lengths);
	return code == LT_OK ? LT_OK
			     : lt_fail(err, LT_ENOMEM, "run times: no memory");
}
