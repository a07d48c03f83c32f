/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RFC 4648, section 4: bytes as text.
 */
#ifndef LT_BASE64_H
#define LT_BASE64_H

#include <stddef.h>

/* out has room for 4 * ((length + 2) / 3) + 1. */
void lt_base64(char *out, const unsigned char *bytes, size_t length);
/* Returns the bytes written; -1 for text that is not base64 or does not fit. Text after the first
 * '=' is not read. */
long lt_base64_decode(unsigned char *out, size_t room, const char *text);

#endif
