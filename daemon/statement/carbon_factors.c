/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carbon_factors.h"
#include "charge.h"
#include "grow.h"

static bool
is_of(const struct lt_factor_series *s, const struct lt_rates_asked *asked)
{
	return s->rate == asked->rate &&
	       strcmp(s->partition, asked->partition) == 0;
}

/* NULL: no memory. */
static struct lt_factor_series *
series_of(struct lt_carbon_factors *f, const struct lt_rates_asked *asked)
{
	for (uint32_t i = 0; i < f->count; i++) {
		/* Runs of one partition follow each other. */
		const uint32_t at = (f->last + i) % f->count;

		if (is_of(&f->series[at], asked)) {
			f->last = at;
			return &f->series[at];
		}
	}
	struct lt_factor_series *const grown =
	    lt_items_grow(f->series, &f->capacity, f->count, sizeof(*grown));
	if (grown == NULL)
		return NULL;
	f->series = grown;
	f->last = f->count++;
	grown[f->last] = (struct lt_factor_series){
	    .rate = asked->rate, .span = {INT64_MAX, INT64_MIN}};
	snprintf(grown[f->last].partition, sizeof(grown[f->last].partition),
	    "%s", asked->partition);
	return &grown[f->last];
}

static int
load(struct lt_factor_series *s, const struct lt_carbon_factors *f,
    struct lt_span span, struct lt_error *err)
{
	const struct lt_span *const all[] = {&span, &f->period, &s->span};
	struct lt_rates_asked asked = {s->partition, s->rate, span};

	for (int i = 0; i < 3; i++) {
		if (all[i]->from_utc_s < asked.span.from_utc_s)
			asked.span.from_utc_s = all[i]->from_utc_s;
		if (all[i]->to_utc_s > asked.span.to_utc_s)
			asked.span.to_utc_s = all[i]->to_utc_s;
	}
	free(s->steps);
	s->steps = NULL;
	s->count = 0;
	s->span = asked.span;
	return lt_ledger_rates(f->ledger, &asked, &s->steps, &s->count, err);
}

/* The steps that touch the span; there is one, unless there is none at all. */
static struct lt_rates
steps_of(const struct lt_factor_series *s, struct lt_span span)
{
	uint32_t low = 0, high = s->count, end;

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (s->steps[middle].start_utc_s <= span.from_utc_s)
			low = middle;
		else
			high = middle;
	}
	for (end = low; end < s->count; end++)
		if (end > low && s->steps[end].start_utc_s >= span.to_utc_s)
			break;
	return (struct lt_rates){end - low, s->steps + low};
}

int
lt_factor_of(struct lt_factor *factor, struct lt_carbon_factors *factors,
    const struct lt_rates_asked *asked, struct lt_error *err)
{
	const struct lt_span span = asked->span;
	struct lt_factor_series *const s = series_of(factors, asked);

	*factor = (struct lt_factor){.source = ""};
	if (s == NULL)
		return lt_fail(err, LT_ENOMEM, "carbon: no memory");
	if (span.from_utc_s < s->span.from_utc_s ||
	    span.to_utc_s > s->span.to_utc_s) {
		const int rc = load(s, factors, span, err);

		if (rc != LT_OK)
			return rc;
	}
	if (s->count == 0 || span.from_utc_s >= span.to_utc_s)
		return LT_OK;
	const struct lt_rates rates = steps_of(s, span);
	const double sum = lt_rates_integral(
	    &rates, span.from_utc_s, span.to_utc_s, &factor->quality);

	factor->value = rates.count == 1
			    ? rates.steps[0].value
			    : sum / (double)(span.to_utc_s - span.from_utc_s);
	factor->source = rates.steps[0].source;
	factor->is_known = asked->rate == LT_RATE_CARBON ||
			   factor->quality == LT_QUALITY_CONSTANT;
	for (uint32_t i = 0; i < rates.count; i++) {
		const struct lt_rate_step *const step = &rates.steps[i];

		if (i == 0 || step->issued_utc_s < factor->first_issued_utc_s)
			factor->first_issued_utc_s = step->issued_utc_s;
		if (step->issued_utc_s > factor->issued_utc_s)
			factor->issued_utc_s = step->issued_utc_s;
		if (asked->rate == LT_RATE_MARKET_BASED && step->value < 0)
			factor->is_known = false;
	}
	return LT_OK;
}

void
lt_carbon_factors_free(struct lt_carbon_factors *factors)
{
	for (uint32_t i = 0; i < factors->count; i++)
		free(factors->series[i].steps);
	free(factors->series);
}
