/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "log.h"
#include "paths.h"
#include "tables.h"
#include "units.h"

static void
read_seen(struct lt_last_shapes *last, const char *path)
{
	struct lt_error err = {0};

	last->is_read = true;
	/* One of another release is as none. */
	if (lt_market_load(&last->seen, path, NULL, &err) != LT_OK &&
	    err.code != LT_ENOENT)
		lt_log("shapes_unknown", "error=\"%s\"", err.text);
}

/* Its shapes as they were, after all others. */
static void
lay(struct lt_tables *tables, struct lt_partition *partition)
{
	const struct lt_market *const seen = &tables->last.seen;
	const int index = lt_market_partition(seen, partition->name);

	partition->flags |= LT_PARTITION_NO_NODES;
	if (index < 0)
		return;
	const struct lt_partition *const was = &seen->partitions[index];
	if (was->shape_count == 0 ||
	    tables->shape_count + was->shape_count > LT_SHAPES_MAX)
		return;
	struct lt_shape *const shapes = realloc(tables->shapes,
	    (tables->shape_count + was->shape_count) * sizeof(*shapes));
	if (shapes == NULL)
		return;
	memcpy(shapes + tables->shape_count, seen->shapes + was->first_shape,
	    was->shape_count * sizeof(*shapes));
	tables->shapes = shapes;
	/* How many took no job then says nothing of those that come. */
	for (uint32_t i = 0; i < was->shape_count; i++)
		shapes[tables->shape_count + i].closed_count = 0;
	partition->first_shape = tables->shape_count;
	partition->shape_count = was->shape_count;
	partition->node_count = was->node_count;
	tables->shape_count += was->shape_count;
}

static int
keep(struct lt_tables *tables, const char *path, struct lt_error *err)
{
	const struct lt_market market = {.partitions = tables->partitions,
	    .partition_count = tables->partition_count,
	    .shapes = tables->shapes,
	    .shape_count = tables->shape_count};
	struct lt_last_shapes *const last = &tables->last;
	unsigned char *bytes = NULL;
	size_t byte_count = 0;
	struct lt_market seen;
	int code = lt_market_pack(&market, &bytes, &byte_count, err);

	if (code != LT_OK)
		return code;
	const uint32_t crc = lt_crc32c(0, bytes, byte_count);
	if (crc != last->crc) {
		code = lt_market_unpack(&seen, bytes, byte_count, err);
		if (code == LT_OK) {
			lt_market_free(&last->seen);
			last->seen = seen;
			last->crc = crc;
			code = lt_market_save(&last->seen, path, err);
		}
	}
	free(bytes);
	return code;
}

void
lt_last_shapes_lay(struct lt_tables *tables, const char *state)
{
	struct lt_error err = {0};
	char path[LT_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/shapes", state);
	if (!tables->last.is_read)
		read_seen(&tables->last, path);
	/* Rows of GPUs are the market's affair. */
	for (uint32_t i = 0; i < tables->shape_count; i++) {
		tables->shapes[i].gpu_index = -1;
		for (int k = 0; k < LT_GPU_KINDS_MAX; k++)
			tables->shapes[i].kinds[k].gpu_index = -1;
	}
	for (uint32_t i = 0; i < tables->partition_count; i++)
		if (tables->partitions[i].shape_count == 0)
			lay(tables, &tables->partitions[i]);
	if (keep(tables, path, &err) != LT_OK)
		lt_log("shapes_not_kept", "error=\"%s\"", err.text);
}
