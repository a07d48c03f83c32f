/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide simulate TRACE --deadline-factor F: TRACE is of spot nodes.
 */
#ifndef LT_CLI_SIMULATE_SPOT_H
#define LT_CLI_SIMULATE_SPOT_H

#include "cli.h"
#include "spot.h"

int lt_cli_simulate_spot(const struct lt_cli *cli); /* exit status */
/* An option that was given and is of no use with (without)
 * --deadline-factor; NULL: none. */
const char *lt_simulate_spot_misplaced(const struct lt_cli *cli);

/* simulate_spot_read.c */
/* *taken is the caller's to free, also after an error, whose text names the
 * file. */
int lt_simulate_spot_read_trace(struct lt_sim_spot_trace *trace,
    uint8_t **taken, const char *path, struct lt_error *err);
int lt_simulate_spot_read_options(struct lt_sim_spot_options *options,
    const struct lt_cli *cli, struct lt_error *err);

#endif
