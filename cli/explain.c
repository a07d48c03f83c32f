/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide explain JOB: the whole story of a job, as lowtided tells it.
 */
#include <string.h>

#include "job.h"
#include "text.h"

const struct lt_cli_option lt_cli_explain_options[] = {
    {"formulas", NULL, "name the equation of docs/model.md behind each figure"},
    {NULL, NULL, NULL},
};

int
lt_cli_explain(const struct lt_cli *cli)
{
	char path[512];
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (lt_job_path(
		path, sizeof(path), "/v1/explain", cli->operands[0], &err))
		return lt_cli_usage(cli, "%s", err.text);
	if (lt_cli_value(cli, "formulas") != NULL)
		lt_copy(path + strlen(path), sizeof(path) - strlen(path),
		    "?formulas=yes");
	if (lt_client_get(&answer, cli, path, &err))
		return lt_cli_fail(&err);
	if (cli->json)
		result = lt_cli_print_json(answer);
	else
		lt_job_print_text(answer);
	json_decref(answer);
	return result;
}
