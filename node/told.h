/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether lowtided may have a notice from here, over a restart, so that one
 * that goes meanwhile is withdrawn. Not over a boot: what was told then is
 * over.
 */
#ifndef LT_NODE_TOLD_H
#define LT_NODE_TOLD_H

#include <stdbool.h>

#include "error.h"

/* By a file in the run directory; one that can't be read is none. */
bool lt_told_read(const char *run_dir);
int lt_told_write(const char *run_dir, bool is_told, struct lt_error *err);

#endif
