/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sees how long whose jobs ran, who may erase it, and what is left then.
 */
#include <jansson.h>
#include <time.h>

#include "api.h"
#include "daemon.h"
#include "ledger_fixture.h"
#include "lengths.h"
#include "log.h"

enum {
	ROOT = 0,
	ADA = 3001000,
	BOB,
	OPERATOR,
	COORDINATOR,
	SLURM = 64030,
	ENDED = NOVEMBER + HOUR,
};

static struct lt_batch_manager managers[] = {{OPERATOR, ""}, {COORDINATOR, "vision"}};

static void
learn(struct fixture *f, uint32_t uid, const char *name, int64_t length_s)
{
	static uint32_t job_id = 1;
	struct lt_run run = make_run(job_id++, ENDED - length_s, ENDED, 0);
	struct lt_batch_run row = {.limit_s = 7200};
	const struct lt_ended_run ended = {.row = &row, .run = &run};

	run.uid = uid;
	(void)strcpy(row.state_text, "COMPLETED");
	(void)strcpy(row.partition, "ondemand");
	(void)snprintf(row.name, sizeof(row.name), "%s", name);
	must(f, lt_lengths_learn(f->ledger, &ended, 0, &f->err));
}

static int
asked(struct lt_daemon *d, char **reply, uint32_t uid, const char *uri, const char *body)
{
	return lt_api(d,
	    &(struct lt_api_asked){.uid = uid,
		.method = body != NULL ? "POST" : "GET",
		.uri = uri,
		.body = body,
		.body_length = body != NULL ? strlen(body) : 0},
	    reply);
}

static void
ones_own_alone(void **state)
{
	struct fixture *const f = *state;
	static const struct {
		const char *why;
		uint32_t uid;
		const char *uri, *body;
		int status;
		const char *has, *has_not; /* in the answer; NULL = nothing */
	} cases[] = {
	    {"her own", ADA, "/v1/history", NULL, 200,
		"\"name\":\"train_#\",\"nodes\":1,\"cpus\":64,\"gpus\":8,"
		"\"limit_up_to_s\":14400,\"interactive\":false,"
		"\"runs\":3,\"median_s\":720,\"upper_s\":900,"
		"\"upper_is_longest\":true,\"limit_ratio\":0.1",
		"secret"},
	    {"and when the last one ended", ADA, "/v1/history", NULL, 200,
		"\"last\":\"2026-11-01T01:00:00Z\"", NULL},
	    {"of one name, with any digits", ADA, "/v1/history?name=train_99", NULL, 200, "train_#",
		"eval"},
	    {"of another name", ADA, "/v1/history?name=nothing", NULL, 200, "\"groups\":[]", NULL},
	    {"by his own name", BOB, "/v1/history?user=3001001", NULL, 200, "secret", "train"},
	    {"not another's", ADA, "/v1/history?user=3001001", NULL, 403,
		"only for root, SlurmUser, operators and viewers", "secret"},
	    {"nor as a coordinator", COORDINATOR, "/v1/history?user=3001001", NULL, 403, "only for",
		"secret"},
	    {"root", ROOT, "/v1/history?user=3001001", NULL, 200, "secret", NULL},
	    {"SlurmUser", SLURM, "/v1/history?user=3001001", NULL, 200, "secret", NULL},
	    {"an operator", OPERATOR, "/v1/history?user=3001001", NULL, 200, "secret", NULL},
	    {"nobody of that name", ROOT, "/v1/history?user=no-such-user", NULL, 404,
		"user no-such-user: not known", NULL},
	    {"nobody at all", ROOT, "/v1/history?user=", NULL, 404, "not known", NULL},
	    {"root's own", ROOT, "/v1/history", NULL, 200, "\"groups\":[]", NULL},
	    {"no operator erases others'", OPERATOR, "/v1/history/forget", "{\"user\":\"3001001\"}",
		403, "only for root, SlurmUser and", NULL},
	    {"nor does another user", ADA, "/v1/history/forget", "{\"user\":\"3001001\"}", 403,
		"only for root, SlurmUser and", NULL},
	    {"without a user", ADA, "/v1/history/forget", "{}", 400, "want {user}", NULL},
	    {"of nobody", ROOT, "/v1/history/forget", "{\"user\":\"no-such-user\"}", 404,
		"not known", NULL},
	    {"Bob's are all there", BOB, "/v1/history", NULL, 200, "secret", NULL},
	    {"his own", BOB, "/v1/history/forget", "{\"user\":\"3001001\"}", 200, "\"runs\":1",
		NULL},
	    {"are gone", BOB, "/v1/history", NULL, 200, "\"groups\":[]", "secret"},
	    {"hers are not", ADA, "/v1/history", NULL, 200, "train_#", NULL},
	    {"root erases hers", ROOT, "/v1/history/forget", "{\"user\":\"3001000\"}", 200,
		"\"runs\":4", NULL},
	    {"which are gone", ADA, "/v1/history", NULL, 200, "\"groups\":[]", NULL},
	};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_policy policy = {.deadline_confidence_ppm = 950000, .history_days = 400};

	d->site.policy = &policy;
	d->ledger = f->ledger;
	d->site.tables.conf.slurm_uid = SLURM;
	d->site.tables.managers = managers;
	d->site.tables.manager_count = 2;
	d->charges.history_written = true;
	(void)snprintf(d->paths.history, sizeof(d->paths.history), "%s/history", f->dir);
	lt_log_open("/dev/null");
	learn(f, ADA, "train_1", 600);
	learn(f, ADA, "train_2", 720);
	learn(f, ADA, "train_3", 900);
	learn(f, ADA, "eval", 60);
	learn(f, BOB, "secret", 60);
	must(f, lt_lengths_publish(
		    d->site.policy, d->ledger, &d->charges, d->paths.history, NOVEMBER, &f->err));
	assert_true(d->charges.history_written);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *reply;
		const int status = asked(d, &reply, cases[i].uid, cases[i].uri, cases[i].body);

		if (status != cases[i].status || strstr(reply, cases[i].has) == NULL ||
		    (cases[i].has_not != NULL && strstr(reply, cases[i].has_not) != NULL))
			fail_msg("%s: %d %s", cases[i].why, status, reply);
		free(reply);
	}
	/* The file follows at once. */
	assert_false(d->charges.history_written);
	assert_int_equal(d->charges.next.history, 0);
	remove_file(f->dir, "history");
	free(d);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {EACH(ones_own_alone)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
