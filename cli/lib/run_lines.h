/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An answer of lowtided that has runs, as it comes: each run is a line of its
 * own (docs/api.md), so that any number of them needs the memory of one.
 */
#ifndef LT_RUN_LINES_H
#define LT_RUN_LINES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"

struct lt_bytes {
	char *bytes; /* NUL after them, once there are some */
	size_t length, capacity;
};

struct lt_run_lines { /* start as { .take, .context }; lt_run_lines_free() */
	/* Takes one run, a JSON object of length bytes; all but LT_OK ends the
	 * answer with that error. */
	int (*take)(void *context, const char *json, size_t length,
	    struct lt_error *err);
	void *context;
	int64_t count;	     /* of runs taken */
	struct lt_error err; /* why it was ended here */
	struct lt_bytes rest, line;
	bool in_runs; /* the head is over */
};

/* The next bytes; false: ended, see err. */
bool lt_run_lines_feed(
    struct lt_run_lines *lines, const char *bytes, size_t length);
/* While runs are taken: the answer as far as it came, "runs" empty; the
 * caller's. NULL: not JSON. */
json_t *lt_run_lines_head(const struct lt_run_lines *lines);
/* At the end of the answer: the text of all but its runs, "runs" empty; not
 * the caller's. A run that was cut is in it, and so it is no JSON. NULL: ended,
 * see err. */
const char *lt_run_lines_rest(struct lt_run_lines *lines);
void lt_run_lines_free(struct lt_run_lines *lines);

/* ---- the members of a run ---- */
struct lt_field { /* as in JSON: a string with its quotes, a number, a word */
	const char *at;
	size_t length; /* 0: not there */
};
struct lt_field_keys {
	const char *const *names;
	int count;
};
/* One field for each key; at once where keys have lowtided's order. They point
 * into json. LT_EINPUT: no flat JSON object. */
int lt_run_fields(struct lt_field *fields, const struct lt_field_keys *keys,
    const char *json, size_t length, struct lt_error *err);
bool lt_field_is(const struct lt_field *field, const char *word);
bool lt_field_int(const struct lt_field *field, int64_t *value);
enum { LT_FIELD_TEXT = 256 };
struct lt_field_room { /* start as { "" }; json_decref(.large) */
	char text[LT_FIELD_TEXT];
	json_t *large; /* that is longer, or has escapes */
};
/* The text of a string, "" of anything else; it lives as long as the room and
 * until the room is used again. */
const char *lt_field_text(
    const struct lt_field *field, struct lt_field_room *room);
/* As a cell of CSV, empty where it is not there or null. */
void lt_field_csv(FILE *out, const struct lt_field *field);

#endif
