/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of a job beside its decision, as text of `lowtide explain` and as JSON of GET /v1/explain.
 * They come from the market, the quote, the list of jobs and the ledger's proofs; nothing is
 * written. A fact that is not known gives an empty text, or null.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "batch.h"
#include "daemon.h"
#include "equations.h"
#include "explain.h"
#include "explain_facts.h"
#include "jobs.h"
#include "posterior.h"
#include "proof.h"
#include "suspension.h"
#include "text.h"
#include "units.h"

/* ---- class ---- */

void
lt_explain_class(char *out, size_t size, const struct lt_daemon *d, const struct lt_story *story)
{
	const struct lt_quote *const quote = &story->hold.quote;
	struct lt_request request = {0};
	char words[512];

	out[0] = '\0';
	const char *const qos = story->job != NULL ? story->job->qos
				: story->count > 0 ? story->runs[0].qos
						   : NULL;

	if (qos == NULL || !story->has_hold || quote->home[0] == '\0')
		return;
	request.home = lt_market_partition(&d->site.market, quote->home);
	snprintf(request.account, sizeof(request.account), "%s", quote->account);
	snprintf(request.qos, sizeof(request.qos), "%s", qos);
	lt_class_text(words, sizeof(words), &request, &d->site.market);
	if (words[0] != '\0')
		snprintf(out, size, "Its %s.\n%s", words,
		    quote->flags & LT_QUOTE_NO_SMOKE
			? "It had no smoke run when it was submitted: mode enforce would have refused it.\n"
			: "");
}

/* ---- nodes of a preemptible partition ---- */

const char *
lt_explain_availability(char *out, size_t size, const struct lt_partition *partition)
{
	const struct lt_availability *const seen = &partition->availability;
	static const struct lt_wait_ask ask = {8 * LT_HOUR_S, LT_FAILED_RESTART_S, 0};
	const double mean_s = lt_wait_mean_s(seen, &ask);
	const double most_s = lt_wait_passed_s(seen, &ask, 0.05);
	char age[64], mean[64], most[64];
	int used;

	out[0] = '\0';
	if (!(partition->flags & LT_PARTITION_PREEMPTIBLE))
		return out;
	lt_duration_text(age, sizeof(age), seen->seen_s);
	if (seen->seen_s < LT_WAIT_SEEN_S) {
		snprintf(out, size,
		    "    nodes there: looked at for %s, %d h are needed: taken as always there\n",
		    age, LT_WAIT_SEEN_S / LT_HOUR_S);
		return out;
	}
	used = snprintf(out, size,
	    "    nodes there %.1f %% of the %s that lowtided looked" LT_EQUATION(
		" (15c)") ", all gone %.2g times an hour: 8 h of work wait ",
	    seen->there_ppm / 1e4, age, seen->taken_ppm / 1e6);
	if (used < 0 || (size_t)used >= size)
		return out;
	if (isinf(mean_s) || isinf(most_s))
		snprintf(out + used, size - (size_t)used, "longer than was ever seen\n");
	else
		snprintf(out + used, size - (size_t)used, "%s on average, %s at most with 95 %%\n",
		    lt_duration_text(mean, sizeof(mean), (int64_t)mean_s),
		    lt_duration_text(most, sizeof(most), (int64_t)most_s));
	return out;
}

/* ---- proof that the job resumes; docs/model.md, (56), (57) ---- */

/* False if there is nothing to say. */
static bool
find_proof(struct lt_proof_row *row, struct lt_daemon *d, const struct lt_batch_job *job)
{
	struct lt_proof_job whose;

	return job != NULL && lt_proof_of_job(&whose, job) &&
	       lt_ledger_proof(d->ledger, &whose.of.key, row, NULL) == LT_OK;
}

static void
put_measured(char *out, size_t size, const struct lt_proof_row *row, const char *before)
{
	char write[48], restart[48];

	snprintf(out, size, "%sa restart took %s%s%s", before,
	    lt_duration_text(restart, sizeof(restart), row->restart_s),
	    row->write_s > 0 ? ", a checkpoint " : "",
	    row->write_s > 0 ? lt_duration_text(write, sizeof(write), row->write_s) : "");
}

void
lt_explain_proof(char *out, size_t size, struct lt_daemon *d, const struct lt_batch_job *job)
{
	struct lt_proof_row row;
	char measured[160];

	out[0] = '\0';
	if (!find_proof(&row, d, job))
		return;
	if (row.survived > 0) {
		put_measured(measured, sizeof(measured), &row, "; ");
		snprintf(out, size,
		    "Its user's jobs of this name and script survived %u interruption%s%s" LT_EQUATION(
			" (56), (57)") ".\n",
		    row.survived, row.survived == 1 ? "" : "s", measured);
		return;
	}
	snprintf(out, size, "%s%s.\n",
	    row.failed > 0 ? "It started over after an interruption" LT_EQUATION(
				 " (56)") ": no proof that it can resume"
			   : "No proof yet that it can resume" LT_EQUATION(" (56)"),
	    d->site.market.proof_required
		? ": priced as starting over on preemptible nodes; to prove it while it runs: lowtide canary"
		: "; this site believes its user's word");
}

json_t *
lt_explain_proof_json(struct lt_daemon *d, const struct lt_batch_job *job)
{
	struct lt_proof_row row;

	if (!find_proof(&row, d, job))
		return json_null();
	return json_pack("{s:b,s:I,s:I,s:o,s:o,s:o}", "counts",
	    row.survived > 0 || !d->site.market.proof_required, "survived",
	    (json_int_t)row.survived, "failed", (json_int_t)row.failed, "proven",
	    lt_api_time(row.proven_utc_s), "write_s", lt_api_optional(row.write_s > 0, row.write_s),
	    "restart_s", lt_api_optional(row.restart_s > 0, row.restart_s));
}

/* ---- pauses ---- */

static void
put_pause(char *out, size_t size, const struct lt_daemon *d, const struct lt_batch_job *job,
    int64_t now_utc_s)
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
	lt_zone_text(until, sizeof(until), &d->site.market.zone, paused->until_utc_s, now_utc_s);
	lt_amount_text(saves, sizeof(saves), &paused->saves, d->site.policy->currency, "not known");
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
	    "Paused by lowtide until %s: saves %s, as is expected" LT_EQUATION(" (24d)") ". Its hold has grown by that" LT_EQUATION(
		" (42)") ".\n  lowtide now %u lets it go on, for the rest of this run.\n",
	    until, saves, job->job_id);
}

/* A hold grows with suspensions by others too, beyond the budget if need be. */
const char *
lt_pause_text(char *out, size_t size, const struct lt_daemon *d, const struct lt_batch_job *job,
    int64_t now_utc_s)
{
	char length[48], said[512] = "";

	out[0] = '\0';
	put_pause(said, sizeof(said), d, job, now_utc_s);
	if (job->suspended_s == 0 || lt_suspension_held_s(job) == 0)
		snprintf(out, size, "%s", said);
	else
		snprintf(out, size,
		    "%sSuspended for %s of this run: its time limit stands still then, its memory and GPUs\n  are charged. The hold grows by that, where others suspend it over the budget too" LT_EQUATION(
			" (42)") ".\n",
		    said, lt_duration_text(length, sizeof(length), job->suspended_s));
	return out;
}

/* ---- the power cap of the plan ---- */

static bool
find_capped(struct lt_capped *capped, const struct lt_quote *quote)
{
	struct lt_quote_run run;

	if (lt_quote_run_unpack(&run, quote->run, strlen(quote->run), NULL) != LT_OK)
		return false;
	*capped = run.capped;
	return lt_is_capped(capped);
}

const char *
lt_capped_line(char *out, size_t size, const struct lt_quote *quote, const struct lt_zone *zone,
    int64_t now_utc_s)
{
	struct lt_capped capped;
	char words[160], until[64];

	if (size > 0)
		out[0] = '\0';
	if (!find_capped(&capped, quote))
		return out;
	lt_capped_text(words, sizeof(words), &capped);
	lt_zone_text(until, sizeof(until), zone, capped.until_utc_s, now_utc_s);
	snprintf(out, size,
	    "  %s: %s" LT_EQUATION(" (9a), (9b)") ", if it starts before %s" LT_EQUATION(
		" (9c)") "\n",
	    lt_mode_may(quote->mode, LT_MAY_EDIT) ? "capped" : "would be capped", words, until);
	return out;
}

json_t *
lt_capped_json(const struct lt_quote *quote)
{
	struct lt_capped capped;

	if (!find_capped(&capped, quote))
		return json_null();
	return json_pack("{s:s,s:s,s:o,s:f,s:I,s:I,s:I}", "gpu_freq", capped.gpu_freq, "cpu_freq",
	    capped.cpu_freq, "until", lt_api_time(capped.until_utc_s), "slow_down",
	    1 + (double)capped.longer_ppm / LT_MICROS, "less_wh", (json_int_t)capped.less_wh,
	    "above_g", (json_int_t)capped.above_g, "mean_g", (json_int_t)capped.mean_g);
}

/* ---- savings by lever; docs/model.md, eq. (30a) ---- */

/* The quote keeps costs between home and the plan. Their differences add up to what the plan was to
 * save, to the micro. */
struct saving {
	struct lt_amount time, place, gpu;
};

/* Returns the difference; a part that passes 64 bits is not known. */
static struct lt_amount
difference(const struct lt_amount *from, const struct lt_amount *to)
{
	struct lt_amount by = {0};

	by.has_money =
	    from->has_money && to->has_money &&
	    !__builtin_sub_overflow(from->money_micros, to->money_micros, &by.money_micros);
	by.has_carbon = from->has_carbon && to->has_carbon &&
			!__builtin_sub_overflow(from->carbon_mg, to->carbon_mg, &by.carbon_mg);
	return by;
}

static bool
find_levers(struct saving *saving, struct lt_levers *levers, const struct lt_quote *quote)
{
	if (lt_levers_unpack(levers, quote->levers, strlen(quote->levers), NULL) != LT_OK)
		return false;
	saving->time = difference(&quote->home_expected, &levers->home_then);
	saving->place = difference(&levers->home_then, &levers->there_slow);
	saving->gpu = difference(&levers->there_slow, &quote->plan_expected);
	return true;
}

static void
put_amount(struct lt_text *text, const struct lt_amount *amount, const char *currency)
{
	char figures[100];

	lt_text_put(
	    text, "%s", lt_amount_text(figures, sizeof(figures), amount, currency, "not known"));
}

const char *
lt_levers_text(char *out, size_t size, const struct lt_quote *quote, const char *currency)
{
	struct lt_text text = {.out = out, .size = size};
	struct lt_levers levers;
	struct saving saving;

	out[0] = '\0';
	if (!find_levers(&saving, &levers, quote)) {
		/* Levers are not known against the best start elsewhere. */
		if (quote->flags & LT_QUOTE_NOT_HOME) {
			saving.time = difference(&quote->home_expected, &quote->plan_expected);
			lt_text_put(&text, "  saves            ");
			put_amount(&text, &saving.time, currency);
			lt_text_put(&text, "\n");
		}
		return out;
	}
	lt_text_put(&text, "  saves by when    ");
	put_amount(&text, &saving.time, currency);
	lt_text_put(&text, "\n  by where         ");
	put_amount(&text, &saving.place, currency);
	if (saving.gpu.money_micros != 0 || saving.gpu.carbon_mg != 0) {
		lt_text_put(&text, "\n  by how fast      ");
		put_amount(&text, &saving.gpu, currency);
	}
	lt_text_put(&text, LT_EQUATION(" (30a)") "\n");
	if (text.full)
		out[0] = '\0';
	return out;
}

json_t *
lt_levers_json(const struct lt_quote *quote)
{
	struct lt_levers levers;
	struct saving saving;

	if (!find_levers(&saving, &levers, quote))
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "time", lt_api_amount(&saving.time), "place",
	    lt_api_amount(&saving.place), "gpu", lt_api_amount(&saving.gpu), "home_then",
	    lt_api_amount(&levers.home_then), "there_now", lt_api_amount(&levers.there_now));
}
