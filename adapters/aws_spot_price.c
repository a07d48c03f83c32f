/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spot prices of EC2 (DescribeSpotPriceHistory): records of changes, newest first, become a step
 * function. docs/sources/aws_spot_price.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws.h"
#include "grow.h"
#include "source.h"
#include "units.h"

enum {
	INTERVAL_S = 900,
	PAST_MAX_S = 90 * LT_DAY_S, /* what AWS keeps: earlier, cut */
	PAGES_MAX = 100,	    /* of 1,000 records: more, refused */
	CHANGES_MAX = 131072,	    /* 3 MiB: more, refused */
	ZONES_MAX = 64,		    /* of a region: more, refused */
	ZONE_SIZE = 64,
	FORM_SIZE = 1024,
};

/* A million an hour: more, refused. */
#define MICROS_MAX ((int64_t)LT_MICROS * LT_MICROS)

static const struct lt_adapter_option price_options[] = {
    {"region", true, "as eu-west-2", NULL},
    {"instance_type", true, "as g5.xlarge", NULL},
    {"zone_id", false, "availability zone by id, as euw2-az1", NULL},
    {"zone", false, "by name, as eu-west-2a; any = the dearest zone", NULL},
    {"product", false, "as AWS names it", "Linux/UNIX"},
    LT_AWS_LOGIN_OPTIONS,
    {"url", false, "base URL of another endpoint", "https://ec2.REGION.amazonaws.com"},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

/* From then on the price holds. */
struct change {
	int64_t utc_s;
	int64_t micros; /* 0 = it is not known */
	int zone;	/* index */
};

struct prices { /* of all pages of one fetch */
	const struct lt_source_options *options;
	const char *type, *product, *zone, *zone_id;
	/* History is told from then on; later than asked for where older records did not come. */
	int64_t from_utc_s;
	int64_t end_utc_s; /* the newest price is said to hold until then */
	char note[LT_POINTS_NOTE_SIZE];
	struct change *changes;
	size_t count, capacity;
	char zones[ZONES_MAX][ZONE_SIZE];
	int zone_count;
	int records, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

/* China's regions have another endpoint, and are refused. */
static const char *
price_currency(const struct lt_source_options *options)
{
	(void)options;
	return "USD";
}

static bool
is_any(const char *zone)
{
	return zone != NULL && strcmp(zone, "any") == 0;
}

static int
zone_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const region = lt_source_option(options, "region", "");
	const char *const id = lt_source_option(options, "zone_id", NULL);
	const char *const name = lt_source_option(options, "zone", NULL);

	if ((id == NULL) == (name == NULL))
		return lt_option_fail(options, "zone", err,
		    "%s: want one of zone_id (such as euw2-az1) and zone (a name, or any)",
		    options->name);
	if (id != NULL && (!lt_aws_is_name(id) || strncmp(id, region, strlen(region)) == 0))
		return lt_option_fail(options, "zone_id", err,
		    "%s: zone_id: got \"%s\", want an id such as euw2-az1, which is the same in all accounts",
		    options->name, id);
	if (name != NULL && !is_any(name) &&
	    (!lt_aws_is_name(name) || strncmp(name, region, strlen(region)) != 0))
		return lt_option_fail(options, "zone", err,
		    "%s: zone: got \"%s\", want any or a zone of %s, such as %sa", options->name,
		    name, region, region);
	return LT_OK;
}

static const struct lt_option_choice price_choices[] = {
    {"product", {"Linux/UNIX", "Red Hat Enterprise Linux", "SUSE Linux", "Windows"},
	"Linux/UNIX, Red Hat Enterprise Linux, SUSE Linux or Windows"},
    {NULL, {NULL}, NULL},
};

static int
price_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const type = lt_source_option(options, "instance_type", "");
	const char *const region = lt_source_option(options, "region", "");
	int code = lt_aws_region_check(options, err);

	if (code == LT_OK && strncmp(region, "cn-", 3) == 0)
		code = lt_option_fail(options, "region", err,
		    "%s: region: got \"%s\", whose prices are not in USD", options->name, region);
	if (code == LT_OK && !lt_aws_is_name(type))
		code = lt_option_fail(options, "instance_type", err,
		    "%s: instance_type: got \"%s\", want one such as g5.xlarge", options->name,
		    type);
	if (code == LT_OK)
		code = zone_check(options, err);
	if (code == LT_OK)
		code = lt_aws_login_check(options, err);
	return code;
}

static void
prices_start(struct prices *prices, const struct lt_source_options *options, int64_t from_utc_s,
    int64_t now_utc_s)
{
	*prices = (struct prices){.options = options,
	    .type = lt_source_option(options, "instance_type", ""),
	    .product = lt_source_option(options, "product", "Linux/UNIX"),
	    .zone = lt_source_option(options, "zone", NULL),
	    .zone_id = lt_source_option(options, "zone_id", NULL),
	    .from_utc_s = from_utc_s,
	    .end_utc_s = now_utc_s + 2 * INTERVAL_S};
}

/* ---- records ---- */

/* Prices of accounts from before 2013 are also listed as "Linux/UNIX (Amazon VPC)": the same
 * machines. */
static bool
is_product(const struct lt_aws_text *text, const char *product)
{
	static const char vpc[] = " (Amazon VPC)";
	const size_t length = strlen(product);

	return lt_aws_text_is(text, product) ||
	       (text->length == length + strlen(vpc) && memcmp(text->at, product, length) == 0 &&
		   memcmp(text->at + length, vpc, strlen(vpc)) == 0);
}

/* -1 = no room. */
static int
zone_index(struct prices *prices, const struct lt_aws_text *name)
{
	int i = 0;

	while (i < prices->zone_count && !lt_aws_text_is(name, prices->zones[i]))
		i++;
	if (i == ZONES_MAX || name->length >= ZONE_SIZE)
		return -1;
	if (i == prices->zone_count)
		lt_aws_text_copy(prices->zones[prices->zone_count++], ZONE_SIZE, name);
	return i;
}

static int
add_change(struct prices *prices, const struct change *change, struct lt_error *err)
{
	if (prices->count == CHANGES_MAX)
		return lt_fail(err, LT_ELIMIT,
		    "more than %d prices, want fewer: one zone, a shorter time", CHANGES_MAX);
	struct change *const grown =
	    lt_items_grow(prices->changes, &prices->capacity, prices->count, sizeof(*grown));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "%zu prices", prices->count + 1);
	prices->changes = grown;
	prices->changes[prices->count++] = *change;
	return LT_OK;
}

/* A price that can't be one leaves a gap: what held before has ended. */
static void
read_micros(struct prices *prices, const struct lt_aws_text *price, int64_t *micros)
{
	struct lt_error *const err = &prices->refusal;
	char text[64];

	*micros = 0;
	if (!lt_aws_text_copy(text, sizeof(text), price)) {
		lt_fail(err, LT_EINPUT, "a price of many digits");
	} else if (lt_micros_parse(text, micros, err) == LT_OK &&
		   (*micros <= 0 || *micros > MICROS_MAX)) {
		lt_fail(err, LT_EINPUT, "got the price %s, want more than 0 and at most a million",
		    text);
		*micros = 0;
	}
	prices->refused += *micros == 0;
}

static bool
read_time(struct prices *prices, const struct lt_aws_text *time, int64_t *utc_s)
{
	struct lt_error *const err = &prices->refusal;
	char text[64];
	bool good = true;

	if (!lt_aws_text_copy(text, sizeof(text), time)) {
		lt_fail(err, LT_EINPUT, "a price without a time");
		good = false;
	} else if (lt_utc_parse(text, utc_s, err) != LT_OK) {
		good = false;
	} else if (*utc_s >= prices->end_utc_s) {
		lt_fail(err, LT_EINPUT, "a price from %s on, which is yet to come", text);
		good = false;
	}
	prices->refused += !good;
	return good;
}

/* The order of price_items.fields. Records without price or zone are seen on last pages. */
static int
take_price(void *context, const struct lt_aws_text texts[LT_AWS_FIELDS_MAX], struct lt_error *err)
{
	struct prices *const prices = context;
	const struct lt_aws_text *const zone = &texts[4], *const id = &texts[5];
	struct change change;

	prices->records++;
	if (texts[2].length == 0 || zone->length == 0 || !lt_aws_text_is(&texts[0], prices->type) ||
	    !is_product(&texts[1], prices->product))
		return LT_OK;
	if (prices->zone_id != NULL ? id->length > 0 && !lt_aws_text_is(id, prices->zone_id)
				    : !is_any(prices->zone) && !lt_aws_text_is(zone, prices->zone))
		return LT_OK;
	change.zone = zone_index(prices, zone);
	if (change.zone < 0)
		return lt_fail(err, LT_ELIMIT,
		    "more than %d availability zones, or a name of %zu bytes", ZONES_MAX,
		    zone->length);
	if (!read_time(prices, &texts[3], &change.utc_s))
		return LT_OK;
	read_micros(prices, &texts[2], &change.micros);
	return add_change(prices, &change, err);
}

static const struct lt_aws_items price_items = {
    .root = "DescribeSpotPriceHistoryResponse",
    .set = "spotPriceHistorySet",
    .fields = {"instanceType", "productDescription", "spotPrice", "timestamp", "availabilityZone",
	"availabilityZoneId"},
    .take = take_price,
};

/* ---- from changes to steps ---- */

/* Orders by time; if two prices have one time, the dearer comes last, and counts. */
static int
by_time(const void *left, const void *right)
{
	const struct change *const a = left, *const b = right;

	if (a->utc_s != b->utc_s)
		return a->utc_s < b->utc_s ? -1 : 1;
	return (a->micros > b->micros) - (a->micros < b->micros);
}

static int64_t
dearest(const int64_t micros[ZONES_MAX], int zone_count)
{
	int64_t most = 0;

	for (int i = 0; i < zone_count; i++)
		if (micros[i] > most)
			most = micros[i];
	return most;
}

/* held: what holds until then, of no zone. */
static int
add_step(const struct prices *prices, const struct change *held, int64_t end_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	const struct lt_point point = {
	    .start_utc_s = held->utc_s < prices->from_utc_s ? prices->from_utc_s : held->utc_s,
	    .end_utc_s = end_utc_s,
	    .value = (double)held->micros,
	    .quality = LT_QUALITY_MEASURED,
	};

	return held->micros == 0 || end_utc_s <= point.start_utc_s
		   ? LT_OK
		   : lt_points_add(points, &point, err);
}

/* The price of all zones' dearest, from `from` on: changes before it count
 * for what holds then. Also the price of the one zone, where there is one. */
static int
add_steps(struct prices *prices, int64_t to_utc_s, struct lt_points *points, struct lt_error *err)
{
	const int64_t end_utc_s = to_utc_s < prices->end_utc_s ? to_utc_s : prices->end_utc_s;
	int64_t micros[ZONES_MAX] = {0};
	struct change held = {0};
	int code = LT_OK;

	if (prices->count > 0)
		qsort(prices->changes, prices->count, sizeof(struct change), by_time);
	for (size_t i = 0; code == LT_OK && i < prices->count; i++) {
		const struct change *const change = &prices->changes[i];

		micros[change->zone] = change->micros;
		if (i + 1 < prices->count && change[1].utc_s == change->utc_s)
			continue;
		const int64_t most = dearest(micros, prices->zone_count);
		if (most == held.micros || change->utc_s >= end_utc_s)
			continue;
		code = add_step(prices, &held, change->utc_s, points, err);
		held.micros = most;
		held.utc_s = change->utc_s;
	}
	return code == LT_OK ? add_step(prices, &held, end_utc_s, points, err) : code;
}

static int
prices_end(struct prices *prices, int64_t to_utc_s, struct lt_points *points, struct lt_error *err)
{
	int code = LT_OK;

	points->quantity = LT_QUANTITY_PRICE;
	strcpy(points->currency, "USD");
	if (prices->zone_count > 1 && !is_any(prices->zone))
		return lt_fail(err, LT_EINPUT,
		    "prices of %d zones without their ids, want those of %s", prices->zone_count,
		    prices->zone_id);
	if (prices->count > 0)
		code = add_steps(prices, to_utc_s, points, err);
	if (code == LT_OK && points->count == 0)
		return lt_fail(err, LT_EINPUT, "%d prices and no usable one of %s, %s, %s%s%s",
		    prices->records, prices->type, prices->product,
		    prices->zone_id != NULL ? prices->zone_id : prices->zone,
		    prices->refused > 0 ? ": " : "", prices->refusal.text);
	if (code == LT_OK && prices->refused > 0)
		snprintf(points->note, sizeof(points->note),
		    "%d of %d prices can't be used: %.120s", prices->refused, prices->records,
		    prices->refusal.text);
	else if (code == LT_OK && is_any(prices->zone))
		snprintf(points->note, sizeof(points->note), "the dearest of %d zones",
		    prices->zone_count);
	return code;
}

static int
price_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct prices prices;
	struct lt_aws_page page = {.bytes = answer->bytes, .byte_count = answer->byte_count};
	int code;

	prices_start(&prices, options, INT64_MIN, answer->now_utc_s);
	code = lt_aws_items_read(&price_items, &prices, &page, err);
	if (code == LT_OK)
		code = prices_end(&prices, INT64_MAX, points, err);
	free(prices.changes);
	lt_text_mend(points->note);
	return lt_error_mend(err, code);
}

/* ---- requests ---- */

static void
price_error_text(char *out, size_t size, const char *body, size_t length)
{
	lt_aws_error_text(out, size, body, length, "ec2:DescribeSpotPriceHistory");
}

/* "&key=value", the value percent-encoded. */
static void
form_add(char form[FORM_SIZE], const char *key, const char *value)
{
	char text[3 * ZONE_SIZE];
	const size_t length = strlen(form);

	if (lt_url_escape(text, sizeof(text), value, NULL) == LT_OK)
		snprintf(form + length, FORM_SIZE - length, "&%s=%s", key, text);
}

/* All that changed since then, and what held then. */
static int
request(struct lt_web *web, const struct lt_aws_login *login, struct prices *prices,
    int64_t since_utc_s, struct lt_error *err)
{
	char form[FORM_SIZE] = "", since[32];
	const struct lt_aws_action action = {
	    .name = "DescribeSpotPriceHistory",
	    .form = form,
	    .items = &price_items,
	    .context = prices,
	    .pages_max = PAGES_MAX,
	    .error_text = price_error_text,
	};

	lt_utc_text(since, sizeof(since), since_utc_s);
	form_add(form, "InstanceType.1", prices->type);
	form_add(form, "ProductDescription.1", prices->product);
	form_add(form, "StartTime", since);
	if (prices->zone_id != NULL)
		form_add(form, "AvailabilityZoneId", prices->zone_id);
	else if (!is_any(prices->zone))
		form_add(form, "AvailabilityZone", prices->zone);
	form_add(form, "MaxResults", "1000");
	return lt_aws_do(web, login, &action, err);
}

/* The present first: the loss of history must not cost it. */
static int
request_all(struct lt_web *web, struct prices *prices, int64_t now_utc_s, struct lt_error *err)
{
	const int64_t recent_utc_s = now_utc_s - INTERVAL_S,
		      oldest_utc_s = now_utc_s - PAST_MAX_S + LT_HOUR_S;
	struct lt_aws_login login = {"", ""};
	struct lt_error past = {0};
	int code = lt_aws_login_get(web, now_utc_s, &login, err);

	if (code == LT_OK)
		code = request(web, &login, prices, recent_utc_s, err);
	if (code == LT_OK && prices->from_utc_s < recent_utc_s) {
		const size_t count = prices->count;

		if (prices->from_utc_s < oldest_utc_s)
			prices->from_utc_s = oldest_utc_s;
		if (request(web, &login, prices, prices->from_utc_s, &past) != LT_OK) {
			prices->count = count;
			prices->from_utc_s = recent_utc_s;
			snprintf(prices->note, sizeof(prices->note), "without history: %.160s",
			    past.text);
			web->points->past_lost = true;
		}
	}
	explicit_bzero(&login, sizeof(login));
	return code;
}

static int
price_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct prices prices;
	struct lt_web web;
	int code;

	lt_web_start(&web, options, points);
	prices_start(&prices, options, window->from_utc_s, window->now_utc_s);
	code = request_all(&web, &prices, window->now_utc_s, err);
	if (code == LT_OK) {
		code = prices_end(&prices, window->to_utc_s, points, err);
		if (code != LT_OK)
			lt_context(err, "%s", options->name);
	}
	free(prices.changes);
	if (prices.note[0] != '\0')
		memcpy(points->note, prices.note, sizeof(points->note));
	lt_text_mend(points->note);
	return lt_error_mend(err, code);
}

const struct lt_adapter lt_adapter_aws_spot_price = {
    .name = "aws_spot_price",
    .usage = "spot prices of an EC2 instance type, by zone",
    .options = price_options,
    .choices = price_choices,
    .interval_s = INTERVAL_S,
    .gives = LT_QUANTITY_PRICE,
    .currency = price_currency,
    .check = price_check,
    .fetch = price_fetch,
    .parse = price_parse,
};
