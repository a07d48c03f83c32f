/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One mail to one recipient by SMTP (RFC 5321), by libcurl. A server on this host is spoken to in
 * the clear; any other must have TLS, and is verified.
 */
#ifndef LT_SMTP_H
#define LT_SMTP_H

#include <stddef.h>

#include "error.h"

enum { LT_SMTP_CONNECT_MS = 10000, LT_SMTP_TOTAL_MS = 60000 };

struct lt_smtp_request {
	const char *url; /* smtp://HOST[:PORT] or smtps:// */
	/* lt_address_is(): the sender, for bounces, and the recipient. */
	const char *from, *to;
	const char *mail; /* headers and body; lines end with \r\n */
	size_t length;
	int total_ms; /* 0 = the limit above */
};

/*
 * LT_OK: the server has taken it. Else nothing is known to be delivered, and
 * *status is the last reply of SMTP: 5xx, it never will; 4xx, later; 0, there
 * was none. LT_EINPUT: not an address. err names the server's host
 * and what went wrong, never the recipient.
 */
int lt_smtp_send(const struct lt_smtp_request *request, long *status, struct lt_error *err);

#endif
