/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST /v1/plan: SPANK asks for the windows that no market has yet, and announces the plan that it
 * made with them. Plans are kept in memory for two minutes. A user may announce anything: it books
 * only what they could book with --begin, and counts for their own jobs. A malformed plan gets 400.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "daemon.h"
#include "occupancy.h"
#include "poll_schedule.h"
#include "units.h"

enum {
	MARKET_AFTER = 128, /* windows: a new market has their jobs */
	MARKET_LEAST_S = 10,
	FAR_DAYS = 366, /* a start */
};

/* The windows since, as [partition, millionths of a node, start, end]. */
static json_t *
windows_json(
    const struct lt_announced_state *state, const struct lt_announced_seen *seen, uint32_t *count)
{
	json_t *const list = json_array();
	const struct lt_announced *plan;
	uint32_t at = 0;

	*count = 0;
	while ((plan = lt_announced_next(&at, state, seen)) != NULL) {
		const struct lt_planned *const window = &plan->window;

		json_array_append_new(
		    list, json_pack("[s,I,I,I]", plan->partition,
			      (json_int_t)llround((double)window->nodes * LT_MICROS),
			      (json_int_t)window->start_utc_s, (json_int_t)window->end_utc_s));
		++*count;
	}
	return list;
}

/* False for a window that no partition has room for, or for which nobody could wait. A window is
 * cut at the end of the days that are looked at. */
static bool
is_window(struct lt_planned *window, const struct lt_partition *partition, int64_t now_utc_s)
{
	static const int64_t most_s = LT_OCCUPANCY_DAYS * LT_DAY_S;

	if (!(window->nodes > 0 && window->nodes <= (float)partition->node_count) ||
	    window->start_utc_s < now_utc_s - LT_DAY_S ||
	    window->start_utc_s > now_utc_s + FAR_DAYS * (int64_t)LT_DAY_S ||
	    window->end_utc_s <= window->start_utc_s)
		return false;
	if (window->end_utc_s - window->start_utc_s > most_s)
		window->end_utc_s = window->start_utc_s + most_s;
	return true;
}

/* Takes only the wishes from the quote, and the fields that identify its job. */
static void
take_quote(struct lt_announced *plan, const struct lt_quote *quote)
{
	static const uint32_t flags = LT_QUOTE_CHECKPOINT | LT_QUOTE_PLANE;

	memcpy(plan->account, quote->account, sizeof(plan->account));
	memcpy(plan->partition, quote->partition, sizeof(plan->partition));
	memcpy(plan->home, quote->home, sizeof(plan->home));
	plan->start_utc_s = quote->plan_start_utc_s;
	/* A user's text may have any two numbers. */
	if (__builtin_sub_overflow(quote->end_utc_s, quote->start_utc_s, &plan->limit_s))
		plan->limit_s = 0;
	plan->tasks = quote->tasks;
	plan->objective = quote->objective;
	plan->flags = quote->flags & flags;
	plan->wish = quote->wish;
}

static int
make_plan(struct lt_announced *plan, const struct lt_daemon *d,
    const struct lt_api_request *request, const char *text, json_t **reply)
{
	struct lt_quote quote;
	struct lt_error err = {0};
	json_int_t nodes_ppm = 0, start = 0, end = 0;

	if (json_unpack(request->body, "{s:I,s:I,s:I}", "nodes_ppm", &nodes_ppm, "start", &start,
		"end", &end) != 0)
		return lt_api_error(reply, 400,
		    "plan: want generation, seen, and with quote also nodes_ppm, start, end");
	if (lt_quote_unpack(&quote, text, strlen(text), &err) != LT_OK)
		return lt_api_error(reply, 400, "quote: %s", err.text);
	if (!quote.wish.known || quote.objective == LT_OBJECTIVE_OFF)
		return lt_api_error(reply, 400, "quote: it does not say what was asked");
	take_quote(plan, &quote);
	plan->window = (struct lt_planned){.nodes = (float)((double)nodes_ppm / LT_MICROS),
	    .start_utc_s = start,
	    .end_utc_s = end};
	const int partition = lt_market_partition(&d->site.market, plan->partition);
	if (partition < 0 || lt_market_partition(&d->site.market, plan->home) < 0 ||
	    !is_window(&plan->window, &d->site.market.partitions[partition], request->now_utc_s))
		return lt_api_error(
		    reply, 400, "plan: no window of partition %s that could be", plan->partition);
	return 200;
}

/* slurmctld is to be asked for the job that comes of it. */
static void
look_for_it(struct lt_daemon *d)
{
	if (lt_poll_singly(&d->jobs))
		d->jobs.unseen++;
}

static int
book(struct lt_daemon *d, const struct lt_api_request *request, struct lt_announced *plan,
    json_t **reply)
{
	struct lt_error err = {0};

	if (lt_announced_add(&d->announced, plan, request->now_utc_s, &err) != LT_OK)
		return lt_api_error(reply, 503, "plan: %s", err.text);
	look_for_it(d);
	*reply = json_pack("{s:b}", "booked", true);
	return 200;
}

int
lt_api_plan(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	struct lt_announced plan = {0};
	struct lt_announced_seen seen = {.now_utc_s = request->now_utc_s};
	json_int_t generation = 0, sequence = 0;
	const char *quote = NULL;
	uint32_t count;
	int status = lt_access_whose(request, &plan.uid, reply);

	if (status != 200)
		return status;
	if (!d->site.has_market || !d->acting)
		return lt_api_error(reply, 503, "no market here");
	if (json_unpack(request->body, "{s:I,s:I,s?s}", "generation", &generation, "seen",
		&sequence, "quote", &quote) != 0 ||
	    generation < 0 || sequence < 0)
		return lt_api_error(reply, 400, "plan: want generation and seen, at least 0");
	if (quote != NULL)
		status = make_plan(&plan, d, request, quote, reply);
	if (status != 200)
		return status;
	seen.generation = (uint64_t)generation;
	seen.sequence = (uint64_t)sequence;
	json_t *const list = windows_json(&d->announced, &seen, &count);
	if (quote != NULL && count == 0) {
		json_decref(list);
		return book(d, request, &plan, reply);
	}
	if (count > MARKET_AFTER &&
	    request->now_utc_s - d->site.market.compiled_utc_s >= MARKET_LEAST_S)
		d->site.next.market = 0;
	*reply = json_pack("{s:b,s:I,s:o}", "booked", false, "seen",
	    (json_int_t)d->announced.sequence, "planned", list);
	return 200;
}
