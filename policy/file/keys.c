/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The top-level keys of a policy file, the checks that concern more than one
 * of them, and two short sections: `metrics:` (where lowtided serves them,
 * and the file whose token opens those that show money; without a token there
 * is health only) and `exchange_rates:` (dated rates into the site's
 * currency).
 *
 * yaml.c walks the tables; the keys of larger sections stand beside their
 * readers. lowtide.yaml(5) explains all keys. What is wrong is a complaint in the reader's errors.
 */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "currency.h"
#include "reader.h"
#include "units.h"

/* ---- metrics: ---- */

#define LOOPBACK "127.0.0.1"

/* "9102", "10.0.0.1:9102" or "[fd00::1]:9102"; false: another text. */
static bool
parse_listen(struct lt_policy_metrics *metrics, const char *text)
{
	char address[LT_LISTEN_ADDRESS_SIZE] = LOOPBACK, *end;
	const char *port = text;
	const bool is_v6 = text[0] == '[';
	const char *const after = strrchr(text, is_v6 ? ']' : ':');
	unsigned char ignored[sizeof(struct in6_addr)];

	if (is_v6 && (after == NULL || after[1] != ':'))
		return false;
	if (after != NULL) {
		const char *const first = is_v6 ? text + 1 : text;
		const size_t length = (size_t)(after - first);

		if (length >= sizeof(address))
			return false;
		memcpy(address, first, length);
		address[length] = '\0';
		port = after + (is_v6 ? 2 : 1);
	}
	if (inet_pton(is_v6 ? AF_INET6 : AF_INET, address, ignored) != 1 || port[0] < '1' ||
	    port[0] > '9')
		return false;
	const long value = strtol(port, &end, 10);
	if (*end != '\0' || value > UINT16_MAX)
		return false;
	snprintf(metrics->address, sizeof(metrics->address), "%s", address);
	metrics->port = (uint16_t)value;
	return true;
}

static void
read_listen(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_metrics *const metrics = &reader->policy->metrics;
	const char *const text = lt_scalar_peek(node);

	(void)object;
	if (text == NULL || !parse_listen(metrics, text))
		lt_unwanted(reader, key, node, "");
	else if (metrics->port == reader->policy->listen_port)
		lt_complain(reader, node,
		    "listen: got port %u, which is that of listen_port, want another",
		    metrics->port);
}

#define AT(field) offsetof(struct lt_policy, metrics.field)
static const struct lt_key metrics_keys[] = {
    {"listen", read_listen, 0, .required = true,
	.want = "a port, or ADDRESS:PORT such as 127.0.0.1:9102"},
    {"token_file", lt_read_path, AT(token_file), .size = LT_VALUE_SIZE,
	.want = "the absolute path of a file of mode 0600"},
    {.name = NULL},
};
#undef AT

static void
read_metrics(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const struct lt_key body = {.name = key->name, .want = key->want, .keys = metrics_keys};

	(void)lt_read_body(reader, &body, node, object);
}

/* ---- exchange_rates: ---- */

struct exchange_entry { /* as written; becomes a lt_policy_exchange */
	char currency[8], from[LT_NAME_SIZE];
	double rate;
};

#define AT(field) offsetof(struct exchange_entry, field)
static const struct lt_key exchange_keys[] = {
    {"currency", lt_read_currency, AT(currency), .required = true,
	.want = "an ISO 4217 code in capitals such as USD"},
    {"rate", lt_read_double, AT(rate), .min = 1e-9, .max = 1e9, .required = true,
	.want = "what one unit is in the site's currency, such as 0.93"},
    {"from", lt_read_name, AT(from), .size = LT_NAME_SIZE,
	.want = "the first day such as 2026-11-01"},
    {.name = NULL},
};
#undef AT

static void
read_exchange(
    struct lt_reader *reader, const yaml_node_t *name, const yaml_node_t *node, void *item)
{
	(void)name;
	struct lt_policy_exchange *exchange = item;
	struct exchange_entry entry = {.rate = 0};
	const int errors = reader->errors->count;
	if (!lt_read_body(reader,
		&(struct lt_key){.name = "exchange_rates",
		    .want = "a mapping such as {currency: USD, rate: 0.93, from: 2026-11-01}",
		    .keys = exchange_keys},
		node, &entry) ||
	    reader->errors->count > errors)
		return;
	memcpy(exchange->currency, entry.currency, sizeof(entry.currency));
	exchange->rate = entry.rate;
	exchange->from_utc_s = INT64_MIN;
	if (entry.from[0] != '\0' &&
	    !lt_date_utc_s(entry.from, reader->policy->timezone, &exchange->from_utc_s))
		lt_complain(
		    reader, node, "from: got \"%s\", want a day such as 2026-11-01", entry.from);
}

static int
compare_rates(const void *a, const void *b)
{
	const struct lt_policy_exchange *first = a, *second = b;
	const int order = strcmp(first->currency, second->currency);

	if (order != 0)
		return order;
	return (first->from_utc_s > second->from_utc_s) - (first->from_utc_s < second->from_utc_s);
}

/* Checks all rows: none twice, none of the site's own currency; sorts them. */
static void
finish_exchanges(struct lt_reader *reader)
{
	const struct lt_policy *policy = reader->policy;
	struct lt_policy_exchange *rows = policy->exchanges;

	if (policy->exchange_count == 0)
		return;
	if (policy->currency[0] == '\0') {
		lt_complain(reader, NULL,
		    "exchange_rates: are into the site's currency, but currency: is missing, want a line such as currency: EUR");
		return;
	}
	qsort(rows, (size_t)policy->exchange_count, sizeof(*rows), compare_rates);
	for (int i = 0; i < policy->exchange_count; i++) {
		if (rows[i].currency[0] == '\0')
			continue; /* a row that was refused */
		if (strcmp(rows[i].currency, policy->currency) == 0)
			lt_complain(reader, NULL,
			    "exchange_rates: got a rate of %s, the site's own currency, want others only",
			    rows[i].currency);
		if (i > 0 && compare_rates(&rows[i - 1], &rows[i]) == 0)
			lt_complain(reader, NULL,
			    "exchange_rates: got two rates of %s for the same day, want one",
			    rows[i].currency);
	}
}

/* ---- All keys ---- */

/* The worth of an hour of waiting, the same number in any site's currency. */
enum { WAITING_USD_MICROS = 5000 };

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
    .read = read_exchange,
};
static const struct lt_items precision_items = {
    .item_size = sizeof(struct lt_precision_rule),
    .max = LT_PRECISION_RULES_MAX,
    .count_offset = AT(precision_count),
    .read = lt_read_precision,
};
static const struct lt_items class_items = {
    .item_size = sizeof(struct lt_class),
    .name_size = LT_NAME_SIZE,
    .max = LT_CLASSES_MAX,
    .count_offset = AT(class_count),
    .read = lt_read_class,
};
static const struct lt_items power_cap_items = {
    .item_size = sizeof(struct lt_power_cap),
    .max = LT_POWER_CAPS_MAX,
    .count_offset = AT(power_cap_count),
    .read = lt_read_power_cap,
};
static const struct lt_items team_items = {
    .item_size = sizeof(struct lt_policy_team),
    .name_size = LT_ACCOUNT_SIZE,
    .is_account = true,
    .max = LT_BUDGETS_MAX,
    .count_offset = AT(team_count),
    .read = lt_read_labels,
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
static const struct lt_word spot_proof_words[] = {
    {"required", LT_SPOT_PROOF_REQUIRED},
    {"said", LT_SPOT_PROOF_SAID},
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

static const struct lt_key tcto_keys[] = {
    {"energy_price_per_kwh", lt_read_micros, AT(tcto.energy_micros_per_kwh), .min = 0, .max = 1e6,
	.is_money = true, .want = "money from 0 such as 0.15"},
    {"storage_gb", lt_read_u32, AT(tcto.storage_gb), .min = 0, .max = 4e9,
	.want = "gigabytes from 0 to 4000000000 such as 100000"},
    {"storage_price_per_gb_month", lt_read_micros, AT(tcto.storage_micros_per_gb_month), .min = 0,
	.max = 1e6, .is_money = true, .want = "money from 0 such as 0.02"},
    {"engineer_price_per_hour", lt_read_micros, AT(tcto.engineer_micros_per_hour), .min = 0,
	.max = 1e6, .is_money = true, .want = "money from 0 such as 90"},
    {"engineer_hours_per_interruption", lt_read_micros, AT(tcto.engineer_hour_millionths), .min = 0,
	.max = 1000, .want = "hours from 0 to 1000 such as 0.5"},
    {.name = NULL},
};

static const struct lt_key charge_keys[] = {
    {"carbon_per_tonne", lt_read_micros, AT(charge.micros_per_tonne), .min = 0, .max = 1e6,
	.is_money = true, .required = true, .want = "money from 0 to 1000000 such as 80"},
    {.name = NULL},
};

static const struct lt_key discount_keys[] = {
    {"share", lt_read_ppm, AT(discount.share_ppm), .min = 0, .max = 100, .required = true,
	.want = "a percentage from 0 to 100 such as 50"},
    {"most_per_month", lt_read_micros, AT(discount.most_micros), .min = 0, .max = 1e9,
	.is_money = true, .required = true, .want = "money from 0 such as 500, for each team"},
    {.name = NULL},
};

static const struct lt_key account_keys[] = {
    {"id", lt_read_line, AT(billing.account_id), .size = LT_ISSUER_SIZE, .min = 1, .required = true,
	.want = "a text of 1 to 128 bytes such as 4711, no control characters"},
    {"name", lt_read_line, AT(billing.account_name), .size = LT_ISSUER_SIZE, .min = 1,
	.want = "a text of 1 to 128 bytes such as Faculty of Physics"},
    {.name = NULL},
};

static const struct lt_key power_cap_keys[] = {
    {"above", lt_read_double, AT(power_cap_above), .min = 0, .max = 10000, .required = true,
	.want = "g CO2e/kWh from 0 to 10000 such as 400"},
    {"rules", lt_read_items, AT(power_caps), .items = &power_cap_items, .required = true,
	.want = "a list such as - {gpu: V100-SXM2, gpu_freq: 1200, slow_down: 1.08, power: 0.75}"},
    {.name = NULL},
};

/* In the order of reading: keys that others name come first. */
const struct lt_key lt_policy_keys[] = {
    {"mode", lt_read_word, AT(mode), .words = mode_words, .want = "observe, advise or enforce"},
    {"currency", lt_read_currency, AT(currency),
	.want = "an ISO 4217 code in capitals such as USD"},
    {"timezone", lt_read_timezone, AT(timezone), .size = 64,
	.want = "a name of /usr/share/zoneinfo such as Europe/London"},
    {"carbon_price_per_tonne", lt_read_micros, AT(carbon_price_micros_per_tonne), .min = 0,
	.max = 1e9, .is_money = true, .want = "money from 0 such as 100"},
    {"charge", lt_read_keys, 0, .keys = charge_keys,
	.want = "a mapping such as {carbon_per_tonne: 80}"},
    {"deferral_discount", lt_read_keys, 0, .keys = discount_keys,
	.want = "a mapping such as {share: 50, most_per_month: 500}"},
    {"billed", lt_read_bool, AT(billing.is_billed), .want = "yes or no"},
    {"issuer", lt_read_line, AT(billing.issuer), .size = LT_ISSUER_SIZE, .min = 1,
	.want = "a text of 1 to 128 bytes such as Example University HPC"},
    {"billing_account", lt_read_keys, 0, .keys = account_keys,
	.want = "a mapping such as {id: 4711, name: Faculty of Physics}"},
    {"carbon_intensity", lt_read_word, AT(intensity), .words = intensity_words,
	.want = "average or marginal"},
    {"exchange_rates", lt_read_items, AT(exchanges), .items = &exchange_items,
	.want = "a list such as - {currency: USD, rate: 0.93, from: 2026-11-01}"},
    {"max_delay", lt_read_duration, AT(max_delay_s), .min = 0, .max = 30 * LT_DAY_S,
	.want = "a duration from 0 to 30d such as 24h"},
    {"stale_after", lt_read_duration, AT(stale_after_s), .min = 60, .max = 30 * LT_DAY_S,
	.want = "a duration from 1m to 30d such as 3h"},
    {"deadline_slack", lt_read_duration, AT(deadline_slack_s), .min = 0, .max = 7 * LT_DAY_S,
	.want = "a duration from 0 to 7d such as 30m"},
    {"deadline_confidence", lt_read_ppm, AT(deadline_confidence_ppm), .min = 1, .max = 99.99,
	.want = "a percentage from 1 to 99.99 such as 95"},
    {"max_restart_risk", lt_read_ppm, AT(max_restart_risk_ppm), .min = 0, .max = 100,
	.want = "a percentage from 0 to 100 such as 10"},
    {"spot_proof", lt_read_word, AT(spot_proof), .words = spot_proof_words,
	.want = "required or said"},
    {"max_extra_cost", lt_read_ppm, AT(max_extra_cost_ppm), .min = 0, .max = 1000,
	.want = "a percentage from 0 to 1000 such as 10"},
    {"waiting_price_per_hour", lt_read_micros, AT(waiting_micros_per_hour), .min = 0, .max = 1e6,
	.is_money = true, .want = "money from 0 such as 0.005"},
    {"waiting_carbon_per_hour", lt_read_double, AT(waiting_g_per_hour), .min = 0, .max = 1e6,
	.want = "grams from 0 such as 5"},
    {"min_saving", lt_read_ppm, AT(min_saving_ppm), .min = 0, .max = 100,
	.want = "a percentage from 0 to 100 such as 5"},
    {"holdout", lt_read_ppm, AT(holdout_ppm), .min = 0, .max = 100,
	.want = "a percentage from 0 to 100 such as 2"},
    {"hold_margin", lt_read_ppm, AT(hold_margin_ppm), .min = 0, .max = 100,
	.want = "a percentage from 0 to 100 such as 5"},
    {"assume_time", lt_read_duration, AT(assume_time_s), .min = 60, .max = 365 * LT_DAY_S,
	.want = "a duration from 1m to 365d such as 1d"},
    {"on_unknown", lt_read_word, AT(on_unknown), .words = unknown_words,
	.want = "hold, reject or allow"},
    {"on_underheld", lt_read_word, AT(on_underheld), .words = underheld_words,
	.want = "let or requeue"},
    {"listen_port", lt_read_port, AT(listen_port), .min = 1, .max = 65535,
	.want = "a TCP port from 1 to 65535 such as 6826"},
    {"close_after", lt_read_duration, AT(close_after_s), .min = 0, .max = 90 * LT_DAY_S,
	.want = "a duration from 0 to 90d such as 3d"},
    {"history_days", lt_read_u32, AT(history_days), .min = 0, .max = 4000,
	.want = "a number of days from 0 to 4000 such as 400"},
    {"tcto", lt_read_keys, 0, .keys = tcto_keys,
	.want = "a mapping such as {energy_price_per_kwh: 0.15}"},
    {"retention", lt_read_months, AT(retention_months), .min = 1, .max = 1200,
	.want = "months from 1 to 1200 such as 13 months"},
    {"viewers", lt_read_groups, 0, .want = "a list of Unix groups such as [finance]"},
    {"sources", lt_read_items, AT(sources), .items = &source_items,
	.want = "a mapping of sources by name"},
    {"gpus", lt_read_items, AT(gpus), .items = &gpu_items, .want = "a mapping of GPUs by name"},
    {"partitions", lt_read_items, AT(partitions), .items = &partition_items,
	.want = "a mapping of partitions by name"},
    {"budgets", lt_read_items, AT(budgets), .items = &budget_items,
	.want = "a list of budgets such as - {team: vision, period: month, amount: 5000}"},
    {"labels", lt_read_items, AT(teams), .items = &team_items,
	.want = "a mapping of teams by account"},
    {"defaults", lt_read_defaults, 0,
	.want = "classes with default: such as vision: {account: vision, default: balanced}"},
    {"precision", lt_read_items, AT(precisions), .items = &precision_items,
	.want = "a list such as - {account: audit, amp: off}"},
    {"classes", lt_read_items, AT(classes), .items = &class_items,
	.want = "a mapping of classes by name such as batch: {qos: batch, max_interruptions: 3}"},
    {"power_cap", lt_read_keys, 0, .keys = power_cap_keys,
	.want = "a mapping such as {above: 400, rules: [...]}"},
    {"notify", lt_read_notify, 0, .want = "a mapping such as {mail: {server: smtp://localhost}}"},
    {"metrics", read_metrics, 0,
	.want =
	    "a mapping such as {listen: 127.0.0.1:9102, token_file: /etc/lowtide/metrics.token}"},
    {.name = NULL},
};
_Static_assert(sizeof(lt_policy_keys) / sizeof(lt_policy_keys[0]) - 1 <= LT_KEYS_MAX,
    "yaml.c has room for all");
#undef AT

/* ---- more than one key ---- */

/* Checks that a price has the amount that it is multiplied with, and the other way round. */
static void
finish_tcto(struct lt_reader *reader)
{
	const struct lt_policy_tcto *const tcto = &reader->policy->tcto;

	if ((tcto->storage_gb > 0) != (tcto->storage_micros_per_gb_month > 0))
		lt_complain(reader, NULL,
		    "tcto: got only one of storage_gb and storage_price_per_gb_month above 0, want both or none");
	if ((tcto->engineer_hour_millionths > 0) != (tcto->engineer_micros_per_hour > 0))
		lt_complain(reader, NULL,
		    "tcto: got only one of engineer_price_per_hour and engineer_hours_per_interruption above 0, want both or none");
}

/* An invoice is in money; and who sends none has no issuer of them. */
static void
finish_billing(struct lt_reader *reader)
{
	const struct lt_policy_billing *const billing = &reader->policy->billing;

	if (billing->is_billed && !reader->has_currency)
		lt_complain(reader, NULL,
		    "billed: got yes, but currency: is missing, want a line such as currency: USD");
	if (!billing->is_billed && (billing->issuer[0] != '\0' || billing->account_id[0] != '\0'))
		lt_complain(reader, NULL, "%s: is for invoices, want billed: yes beside it",
		    billing->issuer[0] != '\0' ? "issuer" : "billing_account");
}

void
lt_policy_finish(struct lt_reader *reader)
{
	finish_tcto(reader);
	finish_billing(reader);
	finish_exchanges(reader);
	if (reader->policy->waiting_micros_per_hour < 0)
		reader->policy->waiting_micros_per_hour =
		    lt_currency_of_usd(WAITING_USD_MICROS, reader->policy->currency);
	if (reader->money_node != NULL && !reader->has_currency)
		lt_complain(reader, reader->money_node,
		    "%s: is money, but currency: is missing, want a line such as currency: USD",
		    reader->money_key);
}
