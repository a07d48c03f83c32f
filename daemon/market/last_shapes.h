/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes that each partition had last. Slurm shows none of a partition whose
 * nodes come and go: dynamic ones, an autoscaler from zero, a cloud's that are
 * powered down. What a job there may cost is known by them all the same.
 */
#ifndef LT_LAST_SHAPES_H
#define LT_LAST_SHAPES_H

#include "market.h"

struct lt_tables;

struct lt_last_shapes {
	bool is_read;
	uint32_t crc; /* of the file that was written; 0 = none */
	struct lt_market seen; /* partitions and shapes only */
};

/*
 * Give each partition without a node the shapes of those that it had last, by
 * <state>/shapes, a market snapshot without signals, written only when it
 * changes. Such partitions get LT_PARTITION_NO_NODES, those without any memory
 * too. A file that can't be read or written is logged: then only what this
 * process has seen counts.
 */
void lt_last_shapes_lay(struct lt_tables *tables, const char *state);

#endif
