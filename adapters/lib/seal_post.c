/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way of a sealed request and its reply between hosts, over HTTP.
 */
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "seal_post.h"

int
lt_seal_post(struct lt_sealed_reply *reply, const struct lt_seal *seal,
    const struct lt_seal_post *post, struct lt_error *err)
{
	char *credential = NULL;
	struct lt_http_response response = {0};
	int code = lt_seal_request(
	    &credential, seal, post->method, post->path, post->body, err);

	if (code != LT_OK)
		return code;
	const struct lt_http_request request = {
	    .url = post->url,
	    .method = "POST",
	    .body = credential,
	    .body_length = strlen(credential),
	    .headers = {"Content-Type: text/plain"},
	    .connect_ms = post->connect_ms,
	    .total_ms = post->total_ms,
	};

	code = lt_http_do(&request, &response, err);
	if (code == LT_OK && response.status != 200)
		code = lt_fail(err, LT_ENET, "HTTP %ld: %.200s",
		    response.status, response.body ? response.body : "");
	else if (code == LT_OK)
		code = lt_seal_open(reply, seal, response.body, err);
	if (code != LT_OK)
		lt_context(err, "%s", post->who);
	free(credential);
	lt_http_free(&response);
	return code;
}
