/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libmicrohttpd is given to send.
 */
#ifndef LT_RESPOND_H
#define LT_RESPOND_H

#include <microhttpd.h>
#include <stdint.h>

/* text: malloc'd, taken over. */
enum MHD_Result lt_respond(struct MHD_Connection *connection, unsigned status,
    char *text, const char *type);
/* The same; release is called with it once it is sent. */
enum MHD_Result lt_respond_lent(struct MHD_Connection *connection,
    unsigned status, char *text, const char *type, void (*release)(void *text));
/* As {"error": why}. */
enum MHD_Result lt_respond_error(
    struct MHD_Connection *connection, unsigned status, const char *why);
/* The connection is closed then; at first, until a request must be here. */
void lt_respond_until(struct MHD_Connection *connection, int64_t deadline_ms);

#endif
