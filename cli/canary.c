/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide canary JOB: have an own job interrupted, to see whether it resumes.
 */
#include "job.h"

enum { PATH_SIZE = 512 };

int
lt_cli_canary(const struct lt_cli *cli)
{
	char path[PATH_SIZE];
	json_t *answer = NULL;
	struct lt_error err = {0};

	if (lt_job_path(path, sizeof(path), "/v1/canary", cli->operands[0],
		&err) != LT_OK)
		return lt_cli_usage(cli, "%s", err.text);
	if (lt_client_post(&answer, cli, path, NULL, &err) != LT_OK)
		return lt_cli_fail(&err);
	int status = LT_EXIT_OK;
	if (cli->json)
		status = lt_cli_print_json(answer);
	else
		lt_job_print_text(answer);
	json_decref(answer);
	return status;
}
