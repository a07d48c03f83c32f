/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide off, lowtide on: the off switch, a file on this host. It asks
 * nobody, so it works with lowtided dead.
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
		json_t *const body = json_pack("{s:b,s:I,s:s,s:s,s:s}", "off",
		    off->is_off, "since_utc_s", (json_int_t)off->since_utc_s,
		    "by", off->by, "reason", off->reason, "file",
		    lt_cli_off_path());
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

		snprintf(reason + used, sizeof(reason) - used, "%s%s",
		    used > 0 ? " " : "", cli->operands[i]);
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
		lt_fail(&err, LT_EIO, "%s: can't remove: %s", lt_cli_off_path(),
		    strerror(errno));
		return lt_cli_fail(&err);
	}
	return print_state(cli, &on);
}
