/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * munge's side of lowtided's protocol between hosts, for the command and for
 * lowtided --follow: one check of who answers.
 */
#include <munge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "seal.h"
#include "units.h"

static munge_ctx_t
context_new(const struct lt_seal *seal, struct lt_error *err)
{
	munge_ctx_t context = munge_ctx_create();

	if (!context) {
		lt_fail(err, LT_ENOMEM, "munge: no memory");
		return NULL;
	}
	if (seal->munge_socket[0] &&
	    munge_ctx_set(context, MUNGE_OPT_SOCKET, seal->munge_socket)) {
		lt_fail(err, LT_EIO, "munge: socket %s: %s", seal->munge_socket,
		    munge_ctx_strerror(context));
		munge_ctx_destroy(context);
		return NULL;
	}
	return context;
}

int
lt_seal_request(char **credential, const struct lt_seal *seal,
    const char *method, const char *path, const char *body,
    struct lt_error *err)
{
	const size_t size =
	    strlen(method) + strlen(path) + (body ? strlen(body) : 0) + 3;
	int code = LT_OK;

	if (size > LT_SEAL_BYTES_MAX)
		return lt_fail(err, LT_ELIMIT, "a request of over %d bytes",
		    (int)LT_SEAL_BYTES_MAX);
	munge_ctx_t context = context_new(seal, err);
	char *const payload = malloc(size);

	if (!payload || !context) {
		code = lt_fail(err, LT_ENOMEM, "no memory");
	} else {
		const int length = snprintf(
		    payload, size, "%s %s\n%s", method, path, body ? body : "");
		if (munge_encode(credential, context, payload, length))
			code = lt_fail(err, LT_EIO,
			    "munge: %s (is munged running here?)",
			    munge_ctx_strerror(context));
	}
	if (context)
		munge_ctx_destroy(context);
	free(payload);
	return code;
}

int
lt_seal_check(uid_t encoder, bool is_restricted, uid_t restricted,
    uid_t slurm_uid, uid_t self, struct lt_error *err)
{
	if (encoder != 0 && encoder != slurm_uid)
		return lt_fail(err, LT_EDENIED,
		    "the reply was made by uid %u, want SlurmUser (%u) or root",
		    (unsigned)encoder, (unsigned)slurm_uid);
	if (!is_restricted || restricted != self)
		return lt_fail(err, LT_EDENIED,
		    "the reply is not restricted to uid %u", (unsigned)self);
	return LT_OK;
}

/* "STATUS LF BODY" of length bytes; payload is taken over. */
static int
split_payload(struct lt_sealed_reply *reply, char *payload, size_t length,
    struct lt_error *err)
{
	const char *const newline =
	    length ? memchr(payload, '\n', length) : NULL;
	char digits[4] = "";
	int64_t status;

	if (newline && newline - payload == 3)
		memcpy(digits, payload, 3);
	if (lt_int64_parse(digits, 100, 599, &status, NULL)) {
		free(payload);
		return lt_fail(
		    err, LT_EINPUT, "the reply has no status before its body");
	}
	reply->status = (long)status;
	reply->length = length - 4;
	memmove(payload, payload + 4, reply->length);
	payload[reply->length] = '\0';
	reply->body = payload;
	return LT_OK;
}

int
lt_seal_open(struct lt_sealed_reply *reply, const struct lt_seal *seal,
    const char *credential, struct lt_error *err)
{
	munge_ctx_t context = context_new(seal, err);
	void *payload = NULL;
	int length = 0, code;
	uid_t uid = (uid_t)-1, restricted = (uid_t)-1;
	gid_t gid;

	if (!context)
		return LT_EIO;
	if (munge_decode(credential, context, &payload, &length, &uid, &gid)) {
		code = lt_fail(err, LT_EDENIED, "the reply's credential: %s",
		    munge_ctx_strerror(context));
	} else {
		const bool is_restricted =
		    munge_ctx_get(context, MUNGE_OPT_UID_RESTRICTION,
			&restricted) == EMUNGE_SUCCESS;
		code = lt_seal_check(uid, is_restricted, restricted,
		    seal->slurm_uid, geteuid(), err);
	}
	munge_ctx_destroy(context);
	if (code == LT_OK && (!payload || length < 0))
		code = lt_fail(err, LT_EINPUT, "the reply is empty");
	if (code != LT_OK) {
		/* Of one that expired or was replayed there is a payload. */
		free(payload);
		return code;
	}
	return split_payload(reply, payload, (size_t)length, err);
}
