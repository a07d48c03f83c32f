/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Power caps as words: which frequencies Slurm takes, and a plan's cap as a sentence and as text in
 * its quote, which is read back from there. Pure. A text that is not a cap is refused.
 */
#include "power_cap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "plan_text.h"
#include "text.h"
#include "units.h"

/* A number, without zeros before it. */
static size_t
digits(const char *text)
{
	const size_t length = strspn(text, "0123456789");

	return text[0] == '0' || length > 9 ? 0 : length;
}

bool
lt_frequency_is_good(const char *text)
{
	static const char *const words[] = {"", "low", "medium", "high", "highm1"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], text) == 0)
			return true;
	return digits(text) > 0 && text[digits(text)] == '\0';
}

static void
put_frequency(struct lt_text *text, const char *what, const char *frequency, const char *unit)
{
	const bool is_number = digits(frequency) > 0;

	if (frequency[0] != '\0')
		lt_text_put(text, "%s%s at %s%s", text->at > 0 ? ", " : "", what, frequency,
		    is_number ? unit : "");
}

void
lt_capped_note(struct lt_brief *notes, const char *what, const struct lt_capped *capped)
{
	char frequencies[96] = "";
	struct lt_text text = {.out = frequencies, .size = sizeof(frequencies)};
	const double less_wh = fabs((double)capped->less_wh);
	static const double kwh = 1000;

	if (!lt_is_capped(capped))
		return;
	put_frequency(&text, "GPUs", capped->gpu_freq, " MHz");
	put_frequency(&text, "CPUs", capped->cpu_freq, " kHz");
	lt_brief_put(notes, LT_NOTE_CAP, "; ", "%s%s", what, frequencies);
	lt_brief_put(notes, 2 * LT_NOTE_DETAILS + LT_NOTE_CAP, " ",
	    "above %" PRIu32 " g/kWh (%" PRIu32 " g)", capped->above_g, capped->mean_g);
	lt_brief_put(notes, LT_NOTE_DETAILS + LT_NOTE_CAP, ": ",
	    less_wh < kwh ? "%.4g %% longer, %.0f Wh %s" : "%.4g %% longer, %.1f kWh %s",
	    (double)capped->longer_ppm / (LT_MICROS / 100), less_wh < kwh ? less_wh : less_wh / kwh,
	    capped->less_wh < 0 ? "more" : "less");
}

const char *
lt_capped_text(char *out, size_t size, const struct lt_capped *capped)
{
	struct lt_brief note = {.count = 0};

	lt_capped_note(&note, "", capped);
	return lt_brief_text(out, size, &note, LT_BRIEF_ALL);
}

int
lt_capped_pack(char *out, size_t size, const struct lt_capped *capped)
{
	struct lt_text text = {.out = out, .size = size};

	if (size == 0)
		return LT_ELIMIT;
	lt_text_put(&text, "%s,%s,%" PRId64 ",%" PRIu32 ",%" PRId64 ",%" PRIu32 ",%" PRIu32,
	    capped->gpu_freq[0] ? capped->gpu_freq : "-",
	    capped->cpu_freq[0] ? capped->cpu_freq : "-", capped->until_utc_s, capped->longer_ppm,
	    capped->less_wh, capped->above_g, capped->mean_g);
	if (!text.full)
		return LT_OK;
	out[0] = '\0';
	return LT_ELIMIT;
}

static bool
take_frequency(char out[LT_FREQUENCY_SIZE], const char *field)
{
	if (field == NULL || field[0] == '\0' || strlen(field) >= LT_FREQUENCY_SIZE)
		return false;
	if (strcmp(field, "-") != 0)
		memcpy(out, field, strlen(field) + 1);
	return true;
}

bool
lt_capped_unpack(struct lt_capped *capped, const char *text)
{
	enum { NUMBERS = 5, SIZE = 160 };
	char copy[SIZE], again[SIZE], *rest = copy;
	int64_t numbers[NUMBERS];

	*capped = (struct lt_capped){0};
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy) ||
	    !take_frequency(capped->gpu_freq, strsep(&rest, ",")) ||
	    !take_frequency(capped->cpu_freq, strsep(&rest, ",")))
		return false;
	for (int i = 0; i < NUMBERS; i++) {
		const char *const field = strsep(&rest, ",");
		const bool is_wide = i == 0 || i == 2;

		if (field == NULL ||
		    lt_int64_parse(field, i == 2 ? INT64_MIN : 0, is_wide ? INT64_MAX : UINT32_MAX,
			&numbers[i], NULL) != LT_OK)
			return false;
	}
	capped->until_utc_s = numbers[0];
	capped->longer_ppm = (uint32_t)numbers[1];
	capped->less_wh = numbers[2];
	capped->above_g = (uint32_t)numbers[3];
	capped->mean_g = (uint32_t)numbers[4];
	return rest == NULL && lt_is_capped(capped) && lt_frequency_is_good(capped->gpu_freq) &&
	       lt_frequency_is_good(capped->cpu_freq) &&
	       lt_capped_pack(again, sizeof(again), capped) == LT_OK && strcmp(again, text) == 0;
}
