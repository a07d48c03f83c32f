/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs one step of a pass and keeps its last failure in the daemon's state, for /v1/status and
 * metrics. A failure is logged when it begins or changes, and once more when the step works again.
 */
#include "daemon.h"
#include "log.h"
#include "run_step.h"

bool
lt_end_step(struct lt_daemon *d, enum lt_step_id id, int code, const struct lt_error *err)
{
	const bool worked = code == LT_OK;

	if (worked && lt_step_worked(&d->steps, id))
		lt_log("step_works", "step=%s", lt_step_name(id));
	if (!worked && lt_step_failed(&d->steps, id, err))
		lt_log("step_failed", "step=%s error=\"%s\"", lt_step_name(id), err->text);
	return worked;
}

bool
lt_run_step(struct lt_daemon *d, enum lt_step_id id, lt_step_function *step, int64_t now_utc_s)
{
	struct lt_error err = {0};
	const int code = step(d, now_utc_s, &err);

	return lt_end_step(d, id, code, &err);
}
