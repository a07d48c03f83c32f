/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the step that fails now, and its error. cycle.c logs the news; status and the exit code of
 * --once show the first that is left. Pure.
 */
#include <stdio.h>
#include <string.h>

#include "lookup.h"
#include "steps.h"

const char *
lt_step_name(enum lt_step_id step)
{
	static const char *const names[LT_STEP_COUNT] = {[LT_STEP_TABLES] = "tables",
	    [LT_STEP_MARKET] = "market",
	    [LT_STEP_RATES] = "rates",
	    [LT_STEP_ABSORB] = "absorb",
	    [LT_STEP_JOBS] = "jobs",
	    [LT_STEP_SETTLE] = "settle",
	    [LT_STEP_VOID] = "void",
	    [LT_STEP_RELEASE] = "release",
	    [LT_STEP_REPLAN] = "replan",
	    [LT_STEP_NOTICE] = "notice",
	    [LT_STEP_LIFE] = "life",
	    [LT_STEP_AFTERWARDS] = "afterwards",
	    [LT_STEP_PAUSE] = "pause",
	    [LT_STEP_PROOF] = "proof",
	    [LT_STEP_CANARY] = "canary",
	    [LT_STEP_BUDGET] = "budget",
	    [LT_STEP_TERMS] = "terms",
	    [LT_STEP_FORECASTS] = "forecasts",
	    [LT_STEP_ALERTS] = "alerts",
	    [LT_STEP_MAIL] = "mail",
	    [LT_STEP_OF_ALERTS] = NULL,
	    [LT_STEP_PRUNE] = "prune",
	    [LT_STEP_HISTORY] = "history",
	    [LT_STEP_USED] = "used"};

	if (step >= LT_STEP_OF_ALERTS && step < LT_STEP_PRUNE)
		return lt_message_row(step - LT_STEP_OF_ALERTS)->step;
	return LT_WORD(names, step);
}

bool
lt_step_failed(struct lt_steps *steps, enum lt_step_id step, const struct lt_error *err)
{
	char *const known = steps->failed[step];
	const char *const text = err->text[0] ? err->text : "failed";

	steps->failures[step]++;
	if (strcmp(known, text) == 0)
		return false;
	snprintf(known, sizeof(steps->failed[step]), "%s", text);
	return true;
}

bool
lt_step_worked(struct lt_steps *steps, enum lt_step_id step)
{
	const bool news = steps->failed[step][0] != '\0';

	steps->failed[step][0] = '\0';
	return news;
}

void
lt_steps_text(char out[LT_ERROR_TEXT_SIZE], const struct lt_steps *steps)
{
	out[0] = '\0';
	for (int i = 0; i < LT_STEP_COUNT && out[0] == '\0'; i++)
		if (steps->failed[i][0])
			snprintf(out, LT_ERROR_TEXT_SIZE, "%s: %.440s",
			    lt_step_name((enum lt_step_id)i), steps->failed[i]);
}
