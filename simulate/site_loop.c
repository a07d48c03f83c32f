/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One setting: runs come as they came, are decided, wait, are decided again,
 * and run. A run that is not moved starts when it did, for the queue that it
 * waited in is Slurm's; one that is moved starts at its hour, at home not
 * before it did.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "site_internal.h"
#include "units.h"

/* lowtided looks each hour, too: that would take three times as long, and save
 * a twentieth more. */
enum { BEFORE_S = 300, TELL = 1024 };

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int
look_around(struct lt_site_loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	if (!lt_site_view_is_old(loop->view, now_utc_s))
		return LT_OK;
	if (lt_site_view_begin(loop->view, now_utc_s, err) != LT_OK)
		return err->code;
	for (uint32_t i = 0; i < loop->taking_count; i++) {
		const struct lt_planned window =
		    lt_site_window(loop, loop->taking[i], now_utc_s);

		lt_site_view_take(loop->view, &window);
	}
	return lt_site_view_end(loop->view, loop->lines, err);
}

static int
push_look(struct lt_site_loop *loop, uint32_t index, int64_t now_utc_s,
    struct lt_error *err)
{
	const int64_t at_s = loop->jobs[index].due_utc_s - BEFORE_S;

	return at_s > now_utc_s
		   ? lt_site_push(loop,
			 &(struct lt_site_event){at_s, LT_SITE_LOOKS, index},
			 err)
		   : LT_OK;
}

static int
push_due(struct lt_site_loop *loop, uint32_t index, struct lt_error *err)
{
	return lt_site_push(loop,
	    &(struct lt_site_event){
		loop->jobs[index].due_utc_s, LT_SITE_IS_DUE, index},
	    err);
}

/* Where it ran, when it did. */
static void
stay(struct lt_site_loop *loop, uint32_t index, int64_t now_utc_s)
{
	const struct lt_site_run *const run = &loop->sim->site.runs[index];
	struct lt_site_job *const job = &loop->jobs[index];

	job->moved = false;
	job->partition = run->partition;
	job->nodes = (float)loop->sim->bases[index].node_equivalents;
	job->length_ratio = job->stretch = 1;
	job->failure_micros = 0;
	job->due_utc_s = later(run->start_utc_s, now_utc_s);
	/* It is one of those that wait in line there. */
	job->in_line =
	    run->start_utc_s > run->eligible_utc_s + LT_SITE_LINE_S &&
	    run->start_utc_s > now_utc_s;
	loop->lines[run->partition] += job->in_line;
}

static void
leave_line(struct lt_site_loop *loop, uint32_t index)
{
	struct lt_site_job *const job = &loop->jobs[index];

	loop->lines[loop->sim->site.runs[index].partition] -= job->in_line;
	job->in_line = false;
}

/* What interruptions add to its length, as is expected. */
static double
stretch_of(const struct lt_plan *plan)
{
	const double undisturbed =
	    plan->home.expected_active_s * plan->chosen.time_ratio;

	return plan->chosen.expected_interruptions > 0 && undisturbed > 0 &&
		       plan->chosen.partition != plan->home.partition
		   ? fmax(1, plan->chosen.expected_active_s / undisturbed)
		   : 1;
}

static void
move(struct lt_site_loop *loop, uint32_t index, const struct lt_plan *plan)
{
	const struct lt_site_run *const run = &loop->sim->site.runs[index];
	struct lt_site_job *const job = &loop->jobs[index];
	const struct lt_estimate *const to = &plan->chosen;
	const bool is_home = to->partition == run->partition;

	job->moved = true;
	job->partition = (uint16_t)to->partition;
	job->nodes = (float)to->node_equivalents;
	job->length_ratio = is_home ? 1 : to->time_ratio;
	job->stretch = stretch_of(plan);
	job->failure_micros = is_home ? 0 : to->expected_failure_micros;
	job->due_utc_s = is_home ? later(to->start_utc_s, run->start_utc_s)
				 : to->start_utc_s;
}

/* Its window is taken from now on. */
static void
book(struct lt_site_loop *loop, uint32_t index, int64_t now_utc_s)
{
	const struct lt_planned window = lt_site_window(loop, index, now_utc_s);

	lt_site_take(loop, index);
	lt_site_view_plan(loop->view, &window);
}

/* One that stays, and starts as good as at once, is seen by who comes next. */
static int
stays(struct lt_site_loop *loop, uint32_t index, int64_t now_utc_s,
    struct lt_error *err)
{
	if (loop->jobs[index].due_utc_s <= now_utc_s + LT_SITE_LINE_S)
		book(loop, index, now_utc_s);
	return push_due(loop, index, err);
}

static bool
is_moved(const struct lt_plan *plan)
{
	return plan->moved && !lt_plan_waits_for_room(plan);
}

/* Who submits knows the median only, as job_submit does. */
static void
ask(struct lt_site_loop *loop, uint32_t index, bool again)
{
	const struct lt_expected *const learned =
	    &loop->sim->bases[index].learned;

	lt_site_request(&loop->request, loop->sim, index, 0);
	loop->request.objective = loop->setting->objective;
	if (!again && learned->expected_s > 0)
		loop->request.expected_run_s = learned->expected_s;
}

static int
come(struct lt_site_loop *loop, uint32_t index, struct lt_error *err)
{
	const struct lt_site_run *const run = &loop->sim->site.runs[index];
	struct lt_site_job *const job = &loop->jobs[index];
	const int64_t now_s = run->submit_utc_s;

	job->state = LT_SITE_WAITS;
	stay(loop, index, now_s);
	job->promised_utc_s =
	    run->eligible_utc_s + loop->sim->site.market->max_delay_s;
	if (!loop->sim->bases[index].counted || !lt_site_is_free(loop->sim->site.market, run))
		return stays(loop, index, now_s, err);
	if (look_around(loop, now_s, err) != LT_OK)
		return err->code;
	const struct lt_site_seen seen = lt_site_view_seen(loop->view);

	ask(loop, index, false);
	if (lt_decide(&loop->plan, &loop->request, seen.market, seen.planned,
		seen.planned_count, now_s, err) != LT_OK)
		return err->code;
	if (!is_moved(&loop->plan))
		return stays(loop, index, now_s, err);
	leave_line(loop, index);
	move(loop, index, &loop->plan);
	book(loop, index, now_s);
	if (push_look(loop, index, now_s, err) != LT_OK)
		return err->code;
	return push_due(loop, index, err);
}

/* It goes elsewhere: what it had booked is free. */
static void
change(struct lt_site_loop *loop, uint32_t index, int64_t now_utc_s)
{
	if (is_moved(&loop->again.plan)) {
		move(loop, index, &loop->again.plan);
		book(loop, index, now_utc_s);
		return;
	}
	lt_site_leave(loop, index);
	stay(loop, index, now_utc_s);
}

static int
decide_again(struct lt_site_loop *loop, uint32_t index, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_site_job *const job = &loop->jobs[index];
	struct lt_planned own;

	if (look_around(loop, now_utc_s, err) != LT_OK)
		return err->code;
	ask(loop, index, true);
	loop->request.earliest_utc_s =
	    later(now_utc_s, loop->request.earliest_utc_s);
	loop->request.latest_utc_s = later(now_utc_s, job->promised_utc_s);
	own = lt_site_window(loop, index, now_utc_s);
	own = lt_site_view_window(loop->view, &own);
	own.nodes = -own.nodes;
	lt_site_view_plan(loop->view, &own);

	const struct lt_site_seen seen = lt_site_view_seen(loop->view);
	const struct lt_replan of = {&loop->request, seen.market, seen.planned,
	    seen.planned_count, job->partition, job->due_utc_s, now_utc_s};

	if (lt_replan(&loop->again, &of, err) != LT_OK)
		return err->code;
	if (loop->again.why == LT_REPLAN_KEEP) {
		lt_site_view_unplan(loop->view, 1);
		return LT_OK;
	}
	change(loop, index, now_utc_s);
	if (job->moved && push_look(loop, index, now_utc_s, err) != LT_OK)
		return err->code;
	return push_due(loop, index, err);
}

static int
happen(struct lt_site_loop *loop, const struct lt_site_event *event,
    struct lt_error *err)
{
	const struct lt_site_job *const job = &loop->jobs[event->job];
	const bool waits =
	    job->state == LT_SITE_WAITS && job->due_utc_s >= event->at_utc_s;

	switch (event->kind) {
	case LT_SITE_ENDS:
		return lt_site_end(loop, event->job, event->at_utc_s, err);
	case LT_SITE_LOOKS:
		return waits && job->moved ? decide_again(loop, event->job,
						 event->at_utc_s, err)
					   : LT_OK;
	default:
		/* It was given another hour since. */
		if (!waits || job->due_utc_s != event->at_utc_s)
			return LT_OK;
		leave_line(loop, event->job);
		return lt_site_due(loop, event->job, event->at_utc_s, err);
	}
}

int
lt_site_loop_run(struct lt_site_loop *loop, struct lt_error *err)
{
	const struct lt_site *const site = &loop->sim->site;

	while (loop->next < site->run_count || loop->event_count > 0) {
		const int64_t comes_s =
		    loop->next < site->run_count
			? site->runs[loop->next].submit_utc_s
			: INT64_MAX;
		const struct lt_site_event *const first = loop->heap;
		const bool happens = loop->event_count > 0 &&
				     (first->at_utc_s < comes_s ||
					 (first->at_utc_s == comes_s &&
					     first->kind == LT_SITE_ENDS));

		if (happens) {
			const struct lt_site_event event = lt_site_pop(loop);

			if (happen(loop, &event, err) != LT_OK)
				return err->code;
			continue;
		}
		if (site->tell != NULL && loop->next % TELL == 0)
			site->tell(site->context, TELL);
		if (come(loop, loop->next++, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}
