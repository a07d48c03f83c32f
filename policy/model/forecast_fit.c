/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ridge regression at each lead of a table, reweighted so that
 * absolute errors become least; docs/model.md, eq. (31).
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast_fit.h"
#include "units.h"

enum {
	DAY = 24,
	YEAR_DAYS = 365,
	SIGNS = LT_SIGN_COUNT,
	HOURS = LT_FIT_DAYS * DAY,
	WINDOW = LT_FORECAST_MEAN_DAYS * DAY,
	ASIDE = 2,  /* hours before and after now's: of these days, too */
	STARTS = 3, /* a day */
	NEAR = 3,   /* leads of a knot: it, and one on either side */
	PASSES = 3,
	DAYS_MIN = 30,	     /* of starts; fewer fit nothing */
	OPERATOR_HOURS = 48, /* ahead: the end of tomorrow */
	VIEWS = LT_FIT_DAYS * STARTS,
	SAMPLES = VIEWS * NEAR,
};

static const int leads[LT_FIT_KNOTS] = {1, 2, 3, 6, 9, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72,
    78, 84, 90, 96, 108, 120, 132, 144, 156, 168, 180, 192};
/* A weight is worth this share of its sign's variance, over a year. */
static const double ridge = 0.03;
/* Errors below this share of the usual one weigh no more. */
static const double residual_min = 0.1;

/* Four weeks know the next hours as well as a year does: as far ahead as this (hours) both count
 * the same, after a year; with the operator's forecasts at once, for that fit begins with the
 * others'. */
static const double half_trust[LT_FIT_KINDS] = {6, 2, 2};

/* The operator's forecasts count where they leave this share of the error. */
static const double helps = 0.95;

static const int sign_counts[LT_FIT_KINDS] = {LT_SIGN_WEATHER, LT_SIGN_OPERATOR, SIGNS};

struct work {
	struct lt_hours hours;
	struct lt_view *views; /* VIEWS */
	int view_count, days[LT_FIT_KINDS];
	float (*signs)[SIGNS]; /* SAMPLES */
	float *wanted;
	int sample_count; /* the newest first */
};

static double
square_of(double value)
{
	return value * value;
}

/* Half-width of the samples around a knot. */
static int
reach_of(int knot)
{
	return knot < 3 ? 0 : (leads[knot] - leads[knot - 1]) / 3;
}

static void
take_sample(struct work *work, const struct lt_view *view, int lead, int kind)
{
	const int then = view->at + lead;
	double signs[SIGNS];
	bool known[LT_FIT_KINDS];

	if (lead < 1 || then >= HOURS || isnan(work->hours.values[then]))
		return;
	lt_view_signs(view, lead, signs, known);
	if (!known[kind])
		return;
	const int i = work->sample_count++;
	for (int k = 0; k < SIGNS; k++)
		work->signs[i][k] = k < sign_counts[kind] ? (float)signs[k] : 0;
	work->wanted[i] = (float)(work->hours.values[then] - lt_view_mean(view, lead));
}

static void
take_samples(struct work *work, int knot, int kind)
{
	work->sample_count = 0;
	for (int i = 0; i < work->view_count; i++) {
		take_sample(work, &work->views[i], leads[knot], kind);
		if (reach_of(knot) == 0)
			continue;
		take_sample(work, &work->views[i], leads[knot] - reach_of(knot), kind);
		take_sample(work, &work->views[i], leads[knot] + reach_of(knot), kind);
	}
}

/* Gauss; a is symmetric and positive definite, its lower half given. The result is in b. */
static void
solve_weights(double a[SIGNS][SIGNS], double b[SIGNS], int count)
{
	for (int i = 0; i < count; i++)
		for (int k = i + 1; k < count; k++)
			a[i][k] = a[k][i];
	for (int i = 0; i < count; i++)
		for (int row = i + 1; row < count; row++) {
			const double factor = a[row][i] / a[i][i];

			for (int k = i; k < count; k++)
				a[row][k] -= factor * a[i][k];
			b[row] -= factor * b[i];
		}
	for (int i = count - 1; i >= 0; i--) {
		for (int k = i + 1; k < count; k++)
			b[i] -= a[i][k] * b[k];
		b[i] /= a[i][i];
	}
}

struct sums {
	double a[SIGNS][SIGNS], b[SIGNS];
	double weight;
};

static void
add_sample(struct sums *sums, const float *signs, int count, const double values[2])
{
	const double wanted = values[0], weight = values[1];

	for (int k = 0; k < count; k++) {
		const double part = weight * signs[k];

		for (int m = 0; m <= k; m++)
			sums->a[k][m] += part * signs[m];
		sums->b[k] += part * wanted;
	}
	sums->weight += weight;
}

/* Least variance of a sign. Nights teach little about the sun: signs that were nearly 0 get no
 * large weight. The units of weather are known. */
static double
least_size(int sign)
{
	return sign < LT_SIGN_WEATHER ? 1e-12 : sign < LT_SIGN_OPERATOR ? 1 : 1e-4;
}

static double
left_of(const struct work *work, int i, const double weights[SIGNS])
{
	double left = work->wanted[i];

	for (int k = 0; k < SIGNS; k++)
		left -= weights[k] * work->signs[i][k];
	return left;
}

/* One pass over the samples but the first `skip`, from the weights of the
 * pass before. */
static void
fit_pass(const struct work *work, int kind, int skip, bool is_first, double weights[SIGNS])
{
	const int count = sign_counts[kind], used = work->sample_count - skip;
	struct sums sums = {.weight = 0};
	double usual = 0, size[SIGNS] = {0};

	for (int i = skip; i < work->sample_count; i++) {
		usual += fabs(work->wanted[i]) / used;
		for (int k = 0; k < count; k++)
			size[k] += (double)work->signs[i][k] * work->signs[i][k] / used;
	}
	if (usual <= 0) {
		memset(weights, 0, (size_t)count * sizeof(*weights));
		return;
	}
	for (int i = skip; i < work->sample_count; i++) {
		const double far = fmax(fabs(left_of(work, i, weights)), residual_min * usual);

		add_sample(&sums, work->signs[i], count,
		    (const double[2]){work->wanted[i], 1 / (is_first ? usual : far)});
	}
	for (int k = 0; k < count; k++)
		sums.a[k][k] += sums.weight * fmax(size[k], least_size(k)) * ridge *
				fmax(1, (double)YEAR_DAYS / work->days[kind]);
	solve_weights(sums.a, sums.b, count);
	memcpy(weights, sums.b, (size_t)count * sizeof(*weights));
}

static void
fit_samples(const struct work *work, int kind, int skip, double weights[SIGNS])
{
	memset(weights, 0, SIGNS * sizeof(*weights));
	for (int pass = 0; pass < PASSES; pass++)
		fit_pass(work, kind, skip, pass == 0, weights);
}

static bool
fit_kind(struct lt_forecast_fit *fit, struct work *work, int kind)
{
	for (int knot = 0; knot < LT_FIT_KNOTS; knot++) {
		double weights[SIGNS];

		take_samples(work, knot, kind);
		if (work->sample_count < DAYS_MIN * STARTS)
			return false;
		fit_samples(work, kind, 0, weights);
		for (int k = 0; k < SIGNS; k++)
			fit->weights[kind][knot][k] = (float)weights[k];
	}
	return true;
}

/* Fits what the other fits leave, over the hours for which its signs are known; false where it did
 * not help in the newest third of them, fitted to the others. */
static bool
fit_operator(struct lt_forecast_fit *fit, struct work *work)
{
	const int base =
	    fit->is_fitted[LT_FIT_WITH] && fit->days[LT_FIT_WITH] >= fit->days[LT_FIT_WITHOUT] / 2
		? LT_FIT_WITH
		: LT_FIT_WITHOUT;
	double off_before = 0, off_after = 0;

	for (int knot = 0; leads[knot] <= OPERATOR_HOURS; knot++) {
		double start[SIGNS], weights[SIGNS];

		take_samples(work, knot, LT_FIT_OPERATOR);
		if (work->sample_count < DAYS_MIN * STARTS)
			return false;
		for (int k = 0; k < SIGNS; k++)
			start[k] = (double)fit->weights[base][knot][k];
		for (int i = 0; i < work->sample_count; i++)
			work->wanted[i] = (float)left_of(work, i, start);
		const int newest = work->sample_count / 3;
		fit_samples(work, LT_FIT_OPERATOR, newest, weights);
		for (int i = 0; i < newest; i++) {
			off_before += fabs((double)work->wanted[i]);
			off_after += fabs(left_of(work, i, weights));
		}
		fit_samples(work, LT_FIT_OPERATOR, 0, weights);
		for (int k = 0; k < SIGNS; k++)
			fit->weights[LT_FIT_OPERATOR][knot][k] = (float)(start[k] + weights[k]);
	}
	return fit->is_fitted[base] && off_after < helps * off_before;
}

/* Takes samples at this hour of each day, and beside it. */
static void
open_views(struct work *work)
{
	for (int day = 1; day < LT_FIT_DAYS; day++) {
		bool any[LT_FIT_KINDS] = {false};

		for (int i = 0; i < STARTS; i++) {
			const int at = HOURS - 1 - day * DAY + ASIDE * (i - STARTS / 2);

			if (at >= 0 &&
			    lt_view_open(&work->views[work->view_count], &work->hours, at)) {
				for (int kind = 0; kind < LT_FIT_KINDS; kind++)
					any[kind] |= work->views[work->view_count].has[kind];
				work->view_count++;
			}
		}
		for (int kind = 0; kind < LT_FIT_KINDS; kind++)
			work->days[kind] += any[kind] ? 1 : 0;
	}
}

/* False: the history is too short. */
static bool
set_bounds(struct lt_forecast_fit *fit, const struct work *work)
{
	int oldest = HOURS;

	fit->low = HUGE_VAL;
	fit->high = -HUGE_VAL;
	for (int i = HOURS - 1; i >= 0; i--) {
		const double value = work->hours.values[i];

		if (isnan(value))
			continue;
		fit->low = fmin(fit->low, value);
		fit->high = fmax(fit->high, value);
		oldest = i;
	}
	return HOURS - oldest >= LT_FIT_MIN_DAYS * DAY;
}

static bool
allocate_work(struct work *work, const struct lt_known *known)
{
	bool ok = true;

	work->hours.values = malloc(HOURS * sizeof(double));
	for (int i = 0; i < LT_AHEAD_COUNT; i++)
		if (known->weather[i].count > 0) {
			work->hours.weather[i] = malloc(HOURS * sizeof(double));
			ok = ok && work->hours.weather[i] != NULL;
		}
	work->views = malloc(VIEWS * sizeof(*work->views));
	work->signs = malloc(SAMPLES * sizeof(*work->signs));
	work->wanted = malloc(SAMPLES * sizeof(*work->wanted));
	return ok && work->hours.values != NULL && work->views != NULL && work->signs != NULL &&
	       work->wanted != NULL;
}

int
lt_forecast_fit(struct lt_forecast_fit *fit, const struct lt_known *known, struct lt_error *err)
{
	assert(known->steps != NULL || known->count == 0);

	struct work work = {.view_count = 0};
	const uint32_t count = lt_known_until_now(known);
	int rc = LT_OK;

	memset(fit, 0, sizeof(*fit));
	if (!known->seasonal || count == 0)
		return LT_OK;
	fit->seen_hour = lt_known_seen_utc_s(known) / LT_HOUR_S;
	if (allocate_work(&work, known)) {
		work.hours.first = fit->seen_hour - HOURS + 1;
		work.hours.count = HOURS;
		lt_hours_of(work.hours.values, work.hours.first, HOURS, known->steps, count);
		lt_hours_ahead(&work.hours, known);
		if (set_bounds(fit, &work)) {
			open_views(&work);
			for (int kind = 0; kind < LT_FIT_KINDS; kind++) {
				fit->days[kind] = work.days[kind];
				fit->is_fitted[kind] =
				    work.days[kind] >= DAYS_MIN &&
				    (kind == LT_FIT_OPERATOR ? fit_operator(fit, &work)
							     : fit_kind(fit, &work, kind));
			}
		}
	} else {
		rc = lt_fail(err, LT_ENOMEM, "forecast fit: no memory");
	}
	for (int i = 0; i < LT_AHEAD_COUNT; i++)
		free(work.hours.weather[i]);
	free(work.hours.values);
	free(work.views);
	free(work.signs);
	free(work.wanted);
	return rc;
}

/* 0 = it was not fitted. */
static double
trust_of(const struct lt_forecast_fit *fit, int kind, int lead)
{
	const double years = kind == LT_FIT_OPERATOR ? 1 : (double)fit->days[kind] / YEAR_DAYS;
	const double much = lead / half_trust[kind] * square_of(years);

	return fit->is_fitted[kind] ? much / (1 + much) : 0;
}

bool
lt_forecast_fit_at(const struct lt_forecast_fit *fit, const struct lt_view *view, int lead,
    struct lt_fitted *fitted)
{
	double signs[SIGNS], sum = 0, trust = 0;
	bool known[LT_FIT_KINDS];
	int kind = -1, k = 0;

	lt_view_signs(view, lead, signs, known);
	for (int i = 0; i < LT_FIT_KINDS; i++)
		if (known[i] && fit->is_fitted[i] &&
		    (i != LT_FIT_OPERATOR || lead <= OPERATOR_HOURS) &&
		    trust_of(fit, i, lead) >= trust) {
			trust = trust_of(fit, i, lead);
			kind = i;
		}
	if (kind < 0)
		return false;
	while (k + 2 < LT_FIT_KNOTS && leads[k + 1] <= lead)
		k++;
	const double part = fmin(1, (double)(lead - leads[k]) / (double)(leads[k + 1] - leads[k]));
	for (int i = 0; i < sign_counts[kind]; i++)
		sum += signs[i] * ((1 - part) * (double)fit->weights[kind][k][i] +
				      part * (double)fit->weights[kind][k + 1][i]);
	fitted->value = fmin(fmax(lt_view_mean(view, lead) + sum, fit->low), fit->high);
	fitted->trust = trust;
	return true;
}
