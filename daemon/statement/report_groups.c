/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups the cost of a period by day, team, partition and more, as asked by "day;team,partition".
 * Each row of a run, and each adjustment, is added to one group of each grouping, or to one for
 * each day or month of it. The dearest runs are kept beside. More than LT_GROUPS_MAX groups, or a
 * key that is unknown, are refused with an error that says so.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "figures.h"
#include "grow.h"
#include "lookup.h"
#include "min_max.h"
#include "report_groups.h"
#include "run_json.h"
#include "units.h"

/* ---- one grouping's groups, found by their dimensions' texts ---- */

enum { GROUP_KEY_SIZE = 1024 };
struct group_key { /* texts of the dimensions, each with its NUL */
	char bytes[GROUP_KEY_SIZE];
	size_t length;
	bool is_adjustment;
};
struct group {
	char *key; /* texts of its dimensions, each with its NUL; malloc'd */
	size_t key_bytes;
	bool is_adjustment;
	int64_t figures[LT_GROUP_FIGURES];
};

struct group_table { /* of one grouping */
	struct group *items;
	uint32_t count;
	size_t capacity;
	uint32_t *places; /* of twice as many at least: item + 1; 0: free */
	uint32_t place_count;
};

static uint32_t
hash_of(const char *key, size_t bytes)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)key[i]) * 16777619u;
	return hash;
}

/* Returns the place of the key in the table, or where it would be put. */
static uint32_t *
place_of(struct group_table *t, const char *key, size_t bytes, bool is_adjustment)
{
	uint32_t at = hash_of(key, bytes);

	for (;; at++) {
		uint32_t *const place = &t->places[at % t->place_count];
		const struct group *const group = *place > 0 ? &t->items[*place - 1] : NULL;

		if (group == NULL ||
		    (group->key_bytes == bytes && group->is_adjustment == is_adjustment &&
			memcmp(group->key, key, bytes) == 0))
			return place;
	}
}

static int
make_room(struct group_table *t, struct lt_error *err)
{
	if (t->place_count > 2 * (t->count + 1))
		return LT_OK;
	free(t->places);
	t->place_count = 8 * (t->count + 8);
	t->places = calloc(t->place_count, sizeof(*t->places));
	if (t->places == NULL)
		return lt_fail(err, LT_ENOMEM, "by: no memory");
	for (uint32_t i = 0; i < t->count; i++)
		*place_of(t, t->items[i].key, t->items[i].key_bytes, t->items[i].is_adjustment) =
		    i + 1;
	return LT_OK;
}

/* The group of that key; a new one is all 0. LT_ELIMIT: there are too many. */
static int
find_group(
    struct group_table *t, const struct group_key *key, struct group **group, struct lt_error *err)
{
	const int rc = make_room(t, err);

	if (rc != LT_OK)
		return rc;
	uint32_t *const place = place_of(t, key->bytes, key->length, key->is_adjustment);
	if (*place == 0) {
		if (t->count == LT_GROUPS_MAX)
			return lt_fail(err, LT_ELIMIT,
			    "by: more than %d groups; ask for a team, or a shorter time",
			    LT_GROUPS_MAX);
		struct group *const grown =
		    lt_items_grow(t->items, &t->capacity, t->count, sizeof(*grown));
		if (grown == NULL)
			return lt_fail(err, LT_ENOMEM, "by: no memory");
		t->items = grown;
		grown[t->count] = (struct group){.key = malloc(key->length),
		    .key_bytes = key->length,
		    .is_adjustment = key->is_adjustment};
		if (grown[t->count].key == NULL)
			return lt_fail(err, LT_ENOMEM, "by: no memory");
		memcpy(grown[t->count].key, key->bytes, key->length);
		*place = ++t->count;
	}
	*group = &t->items[*place - 1];
	return LT_OK;
}

static void
free_table(struct group_table *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->items[i].key);
	free(t->items);
	free(t->places);
	*t = (struct group_table){0};
}

/* ---- what to group by, as it is asked for ---- */

/* Before a key of the policy's labels. */
#define LABEL "label:"

static const char *const dimension_names[LT_DIMENSIONS] = {
    [LT_BY_DAY] = "day",
    [LT_BY_MONTH] = "month",
    [LT_BY_TEAM] = "team",
    [LT_BY_USER] = "user",
    [LT_BY_PARTITION] = "partition",
    [LT_BY_QOS] = "qos",
    [LT_BY_GPU] = "gpu",
    [LT_BY_NAME] = "name",
    [LT_BY_WCKEY] = "wckey",
    [LT_BY_STATE] = "state",
    [LT_BY_LABEL] = LABEL,
};

static bool
take_label(struct lt_grouping *to, const char *name, size_t size)
{
	char *const key = to->keys[to->count];

	if (size <= strlen(LABEL) || strncmp(name, LABEL, strlen(LABEL)) != 0 ||
	    size - strlen(LABEL) >= sizeof(to->keys[0]))
		return false;
	memcpy(key, name + strlen(LABEL), size - strlen(LABEL));
	key[size - strlen(LABEL)] = '\0';
	to->dimensions[to->count] = LT_BY_LABEL;
	return lt_label_key_is_valid(key);
}

static bool
take_dimension(struct lt_grouping *to, const char *name, size_t size)
{
	for (int i = 0; i < LT_BY_LABEL; i++)
		if (strlen(dimension_names[i]) == size &&
		    memcmp(dimension_names[i], name, size) == 0) {
			to->dimensions[to->count] = (enum lt_dimension)i;
			return true;
		}
	return take_label(to, name, size);
}

static int
parse_one(struct lt_grouping *grouping, const char *text, size_t length, struct lt_error *err)
{
	size_t at = 0;

	while (at <= length) {
		const char *const name = text + at;
		const size_t size = strcspn(name, ",;");

		if (grouping->count == LT_GROUP_DIMENSIONS_MAX)
			return lt_fail(
			    err, LT_EINPUT, "by: more than %d at once", LT_GROUP_DIMENSIONS_MAX);
		if (!take_dimension(grouping, name, size))
			return lt_fail(err, LT_EINPUT,
			    "by: got \"%.*s\", want day, month, team, user, partition, qos, gpu, name, wckey, state or label:KEY, or several with commas",
			    (int)(size < 40 ? size : 40), name);
		grouping->count++;
		at += size + 1;
	}
	return LT_OK;
}

int
lt_groupings_parse(struct lt_groupings *groupings, const char *text, struct lt_error *err)
{
	int rc = LT_OK;

	while (rc == LT_OK && *text) {
		const size_t length = strcspn(text, ";");

		if (groupings->count == LT_GROUPINGS_MAX)
			return lt_fail(
			    err, LT_EINPUT, "by: more than %d groupings", LT_GROUPINGS_MAX);
		rc = parse_one(&groupings->all[groupings->count++], text, length, err);
		text += length + (text[length] == ';');
	}
	return rc;
}

bool
lt_groupings_have(const struct lt_groupings *groupings, enum lt_dimension dimension)
{
	for (uint32_t i = 0; i < groupings->count; i++)
		for (uint32_t k = 0; k < groupings->all[i].count; k++)
			if (groupings->all[i].dimensions[k] == dimension)
				return true;
	return false;
}

void
lt_grouping_put_name(struct lt_out *out, const struct lt_grouping *grouping, uint32_t which)
{
	lt_out_text(out, LT_WORD(dimension_names, grouping->dimensions[which]));
	if (grouping->dimensions[which] == LT_BY_LABEL)
		lt_out_text(out, grouping->keys[which]);
}

/* ---- the groups of a report ---- */

/* Offset of the key's text in a run; 0 for a day, month, team or label, which a run does not have
 * as text. */
static const size_t of_run[LT_DIMENSIONS] = {
    [LT_BY_DAY] = 0,
    [LT_BY_MONTH] = 0,
    [LT_BY_TEAM] = 0,
    [LT_BY_LABEL] = 0,
    [LT_BY_USER] = offsetof(struct lt_run, user),
    [LT_BY_PARTITION] = offsetof(struct lt_run, partition),
    [LT_BY_QOS] = offsetof(struct lt_run, qos),
    [LT_BY_GPU] = offsetof(struct lt_run, gpu),
    [LT_BY_NAME] = offsetof(struct lt_run, name),
    [LT_BY_WCKEY] = offsetof(struct lt_run, wckey),
    [LT_BY_STATE] = offsetof(struct lt_run, state_text),
};

/* How a run is split: not at all, or into its hours of a day or month. */
enum split { WHOLE, BY_DAY, BY_MONTH, SPLITS };

struct dear { /* a run among the dearest */
	struct lt_run run;
	struct lt_booked booked;
};

struct lt_report_groups {
	const struct lt_groupings *asked;
	const struct lt_offsets *offsets;
	struct lt_ledger *ledger;
	struct lt_span period;
	const json_t *labels; /* {account: {key: text}} */
	struct group_table tables[LT_GROUPINGS_MAX];
	enum split split[LT_GROUPINGS_MAX];
	bool has_split[SPLITS];
	uint32_t top_count;
	struct dear top[LT_TOP_MAX]; /* the dearest first */
};

struct part {			  /* of a run: what falls into one group of a grouping */
	const struct lt_run *run; /* NULL: an adjustment */
	const char *team;
	char day[LT_DAY_TEXT_SIZE], month[LT_DAY_TEXT_SIZE];
	int64_t figures[LT_GROUP_FIGURES];
};

static enum split
split_of(const struct lt_grouping *grouping)
{
	enum split split = WHOLE;

	for (uint32_t k = 0; k < grouping->count; k++)
		if (grouping->dimensions[k] == LT_BY_DAY)
			return BY_DAY;
		else if (grouping->dimensions[k] == LT_BY_MONTH)
			split = BY_MONTH;
	return split;
}

struct lt_report_groups *
lt_report_groups_new(const struct lt_groupings *groupings, const struct lt_offsets *offsets,
    struct lt_ledger *ledger, struct lt_span period, const json_t *labels)
{
	struct lt_report_groups *const g = calloc(1, sizeof(*g));

	if (g == NULL)
		return NULL;
	g->asked = groupings;
	g->offsets = offsets;
	g->ledger = ledger;
	g->period = period;
	g->labels = labels;
	for (uint32_t i = 0; i < groupings->count; i++) {
		g->split[i] = split_of(&groupings->all[i]);
		g->has_split[g->split[i]] = true;
	}
	return g;
}

void
lt_report_groups_free(struct lt_report_groups *g)
{
	if (g == NULL)
		return;
	for (uint32_t i = 0; i < g->asked->count; i++)
		free_table(&g->tables[i]);
	free(g);
}

/* ---- the groups of a grouping ---- */

static const char *
label_of(const json_t *labels, const char *team, const char *key)
{
	const char *const text =
	    json_string_value(json_object_get(json_object_get(labels, team), key));

	return text != NULL ? text : "";
}

static const char *
text_of(const struct part *part, const struct lt_grouping *grouping, uint32_t which,
    const json_t *labels)
{
	switch (grouping->dimensions[which]) {
	case LT_BY_DAY:
		return part->day;
	case LT_BY_MONTH:
		return part->month;
	case LT_BY_TEAM:
		return part->team;
	case LT_BY_LABEL:
		return label_of(labels, part->team, grouping->keys[which]);
	default:
		return part->run == NULL
			   ? ""
			   : (const char *)part->run + LT_ROW(of_run, grouping->dimensions[which]);
	}
}

static void
make_key(struct group_key *key, const struct lt_grouping *grouping, const struct part *part,
    const json_t *labels)
{
	key->length = 0;
	key->is_adjustment = part->run == NULL;

	for (uint32_t i = 0; i < grouping->count; i++) {
		const char *const text = text_of(part, grouping, i, labels);
		const size_t room = GROUP_KEY_SIZE / LT_GROUP_DIMENSIONS_MAX;
		const size_t length = strnlen(text, room - 1);

		memcpy(key->bytes + key->length, text, length);
		key->bytes[key->length + length] = '\0';
		key->length += length + 1;
	}
}

static int
add_part(
    struct lt_report_groups *g, uint32_t grouping, const struct part *part, struct lt_error *err)
{
	struct group *group = NULL;
	struct group_key key;

	make_key(&key, &g->asked->all[grouping], part, g->labels);
	const int rc = find_group(&g->tables[grouping], &key, &group, err);
	for (int i = 0; rc == LT_OK && i < LT_GROUP_FIGURES; i++)
		if (!lt_add(&group->figures[i], part->figures[i]))
			return lt_fail(err, LT_EOVERFLOW, "by: a sum passes 64 bits");
	return rc;
}

static int
add_by_all(
    struct lt_report_groups *g, const struct part *part, enum split split, struct lt_error *err)
{
	int rc = LT_OK;

	for (uint32_t i = 0; rc == LT_OK && i < g->asked->count; i++)
		if (g->split[i] == split)
			rc = add_part(g, i, part, err);
	return rc;
}

/* ---- what a run adds ---- */

static bool
has_failed(const struct lt_run *run)
{
	return strcmp(run->state_text, "COMPLETED") != 0 &&
	       strcmp(run->state_text, "RESIZING") != 0 &&
	       strcmp(run->state_text, "RUNNING") != 0; /* a part of it */
}

/* The times that it had from `from` to `to`. */
static void
set_times(struct part *part, const struct lt_run *run, int64_t from_utc_s, int64_t to_utc_s)
{
	const int64_t from = lt_max_i64(run->start_utc_s, from_utc_s);
	const int64_t to = lt_min_i64(run->end_utc_s, to_utc_s);
	const int64_t length = to > from && run->start_utc_s > 0 ? to - from : 0;

	part->figures[LT_GROUP_ENDED] = run->end_utc_s > from_utc_s && run->end_utc_s <= to_utc_s;
	part->figures[LT_GROUP_CPU_S] = length * run->cpus;
	part->figures[LT_GROUP_GPU_S] = length * run->gpus;
	if (!lt_scale_up(length * run->nodes, run->share_numerator, run->share_denominator,
		&part->figures[LT_GROUP_NODE_S]))
		part->figures[LT_GROUP_NODE_S] = length * run->nodes;
}

/* The amounts of the entry, booked on its day. */
static void
set_amounts(struct part *part, const struct lt_entry *entry)
{
	int64_t *const f = part->figures;

	f[LT_GROUP_COST] = entry->money_micros;
	f[LT_GROUP_CARBON_CHARGE] = entry->parts.carbon_charge_micros;
	f[LT_GROUP_DISCOUNT] = entry->parts.discount_micros;
	f[LT_GROUP_CARBON] = entry->carbon_mg;
	f[LT_GROUP_ENERGY] = entry->energy_wh;
	f[LT_GROUP_BASE] = entry->baseline_money_micros;
	f[LT_GROUP_BASE_MG] = entry->baseline_carbon_mg;
	f[LT_GROUP_RUNS] = 1;
	f[LT_GROUP_UNPRICED] = !part->run->priced;
	if (has_failed(part->run)) {
		f[LT_GROUP_FAILED_RUNS] = 1;
		f[LT_GROUP_FAILED] = f[LT_GROUP_COST];
	}
	if (part->run->worst_quality >= LT_QUALITY_ESTIMATED) {
		f[LT_GROUP_ESTIMATED_RUNS] = 1;
		f[LT_GROUP_ESTIMATED_MG] = f[LT_GROUP_CARBON];
	}
	if (lt_idle_of(&f[LT_GROUP_IDLE], part->run, f[LT_GROUP_COST]))
		f[LT_GROUP_MEASURED] = f[LT_GROUP_COST];
}

struct days { /* hours of a run, added up by the site's days, or months */
	struct lt_report_groups *g;
	enum split split;
	const struct lt_booked *booked;
	struct part part;
	struct lt_entry sum;
	int64_t end_utc_s; /* of that day; 0: none has begun */
	int64_t start_utc_s;
};

static int
end_day(struct days *days, struct lt_error *err)
{
	if (days->end_utc_s == 0)
		return LT_OK;
	set_amounts(&days->part, &days->sum);
	set_times(&days->part, days->part.run, days->start_utc_s, days->end_utc_s);
	return add_by_all(days->g, &days->part, days->split, err);
}

/* The day and the month of an hour, and the bounds of the one that counts. */
static void
set_day(struct part *part, const struct lt_report_groups *g, enum split split, int64_t at_utc_s,
    struct lt_span *span)
{
	lt_calendar_day(part->day, &span->from_utc_s, &span->to_utc_s, g->offsets, at_utc_s);
	snprintf(part->month, sizeof(part->month), "%.7s", part->day);
	if (split == BY_MONTH) {
		struct lt_period month;

		lt_calendar_period(&month, g->offsets, LT_MONTH, at_utc_s, 0);
		*span = (struct lt_span){month.start_utc_s, month.end_utc_s};
	}
}

static int
add_up(struct lt_entry *sum, const struct lt_entry *more, struct lt_error *err)
{
	return lt_entry_add(sum, more, 1)
		   ? LT_OK
		   : lt_fail(err, LT_EOVERFLOW, "report: a run passes 64 bits");
}

static int
take_hour(void *context, const struct lt_entry *entry, struct lt_error *err)
{
	struct days *const days = context;

	if (strcmp(entry->account, days->booked->account) != 0)
		return LT_OK;
	if (entry->at_utc_s >= days->end_utc_s) {
		const int rc = end_day(days, err);

		if (rc != LT_OK)
			return rc;
		struct lt_span span;

		days->sum = (struct lt_entry){0};
		set_day(&days->part, days->g, days->split, entry->at_utc_s, &span);
		days->start_utc_s = span.from_utc_s;
		days->end_utc_s = span.to_utc_s;
	}
	return add_up(&days->sum, entry, err);
}

/* A run whose hours lie in one day, or month, is that one's; of another its entries. */
static int
add_days(struct lt_report_groups *g, enum split split, const struct part *part,
    const struct lt_booked *booked, struct lt_error *err)
{
	const struct lt_run *const run = part->run;
	struct days days = {.g = g, .split = split, .booked = booked, .part = *part};
	struct lt_span span;

	set_day(&days.part, g, split, run->start_utc_s, &span);
	const bool is_one = run->end_utc_s <= span.to_utc_s && !run->corrected &&
			    run->start_utc_s >= g->period.from_utc_s;
	if (is_one || !booked->has_entries)
		return add_by_all(g, &days.part, split, err);
	int rc = lt_ledger_hours(g->ledger,
	    &(struct lt_hours_asked){.key = run->key, .span = g->period}, take_hour, &days, err);
	return rc == LT_OK ? end_day(&days, err) : rc;
}

/* Behind those that cost as much, which came first. */
static void
keep_dear(struct lt_report_groups *g, const struct lt_run *run, const struct lt_booked *booked)
{
	const int64_t cost = booked->charge.money_micros + booked->correction.money_micros;
	uint32_t at = g->top_count;

	while (at > 0 && g->top[at - 1].booked.charge.money_micros +
				 g->top[at - 1].booked.correction.money_micros <
			     cost)
		at--;
	if (at >= g->asked->top)
		return;
	if (g->top_count < g->asked->top)
		g->top_count++;
	memmove(&g->top[at + 1], &g->top[at], (g->top_count - 1 - at) * sizeof(*g->top));
	g->top[at] = (struct dear){*run, *booked};
}

int
lt_report_groups_run(struct lt_report_groups *g, const struct lt_run *run,
    const struct lt_booked *booked, bool is_shown, struct lt_error *err)
{
	struct part part = {.run = run, .team = booked->account};
	struct lt_entry sum = booked->charge;
	int rc = add_up(&sum, &booked->correction, err);

	if (rc != LT_OK)
		return rc;
	if (is_shown)
		keep_dear(g, run, booked);
	set_amounts(&part, &sum);
	if (!booked->is_late)
		set_times(&part, run, g->period.from_utc_s, g->period.to_utc_s);
	part.figures[LT_GROUP_EARLIER] = booked->earlier.money_micros;
	rc = add_by_all(g, &part, WHOLE, err);
	part.figures[LT_GROUP_EARLIER] = 0;
	for (enum split split = BY_DAY; rc == LT_OK && split < SPLITS; split++)
		if (g->has_split[split])
			rc = add_days(g, split, &part, booked, err);
	return rc;
}

int
lt_report_groups_adjustment(
    struct lt_report_groups *g, const struct lt_entry *entry, struct lt_error *err)
{
	struct part part = {.team = entry->account};
	struct lt_span span;
	int rc = LT_OK;

	set_day(&part, g, BY_DAY, entry->at_utc_s, &span);
	part.figures[LT_GROUP_COST] = entry->money_micros;
	part.figures[LT_GROUP_CARBON] = entry->carbon_mg;
	for (enum split split = WHOLE; rc == LT_OK && split < SPLITS; split++)
		rc = add_by_all(g, &part, split, err);
	return rc;
}

/* ---- as JSON ---- */

static int
by_key(const void *a, const void *b)
{
	const struct group *const x = a, *const y = b;
	const size_t least = x->key_bytes < y->key_bytes ? x->key_bytes : y->key_bytes;
	const int order = memcmp(x->key, y->key, least);

	if (order != 0)
		return order;
	return x->is_adjustment - y->is_adjustment;
}

static int
by_cost(const void *a, const void *b)
{
	const int64_t x = ((const struct group *)a)->figures[LT_GROUP_COST];
	const int64_t y = ((const struct group *)b)->figures[LT_GROUP_COST];

	return x != y ? (x < y) - (x > y) : by_key(a, b);
}

static void
write_group(struct lt_out *out, const struct lt_grouping *grouping, const struct group *group,
    enum split split)
{
	const int last = split != WHOLE ? LT_GROUP_EARLIER : LT_GROUP_ENDED;
	const char *text = group->key;

	lt_out_text(out, "{");
	for (uint32_t i = 0; i < grouping->count; i++) {
		lt_out_text(out, "\"");
		lt_grouping_put_name(out, grouping, i);
		lt_out_text(out, "\":");
		lt_out_quoted(out, text);
		lt_out_text(out, ",");
		text += strlen(text) + 1;
	}
	if (group->is_adjustment)
		lt_out_text(out, "\"adjustment\":true,");
	for (int i = 0; i < last; i++) {
		lt_out_quoted(out, lt_group_figures[i].key);
		lt_out_text(out, ":");
		lt_out_int(out, group->figures[i]);
		lt_out_text(out, i + 1 < last ? "," : "}");
	}
}

static void
write_grouping(struct lt_out *out, struct lt_report_groups *g, uint32_t which)
{
	const struct lt_grouping *const grouping = &g->asked->all[which];
	struct group_table *const t = &g->tables[which];

	lt_out_text(out, which > 0 ? ",\"" : "\"");
	for (uint32_t i = 0; i < grouping->count; i++) {
		lt_out_text(out, i > 0 ? "," : "");
		lt_grouping_put_name(out, grouping, i);
	}
	lt_out_text(out, "\":[");
	if (t->count > 1)
		qsort(t->items, t->count, sizeof(*t->items),
		    g->split[which] != WHOLE ? by_key : by_cost);
	for (uint32_t i = 0; i < t->count; i++) {
		lt_out_text(out, i > 0 ? "," : "");
		write_group(out, grouping, &t->items[i], g->split[which]);
	}
	lt_out_text(out, "]");
}

int
lt_report_groups_each(
    const struct lt_report_groups *g, lt_group_function *take, void *context, struct lt_error *err)
{
	const uint32_t last = g->asked->count - 1;
	const struct group_table *const t = &g->tables[last];
	int rc = LT_OK;

	for (uint32_t i = 0; rc == LT_OK && i < t->count; i++) {
		const int64_t *const f = t->items[i].figures;
		const char *text = t->items[i].key;
		struct lt_report_group group = {.ended = f[LT_GROUP_ENDED],
		    .cost_micros = f[LT_GROUP_COST],
		    .energy_wh = f[LT_GROUP_ENERGY],
		    .gpu_s = f[LT_GROUP_GPU_S]};

		for (uint32_t k = 0; k < g->asked->all[last].count; k++) {
			group.texts[k] = text;
			text += strlen(text) + 1;
		}
		rc = take(context, &group, err);
	}
	return rc;
}

void
lt_report_groups_write(struct lt_out *out, struct lt_report_groups *g)
{
	lt_out_text(out, ",\"by\":{");
	for (uint32_t i = 0; i < g->asked->shown; i++)
		write_grouping(out, g, i);
	lt_out_text(out, "},\"top\":[");
	for (uint32_t i = 0; i < g->top_count; i++) {
		lt_out_text(out, i > 0 ? "," : "");
		lt_run_write(out, &g->top[i].run, &g->top[i].booked, g->offsets);
	}
	lt_out_text(out, "]");
}
