/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/signals: each source with its state, its values for the next day and its users; and the
 * interruption rates of partitions that have one. Reads the signals in memory and, for bands, what
 * was learned of forecasts. A value that is not known is null.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_signals.h"
#include "daemon.h"
#include "hazard.h"
#include "points.h"
#include "text_mend.h"
#include "units.h"

enum {
	/* A source has 24 hours of some 110 bytes and its users: 256
	 * partitions with 5 signals are 90 KiB. With the partitions' rates,
	 * 64 KiB, their fixed figures, three of 120 bytes each, and 1024
	 * exchange rates of 80 bytes, a page stays below LT_API_REPLY_MAX. */
	PAGE_BYTES = 160 * 1024,
	ZONE_SIZE = LT_API_WHERE_SIZE,
};

/* The signals of a partition, by their keys in the policy file. */
static const struct {
	const char *key;
	size_t offset;
} kinds[] = {
    {"carbon", offsetof(struct lt_policy_partition, carbon)},
    {"price_per_node_hour", offsetof(struct lt_policy_partition, price)},
    {"electricity_price_per_kwh", offsetof(struct lt_policy_partition, tariff)},
    {"interruptions_per_hour", offsetof(struct lt_policy_partition, hazard)},
    {"placement_score", offsetof(struct lt_policy_partition, score)},
};
enum { SIGNAL_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

/* Options that say where, then what: never one that may be secret. */
static const char *const places[] = {"zone_id", "zone", "region", "bidding_zone", "country", "area",
    "respondent", "postcode", "location", "data_center", "data_center_region", NULL};
static const char *const things[] = {
    "instance_type", "instance_types", "sku", "machine_type", "gpu", NULL};

static void
add_first(char out[ZONE_SIZE], const struct lt_source *source, const char *const *keys)
{
	for (int i = 0; keys[i] != NULL; i++) {
		const char *const value = lt_source_option(&source->options, keys[i], NULL);
		const size_t used = strlen(out);

		/* "zone: utc" of a file is no place. */
		if (value == NULL || strcmp(value, "utc") == 0)
			continue;
		const bool bare = value[0] < '0' || value[0] > '9';
		snprintf(out + used, ZONE_SIZE - used, "%s%s%s%.64s", used ? " " : "",
		    bare ? "" : keys[i], bare ? "" : " ", value);
		lt_text_mend(out); /* cut, maybe in a character */
		return;
	}
}

void
lt_api_where(char where[LT_API_WHERE_SIZE], const struct lt_source *source)
{
	where[0] = '\0';
	add_first(where, source, places);
}

/* The cloud's name of the machines whose price it is; NULL: not given. */
static const char *
instance_type(const struct lt_source *source)
{
	static const char *const keys[] = {"instance_type", "machine_type", "sku"};
	const char *value = NULL;

	for (int i = 0; i < 3 && value == NULL; i++)
		value = lt_source_option(&source->options, keys[i], NULL);
	return value;
}

static json_t *
used_by_json(const struct lt_signals_state *signals, const struct lt_policy *policy,
    const struct lt_source *source, int64_t now_utc_s)
{
	const int index = (int)(source - signals->sources);
	json_t *const list = json_array();

	for (int i = 0; i < policy->partition_count; i++) {
		const struct lt_policy_partition *const partition = &policy->partitions[i];

		for (int k = 0; k < SIGNAL_COUNT; k++) {
			const struct lt_policy_signal *const signal =
			    (const void *)((const char *)partition + kinds[k].offset);
			int place = 0;

			while (place < signal->source_count && signal->sources[place] != index)
				place++;
			if (place == signal->source_count)
				continue;
			json_array_append_new(list,
			    json_pack("{s:s,s:s,s:i,s:b}", "partition", partition->name, "key",
				kinds[k].key, "place", place + 1, "in_use",
				lt_signal_source(signals, policy, signal, now_utc_s) == source));
		}
	}
	return list;
}

static json_t *
hours_json(struct lt_ledger *ledger, const struct lt_source *source, int64_t now_utc_s)
{
	const int64_t first_utc_s = now_utc_s - now_utc_s % LT_HOUR_S;
	struct lt_hour hours[LT_HOURS_SHOWN];
	struct lt_api_bands bands;
	json_t *const list = json_array();
	struct lt_point *const points = calloc(source->step_count + 1, sizeof(*points));

	if (points == NULL) {
		json_decref(list);
		return NULL;
	}
	for (uint32_t i = 0; i < source->step_count; i++)
		points[i] = (struct lt_point){source->steps[i].start_utc_s,
		    source->steps[i].end_utc_s, source->steps[i].value, source->steps[i].quality};
	lt_points_hours(hours, LT_HOURS_SHOWN, first_utc_s, points, source->step_count);
	free(points);
	lt_api_bands_load(&bands, ledger, source);
	for (int i = 0; i < LT_HOURS_SHOWN; i++) {
		const int64_t start_utc_s = first_utc_s + i * LT_HOUR_S;
		double low, high;

		if (!hours[i].known) {
			json_array_append_new(list, json_null());
			continue;
		}
		const bool has = lt_api_band(
		    &low, &high, &bands, &hours[i], start_utc_s + LT_HOUR_S - now_utc_s);
		json_array_append_new(
		    list, json_pack("{s:o,s:f,s:o,s:o,s:s}", "start", lt_api_time(start_utc_s),
			      "value", hours[i].value, "low", has ? json_real(low) : json_null(),
			      "high", has ? json_real(high) : json_null(), "quality",
			      lt_quality_name(hours[i].quality)));
	}
	return list;
}

static json_t *
source_json(struct lt_daemon *d, const struct lt_source *source, int64_t now_utc_s)
{
	const bool has = source->step_count > 0;
	const bool dated = source->issued_utc_s != 0;
	const enum lt_quantity quantity = lt_api_quantity(source);
	const int64_t stale_utc_s =
	    lt_source_made(source, now_utc_s) + d->site.policy->stale_after_s;
	const bool stale = !has || now_utc_s > stale_utc_s;
	char zone[ZONE_SIZE] = "";
	const struct lt_rate_step *const step = lt_source_step(source, now_utc_s);

	add_first(zone, source, places);
	add_first(zone, source, things);
	return json_pack("{s:s,s:s,s:s,s:s?,s:s,s:s,s:f,s:o,s:s,s:o,s:o,s:b,s:o,"
			 "s:o,s:o,s:i,s:s?,s:s?,s:b,s:o,s:o}",
	    "name", source->policy->name, "adapter", source->adapter->name, "options", zone,
	    "instance_type", instance_type(source), "quantity", lt_quantity_name(quantity), "unit",
	    lt_quantity_unit(quantity), "scale", lt_quantity_scale(quantity), "value_now",
	    step != NULL ? json_real(step->value) : json_null(), "quality",
	    lt_quality_name(step != NULL ? step->quality : LT_QUALITY_NONE), "issued",
	    lt_api_time(source->issued_utc_s), "age_s",
	    lt_api_optional(dated, now_utc_s - source->issued_utc_s), "stale", stale, "stale_since",
	    lt_api_time(has && stale ? stale_utc_s : 0), "fetched",
	    lt_api_time(source->fetched_utc_s), "next_fetch", lt_api_time(source->next_fetch_utc_s),
	    "failures", source->failures, "last_error",
	    source->last_error[0] ? source->last_error : NULL, "note",
	    source->note[0] ? source->note : NULL, "replay", source->adapter->replay, "used_by",
	    used_by_json(&d->signals, d->site.policy, source, now_utc_s), "hours",
	    hours_json(d->ledger, source, now_utc_s));
}

static json_t *
partitions_json(struct lt_daemon *d, int64_t now_utc_s)
{
	json_t *const list = json_array();

	for (int i = 0; i < d->site.policy->partition_count; i++) {
		const struct lt_policy_partition *const partition = &d->site.policy->partitions[i];

		const struct lt_hazard hazard =
		    lt_hazard_of(&d->signals, d->ledger, d->site.policy, partition, now_utc_s);
		if (!partition->preemptible && !hazard.known)
			continue; /* none of its nodes failed here */
		json_array_append_new(
		    list, json_pack("{s:s,s:{s:o,s:o,s:s?,s:b,s:I,s:f,s:f}}", "name",
			      partition->name, "hazard", "value",
			      hazard.known ? json_real(hazard.value) : json_null(), "published",
			      hazard.known ? json_real(hazard.published) : json_null(), "source",
			      hazard.source != NULL    ? hazard.source->policy->name
			      : partition->preemptible ? NULL
						       : "published failures",
			      "counts_own", hazard.counts_own, "interruptions",
			      (json_int_t)hazard.own.interruptions, "node_hours",
			      hazard.own.node_hours, "own_share", hazard.own_share));
	}
	return list;
}

/* The fixed values of the policy, the same in all hours. */
static json_t *
fixed_json(const struct lt_policy *policy)
{
	static const enum lt_quantity quantities[] = {
	    LT_QUANTITY_CARBON, LT_QUANTITY_PRICE, LT_QUANTITY_TARIFF};
	json_t *const list = json_array();

	for (int i = 0; i < policy->partition_count; i++) {
		const struct lt_policy_partition *const partition = &policy->partitions[i];

		for (int k = 0; k < 3; k++) {
			const struct lt_policy_signal *const signal =
			    (const void *)((const char *)partition + kinds[k].offset);

			if (!signal->is_set || !signal->is_constant)
				continue;
			json_array_append_new(
			    list, json_pack("{s:s,s:s,s:f,s:s,s:f}", "partition", partition->name,
				      "key", kinds[k].key, "value", signal->constant, "unit",
				      lt_quantity_unit(quantities[k]), "scale",
				      lt_quantity_scale(quantities[k])));
		}
	}
	return list;
}

static json_t *
exchange_json(const struct lt_policy *policy)
{
	json_t *const list = json_array();

	for (int i = 0; i < policy->exchange_count; i++) {
		const struct lt_policy_exchange *const row = &policy->exchanges[i];

		json_array_append_new(list,
		    json_pack("{s:s,s:f,s:o}", "currency", row->currency, "rate", row->rate, "from",
			row->from_utc_s == INT64_MIN ? json_null() : lt_api_time(row->from_utc_s)));
	}
	return list;
}

/* Sources from *offset on, as many as a page has room for; *offset: the next one. NULL: out of
 * memory, or a text that is not UTF-8. */
static json_t *
page_json(struct lt_daemon *d, const char *only, int *offset, int64_t now_utc_s)
{
	json_t *const list = json_array();
	size_t bytes = 0;

	for (; *offset < d->signals.source_count && bytes < PAGE_BYTES; ++*offset) {
		const struct lt_source *const source = &d->signals.sources[*offset];

		if (only != NULL && strcmp(only, source->policy->name) != 0)
			continue;
		json_t *const one = source_json(d, source, now_utc_s);
		bytes += one != NULL ? json_dumpb(one, NULL, 0, JSON_COMPACT) : 0;
		if (json_array_append_new(list, one) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

int
lt_api_signals(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	const int64_t now = request->now_utc_s;
	const char *const only = lt_api_value(request, "source");
	int next = 0;
	const int code = lt_api_offset(&next, &d->signals, request, reply);

	if (code != 200)
		return code;
	const enum lt_basis basis = lt_signals_basis(&d->signals, d->site.policy);
	json_t *const sources = page_json(d, only, &next, now);
	if (sources != NULL)
		*reply = json_pack("{s:o,s:s,s:s,s:s?,s:I,s:o,s:o,s:o,s:o,s:o}", "now",
		    lt_api_time(now), "currency", d->site.policy->currency, "carbon_intensity",
		    d->site.policy->intensity == LT_INTENSITY_MARGINAL ? "marginal" : "average",
		    "emission_factors", basis != LT_BASIS_UNSAID ? lt_basis_name(basis) : NULL,
		    "stale_after_s", (json_int_t)d->site.policy->stale_after_s, "sources", sources,
		    "next", lt_api_optional(next < d->signals.source_count, next), "partitions",
		    partitions_json(d, now), "fixed", fixed_json(d->site.policy), "exchange_rates",
		    exchange_json(d->site.policy));
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "signals: out of memory");
}
