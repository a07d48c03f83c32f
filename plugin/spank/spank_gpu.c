/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the GPUs of this node, for the job's environment (spank_env.c): by the plugstack line's
 * gpu=, else from the kernel's files. It runs as root, reads only these and writes none. A GPU that
 * is not recognised counts as AUTO.
 */
#include "spank_parts.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NVIDIA_GPUS "/proc/driver/nvidia/gpus"
#define AMD_NODES "/sys/class/kfd/kfd/topology/nodes"

enum { DEVICES_MAX = 64 };

static bool
read_small(char *out, size_t size, const char *directory, const char *entry, const char *file)
{
	char path[512];
	FILE *stream;
	size_t count;

	if (snprintf(path, sizeof(path), "%s/%s/%s", directory, entry, file) >= (int)sizeof(path))
		return false;
	stream = fopen(path, "re");
	if (stream == NULL)
		return false;
	count = fread(out, 1, size - 1, stream);
	out[count] = '\0';
	fclose(stream);
	return count > 0;
}

static struct lt_gpu_here
of_row(const struct lt_gpu *row)
{
	return (struct lt_gpu_here){
	    .top = lt_gpu_top_precision(row), .memory_mib = row != NULL ? row->memory_mib : 0};
}

/* "Model: \t\t NVIDIA A100-SXM4-40GB" of one device. */
static struct lt_gpu_here
nvidia_gpu(const char *entry)
{
	char text[4096], name[128] = "";
	const char *model;
	struct lt_gpu room;

	if (!read_small(text, sizeof(text), NVIDIA_GPUS, entry, "information"))
		return (struct lt_gpu_here){.top = LT_PRECISION_AUTO};
	model = strstr(text, "Model:");
	if (model != NULL) {
		model += strlen("Model:");
		model += strspn(model, " \t");
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(model, "\n"), model);
	}
	return of_row(lt_gpu_find(&room, name));
}

/* The number behind a word of a file of KFD, 0 without. */
static unsigned long long
kfd_number(const char *entry, const char *file, const char *word)
{
	char text[4096];
	const char *line;

	if (!read_small(text, sizeof(text), AMD_NODES, entry, file))
		return 0;
	line = strstr(text, word);
	return line != NULL ? strtoull(line + strlen(word), NULL, 10) : 0;
}

/* "gfx_target_version 90010": gfx942 and later of the accelerators, gfx12 and later of the rest,
 * have FP8 matrix units; gfx908 and gfx11 BF16. 0 is a CPU:
 * AUTO, "none". */
static struct lt_gpu_here
amd_gpu(const char *entry)
{
	static const struct {
		unsigned long long from, below;
		enum lt_precision top;
	} rows[] = {
	    {90402, 100000, LT_PRECISION_FP8},
	    {120000, UINT64_MAX, LT_PRECISION_FP8},
	    {90008, 90402, LT_PRECISION_BF16},
	    {110000, 120000, LT_PRECISION_BF16},
	};
	const unsigned long long version = kfd_number(entry, "properties", "gfx_target_version ");
	struct lt_gpu_here here = {.top = LT_PRECISION_AUTO};

	if (version == 0)
		return here;
	here.top = LT_PRECISION_OFF;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (version >= rows[i].from && version < rows[i].below)
			here.top = rows[i].top;
	here.memory_mib =
	    (uint32_t)(kfd_number(entry, "mem_banks/0/properties", "size_in_bytes ") >> 20);
	return here;
}

/* The properties that all GPUs of the node have; AUTO when there is none. */
static struct lt_gpu_here
of_devices(const char *directory, struct lt_gpu_here (*gpu_of)(const char *entry))
{
	struct lt_gpu_here least = {.top = LT_PRECISION_AUTO};
	DIR *const stream = opendir(directory);

	for (int i = 0; stream != NULL && i < DEVICES_MAX; i++) {
		const struct dirent *const entry = readdir(stream);
		struct lt_gpu_here one;

		if (entry == NULL)
			break;
		if (entry->d_name[0] == '.')
			continue;
		one = gpu_of(entry->d_name);
		if (one.top == LT_PRECISION_AUTO)
			continue;
		if (least.top == LT_PRECISION_AUTO) {
			least = one;
			continue;
		}
		if (one.top < least.top) /* OFF < FP16 < BF16 < FP8 */
			least.top = one.top;
		if (one.memory_mib < least.memory_mib)
			least.memory_mib = one.memory_mib;
	}
	if (stream != NULL)
		closedir(stream);
	return least;
}

/* "v[1-2]" or "gpu" (a beginning) matches the node's name? */
static bool
node_matches(const char *pattern, size_t length, const char *node)
{
	const char *const open = memchr(pattern, '[', length);
	const size_t stem = open != NULL ? (size_t)(open - pattern) : length;
	unsigned long from, to, number;
	char *end;

	if (strncmp(pattern, node, stem) != 0)
		return false;
	if (open == NULL)
		return true;
	from = strtoul(open + 1, &end, 10);
	to = from;
	if (*end == '-')
		to = strtoul(end + 1, &end, 10);
	if (*end != ']' || node[stem] < '0' || node[stem] > '9')
		return false;
	number = strtoul(node + stem, &end, 10);
	return *end == '\0' && number >= from && number <= to;
}

/* The name for this node in gpu=v[1-2]:V100-SXM2,s:A100-SXM4-40GB */
static bool
gpu_by_table(char *name, size_t size, const char *table, const char *node)
{
	while (table != NULL && *table) {
		const size_t length = strcspn(table, ",");
		const char *const colon = memchr(table, ':', length);

		if (colon != NULL && node_matches(table, (size_t)(colon - table), node)) {
			snprintf(name, size, "%.*s", (int)(length - (size_t)(colon + 1 - table)),
			    colon + 1);
			return true;
		}
		table += length;
		table += *table != '\0';
	}
	return false;
}

struct lt_gpu_here
lt_spank_gpu_here(void)
{
	const char *const named = getenv("SLURMD_NODENAME");
	char node[256] = "", name[LT_GPU_NAME_SIZE];
	struct lt_gpu room;
	struct lt_gpu_here here;

	if (named != NULL)
		snprintf(node, sizeof(node), "%s", named);
	else if (gethostname(node, sizeof(node) - 1) == 0)
		node[strcspn(node, ".")] = '\0';
	if (gpu_by_table(name, sizeof(name), lt_spank.gpu, node))
		return of_row(lt_gpu_find(&room, name));
	here = of_devices(NVIDIA_GPUS, nvidia_gpu);
	return here.top != LT_PRECISION_AUTO ? here : of_devices(AMD_NODES, amd_gpu);
}
