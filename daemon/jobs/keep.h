/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which records of slurmctld's list are kept.
 */
#ifndef LT_KEEP_H
#define LT_KEEP_H

#include "batch.h"

/* Those that were cancelled before they ran, and hold nothing any more, are let
 * go where they are very many and no fewer than the others. The last one stays:
 * the ids that came since are counted from it. Without memory all stay. */
void lt_keep_jobs(struct lt_batch_jobs *list);

#endif
