/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by azure_retail_price.c and azure_eviction_rate.c: the machine that is meant, by region
 * and SKU, and the text of Azure's errors.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "azure.h"

static const char region_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char sku_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

static bool
is_name(const char *text, const char *letters)
{
	const size_t length = strlen(text);

	return length > 0 && length <= LT_AZURE_NAME_MAX && strspn(text, letters) == length;
}

int
lt_azure_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const region = lt_source_option(options, "region", "");
	const char *const sku = lt_source_option(options, "sku", "");

	if (!is_name(region, region_letters))
		return lt_option_fail(options, "region", err,
		    "%s: region: got \"%s\", want a name such as westeurope", options->name,
		    region);
	if (!is_name(sku, sku_letters))
		return lt_option_fail(options, "sku", err,
		    "%s: sku: got \"%s\", want a name such as Standard_NC4as_T4_v3", options->name,
		    sku);
	return LT_OK;
}

void
lt_azure_region(char out[LT_AZURE_NAME_MAX + 1], const struct lt_source_options *options)
{
	snprintf(out, LT_AZURE_NAME_MAX + 1, "%s", lt_source_option(options, "region", ""));
	for (char *at = out; *at != '\0'; at++)
		*at = (char)tolower((unsigned char)*at);
}

bool
lt_azure_is_asked(const struct lt_source_options *options, const char *region, const char *sku)
{
	return strcasecmp(region, lt_source_option(options, "region", "")) == 0 &&
	       strcasecmp(sku, lt_source_option(options, "sku", "")) == 0;
}

const char *
lt_azure_text(const json_t *object, const char *key)
{
	const char *const text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

/* Returns the first detail of an error: Resource Graph's own message says nothing specific. */
static const json_t *
innermost(const json_t *error)
{
	const json_t *const detail = json_array_get(json_object_get(error, "details"), 0);

	return lt_azure_text(detail, "message")[0] == '\0' ? error : detail;
}

/* Writes {"error":{"code","message"}} of Resource Manager, {"error":"invalid_client",
 * "error_description":"AADSTS7000215: ..."} of the login, {"Error":{"Code", "Message"}} of the
 * prices. */
static void
write_error(char *out, size_t size, const json_t *json)
{
	const json_t *const error = innermost(json_object_get(json, "error"));
	const json_t *const other = json_object_get(json, "Error");
	const char *code = lt_azure_text(error, "code");
	const char *message = lt_azure_text(error, "message");

	if (json_is_string(error)) {
		code = json_string_value(error);
		message = lt_azure_text(json, "error_description");
	} else if (json_is_string(other)) {
		code = json_string_value(other);
	} else if (json_is_object(other)) {
		code = lt_azure_text(other, "Code");
		message = lt_azure_text(other, "Message");
	}
	/* Below the first line are trace ids and times. */
	snprintf(out, size, "%.60s%s%.*s", code, code[0] == '\0' || message[0] == '\0' ? "" : ": ",
	    (int)strcspn(message, "\r\n"), message);
}

int
lt_azure_refusal(const json_t *json, struct lt_error *err)
{
	char words[201];

	write_error(words, sizeof(words), json);
	return words[0] == '\0' ? LT_OK : lt_fail(err, LT_ENET, "the source says: %s", words);
}

void
lt_azure_error_text(char *out, size_t size, const char *body, size_t length)
{
	json_t *json;

	out[0] = '\0';
	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	write_error(out, size, json);
	json_decref(json);
}
