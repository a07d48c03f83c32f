/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide rebuild: lowtided prices all rows of slurmdbd again and puts its
 * ledger right; what slurmdbd has purged stays.
 */
#include "cli.h"

int
lt_cli_rebuild(const struct lt_cli *cli)
{
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (lt_client_call(&answer, cli, "POST", "/v1/rebuild", NULL, &err))
		return lt_cli_fail(&err);
	if (cli->json) {
		result = lt_cli_print_json(answer);
	} else {
		lt_print_safe(stdout, lt_json_text(answer, "text", "done"));
		putchar('\n');
	}
	json_decref(answer);
	return result;
}
