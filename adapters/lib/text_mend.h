/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors and texts that have words from outside.
 */
#ifndef LT_TEXT_MEND_H
#define LT_TEXT_MEND_H

#include "error.h"

/* Sets the place of a failure in the input, unless it is already set. */
void lt_error_at(struct lt_error *err, int line, int column);
/* Makes a text with words from outside safe for logs, terminals and JSON: a control, or a byte that
 * is not UTF-8 (as of a cut character), becomes '?'. */
void lt_text_mend(char *text);
/* The same for an error's text; err may be NULL. Returns code. */
int lt_error_mend(struct lt_error *err, int code);
/* Removes such bytes instead, so that a cut text ends with a whole character. */
void lt_text_whole(char *text);
/* Fails with code and the text of inner, without its place. Returns code. */
int lt_error_give(struct lt_error *err, int code, const struct lt_error *inner);

#endif
