/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of runs that slurmdbd's rows lack or lose, kept in the ledger as slurmctld's job list shows
 * them.
 */
#ifndef LT_FACTS_H
#define LT_FACTS_H

#include "ledger.h"
#include "batch.h"

struct lt_jobs_state;
struct lt_market;
struct lt_site;

/* From the jobs that are followed just now, sorted, whose quotes are in d->jobs.live: GPUs of runs,
 * where slurmdbd does not count them, and what the amounts of open holds were made from. */
int lt_facts_note(const struct lt_site *site, struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    const struct lt_batch_jobs *list, int64_t now_utc_s, struct lt_error *err);

/* Makes the run of a row, without its price; quote: NULL = none. */
void lt_facts_of_row(
    struct lt_run *run, const struct lt_batch_run *row, const struct lt_quote *quote);

/*
 * Completes a run that was made from a row. Its GPUs are slurmdbd's, else from slurmctld's record,
 * else not known, which run->gpus_from says. known: the run as the ledger has it, NULL = not there;
 * what was known stays, and the end of a run that had ended never moves later.
 */
void lt_facts_complete(struct lt_run *run, const struct lt_batch_run *row,
    const struct lt_run *known, const struct lt_site *site, struct lt_ledger *ledger);

/* Adds the worst rates of a window on one partition, as lt_quote_hold() takes them: a->price and
 * a->carbon are the largest of all partitions added. */
void lt_facts_add_rates(struct lt_admission *a, struct lt_span window, const struct lt_partition *p,
    const struct lt_market *m);

/* Returns the price, carbon and limit that the hold's amount was made from: as noted, else by the
 * market now. */
struct lt_admission lt_facts_admission(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_ledger_hold *hold, const struct lt_batch_job *job);

/* Sets run->over_reason and held, if it was charged above its admission. The run is priced, and not
 * yet in the ledger with these figures. */
void lt_facts_of_over(struct lt_run *run, const struct lt_quote *quote,
    const struct lt_batch_run *row, const struct lt_run *known, const struct lt_market *market,
    struct lt_ledger *ledger);
/* Does the ledger have the run's name, QOS, WCKey, GPU, exit code and restarts as slurmdbd has
 * them? Not what an older release settled, or a row that was made without its start. */
bool lt_facts_are_told(const struct lt_run *known, const struct lt_run *run);

#endif
