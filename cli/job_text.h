/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What jobs and watch say of a job: texts of an object of GET /v1/jobs.
 */
#ifndef LT_JOB_TEXT_H
#define LT_JOB_TEXT_H

#include "cli.h"

/* "$1.20", or in a site without money "310 g"; "-" where it is not known.
 * amount: {"money_micros", "carbon_mg"}, or null. */
const char *lt_job_amount(
    char *out, size_t size, const json_t *amount, const char *currency);

/* The same: what it is expected to cost, or once that is known what it was
 * charged. */
const char *lt_job_expected(
    char *out, size_t size, const json_t *job, const char *currency);
const char *lt_job_so_far(
    char *out, size_t size, const json_t *job, const char *currency);

/* The caller's zone as it is now, "GMT": of all times below that name none. */
const char *lt_job_zone(char *out, size_t size);
/* A time in the caller's zone, "Sat 02:00", with its date where it is not of
 * the week from now on, and the zone where it is another than now; "-" for
 * none. */
const char *lt_job_time(
    char *out, size_t size, const json_t *object, const char *key);

/* When it starts: it has, or is planned to. */
const char *lt_job_start(char *out, size_t size, const json_t *job);
/* "PENDING (BeginTime), ondemand from Sat 02:00", "..., paused until Sat 02:00:
 * saves 1.2 kg CO2e": all of it but the costs. */
void lt_job_state(
    char *out, size_t size, const json_t *job, const char *currency);
/* "SUSPENDED until Sat 02:00" of one that lowtide pauses. */
const char *lt_job_state_word(char *out, size_t size, const json_t *job);
/* ", expected $1.20", ", so far $0.02 of $1.20 expected", ", charged $0.04,
 * saved $0.01"; "" where nothing is known. */
void lt_job_costs(
    char *out, size_t size, const json_t *job, const char *currency);
/* The partition that it is in, or is planned for. */
const char *lt_job_place(const json_t *job);

#endif
