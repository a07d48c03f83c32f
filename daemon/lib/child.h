/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work that may hang or break, in a fork that gives its result as bytes through a pipe and ends.
 * Used by the one thread there is.
 */
#ifndef LT_CHILD_H
#define LT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "error.h"

struct lt_child { /* start as { .fd = -1 } */
	pid_t pid;
	int fd;	     /* readable when lt_child_read() has work; -1 = none runs */
	char *bytes; /* what came so far */
	size_t length;
};

/* Runs in the child; what it writes to fd is the result. */
typedef void lt_child_function(void *work, int fd);
bool lt_child_write(int fd, const void *bytes, size_t length);

/* Killed after most_s seconds, and when we die. It keeps nothing of ours
 * open but standard error. */
int lt_child_start(struct lt_child *child, lt_child_function *run, void *work, unsigned most_s,
    struct lt_error *err);
/* Take in what came, or much of it. True: that was all; *status as waitpid() gives it. */
bool lt_child_read(struct lt_child *child, int *status);
/* Takes in all that it writes, and waits for its end; *status as waitpid() gives it. LT_ESTALE: no
 * end within most_s (what it left behind may hold the pipe); LT_ELIMIT: more than most_bytes. Drop
 * it then. */
int lt_child_wait(
    struct lt_child *child, unsigned most_s, size_t most_bytes, int *status, struct lt_error *err);
/* Ends it if it runs, and frees what came. */
void lt_child_drop(struct lt_child *child);

#endif
