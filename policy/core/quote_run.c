/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of what kind a job's runs are, and how long it was expected to run, as the
 * text of a member of its quote; docs/formats.md, "quote".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "quote.h"
#include "text.h"
#include "units.h"

static const char cap_mark[] = ",cap,"; /* no history has that word */

int
lt_quote_run_pack(char *out, size_t size, const struct lt_quote_run *run)
{
	const struct lt_expected *const e = &run->expected;
	struct lt_text text = {.out = out, .size = size};

	if (size == 0)
		return LT_ELIMIT;
	lt_text_put(&text, "%016" PRIx64, run->kind);
	if (e->expected_s > 0 || run->ratio_ppm != LT_MICROS ||
	    run->interruptions_ppm > 0)
		lt_text_put(&text,
		    ",%s,%" PRId64 ",%" PRId64 ",%" PRIu32 ",%" PRId64
		    ",%" PRIu32,
		    lt_history_word(
			e->expected_s > 0 ? e->from : LT_HISTORY_NONE),
		    e->expected_s, e->upper_s, e->runs, run->limit_s,
		    run->ratio_ppm);
	if (run->interruptions_ppm > 0)
		lt_text_put(&text, ",%" PRId64 ",%" PRId64,
		    run->interruptions_ppm, run->lost_s);
	if (lt_is_capped(&run->capped)) {
		char cap[LT_RUN_TEXT_SIZE];

		if (lt_capped_pack(cap, sizeof(cap), &run->capped) != LT_OK)
			text.full = true;
		lt_text_put(&text, "%s%s", cap_mark, cap);
	}
	if (!text.full)
		return LT_OK;
	out[0] = '\0';
	return LT_ELIMIT;
}

/* The end of the text, cut off, as the cap. False: it is none. */
static bool
scan_cap(struct lt_quote_run *run, char *text)
{
	char *const mark = strstr(text, cap_mark);

	if (mark == NULL)
		return true;
	*mark = '\0';
	return lt_capped_unpack(&run->capped, mark + strlen(cap_mark));
}

/* The fields after the kind. False: they are not all there. */
static bool
scan_fields(struct lt_quote_run *run, char *text)
{
	enum { FIELDS = 8, OLD_FIELDS = 6 };
	struct lt_expected *const e = &run->expected;
	int64_t numbers[FIELDS] = {0};
	char *const word = strsep(&text, ",");
	int from = 0;

	while (from < LT_HISTORY_WORDS &&
	       strcmp(word, lt_history_word((enum lt_history_group)from)) != 0)
		from++;
	for (int i = 1; i < FIELDS; i++) {
		if (text == NULL && i == OLD_FIELDS)
			break;
		const char *const field = strsep(&text, ",");
		const int64_t most = i == 3 || i == 5 ? UINT32_MAX : INT64_MAX;

		if (field == NULL || lt_int64_parse(field, i == 5, most,
					 &numbers[i], NULL) != LT_OK)
			return false;
	}
	if (text != NULL || from == LT_HISTORY_WORDS)
		return false;
	e->from = (enum lt_history_group)from;
	e->expected_s = numbers[1];
	e->upper_s = numbers[2];
	e->runs = (uint32_t)numbers[3];
	run->limit_s = numbers[4];
	run->ratio_ppm = (uint32_t)numbers[5];
	run->interruptions_ppm = numbers[6];
	run->lost_s = numbers[7];
	return (e->expected_s == 0) == (e->from == LT_HISTORY_NONE);
}

int
lt_quote_run_unpack(struct lt_quote_run *run, const char *text, size_t length,
    struct lt_error *err)
{
	enum { KIND = 16 };
	char copy[LT_RUN_TEXT_SIZE], again[LT_RUN_TEXT_SIZE];
	bool good = length >= KIND && length < sizeof(copy) &&
		    memchr(text, '\0', length) == NULL;

	*run = (struct lt_quote_run){
	    .expected.from = LT_HISTORY_NONE, .ratio_ppm = LT_MICROS};
	if (good) {
		memcpy(copy, text, length);
		copy[length] = '\0';
		good = scan_cap(run, copy) &&
		       (copy[KIND] == '\0' ||
			   (copy[KIND] == ',' &&
			       scan_fields(run, copy + KIND + 1)));
		copy[KIND] = '\0';
		run->kind = strtoull(copy, NULL, 16);
	}
	/* One way to write each: what it does not write was not read. */
	if (good && run->kind != 0 &&
	    lt_quote_run_pack(again, sizeof(again), run) == LT_OK &&
	    strlen(again) == length && memcmp(again, text, length) == 0)
		return LT_OK;
	memset(run, 0, sizeof(*run));
	return lt_fail(err, LT_EINPUT, "kind of runs: \"%.*s\" is damaged",
	    length < LT_RUN_TEXT_SIZE ? (int)length : LT_RUN_TEXT_SIZE, text);
}
