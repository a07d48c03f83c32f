/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program of the site, for clouds and sites that have notices of another kind: exit status 0 and
 * the seconds that are left, or a time, on its standard output; 1: no notice. All else is a
 * failure. It gets the node's name as its argument and runs as we do, without a shell.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "reclaim.h"
#include "units.h"

int
lt_command_parse(
    struct lt_reading *reading, const char *text, int64_t now_utc_s, struct lt_error *err)
{
	char word[64] = "";
	int64_t left_s, end_utc_s;

	sscanf(text, " %63s", word);
	if (lt_int64_parse(word, 0, LT_NODE_FUTURE_S, &left_s, NULL) == LT_OK)
		end_utc_s = now_utc_s + left_s;
	else if (lt_utc_parse(word, &end_utc_s, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT,
		    "got \"%s\", want seconds up to %d, or a time as 2026-11-21T02:00:00Z", word,
		    (int)LT_NODE_FUTURE_S);
	snprintf(reading->what, sizeof(reading->what), "command");
	return lt_reading_end(reading, end_utc_s, now_utc_s, err);
}

static void
become_command(void *work, int fd)
{
	const struct lt_asker *const asker = work;
	const int nothing = open("/dev/null", O_RDONLY);

	(void)setpgid(0, 0); /* so that what it starts can be ended with it */
	if (nothing < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(nothing, STDIN_FILENO) < 0)
		_exit(127);
	execl(asker->command, asker->command, asker->node, (char *)NULL);
	_exit(127);
}

static int
judge_answer(struct lt_reading *reading, const struct lt_child *child, int status,
    int64_t now_utc_s, struct lt_error *err)
{
	char text[128];

	if (!WIFEXITED(status))
		return lt_fail(err, LT_EIO, "ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == 1)
		return LT_OK;
	if (WEXITSTATUS(status) != 0)
		return lt_fail(err, LT_EIO, "exit status %d, want 0 (a notice) or 1 (none)",
		    WEXITSTATUS(status));
	snprintf(text, sizeof(text), "%.*s",
	    child->length < sizeof(text) ? (int)child->length : (int)sizeof(text) - 1,
	    child->bytes != NULL ? child->bytes : "");
	return lt_command_parse(reading, text, now_utc_s, err);
}

static int
ask_command(struct lt_asker *asker, struct lt_reading *reading, struct lt_error *err)
{
	struct lt_child child = {.fd = -1};
	struct lt_reading found = {0};
	int status = 0;
	int code = lt_child_start(&child, become_command, asker, LT_NODE_COMMAND_S, err);

	if (code == LT_OK)
		code = lt_child_wait(&child, LT_NODE_COMMAND_S, LT_NODE_ANSWER_MAX, &status, err);
	if (code == LT_OK)
		code = judge_answer(&found, &child, status, asker->now_utc_s, err);
	if (code != LT_OK && child.fd >= 0)
		(void)kill(-child.pid, SIGKILL);
	lt_child_drop(&child);
	if (code != LT_OK)
		return lt_context(err, "%s", asker->command);
	*reading = found;
	return LT_OK;
}

const struct lt_node_source lt_node_command = {.name = "command", .look = ask_command};
