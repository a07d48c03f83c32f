/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_history POLICY STATE DAYS: fills signals.db as if lowtided had fetched every source of the
 * policy file for so many days, by quarters of an hour.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "daemon.h"
#include "policy_follow.h"
#include "policy_load.h"
#include "units.h"

enum { STEP_S = 900 };

static int
fail(const struct lt_error *err)
{
	fprintf(stderr, "make_history: %s\n", err->text);
	return 1;
}

/* A day's shape around 300, other at each source and hour. */
static void
fill(struct lt_rate_step *steps, uint32_t count, int64_t end_utc_s, int source)
{
	for (uint32_t i = 0; i < count; i++) {
		const int64_t start = end_utc_s - (int64_t)(count - i) * STEP_S;
		const double day = 2 * M_PI * (double)(start % LT_DAY_S) / (double)LT_DAY_S;

		steps[i] = (struct lt_rate_step){.start_utc_s = start,
		    .end_utc_s = start + STEP_S,
		    .value = 300 + source + 100 * sin(day) + i % 7,
		    .quality = LT_QUALITY_MEASURED};
	}
}

int
main(int argc, char **argv)
{
	struct lt_daemon d = {0};
	struct lt_error err = {0};
	char issued[64];

	if (argc != 4) {
		fputs("usage: make_history POLICY STATE DAYS\n", stderr);
		return 2;
	}
	const int64_t now_utc_s = time(NULL) / STEP_S * STEP_S;
	const uint32_t count = (uint32_t)atoi(argv[3]) * (LT_DAY_S / STEP_S);
	struct lt_rate_step *const steps = calloc(count, sizeof(*steps));
	d.args.config = argv[1];
	if (steps == NULL || lt_ledger_open(&d.ledger, argv[2], &err) != LT_OK ||
	    lt_daemon_load_policy(&d, now_utc_s, &err) != LT_OK)
		return fail(&err);
	for (int i = 0; i < d.signals.source_count; i++) {
		const char *const key = d.signals.sources[i].key;

		fill(steps, count, now_utc_s, i);
		snprintf(issued, sizeof(issued), "%d %lld %lld", (int)LT_QUANTITY_CARBON,
		    (long long)now_utc_s, (long long)now_utc_s);
		if (lt_ledger_put_points(d.ledger, key, steps, count, &err) != LT_OK ||
		    lt_ledger_put(d.ledger, key, issued, &err) != LT_OK)
			return fail(&err);
	}
	lt_ledger_close(d.ledger);
	lt_policy_drop(&d.site, &d.signals);
	free(steps);
	return 0;
}
