/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "IDLE CPU GPU PUE EMBODIED EXCLUSIVE" and, for each shape of nodes,
 * " CPUS:GPUS:MIB:SHARDS", on Kubernetes with ":mMILLICORES:KIB", and with
 * ":COUNTxWATTS" of each kind of GPU: what a
 * charge needs of a partition beside its rates, kept so that jobs outlive their
 * partition's line in the policy.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "place.h"
#include "policy_load.h"

enum { SHAPE_SIZE = 110, KIND_SIZE = 40 };

static_assert(
    LT_PLACE_FACTS_SIZE >=
	200 + LT_PLACE_SHAPES_MAX * (SHAPE_SIZE + LT_GPU_KINDS_MAX * KIND_SIZE),
    "all shapes have room");

static int
pack_kinds(char *out, size_t size, const struct lt_shape *shape)
{
	int used = 0;

	for (int i = 0; i < LT_GPU_KINDS_MAX && (size_t)used < size &&
			shape->kinds[i].watts > 0;
	     i++)
		used += snprintf(out + used, size - (size_t)used, ":%ux%.17g",
		    shape->kinds[i].count, shape->kinds[i].watts);
	return used;
}

static int
pack_exact(char *out, size_t size, const struct lt_exact *exact)
{
	if (exact->cpu_milli == 0)
		return 0;
	return snprintf(out, size, ":m%" PRIu64 ":%" PRIu64 ":g%" PRIu64,
	    exact->cpu_milli, exact->memory_kib, exact->gpu_micro);
}

/* Behind it. */
static const char *
unpack_exact(struct lt_exact *exact, const char *text)
{
	int at = 0, gpus_at = 0;

	*exact = (struct lt_exact){0};
	if (sscanf(text, ":m%" SCNu64 ":%" SCNu64 "%n:g%" SCNu64 "%n",
		&exact->cpu_milli, &exact->memory_kib, &at, &exact->gpu_micro,
		&gpus_at) >= 2)
		return text + (gpus_at > 0 ? gpus_at : at);
	*exact = (struct lt_exact){0};
	return text;
}

/* Behind them. */
static const char *
unpack_kinds(struct lt_shape *shape, const char *text)
{
	unsigned count;
	int at = 0;

	for (int i = 0; i < LT_GPU_KINDS_MAX; i++, text += at) {
		struct lt_gpu_kind *const kind = &shape->kinds[i];

		if (sscanf(text, ":%ux%lg%n", &count, &kind->watts, &at) != 2)
			break;
		kind->count = count;
		kind->gpu_index = -1;
	}
	return text;
}

void
lt_place_pack(char *out, size_t size, const struct lt_place *place)
{
	int used = snprintf(out, size, "%.17g %.17g %.17g %.17g %.17g %d",
	    place->idle_w, place->cpu_w, place->gpu_w, place->pue,
	    place->embodied_g_per_node_hour, place->exclusive);

	for (uint32_t i = 0; i < place->shape_count && (size_t)used < size;
	     i++) {
		used += snprintf(out + used, size - (size_t)used,
		    " %u:%u:%" PRIu64 ":%u", place->shapes[i].cpus,
		    place->shapes[i].gpus, place->shapes[i].memory_mib,
		    place->shapes[i].shards);
		if ((size_t)used < size)
			used += pack_exact(out + used, size - (size_t)used,
			    &place->shapes[i].exact);
		if ((size_t)used < size)
			used += pack_kinds(
			    out + used, size - (size_t)used, &place->shapes[i]);
	}
}

bool
lt_place_unpack(struct lt_place *place, const char *text)
{
	int exclusive, at = 0;

	*place = (struct lt_place){0};
	if (sscanf(text, "%lg %lg %lg %lg %lg %d%n", &place->idle_w,
		&place->cpu_w, &place->gpu_w, &place->pue,
		&place->embodied_g_per_node_hour, &exclusive, &at) != 6)
		return false;
	place->exclusive = exclusive != 0;
	for (text += at; *text != '\0';) {
		struct lt_shape *const s = &place->shapes[place->shape_count];
		unsigned cpus, gpus, shards;

		if (place->shape_count == LT_PLACE_SHAPES_MAX ||
		    sscanf(text, " %u:%u:%" SCNu64 ":%u%n", &cpus, &gpus,
			&s->memory_mib, &shards, &at) != 4)
			return false;
		s->cpus = cpus;
		s->gpus = gpus;
		s->shards = shards;
		place->shape_count++;
		text = unpack_kinds(s, unpack_exact(&s->exact, text + at));
	}
	place->known = true;
	return true;
}

static void
of_market(struct lt_place *place, const struct lt_partition *p,
    const struct lt_market *market)
{
	/* Each run asks: its many shapes are not cleared first. */
	place->known = true;
	place->left_utc_s = 0;
	place->idle_w = p->node_idle_w;
	place->cpu_w = p->node_cpu_w;
	place->gpu_w = p->node_gpu_w;
	place->pue = p->pue;
	place->embodied_g_per_node_hour = p->embodied_g_per_node_hour;
	place->exclusive = (p->flags & LT_PARTITION_EXCLUSIVE) != 0;
	place->shape_count = 0;
	for (uint32_t i = 0;
	     i < p->shape_count && place->shape_count < LT_PLACE_SHAPES_MAX;
	     i++)
		place->shapes[place->shape_count++] =
		    market->shapes[p->first_shape + i];
}

void
lt_place_of(struct lt_place *place, const struct lt_market *market,
    struct lt_ledger *ledger, const char *partition)
{
	struct lt_place_kept kept;
	const int index = lt_market_partition(market, partition);
	const struct lt_partition *const p =
	    index < 0 ? NULL : &market->partitions[index];

	if (p != NULL && (p->flags & LT_PARTITION_MANAGED)) {
		of_market(place, p, market);
		return;
	}
	*place = (struct lt_place){0};
	if (lt_ledger_place(ledger, partition, &kept, NULL) == LT_OK &&
	    lt_place_unpack(place, kept.facts)) {
		place->left_utc_s = kept.left_utc_s;
	} else if (p != NULL) {
		of_market(place, p, market);
		place->known = false;
	}
}

bool
lt_place_charges(const struct lt_place *place, const struct lt_run *run,
    struct lt_ledger *ledger)
{
	struct lt_ledger_hold hold;

	/* The pass in which it left ingests what was submitted just before. */
	return place->left_utc_s == 0 ||
	       run->start_utc_s <= place->left_utc_s ||
	       (run->quote_id != 0 &&
		   lt_ledger_hold(ledger, run->quote_id, &hold, NULL) ==
		       LT_OK &&
		   hold.made_utc_s <= place->left_utc_s);
}

static int
note(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_partition *p, struct lt_error *err)
{
	struct lt_place_kept known;
	char text[sizeof(known.facts)];
	struct lt_place place;

	of_market(&place, p, market);
	lt_place_pack(text, sizeof(text), &place);
	if (lt_ledger_place(ledger, p->name, &known, NULL) == LT_OK &&
	    known.left_utc_s == 0 && strcmp(text, known.facts) == 0)
		return LT_OK;
	return lt_ledger_put_place(ledger, p->name, text, 0, err);
}

static int
note_left(struct lt_ledger *ledger, const struct lt_policy *policy,
    int64_t now_utc_s, struct lt_error *err)
{
	char(*names)[LT_NAME_SIZE] = NULL;
	struct lt_place_kept kept;
	uint32_t count = 0;
	int code = lt_ledger_places(ledger, &names, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		if (lt_policy_partition_find(policy, names[i]) != NULL)
			continue;
		code = lt_ledger_place(ledger, names[i], &kept, err);
		if (code == LT_OK)
			code = lt_ledger_put_place(
			    ledger, names[i], kept.facts, now_utc_s, err);
		lt_log("partition_left", "partition=%s", names[i]);
	}
	free(names);
	return code;
}

int
lt_places_note(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_policy *policy, int64_t now_utc_s, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < market->partition_count;
	     i++) {
		const struct lt_partition *const p = &market->partitions[i];

		/* The market may be older than the policy. */
		if ((p->flags & LT_PARTITION_MANAGED) &&
		    lt_policy_partition_find(policy, p->name) != NULL)
			code = note(market, ledger, p, err);
	}
	return code == LT_OK ? note_left(ledger, policy, now_utc_s, err) : code;
}
