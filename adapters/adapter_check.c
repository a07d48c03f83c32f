/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check of what the policy file says of a source: unknown keys, missing
 * ones, then the adapter's own check.
 */
#include <stdio.h>
#include <string.h>

#include "adapter.h"

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
		if (option->required &&
		    lt_source_option(options, option->key, NULL) == NULL)
			return lt_fail(err, LT_EINPUT,
			    "%s: adapter %s needs \"%s\": %s", options->name,
			    adapter->name, option->key, option->usage);
	return adapter->check == NULL ? LT_OK : adapter->check(options, err);
}
