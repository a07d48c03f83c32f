/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 32 threads hold against one snapshot and one ring as job_submit does: memory arithmetic behind
 * one mutex, the write outside. Not one micro too much, nothing lost. Built with SAN=thread it
 * proves the locking too.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "budget.h"
#include "ring.h"

enum {
	THREADS = 32,
	TRIES = 300, /* of each thread; 9,600 slots at most */
	USERS = 4,
	LIMIT = 1000003,
	USER_LIMIT = 300001,
	CARBON_LIMIT = 900001,
	NOW = 1000,
	NEXT = 2000,
	LATER = 3000,
};

static struct lt_budget budgets[2];
static struct lt_account accounts[] = {{"speech", 1, 1, 0}, {"vision", 0, 2, 0}};
static uint32_t bindings[] = {0, 1};
static struct lt_pair pairs[2 * USERS];
static struct lt_budget_snapshot snapshot = {.ready = true,
    .budget_count = 2,
    .account_count = 2,
    .binding_count = 2,
    .pair_count = 2 * USERS,
    .budgets = budgets,
    .accounts = accounts,
    .bindings = bindings,
    .pairs = pairs};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lt_recent *recent; /* lock */
static uint64_t sequence;	 /* lock */
static int fd;
static uint64_t generation;

static struct lt_amount
both(int64_t micros, int64_t mg)
{
	return (struct lt_amount){true, true, micros, mg};
}

static void
make_sheet(void)
{
	budgets[0] = (struct lt_budget){.team = "vision",
	    .has_per_user = true,
	    .per_user_limit = both(USER_LIMIT, INT64_MAX),
	    .periods = {
		{NOW, NEXT, "November", both(LIMIT, CARBON_LIMIT), both(0, 0), both(0, 0)},
		{NEXT, LATER, "December", both(LIMIT, CARBON_LIMIT), both(0, 0), both(0, 0)},
	    }};
	budgets[1] = budgets[0];
	strcpy(budgets[1].team, "research");
	budgets[1].has_per_user = false;
	for (uint32_t i = 0; i < 2 * USERS; i++)
		pairs[i] =
		    (struct lt_pair){.uid = i / 2, .account = i % 2, .is_default = i % 2 == 1};
	recent = malloc(lt_recent_size(&snapshot));
	lt_recent_init(recent, &snapshot);
}

/* xorshift; each thread its own, so that no run depends on the clock. */
static uint32_t
next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static void
hold_once(uint32_t *seed)
{
	struct lt_verdict verdict;
	const int64_t start = NOW + next(seed) % (LATER - NOW);
	struct lt_hold hold = {
	    .uid = next(seed) % USERS,
	    .account = (int)(next(seed) % 2),
	    .amount = both(1 + next(seed) % 997, 1 + next(seed) % 991),
	    .start_utc_s = start,
	    .end_utc_s = start + next(seed) % 1500,
	};
	struct lt_ring_record record = {.quote_id = next(seed) | 1,
	    .uid = hold.uid,
	    .tasks = 1,
	    .per_task = hold.amount,
	    .start_utc_s = hold.start_utc_s,
	    .end_utc_s = hold.end_utc_s};

	strcpy(record.account, accounts[hold.account].name);
	/* Each twentieth write fails: taken back, as job_submit does. */
	const bool fails = next(seed) % 20 == 0;

	pthread_mutex_lock(&lock);
	lt_admit(&verdict, &snapshot, recent, &hold);
	if (verdict.code == LT_ADMIT && !fails)
		record.sequence = ++sequence;
	pthread_mutex_unlock(&lock);
	if (verdict.code != LT_ADMIT)
		return;
	if (!fails) {
		if (lt_ring_write(fd, generation, &record, NULL) != LT_OK)
			abort();
		return;
	}
	pthread_mutex_lock(&lock);
	lt_recent_remove(recent, &snapshot, &hold);
	pthread_mutex_unlock(&lock);
}

static void *
work(void *context)
{
	uint32_t seed = 2463534242u + *(const uint32_t *)context * 7919u;

	for (int i = 0; i < TRIES; i++)
		hold_once(&seed);
	return NULL;
}

/* Sums of what the ring holds, by plain addition. */
struct totals {
	int64_t team[2][LT_PERIODS], carbon[2][LT_PERIODS];
	int64_t user[USERS][LT_PERIODS];
};

static void
add(struct totals *totals, const struct lt_ring_record *record)
{
	const bool vision = strcmp(record->account, "vision") == 0;

	for (int p = 0; p < LT_PERIODS; p++) {
		const struct lt_period *const period = &budgets[0].periods[p];
		const int64_t end = record->end_utc_s > record->start_utc_s
					? record->end_utc_s
					: record->start_utc_s + 1;

		if (record->start_utc_s >= period->end_utc_s || end <= period->start_utc_s)
			continue;
		totals->team[1][p] += record->per_task.money_micros;
		totals->carbon[1][p] += record->per_task.carbon_mg;
		if (!vision)
			continue;
		totals->team[0][p] += record->per_task.money_micros;
		totals->carbon[0][p] += record->per_task.carbon_mg;
		totals->user[record->uid][p] += record->per_task.money_micros;
	}
}

static void
check(const struct lt_ring_record *records, uint32_t count)
{
	struct totals totals = {0};

	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(records[i].sequence, i + 1);
		add(&totals, &records[i]);
	}
	for (int p = 0; p < LT_PERIODS; p++) {
		const int64_t at = budgets[0].periods[p].start_utc_s;

		for (int team = 0; team < 2; team++) {
			assert_true(totals.team[team][p] <= LIMIT);
			assert_true(totals.carbon[team][p] <= CARBON_LIMIT);
		}
		for (uint32_t uid = 0; uid < USERS; uid++) {
			struct lt_amount left;
			int64_t least = LIMIT - totals.team[1][p];
			const int64_t own = USER_LIMIT - totals.user[uid][p];

			assert_true(totals.user[uid][p] <= USER_LIMIT);
			if (LIMIT - totals.team[0][p] < least)
				least = LIMIT - totals.team[0][p];
			lt_available(&left, &snapshot, recent, LT_RULES_BIND, uid, 1, at, at + 1);
			/* What memory says is what the ring says. */
			assert_int_equal(left.money_micros, own < least ? own : least);
		}
	}
	/* It came close: the limits were really fought for. */
	assert_true(totals.carbon[1][0] > CARBON_LIMIT - 1000 || totals.team[1][0] > LIMIT - 1000);
}

static void
test_threads(void **state)
{
	(void)state;
	char directory[] = "/tmp/lt-threads-XXXXXX", path[64];
	pthread_t threads[THREADS];
	uint32_t numbers[THREADS], count, bad;
	uint64_t highest, contiguous;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/holds", directory);
	fd = lt_ring_open(path, true, &generation, NULL);
	assert_true(fd >= 0);
	make_sheet();
	for (uint32_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);

	struct lt_ring_record *const records = calloc(LT_RING_SLOTS, sizeof(*records));
	assert_int_equal(
	    lt_ring_read(fd, generation, 0, records, &count, &highest, &contiguous, &bad, NULL),
	    LT_OK);
	assert_int_equal(count, sequence);
	assert_int_equal(highest, sequence);
	assert_int_equal(contiguous, sequence);
	assert_int_equal(bad, 0);
	check(records, count);
	free(records);
	free(recent);
	close(fd);
	unlink(path);
	rmdir(directory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
