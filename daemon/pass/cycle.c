/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs one pass over all that is due, in this order: policy, Slurm's tables, ingest, jobs, settle,
 * void, release, market, snapshot and terms.
 *
 * Each step reads and writes its own room's state. Each may fail alone: it is logged, and tried
 * again.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>

#include "again.h"
#include "alert.h"
#include "alert_looks.h"
#include "breath.h"
#include "canary.h"
#include "compile_budget.h"
#include "compile_market.h"
#include "daemon.h"
#include "expire.h"
#include "hazard.h"
#include "policy_load.h"
#include "http.h"
#include "ingest.h"
#include "ledger_jobs.h"
#include "jobs.h"
#include "lengths.h"
#include "log.h"
#include "mails.h"
#include "min_max.h"
#include "policy_follow.h"
#include "poll_jobs.h"
#include "poll_schedule.h"
#include "publish.h"
#include "rates.h"
#include "rebuild.h"
#include "reconcile.h"
#include "release.h"
#include "replanning.h"
#include "retention.h"
#include "run_step.h"
#include "settle.h"
#include "units.h"
#include "utilisation.h"

enum {
	TABLES_EVERY_S = 60, /* partitions, nodes, associations */
	MARKET_EVERY_S = 60, /* new booked windows for the plugin */
	VOIDS_EVERY_S = 3,
	VOIDS_PART = 20,	       /* of the time, where all open holds are very many */
	VOID_KEEP_S = 7 * LT_DAY_S,    /* holds that no job came for */
	ALERTS_KEEP_S = 30 * LT_DAY_S, /* after their period, for the list */
	HOLDS_KEEP_S = 400 * LT_DAY_S, /* settled ones, for explain */
	POINTS_KEPT_MAX = 2000000,     /* of all sources; some 200 MB */
};

static int
load_tables(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_tables *const tables = &d->site.tables;
	struct lt_batch_conf conf = {0};
	const int code = lt_batch_conf(&conf, err);

	if (code != LT_OK)
		return code;
	if (tables->read_utc_s && d->acting != conf.is_acting_controller)
		lt_log("acting", "value=%d", conf.is_acting_controller);
	/* A restarted slurmctld may have forgotten jobs, which no row and no look-up shows: a list
	 * does. */
	if (tables->read_utc_s && tables->conf.started_utc_s != conf.started_utc_s) {
		lt_log("slurmctld_started", "at=%" PRId64, conf.started_utc_s);
		d->jobs.next.list = 0;
	}
	d->acting = conf.is_acting_controller;
	return lt_tables_load(
	    &d->site.tables, &conf, d->site.policy, d->ledger, d->args.state, now_utc_s, err);
}

static int
compile_market(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &d->jobs.list;
	struct lt_planned *const windows = calloc((size_t)list->count + 1, sizeof(*windows));

	if (windows == NULL)
		return lt_fail(err, LT_ENOMEM, "market: out of memory");
	int code =
	    lt_compile_market(&d->site, &d->signals, d->ledger, list, windows, now_utc_s, err);
	if (code == LT_OK)
		code = lt_market_save(&d->site.market, d->paths.market, err);
	if (code == LT_OK)
		code = lt_jobs_keep_counted(&d->jobs, windows, err);
	free(windows);
	return code;
}

static int
record_rates(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	return lt_rates_record(&d->site, &d->signals, d->ledger, &d->jobs.list, now_utc_s, err);
}

static int
ingest(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);

	return lt_ingest(&books, now_utc_s, err);
}

static int
settle_due(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_settler by = lt_daemon_settler(d, now_utc_s);

	return lt_settle_due(&by, err);
}

static int
expire(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_settler by = lt_daemon_settler(d, now_utc_s);

	return lt_expire(&by, err);
}

static int
replan(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);

	return lt_replan_run(&books, &d->replan, now_utc_s, err);
}

static int
decide_again(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);

	return lt_again_run(&books, &d->replan, &d->again, now_utc_s, err);
}

static int
follow_proofs(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	return lt_proof_run(d->ledger, &d->jobs.list, &d->proof, now_utc_s, err);
}

static int
begin_canaries(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	return lt_canary_run(
	    &d->site, d->ledger, &d->jobs.list, &d->notice, &d->proof, now_utc_s, err);
}

static int
follow_notices(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);

	return lt_notice_run(&d->site, &books, &d->replan, &d->notice, &d->proof, now_utc_s, err);
}

static int
go_home(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);

	return lt_afterwards_run(&d->site, &books, &d->replan, &d->after, now_utc_s, err);
}

static int
read_pauses(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	return lt_pausing_read(d->ledger, &d->jobs, &d->still, now_utc_s, err);
}

static int
pause_jobs(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);
	const struct lt_pauser by = {.books = &books,
	    .replan = &d->replan,
	    .notices = &d->notice,
	    .proof = &d->proof,
	    .still = &d->still,
	    .pass = &d->pass};

	return lt_pausing_run(&by, now_utc_s, err);
}

static int
publish_lengths(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	return lt_lengths_publish(
	    d->site.policy, d->ledger, &d->charges, d->paths.history, now_utc_s, err);
}

/* A run whose use is known now: were its GPUs idle? */
static int
look_at_idle(void *d, const struct lt_run *run, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_alerter by = lt_daemon_alerter(d, now_utc_s);

	return lt_alerts_look_at_run(&by, run, err);
}

static int
read_used(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_measured measured = {.look = look_at_idle, .context = d};

	return lt_utilisation_read(
	    &d->site.tables, d->ledger, &d->charges, &measured, now_utc_s, err);
}

static int
send_mails(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_alerter by = lt_daemon_alerter(d, now_utc_s);

	return lt_mails_run(&by, err);
}

/* Looks for each kind of alert that is due, as a step of its own. */
static void
look_for_alerts(struct lt_daemon *d)
{
	for (int i = 0; i < LT_ALERT_KIND_COUNT; i++) {
		const enum lt_message_kind kind = (enum lt_message_kind)i;
		const struct lt_alerter by = lt_daemon_alerter(d, lt_pass_now(&d->pass));
		struct lt_error err = {0};

		if (lt_alert_look_is_due(&by, kind))
			lt_end_step(
			    d, lt_step_of_alert(kind), lt_alert_look(&by, kind, &err), &err);
	}
}

static int
prune(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	bool done;
	int code = lt_retention_erase(d->site.policy, d->ledger, &d->budget, now_utc_s, &done, err);

	if (code == LT_OK && !done) {
		d->next.prune = now_utc_s; /* the rest in the next pass */
		return code;
	}
	if (code == LT_OK)
		code = lt_ledger_prune_signals(
		    d->ledger, now_utc_s - LT_POINTS_KEEP_S, POINTS_KEPT_MAX, err);
	if (code == LT_OK)
		code = lt_ledger_prune_holds(
		    d->ledger, now_utc_s - VOID_KEEP_S, now_utc_s - HOLDS_KEEP_S, now_utc_s, err);
	if (code == LT_OK)
		code = lt_ledger_prune_mailed(d->ledger, now_utc_s - ALERTS_KEEP_S, err);
	if (code == LT_OK)
		code = lt_ledger_prune_alerts(d->ledger, now_utc_s - ALERTS_KEEP_S, err);
	if (code == LT_OK)
		code = lt_ledger_prune_interruptions(d->ledger, now_utc_s - HOLDS_KEEP_S, err);
	if (code == LT_OK)
		code = lt_ledger_prune_gpus(d->ledger, now_utc_s - HOLDS_KEEP_S, err);
	if (code == LT_OK)
		code = lt_ledger_prune_lengths(
		    d->ledger, lt_lengths_since(d->site.policy, now_utc_s), err);
	if (code == LT_OK)
		code = lt_ledger_prune_proofs(
		    d->ledger, lt_lengths_since(d->site.policy, now_utc_s), err);
	return code;
}

static void
check_policy(struct lt_daemon *d, int64_t now_utc_s)
{
	struct lt_file_id id;

	if (now_utc_s < d->next.policy)
		return;
	d->next.policy = now_utc_s + LT_JOBS_EVERY_S;
	lt_policy_remind(d, now_utc_s);
	if (!lt_file_id(&id, d->args.config) ||
	    (id.device == d->policy_id.device && id.inode == d->policy_id.inode &&
		id.size == d->policy_id.size && id.mtime_ns == d->policy_id.mtime_ns))
		return;
	(void)lt_daemon_reload_policy(d, now_utc_s, NULL);
}

/* Does what follows from the jobs that were seen. */
static void
follow_money(struct lt_daemon *d, int64_t now_utc_s)
{
	lt_run_step(d, LT_STEP_SETTLE, settle_due, now_utc_s);
	if (now_utc_s >= d->charges.next.history)
		lt_run_step(d, LT_STEP_HISTORY, publish_lengths, now_utc_s);
	if (now_utc_s >= d->charges.next.used)
		lt_run_step(d, LT_STEP_USED, read_used, now_utc_s);
	if (now_utc_s >= d->next.voids) {
		const int64_t began_ms = lt_monotonic_ms();

		lt_run_step(d, LT_STEP_VOID, expire, now_utc_s);
		const int64_t wait_s = VOIDS_PART * (lt_monotonic_ms() - began_ms) / 1000;
		d->next.voids = now_utc_s + lt_max_i64(VOIDS_EVERY_S, wait_s);
	}
	/* Each goes over all jobs. */
	lt_breath(LT_TURN_COMMITTED);
	lt_run_step(d, LT_STEP_RELEASE, lt_release, now_utc_s);
	lt_breath(LT_TURN_COMMITTED);
	lt_run_step(d, LT_STEP_REPLAN, replan, now_utc_s);
}

/* True if there are balances for the time that the clock shows: in no period of the snapshot a
 * held job would cost nothing, and start. */
static bool
has_balances(struct lt_daemon *d, int64_t now_utc_s)
{
	if (!d->budget.has_snapshot || d->budget.is_of_other_clock)
		lt_run_step(d, LT_STEP_BUDGET, lt_publish_budget, now_utc_s);
	return d->budget.has_snapshot && !d->budget.is_of_other_clock;
}

/* Compares all jobs with all holds, and does what follows from it. */
static void
follow_all(struct lt_daemon *d, int64_t now_utc_s, int64_t began_ms)
{
	const bool has = has_balances(d, now_utc_s);

	if (lt_run_step(d, LT_STEP_JOBS, lt_reconcile, now_utc_s) && has) {
		/* Runs that ended while lowtided was away are held until they are settled: nobody
		 * waits for that. */
		if (!d->budget.snapshot.ready)
			lt_publish(d, lt_pass_now(&d->pass));
		follow_money(d, now_utc_s);
	}
	/* Half of our time is others'. */
	const int64_t took_ms = lt_monotonic_ms() - began_ms;
	if (d->jobs.next.list != 0 && !lt_batch_is_near())
		d->jobs.next.list = lt_max_i64(d->jobs.next.list, now_utc_s + 2 * took_ms / 1000);
}

/* Jobs and money: only where slurmctld is in charge. */
static void
account(struct lt_daemon *d, int64_t now_utc_s)
{
	const int64_t began_ms = lt_monotonic_ms();

	lt_run_step(d, LT_STEP_ABSORB, ingest, now_utc_s);
	/* Paused jobs hold more than their records show. */
	if (!d->still.is_read)
		lt_run_step(d, LT_STEP_PAUSE, read_pauses, now_utc_s);
	if (now_utc_s >= d->jobs.next.list) {
		follow_all(d, now_utc_s, began_ms);
	} else if (lt_poll_singly(&d->jobs) && lt_run_step(d, LT_STEP_JOBS, lt_poll, now_utc_s) &&
		   has_balances(d, now_utc_s)) {
		follow_money(d, now_utc_s);
	} else if (lt_batch_is_near() && lt_replan_waits(&d->replan)) {
		lt_run_step(d, LT_STEP_REPLAN, replan, now_utc_s);
	}
	if (d->jobs.list.begun_utc_s != 0)
		lt_run_step(d, LT_STEP_LIFE, decide_again, lt_pass_now(&d->pass));
	if (d->jobs.list.begun_utc_s != 0 && d->budget.has_snapshot)
		lt_run_step(d, LT_STEP_AFTERWARDS, go_home, lt_pass_now(&d->pass));
	/* The first list shows where each job is. */
	if (d->jobs.list.begun_utc_s != 0) {
		lt_run_step(d, LT_STEP_PROOF, follow_proofs, lt_pass_now(&d->pass));
		lt_run_step(d, LT_STEP_CANARY, begin_canaries, lt_pass_now(&d->pass));
	}
	if (d->jobs.list.begun_utc_s != 0 &&
	    (!d->notice.is_read || lt_notice_waits(&d->notice, lt_pass_now(&d->pass))))
		lt_run_step(d, LT_STEP_NOTICE, follow_notices, lt_pass_now(&d->pass));
	if (d->jobs.list.begun_utc_s != 0 && d->budget.has_snapshot && d->still.is_read &&
	    lt_pausing_is_due(&d->site, &d->jobs, &d->still, lt_pass_now(&d->pass)))
		lt_run_step(d, LT_STEP_PAUSE, pause_jobs, lt_pass_now(&d->pass));
	if (d->jobs.list.begun_utc_s != 0 && d->site.policy->notify.is_set &&
	    lt_pass_now(&d->pass) >= d->alerts.next.mails)
		lt_run_step(d, LT_STEP_MAIL, send_mails, lt_pass_now(&d->pass));
	look_for_alerts(d);
	lt_publish(d, lt_pass_now(&d->pass));
	if (d->budget.has_snapshot)
		lt_batch_tend(&(struct lt_batch_view){.market = &d->site.market,
				  .budgets = &d->budget.snapshot,
				  .is_off = d->site.off.is_off,
				  .erase_before_utc_s =
				      lt_retention_cut(d->site.policy, &d->budget, now_utc_s)},
		    lt_pass_now(&d->pass));
}

static int
run_pass(struct lt_daemon *d, int64_t now_utc_s)
{
	d->pass.utc_s = now_utc_s;
	d->pass.began_ms = lt_monotonic_ms();
	lt_daemon_follow_off(d, now_utc_s);
	check_policy(d, now_utc_s);
	if (now_utc_s >= d->site.next.tables) {
		d->site.next.tables = now_utc_s + TABLES_EVERY_S;
		if (!lt_run_step(d, LT_STEP_TABLES, load_tables, now_utc_s))
			d->site.next.tables = now_utc_s + LT_JOBS_EVERY_S;
		malloc_trim(0); /* what the passes since left over */
	}
	if (!d->site.tables.read_utc_s || !d->acting)
		return LT_JOBS_EVERY_S;
	if (d->names_told_utc_s != d->site.policy_loaded_utc_s) {
		d->names_told_utc_s = d->site.policy_loaded_utc_s;
		lt_unknown_names_log(d->site.policy, &d->site.tables);
	}
	lt_gpu_prices(d->site.policy, &d->site.tables, now_utc_s);
	if (d->signals.changed || !d->site.has_market || now_utc_s >= d->site.next.market) {
		if (lt_run_step(d, LT_STEP_MARKET, compile_market, now_utc_s)) {
			d->signals.changed = false;
			lt_batch_know(&d->site.market);
			d->site.next.market = now_utc_s + MARKET_EVERY_S;
			lt_run_step(d, LT_STEP_RATES, record_rates, now_utc_s);
			lt_failover_watch(&d->signals, d->site.policy, now_utc_s);
		}
	}
	if (d->site.has_market)
		account(d, now_utc_s);
	if (d->budget.has_snapshot)
		lt_rebuild_go_on(d, now_utc_s);
	/* Which periods are open is in the snapshot. */
	if (d->budget.has_snapshot && now_utc_s >= d->next.prune) {
		d->next.prune = now_utc_s + LT_DAY_S;
		lt_run_step(d, LT_STEP_PRUNE, prune, now_utc_s);
	}
	return d->rebuild.stage == LT_REBUILD_RUNS ? 0 : 1;
}

int
lt_cycle(struct lt_daemon *d, int64_t now_utc_s)
{
	const int wait_s = run_pass(d, now_utc_s);

	d->pass_took_ms = lt_monotonic_ms() - d->pass.began_ms;
	if (d->pass_took_ms > d->pass_longest_ms)
		d->pass_longest_ms = d->pass_took_ms;
	return wait_s;
}
