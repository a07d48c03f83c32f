/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function of electricity_maps.c that its fuzzer calls.
 */
#ifndef LT_ELECTRICITY_MAPS_H
#define LT_ELECTRICITY_MAPS_H

#include <stddef.h>

/* The words of a refusal, for lt_web_do(). */
void lt_em_error_text(char *out, size_t size, const char *body, size_t length);

#endif
