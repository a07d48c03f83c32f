/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Written by hand, key by key: jansson needs 8 microseconds for a row.
 */
#include <string.h>
#include <sys/wait.h>

#include "baseline.h"
#include "run_json.h"

enum { ROW_MAX = 4096 };

static void
put_optional(struct lt_out *out, const char *key, bool has, int64_t value)
{
	lt_out_text(out, key);
	if (has)
		lt_out_int(out, value);
	else
		lt_out_text(out, "null");
}

static void
put_text(struct lt_out *out, const char *key, const char *text)
{
	lt_out_text(out, key);
	lt_out_quoted(out, text);
}

static void
put_time(struct lt_out *out, const char *key, int64_t utc_s)
{
	lt_out_text(out, key);
	lt_out_time(out, utc_s);
}

/* As sacct shows it. */
static void
put_exit_code(struct lt_out *out, uint32_t code)
{
	const int status = (int)code;

	put_optional(out, ",\"exit_code\":\"", true, WEXITSTATUS(status) % 128);
	put_optional(
	    out, ":", true, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	lt_out_text(out, "\"");
}

static void
put_says(struct lt_out *out, const struct lt_run *run)
{
	put_text(out, ",\"state\":", run->state_text);
	put_exit_code(out, run->exit_code);
	put_text(out, ",\"name\":", run->name);
	put_text(out, ",\"qos\":", run->qos);
	put_text(out, ",\"wckey\":", run->wckey);
	put_text(out, ",\"gpu\":", run->gpu);
	put_optional(out, ",\"cpus\":", true, run->cpus);
	put_optional(out, ",\"memory_mib\":", true, (int64_t)run->memory_mib);
	put_optional(out, ",\"elapsed_s\":", run->start_utc_s > 0,
	    run->end_utc_s - run->start_utc_s);
	put_optional(out, ",\"restarts\":", true, run->restarts);
}

/* The month whose hours are the first that are corrected. */
static void
put_corrects(struct lt_out *out, const struct lt_booked *booked,
    const struct lt_offsets *offsets)
{
	struct lt_period month;

	if (booked->for_utc_s == 0) {
		lt_out_text(out, ",\"corrects\":null");
		return;
	}
	lt_calendar_period(&month, offsets, LT_MONTH, booked->for_utc_s, 0);
	put_text(out, ",\"corrects\":", month.label);
}

static void
put_booked(struct lt_out *out, const struct lt_run *run,
    const struct lt_booked *booked)
{
	const struct lt_entry *const charge = &booked->charge;
	const struct lt_entry *const more = &booked->correction;
	const bool has_base = lt_baseline_known(run);
	const int64_t money = charge->money_micros + more->money_micros;
	const int64_t carbon = charge->carbon_mg + more->carbon_mg;
	/* What was charged before it had no price counts all the same. */
	const bool has_money = run->priced || money != 0;
	const bool has_carbon = run->has_carbon || carbon != 0;

	put_optional(out, ",\"money_micros\":", has_money, money);
	put_optional(out, ",\"carbon_mg\":", has_carbon, carbon);
	put_optional(
	    out, ",\"energy_wh\":", true, charge->energy_wh + more->energy_wh);
	put_optional(out, ",\"base_micros\":", run->priced && has_base,
	    charge->baseline_money_micros + more->baseline_money_micros);
	put_optional(out, ",\"base_mg\":", run->has_carbon && has_base,
	    charge->baseline_carbon_mg + more->baseline_carbon_mg);
	put_optional(
	    out, ",\"corrections_micros\":", has_money, more->money_micros);
	put_optional(out, ",\"corrections_mg\":", has_carbon, more->carbon_mg);
	put_optional(out, ",\"whole_micros\":", run->priced, run->money_micros);
	put_optional(out, ",\"whole_mg\":", run->has_carbon, run->carbon_mg);
}

void
lt_run_write(struct lt_out *out, const struct lt_run *run,
    const struct lt_booked *booked, const struct lt_offsets *offsets)
{
	static const char *const gpus_from[] = {[LT_GPUS_SLURMDBD] = "slurmdbd",
	    [LT_GPUS_SLURMCTLD] = "slurmctld",
	    [LT_GPUS_UNKNOWN] = "unknown"};
	const bool array = run->array_job_id != 0;
	const struct lt_booked all = {.charge = lt_entry_of_run(run)};

	put_optional(out, "{\"job_id\":", true, run->key.job_id);
	put_optional(out, ",\"array_job_id\":", array, run->array_job_id);
	put_optional(out, ",\"array_task\":", array, run->array_task);
	if (run->user[0] != '\0') /* else erased, or left out */
		put_text(out, ",\"user\":", run->user);
	else
		lt_out_text(out, ",\"user\":null");
	put_text(out,
	    ",\"account\":", booked != NULL ? booked->account : run->account);
	put_text(out, ",\"partition\":", run->partition);
	put_time(out, ",\"submit\":", run->key.submit_utc_s);
	put_time(out, ",\"start\":", run->start_utc_s);
	put_time(out, ",\"end\":", run->end_utc_s);
	put_optional(out, ",\"nodes\":", true, run->nodes);
	put_optional(out, ",\"share\":\"", true, run->share_numerator);
	put_optional(out, "/", true, run->share_denominator);
	lt_out_text(out, "\"");
	put_booked(out, run, booked != NULL ? booked : &all);
	lt_out_text(out, run->moved ? ",\"moved\":true" : ",\"moved\":false");
	if (run->over_reason[0] != '\0')
		put_text(out, ",\"over_reason\":", run->over_reason);
	else
		lt_out_text(out, ",\"over_reason\":null");
	put_text(out, ",\"quality\":", lt_quality_name(run->worst_quality));
	put_optional(
	    out, ",\"gpus\":", run->gpus_from != LT_GPUS_UNKNOWN, run->gpus);
	put_text(out, ",\"gpus_from\":", gpus_from[run->gpus_from]);
	put_optional(out, ",\"suspended_s\":", true, run->suspended_s);
	put_says(out, run);
	if (booked != NULL)
		put_corrects(out, booked, offsets);
	lt_out_bytes(out, "}", 1);
}

json_t *
lt_run_json(const struct lt_run *run)
{
	struct lt_out out = {.most = ROW_MAX};

	lt_run_write(&out, run, NULL, NULL);
	json_t *const json =
	    out.failed ? NULL : json_loadb(out.bytes, out.length, 0, NULL);
	lt_out_free(&out);
	return json;
}
