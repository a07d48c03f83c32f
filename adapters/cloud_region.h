/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of cloud_region.c, one for each cloud and kind of emissions, so
 * that no two kinds stand in one: adapters/tables/make_cloud_region.pl writes
 * them, docs/licenses/tables.md names whose facts they are.
 */
#ifndef LT_CLOUD_REGION_H
#define LT_CLOUD_REGION_H

struct lt_cloud_region {
	const char *name;
	const char *zone; /* of Electricity Maps: the grid there */
	double g_co2_per_kwh;
	int year;	    /* that it is the mean of */
	const char *origin; /* "CarbonX, DK": of that wider zone */
};

struct lt_cloud {
	const char *name;      /* NULL ends the table */
	const char *emissions; /* "direct", "lifecycle" */
	const struct lt_cloud_region *regions;
	int region_count;
};

extern const struct lt_cloud lt_clouds[];

/* In the table of direct emissions, which has all regions; NULL = unknown. */
const struct lt_cloud_region *lt_cloud_region_find(
    const char *cloud, const char *region);

#endif
