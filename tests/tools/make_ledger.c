/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_ledger STATE RUNS TIME TIME...: settles so many finished runs in the ledger of a state
 * directory whose lowtided is stopped, as lowtided does: as many between each two of the times (UTC
 * seconds), and none across one. The same figures each time: accounts team0000 to team0199 of ten
 * users each, arrays, moved and long runs, some with something odd.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts.h"
#include "ledger_db.h"
#include "units.h"

enum {
	ACCOUNTS = 200,
	USERS_EACH = 10,
	FIRST_JOB = 1000000,
	FIRST_UID = 100000,
	ARRAY = 50,
	RUNS_A_TRANSACTION = 20000,
	ENTRIES_MAX = 96,
	LONG_S = 260000, /* above LT_SQL_LONG_S */
	PERIODS_MAX = 120
};
_Static_assert(LONG_S / LT_HOUR_S + 2 <= ENTRIES_MAX, "an entry each hour");

/* What is settled past it is nobody's power cut. */
static const char QUICK[] = "PRAGMA synchronous=OFF; PRAGMA cache_size=-131072;";

static int
fail(const struct lt_error *err)
{
	fprintf(stderr, "make_ledger: %s\n", err->text);
	return 1;
}

/* xorshift64*, of 0 to below - 1. */
static int64_t
random_below(int64_t below)
{
	static uint64_t state = 20260101;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (int64_t)((state * UINT64_C(2685821657736338717)) >> 33) % below;
}

static bool
one_in(int64_t n)
{
	return random_below(n) == 0;
}

/* Most are short. */
static int64_t
random_length_s(void)
{
	if (one_in(2000))
		return LONG_S;
	return one_in(7) ? LT_HOUR_S + random_below(7 * LT_HOUR_S) : 60 + random_below(2400);
}

static void
set_names(struct lt_run *run)
{
	const int account = (int)random_below(ACCOUNTS);
	const int user = (int)random_below(USERS_EACH);

	(void)snprintf(run->account, sizeof(run->account), "team%04d", account);
	(void)snprintf(run->user, sizeof(run->user), "user%04d.%d", account, user);
	run->uid = (uint32_t)(FIRST_UID + account * USERS_EACH + user);
	(void)snprintf(
	    run->partition, sizeof(run->partition), "%s", run->moved ? "spot" : "ondemand");
	(void)snprintf(
	    run->state_text, sizeof(run->state_text), "%s", one_in(30) ? "FAILED" : "COMPLETED");
}

static void
set_amounts(struct lt_run *run)
{
	const int64_t length_s = run->end_utc_s - run->start_utc_s;

	run->priced = !one_in(1000);
	run->has_carbon = true;
	run->has_baseline = true;
	if (run->priced)
		run->money_micros = length_s * (100 + random_below(900));
	run->carbon_mg = length_s * (10 + random_below(40));
	run->energy_wh = length_s / 10;
	run->baseline_money_micros = run->money_micros * (run->moved ? 3 : 2) / 2;
	run->baseline_carbon_mg = run->carbon_mg * (run->moved ? 4 : 3) / 3;
	run->worst_quality = one_in(3000) ? LT_QUALITY_REPLAY : LT_QUALITY_MEASURED;
	if (one_in(3000)) {
		run->held =
		    (struct lt_amount){true, true, run->money_micros / 2, run->carbon_mg / 2};
		(void)snprintf(run->over_reason, sizeof(run->over_reason), "%s", "OverTimeLimit");
	}
}

/* Its start is in [from, to), and its end not behind `to`. */
static struct lt_run
make_run(uint32_t index, int64_t start_utc_s, int64_t to_utc_s)
{
	const int64_t length_s = random_length_s();
	struct lt_run run = {.key = {.job_id = FIRST_JOB + index},
	    .nodes = 1,
	    .cpus = 8,
	    .memory_mib = 64000,
	    .share_numerator = 1,
	    .share_denominator = 8,
	    .moved = one_in(20)};

	if (start_utc_s > to_utc_s - length_s)
		start_utc_s = to_utc_s - length_s;
	run.start_utc_s = start_utc_s;
	run.end_utc_s = start_utc_s + length_s;
	run.key.submit_utc_s = start_utc_s - random_below(LT_HOUR_S);
	if (index % (3 * ARRAY) < ARRAY) {
		run.array_job_id = FIRST_JOB + index - index % ARRAY;
		run.array_task = index % ARRAY;
	}
	set_names(&run);
	set_amounts(&run);
	return run;
}

static int64_t
part_of(int64_t whole, int64_t from_s, int64_t to_s, int64_t length_s)
{
	return whole * to_s / length_s - whole * from_s / length_s;
}

/* One an hour; how many. */
static uint32_t
split_run(struct lt_entry *entries, const struct lt_run *run)
{
	const int64_t length_s = run->end_utc_s - run->start_utc_s;
	uint32_t count = 0;

	for (int64_t at = 0, next; at < length_s; at = next) {
		const int64_t hour_utc_s = (run->start_utc_s + at) / LT_HOUR_S * LT_HOUR_S;

		next = hour_utc_s + LT_HOUR_S - run->start_utc_s;
		next = next < length_s ? next : length_s;
		entries[count++] = (struct lt_entry){.at_utc_s = hour_utc_s,
		    .money_micros = part_of(run->money_micros, at, next, length_s),
		    .carbon_mg = part_of(run->carbon_mg, at, next, length_s),
		    .energy_wh = part_of(run->energy_wh, at, next, length_s),
		    .baseline_money_micros =
			part_of(run->baseline_money_micros, at, next, length_s),
		    .baseline_carbon_mg = part_of(run->baseline_carbon_mg, at, next, length_s)};
	}
	return count;
}

static int
settle(struct lt_ledger *ledger, const struct lt_run *run, struct lt_error *err)
{
	struct lt_entry entries[ENTRIES_MAX];
	bool changed;

	return lt_ledger_settle(ledger,
	    &(struct lt_settlement){.run = run,
		.entries = entries,
		.count = split_run(entries, run),
		.now_utc_s = run->end_utc_s},
	    &changed, err);
}

static int
put_accounts(struct lt_ledger *ledger, struct lt_error *err)
{
	int code = LT_OK;

	for (int i = 0; code == LT_OK && i < ACCOUNTS; i++) {
		char name[LT_ACCOUNT_SIZE];

		(void)snprintf(name, sizeof(name), "team%04d", i);
		code = lt_ledger_put_account(ledger, name, "root", 0, err);
	}
	return code;
}

static int
fill(struct lt_ledger *ledger, uint32_t runs, const int64_t *times, int periods,
    struct lt_error *err)
{
	int code = lt_ledger_begin(ledger, err);

	if (code == LT_OK)
		code = put_accounts(ledger, err);
	for (uint32_t i = 0; code == LT_OK && i < runs; i++) {
		const double at = (double)i * periods / runs;
		const int period = (int)at;
		const int64_t from = times[period], to = times[period + 1];
		const struct lt_run run =
		    make_run(i, from + (int64_t)((at - period) * (double)(to - from)), to);

		code = settle(ledger, &run, err);
		if (code == LT_OK && (i + 1) % RUNS_A_TRANSACTION == 0)
			code = lt_ledger_commit(ledger, err);
		if (code == LT_OK && (i + 1) % RUNS_A_TRANSACTION == 0)
			code = lt_ledger_begin(ledger, err);
	}
	return code == LT_OK ? lt_ledger_commit(ledger, err) : code;
}

int
main(int argc, char **argv)
{
	struct lt_ledger *ledger = NULL;
	struct lt_error err = {0};
	int64_t times[PERIODS_MAX + 1];
	int64_t runs = 0;

	if (argc < 5 || argc > PERIODS_MAX + 4 ||
	    lt_int64_parse(argv[2], 1, INT32_MAX, &runs, &err) != LT_OK) {
		fputs("usage: make_ledger STATE RUNS TIME TIME...\n", stderr);
		return 2;
	}
	for (int i = 3; i < argc; i++)
		if (lt_int64_parse(argv[i], i == 3 ? 0 : times[i - 4] + LONG_S, INT64_MAX,
			&times[i - 3], &err) != LT_OK)
			return fail(&err);
	int code = lt_ledger_open(&ledger, argv[1], &err);
	if (code == LT_OK &&
	    sqlite3_exec(ledger->db[LT_DB_LEDGER], QUICK, NULL, NULL, NULL) != SQLITE_OK)
		code = lt_fail(&err, LT_EIO, "%s", QUICK);
	if (code == LT_OK)
		code = fill(ledger, (uint32_t)runs, times, argc - 4, &err);
	lt_ledger_close(ledger);
	return code == LT_OK ? 0 : fail(&err);
}
