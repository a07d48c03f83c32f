/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitions and the kinds of node in them, as slurmctld has them now; the daemon lays the policy
 * over it. First which nodes take jobs, by their state and by reservations, and whether jobs may
 * lose nodes to others.
 *
 * Reads partitions, nodes, reservations and QOS limits of slurmctld; keeps nothing. A failed
 * question is returned, and nothing is filled in then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "ask_text.h"
#include "compat.h"
#include "history.h"
#include "qos.h"
#include "slurm_text.h"

/* ---- nodes and reservations ---- */

static bool
takes_jobs(uint32_t state)
{
	const uint32_t base = state & NODE_STATE_BASE;
	const uint32_t known = NODE_STATE_BASE | NODE_STATE_CLOUD | NODE_STATE_COMPLETING |
			       NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_UP |
			       NODE_STATE_POWERING_DOWN | NODE_STATE_PLANNED |
			       NODE_STATE_POWER_DOWN | NODE_STATE_POWER_UP | LT_SLURM_NODE_DYNAMIC;

	return (base == NODE_STATE_IDLE || base == NODE_STATE_ALLOCATED ||
		   base == NODE_STATE_MIXED) &&
	       (state & ~known) == 0;
}

/* True if the node takes new jobs. One that is powered down or planned for a job does; one in a
 * state that is not listed does not. */
static bool
is_open(const node_info_t *node)
{
	return takes_jobs(node->node_state);
}

/* Returns since when the node is down, drained or the like, by its reason; INT64_MAX = not known, 0
 * = it is not: a reservation alone takes no node away. */
static int64_t
away_since(const node_info_t *node)
{
	const uint32_t reserved = NODE_STATE_RES | NODE_STATE_MAINT;

	if (takes_jobs(node->node_state & ~reserved))
		return 0;
	return node->reason_time > 0 ? (int64_t)node->reason_time : INT64_MAX;
}

/* True if two lists of places of nodes (pairs of first and last, ended by -1) share one. */
static bool
share_nodes(const int32_t *a, const int32_t *b)
{
	for (const int32_t *x = a; x != NULL && x[0] >= 0; x += 2)
		for (const int32_t *y = b; y != NULL && y[0] >= 0; y += 2)
			if (x[0] <= y[1] && y[0] <= x[1])
				return true;
	return false;
}

/* Reservations of some of a partition's nodes, for any users. */
struct reserved {
	int64_t next_utc_s;  /* start of the next one; 0 = there is none */
	int64_t until_utc_s; /* last end of those that have begun; 0 = none */
};

static struct reserved
reserved_of(const partition_info_t *from, const reserve_info_msg_t *reservations, int64_t now_utc_s)
{
	struct reserved reserved = {0};

	for (uint32_t i = 0; i < reservations->record_count; i++) {
		const reserve_info_t *const r = &reservations->reservation_array[i];

		if (!share_nodes(from->node_inx, r->node_inx))
			continue;
		if (r->start_time > now_utc_s) {
			if (reserved.next_utc_s == 0 || r->start_time < reserved.next_utc_s)
				reserved.next_utc_s = r->start_time;
		} else if (r->end_time > now_utc_s && r->end_time > reserved.until_utc_s) {
			reserved.until_utc_s = r->end_time;
		}
	}
	return reserved;
}

/* Sets are_reserved[place] of each node that a reservation has now. */
static void
note_reserved(bool *are_reserved, uint32_t node_count, const reserve_info_msg_t *reservations,
    int64_t now_utc_s)
{
	for (uint32_t i = 0; i < reservations->record_count; i++) {
		const reserve_info_t *const r = &reservations->reservation_array[i];

		if (r->start_time > now_utc_s || r->end_time <= now_utc_s)
			continue;
		for (const int32_t *at = r->node_inx; at != NULL && at[0] >= 0; at += 2)
			for (int32_t k = at[0]; k <= at[1] && (uint32_t)k < node_count; k++)
				are_reserved[k] = true;
	}
}

/* True if jobs of the partition can lose their nodes to others: by partitions
 * only to those of a higher tier that share nodes with it; by QOS to any
 * job. */
static bool
may_be_preempted(const partition_info_t *from, const partition_info_msg_t *all, const char *type)
{
	if (type == NULL || strstr(type, "partition_prio") == NULL)
		return true;
	for (uint32_t i = 0; i < all->record_count; i++) {
		const partition_info_t *const other = &all->partition_array[i];

		if (other->priority_tier > from->priority_tier &&
		    share_nodes(other->node_inx, from->node_inx))
			return true;
	}
	return false;
}

/* True if Slurm cancels jobs of the partition to give their nodes to others. all: every
 * partition. */
static bool
cancels_jobs(
    const partition_info_t *from, const partition_info_msg_t *all, const slurm_conf_t *conf)
{
	const uint16_t used =
	    from->preempt_mode == NO_VAL16 ? conf->preempt_mode : from->preempt_mode;

	return (used & (uint16_t) ~(PREEMPT_MODE_GANG | PREEMPT_MODE_WITHIN)) ==
		   PREEMPT_MODE_CANCEL &&
	       may_be_preempted(from, all, conf->preempt_type);
}

/* ---- partitions ---- */

struct source { /* what slurmctld said */
	slurm_conf_t *conf;
	partition_info_msg_t *partitions;
	node_info_msg_t *nodes;
	reserve_info_msg_t *reservations;
	int64_t now_utc_s;
	struct lt_qos_limits limits;
};

static void
source_free(struct source *source)
{
	lt_qos_limits_close(&source->limits);
	if (source->reservations != NULL)
		slurm_free_reservation_info_msg(source->reservations);
	if (source->nodes != NULL)
		slurm_free_node_info_msg(source->nodes);
	if (source->partitions != NULL)
		slurm_free_partition_info_msg(source->partitions);
	if (source->conf != NULL)
		LT_SLURM_FREE_CONF(source->conf);
}

static int
source_load(struct source *source, struct lt_error *err)
{
	*source = (struct source){.now_utc_s = time(NULL)};
	const int rc = lt_slurm_answers(err);
	if (rc != LT_OK)
		return rc;
	if (slurm_load_ctl_conf(0, &source->conf) != SLURM_SUCCESS)
		return lt_slurm_fail("slurmctld: configuration", errno, err);
	if (slurm_load_partitions(0, &source->partitions, SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
		return lt_slurm_fail("slurmctld: partitions", errno, err);
	if (slurm_load_node(0, &source->nodes, SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
		return lt_slurm_fail("slurmctld: nodes", errno, err);
	if (slurm_load_reservations(0, &source->reservations) != SLURM_SUCCESS)
		return lt_slurm_fail("slurmctld: reservations", errno, err);
	lt_qos_limits_open(&source->limits, source->conf);
	return LT_OK;
}

struct tables {
	struct lt_partition *partitions;
	const partition_info_t **from; /* of each, Slurm's */
	struct lt_shape *shapes;
	bool *are_reserved; /* by place of the node, now */
	char *strings, *next_string;
	uint32_t count, shape_count, left_out;
	struct lt_error why_left_out; /* of the first */
};

static size_t
list_size(const char *list)
{
	return list == NULL ? 1 : strlen(list) + 1;
}

static int
tables_alloc(struct tables *tables, const struct source *source, struct lt_error *err)
{
	const partition_info_msg_t *const from = source->partitions;
	size_t string_bytes = 1;

	for (uint32_t i = 0; i < from->record_count; i++) {
		const partition_info_t *const p = &from->partition_array[i];

		string_bytes += list_size(p->allow_accounts) + list_size(p->deny_accounts) +
				list_size(p->allow_qos) + list_size(p->deny_qos);
	}
	*tables = (struct tables){
	    .partitions = calloc(from->record_count + (size_t)1, sizeof(*tables->partitions)),
	    .from = calloc(from->record_count + (size_t)1, sizeof(*tables->from)),
	    .shapes = calloc(LT_SHAPES_MAX, sizeof(*tables->shapes)),
	    .strings = calloc(1, string_bytes),
	    .are_reserved = calloc(source->nodes->record_count + (size_t)1, sizeof(bool)),
	};
	tables->next_string = tables->strings;
	if (tables->partitions == NULL || tables->from == NULL || tables->shapes == NULL ||
	    tables->strings == NULL || tables->are_reserved == NULL)
		return lt_fail(err, LT_ENOMEM, "partitions: no memory");
	return LT_OK;
}

static void
tables_free(struct tables *tables)
{
	free(tables->are_reserved);
	free(tables->from);
	free(tables->partitions);
	free(tables->shapes);
	free(tables->strings);
}

static const char *
keep_list(struct tables *tables, const char *list)
{
	char *const kept = tables->next_string;
	const size_t size = list_size(list);

	lt_copy_lower(kept, size, list);
	tables->next_string += size;
	return kept;
}

static bool
same_kinds(const struct lt_shape *a, const struct lt_shape *b)
{
	for (int i = 0; i < LT_GPU_KINDS_MAX; i++)
		if (a->kinds[i].count != b->kinds[i].count ||
		    strcmp(a->kinds[i].type, b->kinds[i].type) != 0)
			return false;
	return true;
}

static bool
same_shape(const struct lt_shape *a, const struct lt_shape *b)
{
	return a->cpus == b->cpus && a->sockets == b->sockets && a->threads == b->threads &&
	       a->gpus == b->gpus && a->shards == b->shards && a->gpus_unclear == b->gpus_unclear &&
	       a->gpu_cores == b->gpu_cores && a->socket_cores == b->socket_cores &&
	       a->memory_mib == b->memory_mib && a->tmp_disk_mib == b->tmp_disk_mib &&
	       strcmp(a->features, b->features) == 0 && same_kinds(a, b);
}

/* Cores and memory kept for the system can't be allocated: a job that has
 * all the rest has the whole node. */
static struct lt_shape
shape_of(const node_info_t *node)
{
	struct lt_shape shape = {.node_count = 1, .gpu_index = -1, .memory_mib = node->real_memory};

	const uint32_t cores = (uint32_t)node->sockets * node->cores;

	shape.cpus = node->cpus_efctv != 0 ? node->cpus_efctv : node->cpus;
	shape.sockets = node->sockets;
	shape.socket_cores = node->cores;
	shape.tmp_disk_mib = node->tmp_disk;
	if (node->features != NULL && strlen(node->features) < sizeof(shape.features))
		lt_copy(shape.features, sizeof(shape.features), node->features);
	/* CPUs=cores: its threads are no CPUs. */
	shape.threads = cores > 0 && node->cpus > cores ? node->cpus / cores : 1;
	if (node->mem_spec_limit != NO_VAL64 && node->mem_spec_limit < shape.memory_mib)
		shape.memory_mib -= node->mem_spec_limit;
	lt_gres_parse(node->gres, &shape);
	if (shape.gpus > 0) {
		shape.shards = lt_node_shards(node->gres);
		shape.gpu_cores = LT_SLURM_CORES_PER_GPU(node) * shape.gpus;
	}
	return shape;
}

static int
add_node(struct tables *tables, struct lt_partition *partition, const node_info_t *node,
    bool is_reserved, struct lt_error *err)
{
	const struct lt_shape shape = shape_of(node);
	const uint32_t closed = is_reserved || !is_open(node) ? 1 : 0;
	struct lt_shape *const first = &tables->shapes[partition->first_shape];

	partition->node_count++;
	for (uint32_t i = 0; i < partition->shape_count; i++)
		if (same_shape(&first[i], &shape)) {
			first[i].node_count++;
			first[i].closed_count += closed;
			return LT_OK;
		}
	if (tables->shape_count >= LT_SHAPES_MAX)
		return lt_fail(err, LT_ELIMIT, "partition %s: more than %d kinds of node",
		    partition->name, LT_SHAPES_MAX);
	tables->shapes[tables->shape_count] = shape;
	tables->shapes[tables->shape_count++].closed_count = closed;
	partition->shape_count++;
	return LT_OK;
}

/* node_inx: pairs of first and last index, ended by -1. */
static int
add_nodes(struct tables *tables, struct lt_partition *partition, const int32_t *node_index,
    const node_info_msg_t *nodes, struct lt_error *err)
{
	partition->first_shape = tables->shape_count;
	for (; node_index != NULL && node_index[0] >= 0; node_index += 2)
		for (int32_t i = node_index[0];
		     i <= node_index[1] && (uint32_t)i < nodes->record_count; i++) {
			const node_info_t *const node = &nodes->node_array[i];

			if (node->name == NULL) /* a hole in the table */
				continue;
			const int rc =
			    add_node(tables, partition, node, tables->are_reserved[i], err);
			if (rc != LT_OK)
				return rc;
			const int64_t since_utc_s = away_since(node);
			if (since_utc_s > partition->away_utc_s)
				partition->away_utc_s = since_utc_s;
		}
	return LT_OK;
}

static bool
is_there(const node_info_t *node)
{
	const uint32_t state = node->node_state;
	const uint32_t away = NODE_STATE_CLOUD | NODE_STATE_POWERED_DOWN;

	return node->name != NULL && (state & NODE_STATE_BASE) != NODE_STATE_FUTURE &&
	       (state & away) != away;
}

/* A partition that drains counts what still runs there. */
static bool
is_away(const node_info_t *node)
{
	const uint32_t state = node->node_state;
	const uint32_t base = state & NODE_STATE_BASE;

	return is_there(node) &&
	       (base == NODE_STATE_DOWN ||
		   (base == NODE_STATE_IDLE &&
		       state & (NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_NO_RESPOND)));
}

/* Fills in the nodes that there are, and the partitions that have them. */
static int
load_nodes(struct lt_batch_nodes *nodes, const struct tables *tables, const node_info_msg_t *table,
    struct lt_error *err)
{
	size_t most = 1;

	for (uint32_t i = 0; i < tables->count; i++)
		for (const int32_t *at = tables->from[i]->node_inx; at != NULL && at[0] >= 0;
		     at += 2)
			most++;
	*nodes = (struct lt_batch_nodes){.ranges = calloc(most, sizeof(*nodes->ranges)),
	    .are_there = calloc(table->record_count + (size_t)1, sizeof(*nodes->are_there)),
	    .are_away = calloc(table->record_count + (size_t)1, sizeof(*nodes->are_away)),
	    .count = table->record_count};
	if (nodes->ranges == NULL || nodes->are_there == NULL || nodes->are_away == NULL)
		return lt_fail(err, LT_ENOMEM, "nodes: no memory");
	for (uint32_t i = 0; i < table->record_count; i++) {
		nodes->are_there[i] = is_there(&table->node_array[i]);
		nodes->are_away[i] = is_away(&table->node_array[i]);
	}
	for (uint32_t i = 0; i < tables->count; i++)
		for (const int32_t *at = tables->from[i]->node_inx; at != NULL && at[0] >= 0;
		     at += 2)
			nodes->ranges[nodes->range_count++] =
			    (struct lt_node_range){i, (uint32_t)at[0], (uint32_t)at[1]};
	return LT_OK;
}

/* The partition's, else the cluster's; *is_per_cpu by Slurm's flag. */
static uint64_t
memory_default(uint64_t own, uint64_t global, bool *is_per_cpu)
{
	const uint64_t value = own == 0 || own == NO_VAL64 ? global : own;

	*is_per_cpu = false;
	if (value == NO_VAL64 || value == INFINITE64)
		return 0;
	*is_per_cpu = (value & MEM_PER_CPU) != 0;
	return value & ~MEM_PER_CPU;
}

/* Without a list the partition has Slurm's defaults; with one, its own. */
static void
set_gpu_defaults(struct lt_partition *partition, lt_slurm_list *list)
{
	if (list == NULL)
		return;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(list);
	for (job_defaults_t *item; (item = slurm_list_next(iterator)) != NULL;)
		if (item->type == JOB_DEF_CPU_PER_GPU)
			partition->default_cpus_per_gpu =
			    item->value > UINT32_MAX ? UINT32_MAX : (uint32_t)item->value;
		else if (item->type == JOB_DEF_MEM_PER_GPU)
			partition->default_memory_mib_per_gpu = item->value;
	slurm_list_iterator_destroy(iterator);
}

/* True if Slurm powers down what is idle there. Single nodes that are exempt (SuspendExcNodes) are
 * not looked at. */
static bool
powers_down(const partition_info_t *from, const slurm_conf_t *conf)
{
	const uint32_t after_s =
	    from->suspend_time != NO_VAL ? from->suspend_time : conf->suspend_time;

	return conf->suspend_program != NULL && conf->suspend_program[0] != '\0' &&
	       after_s != INFINITE && after_s != NO_VAL &&
	       !lt_text_is_among(from->name, conf->suspend_exc_parts);
}

static uint32_t
flags_of(const partition_info_t *from, const struct source *source)
{
	const slurm_conf_t *const conf = source->conf;
	/* Those that keep no job out, or that have a flag here. */
	static const uint32_t open_flags = PART_FLAG_DEFAULT | PART_FLAG_NO_ROOT |
					   PART_FLAG_ROOT_ONLY | PART_FLAG_LLN |
					   PART_FLAG_EXCLUSIVE_USER | LT_SLURM_PART_FLAGS;
	const bool groups = from->allow_groups != NULL && from->allow_groups[0] != '\0';
	/* A partition may have its own socket or core, and nothing else. */
	const uint16_t own = from->cr_type & (LT_SLURM_BY_CORE | LT_SLURM_BY_SOCKET);
	const uint16_t unit = own != 0 ? own : conf->select_type_param;
	const bool linear =
	    conf->select_type != NULL && strstr(conf->select_type, "linear") != NULL;

	const struct {
		bool set;
		enum lt_partition_flag flag;
	} flags[] = {
	    {(from->flags & PART_FLAG_DEFAULT) != 0, LT_PARTITION_DEFAULT},
	    {from->state_up == PARTITION_UP, LT_PARTITION_UP},
	    {cancels_jobs(from, source->partitions, conf), LT_PARTITION_CANCELS},
	    {from->max_share == 0 || linear, LT_PARTITION_EXCLUSIVE},
	    {(unit & LT_SLURM_BY_CORE) != 0, LT_PARTITION_BY_CORE},
	    {(unit & LT_SLURM_BY_SOCKET) != 0, LT_PARTITION_BY_SOCKET},
	    {(conf->select_type_param & LT_SLURM_TASK_PER_CORE) != 0, LT_PARTITION_TASK_PER_CORE},
	    {SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0),
		LT_PARTITION_BIND_SOCKETS | LT_PARTITION_TASKS_BY_NODE | LT_PARTITION_GPUS_BY_NODE},
	    {SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0), LT_PARTITION_DEALS_TASKS},
	    {SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0), LT_PARTITION_DEALS_BY_NODE},
	    {groups, LT_PARTITION_GROUPS},
	    {(from->flags & PART_FLAG_ROOT_ONLY) != 0, LT_PARTITION_ROOT_ONLY},
	    {(from->flags & PART_FLAG_NO_ROOT) != 0, LT_PARTITION_NO_ROOT},
	    {(from->flags & ~open_flags) != 0, LT_PARTITION_CLOSED},
	    {(from->max_share & (uint16_t)~SHARED_FORCE) > 1, LT_PARTITION_OVERSUBSCRIBE},
	    {!powers_down(from, conf), LT_PARTITION_STAYS_ON},
	};
	uint32_t result = 0;

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (flags[i].set)
			result |= (uint32_t)flags[i].flag;
	return result;
}

/* Returns a hash of the settings of a partition that lowtide does not understand; 0 = nothing is
 * set. */
static uint64_t
unlike_hash(const partition_info_t *from)
{
	/* 22.05 takes AllocNodes=ALL for a host of that name. */
	const char *const nodes = from->allow_alloc_nodes != NULL ? from->allow_alloc_nodes : "";
	const char *const groups = from->allow_groups != NULL ? from->allow_groups : "";
	char *text = NULL;
	uint64_t hash = 0;

	if (nodes[0] == '\0' && groups[0] == '\0')
		return 0;
	if (asprintf(&text, "%s %s", nodes, groups) < 0)
		return UINT64_MAX; /* no memory: like no other */
	hash = lt_script_hash(text);
	free(text);
	return hash;
}

static uint32_t
no_limit(uint32_t count)
{
	return count == INFINITE || count == NO_VAL ? UINT32_MAX : count;
}

static uint32_t
set_limit(uint32_t count)
{
	return count == INFINITE || count == NO_VAL ? 0 : count;
}

/* slurmctld looks for jobs over their limits each 30 s (PERIODIC_TIMEOUT). */
static int64_t
overrun_of(const partition_info_t *from, const slurm_conf_t *conf)
{
	const uint16_t minutes =
	    from->over_time_limit == NO_VAL16 ? conf->over_time_limit : from->over_time_limit;

	return minutes == INFINITE16 ? INT64_MAX : (int64_t)minutes * 60 + 30;
}

static int
add_partition(struct tables *tables, const partition_info_t *from, const struct source *source,
    struct lt_partition *to, struct lt_error *err)
{
	const struct reserved reserved = reserved_of(from, source->reservations, source->now_utc_s);

	if (strlen(from->name) >= sizeof(to->name))
		return lt_fail(err, LT_ELIMIT, "partition %s: a name of %zu bytes, limit %zu",
		    from->name, strlen(from->name), sizeof(to->name) - 1);
	if (tables->count >= LT_PARTITIONS_MAX)
		return lt_fail(err, LT_ELIMIT, "partition %s: more than %d partitions", from->name,
		    LT_PARTITIONS_MAX);
	lt_copy(to->name, sizeof(to->name), from->name);
	to->flags = flags_of(from, source);
	to->max_time_s = lt_minutes(from->max_time, INT64_MAX);
	to->default_time_s =
	    from->default_time == INFINITE ? INT64_MAX : lt_minutes(from->default_time, 0);
	to->overrun_s = overrun_of(from, source->conf);
	to->min_nodes = from->min_nodes;
	to->max_nodes = no_limit(from->max_nodes);
	to->default_memory_mib = memory_default(
	    from->def_mem_per_cpu, source->conf->def_mem_per_cpu, &to->default_memory_is_per_cpu);
	to->max_memory_mib = memory_default(
	    from->max_mem_per_cpu, source->conf->max_mem_per_cpu, &to->max_memory_is_per_cpu);
	set_gpu_defaults(to, source->conf->job_defaults_list);
	set_gpu_defaults(to, from->job_defaults_list);
	to->max_cpus_per_node = set_limit(from->max_cpus_per_node);
	to->max_cpus_per_socket = set_limit(LT_SLURM_CPUS_PER_SOCKET(from));
	to->allow_accounts = keep_list(tables, from->allow_accounts);
	to->allow_qos = keep_list(tables, from->allow_qos);
	/* Slurm reads a Deny list only where there is no Allow list. */
	to->deny_accounts =
	    keep_list(tables, to->allow_accounts[0] == '\0' ? from->deny_accounts : NULL);
	to->deny_qos = keep_list(tables, to->allow_qos[0] == '\0' ? from->deny_qos : NULL);
	to->limits = lt_qos_limits_of(&source->limits, from->qos_char);
	to->unlike_hash = unlike_hash(from);
	to->billing_hash =
	    from->billing_weights_str != NULL ? lt_script_hash(from->billing_weights_str) : 0;
	to->reserved_utc_s = reserved.next_utc_s;
	to->free_utc_s = reserved.until_utc_s;
	to->price_series = to->carbon_series = LT_NO_SERIES;
	to->tariff_series = to->occupancy_series = LT_NO_SERIES;
	return add_nodes(tables, to, from->node_inx, source->nodes, err);
}

/* Leaves out each partition that passes a bound of limits.h, and reads the others as if it were not
 * there. */
static int
add_partitions(struct tables *tables, const struct source *source, struct lt_error *err)
{
	for (uint32_t i = 0; i < source->partitions->record_count; i++) {
		const partition_info_t *const from = &source->partitions->partition_array[i];
		struct lt_partition *const to = &tables->partitions[tables->count];
		const uint32_t shape_count = tables->shape_count;
		struct lt_error failed = {0};
		const int rc = add_partition(tables, from, source, to, &failed);

		if (rc == LT_OK) {
			tables->from[tables->count++] = from;
			continue;
		}
		if (rc != LT_ELIMIT) {
			*err = failed;
			return rc;
		}
		*to = (struct lt_partition){0};
		tables->shape_count = shape_count;
		if (tables->left_out++ == 0)
			tables->why_left_out = failed;
	}
	return LT_OK;
}

int
lt_batch_partitions(struct lt_batch_partitions *read, struct lt_error *err)
{
	struct source source;
	struct tables tables = {0};
	struct lt_batch_nodes nodes = {0};
	int rc = source_load(&source, err);

	if (rc == LT_OK)
		rc = tables_alloc(&tables, &source, err);
	if (rc == LT_OK)
		note_reserved(tables.are_reserved, source.nodes->record_count, source.reservations,
		    source.now_utc_s);
	if (rc == LT_OK)
		rc = add_partitions(&tables, &source, err);
	if (rc == LT_OK)
		rc = load_nodes(&nodes, &tables, source.nodes, err);
	if (rc == LT_OK) {
		*read = (struct lt_batch_partitions){
		    .partitions = tables.partitions,
		    .shapes = tables.shapes,
		    .strings = tables.strings,
		    .nodes = nodes,
		    .count = tables.count,
		    .shape_count = tables.shape_count,
		    .left_out = tables.left_out,
		    .why_left_out = tables.why_left_out,
		    .job_limits = lt_qos_limits_kinds(&source.limits),
		};
		free(tables.are_reserved);
		free(tables.from);
	} else {
		tables_free(&tables);
		lt_batch_nodes_free(&nodes);
	}
	source_free(&source);
	return rc;
}

int
lt_batch_partition_of(char out[LT_NAME_SIZE], const char *node, const char *among,
    const char *preferred, struct lt_error *err)
{
	partition_info_msg_t *partitions = NULL;
	const char *found = NULL;
	int rc = lt_slurm_answers(err);

	if (rc == LT_OK && node[0] != '\0' &&
	    slurm_load_partitions(0, &partitions, SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
		rc = lt_slurm_fail("slurmctld: partitions", errno, err);
	for (uint32_t i = 0; partitions != NULL && i < partitions->record_count; i++) {
		const partition_info_t *const p = &partitions->partition_array[i];

		if ((among[0] != '\0' && !lt_text_is_among(p->name, among)) ||
		    strlen(p->name) >= LT_NAME_SIZE || !lt_batch_has_node(p->nodes, node))
			continue;
		if (found == NULL || strcmp(p->name, preferred) == 0)
			found = p->name;
	}
	if (rc == LT_OK && found == NULL)
		rc = lt_fail(err, LT_ENOENT, "no partition has %s", node);
	if (rc == LT_OK)
		lt_copy(out, LT_NAME_SIZE, found);
	if (partitions != NULL)
		slurm_free_partition_info_msg(partitions);
	return rc;
}
