/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Oracle Cloud's public price list (no key): a node by the part numbers of its OCPUs, memory and
 * GPUs. docs/sources/oci_price_list.md.
 *
 * Missing: a part that is not in the list, or not in the currency. A price of 0 is that of a free
 * tier or a free offer, and no node's.
 */
#include <stdio.h>
#include <string.h>

#include "json_source.h"
#include "lookup.h"
#include "prices.h"
#include "source.h"
#include "units.h"

enum { INTERVAL_S = 6 * LT_HOUR_S, PART_SIZE = 16 };

#define MODEL "PAY_AS_YOU_GO"

static const struct lt_adapter_option oci_options[] = {
    {"ocpu_part", false, "part number of its OCPUs, as B93113", NULL},
    {"ocpus", false, "of a node", "0"},
    {"memory_part", false, "part number of its memory, as B93114", NULL},
    {"memory_gb", false, "of a node", "0"},
    {"gpu_part", false, "part number of its GPUs, as B95907", NULL},
    {"gpus", false, "of a node", "0"},
    {"currency", false, "of the list", "USD"},
    {"url", false, "base URL of a mirror", "https://apexapps.oracle.com"},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

enum { OCPU, MEMORY, GPU, PART_COUNT };

static const struct {
	const char *part, *amount, *metric;
} kinds[PART_COUNT] = {
    [OCPU] = {"ocpu_part", "ocpus", "OCPU Per Hour"},
    [MEMORY] = {"memory_part", "memory_gb", "Gigabyte Per Hour"},
    [GPU] = {"gpu_part", "gpus", "GPU Per Hour"},
};

struct node {			       /* what the options say, and what the list has for it */
	const char *parts[PART_COUNT]; /* NULL = none of these */
	int64_t milli[PART_COUNT];
	double price[PART_COUNT];	       /* of one; 0 = not found */
	struct lt_points points;	       /* its currency */
	char others[LT_PRICE_LIST_NAMES_SIZE]; /* GPUs and machines */
	char note[LT_POINTS_NOTE_SIZE];
};

static const char *
oci_currency(const struct lt_source_options *options)
{
	return lt_source_option(options, "currency", "USD");
}

static bool
is_part(const char *text)
{
	const size_t length = strlen(text);

	return length > 1 && length < PART_SIZE &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == length;
}

static int
read_kind(
    const struct lt_source_options *options, int kind, struct node *node, struct lt_error *err)
{
	const char *const part = lt_source_option(options, LT_ROW(kinds, kind).part, NULL);
	const int code =
	    lt_price_list_milli(options, LT_ROW(kinds, kind).amount, &node->milli[kind], err);

	node->parts[kind] = part;
	if (code != LT_OK)
		return code;
	if (part != NULL && !is_part(part))
		return lt_option_fail(options, LT_ROW(kinds, kind).part, err,
		    "%s: %s: got \"%.40s\", want a part number such as B93113", options->name,
		    LT_ROW(kinds, kind).part, part);
	if (part != NULL && node->milli[kind] == 0)
		return lt_option_fail(options, LT_ROW(kinds, kind).part, err,
		    "%s: %s without %s: want both", options->name, LT_ROW(kinds, kind).part,
		    LT_ROW(kinds, kind).amount);
	if (part == NULL && node->milli[kind] > 0)
		return lt_option_fail(options, LT_ROW(kinds, kind).amount, err,
		    "%s: %s without %s: want both", options->name, LT_ROW(kinds, kind).amount,
		    LT_ROW(kinds, kind).part);
	return LT_OK;
}

static int
read_node(const struct lt_source_options *options, struct node *node, struct lt_error *err)
{
	bool is_any = false;
	int code = LT_OK;

	node->points.quantity = LT_QUANTITY_PRICE;
	strcpy(node->points.currency, "USD");
	for (int i = 0; i < PART_COUNT && code == LT_OK; i++) {
		code = read_kind(options, i, node, err);
		is_any |= node->parts[i] != NULL;
	}
	if (code == LT_OK && !is_any)
		code = lt_fail(err, LT_EINPUT, "%s: want ocpu_part and ocpus, or gpu_part and gpus",
		    options->name);
	return code == LT_OK ? lt_currency_option(&node->points, options, err) : code;
}

static int
oci_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct node node = {0};

	return read_node(options, &node, err);
}

/* ---- the list ---- */

static const char *
text_of(const json_t *object, const char *key)
{
	const char *const text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

/* Highest of a part's prices by amount: the lowest is of a free tier, which the tenancy may have
 * used up; they come in any order. 0 = none. */
static double
price_of(const json_t *item, const char *currency, double *low)
{
	const json_t *place, *one;
	double high = 0, value;
	size_t i, j;

	*low = -1;
	json_array_foreach(json_object_get(item, "currencyCodeLocalizations"), i, place) {
		if (strcmp(text_of(place, "currencyCode"), currency) != 0)
			continue;
		json_array_foreach(json_object_get(place, "prices"), j, one) {
			if (strcmp(text_of(one, "model"), MODEL) != 0 ||
			    !lt_json_number(json_object_get(one, "value"), &value))
				continue;
			if (value > high)
				high = value;
			if (*low < 0 || value < *low)
				*low = value;
		}
	}
	return high;
}

static int
add_item(const json_t *item, struct node *node, struct lt_error *err)
{
	const char *const part = text_of(item, "partNumber");
	const char *const currency = node->points.currency;
	double low;

	if (strncmp(text_of(item, "serviceCategory"), "Compute - ", 10) == 0)
		lt_price_list_name(node->others, part);
	for (int i = 0; i < PART_COUNT; i++) {
		if (node->parts[i] == NULL || strcmp(part, node->parts[i]) != 0)
			continue;
		if (strcmp(text_of(item, "metricName"), kinds[i].metric) != 0)
			return lt_fail(err, LT_EINPUT,
			    "%s %s is \"%.60s\" by \"%.40s\", want one by \"%s\"", kinds[i].part,
			    part, text_of(item, "displayName"), text_of(item, "metricName"),
			    kinds[i].metric);
		const double price = price_of(item, currency, &low);

		if (price <= 0)
			return lt_fail(err, LT_EINPUT, "%s %s has no price in %s above 0",
			    kinds[i].part, part, currency);
		if (low < price)
			snprintf(node->note, sizeof(node->note),
			    "%s costs %g to %g %s by amount, the highest counts", part, low, price,
			    currency);
		if (price > node->price[i])
			node->price[i] = price;
	}
	return LT_OK;
}

static int
sum_parts(const struct node *node, double *micros, struct lt_error *err)
{
	*micros = 0;
	for (int i = 0; i < PART_COUNT; i++) {
		if (node->parts[i] == NULL)
			continue;
		if (node->price[i] <= 0)
			return lt_fail(err, LT_EINPUT, "no %s %s in the list%s%s", kinds[i].part,
			    node->parts[i], node->others[0] == '\0' ? "" : "; it has ",
			    node->others);
		*micros += node->price[i] * (double)node->milli[i] * (LT_MICROS / 1000);
	}
	return LT_OK;
}

static int
read_list(const struct lt_source_options *options, const json_t *json, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	const json_t *const items = json_object_get(json, "items");
	struct node node = {0};
	double micros;
	const json_t *item;
	size_t i;
	int code = read_node(options, &node, err);

	if (code != LT_OK)
		return code;
	if (!json_is_array(items))
		return lt_fail(err, LT_EINPUT, "JSON without \"items\"");
	json_array_foreach(items, i, item) {
		code = add_item(item, &node, err);
		if (code != LT_OK)
			return code;
	}
	code = sum_parts(&node, &micros, err);
	if (code != LT_OK)
		return code;
	memcpy(points->note, node.note, sizeof(points->note));
	memcpy(points->currency, node.points.currency, sizeof(points->currency));
	return lt_price_list_point(points,
	    &(struct lt_list_price){.micros = micros,
		.quality = LT_QUALITY_MEASURED,
		.now_utc_s = now_utc_s,
		.interval_s = INTERVAL_S},
	    err);
}

const struct lt_adapter lt_adapter_oci_price_list = {
    .name = "oci_price_list",
    .usage = "Oracle Cloud's price list, by part numbers; no key",
    .options = oci_options,
    .interval_s = INTERVAL_S,
    .gives = LT_QUANTITY_PRICE,
    .currency = oci_currency,
    .check = oci_check,
    .json =
	&(const struct lt_json_source){
	    .all = {.path = "pls/apex/cetools/api/v1/products/",
		.query = {{"currencyCode", "<currency>"}}},
	    .read = read_list,
	},
};
