/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of mail, and which hosts are this one.
 */
#include <string.h>

#include "address.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

enum { LOCAL_MAX = 64, LABEL_MAX = 63 };

/* Labels of letters, digits and inner hyphens, with dots between. */
static bool
is_host(const char *text)
{
	for (;;) {
		const size_t length = strspn(text, LETTERS "-");

		if (length == 0 || length > LABEL_MAX || text[0] == '-' ||
		    text[length - 1] == '-')
			return false;
		text += length;
		if (*text == '\0')
			return true;
		if (*text++ != '.')
			return false;
	}
}

bool
lt_address_is(const char *text)
{
	const size_t local = strspn(text, LETTERS "._+=%~-");

	if (local == 0 || local > LOCAL_MAX || text[0] == '-' ||
	    text[0] == '.' || strlen(text) >= LT_ADDRESS_SIZE)
		return false;
	return text[local] == '\0' ||
	       (text[local] == '@' && is_host(text + local + 1));
}

bool
lt_url_is_loopback(const char *url)
{
	const char *const host = strstr(url, "://");
	const char *const at = host != NULL ? host + strlen("://") : url;
	const size_t length =
	    at[0] == '[' ? strcspn(at, "]") + 1 : strcspn(at, ":/?#");
	const char after = strlen(at) >= length ? at[length] : '@';

	if (host == NULL || (after != '\0' && strchr(":/?#", after) == NULL) ||
	    memchr(at, '@', strcspn(at, "/?#")) != NULL)
		return false;
	if (length == strlen("[::1]") && strncmp(at, "[::1]", length) == 0)
		return true;
	if (length == strlen("localhost") &&
	    strncmp(at, "localhost", length) == 0)
		return true;
	/* "127.evil.example" is a name like others. */
	return strncmp(at, "127.", strlen("127.")) == 0 &&
	       strspn(at, "0123456789.") == length;
}
