/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects lines for the user while a call of Slurm's runs, and hands them to Slurm at its end.
 * Lines beyond the room, or without memory, are left out.
 */
#include "job_submit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Room for what is said, from the first line on. */
static bool
has_room(struct lt_submission *submission)
{
	if (submission->message == NULL) {
		submission->message = malloc(LT_MESSAGE_SIZE);
		if (submission->message != NULL)
			submission->message[0] = '\0';
	}
	return submission->message != NULL;
}

void
lt_say_lines(struct lt_submission *submission, const char *text)
{
	for (const char *line = text; *line;) {
		const size_t length = strcspn(line, "\n");

		if (length > 0) {
			if (!has_room(submission))
				break;
			char *const end = submission->message + submission->message_length;
			const size_t room = LT_MESSAGE_SIZE - submission->message_length;
			const int written = snprintf(end, room, "%slowtide: %.*s",
			    submission->message_length ? "\n" : "", (int)length, line);
			if (written < 0 || (size_t)written >= room) {
				*end = '\0'; /* no half lines */
				break;
			}
			submission->message_length += (size_t)written;
		}
		line += length;
		line += *line != '\0';
	}
}

void
lt_say(struct lt_submission *submission, const char *format, ...)
{
	char *text = NULL;
	va_list list;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		text = NULL;
	va_end(list);
	if (text == NULL)
		return;
	lt_text_wrap(text, LT_ERROR_COLUMNS);
	lt_say_lines(submission, text);
	free(text);
}

void
lt_message_give(char **err_msg, const char *message)
{
	char *joined;
	void *earlier;

	if (err_msg == NULL || message == NULL || message[0] == '\0')
		return;
	earlier = *err_msg;
	if (asprintf(&joined, "%.*s%s%s", LT_MESSAGE_SIZE, earlier != NULL ? *err_msg : "",
		earlier != NULL ? "\n" : "", message) < 0)
		return;
	if (earlier != NULL)
		slurm_xfree(&earlier);
	lt_text_lines(joined); /* names in it are words of the user */
	*err_msg = slurm_xstrdup(joined);
	free(joined);
}
