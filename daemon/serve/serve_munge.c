/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Payload in: METHOD SP PATH LF BODY. Payload out: STATUS LF BODY.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "daemon.h"
#include "seal.h"
#include "serve_munge.h"

static int
refuse(char **text, int status, const char *why)
{
	json_t *json = NULL;

	(void)lt_api_error(&json, status, "%s", why);
	*text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	return status;
}

static int
ask(struct lt_daemon *d, const struct lt_seal *munge, uid_t uid, char *payload,
    char **text)
{
	struct lt_error err = {0};
	char *const path = strchr(payload, ' ');
	char *const line = strchr(payload, '\n');

	if (path == NULL || line == NULL || path > line)
		return refuse(text, 400, "munge: want METHOD SP PATH LF BODY");
	*path = *line = '\0';
	char *reply = NULL;
	int status = lt_api(
	    d, uid, payload, path + 1, line + 1, strlen(line + 1), &reply);
	if (reply != NULL && strlen(reply) > LT_API_REPLY_MAX) {
		free(reply);
		reply = strdup(
		    "{\"error\":\"the reply passes 512 KiB: ask for one team, or a shorter period\"}");
		status = 400;
	}
	if (reply == NULL)
		return refuse(text, 503, "munge: out of memory");
	const int code = lt_seal_reply(text, munge, uid, status, reply, &err);
	free(reply);
	return code == LT_OK ? 200 : refuse(text, 503, err.text);
}

int
lt_serve_munge(struct lt_daemon *d, const char *credential, char **text)
{
	const struct lt_seal munge = {
	    .munge_socket = d->tables.conf.munge_socket};
	struct lt_error err = {0};
	char *payload = NULL;
	size_t length = 0;
	uid_t uid = (uid_t)-1;
	const int code =
	    lt_seal_asked(&payload, &length, &uid, &munge, credential, &err);
	int status;

	if (code != LT_OK)
		status = refuse(text, code == LT_EDENIED ? 403 : 400, err.text);
	else if (length > LT_API_BODY_MAX)
		status =
		    refuse(text, 400, "munge: no request, or one too large");
	else
		status = ask(d, &munge, uid, payload, text);
	free(payload);
	return status;
}
