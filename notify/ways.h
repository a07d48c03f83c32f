/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways by which a message leaves the site, a file for each: mail.c, webhook.c, command.c.
 */
#ifndef LT_NOTIFY_WAYS_H
#define LT_NOTIFY_WAYS_H

#include "message.h"
#include "policy.h"

enum {
	LT_MAIL_SIZE = 16 * 1024, /* text of 4 KiB, each line end doubled */
	LT_WEBHOOK_TOTAL_MS = 20000,
	LT_COMMAND_S = 60,
};
_Static_assert(2 * LT_MESSAGE_TEXT_SIZE + LT_MESSAGE_SUBJECT_SIZE + 2 * LT_ADDRESS_SIZE +
		       LT_MESSAGE_ID_SIZE + 1024 <=
		   LT_MAIL_SIZE,
    "a whole mail fits");

struct lt_sending {
	const struct lt_policy_notify *notify;
	const struct lt_message *message;
	const char *to; /* of mail: one of the message's */
	int64_t now_utc_s;
};

/*
 * Each returns LT_OK if it was taken, LT_EDENIED if it never will be. After any other code it may
 * be, later; LT_ENET then says that nobody answered, so that the next message need not try now. err
 * has no recipient and no secret.
 */
int lt_send_mail(const struct lt_sending *sending, struct lt_error *err);
int lt_send_webhook(const struct lt_sending *sending, struct lt_error *err);
int lt_send_command(const struct lt_sending *sending, struct lt_error *err);

/* ---- mail.c; RFC 5322. host: of the Message-ID. Pure. ---- */
/* Returns its length; 0: it does not fit. */
size_t lt_mail_compose(char out[LT_MAIL_SIZE], const struct lt_sending *sending, const char *host);

/* ---- webhook.c. Pure. ---- */
/* HMAC-SHA256 (RFC 2104) by the secret of "TIME.BODY", in hex. */
enum { LT_SIGNATURE_SIZE = 65 };
void lt_webhook_sign(
    char out[LT_SIGNATURE_SIZE], const char *secret, int64_t utc_s, const char *body);

#endif
