/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's job description as lowtide's request. NO_VAL, INFINITE, minutes and TRES text end here.
 * slurmctld (job_submit) and the client (SPANK, plugstack only) both use it, so both decide on the
 * same request.
 */
#ifndef LT_JOB_FROM_SLURM_H
#define LT_JOB_FROM_SLURM_H

#include <stdbool.h>

#include "edits.h"
#include "slurm_abi.h"
#include "units.h"

/* Slurm's UNLIMITED counts as ten years, so that sums stay in range. */
enum { LT_UNLIMITED_S = 10 * 366 * LT_DAY_S };

static inline bool
any(const char *text)
{
	return text != NULL && *text != '\0';
}

/* True if the job asks for GPUs or another TRES, by any option. */
static inline bool
any_tres(const job_desc_msg_t *job)
{
	return any(job->tres_per_job) || any(job->tres_per_node) || any(job->tres_per_socket) ||
	       any(job->tres_per_task);
}

static inline uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Lower case copy, as slurmctld will do after the plugin; false if cut. */
bool lt_lower_copy(char *out, size_t size, const char *text);

/* "USR1", "SIGUSR1" or a number -> its number, 0 = unknown. */
uint16_t lt_signal_number(const char *name);

/*
 * Minutes of Slurm -> seconds; NO_VAL -> LT_UNSET_64, INFINITE -> LT_UNLIMITED_S.
 */
int64_t lt_limit_from_minutes(uint32_t minutes);

/*
 * Fill the request, all but account default and options: those need the
 * budget snapshot and the site's defaults. account is "" when the user named
 * none. home is -1 and LT_ENOENT returned when a named partition (or the
 * default one) is not in the market; LT_EINPUT for an array text that can't
 * be counted, LT_ELIMIT for an account that is too long. The request is
 * usable for text even then.
 */
int lt_request_from_desc(struct lt_request *request, const job_desc_msg_t *job,
    const struct lt_market *market, int64_t now_utc_s, struct lt_error *err);

/* True if it sets a field of job_fields.h that may raise a job's cost. */
bool lt_job_may_raise(const job_desc_msg_t *job);

/* The bits of enum lt_fixed that the user set. */
uint32_t lt_job_fixed(const job_desc_msg_t *job);

/* The user's options out of spank_job_env. LT_EINPUT: one is not valid. */
int lt_options_from_job(
    struct lt_options *options, const job_desc_msg_t *job, struct lt_error *err);

#endif
