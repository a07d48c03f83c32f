/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every key of a policy file, one table per mapping: name, reader, place,
 * range, what is wanted. yaml.c walks them; man 5 lowtide.yaml explains them.
 */
#include <stddef.h>

#include "reader.h"
#include "units.h"

/* Largest amount of money a policy may name: far from int64_t micros. */
#define MONEY_MAX 1e12
#define INTENSITY_MAX 10000.0 /* g/kWh; ten times coal */

/* ---- gpus ---- */

#define AT(field) offsetof(struct lt_gpu, field)
#define TFLOPS(label, index)                                                   \
	{                                                                      \
		label, lt_read_double, AT(tflops) + (index) * sizeof(double),  \
		    .min = 0.001, .max = 1e6,                                  \
		    .want = "dense TFLOPS such as 312"                         \
	}
static const struct lt_key tflops_keys[] = {
    TFLOPS("fp32", LT_PRECISION_FP32),
    TFLOPS("tf32", LT_PRECISION_TF32),
    TFLOPS("fp16", LT_PRECISION_FP16),
    TFLOPS("bf16", LT_PRECISION_BF16),
    TFLOPS("fp8", LT_PRECISION_FP8),
    {.name = NULL},
};
const struct lt_key lt_gpu_keys[] = {
    {"memory", lt_read_mebibytes, AT(memory_mib), .min = 1,
	.max = 64 * 1024 * 1024, .required = true,
	.want = "memory of one GPU such as 40GiB"},
    {"power_w", lt_read_watts, AT(power_w), .min = 1, .max = 100000,
	.required = true, .want = "whole watts of one board such as 400"},
    {"compute_capability", lt_read_capability, AT(compute_capability), .min = 1,
	.max = 99, .want = "NVIDIA's figure such as 8.0"},
    {"bandwidth_gb_s", lt_read_double, AT(bandwidth_gb_s), .min = 0.001,
	.max = 1e6, .want = "GB/s of device memory such as 1555"},
    {"tflops", lt_read_keys, 0, .keys = tflops_keys,
	.want = "a mapping such as {fp32: 19.5, bf16: 312}"},
    {.name = NULL},
};
#undef AT

/* ---- partitions ---- */

#define AT(field) offsetof(struct lt_policy_partition, field)
static const struct lt_word own_words[] = {
    {"true", 1},
    {"false", 0},
    {.name = NULL},
};
static const struct lt_key preemptible_keys[] = {
    {"interruptions_per_hour", lt_read_signal, AT(hazard), .min = 0, .max = 60,
	.required = true,
	.want = "interruptions of one node in an hour, 0 to 60, such as "
		"0.004, a source, or a list of sources"},
    {"placement_score", lt_read_source_only, AT(score),
	.want = "a source, or a list of sources"},
    {"own_history", lt_read_word, AT(own_history), .words = own_words,
	.want = "true or false"},
    {"notice", lt_read_duration, AT(notice_s), .min = 0, .max = LT_DAY_S,
	.want = "a duration from 0 to 1d such as 2m"},
    {"restart", lt_read_duration, AT(restart_s), .min = 0, .max = LT_DAY_S,
	.required = true, .want = "a duration from 0 to 1d such as 6m"},
    {.name = NULL},
};
const struct lt_key lt_partition_keys[] = {
    {"price_per_node_hour", lt_read_signal, AT(price), .min = 0,
	.max = MONEY_MAX, .is_money = true,
	.want = "money from 0 such as 32.77, a source, or a list of "
		"sources"},
    {"carbon", lt_read_signal, AT(carbon), .min = 0, .max = INTENSITY_MAX,
	.want = "g CO2e/kWh from 0 to 10000 such as 180, a source, or a "
		"list of sources"},
    {"electricity_price_per_kwh", lt_read_signal, AT(tariff), .min = -MONEY_MAX,
	.max = MONEY_MAX, .is_money = true,
	.want = "money such as 0.21, a source, or a list of sources"},
    {"gpu", lt_read_gpu_name, AT(gpu), .size = LT_GPU_NAME_SIZE,
	.want = "a GPU of the built-in table or of gpus:"},
    {"pue", lt_read_double, AT(pue), .min = 1, .max = 10,
	.want = "a number from 1 to 10 such as 1.15"},
    {"owned", lt_read_bool, AT(owned), .want = "true or false"},
    {"preemptible", lt_read_preemptible, 0, .keys = preemptible_keys,
	.want = "a mapping such as {interruptions_per_hour: 0.004, "
		"restart: 6m}"},
    {"engineer_cost_per_restart", lt_read_micros,
	AT(engineer_micros_per_restart), .min = 0, .max = MONEY_MAX,
	.is_money = true, .want = "money from 0 such as 25"},
    {"storage_price_per_gib_month", lt_read_micros,
	AT(storage_micros_per_gib_month), .min = 0, .max = MONEY_MAX,
	.is_money = true, .want = "money from 0 such as 0.08"},
    {"embodied_g_per_node_hour", lt_read_double, AT(embodied_g_per_node_hour),
	.min = 0, .max = 1e6, .want = "g CO2e from 0 such as 55"},
    {"worst_intensity", lt_read_double, AT(worst_intensity), .min = 1,
	.max = INTENSITY_MAX, .want = "g CO2e/kWh from 1 to 10000 such as 450"},
    {"node_idle_w", lt_read_double, AT(node_idle_w), .min = 1, .max = 1e6,
	.want = "watts from 1 such as 300"},
    {"node_cpu_w", lt_read_double, AT(node_cpu_w), .min = 1, .max = 1e6,
	.want = "watts from 1 such as 500"},
    {"node_gpu_w", lt_read_double, AT(node_gpu_w), .min = 1, .max = 1e6,
	.want = "watts from 1 such as 3200"},
    {.name = NULL},
};
#undef AT

/* ---- budgets ---- */

#define AT(field) offsetof(struct lt_policy_budget, field)
static const struct lt_word exceed_words[] = {
    {"reject", LT_RULE_REJECT},
    {"hold", LT_RULE_HOLD},
    {"warn", LT_RULE_WARN},
    {.name = NULL},
};
#define LIMIT_KEYS(field)                                                      \
	{"amount", lt_read_money_limit, AT(field), .min = 0, .max = MONEY_MAX, \
	    .is_money = true, .want = "money from 0 such as 5000"},            \
	{                                                                      \
		"kg_co2e", lt_read_carbon_limit, AT(field),                    \
		    .min = 0, .max = 1e12,                                     \
		    .want = "kg CO2e from 0 such as 900"                       \
	}
static const struct lt_key per_user_keys[] = {
    LIMIT_KEYS(per_user),
    {.name = NULL},
};
const struct lt_key lt_budget_keys[] = {
    {"team", lt_read_account, AT(team), .size = LT_ACCOUNT_SIZE,
	.required = true, .want = "a Slurm account"},
    {"period", lt_read_period, 0, .required = true,
	.want = "month, quarter, year, or {from: 2026-11-01, "
		"to: 2027-02-01}"},
    LIMIT_KEYS(limit),
    {"per_user", lt_read_keys, 0, .keys = per_user_keys,
	.want = "a mapping such as {amount: 1000}"},
    {"on_exceed", lt_read_word, AT(on_exceed), .words = exceed_words,
	.want = "reject, hold or warn"},
    {"alert_at", lt_read_percents, 0, .min = 1, .max = 1000,
	.want = "a list of whole percents from 1 to 1000 such as "
		"[50, 80, 100]"},
    {.name = NULL},
};
#undef AT

/* ---- defaults ---- */

#define AT(field) offsetof(struct lt_default_entry, field)
static const struct lt_word objective_words[] = {
    {"balanced", LT_OBJECTIVE_BALANCED},
    {"cost", LT_OBJECTIVE_COST},
    {"carbon", LT_OBJECTIVE_CARBON},
    {"fast", LT_OBJECTIVE_FAST},
    {"off", LT_OBJECTIVE_OFF},
    {.name = NULL},
};
const struct lt_key lt_default_keys[] = {
    {"account", lt_read_account, AT(account), .size = LT_ACCOUNT_SIZE,
	.want = "a Slurm account"},
    {"qos", lt_read_account, AT(qos), .size = LT_ACCOUNT_SIZE,
	.want = "a Slurm QOS"},
    {"carbon_aware", lt_read_word, AT(objective), .words = objective_words,
	.required = true, .want = "balanced, cost, carbon, fast or off"},
    {.name = NULL},
};
#undef AT

/* ---- exchange rates ---- */

#define AT(field) offsetof(struct lt_exchange_entry, field)
const struct lt_key lt_exchange_keys[] = {
    {"currency", lt_read_currency, AT(currency), .required = true,
	.want = "an ISO 4217 code in capitals such as USD"},
    {"rate", lt_read_double, AT(rate), .min = 1e-9, .max = 1e9,
	.required = true,
	.want = "what one unit is in the site's currency, such as 0.93"},
    {"from", lt_read_name, AT(from), .size = LT_NAME_SIZE,
	.want = "the first day such as 2026-11-01"},
    {.name = NULL},
};
#undef AT

/* ---- the file ---- */

#define AT(field) offsetof(struct lt_policy, field)
static const struct lt_items source_items = {
    .item_size = sizeof(struct lt_policy_source),
    .name_size = LT_NAME_SIZE,
    .max = LT_SOURCES_MAX,
    .count_offset = AT(source_count),
    .read = lt_read_source,
};
static const struct lt_items gpu_items = {
    .item_size = sizeof(struct lt_gpu),
    .name_size = LT_GPU_NAME_SIZE,
    .max = LT_GPUS_MAX,
    .count_offset = AT(gpu_count),
    .read = lt_read_gpu,
};
static const struct lt_items partition_items = {
    .item_size = sizeof(struct lt_policy_partition),
    .name_size = LT_NAME_SIZE,
    .max = LT_PARTITIONS_MAX,
    .count_offset = AT(partition_count),
    .read = lt_read_partition,
};
static const struct lt_items budget_items = {
    .item_size = sizeof(struct lt_policy_budget),
    .max = LT_BUDGETS_MAX,
    .count_offset = AT(budget_count),
    .read = lt_read_budget,
};
static const struct lt_items exchange_items = {
    .item_size = sizeof(struct lt_policy_exchange),
    .max = LT_EXCHANGES_MAX,
    .count_offset = AT(exchange_count),
    .read = lt_read_exchange,
};
static const struct lt_items default_items = {
    .item_size = sizeof(struct lt_default),
    .max = LT_DEFAULTS_MAX,
    .count_offset = AT(default_count),
    .read = lt_read_default,
};
static const struct lt_word mode_words[] = {
    {"observe", LT_MODE_OBSERVE},
    {"advise", LT_MODE_ADVISE},
    {"enforce", LT_MODE_ENFORCE},
    {.name = NULL},
};
static const struct lt_word intensity_words[] = {
    {"average", LT_INTENSITY_AVERAGE},
    {"marginal", LT_INTENSITY_MARGINAL},
    {.name = NULL},
};
static const struct lt_word unknown_words[] = {
    {"hold", LT_RULE_HOLD},
    {"reject", LT_RULE_REJECT},
    {"allow", LT_RULE_ALLOW},
    {.name = NULL},
};
static const struct lt_word underheld_words[] = {
    {"let", LT_UNDERHELD_LET},
    {"requeue", LT_UNDERHELD_REQUEUE},
    {.name = NULL},
};

/* In the order of reading: what others name comes first. */
const struct lt_key lt_policy_keys[] = {
    {"mode", lt_read_word, AT(mode), .words = mode_words,
	.want = "observe, advise or enforce"},
    {"currency", lt_read_currency, AT(currency),
	.want = "an ISO 4217 code in capitals such as USD"},
    {"timezone", lt_read_timezone, AT(timezone), .size = 64,
	.want = "a name of /usr/share/zoneinfo such as Europe/London"},
    {"carbon_price_per_tonne", lt_read_micros,
	AT(carbon_price_micros_per_tonne), .min = 0, .max = 1e9,
	.is_money = true, .want = "money from 0 such as 100"},
    {"carbon_intensity", lt_read_word, AT(intensity), .words = intensity_words,
	.want = "average or marginal"},
    {"exchange_rates", lt_read_items, AT(exchanges), .items = &exchange_items,
	.want = "a list such as - {currency: USD, rate: 0.93, "
		"from: 2026-11-01}"},
    {"max_delay", lt_read_duration, AT(max_delay_s), .min = 0,
	.max = 30 * LT_DAY_S, .want = "a duration from 0 to 30d such as 24h"},
    {"stale_after", lt_read_duration, AT(stale_after_s), .min = 60,
	.max = 30 * LT_DAY_S, .want = "a duration from 1m to 30d such as 3h"},
    {"deadline_slack", lt_read_duration, AT(deadline_slack_s), .min = 0,
	.max = 7 * LT_DAY_S, .want = "a duration from 0 to 7d such as 30m"},
    {"deadline_confidence", lt_read_ppm, AT(deadline_confidence_ppm), .min = 1,
	.max = 99.99, .want = "a percentage from 1 to 99.99 such as 95"},
    {"max_restart_risk", lt_read_ppm, AT(max_restart_risk_ppm), .min = 0,
	.max = 100, .want = "a percentage from 0 to 100 such as 10"},
    {"max_extra_cost", lt_read_ppm, AT(max_extra_cost_ppm), .min = 0,
	.max = 1000, .want = "a percentage from 0 to 1000 such as 10"},
    {"hold_margin", lt_read_ppm, AT(hold_margin_ppm), .min = 0, .max = 100,
	.want = "a percentage from 0 to 100 such as 5"},
    {"assume_time", lt_read_duration, AT(assume_time_s), .min = 60,
	.max = 365 * LT_DAY_S, .want = "a duration from 1m to 365d such as 1d"},
    {"on_unknown", lt_read_word, AT(on_unknown), .words = unknown_words,
	.want = "hold, reject or allow"},
    {"on_underheld", lt_read_word, AT(on_underheld), .words = underheld_words,
	.want = "let or requeue"},
    {"listen_port", lt_read_port, AT(listen_port), .min = 1, .max = 65535,
	.want = "a TCP port from 1 to 65535 such as 6826"},
    {"sources", lt_read_items, AT(sources), .items = &source_items,
	.want = "a mapping of sources by name"},
    {"gpus", lt_read_items, AT(gpus), .items = &gpu_items,
	.want = "a mapping of GPUs by name"},
    {"partitions", lt_read_items, AT(partitions), .items = &partition_items,
	.want = "a mapping of partitions by name"},
    {"budgets", lt_read_items, AT(budgets), .items = &budget_items,
	.want = "a list of budgets such as - {team: vision, "
		"period: month, amount: 5000}"},
    {"defaults", lt_read_items, AT(defaults), .items = &default_items,
	.want = "a list such as - {account: vision, "
		"carbon_aware: balanced}"},
    {.name = NULL},
};
#undef AT

/* ---- more than one key ---- */

void
lt_policy_finish(struct lt_reader *reader)
{
	lt_exchanges_finish(reader);
	if (reader->money_node && reader->policy->currency[0] == '\0')
		lt_complain(reader, reader->money_node,
		    "%s: is money, but "
		    "currency: is missing, want a line such as currency: USD",
		    reader->money_key);
}
