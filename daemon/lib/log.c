/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's log: one write(2) a line, so that lines of two threads never
 * mix. Control characters in values do not get there: one event, one line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "text.h"

static int log_fd = STDERR_FILENO;

int
lt_log_open(const char *path)
{
	if (path == NULL)
		return 0;
	const int fd =
	    open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	if (fd < 0)
		return errno;
	log_fd = fd;
	return 0;
}

void
lt_log(const char *event, const char *format, ...)
{
	char line[2048];
	struct tm tm;
	const time_t now = time(NULL);

	gmtime_r(&now, &tm);
	size_t used = strftime(line, sizeof(line), "%FT%TZ ", &tm);
	used += (size_t)snprintf(
	    line + used, sizeof(line) - used, "event=%s ", event);
	va_list list;
	va_start(list, format);
	const int wrote =
	    vsnprintf(line + used, sizeof(line) - used - 1, format, list);
	va_end(list);
	if (wrote > 0)
		used += (size_t)wrote;
	if (used > sizeof(line) - 2)
		used = sizeof(line) - 2;
	line[used] = '\0';
	lt_text_line(line);
	used = strlen(line);
	line[used++] = '\n';
	if (write(log_fd, line, used) < 0)
		return; /* nowhere left to say so */
}
