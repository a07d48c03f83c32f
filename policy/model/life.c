/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a job's progress markers to decide whether it resumed after an interruption or started
 * over. docs/model.md, (56), (57). Pure; markers that can't be compared decide nothing.
 */
#include "life.h"

#include <string.h>

#include "units.h"

static const double most = 1e15; /* counts exactly in a double */

/* Reads the number at the beginning: "12", "0.35" or ".5". */
static size_t
number_length(const char *text)
{
	static const char digits[] = "0123456789";
	const size_t whole = strspn(text, digits);
	const size_t part = text[whole] == '.' ? strspn(text + whole + 1, digits) : 0;

	return part > 0 ? whole + 1 + part : whole;
}

bool
lt_marker_parse(struct lt_marker *marker, const char *text)
{
	const char *from = text + strcspn(text, "0123456789");
	char number[LT_MARKER_SIZE];

	if (*from == '\0')
		return false;
	if (from > text && from[-1] == '.')
		from--;
	if (from > text && from[-1] == '-')
		return false;
	const size_t length = number_length(from);

	if (length >= sizeof(number))
		return false;
	memcpy(number, from, length);
	number[length] = '\0';
	marker->is_saved = strstr(from + length, "saved") != NULL;
	return lt_double_parse(number, &marker->progress, NULL) == LT_OK && marker->progress >= 0 &&
	       marker->progress <= most;
}

void
lt_life_ask(struct lt_life *life, int64_t now_utc_s)
{
	/* A run without a marker has not begun to work: nothing could be
	 * lost. */
	if (!life->is_told)
		return;
	life->asked_utc_s = now_utc_s > 0 ? now_utc_s : 1;
	life->asked_progress = life->now.newest.progress;
	life->asked_after_s = life->now.newest_after_s;
	life->write_s = 0;
}

/* The run with markers is the one before. */
static void
turn_over(struct lt_life *life)
{
	const struct lt_progress *const now = &life->now;
	const bool asked = life->asked_utc_s != 0;

	life->has_before = true;
	life->before_was_asked = asked;
	life->before_first = now->first.progress;
	life->before_progress = asked ? life->asked_progress : now->newest.progress;
	life->before_after_s = asked ? life->asked_after_s : now->newest_after_s;
	life->asked_utc_s = 0;
	life->outcome = LT_OUTCOME_OPEN;
}

/* Decides by the first marker of the run after it. */
static enum lt_outcome
judge_outcome(const struct lt_life *life)
{
	const double first = life->now.first.progress;

	if (first < life->before_progress)
		/* A job that was not asked may resume from an older checkpoint. */
		return life->before_was_asked || first <= life->before_first ? LT_OUTCOME_FAILED
									     : LT_OUTCOME_UNKNOWN;
	/* One that starts over comes there, too, but no sooner than before. */
	return life->now.first_after_s + LT_LIFE_BLUR_S < life->before_after_s ? LT_OUTCOME_SURVIVED
									       : LT_OUTCOME_UNKNOWN;
}

/* Measures from the signal to the first marker that says so. */
static void
measure_write(struct lt_life *life, int64_t now_utc_s)
{
	if (life->asked_utc_s != 0 && life->write_s == 0 && life->now.newest.is_saved &&
	    life->now.newest_after_s > life->asked_after_s &&
	    life->now.newest.progress >= life->asked_progress)
		life->write_s = now_utc_s > life->asked_utc_s ? now_utc_s - life->asked_utc_s : 1;
}

bool
lt_life_tell(struct lt_life *life, const struct lt_progress *progress, int64_t now_utc_s)
{
	if (life->is_told && progress->restarts < life->now.restarts)
		return false;
	const bool is_next = life->is_told && progress->restarts > life->now.restarts;

	if (is_next)
		turn_over(life);
	if (life->is_told && !is_next) {
		/* The first marker of a run stays, even if another report has one. */
		if (progress->newest_after_s >= life->now.newest_after_s) {
			life->now.newest = progress->newest;
			life->now.newest_after_s = progress->newest_after_s;
		}
	} else {
		life->now = *progress;
	}
	life->is_told = true;
	measure_write(life, now_utc_s);
	if (!is_next)
		return false;
	life->outcome = judge_outcome(life);
	return true;
}
