/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets the job's environment in the step daemon before the job runs, by the node and the partition
 * where it really is: mixed precision by the GPU (spank_gpu.c), for jobs that asked (--amp) or if
 * the site says so (precision=, amp=auto), checkpoints, and variables about the place. A value of
 * the user is never replaced. A fact that is not known sets nothing.
 */
#include "spank_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interruption.h"
#include "units.h"

struct place { /* the partition, by the plugstack line */
	bool preemptible;
	double hazard_per_h; /* of one node */
	double notice_s, storage_gib_per_s;
};

/* Variables of a job that the client takes away if another job is submitted within it. */
static const char *const variables[] = {"LOWTIDE_RESTARTS", "LOWTIDE_PARTITION_KIND",
    "LOWTIDE_NOTICE_SECONDS", "LOWTIDE_GPU_MEMORY_MIB", "LOWTIDE_DEADLINE",
    "LOWTIDE_CHECKPOINT_INTERVAL_SECONDS", "LOWTIDE_PREEMPTIBLE", LT_SPANK_CAPPED};

void
lt_spank_forget_outer(void)
{
	if (getenv(LT_SPANK_CAPPED) != NULL) {
		unsetenv(LT_SPANK_GPU_FREQ);
		unsetenv(LT_SPANK_CPU_FREQ);
	}
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
}

static void __attribute__((format(printf, 3, 4)))
set(spank_t spank, const char *name, const char *format, ...)
{
	char value[64];
	va_list list;

	va_start(list, format);
	vsnprintf(value, sizeof(value), format, list);
	va_end(list);
	spank_setenv(spank, name, value, 0);
}

/* Only variables that are a default for code that says nothing itself; but for exact work the
 * libraries' TF32, which code can't see, is off as well. */
static void
set_precision(spank_t spank, enum lt_precision wanted, enum lt_precision top)
{
	const struct lt_precision_words *const words =
	    lt_precision_words(lt_precision_used(wanted, top));
	char theirs[64];

	if (wanted == LT_PRECISION_OFF)
		set(spank, "NVIDIA_TF32_OVERRIDE", "%d", 0);
	/* A user who set one of them decided for all. */
	if (words == NULL ||
	    spank_getenv(spank, "ACCELERATE_MIXED_PRECISION", theirs, sizeof(theirs)) !=
		ESPANK_ENV_NOEXIST ||
	    spank_getenv(spank, "PL_TRAINER_PRECISION", theirs, sizeof(theirs)) !=
		ESPANK_ENV_NOEXIST)
		return;
	set(spank, "ACCELERATE_MIXED_PRECISION", "%s", words->accelerate);
	set(spank, "PL_TRAINER_PRECISION", "%s", words->lightning);
}

/* "account:audit:off" of the plugstack line: the kind's own variable says what the job has of it.
 * True when it matches and can be read. */
static bool
rule_read(enum lt_precision *wanted, char *rule, spank_t spank)
{
	static const struct {
		const char *kind, *variable;
	} kinds[] = {
	    {"account", "SLURM_JOB_ACCOUNT"},
	    {"qos", "SLURM_JOB_QOS"},
	    {"partition", "SLURM_JOB_PARTITION"},
	};
	char *name = rule;
	const char *const kind = strsep(&name, ":");
	char *const amp = name != NULL ? strrchr(name, ':') : NULL;
	struct lt_options options;
	char theirs[LT_NAME_SIZE];

	if (amp == NULL)
		return false;
	*amp = '\0';
	lt_options_init(&options);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].kind, kind) != 0 ||
		    spank_getenv(spank, kinds[i].variable, theirs, sizeof(theirs)) !=
			ESPANK_SUCCESS ||
		    strcmp(theirs, name) != 0 ||
		    lt_option_parse(&options, LT_OPTION_AMP, amp + 1, NULL) != LT_OK)
			continue;
		*wanted = options.precision;
		return true;
	}
	return false;
}

/* Finds the precision: the user's, else the first matching rule of the site, else the site's for
 * all. False: nothing is to be set. */
static bool
find_precision(enum lt_precision *wanted, spank_t spank)
{
	const char *table = lt_spank.precision;

	*wanted = lt_spank.options.precision;
	if (lt_spank.given[LT_OPTION_AMP])
		return true;
	while (table != NULL && *table) {
		const size_t length = strcspn(table, ",");
		char rule[LT_NAME_SIZE + 32];

		if (length < sizeof(rule)) {
			memcpy(rule, table, length);
			rule[length] = '\0';
			if (rule_read(wanted, rule, spank))
				return true;
		}
		table += length;
		table += *table != '\0';
	}
	return lt_spank.amp;
}

/* "0.004", "0.004:120", "0.004:120:2.5": interruptions of a node in an hour, seconds of notice, GiB
 * a second of storage. False: it is not that. */
static bool
place_read(struct place *place, char *text)
{
	double *const fields[] = {
	    &place->hazard_per_h, &place->notice_s, &place->storage_gib_per_s};
	char *next = text;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && next != NULL; i++)
		if (lt_double_parse(strsep(&next, ":"), fields[i], NULL) != LT_OK || *fields[i] < 0)
			return false;
	return next == NULL;
}

static struct place
place_of(const char *partition)
{
	const size_t name = strlen(partition);
	const char *table = lt_spank.preemptible;
	struct place place = {0};

	while (table != NULL && *table && name > 0) {
		const size_t length = strcspn(table, ",");
		char text[64];

		if (length > name + 1 && table[name] == ':' &&
		    strncmp(table, partition, name) == 0 && length - name - 1 < sizeof(text)) {
			memcpy(text, table + name + 1, length - name - 1);
			text[length - name - 1] = '\0';
			place.preemptible = place_read(&place, text);
			return place.preemptible ? place : (struct place){0};
		}
		table += length;
		table += *table != '\0';
	}
	return place;
}

static void
set_checkpoint(spank_t spank, const struct place *place)
{
	const struct lt_checkpoint checkpoint =
	    lt_checkpoint_there(&lt_spank.options.checkpoint, place->storage_gib_per_s);
	char nodes[16] = "";

	spank_getenv(spank, "SLURM_JOB_NUM_NODES", nodes, sizeof(nodes));
	const unsigned long count = strtoul(nodes, NULL, 10);
	const double hazard_per_h = place->hazard_per_h * (double)(count > 0 ? count : 1);

	set(spank, "LOWTIDE_PREEMPTIBLE", "%d", place->preemptible);
	set(spank, "LOWTIDE_CHECKPOINT_INTERVAL_SECONDS", "%.0f",
	    lt_checkpoint_told_s(lt_checkpoint_every_s(&checkpoint, hazard_per_h)));
}

/* Sets the variables about the place, and until when the job is there. */
static void
set_place(spank_t spank, const struct place *place, uint32_t gpu_memory_mib)
{
	char deadline[32] = "", utc[32];

	set(spank, "LOWTIDE_PARTITION_KIND", "%s",
	    place->preemptible ? "preemptible" : "on_demand");
	set(spank, "LOWTIDE_NOTICE_SECONDS", "%.0f", place->notice_s);
	if (gpu_memory_mib > 0)
		set(spank, "LOWTIDE_GPU_MEMORY_MIB", "%" PRIu32, gpu_memory_mib);
	if (spank_getenv(spank, LT_SPANK_DEADLINE, deadline, sizeof(deadline)) == ESPANK_SUCCESS &&
	    strtoll(deadline, NULL, 10) > 0)
		set(spank, "LOWTIDE_DEADLINE", "%s",
		    lt_utc_text(utc, sizeof(utc), strtoll(deadline, NULL, 10)));
}

/* With --export=NONE Slurm's own variable for an option is lost on the way to the batch script, but
 * the command's copy, which begins with SLURM, is not. */
static void
recover_options(spank_t spank)
{
	for (int id = 0; id < LT_OPTION_COUNT; id++) {
		char name[128], value[256];

		if (lt_spank.given[id])
			continue;
		lt_spank_variable(name, sizeof(name), (enum lt_option_id)id);
		if (spank_getenv(spank, name, value, sizeof(value)) == 0 &&
		    lt_option_parse(&lt_spank.options, (enum lt_option_id)id, value, NULL) == LT_OK)
			lt_spank.given[id] = true;
	}
}

void
lt_spank_environment(spank_t spank)
{
	const struct lt_options *const options = &lt_spank.options;
	char partition[LT_NAME_SIZE] = "";
	enum lt_precision wanted;

	recover_options(spank);
	const bool has_precision = find_precision(&wanted, spank);

	if (!lt_spank_is_asked() && !has_precision)
		return;
	spank_getenv(spank, "SLURM_JOB_PARTITION", partition, sizeof(partition));
	const struct place place = place_of(partition);
	const struct lt_gpu_here gpu = lt_spank_gpu_here();

	if (has_precision)
		set_precision(spank, wanted, gpu.top);
	if (lt_spank_is_asked())
		set_place(spank, &place, gpu.memory_mib);
	if (options->checkpoint.enabled)
		set_checkpoint(spank, &place);
}

/* Slurm puts the restarts into the environment just before a task begins; a first run has none. */
void
lt_spank_task(spank_t spank)
{
	char restarts[16] = "";

	if (!lt_spank_is_asked())
		return;
	spank_getenv(spank, "SLURM_RESTART_COUNT", restarts, sizeof(restarts));
	set(spank, "LOWTIDE_RESTARTS", "%lu", strtoul(restarts, NULL, 10));
}
