/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check of what the policy file says of a source: unknown keys, missing
 * ones, then the adapter's own check.
 */
#include <stdio.h>
#include <string.h>

#include "adapter.h"
#include "nearest.h"
#include "units.h"

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
	enum { KEYS_MAX = 32 }; /* more are not told */
	const char *names[KEYS_MAX + 1] = {NULL};
	char known[256] = "";
	int count = 0;
	size_t length = 0;

	for (const struct lt_adapter_option *option = adapter->options;
	     option->key != NULL && count < KEYS_MAX; option++) {
		names[count++] = option->key;
		if (length < sizeof(known))
			length += (size_t)snprintf(known + length,
			    sizeof(known) - length, "%s%s",
			    length == 0 ? "" : ", ", option->key);
	}
	const char *const nearest = lt_nearest_word(key, names);

	if (nearest != NULL)
		return lt_option_fail(options, key, err,
		    "%s: unknown key \"%s\" of adapter %s, did you mean \"%s\"?",
		    options->name, key, adapter->name, nearest);
	return lt_option_fail(options, key, err,
	    "%s: unknown key \"%s\" of adapter %s, want one of: %s",
	    options->name, key, adapter->name, known);
}

enum lt_quantity
lt_adapter_quantity(
    const struct lt_adapter *adapter, const struct lt_source_options *options)
{
	return adapter->quantity != NULL ? adapter->quantity(options)
					 : adapter->gives;
}

bool
lt_adapter_has_option(const struct lt_adapter *adapter, const char *key)
{
	return known_option(adapter, key) != NULL;
}

enum lt_basis
lt_adapter_basis(
    const struct lt_adapter *adapter, const struct lt_source_options *options)
{
	return lt_basis_of_option(options, adapter->basis);
}

/* The option `timeout`, in seconds; 0 = not given, or not right. */
static int
timeout_option(const struct lt_source_options *options)
{
	const char *const text = lt_source_option(options, "timeout", NULL);
	int64_t seconds;

	return text != NULL &&
		       lt_duration_parse(text, &seconds, NULL) == LT_OK &&
		       seconds >= 1 && seconds <= LT_TIMEOUT_MAX_S
		   ? (int)seconds
		   : 0;
}

int
lt_adapter_timeout_s(
    const struct lt_adapter *adapter, const struct lt_source_options *options)
{
	const int own_s = timeout_option(options);

	return own_s > 0		? own_s
	       : adapter->timeout_s > 0 ? adapter->timeout_s
					: LT_TIMEOUT_S;
}

static int
check_timeout(const struct lt_source_options *options, struct lt_error *err)
{
	static const char key[] = "timeout";

	if (lt_source_option(options, key, NULL) == NULL ||
	    timeout_option(options) > 0)
		return LT_OK;
	return lt_option_fail(options, key, err,
	    "%s: %s: got \"%s\", want 1s to 5m, such as 90s", options->name,
	    key, lt_source_option(options, key, ""));
}

static int
check_basis(const struct lt_adapter *adapter,
    const struct lt_source_options *options, struct lt_error *err)
{
	static const char key[] = "emission_factors";
	const char *const word = lt_source_option(options, key, NULL);

	if (word == NULL)
		return LT_OK;
	if (lt_basis_of_option(options, LT_BASIS_UNSAID) == LT_BASIS_UNSAID)
		return lt_option_fail(options, key, err,
		    "%s: %s: got \"%s\", want lifecycle or direct",
		    options->name, key, word);
	const enum lt_quantity quantity = lt_adapter_quantity(adapter, options);
	if (quantity != LT_QUANTITY_COUNT && !lt_quantity_is_carbon(quantity))
		return lt_option_fail(options, key, err, "%s: %s: %s has none",
		    options->name, key, lt_quantity_title(quantity));
	return LT_OK;
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
	int code = check_basis(adapter, options, err);
	if (code == LT_OK)
		code = check_timeout(options, err);

	return code != LT_OK || adapter->check == NULL
		   ? code
		   : adapter->check(options, err);
}
