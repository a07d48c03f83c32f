/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a daemon answers to a GET; with another status than the wanted one the test fails.
 */
#ifndef LT_TEST_API_ASK_H
#define LT_TEST_API_ASK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "api.h"
#include "daemon.h"

static inline char *
api_ask_text(struct lt_daemon *d, const char *uri, int want)
{
	char *text = NULL;
	const int status = lt_api(d, &(struct lt_api_asked){.method = "GET", .uri = uri}, &text);

	if (status != want)
		fail_msg("%s: %d, %s", uri, status, text);
	return text;
}

static inline json_t *
api_ask(struct lt_daemon *d, const char *uri, int want)
{
	char *const text = api_ask_text(d, uri, want);
	json_error_t problem;
	json_t *const json = json_loads(text, 0, &problem);

	if (json == NULL)
		fail_msg("%s: %s in %s", uri, problem.text, text);
	free(text);
	return json;
}

/* The sum of a figure over rows of an answer. */
static inline int64_t
added(const json_t *list, const char *key)
{
	int64_t sum = 0;
	size_t i;
	json_t *row;

	json_array_foreach(list, i, row)
		sum += json_integer_value(json_object_get(row, key));
	return sum;
}

#endif
