/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of http.c alone.
 */
#ifndef LT_HTTP_TEXT_H
#define LT_HTTP_TEXT_H

#include <stddef.h>

/* The value of one header line, when it is that header ("Name:") and fits. */
void lt_http_header_keep(
    char *out, size_t size, const char *name, const char *line, size_t length);

#endif
