/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a run as JSON, for reports and explain. It is written by hand, key by key: jansson needs 8
 * microseconds for a row. A figure that is not known is null; a text that fails sets out->failed.
 */
#include <string.h>
#include <sys/wait.h>

#include "baseline.h"
#include "lookup.h"
#include "run_json.h"
#include "size.h"
#include "units.h"

/* Gives the part of the run's GPUs, or else CPUs, that was used; false if it was not measured, as
 * for parts of GPUs. */
static bool
used_part(const struct lt_run *run, struct lt_fraction *used)
{
	const int64_t length_s = run->end_utc_s - run->start_utc_s - run->suspended_s;

	if (run->gpus > 0) {
		*used = (struct lt_fraction){run->used.gpu_ppm, LT_MICROS};
		return run->used.has_gpu;
	}
	*used = (struct lt_fraction){run->used.cpu_ms, length_s * run->cpus * 1000};
	return run->used.has_cpu && run->shards == 0 && used->denominator > 0;
}

bool
lt_idle_of(int64_t *idle_micros, const struct lt_run *run, int64_t cost_micros)
{
	struct lt_fraction used;
	int64_t busy_micros;

	*idle_micros = 0;
	if (!used_part(run, &used))
		return false;
	if (used.numerator >= used.denominator)
		return true;
	if (!lt_scale_up(cost_micros, used.numerator, used.denominator, &busy_micros))
		return false;
	*idle_micros = cost_micros - busy_micros;
	return true;
}

enum { ROW_MAX = 4096 };

/* As sacct shows it. */
static void
put_exit_code(struct lt_out *out, uint32_t code)
{
	const int status = (int)code;

	lt_out_put_int(out, ",\"exit_code\":\"", true, WEXITSTATUS(status) % 128);
	lt_out_put_int(out, ":", true, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	lt_out_text(out, "\"");
}

static void
put_says(struct lt_out *out, const struct lt_run *run)
{
	lt_out_put_text(out, ",\"state\":", run->state_text);
	put_exit_code(out, run->exit_code);
	lt_out_put_text(out, ",\"name\":", run->name);
	lt_out_put_text(out, ",\"qos\":", run->qos);
	lt_out_put_text(out, ",\"wckey\":", run->wckey);
	lt_out_put_text(out, ",\"gpu\":", run->gpu);
	lt_out_put_int(out, ",\"cpus\":", true, run->cpus);
	lt_out_put_int(out, ",\"memory_mib\":", true, (int64_t)run->memory_mib);
	lt_out_put_int(
	    out, ",\"elapsed_s\":", run->start_utc_s > 0, run->end_utc_s - run->start_utc_s);
	lt_out_put_int(out, ",\"restarts\":", true, run->restarts);
	lt_out_put_int(out, ",\"cpu_used_ms\":", run->used.has_cpu, run->used.cpu_ms);
	lt_out_put_int(out, ",\"gpu_used_ppm\":", run->used.has_gpu, run->used.gpu_ppm);
}

/* Writes the part of the corrections that belongs to hours before the period, if there is one. */
static void
put_earlier(struct lt_out *out, const struct lt_run *run, const struct lt_booked *booked)
{
	const struct lt_entry *const e = &booked->earlier;
	const bool has_money = run->priced || e->money_micros != 0;
	const bool has_carbon = run->has_carbon || e->carbon_mg != 0;
	const struct {
		const char *key;
		bool is_known;
		int64_t value;
	} figures[] = {{",\"earlier_late_s\":", true, booked->late_s},
	    {",\"earlier_micros\":", has_money, e->money_micros},
	    {",\"earlier_carbon_charge_micros\":", has_money, e->parts.carbon_charge_micros},
	    {",\"earlier_discount_micros\":", has_money, e->parts.discount_micros},
	    {",\"earlier_mg\":", has_carbon, e->carbon_mg},
	    {",\"earlier_wh\":", true, e->energy_wh}};

	if (booked->earlier_hours.to_utc_s == 0)
		return;
	lt_out_put_time(out, ",\"earlier_start\":", booked->earlier_hours.from_utc_s);
	lt_out_put_time(out, ",\"earlier_end\":", booked->earlier_hours.to_utc_s);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		lt_out_put_int(out, figures[i].key, figures[i].is_known, figures[i].value);
}

/* Writes the idle part of the cost that is booked here. */
static void
put_idle(struct lt_out *out, const struct lt_run *run, const struct lt_booked *booked)
{
	int64_t idle;
	const bool is_known =
	    lt_idle_of(&idle, run, booked->charge.money_micros + booked->correction.money_micros);

	lt_out_put_int(out, ",\"idle_micros\":", is_known && run->priced, idle);
}

/* The month whose hours are the first that are corrected. */
static void
put_corrects(struct lt_out *out, const struct lt_booked *booked, const struct lt_offsets *offsets)
{
	struct lt_period month = {.label = ""};

	if (booked->for_utc_s != 0)
		lt_calendar_period(&month, offsets, LT_MONTH, booked->for_utc_s, 0);
	lt_out_put_known(out, ",\"corrects\":", month.label);
}

static void
put_booked(struct lt_out *out, const struct lt_run *run, const struct lt_booked *booked)
{
	const struct lt_entry *const charge = &booked->charge;
	const struct lt_entry *const more = &booked->correction;
	const bool has_base = lt_baseline_known(run);
	const int64_t money = charge->money_micros + more->money_micros;
	const int64_t carbon = charge->carbon_mg + more->carbon_mg;
	/* A charge from before the price was lost counts all the same. */
	const bool has_money = run->priced || money != 0;
	const bool has_carbon = run->has_carbon || carbon != 0;

	lt_out_put_int(out, ",\"money_micros\":", has_money, money);
	lt_out_put_int(out, ",\"carbon_charge_micros\":", has_money,
	    charge->parts.carbon_charge_micros + more->parts.carbon_charge_micros);
	lt_out_put_int(out, ",\"discount_micros\":", has_money,
	    charge->parts.discount_micros + more->parts.discount_micros);
	lt_out_put_int(out, ",\"carbon_mg\":", has_carbon, carbon);
	lt_out_put_int(out, ",\"energy_wh\":", true, charge->energy_wh + more->energy_wh);
	lt_out_put_int(out, ",\"base_micros\":", run->priced && has_base,
	    charge->baseline_money_micros + more->baseline_money_micros);
	lt_out_put_int(out, ",\"base_mg\":", run->has_carbon && has_base,
	    charge->baseline_carbon_mg + more->baseline_carbon_mg);
	lt_out_put_int(out, ",\"corrections_micros\":", has_money, more->money_micros);
	lt_out_put_int(out, ",\"corrections_carbon_charge_micros\":", has_money,
	    more->parts.carbon_charge_micros);
	lt_out_put_int(
	    out, ",\"corrections_discount_micros\":", has_money, more->parts.discount_micros);
	lt_out_put_int(out, ",\"corrections_mg\":", has_carbon, more->carbon_mg);
	lt_out_put_int(out, ",\"whole_micros\":", run->priced, run->money_micros);
	lt_out_put_int(out, ",\"whole_mg\":", run->has_carbon, run->carbon_mg);
}

void
lt_run_write(struct lt_out *out, const struct lt_run *run, const struct lt_booked *booked,
    const struct lt_offsets *offsets)
{
	static const char *const gpus_from[LT_GPUS_FROM_COUNT] = {[LT_GPUS_SLURMDBD] = "slurmdbd",
	    [LT_GPUS_SLURMCTLD] = "slurmctld",
	    [LT_GPUS_UNKNOWN] = "unknown"};
	const bool array = run->array_job_id != 0;
	const struct lt_booked all = {.charge = lt_entry_of_run(run)};

	lt_out_put_int(out, "{\"job_id\":", true, run->key.job_id);
	lt_out_put_int(out, ",\"array_job_id\":", array, run->array_job_id);
	lt_out_put_int(out, ",\"array_task\":", array, run->array_task);
	/* null: erased, or left out */
	lt_out_put_known(out, ",\"user\":", run->user);
	lt_out_put_text(out, ",\"account\":", booked != NULL ? booked->account : run->account);
	lt_out_put_text(out, ",\"partition\":", run->partition);
	lt_out_put_time(out, ",\"submit\":", run->key.submit_utc_s);
	lt_out_put_time(out, ",\"start\":", run->start_utc_s);
	lt_out_put_time(out, ",\"end\":", run->end_utc_s);
	lt_out_put_int(out, ",\"nodes\":", true, run->nodes);
	lt_out_put_int(out, ",\"share\":\"", true, run->share_numerator);
	lt_out_put_int(out, "/", true, run->share_denominator);
	lt_out_text(out, "\"");
	put_booked(out, run, booked != NULL ? booked : &all);
	lt_out_text(out, run->moved ? ",\"moved\":true" : ",\"moved\":false");
	lt_out_put_known(out, ",\"over_reason\":", run->over_reason);
	lt_out_put_text(out, ",\"quality\":", lt_quality_name(run->worst_quality));
	lt_out_put_int(out, ",\"gpus\":", run->gpus_from != LT_GPUS_UNKNOWN, run->gpus);
	lt_out_put_text(out, ",\"gpus_from\":", LT_WORD(gpus_from, run->gpus_from));
	lt_out_put_int(out, ",\"suspended_s\":", true, run->suspended_s);
	put_says(out, run);
	put_idle(out, run, booked != NULL ? booked : &all);
	if (booked != NULL && strcmp(booked->account, run->account) != 0)
		lt_out_put_text(out, ",\"account_now\":", run->account);
	if (booked != NULL) {
		put_corrects(out, booked, offsets);
		put_earlier(out, run, booked);
	}
	lt_out_bytes(out, "}", 1);
}

json_t *
lt_run_json(const struct lt_run *run)
{
	struct lt_out out = {.most = ROW_MAX};

	lt_run_write(&out, run, NULL, NULL);
	json_t *const json = out.failed ? NULL : json_loadb(out.bytes, out.length, 0, NULL);
	lt_out_free(&out);
	return json;
}
