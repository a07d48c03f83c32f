/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linked around lt_pause_plan() in the lowtided of week.sh: each look at a job goes to the file
 * LOOKS as "limit_s now is_paused until again", times in UTC seconds; by its time limit week.sh
 * knows the job.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pause.h"

int __real_lt_pause_plan(
    struct lt_pause_course *out, const struct lt_pause_of *of, struct lt_error *err);
int __wrap_lt_pause_plan(
    struct lt_pause_course *out, const struct lt_pause_of *of, struct lt_error *err);

int
__wrap_lt_pause_plan(
    struct lt_pause_course *out, const struct lt_pause_of *of, struct lt_error *err)
{
	const int code = __real_lt_pause_plan(out, of, err);
	FILE *const file = fopen(getenv("LOOKS"), "ae");

	if (file == NULL ||
	    fprintf(file, "%lld %lld %d %lld %lld\n", (long long)of->request->limit_s,
		(long long)of->now_utc_s, of->is_paused, (long long)out->until_utc_s,
		(long long)out->again_utc_s) < 0 ||
	    fclose(file) != 0)
		abort(); /* what is missing would be taken for no look */
	return code;
}
