/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two sources of Azure share: the options `region` and `sku`, and
 * the error bodies of its services.
 */
#ifndef LT_AZURE_H
#define LT_AZURE_H

#include "source.h"

enum { LT_AZURE_NAME_MAX = 63 };

/* Both are there and have the letters of Azure's names only: they go into
 * queries as they are. */
int lt_azure_check(
    const struct lt_source_options *options, struct lt_error *err);
/* The region as queries have it, in small letters: "WestUS3" occurs, too. */
void lt_azure_region(
    char out[LT_AZURE_NAME_MAX + 1], const struct lt_source_options *options);
/* Is a row for the region and SKU that were asked for, in whatever case? */
bool lt_azure_is_asked(const struct lt_source_options *options,
    const char *region, const char *sku);

/* A text of a JSON object, "" without it. */
const char *lt_azure_text(const json_t *object, const char *key);
/* LT_ENET with the error that an answer says; LT_OK = it says none. */
int lt_azure_refusal(const json_t *json, struct lt_error *err);
/* Of an error body the code and the first line of the message, "" = neither. */
void lt_azure_error_text(
    char *out, size_t size, const char *body, size_t length);

#endif
