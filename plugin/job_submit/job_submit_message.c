/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines for the user, on their way out of a call of Slurm's.
 */
#include "job_submit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

void
lt_say(struct lt_submission *submission, const char *format, ...)
{
	char text[LT_MESSAGE_SIZE];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	for (const char *line = text; *line;) {
		const size_t length = strcspn(line, "\n");
		char *const end =
		    submission->message + submission->message_length;
		const size_t room =
		    sizeof(submission->message) - submission->message_length;
		int written;

		if (length > 0) {
			written = snprintf(end, room, "%slowtide: %.*s",
			    submission->message_length ? "\n" : "", (int)length,
			    line);
			if (written < 0 || (size_t)written >= room) {
				*end = '\0'; /* no half lines */
				return;
			}
			submission->message_length += (size_t)written;
		}
		line += length;
		line += *line != '\0';
	}
}

void
lt_message_give(char **err_msg, const char *message)
{
	char joined[2 * LT_MESSAGE_SIZE];
	void *earlier;

	if (err_msg == NULL || message[0] == '\0')
		return;
	earlier = *err_msg;
	snprintf(joined, sizeof(joined), "%.*s%s%s", LT_MESSAGE_SIZE,
	    earlier != NULL ? *err_msg : "", earlier != NULL ? "\n" : "",
	    message);
	if (earlier != NULL)
		slurm_xfree(&earlier);
	lt_text_lines(joined); /* names in it are words of the user */
	*err_msg = slurm_xstrdup(joined);
}
