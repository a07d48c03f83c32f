/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of equations of docs/model.md in a text of `lowtide explain`. The text is written with
 * marks around each number; lt_equations_settle() takes the marks out, and the numbers too unless
 * the user asked for them.
 */
#ifndef LT_EQUATIONS_H
#define LT_EQUATIONS_H

#include <stdbool.h>

#define LT_EQUATIONS_BEGIN 0x1e
#define LT_EQUATIONS_END 0x1f
/* A literal, with all that belongs to it: LT_EQUATION(" (27)"). */
#define LT_EQUATION(WORDS) "\x1e" WORDS "\x1f"

/* Takes out the marks in place, and the text between them unless shown. */
static inline void
lt_equations_settle(char *text, bool shown)
{
	bool is_equation = false;
	char *to = text;

	for (const char *from = text; *from != '\0'; from++) {
		if (*from == LT_EQUATIONS_BEGIN || *from == LT_EQUATIONS_END)
			is_equation = *from == LT_EQUATIONS_BEGIN;
		else if (shown || !is_equation)
			*to++ = *from;
	}
	*to = '\0';
}

#endif
