/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide rebuild: lowtided prices all rows of slurmdbd again and puts its
 * ledger right; what slurmdbd has purged stays. It does so beside its other
 * work: we ask how far it is.
 */
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { FIRST_US = 50000, LONGEST_US = 1000000 };

static bool
is(const json_t *answer, const char *state)
{
	return strcmp(lt_json_text(answer, "state", ""), state) == 0;
}

static void
tell(const json_t *answer, bool goes_on)
{
	if (!lt_cli_escapes(STDERR_FILENO))
		return;
	if (goes_on)
		fprintf(stderr, "\rrebuild: %.10s, %s\033[K",
		    lt_json_text(answer, "at", ""),
		    lt_json_text(answer, "text", ""));
	else
		fputs("\r\033[K", stderr);
}

static int
follow(json_t **answer, const struct lt_cli *cli, struct lt_error *err)
{
	useconds_t wait_us = FIRST_US;

	while (is(*answer, "running")) {
		tell(*answer, true);
		usleep(wait_us);
		wait_us = wait_us * 2 < LONGEST_US ? wait_us * 2 : LONGEST_US;
		json_decref(*answer);
		*answer = NULL;
		if (lt_client_get(answer, cli, "/v1/rebuild", err))
			return err->code;
	}
	tell(*answer, false);
	if (is(*answer, "none"))
		return lt_fail(err, LT_ESTALE,
		    "rebuild: lowtided was started again meanwhile; the ledger is whole: try again");
	if (!is(*answer, "done"))
		return lt_fail(err, LT_EIO, "rebuild: %s",
		    lt_json_text(*answer, "text", "failed"));
	return LT_OK;
}

int
lt_cli_rebuild(const struct lt_cli *cli)
{
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (lt_client_post(&answer, cli, "/v1/rebuild", NULL, &err) ||
	    follow(&answer, cli, &err)) {
		json_decref(answer);
		return lt_cli_fail(&err);
	}
	if (cli->json) {
		result = lt_cli_print_json(answer);
	} else {
		lt_print_safe(stdout, lt_json_text(answer, "text", "done"));
		putchar('\n');
	}
	json_decref(answer);
	return result;
}
