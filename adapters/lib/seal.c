/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * munge's side of lowtided's protocol between hosts: asks a request, for the command and for
 * lowtided --follow; opens and answers it, for lowtided.
 *
 * lt_servers_ask() tries each controller in turn: only the acting one's lowtided works, another
 * answers 503. It reads slurm.conf for each question, as the file may appear later than the program
 * that asks, or change. Errors name the server; a credential that is not to be believed is
 * LT_EDENIED.
 */
#include <munge.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http.h"
#include "seal.h"
#include "slurm_conf.h"
#include "units.h"

#define DEFAULT_PORT "6826"

static munge_ctx_t
context_new(const struct lt_seal *seal, struct lt_error *err)
{
	munge_ctx_t context = munge_ctx_create();

	if (context == NULL) {
		lt_fail(err, LT_ENOMEM, "munge: no memory");
		return NULL;
	}
	if (seal->munge_socket[0] && munge_ctx_set(context, MUNGE_OPT_SOCKET, seal->munge_socket)) {
		lt_fail(err, LT_EIO, "munge: socket %s: %s", seal->munge_socket,
		    munge_ctx_strerror(context));
		munge_ctx_destroy(context);
		return NULL;
	}
	return context;
}

/* Encodes plain text into *credential, for one uid alone if it is named. */
__attribute__((format(printf, 4, 5))) static munge_err_t
encode(char **credential, munge_ctx_t context, const uid_t *only, const char *format, ...)
{
	va_list list;
	char *plain = NULL;

	if (only != NULL && munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, *only))
		return EMUNGE_BAD_ARG;
	va_start(list, format);
	const int length = vasprintf(&plain, format, list);
	va_end(list);
	if (length < 0)
		return EMUNGE_NO_MEMORY;
	const munge_err_t result = munge_encode(credential, context, plain, length);
	free(plain);
	return result;
}

/*
 * METHOD SP PATH LF BODY, sealed by us. *credential is malloc'd, only on success. LT_ELIMIT,
 * LT_ENOMEM, LT_EIO.
 */
static int
seal_request(char **credential, const struct lt_seal *seal, const struct lt_seal_question *question,
    struct lt_error *err)
{
	const char *const body = question->body != NULL ? question->body : "";
	int code = LT_OK;

	if (strlen(question->method) + strlen(question->path) + strlen(body) + 3 >
	    LT_SEAL_BYTES_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "a request of over %d bytes", (int)LT_SEAL_BYTES_MAX);
	munge_ctx_t context = context_new(seal, err);

	if (context == NULL)
		return LT_ENOMEM;
	if (encode(credential, context, NULL, "%s %s\n%s", question->method, question->path, body))
		code = lt_fail(err, LT_EIO, "munge: %s (is munged running here?)",
		    munge_ctx_strerror(context));
	munge_ctx_destroy(context);
	return code;
}

int
lt_seal_reply(char **credential, const struct lt_seal *seal, const struct lt_seal_answer *answer,
    struct lt_error *err)
{
	munge_ctx_t context = context_new(seal, err);

	if (context == NULL)
		return LT_ENOMEM;
	const munge_err_t result =
	    encode(credential, context, &answer->uid, "%d\n%s", answer->status, answer->body);

	munge_ctx_destroy(context);
	return result ? lt_fail(err, LT_EIO, "munge: %s", munge_strerror(result)) : LT_OK;
}

int
lt_seal_asked(struct lt_sealed_request *asked, const struct lt_seal *seal, const char *credential,
    struct lt_error *err)
{
	munge_ctx_t context = context_new(seal, err);
	void *payload = NULL;
	int bytes = 0;
	uid_t uid = (uid_t)-1;
	gid_t gid;

	if (context == NULL)
		return LT_ENOMEM;
	const munge_err_t result = munge_decode(credential, context, &payload, &bytes, &uid, &gid);
	struct in_addr from = {.s_addr = INADDR_ANY};

	(void)munge_ctx_get(context, MUNGE_OPT_ADDR4, &from);
	munge_ctx_destroy(context);
	if (result || payload == NULL || bytes <= 0) {
		/* An expired or replayed credential has a payload, too. */
		free(payload);
		return result ? lt_fail(err, LT_EDENIED, "munge: %s", munge_strerror(result))
			      : lt_fail(err, LT_EINPUT, "munge: no request, or one too large");
	}
	*asked = (struct lt_sealed_request){
	    .uid = uid, .from = from, .text = payload, .length = (size_t)bytes};
	return LT_OK;
}

int
lt_seal_check(const struct lt_seal_uids *uids, uid_t slurm_uid, uid_t self, struct lt_error *err)
{
	if (uids->encoder != 0 && uids->encoder != slurm_uid)
		return lt_fail(err, LT_EDENIED,
		    "the reply was made by uid %u, want SlurmUser (%u) or root",
		    (unsigned)uids->encoder, (unsigned)slurm_uid);
	if (!uids->is_restricted || uids->restricted != self)
		return lt_fail(
		    err, LT_EDENIED, "the reply is not restricted to uid %u", (unsigned)self);
	return LT_OK;
}

/* Splits "STATUS LF BODY" of length bytes; owns payload. */
static int
split_payload(struct lt_sealed_reply *reply, char *payload, size_t length, struct lt_error *err)
{
	const char *const newline = length ? memchr(payload, '\n', length) : NULL;
	char digits[4] = "";
	int64_t status;

	if (newline != NULL && newline - payload == 3)
		memcpy(digits, payload, 3);
	if (lt_int64_parse(digits, 100, 599, &status, NULL)) {
		free(payload);
		return lt_fail(err, LT_EINPUT, "the reply has no status before its body");
	}
	reply->status = (long)status;
	reply->length = length - 4;
	memmove(payload, payload + 4, reply->length);
	payload[reply->length] = '\0';
	reply->body = payload;
	return LT_OK;
}

/*
 * STATUS LF BODY out of a reply's credential that lt_seal_check() lets pass for our effective uid.
 * *reply is written only on success; the caller frees its body. LT_EDENIED, LT_EINPUT.
 */
static int
seal_open(struct lt_sealed_reply *reply, const struct lt_seal *seal, const char *credential,
    struct lt_error *err)
{
	munge_ctx_t context = context_new(seal, err);
	void *payload = NULL;
	int length = 0, code;
	struct lt_seal_uids uids = {.encoder = (uid_t)-1, .restricted = (uid_t)-1};
	gid_t gid;

	if (context == NULL)
		return LT_EIO;
	if (munge_decode(credential, context, &payload, &length, &uids.encoder, &gid)) {
		code = lt_fail(
		    err, LT_EDENIED, "the reply's credential: %s", munge_ctx_strerror(context));
	} else {
		uids.is_restricted = munge_ctx_get(context, MUNGE_OPT_UID_RESTRICTION,
					 &uids.restricted) == EMUNGE_SUCCESS;
		code = lt_seal_check(&uids, seal->slurm_uid, geteuid(), err);
	}
	munge_ctx_destroy(context);
	if (code == LT_OK && (payload == NULL || length < 0))
		code = lt_fail(err, LT_EINPUT, "the reply is empty");
	if (code != LT_OK) {
		/* An expired or replayed credential has a payload, too. */
		free(payload);
		return code;
	}
	return split_payload(reply, payload, (size_t)length, err);
}

/* Makes a URL of host, host:port, [v6], [v6]:port, or a bare IPv6 address. */
static void
make_url(char *url, size_t size, const char *server)
{
	const char *const bracket = strchr(server, ']');
	const char *const colon = strchr(server, ':');
	const bool bare_v6 = server[0] != '[' && colon != NULL && strchr(colon + 1, ':') != NULL;
	const bool has_port = bracket != NULL ? bracket[1] == ':' : colon != NULL && !bare_v6;

	snprintf(url, size, "http://%s%s%s%s/munge", bare_v6 ? "[" : "", server, bare_v6 ? "]" : "",
	    has_port ? "" : ":" DEFAULT_PORT);
}

int
lt_seal_ask(struct lt_sealed_reply *reply, const struct lt_seal *seal, const char *server,
    const struct lt_seal_question *question, struct lt_error *err)
{
	char url[512];
	char *credential = NULL;
	struct lt_http_response response = {0};
	struct lt_error inner = {0}; /* err may have that of another server */
	int code = seal_request(&credential, seal, question, err);

	if (code != LT_OK)
		return code;
	make_url(url, sizeof(url), server);
	const struct lt_http_request request = {
	    .url = url,
	    .method = "POST",
	    .body = credential,
	    .body_length = strlen(credential),
	    .headers = {"Content-Type: text/plain"},
	    .connect_ms = question->connect_ms,
	    .total_ms = question->timeout_ms,
	    .stall_s = question->stall_s,
	};

	code = lt_http_do(&request, &response, &inner);
	if (code == LT_OK && response.status != 200)
		code = lt_fail(&inner, LT_ENET, "HTTP %ld: %.200s", response.status,
		    response.body != NULL ? response.body : "");
	else if (code == LT_OK)
		code = seal_open(reply, seal, response.body, &inner);
	free(credential);
	lt_http_free(&response);
	return code == LT_OK
		   ? LT_OK
		   : lt_fail(err, (enum lt_code)code, "lowtided on %s: %s", server, inner.text);
}

static int
peer_of(struct lt_seal *peer, const struct lt_conf *conf, struct lt_error *err)
{
	const char *const socket_path = getenv("LOWTIDE_MUNGE_SOCKET");
	const struct passwd *const user = getpwnam(conf->slurm_user);
	int64_t uid;

	peer->munge_socket =
	    socket_path != NULL && socket_path[0] ? socket_path : conf->munge_socket;
	if (user != NULL) {
		peer->slurm_uid = user->pw_uid;
		return LT_OK;
	}
	if (lt_int64_parse(conf->slurm_user, 0, UINT32_MAX - 1, &uid, NULL))
		return lt_fail(err, LT_ENOENT, "%s: SlurmUser=%s is no user here", conf->path,
		    conf->slurm_user);
	peer->slurm_uid = (uid_t)uid;
	return LT_OK;
}

static void
ask_each(struct lt_sealed_reply *reply, const struct lt_conf *conf, const struct lt_seal *peer,
    const struct lt_seal_question *question, struct lt_error *err)
{
	for (int i = 0; i < conf->host_count && (reply->body == NULL || reply->status == 503);
	     i++) {
		struct lt_sealed_reply fresh = {0};

		if (lt_seal_ask(&fresh, peer, conf->hosts[i], question, err))
			continue; /* err keeps the first failure */
		free(reply->body);
		*reply = fresh;
	}
	if (reply->body != NULL)
		*err = (struct lt_error){0};
}

int
lt_servers_ask(struct lt_sealed_reply *reply, const char *server,
    const struct lt_seal_question *question, struct lt_error *err)
{
	const char *const named = server != NULL ? server : getenv("LOWTIDE_SERVER");
	struct lt_conf *const conf = calloc(1, sizeof(*conf));
	struct lt_seal peer;

	if (conf == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	if (lt_conf_load(conf, err) == LT_OK && peer_of(&peer, conf, err) == LT_OK) {
		if (named != NULL && named[0]) {
			snprintf(conf->hosts[0], sizeof(conf->hosts[0]), "%s", named);
			conf->host_count = 1;
		}
		if (conf->host_count > 0)
			ask_each(reply, conf, &peer, question, err);
		else
			lt_fail(err, LT_ENOENT, "%s: no SlurmctldHost", conf->path);
	}
	free(conf);
	return err->code;
}
