/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers that are there whole, and until when a connection may last.
 */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "door.h"
#include "http.h"
#include "respond.h"

void
lt_respond_until(struct MHD_Connection *connection, int64_t deadline_ms)
{
	struct lt_slot *const slot = lt_door_slot(connection);

	if (slot != NULL)
		slot->deadline_ms = deadline_ms;
}

enum MHD_Result
lt_respond_lent(struct MHD_Connection *connection, unsigned status, char *text,
    const char *type, void (*release)(void *text))
{
	struct MHD_Response *const response =
	    MHD_create_response_from_buffer_with_free_callback(
		strlen(text), text, release);

	if (response == NULL) {
		release(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == 401) /* whose only scheme is that of metrics */
		MHD_add_response_header(
		    response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	const enum MHD_Result result =
	    MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	lt_respond_until(connection, lt_monotonic_ms() + LT_SLOT_REPLY_MS);
	return result;
}

enum MHD_Result
lt_respond(struct MHD_Connection *connection, unsigned status, char *text,
    const char *type)
{
	return lt_respond_lent(connection, status, text, type, free);
}

enum MHD_Result
lt_respond_error(
    struct MHD_Connection *connection, unsigned status, const char *why)
{
	char *const text = lt_api_error_text(why);

	return text != NULL
		   ? lt_respond(connection, status, text, "application/json")
		   : MHD_NO;
}
