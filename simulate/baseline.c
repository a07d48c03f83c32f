/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When others would start a job, by their own definitions: GAIA (Hanafy et
 * al., ASPLOS 2024). They know the signal as it will be, look each whole hour
 * after the submission, and know of a run time the average of all short, or of
 * all long jobs.
 */
#include "internal.h"
#include "units.h"

/* The cleanest moment, wherever in its hour it begins. */
int64_t
lt_sim_lowest_slot(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const int64_t latest_s =
	    job->submit_utc_s + lt_sim_wait_s(run->options, job);
	int64_t best_s = job->submit_utc_s;
	double least = lt_sim_signal_at(run->signal, best_s / LT_HOUR_S);

	for (int64_t at_s = (best_s / LT_HOUR_S + 1) * LT_HOUR_S;
	     at_s <= latest_s; at_s += LT_HOUR_S) {
		const double value =
		    lt_sim_signal_at(run->signal, at_s / LT_HOUR_S);

		if (value < least) {
			least = value;
			best_s = at_s;
		}
	}
	return best_s;
}

static int64_t
average_s(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	return run->average_s[lt_sim_is_short(run->options, job) ? 0 : 1];
}

int64_t
lt_sim_lowest_window(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const int64_t wait_s = lt_sim_wait_s(run->options, job);
	const int64_t length_s = average_s(run, job);
	int64_t best_s = job->submit_utc_s;
	double least = 0;

	for (int64_t after_s = 0; after_s <= wait_s; after_s += LT_HOUR_S) {
		const int64_t at_s = job->submit_utc_s + after_s;
		const double sum =
		    lt_sim_signal_integral(run->signal, at_s, at_s + length_s);

		if (after_s == 0 || sum < least) {
			least = sum;
			best_s = at_s;
		}
	}
	return best_s;
}

/* What is saved for each hour until the end. */
int64_t
lt_sim_carbon_time(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const int64_t wait_s = lt_sim_wait_s(run->options, job);
	const int64_t length_s = average_s(run, job);
	const double now = lt_sim_signal_integral(
	    run->signal, job->submit_utc_s, job->submit_utc_s + length_s);
	int64_t best_s = job->submit_utc_s;
	double most = 0;

	for (int64_t after_s = LT_HOUR_S; after_s <= wait_s;
	     after_s += LT_HOUR_S) {
		const int64_t at_s = job->submit_utc_s + after_s;
		const double saved = (now - lt_sim_signal_integral(run->signal,
						at_s, at_s + length_s)) /
				     (double)(after_s + length_s);

		if (saved > most) {
			most = saved;
			best_s = at_s;
		}
	}
	return best_s;
}

/* The integral is piecewise linear in the start: its least value is where the
 * start or the end meets an hour, or at an end of what is allowed. */
int64_t
lt_sim_optimum(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const int64_t latest_s =
	    job->submit_utc_s + lt_sim_wait_s(run->options, job);
	int64_t best_s = job->submit_utc_s;
	double least =
	    lt_sim_signal_integral(run->signal, best_s, best_s + job->run_s);

	for (int64_t at_s = best_s; at_s < latest_s;) {
		const int64_t start_s = (at_s / LT_HOUR_S + 1) * LT_HOUR_S;
		const int64_t end_s =
		    ((at_s + job->run_s) / LT_HOUR_S + 1) * LT_HOUR_S -
		    job->run_s;
		double sum;

		at_s = start_s < end_s ? start_s : end_s;
		if (at_s > latest_s)
			at_s = latest_s;
		sum = lt_sim_signal_integral(
		    run->signal, at_s, at_s + job->run_s);
		if (sum < least) {
			least = sum;
			best_s = at_s;
		}
	}
	return best_s;
}
