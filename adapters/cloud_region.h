/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of cloud_region.c, one for each cloud and kind of emissions, so that no two kinds
 * stand in one: adapters/tables/make_cloud_region.pl writes them, docs/licenses/tables.md names
 * whose facts they are.
 */
#ifndef LT_CLOUD_REGION_H
#define LT_CLOUD_REGION_H

struct lt_cloud_region { /* no pointers: read-only, and not relocated */
	char name[28];
	char zone[20]; /* of Electricity Maps: the grid there */
	double g_co2_per_kwh;
	int year;	 /* that it is the mean of */
	char origin[36]; /* "CarbonX, DK": of that wider zone */
};

struct lt_cloud {
	const char *name;      /* NULL ends the table */
	const char *emissions; /* "direct", "lifecycle" */
	const struct lt_cloud_region *regions;
	int region_count;
};

extern const struct lt_cloud lt_clouds[];

/* In the table of direct emissions, which has all regions; NULL = unknown. */
const struct lt_cloud_region *lt_cloud_region_find(const char *cloud, const char *region);

#endif
