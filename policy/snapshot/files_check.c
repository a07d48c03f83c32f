/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validity of a market and a budget snapshot: the same rules before writing and after reading, so
 * that no reader meets what no writer may make. The rules stand in docs/formats.md.
 */
#include "files_check.h"
#include "units.h"

#include <math.h>
#include <string.h>

#include "files.h"
#include "power_cap.h"

/* 10^15: a price of 10^9 in currency an hour; sums of them stay exact. */
#define VALUE_MAX 1e15
/* 35,000 years from 1970: differences of two times fit whatever they are. */
#define TIME_MAX (INT64_C(1) << 40)

static bool
is_sane(double value)
{
	return value >= 0.0 && value <= VALUE_MAX; /* false for NaN */
}

static bool
sane_time(int64_t utc_s)
{
	return utc_s >= -TIME_MAX && utc_s <= TIME_MAX;
}

static int
check_partition(const struct lt_market *market, uint32_t index, struct lt_error *err)
{
	const struct lt_partition *const p = &market->partitions[index];

	if (p->name[0] == '\0')
		return lt_fail(err, LT_EINPUT, "partition %u: no name", index);
	for (uint32_t i = 0; i < index; i++)
		if (strcmp(market->partitions[i].name, p->name) == 0)
			return lt_fail(err, LT_EINPUT, "partition %s: named twice", p->name);
	if ((uint64_t)p->first_shape + p->shape_count > market->shape_count)
		return lt_fail(err, LT_EINPUT, "partition %s: shapes %u+%u of %u", p->name,
		    p->first_shape, p->shape_count, market->shape_count);
	const int series[] = {
	    p->price_series, p->carbon_series, p->tariff_series, p->occupancy_series};
	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++)
		if (series[i] < LT_NO_SERIES ||
		    (series[i] != LT_NO_SERIES && (uint32_t)series[i] >= market->series_count))
			return lt_fail(err, LT_EINPUT, "partition %s: series %d of %u", p->name,
			    series[i], market->series_count);
	const double figures[] = {p->node_idle_w, p->node_cpu_w, p->node_gpu_w, p->pue,
	    p->hazard_per_node_hour, p->notice_s, p->restart_s, p->storage_gib_per_s,
	    p->embodied_g_per_node_hour, p->worst_intensity};
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (!is_sane(figures[i]))
			return lt_fail(err, LT_EINPUT,
			    "partition %s: figure %zu is %g, want 0 to %g", p->name, i, figures[i],
			    VALUE_MAX);
	if (p->availability.there_ppm > 1000000)
		return lt_fail(err, LT_EINPUT, "partition %s: nodes there %u ppm of the time",
		    p->name, p->availability.there_ppm);
	if (p->default_memory_mib > LT_MEMORY_MIB_MAX || p->max_memory_mib > LT_MEMORY_MIB_MAX)
		return lt_fail(err, LT_ELIMIT, "partition %s: default or most memory above %d MiB",
		    p->name, LT_MEMORY_MIB_MAX);
	if (p->max_time_s < 0 || p->default_time_s < 0 || p->overrun_s < 0 ||
	    p->engineer_micros_per_restart < 0 || p->storage_micros_per_gib_month < 0)
		return lt_fail(err, LT_EINPUT, "partition %s: a time or rate below 0", p->name);
	return LT_OK;
}

static int
check_series(const struct lt_market *market, uint32_t index, struct lt_error *err)
{
	const struct lt_series *const s = &market->series[index];

	if (s->count == 0 || s->count > LT_STEPS_MAX)
		return lt_fail(err, LT_EINPUT, "series %u (%s): %u steps, want 1 to %d", index,
		    s->source, s->count, LT_STEPS_MAX);
	if ((unsigned)s->quality >= LT_QUALITY_COUNT)
		return lt_fail(
		    err, LT_EINPUT, "series %u (%s): quality %d", index, s->source, s->quality);
	for (uint32_t i = 0; i < s->count; i++) {
		if (s->start_utc_s[i + 1] <= s->start_utc_s[i])
			return lt_fail(err, LT_EINPUT,
			    "series %u (%s): step %u does not end after its start", index,
			    s->source, i);
		if (!(fabs(s->value[i]) <= VALUE_MAX))
			return lt_fail(err, LT_EINPUT,
			    "series %u (%s): step %u is %g, want at most %g", index, s->source, i,
			    s->value[i], VALUE_MAX);
	}
	const int64_t first = s->start_utc_s[0];
	if (!sane_time(s->issued_utc_s) || !sane_time(first))
		return lt_fail(err, LT_EINPUT,
		    "series %u (%s): issued at %lld, starts at %lld: out of all time", index,
		    s->source, (long long)s->issued_utc_s, (long long)first);
	const int64_t last = s->start_utc_s[s->count];
	if ((uint64_t)last - (uint64_t)first > UINT32_MAX)
		return lt_fail(err, LT_EINPUT, "series %u (%s): longer than %u s", index, s->source,
		    UINT32_MAX);
	return LT_OK;
}

static int
check_shape(const struct lt_market *market, uint32_t index, struct lt_error *err)
{
	const int gpu = market->shapes[index].gpu_index;

	if (market->shapes[index].memory_mib > LT_MEMORY_MIB_MAX)
		return lt_fail(err, LT_ELIMIT, "shape %u: %llu MiB of memory, limit %d", index,
		    (unsigned long long)market->shapes[index].memory_mib, LT_MEMORY_MIB_MAX);
	for (int i = 0; i < LT_GPU_KINDS_MAX; i++) {
		const struct lt_gpu_kind *const kind = &market->shapes[index].kinds[i];

		if (kind->gpu_index < -1 || !is_sane(kind->watts) ||
		    (kind->gpu_index >= 0 && (uint32_t)kind->gpu_index >= market->gpu_count &&
			kind->count > 0))
			return lt_fail(err, LT_EINPUT, "shape %u: GPUs %d: row %d of %u, %g W",
			    index, i, kind->gpu_index, market->gpu_count, kind->watts);
	}
	if (gpu < -1 || (gpu >= 0 && (uint32_t)gpu >= market->gpu_count))
		return lt_fail(
		    err, LT_EINPUT, "shape %u: GPU row %d of %u", index, gpu, market->gpu_count);
	return LT_OK;
}

static int
check_gpu(const struct lt_market *market, uint32_t index, struct lt_error *err)
{
	const struct lt_gpu *const gpu = &market->gpus[index];
	bool good = is_sane(gpu->bandwidth_gb_s);

	for (int i = 0; i < LT_PRECISION_COUNT; i++)
		good = good && is_sane(gpu->tflops[i]);
	if (!good)
		return lt_fail(
		    err, LT_EINPUT, "GPU %s: a figure below 0 or not a number", gpu->name);
	return LT_OK;
}

static int
check_class(const struct lt_market *market, uint32_t index, struct lt_error *err)
{
	const struct lt_class *const row = &market->classes[index];

	if ((unsigned)row->pause > LT_PAUSE_SUSPEND ||
	    (unsigned)row->default_objective >= LT_OBJECTIVE_COUNT)
		return lt_fail(err, LT_EINPUT, "class %s: pause %d, objective %d", row->name,
		    row->pause, row->default_objective);
	if (row->max_delay_s < 0 || row->max_price_micros < 0 || row->smoke_above_node_s < 0 ||
	    row->smoke_within_s < 0 || row->deadline_confidence_ppm >= LT_MICROS)
		return lt_fail(err, LT_EINPUT,
		    "class %s: a time, price or confidence that can't be", row->name);
	return LT_OK;
}

static int
check_power_cap(const struct lt_market *market, uint32_t index, struct lt_error *err)
{
	const struct lt_power_cap *const rule = &market->power_caps[index];

	if (!is_sane(market->power_cap_above) ||
	    !(rule->slow_down >= 1 && rule->slow_down <= LT_SLOW_DOWN_MAX) ||
	    !(rule->power >= 0 && rule->power <= 1) || !lt_frequency_is_good(rule->gpu_freq) ||
	    !lt_frequency_is_good(rule->cpu_freq))
		return lt_fail(
		    err, LT_EINPUT, "power cap %u: a figure or frequency that can't be", index);
	return LT_OK;
}

static int
check_precision_rule(const struct lt_market *market, uint32_t index, struct lt_error *err)
{
	const struct lt_precision_rule *const rule = &market->precision_rules[index];

	if ((unsigned)rule->of >= LT_PRECISION_OF_COUNT ||
	    (unsigned)rule->precision >= LT_PRECISION_COUNT)
		return lt_fail(err, LT_EINPUT, "precision rule of %s: kind %d, precision %d",
		    rule->name, rule->of, rule->precision);
	return LT_OK;
}

static int
check_bar(const struct lt_market *market, uint32_t index, struct lt_error *err)
{
	const struct lt_bar *const bar = &market->bars[index];

	if (bar->asked == 0 || bar->partition >= market->partition_count ||
	    (index > 0 && lt_bar_compare(bar - 1, bar) >= 0))
		return lt_fail(
		    err, LT_EINPUT, "bar %u: of no request or partition, or out of order", index);
	return LT_OK;
}

static int
check_zone(const struct lt_zone *zone, struct lt_error *err)
{
	if (zone->count < 0 || zone->count > LT_ZONE_STEPS_MAX)
		return lt_fail(
		    err, LT_EINPUT, "zone: %d steps, limit %d", zone->count, LT_ZONE_STEPS_MAX);
	for (int i = 0; i < zone->count; i++)
		if (zone->steps[i].offset_s < -86400 || zone->steps[i].offset_s > 86400 ||
		    (i > 0 && zone->steps[i].start_utc_s <= zone->steps[i - 1].start_utc_s))
			return lt_fail(
			    err, LT_EINPUT, "zone: step %d is out of order or a day off", i);
	return LT_OK;
}

int
lt_market_check(const struct lt_market *market, struct lt_error *err)
{
	const struct {
		const char *what;
		uint32_t count, limit;
		int (*check)(const struct lt_market *, uint32_t, struct lt_error *);
	} tables[] = {
	    {"partitions", market->partition_count, LT_PARTITIONS_MAX, check_partition},
	    {"node shapes", market->shape_count, LT_SHAPES_MAX, check_shape},
	    {"series", market->series_count, LT_SERIES_MAX, check_series},
	    {"GPU rows", market->gpu_count, LT_GPUS_MAX, check_gpu},
	    {"classes", market->class_count, LT_CLASSES_MAX, check_class},
	    {"power caps", market->power_cap_count, LT_POWER_CAPS_MAX, check_power_cap},
	    {"precision rules", market->precision_rule_count, LT_PRECISION_RULES_MAX,
		check_precision_rule},
	    {"bars", market->bar_count, LT_BARS_MAX, check_bar},
	};
	const size_t table_count = sizeof(tables) / sizeof(tables[0]);

	for (size_t t = 0; t < table_count; t++)
		if (tables[t].count > tables[t].limit)
			return lt_fail(err, LT_ELIMIT, "market: %u %s, limit %u", tables[t].count,
			    tables[t].what, tables[t].limit);
	if (!sane_time(market->compiled_utc_s) ||
	    (market->jobs_utc_s != 0 && !sane_time(market->jobs_utc_s)))
		return lt_fail(err, LT_EINPUT, "market: compiled at %lld, jobs of %lld",
		    (long long)market->compiled_utc_s, (long long)market->jobs_utc_s);
	if ((unsigned)market->mode > LT_MODE_ENFORCE)
		return lt_fail(err, LT_EINPUT, "market: mode %d", market->mode);
	if (market->max_delay_s < 0 || market->stale_after_s < 0 || market->deadline_slack_s < 0 ||
	    market->assume_time_s < 0 || market->carbon_price_micros_per_tonne < 0 ||
	    market->charge_micros_per_tonne < 0)
		return lt_fail(err, LT_EINPUT, "market: a time or the carbon price is below 0");
	for (size_t t = 0; t < table_count; t++)
		for (uint32_t i = 0; i < tables[t].count; i++) {
			const int code = tables[t].check(market, i, err);

			if (code != LT_OK)
				return code;
		}
	return check_zone(&market->zone, err);
}

static int
check_budget(const struct lt_budget_snapshot *snapshot, uint32_t index, struct lt_error *err)
{
	const struct lt_budget *const b = &snapshot->budgets[index];

	if (b->team[0] == '\0')
		return lt_fail(err, LT_EINPUT, "budget %u: no team", index);
	if ((unsigned)b->on_exceed > LT_RULE_WARN)
		return lt_fail(err, LT_EINPUT, "budget %s: rule %d", b->team, b->on_exceed);
	for (int i = 0; i < LT_PERIODS; i++) {
		const struct lt_period *const p = &b->periods[i];
		const bool used = p->start_utc_s != p->end_utc_s;

		if (p->start_utc_s > p->end_utc_s ||
		    (i > 0 && used && p->start_utc_s != b->periods[i - 1].end_utc_s))
			return lt_fail(
			    err, LT_EINPUT, "budget %s: period %d does not follow", b->team, i);
	}
	return LT_OK;
}

static int
check_usage(const struct lt_budget_snapshot *snapshot, uint32_t index, struct lt_error *err)
{
	const struct lt_usage *const u = &snapshot->usages[index];

	if (u->budget >= snapshot->budget_count)
		return lt_fail(err, LT_EINPUT, "usage %u: budget %u of %u", index, u->budget,
		    snapshot->budget_count);
	if (index > 0 &&
	    (u[-1].budget > u->budget || (u[-1].budget == u->budget && u[-1].uid >= u->uid)))
		return lt_fail(
		    err, LT_EINPUT, "usage %u: not after the one before, by budget and uid", index);
	return LT_OK;
}

static int
check_account(const struct lt_budget_snapshot *snapshot, uint32_t index, struct lt_error *err)
{
	const struct lt_account *const a = &snapshot->accounts[index];

	for (const char *c = a->name; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			return lt_fail(err, LT_EINPUT, "account %s: not in lower case", a->name);
	if (a->name[0] == '\0' || (index > 0 && strcmp(a[-1].name, a->name) >= 0))
		return lt_fail(err, LT_EINPUT, "account %u (%s): not after the one before, by name",
		    index, a->name);
	if (a->binding_count > LT_BINDINGS_MAX ||
	    (uint64_t)a->first_binding + a->binding_count > snapshot->binding_count)
		return lt_fail(err, LT_EINPUT, "account %s: budgets %u+%u of %u, at most %d",
		    a->name, a->first_binding, a->binding_count, snapshot->binding_count,
		    LT_BINDINGS_MAX);
	if (a->parent > snapshot->account_count)
		return lt_fail(err, LT_EINPUT, "account %s: parent %u of %u", a->name, a->parent,
		    snapshot->account_count);
	const uint32_t *const bindings = snapshot->bindings + a->first_binding;
	for (uint32_t i = 0; i < a->binding_count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (bindings[i] == bindings[k])
				return lt_fail(err, LT_EINPUT, "account %s: budget %u binds twice",
				    a->name, bindings[i]);
	return LT_OK;
}

static int
check_binding(const struct lt_budget_snapshot *snapshot, uint32_t index, struct lt_error *err)
{
	if (snapshot->bindings[index] >= snapshot->budget_count)
		return lt_fail(err, LT_EINPUT, "binding %u: budget %u of %u", index,
		    snapshot->bindings[index], snapshot->budget_count);
	return LT_OK;
}

static int
check_pair(const struct lt_budget_snapshot *snapshot, uint32_t index, struct lt_error *err)
{
	const struct lt_pair *const p = &snapshot->pairs[index];

	if (p->account >= snapshot->account_count)
		return lt_fail(err, LT_EINPUT, "pair %u: account %u of %u", index, p->account,
		    snapshot->account_count);
	if (index > 0 &&
	    (p[-1].uid > p->uid || (p[-1].uid == p->uid && p[-1].account >= p->account)))
		return lt_fail(
		    err, LT_EINPUT, "pair %u: not after the one before, by uid and account", index);
	return LT_OK;
}

static int
check_manager(const struct lt_budget_snapshot *snapshot, uint32_t index, struct lt_error *err)
{
	const struct lt_manager *const m = &snapshot->managers[index];

	if (m->account > snapshot->account_count)
		return lt_fail(err, LT_EINPUT, "manager %u: account %u of %u", index, m->account,
		    snapshot->account_count);
	if (index > 0 &&
	    (m[-1].uid > m->uid || (m[-1].uid == m->uid && m[-1].account >= m->account)))
		return lt_fail(err, LT_EINPUT,
		    "manager %u: not after the one before, by uid and account", index);
	return LT_OK;
}

int
lt_sheet_check(const struct lt_budget_snapshot *snapshot, struct lt_error *err)
{
	const struct {
		const char *what;
		uint32_t count, limit;
		int (*check)(const struct lt_budget_snapshot *, uint32_t, struct lt_error *);
	} tables[] = {
	    {"budgets", snapshot->budget_count, LT_BUDGETS_MAX, check_budget},
	    {"usages", snapshot->usage_count, LT_USAGES_MAX, check_usage},
	    {"accounts", snapshot->account_count, LT_ACCOUNTS_MAX, check_account},
	    {"bindings", snapshot->binding_count, LT_ACCOUNTS_MAX * LT_BINDINGS_MAX, check_binding},
	    {"pairs", snapshot->pair_count, LT_PAIRS_MAX, check_pair},
	    {"managers", snapshot->manager_count, LT_MANAGERS_MAX, check_manager},
	};
	const size_t table_count = sizeof(tables) / sizeof(tables[0]);

	for (size_t t = 0; t < table_count; t++)
		if (tables[t].count > tables[t].limit)
			return lt_fail(err, LT_ELIMIT, "budget snapshot: %u %s, limit %u",
			    tables[t].count, tables[t].what, tables[t].limit);
	if (!sane_time(snapshot->compiled_utc_s) || !sane_time(snapshot->jobs_utc_s))
		return lt_fail(err, LT_EINPUT, "budget snapshot: compiled at %lld, jobs of %lld",
		    (long long)snapshot->compiled_utc_s, (long long)snapshot->jobs_utc_s);
	if ((unsigned)snapshot->on_unknown > LT_RULE_ALLOW ||
	    snapshot->on_unknown == LT_RULE_WARN || snapshot->stale_after_s < 0)
		return lt_fail(err, LT_EINPUT, "budget snapshot: on_unknown %d, stale_after %lld s",
		    snapshot->on_unknown, (long long)snapshot->stale_after_s);
	for (size_t t = 0; t < table_count; t++)
		for (uint32_t i = 0; i < tables[t].count; i++) {
			const int code = tables[t].check(snapshot, i, err);

			if (code != LT_OK)
				return code;
		}
	return LT_OK;
}
