/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the fuzzers of sources: the bytes of one answer or file give points within their bounds, or a
 * refusal that says why and can be shown.
 */
#ifndef LT_PARSE_POINTS_H
#define LT_PARSE_POINTS_H

#include <math.h>
#include <string.h>

#include "source.h"

enum { FUZZ_NOW_UTC_S = 1683244800 }; /* 2023-05-05T00:00Z, as the corpora */

static inline void
fuzz_points(const struct lt_points *points, bool may_be_empty)
{
	if ((points->count == 0 && !may_be_empty) || points->count > LT_POINTS_MAX)
		__builtin_trap();
	for (size_t i = 0; i < points->count; i++) {
		const struct lt_point *const p = &points->points[i];

		if (p->end_utc_s <= p->start_utc_s || !isfinite(p->value) ||
		    p->quality <= LT_QUALITY_NONE || p->quality >= LT_QUALITY_COUNT)
			__builtin_trap();
		if (points->quantity != LT_QUANTITY_TARIFF &&
		    points->quantity != LT_QUANTITY_TEMPERATURE &&
		    (p->value < 0 || (p->value == 0 && !points->zero_is_data &&
					 !lt_quantity_is_weather(points->quantity))))
			__builtin_trap(); /* missing is not zero */
		if (i > 0 && p->start_utc_s < p[-1].end_utc_s)
			__builtin_trap(); /* sorted, no overlap */
	}
}

static inline void
fuzz_source(const char *adapter, const struct lt_source_options *options, const uint8_t *bytes,
    size_t byte_count)
{
	struct lt_points points = {0};
	struct lt_error err = {0};
	char shown[LT_ERROR_TEXT_SIZE];
	const struct lt_adapter *const found = lt_adapter_find(adapter);
	const int code = lt_adapter_parse(found, options,
	    &(struct lt_answer){(const char *)bytes, byte_count, FUZZ_NOW_UTC_S}, &points, &err);

	/* Now may lie in a gap of a recording, for a week and more. */
	if (code == LT_OK)
		fuzz_points(&points, found->replay);
	else if (err.text[0] == '\0' || (int)err.code != code)
		__builtin_trap(); /* a refusal says why */
	memcpy(shown, err.text, sizeof(shown));
	lt_text_mend(shown);
	if (strcmp(shown, err.text) != 0)
		__builtin_trap(); /* not fit for a log */
	lt_points_free(&points);
}

/* The adapters of files: with the usual columns, and with columns, skipped lines and a scale of
 * one's own. */
static inline void
fuzz_file(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_source_options usual = {.name = "fuzz",
	    .count = 2,
	    .items = {{"path", "/fuzz", 1, 1}, {"quantity", "carbon", 2, 1}}};
	static const struct lt_source_options own = {.name = "fuzz",
	    .count = 7,
	    .items = {{"path", "/fuzz", 1, 1}, {"quantity", "tariff", 2, 1},
		{"value", "intensity", 3, 1}, {"end", "end", 4, 1}, {"skip", "1", 5, 1},
		{"scale", "0.001", 6, 1}, {"zone", "utc", 7, 1}}};

	fuzz_source("file", &usual, bytes, byte_count);
	fuzz_source("file", &own, bytes, byte_count);
	fuzz_source("replay", &usual, bytes, byte_count);
}

static inline bool
is_json_file(const uint8_t *bytes, size_t byte_count)
{
	size_t first = 0;

	if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
		first = 3;
	while (
	    first < byte_count && bytes[first] != '\0' && strchr(" \t\r\n", bytes[first]) != NULL)
		first++;
	return first < byte_count && (bytes[first] == '[' || bytes[first] == '{');
}

#endif
