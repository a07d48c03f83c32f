/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mean days by month of the grids that the project ships: the table that
 * tests/tools/make_climatology.c writes and climatology.c reads.
 */
#ifndef LT_CLIMATOLOGY_H
#define LT_CLIMATOLOGY_H

#include <stdint.h>

struct lt_climatology {
	const char *zone;  /* as at Electricity Maps */
	const char *years; /* that the means are of */
	/* Life-cycle g CO2e/kWh by month and UTC hour. */
	uint16_t g_per_kwh[12][24];
};
/* Ended by zone NULL. */
extern const struct lt_climatology lt_climatologies[];

#endif
