/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what keeps a job in the partition where Slurm would put it, from its description.
 * Everything that lowtide can't check for another partition does:
 * an option, a GRES, a flag or a field of a newer Slurm that no row of
 * job_fields.h knows. Such a job may still wait for a better hour.
 */
#include "job_pins.h"

#include <stdio.h>
#include <string.h>

#include "ask_text.h"
#include "job_fields.h"
#include "job_fields_new.h"

/* True if the user chose how fast it runs: by an option, or by a variable that the script's srun
 * reads. */
static bool
has_frequency(const job_desc_msg_t *job)
{
	static const char *const names[] = {"SLURM_GPU_FREQ=", "SLURM_CPU_FREQ_REQ="};

	if (any(job->tres_freq) || job->cpu_freq_min != NO_VAL || job->cpu_freq_max != NO_VAL ||
	    job->cpu_freq_gov != NO_VAL)
		return true;
	for (uint32_t i = 0; job->environment != NULL && i < job->env_size; i++)
		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			if (job->environment[i] != NULL &&
			    strncmp(job->environment[i], names[n], strlen(names[n])) == 0)
				return true;
	return false;
}

/* True if a field, which may be of any type, is neither 0 nor NO_VAL of its size. */
static bool
is_said(const void *field, size_t bytes)
{
	const unsigned char *const at = field;
	uint64_t value = 0;

	if (bytes <= sizeof(value)) {
		memcpy(&value, field, bytes); /* little-endian */
		return value != 0 && value != (UINT64_MAX >> (64 - 8 * bytes)) - 1;
	}
	for (size_t i = 0; i < bytes; i++)
		if (at[i] != 0)
			return true;
	return false;
}

/* The option of the first field that pins; NULL = none. */
static const char *
pinning_field(const job_desc_msg_t *job)
{
	/* The field of a row, and its option: NULL does not pin. */
	const struct {
		bool is_set;
		const char *option;
	} fields[] = {
#define NUMBER(field, unset, option) {is_said(&job->field, sizeof(job->field)), option},
#define TEXT(field, option) {any(job->field), option},
#define TIME(field)
#define KEEPS(field, why)
#define PINS_NUMBER(field, option, why) NUMBER(field, 0, option)
#define PINS_TEXT(field, option, why) TEXT(field, option)
#define NEW(field) NUMBER(field, 0, #field)
	    LT_JOB_FIELDS(NUMBER, TEXT, TIME, KEEPS, PINS_NUMBER, PINS_TEXT) LT_JOB_FIELDS_NEW(NEW)
#undef NUMBER
#undef TEXT
#undef TIME
#undef KEEPS
#undef PINS_NUMBER
#undef PINS_TEXT
#undef NEW
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].is_set && fields[i].option != NULL)
			return fields[i].option;
	return NULL;
}

/* Flags that ask nothing of the nodes, or what lt_allocation_on() knows; a bit that a newer Slurm
 * gave a meaning to pins. */
static const uint64_t understood_flags =
    KILL_INV_DEP | NO_KILL_INV_DEP | HAS_STATE_DIR | TEST_NOW_ONLY | JOB_SEND_ENV | SPREAD_JOB |
    USE_MIN_NODES | JOB_KILL_HURRY | TRES_STR_CALC | SIB_JOB_FLUSH | HET_JOB_FLAG | JOB_NTASKS_SET |
    JOB_CPUS_SET | JOB_ACCRUE_OVER | GRES_DISABLE_BIND | RESET_ACCRUE_TIME | CRON_JOB |
    JOB_MEM_SET | USE_DEFAULT_ACCT | USE_DEFAULT_PART | USE_DEFAULT_QOS | USE_DEFAULT_WCKEY |
    JOB_PART_ASSIGNED | BACKFILL_SCHED | BACKFILL_LAST | JOB_SEND_SCRIPT
#ifdef STEPMGR_ENABLED
    | STEPMGR_ENABLED
#endif
#ifdef EXPEDITED_REQUEUE
    | EXPEDITED_REQUEUE
#endif
    ;

/* The option behind a value that only some of its kinds leave movable; NULL = none. */
static const char *
pinning_value(const job_desc_msg_t *job)
{
	/* Longer names are cut in the request; of several Slurm takes one. */
	if (job->qos != NULL &&
	    (strlen(job->qos) >= LT_ACCOUNT_SIZE || strchr(job->qos, ',') != NULL))
		return "--qos";
	/* Without a GPU only nodes that have some take such a job. */
	if (!any_tres(job) && any(job->cpus_per_tres))
		return "--cpus-per-gpu";
	if (!any_tres(job) && any(job->mem_per_tres))
		return "--mem-per-gpu";
	if (job->bitflags & GRES_ENFORCE_BIND)
		return "--gres-flags";
	if (job->bitflags & ~understood_flags)
		return "a flag of this Slurm";
	if (job->shared != NO_VAL16 && job->shared > JOB_SHARED_OK)
		return "--exclusive";
	if (job->task_dist != NO_VAL &&
	    (job->task_dist & SLURM_DIST_NODEMASK) == SLURM_DIST_ARBITRARY)
		return "--distribution";
	return NULL;
}

/* The first GRES, licence or the like that lowtide can't check elsewhere, into out; false: none. */
static bool
pinning_tres(char *out, size_t size, const job_desc_msg_t *job)
{
	const char *const texts[] = {job->tres_per_node, job->tres_per_job, job->tres_per_socket,
	    job->tres_per_task, job->cpus_per_tres, job->mem_per_tres};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t length;
		const char *const name = lt_tres_unknown(texts[i], &length);

		if (name == NULL)
			continue;
		(void)snprintf(out, size, "--gres=%.*s", (int)length, name);
		return true;
	}
	return false;
}

static uint32_t
named_pins(const job_desc_msg_t *job)
{
	const bool is_cron = (job->bitflags & CRON_JOB) != 0;
	const struct {
		bool is_set;
		enum lt_pin pin;
	} rows[] = {
	    {any(job->partition), LT_PIN_PARTITION},
	    {job->begin_time > 0 || is_said(&job->immediate, sizeof(job->immediate)), LT_PIN_BEGIN},
	    /* slurmctld sets it before the plugin: a number for a component. */
	    {job->het_job_offset != NO_VAL, LT_PIN_HET},
	    {any(job->reservation), LT_PIN_RESERVATION},
	    {any(job->dependency), LT_PIN_DEPENDENCY},
	    {any(job->licenses), LT_PIN_LICENSES},
	    {any(job->burst_buffer), LT_PIN_BURST_BUFFER},
	    {any(job->req_nodes), LT_PIN_NODELIST},
	    {is_cron, LT_PIN_CRON},
	    {job->script == NULL && job->script_buf == NULL && !is_cron, LT_PIN_INTERACTIVE},
	    {has_frequency(job), LT_PIN_FREQUENCY},
	};
	uint32_t pins = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].is_set)
			pins |= (uint32_t)rows[i].pin;
	return pins;
}

void
lt_pins_of(struct lt_request *request, const job_desc_msg_t *job)
{
	const char *option = pinning_field(job);

	if (option == NULL)
		option = pinning_value(job);
	request->pins = named_pins(job);
	request->pinned_by[0] = '\0';
	if (option != NULL)
		(void)snprintf(request->pinned_by, sizeof(request->pinned_by), "%s", option);
	else if (!pinning_tres(request->pinned_by, sizeof(request->pinned_by), job))
		return;
	request->pins |= LT_PIN_OTHER;
}
