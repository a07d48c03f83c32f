/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of power_cap: whose jobs run slower in dirty hours, and by how much
 * that lengthens a run and lowers the power, as the site measured it.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "power_cap.h"
#include "reader.h"

/* Slurm's word, or number, of one of the two options. */
static void
read_frequency(struct lt_reader *reader, const struct lt_key *key,
    const yaml_node_t *node, void *object)
{
	char name[LT_FREQUENCY_SIZE];

	if (!lt_take_name(reader, key, node, name, sizeof(name)))
		return;
	if (lt_frequency_is_good(name))
		memcpy((char *)object + key->offset, name, sizeof(name));
	else
		lt_unwanted(reader, key, node, "");
}

#define AT(field) offsetof(struct lt_power_cap, field)
static const struct lt_key keys[] = {
    {"account", lt_read_account, AT(account), .size = LT_ACCOUNT_SIZE,
	.want = "a Slurm account"},
    {"qos", lt_read_account, AT(qos), .size = LT_ACCOUNT_SIZE,
	.want = "a Slurm QOS"},
    {"partition", lt_read_name, AT(partition), .size = LT_NAME_SIZE,
	.want = "a partition"},
    {"gpu", lt_read_gpu_name, AT(gpu), .size = LT_GPU_NAME_SIZE,
	.want = "a GPU such as A100-SXM4-40GB"},
    {"gpu_freq", read_frequency, AT(gpu_freq),
	.want = "low, medium, high, highm1 or MHz such as 1200"},
    {"cpu_freq", read_frequency, AT(cpu_freq),
	.want = "low, medium, high, highm1 or kHz such as 1800000"},
    {"slow_down", lt_read_double, AT(slow_down), .min = 1,
	.max = LT_SLOW_DOWN_MAX, .required = true,
	.want = "run time over that without, from 1 to 10 such as 1.08"},
    {"power", lt_read_double, AT(power), .min = 0, .max = 1, .required = true,
	.want = "power over that without, from 0 to 1 such as 0.75"},
    {.name = NULL},
};
#undef AT

void
lt_read_power_cap(struct lt_reader *reader, const yaml_node_t *name,
    const yaml_node_t *node, void *item)
{
	struct lt_power_cap *const rule = item;
	const int errors = reader->errors->count;

	(void)name;
	*rule = (struct lt_power_cap){.slow_down = 1, .power = 1};
	if (!lt_read_body(reader,
		&(struct lt_key){.name = "power_cap",
		    .want =
			"a mapping such as {gpu: V100-SXM2, gpu_freq: 1200, slow_down: 1.08, power: 0.75}",
		    .keys = keys},
		node, rule) ||
	    reader->errors->count > errors)
		return;
	if (rule->gpu_freq[0] == '\0' && rule->cpu_freq[0] == '\0')
		lt_complain(reader, node,
		    "power_cap: got neither gpu_freq nor cpu_freq, want one of them or both");
	struct lt_gpu room;
	const struct lt_gpu *const gpu =
	    rule->gpu[0] != '\0'
		? lt_policy_gpu(&room, reader->policy, rule->gpu)
		: NULL;

	/* As the market's rows are called: a Gres type or a device is a name,
	 * too. */
	if (gpu != NULL)
		memcpy(rule->gpu, gpu->name, sizeof(rule->gpu));
}
