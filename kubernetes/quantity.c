/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads Kubernetes' quantities: "500m", "1.5", "64Gi", "1e3", by the grammar of
 * k8s.io/apimachinery/pkg/api/resource, rounded up as the API server rounds. Pure. A text that is
 * not one, or passes 63 bits, is LT_EINPUT.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "units.h"

enum { NUMBER_MAX = 64 };

static const struct {
	const char *suffix;
	double factor;
} suffixes[] = {
    {"", 1},
    {"n", 1e-9},
    {"u", 1e-6},
    {"m", 1e-3},
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
    {"Ki", 0x1p10},
    {"Mi", 0x1p20},
    {"Gi", 0x1p30},
    {"Ti", 0x1p40},
    {"Pi", 0x1p50},
    {"Ei", 0x1p60},
};

enum { SUFFIXES = sizeof(suffixes) / sizeof(suffixes[0]) };

static bool
is_of_number(char c, char next)
{
	return (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-' ||
	       ((c == 'e' || c == 'E') &&
		   ((next >= '0' && next <= '9') || next == '-' || next == '+'));
}

static int
parse_quantity(const char *text, double *value)
{
	char number[NUMBER_MAX];
	size_t length = 0;

	while (text[length] != '\0' && is_of_number(text[length], text[length + 1]))
		length++;
	if (length == 0 || length >= sizeof(number))
		return LT_EINPUT;
	memcpy(number, text, length);
	number[length] = '\0';
	if (lt_double_parse(number, value, NULL) != LT_OK)
		return LT_EINPUT;
	for (int i = 0; i < SUFFIXES; i++)
		if (strcmp(text + length, suffixes[i].suffix) == 0) {
			*value *= suffixes[i].factor;
			return LT_OK;
		}
	return LT_EINPUT;
}

int
lt_kube_quantity(const json_t *quantity, int64_t parts, int64_t *value, struct lt_error *err)
{
	static const double most = 9.2e18;
	const char *const text = json_string_value(quantity);
	double units = json_number_value(quantity);

	if (text != NULL ? parse_quantity(text, &units) != LT_OK : !json_is_number(quantity))
		return lt_fail(err, LT_EINPUT,
		    "got \"%.40s\", want a quantity such as 500m, 2 or 64Gi",
		    text != NULL ? text : "no text");
	/* Ignores what a binary fraction lacks of a whole. */
	const double exact = ceil(units * (double)parts - 1e-6);
	if (!(exact >= 0 && exact < most))
		return lt_fail(err, LT_EINPUT,
		    "got \"%.40s\", want a quantity of at least 0, and less than %g",
		    text != NULL ? text : "a number", most / (double)parts);
	*value = (int64_t)exact;
	return LT_OK;
}
