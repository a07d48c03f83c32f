/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the policy file into site->policy and signals->sources. A bad file never replaces a good
 * one. The ledger is asked whether its amounts are of the same currency and its days of the same
 * zone.
 *
 * With Slurm's tables known, names that the batch system does not have go to the log, and prices
 * per GPU become prices per node.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "directory.h"
#include "fetch.h"
#include "files.h"
#include "host_zone.h"
#include "known_names.h"
#include "ledger.h"
#include "log.h"
#include "periods.h"
#include "policy_load.h"
#include "signals.h"
#include "signals_check.h"
#include "site.h"
#include "tables.h"
#include "text_mend.h"
#include "time_zone.h"
#include "units.h"

/* Returns the GPUs in each node; 0: there are none, or the nodes differ. */
static uint32_t
gpus_of(const struct lt_tables *tables, const struct lt_policy_partition *partition)
{
	for (uint32_t i = 0; i < tables->partition_count; i++) {
		const struct lt_partition *const p = &tables->partitions[i];
		const struct lt_shape *const shapes = tables->shapes + p->first_shape;

		if (strcmp(p->name, partition->name) != 0)
			continue;
		for (uint32_t k = 1; k < p->shape_count; k++)
			if (shapes[k].gpus != shapes[0].gpus)
				return 0;
		return p->shape_count > 0 ? shapes[0].gpus : partition->node.gpus;
	}
	return 0;
}

void
lt_gpu_prices(struct lt_policy *policy, const struct lt_tables *tables, int64_t now_utc_s)
{
	for (int i = 0; i < policy->partition_count; i++) {
		struct lt_policy_partition *const partition = &policy->partitions[i];
		const uint32_t gpus = partition->has_gpu_price ? gpus_of(tables, partition) : 0;

		if (!partition->has_gpu_price)
			continue;
		const struct lt_policy_signal was = partition->price;
		const struct lt_policy_signal is = {.is_set = gpus > 0,
		    .is_constant = true,
		    .constant = (double)(partition->gpu_price_micros * gpus)};

		/* As the policy was read it is no constant yet. */
		if (was.is_constant && was.is_set == is.is_set && was.constant == is.constant)
			continue;
		/* With other nodes it is another price from now on, and what ran before keeps its
		 * own. */
		if (was.is_constant)
			partition->price_from_utc_s = now_utc_s;
		partition->price = is;
		if (gpus == 0)
			lt_log("no_gpu_price",
			    "partition=%s error=\"price_per_gpu_hour: its nodes do not all have the same number of GPUs, want price_per_node_hour\"",
			    partition->name);
	}
}

static void
log_unknown_name(void *context, const struct lt_unknown_name *unknown)
{
	(void)context;
	lt_log("unknown_name", "error=\"%s\"", unknown->text);
}

void
lt_unknown_names_log(const struct lt_policy *policy, const struct lt_tables *tables)
{
	const struct lt_unknown_teller teller = {.tell = log_unknown_name};
	struct lt_batch_qoses qoses = {0};
	struct lt_error err = {0};

	if (lt_batch_qoses(&qoses, &err) != LT_OK)
		qoses.are_known = false;
	const char **const names =
	    calloc((size_t)tables->partition_count + tables->account_count + qoses.count + 3,
		sizeof(*names));
	if (names != NULL) {
		const char **const accounts = names + tables->partition_count + 1;
		const char **const of_qos = accounts + tables->account_count + 1;

		for (uint32_t i = 0; i < tables->partition_count; i++)
			names[i] = tables->partitions[i].name;
		for (uint32_t i = 0; i < tables->account_count; i++)
			accounts[i] = tables->accounts[i].name;
		for (uint32_t i = 0; i < qoses.count; i++)
			of_qos[i] = qoses.names[i];
		(void)lt_policy_unknown_names(policy,
		    &(struct lt_known_names){.partitions = names,
			.accounts = tables->accounts != NULL ? accounts : NULL,
			.qoses = qoses.are_known ? of_qos : NULL},
		    &teller);
		free(names);
	}
	free(qoses.names);
}

static int
fill_source(struct lt_source *source, const struct lt_policy *policy,
    const struct lt_policy_source *from, struct lt_error *err)
{
	*source = (struct lt_source){.policy = from, .memory = calloc(1, sizeof(*source->memory))};
	if (source->memory == NULL)
		return lt_fail(err, LT_ENOMEM, "policy: out of memory");
	source->adapter = lt_adapter_find(from->adapter);
	assert(source->adapter != NULL); /* lt_policy_load() wants a known one */
	source->options = lt_fetch_options(from, source->adapter);
	const int code = lt_adapter_check(source->adapter, &source->options, err);
	if (code == LT_OK)
		lt_signals_key(source->key, policy, source);
	return code;
}

/* Adds FILE:LINE:COL of the option, else of the source, to the error. */
static int
at_source(const struct lt_policy_source *source, const char *path, struct lt_error *err)
{
	const bool placed = err->line != 0;

	return lt_context(err, "%s:%d:%d", path, placed ? err->line : source->line,
	    placed ? err->column : source->column);
}

static void
free_sources(struct lt_source *sources, int count)
{
	for (int i = 0; i < count; i++) {
		if (sources[i].memory != NULL)
			explicit_bzero(sources[i].memory, sizeof(*sources[i].memory));
		free(sources[i].memory);
		free(sources[i].steps);
		free(sources[i].fit);
	}
	free(sources);
}

void
lt_policy_drop(struct lt_site *site, struct lt_signals_state *signals)
{
	free_sources(signals->sources, signals->source_count);
	lt_policy_free(site->policy);
	signals->sources = NULL;
	signals->source_count = 0;
	site->policy = NULL;
}

/* Checks that the sources give what the policy's signals want. Reports the first that does not;
 * `lowtide check` reports all. */
static int
check_signals(const struct lt_policy *policy, const struct lt_source *sources, struct lt_error *err)
{
	const size_t count = (size_t)policy->source_count;
	struct lt_source_kind *const kinds = calloc(count + 1, sizeof(*kinds));
	struct lt_policy_errors errors = {0};

	if (kinds == NULL)
		return lt_fail(err, LT_ENOMEM, "policy: out of memory");
	for (size_t i = 0; i < count; i++) {
		const struct lt_adapter *const adapter = sources[i].adapter;
		const enum lt_quantity quantity = lt_adapter_quantity(adapter, &sources[i].options);

		kinds[i].quantity = lt_quantity_name(quantity);
		kinds[i].title = lt_quantity_title(quantity);
		kinds[i].basis = lt_basis_name(lt_adapter_basis(adapter, &sources[i].options));
		kinds[i].basis_is_option = lt_adapter_has_option(adapter, "emission_factors");
		kinds[i].currency =
		    adapter->currency != NULL ? adapter->currency(&sources[i].options) : "";
	}
	lt_policy_check_signals(policy, kinds, &errors);
	free(kinds);
	if (errors.count == 0)
		return LT_OK;
	if (err != NULL)
		*err = errors.items[0];
	return LT_EINPUT;
}

/* Finds each source's weather, by names that are checked by now. */
static void
find_weather(const struct lt_policy *policy, struct lt_source *sources,
    const struct lt_policy_weather *weather, const char **keys)
{
	for (int i = 0; i < weather->count; i++)
		keys[i] =
		    sources[lt_policy_source_find(policy, weather->names[i]) - policy->sources].key;
}

/* Makes policy and sources of a text; what was made of a bad one is the caller's to free as
 * well. */
static int
parse_policy(const struct lt_policy_text *text, struct lt_policy **policy,
    struct lt_source **sources, struct lt_error *err)
{
	struct lt_policy_errors errors = {0};
	int code = lt_policy_parse_all(policy, text, lt_adapter_names(), &errors);

	if (code != LT_OK) {
		*err = errors.items[0];
		return code;
	}
	*sources = calloc((size_t)(*policy)->source_count + 1, sizeof(**sources));
	if (*sources == NULL)
		return lt_fail(err, LT_ENOMEM, "policy: out of memory");
	for (int i = 0; i < (*policy)->source_count; i++) {
		code = fill_source(&(*sources)[i], *policy, &(*policy)->sources[i], err);
		if (code != LT_OK)
			return at_source(&(*policy)->sources[i], text->name, err);
	}
	code = check_signals(*policy, *sources, err);
	if (code != LT_OK)
		return code;
	for (int i = 0; i < (*policy)->source_count; i++) {
		const struct lt_policy_source *const source = &(*policy)->sources[i];

		find_weather(*policy, *sources, &source->weather, (*sources)[i].weather);
		find_weather(*policy, *sources, &source->day_ahead,
		    &(*sources)[i].weather[LT_OPERATOR_WIND]);
	}
	return LT_OK;
}

static bool
is_same(const struct lt_source *a, const struct lt_source *b)
{
	bool same = a->adapter == b->adapter && strcmp(a->policy->name, b->policy->name) == 0 &&
		    a->options.count == b->options.count;

	for (int i = 0; same && i < a->options.count; i++)
		same = strcmp(a->options.items[i].key, b->options.items[i].key) == 0 &&
		       strcmp(a->options.items[i].value, b->options.items[i].value) == 0;
	return same;
}

/* Keeps the counters, and the pause that a source asked for: saving a file does not end it. A pause
 * after a mere failure ends, as the source may work now. */
static void
keep_past(struct lt_source *fresh, int count, const struct lt_signals_state *signals)
{
	for (int i = 0; i < count; i++)
		for (int k = 0; k < signals->source_count; k++) {
			const struct lt_source *const old = &signals->sources[k];

			if (!is_same(old, &fresh[i]))
				continue;
			fresh[i].tries = old->tries;
			fresh[i].failed_tries = old->failed_tries;
			fresh[i].memory->past_pause_utc_s = old->memory->past_pause_utc_s;
			fresh[i].memory->ahead_pause_utc_s = old->memory->ahead_pause_utc_s;
			if (old->retry_after_s <= 0)
				continue;
			fresh[i].retry_after_s = old->retry_after_s;
			fresh[i].next_fetch_utc_s = old->next_fetch_utc_s;
			fresh[i].failures = old->failures;
			memcpy(fresh[i].last_error, old->last_error, sizeof(old->last_error));
		}
}

/* Micros are of one currency: with amounts in the ledger, another one would make dollars euros, in
 * all months, and none at all would be another. Amounts of a policy that named none get a name. */
static int
check_currency(struct lt_ledger *ledger, const char *config, const struct lt_policy *policy,
    struct lt_error *err)
{
	char known[sizeof(policy->currency)];
	bool has = false;

	if (lt_ledger_get(ledger, "currency", known, sizeof(known), NULL) == LT_OK) {
		if (strcmp(known, policy->currency) == 0)
			return LT_OK;
		const int code = known[0] ? lt_ledger_has_money(ledger, &has, err) : LT_OK;
		if (code != LT_OK)
			return code;
	}
	if (has)
		return lt_fail(err, LT_EINPUT,
		    "%s: currency: got \"%s\", want \"%s\": the ledger has amounts in it. Another currency needs a state directory of its own",
		    config, policy->currency, known);
	return lt_ledger_put(ledger, "currency", policy->currency, err);
}

static int
offsets_of(struct lt_offsets *offsets, const char *zone, struct lt_error *err)
{
	const int code = lt_time_zone_set(zone, err);

	if (code == LT_OK)
		lt_time_zone_offsets(offsets);
	return code;
}

/* Days and months are of one zone: with anything booked, another zone would open closed periods. A
 * policy that names no zone keeps the one in use: the host may have another since. Names of the
 * same hours are one zone. */
static int
settle_zone(struct lt_site *site, struct lt_ledger *ledger, const char *config,
    struct lt_policy *policy, struct lt_error *err)
{
	struct lt_offsets *const was = malloc(2 * sizeof(*was));
	struct lt_offsets *const is = was + 1;
	char known[sizeof(policy->timezone)] = "";
	int64_t first_utc_s = 0;
	bool has = false;
	int code = was != NULL ? lt_ledger_first_booked(ledger, &first_utc_s, &has, err)
			       : lt_fail(err, LT_ENOMEM, "policy: out of memory");

	if (code == LT_OK && has)
		(void)lt_ledger_get(ledger, "timezone", known, sizeof(known), NULL);
	if (policy->timezone[0] == '\0' && known[0])
		memcpy(policy->timezone, known, sizeof(known));
	if (policy->timezone[0] == '\0')
		lt_host_zone(policy->timezone, sizeof(policy->timezone));
	/* One that this host has no more can't be compared. */
	const bool is_other = code == LT_OK && known[0] && strcmp(known, policy->timezone) != 0 &&
			      offsets_of(was, known, NULL) == LT_OK;
	if (code == LT_OK && offsets_of(is, policy->timezone, err) != LT_OK)
		code = lt_context(err, "%s", config);
	if (code == LT_OK && is_other && !lt_calendar_agree(was, is, first_utc_s))
		code = lt_fail(err, LT_EINPUT,
		    "%s: timezone: got \"%s\", want \"%s\": days and months in the ledger are of that zone. Another zone needs a state directory of its own",
		    config, policy->timezone, known);
	if (code == LT_OK)
		code = lt_ledger_put(ledger, "timezone", policy->timezone, err);
	if (code == LT_OK)
		site->offsets = *is;
	else if (site->policy != NULL) /* it works on */
		(void)lt_time_zone_set(site->policy->timezone, NULL);
	free(was);
	return code;
}

enum lt_rule
lt_policy_unknown_rule(const struct lt_policy *policy)
{
	return lt_mode_may(policy->mode, LT_MAY_REFUSE) ? policy->on_unknown : LT_RULE_ALLOW;
}

/* Puts the policy of a text in force; a bad one changes nothing. */
static int
use_text(struct lt_site *site, struct lt_signals_state *signals, struct lt_ledger *ledger,
    const struct lt_policy_text *text, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_policy *policy = NULL;
	struct lt_source *sources = NULL;
	int code = parse_policy(text, &policy, &sources, err);

	if (code == LT_OK)
		code = check_currency(ledger, text->name, policy, err);
	if (code == LT_OK)
		code = settle_zone(site, ledger, text->name, policy, err);
	if (code != LT_OK) {
		free_sources(sources, sources != NULL ? policy->source_count : 0);
		lt_policy_free(policy);
		return code;
	}
	keep_past(sources, policy->source_count, signals);
	lt_policy_drop(site, signals);
	site->policy = policy;
	signals->sources = sources;
	signals->source_count = policy->source_count;
	site->policy_loaded_utc_s = now_utc_s;
	lt_directory_forget_members();
	lt_log("policy_loaded", "path=%s mode=%s sources=%d partitions=%d budgets=%d", text->name,
	    lt_mode_name(policy->mode), policy->source_count, policy->partition_count,
	    policy->budget_count);
	return LT_OK;
}

int
lt_policy_use(struct lt_site *site, struct lt_signals_state *signals, struct lt_ledger *ledger,
    const char *path, const char *keep, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_policy_errors errors = {0};
	struct lt_policy_text text = {.name = path};
	struct lt_error kept = {0};
	char *bytes = NULL;
	int code = lt_policy_read(&bytes, &text.length, path, &errors);

	text.bytes = bytes;
	if (code != LT_OK)
		*err = errors.items[0];
	else
		code = use_text(site, signals, ledger, &text, now_utc_s, err);
	if (code == LT_OK && keep[0] &&
	    lt_file_replace(keep, 0600, bytes, text.length, &kept) != LT_OK)
		lt_log("policy_not_kept", "error=\"%s\"", kept.text);
	free(bytes);
	return code;
}

const struct lt_policy_partition *
lt_policy_partition_find(const struct lt_policy *policy, const char *name)
{
	for (int i = 0; i < policy->partition_count; i++)
		if (strcmp(policy->partitions[i].name, name) == 0)
			return &policy->partitions[i];
	return NULL;
}
