/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cloud region's grid as one yearly average: without a network or a key, so
 * that something is known at all. docs/sources/cloud_region.md.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cloud_region.h"
#include "source.h"
#include "units.h"

enum { REGION_SIZE = 64 };

static const struct lt_adapter_option cloud_options[] = {
    {"cloud", true, "aws, azure or gcp", NULL},
    {"region", true, "the cloud's name of it, as us-east-1", NULL},
    {NULL, false, NULL, NULL},
};

static enum lt_quantity
cloud_quantity(const struct lt_source_options *options)
{
	(void)options;
	return LT_QUANTITY_CARBON;
}

/* "East US" is "eastus" in Azure's own tools. */
static void
plain_name(char out[REGION_SIZE], const char *name)
{
	int length = 0;

	for (; *name != '\0' && length < REGION_SIZE - 1; name++)
		if (*name != ' ')
			out[length++] = (char)tolower((unsigned char)*name);
	out[length] = '\0';
}

static int
same_letters(const char *left, const char *right)
{
	int count = 0;

	while (left[count] != '\0' && left[count] == right[count])
		count++;
	return count;
}

static int
unknown_region(const struct lt_source_options *options,
    const struct lt_cloud *cloud, const char *name, struct lt_error *err)
{
	const struct lt_cloud_region *nearest = &cloud->regions[0];

	for (int i = 1; i < cloud->region_count; i++)
		if (same_letters(cloud->regions[i].name, name) >
		    same_letters(nearest->name, name))
			nearest = &cloud->regions[i];
	return lt_option_fail(options, "region", err,
	    "%s: region: got \"%.60s\", want one of the %d of %s that are known%s%s",
	    options->name, lt_source_option(options, "region", ""),
	    cloud->region_count, cloud->name,
	    same_letters(nearest->name, name) == 0 ? "" : "; the nearest is ",
	    same_letters(nearest->name, name) == 0 ? "" : nearest->name);
}

static int
find(const struct lt_source_options *options,
    const struct lt_cloud_region **found, struct lt_error *err)
{
	const char *const wanted = lt_source_option(options, "cloud", "");
	const struct lt_cloud *cloud = lt_clouds;
	char name[REGION_SIZE];

	while (cloud->name != NULL && strcmp(cloud->name, wanted) != 0)
		cloud++;
	if (cloud->name == NULL)
		return lt_option_fail(options, "cloud", err,
		    "%s: cloud: got \"%s\", want %s", options->name, wanted,
		    cloud_options[0].usage);
	plain_name(name, lt_source_option(options, "region", ""));
	for (int i = 0; i < cloud->region_count; i++)
		if (strcmp(cloud->regions[i].name, name) == 0) {
			*found = &cloud->regions[i];
			return LT_OK;
		}
	return unknown_region(options, cloud, name, err);
}

static int
cloud_check(const struct lt_source_options *options, struct lt_error *err)
{
	const struct lt_cloud_region *found;

	return find(options, &found, err);
}

static int
cloud_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	const struct lt_cloud_region *region = NULL;
	struct lt_point point = {.start_utc_s = window->from_utc_s,
	    .end_utc_s = window->to_utc_s,
	    .quality = LT_QUALITY_CONSTANT};
	const int code = find(options, &region, err);

	if (code != LT_OK)
		return code;
	points->quantity = LT_QUANTITY_CARBON;
	point.value = region->g_co2_per_kwh;
	snprintf(points->note, sizeof(points->note),
	    "a yearly average of about 2019 to 2021 (%s), not of today",
	    region->origin);
	return lt_points_add(points, &point, err);
}

const struct lt_adapter lt_adapter_cloud_region = {
    .name = "cloud_region",
    .usage = "a cloud region's yearly average; no network, no key",
    .options = cloud_options,
    .interval_s = LT_DAY_S,
    .quantity = cloud_quantity,
    .check = cloud_check,
    .fetch = cloud_fetch,
};
