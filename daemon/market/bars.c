/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the requests that Slurm could not start where lowtide had moved them, and hashes Slurm's
 * tables, by whose change a bar ends. In memory alone:
 * without memory the caller gets LT_ENOMEM, and the job may be moved again.
 */
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "grow.h"
#include "tables.h"

/* ---- the tables ---- */

static void
mix(uint64_t *hash, const void *bytes, size_t count)
{
	const unsigned char *const at = bytes;

	for (size_t i = 0; i < count; i++)
		*hash = (*hash ^ at[i]) * 0x100000001b3U;
}

static void
mix_text(uint64_t *hash, const char *text)
{
	if (text != NULL)
		mix(hash, text, strlen(text));
	mix(hash, "", 1);
}

static void
mix_partition(uint64_t *hash, const struct lt_partition *p)
{
	const uint64_t numbers[] = {p->flags, (uint64_t)p->max_time_s, (uint64_t)p->default_time_s,
	    p->min_nodes, p->max_nodes, p->default_memory_mib, p->default_memory_is_per_cpu,
	    p->max_memory_mib, p->max_memory_is_per_cpu, p->default_cpus_per_gpu,
	    p->default_memory_mib_per_gpu, p->max_cpus_per_node, p->max_cpus_per_socket,
	    p->shape_count, p->unlike_hash, p->billing_hash, (uint64_t)p->limits.most_s,
	    p->limits.others};

	mix(hash, numbers, sizeof(numbers));
	mix(hash, p->limits.most, sizeof(p->limits.most));
	mix(hash, p->limits.most_per_node, sizeof(p->limits.most_per_node));
	mix(hash, p->limits.least, sizeof(p->limits.least));
	mix_text(hash, p->name);
	mix_text(hash, p->allow_accounts);
	mix_text(hash, p->deny_accounts);
	mix_text(hash, p->allow_qos);
	mix_text(hash, p->deny_qos);
}

static void
mix_shape(uint64_t *hash, const struct lt_shape *s)
{
	const uint64_t numbers[] = {s->node_count, s->cpus, s->sockets, s->threads, s->gpus,
	    s->gpus_unclear, s->shards, s->gpu_cores, s->socket_cores, s->memory_mib,
	    s->tmp_disk_mib};

	mix(hash, numbers, sizeof(numbers));
	mix_text(hash, s->features);
	for (int i = 0; i < LT_GPU_KINDS_MAX; i++) {
		mix_text(hash, s->kinds[i].type);
		mix(hash, &s->kinds[i].count, sizeof(s->kinds[i].count));
	}
}

uint64_t
lt_tables_hash(const struct lt_tables *tables)
{
	uint64_t hash = 0xcbf29ce484222325U;

	for (uint32_t i = 0; i < tables->partition_count; i++)
		mix_partition(&hash, &tables->partitions[i]);
	for (uint32_t i = 0; i < tables->shape_count; i++)
		mix_shape(&hash, &tables->shapes[i]);
	for (uint32_t i = 0; i < tables->account_count; i++) {
		mix_text(&hash, tables->accounts[i].name);
		mix_text(&hash, tables->accounts[i].parent);
	}
	for (uint32_t i = 0; i < tables->pair_count; i++) {
		mix_text(&hash, tables->pairs[i].account);
		mix(&hash, &tables->pairs[i].uid, sizeof(uint32_t));
	}
	return hash;
}

/* ---- bars ---- */

static bool
is_same(const struct lt_barred *a, const struct lt_barred *b)
{
	return a->asked == b->asked && strcmp(a->partition, b->partition) == 0;
}

static void
drop_bar(struct lt_bars_state *state, uint32_t index)
{
	memmove(&state->items[index], &state->items[index + 1],
	    (state->count - index - 1) * sizeof(*state->items));
	state->count--;
}

/* Adds a bar; they are sorted by age, the oldest first. */
int
lt_bars_put(struct lt_bars_state *state, const struct lt_barred *barred, struct lt_error *err)
{
	for (uint32_t i = state->count; i-- > 0;)
		if (is_same(&state->items[i], barred))
			drop_bar(state, i);
	if (state->count == LT_BARS_MAX)
		drop_bar(state, 0);
	struct lt_barred *const grown =
	    lt_items_grow(state->items, &state->capacity, state->count, sizeof(*grown));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "bars: out of memory");
	state->items = grown;
	state->items[state->count++] = *barred;
	return LT_OK;
}

static bool
holds(const struct lt_barred *barred, uint64_t tables, int64_t now_utc_s)
{
	const int64_t age_s = now_utc_s - barred->made_utc_s;

	return age_s < LT_BAR_MOST_S && (barred->tables == tables || age_s < LT_BAR_LEAST_S);
}

static int
compare_bars(const void *a, const void *b)
{
	return lt_bar_compare(a, b);
}

uint32_t
lt_bars_of_market(struct lt_bar *bars, struct lt_bars_state *state, const struct lt_market *market,
    uint64_t tables, int64_t now_utc_s)
{
	uint32_t count = 0;

	for (uint32_t i = state->count; i-- > 0;)
		if (!holds(&state->items[i], tables, now_utc_s))
			drop_bar(state, i);
	for (uint32_t i = 0; i < state->count; i++) {
		const int partition = lt_market_partition(market, state->items[i].partition);

		if (partition >= 0)
			bars[count++] = (struct lt_bar){state->items[i].asked, (uint32_t)partition};
	}
	if (count > 1)
		qsort(bars, count, sizeof(*bars), compare_bars);
	return count;
}
