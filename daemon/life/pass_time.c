/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "http.h"
#include "pass_time.h"

int64_t
lt_pass_now(const struct lt_pass_time *pass)
{
	return pass->utc_s + (lt_monotonic_ms() - pass->began_ms) / 1000;
}
