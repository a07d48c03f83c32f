/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends a message as JSON to the site's webhook, signed. Reads the secret from its file each time;
 * a status other than 200 to 299 is a failure. A redirect is not followed: it would take the text
 * to a host that the policy does not name.
 */
#include <inttypes.h>
#include <jansson.h>
#include <nettle/base16.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "secret.h"
#include "ways.h"

void
lt_webhook_sign(char out[LT_SIGNATURE_SIZE], const char *secret, int64_t utc_s, const char *body)
{
	struct hmac_sha256_ctx context;
	uint8_t digest[SHA256_DIGEST_SIZE];
	char time_text[32];

	snprintf(time_text, sizeof(time_text), "%" PRId64 ".", utc_s);
	hmac_sha256_set_key(&context, strlen(secret), (const uint8_t *)secret);
	hmac_sha256_update(&context, strlen(time_text), (const uint8_t *)time_text);
	hmac_sha256_update(&context, strlen(body), (const uint8_t *)body);
	hmac_sha256_digest(&context, sizeof(digest), digest);
	base16_encode_update(out, sizeof(digest), digest);
	out[LT_SIGNATURE_SIZE - 1] = '\0';
	explicit_bzero(&context, sizeof(context));
}

static char *
body_of(const struct lt_message *message)
{
	json_t *const all = json_pack("{s:s, s:s, s:I, s:s, s:s}", "id", message->id, "kind",
	    lt_message_row(message->kind)->word, "time", (json_int_t)message->made_utc_s, "subject",
	    message->subject, "text", message->text);
	char *const text = all != NULL ? json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	json_decref(all);
	return text;
}

static int
post_body(
    const struct lt_sending *sending, const char *body, const char *secret, struct lt_error *err)
{
	char when[64], signature[LT_SIGNATURE_SIZE], signed_by[128], host[256];
	struct lt_http_response response;
	int code;

	lt_webhook_sign(signature, secret, sending->now_utc_s, body);
	snprintf(when, sizeof(when), "X-Lowtide-Time: %" PRId64, sending->now_utc_s);
	snprintf(signed_by, sizeof(signed_by), "X-Lowtide-Signature: sha256=%s", signature);
	code = lt_http_do(&(struct lt_http_request){.url = sending->notify->webhook_url,
			      .body = body,
			      .body_length = strlen(body),
			      .headers = {"Content-Type: application/json", when, signed_by},
			      .direct = lt_url_is_loopback(sending->notify->webhook_url),
			      .total_ms = LT_WEBHOOK_TOTAL_MS},
	    &response, err);
	lt_http_host(host, sizeof(host), sending->notify->webhook_url);
	if (code == LT_OK && (response.status < 200 || response.status > 299))
		code = lt_fail(err, LT_ESTALE, "%s: HTTP status %ld, want 200 to 299%s", host,
		    response.status,
		    response.status / 100 == 3 ? "; redirects are not followed" : "");
	lt_http_free(&response);
	return code;
}

int
lt_send_webhook(const struct lt_sending *sending, struct lt_error *err)
{
	char secret[LT_SECRET_SIZE];
	int code =
	    lt_secret_file(sending->notify->webhook_secret_file, secret, sizeof(secret), err);

	if (code != LT_OK)
		return code == LT_ENET || code == LT_EDENIED ? LT_EIO : code;
	secret[strcspn(secret, "\r\n")] = '\0';
	char *const body = body_of(sending->message);
	if (secret[0] == '\0')
		code = lt_fail(err, LT_EINPUT, "%s: empty, want a secret",
		    sending->notify->webhook_secret_file);
	else if (body == NULL)
		code = lt_fail(err, LT_ENOMEM, "webhook: no memory");
	else
		code = post_body(sending, body, secret, err);
	explicit_bzero(secret, sizeof(secret));
	free(body);
	return code;
}
