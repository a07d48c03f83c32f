/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between Slurm releases (22.05 to 26.05), and declarations that the installed headers
 * leave out. The plugins include Slurm's headers by this one only.
 */
#ifndef LT_SLURM_COMPAT_H
#define LT_SLURM_COMPAT_H

/* Slurm's headers are not written for -Wpedantic. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#pragma GCC diagnostic pop

#define LT_SLURM_AT_LEAST(major, minor) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(major, minor, 0))

/* slurmctld's own record of a job; the installed headers do not have it. */
struct job_record;

/* job_modify() got err_msg in 23.02. */
#if LT_SLURM_AT_LEAST(23, 2)
#define LT_MODIFY_HAS_MESSAGE 1
#else
#define LT_MODIFY_HAS_MESSAGE 0
#endif

/* 25.11 moved job_id into step_id, where another name of the job goes before it. */
#if LT_SLURM_AT_LEAST(25, 11)
#define lt_job_desc_id(job) ((job)->step_id.job_id)
#define lt_job_desc_sluid(job) ((job)->step_id.sluid)
#else
#define lt_job_desc_id(job) ((job)->job_id)
#define lt_job_desc_sluid(job) 0
#endif

/* 26.05 has ids of steps where it had ids of jobs. */
#if LT_SLURM_AT_LEAST(26, 5)
static inline slurm_step_id_t
lt_slurm_job(uint32_t job_id)
{
	slurm_step_id_t step = SLURM_STEP_ID_INITIALIZER;

	step.job_id = job_id;
	return step;
}
#else
#define lt_slurm_job(job_id) (job_id)
#endif

/* Slurm's allocator: whatever Slurm will free comes from it. */
char *slurm_xstrdup(const char *text);
void slurm_xfree(void **memory);

/* Its log, as in slurm/spank.h. */
void slurm_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
