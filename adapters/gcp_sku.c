/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SKU list has no field for machine families: its descriptions are read,
 * narrowly, for a wrong match is worse than none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gcp_sku.h"
#include "lookup.h"
#include "units.h"

enum {
	NANOS = 1000000000,
	UNITS_MAX = 1000000, /* an hour of one of anything; more: refused */
};

static const struct {
	const char *word; /* after the family; NULL = no such word */
	const char *unit;
	const char *title;
} kinds[LT_GCP_PART_COUNT] = {
    [LT_GCP_CORE] = {" Core", "h", "Instance Core"},
    [LT_GCP_RAM] = {" Ram", "GiBy.h", "Instance Ram"},
    [LT_GCP_GPU] = {NULL, "h", "GPU"},
};

/* ---- descriptions ---- */

/* Skip words at the start of *text, whatever their case. */
static bool
skip(const char **text, const char *words)
{
	const size_t length = strlen(words);

	if (strncasecmp(*text, words, length) != 0)
		return false;
	*text += length;
	return true;
}

/* Skip each of these that is there, in their order; was any? */
static bool
skip_each(const char **text, const char *const *words)
{
	bool skipped = false;

	for (; *words != NULL; words++)
		skipped |= skip(text, *words);
	return skipped;
}

/*
 * Is this description one of a part of the machine? Known forms:
 *   [Spot Preemptible |Preemptible ]FAMILY[ Predefined][ AMD][ Arm]
 *       [ Memory-optimized][ Instance] Core|Ram running in PLACE
 *   [Spot Preemptible ]GPU[ GPU]
 *       [ attached to Spot Preemptible VMs] running in PLACE
 * All else (Custom, Sole Tenancy, Reserved, Commitment, DWS Defined Duration)
 * is another product.
 */
static bool
is_part(const struct lt_gcp_search *search, enum lt_gcp_part kind,
    const char *description)
{
	static const char *const spot[] = {
	    "Spot Preemptible ", "Preemptible ", NULL};
	static const char *const family[] = {" Predefined", " AMD", " Arm",
	    " Memory-optimized", " Instance", NULL};
	static const char *const gpu[] = {" GPU", NULL};
	static const char *const attached[] = {
	    " attached to Spot Preemptible VMs", " attached to Preemptible VMs",
	    NULL};
	bool is_spot = skip_each(&description, spot);

	if (!skip(&description, search->parts[kind].name))
		return false;
	if (kind == LT_GCP_GPU) {
		skip_each(&description, gpu);
		is_spot |= skip_each(&description, attached);
	} else {
		skip_each(&description, family);
		if (!skip(&description, LT_ROW(kinds, kind).word))
			return false;
	}
	return skip(&description, " running in") && is_spot == search->is_spot;
}

/* Spot GPUs have been seen with usage type OnDemand: for spot the description
 * decides, and only commitments are kept out. */
static bool
is_usage(const struct lt_gcp_search *search, const json_t *sku)
{
	const char *const usage = json_string_value(
	    json_object_get(json_object_get(sku, "category"), "usageType"));

	return usage != NULL &&
	       (strcmp(usage, "OnDemand") == 0 ||
		   (search->is_spot && strcmp(usage, "Preemptible") == 0));
}

static bool
is_region(const struct lt_gcp_search *search, const json_t *sku)
{
	const json_t *region;
	size_t i;

	json_array_foreach(json_object_get(sku, "serviceRegions"), i, region) {
		const char *const name = json_string_value(region);

		if (name != NULL && strcmp(name, search->region) == 0)
			return true;
	}
	return false;
}

/* ---- prices ---- */

/* {"currencyCode": "USD", "units": "0", "nanos": 7370235}: an int64 is a text
 * in Google's JSON, and what is 0 may be left out. */
static int
money(const struct lt_gcp_search *search, const json_t *price, int64_t *nanos,
    struct lt_error *err)
{
	const char *const currency =
	    json_string_value(json_object_get(price, "currencyCode"));
	const json_t *const units = json_object_get(price, "units");
	const json_t *const rest = json_object_get(price, "nanos");
	const char *const text =
	    json_is_string(units) ? json_string_value(units) : "0";
	int64_t whole;

	if (currency == NULL || strcmp(currency, search->currency) != 0)
		return lt_fail(err, LT_EINPUT, "a price in %.20s, want %s",
		    currency == NULL ? "no currency" : currency,
		    search->currency);
	if ((units != NULL && !json_is_string(units)) ||
	    lt_int64_parse(text, 0, UNITS_MAX, &whole, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT,
		    "units: got \"%.20s\", want a text of 0 to %d", text,
		    UNITS_MAX);
	if (rest != NULL &&
	    (!json_is_integer(rest) || json_integer_value(rest) < 0 ||
		json_integer_value(rest) >= NANOS))
		return lt_fail(
		    err, LT_EINPUT, "nanos: want 0 to %d", NANOS - 1);
	*nanos = whole * NANOS + json_integer_value(rest);
	return LT_OK;
}

/* The price that holds now: of several by time the last one that began. */
static const json_t *
current_pricing(const struct lt_gcp_search *search, const json_t *sku)
{
	const json_t *info, *best = NULL;
	int64_t best_utc_s = INT64_MIN, utc_s;
	size_t i;

	json_array_foreach(json_object_get(sku, "pricingInfo"), i, info) {
		const char *const text =
		    json_string_value(json_object_get(info, "effectiveTime"));

		if (text == NULL || lt_utc_parse(text, &utc_s, NULL) != LT_OK ||
		    utc_s > search->now_utc_s || utc_s < best_utc_s)
			continue;
		best = json_object_get(info, "pricingExpression");
		best_utc_s = utc_s;
	}
	return best;
}

/* Of several tiers the dearest: the first may be a free allowance. */
static int
sku_price(const struct lt_gcp_search *search, const json_t *sku,
    const char *want_unit, int64_t *nanos, struct lt_error *err)
{
	const json_t *const pricing = current_pricing(search, sku);
	const char *const unit =
	    json_string_value(json_object_get(pricing, "usageUnit"));
	const json_t *tier;
	size_t i;

	*nanos = 0;
	if (pricing == NULL)
		return lt_fail(
		    err, LT_EINPUT, "no price that is in effect now");
	if (unit == NULL || strcmp(unit, want_unit) != 0)
		return lt_fail(err, LT_EINPUT,
		    "usageUnit: got \"%.20s\", want \"%s\"",
		    unit == NULL ? "" : unit, want_unit);
	json_array_foreach(json_object_get(pricing, "tieredRates"), i, tier) {
		int64_t tier_nanos = 0;
		const int code = money(search,
		    json_object_get(tier, "unitPrice"), &tier_nanos, err);

		if (code != LT_OK)
			return code;
		if (tier_nanos > *nanos)
			*nanos = tier_nanos;
	}
	return *nanos > 0 ? LT_OK
			  : lt_fail(err, LT_EINPUT,
				"a price of 0, which stands for a missing one");
}

static void
add_part(struct lt_gcp_search *search, enum lt_gcp_part kind, const json_t *sku,
    const char *description)
{
	struct lt_gcp_price *const part = &search->parts[kind];
	struct lt_error err = {0};
	int64_t nanos;

	if (!is_region(search, sku)) {
		part->elsewhere++;
		return;
	}
	if (sku_price(search, sku, LT_ROW(kinds, kind).unit, &nanos, &err) !=
	    LT_OK) {
		lt_fail(&search->refusal, err.code, "\"%.100s\": %s",
		    description, err.text);
		search->refused++;
		return;
	}
	if (part->matched++ == 0)
		part->nanos = nanos;
	else if (nanos != part->nanos)
		part->other_nanos = nanos;
}

void
lt_gcp_add(struct lt_gcp_search *search, const json_t *sku)
{
	const char *const description =
	    json_string_value(json_object_get(sku, "description"));

	search->sku_count++;
	if (description == NULL || !is_usage(search, sku))
		return;
	for (int i = 0; i < LT_GCP_PART_COUNT; i++)
		if (search->parts[i].milli > 0 &&
		    is_part(search, (enum lt_gcp_part)i, description))
			add_part(search, (enum lt_gcp_part)i, sku, description);
}

/* ---- the sum ---- */

static int
part_fail(const struct lt_gcp_search *search, enum lt_gcp_part kind,
    struct lt_error *err)
{
	const struct lt_gcp_price *const part = &search->parts[kind];
	const char *const spot = search->is_spot ? "spot" : "on-demand";

	if (part->other_nanos != 0)
		return lt_fail(err, LT_EINPUT,
		    "%d %s SKUs for \"%s\" (%s) in %s, with different prices, as %.9f and %.9f %s: want one",
		    part->matched, spot, part->name, LT_ROW(kinds, kind).title,
		    search->region, (double)part->nanos / NANOS,
		    (double)part->other_nanos / NANOS, search->currency);
	return lt_fail(err, LT_EINPUT,
	    "no %s SKU for \"%s\" (%s) in %s: %d matched among %d, %d in other regions%s%s",
	    spot, part->name, LT_ROW(kinds, kind).title, search->region,
	    part->matched, search->sku_count, part->elsewhere,
	    search->refused > 0 ? "; refused: " : "", search->refusal.text);
}

int
lt_gcp_sum(
    const struct lt_gcp_search *search, int64_t *micros, struct lt_error *err)
{
	int64_t sum = 0; /* thousandths of nanos */

	for (int i = 0; i < LT_GCP_PART_COUNT; i++) {
		const struct lt_gcp_price *const part = &search->parts[i];
		int64_t cost;

		if (part->milli == 0)
			continue;
		if (part->matched == 0 || part->other_nanos != 0)
			return part_fail(search, (enum lt_gcp_part)i, err);
		if (__builtin_mul_overflow(part->milli, part->nanos, &cost) ||
		    __builtin_add_overflow(sum, cost, &sum) ||
		    sum > INT64_MAX - LT_MICROS / 2)
			return lt_fail(err, LT_EOVERFLOW,
			    "the machine's price is too large");
	}
	*micros = (sum + LT_MICROS / 2) / LT_MICROS;
	return LT_OK;
}
