/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_asked.h"

#include <stdlib.h>

#include "units.h"

enum { TREND_DAYS = 366 };

static int
by_time(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

bool
lt_report_cut(struct lt_report_asked *asked, const struct lt_period *period)
{
	const struct lt_account_moves *const moves = &asked->tree.moves;
	/* The period before it, and of a trend a year, are asked for, too. */
	const int64_t length = period->end_utc_s - period->start_utc_s;
	const int64_t back = asked->has_trend && length < TREND_DAYS * LT_DAY_S
				 ? TREND_DAYS * LT_DAY_S
				 : length + LT_DAY_S;
	const int64_t from_utc_s = period->start_utc_s - back;

	asked->cuts = calloc((size_t)moves->count + 1, sizeof(*asked->cuts));
	if (asked->cuts == NULL)
		return false;
	for (uint32_t i = 0; i < moves->count; i++)
		if (moves->list[i].until_utc_s > from_utc_s &&
		    moves->list[i].until_utc_s < period->end_utc_s)
			asked->cuts[asked->cut_count++] =
			    moves->list[i].until_utc_s;
	qsort(asked->cuts, asked->cut_count, sizeof(*asked->cuts), by_time);
	uint32_t n = 0;
	for (uint32_t i = 0; i < asked->cut_count; i++)
		if (n == 0 || asked->cuts[i] != asked->cuts[n - 1])
			asked->cuts[n++] = asked->cuts[i];
	asked->cut_count = n;
	return true;
}

struct lt_span
lt_report_cut_part(const struct lt_report_asked *asked, uint32_t part)
{
	return (struct lt_span){part > 0 ? asked->cuts[part - 1] : INT64_MIN,
	    part < asked->cut_count ? asked->cuts[part] : INT64_MAX};
}

void
lt_report_span_add(struct lt_span *span, struct lt_span part)
{
	if (span->from_utc_s == INT64_MAX)
		span->from_utc_s = part.from_utc_s;
	span->to_utc_s = part.to_utc_s;
}

struct lt_span
lt_report_asked_span(const struct lt_report_asked *asked, const char *account)
{
	struct lt_span span = LT_REPORT_NEVER;

	if (asked->team == NULL)
		return (struct lt_span){INT64_MIN, INT64_MAX};
	for (uint32_t i = 0; i <= asked->cut_count; i++) {
		const struct lt_span part = lt_report_cut_part(asked, i);

		if (lt_account_is_below(
			&asked->tree, account, asked->team, part.to_utc_s - 1))
			lt_report_span_add(&span, part);
	}
	return span;
}
