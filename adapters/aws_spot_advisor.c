/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of the AWS Spot Instance Advisor (no key): share of capacity that was reclaimed in a
 * month, in five buckets, becomes a hazard per hour. docs/sources/aws_spot_advisor.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws.h"
#include "interruption.h"
#include "source.h"
#include "units.h"

enum {
	INTERVAL_S = 12 * LT_HOUR_S, /* AWS renews it some times a day */
	OPEN_WIDTH = 10,	     /* ">20%" has no upper end: as if it were 30 % */
};

static const struct lt_adapter_option advisor_options[] = {
    {"region", true, "as eu-west-2", NULL},
    {"instance_type", true, "as g5.xlarge", NULL},
    {"os", false, "Linux or Windows", "Linux"},
    {"url", false, "base URL of a mirror", "https://spot-bid-advisor.s3.amazonaws.com"},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const struct lt_option_choice advisor_choices[] = {
    {"os", {"Linux", "Windows"}, "Linux or Windows"},
    {NULL, {NULL}, NULL},
};

static int
advisor_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const type = lt_source_option(options, "instance_type", "");
	int code = lt_aws_region_check(options, err);

	if (code == LT_OK && !lt_aws_is_name(type))
		code = lt_option_fail(options, "instance_type", err,
		    "%s: instance_type: got \"%s\", want one such as g5.xlarge", options->name,
		    type);
	return code;
}

/* Some of the names there are that begin like the one that was asked for:
 * "a, b, ..."; any, when none does. */
static void
list_names(char *out, size_t size, const json_t *object, const char *like, size_t like_length)
{
	const char *name;
	json_t *value;
	size_t length = 0;

	out[0] = '\0';
	json_object_foreach((json_t *)(uintptr_t)object, name, value) {
		if (strncmp(name, like, like_length) != 0)
			continue;
		if (length + strlen(name) + 8 > size) {
			snprintf(out + length, size - length, ", ...");
			return;
		}
		length += (size_t)snprintf(
		    out + length, size - length, "%s%s", length == 0 ? "" : ", ", name);
	}
	if (length == 0 && like_length > 0)
		list_names(out, size, object, "", 0);
}

/* The member of an object that is an object; else an error that says which there are. */
static const json_t *
member(
    const json_t *object, const char *name, char separator, const char *where, struct lt_error *err)
{
	const json_t *const found = json_object_get(object, name);
	const char *const mark = strchr(name, separator);
	char names[160];

	if (json_is_object(found))
		return found;
	list_names(names, sizeof(names), object, name,
	    mark == NULL ? strlen(name) : (size_t)(mark - name + 1));
	lt_fail(err, LT_EINPUT, "no \"%s\" in %s, which has: %s", name, where,
	    names[0] == '\0' ? "nothing" : names);
	return NULL;
}

/* {"index": 1, "label": "5-10%", "dots": 1, "max": 11}: the label has the lower end, max the upper
 * one; the buckets overlap so in AWS's file. */
static int
bucket_chance(const json_t *range, double *chance, struct lt_error *err)
{
	const char *const label = json_string_value(json_object_get(range, "label"));
	double high;

	if (label == NULL || label[0] == '\0' ||
	    !lt_json_number(json_object_get(range, "max"), &high))
		return lt_fail(
		    err, LT_EINPUT, "a range without label or max, want \"5-10%%\" and 11");
	const char *const number = label + (label[0] == '<' || label[0] == '>');
	if (*number < '0' || *number > '9')
		return lt_fail(
		    err, LT_EINPUT, "the range \"%.20s\", want one such as \"5-10%%\"", label);
	const double low = label[0] == '<' ? 0 : (double)strtol(number, NULL, 10);
	if (label[0] == '>')
		high = low + OPEN_WIDTH; /* max is 100, and means nothing */
	if (low < 0 || high <= low || high > 99)
		return lt_fail(
		    err, LT_EINPUT, "the range \"%.20s\" goes from %g to %g %%", label, low, high);
	*chance = (low + high) / 200;
	return LT_OK;
}

static int
find_range(
    const json_t *json, json_int_t index, double *chance, const char **label, struct lt_error *err)
{
	const json_t *range;
	size_t i;

	json_array_foreach(json_object_get(json, "ranges"), i, range) {
		const json_t *const own = json_object_get(range, "index");

		if (!json_is_integer(own) || json_integer_value(own) != index)
			continue;
		*label = json_string_value(json_object_get(range, "label"));
		return bucket_chance(range, chance, err);
	}
	return lt_fail(err, LT_EINPUT, "no range %lld in \"ranges\"", (long long)index);
}

static int
parse_json(const struct lt_source_options *options, const json_t *json, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	const char *const region = lt_source_option(options, "region", "");
	const char *const type = lt_source_option(options, "instance_type", "");
	const char *const os = lt_source_option(options, "os", "Linux");
	const json_t *at = json_object_get(json, "spot_advisor");
	const int64_t start_utc_s = now_utc_s - now_utc_s % LT_HOUR_S;
	struct lt_point point = {.start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + 2 * INTERVAL_S,
	    .quality = LT_QUALITY_ESTIMATED};
	const char *label = "";
	double chance = 0;

	if (!json_is_object(at))
		return lt_fail(err, LT_EINPUT, "JSON without \"spot_advisor\"");
	at = member(at, region, '-', "\"spot_advisor\"", err);
	if (at != NULL)
		at = member(at, os, '\0', region, err);
	if (at != NULL)
		at = member(at, type, '.', region, err);
	if (at == NULL)
		return LT_EINPUT;
	const json_t *const index = json_object_get(at, "r");
	if (!json_is_integer(index))
		return lt_fail(err, LT_EINPUT, "%s: no whole number in \"r\", want a range", type);
	const int code = find_range(json, json_integer_value(index), &chance, &label, err);
	if (code != LT_OK)
		return code;
	points->quantity = LT_QUANTITY_HAZARD;
	point.value = lt_hazard_per_hour(chance, LT_MONTH_H);
	snprintf(points->note, sizeof(points->note),
	    "a prior only: %.20s of capacity reclaimed in the last month, taken as %g %%", label,
	    chance * 100);
	lt_text_mend(points->note);
	return lt_points_add(points, &point, err);
}

static int
advisor_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	return lt_json_parse(parse_json, options, answer, points, err);
}

static int
advisor_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	char url[LT_URL_SIZE];
	const struct lt_web_request request = {
	    .url = url, .type = LT_WEB_TEXT, .conditional = true};
	struct lt_web web;
	const int code =
	    lt_url_start(url, lt_source_option(options, "url", advisor_options[3].fallback),
		"spot-advisor-data.json", err);

	if (code != LT_OK)
		return code;
	lt_web_start(&web, options, points);
	return lt_web_points(&web, &request, advisor_parse, window->now_utc_s, err);
}

const struct lt_adapter lt_adapter_aws_spot_advisor = {
    .name = "aws_spot_advisor",
    .usage = "interruption rate of an EC2 instance type, published; no key",
    .options = advisor_options,
    .choices = advisor_choices,
    .interval_s = INTERVAL_S,
    .gives = LT_QUANTITY_HAZARD,
    .check = advisor_check,
    .fetch = advisor_fetch,
    .parse = advisor_parse,
};
