/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups in a loaded market: words for modes and objectives, partitions by name, how old a
 * partition's signals are, and a job's class: which one it is, what it allows, and the words for
 * that in plan and explain.
 *
 * Used by whoever decides. Reads the market, writes text into the caller's buffers. Pure; a name
 * that is not there is -1 or NULL.
 */
#include <stddef.h>
#include <string.h>

#include "decide.h"
#include "lookup.h"
#include "market.h"
#include "text.h"
#include "units.h"

static const char *const mode_names[LT_MODE_COUNT] = {
    [LT_MODE_OBSERVE] = "observe",
    [LT_MODE_ADVISE] = "advise",
    [LT_MODE_ENFORCE] = "enforce",
};

static const char *const objective_names[LT_OBJECTIVE_COUNT] = {
    [LT_OBJECTIVE_OFF] = "off",
    [LT_OBJECTIVE_BALANCED] = "balanced",
    [LT_OBJECTIVE_COST] = "cost",
    [LT_OBJECTIVE_CARBON] = "carbon",
    [LT_OBJECTIVE_FAST] = "fast",
};

/* ---- Modes, partitions and signals ---- */

bool
lt_mode_may(enum lt_mode mode, enum lt_may what)
{
	static const unsigned allowed[LT_MODE_COUNT] = {
	    [LT_MODE_OBSERVE] = 0,
	    [LT_MODE_ADVISE] = LT_MAY_ADVISE,
	    [LT_MODE_ENFORCE] = LT_MAY_EDIT | LT_MAY_REFUSE | LT_MAY_HOLD,
	};

	return (unsigned)mode <= LT_MODE_ENFORCE && (LT_ROW(allowed, mode) & what);
}

const char *
lt_mode_name(enum lt_mode mode)
{
	return LT_WORD(mode_names, mode);
}

const char *
lt_objective_name(enum lt_objective objective)
{
	return LT_WORD(objective_names, objective);
}

int
lt_objective_find(const char *word)
{
	for (int i = 0; i < LT_OBJECTIVE_COUNT; i++)
		if (strcmp(objective_names[i], word) == 0)
			return i;
	return -1;
}

/* True if a name fits that of a rule: "" in the rule fits any, and an unknown name fits none. */
static bool
is_named(const char *rule, const char *is)
{
	return rule[0] == '\0' || strcmp(rule, is) == 0;
}

/* A to Z in lower case, in every locale. */
static char
folded(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The text, against a pattern of so many bytes. Of several "*" only the last one that was met is
 * tried again, so it takes at most length x name. */
static bool
matches(const char *pattern, size_t length, const char *text)
{
	const char *const end = pattern + length;
	const char *star = NULL, *again = NULL;

	while (*text) {
		if (pattern < end && *pattern == '*') {
			star = pattern++;
			again = text;
		} else if (pattern < end &&
			   (*pattern == '?' || folded(*pattern) == folded(*text))) {
			pattern++;
			text++;
		} else if (star != NULL) {
			pattern = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

bool
lt_job_name_matches(const char *patterns, const char *name)
{
	while (*patterns && *name) {
		const size_t length = strcspn(patterns, "\n");

		if (matches(patterns, length, name))
			return true;
		patterns += length;
		patterns += *patterns == '\n';
	}
	return false;
}

const struct lt_class *
lt_market_class(const struct lt_market *market, const struct lt_class_of *job)
{
	const int partition = job->partition;
	const char *const home = partition >= 0 && (uint32_t)partition < market->partition_count
				     ? market->partitions[partition].name
				     : "";

	for (uint32_t i = 0; i < market->class_count; i++) {
		const struct lt_class *const class = &market->classes[i];

		if (is_named(class->account, job->account) && is_named(class->qos, job->qos) &&
		    is_named(class->partition, home) &&
		    (class->patterns[0] == '\0' || lt_job_name_matches(class->patterns, job->name)))
			return class;
	}
	return NULL;
}

int
lt_market_partition(const struct lt_market *market, const char *name)
{
	for (uint32_t i = 0; i < market->partition_count; i++)
		if (strcmp(market->partitions[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool
lt_market_uses(const struct lt_market *market, int series)
{
	for (uint32_t i = 0; i < market->partition_count; i++) {
		const struct lt_partition *const p = &market->partitions[i];

		if (p->price_series == series || p->carbon_series == series ||
		    p->tariff_series == series)
			return true;
	}
	return false;
}

int
lt_bar_compare(const struct lt_bar *a, const struct lt_bar *b)
{
	if (a->asked != b->asked)
		return a->asked < b->asked ? -1 : 1;
	return (a->partition > b->partition) - (a->partition < b->partition);
}

bool
lt_market_bars(const struct lt_market *market, uint64_t asked, int partition)
{
	const struct lt_bar wanted = {asked, (uint32_t)partition};
	uint32_t from = 0, to = market->bar_count;

	while (asked != 0 && from < to) {
		const uint32_t at = from + (to - from) / 2;
		const int order = lt_bar_compare(&wanted, &market->bars[at]);

		if (order == 0)
			return true;
		if (order < 0)
			to = at;
		else
			from = at + 1;
	}
	return false;
}

/* Flags that say what a job is given, not who may run. */
static const uint32_t giving_flags =
    LT_PARTITION_EXCLUSIVE | LT_PARTITION_BY_CORE | LT_PARTITION_BY_SOCKET |
    LT_PARTITION_TASK_PER_CORE | LT_PARTITION_BIND_SOCKETS | LT_PARTITION_TASKS_BY_NODE |
    LT_PARTITION_GPUS_BY_NODE | LT_PARTITION_DEALS_TASKS | LT_PARTITION_DEALS_BY_NODE;

static bool
same_nodes(
    const struct lt_market *market, const struct lt_partition *a, const struct lt_partition *b)
{
	static const size_t counts = offsetof(struct lt_shape, cpus);

	if (a->shape_count != b->shape_count)
		return false;
	for (uint32_t i = 0; i < a->shape_count; i++)
		if (memcmp((const char *)&market->shapes[a->first_shape + i] + counts,
			(const char *)&market->shapes[b->first_shape + i] + counts,
			sizeof(struct lt_shape) - counts) != 0)
			return false;
	return true;
}

static bool
are_alike(
    const struct lt_market *market, const struct lt_partition *a, const struct lt_partition *b)
{
	return ((a->flags ^ b->flags) & giving_flags) == 0 && a->min_nodes == b->min_nodes &&
	       a->default_memory_mib == b->default_memory_mib &&
	       a->default_memory_is_per_cpu == b->default_memory_is_per_cpu &&
	       a->max_memory_mib == b->max_memory_mib &&
	       a->max_memory_is_per_cpu == b->max_memory_is_per_cpu &&
	       a->default_cpus_per_gpu == b->default_cpus_per_gpu &&
	       a->default_memory_mib_per_gpu == b->default_memory_mib_per_gpu &&
	       a->max_cpus_per_node == b->max_cpus_per_node &&
	       a->max_cpus_per_socket == b->max_cpus_per_socket && a->node_gpu_w == b->node_gpu_w &&
	       same_nodes(market, a, b);
}

void
lt_market_liken(struct lt_market *market)
{
	uint32_t firsts[LT_PARTITIONS_MAX], kinds = 0;

	for (uint32_t i = 0; i < market->partition_count; i++) {
		struct lt_partition *const part = &market->partitions[i];
		uint32_t kind = 0;

		while (kind < kinds && !are_alike(market, part, &market->partitions[firsts[kind]]))
			kind++;
		if (kind == kinds)
			firsts[kinds++] = i;
		part->like = kind + 1;
	}
}

int
lt_market_default_partition(const struct lt_market *market)
{
	for (uint32_t i = 0; i < market->partition_count; i++)
		if (market->partitions[i].flags & LT_PARTITION_DEFAULT)
			return (int)i;
	return -1;
}

int64_t
lt_overrun_s(const struct lt_partition *partition)
{
	return partition->overrun_s < INT64_MAX ? partition->overrun_s : 0;
}

/* The older of age and this series' age; a missing series has no age here. */
static int64_t
older(const struct lt_market *market, int series_index, int64_t now_utc_s, int64_t age_s)
{
	const struct lt_series *series;

	if (series_index == LT_NO_SERIES)
		return age_s;
	if (series_index < 0 || (uint32_t)series_index >= market->series_count)
		return INT64_MAX;
	series = &market->series[series_index];
	if (series->quality == LT_QUALITY_CONSTANT)
		return age_s;
	if (series->quality == LT_QUALITY_NONE || series->count == 0)
		return INT64_MAX;
	const int64_t own_s = now_utc_s - series->issued_utc_s;
	return own_s > age_s ? own_s : age_s;
}

int64_t
lt_market_signal_age_s(const struct lt_market *market, int partition, int64_t now_utc_s)
{
	const struct lt_partition *part;
	int64_t age_s = 0;

	if (partition < 0 || (uint32_t)partition >= market->partition_count)
		return INT64_MAX;
	part = &market->partitions[partition];
	/* Neither prices nor carbon: there is nothing to decide by. */
	if (part->price_series == LT_NO_SERIES && part->carbon_series == LT_NO_SERIES &&
	    part->tariff_series == LT_NO_SERIES)
		return INT64_MAX;
	age_s = older(market, part->price_series, now_utc_s, age_s);
	age_s = older(market, part->carbon_series, now_utc_s, age_s);
	return older(market, part->tariff_series, now_utc_s, age_s);
}

const struct lt_gpu *
lt_market_gpu(const struct lt_market *market, int partition)
{
	int found = -1;

	if (partition < 0 || (uint32_t)partition >= market->partition_count)
		return NULL;
	const struct lt_partition *const part = &market->partitions[partition];
	for (uint32_t i = 0; i < part->shape_count; i++) {
		const int gpu = market->shapes[part->first_shape + i].gpu_index;

		if (gpu < 0 || gpu == found)
			continue;
		if (found >= 0)
			return NULL;
		found = gpu;
	}
	return found < 0 ? NULL : &market->gpus[found];
}

double
lt_market_restart_s(const struct lt_market *market)
{
	double longest_s = 0;

	for (uint32_t i = 0; i < market->partition_count; i++)
		if (market->partitions[i].flags & LT_PARTITION_PREEMPTIBLE &&
		    market->partitions[i].restart_s > longest_s)
			longest_s = market->partitions[i].restart_s;
	return longest_s;
}

double
lt_charge_per_mg(const struct lt_market *market)
{
	return (double)market->charge_micros_per_tonne / LT_MG_PER_TONNE;
}

double
lt_worth_per_mg(const struct lt_market *market)
{
	const int64_t beyond =
	    market->carbon_price_micros_per_tonne - market->charge_micros_per_tonne;

	return beyond > 0 ? (double)beyond / LT_MG_PER_TONNE : 0;
}

/* ---- Classes ---- */

int64_t
lt_class_max_delay_s(const struct lt_class *class, const struct lt_market *market)
{
	return class != NULL && class->has_max_delay ? class->max_delay_s : market->max_delay_s;
}

uint32_t
lt_class_confidence_ppm(const struct lt_class *class, const struct lt_market *market)
{
	return class != NULL && class->deadline_confidence_ppm > 0
		   ? class->deadline_confidence_ppm
		   : market->deadline_confidence_ppm;
}

int64_t
lt_max_price_micros(const struct lt_request *request, const struct lt_market *market)
{
	const struct lt_class *const class = lt_request_class(request, market);
	const int64_t asked = request->max_price_micros;
	const int64_t by_class = class != NULL ? class->max_price_micros : 0;

	return asked == 0 || (by_class > 0 && by_class < asked) ? by_class : asked;
}

/* "(QOS batch, account vision)": what of the job made it that class. */
static void
put_whose(struct lt_text *text, const struct lt_class *class)
{
	const struct {
		const char *word, *name;
	} parts[] = {
	    {"QOS", class->qos}, {"account", class->account}, {"partition", class->partition}};
	bool any = false;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].name[0] == '\0')
			continue;
		lt_text_put(text, "%s%s %s", any ? ", " : " (", parts[i].word, parts[i].name);
		any = true;
	}
	if (class->patterns[0] != '\0') {
		lt_text_put(text, any ? ", by its name" : " (by its name");
		any = true;
	}
	lt_text_put(text, any ? ")" : " (all jobs)");
}

/* Returns ": " before the first part of the text, ", " before the others. */
static const char *
next_separator(bool *any)
{
	const char *const between = *any ? ", " : ": ";

	*any = true;
	return between;
}

static void
put_bounds(struct lt_text *text, const struct lt_class *class, const char *currency)
{
	char words[64];
	bool any = false;

	if (class->default_objective != LT_OBJECTIVE_OFF)
		lt_text_put(text, "%splaced without asking (%s)", next_separator(&any),
		    lt_objective_name(class->default_objective));
	if (class->has_max_delay)
		lt_text_put(text, "%sat most %s of delay", next_separator(&any),
		    lt_duration_text(words, sizeof(words), class->max_delay_s));
	if (class->deadline_confidence_ppm > 0)
		lt_text_put(text, "%sdeadlines kept in %.4g %%", next_separator(&any),
		    class->deadline_confidence_ppm / 1e4);
	if (class->max_price_micros > 0)
		lt_text_put(text, "%sat most %s a node-hour", next_separator(&any),
		    lt_money_text(words, sizeof(words), class->max_price_micros, currency));
	if (class->assume_time_s > 0)
		lt_text_put(text, "%sheld for %s at a time without a limit", next_separator(&any),
		    lt_duration_text(words, sizeof(words), class->assume_time_s));
	if (class->on_demand_only)
		lt_text_put(text, "%snever moved to preemptible nodes", next_separator(&any));
	if (class->max_interruptions != LT_INTERRUPTIONS_ANY)
		lt_text_put(text, "%sat most %u interruption%s", next_separator(&any),
		    class->max_interruptions, class->max_interruptions == 1 ? "" : "s");
	if (class->pause != LT_PAUSE_NEVER)
		lt_text_put(text, "%spauses by %s", next_separator(&any),
		    class->pause == LT_PAUSE_SUSPEND ? "suspend" : "requeue");
	if (class->smoke_within_s > 0)
		lt_text_put(text, "%sa smoke run above %g node-hours", next_separator(&any),
		    (double)class->smoke_above_node_s / LT_HOUR_S);
}

void
lt_class_text(
    char *out, size_t size, const struct lt_request *request, const struct lt_market *market)
{
	const struct lt_class *const class = lt_request_class(request, market);
	struct lt_text text = {.out = out, .size = size};

	if (size > 0)
		out[0] = '\0';
	if (class == NULL)
		return;
	lt_text_put(&text, "class %s", class->name);
	put_whose(&text, class);
	put_bounds(&text, class, market->currency);
}
