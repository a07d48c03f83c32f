/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives a message to a program of the site: the text on its standard input, the rest in its
 * environment. No shell, no arguments, nothing of ours in the environment; it runs as
 * lowtide-notify does. Exit status 0 means that it took the message; any other, a signal, or
 * LT_COMMAND_S without an end is a failure.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "http.h"
#include "text.h"
#include "ways.h"

enum {
	OUTPUT_MAX = 64 * 1024,
	VALUE_SIZE = LT_MESSAGE_RECIPIENTS_MAX * LT_ADDRESS_SIZE + 64,
};

struct work {
	const struct lt_sending *sending;
	char kind[64], id[LT_MESSAGE_ID_SIZE + 32], subject[LT_MESSAGE_SUBJECT_SIZE + 32],
	    to[VALUE_SIZE];
};

static void
fill_environment(struct work *work, const struct lt_sending *sending)
{
	const struct lt_message *const message = sending->message;
	struct lt_text to = {.out = work->to, .size = sizeof(work->to)};

	work->sending = sending;
	snprintf(work->kind, sizeof(work->kind), "LOWTIDE_NOTIFY_KIND=%s",
	    lt_message_row(message->kind)->word);
	snprintf(work->id, sizeof(work->id), "LOWTIDE_NOTIFY_ID=%s", message->id);
	snprintf(
	    work->subject, sizeof(work->subject), "LOWTIDE_NOTIFY_SUBJECT=%s", message->subject);
	lt_text_put(&to, "LOWTIDE_NOTIFY_TO=");
	for (int i = 0; i < message->to_count; i++)
		lt_text_put(&to, "%s%s", i > 0 ? "," : "", message->to[i]);
}

/* Opens the text as standard input, in memory: a pipe could block both. */
static bool
open_text(const char *text)
{
	const int fd = memfd_create("lowtide-notify", MFD_CLOEXEC);
	const size_t length = strlen(text);

	return fd >= 0 && write(fd, text, length) == (ssize_t)length &&
	       lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) >= 0;
}

static void
become_command(void *context, int fd)
{
	struct work *const work = context;
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	char *const environment[] = {path, work->kind, work->id, work->subject, work->to, NULL};
	const char *const command = work->sending->notify->command;
	char *const arguments[] = {(char *)command, NULL};

	(void)setpgid(0, 0); /* so that what it starts can be ended with it */
	if (dup2(fd, STDOUT_FILENO) < 0 || !open_text(work->sending->message->text))
		_exit(127);
	execve(command, arguments, environment);
	_exit(127);
}

int
lt_send_command(const struct lt_sending *sending, struct lt_error *err)
{
	struct work work = {0};
	struct lt_child child = {.fd = -1};
	int status = 0;

	fill_environment(&work, sending);
	int code = lt_child_start(&child, become_command, &work, LT_COMMAND_S, err);
	/* Its output is thrown away; its time counts. */
	if (code == LT_OK)
		code = lt_child_wait(&child, LT_COMMAND_S, OUTPUT_MAX, &status, err);
	if (code == LT_OK && !WIFEXITED(status))
		code = lt_fail(err, LT_EIO, "ended by signal %d", WTERMSIG(status));
	else if (code == LT_OK && WEXITSTATUS(status) != 0)
		code = lt_fail(err, LT_EIO, "exit status %d, want 0", WEXITSTATUS(status));
	if (code != LT_OK && child.fd >= 0)
		(void)kill(-child.pid, SIGKILL);
	lt_child_drop(&child);
	return code == LT_OK ? LT_OK : lt_context(err, "%s", sending->notify->command);
}
