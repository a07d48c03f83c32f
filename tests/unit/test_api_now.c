/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST /v1/now/ID: who may, what must fit, and what is said where it is not the budget that stops
 * it.
 */
#include <jansson.h>

#include "api_job.h"
#include "judge_fixture.h"
#include "ledger_jobs.h"

enum { HELD = 300001, LATER = NOW + 3600, LONG = 20000 };

static void
test_now(void **state)
{
	static const struct {
		const char *why;
		uint32_t uid;
		int64_t bobs;
		bool admin, no_sheet, away;
		int status;
		const char *says;
		bool moved; /* its hold, from now on */
	} cases[] = {
	    {"it fits", ADA, BUDGET - HELD, .status = 200, .says = "starts", .moved = true},
	    {"for an admin", 0, BUDGET - HELD, .admin = true, .status = 200, .says = "starts",
		.moved = true},
	    {"a stranger's", BOB, 0, .status = 403, .says = "not yours"},
	    {"it does not fit", ADA, BUDGET - HELD + 1, .status = 409,
		.says = "more than vision has left"},
	    {"the sheet can't be written", ADA, 0, .no_sheet = true, .status = 503,
		.says = "none/sheet"},
	    {"slurmctld does not answer", ADA, 0, .away = true, .status = 503,
		.says = "slurmctld is away", .moved = true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7), bobs = make_job(9);
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);
		struct lt_api_request request = {
		    .uid = cases[i].uid, .is_admin = cases[i].admin, .rest = "7", .now_utc_s = NOW};
		char *const comment = malloc(LONG + 1);
		json_t *reply = NULL;

		print_message("# %s\n", cases[i].why);
		hold.quote.plan_start_utc_s = hold.quote.start_utc_s = LATER;
		hold.quote.end_utc_s = LATER + 600;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		bobs.uid = BOB;
		hold_job(w, &bobs, cases[i].bobs, 0);
		/* What others wrote there is no reason to leave ours out. */
		memset(comment, 'x', LONG);
		comment[LONG] = '\0';
		job.admin_comment = comment;
		fake_jobs = (struct lt_batch_jobs){.count = 1, .jobs = &job};
		w->d->jobs.list = fake_jobs;
		if (cases[i].no_sheet)
			snprintf(w->d->paths.snapshot, sizeof(w->d->paths.snapshot),
			    "%s/none/sheet", w->f->dir);
		ctld_fails = cases[i].away;
		assert_int_equal(lt_api_now(w->d, &request, &reply), cases[i].status);
		char *const text = json_dumps(reply, 0);
		assert_non_null(strstr(text, cases[i].says));
		const bool is_told = cases[i].status == 200;
		assert_int_equal(told.count, is_told);
		assert_int_equal(told.begin_utc_s[0], is_told ? NOW : 0);
		assert_int_equal(told.has_text[0], is_told);
		assert_int_equal(hold_now(w, 107).quote.start_utc_s, cases[i].moved ? NOW : LATER);
		free(text);
		free(comment);
		json_decref(reply);
		free_world(w);
	}
}

/* A pause is ended by the job's user and by admins, by nobody else; and a hold of the id's former
 * job, another user's, is none of this one. */
static void
test_whose(void **state)
{
	static const struct {
		const char *why;
		uint32_t uid;
		bool admin, is_paused, is_former, is_named;
		int status;
		const char *says;
	} cases[] = {
	    {"another's pause", BOB, .is_paused = true, .status = 403, .says = "not yours"},
	    {"one's own pause", ADA, .is_paused = true, .status = 200, .says = "goes on"},
	    {"an admin", 0, .admin = true, .is_paused = true, .status = 200, .says = "goes on"},
	    {"a former job's hold", ADA, .is_former = true, .status = 409,
		.says = "does not delay it"},
	    {"a former job's user", BOB, .is_former = true, .status = 403, .says = "not yours"},
	    {"another's hold, named by the job", ADA, .is_former = true, .is_named = true,
		.status = 409, .says = "does not delay it"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		struct lt_paused row = {
		    .job_id = 7, .start_utc_s = NOW, .step = LT_PAUSE_ASKED, .until_utc_s = LATER};
		const struct lt_api_request request = {
		    .uid = cases[i].uid, .is_admin = cases[i].admin, .rest = "7", .now_utc_s = NOW};
		char named[LT_QUOTE_TEXT_SIZE];
		json_t *reply = NULL;

		print_message("# %s\n", cases[i].why);
		if (cases[i].is_former)
			job.uid = BOB;
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);
		job.uid = ADA;
		hold.quote.plan_start_utc_s = LATER;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		if (cases[i].is_named) {
			assert_int_equal(lt_quote_pack(named, sizeof(named), &hold.quote), LT_OK);
			job.admin_comment = named;
		}
		if (cases[i].is_paused) {
			job.state = LT_JOB_RUNNING;
			job.start_utc_s = NOW;
			w->d->jobs.paused = &row;
			w->d->jobs.paused_count = 1;
		}
		fake_jobs = (struct lt_batch_jobs){.count = 1, .jobs = &job};
		w->d->jobs.list = fake_jobs;
		assert_int_equal(lt_api_now(w->d, &request, &reply), cases[i].status);
		char *const text = json_dumps(reply, 0);
		assert_non_null(strstr(text, cases[i].says));
		assert_int_equal(
		    row.step == LT_PAUSE_ASKED, !cases[i].is_paused || cases[i].status != 200);
		free(text);
		json_decref(reply);
		w->d->jobs.paused = NULL;
		w->d->jobs.paused_count = 0;
		free_world(w);
	}
}

/* Whose begin time it is: by the quote on the job, and what Slurm has now. */
static void
test_own_begin(void **state)
{
	static const struct {
		const char *why;
		uint32_t pins;
		enum lt_objective objective;
		int64_t begin_utc_s;
		int status;
	} cases[] = {
	    {"lowtide's", 0, LT_OBJECTIVE_BALANCED, LATER, 200},
	    {"--begin", LT_PIN_BEGIN, LT_OBJECTIVE_BALANCED, LATER, 409},
	    {"--begin of one that asked for nothing", 0, LT_OBJECTIVE_OFF, LATER, 409},
	    {"set by scontrol since", 0, LT_OBJECTIVE_BALANCED, LATER + 1, 409},
	    {"--begin that is past", LT_PIN_BEGIN, LT_OBJECTIVE_BALANCED, NOW, 200},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);
		const struct lt_api_request request = {.uid = ADA, .rest = "7", .now_utc_s = NOW};
		char text[LT_QUOTE_TEXT_SIZE];
		json_t *reply = NULL;

		print_message("# %s\n", cases[i].why);
		hold.quote.plan_start_utc_s = LATER;
		hold.quote.objective = cases[i].objective;
		hold.quote.wish = (struct lt_wish){.known = true, .pins = cases[i].pins};
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		assert_int_equal(lt_quote_pack(text, sizeof(text), &hold.quote), LT_OK);
		job.admin_comment = text;
		job.eligible_utc_s = cases[i].begin_utc_s;
		fake_jobs = (struct lt_batch_jobs){.count = 1, .jobs = &job};
		w->d->jobs.list = fake_jobs;
		assert_int_equal(lt_api_now(w->d, &request, &reply), cases[i].status);
		assert_int_equal(told.count, cases[i].status == 200);
		if (cases[i].status != 200)
			assert_non_null(strstr(json_string_value(json_object_get(reply, "error")),
			    "scontrol update JobId=7 StartTime=now"));
		json_decref(reply);
		free_world(w);
	}
}

/* An array of which task 3 has a record of its own and the others wait by one. */
static void
test_tasks(void **state)
{
	static const struct {
		const char *why, *rest, *first; /* task that Slurm is told */
		int status;
		uint32_t told;
		bool others_wait; /* the hold's end stays as late */
	} cases[] = {
	    {"all that wait", "7", NULL, 200, 2, false},
	    {"one of those by one record", "7_2", "7_2", 200, 1, true},
	    {"one with a record", "7_3", "7_3", 200, 1, true},
	    {"none of the array", "7_5", NULL, 404, 0, true},
	    {"no task", "7_", NULL, 400, 0, true},
	    {"no number", "7_x", NULL, 400, 0, true},
	    {"no job", "_3", NULL, 400, 0, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job jobs[] = {make_job(7), make_job(8)};
		struct lt_ledger_hold hold = hold_job(w, &jobs[0], HELD, 0);
		const struct lt_api_request request = {
		    .uid = ADA, .rest = cases[i].rest, .now_utc_s = NOW};
		json_t *reply = NULL;

		print_message("# %s\n", cases[i].why);
		jobs[0].array_job_id = jobs[1].array_job_id = 7;
		jobs[0].array_tasks = "1-2,4";
		jobs[0].array_pending = 3;
		jobs[1].array_task = 3;
		for (int k = 0; k < 2; k++)
			jobs[k].eligible_utc_s = LATER;
		hold.quote.plan_start_utc_s = hold.quote.start_utc_s = LATER;
		hold.quote.end_utc_s = LATER + 600;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		fake_jobs = (struct lt_batch_jobs){.count = 2, .jobs = jobs};
		w->d->jobs.list = fake_jobs;
		assert_int_equal(lt_api_now(w->d, &request, &reply), cases[i].status);
		assert_int_equal(told.count, cases[i].told);
		if (cases[i].first != NULL)
			assert_string_equal(told.task[0], cases[i].first);
		else
			assert_string_equal(told.task[0], "");
		assert_int_equal(
		    hold_now(w, 107).quote.end_utc_s == LATER + 600, cases[i].others_wait);
		assert_int_equal(
		    hold_now(w, 107).quote.start_utc_s, cases[i].told > 0 ? NOW : LATER);
		json_decref(reply);
		free_world(w);
	}
}

static void
test_has_task(void **state)
{
	static const struct {
		const char *tasks;
		uint32_t task;
		bool has;
	} cases[] = {
	    {"4", 4, true},
	    {"4", 5, false},
	    {"1-4,7", 3, true},
	    {"1-4,7", 7, true},
	    {"1-4,7", 5, false},
	    {"1-9:2", 5, true},
	    {"1-9:2", 6, false},
	    {"1-4%2", 9, false},
	    {"1-4%2", 2, true},
	    {"1,3,5,...", 99, true},
	    {"", 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (lt_job_has_task(cases[i].tasks, cases[i].task) != cases[i].has)
			fail_msg("%s, %u: want %d", cases[i].tasks, cases[i].task, cases[i].has);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_now, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_whose, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_own_begin, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_tasks, set_up, tear_down),
	    cmocka_unit_test(test_has_task),
	};

	return cmocka_run_group_tests_name("api_now", tests, NULL, NULL);
}
