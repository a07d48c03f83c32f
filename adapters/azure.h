/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the two sources of Azure: the options `region` and `sku`, and the error bodies of its
 * services.
 */
#ifndef LT_AZURE_H
#define LT_AZURE_H

#include "source.h"

enum { LT_AZURE_NAME_MAX = 63 };

/* Checks that both are given and have only letters of Azure's names: they go into queries as they
 * are. */
int lt_azure_check(const struct lt_source_options *options, struct lt_error *err);
/* Writes the region in lower case, as queries have it: users also write "WestUS3". */
void lt_azure_region(char out[LT_AZURE_NAME_MAX + 1], const struct lt_source_options *options);
/* True if a row is for the region and SKU that were asked for, in any case. */
bool lt_azure_is_asked(
    const struct lt_source_options *options, const char *region, const char *sku);

/* Returns a text of a JSON object, "" without it. */
const char *lt_azure_text(const json_t *object, const char *key);
/* Fails with LT_ENET and the error in an answer; LT_OK: it has none. */
int lt_azure_refusal(const json_t *json, struct lt_error *err);
/* Writes the code and the first line of the message of an error body, "" = neither. */
void lt_azure_error_text(char *out, size_t size, const char *body, size_t length);

#endif
