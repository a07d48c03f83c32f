/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What explain and now share: a job id in the path, a text as the answer.
 */
#ifndef LT_JOB_H
#define LT_JOB_H

#include "cli.h"

/* Ask about the job that is the first operand, by GET or POST, print the text
 * or the JSON. */
int lt_job_command(const struct lt_cli *cli, bool post, const char *prefix);

#endif
