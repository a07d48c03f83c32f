/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks a cloud's metadata service, and checks the end of a notice. Shared by aws.c, azure.c and
 * gcp.c. Reads at most LT_NODE_ANSWER_MAX bytes within LT_NODE_METADATA_MS; an end that can't be is
 * LT_EINPUT.
 */
#include <stdio.h>
#include <string.h>

#include "reclaim.h"
#include "units.h"

int
lt_metadata_ask(struct lt_asker *asker, const struct lt_metadata_request *request,
    struct lt_http_response *response, struct lt_error *err)
{
	char url[1024];

	snprintf(url, sizeof(url), "%s%s", asker->base, request->path);
	const struct lt_http_request http = {
	    .url = url,
	    .method = request->method,
	    .headers = {request->headers[0], request->headers[1]},
	    .direct = true,
	    .session = &asker->session,
	    .connect_ms = LT_NODE_METADATA_CONNECT_MS,
	    .total_ms = LT_NODE_METADATA_MS,
	};
	const int code = lt_http_do(&http, response, err);

	if (code != LT_OK)
		return lt_context(err, "%s", request->path);
	if (response->body_length > LT_NODE_ANSWER_MAX)
		return lt_fail(err, LT_ELIMIT, "%s: %zu bytes, limit %d", request->path,
		    response->body_length, LT_NODE_ANSWER_MAX);
	return LT_OK;
}

int
lt_metadata_fail(const char *path, const struct lt_http_response *response, struct lt_error *err)
{
	char words[128];

	lt_http_words(words, sizeof(words), response);
	return lt_fail(err, LT_ENET, "%s: status %ld: \"%s\"", path, response->status, words);
}

int
lt_reading_end(
    struct lt_reading *reading, int64_t end_utc_s, int64_t now_utc_s, struct lt_error *err)
{
	char text[32];

	if (end_utc_s > now_utc_s + LT_NODE_FUTURE_S || end_utc_s < now_utc_s - LT_NODE_PAST_S)
		return lt_fail(err, LT_EINPUT,
		    "got an end at %s, want one from an hour ago to a day ahead",
		    lt_utc_text(text, sizeof(text), end_utc_s));
	reading->is_noticed = reading->has_end = true;
	reading->end_utc_s = end_utc_s;
	return LT_OK;
}
