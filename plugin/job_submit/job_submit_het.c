/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Treats a heterogeneous job as one: one thread of slurmctld calls for all components of a
 * submission, in order, before it makes the first of them. Each component learns from those before
 * it: that the job has a script (only the first brings one), its wishes, and the sums that the
 * message shows. If the memory of the components before is lost, a component counts alone.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "job_submit.h"
#include "plan_text.h"
#include "units.h"

enum { HETS = 64 };

/* Not thread-local: memory for that can fail, and slurmctld with it. Beyond HETS at a time the
 * oldest is forgotten: then a component counts alone. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct slot {
	pthread_t thread;
	bool used;
	struct lt_het het;
} slots[HETS];
static uint32_t next_slot;

/* Finds the thread's job, or a free slot. Under the mutex. */
static struct lt_het *
find_het(void)
{
	const pthread_t self = pthread_self();

	for (int i = 0; i < HETS; i++)
		if (slots[i].used && pthread_equal(slots[i].thread, self))
			return &slots[i].het;
	struct slot *const slot = &slots[next_slot++ % HETS];

	*slot = (struct slot){.thread = self, .used = true};
	return &slot->het;
}

static bool
is_component(const struct lt_submission *s)
{
	return s->job->het_job_offset != NO_VAL;
}

/* A batch job's later components have no script of their own. */
void
lt_het_begin(struct lt_submission *s)
{
	const job_desc_msg_t *const job = s->job;

	if (!is_component(s))
		return;
	pthread_mutex_lock(&mutex);
	struct lt_het *const het = find_het();

	if (job->het_job_offset == 0)
		*het = (struct lt_het){.is_batch = job->script != NULL || job->script_buf != NULL,
		    .is_plan = s->options.plan,
		    .asks = s->options.carbon_aware_set,
		    .objective = s->options.objective};
	s->het = *het;
	pthread_mutex_unlock(&mutex);
	s->options.plan |= s->het.is_plan;
	if (s->het.asks && !s->options.carbon_aware_set) {
		s->options.carbon_aware_set = true;
		s->options.objective = s->het.objective;
	}
}

static void
add_amount(struct lt_amount *sum, const struct lt_amount *part)
{
	sum->has_money = part->has_money && !__builtin_add_overflow(sum->money_micros,
						part->money_micros, &sum->money_micros);
	sum->has_carbon = part->has_carbon &&
			  !__builtin_add_overflow(sum->carbon_mg, part->carbon_mg, &sum->carbon_mg);
}

int64_t
lt_het_node_s(struct lt_submission *s, int64_t node_s)
{
	if (!is_component(s))
		return node_s;
	pthread_mutex_lock(&mutex);
	struct lt_het *const het = find_het();

	if (__builtin_add_overflow(het->node_s, node_s, &het->node_s))
		het->node_s = INT64_MAX;
	node_s = het->node_s;
	pthread_mutex_unlock(&mutex);
	return node_s;
}

void
lt_het_held(struct lt_submission *s)
{
	const struct lt_amount *const one = &s->quote.hold_per_task;
	struct lt_amount all = *one;

	if (!is_component(s) || s->admission.standing != LT_STANDING_JUDGED ||
	    s->admission.verdict.code != LT_ADMIT)
		return;
	all.has_money &=
	    !__builtin_mul_overflow(one->money_micros, (int64_t)s->quote.tasks, &all.money_micros);
	all.has_carbon &=
	    !__builtin_mul_overflow(one->carbon_mg, (int64_t)s->quote.tasks, &all.carbon_mg);
	pthread_mutex_lock(&mutex);
	add_amount(&find_het()->held, &all);
	pthread_mutex_unlock(&mutex);
}

/* Says the sum of all components up to this one: slurmctld does not say which is the last. */
void
lt_het_tell(struct lt_submission *s)
{
	struct lt_amount sum;
	char figures[128];

	if (!is_component(s))
		return;
	struct lt_amount own = {0};

	if (s->known && s->plan->chosen.partition >= 0)
		own = lt_amount_of(&s->plan->chosen);
	pthread_mutex_lock(&mutex);
	struct lt_het *const het = find_het();

	if (s->job->het_job_offset == 0)
		het->expected = (struct lt_amount){.has_money = true, .has_carbon = true};
	const bool had_money = het->expected.has_money;
	const bool had_carbon = het->expected.has_carbon;

	add_amount(&het->expected, &own);
	het->expected.has_money &= had_money;
	het->expected.has_carbon &= had_carbon;
	sum = het->expected;
	pthread_mutex_unlock(&mutex);
	if (s->job->het_job_offset == 0 || !(s->asked || s->options.plan))
		return;
	lt_amount_text(figures, sizeof(figures), &sum, s->view.market->currency, "not known");
	if (s->options.plan)
		lt_say(s, "all %u components together: %s", s->job->het_job_offset + 1, figures);
	else
		lt_brief_put(&s->edits.notes, LT_NOTE_ALL, "; ", "all %u components together: %s",
		    s->job->het_job_offset + 1, figures);
}

/* The components that are still to come belong to the plan: slurmctld asks for them only if this
 * one is taken, and makes no job before it has asked for all. No partition has such a name, so then
 * it makes none. */
bool
lt_het_plans_on(struct lt_submission *s)
{
	void *named = s->job->partition;

	if (!is_component(s))
		return false;
	if (s->job->het_job_offset == 0) {
		slurm_xfree(&named);
		s->job->partition = slurm_xstrdup("a plan, no partition");
	}
	return true;
}
