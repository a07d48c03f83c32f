/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of mail and of hosts: which text is an address that mail may go to, and which host is
 * this one. Reads text only; no name is looked up. Nothing fails: a wrong text is just not an
 * address.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
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

		if (length == 0 || length > LABEL_MAX || text[0] == '-' || text[length - 1] == '-')
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

	if (local == 0 || local > LOCAL_MAX || text[0] == '-' || text[0] == '.' ||
	    strlen(text) >= LT_ADDRESS_SIZE)
		return false;
	return text[local] == '\0' || (text[local] == '@' && is_host(text + local + 1));
}

bool
lt_ipv4_is_loopback(uint32_t s_addr)
{
	return ntohl(s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

/* "localhost", exactly so, and what inet_pton(3) takes: other texts, as "127.evil.example" or
 * "127.0.0.1.5", are names that a resolver is asked. */
static bool
is_loopback(const char *host)
{
	struct in_addr v4;
	struct in6_addr v6;
	char bare[LT_ADDRESS_SIZE];
	const size_t length = strlen(host);

	if (host[0] == '[' && length > 2 && host[length - 1] == ']') {
		memcpy(bare, host + 1, length - 2);
		bare[length - 2] = '\0';
		return inet_pton(AF_INET6, bare, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
	}
	return strcmp(host, "localhost") == 0 ||
	       (inet_pton(AF_INET, host, &v4) == 1 && lt_ipv4_is_loopback(v4.s_addr));
}

bool
lt_url_is_loopback(const char *url)
{
	const size_t scheme = strspn(url, LETTERS);
	char host[LT_ADDRESS_SIZE];

	if (scheme == 0 || strncmp(url + scheme, "://", 3) != 0)
		return false;
	const char *const at = url + scheme + 3;
	const size_t length = at[0] == '[' ? strcspn(at, "]/?#") + 1 : strcspn(at, ":/?#");
	/* Refuses an @: what a URL has before it is a user's name. */
	if (length >= sizeof(host) || strlen(at) < length ||
	    memchr(at, '@', strcspn(at, "/?#")) != NULL ||
	    (at[length] != '\0' && strchr(":/?#", at[length]) == NULL))
		return false;
	memcpy(host, at, length);
	host[length] = '\0';
	return is_loopback(host);
}
