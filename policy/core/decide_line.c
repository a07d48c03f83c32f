/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job that stays where it would go by itself, behind others. When the line
 * ends is known by time limits, which are too long: the job may start at any
 * hour until then, and Slurm asks nobody before it does. So either the expected
 * start becomes its begin time, or its figures are those of all these hours.
 */
#include <math.h>

#include "decide_internal.h"

enum { LOOKS = 96 }; /* at the line: every quarter of an hour of a day */

static void
widen(struct lt_line *line, const struct lt_estimate *at)
{
	if (!line->known || at->cost_micros < line->least_micros)
		line->least_micros = at->cost_micros;
	if (!line->known || at->cost_micros > line->most_micros)
		line->most_micros = at->cost_micros;
	if (!line->known || at->carbon_mg < line->least_mg)
		line->least_mg = at->carbon_mg;
	if (!line->known || at->carbon_mg > line->most_mg)
		line->most_mg = at->carbon_mg;
	line->known = true;
}

void
lt_decision_line(const struct decision *decision)
{
	struct lt_line *const line = &decision->plan->line;
	const int64_t from_utc_s = decision->job.earliest_utc_s;
	const int64_t length_s = decision->home_utc_s - from_utc_s;
	double worst = -INFINITY;

	*line = (struct lt_line){.waits = true};
	if (!decision->home_queued || length_s <= 0)
		return;
	for (int64_t i = 0; i <= LOOKS; i++) {
		const int64_t start_utc_s = from_utc_s + length_s * i / LOOKS;
		struct lt_estimate at;

		lt_lane_estimate(&at, &decision->home, start_utc_s);
		widen(line, &at);
		worst = fmax(
		    worst, lt_score_at(decision, &decision->home, start_utc_s));
	}
	const double saved = worst - lt_score_at(decision, &decision->home,
					 decision->home_utc_s);
	const double least =
	    fabs(worst) * decision->job.market->min_saving_ppm / LT_MICROS;

	line->waits = !(saved > fmax(least, lt_score_tolerance(worst)));
}
