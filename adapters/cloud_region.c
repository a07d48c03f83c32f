/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cloud region's grid as one yearly average: without a network or a key, so that something is
 * known at all. docs/sources/cloud_region.md.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cloud_region.h"
#include "source.h"
#include "points.h"
#include "units.h"

#define EMISSIONS "direct" /* the default: of these all regions are known */

enum { REGION_SIZE = 64 };

static const struct lt_adapter_option cloud_options[] = {
    {"cloud", true, "aws, azure or gcp", NULL},
    {"region", true, "the cloud's name of it, as us-east-1", NULL},
    {"emission_factors", false, "lifecycle or direct", EMISSIONS},
    {NULL, false, NULL, NULL},
};

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

/* NULL = no such table. */
static const struct lt_cloud *
find_cloud(const char *name, const char *emissions)
{
	const struct lt_cloud *cloud = lt_clouds;

	while (cloud->name != NULL &&
	       (strcmp(cloud->name, name) != 0 || strcmp(cloud->emissions, emissions) != 0))
		cloud++;
	return cloud->name != NULL ? cloud : NULL;
}

static const struct lt_cloud_region *
find_region(const struct lt_cloud *cloud, const char *written)
{
	char name[REGION_SIZE];

	plain_name(name, written);
	for (int i = 0; i < cloud->region_count; i++)
		if (strcmp(cloud->regions[i].name, name) == 0)
			return &cloud->regions[i];
	return NULL;
}

const struct lt_cloud_region *
lt_cloud_region_find(const char *cloud, const char *region)
{
	const struct lt_cloud *const table = find_cloud(cloud, EMISSIONS);

	return table != NULL ? find_region(table, region) : NULL;
}

static int
unknown_region(
    const struct lt_source_options *options, const struct lt_cloud *cloud, struct lt_error *err)
{
	const char *const written = lt_source_option(options, "region", "");
	const struct lt_cloud_region *nearest = &cloud->regions[0];
	char name[REGION_SIZE];

	if (lt_cloud_region_find(cloud->name, written) != NULL)
		return lt_option_fail(options, "emission_factors", err,
		    "%s: emission_factors: got \"%s\", want direct: of %s that alone is known",
		    options->name, cloud->emissions, written);
	plain_name(name, written);
	for (int i = 1; i < cloud->region_count; i++)
		if (same_letters(cloud->regions[i].name, name) > same_letters(nearest->name, name))
			nearest = &cloud->regions[i];
	return lt_option_fail(options, "region", err,
	    "%s: region: got \"%.60s\", want one of the %d of %s that are known%s%s", options->name,
	    written, cloud->region_count, cloud->name,
	    same_letters(nearest->name, name) == 0 ? "" : "; the nearest is ",
	    same_letters(nearest->name, name) == 0 ? "" : nearest->name);
}

static enum lt_basis
emissions_of(const struct lt_source_options *options)
{
	return lt_basis_of_option(options, LT_BASIS_DIRECT);
}

static int
find_asked(const struct lt_source_options *options, const struct lt_cloud_region **found,
    struct lt_error *err)
{
	const char *const wanted = lt_source_option(options, "cloud", "");
	const char *const emissions = lt_basis_name(emissions_of(options));
	const struct lt_cloud *const cloud = find_cloud(wanted, emissions);

	if (cloud == NULL)
		return lt_option_fail(options, "cloud", err, "%s: cloud: got \"%s\", want %s",
		    options->name, wanted, cloud_options[0].usage);
	*found = find_region(cloud, lt_source_option(options, "region", ""));
	return *found != NULL ? LT_OK : unknown_region(options, cloud, err);
}

static int
cloud_check(const struct lt_source_options *options, struct lt_error *err)
{
	const struct lt_cloud_region *found;

	return find_asked(options, &found, err);
}

static int
cloud_year(const struct lt_source_options *options)
{
	const struct lt_cloud_region *found = NULL;

	return find_asked(options, &found, NULL) == LT_OK ? found->year : 0;
}

static int
cloud_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	const struct lt_cloud_region *region = NULL;
	struct lt_point point = {.start_utc_s = window->from_utc_s,
	    .end_utc_s = window->to_utc_s,
	    .quality = LT_QUALITY_CONSTANT};
	const int code = find_asked(options, &region, err);

	if (code != LT_OK)
		return code;
	points->quantity = LT_QUANTITY_CARBON;
	point.value = region->g_co2_per_kwh;
	snprintf(points->note, sizeof(points->note),
	    "the mean of %d (%s), %s emissions of grid %s, not of today", region->year,
	    region->origin, lt_basis_name(emissions_of(options)), region->zone);
	lt_table_age_note(points, region->year, window->now_utc_s);
	return lt_points_add(points, &point, err);
}

const struct lt_adapter lt_adapter_cloud_region = {
    .name = "cloud_region",
    .usage = "a cloud region's yearly average; no network, no key",
    .options = cloud_options,
    .interval_s = LT_DAY_S,
    .gives = LT_QUANTITY_CARBON,
    .basis = LT_BASIS_DIRECT,
    .version = "mean of 2024, region-carbon-info 49f3f26 or CarbonX 47723d3, imports counted",
    .check = cloud_check,
    .table_year = cloud_year,
    .fetch = cloud_fetch,
};
