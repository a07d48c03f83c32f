/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's log: whole lines to a write(2), so that those of two threads never mix. Control
 * characters in values do not get there: one event, one line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "text.h"

enum { LINE_SIZE = 2048 };

static int log_fd = STDERR_FILENO;
static _Thread_local struct {
	bool on;
	size_t used;
	char bytes[8 * LINE_SIZE];
} gathered;
static _Thread_local struct { /* long work logs many in a second */
	time_t of;
	char text[sizeof("1970-01-01T00:00:00Z ")];
} stamp;

int
lt_log_open(const char *path)
{
	if (path == NULL)
		return 0;
	const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	if (fd < 0)
		return errno;
	log_fd = fd;
	return 0;
}

static void
write_bytes(const char *bytes, size_t length)
{
	if (length > 0 && write(log_fd, bytes, length) < 0)
		return; /* nowhere left to say so */
}

static void
put_gathered(void)
{
	write_bytes(gathered.bytes, gathered.used);
	gathered.used = 0;
}

void
lt_log_flush(void)
{
	put_gathered();
	gathered.on = false;
}

void
lt_log_gather(void)
{
	gathered.on = true;
}

/* One of LINE_SIZE at most. */
static void
put_line(const char *line, size_t length)
{
	if (!gathered.on) {
		write_bytes(line, length);
		return;
	}
	if (gathered.used + length > sizeof(gathered.bytes))
		put_gathered();
	memcpy(gathered.bytes + gathered.used, line, length);
	gathered.used += length;
}

/* Writes ' for a quote that does not end the value of key="a value". */
static void
mend_quotes(char *line)
{
	bool inside = false;

	for (char *at = line; (at = strchr(at, '"')) != NULL; at++) {
		const size_t key = strcspn(at + 1 + (at[1] == ' '), " =\"");
		const bool ends = at[1] == '\0' || (at[1] == ' ' && at[2 + key] == '=');

		if (!inside && at > line && at[-1] == '=')
			inside = true;
		else if (inside && ends)
			inside = false;
		else
			*at = '\'';
	}
}

void
lt_log(const char *event, const char *format, ...)
{
	char line[LINE_SIZE];
	const time_t now = time(NULL);

	if (stamp.of != now) {
		struct tm tm;

		gmtime_r(&now, &tm);
		(void)strftime(stamp.text, sizeof(stamp.text), "%FT%TZ ", &tm);
		stamp.of = now;
	}
	size_t used = (size_t)snprintf(line, sizeof(line), "%sevent=%s ", stamp.text, event);
	va_list list;
	va_start(list, format);
	const int wrote = vsnprintf(line + used, sizeof(line) - used - 1, format, list);
	va_end(list);
	if (wrote > 0)
		used += (size_t)wrote;
	if (used > sizeof(line) - 2)
		used = sizeof(line) - 2;
	line[used] = '\0';
	lt_text_line(line);
	mend_quotes(line);
	used = strlen(line);
	line[used++] = '\n';
	put_line(line, used);
}
