/*
 * A plan that moves a job from ondemand, now, to spot, at night: what the tests of its words
 * change. For one program each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan_text.h"

enum { NOW = 1795176000, HOUR = 3600 }; /* Friday 2026-11-20 12:00 UTC */
enum { ONDEMAND, SPOT, PARTITIONS };

static struct lt_series series;
static struct lt_partition partitions[PARTITIONS];
static struct lt_market market;
static struct lt_plan plan;
static struct lt_request request;

static int
setup(void **state)
{
	static const char *const names[] = {"ondemand", "spot"};

	(void)state;
	series = (struct lt_series){.quality = LT_QUALITY_FORECAST};
	for (int i = 0; i < PARTITIONS; i++) {
		partitions[i] = (struct lt_partition){.flags = LT_PARTITION_MANAGED,
		    .price_series = LT_NO_SERIES,
		    .tariff_series = LT_NO_SERIES};
		snprintf(partitions[i].name, LT_NAME_SIZE, "%s", names[i]);
	}
	market = (struct lt_market){.currency = "USD",
	    .zone = {.count = 1, .steps = {{INT64_MIN, 0, "GMT"}}},
	    .partition_count = PARTITIONS,
	    .series_count = 1,
	    .partitions = partitions,
	    .series = &series};
	plan = (struct lt_plan){.moved = true,
	    .objective = LT_OBJECTIVE_BALANCED,
	    .fits = true,
	    .chosen = {.partition = SPOT,
		.start_utc_s = NOW + 14 * HOUR,
		.end_utc_s = NOW + 21 * HOUR + 2400,
		.has_cost = true,
		.has_carbon = true,
		.cost_micros = 41200000,
		.carbon_mg = 3100000},
	    .home = {.partition = ONDEMAND,
		.start_utc_s = NOW,
		.end_utc_s = NOW + 7 * HOUR,
		.has_cost = true,
		.has_carbon = true,
		.cost_micros = 118400000,
		.carbon_mg = 7900000},
	    .candidate_count = PARTITIONS};
	plan.candidates[ONDEMAND] = (struct lt_candidate){LT_REJECT_DEARER, plan.home, 0, 0};
	plan.candidates[SPOT] = (struct lt_candidate){LT_REJECT_NONE, plan.chosen, 0, 0};
	request = (struct lt_request){.checkpoint = {.enabled = true}};
	return 0;
}

static inline void
stay(void)
{
	plan.moved = false;
	plan.chosen = plan.home;
}
