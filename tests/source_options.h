/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of a source as the policy file gives them, from a short table.
 */
#ifndef LT_TEST_SOURCE_OPTIONS_H
#define LT_TEST_SOURCE_OPTIONS_H

#include "option.h"

struct pair {
	const char *key, *value;
};

/* Ended by key NULL; each on a line of its own, from line 10 on. */
static inline struct lt_source_options
options_of(const struct pair *pairs)
{
	struct lt_source_options options = {.name = "src"};

	for (; pairs[options.count].key != NULL; options.count++) {
		options.items[options.count].key = pairs[options.count].key;
		options.items[options.count].value = pairs[options.count].value;
		options.items[options.count].line = 10 + options.count;
		options.items[options.count].column = 5;
	}
	return options;
}

#endif
