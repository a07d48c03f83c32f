/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runs of an answer of lowtided, taken as it comes. Each run is a line of its own
 * (docs/api.md), so that any number of runs needs the memory of one.
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
	/* Takes one run, a JSON object of length bytes; any code but LT_OK ends the answer with
	 * that error. */
	int (*take)(void *context, const char *json, size_t length, struct lt_error *err);
	void *context;
	int64_t count;	     /* of runs taken */
	struct lt_error err; /* why it was ended here */
	struct lt_bytes rest, line;
	bool in_runs; /* the head is over */
};

/* Takes the next bytes; false: ended, see err. */
bool lt_run_lines_feed(struct lt_run_lines *lines, const char *bytes, size_t length);
/* Returns the answer as far as it came, "runs" empty, while runs are taken; the caller's. NULL: not
 * JSON. */
json_t *lt_run_lines_head(const struct lt_run_lines *lines);
/* Returns the text of the answer without its runs, at its end; lent. If the last run was cut, the
 * text has it and is not JSON. NULL: ended, see err. */
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
/* Finds one field for each key, fastest if keys have lowtided's order. Fields point into json.
 * LT_EINPUT: not a flat JSON object. */
int lt_run_fields(struct lt_field *fields, const struct lt_field_keys *keys, const char *json,
    size_t length, struct lt_error *err);
bool lt_field_is(const struct lt_field *field, const char *word);
bool lt_field_int(const struct lt_field *field, int64_t *value);
enum { LT_FIELD_TEXT = 256 };
struct lt_field_room { /* start as { "" }; json_decref(.large) */
	char text[LT_FIELD_TEXT];
	json_t *large; /* a longer text, or one with escapes */
};
/* Returns the text of a string, "" for anything else; it lives until the room is used again. */
const char *lt_field_text(const struct lt_field *field, struct lt_field_room *room);
/* Prints the field as a cell of CSV, empty if it is absent or null. */
void lt_field_csv(FILE *out, const struct lt_field *field);

#endif
