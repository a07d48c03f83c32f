/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What explain, now and watch share: a job in the path, a text as the answer.
 */
#ifndef LT_JOB_H
#define LT_JOB_H

#include "cli.h"

/* "<prefix>/<job>"; LT_EINPUT unless job is a number, a task as 23_1, or
 * NAMESPACE/NAME. */
int lt_job_path(char *out, size_t size, const char *prefix, const char *job,
    struct lt_error *err);

/* The answer's text, and a newline at its end. */
void lt_job_print_text(const json_t *answer);

#endif
