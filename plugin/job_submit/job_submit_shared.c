/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one state of job_submit, and the helpers of all files that use it: a clock, the log, new
 * numbers for quotes.
 */
#include "job_state_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "slurm_abi.h"
#include "text.h"

struct lt_state lt_state = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .ring_fd = -1,
};

enum { LOG_AGAIN_MS = 60 * 1000 };

int64_t
lt_monotonic_ms(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
lt_state_log(const char *format, ...)
{
	char text[LT_ERROR_TEXT_SIZE];
	const int64_t now_ms = lt_monotonic_ms();
	bool again;
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	lt_text_line(text);
	pthread_mutex_lock(&lt_state.mutex);
	again = strcmp(text, lt_state.logged) != 0 || now_ms - lt_state.logged_ms >= LOG_AGAIN_MS;
	if (again) {
		snprintf(lt_state.logged, sizeof(lt_state.logged), "%s", text);
		lt_state.logged_ms = now_ms;
	}
	pthread_mutex_unlock(&lt_state.mutex);
	if (again)
		slurm_error("lowtide: %s", text);
}

uint64_t
lt_state_quote_id(void)
{
	uint64_t id = atomic_fetch_add(&lt_state.next_quote_id, 1);

	if (id == 0)
		id = atomic_fetch_add(&lt_state.next_quote_id, 1);
	return id;
}
