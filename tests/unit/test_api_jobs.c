/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/jobs: what is said of jobs that wait, run and have ended, in pages that fit into a
 * credential.
 */
#include <jansson.h>

#include "api.h"
#include "judge_fixture.h"
#include "ledger_jobs.h"
#include "replanning.h"
#include "price.h"
#include "settling.h"

enum { LATER = NOW + 7200, LONG_NAME = 127, MANY = 450 };

/* Its quote, on the job and in the ledger: planned for later, 2 of 8 dollars. */
static void
plan(struct world *w, struct lt_batch_job *job, char *text, uint32_t tasks)
{
	struct lt_ledger_hold hold = hold_job(w, job, 3000000, 0);
	struct lt_quote *const quote = &hold.quote;

	quote->tasks = hold.live_tasks = tasks;
	quote->plan_start_utc_s = LATER;
	strcpy(quote->partition, "ondemand");
	quote->wish.known = true;
	quote->plan_expected = (struct lt_amount){true, true, 2000000, 400};
	quote->home_expected = (struct lt_amount){true, false, 8000000, 0};
	must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
	assert_int_equal(lt_quote_pack(text, LT_QUOTE_TEXT_SIZE, quote), LT_OK);
	job->admin_comment = text;
	job->eligible_utc_s = LATER;
	job->state_text = "PENDING";
}

static json_t *
ask(struct world *w, const char *rest)
{
	struct lt_api_request request = {.uid = ADA, .rest = rest, .now_utc_s = NOW};
	json_t *reply = NULL;
	const int status = rest[0] == '\0' ? lt_api_jobs(w->d, &request, &reply)
					   : lt_api_one_job(w->d, &request, &reply);

	if (status != 200)
		fail_msg(
		    "%s: %d, %s", rest, status, json_string_value(json_object_get(reply, "error")));
	return reply;
}

/* One job's object as text, with its keys in order. */
static char *
only_job(json_t *reply)
{
	const json_t *const jobs = json_object_get(reply, "jobs");

	assert_int_equal(json_array_size(jobs), 1);
	char *const text = json_dumps(json_array_get(jobs, 0), JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(reply);
	return text;
}

static void
has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no %s in %s", part, text);
}

/* What waits for a budget says until when: its month's next begins in December. */
static void
test_held(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7);
	char text[LT_QUOTE_TEXT_SIZE];
	struct lt_ledger_hold hold;

	plan(w, &job, text, 1);
	must(w->f, lt_ledger_hold_of_job(w->f->ledger, 7, &hold, &w->f->err));
	hold.quote.flags |= LT_QUOTE_BUDGET_HOLD;
	must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
	w->d->jobs.list = (struct lt_batch_jobs){.count = 1, .jobs = &job};
	char *const said = only_job(ask(w, ""));
	has(said, "\"held\":{\"by\":\"budget\",\"until\":\"2026-12-01T00:00:00Z\"}");
	free(said);
	job.state = LT_JOB_RUNNING;
	job.start_utc_s = NOW;
	char *const runs = only_job(ask(w, ""));
	has(runs, "\"held\":null");
	free(runs);
	free_world(w);
}

/* An array of 4, of which one task has started: what waits is of 3. */
static void
test_waiting(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job jobs[] = {make_job(7), make_job(9)};
	char text[LT_QUOTE_TEXT_SIZE], quote[LT_QUOTE_TEXT_SIZE];

	plan(w, &jobs[0], text, 4);
	jobs[0].array_job_id = 7;
	jobs[0].array_tasks = "2-4";
	jobs[0].array_pending = 3;
	jobs[0].name = "na\xff"
		       "me"; /* no UTF-8 */
	jobs[1].uid = BOB;
	plan(w, &jobs[1], quote, 1);
	w->d->jobs.list = (struct lt_batch_jobs){.count = 2, .jobs = jobs};
	char *const said = only_job(ask(w, ""));
	has(said, "\"id\":\"7_[2-4]\"");
	has(said, "\"array_job_id\":7,\"array_task\":null");
	has(said, "\"tasks\":3");
	has(said, "\"name\":\"na?me\"");
	has(said, "\"plan\":{\"partition\":\"ondemand\",\"start\":\"2026-11-06T02:00:00Z\"}");
	has(said, "\"expected\":{\"carbon_mg\":300,\"money_micros\":1500000}");
	has(said, "\"most\":{\"carbon_mg\":null,\"money_micros\":9000000}");
	/* What it would emit at home is not known. */
	has(said, "\"saves\":{\"carbon_mg\":null,\"money_micros\":4500000}");
	has(said, "\"so_far\":null");
	has(said, "\"charged\":null");
	has(said, "\"ended\":false");
	has(said, "\"held\":null");
	free(said);
	char *const one = only_job(ask(w, "7_3"));
	has(one, "\"id\":\"7_[2-4]\"");
	free(one);
	free_world(w);
}

/* Until when lowtide lets it stand still; not of the run before, nor where others have had their
 * say. */
static void
test_pause(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7);
	struct lt_paused row = {.job_id = 7,
	    .start_utc_s = NOW,
	    .step = LT_PAUSE_PAUSED,
	    .until_utc_s = LATER,
	    .saves = {.has_carbon = true, .carbon_mg = 1200}};
	char text[LT_QUOTE_TEXT_SIZE], wants[128], at[40];

	plan(w, &job, text, 1);
	job.state = LT_JOB_SUSPENDED;
	job.start_utc_s = NOW;
	w->d->jobs.list = (struct lt_batch_jobs){.count = 1, .jobs = &job};
	w->d->jobs.paused = &row;
	w->d->jobs.paused_count = 1;
	snprintf(wants, sizeof(wants),
	    "\"pause\":{\"saves\":{\"carbon_mg\":1200,\"money_micros\":null},"
	    "\"until\":\"%s\"}",
	    lt_utc_text(at, sizeof(at), LATER));
	char *said = only_job(ask(w, ""));
	has(said, wants);
	free(said);
	row.step = LT_PAUSE_LEFT;
	said = only_job(ask(w, ""));
	has(said, "\"pause\":null");
	free(said);
	row.step = LT_PAUSE_PAUSED;
	row.start_utc_s = NOW - 1;
	said = only_job(ask(w, ""));
	has(said, "\"pause\":null");
	free(said);
	w->d->jobs.paused = NULL;
	w->d->jobs.paused_count = 0;
	free_world(w);
}

/* What is said of the next decision is when it is due. */
static void
test_next(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7);
	char text[LT_QUOTE_TEXT_SIZE], wants[64], at[40];

	plan(w, &job, text, 1);
	w->d->jobs.list = (struct lt_batch_jobs){.count = 1, .jobs = &job};
	for (int64_t now = NOW; now < LATER; now += 97) {
		const int64_t next = lt_replan_next(&job, now);

		/* Each hour at least, and 5 minutes before the start. */
		assert_true(next == 0 || (next > now && next <= now + 3600));
		assert_true(next == 0 || next <= LATER - 300 || now >= LATER - 300);
		assert_true(next != 0 || now >= LATER - 3600);
	}
	assert_int_equal(lt_replan_next(&job, LATER - 301), LATER - 300);
	snprintf(wants, sizeof(wants), "\"next_decision\":\"%s\"",
	    lt_utc_text(at, sizeof(at), lt_replan_next(&job, NOW)));
	char *said = only_job(ask(w, ""));
	has(said, wants);
	free(said);
	job.held = true; /* nobody decides it then */
	said = only_job(ask(w, ""));
	has(said, "\"next_decision\":null");
	free(said);
	job.held = false;
	w->policy.mode = LT_MODE_OBSERVE;
	said = only_job(ask(w, ""));
	has(said, "\"next_decision\":null");
	free(said);
	free_world(w);
}

/* The cost so far is what the same run is charged when it ends there, at two prices and with a
 * while suspended. */
static void
test_so_far(void **state)
{
	static const int64_t suspended_s[] = {0, 600};

	for (int i = 0; i < 2; i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		struct lt_rate_step steps[] = {{.start_utc_s = NOVEMBER,
						   .end_utc_s = NOW - 1000,
						   .value = 3600000,
						   .quality = LT_QUALITY_CONSTANT},
		    {.start_utc_s = NOW - 1000,
			.end_utc_s = INT64_MAX,
			.value = 7200000,
			.quality = LT_QUALITY_CONSTANT}};
		struct lt_batch_run *const row = calloc(1, sizeof(*row));
		struct lt_batch_runs rows = {.count = 1, .runs = row};
		struct lt_run run;
		const struct lt_run_key key = {7, job.submit_utc_s};

		hold_job(w, &job, 9000000, 0);
		must(w->f, lt_ledger_put_rates(w->f->ledger, "ondemand", LT_RATE_PRICE,
			       &(struct lt_rates){2, steps}, &w->f->err));
		job.state = LT_JOB_RUNNING;
		job.state_text = "RUNNING";
		job.start_utc_s = NOW - 3000;
		job.suspended_s = suspended_s[i];
		*row = (struct lt_batch_run){.job_id = 7,
		    .array_task = UINT32_MAX,
		    .uid = ADA,
		    .finished = true,
		    .submit_utc_s = job.submit_utc_s,
		    .start_utc_s = job.start_utc_s,
		    .end_utc_s = NOW,
		    .suspended_s = suspended_s[i],
		    .nodes = 1,
		    .cpus = 32,
		    .has_gpus = true,
		    .energy_joules = -1,
		    .user = "ada",
		    .account = "vision",
		    .partition = "ondemand",
		    .state_text = "COMPLETED"};
		const struct lt_amount cost =
		    lt_so_far(&job, &w->d->site.market, w->f->ledger, NOW);
		must(w->f, settle_rows(w->d, &rows, NOW, &w->f->err));
		must(w->f, lt_ledger_run(w->f->ledger, key, &run, &w->f->err));
		assert_true(cost.has_money);
		assert_true(cost.money_micros > 0);
		assert_in_range(cost.money_micros - run.money_micros + 1, 0, 2);
		/* 2000 s at one price and 1000 s at twice that, half a node. */
		if (suspended_s[i] == 0)
			assert_int_equal(cost.money_micros, 2000000);
		/* Once it has ended its charge is said in its place. */
		w->d->jobs.list = (struct lt_batch_jobs){.count = 1, .jobs = &job};
		char wants[64];
		snprintf(
		    wants, sizeof(wants), "\"money_micros\":%lld}", (long long)run.money_micros);
		job.state = LT_JOB_FINISHED;
		job.state_text = "COMPLETED";
		job.end_utc_s = NOW;
		char *said = only_job(ask(w, ""));
		has(said, "\"so_far\":null");
		has(strstr(said, "\"charged\":"), wants);
		has(said, "\"ended\":true");
		free(said);
		/* And when the list has it no more. */
		w->d->jobs.list.count = 0;
		said = only_job(ask(w, "7"));
		has(strstr(said, "\"charged\":"), wants);
		has(said, "\"state\":\"COMPLETED\"");
		free(said);
		lt_batch_runs_free(&rows);
		free_world(w);
	}
}

/* What its cost is for; a discount is no saving. */
static void
test_parts(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_run run = make_run(7, NOW - 3600, NOW - 60, 1000);

	run.uid = ADA;
	assert_true(settle(w->f, &run, NOW, NOVEMBER));
	char *const said = only_job(ask(w, "7"));
	has(said, "\"charged\":{\"carbon_charge_micros\":8,\"carbon_mg\":500,"
		  "\"discount_micros\":3,\"money_micros\":1000}");
	has(said, "\"saves\":{\"carbon_mg\":-491,\"money_micros\":2}");
	free(said);
	free_world(w);
}

/* Cancelled while it waited: Slurm says that it started at its end. */
static void
test_never_ran(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7);
	char text[LT_QUOTE_TEXT_SIZE];

	plan(w, &job, text, 1);
	job.state = LT_JOB_FINISHED;
	job.state_text = "CANCELLED";
	job.start_utc_s = job.end_utc_s = NOW - 5;
	w->d->jobs.list = (struct lt_batch_jobs){.count = 1, .jobs = &job};
	char *const said = only_job(ask(w, ""));
	has(said, "\"start\":null,\"state\":\"CANCELLED\"");
	has(said, "\"end\":\"2026-11-05T23:59:55Z\"");
	has(said, "\"ended\":true");
	free(said);
	free_world(w);
}

/* Gone from the list, and its row is not here yet: it was, and has ended. */
static void
test_row_is_awaited(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_batch_job job = make_job(7);
	struct lt_ledger_hold hold = hold_job(w, &job, 9000000, 0);
	struct lt_api_request request = {.uid = BOB, .rest = "7", .now_utc_s = NOW};
	json_t *reply = NULL;

	hold.start_utc_s = NOW - 60;
	must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
	char *const said = only_job(ask(w, "7"));
	has(said, "\"state\":\"ENDED\"");
	has(said, "\"start\":\"2026-11-05T23:59:00Z\"");
	has(said, "\"charged\":null");
	free(said);
	assert_int_equal(lt_api_one_job(w->d, &request, &reply), 403);
	json_decref(reply);
	free_world(w);
}

enum { OPERATOR = 2000, COORDINATOR, STRANGER, ROOT = 0, SLURM = 64030 };

/* The status; ids: of the jobs that are shown, in their order, "7 9 ". */
static int
ids_for(struct world *w, uint32_t uid, const char *uri, char ids[64])
{
	char *text = NULL;
	size_t index;
	json_t *job;
	const int status =
	    lt_api(w->d, &(struct lt_api_asked){.uid = uid, .method = "GET", .uri = uri}, &text);
	json_t *const reply = json_loads(text, 0, NULL);

	ids[0] = '\0';
	json_array_foreach(json_object_get(reply, "jobs"), index, job)
		snprintf(ids + strlen(ids), 64 - strlen(ids), "%lld ",
		    json_integer_value(json_object_get(job, "job_id")));
	json_decref(reply);
	free(text);
	return status;
}

/* Jobs of Ada and Bob, in the list, ended, and known by a hold alone: each user sees their own, and
 * others' only who may. */
static void
test_whose(void **state)
{
	static const struct {
		uint32_t uid;
		const char *uri;
		uint32_t private_data;
		int status;
		const char *ids;
	} cases[] = {
	    {ADA, "/v1/jobs", 0, 200, "7 "},
	    {BOB, "/v1/jobs", 0, 200, "9 11 "},
	    {ADA, "/v1/jobs?all=1", 0, 200, "7 "},
	    {BOB, "/v1/jobs?all=1", 0, 200, "9 11 "},
	    {STRANGER, "/v1/jobs", 0, 200, ""},
	    {STRANGER, "/v1/jobs?all=1", 0, 200, ""},
	    {ROOT, "/v1/jobs", 0, 200, ""},
	    {ROOT, "/v1/jobs?all=1", 0, 200, "7 9 11 "},
	    {SLURM, "/v1/jobs?all=1", 0, 200, "7 9 11 "},
	    {OPERATOR, "/v1/jobs?all=1", 0, 200, "7 9 11 "},
	    {COORDINATOR, "/v1/jobs?all=1", 0, 200, "11 "},
	    {ADA, "/v1/jobs?user=ada", 0, 200, "7 "},
	    {ADA, "/v1/jobs?user=1000", 0, 200, "7 "},
	    {ADA, "/v1/jobs?user=bob", 0, 403, ""},
	    {ADA, "/v1/jobs?user=1001", 0, 403, ""},
	    {STRANGER, "/v1/jobs?user=bob", 0, 403, ""},
	    {OPERATOR, "/v1/jobs?user=bob", 0, 200, "9 11 "},
	    {ROOT, "/v1/jobs?user=bob", 0, 200, "9 11 "},
	    {COORDINATOR, "/v1/jobs?user=bob", 0, 200, "11 "},
	    {COORDINATOR, "/v1/jobs?user=ada", 0, 200, ""},
	    {BOB, "/v1/jobs/9", 0, 200, "9 "},
	    {ADA, "/v1/jobs/9", 0, 403, ""},
	    {ADA, "/v1/jobs/9", LT_PRIVATE_JOBS, 404, ""},
	    {STRANGER, "/v1/jobs/9", 0, 403, ""},
	    {COORDINATOR, "/v1/jobs/9", 0, 403, ""},
	    {COORDINATOR, "/v1/jobs/11", 0, 200, "11 "},
	    {OPERATOR, "/v1/jobs/9", 0, 200, "9 "},
	    /* Its run alone is left. */
	    {BOB, "/v1/jobs/20", 0, 200, "20 "},
	    {ADA, "/v1/jobs/20", 0, 403, ""},
	    {ADA, "/v1/jobs/20", LT_PRIVATE_JOBS, 404, ""},
	    {ROOT, "/v1/jobs/20", 0, 200, "20 "},
	    /* Its hold alone. */
	    {BOB, "/v1/jobs/21", 0, 200, "21 "},
	    {ADA, "/v1/jobs/21", 0, 403, ""},
	    {OPERATOR, "/v1/jobs/21", 0, 200, "21 "},
	    {ADA, "/v1/jobs/22", 0, 404, ""},
	};
	static struct lt_batch_manager managers[] = {{OPERATOR, ""}, {COORDINATOR, "speech"}};
	struct world *const w = make_world(*state);
	struct lt_batch_job jobs[] = {make_job(7), make_job(9), make_job(11)}, gone = make_job(21);
	char texts[3][LT_QUOTE_TEXT_SIZE];
	struct lt_run run = make_run(20, NOW - 3600, NOW - 60, 1000);
	int failed = 0;

	jobs[1].uid = jobs[2].uid = gone.uid = run.uid = BOB;
	jobs[1].user = jobs[2].user = "bob";
	jobs[2].account = "speech";
	for (int i = 0; i < 3; i++)
		plan(w, &jobs[i], texts[i], 1);
	hold_job(w, &gone, 9000000, 0);
	assert_true(settle(w->f, &run, NOW, NOVEMBER));
	w->d->site.tables.managers = managers;
	w->d->site.tables.manager_count = 2;
	w->d->site.tables.conf.slurm_uid = SLURM;
	compile(w, NOW);
	w->d->jobs.list = (struct lt_batch_jobs){.count = 3, .jobs = jobs};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char ids[64];

		w->d->site.tables.private_data = cases[i].private_data;
		const int status = ids_for(w, cases[i].uid, cases[i].uri, ids);
		if (status != cases[i].status || strcmp(ids, cases[i].ids) != 0) {
			print_error("%u, %s: %d \"%s\", want %d \"%s\"\n", cases[i].uid,
			    cases[i].uri, status, ids, cases[i].status, cases[i].ids);
			failed++;
		}
	}
	assert_int_equal(failed, 0);
	free_world(w);
}

/* A job that waits has cost nothing that is known, not 0. */
static void
test_no_price(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7);

	job.start_utc_s = NOW - 60;
	assert_false(lt_so_far(&job, &w->d->site.market, w->f->ledger, NOW).has_money);
	job.state = LT_JOB_RUNNING;
	assert_false(lt_so_far(&job, &w->d->site.market, w->f->ledger, NOW).has_money);
	free_world(w);
}

/* All, once each, and no page is more than a credential takes. */
static void
test_pages(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job *const jobs = calloc(MANY, sizeof(*jobs));
	char name[LONG_NAME + 1], places[1000], text[LT_QUOTE_TEXT_SIZE];
	struct lt_api_request request = {.uid = ADA, .now_utc_s = NOW, .rest = ""};
	uint32_t seen = 0, last = 0;

	memset(name, '"', LONG_NAME);
	name[LONG_NAME] = '\0';
	memset(places, '\\', sizeof(places) - 1);
	places[sizeof(places) - 1] = '\0';
	for (uint32_t i = 0; i < MANY; i++) {
		jobs[i] = make_job(1000 + i);
		plan(w, &jobs[i], text, 1);
		jobs[i].name = jobs[i].reason_text = jobs[i].user = name;
		jobs[i].partition = places;
	}
	w->d->jobs.list = (struct lt_batch_jobs){.count = MANY, .jobs = jobs};
	for (int page = 0; page < 3; page++) {
		json_t *reply = NULL;
		size_t index;
		json_t *job;

		assert_int_equal(lt_api_jobs(w->d, &request, &reply), 200);
		char *const all = json_dumps(reply, JSON_COMPACT);
		assert_true(strlen(all) < LT_API_REPLY_MAX - 64 * 1024);
		free(all);
		json_array_foreach(json_object_get(reply, "jobs"), index, job) {
			const uint32_t id =
			    (uint32_t)json_integer_value(json_object_get(job, "job_id"));

			assert_true(id > last);
			last = id;
			seen++;
		}
		const json_t *const next = json_object_get(reply, "next");
		assert_int_equal(json_is_null(next), page == 2);
		request.value_count = 1;
		strcpy(request.values[0].key, "after");
		snprintf(request.values[0].value, sizeof(request.values[0].value), "%lld",
		    (long long)json_integer_value(next));
		json_decref(reply);
	}
	assert_int_equal(seen, MANY);
	free(jobs);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(test_waiting),
	    EACH(test_held),
	    EACH(test_pause),
	    EACH(test_next),
	    EACH(test_so_far),
	    EACH(test_parts),
	    EACH(test_never_ran),
	    EACH(test_row_is_awaited),
	    EACH(test_whose),
	    EACH(test_no_price),
	    EACH(test_pages),
	};

	return cmocka_run_group_tests_name("api_jobs", tests, NULL, NULL);
}
