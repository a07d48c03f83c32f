/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a request that is sealed in a munge credential, and seals its reply. Payload in: METHOD SP
 * PATH LF BODY. Payload out: STATUS LF BODY. A credential that munged refuses, or whose payload has
 * another shape, gets a reply of status 400 or 403 that is not sealed; a munged that is away, 503.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "seal.h"
#include "serve_munge.h"

static int
refuse(char **text, int status, const char *why)
{
	*text = lt_api_error_text(why);
	return status;
}

int
lt_munge_open(
    struct lt_munge_request *asked, const char *munge_socket, const char *credential, char **text)
{
	const struct lt_seal munge = {.munge_socket = munge_socket};
	struct lt_error err = {0};
	struct lt_sealed_request sealed;
	const int code = lt_seal_asked(&sealed, &munge, credential, &err);

	if (code != LT_OK)
		return refuse(text, code == LT_EDENIED ? 403 : 400, err.text);
	asked->payload = sealed.text;
	asked->uid = sealed.uid;
	asked->from = sealed.from;
	if (sealed.length > LT_API_BODY_MAX)
		return refuse(text, 400, "munge: no request, or one too large");
	char *const path = strchr(asked->payload, ' ');
	char *const line = strchr(asked->payload, '\n');
	if (path == NULL || line == NULL || path > line)
		return refuse(text, 400, "munge: want METHOD SP PATH LF BODY");
	*path = *line = '\0';
	asked->path = path + 1;
	asked->body = line + 1;
	return 200;
}

int
lt_munge_seal(char **text, const char *munge_socket, uint32_t uid, int status, const char *reply)
{
	const struct lt_seal munge = {.munge_socket = munge_socket};
	struct lt_error err = {0};

	if (strlen(reply) > LT_API_REPLY_MAX) {
		reply =
		    "{\"error\":\"the reply passes 512 KiB: ask for one team, or a shorter period\"}";
		status = 400;
	}
	return lt_seal_reply(text, &munge,
		   &(struct lt_seal_answer){.uid = uid, .status = status, .body = reply},
		   &err) == LT_OK
		   ? 200
		   : refuse(text, 503, err.text);
}

void
lt_munge_free(struct lt_munge_request *asked)
{
	free(asked->payload);
	*asked = (struct lt_munge_request){0};
}
