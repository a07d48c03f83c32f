/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a cost was idle: worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run_json.h"

#define HOUR 3600
#define CPU(ms)                                                                                    \
	{                                                                                          \
		.has_cpu = true, .cpu_ms = (ms)                                                    \
	}
#define GPU(ppm)                                                                                   \
	{                                                                                          \
		.has_cpu = true, .has_gpu = true, .gpu_ppm = (ppm)                                 \
	}

static const struct {
	const char *why;
	struct lt_run run;
	int64_t cost, idle;
	bool is_known;
} cases[] = {
    {"a quarter of the GPUs was used at most",
	{.end_utc_s = HOUR, .cpus = 8, .gpus = 8, .used = GPU(250000)}, 8000000, 6000000, true},
    {"GPUs that did nothing", {.end_utc_s = HOUR, .cpus = 8, .gpus = 8, .used = GPU(0)}, 8000000,
	8000000, true},
    {"GPUs that were all busy once",
	{.end_utc_s = HOUR, .cpus = 8, .gpus = 8, .used = GPU(1000000)}, 8000000, 0, true},
    {"GPUs of which nobody took samples",
	{.end_utc_s = HOUR, .cpus = 8, .gpus = 8, .used = CPU(100)}, 8000000, 0, false},
    {"one of four CPUs; the rest is rounded down",
	{.end_utc_s = HOUR, .cpus = 4, .used = CPU(3600000)}, 1000001, 750000, true},
    {"half of the time it was suspended",
	{.end_utc_s = 2 * HOUR, .suspended_s = HOUR, .cpus = 2, .used = CPU(3600000)}, 1000000,
	500000, true},
    {"more CPU time than CPUs", {.end_utc_s = HOUR, .cpus = 1, .used = CPU(7200000)}, 1000000, 0,
	true},
    {"it slept", {.end_utc_s = HOUR, .cpus = 1, .used = CPU(0)}, 1000000, 1000000, true},
    {"nobody gathered", {.end_utc_s = HOUR, .cpus = 1}, 1000000, 0, false},
    {"no time at all", {.cpus = 1, .used = CPU(10)}, 0, 0, false},
    {"parts of GPUs", {.end_utc_s = HOUR, .cpus = 1, .shards = 2, .used = CPU(10)}, 1000000, 0,
	false},
    {"what is given back", {.end_utc_s = HOUR, .cpus = 4, .used = CPU(3600000)}, -1000000, -750000,
	true},
};

static void
test_idle(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t idle;
		const bool is_known = lt_idle_of(&idle, &cases[i].run, cases[i].cost);

		if (is_known != cases[i].is_known || idle != cases[i].idle)
			fail_msg("%s: %d %lld", cases[i].why, is_known, (long long)idle);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_idle)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
