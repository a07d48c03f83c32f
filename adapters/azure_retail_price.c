/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Azure's price list (Retail Prices API; no key): what a VM costs an hour, spot or on demand.
 * docs/sources/azure_retail_price.md.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "azure.h"
#include "prices.h"
#include "units.h"
#include "web.h"

#define PRICES_URL "https://prices.azure.com"

enum {
	INTERVAL_S = 6 * 3600, /* of a list that changes at most daily */
	PAGES_MAX = 8,	       /* one SKU of one region has a dozen rows: one page */
	ORIGIN_SIZE = 300,
};

/* As the points' own bound: more is no price of an hour. */
static const double price_max = 1e9;

static const struct lt_adapter_option price_options[] = {
    {"region", true, "armRegionName, as westeurope", NULL},
    {"sku", true, "armSkuName in its case, as Standard_NC4as_T4_v3", NULL},
    {"capacity", false, "spot or on_demand", "spot"},
    {"os", false, "linux or windows", "linux"},
    {"currency", false, "ISO 4217 code to ask the prices in", "USD"},
    {"url", false, "base URL of a mirror", PRICES_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const char *
price_currency(const struct lt_source_options *options)
{
	return lt_source_option(options, "currency", "USD");
}

static bool
is_windows(const struct lt_source_options *options)
{
	return strcmp(lt_source_option(options, "os", "linux"), "windows") == 0;
}

static const struct lt_option_choice price_choices[] = {
    {"capacity", {"spot", "on_demand"}, "spot or on_demand"},
    {"os", {"linux", "windows"}, "linux or windows"},
    {NULL, {NULL}, NULL},
};

static int
price_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct lt_points money = {.quantity = LT_QUANTITY_PRICE};
	int code = lt_azure_check(options, err);

	if (code == LT_OK)
		code = lt_currency_option(&money, options, err);
	return code;
}

/* ---- rows ---- */

struct price {
	double units; /* of the currency, per hour */
	int64_t since_utc_s;
	bool primary; /* the region's main meter */
};

struct tally { /* of all pages */
	int64_t now_utc_s;
	int rows, refused;
	bool found, doubtful; /* two prices of one date */
	struct price best;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

/* A row that is right, but for another use of the same machine. */
static bool
is_other_use(const struct lt_source_options *options, const json_t *row)
{
	const char *const product = lt_azure_text(row, "productName");
	const char *const sku = lt_azure_text(row, "skuName");
	const char *const meter = lt_azure_text(row, "meterName");
	const bool spot = strstr(sku, "Spot") != NULL || strstr(meter, "Spot") != NULL;
	/* The predecessor of spot, at a fixed discount. */
	const bool low =
	    strstr(sku, "Low Priority") != NULL || strstr(meter, "Low Priority") != NULL;

	/* "... Series Windows", "NCCadsv5 Srs Win"; "... Cloud Services", "CloudServices". */
	return low || spot != lt_price_list_is_spot(options) ||
	       strcmp(lt_azure_text(row, "type"), "Consumption") != 0 ||
	       strstr(product, "Cloud Services") != NULL ||
	       strstr(product, "CloudServices") != NULL ||
	       (strstr(product, " Win") != NULL) != is_windows(options);
}

static int
want(const json_t *row, const char *key, const char *wanted, struct lt_error *err)
{
	const char *const text = lt_azure_text(row, key);

	return strcmp(text, wanted) == 0
		   ? LT_OK
		   : lt_fail(err, LT_EINPUT, "%s: got \"%.40s\", want \"%s\"", key, text, wanted);
}

static int
read_row(const struct lt_source_options *options, const json_t *row, int64_t now_utc_s,
    struct price *price, struct lt_error *err)
{
	const char *const region = lt_azure_text(row, "armRegionName");
	const char *const sku = lt_azure_text(row, "armSkuName");
	struct lt_error date_err = {0};
	int64_t end_utc_s;
	double tier = 0;
	int code;

	if (!lt_azure_is_asked(options, region, sku))
		return lt_fail(err, LT_EINPUT, "a price of %.60s in %.60s, which nobody asked for",
		    sku[0] == '\0' ? "no SKU" : sku, region[0] == '\0' ? "no region" : region);
	code = want(row, "unitOfMeasure", "1 Hour", err);
	if (code == LT_OK)
		code = want(row, "currencyCode", price_currency(options), err);
	if (code != LT_OK)
		return code;
	if (!lt_json_number(json_object_get(row, "unitPrice"), &price->units) ||
	    !(price->units > 0 && price->units <= price_max))
		return lt_fail(err, LT_EINPUT, "unitPrice: want a number of more than 0");
	if (lt_json_number(json_object_get(row, "tierMinimumUnits"), &tier) && tier != 0)
		return lt_fail(err, LT_EINPUT, "the price of a tier from %g hours", tier);
	if (lt_utc_parse(
		lt_azure_text(row, "effectiveStartDate"), &price->since_utc_s, &date_err) != LT_OK)
		return lt_fail(err, LT_EINPUT, "effectiveStartDate: %s", date_err.text);
	if (price->since_utc_s > now_utc_s)
		return lt_fail(err, LT_EINPUT, "a price of a time to come");
	if (lt_utc_parse(lt_azure_text(row, "effectiveEndDate"), &end_utc_s, NULL) == LT_OK &&
	    end_utc_s <= now_utc_s)
		return lt_fail(err, LT_EINPUT, "a price of a time that is over");
	price->primary = json_is_true(json_object_get(row, "isPrimaryMeterRegion"));
	return LT_OK;
}

/* The primary meter comes first, then the newest. */
static int
compare_prices(const struct price *left, const struct price *right)
{
	if (left->primary != right->primary)
		return left->primary ? 1 : -1;
	return (left->since_utc_s > right->since_utc_s) - (left->since_utc_s < right->since_utc_s);
}

/* Where nothing else tells two apart, the dearer counts. */
static void
keep_better(struct tally *tally, const struct price *price)
{
	const int order = tally->found ? compare_prices(price, &tally->best) : 1;

	if (order > 0)
		tally->doubtful = false;
	else if (order == 0 && price->units != tally->best.units)
		tally->doubtful = true;
	if (order > 0 || (order == 0 && price->units > tally->best.units))
		tally->best = *price;
	tally->found = true;
}

static int
read_page(const struct lt_source_options *options, const json_t *json, struct tally *tally,
    struct lt_error *err)
{
	const json_t *const rows = json_object_get(json, "Items");
	const json_t *row;
	size_t i;
	const int code = lt_azure_refusal(json, err);

	if (code != LT_OK)
		return code;
	if (!json_is_array(rows))
		return lt_fail(err, LT_EINPUT, "JSON without \"Items\"");
	if (json_array_size(rows) > 0 &&
	    want(json, "BillingCurrency", price_currency(options), err) != LT_OK)
		return LT_EINPUT;
	json_array_foreach(rows, i, row) {
		struct price price;

		tally->rows++;
		if (is_other_use(options, row))
			continue;
		if (read_row(options, row, tally->now_utc_s, &price, &tally->refusal) == LT_OK)
			keep_better(tally, &price);
		else
			tally->refused++;
	}
	return LT_OK;
}

static int
no_price(const struct lt_source_options *options, const struct tally *tally, struct lt_error *err)
{
	const char *why =
	    "no row: letters' case counts in sku, and not every region and currency has every sku";

	if (tally->refused > 0)
		why = tally->refusal.text;
	else if (tally->rows > 0)
		why = "all rows are for another capacity or os";
	return lt_fail(err, LT_EINPUT, "no price of %s (%s, %s, %s) in %s: %s",
	    lt_source_option(options, "sku", ""), lt_source_option(options, "capacity", "spot"),
	    lt_source_option(options, "os", "linux"), price_currency(options),
	    lt_source_option(options, "region", ""), why);
}

/* A list price holds from now on, until the next fetch may bring another. */
static int
make_points(const struct lt_source_options *options, const struct tally *tally,
    struct lt_points *points, struct lt_error *err)
{
	const int64_t start_utc_s = tally->now_utc_s - tally->now_utc_s % 3600;
	struct lt_point point = {
	    .start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + 2 * INTERVAL_S,
	    .quality = LT_QUALITY_MEASURED,
	};
	char since[32], unfit[48] = "";

	if (!tally->found)
		return no_price(options, tally, err);
	points->quantity = LT_QUANTITY_PRICE;
	point.value = lt_quantity_from(LT_QUANTITY_PRICE, tally->best.units);
	lt_utc_text(since, sizeof(since), tally->best.since_utc_s);
	if (tally->refused > 0)
		snprintf(
		    unfit, sizeof(unfit), "; %d of %d rows are unfit", tally->refused, tally->rows);
	snprintf(points->note, sizeof(points->note), "list price since %.10s%s%s%s", since,
	    tally->best.primary ? "" : ", not of the primary meter",
	    tally->doubtful ? ", the dearer of several" : "", unfit);
	snprintf(points->currency, sizeof(points->currency), "%s", price_currency(options));
	return lt_points_add(points, &point, err);
}

static int
price_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct tally tally = {.now_utc_s = answer->now_utc_s};
	json_t *json;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code != LT_OK)
		return lt_error_mend(err, code);
	code = read_page(options, json, &tally, err);
	json_decref(json);
	if (code == LT_OK)
		code = make_points(options, &tally, points, err);
	return lt_error_mend(err, code);
}

/* ---- requests ---- */

/* No `or`, `not` and contains(): the API takes few of them, and one answer serves spot and
 * on-demand sources alike. The currency is no part of the filter: there it would silently match
 * nothing. */
static int
first_url(char out[LT_URL_SIZE], const struct lt_source_options *options, struct lt_error *err)
{
	char region[LT_AZURE_NAME_MAX + 1], filter[512], escaped[1024], path[LT_URL_SIZE];

	lt_azure_region(region, options);
	snprintf(filter, sizeof(filter),
	    "serviceName eq 'Virtual Machines' and priceType eq 'Consumption' and armRegionName eq '%s' and armSkuName eq '%s'",
	    region, lt_source_option(options, "sku", ""));
	if (lt_url_escape(escaped, sizeof(escaped), filter, err) != LT_OK)
		return LT_ELIMIT;
	snprintf(path, sizeof(path),
	    "api/retail/prices?api-version=2023-01-01-preview&currencyCode=%%27%s%%27&$filter=%s",
	    price_currency(options), escaped);
	return lt_url_start(out, lt_source_option(options, "url", PRICES_URL), path, err);
}

/* "https://host:443", "" for what is no plain URL: Azure's links name the port, and none of
 * ours. */
static void
origin_of(char out[ORIGIN_SIZE], const char *url)
{
	const bool tls = strncasecmp(url, "https://", 8) == 0;
	const char *const host = url + (tls ? 8 : 7);

	out[0] = '\0';
	if ((!tls && strncasecmp(url, "http://", 7) != 0) || strpbrk(url, "\\@") != NULL)
		return;
	for (const char *at = url; *at != '\0'; at++)
		if (*at <= ' ' || *at >= 0x7f)
			return;
	const int length = (int)strcspn(host, "/?#");
	const char *const port =
	    strstr(host, "]") == NULL ? memchr(host, ':', (size_t)length) : NULL;
	const bool usual = port == NULL;
	if (length > ORIGIN_SIZE - 20)
		return;
	snprintf(out, ORIGIN_SIZE, "%s://%.*s%s", tls ? "https" : "http", length, host,
	    !usual ? ""
	    : tls  ? ":443"
		   : ":80");
}

/* Where the next page is, as it came, but on the same host only; "" = this
 * was the last. */
static int
next_url(char url[LT_URL_SIZE], const json_t *json, struct lt_error *err)
{
	const char *const link = lt_azure_text(json, "NextPageLink");
	char here[ORIGIN_SIZE], there[ORIGIN_SIZE];

	origin_of(here, url);
	origin_of(there, link);
	if (link[0] != '\0' && strcasecmp(here, there) != 0)
		return lt_fail(err, LT_EINPUT, "NextPageLink leads to %.100s, want %.100s",
		    there[0] == '\0' ? "no plain URL" : there, here);
	if (strlen(link) >= LT_URL_SIZE)
		return lt_fail(err, LT_ELIMIT, "NextPageLink: %zu bytes, limit %d", strlen(link),
		    LT_URL_SIZE - 1);
	strcpy(url, link);
	return LT_OK;
}

/* One page; then url is the next one's. */
static int
request(struct lt_web *web, char url[LT_URL_SIZE], struct tally *tally, struct lt_error *err)
{
	const struct lt_web_request request = {
	    .url = url,
	    .headers = {"Accept: application/json"},
	    .error_text = lt_azure_error_text,
	};
	struct lt_http_response response;
	json_t *json = NULL;
	int code = lt_web_do(web, &request, &response, err);

	if (code == LT_OK) {
		code = lt_json_load(&json, response.body, response.body_length, err);
		if (code == LT_OK)
			code = read_page(web->options, json, tally, err);
		if (code == LT_OK)
			code = next_url(url, json, err);
		if (code != LT_OK)
			lt_web_refuse(url, err);
	}
	json_decref(json);
	lt_http_free(&response);
	return code;
}

static int
price_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct tally tally = {.now_utc_s = window->now_utc_s};
	struct lt_error inner = {0};
	char first[LT_URL_SIZE], url[LT_URL_SIZE];
	struct lt_web web;
	int code = first_url(first, options, &inner);

	/* A list has no past and no forecast. */
	lt_web_start(&web, options, points);
	strcpy(url, code == LT_OK ? first : "");
	for (int page = 0; code == LT_OK && url[0] != '\0'; page++)
		code = page < PAGES_MAX ? request(&web, url, &tally, &inner)
					: lt_fail(&inner, LT_ELIMIT,
					      "more than %d pages for one sku", PAGES_MAX);
	if (code == LT_OK) {
		code = make_points(options, &tally, points, &inner);
		if (code != LT_OK)
			lt_web_refuse(first, &inner);
	}
	return lt_error_give(err, code, &inner);
}

const struct lt_adapter lt_adapter_azure_retail_price = {
    .name = "azure_retail_price",
    .usage = "Azure's price list: a VM's hour, spot or on demand; no key",
    .options = price_options,
    .choices = price_choices,
    .interval_s = INTERVAL_S,
    .gives = LT_QUANTITY_PRICE,
    .currency = price_currency,
    .check = price_check,
    .fetch = price_fetch,
    .parse = price_parse,
};
