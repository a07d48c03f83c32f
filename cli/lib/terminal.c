/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal: its width, whether it takes escapes, and the one place where lines are broken for
 * it. Streams stand in for stdout and stderr and break a line between words if it is longer than
 * the terminal. Without a terminal, or without memory for such a stream, lines stay whole.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "text.h"

enum { LINE_SIZE = 16384 };

static struct stream {
	FILE *to; /* the terminal; NULL = not a terminal */
	int columns;
	size_t used; /* bytes of a line that has not ended */
	char line[LINE_SIZE];
} streams[2]; /* of stdout, stderr */

static int
columns_of(int fd)
{
	struct winsize size = {0};

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

int
lt_cli_columns(void)
{
	return columns_of(STDOUT_FILENO);
}

bool
lt_cli_escapes(int fd)
{
	const char *const no_color = getenv("NO_COLOR");
	const char *const term = getenv("TERM");

	return isatty(fd) && (no_color == NULL || no_color[0] == '\0') && term != NULL &&
	       term[0] != '\0' && strcmp(term, "dumb") != 0;
}

static int
width_of(const char *text, size_t bytes)
{
	char part[LINE_SIZE];

	snprintf(part, sizeof(part), "%.*s", (int)bytes, text);
	return lt_text_width(part);
}

/* Returns the indent of a line's continuation: below its text, which begins
 * behind the last gap of two spaces in its first half ("mode       enforce"),
 * or behind the mark of a list. */
static int
indent_of(const char *line, int columns)
{
	const size_t lead = strspn(line, " ");
	const char *const most = line + strnlen(line, (size_t)columns / 2);
	const char *text = line + lead;

	for (const char *at = text; at < most; at++)
		if (at[0] == ' ' && at[1] == ' ' && at[2] != ' ' && at[2] != '\0')
			text = at + 2;
	if (strncmp(text, "-> ", 3) == 0)
		text += 3;
	else if (strncmp(text, "- ", 2) == 0 || strncmp(text, "* ", 2) == 0)
		text += 2;
	else if (lead > 0 && text == line + lead)
		text += 2;
	return width_of(line, (size_t)(text - line));
}

static void
print_line(const struct stream *stream)
{
	const char *at = stream->line;
	int indent = 0;

	for (;;) {
		const size_t bytes = lt_text_words(at, stream->columns - indent);
		const int room = stream->columns - width_of(at, bytes);

		if (indent > room) /* one long word */
			indent = room > 0 ? room : 0;
		fprintf(stream->to, "%*s%.*s", indent, "", (int)bytes, at);
		at += bytes;
		at += strspn(at, " ");
		if (*at == '\0')
			break;
		fputc('\n', stream->to);
		indent = indent_of(stream->line, stream->columns);
	}
}

static void
take_char(struct stream *stream, char c)
{
	if (c == '\n') {
		stream->line[stream->used] = '\0';
		print_line(stream);
		stream->used = 0;
		fputc('\n', stream->to);
		return;
	}
	if (stream->used == sizeof(stream->line) - 1) {
		fwrite(stream->line, 1, stream->used, stream->to);
		stream->used = 0;
	}
	stream->line[stream->used++] = c;
}

static ssize_t
on_write(void *cookie, const char *bytes, size_t size)
{
	struct stream *const stream = cookie;

	for (size_t i = 0; i < size; i++)
		take_char(stream, bytes[i]);
	/* A line with a return will be redrawn: show it at once, unbroken. */
	if (memchr(stream->line, '\r', stream->used) != NULL) {
		fwrite(stream->line, 1, stream->used, stream->to);
		stream->used = 0;
	}
	return fflush(stream->to) == 0 ? (ssize_t)size : 0;
}

static void
end_line(struct stream *stream)
{
	stream->line[stream->used] = '\0';
	print_line(stream);
	stream->used = 0;
	fflush(stream->to);
}

static void
at_end(void)
{
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		if (streams[i].to != NULL)
			end_line(&streams[i]);
}

/* Returns the stream that stands in for out; out itself if it is not a terminal. */
static FILE *
wrap_stream(FILE *out, int fd, struct stream *stream, int mode)
{
	const int columns = columns_of(fd);

	if (columns == 0)
		return out;
	FILE *const in = fopencookie(stream, "w", (cookie_io_functions_t){.write = on_write});

	if (in == NULL || setvbuf(in, NULL, mode, BUFSIZ))
		return out;
	stream->to = out;
	stream->columns = columns;
	return in;
}

void
lt_cli_wrap(void)
{
	stdout = wrap_stream(stdout, STDOUT_FILENO, &streams[0], _IOLBF);
	stderr = wrap_stream(stderr, STDERR_FILENO, &streams[1], _IONBF);
	if (atexit(at_end) != 0)
		lt_cli_whole_lines();
}

void
lt_cli_whole_lines(void)
{
	if (streams[0].to == NULL)
		return;
	fflush(stdout);
	end_line(&streams[0]);
	stdout = streams[0].to;
	streams[0].to = NULL;
}
