/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fetch, between the daemon or the command and an adapter: the one place
 * that all texts of a source pass on their way out.
 */
#include "adapter.h"
#include "guard.h"
#include "text_mend.h"

/* A source that wants a pause before it gives more history is asked for what
 * is to come alone meanwhile. */
static bool
past_waits(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_window *now)
{
	const int64_t left_s =
	    options->memory != NULL
		? options->memory->past_pause_utc_s - window->now_utc_s
		: 0;

	*now = *window;
	/* More than any pause: the clock was set back. */
	if (left_s <= 0 || left_s > LT_RETRY_AFTER_MAX_S ||
	    window->from_utc_s >= window->now_utc_s)
		return false;
	now->from_utc_s = window->now_utc_s;
	return true;
}

static void
hide_secrets(const struct lt_source_options *options, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_source_memory *const memory = options->memory;

	lt_guard_hide(err->text);
	lt_guard_hide(points->note);
	for (int i = 0;
	     memory != NULL && i < memory->trace_count && i < LT_TRACE_MAX; i++)
		lt_guard_hide(memory->trace[i].request);
	lt_guard_forget();
}

int
lt_adapter_fetch(const struct lt_adapter *adapter,
    const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_error inner = {0};
	struct lt_window now;
	const bool waits = past_waits(options, window, &now);
	const int code = adapter->fetch(options, &now, points, &inner);

	if (waits && code == LT_OK) {
		points->past_lost = true;
		lt_note_add(points, "history waits, as the source asked");
	}
	hide_secrets(options, points, &inner);
	return lt_error_give(err, code, &inner);
}
