/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide off, on, reload and rebuild: commands for the admin that change what lowtided or the
 * plugin does.
 *
 * off and on write and remove a file on this host. They ask nobody, so they work while lowtided is
 * dead. reload has lowtided read its policy file and waits for the answer; exit status 1 means that
 * the file is wrong and that the policy before it stays in force. rebuild has lowtided price all
 * rows of slurmdbd again and correct its ledger, and asks for progress until that is done; what
 * slurmdbd has purged stays in the ledger.
 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "off.h"

const char *
lt_cli_off_path(void)
{
	const char *const named = getenv(LT_OFF_VARIABLE);

	return named != NULL && named[0] ? named : LT_OFF_PATH;
}

/* Returns who throws the switch: the user behind sudo, if there is one. */
static const char *
whoami(void)
{
	const char *const behind = getenv("SUDO_USER");
	const struct passwd *const user = getpwuid(getuid());

	if (getuid() == 0 && behind != NULL && behind[0])
		return behind;
	return user != NULL ? user->pw_name : "?";
}

static int
print_state(const struct lt_cli *cli, const struct lt_off *off)
{
	char text[LT_ERROR_TEXT_SIZE], host[256] = "";

	if (cli->json) {
		json_t *const body = json_pack("{s:b,s:I,s:s,s:s,s:s}", "off", off->is_off,
		    "since_utc_s", (json_int_t)off->since_utc_s, "by", off->by, "reason",
		    off->reason, "file", lt_cli_off_path());
		const int result = lt_cli_print_json(body);

		json_decref(body);
		return result;
	}
	gethostname(host, sizeof(host) - 1);
	if (off->is_off) {
		printf("lowtide is off on %s ", host);
		lt_print_safe(stdout, lt_off_text(text, sizeof(text), off));
		puts(
		    "\nWithin 2 s this host's slurmctld passes each job as without lowtide. lowtide on ends it.");
	} else {
		printf("lowtide is on, on %s.\n", host);
	}
	return LT_EXIT_OK;
}

int
lt_cli_off(const struct lt_cli *cli)
{
	char reason[LT_OFF_REASON_SIZE] = "";
	struct lt_off off;
	struct lt_error err = {0};

	for (int i = 0; i < cli->operand_count; i++) {
		const size_t used = strlen(reason);

		snprintf(reason + used, sizeof(reason) - used, "%s%s", used > 0 ? " " : "",
		    cli->operands[i]);
	}
	if (lt_off_write(lt_cli_off_path(), whoami(), reason, &err) != LT_OK ||
	    lt_off_read(&off, lt_cli_off_path(), &err) != LT_OK)
		return lt_cli_fail(&err);
	return print_state(cli, &off);
}

int
lt_cli_on(const struct lt_cli *cli)
{
	const struct lt_off on = {0};
	struct lt_error err = {0};

	if (unlink(lt_cli_off_path()) != 0 && errno != ENOENT) {
		lt_fail(&err, LT_EIO, "%s: can't remove: %s", lt_cli_off_path(), strerror(errno));
		return lt_cli_fail(&err);
	}
	return print_state(cli, &on);
}

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
		printf(": in force, mode %s\n", lt_json_text(answer, "mode", "?"));
	}
	json_decref(answer);
	return result;
}

enum { FIRST_US = 50000, LONGEST_US = 1000000 };

static bool
is_state(const json_t *answer, const char *state)
{
	return strcmp(lt_json_text(answer, "state", ""), state) == 0;
}

/* Draws the progress of a rebuild on a terminal; removes it when it has ended. */
static void
show_progress(const json_t *answer, bool is_running)
{
	if (!lt_cli_escapes(STDERR_FILENO))
		return;
	if (is_running)
		fprintf(stderr, "\rrebuild: %.10s, %s\033[K", lt_json_text(answer, "at", ""),
		    lt_json_text(answer, "text", ""));
	else
		fputs("\r\033[K", stderr);
}

/* Asks until the rebuild has ended, in longer and longer intervals. */
static int
follow_rebuild(json_t **answer, const struct lt_cli *cli, struct lt_error *err)
{
	useconds_t wait_us = FIRST_US;

	while (is_state(*answer, "running")) {
		show_progress(*answer, true);
		usleep(wait_us);
		wait_us = wait_us * 2 < LONGEST_US ? wait_us * 2 : LONGEST_US;
		json_decref(*answer);
		*answer = NULL;
		if (lt_client_get(answer, cli, "/v1/rebuild", err))
			return err->code;
	}
	show_progress(*answer, false);
	if (is_state(*answer, "none"))
		return lt_fail(err, LT_ESTALE,
		    "rebuild: lowtided was started again meanwhile; the ledger is whole: try again");
	if (!is_state(*answer, "done"))
		return lt_fail(err, LT_EIO, "rebuild: %s", lt_json_text(*answer, "text", "failed"));
	return LT_OK;
}

int
lt_cli_rebuild(const struct lt_cli *cli)
{
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (lt_client_post(&answer, cli, "/v1/rebuild", NULL, &err) ||
	    follow_rebuild(&answer, cli, &err)) {
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
