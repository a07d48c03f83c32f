/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST /v1/now/ID: who may, what must fit, and what is said where it is not
 * the budget that stops it.
 */
#include <jansson.h>

#include "api.h"
#include "judge_fixture.h"

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
	    {"it fits", ADA, BUDGET - HELD, .status = 200, .says = "starts",
		.moved = true},
	    {"for an admin", 0, BUDGET - HELD, .admin = true, .status = 200,
		.says = "starts", .moved = true},
	    {"a stranger's", BOB, 0, .status = 403, .says = "not yours"},
	    {"it does not fit", ADA, BUDGET - HELD + 1, .status = 409,
		.says = "more than vision has left"},
	    {"the sheet can't be written", ADA, 0, .no_sheet = true,
		.status = 503, .says = "none/sheet"},
	    {"slurmctld does not answer", ADA, 0, .away = true, .status = 503,
		.says = "slurmctld is away", .moved = true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7), bobs = make_job(9);
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);
		struct lt_api_request request = {.uid = cases[i].uid,
		    .is_admin = cases[i].admin,
		    .rest = "7",
		    .now_utc_s = NOW};
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
			snprintf(w->d->paths.snapshot,
			    sizeof(w->d->paths.snapshot), "%s/none/sheet",
			    w->f->dir);
		ctld_fails = cases[i].away;
		assert_int_equal(
		    lt_api_now(w->d, &request, &reply), cases[i].status);
		char *const text = json_dumps(reply, 0);
		assert_non_null(strstr(text, cases[i].says));
		const bool is_told = cases[i].status == 200;
		assert_int_equal(told.count, is_told);
		assert_int_equal(told.begin_utc_s[0], is_told ? NOW : 0);
		assert_int_equal(told.has_text[0], is_told);
		assert_int_equal(hold_now(w, 107).quote.start_utc_s,
		    cases[i].moved ? NOW : LATER);
		free(text);
		free(comment);
		json_decref(reply);
		free_world(w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_now, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("api_now", tests, NULL, NULL);
}
