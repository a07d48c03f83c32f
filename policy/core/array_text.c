/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the tasks of an --array text as slurmctld will read it: items
 * separated by commas, "first[-last[:step]][%parallel]", within optional
 * brackets. An upper bound is enough, so overlaps are not looked for.
 */
#include "array_text.h"

#include <string.h>

struct scanner {
	const char *text, *at;
	struct lt_error *err;
};

static int
refuse(const struct scanner *scanner, const char *wanted)
{
	const char found[2] = {*scanner->at, '\0'};
	const int column = (int)(scanner->at - scanner->text) + 1;
	const int code = lt_fail(scanner->err, LT_EINPUT,
	    "--array: column %d: found %s%s%s, want %s", column,
	    *found ? "\"" : "", *found ? found : "the end", *found ? "\"" : "",
	    wanted);

	if (scanner->err != NULL && scanner->err->column == 0)
		scanner->err->column = column;
	return code;
}

/* A decimal number up to max; larger ones stop at max + 1. */
static int
number(struct scanner *scanner, uint32_t max, uint32_t *value)
{
	uint64_t sum = 0;

	if (*scanner->at < '0' || *scanner->at > '9')
		return refuse(scanner, "a number");
	for (; *scanner->at >= '0' && *scanner->at <= '9'; scanner->at++) {
		sum = sum * 10 + (uint64_t)(*scanner->at - '0');
		if (sum > max)
			sum = (uint64_t)max + 1;
	}
	*value = (uint32_t)sum;
	return LT_OK;
}

static void
skip_close(struct scanner *scanner)
{
	if (*scanner->at == ']')
		scanner->at++;
}

static int
check_id(const struct scanner *scanner, uint32_t id, uint32_t size)
{
	if (id < size)
		return LT_OK;
	return lt_fail(scanner->err, LT_ELIMIT,
	    "--array: column %d: an id is not below MaxArraySize %u",
	    (int)(scanner->at - scanner->text) + 1, size);
}

/* One item; *tasks grows by its ids. */
static int
item(
    struct scanner *scanner, uint32_t size, uint64_t *tasks, uint32_t *parallel)
{
	uint32_t first, last, step = 1;

	while (*scanner->at == ' ' || *scanner->at == '[')
		scanner->at++;
	int code = number(scanner, size, &first);
	if (code == LT_OK)
		code = check_id(scanner, first, size);
	if (code != LT_OK)
		return code;
	last = first;
	skip_close(scanner);
	if (*scanner->at == '-') {
		scanner->at++;
		code = number(scanner, size, &last);
		if (code == LT_OK)
			code = check_id(scanner, last, size);
		if (code != LT_OK)
			return code;
		if (last < first)
			return refuse(scanner,
			    "a last id not below the first before this");
		skip_close(scanner);
		if (*scanner->at == ':') {
			scanner->at++;
			code = number(scanner, size, &step);
			if (code != LT_OK)
				return code;
			if (step == 0)
				return refuse(
				    scanner, "a step above 0 before this");
			skip_close(scanner);
		}
	}
	*tasks += (last - first) / step + 1;
	if (*scanner->at == '%') {
		uint32_t most;

		scanner->at++;
		code = number(scanner, INT32_MAX, &most);
		if (code != LT_OK)
			return code;
		/* Slurm takes the first; a lower one makes a longer window. */
		if (*parallel == 0 || (most != 0 && most < *parallel))
			*parallel = most;
		skip_close(scanner);
	}
	return LT_OK;
}

int
lt_array_count(const char *text, uint32_t max_array_size, uint32_t *tasks,
    uint32_t *parallel, struct lt_error *err)
{
	struct scanner scanner = {text, text, err};
	const uint32_t size =
	    max_array_size == 0 ? LT_ARRAY_TASKS_MAX : max_array_size;
	uint64_t sum = 0;
	uint32_t most = 0;

	if (strnlen(text, LT_ARRAY_TEXT_MAX + 1) > LT_ARRAY_TEXT_MAX)
		return lt_fail(err, LT_ELIMIT,
		    "--array: longer than %d characters", LT_ARRAY_TEXT_MAX);
	for (;;) {
		/* slurmctld passes over empty items. */
		while (*scanner.at == ',')
			scanner.at++;
		if (*scanner.at == '\0' && sum > 0)
			break;
		const int code = item(&scanner, size, &sum, &most);
		if (code != LT_OK)
			return code;
		if (*scanner.at != ',' && *scanner.at != '\0')
			return refuse(&scanner,
			    "first[-last[:step]][%parallel], separated by commas");
	}
	/* Items may overlap: there are no more ids than the size allows. */
	*tasks = sum < size ? (uint32_t)sum : size;
	*parallel = most;
	return LT_OK;
}
