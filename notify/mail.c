/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message as a mail. No text of a user is in a header as it is: a subject is ASCII or encoded,
 * and an address is checked before it is written. A reply of 500 to 599 means that this mail is
 * never taken; the server's being away or 400 to 499, that it may be later.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base64.h"
#include "smtp.h"
#include "text.h"
#include "ways.h"

enum {
	LINE_MAX_BYTES = 900, /* RFC 5322 allows 998 */
	WORD_BYTES = 45,      /* 60 of base64 */
};

/* Writes the date by the C locale, which this program never leaves. */
static void
date_text(char out[64], int64_t utc_s)
{
	const time_t at = (time_t)utc_s;
	struct tm parts;

	gmtime_r(&at, &parts);
	strftime(out, 64, "%a, %d %b %Y %H:%M:%S +0000", &parts);
}

static bool
is_inside(unsigned char byte) /* a character of UTF-8 */
{
	return (byte & 0xc0) == 0x80;
}

static bool
is_ascii(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return *text == '\0';
}

/* RFC 2047: words of at most 75 bytes, each of whole characters; so is ASCII that a reader would
 * take for such a word. */
static void
put_subject(struct lt_text *mail, const char *subject)
{
	char word[4 * ((WORD_BYTES + 2) / 3) + 1];

	if (is_ascii(subject) && strstr(subject, "=?") == NULL) {
		lt_text_put(mail, "Subject: %s\r\n", subject);
		return;
	}
	lt_text_put(mail, "Subject:");
	while (*subject != '\0') {
		size_t length = strnlen(subject, WORD_BYTES);

		while (length > 1 && is_inside((unsigned char)subject[length]))
			length--;
		lt_base64(word, (const unsigned char *)subject, length);
		lt_text_put(mail, " =?UTF-8?B?%s?=\r\n", word);
		subject += length;
	}
}

static void
put_body(struct lt_text *mail, const char *text)
{
	int length = 0;

	for (const char *at = text; *at != '\0'; at++) {
		if (length >= LINE_MAX_BYTES && !is_inside((unsigned char)*at)) {
			lt_text_put(mail, "\r\n");
			length = 0;
		}
		if (*at == '\n') {
			lt_text_put(mail, "\r\n");
			length = 0;
		} else {
			lt_text_put(mail, "%c", *at);
			length++;
		}
	}
}

size_t
lt_mail_compose(char out[LT_MAIL_SIZE], const struct lt_sending *sending, const char *host)
{
	const struct lt_message *const message = sending->message;
	struct lt_text mail = {.out = out, .size = LT_MAIL_SIZE};
	char date[64];

	date_text(date, message->made_utc_s);
	lt_text_put(&mail, "Date: %s\r\nFrom: %s\r\nTo: %s\r\n", date, sending->notify->mail_from,
	    sending->to);
	put_subject(&mail, message->subject);
	lt_text_put(&mail, "Message-ID: <%s@%s>\r\n", message->id, host);
	/* So that no vacation program answers (RFC 3834). */
	lt_text_put(&mail,
	    "Auto-Submitted: auto-generated\r\nX-Lowtide: %s\r\n"
	    "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
	    "Content-Transfer-Encoding: 8bit\r\n\r\n",
	    lt_message_row(message->kind)->word);
	put_body(&mail, message->text);
	return mail.full ? 0 : strlen(out);
}

static const char *
host_name(char out[256])
{
	char id[LT_MESSAGE_ID_SIZE];

	if (gethostname(out, 255) != 0)
		out[0] = '\0';
	out[255] = '\0';
	/* A name that could not stand behind an @ is not used. */
	snprintf(id, sizeof(id), "x@%.190s", out);
	if (!lt_address_is(id))
		snprintf(out, 256, "localhost");
	return out;
}

int
lt_send_mail(const struct lt_sending *sending, struct lt_error *err)
{
	char mail[LT_MAIL_SIZE], host[256];
	const size_t length = lt_mail_compose(mail, sending, host_name(host));
	const struct lt_smtp_request request = {.url = sending->notify->mail_server,
	    .from = sending->notify->mail_from,
	    .to = sending->to,
	    .mail = mail,
	    .length = length};
	long status = 0;

	if (length == 0)
		return lt_fail(err, LT_EDENIED, "mail: too long");
	const int code = lt_smtp_send(&request, &status, err);
	if (code != LT_OK && status >= 500 && status < 600)
		return LT_EDENIED;
	/* It answered: only this mail has to wait. */
	return code == LT_ENET && status >= 400 ? LT_ESTALE : code;
}
