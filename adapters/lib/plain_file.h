/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded reading of a file that the policy names.
 */
#ifndef LT_PLAIN_FILE_H
#define LT_PLAIN_FILE_H

#include <stddef.h>

#include "error.h"

enum { LT_PLAIN_FILE_BYTES_MAX = 16 * 1024 * 1024 }; /* refused */

/* All of a plain file. The caller frees *bytes, set on success only. */
int lt_plain_file_read(const char *path, char **bytes, size_t *byte_count, struct lt_error *err);

#endif
