/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fetch, between the daemon or the command and an adapter: the one place
 * that all texts of a source pass on their way out.
 */
#include "adapter.h"
#include "guard.h"
#include "text_mend.h"

/* More than any pause: the clock was set back. */
static bool
is_paused(int64_t until_utc_s, int64_t now_utc_s)
{
	const int64_t left_s = until_utc_s - now_utc_s;

	return left_s > 0 && left_s <= LT_RETRY_AFTER_MAX_S;
}

/* Cuts off the part of the window that the source wants a pause for, and
 * returns what a reader should know of it; NULL: nothing waits. The memory has
 * a pause of one of the two only. */
static const char *
cut_paused(const struct lt_source_memory *memory, struct lt_window *window)
{
	const int64_t now_utc_s = window->now_utc_s;

	if (memory == NULL || window->from_utc_s >= now_utc_s ||
	    window->to_utc_s <= now_utc_s)
		return NULL;
	if (is_paused(memory->past_pause_utc_s, now_utc_s)) {
		window->from_utc_s = now_utc_s;
		return "history waits, as the source asked";
	}
	if (is_paused(memory->ahead_pause_utc_s, now_utc_s)) {
		window->to_utc_s = now_utc_s;
		return "the forecast waits, as the source asked";
	}
	return NULL;
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
	struct lt_window cut = *window;
	const char *const waits = cut_paused(options->memory, &cut);
	const int code = adapter->fetch(options, &cut, points, &inner);

	if (waits != NULL && code == LT_OK) {
		points->past_lost |= cut.from_utc_s > window->from_utc_s;
		lt_note_add(points, "%s", waits);
	}
	hide_secrets(options, points, &inner);
	return lt_error_give(err, code, &inner);
}
