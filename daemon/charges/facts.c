/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes what slurmdbd's rows never have, before a row is settled: the GPUs of runs by slurmctld's
 * record, since Slurm does not account them by default, and the price, carbon and limit that each
 * hold's amount was made from.
 *
 * Reads the job list and the market; writes to the ledger. On failure the next pass notes them
 * again.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "budget_state.h"
#include "facts.h"
#include "job_quote.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "over_reason.h"
#include "price.h"
#include "site.h"

void
lt_facts_of_row(struct lt_run *run, const struct lt_batch_run *row, const struct lt_quote *quote)
{
	*run = (struct lt_run){
	    .key = {row->job_id, row->submit_utc_s},
	    .array_job_id = row->array_job_id,
	    .array_task = row->array_task,
	    .uid = row->uid,
	    .start_utc_s = row->start_utc_s,
	    .end_utc_s = row->end_utc_s,
	    .nodes = row->nodes,
	    .cpus = row->cpus,
	    .gpus = row->gpus,
	    .shards = row->shards,
	    .memory_mib = row->memory_mib,
	    .size = row->size,
	    .suspended_s = row->suspended_s,
	    .goes_on = row->goes_on,
	    .quote_id = quote != NULL ? quote->id : 0,
	    .worst_quality = row->is_estimated ? LT_QUALITY_ESTIMATED : LT_QUALITY_NONE,
	};
	memcpy(run->user, row->user, sizeof(run->user));
	memcpy(run->account, row->account, sizeof(run->account));
	memcpy(run->partition, row->partition, sizeof(run->partition));
	memcpy(run->state_text, row->state_text, sizeof(run->state_text));
	memcpy(run->name, row->name, sizeof(run->name));
	memcpy(run->qos, row->qos, sizeof(run->qos));
	memcpy(run->wckey, row->wckey, sizeof(run->wckey));
	run->exit_code = row->exit_code;
	run->restarts = row->restarts;
}

/* ---- GPUs ---- */

/* Does slurmdbd count all GPUs and parts of GPUs that the partition has? */
static bool
is_counted(const struct lt_market *market, const struct lt_batch_conf *conf, const char *partition)
{
	const int index = lt_market_partition(market, partition);
	bool gpus = index < 0, shards = index < 0; /* who knows */

	if (index >= 0) {
		const struct lt_partition *const p = &market->partitions[index];

		for (uint32_t i = 0; i < p->shape_count; i++) {
			const struct lt_shape *const shape = &market->shapes[p->first_shape + i];

			gpus |= shape->gpus > 0;
			shards |= shape->shards > 0;
		}
	}
	return (conf->gpus_counted || !gpus) && (conf->shards_counted || !shards);
}

/* Notes nothing that the ledger already has. */
static int
note_gpus(const struct lt_batch_jobs *list, struct lt_ledger *ledger, int64_t now_utc_s,
    struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < list->count; i++) {
		const struct lt_batch_job *const job = &list->jobs[i];
		struct lt_run_key key = {job->job_id, job->submit_utc_s};
		struct lt_run_key last = {job->job_id, INT64_MAX};
		const struct lt_run_gpus now = {job->gpus, job->shards};
		struct lt_run_gpus gpus;

		if (job->state == LT_JOB_PENDING || job->start_utc_s == 0)
			continue;
		if (lt_ledger_gpus(ledger, &last, &gpus, NULL) == LT_OK &&
		    last.submit_utc_s >= key.submit_utc_s) {
			if ((gpus.gpus == now.gpus && gpus.shards == now.shards) ||
			    job->state == LT_JOB_FINISHED)
				continue;
			key.submit_utc_s = now_utc_s; /* it was resized */
		}
		code = lt_ledger_put_gpus(ledger, key, now, now_utc_s, err);
	}
	return code;
}

/* True if a resized run continues another: newer Slurms begin its row when it was resized, and the
 * row before it shows that. */
static bool
goes_on_from_another(const struct lt_run *run, struct lt_ledger *ledger)
{
	struct lt_run *runs = NULL;
	uint32_t count = 0;
	bool found = false;

	if (lt_ledger_runs_of_id(ledger, run->key.job_id, &runs, &count, NULL) != LT_OK)
		return false;
	for (uint32_t i = 0; i < count; i++)
		found |= (runs[i].uid == run->uid || runs[i].uid == LT_NOBODY_UID) &&
			 runs[i].end_utc_s == run->key.submit_utc_s &&
			 strcmp(runs[i].state_text, "RESIZING") == 0;
	free(runs);
	return found;
}

/* Finds the GPUs that were put for this row's run, or last while it ran. */
static bool
seen_gpus(struct lt_run_gpus *gpus, const struct lt_run *run, const struct lt_batch_run *row,
    struct lt_ledger *ledger)
{
	struct lt_run_key own = run->key;
	struct lt_run_key last = {own.job_id, run->end_utc_s};
	struct lt_run_gpus of_last = {0};

	/* Most have none: one question says so. */
	if (lt_ledger_gpus(ledger, &last, &of_last, NULL) != LT_OK)
		return false;
	if (lt_ledger_gpus(ledger, &own, gpus, NULL) == LT_OK &&
	    own.submit_utc_s == run->key.submit_utc_s)
		return true;
	*gpus = of_last;
	return row->resized || goes_on_from_another(run, ledger);
}

static void
complete_gpus(struct lt_run *run, const struct lt_batch_run *row, const struct lt_run *known,
    const struct lt_site *site, struct lt_ledger *ledger)
{
	const bool counted = is_counted(&site->market, &site->tables.conf, run->partition);
	struct lt_run_gpus seen;

	run->gpus_from = LT_GPUS_SLURMDBD;
	if (row->has_gpus || run->start_utc_s == 0)
		return;
	/* Also after it was put right: jobs that ran then have none. */
	if (seen_gpus(&seen, run, row, ledger) && (seen.gpus > 0 || seen.shards > 0 || !counted)) {
		run->gpus = seen.gpus;
		run->shards = seen.shards;
		run->gpus_from = LT_GPUS_SLURMCTLD;
	} else if (known != NULL && known->priced && known->gpus_from != LT_GPUS_UNKNOWN) {
		/* Charged is charged, by 0.1 too, which did not look. */
		run->gpus = known->gpus;
		run->shards = known->shards;
		run->gpus_from = known->gpus_from;
	} else if (!counted || (known != NULL && known->gpus_from == LT_GPUS_UNKNOWN)) {
		run->gpus_from = LT_GPUS_UNKNOWN;
	}
}

/* Sets the run's GPU. A note from when the run was settled stays: the nodes may be others today. */
static void
set_gpu(struct lt_run *run, const struct lt_run *known, const struct lt_market *market)
{
	if (known != NULL && known->gpu[0] != '\0') {
		memcpy(run->gpu, known->gpu, sizeof(run->gpu));
		return;
	}
	const struct lt_gpu *const gpu =
	    run->gpus == 0 ? NULL
			   : lt_market_gpu(market, lt_market_partition(market, run->partition));
	if (gpu != NULL)
		memcpy(run->gpu, gpu->name, sizeof(run->gpu));
}

void
lt_facts_complete(struct lt_run *run, const struct lt_batch_run *row, const struct lt_run *known,
    const struct lt_site *site, struct lt_ledger *ledger)
{
	const int64_t length = run->end_utc_s - run->start_utc_s;

	if (run->suspended_s < 0 || length <= 0)
		run->suspended_s = 0;
	else if (run->suspended_s > length)
		run->suspended_s = length;
	complete_gpus(run, row, known, site, ledger);
	set_gpu(run, known, &site->market);
	if (known != NULL) /* utilisation.c asks for it later */
		run->used = known->used;
	/* A killed slurmctld that ends a job once more gives slurmdbd no resources: those of the
	 * row before count. */
	if (known != NULL && run->cpus == 0 && known->cpus > 0 &&
	    known->start_utc_s == run->start_utc_s) {
		run->nodes = known->nodes;
		run->cpus = known->cpus;
		run->gpus = known->gpus;
		run->shards = known->shards;
		run->gpus_from = known->gpus_from;
		run->memory_mib = known->memory_mib;
	}
	/* Slurm 22.05 and 24.11 write a finished row anew when its job is requeued. */
	if (known != NULL && !known->provisional && known->start_utc_s == run->start_utc_s &&
	    known->end_utc_s > 0 && run->end_utc_s > known->end_utc_s) {
		run->end_utc_s = known->end_utc_s;
		run->suspended_s = known->suspended_s;
	}
}

bool
lt_facts_are_told(const struct lt_run *known, const struct lt_run *run)
{
	return lt_db_columns_equal(&lt_run_told, known, run);
}

/* ---- what holds were made from ---- */

void
lt_facts_add_rates(struct lt_admission *a, struct lt_span window, const struct lt_partition *p,
    const struct lt_market *m)
{
	static const double ppm = 1e6, mg_per_g = 1000;
	const double margin = 1 + m->hold_margin_ppm / ppm;
	double intensity = p->worst_intensity;

	if (p->carbon_series != LT_NO_SERIES)
		intensity =
		    lt_series_max(&m->series[p->carbon_series], window.from_utc_s, window.to_utc_s);
	const double carbon =
	    (p->node_idle_w + p->node_cpu_w + p->node_gpu_w) * p->pue * fmax(intensity, 0) +
	    p->embodied_g_per_node_hour * mg_per_g;
	a->carbon = fmax(a->carbon, margin * carbon);
	if (p->price_series != LT_NO_SERIES)
		a->price = fmax(a->price, margin * (lt_series_max(&m->series[p->price_series],
							window.from_utc_s, window.to_utc_s) +
						       carbon * lt_charge_per_mg(m)));
}

static struct lt_admission
admission_of(
    const struct lt_ledger_hold *hold, const struct lt_batch_job *job, const struct lt_market *m)
{
	struct lt_admission a = {.admitted = hold->quote.hold_per_task};
	char names[LT_BATCH_PARTITIONS_SIZE];
	char *rest = names;
	int64_t overrun_s = 0;

	snprintf(names, sizeof(names), "%s", job->partition);
	for (const char *name; (name = strsep(&rest, ",")) != NULL;) {
		const int index = lt_market_partition(m, name);

		if (index < 0)
			continue;
		lt_facts_add_rates(&a,
		    (struct lt_span){hold->quote.start_utc_s, hold->quote.end_utc_s},
		    &m->partitions[index], m);
		if (overrun_s < lt_overrun_s(&m->partitions[index]))
			overrun_s = lt_overrun_s(&m->partitions[index]);
	}
	if (job->limit_s > 0 && job->limit_s < INT32_MAX)
		a.limit_s = job->limit_s + overrun_s;
	return a;
}

struct lt_admission
lt_facts_admission(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_ledger_hold *hold, const struct lt_batch_job *job)
{
	struct lt_admission a;

	if (lt_ledger_admission(ledger, hold->quote.id, &a, NULL) != LT_OK)
		a = admission_of(hold, job, market);
	return a;
}

static bool
is_less(const struct lt_amount *a, const struct lt_amount *b)
{
	return (a->has_money && b->has_money && a->money_micros < b->money_micros) ||
	       (a->has_carbon && b->has_carbon && a->carbon_mg < b->carbon_mg);
}

/*
 * The quote on the job is the one in force: after a raise it is written anew, with a higher rev,
 * for a lost ledger is made again from it. False: slurmctld did not answer; try again.
 */
static bool
rewrite_quote(struct lt_ledger *ledger, const struct lt_ledger_hold *hold,
    const struct lt_batch_job *job, const struct lt_quote *written)
{
	const struct lt_amount *const is = &hold->quote.hold_per_task;
	const struct lt_amount *const was = &written->hold_per_task;
	struct lt_ledger_hold next = *hold;

	if (written->id != hold->quote.id || job->state == LT_JOB_FINISHED ||
	    (is->has_money == was->has_money && is->has_carbon == was->has_carbon &&
		is->money_micros == was->money_micros && is->carbon_mg == was->carbon_mg))
		return true;
	if (next.quote.rev < written->rev)
		next.quote.rev = written->rev;
	next.quote.rev++;
	return lt_ledger_put_hold(ledger, &next, NULL) != LT_OK ||
	       lt_quote_publish(job, &next.quote, LT_LEAVE, 0, NULL) != LT_ENET;
}

/* Notes the admission of a hold: an admitted change while it waits, or a lower amount. A raise
 * because it runs on more was not admitted, and is compared with the note. */
static int
note_admission(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_ledger_hold *hold, const struct lt_batch_job *job, struct lt_error *err)
{
	struct lt_admission known, fresh = admission_of(hold, job, market);
	const struct lt_amount *const now = &hold->quote.hold_per_task;
	const bool runs = job->state != LT_JOB_PENDING;
	struct lt_quote first = {0};
	const char *const text = job->admin_comment;

	if (text != NULL)
		(void)lt_quote_unpack(&first, text, strlen(text), NULL);
	if (lt_ledger_admission(ledger, hold->quote.id, &known, NULL) == LT_OK) {
		if (runs && is_less(&known.admitted, now))
			fresh = known;
	} else if (runs && first.id == hold->quote.id && is_less(&first.hold_per_task, now)) {
		/* Raised before we came to it; the job still says by what. */
		fresh.admitted = first.hold_per_task;
	}
	if (!rewrite_quote(ledger, hold, job, &first))
		return LT_OK; /* not noted: due again */
	return lt_ledger_put_admission(ledger, hold->quote.id, now, &fresh, err);
}

static int
note_admissions(const struct lt_batch_jobs *list, const struct lt_jobs_state *jobs,
    const struct lt_market *market, struct lt_ledger *ledger, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < jobs->live_count; i++) {
		const uint64_t quote_id = jobs->live[i].quote_id;
		struct lt_ledger_hold hold;
		bool is_due;

		lt_breath(LT_TURN_READ);
		code = lt_ledger_admission_due(ledger, quote_id, &is_due, err);
		if (code != LT_OK || !is_due ||
		    lt_ledger_hold(ledger, quote_id, &hold, NULL) != LT_OK)
			continue;
		const struct lt_batch_job *const job = lt_jobs_find(list, hold.job_id);
		if (job != NULL) /* else: its first task is not in the list yet */
			code = note_admission(market, ledger, &hold, job, err);
	}
	return code;
}

/* ---- at the end ---- */

/* A further run whose quote has no share left that it could end. */
static bool
is_share_missing(struct lt_ledger *ledger, const struct lt_run *run, const struct lt_quote *quote,
    const struct lt_batch_run *row, const struct lt_run *known)
{
	struct lt_ledger_hold hold;
	struct lt_run *runs = NULL;
	uint32_t count = 0;
	bool further = false;

	if (known != NULL)
		return strcmp(known->over_reason, "requeue") == 0;
	if (quote->tasks != 1 || row->resized || run->start_utc_s == 0 ||
	    run->end_utc_s <= run->start_utc_s ||
	    lt_ledger_hold(ledger, quote->id, &hold, NULL) != LT_OK ||
	    (hold.state == LT_HOLD_OPEN && hold.live_tasks > 0))
		return false;
	if (lt_ledger_runs_of_id(ledger, run->key.job_id, &runs, &count, NULL) != LT_OK)
		return false;
	for (uint32_t i = 0; i < count; i++)
		further |= runs[i].quote_id == run->quote_id && runs[i].start_utc_s > 0 &&
			   runs[i].key.submit_utc_s < run->key.submit_utc_s;
	free(runs);
	return further;
}

/* Returns the part of the charge for suspended time, by share x seconds while it ran and while it
 * was suspended. */
static double
suspended_part(const struct lt_run *run, const struct lt_market *market, struct lt_ledger *ledger)
{
	const struct lt_fraction kept = lt_suspended_share(run, market, ledger);
	const double off =
	    (double)run->suspended_s * (double)kept.numerator / (double)kept.denominator;
	const double on = (double)(run->end_utc_s - run->start_utc_s - run->suspended_s) *
			  (double)run->share_numerator / (double)run->share_denominator;

	return on + off > 0 ? off / (on + off) : 0;
}

void
lt_facts_of_over(struct lt_run *run, const struct lt_quote *quote, const struct lt_batch_run *row,
    const struct lt_run *known, const struct lt_market *market, struct lt_ledger *ledger)
{
	struct lt_admission a = {.admitted = quote->hold_per_task};
	const int partition = lt_market_partition(market, row->partition);

	(void)lt_ledger_admission(ledger, quote->id, &a, NULL);
	const struct lt_amount *const held = &a.admitted;
	struct lt_over over = {.share_missing = is_share_missing(ledger, run, quote, row, known),
	    .is_resized = row->pod_resized,
	    .held_limit_s = a.limit_s,
	    .node_shares =
		run->nodes * (double)run->share_numerator / (double)run->share_denominator,
	    .active_s = run->end_utc_s - run->start_utc_s - run->suspended_s,
	    .limit_s =
		row->limit_s == INT64_MAX && lt_batch_words.renews ? a.limit_s : row->limit_s,
	    .over_time_limit_s = partition >= 0 ? lt_overrun_s(&market->partitions[partition]) : 0};
	const double suspended = suspended_part(run, market, ledger);
	const struct {
		bool has;
		int64_t charged, held;
		double rate;
	} sides[] = {
	    {held->has_money && run->priced, run->money_micros, held->money_micros, a.price},
	    {held->has_carbon && run->has_carbon, run->carbon_mg, held->carbon_mg, a.carbon},
	};
	const char *why = "";
	for (size_t i = 0; i < 2 && why[0] == '\0'; i++) {
		if (!sides[i].has)
			continue;
		over.charged = (double)sides[i].charged;
		over.held = over.share_missing ? 0 : (double)sides[i].held;
		over.held_rate = sides[i].rate;
		over.suspended = over.charged * suspended;
		why = lt_over_reason(&over);
	}
	if (why[0] == '\0')
		return;
	snprintf(run->over_reason, sizeof(run->over_reason), "%s", why);
	run->held = *held;
	if (over.share_missing)
		run->held.money_micros = run->held.carbon_mg = 0;
	if (lt_over_is_defect(why))
		lt_log("above_hold",
		    "job=%u account=%s why=%s money_micros=%" PRId64 " held_micros=%" PRId64
		    " share=%" PRId64 "/%" PRId64 " nodes=%u",
		    run->key.job_id, run->account, why, run->money_micros, run->held.money_micros,
		    run->share_numerator, run->share_denominator, run->nodes);
}

int
lt_facts_note(const struct lt_site *site, struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    const struct lt_batch_jobs *list, int64_t now_utc_s, struct lt_error *err)
{
	int code = LT_OK;

	if (!site->tables.conf.gpus_counted || !site->tables.conf.shards_counted)
		code = note_gpus(list, ledger, now_utc_s, err);
	return code == LT_OK ? note_admissions(list, jobs, &site->market, ledger, err) : code;
}
