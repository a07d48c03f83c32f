/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that are suspended where the signal is high and go on where it is low:
 * Ecovisor's threshold and Wait Awhile (both as GAIA defines them, with the
 * signal as it will be), and our own, decided anew each hour by what is
 * expected then. To suspend costs nothing, as in the papers.
 */
#include <stdlib.h>

#include "forecast.h"
#include "internal.h"
#include "units.h"

enum {
	DAY = 24,
	PIECES_MAX = 1024, /* 42 days; beyond: one piece, as its first hour */
};

/* A stretch of time within one hour. */
struct piece {
	double value;
	int64_t from_utc_s, to_utc_s;
};

static int
by_value(const void *a, const void *b)
{
	const struct piece *const x = a, *const y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->from_utc_s < y->from_utc_s ? -1 : 1;
}

/* [from, to) by the hour; expected NULL: as the signal will be. */
static int
pieces_of(struct piece pieces[PIECES_MAX], const struct lt_sim_signal *signal,
    const double *expected, int64_t from_utc_s, int64_t to_utc_s)
{
	const int64_t first_hour = from_utc_s / LT_HOUR_S;
	int count = 0;

	for (int64_t at_s = from_utc_s; at_s < to_utc_s && count < PIECES_MAX;
	     count++) {
		const int64_t hour = at_s / LT_HOUR_S;
		const int64_t next_s = (hour + 1) * LT_HOUR_S;

		pieces[count] = (struct piece){.from_utc_s = at_s,
		    .to_utc_s = next_s < to_utc_s && count + 1 < PIECES_MAX
				    ? next_s
				    : to_utc_s,
		    .value =
			expected == NULL
			    ? lt_sim_signal_at(signal, hour)
			    : expected[hour - first_hour < LT_FORECAST_HOURS
					   ? hour - first_hour
					   : LT_FORECAST_HOURS - 1]};
		at_s = pieces[count].to_utc_s;
	}
	return count;
}

static int
use(struct lt_sim_run *run, const struct lt_sim_job *job,
    struct lt_sim_fate *fate, const struct piece *piece, struct lt_error *err)
{
	if (fate->start_utc_s == 0 || piece->from_utc_s < fate->start_utc_s)
		fate->start_utc_s = piece->from_utc_s;
	if (piece->to_utc_s > fate->end_utc_s)
		fate->end_utc_s = piece->to_utc_s;
	run->result->money +=
	    lt_sim_cost(run, job, piece->from_utc_s, piece->to_utc_s);
	return lt_sim_use(run, job, piece->from_utc_s, piece->to_utc_s, err);
}

/* The value that three tenths of the next day's ticks are below; between two
 * of them by a straight line. */
static double
threshold(const struct lt_sim_run *run, int64_t from_utc_s)
{
	const int64_t tick_s = run->options->tick_s;
	const int64_t ticks = LT_DAY_S / tick_s;
	const double place = 0.3 * (double)(ticks - 1);
	const int64_t whole = (int64_t)place;
	struct piece pieces[PIECES_MAX];
	const int count = pieces_of(
	    pieces, run->signal, NULL, from_utc_s, from_utc_s + LT_DAY_S);
	int64_t before = 0;
	int i = 0;

	qsort(pieces, (size_t)count, sizeof(pieces[0]), by_value);
	for (; i + 1 < count; i++) {
		const int64_t until =
		    before +
		    (pieces[i].to_utc_s - pieces[i].from_utc_s) / tick_s;

		if (whole < until) {
			before = until;
			break;
		}
		before = until;
	}
	if (whole + 1 < before || i + 1 >= count)
		return pieces[i].value;
	return pieces[i].value + (place - (double)whole) *
				     (pieces[i + 1].value - pieces[i].value);
}

int
lt_sim_ecovisor(struct lt_sim_run *run, const struct lt_sim_job *job,
    struct lt_sim_fate *fate, struct lt_error *err)
{
	const double limit = threshold(run, job->submit_utc_s);
	int64_t wait_s = lt_sim_wait_s(run->options, job);
	int64_t left_s = job->run_s;
	int64_t at_s = job->submit_utc_s;

	while (left_s > 0) {
		const int64_t hour = at_s / LT_HOUR_S;
		const int64_t next_s = (hour + 1) * LT_HOUR_S;
		struct piece piece = {.from_utc_s = at_s, .to_utc_s = next_s};

		if (!(lt_sim_signal_at(run->signal, hour) < limit)) {
			const int64_t idle_s =
			    next_s - at_s < wait_s ? next_s - at_s : wait_s;

			wait_s -= idle_s;
			piece.from_utc_s += idle_s;
		}
		if (piece.to_utc_s - piece.from_utc_s > left_s)
			piece.to_utc_s = piece.from_utc_s + left_s;
		at_s = piece.to_utc_s;
		if (piece.from_utc_s >= piece.to_utc_s)
			continue;
		left_s -= piece.to_utc_s - piece.from_utc_s;
		if (use(run, job, fate, &piece, err))
			return err->code;
	}
	return LT_OK;
}

int
lt_sim_wait_awhile(struct lt_sim_run *run, const struct lt_sim_job *job,
    struct lt_sim_fate *fate, struct lt_error *err)
{
	int64_t left_s = job->run_s;
	struct piece pieces[PIECES_MAX];
	const int count = pieces_of(pieces, run->signal, NULL,
	    job->submit_utc_s,
	    job->submit_utc_s + job->run_s + lt_sim_wait_s(run->options, job));

	qsort(pieces, (size_t)count, sizeof(pieces[0]), by_value);
	for (int i = 0; i < count && left_s > 0; i++) {
		struct piece *const piece = &pieces[i];

		if (piece->to_utc_s - piece->from_utc_s > left_s)
			piece->to_utc_s = piece->from_utc_s + left_s;
		left_s -= piece->to_utc_s - piece->from_utc_s;
		if (use(run, job, fate, piece, err))
			return err->code;
	}
	return LT_OK;
}

/* Of this hour's rest as much as belongs to the cleanest left_s until end. */
static int64_t
run_now_s(const struct piece *pieces, int count, int64_t left_s)
{
	const struct piece *const now = &pieces[0];

	for (int i = 1; i < count; i++)
		if (pieces[i].value < now->value)
			left_s -= pieces[i].to_utc_s - pieces[i].from_utc_s;
	if (left_s <= 0)
		return 0;
	return left_s < now->to_utc_s - now->from_utc_s
		   ? left_s
		   : now->to_utc_s - now->from_utc_s;
}

int
lt_sim_pause(struct lt_sim_run *run, const struct lt_sim_job *job,
    struct lt_sim_fate *fate, struct lt_error *err)
{
	const int64_t end_s =
	    job->submit_utc_s + job->run_s + lt_sim_wait_s(run->options, job);
	int64_t left_s = job->run_s;
	int64_t at_s = job->submit_utc_s;
	struct piece pieces[PIECES_MAX];

	while (left_s > 0) {
		const double *const expected =
		    lt_sim_outlook_at(run->outlook, at_s / LT_HOUR_S);
		int64_t now_s;

		if (expected == NULL)
			return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
		const int count =
		    pieces_of(pieces, run->signal, expected, at_s, end_s);

		now_s = run_now_s(pieces, count, left_s);
		if (now_s > 0) {
			const struct piece piece = {
			    .from_utc_s = at_s, .to_utc_s = at_s + now_s};

			if (use(run, job, fate, &piece, err))
				return err->code;
		}
		left_s -= now_s;
		at_s = pieces[0].to_utc_s;
	}
	return LT_OK;
}
