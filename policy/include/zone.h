/*
 * The site's time zone as offset steps, so that the plugins can print local time without tzset() or
 * files. lowtided fills it from `timezone:`.
 */
#ifndef LT_ZONE_H
#define LT_ZONE_H

#include <stddef.h>
#include <stdint.h>

#include "limits.h"

struct lt_zone {
	int count; /* 0 = UTC */
	struct {
		int64_t start_utc_s; /* first step: INT64_MIN */
		int32_t offset_s;    /* east of UTC */
		char abbreviation[8];
	} steps[LT_ZONE_STEPS_MAX];
};

/* "Sat 02:00 GMT" within a week of now, else "Sat 5 Dec 02:00 GMT". */
const char *lt_zone_text(
    char *out, size_t size, const struct lt_zone *zone, int64_t utc_s, int64_t now_utc_s);

/* "02:00" when the same local day as other_utc_s, else as lt_zone_text(). */
const char *lt_zone_text_short(char *out, size_t size, const struct lt_zone *zone, int64_t utc_s,
    int64_t other_utc_s, int64_t now_utc_s);

#endif
