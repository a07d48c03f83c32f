/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces of jobs in the forms that they come in, from bytes to jobs; limits, users and names for
 * traces that have none. Pure.
 */
#ifndef LT_SIM_TRACE_H
#define LT_SIM_TRACE_H

#include <stddef.h>

#include "simulate.h"

enum {
	LT_SIM_LINE_BYTES_MAX = 8192, /* a bad row */
	LT_SIM_COLUMNS_MAX = 128,     /* a bad row */
	/* 31 years: what is longer is a slip, or no second. */
	LT_SIM_RUN_MAX_S = 1000000000,
};

struct lt_sim_trace_look {
	const char *path;   /* for errors */
	int64_t from_utc_s; /* when its second 0 is, if it has none itself */
	int64_t unit_s;	    /* of GAIA's times: 1, or 3600 */
	int64_t tick_s;	    /* GAIA's are cut to whole ones; 1 = as they are */
};

/*
 * The first line says the form: GAIA's CSV (arrival_time,length,cpus), `sacct
 * -P` with its header, or the Standard Workload Format. Jobs that never ran are
 * left out and counted in skipped, the parts of a job that SWF sums up in parts, and rows that make
 * no sense in bad, the first of them with the reason. It is an error, which names path and line, if
 * the header is not understood or no job is left. The caller frees the trace, also after an error.
 */
int lt_sim_trace_parse(struct lt_sim_trace *trace, const char *bytes, size_t byte_count,
    const struct lt_sim_trace_look *look, struct lt_error *err);
void lt_sim_trace_free(struct lt_sim_trace *trace);

struct lt_sim_generator {
	uint64_t seed;
	double limit_factor; /* limit = run x this (its median); 0 = as it is */
	double limit_sigma;  /* of the factor's logarithm; 0 = always the same */
	uint32_t names;	     /* programs; 0 = as it is */
	uint32_t users;	     /* whose these are */
};

/*
 * Limits are whole minutes, up, and no job ran longer than its own. Jobs of a name are alike, not
 * equal: their lengths, each times a lognormal factor with sigma 0.5, are sorted and cut into as
 * many rows of equal count as there are names. LT_ENOMEM.
 */
int lt_sim_generate(
    struct lt_sim_trace *trace, const struct lt_sim_generator *generator, struct lt_error *err);

#endif
