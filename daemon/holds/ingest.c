/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes holds from job_submit's ring into the ledger. They and W, the position in the ring, go in
 * by one transaction, so that a crash at any moment ingests each hold exactly once. On failure
 * nothing is taken, and the next pass reads the ring again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "books.h"
#include "breath.h"
#include "budget_state.h"
#include "counters.h"
#include "ingest.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "paths.h"
#include "periods.h"
#include "poll_schedule.h"
#include "ring.h"
#include "site.h"
#include "units.h"

enum {
	RING_STUCK_S = 60, /* a missing sequence is waited for */
	RING_LOOK_S = 20,  /* the whole ring is read for gaps */
};

/* "generation:W" in the ledger. Another generation starts at 0. */
static uint64_t
load_absorbed(struct lt_ledger *ledger, const struct lt_ring_state *ring)
{
	char value[64];
	uint64_t generation = 0, ingested = 0;

	if (lt_ledger_get(ledger, "ring_absorbed", value, sizeof(value), NULL) == LT_OK &&
	    sscanf(value, "%" SCNx64 ":%" SCNu64, &generation, &ingested) == 2 &&
	    generation == ring->generation)
		return ingested;
	return 0;
}

static int
save_absorbed(struct lt_ledger *ledger, const struct lt_ring_state *ring, uint64_t ingested,
    struct lt_error *err)
{
	char value[64];

	snprintf(value, sizeof(value), "%016" PRIx64 ":%" PRIu64, ring->generation, ingested);
	return lt_ledger_put(ledger, "ring_absorbed", value, err);
}

/* job_submit makes the ring; before that there is nothing to open. */
static int
open_ring(struct lt_ledger *ledger, struct lt_budget_state *budget, struct lt_ring_state *ring,
    const struct lt_paths *paths, struct lt_error *err)
{
	if (ring->fd >= 0)
		return LT_OK;
	if (access(paths->ring, F_OK) != 0)
		return LT_OK;
	const int fd = lt_ring_open(paths->ring, false, &ring->generation, err);
	if (fd < 0)
		return fd;
	ring->fd = fd;
	ring->ingested = ring->highest = load_absorbed(ledger, ring);
	budget->dirty = true;
	lt_log("ring_opened", "generation=%016" PRIx64 " absorbed=%" PRIu64, ring->generation,
	    ring->ingested);
	return LT_OK;
}

/* Closes a replaced file, which has another generation, to start again with the new one. */
static void
close_if_replaced(
    struct lt_budget_state *budget, struct lt_ring_state *ring, const struct lt_paths *paths)
{
	uint64_t generation = 0;

	if (ring->fd < 0)
		return;
	const int fd = lt_ring_open(paths->ring, false, &generation, NULL);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && generation == ring->generation)
		return;
	lt_log("ring_gone", "generation=%016" PRIx64, ring->generation);
	close(ring->fd);
	ring->fd = -1;
	ring->generation = ring->ingested = ring->highest = 0;
	budget->dirty = true;
}

/*
 * True if the change of a job never happened. job_modify holds before Slurm has looked at the
 * change. It runs under the job write lock that slurmctld keeps until the update is done, so a job
 * that is looked up after its record was read shows the outcome: if it is as in the former list
 * nothing happened, and nothing is held. A job that changed at all keeps what was held for it.
 */
static bool
never_happened(const struct lt_batch_jobs *list, uint32_t job_id)
{
	const struct lt_batch_job *const before = lt_jobs_find(list, job_id);
	struct lt_batch_jobs now = {0};

	if (before == NULL || lt_batch_jobs(&now, job_id, NULL) != LT_OK)
		return false;
	lt_jobs_sort(&now);
	const struct lt_batch_job *const after = lt_jobs_find(&now, job_id);
	const bool same = after != NULL && after->asked_hash == before->asked_hash;
	lt_batch_jobs_free(&now);
	return same;
}

/* True if it only lowers or touches: nothing to hold, but to look at. */
static bool
is_nothing(const struct lt_ring_record *record)
{
	return !(record->flags & LT_QUOTE_WHOLE) && record->per_task.money_micros == 0 &&
	       record->per_task.carbon_mg == 0;
}

/* Adds the difference of a change (job_modify) to the hold of that job. */
static int
ingest_change(struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    const struct lt_ring_record *record, struct lt_error *err)
{
	struct lt_ledger_hold hold;

	lt_poll_at(jobs, record->job_id);
	if (is_nothing(record))
		return LT_OK;
	int code = lt_ledger_hold(ledger, record->quote_id, &hold, NULL);
	if (code == LT_ENOENT && record->job_id)
		code = lt_ledger_hold_of_job(ledger, record->job_id, &hold, NULL);
	if (code != LT_OK || hold.state != LT_HOLD_OPEN || hold.uid != record->uid) {
		lt_log("change_without_hold", "job=%u quote=%016" PRIx64, record->job_id,
		    record->quote_id);
		return LT_OK; /* the job, if it lives, is held at its limit */
	}
	if (hold.quote.tasks == 1 && never_happened(&jobs->list, record->job_id)) {
		lt_log(
		    "change_refused", "job=%u quote=%016" PRIx64, record->job_id, record->quote_id);
		return LT_OK;
	}
	struct lt_amount *const to = &hold.quote.hold_per_task;
	if (strcmp(record->account, hold.quote.account) != 0) {
		/* Another account: the record has all of it. If Slurm then refused the change,
		 * reconcile.c sees the job's account. */
		*to = (struct lt_amount){0};
		snprintf(hold.quote.account, sizeof(hold.quote.account), "%s", record->account);
	}
	/* All of it again, for a period in which nothing was held. */
	if (record->flags & LT_QUOTE_WHOLE)
		*to = (struct lt_amount){0};
	if ((record->per_task.has_money &&
		!lt_add(&to->money_micros, record->per_task.money_micros)) ||
	    (record->per_task.has_carbon && !lt_add(&to->carbon_mg, record->per_task.carbon_mg)))
		return lt_fail(err, LT_EOVERFLOW, "hold of job %u passes 64 bits", record->job_id);
	to->has_money |= record->per_task.has_money;
	to->has_carbon |= record->per_task.has_carbon;
	if (record->start_utc_s < hold.quote.start_utc_s)
		hold.quote.start_utc_s = record->start_utc_s;
	if (record->end_utc_s > hold.quote.end_utc_s)
		hold.quote.end_utc_s = record->end_utc_s;
	hold.quote.rev++;
	return lt_ledger_put_hold(ledger, &hold, err);
}

static int
ingest_one(const struct lt_offsets *offsets, struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    const struct lt_ring_record *record, int64_t now_utc_s, struct lt_error *err)
{
	if (record->account[0] == '\0')
		return LT_OK; /* job_submit filled a gap with nothing */
	if (record->flags & LT_QUOTE_REFUSED)
		return lt_ledger_add_refused(
		    ledger, record->account, lt_calendar_hour(offsets, now_utc_s), err);
	if (record->flags & LT_QUOTE_MODIFY)
		return ingest_change(ledger, jobs, record, err);
	struct lt_ledger_hold hold;
	if (lt_ledger_hold(ledger, record->quote_id, &hold, NULL) == LT_OK)
		return LT_OK; /* its job was seen first, quote and all */
	hold = (struct lt_ledger_hold){
	    .uid = record->uid,
	    .sequence = record->sequence,
	    .state = LT_HOLD_OPEN,
	    .live_tasks = record->tasks,
	    .made_utc_s = now_utc_s,
	    .quote = {.id = record->quote_id,
		.rev = 1,
		.flags = record->flags,
		.tasks = record->tasks,
		.hold_per_task = record->per_task,
		.start_utc_s = record->start_utc_s,
		.end_utc_s = record->end_utc_s},
	};
	snprintf(hold.quote.account, sizeof(hold.quote.account), "%s", record->account);
	jobs->unseen++;
	return lt_ledger_put_hold(ledger, &hold, err);
}

struct found {				/* in the ring, behind W */
	struct lt_ring_record *records; /* by sequence; malloc'd */
	uint32_t count;
	uint64_t until; /* so far W may go */
};

static int
ingest_all(const struct lt_offsets *offsets, struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    struct lt_ring_state *ring, const struct found *found, int64_t now_utc_s, struct lt_error *err)
{
	int code = lt_ledger_begin(ledger, err);

	if (code != LT_OK)
		return code;
	for (uint32_t i = 0; code == LT_OK && i < found->count; i++)
		if (found->records[i].sequence <= found->until) {
			lt_breath(LT_TURN_READ);
			code =
			    ingest_one(offsets, ledger, jobs, &found->records[i], now_utc_s, err);
		}
	if (code == LT_OK)
		code = save_absorbed(ledger, ring, found->until, err);
	if (code == LT_OK)
		code = lt_ledger_commit(ledger, err);
	if (code != LT_OK)
		lt_ledger_rollback(ledger);
	return code;
}

static void
count_refused(struct lt_counters *tally, const struct found *found)
{
	for (uint32_t i = 0; i < found->count; i++) {
		const struct lt_ring_record *const record = &found->records[i];

		if (record->sequence <= found->until && (record->flags & LT_QUOTE_REFUSED))
			lt_counters_refused(
			    tally, record->account, LT_REFUSAL_REJECTED, record->flags);
	}
}

/* True if the next hold is there. Saves reading 8 MiB when nothing happened. */
static bool
has_next(const struct lt_ring_state *ring)
{
	unsigned char slot[LT_RING_SLOT_BYTES];
	struct lt_ring_record record;
	const uint64_t next = ring->ingested + 1;
	const off_t at = LT_RING_HEADER_BYTES + (off_t)(next % LT_RING_SLOTS) * LT_RING_SLOT_BYTES;

	return pread(ring->fd, slot, sizeof(slot), at) == (ssize_t)sizeof(slot) &&
	       lt_ring_unpack(&record, slot, ring->generation, NULL) == LT_OK &&
	       record.sequence == next;
}

/* Stops W before a missing sequence, as its writer may still be at work, but not for ever: a
 * sequence that slurmctld reserved and never wrote (it died) is void, and a hold that comes after
 * all is found by the quote on its job. */
static void
pass_gap(struct lt_ring_state *ring, struct found *found, int64_t now_utc_s)
{
	if (found->until >= ring->highest) {
		ring->stuck_utc_s = 0;
		return;
	}
	if (!ring->stuck_utc_s || found->until > ring->ingested)
		ring->stuck_utc_s = now_utc_s;
	if (now_utc_s - ring->stuck_utc_s < RING_STUCK_S)
		return;
	ring->stuck_utc_s = 0;
	for (uint32_t i = 0; i < found->count; i++) {
		const uint64_t next = found->records[i].sequence;

		if (next <= found->until)
			continue;
		lt_log("ring_gap", "from=%" PRIu64 " to=%" PRIu64, found->until + 1, next - 1);
		found->until = next;
		return;
	}
}

int
lt_ingest(const struct lt_books *books, int64_t now_utc_s, struct lt_error *err)
{
	close_if_replaced(books->budget, books->ring, books->paths);
	int code = open_ring(books->ledger, books->budget, books->ring, books->paths, err);
	if (code != LT_OK || books->ring->fd < 0)
		return code;
	if (!has_next(books->ring) && now_utc_s - books->ring->looked_utc_s < RING_LOOK_S)
		return LT_OK;
	books->ring->looked_utc_s = now_utc_s;
	struct found found = {.records = malloc(sizeof(*found.records) * LT_RING_SLOTS)};
	if (found.records == NULL)
		return lt_fail(err, LT_ENOMEM, "absorb: out of memory");
	uint32_t bad = 0;
	code = lt_ring_read(books->ring->fd, books->ring->generation, books->ring->ingested,
	    found.records, &found.count, &books->ring->highest, &found.until, &bad, err);
	if (code == LT_OK)
		pass_gap(books->ring, &found, now_utc_s);
	if (code == LT_OK && found.until > books->ring->ingested) {
		code = ingest_all(&books->site->offsets, books->ledger, books->jobs, books->ring,
		    &found, now_utc_s, err);
		if (code == LT_OK) {
			count_refused(books->tally, &found);
			books->ring->ingested = found.until;
			books->budget->dirty = true;
		}
	}
	free(found.records);
	return code;
}
