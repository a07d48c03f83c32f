/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a market snapshot: one function per record serves both ways.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "market_records.h"
#include "units.h"

enum {
	STEP_AFTER_BYTES = 4,
	STEP_BYTES = STEP_AFTER_BYTES + 8,
};

static void
code_enum(struct lt_coder *coder, unsigned *value)
{
	uint32_t bits = *value;

	lt_code_u32(coder, &bits);
	*value = bits;
}

/* 0.2 has one for all partitions: the most, but for those without end. */
static void
code_overrun_before(struct lt_coder *coder, struct lt_market *m)
{
	int64_t most = -1;

	for (uint32_t i = 0; coder->writing && i < m->partition_count; i++) {
		const int64_t is = m->partitions[i].overrun_s;

		if (is != INT64_MAX && is > most)
			most = is;
	}
	if (most < 0)
		most = INT64_MAX;
	lt_code_i64(coder, &most);
	for (uint32_t i = 0; !coder->writing && i < m->partition_count; i++)
		m->partitions[i].overrun_s = most;
}

void
lt_code_settings(struct lt_coder *coder, struct lt_market *m)
{
	lt_code_text(coder, m->cluster, sizeof(m->cluster));
	lt_code_text(coder, m->currency, sizeof(m->currency));
	unsigned mode = m->mode;
	code_enum(coder, &mode);
	m->mode = (enum lt_mode)mode;
	lt_code_i64(coder, &m->jobs_utc_s);
	lt_code_i64(coder, &m->carbon_price_micros_per_tonne);
	if (!coder->is_before)
		lt_code_i64(coder, &m->charge_micros_per_tonne);
	lt_code_i64(coder, &m->max_delay_s);
	lt_code_i64(coder, &m->stale_after_s);
	lt_code_i64(coder, &m->deadline_slack_s);
	lt_code_i64(coder, &m->assume_time_s);
	if (coder->is_before)
		code_overrun_before(coder, m);
	lt_code_u32(coder, &m->deadline_confidence_ppm);
	lt_code_u32(coder, &m->max_restart_risk_ppm);
	lt_code_u32(coder, &m->max_extra_cost_ppm);
	lt_code_u32(coder, &m->hold_margin_ppm);
	lt_code_i64(coder, &m->waiting_micros_per_hour);
	lt_code_i64(coder, &m->waiting_mg_per_hour);
	lt_code_u32(coder, &m->min_saving_ppm);
	lt_code_u32(coder, &m->max_array_size);
	if (!coder->is_before)
		lt_code_u32(coder, &m->job_limits);
	lt_code_bool(coder, &m->memory_ignored);
	lt_code_bool(coder, &m->core_spec_counts);
	lt_code_f64(coder, &m->power_cap_above);
	lt_code_bool(coder, &m->proof_required);
	lt_code_i32(coder, &m->zone.count);
	for (int i = 0; i < LT_ZONE_STEPS_MAX; i++) {
		lt_code_i64(coder, &m->zone.steps[i].start_utc_s);
		lt_code_i32(coder, &m->zone.steps[i].offset_s);
		lt_code_text(
		    coder, m->zone.steps[i].abbreviation, sizeof(m->zone.steps[i].abbreviation));
	}
}

/* Waits only where there is a history. */
static void
code_availability(struct lt_coder *coder, struct lt_availability *availability)
{
	struct lt_wait *wait = &availability->waits[0][0][0];

	lt_code_u32(coder, &availability->seen_s);
	if (availability->seen_s == 0)
		return;
	lt_code_u32(coder, &availability->there_ppm);
	lt_code_u32(coder, &availability->taken_ppm);
	lt_code_u32(coder, &availability->part_ppm);
	lt_code_u32(coder, &availability->together_ppm);
	for (int i = 0; i < LT_WAIT_NEEDS * LT_WAIT_COSTS * LT_WAIT_WORKS; i++, wait++) {
		lt_code_u32(coder, &wait->mean_s);
		for (int k = 0; k < LT_WAIT_CHANCES; k++)
			lt_code_u32(coder, &wait->passed_s[k]);
	}
}

static void
code_limits(struct lt_coder *coder, struct lt_limits *limits)
{
	for (int i = 0; i < LT_LIMITED_COUNT; i++) {
		lt_code_u64(coder, &limits->most[i]);
		lt_code_u64(coder, &limits->most_per_node[i]);
		lt_code_u64(coder, &limits->least[i]);
	}
	lt_code_i64(coder, &limits->most_s);
	lt_code_bool(coder, &limits->others);
}

enum { DEFAULTS_BEFORE_SIZE = 128, GPU_NAME_BEFORE_SIZE = 32 };

/* 0.2 moves jobs only where these texts are equal. */
static void
code_unlike_before(struct lt_coder *coder, struct lt_partition *p)
{
	char text[DEFAULTS_BEFORE_SIZE] = "";
	uint64_t hash = p->unlike_hash ^ p->billing_hash;

	for (int i = 0; i < LT_LIMITED_COUNT; i++)
		hash = hash * 31 + p->limits.most[i] * 7 + p->limits.most_per_node[i] * 5 +
		       p->limits.least[i];
	hash = hash * 31 + (uint64_t)p->limits.most_s + p->limits.others;
	if (coder->writing)
		snprintf(text, sizeof(text), "%u,%" PRIu64 ",%" PRIx64, p->default_cpus_per_gpu,
		    p->default_memory_mib_per_gpu, hash);
	lt_code_text(coder, text, sizeof(text));
	if (!coder->writing && text[0])
		p->unlike_hash = lt_name_hash(text);
}

static uint32_t
flags_before(const struct lt_partition *p)
{
	const uint32_t known = LT_PARTITION_NO_CPU_JOBS - 1;
	/* To some jobs alone a partition is as open as it was to 0.2. */
	const uint32_t closed =
	    LT_PARTITION_NO_TARGET | LT_PARTITION_NO_NODES | LT_PARTITION_CLOSED;

	return p->flags & closed ? p->flags & known & ~(uint32_t)LT_PARTITION_UP : p->flags & known;
}

/* Cut where it was shorter. */
static void
code_gpu_name(struct lt_coder *coder, char name[LT_GPU_NAME_SIZE])
{
	if (coder->is_before)
		name[GPU_NAME_BEFORE_SIZE - 1] = '\0';
	lt_code_text(coder, name, coder->is_before ? GPU_NAME_BEFORE_SIZE : LT_GPU_NAME_SIZE);
}

void
lt_code_partition(struct lt_coder *coder, struct lt_partition *p)
{
	if (coder->is_before && coder->writing)
		p->flags = flags_before(p);
	lt_code_text(coder, p->name, sizeof(p->name));
	lt_code_u32(coder, &p->flags);
	lt_code_i64(coder, &p->max_time_s);
	lt_code_i64(coder, &p->default_time_s);
	if (!coder->is_before)
		lt_code_i64(coder, &p->overrun_s);
	lt_code_u32(coder, &p->min_nodes);
	lt_code_u32(coder, &p->max_nodes);
	lt_code_u64(coder, &p->default_memory_mib);
	lt_code_bool(coder, &p->default_memory_is_per_cpu);
	lt_code_u64(coder, &p->max_memory_mib);
	lt_code_bool(coder, &p->max_memory_is_per_cpu);
	if (coder->is_before)
		code_unlike_before(coder, p);
	lt_code_u32(coder, &p->default_cpus_per_gpu);
	lt_code_u64(coder, &p->default_memory_mib_per_gpu);
	lt_code_u32(coder, &p->max_cpus_per_node);
	lt_code_u32(coder, &p->max_cpus_per_socket);
	if (!coder->is_before) {
		code_limits(coder, &p->limits);
		lt_code_u64(coder, &p->unlike_hash);
		lt_code_u64(coder, &p->billing_hash);
		lt_code_i64(coder, &p->reserved_utc_s);
		lt_code_i64(coder, &p->free_utc_s);
		lt_code_i64(coder, &p->away_utc_s);
	}
	lt_code_u32(coder, &p->node_count);
	lt_code_u32(coder, &p->first_shape);
	lt_code_u32(coder, &p->shape_count);
	lt_code_i32(coder, &p->price_series);
	lt_code_i32(coder, &p->carbon_series);
	lt_code_i32(coder, &p->tariff_series);
	lt_code_i32(coder, &p->occupancy_series);
	lt_code_f64(coder, &p->node_idle_w);
	lt_code_f64(coder, &p->node_cpu_w);
	lt_code_f64(coder, &p->node_gpu_w);
	lt_code_f64(coder, &p->pue);
	lt_code_f64(coder, &p->hazard_per_node_hour);
	lt_code_f64(coder, &p->notice_s);
	lt_code_f64(coder, &p->restart_s);
	lt_code_i64(coder, &p->engineer_micros_per_restart);
	lt_code_i64(coder, &p->storage_micros_per_gib_month);
	lt_code_f64(coder, &p->storage_gib_per_s);
	lt_code_f64(coder, &p->embodied_g_per_node_hour);
	lt_code_f64(coder, &p->worst_intensity);
	code_availability(coder, &p->availability);
}

static void
code_kinds(struct lt_coder *coder, struct lt_shape *shape)
{
	for (int i = 0; i < LT_GPU_KINDS_MAX; i++) {
		struct lt_gpu_kind *const kind = &shape->kinds[i];

		lt_code_text(coder, kind->type, sizeof(kind->type));
		lt_code_u32(coder, &kind->count);
		lt_code_i32(coder, &kind->gpu_index);
		lt_code_f64(coder, &kind->watts);
	}
	lt_code_bool(coder, &shape->gpus_unclear);
}

void
lt_code_shape(struct lt_coder *coder, struct lt_shape *shape)
{
	struct lt_gpu_kind *const most = &shape->kinds[0];

	lt_code_u32(coder, &shape->node_count);
	if (!coder->is_before)
		lt_code_u32(coder, &shape->closed_count);
	lt_code_u32(coder, &shape->cpus);
	lt_code_u32(coder, &shape->sockets);
	lt_code_u32(coder, &shape->threads);
	lt_code_u32(coder, &shape->gpus);
	if (coder->is_before)
		lt_code_u32(coder, &most->count);
	lt_code_u32(coder, &shape->shards);
	lt_code_u32(coder, &shape->gpu_cores);
	lt_code_u32(coder, &shape->socket_cores);
	lt_code_u64(coder, &shape->memory_mib);
	if (!coder->is_before) {
		lt_code_u64(coder, &shape->exact.cpu_milli);
		lt_code_u64(coder, &shape->exact.memory_kib);
		lt_code_u64(coder, &shape->exact.gpu_micro);
	}
	lt_code_u64(coder, &shape->tmp_disk_mib);
	lt_code_text(coder, shape->features, sizeof(shape->features));
	if (coder->is_before)
		code_gpu_name(coder, most->type);
	else
		code_kinds(coder, shape);
	lt_code_i32(coder, &shape->gpu_index);
	if (coder->is_before && !coder->writing)
		most->gpu_index = shape->gpu_index;
}

void
lt_code_gpu(struct lt_coder *coder, struct lt_gpu *gpu)
{
	code_gpu_name(coder, gpu->name);
	lt_code_u32(coder, &gpu->memory_mib);
	lt_code_u32(coder, &gpu->power_w);
	lt_code_u32(coder, &gpu->compute_capability);
	lt_code_f64(coder, &gpu->bandwidth_gb_s);
	for (int i = 0; i < LT_PRECISION_COUNT; i++)
		lt_code_f64(coder, &gpu->tflops[i]);
	if (!coder->is_before)
		lt_code_u32(coder, &gpu->mig_slices);
}

void
lt_code_class(struct lt_coder *coder, struct lt_class *row)
{
	unsigned pause = row->pause, objective = row->default_objective;

	/* 0.2 would take it for a class of all names. */
	if (coder->is_before && row->patterns[0])
		memcpy(row->account, "-", sizeof("-"));
	lt_code_text(coder, row->name, sizeof(row->name));
	if (!coder->is_before)
		lt_code_text(coder, row->patterns, sizeof(row->patterns));
	lt_code_text(coder, row->account, sizeof(row->account));
	lt_code_text(coder, row->qos, sizeof(row->qos));
	lt_code_text(coder, row->partition, sizeof(row->partition));
	code_enum(coder, &objective);
	row->default_objective = (enum lt_objective)objective;
	lt_code_bool(coder, &row->has_max_delay);
	lt_code_i64(coder, &row->max_delay_s);
	lt_code_u32(coder, &row->deadline_confidence_ppm);
	lt_code_i64(coder, &row->max_price_micros);
	lt_code_bool(coder, &row->on_demand_only);
	lt_code_u32(coder, &row->max_interruptions);
	code_enum(coder, &pause);
	row->pause = (enum lt_pause)pause;
	lt_code_bool(coder, &row->canary);
	lt_code_i64(coder, &row->smoke_above_node_s);
	lt_code_i64(coder, &row->smoke_within_s);
}

void
lt_code_power_cap(struct lt_coder *coder, struct lt_power_cap *rule)
{
	lt_code_text(coder, rule->account, sizeof(rule->account));
	lt_code_text(coder, rule->qos, sizeof(rule->qos));
	lt_code_text(coder, rule->partition, sizeof(rule->partition));
	code_gpu_name(coder, rule->gpu);
	lt_code_text(coder, rule->gpu_freq, sizeof(rule->gpu_freq));
	lt_code_text(coder, rule->cpu_freq, sizeof(rule->cpu_freq));
	lt_code_f64(coder, &rule->slow_down);
	lt_code_f64(coder, &rule->power);
}

void
lt_code_precision_rule(struct lt_coder *coder, struct lt_precision_rule *rule)
{
	unsigned of = rule->of, precision = rule->precision;

	code_enum(coder, &of);
	rule->of = (enum lt_precision_of)of;
	lt_code_text(coder, rule->name, sizeof(rule->name));
	code_enum(coder, &precision);
	rule->precision = (enum lt_precision)precision;
}

void
lt_code_bar(struct lt_coder *coder, struct lt_bar *bar)
{
	lt_code_u64(coder, &bar->asked);
	lt_code_u32(coder, &bar->partition);
}

void
lt_code_series_head(struct lt_coder *coder, struct lt_series *series)
{
	unsigned quality = series->quality;

	code_enum(coder, &quality);
	series->quality = (enum lt_quality)quality;
	lt_code_i64(coder, &series->issued_utc_s);
	lt_code_text(coder, series->source, sizeof(series->source));
}

/*
 * The first start, each later one as seconds after it, then the values. By hand, though all else
 * goes field by field: a market has half a million.
 */
void
lt_code_steps(struct lt_coder *coder, struct lt_series *series)
{
	const uint32_t count = series->count;

	lt_code_i64(coder, &series->start_utc_s[0]);
	const int64_t first = series->start_utc_s[0];
	unsigned char *const out = lt_coder_reserve(coder, count * STEP_BYTES);
	if (out != NULL) {
		unsigned char *const values = out + count * STEP_AFTER_BYTES;

		for (uint32_t i = 0; i < count; i++)
			lt_put_u32(out + i * STEP_AFTER_BYTES,
			    (uint32_t)(series->start_utc_s[i + 1] - first));
		for (uint32_t i = 0; i < count; i++)
			lt_put_f64(values + i * 8, series->value[i]);
	}
	const unsigned char *const in = lt_coder_take(coder, count * STEP_BYTES);
	if (in != NULL) {
		const unsigned char *const values = in + count * STEP_AFTER_BYTES;

		/* Unsigned: a hostile first start must not overflow. */
		for (uint32_t i = 0; i < count; i++)
			series->start_utc_s[i + 1] =
			    (int64_t)((uint64_t)first + lt_get_u32(in + i * STEP_AFTER_BYTES));
		for (uint32_t i = 0; i < count; i++)
			series->value[i] = lt_get_f64(values + i * 8);
	}
}

size_t
lt_steps_bytes(uint32_t count)
{
	return 8 + (size_t)count * STEP_BYTES;
}

/* The texts of one partition, in this order. */
static void
list_members(struct lt_partition *p, const char **members[LT_LISTS])
{
	members[0] = &p->allow_accounts;
	members[1] = &p->deny_accounts;
	members[2] = &p->allow_qos;
	members[3] = &p->deny_qos;
	members[4] = &p->qos_accounts;
}

void
lt_pack_lists(struct lt_coder *coder, const struct lt_partition *partition)
{
	struct lt_partition copy = *partition;
	const char **members[LT_LISTS];

	list_members(&copy, members);
	for (int i = 0; i < (coder->is_before ? LT_LISTS_BEFORE : LT_LISTS); i++) {
		const char *const text = *members[i] != NULL ? *members[i] : "";
		const size_t size = strlen(text) + 1;
		unsigned char *const out = lt_coder_reserve(coder, size);

		if (out != NULL)
			memcpy(out, text, size);
	}
}

/* Cut the section, copied to the arena, into its texts. */
bool
lt_unpack_lists(struct lt_market *market, const char *text, size_t length, int lists)
{
	const char *const end = text + length;

	for (uint32_t i = 0; i < market->partition_count; i++) {
		const char **members[LT_LISTS];

		list_members(&market->partitions[i], members);
		for (int k = 0; k < lists; k++) {
			const size_t left = (size_t)(end - text);
			const size_t size = strnlen(text, left) + 1;

			if (size > left)
				return false;
			*members[k] = text;
			text += size;
		}
	}
	return text == end;
}
