/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "daemon.h"
#include "jobs.h"
#include "pause_text.h"
#include "suspension.h"
#include "units.h"
#include "equations.h"

static void
say_pause(char *out, size_t size, const struct lt_daemon *d,
    const struct lt_batch_job *job, int64_t now_utc_s)
{
	const struct lt_paused *const paused = lt_jobs_paused(&d->jobs, job);
	char until[64], saves[96];

	if (paused == NULL)
		return;
	if (paused->step == LT_PAUSE_LEFT) {
		snprintf(out, size,
		    "Others suspended it, or let it go on: lowtide pauses this run no more.\n");
		return;
	}
	lt_zone_text(until, sizeof(until), &d->site.market.zone,
	    paused->until_utc_s, now_utc_s);
	lt_amount_text(saves, sizeof(saves), &paused->saves,
	    d->site.policy->currency, "not known");
	if (paused->step >= LT_PAUSE_ASKED_AWAY) {
		snprintf(out, size,
		    "Asked for a checkpoint by lowtide, then on to preemptible nodes: saves %s, as is\n  expected" LT_EQUATION(
			" (24j)") ". lowtide now %u lets it run on, for the rest of this run.\n",
		    saves, job->job_id);
		return;
	}
	if (paused->step >= LT_PAUSE_ASKED) {
		snprintf(out, size,
		    "Asked for a checkpoint by lowtide, then back in the queue until %s: saves %s, as is\n  expected" LT_EQUATION(
			" (24f)") ". lowtide now %u lets it run on, for the rest of this run.\n",
		    until, saves, job->job_id);
		return;
	}
	snprintf(out, size,
	    "Paused by lowtide until %s: saves %s, as is expected" LT_EQUATION(
		" (24d)") ". Its hold has grown by that" LT_EQUATION(" (42)") ".\n  lowtide now %u lets it go on, for the rest of this run.\n",
	    until, saves, job->job_id);
}

/* What others suspend grows beyond what it was admitted for. */
const char *
lt_pause_text(char *out, size_t size, const struct lt_daemon *d,
    const struct lt_batch_job *job, int64_t now_utc_s)
{
	char length[48], said[512] = "";

	out[0] = '\0';
	say_pause(said, sizeof(said), d, job, now_utc_s);
	if (job->suspended_s == 0 || lt_suspension_held_s(job) == 0)
		snprintf(out, size, "%s", said);
	else
		snprintf(out, size,
		    "%sSuspended for %s of this run: its time limit stands still then, its memory and GPUs\n  are charged. The hold grows by that, where others suspend it over the budget too" LT_EQUATION(
			" (42)") ".\n",
		    said,
		    lt_duration_text(length, sizeof(length), job->suspended_s));
	return out;
}
