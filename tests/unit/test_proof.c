/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose words of a job's progress count, and what they prove: of the user's own job, on the node
 * where it runs, of its run that slurmctld has.
 */
#include "ledger_fixture.h"

#include "api.h"
#include "daemon.h"
#include "proof.h"

enum { NOW = NOVEMBER + HOUR, JOBS = 3 };

struct world {
	struct lt_daemon *d;
	struct lt_batch_job jobs[JOBS];
	char comment[LT_QUOTE_TEXT_SIZE];
};

static void
make_world(struct world *world, struct fixture *f)
{
	struct lt_quote quote = {.id = 1,
	    .account = "vision",
	    .tasks = 1,
	    .wish = {.known = true,
		.deadline_utc_s = LT_UNSET_64,
		.expected_run_s = LT_UNSET_64,
		.max_cost_micros = LT_UNSET_64,
		.checkpoint = true,
		.signal = 10,
		.script_hash = 77}};

	*world = (struct world){.d = calloc(1, sizeof(*world->d))};
	world->d->ledger = f->ledger;
	assert_int_equal(lt_quote_pack(world->comment, sizeof(world->comment), &quote), LT_OK);
	for (uint32_t i = 0; i < JOBS; i++)
		world->jobs[i] = (struct lt_batch_job){.job_id = 10 + i,
		    .uid = UID,
		    .state = LT_JOB_RUNNING,
		    .name = "train",
		    .node_list = "s[1-2]",
		    .admin_comment = world->comment};
	world->jobs[1].state = LT_JOB_PENDING;
	world->jobs[2].state = LT_JOB_FINISHED;
	world->d->jobs.list = (struct lt_batch_jobs){.count = JOBS, .jobs = world->jobs};
}

static void
end_world(struct world *world)
{
	lt_proof_free(&world->d->proof);
	free(world->d->jobs.looks);
	free(world->d);
}

static struct lt_proof_told
words(uint32_t job_id, uint32_t restarts, double first, int64_t after_s)
{
	return (struct lt_proof_told){.node = "s1",
	    .job_id = job_id,
	    .uid = UID,
	    .progress = {.restarts = restarts,
		.first = {first, false},
		.newest = {first, false},
		.first_after_s = after_s,
		.newest_after_s = after_s}};
}

static void
whose_words_count(void **state)
{
	static const struct {
		const char *why, *node;
		uint32_t job_id, uid, restarts;
		enum lt_proof_taken taken;
	} cases[] = {
	    {"his own", "s1", 10, UID, 1, LT_PROOF_TAKEN},
	    {"another's", "s1", 10, UID + 1, 1, LT_PROOF_REFUSED},
	    {"root's", "s1", 10, 0, 1, LT_PROOF_REFUSED},
	    {"from where it does not run", "s3", 10, UID, 1, LT_PROOF_LATER},
	    {"of the run before", "s1", 10, UID, 0, LT_PROOF_REFUSED},
	    {"of a run that is not in the list yet", "s1", 10, UID, 2, LT_PROOF_LATER},
	    {"of a job that is not in the list yet", "s1", 99, UID, 0, LT_PROOF_LATER},
	    {"of one that waits", "s1", 11, UID, 0, LT_PROOF_LATER},
	    {"of one that has ended", "s1", 12, UID, 0, LT_PROOF_REFUSED},
	};
	struct world world;

	make_world(&world, *state);
	world.jobs[0].restarts = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_proof_told told = words(cases[i].job_id, cases[i].restarts, 5, 2);

		told.node = cases[i].node;
		told.uid = cases[i].uid;
		lt_proof_free(&world.d->proof);
		world.d->proof.is_read = true;
		if (lt_proof_tell(world.d->ledger, &world.d->charges, &world.d->jobs,
			&world.d->proof, &told, NOW) != cases[i].taken)
			fail_msg("%s", cases[i].why);
		assert_int_equal(world.d->proof.life_count, cases[i].taken == LT_PROOF_TAKEN);
	}
	end_world(&world);
}

/* One job's words that are no progress: the others' count. */
static void
one_bad_line(void **state)
{
	static const char *const bad[] = {"loss=-0.53", "t=1764411234567890123", "no number"};
	struct world world;

	make_world(&world, *state);
	world.d->proof.is_read = true;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char body[1024], *reply = NULL;

		lt_proof_free(&world.d->proof);
		world.d->proof.is_read = true;
		snprintf(body, sizeof(body),
		    "{\"node\":\"s1\",\"jobs\":["
		    "{\"job_id\":99,\"uid\":1,\"restarts\":0,\"first\":\"%s\",\"first_after_s\":1,\"newest\":\"%s\",\"newest_after_s\":2},"
		    "{\"job_id\":98},7,"
		    "{\"job_id\":10,\"uid\":%u,\"restarts\":0,\"first\":\"1\",\"first_after_s\":1,\"newest\":\"5\",\"newest_after_s\":2}]}",
		    bad[i], bad[i], (unsigned)UID);
		assert_int_equal(lt_api(world.d,
				     &(struct lt_api_asked){.uid = 0,
					 .method = "POST",
					 .uri = "/v1/progress",
					 .body = body,
					 .body_length = strlen(body)},
				     &reply),
		    200);
		assert_string_equal(reply, "{\"later\":[]}");
		free(reply);
		assert_int_equal(world.d->proof.life_count, 1);
		assert_int_equal(world.d->proof.lives[0].job_id, 10);
	}
	end_world(&world);
}

/* Two runs: what they prove is in the ledger, over a restart between them. */
static void
what_they_prove(void **state)
{
	struct fixture *const f = *state;
	struct world world;
	struct lt_proof_job whose;
	struct lt_proof_row row;

	make_world(&world, f);
	struct lt_proof_told told = words(10, 0, 1, 2);
	told.progress.newest.progress = 500;
	told.progress.newest_after_s = 60;
	assert_int_equal(lt_proof_tell(world.d->ledger, &world.d->charges, &world.d->jobs,
			     &world.d->proof, &told, NOW),
	    LT_PROOF_TAKEN);
	lt_proof_ask(world.d->ledger, &world.d->proof, 10, NOW + 1);
	lt_proof_free(&world.d->proof);
	world.jobs[0].restarts = 1;
	told = words(10, 1, 501, 20);
	assert_int_equal(lt_proof_tell(world.d->ledger, &world.d->charges, &world.d->jobs,
			     &world.d->proof, &told, NOW + 90),
	    LT_PROOF_TAKEN);
	assert_true(lt_proof_of_job(&whose, &world.jobs[0]));
	must(f, lt_ledger_proof(f->ledger, &whose.of.key, &row, &f->err));
	assert_int_equal(row.survived, 1);
	assert_int_equal(row.restart_s, 20);
	assert_int_equal(row.proven_utc_s, NOW + 90);
	assert_int_equal(world.d->charges.next.history, NOW + 90);
	/* It starts over the next time: nothing is proven any more. */
	lt_proof_ask(world.d->ledger, &world.d->proof, 10, NOW + 100);
	world.jobs[0].restarts = 2;
	told = words(10, 2, 1, 2);
	assert_int_equal(lt_proof_tell(world.d->ledger, &world.d->charges, &world.d->jobs,
			     &world.d->proof, &told, NOW + 200),
	    LT_PROOF_TAKEN);
	must(f, lt_ledger_proof(f->ledger, &whose.of.key, &row, &f->err));
	assert_int_equal(row.survived, 0);
	assert_int_equal(row.failed, 1);
	/* Ended, it is forgotten; what it proved is not. */
	world.jobs[0].state = LT_JOB_FINISHED;
	must(f, lt_proof_run(
		    world.d->ledger, &world.d->jobs.list, &world.d->proof, NOW + 300, &f->err));
	assert_null(lt_proof_life(&world.d->proof, 10));
	must(f, lt_ledger_proof(f->ledger, &whose.of.key, &row, &f->err));
	assert_int_equal(row.failed, 1);
	end_world(&world);
}

/* Slurm gives ids again: another's life is not gone on with. */
static void
ids_come_again(void **state)
{
	struct world world;

	make_world(&world, *state);
	struct lt_proof_told told = words(10, 0, 400, 60);
	assert_int_equal(lt_proof_tell(world.d->ledger, &world.d->charges, &world.d->jobs,
			     &world.d->proof, &told, NOW),
	    LT_PROOF_TAKEN);
	world.jobs[0].uid = told.uid = UID + 1;
	world.jobs[0].restarts = told.progress.restarts = 1;
	assert_int_equal(lt_proof_tell(world.d->ledger, &world.d->charges, &world.d->jobs,
			     &world.d->proof, &told, NOW),
	    LT_PROOF_TAKEN);
	const struct lt_life *const life = lt_proof_life(&world.d->proof, 10);
	assert_non_null(life);
	assert_int_equal(life->uid, UID + 1);
	assert_false(life->has_before);
	end_world(&world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(whose_words_count, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(one_bad_line, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(what_they_prove, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(ids_come_again, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
