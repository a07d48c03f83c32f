/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes messages as the spool has them: what is read can be written again and made a mail, whose
 * headers are its own.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ways.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

static void
check_mail(const struct lt_message *message)
{
	static const struct lt_policy_notify notify = {.mail_from = "lowtide"};
	static char mail[LT_MAIL_SIZE];
	const struct lt_sending sending = {.notify = &notify,
	    .message = message,
	    .to = message->to_count > 0 ? message->to[0] : "nobody"};
	const char *end;
	int lines = 0;

	if (lt_mail_compose(mail, &sending, "host") == 0)
		__builtin_trap();
	end = strstr(mail, "\r\n\r\n");
	for (const char *at = mail; at < end; at++)
		lines += *at == '\n';
	if (lines != 9)
		__builtin_trap();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static struct lt_message message;
	struct lt_error err = {0};

	if (lt_message_unpack(&message, (const char *)bytes, byte_count, &err) != LT_OK) {
		if (err.text[0] == '\0')
			__builtin_trap(); /* a refusal must say why */
		return 0;
	}
	char *const text = lt_message_pack(&message, NULL);
	if (text == NULL)
		__builtin_trap();
	free(text);
	check_mail(&message);
	return 0;
}
