/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The datagram in which a job reports its progress, packed and unpacked. Reads bytes from jobs,
 * which may be anything: a datagram that is not exactly right is refused. Writes the caller's
 * buffers only.
 */
#include "progress_message.h"

#include <string.h>

#define MAGIC "lowtide progress 1 "

enum { NUMBERS = 4 };

_Static_assert(sizeof(MAGIC) + NUMBERS * 11 + 2 * LT_MARKER_SIZE + 2 <= LT_PROGRESS_BYTES_MAX,
    "the longest message fits");

bool
lt_progress_line(char out[LT_MARKER_SIZE], const char *bytes, size_t length)
{
	bool has_digit = false;
	size_t used = 0;

	for (; used < length && used + 1 < LT_MARKER_SIZE && bytes[used] != '\n'; used++) {
		const char c = bytes[used];

		has_digit |= c >= '0' && c <= '9';
		out[used] = c;
		if (c < ' ' || c > '~')
			out[used] = '?';
	}
	out[used] = '\0';
	return has_digit;
}

static char *
put_number(char *at, uint32_t value)
{
	char digits[10];
	size_t count = 0;

	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

static char *
put_line(char *at, const char *text)
{
	const size_t length = strlen(text);

	memcpy(at, text, length);
	at[length] = '\n';
	return at + length + 1;
}

/* No stdio: it runs between fork and exec of a process with threads. */
size_t
lt_progress_pack(char out[LT_PROGRESS_BYTES_MAX], const struct lt_progress_message *message)
{
	const uint32_t numbers[NUMBERS] = {
	    message->job_id, message->restarts, message->first_after_s, message->newest_after_s};
	char *at = out;

	memcpy(at, MAGIC, strlen(MAGIC));
	at += strlen(MAGIC);
	for (int i = 0; i < NUMBERS; i++) {
		at = put_number(at, numbers[i]);
		*at++ = i + 1 < NUMBERS ? ' ' : '\n';
	}
	at = put_line(at, message->first);
	at = put_line(at, message->newest);
	return (size_t)(at - out);
}

/* Returns the text behind the number and the character that ends it; NULL without one. */
static const char *
get_number(const char *at, const char *end, char last, uint32_t *value)
{
	uint64_t number = 0;
	const char *const from = at;

	for (; at < end && *at >= '0' && *at <= '9'; at++) {
		number = number * 10 + (uint64_t)(*at - '0');
		if (number > UINT32_MAX || (*from == '0' && at > from))
			return NULL;
	}
	*value = (uint32_t)number;
	return at > from && at < end && *at == last ? at + 1 : NULL;
}

static const char *
get_line(const char *at, const char *end, char out[LT_MARKER_SIZE])
{
	const char *const line_end = memchr(at, '\n', (size_t)(end - at));
	const size_t length = line_end != NULL ? (size_t)(line_end - at) : 0;
	char plain[LT_MARKER_SIZE];

	if (length == 0 || length >= LT_MARKER_SIZE || !lt_progress_line(plain, at, length) ||
	    memcmp(plain, at, length) != 0)
		return NULL;
	memcpy(out, plain, length + 1);
	return line_end + 1;
}

bool
lt_progress_unpack(struct lt_progress_message *message, const char *bytes, size_t length)
{
	uint32_t *const numbers[NUMBERS] = {&message->job_id, &message->restarts,
	    &message->first_after_s, &message->newest_after_s};
	const char *const end = bytes + length;
	const char *at = bytes + strlen(MAGIC);

	if (length < strlen(MAGIC) || memcmp(bytes, MAGIC, strlen(MAGIC)) != 0)
		return false;
	for (int i = 0; at != NULL && i < NUMBERS; i++)
		at = get_number(at, end, i + 1 < NUMBERS ? ' ' : '\n', numbers[i]);
	if (at != NULL)
		at = get_line(at, end, message->first);
	if (at != NULL)
		at = get_line(at, end, message->newest);
	return at == end && message->job_id > 0;
}
