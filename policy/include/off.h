/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The off switch: while a file of root's is there, no job is looked at. Each part reads it on its
 * own host, so it works with lowtided dead.
 */
#ifndef LT_OFF_H
#define LT_OFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define LT_OFF_PATH "/etc/lowtide/off" /* else what LT_OFF_VARIABLE names */
#define LT_OFF_VARIABLE "LOWTIDE_OFF_FILE"

enum { LT_OFF_BY_SIZE = 64, LT_OFF_REASON_SIZE = 256 };

struct lt_off {
	bool is_off;
	int64_t since_utc_s;		 /* when the file was written */
	char by[LT_OFF_BY_SIZE];	 /* its first line; "" = not said */
	char reason[LT_OFF_REASON_SIZE]; /* the rest; "" = not said */
};

/*
 * Reads the switch. Off is any plain file that root, SlurmUser or the reader owns and nobody else
 * can write, an empty one too. LT_OK: *off says which; LT_EDENIED, LT_EIO: there is something that
 * is not believed, *off is on.
 */
int lt_off_read(struct lt_off *off, const char *path, struct lt_error *err);

/* Writes it, mode 0644: who, and why (NULL or "": not said). */
int lt_off_write(const char *path, const char *by, const char *reason, struct lt_error *err);

/* Prints "since 2026-11-28T10:00:00Z by root: REASON"; returns out. */
const char *lt_off_text(char *out, size_t size, const struct lt_off *off);

#endif
