/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wall clock is set, either way: what was due in 30 s is due in 30 s, what has waited for 50 s
 * has waited for 50 s. The clocks are numbers here.
 */
#include "daemon.h"
#include "ledger_fixture.h"
#include "schedule.h"

static void
test_step(void **state)
{
	static const struct {
		const char *why;
		int64_t wall_ms, monotonic_ms, by_s;
	} calls[] = {
	    {"the first knows nothing", 1000000, 5000, 0},
	    {"a second later", 1001000, 6000, 0},
	    {"back by 20 min", 1002000 - 1200000, 7000, -1200},
	    {"and on from there", 1003000 - 1200000, 8000, 0},
	    {"forward by a day", 1004000 - 1200000 + 86400000, 9000, 86400},
	    {"slewed by 0.6 s", 1005600 - 1200000 + 86400000, 10000, 0},
	    {"and by 0.6 s more", 1007200 - 1200000 + 86400000, 11000, 1},
	    {"the rest is not lost", 1008000 - 1200000 + 86400000, 11000, 1},
	};
	struct lt_clock clock = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const int64_t by_s = lt_clock_step(&clock, calls[i].wall_ms, calls[i].monotonic_ms);

		if (by_s != calls[i].by_s)
			fail_msg("%s: %lld", calls[i].why, (long long)by_s);
	}
}

enum { NOW = NOVEMBER + 3600 };

static int64_t
made(struct fixture *f, uint64_t quote_id)
{
	struct lt_ledger_hold hold;

	must(f, lt_ledger_hold(f->ledger, quote_id, &hold, &f->err));
	return hold.made_utc_s;
}

/* By so much, and no more for a second call. */
static void
test_stamps_move(void **state)
{
	static const int64_t steps_s[] = {-1200, 1200, 86400, -1, 1};

	for (size_t i = 0; i < sizeof(steps_s) / sizeof(steps_s[0]); i++) {
		struct fixture *const f = *state;
		const int64_t by = steps_s[i];
		struct lt_source source = {.next_fetch_utc_s = NOW + 300};
		struct lt_ended ended = {.seen_utc_s = NOW - 50};
		struct lt_daemon d = {.ledger = f->ledger,
		    .signals.source_count = 1,
		    .signals.sources = &source,
		    .jobs.ended_count = 1,
		    .jobs.ended = &ended,
		    .jobs.next.list = NOW + 2,
		    .next.voids = NOW + 30,
		    .charges.next.settle = NOW + 60,
		    .next.snapshot = NOW + 15,
		    .budget.counted_utc_s = NOW - 1,
		    .site.next.market = 0, /* at once stays at once */
		    .jobs.list.begun_utc_s = NOW - 2};
		struct lt_ledger_hold open = make_hold(9 + i * 2, 1);
		struct lt_ledger_hold ends = make_hold(10 + i * 2, 1);

		open.made_utc_s = ends.made_utc_s = NOW - 50;
		must(f, lt_ledger_put_hold(f->ledger, &open, &f->err));
		must(f, lt_ledger_put_hold(f->ledger, &ends, &f->err));
		must(
		    f, lt_ledger_end_hold(f->ledger, ends.quote.id, LT_HOLD_VOID, "over", &f->err));
		lt_clock_follow(&d, NOW * 1000LL, 7000);
		assert_int_equal(made(f, open.quote.id), NOW - 50);
		assert_false(d.budget.dirty);
		for (int call = 0; call < 2; call++)
			lt_clock_follow(&d, (NOW + by) * 1000LL, 7000);
		assert_int_equal(d.jobs.next.list, NOW + by + 2);
		assert_int_equal(d.next.voids, NOW + by + 30);
		assert_int_equal(d.charges.next.settle, NOW + by + 60);
		assert_int_equal(d.next.snapshot, NOW + by + 15);
		assert_int_equal(d.site.next.market, 0);
		assert_int_equal(d.budget.counted_utc_s, NOW + by - 1);
		assert_int_equal(d.ring.stuck_utc_s, 0);
		assert_int_equal(d.jobs.list.begun_utc_s, NOW + by - 2);
		assert_int_equal(source.next_fetch_utc_s, NOW + by + 300);
		assert_int_equal(ended.seen_utc_s, NOW + by - 50);
		assert_int_equal(made(f, open.quote.id), NOW + by - 50);
		assert_int_equal(made(f, ends.quote.id), NOW - 50);
		assert_true(d.budget.dirty && d.budget.is_of_other_clock);
		must(
		    f, lt_ledger_end_hold(f->ledger, open.quote.id, LT_HOLD_VOID, "next", &f->err));
	}
}

/* Set back while lowtided was down: no hold is made in the future, and the first start of all is
 * not still to come. */
static void
test_future_at_start(void **state)
{
	struct fixture *const f = *state;
	struct lt_daemon d = {.ledger = f->ledger};
	struct lt_ledger_hold later = make_hold(1, 1), sooner = make_hold(2, 1);
	char text[32], want[32];

	later.made_utc_s = NOW + 1200;
	sooner.made_utc_s = NOW - 7;
	must(f, lt_ledger_put_hold(f->ledger, &later, &f->err));
	must(f, lt_ledger_put_hold(f->ledger, &sooner, &f->err));
	(void)snprintf(want, sizeof(want), "%d", NOW + 1000);
	must(f, lt_ledger_put(f->ledger, "since", want, &f->err));
	lt_clock_follow(&d, NOW * 1000LL, 7000);
	assert_int_equal(made(f, 1), NOW);
	assert_int_equal(made(f, 2), NOW - 7);
	must(f, lt_ledger_get(f->ledger, "since", text, sizeof(text), &f->err));
	(void)snprintf(want, sizeof(want), "%d", NOW);
	assert_string_equal(text, want);
}

/* A source that is due in 5 min is asked in 5 min, not in 25, not at once. */
static void
test_sources_keep_their_pace(void **state)
{
	struct lt_source source = {.next_fetch_utc_s = NOW + 300, .busy = false};
	struct lt_daemon d = {.signals.source_count = 1, .signals.sources = &source};

	(void)state;
	lt_clock_follow(&d, NOW * 1000LL, 1000);
	assert_int_equal(lt_schedule_run(&d.signals, d.ledger, d.site.policy, NOW), NOW + 300);
	lt_clock_follow(&d, (NOW - 1200) * 1000LL, 1000);
	assert_int_equal(
	    lt_schedule_run(&d.signals, d.ledger, d.site.policy, NOW - 1200), NOW - 1200 + 300);
	lt_clock_follow(&d, (NOW + 9000) * 1000LL, 1000);
	assert_int_equal(
	    lt_schedule_run(&d.signals, d.ledger, d.site.policy, NOW + 9000), NOW + 9000 + 300);
	assert_false(source.busy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_step),
	    EACH(test_stamps_move),
	    EACH(test_future_at_start),
	    EACH(test_sources_keep_their_pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
