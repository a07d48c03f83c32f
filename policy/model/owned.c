/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owned nodes: integrals over their steps. Pure. A sum that passes its range is LT_EOVERFLOW; a
 * price that was not known leaves has_micros false.
 */
#include "owned.h"

#include <math.h>

#include "charge.h"
#include "units.h"

static bool
is_owned(const struct lt_rate_step *step)
{
	return step->quality == LT_QUALITY_CONSTANT && step->value != LT_RATE_ENDED;
}

/* Returns the part of the span in which a step has nodes of the site's; from == to: none. */
static struct lt_span
owned_part(const struct lt_rate_step *step, struct lt_span span)
{
	if (!is_owned(step) || step->end_utc_s < span.from_utc_s ||
	    step->start_utc_s > span.to_utc_s)
		return (struct lt_span){span.from_utc_s, span.from_utc_s};
	if (step->start_utc_s > span.from_utc_s)
		span.from_utc_s = step->start_utc_s;
	if (step->end_utc_s < span.to_utc_s)
		span.to_utc_s = step->end_utc_s;
	return span;
}

int64_t
lt_owned_s(const struct lt_rates *nodes, struct lt_span span)
{
	int64_t sum_s = 0;

	for (uint32_t i = 0; span.from_utc_s < span.to_utc_s && i < nodes->count; i++) {
		const struct lt_span part = owned_part(&nodes->steps[i], span);

		sum_s += part.to_utc_s - part.from_utc_s;
	}
	return sum_s;
}

uint32_t
lt_owned_times(struct lt_rate_step *steps, uint32_t count)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!is_owned(&steps[i]))
			continue;
		if (used > 0 && steps[used - 1].end_utc_s == steps[i].start_utc_s)
			steps[used - 1].end_utc_s = steps[i].end_utc_s;
		else
			steps[used++] = steps[i];
	}
	return used;
}

/* True if a price was known in the span. A first price counts for the time before it, too; one that
 * came after the end of the span does not, or the figures of a closed period would change. */
static bool
is_known(const struct lt_rates *price, struct lt_span span)
{
	return price->count > 1 ||
	       (price->count == 1 && (price->steps[0].quality != LT_QUALITY_ESTIMATED ||
					 price->steps[0].start_utc_s < span.from_utc_s));
}

int
lt_owned_paid(struct lt_owned_paid *paid, const struct lt_rates *nodes,
    const struct lt_rates *price, struct lt_span span, struct lt_error *err)
{
	enum lt_quality any = LT_QUALITY_NONE;
	double node_s = 0, micros = 0;

	*paid = (struct lt_owned_paid){.has_micros = is_known(price, span)};
	for (uint32_t i = 0; span.from_utc_s < span.to_utc_s && i < nodes->count; i++) {
		const struct lt_rate_step *const step = &nodes->steps[i];
		const struct lt_span part = owned_part(step, span);

		if (part.from_utc_s == part.to_utc_s)
			continue;
		if (paid->from_utc_s == paid->to_utc_s)
			paid->from_utc_s = part.from_utc_s;
		paid->to_utc_s = part.to_utc_s;
		node_s += step->value * (double)(part.to_utc_s - part.from_utc_s);
		micros += step->value *
			  lt_rates_integral(price, part.from_utc_s, part.to_utc_s, &any) /
			  LT_HOUR_S;
	}
	if (node_s >= (double)INT64_MAX || fabs(micros) >= (double)INT64_MAX)
		return lt_fail(err, LT_EOVERFLOW, "owned nodes: a sum passes its range");
	paid->node_s = llround(node_s);
	paid->micros = paid->has_micros ? llround(micros) : 0;
	return LT_OK;
}
