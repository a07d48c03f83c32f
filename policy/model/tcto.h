/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Total cost to outcome of a period: what the runs were charged, and what the site pays beside that
 * for them to come to an end. Pure.
 */
#ifndef LT_TCTO_H
#define LT_TCTO_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

struct lt_tcto_rates {		       /* the site's; 0 = not given: its row is not known */
	int64_t energy_micros_per_kwh; /* of owned nodes */
	int64_t storage_gb;	       /* kept all the time, 10^9 bytes each */
	int64_t storage_micros_per_gb_month;
	int64_t engineer_micros_per_hour;
	int64_t engineer_hour_millionths; /* of one interruption */
};

struct lt_tcto_figures {       /* of the period */
	int64_t cost_micros;   /* charges, corrections, adjustments */
	int64_t failed_micros; /* of which runs that did not complete */
	int64_t owned_energy_wh;
	int64_t month_parts;   /* its length, lt_calendar_month_parts() */
	int64_t interruptions; /* runs that ended by NODE_FAIL, PREEMPTED */
	int64_t completed_runs;
	int64_t gpu_s; /* of all runs */
};

enum lt_tcto_part {
	LT_TCTO_COMPUTE, /* cost without that of failed runs */
	LT_TCTO_ENERGY,
	LT_TCTO_STORAGE,
	LT_TCTO_ENGINEER,
	LT_TCTO_FAILED, /* compute and failed are the cost, to the micro */
	LT_TCTO_PARTS,
};
/* "compute", "energy" ... */
const char *lt_tcto_part_name(enum lt_tcto_part part);

struct lt_tcto {
	bool has[LT_TCTO_PARTS]; /* false: no rate */
	int64_t micros[LT_TCTO_PARTS];
	int64_t total_micros; /* of those that are known */
	bool has_per_gpu_hour, has_per_completed_run;
	int64_t per_gpu_hour_micros, per_completed_run_micros; /* of the total */
};

/*
 * Each part from its figure and rate, rounded once, half away from zero. Figures of time, energy
 * and count are from 0; money may be negative. LT_EOVERFLOW when a part or the total passes
 * int64_t: *out is then of no use. docs/model.md, eq. (46).
 */
int lt_tcto_of(struct lt_tcto *out, const struct lt_tcto_rates *rates,
    const struct lt_tcto_figures *figures, struct lt_error *err);

#endif
