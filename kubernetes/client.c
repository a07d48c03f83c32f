/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends one request to the API server and reads its answer: with our credentials, again after a
 * 401, 429 or 503, within LT_KUBE_TOTAL_MS. Any other refusal is returned with the Status's
 * message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "json.h"
#include "send.h"
#include "text_mend.h"
#include "min_max.h"

int
lt_kube_open(struct lt_kube **kube, const struct lt_kube_place *place, struct lt_error *err)
{
	struct lt_kube *const opened = calloc(1, sizeof(*opened));

	if (opened == NULL)
		return lt_fail(err, LT_ENOMEM, "a Kubernetes client");
	const int code = lt_kube_config_load(&opened->config, place, err);
	if (code != LT_OK) {
		free(opened);
		return code;
	}
	/* Pauses that differ between processes are all that it is for. */
	if (getrandom(&opened->random, sizeof(opened->random), 0) < 0)
		opened->random = (uint64_t)lt_monotonic_ms();
	*kube = opened;
	return LT_OK;
}

void
lt_kube_close(struct lt_kube *kube)
{
	if (kube == NULL)
		return;
	lt_http_session_end(&kube->session);
	lt_kube_config_free(&kube->config);
	free(kube);
}

const char *
lt_kube_server(const struct lt_kube *kube)
{
	return kube->config.server;
}

const char *
lt_kube_namespace(const struct lt_kube *kube)
{
	return kube->config.name_space;
}

/* ---- sending ---- */

static int
send_once(struct lt_kube *kube, const char *path, struct lt_http_request *http,
    struct lt_http_response *response, struct lt_error *err)
{
	const struct lt_kube_config *const config = &kube->config;
	const struct lt_http_tls tls = {.ca = config->ca.text,
	    .certificate = config->certificate.text,
	    .key = config->key.text};
	char *url = NULL;
	char *authorization = NULL;
	int code = LT_OK;

	*response = (struct lt_http_response){0};
	if (asprintf(&url, "%s%s", config->server, path) < 0)
		url = NULL;
	if (config->token.text != NULL &&
	    asprintf(&authorization, "Authorization: Bearer %s", config->token.text) < 0)
		authorization = NULL;
	if (url == NULL || (config->token.text != NULL && authorization == NULL)) {
		code = lt_fail(err, LT_ENOMEM, "a request");
	} else {
		http->url = url;
		http->headers[0] = authorization;
		http->tls = &tls;
		http->session = &kube->session;
		http->direct = config->in_pod;
		code = lt_http_do(http, response, err);
	}
	if (authorization != NULL)
		explicit_bzero(authorization, strlen(authorization));
	free(authorization);
	free(url);
	return code;
}

/* True if the token's file has another one by now. */
static bool
renew_token(struct lt_kube *kube)
{
	const struct lt_kube_secret *const token = &kube->config.token;

	if (token->path == NULL || token->text == NULL)
		return false;
	char *const before = strdup(token->text);
	const bool is_new = before != NULL &&
			    lt_kube_config_refresh(&kube->config, true, NULL) == LT_OK &&
			    strcmp(before, token->text) != 0;
	if (before != NULL)
		explicit_bzero(before, strlen(before));
	free(before);
	return is_new;
}

static int
send_as_us(struct lt_kube *kube, const char *path, struct lt_http_request *http,
    struct lt_http_response *response, struct lt_error *err)
{
	(void)lt_kube_config_refresh(&kube->config, false, NULL);
	const int code = send_once(kube, path, http, response, err);
	if (code != LT_OK || response->status != 401 || !renew_token(kube))
		return code;
	lt_http_free(response);
	return send_once(kube, path, http, response, err);
}

void
lt_kube_pause(int64_t wait_ms, bool (*stop)(void *context), void *context)
{
	const int64_t end_ms = lt_monotonic_ms() + wait_ms;
	int64_t left_ms;

	while ((left_ms = end_ms - lt_monotonic_ms()) > 0 && (stop == NULL || !stop(context))) {
		const struct timespec step = {.tv_nsec = lt_min_i64(left_ms, 200) * 1000000};

		nanosleep(&step, NULL);
	}
}

int
lt_kube_send(struct lt_kube *kube, const char *path, struct lt_http_request *http,
    struct lt_http_response *response, struct lt_error *err)
{
	const int64_t end_ms = lt_monotonic_ms() + http->total_ms;

	for (int tries = 1;; tries++) {
		const int code = send_as_us(kube, path, http, response, err);

		if (code != LT_OK || tries == LT_KUBE_TRIES ||
		    (response->status != 429 && response->status != 503))
			return code;
		const int64_t left_ms = end_ms - lt_monotonic_ms();
		const int64_t wait_ms = response->retry_after_s > LT_KUBE_TOTAL_MS ? left_ms
					: response->retry_after_s > 0
					    ? response->retry_after_s * 1000
					    : tries * (int64_t)LT_KUBE_BACKOFF_MS;

		if (wait_ms >= left_ms)
			return LT_OK;
		lt_kube_pause(wait_ms, http->stop, http->context);
		if (http->stop != NULL && http->stop(http->context))
			return LT_OK;
		lt_http_free(response);
		http->total_ms = (int)(left_ms - wait_ms);
	}
}

/* ---- answers ---- */

static enum lt_code
code_of_status(long status)
{
	static const struct {
		long status;
		enum lt_code code;
	} known[] = {
	    {401, LT_EDENIED},
	    {403, LT_EDENIED},
	    {404, LT_ENOENT},
	    {409, LT_ECONFLICT},
	    {410, LT_ESTALE},
	    {429, LT_ENET},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (status == known[i].status)
			return known[i].code;
	return status >= 400 && status < 500 ? LT_EINPUT : LT_ENET;
}

int
lt_kube_check(const char *path, const struct lt_http_response *response, struct lt_error *err)
{
	char words[301] = "", pause[48] = "";
	json_t *status = NULL;

	if (response->status >= 200 && response->status < 300)
		return LT_OK;
	if (lt_json_load_nul(&status, response->body, response->body_length, NULL) == LT_OK)
		snprintf(words, sizeof(words), "%s",
		    json_string_value(json_object_get(status, "message"))
			? json_string_value(json_object_get(status, "message"))
			: "");
	json_decref(status);
	if (words[0] == '\0')
		lt_http_words(words, 121, response);
	if (response->retry_after_s > 0)
		snprintf(pause, sizeof(pause), ", asks to wait %lld s",
		    (long long)response->retry_after_s);
	lt_fail(err, code_of_status(response->status), "%.*s: HTTP status %ld%s%s%s",
	    (int)(strcspn(path, "?") < 120 ? strcspn(path, "?") : 120), path, response->status,
	    pause, words[0] == '\0' ? "" : ": ", words);
	return lt_error_mend(err, code_of_status(response->status));
}

static int
read_answer(const char *path, const struct lt_http_response *response, json_t **answer,
    struct lt_error *err)
{
	int code = lt_kube_check(path, response, err);

	if (answer == NULL || code != LT_OK)
		return code;
	*answer = NULL;
	if (response->body_length == 0)
		return LT_OK;
	code = lt_json_load_nul(answer, response->body, response->body_length, err);
	if (code != LT_OK)
		lt_context(
		    err, "%.*s", (int)(strcspn(path, "?") < 120 ? strcspn(path, "?") : 120), path);
	return lt_error_mend(err, code);
}

int
lt_kube_do(struct lt_kube *kube, const struct lt_kube_request *request, json_t **answer,
    struct lt_error *err)
{
	char type[128], user[192];
	struct lt_http_request http = {
	    .method = request->method,
	    .total_ms = LT_KUBE_TOTAL_MS,
	    .headers = {NULL, "Accept: application/json"},
	};
	struct lt_http_response response = {0};
	char *body = NULL;

	if (request->body != NULL) {
		body = json_dumps(request->body, JSON_COMPACT);
		if (body == NULL)
			return lt_fail(err, LT_ENOMEM, "a request's body");
		http.body = body;
		http.body_length = strlen(body);
		snprintf(type, sizeof(type), "Content-Type: %s",
		    request->content_type != NULL ? request->content_type : "application/json");
		http.headers[2] = type;
	}
	if (request->user != NULL) {
		snprintf(user, sizeof(user), "Impersonate-User: %s", request->user);
		http.headers[3] = user;
	}
	int code = lt_kube_send(kube, request->path, &http, &response, err);
	if (code == LT_OK)
		code = read_answer(request->path, &response, answer, err);
	lt_http_free(&response);
	free(body);
	return code;
}
