/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs on the command line: how one is named in a path of lowtided's API (job.c), and how an object
 * of GET /v1/jobs reads in a table or a line (job_text.c).
 */
#ifndef LT_JOB_H
#define LT_JOB_H

#include "cli.h"

/* "<prefix>/<job>"; LT_EINPUT unless job is a number, a task as 23_1, or NAMESPACE/NAME. */
int lt_job_path(char *out, size_t size, const char *prefix, const char *job, struct lt_error *err);

/* Prints the answer's text, and a newline if it has none at its end. */
void lt_job_print_text(const json_t *answer);

/* "$1.20", or in a site without money "310 g"; "-" if it is not known.
 * amount: {"money_micros", "carbon_mg"}, or null. */
const char *lt_job_amount(char *out, size_t size, const json_t *amount, const char *currency);

/* The same for what a job is expected to cost, and for what it has cost so far or was charged. */
const char *lt_job_expected(char *out, size_t size, const json_t *job, const char *currency);
const char *lt_job_so_far(char *out, size_t size, const json_t *job, const char *currency);

/* The caller's zone as it is now, "GMT"; the times below are in it unless they name another. */
const char *lt_job_zone(char *out, size_t size);
/* A time in the caller's zone, "Sat 02:00", with its date if it is more than six days away, and its
 * zone if that differs from the zone now; "-" for none. */
const char *lt_job_time(char *out, size_t size, const json_t *object, const char *key);

/* When the job started, or is planned to. */
const char *lt_job_start(char *out, size_t size, const json_t *job);
/* "PENDING (BeginTime), ondemand from Sat 02:00", "..., paused until Sat 02:00:
 * saves 1.2 kg CO2e": the whole line but its costs. */
void lt_job_state(char *out, size_t size, const json_t *job, const char *currency);
/* "SUSPENDED until Sat 02:00" for a job that lowtide pauses. */
const char *lt_job_state_word(char *out, size_t size, const json_t *job);
/* ", expected $1.20", ", so far $0.02 of $1.20 expected", ", charged $0.04,
 * saved $0.01"; "" if nothing is known. */
void lt_job_costs(char *out, size_t size, const json_t *job, const char *currency);
/* The partition that the job is in, or is planned for. */
const char *lt_job_place(const json_t *job);

#endif
