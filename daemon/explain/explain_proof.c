/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a job's word that it resumes. docs/model.md, (56), (57).
 */
#include <stdio.h>

#include "api.h"
#include "batch.h"
#include "daemon.h"
#include "explain_proof.h"
#include "proof.h"
#include "units.h"
#include "equations.h"

/* False: there is nothing to say. */
static bool
find(struct lt_proof_row *row, struct lt_daemon *d,
    const struct lt_batch_job *job)
{
	struct lt_proof_job whose;

	return job != NULL && lt_proof_of_job(&whose, job) &&
	       lt_ledger_proof(d->ledger, &whose.of.key, row, NULL) == LT_OK;
}

static void
put_measured(
    char *out, size_t size, const struct lt_proof_row *row, const char *before)
{
	char write[48], restart[48];

	snprintf(out, size, "%sa restart took %s%s%s", before,
	    lt_duration_text(restart, sizeof(restart), row->restart_s),
	    row->write_s > 0 ? ", a checkpoint " : "",
	    row->write_s > 0
		? lt_duration_text(write, sizeof(write), row->write_s)
		: "");
}

void
lt_explain_proof(
    char *out, size_t size, struct lt_daemon *d, const struct lt_batch_job *job)
{
	struct lt_proof_row row;
	char measured[160];

	out[0] = '\0';
	if (!find(&row, d, job))
		return;
	if (row.survived > 0) {
		put_measured(measured, sizeof(measured), &row, "; ");
		snprintf(out, size,
		    "Its user's jobs of this name and script survived %u interruption%s%s" LT_EQUATION(
			" (56), (57)") ".\n",
		    row.survived, row.survived == 1 ? "" : "s", measured);
		return;
	}
	snprintf(out, size, "%s%s.\n",
	    row.failed > 0
		? "It started over after an interruption" LT_EQUATION(
		      " (56)") ": no proof that it can resume"
		: "No proof yet that it can resume" LT_EQUATION(" (56)"),
	    d->site.market.proof_required
		? ": priced as starting over on preemptible nodes; to prove it while it runs: lowtide canary"
		: "; this site believes its user's word");
}

json_t *
lt_explain_proof_json(struct lt_daemon *d, const struct lt_batch_job *job)
{
	struct lt_proof_row row;

	if (!find(&row, d, job))
		return json_null();
	return json_pack("{s:b,s:I,s:I,s:o,s:o,s:o}", "counts",
	    row.survived > 0 || !d->site.market.proof_required, "survived",
	    (json_int_t)row.survived, "failed", (json_int_t)row.failed,
	    "proven", lt_api_time(row.proven_utc_s), "write_s",
	    lt_api_optional(row.write_s > 0, row.write_s), "restart_s",
	    lt_api_optional(row.restart_s > 0, row.restart_s));
}
