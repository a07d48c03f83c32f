/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ledger in a directory of its own, for tests/unit/test_ledger*.c: set up, torn down, and the
 * runs, holds and sums that their tables are about.
 */
#ifndef LT_TEST_LEDGER_FIXTURE_H
#define LT_TEST_LEDGER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger.h"
#include "units.h"

enum {
	HOUR = LT_HOUR_S,
	NOVEMBER = 1793491200, /* 2026-11-01T00:00:00Z */
	DECEMBER = NOVEMBER + 30 * LT_DAY_S,
	JANUARY = DECEMBER + 31 * LT_DAY_S,
	UID = 1000,
};

struct fixture {
	char dir[64];
	struct lt_ledger *ledger;
	struct lt_error err;
};

static inline void
must(struct fixture *f, int rc)
{
	if (rc != LT_OK)
		fail_msg("%s (%d)", f->err.text, rc);
}

static inline void
reopen(struct fixture *f)
{
	lt_ledger_close(f->ledger);
	must(f, lt_ledger_open(&f->ledger, f->dir, &f->err));
}

static inline int
set_up(void **state)
{
	struct fixture *const f = calloc(1, sizeof(*f));

	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/lt-ledger-XXXXXX");
	if (mkdtemp(f->dir) == NULL)
		return -1;
	must(f, lt_ledger_open(&f->ledger, f->dir, &f->err));
	*state = f;
	return 0;
}

static inline void
remove_file(const char *dir, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	(void)unlink(path);
}

static inline void
remove_all(struct fixture *f)
{
	static const char *const names[] = {"ledger.db", "ledger.db-wal", "ledger.db-shm",
	    "signals.db", "signals.db-wal", "signals.db-shm", "adjustments"};

	lt_ledger_close(f->ledger);
	f->ledger = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		remove_file(f->dir, names[i]);
}

/* A new ledger. */
static inline void
empty(struct fixture *f)
{
	remove_all(f);
	must(f, lt_ledger_open(&f->ledger, f->dir, &f->err));
}

static inline int
tear_down(void **state)
{
	struct fixture *const f = *state;

	remove_all(f);
	(void)rmdir(f->dir);
	free(f);
	return 0;
}

static inline struct lt_run
make_run(uint32_t job_id, int64_t start_utc_s, int64_t end_utc_s, int64_t money_micros)
{
	struct lt_run run = {.key = {job_id, start_utc_s - 60},
	    .array_task = UINT32_MAX,
	    .uid = UID,
	    .user = "ada",
	    .account = "vision",
	    .partition = "ondemand",
	    .state_text = "COMPLETED",
	    .start_utc_s = start_utc_s,
	    .end_utc_s = end_utc_s,
	    .nodes = 1,
	    .cpus = 64,
	    .gpus = 8,
	    .memory_mib = 512000,
	    .share_numerator = 1,
	    .share_denominator = 1,
	    .priced = true,
	    .has_carbon = true,
	    .money_micros = money_micros,
	    .carbon_mg = money_micros / 2,
	    .energy_wh = 7,
	    .has_baseline = true,
	    .baseline_money_micros = money_micros + 5,
	    .baseline_carbon_mg = 9,
	    .moved = true,
	    .saved_by = {11, 3, -4, -2},
	    .parts = {8, 3},
	    .baseline_text = "ondemand",
	    .worst_quality = LT_QUALITY_MEASURED};

	return run;
}

/* One entry with all of the run, at its start's hour. */
static inline struct lt_entry
whole(const struct lt_run *run)
{
	return (struct lt_entry){.at_utc_s = run->start_utc_s,
	    .money_micros = run->money_micros,
	    .carbon_mg = run->carbon_mg,
	    .energy_wh = run->energy_wh,
	    .baseline_money_micros = run->baseline_money_micros,
	    .baseline_carbon_mg = run->baseline_carbon_mg,
	    .saved_by = run->saved_by,
	    .parts = run->parts};
}

static inline bool
settle(struct fixture *f, const struct lt_run *run, int64_t now_utc_s, int64_t open_since_utc_s)
{
	const struct lt_entry entry = whole(run);
	bool changed = false;

	must(f, lt_ledger_settle(f->ledger,
		    &(struct lt_settlement){run, &entry, 1, now_utc_s, now_utc_s - now_utc_s % HOUR,
			open_since_utc_s, false},
		    &changed, &f->err));
	return changed;
}

/* A run of that account, with an entry of so much. */
static inline void
charge_run(struct fixture *f, const char *account, int64_t at_utc_s, const struct lt_amount *amount)
{
	static uint32_t last_id = 100000;
	struct lt_run run = make_run(++last_id, at_utc_s, at_utc_s + 60, amount->money_micros);

	run.carbon_mg = amount->carbon_mg;
	(void)strcpy(run.account, account);
	assert_true(settle(f, &run, at_utc_s + 60, 0));
}

/* No run's, as an admin books it. */
static inline void
adjust_account(struct fixture *f, const char *account, int64_t at_utc_s, int64_t money_micros)
{
	struct lt_entry entry = {.kind = LT_ENTRY_ADJUSTMENT,
	    .at_utc_s = at_utc_s,
	    .made_utc_s = at_utc_s,
	    .money_micros = money_micros,
	    .who = "root",
	    .reason = "test"};

	(void)strcpy(entry.account, account);
	must(f, lt_ledger_adjust(f->ledger, &entry, &f->err));
}

static inline int64_t
money(struct fixture *f, const char *account, enum lt_entry_kind kind, int64_t from_utc_s,
    int64_t to_utc_s)
{
	struct lt_totals totals[3];

	must(f, lt_ledger_totals(
		    f->ledger, account, (struct lt_span){from_utc_s, to_utc_s}, totals, &f->err));
	return totals[kind].money_micros;
}

struct open_holds {
	uint32_t count;
	struct lt_ledger_hold holds[8];
};

static inline int
take_open(void *context, const struct lt_ledger_hold *hold, struct lt_error *err)
{
	struct open_holds *const open = context;

	(void)err;
	assert_true(open->count < sizeof(open->holds) / sizeof(open->holds[0]));
	open->holds[open->count++] = *hold;
	return LT_OK;
}

static inline struct open_holds
open_holds_of(struct fixture *f)
{
	struct open_holds open = {0};

	must(f, lt_ledger_each_open(f->ledger, take_open, &open, &f->err));
	return open;
}

static inline struct lt_ledger_hold
make_hold(uint64_t id, uint32_t tasks)
{
	struct lt_ledger_hold hold = {
	    .quote = {.id = id,
		.rev = 1,
		.account = "vision",
		.tasks = tasks,
		.hold_per_task = {.has_money = true, .money_micros = 32770000},
		.start_utc_s = NOVEMBER,
		.end_utc_s = NOVEMBER + HOUR,
		.partition = "spot",
		.home = "ondemand",
		.plan_start_utc_s = NOVEMBER,
		.home_start_utc_s = NOVEMBER,
		.objective = LT_OBJECTIVE_BALANCED,
		.mode = LT_MODE_ENFORCE,
		.why = "spot:best:5/-,cpu:state"},
	    .uid = UID,
	    .sequence = 12,
	    .live_tasks = tasks,
	    .made_utc_s = NOVEMBER};

	return hold;
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
