/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mean days by month of the grids that the project ships: what adapters/tables/make_climatology.pl
 * writes and climatology.c reads.
 */
#ifndef LT_CLIMATOLOGY_H
#define LT_CLIMATOLOGY_H

#include <stdint.h>

/* Without a pointer in it: a table of them needs no relocation, and costs lowtided nothing until it
 * is read. */
struct lt_climatology {
	char zone[20];		   /* as at Electricity Maps */
	int first_year, last_year; /* of the means */
	char origin[60];
	/* g CO2e/kWh by month and UTC hour. */
	uint16_t g_per_kwh[12][24];
};
/* Two tables of the same zones; zone "" ends each. */
extern const struct lt_climatology lt_climatologies_lifecycle[];
extern const struct lt_climatology lt_climatologies_direct[];

#endif
