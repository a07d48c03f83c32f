/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time advances from event to event: jobs come, wait, start and end. Each is planned when it comes,
 * by the rule of the policy or by lt_decide(); what lt_decide() planned is planned again each hour
 * until it starts, and where room is short all that wait are arranged anew, together.
 *
 * Jobs whose time has come start. Without a capacity all of them do; with one, in the order that
 * they came in, by EASY backfill (Lifka, JSSPP 1995): the first that does not fit is promised the
 * earliest time at which it will by the limits of those that run, and others go before it where
 * that does not put it off.
 *
 * All that happens at one time is one step: ends, submissions, plans, starts. So the next time is
 * asked for, not only the next event.
 */
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "internal.h"
#include "rearrange.h"
#include "units.h"

enum { ROUNDS = 100 }; /* of rearranging, an hour; lowtided tries more */

/* Kinds of ends. A reserved CPU is free a tick later. */
enum { ENDS, ENDS_ON_RESERVED };

struct loop {
	struct lt_sim_run *run;
	struct lt_sim_events ends; /* of all that run */
	uint32_t next;		   /* of the trace, to come */
	uint32_t cpus_free;	   /* with a capacity */
	uint32_t *waiting;	   /* in the order that they came in */
	uint32_t waiting_count, planned_count;
	int64_t *rank;		    /* room for turn_ties() */
	int64_t *planned_utc_s;	    /* when it shall start, of each job */
	int64_t soonest_utc_s;	    /* of those that wait and are not due */
	int64_t at_utc_s;	    /* of the last step */
	struct lt_planned *windows; /* room for plan_waiting() */
};

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* ---- plans ---- */

/* True if jobs see what others have booked. */
static bool
books(const struct lt_sim_run *run)
{
	return run->rule->decides && run->options->capacity > 0 && !run->options->herd;
}

/* The CPUs that a job takes from that start on, as far as is known. */
static struct lt_planned
window_of(const struct loop *loop, uint32_t index, int64_t start_utc_s)
{
	return (struct lt_planned){.nodes = (float)loop->run->trace->jobs[index].cpus,
	    .start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + loop->run->result->fates[index].expected_s};
}

static struct lt_planned
window_of_running(const struct loop *loop, uint32_t index, int64_t now_utc_s)
{
	struct lt_planned window =
	    window_of(loop, index, loop->run->result->fates[index].start_utc_s);

	/* It runs longer than was thought: who knows until when. */
	if (window.end_utc_s <= now_utc_s)
		window.end_utc_s = now_utc_s + LT_HOUR_S;
	return window;
}

/* All that run, and those that wait and were planned before. */
static void
book_all(struct loop *loop, uint32_t planned_count, int64_t now_utc_s)
{
	const uint32_t run_count = loop->ends.count;

	for (uint32_t i = 0; i < run_count; i++)
		loop->windows[i] = window_of_running(loop, loop->ends.heap[i].job, now_utc_s);
	for (uint32_t i = 0; i < loop->waiting_count; i++) {
		const uint32_t index = loop->waiting[i];

		loop->windows[run_count + i] =
		    i < planned_count
			? window_of(loop, index, later(loop->planned_utc_s[index], now_utc_s))
			: (struct lt_planned){0};
	}
}

/* When a waiting job shall start. */
static int
plan_one(struct loop *loop, uint32_t slot, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_sim_run *const run = loop->run;
	const uint32_t index = loop->waiting[slot];
	const struct lt_sim_job *const job = &run->trace->jobs[index];
	struct lt_planned *const own = &loop->windows[loop->ends.count + slot];
	int64_t *const start_s = &loop->planned_utc_s[index];

	if (!run->rule->decides) {
		*start_s = run->rule->start != NULL ? run->rule->start(run, job) : now_utc_s;
		return LT_OK;
	}

	struct lt_sim_ask ask = lt_sim_ask_of(run, job);

	if (run->options->again == LT_SIM_REPLAN)
		ask.standing_utc_s = *start_s;
	run->result->fates[index].expected_s = ask.run_s > 0 ? ask.run_s : ask.limit_s;
	if (books(run)) {
		*own = (struct lt_planned){0};
		ask.planned = loop->windows;
		ask.planned_count = loop->ends.count + loop->waiting_count;
	}
	if (lt_sim_market_decide(start_s, run->market, &ask, now_utc_s, err))
		return err->code;
	if (books(run))
		*own = window_of(loop, index, *start_s);
	return LT_OK;
}

/* True if a job's time has come and there is no room for it. */
static bool
has_queue(const struct loop *loop, uint32_t planned_count, int64_t now_utc_s)
{
	for (uint32_t i = 0; i < planned_count; i++)
		if (loop->planned_utc_s[loop->waiting[i]] < now_utc_s)
			return true;
	return false;
}

struct arranging { /* all that wait, and their requests; parallel */
	struct lt_booking *bookings;
	struct lt_request *requests;
	uint32_t *jobs;
	struct lt_planned *planned; /* what runs stays as it is */
};

static void
fill_bookings(
    struct lt_rearrange *of, struct arranging *all, const struct loop *loop, int64_t now_utc_s)
{
	const struct lt_sim_run *const run = loop->run;

	for (uint32_t i = 0; i < loop->ends.count; i++)
		of->planned[of->planned_count++] =
		    window_of_running(loop, loop->ends.heap[i].job, now_utc_s);
	for (uint32_t i = 0; i < loop->waiting_count; i++) {
		const uint32_t index = loop->waiting[i];
		const int64_t start_s = later(loop->planned_utc_s[index], now_utc_s);
		const struct lt_sim_ask ask = lt_sim_ask_of(run, &run->trace->jobs[index]);

		lt_sim_market_request(&all->requests[i], run->market, &ask, now_utc_s);
		all->jobs[i] = index;
		of->bookings[of->booking_count++] =
		    (struct lt_booking){.request = &all->requests[i],
			.start_utc_s = start_s,
			.window = window_of(loop, index, start_s)};
	}
}

/* Arranges booked jobs that have not started anew, by lt_rearrange(). */
static int
arrange_waiting(struct loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	const size_t count = loop->waiting_count;
	const size_t run_count = loop->ends.count;

	if (count < 2 || count + run_count > LT_PLANNED_MAX)
		return LT_OK;

	struct arranging all = {.bookings = calloc(count, sizeof(*all.bookings)),
	    .requests = calloc(count, sizeof(*all.requests)),
	    .jobs = calloc(count, sizeof(*all.jobs)),
	    .planned = calloc(count + run_count, sizeof(*all.planned))};
	struct lt_rearrange of = {.market = lt_sim_market_of(loop->run->market),
	    .planned = all.planned,
	    .bookings = all.bookings,
	    .rounds = ROUNDS,
	    .seed = (uint64_t)now_utc_s,
	    .now_utc_s = now_utc_s};

	if (all.bookings == NULL || all.requests == NULL || all.jobs == NULL ||
	    all.planned == NULL) {
		lt_fail(err, LT_ENOMEM, "bookings: no memory");
	} else {
		fill_bookings(&of, &all, loop, now_utc_s);
		if (lt_rearrange(&of, err) == LT_OK)
			for (uint32_t i = 0; i < of.booking_count; i++)
				if (of.bookings[i].changed)
					loop->planned_utc_s[all.jobs[i]] =
					    of.bookings[i].start_utc_s;
	}
	free(all.planned);
	free(all.jobs);
	free(all.requests);
	free(all.bookings);
	return err->code;
}

/* Plans those that came; again: all that wait. */
static int
plan_waiting(struct loop *loop, bool again, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_sim_run *const run = loop->run;
	const uint32_t planned_count = loop->planned_count;
	uint32_t from = again ? 0 : planned_count;

	loop->planned_count = loop->waiting_count;
	if (from == loop->waiting_count)
		return LT_OK;
	/* All decisions of this time see the same. */
	if (run->rule->decides &&
	    lt_sim_market_see(run->market, run->outlook, now_utc_s, err) != LT_OK)
		return err->code;
	if (books(run)) {
		book_all(loop, planned_count, now_utc_s);
		lt_sim_market_queue(run->market, has_queue(loop, planned_count, now_utc_s));
	}
	for (; from < loop->waiting_count; from++)
		if (plan_one(loop, from, now_utc_s, err))
			return err->code;
	return again && books(run) && run->options->again == LT_SIM_REPLAN
		   ? arrange_waiting(loop, now_utc_s, err)
		   : LT_OK;
}

/* ---- GAIA's ties ---- */

/*
 * In which order GAIA looks at jobs that came in one tick: it takes all of a Python priority queue
 * out and puts them into a new one, each tick, and a heap turns equals around. Who of them gets a
 * reserved CPU depends on it, and so do its published figures.
 *
 * Taken out in order, they are put in so, and the heap's list is that order. So each tick turns the
 * places of the list by one and the same permutation, and many ticks by a power of it.
 */

/* heapq.heappop() of a list of places; equals: the right child goes up. */
static uint32_t
pop_as_heapq(uint32_t *heap, uint32_t count, const int64_t *rank)
{
	const uint32_t first = heap[0], last = heap[count - 1];
	const uint32_t left = count - 1;
	uint32_t at = 0, child = 1;

	if (left == 0)
		return first;
	/* The hole goes down to a leaf, and the last one up from there. */
	while (child < left) {
		if (child + 1 < left && !(rank[heap[child]] < rank[heap[child + 1]]))
			child++;
		heap[at] = heap[child];
		at = child;
		child = 2 * at + 1;
	}
	while (at > 0 && rank[last] < rank[heap[(at - 1) / 2]]) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = last;
	return first;
}

static bool
has_ties(const int64_t *rank, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (rank[i] == rank[i - 1])
			return true;
	return false;
}

/* Those that wait, as GAIA's queue has them after so many ticks. */
static int
turn_ties(struct loop *loop, int64_t times, struct lt_error *err)
{
	const struct lt_sim_run *const run = loop->run;
	const uint32_t count = loop->waiting_count;

	if (run->options->reserved == 0)
		return LT_OK;
	for (uint32_t i = 0; i < count; i++)
		loop->rank[i] = run->trace->jobs[loop->waiting[i]].submit_utc_s;
	if (times <= 0 || !has_ties(loop->rank, count))
		return LT_OK;

	uint32_t *const room = malloc(3 * (size_t)count * sizeof(*room));
	uint32_t *const heap = room, *const taken = room + count;
	uint32_t *const turned = room + 2 * (size_t)count;

	if (room == NULL)
		return lt_fail(err, LT_ENOMEM, "queue: no memory");
	for (uint32_t i = 0; i < count; i++)
		heap[i] = i;
	/* taken[i]: from which place comes the one that is i-th now? */
	for (uint32_t i = 0; i < count; i++)
		taken[i] = pop_as_heapq(heap, count - i, loop->rank);
	for (uint32_t i = 0; i < count; i++) {
		int64_t round = 1;
		uint32_t at = taken[i];

		for (; at != i; at = taken[at])
			round++;
		for (int64_t left = times % round; left > 0; left--)
			at = taken[at];
		turned[i] = loop->waiting[at];
	}
	memcpy(loop->waiting, turned, count * sizeof(*turned));
	free(room);
	return LT_OK;
}

/* ---- a job starts and ends ---- */

static bool
fits_reserved(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	return run->options->reserved > 0 && run->reserved_free >= job->cpus;
}

/* Settles what it pays, which CPUs it has, and when it ends. */
static int
start_job(struct loop *loop, uint32_t index, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_sim_run *const run = loop->run;
	const struct lt_sim_options *const options = run->options;
	const struct lt_sim_job *const job = &run->trace->jobs[index];
	struct lt_sim_fate *const fate = &run->result->fates[index];
	const bool spot = options->spot && job->exact_run_s <= (double)options->short_s;
	const bool reserved = !spot && fits_reserved(run, job);

	if (options->capacity > 0)
		loop->cpus_free -= job->cpus;
	fate->start_utc_s = now_utc_s;
	fate->end_utc_s = now_utc_s + job->run_s;
	if (reserved)
		run->reserved_free -= job->cpus;
	else if (spot)
		run->result->money +=
		    job->cpus * (double)job->run_s / LT_HOUR_S * options->spot_price_per_cpu_hour;
	else
		run->result->money += lt_sim_cost(run, job, fate->start_utc_s, fate->end_utc_s);

	/* The next tick may use what this one frees. */
	const struct lt_sim_event end = {
	    .at_utc_s = fate->end_utc_s + (reserved ? options->tick_s : 0),
	    .kind = reserved ? ENDS_ON_RESERVED : ENDS,
	    .job = index};

	if (lt_sim_events_push(&loop->ends, end, err) != LT_OK)
		return err->code;
	return lt_sim_use(run, job, fate->start_utc_s, fate->end_utc_s, err);
}

/* Ends all that have ended by now, and learns their run times. */
static int
end_jobs(struct loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_sim_run *const run = loop->run;

	while (loop->ends.count > 0 && loop->ends.heap[0].at_utc_s <= now_utc_s) {
		const struct lt_sim_event end = lt_sim_events_pop(&loop->ends);
		const struct lt_sim_job *const job = &run->trace->jobs[end.job];

		if (run->options->capacity > 0)
			loop->cpus_free += job->cpus;
		if (end.kind == ENDS_ON_RESERVED)
			run->reserved_free += job->cpus;
		if (run->lengths != NULL && lt_sim_learn(run->lengths, job) != LT_OK)
			return lt_fail(err, LT_ENOMEM, "run times: no memory");
	}
	return LT_OK;
}

/* ---- who starts ---- */

struct promise { /* to the first that does not fit */
	bool made;
	int64_t at_utc_s;
	uint32_t spare; /* CPUs that are free then beside its own */
};

struct release {
	int64_t at_utc_s;
	uint32_t cpus;
};

static int
by_time(const void *a, const void *b)
{
	const struct release *const x = a, *const y = b;

	return (x->at_utc_s > y->at_utc_s) - (x->at_utc_s < y->at_utc_s);
}

static int
make_promise(struct promise *promise, const struct loop *loop, const struct lt_sim_job *job,
    struct lt_error *err)
{
	const struct lt_sim_run *const run = loop->run;
	const uint32_t count = loop->ends.count;
	struct release *const releases = malloc((count + 1) * sizeof(*releases));
	uint32_t cpus_free = loop->cpus_free;

	if (releases == NULL)
		return lt_fail(err, LT_ENOMEM, "queue: no memory");
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t index = loop->ends.heap[i].job;
		const struct lt_sim_job *const runs = &run->trace->jobs[index];

		releases[i] = (struct release){.at_utc_s = run->result->fates[index].start_utc_s +
							   later(runs->limit_s, runs->run_s),
		    .cpus = runs->cpus};
	}
	qsort(releases, count, sizeof(*releases), by_time);
	*promise = (struct promise){.made = true, .at_utc_s = INT64_MAX};
	for (uint32_t i = 0; i < count && cpus_free < job->cpus; i++) {
		cpus_free += releases[i].cpus;
		promise->at_utc_s = releases[i].at_utc_s;
	}
	promise->spare = cpus_free > job->cpus ? cpus_free - job->cpus : 0;
	free(releases);
	return LT_OK;
}

/* True if it may start though another was promised a time. */
static bool
goes_before(struct promise *promise, const struct lt_sim_job *job, int64_t now_utc_s)
{
	if (!promise->made || now_utc_s + later(job->limit_s, job->run_s) <= promise->at_utc_s)
		return true;
	if (job->cpus > promise->spare)
		return false;
	promise->spare -= job->cpus;
	return true;
}

/* Sets *starts: does it start now? With a capacity the first that does not fit gets a promise. */
static int
may_start(bool *starts, struct promise *promise, const struct loop *loop, uint32_t index,
    int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_sim_run *const run = loop->run;
	const struct lt_sim_job *const job = &run->trace->jobs[index];
	const bool due = loop->planned_utc_s[index] <= now_utc_s;

	if (run->options->capacity == 0) {
		*starts = due || (run->rule->conserving && fits_reserved(run, job));
		return LT_OK;
	}
	*starts = due && job->cpus <= loop->cpus_free && goes_before(promise, job, now_utc_s);
	return due && !*starts && !promise->made ? make_promise(promise, loop, job, err) : LT_OK;
}

static int
start_due(struct loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	struct promise promise = {0};
	uint32_t kept = 0;

	loop->soonest_utc_s = INT64_MAX;
	for (uint32_t i = 0; i < loop->waiting_count; i++) {
		const uint32_t index = loop->waiting[i];
		const int64_t planned_s = loop->planned_utc_s[index];
		bool starts;

		if (may_start(&starts, &promise, loop, index, now_utc_s, err))
			return err->code;
		if (starts && start_job(loop, index, now_utc_s, err))
			return err->code;
		if (starts)
			continue;
		if (planned_s > now_utc_s && planned_s < loop->soonest_utc_s)
			loop->soonest_utc_s = planned_s;
		loop->waiting[kept++] = index;
	}
	loop->waiting_count = loop->planned_count = kept;
	return LT_OK;
}

/* ---- time ---- */

static int
step_to(struct loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_sim_trace *const trace = loop->run->trace;
	const bool again = loop->run->rule->decides && loop->run->options->again != LT_SIM_NEVER &&
			   now_utc_s % LT_HOUR_S == 0;
	const int64_t ticks = (now_utc_s - loop->at_utc_s) / loop->run->options->tick_s;

	if (end_jobs(loop, now_utc_s, err) || turn_ties(loop, ticks - 1, err))
		return err->code;
	loop->at_utc_s = now_utc_s;
	lt_sim_tell(loop->run, loop->next);
	while (loop->next < trace->count && trace->jobs[loop->next].submit_utc_s <= now_utc_s)
		loop->waiting[loop->waiting_count++] = loop->next++;
	if (plan_waiting(loop, again, now_utc_s, err) || turn_ties(loop, 1, err))
		return err->code;
	return start_due(loop, now_utc_s, err);
}

/* The next time at which something may happen; INT64_MAX = never. */
static int64_t
next_time_s(const struct loop *loop)
{
	const struct lt_sim_trace *const trace = loop->run->trace;
	const int64_t hour_s = lt_sim_next_hour_s(loop->at_utc_s);
	int64_t next_s = INT64_MAX;

	if (loop->next < trace->count)
		next_s = trace->jobs[loop->next].submit_utc_s;
	if (loop->ends.count > 0 && loop->ends.heap[0].at_utc_s < next_s)
		next_s = loop->ends.heap[0].at_utc_s;
	if (loop->waiting_count > 0 && loop->soonest_utc_s < next_s)
		next_s = loop->soonest_utc_s;
	if (loop->waiting_count > 0 && loop->run->rule->decides &&
	    loop->run->options->again != LT_SIM_NEVER && hour_s < next_s)
		next_s = hour_s;
	return next_s;
}

int
lt_sim_shift(struct lt_sim_run *run, struct lt_error *err)
{
	const size_t count = run->trace->count;
	struct loop loop = {.run = run,
	    .at_utc_s = run->result->from_utc_s,
	    .cpus_free = run->options->capacity,
	    .waiting = calloc(count, sizeof(*loop.waiting)),
	    .rank = calloc(count, sizeof(*loop.rank)),
	    .planned_utc_s = calloc(count, sizeof(*loop.planned_utc_s)),
	    .windows = calloc(count, sizeof(*loop.windows))};
	int64_t at_s;

	if (loop.waiting == NULL || loop.rank == NULL || loop.planned_utc_s == NULL ||
	    loop.windows == NULL)
		lt_fail(err, LT_ENOMEM, "simulation: no memory");
	else
		while (
		    (at_s = next_time_s(&loop)) < INT64_MAX && step_to(&loop, at_s, err) == LT_OK)
			;
	free(loop.windows);
	lt_sim_events_free(&loop.ends);
	free(loop.planned_utc_s);
	free(loop.rank);
	free(loop.waiting);
	return err->code;
}
