/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of an answer as it is made: kept whole up to a bound, or handed on in pieces, so that an
 * answer of any length needs no more memory than one.
 */
#ifndef LT_OUT_H
#define LT_OUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LT_OUT_PIECE = 64 * 1024 };

/* Takes a piece; false: the reader is gone. */
typedef bool lt_out_function(void *context, const char *bytes, size_t length);

struct lt_out {		       /* start as { 0 } and one of the two; lt_out_free() */
	size_t most;	       /* to keep */
	lt_out_function *take; /* or the function that gets pieces */
	void *context;
	char *bytes; /* not yet handed on */
	size_t length, capacity;
	bool taken;  /* a piece was handed on */
	bool failed; /* too long, no memory, or the reader is gone: the rest is
		      * dropped */
};

void lt_out_bytes(struct lt_out *out, const char *bytes, size_t length);
void lt_out_text(struct lt_out *out, const char *text);
void lt_out_int(struct lt_out *out, int64_t value);
/* In quotes, as a JSON text. */
void lt_out_quoted(struct lt_out *out, const char *text);
/* "2026-11-21T02:00:00Z" in quotes, null for 0. */
void lt_out_time(struct lt_out *out, int64_t utc_s);
/* A key as it is written, such as ",\"name\":", and its value. */
void lt_out_put_int(struct lt_out *out, const char *key, bool has, int64_t value); /* or null */
void lt_out_put_text(struct lt_out *out, const char *key, const char *text);
/* null for NULL and "". */
void lt_out_put_known(struct lt_out *out, const char *key, const char *text);
void lt_out_put_time(struct lt_out *out, const char *key, int64_t utc_s);
/* Compact; NULL: no memory. It is dropped. */
void lt_out_json(struct lt_out *out, json_t *json);
/* Hands on the bytes that are here; does nothing if they are kept. */
void lt_out_flush(struct lt_out *out);
/* Replaces the kept text by {"error": text}; returns status. */
int lt_out_error(struct lt_out *out, int status, const char *text);
void lt_out_free(struct lt_out *out);

#endif
