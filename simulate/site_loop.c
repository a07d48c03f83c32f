/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One setting: runs come as they came, are decided, wait, are decided again, and run. A run that is
 * not moved starts when it did, for the queue that it waited in is Slurm's; one that is moved
 * starts at its hour, at home not before it did. Each partition has a line, whose head goes first
 * and others after it where they fit. At the end: each run that counts, where and when it would
 * have run beside where and when it did.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "site_internal.h"
#include "units.h"

enum {
	LINE_S = 60, /* who waited longer than that, waited in line */
	/* lowtided looks each hour, too: that would take three times as long, and save a twentieth
	 * more. */
	BEFORE_S = 300,
	TELL = 1024,
};

/* Sums of shares are so exact. */
static const double noise = 1e-6;

/* Kinds of events; at one time they happen in this order. */
enum { ENDS, COMES, LOOKS, IS_DUE };

enum state { TO_COME, WAITS, IN_LINE, RUNS, DONE };

struct job { /* in one setting */
	enum state state;
	bool moved;
	bool booked;  /* its window is taken from now on, though it waits */
	bool in_line; /* it counts in lines, before its time has come */
	uint16_t partition;
	double nodes;		/* node equivalents there */
	int64_t due_utc_s;	/* it starts then, if there is room */
	int64_t promised_utc_s; /* its latest start */
	int64_t start_utc_s, end_utc_s;
	double length_ratio; /* there, of its length at home */
	double stretch;
	double failure_micros; /* of expected interruptions */
	uint32_t place;	       /* in the list of those that take room */
};

struct line {		   /* of a partition */
	double used;	   /* node equivalents */
	uint32_t *waiting; /* in line, the first that came first */
	uint32_t count, room;
};

struct loop {
	const struct lt_site_sim *sim;
	const struct lt_site_setting *setting;
	struct lt_site_view *view;
	struct job *jobs;
	struct lt_sim_events events;
	uint32_t *taking, taking_count; /* those that run, or booked */
	struct line *lines;		/* of each partition */
	/* How many wait in line for each partition, here or in Slurm's. */
	uint32_t *queued;
	struct lt_request request;
	struct lt_plan plan;
	struct lt_replanned again;
};

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int
push_event(struct loop *loop, uint32_t kind, uint32_t index, int64_t at_utc_s, struct lt_error *err)
{
	const struct lt_sim_event event = {
	    .at_utc_s = at_utc_s, .rank = (uint64_t)kind << 32 | index, .kind = kind, .job = index};

	return lt_sim_events_push(&loop->events, event, err);
}

/* ---- room ---- */

/* It takes room from now on. */
static void
take_room(struct loop *loop, uint32_t index)
{
	struct job *const job = &loop->jobs[index];

	if (job->booked)
		return;
	job->booked = true;
	job->place = loop->taking_count;
	loop->taking[loop->taking_count++] = index;
}

static void
leave_room(struct loop *loop, uint32_t index)
{
	struct job *const job = &loop->jobs[index];

	if (!job->booked)
		return;
	const uint32_t last = loop->taking[--loop->taking_count];

	loop->taking[job->place] = last;
	loop->jobs[last].place = job->place;
	job->booked = false;
}

/* How long a run of that age will take: lowtided knows no more. */
static int64_t
expected_s(const struct loop *loop, uint32_t index, int64_t ran_s)
{
	const struct lt_site_run *const run = &loop->sim->site.runs[index];
	const double ratio = loop->jobs[index].length_ratio;
	/* A request is large: where its limit is said none is made. */
	const int64_t limit_s =
	    run->limit_s > 0 ? run->limit_s
			     : lt_limit_of(&(struct lt_request){.deadline_utc_s = LT_UNSET_64},
				   loop->sim->site.market, run->partition);
	const int64_t most_s = limit_s > 0 ? limit_s : LT_FORECAST_HOURS * LT_HOUR_S;
	struct lt_expected expected = loop->sim->bases[index].learned;

	expected.expected_s = (int64_t)((double)expected.expected_s * ratio);
	expected.upper_s = (int64_t)((double)expected.upper_s * ratio);
	return lt_expected_length_s(&expected, ran_s, most_s);
}

/* The room that it takes from now on, as far as is known. */
static struct lt_planned
window_of(const struct loop *loop, uint32_t index, int64_t now_utc_s)
{
	const struct job *const job = &loop->jobs[index];
	const bool runs = job->state == RUNS;
	const int64_t start_s = runs ? job->start_utc_s : later(job->due_utc_s, now_utc_s);
	const int64_t end_s = start_s + expected_s(loop, index, runs ? now_utc_s - start_s : 0);

	return (struct lt_planned){.partition = job->partition,
	    .nodes = (float)job->nodes,
	    .start_utc_s = runs ? now_utc_s : start_s,
	    .end_utc_s = end_s > now_utc_s ? end_s : now_utc_s + LT_HOUR_S};
}

static int64_t
length_there_s(const struct loop *loop, uint32_t index)
{
	const struct job *const job = &loop->jobs[index];
	const int64_t there_s = (int64_t)((double)lt_site_length_s(&loop->sim->site.runs[index]) *
					  job->length_ratio * job->stretch);

	return there_s > 0 ? there_s : 1;
}

static bool
has_room(const struct loop *loop, const struct job *job)
{
	const struct lt_site_sim *const sim = loop->sim;
	const double nodes = sim->site.market->partitions[job->partition].node_count;
	const double has = fmax(sim->room[job->partition], nodes);

	return loop->lines[job->partition].used + job->nodes <= has + noise;
}

static int
start_run(struct loop *loop, uint32_t index, int64_t now_utc_s, struct lt_error *err)
{
	struct job *const job = &loop->jobs[index];
	const bool was_booked = job->booked;

	loop->lines[job->partition].used += job->nodes;
	job->state = RUNS;
	job->start_utc_s = now_utc_s;
	job->end_utc_s = now_utc_s + length_there_s(loop, index);
	take_room(loop, index);
	if (!was_booked) {
		const struct lt_planned window = window_of(loop, index, now_utc_s);

		lt_site_view_plan(loop->view, &window);
	}
	return push_event(loop, ENDS, index, job->end_utc_s, err);
}

static int
get_in_line(struct loop *loop, uint32_t index, struct lt_error *err)
{
	const uint16_t p = loop->jobs[index].partition;
	struct line *const line = &loop->lines[p];

	if (line->count == line->room) {
		const uint32_t more = line->room * 2 + 16;
		uint32_t *const waiting = realloc(line->waiting, more * sizeof(*waiting));

		if (waiting == NULL)
			return lt_fail(err, LT_ENOMEM, "queue: no memory");
		line->waiting = waiting;
		line->room = more;
	}
	loop->jobs[index].state = IN_LINE;
	line->waiting[line->count++] = index;
	loop->queued[p]++;
	return LT_OK;
}

/* Those that waited for its room start. */
static int
end_run(struct loop *loop, uint32_t index, int64_t now_utc_s, struct lt_error *err)
{
	const uint16_t p = loop->jobs[index].partition;
	struct line *const line = &loop->lines[p];
	uint32_t kept = 0;

	line->used -= loop->jobs[index].nodes;
	loop->jobs[index].state = DONE;
	leave_room(loop, index);
	for (uint32_t i = 0; i < line->count; i++) {
		const uint32_t waits = line->waiting[i];

		if (!has_room(loop, &loop->jobs[waits])) {
			line->waiting[kept++] = waits;
			continue;
		}
		loop->queued[p]--;
		if (start_run(loop, waits, now_utc_s, err) != LT_OK)
			return err->code;
	}
	line->count = kept;
	return LT_OK;
}

/* ---- decisions ---- */

static int
look_around(struct loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	if (!lt_site_view_is_old(loop->view, now_utc_s))
		return LT_OK;
	if (lt_site_view_begin(loop->view, now_utc_s, err) != LT_OK)
		return err->code;
	for (uint32_t i = 0; i < loop->taking_count; i++) {
		const struct lt_planned window = window_of(loop, loop->taking[i], now_utc_s);

		lt_site_view_take(loop->view, &window);
	}
	return lt_site_view_end(loop->view, loop->queued, err);
}

static int
push_look(struct loop *loop, uint32_t index, int64_t now_utc_s, struct lt_error *err)
{
	const int64_t at_s = loop->jobs[index].due_utc_s - BEFORE_S;

	return at_s > now_utc_s ? push_event(loop, LOOKS, index, at_s, err) : LT_OK;
}

static int
push_due(struct loop *loop, uint32_t index, struct lt_error *err)
{
	return push_event(loop, IS_DUE, index, loop->jobs[index].due_utc_s, err);
}

/* The first run's begins all: each that comes announces the next. */
static int
push_coming(struct loop *loop, uint32_t index, struct lt_error *err)
{
	const struct lt_site *const site = &loop->sim->site;

	return index < site->run_count
		   ? push_event(loop, COMES, index, site->runs[index].submit_utc_s, err)
		   : LT_OK;
}

/* Where it ran, when it did. */
static void
stay_home(struct loop *loop, uint32_t index, int64_t now_utc_s)
{
	const struct lt_site_run *const run = &loop->sim->site.runs[index];
	struct job *const job = &loop->jobs[index];

	job->moved = false;
	job->partition = run->partition;
	job->nodes = (float)loop->sim->bases[index].node_equivalents;
	job->length_ratio = job->stretch = 1;
	job->failure_micros = 0;
	job->due_utc_s = later(run->start_utc_s, now_utc_s);
	/* It is one of those that wait in line there. */
	job->in_line =
	    run->start_utc_s > run->eligible_utc_s + LINE_S && run->start_utc_s > now_utc_s;
	loop->queued[run->partition] += job->in_line;
}

static void
leave_line(struct loop *loop, uint32_t index)
{
	struct job *const job = &loop->jobs[index];

	loop->queued[loop->sim->site.runs[index].partition] -= job->in_line;
	job->in_line = false;
}

/* The factor that interruptions are expected to add to its length. */
static double
stretch_of(const struct lt_plan *plan)
{
	const double undisturbed = plan->home.expected_active_s * plan->chosen.time_ratio;

	return plan->chosen.expected_interruptions > 0 && undisturbed > 0 &&
		       plan->chosen.partition != plan->home.partition
		   ? fmax(1, plan->chosen.expected_active_s / undisturbed)
		   : 1;
}

static void
move_to(struct loop *loop, uint32_t index, const struct lt_plan *plan)
{
	const struct lt_site_run *const run = &loop->sim->site.runs[index];
	struct job *const job = &loop->jobs[index];
	const struct lt_estimate *const to = &plan->chosen;
	const bool is_home = to->partition == run->partition;

	job->moved = true;
	job->partition = (uint16_t)to->partition;
	job->nodes = (float)to->node_equivalents;
	job->length_ratio = is_home ? 1 : to->time_ratio;
	job->stretch = stretch_of(plan);
	job->failure_micros = is_home ? 0 : to->expected_failure_micros;
	job->due_utc_s = is_home ? later(to->start_utc_s, run->start_utc_s) : to->start_utc_s;
}

/* Its window is taken from now on. */
static void
book_window(struct loop *loop, uint32_t index, int64_t now_utc_s)
{
	const struct lt_planned window = window_of(loop, index, now_utc_s);

	take_room(loop, index);
	lt_site_view_plan(loop->view, &window);
}

/* One that stays, and starts as good as at once, is seen by who comes next. */
static int
let_stay(struct loop *loop, uint32_t index, int64_t now_utc_s, struct lt_error *err)
{
	if (loop->jobs[index].due_utc_s <= now_utc_s + LINE_S)
		book_window(loop, index, now_utc_s);
	return push_due(loop, index, err);
}

static bool
is_moved(const struct lt_plan *plan)
{
	return plan->moved && !lt_plan_waits_for_room(plan);
}

/* At the submission only the median is known, as to job_submit. */
static void
make_request(struct loop *loop, uint32_t index, bool again)
{
	const struct lt_expected *const learned = &loop->sim->bases[index].learned;

	lt_site_request(&loop->request, loop->sim, index, 0);
	loop->request.objective = loop->setting->objective;
	if (!again && learned->expected_s > 0)
		loop->request.expected_run_s = learned->expected_s;
}

static int
decide_first(struct loop *loop, uint32_t index, struct lt_error *err)
{
	const struct lt_site_run *const run = &loop->sim->site.runs[index];
	struct job *const job = &loop->jobs[index];
	const int64_t now_s = run->submit_utc_s;

	job->state = WAITS;
	stay_home(loop, index, now_s);
	job->promised_utc_s = run->eligible_utc_s + loop->sim->site.market->max_delay_s;
	if (!loop->sim->bases[index].counted || !lt_site_is_free(loop->sim->site.market, run))
		return let_stay(loop, index, now_s, err);
	if (look_around(loop, now_s, err) != LT_OK)
		return err->code;
	const struct lt_site_seen seen = lt_site_view_seen(loop->view);

	make_request(loop, index, false);
	if (lt_decide(&loop->plan, &loop->request, seen.market, seen.planned, seen.planned_count,
		now_s, err) != LT_OK)
		return err->code;
	if (!is_moved(&loop->plan))
		return let_stay(loop, index, now_s, err);
	leave_line(loop, index);
	move_to(loop, index, &loop->plan);
	book_window(loop, index, now_s);
	if (push_look(loop, index, now_s, err) != LT_OK)
		return err->code;
	return push_due(loop, index, err);
}

/* It goes elsewhere: what it had booked is free. */
static void
change_plan(struct loop *loop, uint32_t index, int64_t now_utc_s)
{
	if (is_moved(&loop->again.plan)) {
		move_to(loop, index, &loop->again.plan);
		book_window(loop, index, now_utc_s);
		return;
	}
	leave_room(loop, index);
	stay_home(loop, index, now_utc_s);
}

static int
decide_again(struct loop *loop, uint32_t index, int64_t now_utc_s, struct lt_error *err)
{
	struct job *const job = &loop->jobs[index];
	struct lt_planned own;

	if (look_around(loop, now_utc_s, err) != LT_OK)
		return err->code;
	make_request(loop, index, true);
	loop->request.earliest_utc_s = later(now_utc_s, loop->request.earliest_utc_s);
	loop->request.latest_utc_s = later(now_utc_s, job->promised_utc_s);
	own = window_of(loop, index, now_utc_s);
	own = lt_site_view_window(loop->view, &own);
	own.nodes = -own.nodes;
	lt_site_view_plan(loop->view, &own);

	const struct lt_site_seen seen = lt_site_view_seen(loop->view);
	const struct lt_replan of = {.request = &loop->request,
	    .market = seen.market,
	    .planned = seen.planned,
	    .planned_count = seen.planned_count,
	    .partition = job->partition,
	    .start_utc_s = job->due_utc_s,
	    .now_utc_s = now_utc_s};

	if (lt_replan(&loop->again, &of, err) != LT_OK)
		return err->code;
	if (loop->again.why == LT_REPLAN_KEEP) {
		lt_site_view_unplan(loop->view, 1);
		return LT_OK;
	}
	change_plan(loop, index, now_utc_s);
	if (job->moved && push_look(loop, index, now_utc_s, err) != LT_OK)
		return err->code;
	return push_due(loop, index, err);
}

static int
happen(struct loop *loop, const struct lt_sim_event *event, struct lt_error *err)
{
	const struct lt_site *const site = &loop->sim->site;
	const struct job *const job = &loop->jobs[event->job];
	const int64_t now_s = event->at_utc_s;
	const bool waits = job->state == WAITS && job->due_utc_s >= now_s;

	switch (event->kind) {
	case ENDS:
		return end_run(loop, event->job, now_s, err);
	case COMES:
		if (site->tell != NULL && event->job % TELL == 0)
			site->tell(site->context, TELL);
		if (push_coming(loop, event->job + 1, err) != LT_OK)
			return err->code;
		return decide_first(loop, event->job, err);
	case LOOKS:
		return waits && job->moved ? decide_again(loop, event->job, now_s, err) : LT_OK;
	default: /* it is due, unless it was given another hour since */
		if (!waits || job->due_utc_s != now_s)
			return LT_OK;
		leave_line(loop, event->job);
		return has_room(loop, job) ? start_run(loop, event->job, now_s, err)
					   : get_in_line(loop, event->job, err);
	}
}

/* ---- sums ---- */

static int
week_of(const struct lt_site_sim *sim, uint32_t index)
{
	const int64_t after_s = sim->site.runs[index].submit_utc_s - sim->site.from_utc_s;
	const int64_t week = after_s / (7 * LT_DAY_S);

	return week >= sim->week_count ? sim->week_count - 1 : (int)week;
}

struct difference {
	double base_micros, saved_micros, base_mg, saved_mg;
	bool moved;
};

static void
add_sums(struct lt_site_sums *sums, const struct difference *difference)
{
	sums->runs++;
	sums->moved += difference->moved;
	sums->base_micros += difference->base_micros;
	sums->saved_micros += difference->saved_micros;
	sums->base_mg += difference->base_mg;
	sums->saved_mg += difference->saved_mg;
}

/* The saving of one that runs elsewhere or at another time. What has no price there has no saving:
 * what is decided by money goes only where there is one. */
static void
find_saved(struct difference *difference, const struct loop *loop, uint32_t index)
{
	const struct lt_site_base *const base = &loop->sim->bases[index];
	const struct job *const job = &loop->jobs[index];
	const struct lt_site_stay is = {
	    .partition = job->partition, .start_utc_s = job->start_utc_s, .stretch = job->stretch};
	struct lt_estimate there;

	if (!lt_site_price(&there, loop->sim, index, &is))
		return;
	if (base->has_micros && there.has_cost)
		difference->saved_micros =
		    base->micros - (double)there.cost_micros - job->failure_micros;
	if (base->has_mg && there.has_carbon)
		difference->saved_mg = base->mg - (double)there.carbon_mg;
}

static int
sum_up(struct lt_site_result *result, const struct loop *loop, struct lt_error *err)
{
	const struct lt_site_sim *const sim = loop->sim;
	double wait_s = 0, base_wait_s = 0;

	result->week_count = sim->week_count;
	result->partitions =
	    calloc(sim->site.market->partition_count + 1, sizeof(*result->partitions));
	if (result->partitions == NULL)
		return lt_fail(err, LT_ENOMEM, "sums: no memory");
	for (uint32_t i = 0; i < sim->site.run_count; i++) {
		const struct lt_site_base *const base = &sim->bases[i];
		const struct lt_site_run *const run = &sim->site.runs[i];
		const struct job *const job = &loop->jobs[i];
		struct difference difference = {
		    .base_micros = base->micros, .base_mg = base->mg, .moved = job->moved};

		if (!base->counted)
			continue;
		if (job->partition != run->partition || job->start_utc_s != run->start_utc_s)
			find_saved(&difference, loop, i);
		add_sums(&result->all, &difference);
		add_sums(&result->weeks[week_of(sim, i)], &difference);
		add_sums(&result->partitions[run->partition], &difference);
		wait_s += (double)(job->start_utc_s - run->submit_utc_s);
		base_wait_s += (double)(run->start_utc_s - run->submit_utc_s);
		result->late += job->moved && job->start_utc_s > job->promised_utc_s &&
				job->start_utc_s > run->start_utc_s;
	}
	if (result->all.runs > 0) {
		result->wait_s = wait_s / result->all.runs;
		result->base_wait_s = base_wait_s / result->all.runs;
	}
	return LT_OK;
}

/* ---- one setting ---- */

static int
run_all(struct loop *loop, struct lt_error *err)
{
	int code = push_coming(loop, 0, err);

	while (code == LT_OK && loop->events.count > 0) {
		const struct lt_sim_event event = lt_sim_events_pop(&loop->events);

		code = happen(loop, &event, err);
	}
	return code;
}

static void
free_loop(struct loop *loop, uint32_t partitions)
{
	for (uint32_t i = 0; loop->lines != NULL && i < partitions; i++)
		free(loop->lines[i].waiting);
	free(loop->lines);
	free(loop->queued);
	free(loop->taking);
	lt_sim_events_free(&loop->events);
	free(loop->jobs);
	lt_site_view_close(loop->view);
	free(loop);
}

int
lt_site_simulate(struct lt_site_result *result, const struct lt_site_sim *sim,
    const struct lt_site_setting *setting, struct lt_error *err)
{
	const uint32_t partitions = sim->site.market->partition_count;
	const size_t runs = sim->site.run_count + (size_t)1;
	/* Two plans are too large for a stack. */
	struct loop *const loop = calloc(1, sizeof(*loop));

	*result = (struct lt_site_result){0};
	if (loop == NULL)
		return lt_fail(err, LT_ENOMEM, "simulation: no memory");
	loop->sim = sim;
	loop->setting = setting;
	loop->jobs = calloc(runs, sizeof(*loop->jobs));
	loop->taking = calloc(runs, sizeof(*loop->taking));
	loop->lines = calloc(partitions + 1, sizeof(*loop->lines));
	loop->queued = calloc(partitions + 1, sizeof(*loop->queued));
	if (loop->jobs == NULL || loop->taking == NULL || loop->lines == NULL ||
	    loop->queued == NULL)
		lt_fail(err, LT_ENOMEM, "simulation: no memory");
	else if (lt_site_view_open(&loop->view, sim, setting, err) == LT_OK &&
		 run_all(loop, err) == LT_OK)
		(void)sum_up(result, loop, err);
	free_loop(loop, partitions);
	return err->code;
}

void
lt_site_result_free(struct lt_site_result *result)
{
	free(result->partitions);
	*result = (struct lt_site_result){0};
}
