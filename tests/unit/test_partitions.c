/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's partitions where they pass what lowtide can hold: those are left out and said, and all
 * others are read as if they were alone. slurmctld is played here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "batch.h"
#include "compat.h"
#include "slurm_text.h"

enum { PARTITIONS = 300, NODES = 2000, NAME = 80 };

static slurm_conf_t conf;
static partition_info_t partitions[PARTITIONS];
static node_info_t nodes[NODES];
static char partition_names[PARTITIONS][NAME], node_names[NODES][16];
static int32_t places[PARTITIONS][3];
static partition_info_msg_t partition_list = {.partition_array = partitions};
static node_info_msg_t node_list = {.node_array = nodes, .record_count = NODES};
static reserve_info_msg_t reservation_list;

int
lt_slurm_answers(struct lt_error *err)
{
	(void)err;
	return LT_OK;
}

int
slurm_load_ctl_conf(time_t since, slurm_conf_t **reply)
{
	(void)since;
	*reply = &conf;
	return SLURM_SUCCESS;
}

int
slurm_load_partitions(time_t since, partition_info_msg_t **reply, uint16_t show)
{
	(void)since;
	(void)show;
	*reply = &partition_list;
	return SLURM_SUCCESS;
}

int
slurm_load_node(time_t since, node_info_msg_t **reply, uint16_t show)
{
	(void)since;
	(void)show;
	*reply = &node_list;
	return SLURM_SUCCESS;
}

int
slurm_load_reservations(time_t since, reserve_info_msg_t **reply)
{
	(void)since;
	*reply = &reservation_list;
	return SLURM_SUCCESS;
}

void
LT_SLURM_FREE_CONF(slurm_conf_t *reply)
{
	(void)reply;
}

void
slurm_free_partition_info_msg(partition_info_msg_t *reply)
{
	(void)reply;
}

void
slurm_free_node_info_msg(node_info_msg_t *reply)
{
	(void)reply;
}

void
slurm_free_reservation_info_msg(reserve_info_msg_t *reply)
{
	(void)reply;
}

/* Partitions p0, p1, ... of a node each, and nodes of a kind each. */
static void
make(uint32_t count)
{
	memset(&conf, 0, sizeof(conf));
	memset(partitions, 0, sizeof(partitions));
	memset(nodes, 0, sizeof(nodes));
	partition_list.record_count = count;
	for (int i = 0; i < PARTITIONS; i++) {
		(void)snprintf(partition_names[i], NAME, "p%d", i);
		partitions[i].name = partition_names[i];
		partitions[i].state_up = PARTITION_UP;
		partitions[i].node_inx = places[i];
		places[i][0] = places[i][1] = i;
		places[i][2] = -1;
	}
	for (int i = 0; i < NODES; i++) {
		(void)snprintf(node_names[i], sizeof(node_names[i]), "n%d", i);
		nodes[i].name = node_names[i];
		nodes[i].cpus = (uint16_t)(i + 1);
		nodes[i].real_memory = 1000;
		nodes[i].node_state = NODE_STATE_IDLE;
	}
}

static void
long_name(int partition, int bytes)
{
	memset(partition_names[partition], 'x', (size_t)bytes);
	partition_names[partition][bytes] = '\0';
}

static void
give(int partition, int32_t first, int32_t last)
{
	places[partition][0] = first;
	places[partition][1] = last;
}

/* Those that are read are Slurm's in its order, but of left_out; each has its own nodes. */
static void
check(const char *why, uint32_t left_out, const char *says, const int *which)
{
	struct lt_batch_partitions read;
	struct lt_error err = {0};
	uint32_t at = 0;

	if (lt_batch_partitions(&read, &err) != LT_OK)
		fail_msg("%s: %s", why, err.text);
	if (read.left_out != left_out || strcmp(read.why_left_out.text, says) != 0 ||
	    read.count + left_out != partition_list.record_count ||
	    read.nodes.range_count != read.count)
		fail_msg("%s: %u left out, %u read, %u ranges: %s", why, read.left_out, read.count,
		    read.nodes.range_count, read.why_left_out.text);
	for (uint32_t i = 0; i < partition_list.record_count; i++) {
		const struct lt_partition *const is = &read.partitions[at];
		const struct lt_node_range *const range = &read.nodes.ranges[at];

		if ((int)i >= which[0] && (int)i <= which[1])
			continue;
		if (strcmp(is->name, partitions[i].name) != 0 || range->partition != at ||
		    (int32_t)range->first != places[i][0] ||
		    is->shape_count != (uint32_t)(places[i][1] - places[i][0] + 1) ||
		    read.shapes[is->first_shape].cpus != nodes[places[i][0]].cpus)
			fail_msg("%s: place %u is %s", why, at, is->name);
		at++;
	}
	assert_int_equal(at, read.count);
	lt_batch_partitions_free(&read);
}

static void
test_left_out(void **state)
{
	static const int none[] = {1, 0}, second[] = {1, 1}, third[] = {2, 2},
			 last[] = {LT_PARTITIONS_MAX, PARTITIONS};

	(void)state;
	make(5);
	check("all", 0, "", none);
	long_name(1, LT_NAME_SIZE - 1);
	check("a name that just fits", 0, "", none);
	long_name(1, LT_NAME_SIZE);
	check("a byte more", 1,
	    "partition xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: a name of 64 bytes, limit 63",
	    second);
	make(LT_PARTITIONS_MAX);
	check("as many as fit", 0, "", none);
	make(PARTITIONS);
	check("more", PARTITIONS - LT_PARTITIONS_MAX, "partition p256: more than 256 partitions",
	    last);
	/* The one before has what fits, those behind find room again. */
	make(5);
	give(1, 100, 999);
	give(2, 1000, 1199);
	check(
	    "more kinds of node than fit", 1, "partition p2: more than 1024 kinds of node", third);
	give(2, 1000, 1000 + LT_SHAPES_MAX - 1 - 3 - 900);
	check("as many kinds as fit", 0, "", none);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests_name("partitions", tests, NULL, NULL);
}
