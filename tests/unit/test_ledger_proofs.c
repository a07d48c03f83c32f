/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ledger keeps of who was seen to resume, over a restart; what of it job_submit is told;
 * and that it is erased with the rest of a user's history.
 */
#include "ledger_fixture.h"

#include "ledger_jobs.h"

static struct lt_proof_of
proof_of(uint32_t uid, uint64_t script_hash)
{
	const struct lt_run_kind kind = {.uid = uid, .account = "vision", .name = "train_1"};

	return (struct lt_proof_of){
	    lt_history_proof_key(&kind, script_hash), "vision", "train_1", script_hash};
}

/* Of job_submit's file the records with that key. */
static uint32_t
told(struct fixture *f, struct lt_history_key key, struct lt_history_figures *figures)
{
	struct lt_history_record *records = NULL;
	uint32_t count = 0, found = 0;

	must(f, lt_ledger_history(f->ledger, LT_HISTORY_MAX, &records, &count, &f->err));
	for (uint32_t i = 0; i < count; i++)
		if (records[i].key.hash == key.hash && records[i].key.uid == key.uid) {
			*figures = records[i].figures;
			found++;
		}
	free(records);
	return found;
}

static void
proofs_are_kept(void **state)
{
	struct fixture *const f = *state;
	const struct lt_proof_of of = proof_of(UID, UINT64_MAX);
	const struct lt_proof_row row = {NOVEMBER, 2, 1, 35, 90, NOVEMBER - 7, NOVEMBER};
	struct lt_proof_row known;
	struct lt_history_figures figures;

	must(f, lt_ledger_proof(f->ledger, &of.key, &known, &f->err));
	assert_int_equal(known.survived + known.failed, 0);
	must(f, lt_ledger_put_proof(f->ledger, &of, &row, &f->err));
	reopen(f);
	must(f, lt_ledger_proof(f->ledger, &of.key, &known, &f->err));
	assert_int_equal(known.proven_utc_s, row.proven_utc_s);
	assert_int_equal(known.survived, row.survived);
	assert_int_equal(known.failed, row.failed);
	assert_int_equal(known.write_s, row.write_s);
	assert_int_equal(known.restart_s, row.restart_s);
	assert_int_equal(known.canary_utc_s, row.canary_utc_s);
	assert_int_equal(known.last_utc_s, row.last_utc_s);
	assert_int_equal(told(f, of.key, &figures), 1);
	assert_int_equal(figures.runs, 2);
	assert_int_equal(figures.median, 35);
	assert_int_equal(figures.upper, 90);
	/* Another script and another user have none. */
	const struct lt_proof_of other = proof_of(UID, 5);
	must(f, lt_ledger_proof(f->ledger, &other.key, &known, &f->err));
	assert_int_equal(known.survived, 0);
	const struct lt_proof_of stranger = proof_of(UID + 1, UINT64_MAX);
	must(f, lt_ledger_proof(f->ledger, &stranger.key, &known, &f->err));
	assert_int_equal(known.survived, 0);
}

static void
failed_is_not_told(void **state)
{
	struct fixture *const f = *state;
	const struct lt_proof_of of = proof_of(UID, 9);
	struct lt_proof_row row = {.failed = 1, .last_utc_s = NOVEMBER};
	struct lt_history_figures figures;

	must(f, lt_ledger_put_proof(f->ledger, &of, &row, &f->err));
	assert_int_equal(told(f, of.key, &figures), 0);
	row.survived = 1;
	must(f, lt_ledger_put_proof(f->ledger, &of, &row, &f->err));
	assert_int_equal(told(f, of.key, &figures), 1);
}

static void
proofs_are_erased(void **state)
{
	struct fixture *const f = *state;
	const struct lt_proof_of mine = proof_of(UID, 1), other = proof_of(UID + 1, 1);
	const struct lt_proof_row row = {.survived = 1, .last_utc_s = NOVEMBER};
	struct lt_history_figures figures;
	uint32_t count;

	must(f, lt_ledger_put_proof(f->ledger, &mine, &row, &f->err));
	must(f, lt_ledger_put_proof(f->ledger, &other, &row, &f->err));
	must(f, lt_ledger_forget(f->ledger, UID, DECEMBER, &count, &f->err));
	assert_int_equal(told(f, mine.key, &figures), 0);
	assert_int_equal(told(f, other.key, &figures), 1);
	must(f, lt_ledger_prune_proofs(f->ledger, NOVEMBER, &f->err));
	assert_int_equal(told(f, other.key, &figures), 1);
	must(f, lt_ledger_prune_proofs(f->ledger, NOVEMBER + 1, &f->err));
	assert_int_equal(told(f, other.key, &figures), 0);
}

static void
lives_and_canaries_are_kept(void **state)
{
	struct fixture *const f = *state;
	const struct lt_progress now = {.restarts = 3,
	    .first = {0.25, false},
	    .newest = {1e15, true},
	    .first_after_s = 2,
	    .newest_after_s = 50};
	struct lt_life life = {.job_id = 7,
	    .uid = UID,
	    .is_told = true,
	    .now = now,
	    .asked_utc_s = NOVEMBER,
	    .asked_progress = 12.5,
	    .asked_after_s = 40,
	    .write_s = 8,
	    .has_before = true,
	    .before_was_asked = true,
	    .before_first = 1,
	    .before_progress = 11,
	    .before_after_s = 30,
	    .outcome = LT_OUTCOME_UNKNOWN};
	const struct lt_canary canary = {7, NOVEMBER, NOVEMBER + 12};
	struct lt_life *lives = NULL;
	struct lt_canary *canaries = NULL;
	uint32_t count;

	must(f, lt_ledger_put_life(f->ledger, &life, &f->err));
	must(f, lt_ledger_put_canary(f->ledger, &canary, &f->err));
	reopen(f);
	must(f, lt_ledger_lives(f->ledger, &lives, &count, &f->err));
	assert_int_equal(count, 1);
	/* Of the newest marker only its number is. */
	life.now.newest.is_saved = false;
	assert_int_equal(lives[0].now.restarts, 3);
	assert_true(lives[0].now.newest.progress == 1e15);
	assert_true(lives[0].before_progress == 11);
	assert_int_equal(lives[0].before_after_s, 30);
	assert_true(lives[0].asked_progress == 12.5);
	assert_int_equal(lives[0].asked_after_s, 40);
	assert_int_equal(lives[0].write_s, 8);
	assert_int_equal(lives[0].outcome, LT_OUTCOME_UNKNOWN);
	assert_true(lives[0].is_told && lives[0].before_was_asked);
	must(f, lt_ledger_canaries(f->ledger, &canaries, &count, &f->err));
	assert_int_equal(count, 1);
	assert_int_equal(canaries[0].job_id, canary.job_id);
	assert_int_equal(canaries[0].start_utc_s, canary.start_utc_s);
	assert_int_equal(canaries[0].requeue_utc_s, canary.requeue_utc_s);
	free(lives);
	free(canaries);
	must(f, lt_ledger_drop_life(f->ledger, 7, &f->err));
	must(f, lt_ledger_drop_canary(f->ledger, 7, &f->err));
	must(f, lt_ledger_lives(f->ledger, &lives, &count, &f->err));
	assert_int_equal(count, 0);
	free(lives);
	must(f, lt_ledger_canaries(f->ledger, &canaries, &count, &f->err));
	assert_int_equal(count, 0);
	free(canaries);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(proofs_are_kept, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(failed_is_not_told, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(proofs_are_erased, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(lives_and_canaries_are_kept, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
