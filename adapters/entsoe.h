/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What entsoe.c asks of entsoe_xml.c: one answer of the Transparency
 * Platform, read into a generation mix, and which area a word means.
 */
#ifndef LT_ENTSOE_H
#define LT_ENTSOE_H

#include "fuel_mix.h"

enum { LT_EIC_SIZE = 17 };

/* The energy identification code of an area: itself, or of a short code such
 * as DE or NO1. NULL = neither, or a wrong check character. */
const char *lt_entsoe_area(const char *text);

extern const struct lt_mix_code lt_entsoe_fuels[];

enum lt_entsoe_kind {
	LT_ENTSOE_DATA,
	LT_ENTSOE_NO_DATA,  /* nothing for that area and time */
	LT_ENTSOE_TOO_MUCH, /* ask for a shorter time */
	LT_ENTSOE_REFUSED,  /* another reason */
};
struct lt_entsoe_answer {
	enum lt_entsoe_kind kind;
	char reason[200]; /* of all but data */
};

/*
 * Data goes into the mix (NULL: nowhere); that of another area, unit or curve
 * is counted as refused. LT_EINPUT for what is no answer at all, with line
 * and column. Pure.
 */
int lt_entsoe_read(const struct lt_answer *answer, const char *eic,
    struct lt_mix *mix, struct lt_entsoe_answer *said, struct lt_error *err);

#endif
