/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Azure's eviction rate of spot VMs, from Resource Graph: percent an hour,
 * in steps of five. docs/sources/azure_eviction_rate.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "azure.h"
#include "interruption.h"
#include "units.h"
#include "web.h"

#define MANAGEMENT_URL "https://management.azure.com"
#define LOGIN_URL "https://login.microsoftonline.com"

enum {
	INTERVAL_S = 6 * 3600, /* a rate of 28 days moves slowly */
	PAGES_MAX = 4,	       /* one SKU of one region is one row */
	SKIP_TOKEN_SIZE = 2048,
	TOKEN_MARGIN_S = 300, /* renewed that long before its end */
	ESCAPED_SIZE = 3 * LT_SECRET_SIZE,
};

/*
 * Chance of eviction within an hour: the middle of each step. The last has no end; a step of the
 * same width would be 20 to 25, and its end is taken, not its middle, because what is open can only
 * be more.
 */
static const struct {
	const char *text;
	double chance;
} rates[] = {
    {"0-5", 0.025},
    {"5-10", 0.075},
    {"10-15", 0.125},
    {"15-20", 0.175},
    {"20+", 0.25},
};

enum { RATE_COUNT = sizeof(rates) / sizeof(rates[0]) };

static const struct lt_adapter_option rate_options[] = {
    {"region", true, "as westeurope", NULL},
    {"sku", true, "as Standard_NC4as_T4_v3", NULL},
    {"tenant_id", true, "directory (tenant) ID", NULL},
    {"client_id", true, "application (client) ID", NULL},
    {"secret_file", false, "file of mode 0600 with the client secret", NULL},
    {"secret_env", false, "environment variable with it, instead", NULL},
    {"url", false, "base URL of Resource Manager", MANAGEMENT_URL},
    {"login_url", false, "base URL of the login", LOGIN_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

/* IDs go into a path and a form as they are; a tenant may be a domain. */
static int
check_id(const struct lt_source_options *options, const char *key, struct lt_error *err)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.";
	const char *const id = lt_source_option(options, key, "");
	const size_t length = strlen(id);

	return length > 0 && length <= 253 && strspn(id, letters) == length && id[0] != '.'
		   ? LT_OK
		   : lt_option_fail(options, key, err,
			 "%s: %s: got \"%.60s\", want an ID such as 00000000-0000-0000-0000-000000000000",
			 options->name, key, id);
}

static int
rate_check(const struct lt_source_options *options, struct lt_error *err)
{
	int code = lt_azure_check(options, err);

	if (code == LT_OK)
		code = check_id(options, "tenant_id", err);
	if (code == LT_OK)
		code = check_id(options, "client_id", err);
	if (code == LT_OK)
		code = lt_secret_check(options, "secret", true, err);
	if (code == LT_OK)
		code = lt_url_check(options, "login_url", err);
	return code;
}

/* ---- answers ---- */

struct tally { /* of all pages */
	int rows;
	int worst; /* index in rates; -1 = none yet */
	char next[SKIP_TOKEN_SIZE];
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

static int
rate_find(const char *text, struct lt_error *err)
{
	for (int i = 0; i < RATE_COUNT; i++)
		if (strcmp(rates[i].text, text) == 0)
			return i;
	lt_fail(err, LT_EINPUT,
	    "spotEvictionRate: got \"%.40s\", want 0-5, 5-10, 10-15, 15-20 or 20+", text);
	return -1;
}

static void
read_row(const struct lt_source_options *options, const json_t *row, struct tally *tally)
{
	const char *const region = lt_azure_text(row, "location");
	const char *const sku = lt_azure_text(row, "skuName");

	tally->rows++;
	if (!lt_azure_is_asked(options, region, sku)) {
		lt_fail(&tally->refusal, LT_EINPUT,
		    "a rate of %.60s in %.60s, which nobody asked for",
		    sku[0] == '\0' ? "no SKU" : sku, region[0] == '\0' ? "no region" : region);
		return;
	}
	const int rate = rate_find(lt_azure_text(row, "spotEvictionRate"), &tally->refusal);
	if (rate > tally->worst)
		tally->worst = rate;
}

static int
read_page(const struct lt_source_options *options, const json_t *json, struct tally *tally,
    struct lt_error *err)
{
	const json_t *const rows = json_object_get(json, "data");
	const char *const next = lt_azure_text(json, "$skipToken");
	const json_t *row;
	size_t i;
	const int code = lt_azure_refusal(json, err);

	if (code != LT_OK)
		return code;
	if (!json_is_array(rows))
		return lt_fail(err, LT_EINPUT, "JSON without a list \"data\"");
	if (strlen(next) >= sizeof(tally->next))
		return lt_fail(err, LT_ELIMIT, "$skipToken: %zu bytes, limit %zu", strlen(next),
		    sizeof(tally->next) - 1);
	strcpy(tally->next, next);
	json_array_foreach(rows, i, row)
		read_row(options, row, tally);
	return LT_OK;
}

/* It holds from now on, until the next fetch may bring another. */
static int
make_points(const struct lt_source_options *options, const struct tally *tally, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	const int64_t start_utc_s = now_utc_s - now_utc_s % 3600;
	struct lt_point point = {
	    .start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + 2 * INTERVAL_S,
	    .quality = LT_QUALITY_ESTIMATED,
	};

	if (tally->worst < 0)
		return lt_fail(err, LT_EINPUT, "no eviction rate of %s in %s: %s",
		    lt_source_option(options, "sku", ""), lt_source_option(options, "region", ""),
		    tally->rows > 0
			? tally->refusal.text
			: "no row: is the SKU sold as spot there, and may the application read (role Reader)?");
	points->quantity = LT_QUANTITY_HAZARD;
	point.value = lt_hazard_per_hour(rates[tally->worst].chance, 1.0);
	snprintf(points->note, sizeof(points->note), "%s %% an hour, of the last 28 days",
	    rates[tally->worst].text);
	return lt_points_add(points, &point, err);
}

static int
rate_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct tally tally = {.worst = -1};
	json_t *json;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code != LT_OK)
		return lt_error_mend(err, code);
	code = read_page(options, json, &tally, err);
	json_decref(json);
	if (code == LT_OK)
		code = make_points(options, &tally, answer->now_utc_s, points, err);
	return lt_error_mend(err, code);
}

/* ---- login ---- */

/* Never the body's own words: a page that repeats the request has the secret or the token. */
static void
error_text(char *out, size_t size, const char *body, size_t length)
{
	lt_azure_error_text(out, size, body, length);
	if (out[0] == '\0')
		snprintf(out, size, "no reason in a known form");
}

static void
forget_token(struct lt_source_memory *memory)
{
	explicit_bzero(memory->token, sizeof(memory->token));
	memory->token_until_utc_s = 0;
}

static int
keep_token(
    struct lt_source_memory *memory, const json_t *json, int64_t now_utc_s, struct lt_error *err)
{
	const char *const token = lt_azure_text(json, "access_token");
	const size_t length = strlen(token);
	double lasts_s;

	for (size_t i = 0; i < length; i++)
		if (token[i] <= ' ' || token[i] >= 0x7f)
			return lt_fail(err, LT_EINPUT, "access_token: a byte that no token has");
	if (length == 0 || length >= sizeof(memory->token))
		return lt_fail(err, LT_EINPUT, "access_token: %zu bytes, want 1 to %zu", length,
		    sizeof(memory->token) - 1);
	strcpy(memory->token, token);
	memory->token_until_utc_s = now_utc_s;
	/* Without a time it is good for this fetch. */
	if (lt_json_number(json_object_get(json, "expires_in"), &lasts_s) &&
	    lasts_s > TOKEN_MARGIN_S)
		memory->token_until_utc_s +=
		    (lasts_s < LT_DAY_S ? (int64_t)lasts_s : LT_DAY_S) - TOKEN_MARGIN_S;
	return LT_OK;
}

/* The form with the secret. The caller wipes it. */
static int
login_form(char *out, size_t size, const struct lt_source_options *options, struct lt_error *err)
{
	char secret[LT_SECRET_SIZE], escaped[ESCAPED_SIZE];
	int code = lt_secret_read(options, "secret", secret, sizeof(secret), err);

	if (code == LT_OK)
		code = lt_url_escape(escaped, sizeof(escaped), secret, err);
	if (code == LT_OK)
		snprintf(out, size,
		    "grant_type=client_credentials&client_id=%s&scope=https%%3A%%2F%%2Fmanagement.azure.com%%2F.default&client_secret=%s",
		    lt_source_option(options, "client_id", ""), escaped);
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(escaped, sizeof(escaped));
	return code;
}

static int
login(struct lt_web *web, int64_t now_utc_s, struct lt_error *err)
{
	char url[LT_URL_SIZE], path[320], form[ESCAPED_SIZE + 512];
	const struct lt_web_request request = {
	    .url = url,
	    .headers = {"Accept: application/json"},
	    .body = form,
	    .error_text = error_text,
	};
	struct lt_http_response response = {0};
	json_t *json = NULL;
	int code;

	snprintf(path, sizeof(path), "%s/oauth2/v2.0/token",
	    lt_source_option(web->options, "tenant_id", ""));
	code = lt_url_start(url, lt_source_option(web->options, "login_url", LOGIN_URL), path, err);
	if (code == LT_OK)
		code = login_form(form, sizeof(form), web->options, err);
	if (code == LT_OK)
		code = lt_web_do(web, &request, &response, err);
	explicit_bzero(form, sizeof(form));
	if (code == LT_OK) {
		/* jansson's message about bad JSON would quote a part of it. */
		code = lt_json_load(&json, response.body, response.body_length, NULL);
		if (code != LT_OK)
			lt_fail(
			    err, (enum lt_code)code, "the login's answer: want one JSON object");
		if (code == LT_OK)
			code = keep_token(web->memory, json, now_utc_s, err);
		if (code != LT_OK)
			lt_web_refuse(url, err);
	}
	json_decref(json);
	if (response.body != NULL)
		explicit_bzero(response.body, response.body_length);
	lt_http_free(&response);
	return code;
}

/* ---- the query ---- */

/* Without "subscriptions" it is the tenant's: SpotResources has no rows in a subscription. The
 * caller frees it. */
static char *
query_body(const struct lt_source_options *options, const char *skip_token)
{
	char query[768];
	char *text = NULL;
	json_t *const more = json_object();
	json_t *body;

	snprintf(query, sizeof(query),
	    "SpotResources | where type =~ 'microsoft.compute/skuspotevictionrate/location' and sku.name in~ ('%s') and location in~ ('%s') | project "
	    "skuName=tostring(sku.name), location, spotEvictionRate=tostring(properties.evictionRate)",
	    lt_source_option(options, "sku", ""), lt_source_option(options, "region", ""));
	json_object_set_new(more, "resultFormat", json_string("objectArray"));
	if (skip_token[0] != '\0')
		json_object_set_new(more, "$skipToken", json_string(skip_token));
	body = json_pack("{s:s, s:o}", "query", query, "options", more);
	if (body != NULL)
		text = json_dumps(body, JSON_COMPACT);
	json_decref(body);
	return text;
}

/* One page of the answer. *denied: the token was not taken. */
static int
request(
    struct lt_web *web, const char *url, struct tally *tally, bool *denied, struct lt_error *err)
{
	char bearer[LT_TOKEN_SIZE + 32];
	char *const body = query_body(web->options, tally->next);
	const struct lt_web_request request = {
	    .url = url,
	    .headers = {"Accept: application/json", "Content-Type: application/json"},
	    .secret_header = bearer,
	    .body = body,
	    .error_text = error_text,
	};
	struct lt_http_response response = {0};
	json_t *json = NULL;
	int code;

	if (body == NULL)
		return lt_fail(err, LT_ENOMEM, "a query");
	snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s", web->memory->token);
	code = lt_web_do(web, &request, &response, err);
	explicit_bzero(bearer, sizeof(bearer));
	*denied = response.status == 401;
	if (code == LT_OK) {
		code = lt_json_load(&json, response.body, response.body_length, err);
		if (code == LT_OK)
			code = read_page(web->options, json, tally, err);
		if (code != LT_OK)
			lt_web_refuse(url, err);
	}
	json_decref(json);
	free(body);
	lt_http_free(&response);
	return code;
}

static int
request_all(struct lt_web *web, int64_t now_utc_s, bool *denied, struct lt_points *points,
    struct lt_error *err)
{
	struct tally tally = {.worst = -1};
	char url[LT_URL_SIZE];
	int page = 0;
	int code = lt_url_start(url, lt_source_option(web->options, "url", MANAGEMENT_URL),
	    "providers/Microsoft.ResourceGraph/resources?api-version=2021-03-01", err);

	if (code != LT_OK)
		return code;
	do {
		code = page++ < PAGES_MAX
			   ? request(web, url, &tally, denied, err)
			   : lt_fail(err, LT_ELIMIT, "more than %d pages for one sku", PAGES_MAX);
	} while (code == LT_OK && tally.next[0] != '\0');
	if (code == LT_OK) {
		code = make_points(web->options, &tally, now_utc_s, points, err);
		if (code != LT_OK)
			lt_web_refuse(url, err);
	}
	return code;
}

/* A kept token may have been withdrawn: then once anew. One that the login
 * has just given is not to blame. */
static int
rate_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_error inner = {0};
	struct lt_web web;
	bool denied = false;
	int code = LT_OK;

	/* Only today's rate is given. */
	lt_web_start(&web, options, points);
	const bool kept =
	    web.memory->token[0] != '\0' && web.memory->token_until_utc_s > window->now_utc_s;
	if (!kept)
		code = login(&web, window->now_utc_s, &inner);
	if (code == LT_OK)
		code = request_all(&web, window->now_utc_s, &denied, points, &inner);
	if (denied && kept) {
		forget_token(web.memory);
		inner = (struct lt_error){0};
		denied = false;
		code = login(&web, window->now_utc_s, &inner);
		if (code == LT_OK)
			code = request_all(&web, window->now_utc_s, &denied, points, &inner);
	}
	if (denied)
		forget_token(web.memory);
	explicit_bzero(web.own.token, sizeof(web.own.token));
	return lt_error_give(err, code, &inner);
}

const struct lt_adapter lt_adapter_azure_eviction_rate = {
    .name = "azure_eviction_rate",
    .usage = "Azure's eviction rate of spot VMs, by region and SKU",
    .options = rate_options,
    .interval_s = INTERVAL_S,
    .gives = LT_QUANTITY_HAZARD,
    .check = rate_check,
    .fetch = rate_fetch,
    .parse = rate_parse,
};
