/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands between an adapter and the daemon or the command. Checks what the policy file says of a
 * source: unknown keys, missing ones, words of a few, then the adapter's own check. Fetches: the
 * one place that all texts of a source pass on their way out, so that none shows a secret.
 */
#include <stdio.h>
#include <string.h>

#include "adapter.h"
#include "guard.h"
#include "json_source.h"
#include "text.h"
#include "text_mend.h"
#include "units.h"
#include "url.h"

static const struct lt_adapter_option *
known_option(const struct lt_adapter *adapter, const char *key)
{
	const struct lt_adapter_option *option = adapter->options;

	while (option->key != NULL && strcmp(option->key, key) != 0)
		option++;
	return option->key == NULL ? NULL : option;
}

static int
unknown_key(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const char *key, struct lt_error *err)
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
			length += (size_t)snprintf(known + length, sizeof(known) - length, "%s%s",
			    length == 0 ? "" : ", ", option->key);
	}
	const char *const nearest = lt_nearest_word(key, names);

	if (nearest != NULL)
		return lt_option_fail(options, key, err,
		    "%s: unknown key \"%s\" of adapter %s, did you mean \"%s\"?", options->name,
		    key, adapter->name, nearest);
	return lt_option_fail(options, key, err,
	    "%s: unknown key \"%s\" of adapter %s, want one of: %s", options->name, key,
	    adapter->name, known);
}

enum lt_quantity
lt_adapter_quantity(const struct lt_adapter *adapter, const struct lt_source_options *options)
{
	return adapter->quantity != NULL ? adapter->quantity(options) : adapter->gives;
}

bool
lt_adapter_has_option(const struct lt_adapter *adapter, const char *key)
{
	return known_option(adapter, key) != NULL;
}

enum lt_basis
lt_adapter_basis(const struct lt_adapter *adapter, const struct lt_source_options *options)
{
	return lt_basis_of_option(options, adapter->basis);
}

/* The option `timeout`, in seconds; 0 = not given, or not right. */
static int
timeout_option(const struct lt_source_options *options)
{
	const char *const text = lt_source_option(options, "timeout", NULL);
	int64_t seconds;

	return text != NULL && lt_duration_parse(text, &seconds, NULL) == LT_OK && seconds >= 1 &&
		       seconds <= LT_TIMEOUT_MAX_S
		   ? (int)seconds
		   : 0;
}

int
lt_adapter_timeout_s(const struct lt_adapter *adapter, const struct lt_source_options *options)
{
	const int own_s = timeout_option(options);

	return own_s > 0 ? own_s : adapter->timeout_s > 0 ? adapter->timeout_s : LT_TIMEOUT_S;
}

static int
check_timeout(const struct lt_source_options *options, struct lt_error *err)
{
	static const char key[] = "timeout";

	if (lt_source_option(options, key, NULL) == NULL || timeout_option(options) > 0)
		return LT_OK;
	return lt_option_fail(options, key, err, "%s: %s: got \"%s\", want 1s to 5m, such as 90s",
	    options->name, key, lt_source_option(options, key, ""));
}

static int
check_basis(
    const struct lt_adapter *adapter, const struct lt_source_options *options, struct lt_error *err)
{
	static const char key[] = "emission_factors";
	const char *const word = lt_source_option(options, key, NULL);

	if (word == NULL)
		return LT_OK;
	if (lt_basis_of_option(options, LT_BASIS_UNSAID) == LT_BASIS_UNSAID)
		return lt_option_fail(options, key, err,
		    "%s: %s: got \"%s\", want lifecycle or direct", options->name, key, word);
	const enum lt_quantity quantity = lt_adapter_quantity(adapter, options);
	if (quantity != LT_QUANTITY_COUNT && !lt_quantity_is_carbon(quantity))
		return lt_option_fail(options, key, err, "%s: %s: %s has none", options->name, key,
		    lt_quantity_title(quantity));
	return LT_OK;
}

static int
check_choices(
    const struct lt_adapter *adapter, const struct lt_source_options *options, struct lt_error *err)
{
	for (const struct lt_option_choice *choice = adapter->choices;
	     choice != NULL && choice->key != NULL; choice++) {
		const char *const word = lt_source_option(options, choice->key, NULL);
		bool is_known = word == NULL;

		for (int i = 0; !is_known && i < LT_CHOICE_WORDS_MAX && choice->words[i] != NULL;
		     i++)
			is_known = strcmp(word, choice->words[i]) == 0;
		if (!is_known)
			return lt_option_fail(options, choice->key, err,
			    "%s: %s: got \"%s\", want %s", options->name, choice->key, word,
			    choice->want);
	}
	return LT_OK;
}

int
lt_adapter_check(
    const struct lt_adapter *adapter, const struct lt_source_options *options, struct lt_error *err)
{
	for (int i = 0; i < options->count; i++)
		if (known_option(adapter, options->items[i].key) == NULL)
			return unknown_key(adapter, options, options->items[i].key, err);
	for (const struct lt_adapter_option *option = adapter->options; option->key != NULL;
	     option++)
		if (option->required && lt_source_option(options, option->key, NULL) == NULL)
			return lt_fail(err, LT_EINPUT, "%s: adapter %s needs \"%s\": %s",
			    options->name, adapter->name, option->key, option->usage);
	int code = check_basis(adapter, options, err);
	if (code == LT_OK)
		code = check_timeout(options, err);
	if (code == LT_OK)
		code = check_choices(adapter, options, err);
	if (code == LT_OK && adapter->check != NULL)
		code = adapter->check(options, err);
	if (code == LT_OK && adapter->json != NULL)
		code = lt_json_source_check(adapter, options, err);
	return code == LT_OK ? lt_url_check(options, "url", err) : code;
}

int
lt_adapter_parse(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points, struct lt_error *err)
{
	if (adapter->json != NULL)
		return lt_json_source_parse(adapter, options, answer, points, err);
	return adapter->parse != NULL
		   ? adapter->parse(options, answer, points, err)
		   : lt_fail(err, LT_EBUG, "%s: nothing to parse", adapter->name);
}

/* ---- fetch ---- */

/* More than any pause: the clock was set back. */
static bool
is_paused(int64_t until_utc_s, int64_t now_utc_s)
{
	const int64_t left_s = until_utc_s - now_utc_s;

	return left_s > 0 && left_s <= LT_RETRY_AFTER_MAX_S;
}

/* Cuts off the part of the window that the source wants a pause for, and returns what a reader
 * should know of it; NULL: nothing waits. The memory has a pause of one of the two only. */
static const char *
cut_paused(const struct lt_source_memory *memory, struct lt_window *window)
{
	const int64_t now_utc_s = window->now_utc_s;

	if (memory == NULL || window->from_utc_s >= now_utc_s || window->to_utc_s <= now_utc_s)
		return NULL;
	if (is_paused(memory->past_pause_utc_s, now_utc_s)) {
		window->from_utc_s = now_utc_s;
		return "history waits, as the source asked";
	}
	if (is_paused(memory->ahead_pause_utc_s, now_utc_s)) {
		window->to_utc_s = now_utc_s;
		return "the forecast waits, as the source asked";
	}
	return NULL;
}

static void
hide_secrets(
    const struct lt_source_options *options, struct lt_points *points, struct lt_error *err)
{
	struct lt_source_memory *const memory = options->memory;

	lt_guard_hide(err->text);
	lt_guard_hide(points->note);
	for (int i = 0; memory != NULL && i < memory->trace_count && i < LT_TRACE_MAX; i++)
		lt_guard_hide(memory->trace[i].request);
	lt_guard_forget();
}

int
lt_adapter_fetch(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points, struct lt_error *err)
{
	struct lt_error inner = {0};
	struct lt_window cut = *window;
	const char *const waits = cut_paused(options->memory, &cut);
	const int code = adapter->json != NULL
			     ? lt_json_source_fetch(adapter, options, &cut, points, &inner)
			     : adapter->fetch(options, &cut, points, &inner);

	if (waits != NULL && code == LT_OK) {
		points->past_lost |= cut.from_utc_s > window->from_utc_s;
		lt_note_add(points, "%s", waits);
	}
	hide_secrets(options, points, &inner);
	return lt_error_give(err, code, &inner);
}
