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

/* ---- run_csv.c ---- */
/* The header, and a run as a row; without money its cells stay empty.
 * LT_EINPUT: no flat JSON object. */
void lt_run_csv_head(FILE *out);
int lt_run_csv(FILE *out, const char *json, size_t length, bool has_money,
    struct lt_error *err);

#endif
