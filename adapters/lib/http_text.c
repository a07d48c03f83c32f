/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What http.c needs no libcurl for: the clock of its limits, headers' values,
 * the first words of a body.
 */
#include <string.h>
#include <strings.h>
#include <time.h>

#include "http.h"
#include "http_text.h"

int64_t
lt_monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void
lt_http_header_keep(
    char *out, size_t size, const char *name, const char *line, size_t length)
{
	const size_t skip = strlen(name);

	if (length <= skip || strncasecmp(line, name, skip) != 0)
		return;
	line += skip;
	length -= skip;
	while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL)
		length--;
	for (; length > 0 && *line == ' '; length--)
		line++;
	if (length < size && memchr(line, '\0', length) == NULL) {
		memcpy(out, line, length);
		out[length] = '\0';
	}
}

void
lt_http_words(char *out, size_t size, const struct lt_http_response *response)
{
	size_t length = 0;

	for (size_t i = 0; i < response->body_length && length + 1 < size;
	     i++) {
		const char byte = response->body[i];

		if (byte > ' ' && byte < 0x7f)
			out[length++] = byte;
		else if (length > 0 && out[length - 1] != ' ')
			out[length++] = ' ';
	}
	out[length] = '\0';
}
