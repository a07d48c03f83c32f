/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of a job's story: is it believed to resume, and by what.
 */
#ifndef LT_EXPLAIN_PROOF_H
#define LT_EXPLAIN_PROOF_H

#include <jansson.h>
#include <stddef.h>

struct lt_batch_job;
struct lt_daemon;

/* A line with its end; "" for a job without --checkpoint, and one that Slurm
 * has forgotten (NULL). */
void lt_explain_proof(char *out, size_t size, struct lt_daemon *d,
    const struct lt_batch_job *job);
/* The same as JSON; null where that is "". */
json_t *lt_explain_proof_json(
    struct lt_daemon *d, const struct lt_batch_job *job);

#endif
