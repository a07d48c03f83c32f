/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/explain/ID and POST /v1/now/ID by several users: each sees what is his own, also when
 * Slurm gave one id to two jobs; admins see all.
 */
#include <jansson.h>

#include "api.h"
#include "daemon.h"
#include "ledger_fixture.h"

enum { ROOT = 0, ADA = 1000, BOB, EVE, SLURM = 64030, LATER = NOVEMBER + 9000 };

static struct lt_ledger_hold
hold_of(uint64_t id, uint32_t uid, uint32_t job_id, int64_t submit_utc_s)
{
	struct lt_ledger_hold hold = make_hold(id, 1);

	hold.uid = uid;
	hold.job_id = job_id;
	hold.submit_utc_s = hold.made_utc_s = submit_utc_s;
	return hold;
}

static void
run_of(struct fixture *f, uint32_t uid, uint32_t job_id, int64_t submit_utc_s, uint64_t quote_id)
{
	struct lt_run run = make_run(job_id, submit_utc_s + 60, submit_utc_s + 660, 1000);

	run.uid = uid;
	run.quote_id = quote_id;
	(void)snprintf(run.user, sizeof(run.user), "u%u", uid);
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
}

/* As on a system where jobs have names. */
int
lt_batch_find(const char *name, uint32_t *job_id, struct lt_error *err)
{
	if (strcmp(name, "vision/train") != 0)
		return lt_fail(err, LT_ENOENT, "no Job %s is known", name);
	*job_id = 7;
	return LT_OK;
}

/*
 * Job 5 was Ada's, with a run; then ids began again, and 5 is Bob's, which is pending. 6 was Ada's,
 * and is nobody's now; 7 is Bob's, and has no run yet.
 */
static void
make_world(struct fixture *f)
{
	const struct lt_ledger_hold holds[] = {hold_of(51, ADA, 5, NOVEMBER),
	    hold_of(52, BOB, 5, LATER), hold_of(61, ADA, 6, NOVEMBER), hold_of(71, BOB, 7, LATER)};

	for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++)
		must(f, lt_ledger_put_hold(f->ledger, &holds[i], &f->err));
	run_of(f, ADA, 5, NOVEMBER, 51);
	run_of(f, ADA, 6, NOVEMBER, 61);
}

static int
ask(struct fixture *f, uint32_t uid, const char *method, const char *uri, json_t **answer)
{
	static struct lt_batch_job jobs[2];
	static struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	char *text = NULL;

	assert_non_null(d);
	jobs[0] = (struct lt_batch_job){
	    .job_id = 5, .uid = BOB, .state = LT_JOB_PENDING, .submit_utc_s = LATER};
	jobs[1] = (struct lt_batch_job){
	    .job_id = 7, .uid = BOB, .state = LT_JOB_PENDING, .submit_utc_s = LATER};
	jobs[0].account = "vision";
	jobs[1].account = "vision";
	d->ledger = f->ledger;
	d->site.policy = &policy;
	d->site.tables.conf.slurm_uid = SLURM;
	d->jobs.list.jobs = jobs;
	d->jobs.list.count = 2;
	d->jobs.next.list = INT64_MAX; /* nobody asks slurmctld */
	const int status = lt_api(d, &(struct lt_api_asked){uid, method, uri, "", 0, NULL}, &text);
	*answer = json_loads(text, 0, NULL);
	assert_non_null(*answer);
	free(text);
	free(d);
	return status;
}

static const struct {
	const char *why;
	uint32_t uid;
	const char *uri;
	int status;
	size_t runs;	   /* how many, */
	const char *users; /* and whose */
	const char *quote; /* id of the quote, NULL = none */
} explains[] = {
    {"the former owner sees his run, not the new job", ADA, "/v1/explain/5", 200, 1, "u1000",
	"0000000000000033"},
    {"the new owner sees his job, not the former run", BOB, "/v1/explain/5", 200, 0, "",
	"0000000000000034"},
    {"nobody else sees either", EVE, "/v1/explain/5", 403, 0, "", NULL},
    {"root sees all", ROOT, "/v1/explain/5", 200, 1, "u1000", "0000000000000034"},
    {"SlurmUser sees all", SLURM, "/v1/explain/5", 200, 1, "u1000", "0000000000000034"},
    {"one's own job that is gone", ADA, "/v1/explain/6", 200, 1, "u1000", "000000000000003d"},
    {"another's that is gone", BOB, "/v1/explain/6", 403, 0, "", NULL},
    {"one's own that has not run", BOB, "/v1/explain/7", 200, 0, "", "0000000000000047"},
    {"another's that has not run", ADA, "/v1/explain/7", 403, 0, "", NULL},
    {"no such job", ADA, "/v1/explain/8", 404, 0, "", NULL},
    {"no number", ADA, "/v1/explain/x", 400, 0, "", NULL},
    {"by its name", BOB, "/v1/explain/vision/train", 200, 0, "", "0000000000000047"},
    {"another's by its name", ADA, "/v1/explain/vision%2Ftrain", 403, 0, "", NULL},
    {"no such name", BOB, "/v1/explain/vision/trane", 404, 0, "", NULL},
};

static void
test_explain(void **state)
{
	struct fixture *const f = *state;

	make_world(f);
	for (size_t i = 0; i < sizeof(explains) / sizeof(*explains); i++) {
		json_t *answer, *run;
		char users[64] = "";
		size_t k;
		const int status = ask(f, explains[i].uid, "GET", explains[i].uri, &answer);
		const json_t *const runs = json_object_get(answer, "runs");

		json_array_foreach(runs, k, run)
			strcat(users, json_string_value(json_object_get(run, "user")));
		const char *const quote =
		    json_string_value(json_object_get(json_object_get(answer, "quote"), "id"));
		if (status != explains[i].status || json_array_size(runs) != explains[i].runs ||
		    strcmp(users, explains[i].users) != 0 ||
		    (quote != NULL && explains[i].quote == NULL) ||
		    (explains[i].quote != NULL &&
			(quote == NULL || strcmp(quote, explains[i].quote) != 0)))
			fail_msg("%s: %d, %zu runs of \"%s\", quote %s", explains[i].why, status,
			    json_array_size(runs), users, quote != NULL ? quote : "none");
		json_decref(answer);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {EACH(test_explain)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
