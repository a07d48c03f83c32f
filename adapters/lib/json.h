/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON from outside, bounded before jansson builds anything.
 */
#ifndef LT_JSON_H
#define LT_JSON_H

#include <jansson.h>

#include "option.h"

/*
 * jansson needs up to 130 bytes for an empty container and 100 for a member:
 * with these bounds a hostile answer costs at most 60 MB, for a moment.
 */
enum {
	LT_JSON_BYTES_MAX = 8 * 1024 * 1024, /* more: refused */
	LT_JSON_DEPTH_MAX = 32,		     /* refused */
	LT_JSON_CONTAINERS_MAX = 131072,     /* 15 years of hours: refused */
	LT_JSON_COMMAS_MAX = 393216,	     /* refused */
};

/* On failure err says why, with line and column. A UTF-8 BOM is skipped. The caller owns *json
 * (json_decref), set on success only. Pure. */
int lt_json_load(json_t **json, const char *bytes, size_t byte_count, struct lt_error *err);

/* The same, and texts may have NUL bytes within, as \u0000: a C string then is what stands
 * before. */
int lt_json_load_nul(json_t **json, const char *bytes, size_t byte_count, struct lt_error *err);

typedef int lt_json_read_fn(const struct lt_source_options *options, const json_t *json,
    int64_t now_utc_s, struct lt_points *points, struct lt_error *err);
/* A lt_parse_fn's work: lt_json_load(), then read; words of an error mended. */
int lt_json_parse(lt_json_read_fn *read, const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points, struct lt_error *err);

/* A number, or a text that is one. False for all else, null too. */
bool lt_json_number(const json_t *json, double *value);

/*
 * The documented errors of Google's APIs and of others by its model:
 * {"error": {"code": 403, "message": "...", "status": "PERMISSION_DENIED"}}, or the inner object
 * alone, as gRPC gateways send it, or a message alone. For lt_web_request.
 */
void lt_json_error_text(char *out, size_t size, const char *body, size_t length);

#endif
