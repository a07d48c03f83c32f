/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors and texts that have words from outside.
 */
#ifndef LT_TEXT_MEND_H
#define LT_TEXT_MEND_H

#include "error.h"

/* Set where in the input a failure is, unless it is already set. */
void lt_error_at(struct lt_error *err, int line, int column);
/* Texts with words from outside go to logs, terminals and JSON: a byte that
 * is a control or no UTF-8 (a character cut in two, too) becomes '?'. */
void lt_text_mend(char *text);
/* The same of an error's text, NULL allowed. Returns code. */
int lt_error_mend(struct lt_error *err, int code);
/* Takes such bytes out instead: what was cut ends at a character's border. */
void lt_text_whole(char *text);
/* What ended with code hands its own error on, as lt_fail() does: without its
 * place. Returns code. */
int lt_error_give(struct lt_error *err, int code, const struct lt_error *inner);

#endif
