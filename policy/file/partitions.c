/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitions of a policy file with the sources of their signals, their PUE (one number, or one of
 * each month, which a site knows when the month is over) and their factor for the market-based
 * method: what a supplier or bought certificates say of a kWh, and from which day on. Also GPUs,
 * and the rules of power_cap: whose jobs run slower in dirty hours, by how much that lengthens a
 * run and lowers its power.
 *
 * Reads YAML nodes, writes struct lt_policy. A wrong value is a complaint
 * with its line; the rest is still read.
 */
#include <regex.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "power_cap.h"
#include "reader.h"
#include "units.h"

/* ---- PUE ---- */

double
lt_policy_pue(const struct lt_policy_pue *pue, int64_t utc_s)
{
	int i = pue->count - 1;

	while (i > 0 && pue->months[i].from_utc_s > utc_s)
		i--;
	return i >= 0 ? pue->months[i].value : 1;
}

/* "2026-10", at its first midnight. */
static bool
month_utc_s(const char *text, const char *zone, int64_t *utc_s)
{
	char day[sizeof("2026-10-01")];
	const int length = snprintf(day, sizeof(day), "%s-01", text);

	return length == (int)sizeof(day) - 1 && lt_date_utc_s(day, zone, utc_s);
}

static void
insert_month(struct lt_reader *reader, const yaml_node_t *name, struct lt_policy_pue *pue,
    const struct lt_policy_pue_month *month)
{
	int at = pue->count;

	while (at > 0 && pue->months[at - 1].from_utc_s > month->from_utc_s)
		at--;
	if (at > 0 && pue->months[at - 1].from_utc_s == month->from_utc_s) {
		lt_complain(reader, name, "%s: got it twice, want it once", lt_scalar_peek(name));
		return;
	}
	memmove(&pue->months[at + 1], &pue->months[at], (size_t)(pue->count - at) * sizeof(*month));
	pue->months[at] = *month;
	pue->count++;
}

static void
read_month(struct lt_reader *reader, const struct lt_key *key, const yaml_node_pair_t *pair,
    struct lt_policy_pue *pue)
{
	const yaml_node_t *const name = yaml_document_get_node(reader->document, pair->key);
	const char *const text = lt_scalar_peek(name);
	const struct lt_key value = {.name = text,
	    .offset = offsetof(struct lt_policy_pue_month, value),
	    .min = key->min,
	    .max = key->max,
	    .want = "a number from 1 to 10 such as 1.15"};
	struct lt_policy_pue_month month = {.value = 1};

	if (text == NULL || !month_utc_s(text, reader->policy->timezone, &month.from_utc_s)) {
		lt_unwanted(reader,
		    &(struct lt_key){.name = key->name, .want = "a month such as 2026-10"}, name,
		    "");
		return;
	}
	lt_read_double(
	    reader, &value, yaml_document_get_node(reader->document, pair->value), &month);
	insert_month(reader, name, pue, &month);
}

static void
read_pue(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_pue *const pue = (void *)((char *)object + key->offset);

	if (node->type != YAML_MAPPING_NODE) {
		struct lt_key one = *key;

		one.offset = offsetof(struct lt_policy_pue_month, value);
		pue->count = 1;
		pue->months[0] = (struct lt_policy_pue_month){.from_utc_s = INT64_MIN};
		lt_read_double(reader, &one, node, &pue->months[0]);
		return;
	}
	const yaml_node_pair_t *const pairs = node->data.mapping.pairs.start;
	const ptrdiff_t count = node->data.mapping.pairs.top - pairs;
	if (count < 1 || count > LT_PUE_MONTHS_MAX) {
		lt_complain(reader, node, "%s: got %td months, want 1 to %d", key->name, count,
		    LT_PUE_MONTHS_MAX);
		return;
	}
	for (ptrdiff_t i = 0; i < count && !lt_errors_full(reader); i++)
		read_month(reader, key, &pairs[i], pue);
}

/* ---- Market-based method ---- */

struct market_based_entry { /* as written; becomes a lt_policy_market_based */
	double g_per_kwh;
	char source[LT_NAME_SIZE], from[LT_NAME_SIZE];
};

/* Reads text for people: any text of one line. */
static void
read_text(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const char *const text = lt_scalar_peek(node);
	const size_t length = text != NULL ? strlen(text) : 0;

	if (length == 0 || length >= key->size) {
		lt_unwanted(reader, key, node, "");
		return;
	}
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '\177') {
			lt_unwanted(reader, key, node, "");
			return;
		}
	memcpy((char *)object + key->offset, text, length + 1);
}

#define AT(field) offsetof(struct market_based_entry, field)
static const struct lt_key market_based_keys[] = {
    {"g_per_kwh", lt_read_double, AT(g_per_kwh), .min = 0, .max = 10000, .required = true,
	.want = "g CO2e/kWh from 0 to 10000 such as 12"},
    {"source", read_text, AT(source), .size = LT_NAME_SIZE, .required = true,
	.want = "who says so, in at most 63 bytes, such as \"REC 2026, supplier X\""},
    {"from", lt_read_name, AT(from), .size = LT_NAME_SIZE,
	.want = "the first day such as 2026-01-01"},
    {.name = NULL},
};
#undef AT

static void
read_market_based(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_market_based *const to = (void *)((char *)object + key->offset);
	const int errors = reader->errors->count;
	struct market_based_entry entry = {.g_per_kwh = 0};

	if (!lt_read_body(reader,
		&(struct lt_key){.name = key->name, .want = key->want, .keys = market_based_keys},
		node, &entry) ||
	    reader->errors->count > errors)
		return;
	to->is_set = true;
	to->g_per_kwh = entry.g_per_kwh;
	memcpy(to->source, entry.source, sizeof(to->source));
	to->from_utc_s = INT64_MIN;
	if (entry.from[0] != '\0' &&
	    !lt_date_utc_s(entry.from, reader->policy->timezone, &to->from_utc_s))
		lt_complain(
		    reader, node, "from: got \"%s\", want a day such as 2026-01-01", entry.from);
}

#define INTENSITY_MAX 10000.0 /* g/kWh; ten times coal */

/* ---- GPUs ---- */

#define AT(field) offsetof(struct lt_gpu, field)
#define TFLOPS(label, index)                                                                       \
	{                                                                                          \
		label, lt_read_double, AT(tflops) + (index) * sizeof(double),                      \
		    .min = 0.001, .max = 1e6, .want = "dense TFLOPS such as 312"                   \
	}
static const struct lt_key tflops_keys[] = {
    TFLOPS("fp32", LT_PRECISION_FP32),
    TFLOPS("tf32", LT_PRECISION_TF32),
    TFLOPS("fp16", LT_PRECISION_FP16),
    TFLOPS("bf16", LT_PRECISION_BF16),
    TFLOPS("fp8", LT_PRECISION_FP8),
    {.name = NULL},
};
static const struct lt_key gpu_keys[] = {
    {"memory", lt_read_mebibytes, AT(memory_mib), .min = 1, .max = 64 * 1024 * 1024,
	.required = true, .want = "memory of one GPU such as 40GiB"},
    {"power_w", lt_read_u32, AT(power_w), .min = 1, .max = 100000, .required = true,
	.want = "whole watts of one board such as 400"},
    {"compute_capability", lt_read_capability, AT(compute_capability), .min = 1, .max = 99,
	.want = "NVIDIA's figure such as 8.0"},
    {"bandwidth_gb_s", lt_read_double, AT(bandwidth_gb_s), .min = 0.001, .max = 1e6,
	.want = "GB/s of device memory such as 1555"},
    {"tflops", lt_read_keys, 0, .keys = tflops_keys,
	.want = "a mapping such as {fp32: 19.5, bf16: 312}"},
    {.name = NULL},
};
#undef AT

void
lt_read_gpu(struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item)
{
	(void)name;
	const struct lt_gpu *gpu = item;
	lt_read_body(reader,
	    &(struct lt_key){.name = gpu->name,
		.want = "a mapping such as {memory: 40GiB, power_w: 400}",
		.keys = gpu_keys},
	    node, item);
}

const struct lt_gpu *
lt_policy_gpu(struct lt_gpu *room, const struct lt_policy *policy, const char *name)
{
	for (int i = 0; i < policy->gpu_count; i++)
		if (strcasecmp(policy->gpus[i].name, name) == 0)
			return &policy->gpus[i];
	return lt_gpu_find(room, name);
}

/* ---- signals ---- */

static void
add_source(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node,
    struct lt_policy_signal *signal)
{
	const struct lt_policy *policy = reader->policy;
	const struct lt_key wanted = {.name = key->name, .want = "a source under sources:"};
	const char *text = lt_scalar_peek(node);

	if (text == NULL) {
		lt_unwanted(reader, &wanted, node, "");
		return;
	}
	const char *names[LT_SOURCES_MAX + 1];
	for (int i = 0; i < signal->source_count; i++)
		if (strcmp(policy->sources[signal->sources[i]].name, text) == 0) {
			lt_complain(reader, node, "%s: got %s twice, want each source once",
			    key->name, text);
			return;
		}
	for (int i = 0; i < policy->source_count; i++) {
		if (strcmp(policy->sources[i].name, text) == 0) {
			signal->sources[signal->source_count++] = i;
			signal->is_set = true;
			return;
		}
		names[i] = policy->sources[i].name;
	}
	names[policy->source_count] = NULL;
	char hint[384];
	if (lt_number_hint(hint, sizeof(hint), text)[0] == '\0')
		lt_suggest(hint, sizeof(hint), text, names);
	lt_unwanted(reader, &wanted, node, hint);
}

/* A source, or several in order of preference. */
static void
read_source_only(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_signal *signal = (void *)((char *)object + key->offset);

	lt_place(node, &signal->line, &signal->column);
	if (node->type != YAML_SEQUENCE_NODE) {
		add_source(reader, key, node, signal);
		return;
	}
	const yaml_node_item_t *list = node->data.sequence.items.start;
	const ptrdiff_t count = node->data.sequence.items.top - list;
	if (count < 1 || count > LT_ORDER_MAX) {
		lt_complain(reader, node, "%s: got %td sources, want 1 to %d", key->name, count,
		    LT_ORDER_MAX);
		return;
	}
	for (ptrdiff_t i = 0; i < count; i++)
		add_source(reader, key, yaml_document_get_node(reader->document, list[i]), signal);
}

/* A number, or sources. A source's name begins with a letter, so all else is
 * a number. */
static void
read_signal(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_signal *signal = (void *)((char *)object + key->offset);
	const char *text = lt_scalar_peek(node);

	if (node->type == YAML_SEQUENCE_NODE ||
	    (text != NULL && text[0] != '\0' && strchr("0123456789+-.", text[0]) == NULL)) {
		read_source_only(reader, key, node, object);
		return;
	}
	lt_place(node, &signal->line, &signal->column);
	int64_t micros = 0;
	double value = 0;
	const bool is_number =
	    text != NULL && (key->is_money ? lt_micros_parse(text, &micros, NULL) == LT_OK
					   : lt_double_parse(text, &value, NULL) == LT_OK);
	const double written = key->is_money ? (double)micros / LT_MICROS : value;
	if (!is_number || written < key->min || written > key->max) {
		lt_unwanted(reader, key, node, "");
		return;
	}
	signal->is_set = true;
	signal->is_constant = true;
	signal->constant = key->is_money ? (double)micros : value;
}

/* ---- partitions ---- */

void
lt_read_gpu_name(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const struct lt_policy *policy = reader->policy;
	char *name = (char *)object + key->offset;
	struct lt_gpu room;

	if (!lt_take_name(reader, key, node, name, key->size) ||
	    lt_policy_gpu(&room, policy, name) != NULL)
		return;
	const char *names[2 * LT_GPUS_MAX + 1];
	for (int i = 0; i < policy->gpu_count; i++)
		names[i] = policy->gpus[i].name;
	int count;
	const struct lt_gpu *table = lt_gpu_table(&count);
	for (int i = 0; i < count; i++)
		names[policy->gpu_count + i] = table[i].name;
	names[policy->gpu_count + count] = NULL;
	char hint[384];
	lt_suggest(hint, sizeof(hint), name, names);
	lt_unwanted(reader, key, node, hint);
}

static void
read_preemptible(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_partition *partition = object;

	partition->preemptible = true;
	lt_read_keys(reader, key, node, object);
}

static void
read_gpu_price(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_partition *const partition = object;

	if (partition->price.is_set)
		lt_complain(reader, node, "%s: got it beside price_per_node_hour, want one of them",
		    key->name);
	partition->has_gpu_price = true;
	lt_read_micros(reader, key, node, object);
}

/* Bits of 0 are a partition that says nothing: an empty list is an error. */
static void
read_accepts(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const int errors = reader->errors->count;

	lt_read_word_bits(reader, key, node, object);
	if (((struct lt_policy_partition *)object)->accepts == 0 && reader->errors->count == errors)
		lt_complain(reader, node,
		    "%s: got an empty list, want %s; target: no keeps all jobs from being moved there",
		    key->name, key->want);
}

static void
read_target(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_partition *const partition = object;

	partition->target_said = true;
	lt_read_bool(reader, key, node, object);
}

static void
read_node(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_partition *const partition = object;

	partition->node.is_set = true;
	partition->node.count = LT_NODES_MAX;
	lt_read_keys(reader, key, node, object);
}

/* True if all of text is like the extended regular expression. */
static bool
is_like(const char *text, const char *like)
{
	regex_t expression;

	if (regcomp(&expression, like, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	const bool is = regexec(&expression, text, 0, NULL, 0) == 0;
	regfree(&expression);
	return is;
}

static void
read_like(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, char *out,
    const char *like)
{
	const char *const text = lt_scalar_peek(node);

	if (text != NULL && strlen(text) < key->size && is_like(text, like))
		(void)strcpy(out, text);
	else
		lt_unwanted(reader, key, node, "");
}

#define LABEL_KEY "[A-Za-z0-9][A-Za-z0-9_./-]*"
#define LABEL LABEL_KEY "=[A-Za-z0-9_.-]*"
#define TAINT LABEL_KEY "(=[A-Za-z0-9_.-]*)?:(NoSchedule|NoExecute|PreferNoSchedule)"

static void
read_node_labels(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	read_like(reader, key, node, (char *)object + key->offset, "^" LABEL "(," LABEL ")*$");
}

static void
read_node_taints(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	read_like(reader, key, node, (char *)object + key->offset, "^" TAINT "(," TAINT ")*$");
}

#define AT(field) offsetof(struct lt_policy_partition, field)
static const struct lt_word own_words[] = {
    {"true", 1},
    {"false", 0},
    {.name = NULL},
};
static const struct lt_word accepts_words[] = {
    {"gpu", LT_ACCEPTS_GPU},
    {"cpu", LT_ACCEPTS_CPU},
    {.name = NULL},
};
static const struct lt_key preemptible_keys[] = {
    {"interruptions_per_hour", read_signal, AT(hazard), .min = 0, .max = 60, .required = true,
	.want =
	    "interruptions of one node in an hour, 0 to 60, such as 0.004, a source, or a list of sources"},
    {"placement_score", read_source_only, AT(score), .want = "a source, or a list of sources"},
    {"own_history", lt_read_word, AT(own_history), .words = own_words, .want = "true or false"},
    {"notice", lt_read_duration, AT(notice_s), .min = 0, .max = LT_DAY_S,
	.want = "a duration from 0 to 1d such as 2m"},
    {"restart", lt_read_duration, AT(restart_s), .min = 0, .max = LT_DAY_S, .required = true,
	.want = "a duration from 0 to 1d such as 6m"},
    {.name = NULL},
};
static const struct lt_key node_keys[] = {
    {"cpus", lt_read_u32, AT(node.cpus), .min = 1, .max = 100000, .required = true,
	.want = "CPUs of one node such as 64"},
    {"memory", lt_read_mebibytes, AT(node.memory_mib), .min = 1, .max = 1024 * 1024 * 1024,
	.required = true, .want = "memory of one node such as 500GiB"},
    {"gpus", lt_read_u32, AT(node.gpus), .min = 0, .max = 1024,
	.want = "GPUs of one node such as 8"},
    {"count", lt_read_u32, AT(node.count), .min = 1, .max = LT_NODES_MAX,
	.want = "nodes that there may be, from 1, such as 16"},
    {"labels", read_node_labels, AT(node.labels), .size = LT_NODE_LABELS_SIZE,
	.want =
	    "labels of one node of Kubernetes such as \"karpenter.sh/capacity-type=spot,kubernetes.io/arch=arm64\""},
    {"taints", read_node_taints, AT(node.taints), .size = LT_NODE_LABELS_SIZE,
	.want = "taints of one node of Kubernetes such as \"nvidia.com/gpu=present:NoSchedule\""},
    {.name = NULL},
};
static const struct lt_key partition_keys[] = {
    {"price_per_node_hour", read_signal, AT(price), .min = 0, .max = LT_MONEY_MAX, .is_money = true,
	.want = "money from 0 such as 32.77, a source, or a list of sources"},
    {"carbon", read_signal, AT(carbon), .min = 0, .max = INTENSITY_MAX,
	.want = "g CO2e/kWh from 0 to 10000 such as 180, a source, or a list of sources"},
    {"electricity_price_per_kwh", read_signal, AT(tariff), .min = -LT_MONEY_MAX,
	.max = LT_MONEY_MAX, .is_money = true,
	.want = "money such as 0.21, a source, or a list of sources"},
    {"gpu", lt_read_gpu_name, AT(gpu), .size = LT_GPU_NAME_SIZE,
	.want = "a GPU of the built-in table or of gpus:"},
    {"pue", read_pue, AT(pue), .min = 1, .max = 10,
	.want = "a number from 1 to 10 such as 1.15, or months such as {2026-10: 1.21}"},
    {"owned", lt_read_bool, AT(owned), .want = "true or false"},
    {"accepts", read_accepts, AT(accepts), .words = accepts_words,
	.want = "a list of gpu and cpu such as [gpu]"},
    {"target", read_target, AT(is_target), .want = "true or false"},
    {"node", read_node, 0, .keys = node_keys,
	.want = "a mapping such as {cpus: 64, memory: 500GiB, gpus: 8}"},
    {"preemptible", read_preemptible, 0, .keys = preemptible_keys,
	.want = "a mapping such as {interruptions_per_hour: 0.004, restart: 6m}"},
    {"engineer_cost_per_restart", lt_read_micros, AT(engineer_micros_per_restart), .min = 0,
	.max = LT_MONEY_MAX, .is_money = true, .want = "money from 0 such as 25"},
    {"storage_price_per_gib_month", lt_read_micros, AT(storage_micros_per_gib_month), .min = 0,
	.max = LT_MONEY_MAX, .is_money = true, .want = "money from 0 such as 0.08"},
    {"storage_gib_per_s", lt_read_double, AT(storage_gib_per_s), .min = 0.001, .max = 1e6,
	.want = "GiB/s from 0.001 such as 2.5"},
    {"embodied_g_per_node_hour", lt_read_double, AT(embodied_g_per_node_hour), .min = 0, .max = 1e6,
	.want = "g CO2e from 0 such as 55"},
    {"market_based", read_market_based, AT(market_based),
	.want =
	    "a mapping such as {g_per_kwh: 12, source: \"REC 2026, supplier X\", from: 2026-01-01}"},
    {"worst_intensity", lt_read_double, AT(worst_intensity), .min = 1, .max = INTENSITY_MAX,
	.want = "g CO2e/kWh from 1 to 10000 such as 450"},
    {"node_idle_w", lt_read_double, AT(node_idle_w), .min = 1, .max = 1e6,
	.want = "watts from 1 such as 300"},
    {"node_cpu_w", lt_read_double, AT(node_cpu_w), .min = 1, .max = 1e6,
	.want = "watts from 1 such as 500"},
    {"node_gpu_w", lt_read_double, AT(node_gpu_w), .min = 1, .max = 1e6,
	.want = "watts from 1 such as 3200"},
    /* After the other, as it asks for it. */
    {"price_per_gpu_hour", read_gpu_price, AT(gpu_price_micros), .min = 0,
	.max = LT_MONEY_MAX / 1024, .is_money = true,
	.want = "money from 0 such as 4.10, for each GPU that a node has"},
    {.name = NULL},
};
#undef AT

void
lt_read_partition(
    struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item)
{
	struct lt_policy_partition *partition = item;

	lt_place(name, &partition->line, &partition->column);
	partition->own_history = LT_OWN_DEFAULT;
	partition->is_target = true;
	if (!lt_read_body(reader,
		&(struct lt_key){.name = partition->name,
		    .want = "a mapping such as {carbon: london, price_per_node_hour: 32.77}",
		    .keys = partition_keys},
		node, item))
		return;
	/* On owned nodes energy is all that a decision weighs. */
	if (partition->owned && (partition->price.is_set || partition->has_gpu_price) &&
	    !partition->tariff.is_set)
		lt_complain(reader, name,
		    "%s: owned with a price, but electricity_price_per_kwh: is missing, want it: it is what running there costs",
		    partition->name);
	/* It would not be known what a job there is charged with. */
	if (reader->policy->charge.micros_per_tonne > 0 && !partition->carbon.is_set &&
	    (partition->price.is_set || partition->has_gpu_price))
		lt_complain(reader, name,
		    "%s: has a price, but carbon: is missing, want it: charge: is by the carbon of each job",
		    partition->name);
	/* Elsewhere the price is charged and held, and a second one beside it would only be
	 * shown. */
	if (!partition->owned && partition->tariff.is_set)
		lt_complain(reader, name,
		    "%s: electricity_price_per_kwh: is for nodes that the site owns, want owned: yes beside it",
		    partition->name);
}

/* ---- Power caps ---- */

/* Slurm's word, or number, of one of the two options. */
static void
read_frequency(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	char name[LT_FREQUENCY_SIZE];

	if (!lt_take_name(reader, key, node, name, sizeof(name)))
		return;
	if (lt_frequency_is_good(name))
		memcpy((char *)object + key->offset, name, sizeof(name));
	else
		lt_unwanted(reader, key, node, "");
}

#define AT(field) offsetof(struct lt_power_cap, field)
static const struct lt_key power_cap_keys[] = {
    {"account", lt_read_account, AT(account), .size = LT_ACCOUNT_SIZE, .want = "a Slurm account"},
    {"qos", lt_read_account, AT(qos), .size = LT_ACCOUNT_SIZE, .want = "a Slurm QOS"},
    {"partition", lt_read_name, AT(partition), .size = LT_NAME_SIZE, .want = "a partition"},
    {"gpu", lt_read_gpu_name, AT(gpu), .size = LT_GPU_NAME_SIZE,
	.want = "a GPU such as A100-SXM4-40GB"},
    {"gpu_freq", read_frequency, AT(gpu_freq),
	.want = "low, medium, high, highm1 or MHz such as 1200"},
    {"cpu_freq", read_frequency, AT(cpu_freq),
	.want = "low, medium, high, highm1 or kHz such as 1800000"},
    {"slow_down", lt_read_double, AT(slow_down), .min = 1, .max = LT_SLOW_DOWN_MAX,
	.required = true, .want = "run time over that without, from 1 to 10 such as 1.08"},
    {"power", lt_read_double, AT(power), .min = 0, .max = 1, .required = true,
	.want = "power over that without, from 0 to 1 such as 0.75"},
    {.name = NULL},
};
#undef AT

void
lt_read_power_cap(
    struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item)
{
	struct lt_power_cap *const rule = item;
	const int errors = reader->errors->count;

	(void)name;
	*rule = (struct lt_power_cap){.slow_down = 1, .power = 1};
	if (!lt_read_body(reader,
		&(struct lt_key){.name = "power_cap",
		    .want =
			"a mapping such as {gpu: V100-SXM2, gpu_freq: 1200, slow_down: 1.08, power: 0.75}",
		    .keys = power_cap_keys},
		node, rule) ||
	    reader->errors->count > errors)
		return;
	if (rule->gpu_freq[0] == '\0' && rule->cpu_freq[0] == '\0')
		lt_complain(reader, node,
		    "power_cap: got neither gpu_freq nor cpu_freq, want one of them or both");
	struct lt_gpu room;
	const struct lt_gpu *const gpu =
	    rule->gpu[0] != '\0' ? lt_policy_gpu(&room, reader->policy, rule->gpu) : NULL;

	/* As the market's rows are called: a Gres type or a device is a name, too. */
	if (gpu != NULL)
		memcpy(rule->gpu, gpu->name, sizeof(rule->gpu));
}
