/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the text of a tariff's rates: refused with a reason and a place, or steps without gaps
 * over a week in which the clocks change.
 */
#include "fuzz/parse_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

enum { FROM_UTC_S = 1679616000 }; /* 2023-03-24T00:00Z */

static void
check_steps(const struct lt_points *points, int64_t to_utc_s)
{
	fuzz_points(points, false);
	if (points->points[0].start_utc_s != FROM_UTC_S ||
	    points->points[points->count - 1].end_utc_s != to_utc_s)
		__builtin_trap();
	for (size_t i = 1; i < points->count; i++)
		if (points->points[i].start_utc_s != points->points[i - 1].end_utc_s ||
		    points->points[i].value == points->points[i - 1].value)
			__builtin_trap();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	const struct lt_adapter *const adapter = lt_adapter_find("time_of_use");
	const int64_t to_utc_s = FROM_UTC_S + 7 * 86400;
	char rates[512], shown[LT_ERROR_TEXT_SIZE];
	struct lt_source_options options = {.name = "fuzz",
	    .count = 2,
	    .items = {{"rates", rates, 1, 1}, {"timezone", "Europe/London", 2, 1}}};
	struct lt_points points = {0};
	struct lt_error err = {0};

	if (byte_count >= sizeof(rates))
		byte_count = sizeof(rates) - 1;
	memcpy(rates, bytes, byte_count);
	rates[byte_count] = '\0';
	const int code = adapter->check(&options, &err);
	const int fetched = lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){FROM_UTC_S, to_utc_s, FROM_UTC_S}, &points, NULL);

	if ((code == LT_OK) != (fetched == LT_OK))
		__builtin_trap();
	if (code == LT_OK)
		check_steps(&points, to_utc_s);
	else if (err.text[0] == '\0' || err.line != 1)
		__builtin_trap(); /* a refusal says why and where */
	memcpy(shown, err.text, sizeof(shown));
	lt_text_mend(shown);
	if (strcmp(shown, err.text) != 0)
		__builtin_trap(); /* not fit for a log */
	lt_points_free(&points);
	return 0;
}
