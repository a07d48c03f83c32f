/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Google Cloud's public price list (Cloud Billing Catalog API): a machine is
 * the sum of its core, memory and GPU SKUs. docs/sources/gcp_billing_sku.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "price_list.h"
#include "gcp_sku.h"
#include "units.h"
#include "web.h"

enum {
	/* 450 to 2,200 bytes a SKU, as `fields` counts or not: at most 6.6 MB,
	 * below LT_JSON_BYTES_MAX. 30,000 SKUs are 10 pages. */
	PAGE_SIZE = 3000,
	PAGES_MAX = 40,	  /* more: refused */
	TOKEN_SIZE = 512, /* of the next page; longer: refused */
	INTERVAL_S = LT_DAY_S,
};

#define BASE_URL "https://cloudbilling.googleapis.com"
/* Compute Engine */
#define PATH "v1/services/6F81-5844-456A/skus"
#define FIELDS                                                                 \
	"nextPageToken,skus(description,category/usageType,serviceRegions,"    \
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
name_check(const struct lt_source_options *options, const char *key,
    struct lt_error *err)
{
	const char *const name = lt_source_option(options, key, "-");

	return name[0] != '\0' && strlen(name) <= LT_GCP_NAME_MAX
		   ? LT_OK
		   : lt_option_fail(options, key, err,
			 "%s: %s: got \"%s\", want 1 to %d bytes",
			 options->name, key, name, LT_GCP_NAME_MAX);
}

/* A name without its amount, or an amount without its name. */
static int
pair_check(const struct lt_source_options *options, const char *name,
    const char *amount, struct lt_error *err)
{
	int64_t milli;

	if (lt_price_list_milli(options, amount, &milli, err) != LT_OK)
		return LT_EINPUT;
	if ((lt_source_option(options, name, NULL) != NULL) == (milli > 0))
		return LT_OK;
	return lt_option_fail(options, milli > 0 ? amount : name, err,
	    "%s: want %s together with %s above 0", options->name, name,
	    amount);
}

static int
gcp_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct lt_points money = {.quantity = LT_QUANTITY_PRICE};
	static const char *const names[] = {"region", "cpu_family", "gpu"};
	static const char *const pairs[][2] = {{"cpu_family", "vcpus"},
	    {"cpu_family", "memory_gib"}, {"gpu", "gpus"}};
	int code = LT_OK;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (code == LT_OK)
			code = name_check(options, names[i], err);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (code == LT_OK)
			code =
			    pair_check(options, pairs[i][0], pairs[i][1], err);
	if (code == LT_OK &&
	    lt_source_option(options, "cpu_family", NULL) == NULL &&
	    lt_source_option(options, "gpu", NULL) == NULL)
		code = lt_fail(err, LT_EINPUT,
		    "%s: want cpu_family, gpu, or both", options->name);
	if (code == LT_OK)
		code = lt_price_list_capacity_check(options, err);
	if (code == LT_OK)
		code = lt_currency_option(&money, options, err);
	if (code == LT_OK)
		code = lt_secret_check(options, "key", true, err);
	return code == LT_OK ? lt_url_check(options, "url", err) : code;
}

/* ---- the sum ---- */

static int
search_init(struct lt_gcp_search *search,
    const struct lt_source_options *options, int64_t now_utc_s,
    struct lt_error *err)
{
	static const char *const amounts[LT_GCP_PART_COUNT] = {
	    [LT_GCP_CORE] = "vcpus",
	    [LT_GCP_RAM] = "memory_gib",
	    [LT_GCP_GPU] = "gpus",
	};

	*search = (struct lt_gcp_search){
	    .region = lt_source_option(options, "region", ""),
	    .currency = gcp_currency(options),
	    .is_spot = lt_price_list_is_spot(options),
	    .now_utc_s = now_utc_s,
	};
	for (int i = 0; i < LT_GCP_PART_COUNT; i++) {
		const int code = lt_price_list_milli(
		    options, amounts[i], &search->parts[i].milli, err);

		if (code != LT_OK)
			return code;
		search->parts[i].name = lt_source_option(
		    options, i == LT_GCP_GPU ? "gpu" : "cpu_family", "");
	}
	return LT_OK;
}

static int
finish(const struct lt_gcp_search *search, struct lt_points *points,
    struct lt_error *err)
{
	int64_t micros;
	const int code = lt_gcp_sum(search, &micros, err);

	if (code != LT_OK)
		return code;
	if (strlen(search->currency) >= sizeof(points->currency))
		return lt_fail(err, LT_EINPUT, "currency %.20s: want 3 letters",
		    search->currency);
	strcpy(points->currency, search->currency);
	points->note[0] = '\0';
	if (search->refused > 0)
		lt_note_add(points, "%d matching SKUs were refused: %s",
		    search->refused, search->refusal.text);
	return lt_price_list_point(points,
	    &(struct lt_list_price){.micros = (double)micros,
		.quality = LT_QUALITY_MEASURED,
		.now_utc_s = search->now_utc_s,
		.interval_s = INTERVAL_S},
	    err);
}

/* One page's SKUs into the search. token: of the next page, "" = the last. */
static int
add_page(struct lt_gcp_search *search, const char *bytes, size_t byte_count,
    char token[TOKEN_SIZE], struct lt_error *err)
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
		lt_gcp_add(search, sku);
	next = json_string_value(json_object_get(json, "nextPageToken"));
	token[0] = '\0';
	if (next != NULL && strlen(next) >= TOKEN_SIZE)
		code = lt_fail(err, LT_ELIMIT,
		    "nextPageToken of %zu bytes, limit %d", strlen(next),
		    TOKEN_SIZE - 1);
	else if (!json_is_array(skus) && (next == NULL || next[0] == '\0'))
		code = lt_fail(err, LT_EINPUT, "JSON without \"skus\"");
	else if (next != NULL)
		strcpy(token, next);
	json_decref(json);
	return code;
}

static int
gcp_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_gcp_search search;
	char token[TOKEN_SIZE];
	int code = search_init(&search, options, answer->now_utc_s, err);

	if (code == LT_OK)
		code = add_page(
		    &search, answer->bytes, answer->byte_count, token, err);
	if (code == LT_OK)
		code = finish(&search, points, err);
	return lt_error_mend(err, code);
}

/* ---- pages ---- */

static int
make_url(char out[LT_URL_SIZE], const struct lt_source_options *options,
    const char *token, struct lt_error *err)
{
	char size[16];
	int code = lt_url_start(
	    out, lt_source_option(options, "url", BASE_URL), PATH, err);

	snprintf(size, sizeof(size), "%d", PAGE_SIZE);
	const char *const query[][2] = {{"pageSize", size},
	    {"currencyCode", gcp_currency(options)}, {"fields", FIELDS},
	    {"prettyPrint", "false"}, {"pageToken", token}};
	for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++)
		if (code == LT_OK && query[i][1][0] != '\0')
			code = lt_url_add(out, query[i][0], query[i][1], err);
	return code;
}

static int
fetch_page(struct lt_web *web, const char *secret, char token[TOKEN_SIZE],
    struct lt_gcp_search *search, struct lt_error *err)
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
		code = add_page(
		    search, response.body, response.body_length, token, &inner);
		if (code != LT_OK)
			lt_web_refuse(url, &inner);
	}
	lt_http_free(&response);
	return lt_error_give(err, code, &inner);
}

/* Page by page, so that only one is in memory. */
static int
fetch_pages(struct lt_web *web, const char *secret,
    struct lt_gcp_search *search, struct lt_error *err)
{
	char token[TOKEN_SIZE] = "";

	for (int page = 0; page < PAGES_MAX; page++) {
		const int code = fetch_page(web, secret, token, search, err);

		if (code != LT_OK || token[0] == '\0')
			return code;
	}
	return lt_fail(err, LT_ELIMIT, "%s: more than %d pages of SKUs",
	    web->options->name, PAGES_MAX);
}

static int
gcp_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_gcp_search search;
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
		code = finish(&search, points, err);
	return lt_error_mend(err, code);
}

const struct lt_adapter lt_adapter_gcp_billing_sku = {
    .name = "gcp_billing_sku",
    .usage = "Google Cloud's price list, by vCPU, GiB and GPU",
    .options = gcp_options,
    .interval_s = INTERVAL_S,
    .gives = LT_QUANTITY_PRICE,
    .currency = gcp_currency,
    .check = gcp_check,
    .fetch = gcp_fetch,
    .parse = gcp_parse,
};
