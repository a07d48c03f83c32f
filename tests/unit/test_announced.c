/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans that were told before their jobs came: whose they are, who sees them for how long, and what
 * lowtided makes of them. Twice, late, never, another's?
 */
#include <time.h>

#include "announced.h"
#include "api.h"
#include "judge_fixture.h"

enum { BEGIN = NOW + 4 * LT_HOUR_S };

/* Ada's, for make_job()'s job 7 of her account free, which begins at BEGIN. */
static struct lt_announced
make_plan(void)
{
	return (struct lt_announced){.uid = ADA,
	    .account = "free",
	    .partition = "ondemand",
	    .start_utc_s = BEGIN,
	    .limit_s = 600,
	    .tasks = 1,
	    .window = {.nodes = 0.5F, .start_utc_s = BEGIN, .end_utc_s = BEGIN + 600},
	    .home = "ondemand",
	    .objective = LT_OBJECTIVE_COST,
	    .wish = {.known = true,
		.movable = true,
		.deadline_utc_s = LT_UNSET_64,
		.expected_run_s = LT_UNSET_64,
		.max_cost_micros = LT_UNSET_64}};
}

static struct lt_batch_job
placed_job(uint32_t job_id)
{
	struct lt_batch_job job = make_job(job_id);

	job.account = "free";
	job.comment_head = "lowtide: ondemand from then";
	job.submit_utc_s = NOW;
	job.eligible_utc_s = BEGIN;
	return job;
}

static void
add(struct world *w, const struct lt_announced *plan)
{
	must(w->f, lt_announced_add(&w->d->announced, plan, NOW, &w->f->err));
}

static void
end_world(struct world *w)
{
	lt_announced_free(&w->d->announced);
	lt_batch_jobs_free(&w->d->jobs.list);
	free(w->d->jobs.ended);
	free_world(w);
}

static void
test_whose(void **state)
{
	static const struct {
		const char *why;
		int64_t now_s, submit_s, begin_utc_s, limit_s, deadline_utc_s;
		const char *account, *partition, *comment;
		uint32_t uid, array, het;
		bool found;
	} cases[] = {
	    {"its own", 5, 1, BEGIN, 600, 0, "free", "ondemand", "x", ADA, 0, 0, true},
	    {"of an array of one task", 5, 1, BEGIN, 600, 0, "free", "ondemand", "x", ADA, 7, 0,
		true},
	    {"two minutes later", 120, 120, BEGIN, 600, 0, "free", "ondemand", "x", ADA, 0, 0,
		true},
	    {"late: nobody knows it any more", 121, 1, BEGIN, 600, 0, "free", "ondemand", "x", ADA,
		0, 0, false},
	    {"another's", 5, 1, BEGIN, 600, 0, "free", "ondemand", "x", BOB, 0, 0, false},
	    {"her own of before", 5, -3, BEGIN, 600, 0, "free", "ondemand", "x", ADA, 0, 0, false},
	    {"she has moved it since", 5, 1, BEGIN + 1, 600, 0, "free", "ondemand", "x", ADA, 0, 0,
		false},
	    {"she has let it go", 5, 1, NOW + 1, 600, 0, "free", "ondemand", "x", ADA, 0, 0, false},
	    {"shorter", 5, 1, BEGIN, 540, 0, "free", "ondemand", "x", ADA, 0, 0, false},
	    {"with a deadline that the plan does not have", 5, 1, BEGIN, 600, BEGIN + 900, "free",
		"ondemand", "x", ADA, 0, 0, false},
	    {"of another account", 5, 1, BEGIN, 600, 0, "vision", "ondemand", "x", ADA, 0, 0,
		false},
	    {"in another partition", 5, 1, BEGIN, 600, 0, "free", "ondem", "x", ADA, 0, 0, false},
	    {"which SPANK did not place", 5, 1, BEGIN, 600, 0, "free", "ondemand", "", ADA, 0, 0,
		false},
	    {"a part of a het job", 5, 1, BEGIN, 600, 0, "free", "ondemand", "x", ADA, 0, 7, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		const struct lt_announced plan = make_plan();
		struct lt_announced found;
		struct lt_batch_job job = placed_job(7);

		add(w, &plan);
		job.submit_utc_s = NOW + cases[i].submit_s;
		job.eligible_utc_s = cases[i].begin_utc_s;
		job.limit_s = cases[i].limit_s;
		job.deadline_utc_s = cases[i].deadline_utc_s;
		job.account = cases[i].account;
		job.partition = cases[i].partition;
		job.comment_head = cases[i].comment;
		job.uid = cases[i].uid;
		job.array_job_id = cases[i].array;
		job.het_job_id = cases[i].het;
		if (lt_announced_find(&found, &w->d->site.market, &w->d->announced, &job,
			NOW + cases[i].now_s) != cases[i].found)
			fail_msg("%s", cases[i].why);
		end_world(w);
	}
}

/* Each job has its own, in the order they came, and keeps it. */
static void
test_twice(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_announced plan = make_plan(), found;
	const struct lt_batch_job first = placed_job(7), second = placed_job(8),
				  third = placed_job(9);

	add(w, &plan);
	plan.wish.max_cost_micros = 5;
	add(w, &plan);
	for (int again = 0; again < 2; again++) {
		assert_true(
		    lt_announced_find(&found, &w->d->site.market, &w->d->announced, &first, NOW));
		assert_int_equal(found.wish.max_cost_micros, LT_UNSET_64);
		assert_true(
		    lt_announced_find(&found, &w->d->site.market, &w->d->announced, &second, NOW));
		assert_int_equal(found.wish.max_cost_micros, 5);
		assert_false(
		    lt_announced_find(&found, &w->d->site.market, &w->d->announced, &third, NOW));
	}
	end_world(w);
}

static uint32_t
seen(const struct world *w, uint64_t generation, uint64_t sequence, int64_t now_utc_s)
{
	const struct lt_announced_seen by = {generation, sequence, now_utc_s};
	uint32_t at = 0, count = 0;

	while (lt_announced_next(&at, &w->d->announced, &by) != NULL)
		count++;
	return count;
}

/* A window is told until a market has its job, or no job has come. */
static void
test_who_sees(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_announced plan = make_plan();
	const struct lt_batch_job job = placed_job(7);
	struct lt_announced found;

	w->d->site.market.generation = 10;
	add(w, &plan);
	add(w, &plan);
	assert_int_equal(seen(w, 10, 0, NOW), 2);
	assert_int_equal(seen(w, 10, 1, NOW), 1);
	assert_int_equal(seen(w, 10, 2, NOW), 0);
	w->d->site.market.generation = 11;
	assert_true(lt_announced_find(&found, &w->d->site.market, &w->d->announced, &job, NOW));
	assert_int_equal(seen(w, 10, 0, NOW), 2);
	assert_int_equal(seen(w, 11, 0, NOW), 2);
	assert_int_equal(seen(w, 12, 0, NOW), 1);
	assert_int_equal(seen(w, 12, 0, NOW + LT_ANNOUNCED_KEEP_S), 1);
	assert_int_equal(seen(w, 12, 0, NOW + LT_ANNOUNCED_KEEP_S + 1), 0);
	/* Of very many the newest. */
	for (int i = 0; i < LT_ANNOUNCED_TOLD - 1; i++) {
		struct lt_announced of_bob = plan;

		of_bob.uid = BOB;
		add(w, &of_bob);
	}
	assert_int_equal(seen(w, 10, 0, NOW), LT_ANNOUNCED_TOLD);
	end_world(w);
}

static void
test_bounds(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_announced_state *const all = &w->d->announced;
	struct lt_announced plan = make_plan(), found;
	const struct lt_batch_job job = placed_job(7);

	for (int i = 0; i < LT_ANNOUNCED_OF_USER; i++)
		add(w, &plan);
	assert_int_equal(lt_announced_add(all, &plan, NOW, NULL), LT_ELIMIT);
	/* Whose job came is not counted; nor is what is old. */
	assert_true(lt_announced_find(&found, &w->d->site.market, &w->d->announced, &job, NOW));
	add(w, &plan);
	assert_int_equal(lt_announced_add(all, &plan, NOW, NULL), LT_ELIMIT);
	while (all->count < LT_ANNOUNCED_MAX) {
		plan.uid = 2000 + all->count / LT_ANNOUNCED_OF_USER;
		add(w, &plan);
	}
	plan.uid = 1;
	assert_int_equal(lt_announced_add(all, &plan, NOW, NULL), LT_ELIMIT);
	must(w->f, lt_announced_add(all, &plan, NOW + LT_ANNOUNCED_KEEP_S + 1, &w->f->err));
	assert_int_equal(all->count, 1);
	end_world(w);
}

static void
confirm(struct world *w, struct lt_batch_job *job)
{
	fake_jobs = (struct lt_batch_jobs){.count = 1, .jobs = job};
	must(w->f, lt_reconcile(w->d, NOW, &w->f->err));
}

/* Wishes are the user's, figures are ours, also of an account without a budget. */
static void
test_adopts(void **state)
{
	static const struct {
		const char *why, *account;
		bool told, adopted;
	} cases[] = {
	    {"placed, no budget", "free", true, true},
	    {"not placed, no budget", "free", false, false},
	    {"placed, with a budget", "vision", true, true},
	    {"placed, of an account that nobody knows", "new", true, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_announced plan = make_plan();
		struct lt_batch_job job = placed_job(7);
		struct lt_ledger_hold hold;

		print_message("# %s\n", cases[i].why);
		snprintf(plan.account, sizeof(plan.account), "%s", cases[i].account);
		job.account = cases[i].account;
		plan.flags = LT_QUOTE_CHECKPOINT;
		w->d->site.market.max_delay_s = LT_DAY_S;
		w->d->site.market.stale_after_s = LT_DAY_S;
		w->series.issued_utc_s = NOW;
		w->series.quality = LT_QUALITY_MEASURED;
		if (cases[i].told)
			add(w, &plan);
		ctld_fails = true; /* slurmctld takes the quote later */
		confirm(w, &job);
		assert_int_equal(told.count, 0);
		ctld_fails = false;
		confirm(w, &job);
		assert_int_equal(told.count, cases[i].adopted);
		const int found = lt_ledger_hold_of_job(w->f->ledger, 7, &hold, NULL);
		assert_int_equal(found == LT_OK, cases[i].adopted);
		if (cases[i].adopted) {
			const struct lt_quote *const quote = &hold.quote;

			assert_true(told.has_text[0]);
			assert_int_equal(quote->objective, LT_OBJECTIVE_COST);
			assert_int_equal(quote->flags, LT_QUOTE_CHECKPOINT);
			assert_string_equal(quote->home, "ondemand");
			assert_int_equal(quote->plan_start_utc_s, BEGIN);
			assert_int_equal(quote->home_start_utc_s, NOW);
			/* Half a node for ten minutes, at one price. */
			assert_int_equal(quote->plan_expected.money_micros, 300000);
			assert_int_equal(quote->home_expected.money_micros, 300000);
			assert_int_equal(quote->hold_per_task.money_micros, 300001);
			assert_string_equal(quote->why, "ondemand:best:300000/-");
		}
		end_world(w);
	}
}

/* slurmctld took no quote while the plan was known: what is held for the job is not without one. */
static void
test_forgotten(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_announced plan = make_plan();
	struct lt_batch_job job = placed_job(7);

	add(w, &plan);
	ctld_fails = true;
	confirm(w, &job);
	assert_int_equal(w->d->jobs.live_count, 1);
	lt_announced_free(&w->d->announced);
	confirm(w, &job);
	ctld_fails = false;
	assert_int_equal(w->d->jobs.live_count, 1);
	assert_int_equal(w->d->jobs.live[0].live, 1);
	end_world(w);
}

static const char wished[] = "lowtide:1 q=000000000000002a rev=1 team=free hold=-,- n=1 "
			     "win=0-600 plan=ondemand@0 base=ondemand@0 exp=-,- was=-,- by=cost "
			     "mode=enforce f=0 ask=1,0,-,-,-,0,0,0,0,0;";

static void
test_request(void **state)
{
	static const struct {
		const char *why, *uri;
		uint32_t uid;
		const char *seen, *window, *quote;
		int status;
		bool booked;
	} cases[] = {
	    {"asks only", "/v1/plan", ADA, "0", NULL, NULL, 200, false},
	    {"tells", "/v1/plan", ADA, "1", "500000,600", wished, 200, true},
	    {"has not seen the first", "/v1/plan", ADA, "0", "500000,600", wished, 200, false},
	    {"for another", "/v1/plan?uid=5", ADA, "1", "500000,600", wished, 403, false},
	    {"root for another", "/v1/plan?uid=5", 0, "1", "500000,600", wished, 200, true},
	    {"more nodes than there are", "/v1/plan", ADA, "1", "8000001,600", wished, 400, false},
	    {"no nodes", "/v1/plan", ADA, "1", "0,600", wished, 400, false},
	    {"no time", "/v1/plan", ADA, "1", "500000,0", wished, 400, false},
	    {"no quote", "/v1/plan", ADA, "1", "500000,600", "lowtide:1 x;", 400, false},
	    {"seen is no number", "/v1/plan", ADA, "\"1\"", NULL, NULL, 400, false},
	    {"seen is negative", "/v1/plan", ADA, "-1", NULL, NULL, 400, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		const int64_t now_utc_s = (int64_t)time(NULL);
		struct lt_announced first = make_plan();
		char body[2048];
		char *reply = NULL;
		long long nodes_ppm = 0, length_s = 0;
		int used;

		w->d->site.has_market = w->d->acting = true;
		must(w->f, lt_announced_add(&w->d->announced, &first, now_utc_s, &w->f->err));
		used = snprintf(body, sizeof(body), "{\"generation\":0,\"seen\":%s", cases[i].seen);
		if (cases[i].quote != NULL) {
			assert_int_equal(
			    sscanf(cases[i].window, "%lld,%lld", &nodes_ppm, &length_s), 2);
			used += snprintf(body + used, sizeof(body) - (size_t)used,
			    ",\"nodes_ppm\":%lld,\"start\":%lld,\"end\":%lld,"
			    "\"quote\":\"%s\"",
			    nodes_ppm, (long long)now_utc_s, (long long)now_utc_s + length_s,
			    cases[i].quote);
		}
		used += snprintf(body + used, sizeof(body) - (size_t)used, "}");
		const int status = lt_api(w->d,
		    &(struct lt_api_asked){
			cases[i].uid, "POST", cases[i].uri, body, (size_t)used, NULL},
		    &reply);
		if (status != cases[i].status)
			fail_msg("%s: %d %s", cases[i].why, status, reply);
		assert_int_equal(w->d->announced.count, 1 + (int)cases[i].booked);
		if (status == 200 && !cases[i].booked && strcmp(cases[i].seen, "0") == 0)
			assert_non_null(strstr(reply, "\"seen\":1,\"planned\":[[\"ondemand\","
						      "500000,"));
		if (cases[i].booked)
			assert_int_equal(
			    w->d->announced.plans[1].uid, cases[i].uid == 0 ? 5 : cases[i].uid);
		free(reply);
		end_world(w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_whose, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_twice, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_who_sees, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_bounds, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_adopts, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_forgotten, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_request, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
