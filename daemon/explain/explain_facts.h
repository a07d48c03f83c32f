/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of a job beside its decision, as lines of `lowtide explain` and as members of GET
 * /v1/explain: class, availability of the partition's nodes, proof that it resumes, pauses, power
 * cap, and what its plan saves by lever.
 */
#ifndef LT_EXPLAIN_FACTS_H
#define LT_EXPLAIN_FACTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "market.h"
#include "quote.h"

struct lt_batch_job;
struct lt_daemon;
struct lt_story;

/* The class by the policy of now; "" if the job has none. */
void lt_explain_class(
    char *out, size_t size, const struct lt_daemon *d, const struct lt_story *story);

/* How many of a preemptible partition's nodes lowtided saw, and how long eight hours of work would
 * wait for them; "" if the partition is not preemptible. Returns out. */
const char *lt_explain_availability(char *out, size_t size, const struct lt_partition *partition);

/* A line that says why the job is believed to resume or not; "" without
 * --checkpoint, or if Slurm has forgotten the job (job NULL). */
void lt_explain_proof(char *out, size_t size, struct lt_daemon *d, const struct lt_batch_job *job);
/* The same as JSON; null where the line is "". */
json_t *lt_explain_proof_json(struct lt_daemon *d, const struct lt_batch_job *job);

/* Whole lines on a run that was paused or suspended, by lowtide or by others; "" if it never was.
 * Returns out. */
const char *lt_pause_text(char *out, size_t size, const struct lt_daemon *d,
    const struct lt_batch_job *job, int64_t now_utc_s);

/* The power cap of the quote's plan; "" without a cap. Returns out. */
const char *lt_capped_line(char *out, size_t size, const struct lt_quote *quote,
    const struct lt_zone *zone, int64_t now_utc_s);
/* {"gpu_freq", "cpu_freq", "until", "slow_down", "less_wh", "above_g", "mean_g"}; null without a
 * cap. */
json_t *lt_capped_json(const struct lt_quote *quote);

/* Savings of the plan by lever: time, place and GPU speed; "" if the quote does not have them.
 * Returns out. */
const char *lt_levers_text(
    char *out, size_t size, const struct lt_quote *quote, const char *currency);
/* {"time", "place", "gpu": amounts; "home_then", "there_now": amounts}; null if the quote does not
 * have them. */
json_t *lt_levers_json(const struct lt_quote *quote);

#endif
