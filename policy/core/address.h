/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom a message goes to: a local user, or an address. Few characters are allowed, so that one can
 * stand in a header, in a mail's envelope and in an environment as it is.
 */
#ifndef LT_ADDRESS_H
#define LT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { LT_ADDRESS_SIZE = 256 };

/*
 * "alice", "alice@example.org": letters, digits and . _ + = % ~ - before the @, at most 64 (RFC
 * 5321), not beginning with - or .; after it labels of a host's name. No white space, comma, quote,
 * angle or control character: what mail programs would take for more than one address. Pure.
 */
bool lt_address_is(const char *text) __attribute__((nonnull));
/* 127.0.0.0/8; s_addr: in network order. Pure. */
bool lt_ipv4_is_loopback(uint32_t s_addr);
/*
 * True if the host of "smtp://HOST" or "http://HOST:1/x" is exactly "localhost", or an address of
 * the loopback as inet_pton(3) reads it, in brackets for IPv6. False: another host, no such URL, or
 * one with a user in it. Pure.
 */
bool lt_url_is_loopback(const char *url) __attribute__((nonnull));

#endif
