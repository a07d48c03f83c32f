/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The job's environment, set in the step daemon before anything of the job
 * runs: mixed precision by the GPU that is really there, for jobs that asked
 * (--amp) or of a site that wants it for all (amp=auto), and the checkpoint
 * interval. Never over a value of the user. Runs as root: it reads only the
 * kernel's files and writes none.
 */
#include "spank_parts.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"
#include "interruption.h"
#include "units.h"

#define NVIDIA_GPUS "/proc/driver/nvidia/gpus"
#define AMD_NODES "/sys/class/kfd/kfd/topology/nodes"

enum { DEVICES_MAX = 64 };

static bool
read_small(char *out, size_t size, const char *directory, const char *entry,
    const char *file)
{
	char path[512];
	FILE *stream;
	size_t count;

	if (snprintf(path, sizeof(path), "%s/%s/%s", directory, entry, file) >=
	    (int)sizeof(path))
		return false;
	stream = fopen(path, "re");
	if (stream == NULL)
		return false;
	count = fread(out, 1, size - 1, stream);
	out[count] = '\0';
	fclose(stream);
	return count > 0;
}

/* "Model: \t\t NVIDIA A100-SXM4-40GB" of one device. */
static enum lt_precision
nvidia_precision(const char *text)
{
	char name[128];
	const char *model = strstr(text, "Model:");
	size_t length;

	if (model == NULL)
		return LT_PRECISION_OFF;
	model += strlen("Model:");
	model += strspn(model, " \t");
	length = strcspn(model, "\n");
	if (length >= sizeof(name))
		return LT_PRECISION_OFF;
	memcpy(name, model, length);
	name[length] = '\0';
	return lt_gpu_best_precision(lt_gpu_find(name));
}

/* "gfx_target_version 90010": gfx908 and later of the accelerators, gfx11
 * and later of the rest, have BF16 matrix units. 0 is a CPU: AUTO, "none". */
static enum lt_precision
amd_precision(const char *text)
{
	const char *const line = strstr(text, "gfx_target_version ");
	const unsigned long version =
	    line != NULL
		? strtoul(line + strlen("gfx_target_version "), NULL, 10)
		: 0;

	if (version == 0)
		return LT_PRECISION_AUTO;
	return (version >= 90008 && version < 100000) || version >= 110000
		   ? LT_PRECISION_BF16
		   : LT_PRECISION_OFF;
}

/* The least that all GPUs of the node can do; AUTO when there is none. */
static enum lt_precision
precision_of_devices(const char *directory, const char *file,
    enum lt_precision (*precision_of)(const char *))
{
	enum lt_precision least = LT_PRECISION_AUTO;
	DIR *const stream = opendir(directory);
	char text[4096];

	for (int i = 0; stream != NULL && i < DEVICES_MAX; i++) {
		const struct dirent *const entry = readdir(stream);
		enum lt_precision one;

		if (entry == NULL)
			break;
		if (entry->d_name[0] == '.' ||
		    !read_small(
			text, sizeof(text), directory, entry->d_name, file))
			continue;
		one = precision_of(text);
		/* OFF < FP16 < BF16 in the enum. */
		if (one != LT_PRECISION_AUTO &&
		    (least == LT_PRECISION_AUTO || one < least))
			least = one;
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

		if (colon != NULL &&
		    node_matches(table, (size_t)(colon - table), node)) {
			snprintf(name, size, "%.*s",
			    (int)(length - (size_t)(colon + 1 - table)),
			    colon + 1);
			return true;
		}
		table += length;
		table += *table != '\0';
	}
	return false;
}

static enum lt_precision
precision_here(void)
{
	const char *const named = getenv("SLURMD_NODENAME");
	char node[256] = "", name[64];
	enum lt_precision precision;

	if (named != NULL)
		snprintf(node, sizeof(node), "%s", named);
	else if (gethostname(node, sizeof(node) - 1) == 0)
		node[strcspn(node, ".")] = '\0';
	if (gpu_by_table(name, sizeof(name), lt_spank.gpu, node))
		return lt_gpu_best_precision(lt_gpu_find(name));
	precision =
	    precision_of_devices(NVIDIA_GPUS, "information", nvidia_precision);
	if (precision == LT_PRECISION_AUTO)
		precision = precision_of_devices(
		    AMD_NODES, "properties", amd_precision);
	return precision;
}

/* Only variables that are a default for code that says nothing itself. */
static void
set_precision(spank_t spank)
{
	const struct lt_precision_words *const words =
	    lt_precision_words(lt_spank.options.precision, precision_here());
	char theirs[64];

	/* Who set one of them decided for all. */
	if (words == NULL ||
	    spank_getenv(spank, "ACCELERATE_MIXED_PRECISION", theirs,
		sizeof(theirs)) != ESPANK_ENV_NOEXIST ||
	    spank_getenv(spank, "PL_TRAINER_PRECISION", theirs,
		sizeof(theirs)) != ESPANK_ENV_NOEXIST)
		return;
	spank_setenv(spank, "ACCELERATE_MIXED_PRECISION", words->accelerate, 0);
	spank_setenv(spank, "PL_TRAINER_PRECISION", words->lightning, 0);
}

/* Interruptions an hour of one node of the partition by the plugstack line;
 * false when it is not preemptible. */
static bool
hazard_of(double *hazard_per_h, const char *table, const char *partition)
{
	const size_t name = strlen(partition);

	while (table != NULL && *table && name > 0) {
		const size_t length = strcspn(table, ",");
		char number[32];

		if (length > name + 1 && table[name] == ':' &&
		    strncmp(table, partition, name) == 0 &&
		    length - name - 1 < sizeof(number)) {
			memcpy(number, table + name + 1, length - name - 1);
			number[length - name - 1] = '\0';
			return lt_double_parse(number, hazard_per_h, NULL) ==
				   LT_OK &&
			       *hazard_per_h >= 0;
		}
		table += length;
		table += *table != '\0';
	}
	return false;
}

static void
set_checkpoint(spank_t spank)
{
	const struct lt_checkpoint *const checkpoint =
	    &lt_spank.options.checkpoint;
	char partition[LT_NAME_SIZE] = "", nodes[16] = "", text[32];
	double hazard_per_h = 0, interval_s = checkpoint->every_s;
	bool preemptible;

	spank_getenv(
	    spank, "SLURM_JOB_PARTITION", partition, sizeof(partition));
	spank_getenv(spank, "SLURM_JOB_NUM_NODES", nodes, sizeof(nodes));
	preemptible = hazard_of(&hazard_per_h, lt_spank.preemptible, partition);
	if (interval_s <= 0 && preemptible) {
		const unsigned long count = strtoul(nodes, NULL, 10);

		interval_s = lt_checkpoint_interval_s(
		    checkpoint->write_s > 0 ? checkpoint->write_s : 60,
		    hazard_per_h * (double)(count > 0 ? count : 1));
	}
	spank_setenv(spank, "LOWTIDE_PREEMPTIBLE", preemptible ? "1" : "0", 0);
	if (interval_s >= 1) {
		snprintf(text, sizeof(text), "%.0f", interval_s);
		spank_setenv(
		    spank, "LOWTIDE_CHECKPOINT_INTERVAL_SECONDS", text, 0);
	}
}

/* With --export=NONE Slurm's own variable for an option is lost on the way to
 * the batch script, but the command's copy, which begins with SLURM, is not. */
static void
recover_options(spank_t spank)
{
	for (int id = 0; id < LT_OPTION_COUNT; id++) {
		char name[128], value[256];

		if (lt_spank.given[id])
			continue;
		lt_spank_variable(name, sizeof(name), (enum lt_option_id)id);
		if (spank_getenv(spank, name, value, sizeof(value)) == 0 &&
		    lt_option_parse(&lt_spank.options, (enum lt_option_id)id,
			value, NULL) == LT_OK)
			lt_spank.given[id] = true;
	}
}

void
lt_spank_environment(spank_t spank)
{
	recover_options(spank);
	if ((lt_spank.given[LT_OPTION_AMP] || lt_spank.amp) &&
	    lt_spank.options.precision != LT_PRECISION_OFF)
		set_precision(spank);
	if (lt_spank.options.checkpoint.enabled)
		set_checkpoint(spank);
}
