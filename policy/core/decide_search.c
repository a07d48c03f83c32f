/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches one lane for its best start and for its earliest start that is good enough. Cost is
 * piecewise linear in the start. So only those starts count where the window's start or end meets a
 * step, or where a condition is just met between two of these. Whole lanes and blocks of starts are
 * skipped by a lower bound of the integrals of their windows.
 *
 * Reads a lane's series and spans; writes the start that was found. Pure; without a better start,
 * what was found before stays.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "decide_internal.h"

/* ---- Lower bounds ---- */

/* Returns the least integral over all windows of that length within a series: a window is days, a
 * part of one and a rest, and each of these has at least the least of its length. */
static double
least_within(const struct lt_series *series, int64_t length_s)
{
	double least = (double)(length_s / LT_DAY_S) * series->window_min[0];

	length_s %= LT_DAY_S;
	for (int i = 1; i < LT_SERIES_WINDOWS; i++) {
		const int64_t window_s = LT_DAY_S >> i;

		if (length_s < window_s)
			continue;
		least += series->window_min[i];
		length_s -= window_s;
	}
	return least + (double)length_s / LT_HOUR_S * series->min_value;
}

/* A lower bound of all windows up to the latest start. */
void
lt_lane_least(struct lane *lane, const struct job *job)
{
	const int64_t end_utc_s = lane->latest_utc_s + lane->lengths_s[lane->length_count - 1];

	for (int t = 0; t < TERM_COUNT; t++) {
		const struct lt_series *const series = lane->series[t];
		double sum = 0;

		if (series == NULL)
			continue;
		/* Windows that reach out of the series are not known. */
		if (series->start_utc_s[0] > job->earliest_utc_s ||
		    end_utc_s > series->start_utc_s[series->count]) {
			lane->least[t] = lane->mean_h * series->min_value;
			continue;
		}
		for (uint32_t i = 0; i < lane->length_count; i++)
			sum += least_within(series, lane->lengths_s[i]);
		lane->least[t] = sum * lane->length_part;
	}
}

enum {
	/* Blocks with at most so many steps are walked, larger ones halved. */
	WALK_STEPS = 12,
};

/* ---- Search in one lane ---- */

/* One start, with the steps that its window's ends lie in. */
struct edge {
	int64_t start_utc_s;
	uint32_t first[TERM_COUNT], last[LANE_LENGTHS][TERM_COUNT];
	/* Integrals up to the window's start and end. */
	double before[TERM_COUNT], until[TERM_COUNT];
	double score; /* of visit() */
};

static double
hours(int64_t seconds)
{
	return (double)seconds / LT_HOUR_S;
}

static double
integral_to(const struct lt_series *series, uint32_t i, int64_t utc_s)
{
	return series->integral[i] + series->value[i] * hours(utc_s - series->start_utc_s[i]);
}

static void
fill_integrals(struct edge *edge, const struct lane *lane)
{
	for (int t = 0; t < TERM_COUNT; t++) {
		if (lane->series[t] == NULL)
			continue;
		edge->before[t] = integral_to(lane->series[t], edge->first[t], edge->start_utc_s);
		double until = integral_to(
		    lane->series[t], edge->last[0][t], edge->start_utc_s + lane->lengths_s[0]);

		for (uint32_t e = 1; e < lane->length_count; e++)
			until += integral_to(lane->series[t], edge->last[e][t],
			    edge->start_utc_s + lane->lengths_s[e]);
		edge->until[t] = until * lane->length_part;
	}
}

/* Makes an edge. Entries of a term without a series stay unset and are not read: to clear each edge
 * first takes a tenth of a decision. */
static struct edge
edge_at(const struct lane *lane, int64_t start_utc_s)
{
	struct edge edge;

	edge.start_utc_s = start_utc_s;

	for (int t = 0; t < TERM_COUNT; t++) {
		if (lane->series[t] == NULL)
			continue;
		edge.first[t] = lt_series_index(lane->series[t], start_utc_s);
		for (uint32_t e = 0; e < lane->length_count; e++)
			edge.last[e][t] =
			    lt_series_index(lane->series[t], start_utc_s + lane->lengths_s[e]);
	}
	fill_integrals(&edge, lane);
	return edge;
}

/* The same, between two others. */
static struct edge
edge_between(
    const struct lane *lane, int64_t start_utc_s, const struct edge *a, const struct edge *b)
{
	struct edge edge;

	edge.start_utc_s = start_utc_s;

	for (int t = 0; t < TERM_COUNT; t++) {
		if (lane->series[t] == NULL)
			continue;
		edge.first[t] =
		    lt_series_index_in(lane->series[t], start_utc_s, a->first[t], b->first[t]);
		for (uint32_t e = 0; e < lane->length_count; e++)
			edge.last[e][t] = lt_series_index_in(lane->series[t],
			    start_utc_s + lane->lengths_s[e], a->last[e][t], b->last[e][t]);
	}
	fill_integrals(&edge, lane);
	return edge;
}

static double
value_at(const struct search *search, const struct linear *linear, const struct edge *edge)
{
	double sum = linear->constant +
		     linear->per_s *
			 (double)(edge->start_utc_s + search->lane->length_s - search->now_utc_s);

	for (uint32_t k = 0; k < search->term_count; k++) {
		const uint32_t t = search->terms[k];

		sum += linear->weight[t] * (edge->until[t] - edge->before[t]);
	}
	return sum;
}

static bool
caps_hold(const struct search *search, const struct edge *edge)
{
	const struct aim *const aim = search->aim;

	for (uint32_t i = 0; i < aim->cap_count; i++)
		if (value_at(search, &aim->caps[i].value, edge) > aim->caps[i].limit)
			return false;
	return true;
}

/* Look at one start. */
static void
visit(struct search *search, struct edge *edge)
{
	const double score = edge->score = value_at(search, &search->aim->score, edge);

	if (search->seen != NULL && (!search->seen->any || score < search->seen->score))
		*search->seen = (struct found){true, edge->start_utc_s, score};
	if (search->earliest
		? !(score <= search->limit &&
		      (!search->found->any || edge->start_utc_s < search->found->start_utc_s))
		: !(score < search->limit))
		return;
	if (!caps_hold(search, edge)) {
		search->capped = true;
		return;
	}
	*search->found = (struct found){true, edge->start_utc_s, score};
	if (!search->earliest)
		search->limit = score;
}

/* Returns the least value of the steps first to last, or a little less: whole blocks are asked,
 * which costs less than a closer bound would save. */
static double
least_of(const struct lt_series *series, uint32_t first, uint32_t last)
{
	double least = series->block_min[first / LT_SERIES_BLOCK];

	for (uint32_t i = first / LT_SERIES_BLOCK + 1; i <= last / LT_SERIES_BLOCK; i++)
		least = series->block_min[i] < least ? series->block_min[i] : least;
	return least;
}

/* Mean over the lengths of the least rate where their windows end. */
static double
least_at_ends(const struct lane *lane, int term, const struct edge *a, const struct edge *b)
{
	double sum = 0;

	for (uint32_t e = 0; e < lane->length_count; e++)
		sum += least_of(lane->series[term], a->last[e][term], b->last[e][term]);
	return sum * lane->length_part;
}

/*
 * Every window that starts in [a, b] covers [b, a + length] and beside it
 * b - a seconds near a and near a + length, at least at the least rate there.
 * Holds for negative rates too. Weights are never negative.
 */
static double
bound(const struct search *search, const struct linear *linear, const struct edge *a,
    const struct edge *b)
{
	const struct lane *lane = search->lane;
	const int64_t width_s = b->start_utc_s - a->start_utc_s;
	const double width_h = hours(width_s);
	const uint32_t longest = lane->length_count - 1;
	double sum = linear->constant +
		     linear->per_s * (double)(a->start_utc_s + lane->length_s - search->now_utc_s);

	for (int t = 0; t < TERM_COUNT; t++) {
		const struct lt_series *series = lane->series[t];

		if (series == NULL || !(linear->weight[t] > 0))
			continue;
		if (width_s < lane->lengths_s[0]) {
			const double first = least_of(series, a->first[t], b->first[t]);
			const double last = least_at_ends(lane, t, a, b);

			sum += linear->weight[t] * (a->until[t] - b->before[t] +
						       width_h * (first < last ? first : last));
		} else {
			sum += linear->weight[t] * lane->mean_h *
			       least_of(series, a->first[t], b->last[longest][t]);
		}
	}
	return sum;
}

/* True if no start between a and b can be of interest. score: of bound(). */
static bool
hopeless(struct search *search, double score, const struct edge *a, const struct edge *b)
{
	if (search->earliest
		? score > search->limit || b->start_utc_s <= search->none_before_utc_s ||
		      (search->found->any && a->start_utc_s >= search->found->start_utc_s)
		: score >= search->limit)
		return true;
	for (uint32_t i = 0; i < search->aim->cap_count; i++)
		if (bound(search, &search->aim->caps[i].value, a, b) > search->aim->caps[i].limit) {
			search->capped = true;
			return true;
		}
	return false;
}

/* The start nearest after edge where a window's end meets a step; the steps that are met are
 * entered in edge. */
static void
step_on(struct edge *edge, const struct lane *lane)
{
	int64_t next_s = INT64_MAX;

	for (int t = 0; t < TERM_COUNT; t++) {
		const struct lt_series *series = lane->series[t];
		int64_t at_s;

		if (series == NULL)
			continue;
		/* The first step is in force before its own start too. */
		at_s = series->start_utc_s[edge->first[t] + 1];
		if (edge->first[t] + 1 < series->count && at_s < next_s)
			next_s = at_s;
		for (uint32_t e = 0; e < lane->length_count; e++) {
			at_s = series->start_utc_s[edge->last[e][t] + 1] - lane->lengths_s[e];
			if (edge->last[e][t] + 1 < series->count && at_s < next_s)
				next_s = at_s;
		}
	}
	edge->start_utc_s = next_s;
	if (next_s == INT64_MAX)
		return;
	for (int t = 0; t < TERM_COUNT; t++) {
		const struct lt_series *series = lane->series[t];

		if (series == NULL)
			continue;
		if (edge->first[t] + 1 < series->count &&
		    series->start_utc_s[edge->first[t] + 1] <= next_s)
			edge->first[t]++;
		for (uint32_t e = 0; e < lane->length_count; e++)
			if (edge->last[e][t] + 1 < series->count &&
			    series->start_utc_s[edge->last[e][t] + 1] <=
				next_s + lane->lengths_s[e])
				edge->last[e][t]++;
	}
}

struct part {			     /* of all seconds between two starts, where conditions hold */
	double from_s, to_s;	     /* whole ones after the first, both too */
	bool not_before, not_behind; /* there is one that does not */
};

/* Only where a value is at most the limit that is linear between both. */
static void
narrow(struct part *part, double width_s, double first, double last, double limit)
{
	part->not_before |= first > limit;
	part->not_behind |= last > limit;
	if (first > limit && last > limit)
		part->to_s = 0;
	if ((first > limit) == (last > limit))
		return;
	const double met_s = width_s * ((limit - first) / (last - first));

	if (first > limit)
		part->from_s = fmax(part->from_s, ceil(met_s));
	else
		part->to_s = fmin(part->to_s, floor(met_s));
}

/* Where all conditions are just met; by rounding that may be a second on. */
static void
visit_met(struct search *search, const struct edge *a, const struct edge *b, int64_t after_s,
    int64_t on_s)
{
	struct edge edge = edge_at(search->lane, a->start_utc_s + after_s);

	if (!caps_hold(search, &edge) && edge.start_utc_s + on_s > a->start_utc_s &&
	    edge.start_utc_s + on_s < b->start_utc_s)
		edge = edge_at(search->lane, edge.start_utc_s + on_s);
	visit(search, &edge);
}

/* a and b were visited and have no step between them, so that all that counts is linear there. */
static void
visit_between(struct search *search, const struct edge *a, const struct edge *b)
{
	const struct aim *const aim = search->aim;
	const int64_t width_s = b->start_utc_s - a->start_utc_s;
	struct part part = {.from_s = 1, .to_s = (double)(width_s - 1)};

	if (fmin(a->score, b->score) > search->limit)
		return;
	for (uint32_t i = 0; i < aim->cap_count; i++)
		narrow(&part, (double)width_s, value_at(search, &aim->caps[i].value, a),
		    value_at(search, &aim->caps[i].value, b), aim->caps[i].limit);
	if (part.from_s > part.to_s)
		return;
	if (part.not_before)
		visit_met(search, a, b, (int64_t)part.from_s, 1);
	if (part.not_behind)
		visit_met(search, a, b, (int64_t)part.to_s, -1);
}

/* Visit all steps strictly between a and b, in order, and what counts between two of them. */
static void
walk_steps(struct search *search, const struct edge *a, const struct edge *b)
{
	const bool has_caps = search->aim->cap_count > 0;
	struct edge before = *a, edge = *a;

	for (;;) {
		step_on(&edge, search->lane);
		if (edge.start_utc_s >= b->start_utc_s)
			break;
		fill_integrals(&edge, search->lane);
		visit(search, &edge);
		if (has_caps)
			visit_between(search, &before, &edge);
		if (search->earliest && search->found->any &&
		    search->found->start_utc_s <= edge.start_utc_s)
			return;
		if (has_caps)
			before = edge;
	}
	if (has_caps)
		visit_between(search, &before, b);
}

/* A step in the middle of the series with most steps between a and b. False when there are few. */
static bool
middle_of(
    int64_t *start_utc_s, const struct search *search, const struct edge *a, const struct edge *b)
{
	uint32_t steps = 0, most = 0;

	for (int t = 0; t < TERM_COUNT; t++) {
		const struct lt_series *series = search->lane->series[t];
		uint32_t count;

		if (series == NULL)
			continue;
		count = b->first[t] - a->first[t];
		steps += count;
		if (count > most) {
			most = count;
			*start_utc_s = series->start_utc_s[a->first[t] + (count + 1) / 2];
		}
		for (uint32_t e = 0; e < search->lane->length_count; e++) {
			count = b->last[e][t] - a->last[e][t];
			steps += count;
			if (count > most) {
				most = count;
				*start_utc_s =
				    series->start_utc_s[a->last[e][t] + (count + 1) / 2] -
				    search->lane->lengths_s[e];
			}
		}
	}
	return steps > WALK_STEPS;
}

/*
 * All starts strictly between a and b, which were visited. Each call halves
 * the steps of the longest series, so that the depth is at most
 * 2 x TERM_COUNT x log2(LT_STEPS_MAX) = 72.
 */
static void
search_between(struct search *search, const struct edge *a, const struct edge *b)
{
	const struct linear *score = &search->aim->score;
	struct edge middle;
	int64_t middle_utc_s = 0;
	double left, right;

	if (!middle_of(&middle_utc_s, search, a, b)) {
		walk_steps(search, a, b);
		return;
	}
	middle = edge_between(search->lane, middle_utc_s, a, b);
	visit(search, &middle);
	left = bound(search, score, a, &middle);
	right = bound(search, score, &middle, b);
	/* The better half first: it may rule the other one out. */
	if (search->earliest || left <= right) {
		if (!hopeless(search, left, a, &middle))
			search_between(search, a, &middle);
		if (!hopeless(search, right, &middle, b))
			search_between(search, &middle, b);
	} else {
		if (!hopeless(search, right, &middle, b))
			search_between(search, &middle, b);
		if (!hopeless(search, left, a, &middle))
			search_between(search, a, &middle);
	}
}

void
lt_search_lane(struct search *search)
{
	const struct lane *lane = search->lane;

	assert(search->aim->cap_count <= CAPS_MAX);
	assert(lane->first_span + lane->span_count <= SPANS_MAX);
	assert(!search->earliest || search->found->any);

	search->term_count = 0;
	for (uint32_t t = 0; t < TERM_COUNT; t++)
		if (lane->series[t] != NULL)
			search->terms[search->term_count++] = t;
	for (uint32_t i = 0; i < lane->span_count; i++) {
		const struct span *span = &search->spans->list[lane->first_span + i];
		struct edge a = edge_at(lane, span->from_utc_s);
		struct edge b = edge_at(lane, span->to_utc_s);

		visit(search, &a);
		visit(search, &b);
		if (!hopeless(search, bound(search, &search->aim->score, &a, &b), &a, &b))
			search_between(search, &a, &b);
		if (search->earliest && search->found->any &&
		    search->found->start_utc_s <= span->to_utc_s)
			return;
	}
}

static bool
same_steps(const struct lt_series *a, const struct lt_series *b)
{
	if (a == b)
		return true;
	return a != NULL && b != NULL && a->count == b->count &&
	       memcmp(a->start_utc_s, b->start_utc_s, a->count * sizeof(a->start_utc_s[0])) == 0;
}

bool
lt_search_same(const struct search *search, const struct search *other)
{
	const struct lane *const lane = search->lane, *const that = other->lane;
	const struct linear *const score = &search->aim->score;
	const struct linear *const its = &other->aim->score;

	if (lane->length_s != that->length_s || lane->length_count != that->length_count ||
	    memcmp(lane->lengths_s, that->lengths_s,
		lane->length_count * sizeof(lane->lengths_s[0])) != 0 ||
	    lane->span_count != that->span_count || score->constant != its->constant ||
	    score->per_s != its->per_s)
		return false;
	for (int t = 0; t < TERM_COUNT; t++)
		if (score->weight[t] != its->weight[t] ||
		    (score->weight[t] > 0 && lane->series[t] != that->series[t]) ||
		    (search->earliest && !same_steps(lane->series[t], that->series[t])))
			return false;
	for (uint32_t i = 0; i < lane->span_count; i++) {
		const struct span *const a = &search->spans->list[lane->first_span + i];
		const struct span *const b = &search->spans->list[that->first_span + i];

		if (a->from_utc_s != b->from_utc_s || a->to_utc_s != b->to_utc_s)
			return false;
	}
	return true;
}

double
lt_search_bound(
    const struct lane *lane, const struct linear *linear, int64_t now_utc_s, int64_t earliest_utc_s)
{
	double sum = linear->constant +
		     linear->per_s * (double)(earliest_utc_s + lane->length_s - now_utc_s);

	for (int t = 0; t < TERM_COUNT; t++)
		if (lane->series[t] != NULL && linear->weight[t] > 0)
			sum += linear->weight[t] * lane->least[t];
	return sum;
}
