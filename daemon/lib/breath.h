/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets long work give requests a turn: between its parts, and while it waits for a child. There is
 * one thread: an answer is made in the midst of the work, so the work says how far it may go.
 */
#ifndef LT_BREATH_H
#define LT_BREATH_H

/* Requests that may be answered, each with all before it. */
enum lt_turn {
	LT_TURN_READ,	   /* amid a transaction: what may be undone */
	LT_TURN_COMMITTED, /* amid work, but in none: what must last */
	LT_TURN_ALL,	   /* no work is under way: what changes something */
};

/* Gives turns until fd is readable; fd < 0: one, if the last was not just
 * now. */
typedef void lt_breath_function(enum lt_turn turn, int fd);

/* Sets the function; NULL, as at first: there are no requests. */
void lt_breath_by(lt_breath_function *function);
void lt_breath(enum lt_turn turn);
void lt_breath_until(enum lt_turn turn, int fd);

#endif
