/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows the numbers of equations in a text, or takes them out.
 */
#include "equations.h"

void
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
