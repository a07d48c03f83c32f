/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SMTP by libcurl: connect, MAIL FROM, RCPT TO, DATA, QUIT, bounded in time.
 */
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "curl_library.h"
#include "http.h"
#include "smtp.h"

struct upload {
	const char *at;
	size_t left;
};

static size_t
on_read(char *out, size_t size, size_t count, void *context)
{
	struct upload *const upload = context;
	const size_t room = size * count;
	const size_t length = room < upload->left ? room : upload->left;

	memcpy(out, upload->at, length);
	upload->at += length;
	upload->left -= length;
	return length;
}

static CURLcode
set_bounds(CURL *easy, const struct lt_smtp_request *request)
{
	const long total_ms = request->total_ms > 0 ? request->total_ms : LT_SMTP_TOTAL_MS;
	const bool is_here = lt_url_is_loopback(request->url);
	CURLcode code = lt_curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);

#if LIBCURL_VERSION_NUM >= 0x075500 /* as in http.c */
	code |= lt_curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
#else
	code |= lt_curl.easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_SMTP | CURLPROTO_SMTPS);
#endif
	/* A mail server's certificate for its own host is often self-signed. */
	code |= lt_curl.easy_setopt(
	    easy, CURLOPT_USE_SSL, is_here ? (long)CURLUSESSL_NONE : (long)CURLUSESSL_ALL);
	code |= lt_curl.easy_setopt(easy, CURLOPT_NOPROXY, "*");
	code |= lt_curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
	    total_ms < LT_SMTP_CONNECT_MS ? total_ms : (long)LT_SMTP_CONNECT_MS);
	code |= lt_curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, total_ms);
	return code;
}

static int
perform(CURL *easy, const struct lt_smtp_request *request, long *status, struct lt_error *err)
{
	struct upload upload = {request->mail, request->length};
	char from[LT_ADDRESS_SIZE + 2], to[LT_ADDRESS_SIZE + 2], host[256];
	char problem[CURL_ERROR_SIZE] = "";

	snprintf(from, sizeof(from), "<%s>", request->from);
	snprintf(to, sizeof(to), "<%s>", request->to);
	lt_http_host(host, sizeof(host), request->url);
	struct curl_slist *const recipients = lt_curl.slist_append(NULL, to);
	if (recipients == NULL)
		return lt_fail(err, LT_ENOMEM, "%s: no memory", host);
	CURLcode code = lt_curl.easy_setopt(easy, CURLOPT_URL, request->url);
	code |= lt_curl.easy_setopt(easy, CURLOPT_MAIL_FROM, from);
	code |= lt_curl.easy_setopt(easy, CURLOPT_MAIL_RCPT, recipients);
	code |= lt_curl.easy_setopt(easy, CURLOPT_UPLOAD, 1L);
	code |= lt_curl.easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
	code |= lt_curl.easy_setopt(easy, CURLOPT_READDATA, &upload);
	code |= lt_curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, problem);
	code |= set_bounds(easy, request);
	int result = LT_OK;
	if (code != CURLE_OK) {
		result = lt_fail(err, LT_EINPUT, "%s: libcurl can't send this", host);
	} else if ((code = lt_curl.easy_perform(easy)) != CURLE_OK) {
		lt_curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, status);
		result = lt_fail(err, LT_ENET, "%s: %s", host,
		    problem[0] != '\0' ? problem : lt_curl.easy_strerror(code));
	}
	lt_curl.slist_free_all(recipients);
	return result;
}

int
lt_smtp_send(const struct lt_smtp_request *request, long *status, struct lt_error *err)
{
	*status = 0;
	if (!lt_address_is(request->from) || !lt_address_is(request->to))
		return lt_fail(err, LT_EINPUT, "mail: want a user or an address");
	int code = lt_curl_init(err);
	if (code != LT_OK)
		return code;
	CURL *const easy = lt_curl.easy_init();
	if (easy == NULL)
		return lt_fail(err, LT_ENOMEM, "libcurl: no memory");
	code = perform(easy, request, status, err);
	lt_curl.easy_cleanup(easy);
	return code;
}
