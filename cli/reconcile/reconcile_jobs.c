/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide's side of the comparison: which instance type each partition is, by
 * --map or by the source of its price, and what lowtide charged for nodes.
 *
 * The charges are reports of each UTC day by partition, because lowtided's days are the site's and
 * an invoice's are not. An answer about other days than those asked for is an error.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "reconcile_tie.h"
#include "units.h"

int
lt_tie_type_find(const struct lt_tie_map *map, const char *type)
{
	for (int i = 0; i < map->type_count; i++)
		if (strcasecmp(map->types[i], type) == 0)
			return i;
	return -1;
}

int
lt_tie_type_of(const struct lt_tie_map *map, const char *partition)
{
	for (int i = 0; i < map->count; i++)
		if (strcmp(map->partitions[i].name, partition) == 0)
			return map->partitions[i].type;
	return -1;
}

static int
name_check(const char *name, struct lt_error *err)
{
	const size_t length = strlen(name);

	return length > 0 && length < LT_TIE_NAME_SIZE
		   ? LT_OK
		   : lt_fail(err, LT_EINPUT, "\"%.80s\": want a name of 1 to %d bytes", name,
			 LT_TIE_NAME_SIZE - 1);
}

int
lt_tie_map_add(
    struct lt_tie_map *map, const char *partition, const char *type, struct lt_error *err)
{
	int index = lt_tie_type_find(map, type);

	if (name_check(partition, err) || name_check(type, err))
		return err->code;
	if (lt_tie_type_of(map, partition) >= 0)
		return LT_OK;
	if (map->count == LT_TIE_PARTITIONS_MAX)
		return lt_fail(err, LT_ELIMIT, "more than %d partitions", LT_TIE_PARTITIONS_MAX);
	if (index < 0) {
		index = map->type_count++;
		strcpy(map->types[index], type);
	}
	strcpy(map->partitions[map->count].name, partition);
	map->partitions[map->count++].type = index;
	return LT_OK;
}

/* Adds one "P=TYPE" of that length. */
static int
parse_pair(struct lt_tie_map *map, const char *text, size_t length, struct lt_error *err)
{
	char pair[2 * LT_TIE_NAME_SIZE];
	char *equals;

	if (length < sizeof(pair)) {
		memcpy(pair, text, length);
		pair[length] = '\0';
		equals = strchr(pair, '=');
		if (equals != NULL) {
			*equals = '\0';
			return lt_tie_map_add(map, pair, equals + 1, err);
		}
	}
	return lt_fail(err, LT_EINPUT, "got \"%.*s\", want PARTITION=TYPE, as spot=p4d.24xlarge",
	    (int)(length < 80 ? length : 80), text);
}

int
lt_tie_map_parse(struct lt_tie_map *map, const char *text, struct lt_error *err)
{
	for (const char *at = text;; at++) {
		const size_t length = strcspn(at, ",");

		if (parse_pair(map, at, length, err))
			return err->code;
		at += length;
		if (*at == '\0')
			return LT_OK;
	}
}

/* Adds the partitions whose price has the source at that place. */
static int
add_uses(struct lt_tie_map *map, const json_t *source, int64_t wanted, struct lt_error *err)
{
	const char *const type = lt_json_text(source, "instance_type", "");
	size_t index;
	const json_t *use;

	json_array_foreach(json_object_get(source, "used_by"), index, use) {
		int64_t place = 0;

		if (!type[0] || !lt_json_int(use, "place", &place) || place != wanted ||
		    strcmp(lt_json_text(use, "key", ""), "price_per_node_hour") != 0)
			continue;
		if (lt_tie_map_add(map, lt_json_text(use, "partition", ""), type, err))
			return err->code;
	}
	return LT_OK;
}

int
lt_tie_map_signals(struct lt_tie_map *map, const json_t *signals, struct lt_error *err)
{
	enum { PLACES_MAX = 16 }; /* sources of one signal, and more */
	const json_t *const sources = json_object_get(signals, "sources");
	size_t index;
	const json_t *source;

	for (int place = 1; place <= PLACES_MAX; place++)
		json_array_foreach(sources, index, source)
			if (add_uses(map, source, place, err))
				return err->code;
	return LT_OK;
}

int
lt_tie_jobs_start(struct lt_tie_jobs *jobs, const struct lt_invoice *invoice, struct lt_error *err)
{
	*jobs = (struct lt_tie_jobs){.first_day = invoice->first_day,
	    .day_count = invoice->day_count,
	    .type_count = invoice->type_count,
	    .complete = true};
	jobs->sums =
	    calloc((size_t)jobs->day_count * ((size_t)jobs->type_count + 1), sizeof(*jobs->sums));
	return jobs->sums != NULL ? LT_OK : lt_fail(err, LT_ENOMEM, "no memory");
}

void
lt_tie_jobs_free(struct lt_tie_jobs *jobs)
{
	free(jobs->sums);
	*jobs = (struct lt_tie_jobs){0};
}

static const char *
midnight_text(char *out, size_t size, const struct lt_tie_jobs *jobs, int index)
{
	return lt_utc_text(out, size, (jobs->first_day + index) * LT_DAY_S);
}

const char *
lt_tie_jobs_path(char *out, size_t size, const struct lt_tie_jobs *jobs, int day_index)
{
	char from[32], to[32];

	snprintf(out, size, "/v1/report?from=%s&to=%s&by=partition&incurred=1",
	    midnight_text(from, sizeof(from), jobs, day_index),
	    midnight_text(to, sizeof(to), jobs, day_index + 1));
	return out;
}

/* Fails if the answer is about other days. */
static int
check_day(const struct lt_tie_jobs *jobs, int day_index, const json_t *report, struct lt_error *err)
{
	const json_t *const period = json_object_get(report, "period");
	const char *const start = lt_json_text(period, "start", "");
	const char *const end = lt_json_text(period, "end", "");
	char from[32], to[32];

	midnight_text(from, sizeof(from), jobs, day_index);
	midnight_text(to, sizeof(to), jobs, day_index + 1);
	if (strcmp(start, from) == 0 && strcmp(end, to) == 0)
		return LT_OK;
	return lt_fail(err, LT_EINPUT, "lowtided reports on %.32s to %.32s, asked for %s to %s",
	    start, end, from, to);
}

static int
add_to_sum(int64_t *sum, int64_t value, struct lt_error *err)
{
	if (!lt_add(sum, value))
		lt_fail(err, LT_EOVERFLOW, "charges: too large");
	return err->code;
}

static int
add_other(
    struct lt_tie_jobs *jobs, const char *partition, int64_t cost_micros, struct lt_error *err)
{
	int i = 0;

	while (i < jobs->other_count && strcmp(jobs->others[i].partition, partition) != 0)
		i++;
	if (i == LT_TIE_PARTITIONS_MAX)
		return lt_fail(err, LT_ELIMIT, "more than %d partitions", LT_TIE_PARTITIONS_MAX);
	if (i == jobs->other_count) {
		snprintf(
		    jobs->others[i].partition, sizeof(jobs->others[i].partition), "%s", partition);
		jobs->other_count++;
	}
	return add_to_sum(&jobs->others[i].cost_micros, cost_micros, err);
}

/* Returns a group's cost of nodes: without our charge for carbon and our discount, which no cloud
 * invoices. */
static int
cost_of_nodes(
    int64_t *cost_micros, struct lt_tie_jobs *jobs, const json_t *group, struct lt_error *err)
{
	int64_t carbon = 0, discount = 0;

	lt_json_int(group, "carbon_charge_micros", &carbon);
	lt_json_int(group, "discount_micros", &discount);
	if (__builtin_sub_overflow(*cost_micros, carbon, cost_micros))
		return lt_fail(err, LT_EOVERFLOW, "charges: too large");
	add_to_sum(cost_micros, discount, err);
	add_to_sum(&jobs->carbon_charge_micros, carbon, err);
	add_to_sum(&jobs->discount_micros, discount, err);
	return err->code;
}

/* Adds a cost to the type of its partition, or to the others. */
static int
add_cost(struct lt_tie_jobs *jobs, int day_index, const struct lt_tie_map *map, const json_t *group,
    struct lt_error *err)
{
	const char *const partition = lt_json_text(group, "partition", "");
	const int type = lt_tie_type_of(map, partition);
	int64_t cost_micros = 0;

	if (!lt_json_int(group, "cost_micros", &cost_micros))
		return lt_fail(
		    err, LT_EINPUT, "lowtided's cost of partition %.64s is no integer", partition);
	if (cost_of_nodes(&cost_micros, jobs, group, err))
		return err->code;
	if (type < 0)
		return add_other(jobs, partition, cost_micros, err);
	return add_to_sum(
	    &jobs->sums[day_index * jobs->type_count + type].cost_micros, cost_micros, err);
}

/* Adds a correction of a closed month to the day that it corrects, as the invoice does, and not to
 * the one on which it was booked. */
static int
add_incurred(struct lt_tie_jobs *jobs, int day_index, const struct lt_tie_map *map,
    const json_t *one, struct lt_error *err)
{
	int64_t cost_micros = 0;

	lt_json_int(one, "cost_micros", &cost_micros);
	add_to_sum(
	    cost_micros > 0 ? &jobs->corrected_here_micros : &jobs->corrected_elsewhere_micros,
	    cost_micros, err);
	return add_cost(jobs, day_index, map, one, err);
}

static int
add_group(struct lt_tie_jobs *jobs, int day_index, const struct lt_tie_map *map,
    const json_t *group, struct lt_error *err)
{
	const char *const partition = lt_json_text(group, "partition", "");
	const int type = lt_tie_type_of(map, partition);
	int64_t cost_micros = 0, node_s = 0;

	if (!lt_json_int(group, "cost_micros", &cost_micros))
		return lt_fail(
		    err, LT_EINPUT, "lowtided's cost of partition %.64s is no integer", partition);
	if (json_is_true(json_object_get(group, "adjustment")))
		return add_to_sum(&jobs->adjustments_micros, cost_micros, err);
	if (add_cost(jobs, day_index, map, group, err) || type < 0)
		return err->code;
	if (!lt_json_int(group, "node_s", &node_s) || node_s < 0)
		return lt_fail(err, LT_EINPUT,
		    "lowtided's node-seconds of partition %.64s are no count", partition);
	return add_to_sum(&jobs->sums[day_index * jobs->type_count + type].node_s, node_s, err);
}

int
lt_tie_jobs_add(struct lt_tie_jobs *jobs, int day_index, const struct lt_tie_map *map,
    const json_t *report, struct lt_error *err)
{
	const json_t *const groups = json_object_get(json_object_get(report, "by"), "partition");
	size_t index;
	const json_t *group;

	if (check_day(jobs, day_index, report, err))
		return err->code;
	if (!json_is_array(groups))
		return lt_fail(err, LT_EINPUT, "lowtided's report has no sums by partition");
	json_array_foreach(groups, index, group)
		if (add_group(jobs, day_index, map, group, err))
			return err->code;
	json_array_foreach(json_object_get(report, "incurred"), index, group)
		if (add_incurred(jobs, day_index, map, group, err))
			return err->code;
	if (!json_is_true(json_object_get(report, "complete")))
		jobs->complete = false;
	if (json_is_true(json_object_get(report, "own_runs")) ||
	    json_is_true(json_object_get(report, "own_figures")))
		jobs->only_own = true;
	return LT_OK;
}
