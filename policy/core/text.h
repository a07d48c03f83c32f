/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds text, and makes words of users safe for a log or a terminal: one event stays one line, and
 * no text can steer the terminal. Writes the caller's buffers only; what does not fit is cut.
 */
#ifndef LT_TEXT_H
#define LT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that grows in the caller's buffer: ended, and cut where it is full. */
struct lt_text { /* start as { .out = out, .size = size } */
	char *out;
	size_t size, at;
	bool full; /* something was cut */
};
void lt_text_put(struct lt_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* So many bytes as they are, none of them 0; a number. What printf makes of "%s" and "%lld" takes
 * ten times as long, and a quote has a hundred of them. */
void lt_text_put_bytes(struct lt_text *text, const char *bytes, size_t count);
void lt_text_put_number(struct lt_text *text, int64_t number);

/* Copy, "" for NULL, cut when too long. Lower case where lt_copy_lower. */
void lt_copy(char *out, size_t size, const char *text);
void lt_copy_lower(char *out, size_t size, const char *text);

/* A name as one word of a line that scanf() takes apart: blanks, controls and "%" are "%XX", and
 * none is "-". out is as long as three of the name. The name again, cut when too long. */
const char *lt_name_word(char *out, size_t size, const char *name) __attribute__((nonnull));
void lt_name_of_word(char *out, size_t size, const char *word) __attribute__((nonnull));

/* True if it is one of these, which have commas between them; NULL = none. Pure. */
bool lt_text_is_among(const char *name, const char *names);

/*
 * Bytes of the character here that must not be shown as it is: control characters (C0, DEL; C1,
 * which UTF-8 has as C2 80 .. C2 9F), those that end a line or turn the order of text around, and
 * single bytes that are no UTF-8, which a terminal of 8 bits may take for C1. 0: a plain one. Pure.
 */
int lt_control_bytes(const char *at) __attribute__((nonnull));

/* Each of them, line ends and tabs too, becomes "?"; in place, never longer. */
void lt_text_line(char *text) __attribute__((nonnull));
/* The same, but line ends and tabs stay: for a terminal. */
void lt_text_lines(char *text) __attribute__((nonnull));

/* Columns of a terminal that it takes: code points, as names here are not CJK; none for an escape
 * sequence. Pure. */
int lt_text_width(const char *text) __attribute__((nonnull));
/*
 * Bytes of the words at text that go on a line of so many columns, without the spaces behind; one
 * word at least, however long it is: a path in two parts could not be copied. Where cells of a
 * table stand in its second half, two spaces or more between them, the break is between cells. Text
 * is one line. Pure.
 */
size_t lt_text_words(const char *text, int columns) __attribute__((nonnull));
/* Breaks each line of the text between words where it is longer; in place. */
void lt_text_wrap(char *text, int columns) __attribute__((nonnull));

/*
 * Returns the name (of a list ended by NULL) that is nearest to a word: the fewest letters changed,
 * added or left out, whatever the case; the first of equals. A beginning of three letters or more
 * counts as one change. NULL: more than a third of the letters (for less than six: more than two)
 * would have to change, or all.
 */
const char *lt_nearest_word(const char *word, const char *const *names) __attribute__((nonnull));

#endif
