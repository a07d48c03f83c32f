/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide reload: has lowtided read its policy file, and waits for the answer.
 * Exit status 1: the file is wrong, and the policy before it stays in force.
 */
#include "cli.h"

int
lt_cli_reload(const struct lt_cli *cli)
{
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (lt_client_post(&answer, cli, "/v1/reload", NULL, &err))
		return lt_cli_fail(&err);
	if (cli->json) {
		result = lt_cli_print_json(answer);
	} else {
		lt_print_safe(stdout, lt_json_text(answer, "path", "policy"));
		printf(
		    ": in force, mode %s\n", lt_json_text(answer, "mode", "?"));
	}
	json_decref(answer);
	return result;
}
