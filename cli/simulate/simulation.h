/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide simulate: what its files share.
 */
#ifndef LT_CLI_SIMULATE_H
#define LT_CLI_SIMULATE_H

#include "cli.h"
#include "spot.h"
#include "trace.h"

/* Policies of one call, nowait first, which all are measured against. */
struct lt_simulation {
	struct lt_sim_trace trace;
	struct lt_sim_signal signal;
	struct lt_sim_signal price; /* micros per CPU-hour; 0 hours = none */
	struct lt_sim_look *looks;  /* NULL: at each hour */
	uint32_t look_count;
	struct lt_sim_generator generator;
	struct lt_sim_options options; /* but the policy */
	int count;
	enum lt_sim_policy policies[LT_SIM_POLICY_COUNT];
	struct lt_sim_result results[LT_SIM_POLICY_COUNT];
};

/* simulate_options.c */
enum lt_simulation_kind {
	LT_SIMULATION_JOBS = 1 << 0,
	LT_SIMULATION_NODES = 1 << 1, /* --deadline-factor */
	LT_SIMULATION_SITE = 1 << 2,  /* --from-slurm */
};
/* An option that was given and goes with none of these; NULL: none. */
const char *lt_simulation_misplaced(const struct lt_cli *cli, unsigned kinds);
int lt_simulation_read_options(
    struct lt_simulation *simulation, const struct lt_cli *cli, struct lt_error *err);
int lt_simulation_read_look(
    struct lt_sim_trace_look *look, const struct lt_cli *cli, struct lt_error *err);
int lt_simulation_read_spot_options(
    struct lt_sim_spot_options *options, const struct lt_cli *cli, struct lt_error *err);

/* simulate_read.c: errors name the file. */
int lt_simulation_read_trace(struct lt_simulation *simulation, const char *path,
    const struct lt_sim_trace_look *look, struct lt_error *err);
/* A signal by the hour, of points in order, at least one; those that hold longer than longest_s
 * have a hole behind them. */
struct lt_points;
int lt_simulation_signal(struct lt_sim_signal *signal, const struct lt_points *points,
    int64_t longest_s, struct lt_error *err);
/* A CSV file of its own, or a source of a policy file; after the trace. */
int lt_simulation_read_carbon(
    struct lt_simulation *simulation, const char *path, struct lt_error *err);
int lt_simulation_read_price(
    struct lt_simulation *simulation, const char *path, struct lt_error *err);
int lt_simulation_read_source(
    struct lt_simulation *simulation, const char *config, const char *source, struct lt_error *err);

/* Lines of at,done under a header, in this order. */
int lt_simulation_read_looks(
    struct lt_simulation *simulation, const char *path, struct lt_error *err);

/* simulate_print.c */
/* The last policy beside nowait. */
int lt_simulation_write_svg(
    const struct lt_simulation *simulation, const char *path, struct lt_error *err);
void lt_simulation_print(const struct lt_simulation *simulation, bool color);
int lt_simulation_print_json(const struct lt_simulation *simulation);

/* simulate_spot.c */
int lt_cli_simulate_spot(const struct lt_cli *cli); /* exit status */
/* *taken is the caller's to free, also after an error, whose text names the
 * file. */
int lt_simulation_read_spot_trace(
    struct lt_sim_spot_trace *trace, uint8_t **taken, const char *path, struct lt_error *err);

#endif
