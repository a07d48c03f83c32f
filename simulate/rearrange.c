/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is booked and has not started, arranged anew by lt_rearrange().
 */
#include <stdlib.h>

#include "loop.h"
#include "rearrange.h"

enum { ROUNDS = 100 }; /* an hour; lowtided tries more */

struct asked { /* of all that wait */
	struct lt_booking *bookings;
	struct lt_request *requests;
	uint32_t *jobs;
	struct lt_planned *planned;
};

static bool
make_room(struct asked *asked, const struct lt_sim_loop *loop)
{
	const size_t count = loop->waiting_count;

	asked->bookings = calloc(count, sizeof(*asked->bookings));
	asked->requests = calloc(count, sizeof(*asked->requests));
	asked->jobs = calloc(count, sizeof(*asked->jobs));
	asked->planned =
	    calloc(count + loop->event_count, sizeof(*asked->planned));
	return asked->bookings != NULL && asked->requests != NULL &&
	       asked->jobs != NULL && asked->planned != NULL;
}

/* What runs stays as it is. */
static void
sort_out(struct lt_rearrange *of, struct asked *asked,
    const struct lt_sim_loop *loop, int64_t now_utc_s)
{
	const struct lt_sim_run *const run = loop->run;

	for (uint32_t i = 0; i < loop->event_count; i++)
		of->planned[of->planned_count++] =
		    lt_sim_running(loop, loop->heap[i].job, now_utc_s);
	for (uint32_t i = 0; i < loop->waiting_count; i++) {
		const uint32_t index = loop->waiting[i];
		const int64_t planned_s = loop->planned_utc_s[index];
		const int64_t start_s =
		    planned_s > now_utc_s ? planned_s : now_utc_s;
		const struct lt_planned window =
		    lt_sim_window(loop, index, start_s);
		const struct lt_sim_ask ask =
		    lt_sim_ask_of(run, &run->trace->jobs[index]);

		const uint32_t at = of->booking_count++;

		lt_sim_market_request(
		    &asked->requests[at], run->market, &ask, now_utc_s);
		asked->jobs[at] = index;
		of->bookings[at] =
		    (struct lt_booking){.request = &asked->requests[at],
			.start_utc_s = start_s,
			.window = window};
	}
}

int
lt_sim_rearrange(
    struct lt_sim_loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	struct asked asked = {0};
	struct lt_rearrange of = {.market = lt_sim_market_of(loop->run->market),
	    .rounds = ROUNDS,
	    .seed = (uint64_t)now_utc_s,
	    .now_utc_s = now_utc_s};

	if (loop->waiting_count < 2 ||
	    loop->waiting_count + loop->event_count > LT_PLANNED_MAX)
		return LT_OK;
	if (make_room(&asked, loop)) {
		of.planned = asked.planned;
		of.bookings = asked.bookings;
		sort_out(&of, &asked, loop, now_utc_s);
		if (lt_rearrange(&of, err) == LT_OK)
			for (uint32_t i = 0; i < of.booking_count; i++)
				if (of.bookings[i].changed)
					loop->planned_utc_s[asked.jobs[i]] =
					    of.bookings[i].start_utc_s;
	} else {
		lt_fail(err, LT_ENOMEM, "bookings: no memory");
	}
	free(asked.planned);
	free(asked.jobs);
	free(asked.requests);
	free(asked.bookings);
	return err->code;
}
