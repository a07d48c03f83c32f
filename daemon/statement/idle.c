/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "idle.h"
#include "size.h"
#include "units.h"

/* Of parts of GPUs nobody says what was used. */
static bool
used_of(const struct lt_run *run, struct lt_fraction *used)
{
	const int64_t length_s =
	    run->end_utc_s - run->start_utc_s - run->suspended_s;

	if (run->gpus > 0) {
		*used = (struct lt_fraction){run->used.gpu_ppm, LT_MICROS};
		return run->used.has_gpu;
	}
	*used =
	    (struct lt_fraction){run->used.cpu_ms, length_s * run->cpus * 1000};
	return run->used.has_cpu && run->shards == 0 && used->denominator > 0;
}

bool
lt_idle_of(int64_t *idle_micros, const struct lt_run *run, int64_t cost_micros)
{
	struct lt_fraction used;
	int64_t busy_micros;

	*idle_micros = 0;
	if (!used_of(run, &used))
		return false;
	if (used.numerator >= used.denominator)
		return true;
	if (!lt_scale_up(
		cost_micros, used.numerator, used.denominator, &busy_micros))
		return false;
	*idle_micros = cost_micros - busy_micros;
	return true;
}
