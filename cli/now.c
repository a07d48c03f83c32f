/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide now JOB: start a job at once that lowtide delayed.
 */
#include "job.h"

int
lt_cli_now(const struct lt_cli *cli)
{
	return lt_job_command(cli, true, "/v1/now");
}
