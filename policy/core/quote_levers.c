/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By which levers a plan differs from home, as the text of a member of its
 * quote; docs/formats.md, "quote".
 */
#include <inttypes.h>
#include <string.h>

#include "quote.h"
#include "quote_internal.h"
#include "text.h"
#include "units.h"

int
lt_levers_pack(char *out, size_t size, const struct lt_levers *levers)
{
	const struct lt_amount *const amounts[] = {
	    &levers->home_then, &levers->there_now, &levers->there_slow};
	struct lt_text text = {.out = out, .size = size};

	if (size == 0)
		return LT_ELIMIT;
	lt_text_put(
	    &text, "%" PRIu32 ",%" PRIu32, levers->size_ppm, levers->power_ppm);
	for (size_t i = 0; i < sizeof(amounts) / sizeof(*amounts); i++) {
		lt_text_put(&text, ",");
		lt_quote_put_amount(&text, amounts[i]);
	}
	if (levers->room_utc_s > 0)
		lt_text_put(&text, ",%" PRId64, levers->room_utc_s);
	if (!text.full)
		return LT_OK;
	out[0] = '\0';
	return LT_ELIMIT;
}

static bool
scan_optional(char **text, bool *known, int64_t *value)
{
	const char *const field = strsep(text, ",");

	*known = field != NULL && strcmp(field, "-") != 0;
	return field != NULL &&
	       (!*known || lt_int64_parse(field, INT64_MIN, INT64_MAX, value,
			       NULL) == LT_OK);
}

static bool
scan(struct lt_levers *levers, char *text)
{
	struct lt_amount *const amounts[] = {
	    &levers->home_then, &levers->there_now, &levers->there_slow};
	uint32_t *const ratios[] = {&levers->size_ppm, &levers->power_ppm};

	for (int i = 0; i < 2; i++) {
		const char *const field = strsep(&text, ",");
		int64_t value;

		if (field == NULL ||
		    lt_int64_parse(field, 1, UINT32_MAX, &value, NULL) != LT_OK)
			return false;
		*ratios[i] = (uint32_t)value;
	}
	for (int i = 0; i < 3; i++)
		if (!scan_optional(&text, &amounts[i]->has_money,
			&amounts[i]->money_micros) ||
		    !scan_optional(
			&text, &amounts[i]->has_carbon, &amounts[i]->carbon_mg))
			return false;
	return text == NULL || lt_int64_parse(text, 1, INT64_MAX,
				   &levers->room_utc_s, NULL) == LT_OK;
}

int
lt_levers_unpack(struct lt_levers *levers, const char *text, size_t length,
    struct lt_error *err)
{
	char copy[LT_LEVERS_TEXT_SIZE], again[LT_LEVERS_TEXT_SIZE];

	*levers = (struct lt_levers){0};
	if (length < sizeof(copy) && memchr(text, '\0', length) == NULL) {
		memcpy(copy, text, length);
		copy[length] = '\0';
		/* One way to write each: what it does not write was not read.
		 */
		if (scan(levers, copy) &&
		    lt_levers_pack(again, sizeof(again), levers) == LT_OK &&
		    strlen(again) == length && memcmp(again, text, length) == 0)
			return LT_OK;
	}
	*levers = (struct lt_levers){0};
	return lt_fail(err, LT_EINPUT, "levers: \"%.*s\" is damaged",
	    length < LT_LEVERS_TEXT_SIZE ? (int)length : LT_LEVERS_TEXT_SIZE,
	    text);
}
