/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of cloud_region.c: from the grid emissions factors of Cloud Carbon
 * Footprint (github.com/cloud-carbon-footprint/ccf-coefficients,
 * data/grid-emissions-factors-*.csv; copyright Thoughtworks, Inc.; Apache
 * License 2.0, docs/licenses/Apache-2.0.txt). Changed: metric tons per kWh
 * are grams, names have small letters and no blanks.
 */
#ifndef LT_CLOUD_REGION_H
#define LT_CLOUD_REGION_H

struct lt_cloud_region {
	const char *name;
	double g_co2_per_kwh;
	const char *origin; /* who published it, for which grid */
};

struct lt_cloud {
	const char *name; /* NULL ends the table */
	const struct lt_cloud_region *regions;
	int region_count;
};

extern const struct lt_cloud lt_clouds[];

#endif
