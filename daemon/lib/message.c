/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages as JSON. Checked when they are written and again when they are read: who sends them is
 * another user than who wrote them.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "text.h"

#define YEAR_10000_UTC_S INT64_C(253402300800)
#define ID_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-_"

bool
lt_message_id_is(const char *id)
{
	const size_t length = strspn(id, ID_CHARACTERS);

	return length > 0 && length < LT_MESSAGE_ID_SIZE && id[length] == '\0' && id[0] != '-' &&
	       id[0] != '_';
}

void
lt_message_id_of(char out[LT_MESSAGE_ID_SIZE], const char *text)
{
	struct lt_text id = {.out = out, .size = LT_MESSAGE_ID_SIZE};

	out[0] = '\0';
	for (const char *at = text; *at != '\0'; at++) {
		/* "_" itself too: else two texts could become one id. */
		if (*at != '_' && strchr(ID_CHARACTERS, *at) != NULL)
			lt_text_put(&id, "%c", *at);
		else
			lt_text_put(&id, "_%02x", (unsigned char)*at);
	}
}

int
lt_message_id_begin(char out[LT_MESSAGE_ID_SIZE], uint32_t uid)
{
	return snprintf(out, LT_MESSAGE_ID_SIZE, "u%" PRIu32 "-", uid);
}

int64_t
lt_message_uid(const char *id)
{
	const size_t length = id[0] == 'u' ? strspn(id + 1, "0123456789") : 0;
	int64_t uid;

	if (length == 0 || length > 10 || id[1 + length] != '-')
		return LT_MESSAGE_OF_SITE;
	uid = strtoll(id + 1, NULL, 10);
	return uid <= UINT32_MAX ? uid : LT_MESSAGE_OF_SITE;
}

/* is_line: as a subject is. */
static bool
is_text(const char *text, bool is_line)
{
	for (const char *at = text; *at != '\0';) {
		if ((*at != '\n' || is_line) && lt_control_bytes(at) > 0)
			return false;
		do /* past the whole character */
			at++;
		while ((*at & 0xc0) == 0x80);
	}
	return text[0] != '\0';
}

void
lt_message_clean(struct lt_message *message)
{
	lt_text_line(message->subject);
	for (char *at = message->text; *at != '\0'; at++)
		if (*at == '\t')
			*at = ' ';
	lt_text_lines(message->text);
}

static int
check_message(const struct lt_message *message, struct lt_error *err)
{
	if (!lt_message_id_is(message->id))
		return lt_fail(err, LT_EINPUT, "message: not an id: \"%.80s\"", message->id);
	if (message->made_utc_s < 0 || message->made_utc_s >= YEAR_10000_UTC_S)
		return lt_fail(err, LT_EINPUT,
		    "message %s: made_utc_s: want a time up to the year 9999", message->id);
	if (!is_text(message->subject, true))
		return lt_fail(err, LT_EINPUT,
		    "message %s: subject: want a line of UTF-8 without control characters",
		    message->id);
	if (!is_text(message->text, false))
		return lt_fail(err, LT_EINPUT,
		    "message %s: text: want lines of UTF-8 without control characters",
		    message->id);
	for (int i = 0; i < message->to_count; i++)
		if (!lt_address_is(message->to[i]))
			return lt_fail(err, LT_EINPUT, "message %s: to: want a user or an address",
			    message->id);
	return LT_OK;
}

char *
lt_message_pack(const struct lt_message *message, struct lt_error *err)
{
	if (check_message(message, err) != LT_OK)
		return NULL;
	json_t *const to = json_array();
	for (int i = 0; i < message->to_count; i++)
		json_array_append_new(to, json_string(message->to[i]));
	json_t *const all = json_pack("{s:s, s:s, s:I, s:o, s:s, s:s}", "id", message->id, "kind",
	    lt_message_row(message->kind)->word, "made_utc_s", (json_int_t)message->made_utc_s,
	    "to", to, "subject", message->subject, "text", message->text);
	char *const text = all != NULL ? json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	json_decref(all);
	if (text == NULL)
		(void)lt_fail(err, LT_ENOMEM, "message: no memory");
	return text;
}

/* A text that fits. */
static bool
copy_text(char *out, size_t size, const char *text)
{
	if (strlen(text) >= size)
		return false;
	memcpy(out, text, strlen(text) + 1);
	return true;
}

static bool
take_to(struct lt_message *message, const json_t *to)
{
	const size_t count = json_array_size(to);

	if (!json_is_array(to) || count > LT_MESSAGE_RECIPIENTS_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		const char *const one = json_string_value(json_array_get(to, i));

		if (one == NULL || !copy_text(message->to[i], sizeof(message->to[i]), one))
			return false;
	}
	message->to_count = (int)count;
	return true;
}

static bool
take_kind(struct lt_message *message, const char *word)
{
	for (int i = 0; i < LT_MESSAGE_KIND_COUNT; i++) {
		message->kind = (enum lt_message_kind)i;
		if (strcmp(lt_message_row(message->kind)->word, word) == 0)
			return true;
	}
	return false;
}

int
lt_message_unpack(struct lt_message *message, const char *text, size_t length, struct lt_error *err)
{
	struct lt_message made = {0};
	json_error_t problem;
	json_int_t made_utc_s = 0;
	const char *id, *kind, *subject, *body;
	json_t *to;
	int code = LT_OK;

	if (length > LT_MESSAGE_BYTES_MAX)
		return lt_fail(err, LT_ELIMIT, "message: %zu bytes, want at most %d", length,
		    LT_MESSAGE_BYTES_MAX);
	json_t *const all = json_loadb(text, length, 0, &problem);
	if (all == NULL)
		return lt_fail(err, LT_EINPUT, "message: %s", problem.text);
	if (json_unpack_ex(all, &problem, 0, "{s:s, s:s, s:I, s:o, s:s, s:s}", "id", &id, "kind",
		&kind, "made_utc_s", &made_utc_s, "to", &to, "subject", &subject, "text",
		&body) != 0)
		code = lt_fail(err, LT_EINPUT, "message: %s", problem.text);
	else if (!copy_text(made.id, sizeof(made.id), id) ||
		 !copy_text(made.subject, sizeof(made.subject), subject) ||
		 !copy_text(made.text, sizeof(made.text), body) || !take_to(&made, to) ||
		 !take_kind(&made, kind))
		code = lt_fail(err, LT_EINPUT, "message: a text too long, or of no known kind");
	made.made_utc_s = made_utc_s;
	if (code == LT_OK)
		code = check_message(&made, err);
	if (code == LT_OK)
		*message = made;
	json_decref(all);
	return code;
}
