/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys and passwords of sources: the policy file names where they are, never what they are.
 */
#ifndef LT_SECRET_H
#define LT_SECRET_H

#include "option.h"

enum { LT_SECRET_SIZE = 2048 };

/*
 * The secret `key` of a source is named by its option KEY_file, an absolute
 * path of a file that only its owner may read, or by KEY_env, an
 * environment variable. Check only that exactly one is named (none is right
 * where it is not required), and that no option url or login_url sends it
 * in the clear to another host.
 */
int lt_secret_check(
    const struct lt_source_options *options, const char *key, bool required, struct lt_error *err);
/* Read it: one line, spaces at the ends dropped. out is wiped by the caller (explicit_bzero) after
 * use, by us on failure. LT_ENOENT: not named. No error has any of it. */
int lt_secret_read(const struct lt_source_options *options, const char *key, char *out, size_t size,
    struct lt_error *err);
/* A whole secret file under the same rules. */
int lt_secret_file(const char *path, char *out, size_t size, struct lt_error *err);

#endif
