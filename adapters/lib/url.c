/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * URLs of sources: a base that the admin may change to a mirror, a path, and
 * a query whose texts are percent-encoded.
 */
#include <stdio.h>
#include <string.h>

#include "url.h"

/* A host, and nothing that would hide another one, a secret or a line. */
static bool
is_base(const char *url)
{
	const char *const host = strstr(url, "://") + 3;

	if (strlen(url) > LT_URL_SIZE / 4 || strchr("/:", host[0]) != NULL)
		return false;
	for (; *url != '\0'; url++)
		if (*url <= ' ' || *url >= 0x7f || strchr("?#@\\", *url) != NULL)
			return false;
	return true;
}

int
lt_url_check(const struct lt_source_options *options, const char *key, struct lt_error *err)
{
	const char *const url = lt_source_option(options, key, NULL);

	if (url == NULL)
		return LT_OK;
	if (strncmp(url, "https://", 8) != 0 && strncmp(url, "http://", 7) != 0)
		return lt_option_fail(
		    options, key, err, "%s: %s: want http:// or https://", options->name, key);
	if (!is_base(url))
		return lt_option_fail(options, key, err,
		    "%s: %s: want a base URL of at most %d bytes, without query or login",
		    options->name, key, LT_URL_SIZE / 4);
	return LT_OK;
}

static int
too_long(const char *url, struct lt_error *err)
{
	return lt_fail(
	    err, LT_ELIMIT, "%.60s...: a URL of more than %d bytes", url, LT_URL_SIZE - 1);
}

int
lt_url_start(char out[LT_URL_SIZE], const char *base, const char *path, struct lt_error *err)
{
	size_t length = strlen(base);

	while (length > 0 && base[length - 1] == '/')
		length--;
	while (*path == '/')
		path++;
	return snprintf(out, LT_URL_SIZE, "%.*s/%s", (int)length, base, path) < LT_URL_SIZE
		   ? LT_OK
		   : too_long(base, err);
}

int
lt_url_escape(char *out, size_t size, const char *text, struct lt_error *err)
{
	static const char unreserved[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	size_t length = 0;

	for (; *text != '\0'; text++) {
		const bool plain = strchr(unreserved, *text) != NULL;

		if (length + (plain ? 1 : 3) >= size)
			return lt_fail(
			    err, LT_ELIMIT, "a text of more than %zu bytes for a URL", size - 1);
		if (plain)
			out[length++] = *text;
		else
			length += (size_t)snprintf(
			    out + length, size - length, "%%%02X", (unsigned char)*text);
	}
	out[length] = '\0';
	return LT_OK;
}

int
lt_url_add(char out[LT_URL_SIZE], const char *key, const char *value, struct lt_error *err)
{
	char left[LT_URL_SIZE], right[LT_URL_SIZE];
	const size_t room = LT_URL_SIZE - strlen(out);
	const char mark = strchr(out, '?') == NULL ? '?' : '&';

	if (lt_url_escape(left, sizeof(left), key, NULL) != LT_OK ||
	    lt_url_escape(right, sizeof(right), value, NULL) != LT_OK ||
	    snprintf(out + LT_URL_SIZE - room, room, "%c%s=%s", mark, left, right) >= (int)room)
		return too_long(out, err);
	return LT_OK;
}

int
lt_url_query(char out[LT_URL_SIZE], const struct lt_query *query, struct lt_error *err)
{
	int code = LT_OK;

	for (; code == LT_OK && query->key != NULL; query++)
		if (query->value != NULL && query->value[0] != '\0')
			code = lt_url_add(out, query->key, query->value, err);
	return code;
}
