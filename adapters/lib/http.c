/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP for adapters and the command: one bounded transfer per call. Nothing
 * of a request's headers or of a URL's path and query is ever in an error.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "curl_library.h"
#include "http.h"

/* ---- texts of an answer ---- */

int64_t
lt_monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void
keep_header(char *out, size_t size, const char *name, const char *line, size_t length)
{
	const size_t skip = strlen(name);

	if (length <= skip || strncasecmp(line, name, skip) != 0)
		return;
	line += skip;
	length -= skip;
	while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL)
		length--;
	for (; length > 0 && *line == ' '; length--)
		line++;
	if (length < size && memchr(line, '\0', length) == NULL) {
		memcpy(out, line, length);
		out[length] = '\0';
	}
}

void
lt_http_words(char *out, size_t size, const struct lt_http_response *response)
{
	size_t length = 0;

	for (size_t i = 0; i < response->body_length && length + 1 < size; i++) {
		const char byte = response->body[i];

		if (byte > ' ' && byte < 0x7f)
			out[length++] = byte;
		else if (length > 0 && out[length - 1] != ' ')
			out[length++] = ' ';
	}
	out[length] = '\0';
}

struct transfer { /* of one hop */
	const struct lt_http_request *request;
	const char *url;
	long total_ms;
	char *redirect; /* where the answer points, malloc'd, or NULL */
	CURL *easy;
	struct curl_slist *headers;
	char problem[CURL_ERROR_SIZE];
	char host[256];
	size_t header_bytes, capacity;
	struct lt_http_response *response;
	enum { FINE, TOO_LONG_BODY, TOO_LONG_HEADERS, NO_MEMORY } stop;
};

int
lt_http_init(struct lt_error *err)
{
	return lt_curl_init(err);
}

void
lt_http_cleanup(void)
{
	lt_curl_cleanup();
}

void
lt_http_free(struct lt_http_response *response)
{
	free(response->body);
	*response = (struct lt_http_response){0};
}

void
lt_http_session_end(struct lt_http_session *session)
{
	if (session->easy != NULL)
		lt_curl.easy_cleanup(session->easy);
	session->easy = NULL;
}

static bool
is_taken(const struct transfer *transfer)
{
	long status = 0;

	return transfer->request->take != NULL &&
	       lt_curl.easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
	       status == 200;
}

/* After decompression: a small answer may unpack to anything. */
static size_t
on_body(char *bytes, size_t size, size_t count, void *context)
{
	struct transfer *const transfer = context;
	struct lt_http_response *const response = transfer->response;
	const size_t length = size * count;

	if (is_taken(transfer))
		return transfer->request->take(transfer->request->context, bytes, length) ? length
											  : 0;
	if (length > LT_HTTP_BODY_MAX - response->body_length) {
		transfer->stop = TOO_LONG_BODY;
		return 0;
	}
	if (response->body_length + length + 1 > transfer->capacity) {
		const size_t capacity = 2 * (response->body_length + length + 1);
		char *const grown = realloc(response->body, capacity);

		if (grown == NULL) {
			transfer->stop = NO_MEMORY;
			return 0;
		}
		response->body = grown;
		transfer->capacity = capacity;
	}
	memcpy(response->body + response->body_length, bytes, length);
	response->body_length += length;
	response->body[response->body_length] = '\0';
	return length;
}

static size_t
on_header(char *bytes, size_t size, size_t count, void *context)
{
	struct transfer *const transfer = context;
	struct lt_http_response *const response = transfer->response;
	const size_t length = size * count;

	transfer->header_bytes += length;
	if (transfer->header_bytes > LT_HTTP_HEADER_BYTES_MAX) {
		transfer->stop = TOO_LONG_HEADERS;
		return 0;
	}
	keep_header(response->etag, sizeof(response->etag), "ETag:", bytes, length);
	keep_header(response->last_modified, sizeof(response->last_modified),
	    "Last-Modified:", bytes, length);
	return length;
}

int64_t
lt_http_date(const char *text)
{
	if (text[0] == '\0' || lt_curl_load(NULL) != LT_OK)
		return 0;
	const time_t utc_s = lt_curl.getdate(text, NULL);
	return utc_s > 0 ? utc_s : 0;
}

/* Writes one part of a URL; "" if it has none. */
static void
url_part(char *out, size_t size, const char *url, CURLUPart part)
{
	char *text = NULL;

	out[0] = '\0';
	if (lt_curl_load(NULL) != LT_OK)
		return;
	CURLU *const parts = lt_curl.url();
	if (parts != NULL && lt_curl.url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    lt_curl.url_get(parts, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK)
		snprintf(out, size, "%s", text);
	lt_curl.free(text);
	lt_curl.url_cleanup(parts);
}

/* True for the same host and port; http may become https, never the other way. */
static bool
may_follow(const char *from, const char *to)
{
	char part[3][2][256];
	static const CURLUPart parts[3] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT};

	for (int i = 0; i < 3; i++) {
		url_part(part[i][0], sizeof(part[i][0]), from, parts[i]);
		url_part(part[i][1], sizeof(part[i][1]), to, parts[i]);
	}
	if (part[1][0][0] == '\0' || strcasecmp(part[1][0], part[1][1]) != 0)
		return false;
	if (strcmp(part[0][0], part[0][1]) == 0)
		return strcmp(part[2][0], part[2][1]) == 0;
	return strcmp(part[0][0], "http") == 0 && strcmp(part[0][1], "https") == 0 &&
	       strcmp(part[2][0], "80") == 0 && strcmp(part[2][1], "443") == 0;
}

static int
set_headers(struct transfer *transfer, struct lt_error *err)
{
	const struct lt_http_request *const request = transfer->request;

	for (int i = 0; i < LT_HTTP_HEADERS_MAX; i++) {
		struct curl_slist *longer;

		if (request->headers[i] == NULL)
			continue;
		if (strpbrk(request->headers[i], "\r\n") != NULL)
			return lt_fail(err, LT_EINPUT, "%s: a request header with a line break",
			    transfer->host);
		longer = lt_curl.slist_append(transfer->headers, request->headers[i]);
		if (longer == NULL)
			return lt_fail(err, LT_ENOMEM, "%s: headers", transfer->host);
		transfer->headers = longer;
	}
	return LT_OK;
}

/* Sets method, URL, headers and body. libcurl copies all texts but the body. */
static bool
set_request(const struct transfer *transfer)
{
	const struct lt_http_request *const request = transfer->request;
	CURL *const easy = transfer->easy;
	CURLcode code = lt_curl.easy_setopt(easy, CURLOPT_URL, transfer->url);

	if (request->body != NULL) {
		code |= lt_curl.easy_setopt(easy, CURLOPT_POST, 1L);
		code |= lt_curl.easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
		code |= lt_curl.easy_setopt(
		    easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length);
	}
	if (request->method != NULL)
		code |= lt_curl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
	if (request->unix_socket != NULL)
		code |= lt_curl.easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request->unix_socket);
	if (request->unix_socket != NULL || request->direct)
		code |= lt_curl.easy_setopt(easy, CURLOPT_NOPROXY, "*");
	if (request->login != NULL)
		code |= lt_curl.easy_setopt(easy, CURLOPT_USERPWD, request->login);
	if (request->aws_sigv4 != NULL)
		code |= lt_curl.easy_setopt(easy, CURLOPT_AWS_SIGV4, request->aws_sigv4);
	code |= lt_curl.easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
	code |= lt_curl.easy_setopt(easy, CURLOPT_USERAGENT, "lowtide/" LT_VERSION);
	code |= lt_curl.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	return code == CURLE_OK;
}

static CURLcode
set_pem(CURL *easy, CURLoption option, const char *pem)
{
	struct curl_blob blob = {
	    .data = (void *)pem,
	    .len = strlen(pem),
	    .flags = CURL_BLOB_COPY,
	};

	return lt_curl.easy_setopt(easy, option, &blob);
}

/* libcurl would trust the system's CAs besides those given: its defaults go first. */
static bool
set_tls(CURL *easy, const struct lt_http_tls *tls)
{
	CURLcode code = CURLE_OK;

	if (tls->ca != NULL) {
#if LIBCURL_VERSION_NUM >= 0x074d00 /* 7.77; enterprise Linux 9 has 7.76 */
		code |= lt_curl.easy_setopt(easy, CURLOPT_CAINFO, (char *)NULL);
		code |= lt_curl.easy_setopt(easy, CURLOPT_CAPATH, (char *)NULL);
		code |= set_pem(easy, CURLOPT_CAINFO_BLOB, tls->ca);
#else
		return false;
#endif
	}
	if (tls->certificate != NULL)
		code |= set_pem(easy, CURLOPT_SSLCERT_BLOB, tls->certificate);
	if (tls->key != NULL)
		code |= set_pem(easy, CURLOPT_SSLKEY_BLOB, tls->key);
	code |= lt_curl.easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	code |= lt_curl.easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	return code == CURLE_OK;
}

static int
on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct transfer *const transfer = context;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return transfer->request->stop(transfer->request->context);
}

/* HTTP/1.1: what every source has, and one of them flaps on 2. */
static bool
set_bounds(struct transfer *transfer)
{
	const long connect_ms =
	    transfer->request->connect_ms > 0 ? transfer->request->connect_ms : LT_HTTP_CONNECT_MS;
	const bool any_length = transfer->request->take != NULL;
	const int stall_s = transfer->request->stall_s > 0 ? transfer->request->stall_s
			    : any_length		   ? LT_HTTP_TAKE_STALL_S
							   : LT_HTTP_STALL_S;
	CURL *const easy = transfer->easy;
	CURLcode code = lt_curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);

#if LIBCURL_VERSION_NUM >= 0x075500 /* 7.85; enterprise Linux 9 has 7.76 */
	code |= lt_curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	code |= lt_curl.easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
	code |= lt_curl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	code |= lt_curl.easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	code |= lt_curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
	code |= lt_curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, any_length ? 0 : transfer->total_ms);
	code |= lt_curl.easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT,
	    transfer->request->stall_bytes_s > 0 ? (long)transfer->request->stall_bytes_s
						 : (long)LT_HTTP_STALL_BYTES_S);
	code |= lt_curl.easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)stall_s);
	code |= lt_curl.easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE,
	    any_length ? (curl_off_t)0 : (curl_off_t)LT_HTTP_BODY_MAX);
	code |= lt_curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	code |= lt_curl.easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
	code |= lt_curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	code |= lt_curl.easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
	code |= lt_curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->problem);
	if (transfer->request->stop != NULL) {
		code |= lt_curl.easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
		code |= lt_curl.easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
		code |= lt_curl.easy_setopt(easy, CURLOPT_XFERINFODATA, transfer);
	}
	return code == CURLE_OK;
}

static int
transfer_fail(const struct transfer *transfer, CURLcode code, struct lt_error *err)
{
	if (transfer->stop == NO_MEMORY)
		return lt_fail(err, LT_ENOMEM, "%s: the answer", transfer->host);
	if (transfer->stop == TOO_LONG_HEADERS)
		return lt_fail(err, LT_ENET, "%s: headers of more than %d bytes", transfer->host,
		    LT_HTTP_HEADER_BYTES_MAX);
	if (transfer->stop == TOO_LONG_BODY || code == CURLE_FILESIZE_EXCEEDED)
		return lt_fail(err, LT_ELIMIT, "%s: an answer of more than %d bytes",
		    transfer->host, LT_HTTP_BODY_MAX);
	return lt_fail(err, LT_ENET, "%s: %s", transfer->host,
	    transfer->problem[0] != '\0' ? transfer->problem : lt_curl.easy_strerror(code));
}

static void
read_info(struct transfer *transfer)
{
	struct lt_http_response *const response = transfer->response;
	const char *type = NULL, *location = NULL;
	curl_off_t retry_after_s = 0;

	lt_curl.easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
	lt_curl.easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
	lt_curl.easy_getinfo(transfer->easy, CURLINFO_REDIRECT_URL, &location);
	snprintf(
	    response->content_type, sizeof(response->content_type), "%s", type == NULL ? "" : type);
	response->retry_after_s = retry_after_s > 0 ? retry_after_s : 0;
	if (location != NULL)
		transfer->redirect = strdup(location);
}

static int
perform(struct transfer *transfer, struct lt_error *err)
{
	const int code = set_headers(transfer, err);

	if (code != LT_OK)
		return code;
	if (!set_request(transfer) || !set_bounds(transfer) ||
	    (transfer->request->tls != NULL && !set_tls(transfer->easy, transfer->request->tls)))
		return lt_fail(
		    err, LT_EINPUT, "%s: libcurl can't send this request", transfer->host);
	const CURLcode result = lt_curl.easy_perform(transfer->easy);
	lt_curl.easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &transfer->response->status);
	if (result != CURLE_OK)
		return transfer_fail(transfer, result, err);
	read_info(transfer);
	return LT_OK;
}

/* While it is in use the session has none, so that a request in a callback makes its own. */
static bool
easy_take(struct transfer *transfer)
{
	struct lt_http_session *const session = transfer->request->session;

	if (session != NULL && session->easy != NULL) {
		transfer->easy = session->easy;
		session->easy = NULL;
	} else {
		transfer->easy = lt_curl.easy_init();
	}
	return transfer->easy != NULL;
}

/* A reset forgets the request, and keeps the connection. */
static void
easy_give(const struct transfer *transfer)
{
	struct lt_http_session *const session = transfer->request->session;

	if (session == NULL || session->easy != NULL) {
		lt_curl.easy_cleanup(transfer->easy);
		return;
	}
	lt_curl.easy_reset(transfer->easy);
	session->easy = transfer->easy;
}

/* Sends one request and reads one answer. */
static int
hop(struct transfer *transfer, struct lt_error *err)
{
	const char *const unix_socket = transfer->request->unix_socket;
	int code;

	url_part(transfer->host, sizeof(transfer->host), transfer->url, CURLUPART_HOST);
	if (unix_socket != NULL)
		snprintf(transfer->host, sizeof(transfer->host), "%s", unix_socket);
	if (transfer->host[0] == '\0')
		return lt_fail(err, LT_EINPUT, "a URL without host, want http:// or https://");
	if (!easy_take(transfer))
		return lt_fail(err, LT_ENOMEM, "%s: libcurl", transfer->host);
	code = perform(transfer, err);
	easy_give(transfer);
	lt_curl.slist_free_all(transfer->headers);
	return code;
}

static int
redirect_check(const char *from, const char *to, int hops, struct lt_error *err)
{
	char host[256], target[256], scheme[16];

	url_part(host, sizeof(host), from, CURLUPART_HOST);
	if (hops == LT_HTTP_REDIRECTS)
		return lt_fail(err, LT_ENET, "%s: more than %d redirects", host, LT_HTTP_REDIRECTS);
	if (may_follow(from, to))
		return LT_OK;
	url_part(target, sizeof(target), to, CURLUPART_HOST);
	url_part(scheme, sizeof(scheme), to, CURLUPART_SCHEME);
	return lt_fail(err, LT_ENET, "%s: a redirect to %s://%s, want the same host", host,
	    scheme[0] == '\0' ? "?" : scheme, target);
}

int
lt_http_do(
    const struct lt_http_request *request, struct lt_http_response *response, struct lt_error *err)
{
	const int64_t end_ms =
	    lt_monotonic_ms() + (request->total_ms > 0 ? request->total_ms : LT_HTTP_TOTAL_MS);
	const bool is_get = request->body == NULL &&
			    (request->method == NULL || strcmp(request->method, "GET") == 0);
	char *redirect = NULL;
	int code = lt_http_init(err), hops = 0;

	*response = (struct lt_http_response){0};
	if (code != LT_OK)
		return code;
	char *url = strdup(request->url);
	if (url == NULL)
		return lt_fail(err, LT_ENOMEM, "a URL");
	do {
		const int64_t left_ms = end_ms - lt_monotonic_ms();

		if (redirect != NULL) {
			free(url);
			url = redirect;
			lt_http_free(response);
		}
		struct transfer transfer = {
		    .request = request,
		    .url = url,
		    .total_ms = left_ms > 1 ? (long)left_ms : 1,
		    .response = response,
		};
		code = hop(&transfer, err);
		redirect = transfer.redirect;
		if (code == LT_OK && redirect != NULL && is_get)
			code = redirect_check(url, redirect, hops++, err);
	} while (code == LT_OK && redirect != NULL && is_get);
	free(redirect);
	free(url);
	if (code == LT_OK && response->body == NULL) {
		response->body = calloc(1, 1);
		if (response->body == NULL)
			code = lt_fail(err, LT_ENOMEM, "an empty answer");
	}
	return code;
}

void
lt_http_host(char *out, size_t size, const char *url)
{
	url_part(out, size, url, CURLUPART_HOST);
}
