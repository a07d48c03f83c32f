/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST /v1/plan/manifest: decided as a job that is there would be, told with what it may cost and
 * what is left, and nothing of it stays.
 */
#include <jansson.h>

#include "api.h"
#include "fits.h"
#include "judge_fixture.h"

enum { COST = 300001 }; /* of make_job() at its limit */

static struct lt_batch_job asked; /* what the manifest makes */
static const char *note;

int
lt_batch_job_of_manifest(
    struct lt_batch_manifest *out, const char *text, size_t length, struct lt_error *err)
{
	assert_int_equal(strlen(text), length);
	if (strstr(text, "bad") != NULL)
		return lt_fail(err, LT_EINPUT, "kind: got \"bad\"");
	*out = (struct lt_batch_manifest){.jobs = {.count = 1, .jobs = malloc(sizeof(asked))}};
	assert_non_null(out->jobs.jobs);
	*out->jobs.jobs = asked;
	snprintf(out->name, sizeof(out->name), "vision/train");
	snprintf(out->note, sizeof(out->note), "%s", note);
	if (asked.limit_s == INT64_MAX)
		snprintf(out->unknown, sizeof(out->unknown), "without a limit");
	return LT_OK;
}

static int
ask(struct world *w, uint32_t uid, const char *body, json_t **reply)
{
	struct lt_api_request request = {.uid = uid,
	    .is_admin = uid == 0,
	    .body = body != NULL ? json_loads(body, 0, NULL) : NULL,
	    .now_utc_s = NOW};

	*reply = NULL;
	w->d->site.has_market = w->d->acting = true;
	const int status = lt_api_plan_manifest(w->d, &request, reply);

	json_decref(request.body);
	return status;
}

static void
test_plan(void **state)
{
	static const struct {
		const char *why;
		uint32_t uid;
		const char *wishes, *account, *note;
		int64_t limit_s, spent;
		enum lt_mode mode;
		bool is_asked, waits;
		int64_t left; /* -1: not told */
		const char *says;
	} cases[] = {
	    {"it asks", 0, "carbon-aware=cost\n", "vision", "", 600, 0, LT_MODE_ENFORCE, true,
		false, BUDGET, "plan: cost\n"},
	    {"it does not ask", 0, "", "vision", "", 600, 0, LT_MODE_ENFORCE, false, false, BUDGET,
		"plan: balanced\n"},
	    {"it is told so", 0, "", "vision", "", 600, 0, LT_MODE_ENFORCE, false, false, BUDGET,
		"\nWithout lowtide.dev/carbon-aware"},
	    {"it just fits", 0, "carbon-aware=cost\n", "vision", "", 600, BUDGET - COST,
		LT_MODE_ENFORCE, true, false, COST,
		"It may cost at most $0.30; vision has $0.30 available.\n"},
	    {"it does not fit", 0, "carbon-aware=cost\n", "vision", "", 600, BUDGET - COST + 1,
		LT_MODE_ENFORCE, true, true, COST - 1, ": it would wait for budget.\n"},
	    {"in observe nothing waits", 0, "carbon-aware=cost\n", "vision", "", 600,
		BUDGET - COST + 1, LT_MODE_OBSERVE, true, false, COST - 1,
		"\nIn this mode lowtide moves nothing"},
	    {"without a limit", 0, "carbon-aware=cost\n", "vision", "", INT64_MAX, 0,
		LT_MODE_ENFORCE, false, true, -1,
		"no plan: what it may cost is not known\nIt would wait: without a limit nobody knows what it may cost at most.\n"},
	    {"a team without a budget", 0, "carbon-aware=cost\n", "free", "", 600, 0,
		LT_MODE_ENFORCE, true, false, -1, "It may cost at most $0.30.\n"},
	    {"it takes no part", 0, "carbon-aware=cost\n", "vision", "lowtide leaves it alone", 600,
		0, LT_MODE_ENFORCE, true, false, BUDGET, "\nlowtide leaves it alone.\n"},
	    {"a member sees what is left", ADA, "carbon-aware=cost\n", "vision", "", 600, 0,
		LT_MODE_ENFORCE, true, false, BUDGET, "; vision has"},
	    {"others do not", BOB, "carbon-aware=cost\n", "speech", "", 600, 0, LT_MODE_ENFORCE,
		true, false, -1, "It may cost at most $0.30.\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job other = make_job(9);
		json_t *reply;

		print_message("# %s\n", cases[i].why);
		asked = make_job(0);
		asked.wishes = cases[i].wishes;
		asked.account = cases[i].account;
		asked.limit_s = cases[i].limit_s;
		note = cases[i].note;
		w->policy.mode = w->d->site.market.mode = cases[i].mode;
		hold_job(w, &other, cases[i].spent, 0);
		compile(w, NOW);
		for (int times = 0; times < 2; times++) { /* nothing stays */
			assert_int_equal(ask(w, cases[i].uid, "{}", &reply), 200);
			const char *const text = json_string_value(json_object_get(reply, "text"));
			if (strstr(text, cases[i].says) == NULL)
				fail_msg("no \"%s\" in: %s", cases[i].says, text);
			assert_true(
			    json_is_null(json_object_get(reply, "carbon_charge_micros_per_tonne")));
			assert_int_equal(
			    json_is_true(json_object_get(reply, "asked")), cases[i].is_asked);
			assert_int_equal(json_is_true(json_object_get(reply, "waits_for_budget")),
			    cases[i].waits);
			const json_t *const left =
			    json_object_get(json_object_get(reply, "available"), "money_micros");
			assert_int_equal(
			    json_is_null(left) ? -1 : json_integer_value(left), cases[i].left);
			json_decref(reply);
		}
		assert_int_equal(told.count, 0);
		free_world(w);
	}
}

static void
test_refusals(void **state)
{
	struct world *const w = make_world(*state);
	json_t *reply;

	asked = make_job(0);
	note = "";
	assert_int_equal(ask(w, 0, NULL, &reply), 400);
	json_decref(reply);
	assert_int_equal(ask(w, 0, "{\"kind\":\"bad\"}", &reply), 400);
	assert_string_equal(
	    json_string_value(json_object_get(reply, "error")), "kind: got \"bad\"");
	json_decref(reply);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_plan, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("api_manifest", tests, NULL, NULL);
}
