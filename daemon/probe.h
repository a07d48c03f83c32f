/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Slurm says, as JSON on stdout, for `lowtide init` and `doctor`.
 */
#ifndef LT_PROBE_H
#define LT_PROBE_H

/* The exit status. */
int lt_probe(void);

#endif
