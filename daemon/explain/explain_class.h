/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job's class, for `lowtide explain`.
 */
#ifndef LT_EXPLAIN_CLASS_H
#define LT_EXPLAIN_CLASS_H

#include "explain.h"

/* A line, as the policy is now; "" where the job has none. */
void lt_explain_class(char *out, size_t size, const struct lt_daemon *d,
    const struct lt_story *story);

#endif
