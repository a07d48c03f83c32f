/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What job_modify held for a change, onto the hold that it is of: never onto another user's, nor
 * onto one that has ended.
 */
#include "ingest.h"
#include "judge_fixture.h"
#include "ledger.h"
#include "periods.h"
#include "ring.h"
#include "batch.h"

enum { HELD = 300001, MORE = 7 };

static void
test_change(void **state)
{
	static const struct {
		const char *why;
		uint64_t quote_id; /* 107 is job 7's */
		uint32_t job_id, uid;
		enum lt_hold_state state;
		int64_t raised;
	} cases[] = {
	    {"by its quote", 107, 7, ADA, LT_HOLD_OPEN, MORE},
	    {"by its id: the quote is not known", 1, 7, ADA, LT_HOLD_OPEN, MORE},
	    {"of another job", 1, 8, ADA, LT_HOLD_OPEN, 0},
	    {"of no job", 1, 0, ADA, LT_HOLD_OPEN, 0},
	    {"of a stranger's job, by an id that is given again", 1, 7, BOB, LT_HOLD_OPEN, 0},
	    {"of one that has ended", 107, 7, ADA, LT_HOLD_SETTLED, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		const struct lt_batch_job job = make_job(7);
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);
		uint64_t generation;

		print_message("# %s\n", cases[i].why);
		hold.state = cases[i].state;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		const struct lt_ring_record record = {.sequence = 1,
		    .quote_id = cases[i].quote_id,
		    .uid = cases[i].uid,
		    .job_id = cases[i].job_id,
		    .tasks = 1,
		    .flags = LT_QUOTE_MODIFY,
		    .account = "vision",
		    .per_task = {.has_money = true, .money_micros = MORE},
		    .start_utc_s = NOW,
		    .end_utc_s = NOW + 600};
		const int fd = lt_ring_open(w->d->paths.ring, true, &generation, &w->f->err);
		assert_true(fd >= 0);
		must(w->f, lt_ring_write(fd, generation, &record, &w->f->err));
		/* However often it is read. */
		for (int k = 0; k < 3; k++)
			must(w->f, lt_ingest(&w->books, NOW + k * 60, &w->f->err));
		assert_int_equal(w->d->ring.ingested, 1);
		assert_int_equal(
		    hold_now(w, 107).quote.hold_per_task.money_micros, HELD + cases[i].raised);
		close(fd);
		close(w->d->ring.fd);
		unlink(w->d->paths.ring);
		free_world(w);
	}
}

static int
add_refused(
    void *context, const char *account, int64_t at_utc_s, int64_t jobs, struct lt_error *err)
{
	(void)err;
	assert_string_equal(account, "vision");
	assert_int_equal(at_utc_s, NOW - NOW % HOUR);
	*(int64_t *)context += jobs;
	return LT_OK;
}

/* Jobs that job_submit refused: counted once, by account and why, and nothing is held for them. */
static void
test_refused(void **state)
{
	static const struct {
		const char *account;
		uint32_t why;
	} refused[] = {{"vision", LT_QUOTE_BUDGET_HOLD}, {"vision", LT_QUOTE_UNKNOWN},
	    {"", LT_QUOTE_UNKNOWN}, {"vision", LT_QUOTE_BUDGET_HOLD}};
	struct world *const w = make_world(*state);
	const struct lt_counters *const tally = &w->d->tally;
	struct lt_ledger_hold hold;
	uint64_t generation;
	const int fd = lt_ring_open(w->d->paths.ring, true, &generation, &w->f->err);

	assert_true(fd >= 0);
	for (uint32_t i = 0; i < 4; i++) {
		struct lt_ring_record record = {.sequence = i + 1,
		    .quote_id = 500 + i,
		    .uid = ADA,
		    .tasks = 1,
		    .flags = LT_QUOTE_REFUSED | refused[i].why,
		    .per_task = {.has_money = true, .has_carbon = true},
		    .start_utc_s = NOW,
		    .end_utc_s = NOW + 600};

		strcpy(record.account, refused[i].account);
		must(w->f, lt_ring_write(fd, generation, &record, &w->f->err));
	}
	/* Not before the ledger has how far the ring was read. */
	must(w->f, lt_ledger_begin(w->f->ledger, &w->f->err));
	assert_int_not_equal(lt_ingest(&w->books, NOW, NULL), LT_OK);
	lt_ledger_rollback(w->f->ledger);
	assert_int_equal(tally->refused_count, 0);
	for (int k = 0; k < 3; k++)
		must(w->f, lt_ingest(&w->books, NOW + k * 60, &w->f->err));
	assert_int_equal(w->d->ring.ingested, 4);
	assert_int_equal(tally->refused_count, 1);
	assert_string_equal(tally->refused[0].account, "vision");
	assert_int_equal(tally->refused[0].jobs[LT_REFUSAL_REJECTED], 2);
	assert_int_equal(tally->refused[0].jobs[LT_REFUSAL_HELD], 0);
	assert_int_equal(tally->unknown[LT_REFUSAL_REJECTED], 2);
	/* In the ledger by account, once; what nobody has is nobody's. */
	int64_t jobs = 0;
	must(w->f, lt_ledger_refused(w->f->ledger, (struct lt_span){NOW - HOUR, NOW + HOUR},
		       add_refused, &jobs, &w->f->err));
	assert_int_equal(jobs, 3);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(lt_ledger_hold(w->f->ledger, 500 + i, &hold, NULL), LT_ENOENT);
	close(fd);
	close(w->d->ring.fd);
	unlink(w->d->paths.ring);
	lt_counters_free(&w->d->tally);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_change, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("absorb", tests, NULL, NULL);
}
