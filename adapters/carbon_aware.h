/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function of carbon_aware.c that its fuzzer calls.
 */
#ifndef LT_CARBON_AWARE_H
#define LT_CARBON_AWARE_H

#include <stddef.h>

/* The message of an error body (RFC 7807, with the status that the SDK's data
 * source gave it), "" = none. */
void lt_carbon_error(char *out, size_t size, const char *body, size_t length);

#endif
