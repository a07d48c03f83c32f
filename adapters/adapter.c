/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of sources and the check of what the policy file says of each:
 * unknown keys, missing ones, then the adapter's own check.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "source.h"

static const struct lt_adapter *const adapters[] = {
    &lt_adapter_static,
    &lt_adapter_file,
    &lt_adapter_replay,
    &lt_adapter_uk_carbon_intensity,
    &lt_adapter_climatology,
    &lt_adapter_aws_spot_price,
    &lt_adapter_aws_spot_placement_score,
    &lt_adapter_aws_spot_advisor,
    &lt_adapter_eia,
    &lt_adapter_entsoe,
    &lt_adapter_time_of_use,
    &lt_adapter_watttime,
    &lt_adapter_carbon_aware_sdk,
    &lt_adapter_carbon_aware_file,
    &lt_adapter_cloud_region,
    &lt_adapter_azure_retail_price,
    &lt_adapter_azure_eviction_rate,
    &lt_adapter_skypilot_catalog,
    &lt_adapter_cudo_compute,
    &lt_adapter_gcp_billing_sku,
    &lt_adapter_electricity_maps,
    &lt_adapter_energy_charts,
    &lt_adapter_energy_charts_price,
};

enum { ADAPTER_COUNT = sizeof(adapters) / sizeof(adapters[0]) };

const struct lt_adapter *
lt_adapter_find(const char *name)
{
	for (int i = 0; i < ADAPTER_COUNT; i++)
		if (strcmp(adapters[i]->name, name) == 0)
			return adapters[i];
	return NULL;
}

const char *const *
lt_adapter_names(void)
{
	static const char *names[ADAPTER_COUNT + 1];

	for (int i = 0; i < ADAPTER_COUNT; i++)
		names[i] = adapters[i]->name;
	return names;
}

static int
option_index(const struct lt_source_options *options, const char *key)
{
	for (int i = 0; i < options->count; i++)
		if (strcmp(options->items[i].key, key) == 0)
			return i;
	return -1;
}

const char *
lt_source_option(const struct lt_source_options *options, const char *key,
    const char *fallback)
{
	const int index = option_index(options, key);

	return index < 0 ? fallback : options->items[index].value;
}

void
lt_error_at(struct lt_error *err, int line, int column)
{
	if (err == NULL || err->line != 0)
		return;
	err->line = line;
	err->column = column;
}

void
lt_option_at(const struct lt_source_options *options, const char *key,
    struct lt_error *err)
{
	const int index = option_index(options, key);

	if (index >= 0)
		lt_error_at(err, options->items[index].line,
		    options->items[index].column);
}

int
lt_option_fail(const struct lt_source_options *options, const char *key,
    struct lt_error *err, const char *format, ...)
{
	char text[LT_ERROR_TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	lt_fail(err, LT_EINPUT, "%s", text);
	lt_option_at(options, key, err);
	return LT_EINPUT;
}

/* Bytes of the UTF-8 character at `at` (RFC 3629); 0 = none that is whole. */
static size_t
character_length(const unsigned char *at)
{
	size_t length = 1;
	unsigned code = at[0];

	if (code < 0x80)
		return code >= ' ' && code != 0x7f;
	if (code >= 0xc2 && code <= 0xdf)
		length = 2;
	else if ((code & 0xf0) == 0xe0)
		length = 3;
	else if (code >= 0xf0 && code <= 0xf4)
		length = 4;
	else
		return 0;
	code &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	/* C1 controls, too long a form, surrogates, past the last. */
	if (code < 0xa0 || (length == 3 && code < 0x800) ||
	    (length == 4 && code < 0x10000) ||
	    (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
		return 0;
	return length;
}

void
lt_text_mend(char *text)
{
	while (*text != '\0') {
		const size_t length =
		    character_length((const unsigned char *)text);

		if (length == 0)
			*text = '?';
		text += length == 0 ? 1 : length;
	}
}

int
lt_error_mend(struct lt_error *err, int code)
{
	if (err != NULL && code != LT_OK)
		lt_text_mend(err->text);
	return code;
}

int
lt_error_give(struct lt_error *err, int code, const struct lt_error *inner)
{
	return code == LT_OK
		   ? LT_OK
		   : lt_fail(err, (enum lt_code)code, "%s", inner->text);
}

/* Edit distance; words of LT_NAME_SIZE and more are never near. */
static int
distance(const char *left, const char *right)
{
	const size_t width = strlen(right);
	int row[LT_NAME_SIZE];

	if (width >= LT_NAME_SIZE)
		return LT_NAME_SIZE;
	for (size_t i = 0; i <= width; i++)
		row[i] = (int)i;
	for (size_t line = 0; left[line] != '\0'; line++) {
		int corner = row[0];

		if (line >= LT_NAME_SIZE)
			return LT_NAME_SIZE;
		row[0] = (int)line + 1;
		for (size_t i = 0; i < width; i++) {
			int best = corner + (left[line] != right[i]);

			corner = row[i + 1];
			if (corner + 1 < best)
				best = corner + 1;
			if (row[i] + 1 < best)
				best = row[i] + 1;
			row[i + 1] = best;
		}
	}
	return row[width];
}

static const struct lt_adapter_option *
known_option(const struct lt_adapter *adapter, const char *key)
{
	const struct lt_adapter_option *option = adapter->options;

	while (option->key != NULL && strcmp(option->key, key) != 0)
		option++;
	return option->key == NULL ? NULL : option;
}

static int
unknown_key(const struct lt_adapter *adapter,
    const struct lt_source_options *options, const char *key,
    struct lt_error *err)
{
	char known[256] = "";
	const char *nearest = NULL;
	/* Further is no slip of the pen: half the word, three letters. */
	int least = strlen(key) < 6 ? (int)strlen(key) / 2 + 1 : 4;
	size_t length = 0;

	for (const struct lt_adapter_option *option = adapter->options;
	     option->key != NULL; option++) {
		const int apart = distance(key, option->key);

		if (apart < least) {
			least = apart;
			nearest = option->key;
		}
		if (length < sizeof(known))
			length += (size_t)snprintf(known + length,
			    sizeof(known) - length, "%s%s",
			    length == 0 ? "" : ", ", option->key);
	}
	if (nearest != NULL)
		return lt_option_fail(options, key, err,
		    "%s: unknown key \"%s\" of adapter %s, did you mean "
		    "\"%s\"?",
		    options->name, key, adapter->name, nearest);
	return lt_option_fail(options, key, err,
	    "%s: unknown key \"%s\" of adapter %s, want one of: %s",
	    options->name, key, adapter->name, known);
}

int
lt_adapter_check(const struct lt_adapter *adapter,
    const struct lt_source_options *options, struct lt_error *err)
{
	for (int i = 0; i < options->count; i++)
		if (known_option(adapter, options->items[i].key) == NULL)
			return unknown_key(
			    adapter, options, options->items[i].key, err);
	for (const struct lt_adapter_option *option = adapter->options;
	     option->key != NULL; option++)
		if (option->required && option_index(options, option->key) < 0)
			return lt_fail(err, LT_EINPUT,
			    "%s: adapter %s needs \"%s\": %s", options->name,
			    adapter->name, option->key, option->usage);
	return adapter->check == NULL ? LT_OK : adapter->check(options, err);
}
