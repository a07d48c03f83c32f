/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Google Cloud's public price list (Cloud Billing Catalog API): a machine is the sum of its core,
 * memory and GPU SKUs. docs/sources/gcp_billing_sku.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lookup.h"
#include "prices.h"
#include "source.h"
#include "units.h"
#include "web.h"

enum part { CORE, RAM, GPU, PART_COUNT };

enum { NAME_MAX_BYTES = 64 }; /* bytes of a family or GPU; more: refused */

struct search { /* of all pages; no memory of its own */
	const char *region, *currency;
	bool is_spot;
	int64_t now_utc_s;
	struct price {
		const char *name;    /* CPU family or GPU, of a description */
		int64_t milli;	     /* vCPUs, GiB or GPUs; 0 = not wanted */
		int64_t nanos;	     /* of the currency per hour of one */
		int64_t other_nanos; /* of a second, different price; 0 = none */
		int matched;	     /* in the region, with a usable price */
		int elsewhere;	     /* in other regions */
	} parts[PART_COUNT];
	int sku_count, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

/* ---- SKUs ---- */

/* The list has no field for machine families: its descriptions are read, narrowly, for a wrong
 * match is worse than none. */

enum {
	NANOS = 1000000000,
	UNITS_MAX = 1000000, /* an hour of one of anything; more: refused */
};

static const struct {
	const char *word; /* after the family; NULL = no such word */
	const char *unit;
	const char *title;
} kinds[PART_COUNT] = {
    [CORE] = {" Core", "h", "Instance Core"},
    [RAM] = {" Ram", "GiBy.h", "Instance Ram"},
    [GPU] = {NULL, "h", "GPU"},
};

/* ---- descriptions ---- */

/* Skips words at the start of *text, in any case. */
static bool
skip(const char **text, const char *words)
{
	const size_t length = strlen(words);

	if (strncasecmp(*text, words, length) != 0)
		return false;
	*text += length;
	return true;
}

/* Skips each of these words that is there, in their order; true if any was. */
static bool
skip_each(const char **text, const char *const *words)
{
	bool skipped = false;

	for (; *words != NULL; words++)
		skipped |= skip(text, *words);
	return skipped;
}

/*
 * True if this description is of a part of the machine. Known forms:
 *   [Spot Preemptible |Preemptible ]FAMILY[ Predefined][ AMD][ Arm]
 *       [ Memory-optimized][ Instance] Core|Ram running in PLACE
 *   [Spot Preemptible ]GPU[ GPU]
 *       [ attached to Spot Preemptible VMs] running in PLACE
 * All else (Custom, Sole Tenancy, Reserved, Commitment, DWS Defined Duration) is another product.
 */
static bool
is_part(const struct search *search, enum part kind, const char *description)
{
	static const char *const spot[] = {"Spot Preemptible ", "Preemptible ", NULL};
	static const char *const family[] = {
	    " Predefined", " AMD", " Arm", " Memory-optimized", " Instance", NULL};
	static const char *const gpu[] = {" GPU", NULL};
	static const char *const attached[] = {
	    " attached to Spot Preemptible VMs", " attached to Preemptible VMs", NULL};
	bool is_spot = skip_each(&description, spot);

	if (!skip(&description, search->parts[kind].name))
		return false;
	if (kind == GPU) {
		skip_each(&description, gpu);
		is_spot |= skip_each(&description, attached);
	} else {
		skip_each(&description, family);
		if (!skip(&description, LT_ROW(kinds, kind).word))
			return false;
	}
	return skip(&description, " running in") && is_spot == search->is_spot;
}

/* Spot GPUs have been seen with usage type OnDemand: for spot the description decides, and only
 * commitments are kept out. */
static bool
is_usage(const struct search *search, const json_t *sku)
{
	const char *const usage =
	    json_string_value(json_object_get(json_object_get(sku, "category"), "usageType"));

	return usage != NULL && (strcmp(usage, "OnDemand") == 0 ||
				    (search->is_spot && strcmp(usage, "Preemptible") == 0));
}

static bool
is_region(const struct search *search, const json_t *sku)
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

/* {"currencyCode": "USD", "units": "0", "nanos": 7370235}: an int64 is a text in Google's JSON, and
 * what is 0 may be left out. */
static int
money(const struct search *search, const json_t *price, int64_t *nanos, struct lt_error *err)
{
	const char *const currency = json_string_value(json_object_get(price, "currencyCode"));
	const json_t *const units = json_object_get(price, "units");
	const json_t *const rest = json_object_get(price, "nanos");
	const char *const text = json_is_string(units) ? json_string_value(units) : "0";
	int64_t whole;

	if (currency == NULL || strcmp(currency, search->currency) != 0)
		return lt_fail(err, LT_EINPUT, "a price in %.20s, want %s",
		    currency == NULL ? "no currency" : currency, search->currency);
	if ((units != NULL && !json_is_string(units)) ||
	    lt_int64_parse(text, 0, UNITS_MAX, &whole, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT, "units: got \"%.20s\", want a text of 0 to %d", text,
		    UNITS_MAX);
	if (rest != NULL && (!json_is_integer(rest) || json_integer_value(rest) < 0 ||
				json_integer_value(rest) >= NANOS))
		return lt_fail(err, LT_EINPUT, "nanos: want 0 to %d", NANOS - 1);
	*nanos = whole * NANOS + json_integer_value(rest);
	return LT_OK;
}

/* Returns the price that holds now: the last one that began. */
static const json_t *
current_pricing(const struct search *search, const json_t *sku)
{
	const json_t *info, *best = NULL;
	int64_t best_utc_s = INT64_MIN, utc_s;
	size_t i;

	json_array_foreach(json_object_get(sku, "pricingInfo"), i, info) {
		const char *const text = json_string_value(json_object_get(info, "effectiveTime"));

		if (text == NULL || lt_utc_parse(text, &utc_s, NULL) != LT_OK ||
		    utc_s > search->now_utc_s || utc_s < best_utc_s)
			continue;
		best = json_object_get(info, "pricingExpression");
		best_utc_s = utc_s;
	}
	return best;
}

/* Takes the dearest of several tiers: the first may be a free allowance. */
static int
sku_price(const struct search *search, const json_t *sku, const char *want_unit, int64_t *nanos,
    struct lt_error *err)
{
	const json_t *const pricing = current_pricing(search, sku);
	const char *const unit = json_string_value(json_object_get(pricing, "usageUnit"));
	const json_t *tier;
	size_t i;

	*nanos = 0;
	if (pricing == NULL)
		return lt_fail(err, LT_EINPUT, "no price that is in effect now");
	if (unit == NULL || strcmp(unit, want_unit) != 0)
		return lt_fail(err, LT_EINPUT, "usageUnit: got \"%.20s\", want \"%s\"",
		    unit == NULL ? "" : unit, want_unit);
	json_array_foreach(json_object_get(pricing, "tieredRates"), i, tier) {
		int64_t tier_nanos = 0;
		const int code =
		    money(search, json_object_get(tier, "unitPrice"), &tier_nanos, err);

		if (code != LT_OK)
			return code;
		if (tier_nanos > *nanos)
			*nanos = tier_nanos;
	}
	return *nanos > 0 ? LT_OK
			  : lt_fail(err, LT_EINPUT, "a price of 0, which stands for a missing one");
}

static void
add_part(struct search *search, enum part kind, const json_t *sku, const char *description)
{
	struct price *const part = &search->parts[kind];
	struct lt_error err = {0};
	int64_t nanos;

	if (!is_region(search, sku)) {
		part->elsewhere++;
		return;
	}
	if (sku_price(search, sku, LT_ROW(kinds, kind).unit, &nanos, &err) != LT_OK) {
		lt_fail(&search->refusal, err.code, "\"%.100s\": %s", description, err.text);
		search->refused++;
		return;
	}
	if (part->matched++ == 0)
		part->nanos = nanos;
	else if (nanos != part->nanos)
		part->other_nanos = nanos;
}

static void
add_sku(struct search *search, const json_t *sku)
{
	const char *const description = json_string_value(json_object_get(sku, "description"));

	search->sku_count++;
	if (description == NULL || !is_usage(search, sku))
		return;
	for (int i = 0; i < PART_COUNT; i++)
		if (search->parts[i].milli > 0 && is_part(search, (enum part)i, description))
			add_part(search, (enum part)i, sku, description);
}

/* ---- the sum ---- */

static int
part_fail(const struct search *search, enum part kind, struct lt_error *err)
{
	const struct price *const part = &search->parts[kind];
	const char *const spot = search->is_spot ? "spot" : "on-demand";

	if (part->other_nanos != 0)
		return lt_fail(err, LT_EINPUT,
		    "%d %s SKUs for \"%s\" (%s) in %s, with different prices, as %.9f and %.9f %s: want one",
		    part->matched, spot, part->name, LT_ROW(kinds, kind).title, search->region,
		    (double)part->nanos / NANOS, (double)part->other_nanos / NANOS,
		    search->currency);
	return lt_fail(err, LT_EINPUT,
	    "no %s SKU for \"%s\" (%s) in %s: %d matched among %d, %d in other regions%s%s", spot,
	    part->name, LT_ROW(kinds, kind).title, search->region, part->matched, search->sku_count,
	    part->elsewhere, search->refused > 0 ? "; refused: " : "", search->refusal.text);
}

static int
sum_parts(const struct search *search, int64_t *micros, struct lt_error *err)
{
	int64_t sum = 0; /* thousandths of nanos */

	for (int i = 0; i < PART_COUNT; i++) {
		const struct price *const part = &search->parts[i];
		int64_t cost;

		if (part->milli == 0)
			continue;
		if (part->matched == 0 || part->other_nanos != 0)
			return part_fail(search, (enum part)i, err);
		if (__builtin_mul_overflow(part->milli, part->nanos, &cost) ||
		    __builtin_add_overflow(sum, cost, &sum) || sum > INT64_MAX - LT_MICROS / 2)
			return lt_fail(err, LT_EOVERFLOW, "the machine's price is too large");
	}
	*micros = (sum + LT_MICROS / 2) / LT_MICROS;
	return LT_OK;
}

/* ---- options ---- */

enum {
	/* 450 to 2,200 bytes a SKU, as `fields` counts or not: at most 6.6 MB, below
	 * LT_JSON_BYTES_MAX. 30,000 SKUs are 10 pages. */
	PAGE_SIZE = 3000,
	PAGES_MAX = 40,	  /* more: refused */
	TOKEN_SIZE = 512, /* of the next page; longer: refused */
	INTERVAL_S = LT_DAY_S,
};

#define BASE_URL "https://cloudbilling.googleapis.com"
/* Compute Engine */
#define PATH "v1/services/6F81-5844-456A/skus"
#define FIELDS                                                                                     \
	"nextPageToken,skus(description,category/usageType,serviceRegions,"                        \
	"pricingInfo(effectiveTime,pricingExpression(usageUnit,tieredRates)))"

static const struct lt_adapter_option gcp_options[] = {
    {"region", true, "such as us-central1", NULL},
    {"cpu_family", false, "as in the SKU's description: N2, A2, ...", NULL},
    {"vcpus", false, "of a node", "0"},
    {"memory_gib", false, "of a node", "0"},
    {"gpu", false, "as in the SKU's description: Nvidia Tesla T4, ...", NULL},
    {"gpus", false, "of a node", "0"},
    {"capacity", false, "spot or on_demand", "spot"},
    {"currency", false, "ISO 4217 code to ask for", "USD"},
    {"key_file", false, "absolute path of a file with the API key", NULL},
    {"key_env", false, "environment variable with it, instead", NULL},
    {"url", false, "base URL of a mirror", BASE_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const char *
gcp_currency(const struct lt_source_options *options)
{
	return lt_source_option(options, "currency", "USD");
}

/* ---- options ---- */

static int
name_check(const struct lt_source_options *options, const char *key, struct lt_error *err)
{
	const char *const name = lt_source_option(options, key, "-");

	return name[0] != '\0' && strlen(name) <= NAME_MAX_BYTES
		   ? LT_OK
		   : lt_option_fail(options, key, err, "%s: %s: got \"%s\", want 1 to %d bytes",
			 options->name, key, name, NAME_MAX_BYTES);
}

/* A name without its amount, or an amount without its name. */
static int
pair_check(const struct lt_source_options *options, const char *name, const char *amount,
    struct lt_error *err)
{
	int64_t milli;

	if (lt_price_list_milli(options, amount, &milli, err) != LT_OK)
		return LT_EINPUT;
	if ((lt_source_option(options, name, NULL) != NULL) == (milli > 0))
		return LT_OK;
	return lt_option_fail(options, milli > 0 ? amount : name, err,
	    "%s: want %s together with %s above 0", options->name, name, amount);
}

static int
gcp_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct lt_points money = {.quantity = LT_QUANTITY_PRICE};
	static const char *const names[] = {"region", "cpu_family", "gpu"};
	static const char *const pairs[][2] = {
	    {"cpu_family", "vcpus"}, {"cpu_family", "memory_gib"}, {"gpu", "gpus"}};
	int code = LT_OK;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (code == LT_OK)
			code = name_check(options, names[i], err);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (code == LT_OK)
			code = pair_check(options, pairs[i][0], pairs[i][1], err);
	if (code == LT_OK && lt_source_option(options, "cpu_family", NULL) == NULL &&
	    lt_source_option(options, "gpu", NULL) == NULL)
		code = lt_fail(err, LT_EINPUT, "%s: want cpu_family, gpu, or both", options->name);
	if (code == LT_OK)
		code = lt_currency_option(&money, options, err);
	if (code == LT_OK)
		code = lt_secret_check(options, "key", true, err);
	return code;
}

/* ---- the sum ---- */

static int
search_init(struct search *search, const struct lt_source_options *options, int64_t now_utc_s,
    struct lt_error *err)
{
	static const char *const amounts[PART_COUNT] = {
	    [CORE] = "vcpus",
	    [RAM] = "memory_gib",
	    [GPU] = "gpus",
	};

	*search = (struct search){
	    .region = lt_source_option(options, "region", ""),
	    .currency = gcp_currency(options),
	    .is_spot = lt_price_list_is_spot(options),
	    .now_utc_s = now_utc_s,
	};
	for (int i = 0; i < PART_COUNT; i++) {
		const int code =
		    lt_price_list_milli(options, amounts[i], &search->parts[i].milli, err);

		if (code != LT_OK)
			return code;
		search->parts[i].name =
		    lt_source_option(options, i == GPU ? "gpu" : "cpu_family", "");
	}
	return LT_OK;
}

static int
make_points(const struct search *search, struct lt_points *points, struct lt_error *err)
{
	int64_t micros = 0;
	const int code = sum_parts(search, &micros, err);

	if (code != LT_OK)
		return code;
	if (strlen(search->currency) >= sizeof(points->currency))
		return lt_fail(err, LT_EINPUT, "currency %.20s: want 3 letters", search->currency);
	strcpy(points->currency, search->currency);
	points->note[0] = '\0';
	if (search->refused > 0)
		lt_note_add(points, "%d matching SKUs were refused: %s", search->refused,
		    search->refusal.text);
	return lt_price_list_point(points,
	    &(struct lt_list_price){.micros = (double)micros,
		.quality = LT_QUALITY_MEASURED,
		.now_utc_s = search->now_utc_s,
		.interval_s = INTERVAL_S},
	    err);
}

/* One page's SKUs into the search. token: of the next page, "" = the last. */
static int
add_page(struct search *search, const char *bytes, size_t byte_count, char token[TOKEN_SIZE],
    struct lt_error *err)
{
	json_t *json = NULL;
	const json_t *sku;
	const char *next;
	size_t i;
	int code = lt_json_load(&json, bytes, byte_count, err);

	if (code != LT_OK)
		return code;
	const json_t *const skus = json_object_get(json, "skus");
	json_array_foreach(skus, i, sku)
		add_sku(search, sku);
	next = json_string_value(json_object_get(json, "nextPageToken"));
	token[0] = '\0';
	if (next != NULL && strlen(next) >= TOKEN_SIZE)
		code = lt_fail(err, LT_ELIMIT, "nextPageToken of %zu bytes, limit %d", strlen(next),
		    TOKEN_SIZE - 1);
	else if (!json_is_array(skus) && (next == NULL || next[0] == '\0'))
		code = lt_fail(err, LT_EINPUT, "JSON without \"skus\"");
	else if (next != NULL)
		strcpy(token, next);
	json_decref(json);
	return code;
}

static int
gcp_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct search search;
	char token[TOKEN_SIZE];
	int code = search_init(&search, options, answer->now_utc_s, err);

	if (code == LT_OK)
		code = add_page(&search, answer->bytes, answer->byte_count, token, err);
	if (code == LT_OK)
		code = make_points(&search, points, err);
	return lt_error_mend(err, code);
}

/* ---- pages ---- */

static int
make_url(char out[LT_URL_SIZE], const struct lt_source_options *options, const char *token,
    struct lt_error *err)
{
	char size[16];
	int code = lt_url_start(out, lt_source_option(options, "url", BASE_URL), PATH, err);

	snprintf(size, sizeof(size), "%d", PAGE_SIZE);
	const struct lt_query query[] = {{"pageSize", size},
	    {"currencyCode", gcp_currency(options)}, {"fields", FIELDS}, {"prettyPrint", "false"},
	    {"pageToken", token}, {NULL, NULL}};

	return code == LT_OK ? lt_url_query(out, query, err) : code;
}

static int
fetch_page(struct lt_web *web, const char *secret, char token[TOKEN_SIZE], struct search *search,
    struct lt_error *err)
{
	char url[LT_URL_SIZE];
	const struct lt_web_request request = {
	    .url = url,
	    .secret_query = secret,
	    .headers = {"Accept: application/json"},
	    .error_text = lt_json_error_text,
	};
	struct lt_http_response response = {0};
	struct lt_error inner = {0};
	int code = make_url(url, web->options, token, &inner);

	if (code == LT_OK)
		code = lt_web_do(web, &request, &response, &inner);
	if (code == LT_OK) {
		code = add_page(search, response.body, response.body_length, token, &inner);
		if (code != LT_OK)
			lt_web_refuse(url, &inner);
	}
	lt_http_free(&response);
	return lt_error_give(err, code, &inner);
}

/* Page by page, so that only one is in memory. */
static int
fetch_pages(struct lt_web *web, const char *secret, struct search *search, struct lt_error *err)
{
	char token[TOKEN_SIZE] = "";

	for (int page = 0; page < PAGES_MAX; page++) {
		const int code = fetch_page(web, secret, token, search, err);

		if (code != LT_OK || token[0] == '\0')
			return code;
	}
	return lt_fail(
	    err, LT_ELIMIT, "%s: more than %d pages of SKUs", web->options->name, PAGES_MAX);
}

static int
gcp_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct search search;
	char secret[LT_SECRET_SIZE] = "";
	struct lt_web web;
	int code;

	/* A past price would need a request a month. */
	lt_web_start(&web, options, points);
	points->quantity = LT_QUANTITY_PRICE;
	code = search_init(&search, options, window->now_utc_s, err);
	if (code == LT_OK)
		code = lt_web_secret_query(secret, options, "key", "key", err);
	if (code == LT_OK)
		code = fetch_pages(&web, secret, &search, err);
	explicit_bzero(secret, sizeof(secret));
	if (code == LT_OK)
		code = make_points(&search, points, err);
	return lt_error_mend(err, code);
}

const struct lt_adapter lt_adapter_gcp_billing_sku = {
    .name = "gcp_billing_sku",
    .usage = "Google Cloud's price list, by vCPU, GiB and GPU",
    .options = gcp_options,
    .choices = lt_price_list_choices,
    .interval_s = INTERVAL_S,
    .gives = LT_QUANTITY_PRICE,
    .currency = gcp_currency,
    .check = gcp_check,
    .fetch = gcp_fetch,
    .parse = gcp_parse,
};
