/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the market snapshot from the policy, Slurm's partitions, the signals' steps and the booked
 * nodes. It is built from loose parts, packed, and read back: lowtided uses byte for byte what the
 * plugins read.
 *
 * The facts of each shape's GPUs come from the policy's name for the partition, else from the Gres
 * type: docs/model.md, eq. (32). On failure the market before stays in force.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "compile_market.h"
#include "files.h"
#include "gpu_kinds.h"
#include "hazard.h"
#include "ledger.h"
#include "occupancy.h"
#include "policy_load.h"
#include "signals.h"
#include "site.h"

/* GPUs without a type are a kind, too. */
static void
add_untyped(struct lt_shape *shape)
{
	uint32_t typed = 0;

	for (int i = 0; i < LT_GPU_KINDS_MAX; i++) {
		struct lt_gpu_kind *const kind = &shape->kinds[i];

		if (kind->count == 0 && typed < shape->gpus && !shape->gpus_unclear)
			*kind = (struct lt_gpu_kind){.count = shape->gpus - typed};
		typed += kind->count;
	}
}

/* "1g.5gb" alone: the slice of a GPU that its node has beside it. */
static bool
slice_of_node(struct lt_gpu *room, const struct lt_policy *policy, const struct lt_shape *shape,
    const char *type)
{
	for (int i = 0; i < LT_GPU_KINDS_MAX; i++) {
		struct lt_gpu whole;
		const struct lt_gpu *const gpu =
		    shape->kinds[i].count == 0
			? NULL
			: lt_policy_gpu(&whole, policy, shape->kinds[i].type);

		if (gpu == NULL || gpu->mig_slices == 0)
			continue;
		*room = *gpu;
		return lt_gpu_is_slice(type) && lt_gpu_slice(room, type);
	}
	return false;
}

/* Finds the GPU's facts. The site's own row describes what Slurm counts as one. */
static bool
find_gpu(struct lt_gpu *room, const struct lt_policy *policy, const char *said,
    const struct lt_shape *shape, const char *type)
{
	const struct lt_gpu *const gpu = lt_policy_gpu(room, policy, said[0] != '\0' ? said : type);

	if (gpu == NULL)
		return slice_of_node(room, policy, shape, type);
	if (gpu != room)
		*room = *gpu;
	return said[0] == '\0' || room->mig_slices == 0 || lt_gpu_slice(room, type);
}

static int
add_row(struct lt_market *m, const struct lt_gpu *gpu)
{
	for (uint32_t i = 0; i < m->gpu_count; i++)
		if (strcmp(m->gpus[i].name, gpu->name) == 0)
			return (int)i;
	if (m->gpu_count >= LT_GPUS_MAX)
		return -1;
	m->gpus[m->gpu_count] = *gpu;
	return (int)m->gpu_count++;
}

/* Returns the kind with the least memory; -1 where one is not known. */
static int
least_of(const struct lt_market *m, const struct lt_shape *shape)
{
	int least = -1;

	for (int i = 0; i < LT_GPU_KINDS_MAX && shape->kinds[i].count > 0; i++) {
		const int index = shape->kinds[i].gpu_index;

		if (index < 0)
			return -1;
		if (least < 0 || m->gpus[index].memory_mib < m->gpus[least].memory_mib)
			least = index;
	}
	return least;
}

/* Shares the policy's watts, which are the node's, among its kinds by their own, and evenly where
 * one is not known. */
static void
share_watts(struct lt_shape *shape, double node_gpu_w)
{
	const double own = lt_gpus_watts(shape, 0, "", (double)shape->gpus);

	for (int i = 0; i < LT_GPU_KINDS_MAX; i++) {
		struct lt_gpu_kind *const kind = &shape->kinds[i];

		if (kind->count > 0)
			kind->watts =
			    own > 0 ? kind->watts * node_gpu_w / own : node_gpu_w / shape->gpus;
	}
}

static void
compile_shape(struct lt_market *m, struct lt_shape *shape, const struct lt_policy *policy,
    const struct lt_policy_partition *from)
{
	add_untyped(shape);
	for (int i = 0; i < LT_GPU_KINDS_MAX && shape->kinds[i].count > 0; i++) {
		struct lt_gpu_kind *const kind = &shape->kinds[i];
		struct lt_gpu room;

		kind->gpu_index = -1;
		kind->watts = 0;
		if (!find_gpu(&room, policy, from != NULL ? from->gpu : "", shape, kind->type))
			continue;
		kind->watts = room.power_w;
		kind->gpu_index = add_row(m, &room);
	}
	shape->gpu_index = least_of(m, shape);
	if (from != NULL && from->node_gpu_w > 0)
		share_watts(shape, from->node_gpu_w);
}

/* Rows are added to market->gpus, which has room for LT_GPUS_MAX. */
static void
compile_gpus(struct lt_market *m, const struct lt_policy *policy)
{
	for (uint32_t i = 0; i < m->shape_count; i++)
		m->shapes[i].gpu_index = -1;
	for (uint32_t i = 0; i < m->partition_count; i++) {
		struct lt_partition *const p = &m->partitions[i];
		const struct lt_policy_partition *const from =
		    lt_policy_partition_find(policy, p->name);
		bool known = true;

		p->node_gpu_w = 0;
		for (uint32_t k = 0; k < p->shape_count; k++) {
			struct lt_shape *const shape = &m->shapes[p->first_shape + k];

			if (shape->gpus == 0)
				continue;
			compile_shape(m, shape, policy, from);
			const double watts = lt_gpus_watts(
			    shape, from != NULL ? from->node_gpu_w : 0, "", (double)shape->gpus);

			known = known && watts >= 0;
			if (watts > p->node_gpu_w)
				p->node_gpu_w = watts;
		}
		if (!known)
			p->node_gpu_w = 0;
	}
}

/* Interruptions per node-hour where the source has said nothing yet: once a minute, so that nothing
 * is placed there for its price alone. */
#define UNKNOWN_HAZARD 60.0

struct build { /* parts of a market, freed after packing */
	struct lt_market market;
	struct lt_series series[LT_SERIES_MAX];
	int *source_series; /* by source index; LT_NO_SERIES = not yet */
	struct lt_site *site;
	struct lt_signals_state *signals;
	struct lt_ledger *ledger;
	int64_t now_utc_s;
};

static struct lt_series *
new_series(struct build *b, uint32_t count, int *index, struct lt_error *err)
{
	if (b->market.series_count >= LT_SERIES_MAX) {
		lt_fail(err, LT_ELIMIT, "market: more than %d series", LT_SERIES_MAX);
		return NULL;
	}
	struct lt_series *const s = &b->series[b->market.series_count];
	s->count = count;
	s->start_utc_s = calloc(count + 1, sizeof(*s->start_utc_s));
	s->value = calloc(count + 1, sizeof(*s->value));
	s->integral = calloc(count + 1, sizeof(*s->integral));
	*index = (int)b->market.series_count++;
	if (s->start_utc_s == NULL || s->value == NULL || s->integral == NULL) {
		lt_fail(err, LT_ENOMEM, "market: out of memory");
		return NULL;
	}
	return s;
}

static int
constant_series(struct build *b, double value, int *index, struct lt_error *err)
{
	struct lt_series *const s = new_series(b, 1, index, err);

	if (s == NULL)
		return err->code;
	s->quality = LT_QUALITY_CONSTANT;
	s->issued_utc_s = b->now_utc_s;
	s->start_utc_s[0] = b->now_utc_s;
	s->start_utc_s[1] = b->now_utc_s + 1;
	s->value[0] = value;
	return lt_series_prepare(s, err);
}

/* The quality of the steps from now to a day ahead: the worst. */
static enum lt_quality
quality_of(const struct lt_source *source, int64_t now_utc_s)
{
	enum lt_quality worst = LT_QUALITY_NONE;

	for (uint32_t i = 0; i < source->step_count; i++)
		if (source->steps[i].end_utc_s > now_utc_s &&
		    source->steps[i].start_utc_s < now_utc_s + 86400 &&
		    source->steps[i].quality > worst)
			worst = source->steps[i].quality;
	return worst == LT_QUALITY_NONE ? LT_QUALITY_LAST_VALUE : worst;
}

static int
source_series(struct build *b, const struct lt_source *source, int *index, struct lt_error *err)
{
	struct lt_series *const s = new_series(b, source->step_count, index, err);

	if (s == NULL)
		return err->code;
	for (uint32_t i = 0; i < source->step_count; i++) {
		s->start_utc_s[i] = source->steps[i].start_utc_s;
		s->value[i] = source->steps[i].value;
	}
	s->start_utc_s[source->step_count] = source->steps[source->step_count - 1].end_utc_s;
	s->quality = quality_of(source, b->now_utc_s);
	s->issued_utc_s = lt_source_made(source, b->now_utc_s);
	memcpy(s->source, source->policy->name, sizeof(s->source));
	return lt_series_prepare(s, err);
}

/* Adds the series of one signal, each source once. */
static int
add_signal(struct build *b, const struct lt_policy_signal *signal, enum lt_quantity wanted,
    int *index, struct lt_error *err)
{
	const struct lt_site *const site = b->site;

	if (!signal->is_set)
		return LT_OK;
	if (signal->is_constant)
		return constant_series(b, signal->constant, index, err);
	const struct lt_source *const source =
	    lt_signal_source(b->signals, site->policy, signal, b->now_utc_s);
	if (source == NULL)
		return LT_OK; /* missing is not zero: no series */
	if (source->quantity != wanted)
		return lt_fail(err, LT_EINPUT, "%s:%d:%d: source %s gives %s, want %s",
		    site->policy->path, signal->line, signal->column, source->policy->name,
		    lt_quantity_title(source->quantity), lt_quantity_title(wanted));
	int *const made = &b->source_series[source - b->signals->sources];
	if (*made == LT_NO_SERIES) {
		const int code = source_series(b, source, made, err);

		if (code != LT_OK)
			return code;
	}
	*index = *made;
	return LT_OK;
}

static void
apply_power(
    struct lt_partition *p, const struct lt_policy_partition *from, const struct lt_shape *shapes)
{
	/* docs/model.md, eq. (32): what the policy does not say is that of a plain two-socket
	 * server, by the first shape. */
	static const double idle_w = 200, cpu_w_per_core = 4.5;

	p->node_idle_w = from->node_idle_w;
	p->node_cpu_w = from->node_cpu_w;
	if (p->shape_count == 0)
		return;
	const struct lt_shape *const shape = &shapes[p->first_shape];
	if (p->node_idle_w <= 0)
		p->node_idle_w = idle_w;
	if (p->node_cpu_w <= 0)
		p->node_cpu_w = cpu_w_per_core * shape->cpus;
}

static void
apply_hazard(struct build *b, struct lt_partition *p, const struct lt_policy_partition *from)
{
	const struct lt_hazard hazard =
	    lt_hazard_of(b->signals, b->ledger, b->site->policy, from, b->now_utc_s);

	p->hazard_per_node_hour = hazard.value;
	p->notice_s = (double)from->notice_s;
	p->restart_s = (double)from->restart_s;
	if (!from->preemptible && hazard.known)
		p->restart_s = LT_FAILED_RESTART_S;
	else if (from->preemptible && !hazard.known)
		p->hazard_per_node_hour = UNKNOWN_HAZARD;
	const struct lt_availability *const learned =
	    lt_there_counts(from) ? lt_there_learned(&b->site->there, b->ledger, p, b->now_utc_s)
				  : NULL;
	if (learned != NULL)
		p->availability = *learned;
}

static bool
has_gpus(const struct lt_partition *p, const struct lt_shape *shapes)
{
	for (uint32_t i = 0; i < p->shape_count; i++) {
		const struct lt_shape *const shape = &shapes[p->first_shape + i];

		if (shape->gpus > 0 || shape->shards > 0)
			return true;
	}
	return false;
}

/* Sets which jobs may be moved there. Sites keep nodes with GPUs for jobs that ask for GPUs by
 * rules that lowtide can't see: so that is the rule where the policy has none. */
static void
apply_accepts(
    struct lt_partition *p, const struct lt_policy_partition *from, const struct lt_shape *shapes)
{
	uint32_t accepts = from->accepts;

	if (accepts == 0)
		accepts = has_gpus(p, shapes) ? 1u << LT_ACCEPTS_GPU
					      : 1u << LT_ACCEPTS_GPU | 1u << LT_ACCEPTS_CPU;
	if (!(accepts & 1u << LT_ACCEPTS_CPU))
		p->flags |= LT_PARTITION_NO_CPU_JOBS;
	if (!(accepts & 1u << LT_ACCEPTS_GPU))
		p->flags |= LT_PARTITION_NO_GPU_JOBS;
	if (!from->is_target)
		p->flags |= LT_PARTITION_NO_TARGET;
	else if (from->target_said)
		p->flags &= ~(uint32_t)LT_PARTITION_NO_NODES;
}

static int
apply_policy(struct build *b, struct lt_partition *p, struct lt_error *err)
{
	const struct lt_site *const site = b->site;

	p->price_series = p->carbon_series = p->tariff_series = p->occupancy_series = LT_NO_SERIES;
	p->pue = 1;
	const struct lt_policy_partition *const from =
	    lt_policy_partition_find(site->policy, p->name);
	if (from == NULL)
		return LT_OK;
	p->flags |= LT_PARTITION_MANAGED;
	if (from->preemptible)
		p->flags |= LT_PARTITION_PREEMPTIBLE;
	if (from->owned)
		p->flags |= LT_PARTITION_OWNED;
	apply_accepts(p, from, b->market.shapes);
	apply_hazard(b, p, from);
	p->engineer_micros_per_restart = from->engineer_micros_per_restart;
	p->storage_micros_per_gib_month = from->storage_micros_per_gib_month;
	p->storage_gib_per_s = from->storage_gib_per_s;
	p->embodied_g_per_node_hour = from->embodied_g_per_node_hour;
	p->worst_intensity = from->worst_intensity;
	p->pue = lt_policy_pue(&from->pue, b->now_utc_s);
	apply_power(p, from, b->market.shapes);
	int code = add_signal(b, &from->price, LT_QUANTITY_PRICE, &p->price_series, err);
	if (code == LT_OK)
		code = add_signal(b, &from->carbon,
		    site->policy->intensity == LT_INTENSITY_MARGINAL ? LT_QUANTITY_MARGINAL
								     : LT_QUANTITY_CARBON,
		    &p->carbon_series, err);
	if (code == LT_OK)
		code = add_signal(b, &from->tariff, LT_QUANTITY_TARIFF, &p->tariff_series, err);
	return code;
}

/* Sets the default memory. Where memory is consumed and no DefMem* is set, Slurm gives a job that
 * names none all of its nodes' memory. */
static void
apply_memory(struct lt_market *m, const struct lt_batch_conf *conf)
{
	m->memory_ignored = !conf->memory_counts;
	m->core_spec_counts = conf->core_spec_counts;
	if (m->memory_ignored)
		return;
	for (uint32_t i = 0; i < m->partition_count; i++) {
		struct lt_partition *const p = &m->partitions[i];

		if (p->default_memory_mib > 0)
			continue;
		p->default_memory_is_per_cpu = false;
		for (uint32_t k = 0; k < p->shape_count; k++) {
			const struct lt_shape *const s = &m->shapes[p->first_shape + k];

			if (s->memory_mib > p->default_memory_mib)
				p->default_memory_mib = s->memory_mib;
		}
	}
}

/* Adds the policy's nodes where none was ever there. One has as many sockets and threads as is
 * least sure. */
static void
add_policy_nodes(struct lt_market *m, const struct lt_policy *policy)
{
	for (uint32_t i = 0; i < m->partition_count; i++) {
		struct lt_partition *const p = &m->partitions[i];
		const struct lt_policy_partition *const from =
		    lt_policy_partition_find(policy, p->name);

		if (p->shape_count > 0 || from == NULL || !from->node.is_set ||
		    m->shape_count >= LT_SHAPES_MAX)
			continue;
		p->first_shape = m->shape_count++;
		p->shape_count = 1;
		p->node_count = from->node.count;
		m->shapes[p->first_shape] = (struct lt_shape){.node_count = from->node.count,
		    .cpus = from->node.cpus,
		    .memory_mib = from->node.memory_mib,
		    .gpus = from->node.gpus};
	}
}

static void
apply_rules(struct lt_market *m, const struct lt_site *site, const struct lt_batch_jobs *list,
    int64_t now_utc_s)
{
	const struct lt_policy *const p = site->policy;

	m->compiled_utc_s = now_utc_s;
	m->jobs_utc_s = lt_occupancy_until(list);
	m->generation = site->market.generation + 1;
	if (m->generation <= (uint64_t)now_utc_s)
		m->generation = (uint64_t)now_utc_s; /* rises over restarts */
	snprintf(m->cluster, sizeof(m->cluster), "%s", site->tables.conf.cluster);
	snprintf(m->currency, sizeof(m->currency), "%s", p->currency);
	m->mode = p->mode;
	m->carbon_price_micros_per_tonne = p->carbon_price_micros_per_tonne;
	m->charge_micros_per_tonne = p->charge.micros_per_tonne;
	m->max_delay_s = p->max_delay_s;
	m->stale_after_s = p->stale_after_s;
	m->deadline_slack_s = p->deadline_slack_s;
	m->assume_time_s = p->assume_time_s;
	m->deadline_confidence_ppm = p->deadline_confidence_ppm;
	m->max_restart_risk_ppm = p->max_restart_risk_ppm;
	m->proof_required =
	    p->spot_proof == LT_SPOT_PROOF_REQUIRED && lt_batch_words.tells_progress;
	m->max_extra_cost_ppm = p->max_extra_cost_ppm;
	m->hold_margin_ppm = p->hold_margin_ppm;
	m->waiting_micros_per_hour = p->waiting_micros_per_hour;
	m->waiting_mg_per_hour = llround(p->waiting_g_per_hour * 1000);
	m->min_saving_ppm = p->min_saving_ppm;
	m->max_array_size = site->tables.conf.max_array_size;
	lt_calendar_zone(&m->zone, &site->offsets, now_utc_s);
}

/* Adds the rules that Slurm's step daemons carry out. Other batch systems have nobody who does. */
static void
add_node_rules(struct lt_market *m, const struct lt_policy *policy)
{
	if (lt_batch_words.name != NULL)
		return;
	m->power_caps = policy->power_caps;
	m->power_cap_count = (uint32_t)policy->power_cap_count;
	m->power_cap_above = policy->power_cap_above;
	m->precision_rules = policy->precisions;
	m->precision_rule_count = (uint32_t)policy->precision_count;
}

/* Returns the kinds of limits that a job may meet, if Slurm enforces limits. */
static uint32_t
job_limits(const struct lt_tables *tables)
{
	return strstr(tables->conf.accounting_enforce, "limits") != NULL
		   ? tables->qos_limits | tables->account_limits
		   : 0;
}

static int
add_bars(struct lt_market *m, struct lt_site *site, int64_t now_utc_s, struct lt_error *err)
{
	m->bars = calloc(LT_BARS_MAX, sizeof(*m->bars));
	if (m->bars == NULL)
		return lt_fail(err, LT_ENOMEM, "market: out of memory");
	m->bar_count =
	    lt_bars_of_market(m->bars, &site->bars, m, lt_tables_hash(&site->tables), now_utc_s);
	return LT_OK;
}

static int
fill_market(struct build *b, const struct lt_batch_jobs *list, struct lt_error *err)
{
	struct lt_site *const site = b->site;
	struct lt_market *const m = &b->market;

	m->series = b->series;
	m->partition_count = site->tables.partition_count;
	m->shape_count = site->tables.shape_count;
	if (site->tables.partition_count > LT_PARTITIONS_MAX)
		return lt_fail(err, LT_ELIMIT, "Slurm has %u partitions, limit %d",
		    site->tables.partition_count, LT_PARTITIONS_MAX);
	m->partitions = calloc(site->tables.partition_count + 1u, sizeof(*m->partitions));
	m->shapes = calloc(site->tables.shape_count + m->partition_count + 1u, sizeof(*m->shapes));
	m->gpus = calloc(LT_GPUS_MAX, sizeof(*m->gpus));
	b->source_series = calloc((size_t)b->signals->source_count + 1, sizeof(int));
	if (m->partitions == NULL || m->shapes == NULL || m->gpus == NULL ||
	    b->source_series == NULL)
		return lt_fail(err, LT_ENOMEM, "market: out of memory");
	for (int i = 0; i < b->signals->source_count; i++)
		b->source_series[i] = LT_NO_SERIES;
	memcpy(m->partitions, site->tables.partitions,
	    site->tables.partition_count * sizeof(*m->partitions));
	memcpy(m->shapes, site->tables.shapes, site->tables.shape_count * sizeof(*m->shapes));
	m->classes = site->policy->classes;
	m->class_count = (uint32_t)site->policy->class_count;
	add_node_rules(m, site->policy);
	apply_rules(m, site, list, b->now_utc_s);
	add_policy_nodes(m, site->policy);
	compile_gpus(m, site->policy);
	apply_memory(m, &site->tables.conf);
	m->job_limits = job_limits(&site->tables);
	for (uint32_t i = 0; i < m->partition_count; i++) {
		const int code = apply_policy(b, &m->partitions[i], err);

		if (code != LT_OK)
			return code;
	}
	return add_bars(m, site, b->now_utc_s, err);
}

/* Counts the nodes of a partition that are there and take no job now. */
static uint32_t
nodes_away(const struct lt_batch_nodes *nodes, uint32_t partition)
{
	uint32_t count = 0;

	for (uint32_t i = 0; nodes->are_away != NULL && i < nodes->range_count; i++) {
		const struct lt_node_range *const range = &nodes->ranges[i];

		for (uint32_t k = range->first;
		     range->partition == partition && k <= range->last && k < nodes->count; k++)
			count += nodes->are_away[k];
	}
	return count;
}

/* Nodes booked over time, for partitions that a job may be moved to. windows:
 * one of each job. */
static int
add_busy(struct build *b, const struct lt_batch_jobs *list, struct lt_planned *windows,
    struct lt_error *err)
{
	const struct lt_batch_nodes *const nodes = &b->site->tables.nodes;
	struct lt_market *const m = &b->market;

	for (uint32_t i = 0; i < m->partition_count; i++) {
		struct lt_partition *const p = &m->partitions[i];
		struct lt_occupancy occupancy = {.away = nodes_away(nodes, i),
		    .others = lt_batch_taken(p->name),
		    .windows = windows};

		if (!(p->flags & LT_PARTITION_MANAGED))
			continue;
		lt_occupancy_count(&occupancy, list, m, (int)i, b->now_utc_s);
		if (occupancy.queued)
			p->flags |= LT_PARTITION_QUEUED;
		if (occupancy.count == 0)
			continue;
		struct lt_series *const s =
		    new_series(b, occupancy.count, &p->occupancy_series, err);
		if (s == NULL)
			return err->code;
		s->quality = LT_QUALITY_MEASURED;
		s->issued_utc_s = b->now_utc_s;
		memcpy(s->start_utc_s, occupancy.start_utc_s,
		    (occupancy.count + 1) * sizeof(*s->start_utc_s));
		memcpy(s->value, occupancy.nodes, occupancy.count * sizeof(*s->value));
		const int code = lt_series_prepare(s, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

static void
free_build(struct build *b)
{
	for (uint32_t i = 0; i < b->market.series_count; i++) {
		free(b->series[i].start_utc_s);
		free(b->series[i].value);
		free(b->series[i].integral);
	}
	free(b->market.partitions);
	free(b->market.shapes);
	free(b->market.gpus);
	free(b->market.bars);
	free(b->source_series);
	free(b);
}

/* Takes the market into use as plugins will read it. */
static int
adopt(struct lt_site *site, const struct lt_market *market, struct lt_error *err)
{
	unsigned char *bytes = NULL;
	size_t byte_count = 0;
	struct lt_market loaded;
	int code = lt_market_pack(market, &bytes, &byte_count, err);

	if (code != LT_OK)
		return code;
	code = lt_market_unpack(&loaded, bytes, byte_count, err);
	free(bytes);
	if (code != LT_OK)
		return code;
	if (site->has_market)
		lt_market_free(&site->market);
	site->market = loaded;
	/* No plugin asks for it, so no file has it. */
	for (uint32_t i = 0; i < loaded.class_count; i++)
		loaded.classes[i].assume_time_s = site->policy->classes[i].assume_time_s;
	site->has_market = true;
	return LT_OK;
}

int
lt_compile_market(struct lt_site *site, struct lt_signals_state *signals, struct lt_ledger *ledger,
    const struct lt_batch_jobs *list, struct lt_planned *windows, int64_t now_utc_s,
    struct lt_error *err)
{
	struct build *const b = calloc(1, sizeof(*b));

	if (b == NULL)
		return lt_fail(err, LT_ENOMEM, "market: out of memory");
	b->site = site;
	b->signals = signals;
	b->ledger = ledger;
	b->now_utc_s = now_utc_s;
	int code = fill_market(b, list, err);
	if (code == LT_OK)
		code = add_busy(b, list, windows, err);
	if (code == LT_OK)
		code = adopt(site, &b->market, err);
	free_build(b);
	return code;
}
