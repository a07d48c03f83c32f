/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts runs that lost their nodes. lowtided knows when it asked a run that it ends for a
 * checkpoint; a run that ended by itself is known by slurmdbd's row, a little later.
 *
 * Reads the market; writes each interruption into the ledger. Errors are the ledger's, for the
 * caller.
 */
#include <math.h>
#include <string.h>

#include "interrupted.h"
#include "ledger_jobs.h"
#include "ledger.h"
#include "market.h"
#include "posterior.h"
#include "units.h"

int64_t
lt_work_kept_s(const struct lt_market *market, int partition, const struct lt_wish *wish,
    uint32_t nodes, int64_t ran_s)
{
	struct lt_request asked = {.limit_s = LT_UNSET_64};

	if (!wish->known || !wish->checkpoint || partition < 0)
		return 0;
	lt_wish_lay(&asked, wish);
	const struct lt_partition *const there = &market->partitions[partition];
	const struct lt_checkpoint checkpoint =
	    lt_checkpoint_there(&asked.checkpoint, there->storage_gib_per_s);
	return lt_checkpoint_kept_s(
	    &checkpoint, there->hazard_per_node_hour * nodes, lt_market_restart_s(market), ran_s);
}

static bool
read_wish(struct lt_wish *wish, const char *admin_comment)
{
	struct lt_quote quote;

	if (admin_comment == NULL ||
	    lt_quote_unpack(&quote, admin_comment, strlen(admin_comment), NULL) != LT_OK)
		return false;
	*wish = quote.wish;
	return true;
}

int64_t
lt_wish_write_s(const struct lt_wish *wish)
{
	return wish->write_s > 0 ? wish->write_s : LT_CHECKPOINT_WRITE_S;
}

int
lt_interrupted_note(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_job *job, const struct lt_ended_by_us *end, struct lt_error *err)
{
	const int partition = lt_market_partition(market, job->partition);
	struct lt_interrupted run = {.job_id = job->job_id,
	    .start_utc_s = job->start_utc_s,
	    .at_utc_s = end->at_utc_s,
	    .counts = end->counts};
	struct lt_wish wish = {0};
	const int64_t ran_s = end->at_utc_s - job->start_utc_s - job->suspended_s;

	(void)read_wish(&wish, job->admin_comment);
	run.done_s = lt_work_kept_s(market, partition, &wish, job->nodes, ran_s);
	/* It wrote one when it was asked, if there was the time for it. */
	if (wish.checkpoint && end->asked_utc_s > 0 &&
	    end->asked_utc_s + lt_wish_write_s(&wish) <= end->at_utc_s) {
		const int64_t then_s = ran_s - (end->at_utc_s - end->asked_utc_s) -
				       (int64_t)ceil(lt_market_restart_s(market));

		run.done_s = then_s > run.done_s ? then_s : run.done_s;
	}
	return lt_ledger_put_interruption(ledger, &run, err);
}

int
lt_interrupted_row(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_run *row, struct lt_error *err)
{
	const int partition = lt_market_partition(market, row->partition);
	struct lt_wish wish = {0};

	if (!(row->requeued || lt_is_interruption(row->state_text)) || partition < 0 ||
	    row->start_utc_s == 0 ||
	    !(market->partitions[partition].flags & LT_PARTITION_PREEMPTIBLE))
		return LT_OK;
	(void)read_wish(&wish, row->admin_comment);
	return lt_ledger_put_interruption(ledger,
	    &(struct lt_interrupted){.job_id = row->job_id,
		.start_utc_s = row->start_utc_s,
		.at_utc_s = row->end_utc_s,
		.counts = true,
		.done_s = lt_work_kept_s(market, partition, &wish, row->nodes,
		    row->end_utc_s - row->start_utc_s - row->suspended_s)},
	    err);
}

void
lt_interrupted_lay(struct lt_request *request, struct lt_ledger *ledger,
    const struct lt_batch_job *job, const struct lt_ledger_hold *hold, int64_t limit_asked_s)
{
	struct lt_losses life;

	/* It may have begun before its hold was known. */
	if (lt_ledger_losses(ledger, job->job_id, hold->made_utc_s - LT_HOUR_S, &life, NULL) !=
	    LT_OK)
		return;
	request->interruptions = life.interruptions;
	request->done_s = life.done_s;
	if (request->deadline_utc_s != LT_UNSET_64 && job->limit_s != INT64_MAX &&
	    limit_asked_s > job->limit_s)
		request->cut_s = limit_asked_s - job->limit_s;
}
