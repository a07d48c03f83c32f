/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fetch, between the daemon or the command and an adapter: the one place
 * that all texts of a source pass on their way out.
 */
#include "adapter.h"
#include "guard.h"
#include "text_mend.h"

int
lt_adapter_fetch(const struct lt_adapter *adapter,
    const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_source_memory *const memory = options->memory;
	struct lt_error inner = {0};
	const int code = adapter->fetch(options, window, points, &inner);

	lt_guard_hide(inner.text);
	lt_guard_hide(points->note);
	for (int i = 0;
	     memory != NULL && i < memory->trace_count && i < LT_TRACE_MAX; i++)
		lt_guard_hide(memory->trace[i].request);
	lt_guard_forget();
	return lt_error_give(err, code, &inner);
}
