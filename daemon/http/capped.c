/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The power cap of a plan, for explain: in the quote it is beside what its run
 * was expected to be.
 */
#include "capped.h"

#include <stdio.h>
#include <string.h>

#include "api.h"
#include "units.h"
#include "equations.h"

static bool
find(struct lt_capped *capped, const struct lt_quote *quote)
{
	struct lt_quote_run run;

	if (lt_quote_run_unpack(&run, quote->run, strlen(quote->run), NULL) !=
	    LT_OK)
		return false;
	*capped = run.capped;
	return lt_is_capped(capped);
}

const char *
lt_capped_line(char *out, size_t size, const struct lt_quote *quote,
    const struct lt_zone *zone, int64_t now_utc_s)
{
	struct lt_capped capped;
	char words[160], until[64];

	if (size > 0)
		out[0] = '\0';
	if (!find(&capped, quote))
		return out;
	lt_capped_text(words, sizeof(words), &capped);
	lt_zone_text(until, sizeof(until), zone, capped.until_utc_s, now_utc_s);
	snprintf(out, size,
	    "  %s: %s" LT_EQUATION(
		" (9a), (9b)") ", if it starts before %s" LT_EQUATION(" (9c)") "\n",
	    lt_mode_may(quote->mode, LT_MAY_EDIT) ? "capped"
						  : "would be capped",
	    words, until);
	return out;
}

json_t *
lt_capped_json(const struct lt_quote *quote)
{
	struct lt_capped capped;

	if (!find(&capped, quote))
		return json_null();
	return json_pack("{s:s,s:s,s:o,s:f,s:I,s:I,s:I}", "gpu_freq",
	    capped.gpu_freq, "cpu_freq", capped.cpu_freq, "until",
	    lt_api_time(capped.until_utc_s), "slow_down",
	    1 + (double)capped.longer_ppm / LT_MICROS, "less_wh",
	    (json_int_t)capped.less_wh, "above_g", (json_int_t)capped.above_g,
	    "mean_g", (json_int_t)capped.mean_g);
}
