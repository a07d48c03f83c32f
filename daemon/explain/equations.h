/*
 * Numbers of equations of docs/model.md in a text: marked where it is written,
 * shown or taken out where it is told.
 */
#ifndef LT_EQUATIONS_H
#define LT_EQUATIONS_H

#include <stdbool.h>

#define LT_EQUATIONS_BEGIN 0x1e
#define LT_EQUATIONS_END 0x1f
/* A literal, with all that belongs to it: LT_EQUATION(" (27)"). */
#define LT_EQUATION(WORDS) "\x1e" WORDS "\x1f"

/* Takes out the marks, and what is between them where it is not shown; in
 * place. */
void lt_equations_settle(char *text, bool shown);

#endif
