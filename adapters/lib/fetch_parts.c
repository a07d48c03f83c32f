/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins the two parts of a fetch, forecast and history, between an adapter's requests and the
 * daemon.
 */
#include <string.h>

#include "fetch_parts.h"
#include "option.h"
#include "text_mend.h"

/* Points that came before a later request failed count. */
static bool
has_come(const struct lt_fetch_part *part)
{
	return part->points.count > 0;
}

/* Keeps the pause that a part asks for: for that part alone in *until_utc_s, or, where that is
 * NULL, for all of the source. */
static void
keep_pause(const struct lt_fetch_part *part, int64_t now_utc_s, int64_t *until_utc_s,
    struct lt_points *points)
{
	const int64_t pause_s = part->points.retry_after_s < LT_RETRY_AFTER_MAX_S
				    ? part->points.retry_after_s
				    : LT_RETRY_AFTER_MAX_S;

	if (until_utc_s == NULL && pause_s > points->retry_after_s)
		points->retry_after_s = pause_s;
	else if (until_utc_s != NULL && pause_s > 0)
		*until_utc_s = now_utc_s + pause_s;
}

static void
keep_pauses(const struct lt_fetch_parts *parts, struct lt_source_memory *memory, int64_t now_utc_s,
    struct lt_points *points)
{
	keep_pause(&parts->ahead, now_utc_s,
	    memory != NULL && has_come(&parts->past) ? &memory->ahead_pause_utc_s : NULL, points);
	keep_pause(&parts->past, now_utc_s,
	    memory != NULL && has_come(&parts->ahead) ? &memory->past_pause_utc_s : NULL, points);
}

int
lt_fetch_parts_join(struct lt_fetch_parts *parts, const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points, struct lt_error *err)
{
	struct lt_fetch_part *const past = &parts->past, *const ahead = &parts->ahead;
	const struct lt_fetch_part *const lost = ahead->code != LT_OK ? ahead : past;
	int code;

	if (ahead->code != LT_OK) { /* nothing of it but the pause */
		lt_points_free(&ahead->points);
		ahead->points = (struct lt_points){.retry_after_s = ahead->points.retry_after_s};
	}
	keep_pauses(parts, options->memory, window->now_utc_s, points);
	if (lost->code != LT_OK && !has_come(past) && !has_come(ahead))
		return lt_error_give(err, lost->code, &lost->err);
	code = lt_points_copy(points, &past->points, window->from_utc_s, window->to_utc_s, err);
	if (code == LT_OK && has_come(ahead))
		code = lt_points_copy(
		    points, &ahead->points, window->from_utc_s, window->to_utc_s, err);
	if (code != LT_OK)
		return code;
	if (points->count == 0)
		return lt_fail(err, LT_EINPUT, "%s: nothing of the time that was asked for%s%s",
		    options->name, lost->err.text[0] == '\0' ? "" : "; ", lost->err.text);
	if (ahead->points.note[0] != '\0')
		lt_note_add(points, "%s", ahead->points.note);
	if (past->points.note[0] != '\0' && strcmp(past->points.note, ahead->points.note) != 0)
		lt_note_add(points, "history: %s", past->points.note);
	if (past->code != LT_OK) {
		points->past_lost = true;
		lt_note_add(points, "%s history: %s",
		    past->points.count > 0 ? "not all" : "without", past->err.text);
	}
	if (ahead->code != LT_OK)
		lt_note_add(points, "without forecast: %s", ahead->err.text);
	lt_points_sort(points);
	if (ahead->points.issued_utc_s == 0)
		lt_points_date(points, window->now_utc_s);
	return LT_OK;
}

void
lt_fetch_parts_free(struct lt_fetch_parts *parts)
{
	lt_points_free(&parts->past.points);
	lt_points_free(&parts->ahead.points);
}
