/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins the two parts of a fetch, forecast and history, between an adapter's
 * requests and the daemon.
 */
#include <string.h>

#include "fetch_parts.h"
#include "source_memory.h"
#include "text_mend.h"

static int
fail_as(const struct lt_fetch_part *part, struct lt_points *points,
    struct lt_error *err)
{
	points->retry_after_s = part->points.retry_after_s;
	return lt_error_give(err, part->code, &part->err);
}

int
lt_fetch_parts_join(struct lt_fetch_parts *parts,
    const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_fetch_part *const past = &parts->past, *const ahead =
							     &parts->ahead;
	int code;

	if (ahead->asked && ahead->code != LT_OK)
		return fail_as(ahead, points, err);
	if (past->code != LT_OK && past->points.count == 0 && !ahead->asked)
		return fail_as(past, points, err);
	points->retry_after_s = ahead->points.retry_after_s;
	if (past->points.retry_after_s > 0 && ahead->asked &&
	    options->memory != NULL)
		options->memory->past_pause_utc_s =
		    window->now_utc_s +
		    (past->points.retry_after_s < LT_RETRY_AFTER_MAX_S
			    ? past->points.retry_after_s
			    : LT_RETRY_AFTER_MAX_S);
	else if (past->points.retry_after_s > points->retry_after_s)
		points->retry_after_s = past->points.retry_after_s;
	code = lt_points_copy(
	    points, &past->points, window->from_utc_s, window->to_utc_s, err);
	if (code == LT_OK && ahead->asked)
		code = lt_points_copy(points, &ahead->points,
		    window->from_utc_s, window->to_utc_s, err);
	if (code != LT_OK)
		return code;
	if (points->count == 0)
		return lt_fail(err, LT_EINPUT,
		    "%s: nothing of the time that was asked for%s%s",
		    options->name, past->err.text[0] == '\0' ? "" : "; ",
		    past->err.text);
	if (ahead->points.note[0] != '\0')
		lt_note_add(points, "%s", ahead->points.note);
	if (past->points.note[0] != '\0' &&
	    strcmp(past->points.note, ahead->points.note) != 0)
		lt_note_add(points, "history: %s", past->points.note);
	if (past->code != LT_OK) {
		points->past_lost = true;
		lt_note_add(points, "%s history: %s",
		    past->points.count > 0 ? "not all" : "without",
		    past->err.text);
	}
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
