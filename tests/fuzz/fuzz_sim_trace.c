/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces of jobs of any bytes: jobs within their bounds and in order, or a reason.
 */
#include <stdint.h>

#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	const struct lt_sim_trace_look look = {
	    .path = "t", .from_utc_s = 1000, .unit_s = 1, .tick_s = 5};
	struct lt_sim_trace trace;
	struct lt_error err = {0};

	if (lt_sim_trace_parse(&trace, (const char *)bytes, byte_count, &look, &err) != LT_OK) {
		if (err.text[0] == '\0')
			__builtin_trap(); /* a refusal must say why */
	} else {
		for (uint32_t i = 0; i < trace.count; i++) {
			const struct lt_sim_job *const job = &trace.jobs[i];

			if (job->run_s < 1 || job->run_s > LT_SIM_RUN_MAX_S || job->cpus < 1 ||
			    job->submit_utc_s < 0 || job->limit_s < 0 ||
			    (i > 0 && job->submit_utc_s < job[-1].submit_utc_s))
				__builtin_trap();
		}
	}
	for (uint32_t i = 0; i < trace.bad && i < LT_SIM_BAD_SHOWN_MAX; i++)
		if (trace.bad_first[i].text[0] == '\0')
			__builtin_trap(); /* a row left out, too */
	lt_sim_trace_free(&trace);
	return 0;
}
