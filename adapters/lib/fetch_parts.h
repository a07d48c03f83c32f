/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fetch in two parts, forecast and history, for sources where these are two requests, of which
 * one may fail alone.
 */
#ifndef LT_FETCH_PARTS_H
#define LT_FETCH_PARTS_H

#include "option.h"

struct lt_fetch_part { /* start as { 0 } */
	bool asked;
	int code;
	struct lt_error err;
	struct lt_points points;
};

struct lt_fetch_parts { /* lt_fetch_parts_free() */
	struct lt_fetch_part past, ahead;
};

/*
 * Joins [from, to) of both into points, a value to come over one of the past
 * where they overlap, sorted and dated; the notes of both. The loss of one does
 * not cost the other: it becomes a note, and what came of the past before a
 * request of it failed stays. The error of the forecast, else of the past,
 * where nothing came. LT_EINPUT without a point.
 * A pause that one asks for while the other came is kept in options->memory,
 * and stops that one alone; without a memory, the longer pause stops both.
 */
int lt_fetch_parts_join(struct lt_fetch_parts *parts, const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points, struct lt_error *err);
void lt_fetch_parts_free(struct lt_fetch_parts *parts);

#endif
