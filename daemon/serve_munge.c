/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Payload in: METHOD SP PATH LF BODY. Payload out: STATUS LF BODY.
 */
#include <munge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "serve_munge.h"

static munge_ctx_t
context(const struct lt_daemon *d)
{
	const munge_ctx_t ctx = munge_ctx_create();
	if (ctx && d->slurm.munge_socket[0])
		munge_ctx_set(ctx, MUNGE_OPT_SOCKET, d->slurm.munge_socket);
	return ctx;
}

static int
refuse(char **text, int status, const char *why)
{
	char line[256];
	snprintf(line, sizeof(line), "{\"error\":\"munge: %s\"}", why);
	*text = strdup(line);
	return status;
}

static int
seal(const struct lt_daemon *d, uid_t uid, int status, const char *body,
    char **text)
{
	const size_t size = strlen(body) + 16;
	char *const plain = malloc(size);
	char *credential = NULL;
	const munge_ctx_t ctx = context(d);
	munge_err_t code = EMUNGE_NO_MEMORY;
	if (plain && ctx) {
		const int length =
		    snprintf(plain, size, "%d\n%s", status, body);
		munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, uid);
		code = munge_encode(&credential, ctx, plain, length);
	}
	free(plain);
	munge_ctx_destroy(ctx);
	if (code != EMUNGE_SUCCESS)
		return refuse(text, 503, munge_strerror(code));
	*text = credential;
	return 200;
}

/* payload ends with NUL. */
static int
ask(struct lt_daemon *d, uid_t uid, char *payload, char **text)
{
	char *const path = strchr(payload, ' ');
	char *const line = strchr(payload, '\n');
	if (!path || !line || path > line)
		return refuse(text, 400, "want METHOD SP PATH LF BODY");
	*path = *line = '\0';
	char *reply = NULL;
	int status = lt_api(
	    d, uid, payload, path + 1, line + 1, strlen(line + 1), &reply);
	if (reply && strlen(reply) > LT_API_REPLY_MAX) {
		free(reply);
		reply = strdup("{\"error\":\"the reply passes 512 KiB: ask "
			       "for one team, or a shorter period\"}");
		status = 400;
	}
	if (!reply)
		return refuse(text, 503, "out of memory");
	const int result = seal(d, uid, status, reply, text);
	free(reply);
	return result;
}

int
lt_serve_munge(struct lt_daemon *d, const char *credential, char **text)
{
	void *payload = NULL;
	int length = 0;
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	const munge_ctx_t ctx = context(d);
	const munge_err_t code =
	    munge_decode(credential, ctx, &payload, &length, &uid, &gid);
	munge_ctx_destroy(ctx);
	/* On some failures (expired, replayed) there is a payload too. */
	int status;
	if (code != EMUNGE_SUCCESS)
		status = refuse(text, 403, munge_strerror(code));
	else if (!payload || length <= 0 || length > LT_API_BODY_MAX)
		status = refuse(text, 400, "no request, or one too large");
	else
		status = ask(d, uid, payload, text);
	free(payload);
	return status;
}
