/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mails to users whose plan moved: each user of their own jobs, and who has no room left in the
 * spool keeps nobody else's.
 */
#include "ledger_fixture.h"

#include "alerting.h"
#include "mails.h"
#include "spool.h"

enum {
	NOW = NOVEMBER,
	PLANNED = NOVEMBER + 10 * HOUR,
	ADA = 1000,
	BOB = 1001,
	JOBS = LT_SPOOL_USER_MAX + 4, /* the last two are Bob's */
	TEXT_SIZE = 4096,
};

struct world {
	struct fixture *f;
	struct lt_daemon *d;
	struct lt_batch_job jobs[JOBS];
	char texts[JOBS][TEXT_SIZE];
	char spool[128];
};

/* All that waits was planned for then. */
static void
plan(struct world *w, int64_t start_utc_s, uint32_t rev)
{
	for (uint32_t i = 0; i < JOBS; i++) {
		const struct lt_quote quote = {.id = 500 + i,
		    .rev = rev,
		    .tasks = 1,
		    .account = "vision",
		    .partition = "spot",
		    .home = "spot",
		    .plan_start_utc_s = start_utc_s};

		assert_int_equal(lt_quote_pack(w->texts[i], TEXT_SIZE, &quote), LT_OK);
		w->jobs[i].admin_comment = w->texts[i];
		w->jobs[i].eligible_utc_s = start_utc_s;
	}
}

static struct world *
make_world(struct fixture *f)
{
	struct world *const w = calloc(1, sizeof(*w));
	struct lt_policy *const policy = calloc(1, sizeof(*policy));

	assert_non_null(w);
	w->f = f;
	w->d = calloc(1, sizeof(*w->d));
	assert_true(w->d != NULL && policy != NULL);
	snprintf(w->spool, sizeof(w->spool), "%s/spool", f->dir);
	assert_int_equal(mkdir(w->spool, 0700), 0);
	snprintf(policy->notify.spool, sizeof(policy->notify.spool), "%s", w->spool);
	w->d->ledger = f->ledger;
	w->d->site.policy = policy;
	for (uint32_t i = 0; i < JOBS; i++)
		w->jobs[i] = (struct lt_batch_job){.job_id = 10 + i,
		    .array_task = UINT32_MAX,
		    .uid = i < JOBS - 2 ? ADA : BOB,
		    .state = LT_JOB_PENDING,
		    .name = "train",
		    .partition = "spot",
		    .submit_utc_s = NOW,
		    .mails_begin = true,
		    .mail_to = i < JOBS - 2 ? "ada@x.org" : "bob@x.org"};
	w->d->jobs.list = (struct lt_batch_jobs){.count = JOBS, .jobs = w->jobs};
	plan(w, PLANNED, 1);
	return w;
}

static void
end_world(struct world *w)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -r %s", w->spool);
	assert_int_equal(system(command), 0);
	lt_mails_free(&w->d->mails);
	free(w->d->site.policy);
	free(w->d);
	free(w);
}

/* How many wait of a user; each goes to that user, of their job. */
static int
waiting_of(struct world *w, int64_t uid)
{
	struct lt_spool_list list = {0};
	int count = 0;

	must(w->f, lt_spool_list(&list, w->spool, &w->f->err));
	for (int i = 0; i < list.count; i++) {
		struct lt_message message;

		if (lt_message_uid(list.ids[i]) != uid)
			continue;
		must(w->f, lt_spool_read(&message, w->spool, list.ids[i], &w->f->err));
		assert_int_equal(message.kind, LT_MESSAGE_MOVED);
		assert_string_equal(message.to[0], uid == ADA ? "ada@x.org" : "bob@x.org");
		count++;
	}
	lt_spool_list_free(&list);
	return count;
}

static void
test_shares(void **state)
{
	struct world *const w = make_world(*state);
	char command[160];

	must(w->f, lt_mails_run(alerter_of(w->d, NOW), &w->f->err));
	assert_int_equal(waiting_of(w, ADA) + waiting_of(w, BOB), 0);
	plan(w, PLANNED + 2 * HOUR, 2);
	must(w->f, lt_mails_run(alerter_of(w->d, NOW + 10), &w->f->err));
	assert_int_equal(waiting_of(w, ADA), LT_SPOOL_USER_MAX);
	assert_int_equal(waiting_of(w, BOB), 2);
	/* What had no room is told once there is some, and nothing twice. */
	for (int i = 0; i < 3; i++) {
		snprintf(command, sizeof(command), "rm -f %s/*", w->spool);
		assert_int_equal(system(command), 0);
		must(w->f, lt_mails_run(alerter_of(w->d, NOW + 20), &w->f->err));
		assert_int_equal(waiting_of(w, ADA), i == 0 ? 2 : 0);
		assert_int_equal(waiting_of(w, BOB), 0);
	}
	end_world(w);
}

/* Less than an hour, somebody's hold and who did not ask are no news. */
static void
test_who_is_told(void **state)
{
	struct world *const w = make_world(*state);

	must(w->f, lt_mails_run(alerter_of(w->d, NOW), &w->f->err));
	plan(w, PLANNED + HOUR, 2);
	must(w->f, lt_mails_run(alerter_of(w->d, NOW + 10), &w->f->err));
	assert_int_equal(waiting_of(w, ADA) + waiting_of(w, BOB), 0);
	w->d->jobs.list.jobs = &w->jobs[JOBS - 3]; /* one of Ada's, two */
	w->d->jobs.list.count = 3;
	plan(w, PLANNED + HOUR + 1, 3);
	w->jobs[JOBS - 3].held = true;
	w->jobs[JOBS - 2].mails_begin = false;
	w->jobs[JOBS - 2].mails_requeue = true;
	must(w->f, lt_mails_run(alerter_of(w->d, NOW + 20), &w->f->err));
	assert_int_equal(waiting_of(w, ADA), 0);
	assert_int_equal(waiting_of(w, BOB), 1);
	end_world(w);
}

/* A job that comes between two that are known is no other's. */
static void
test_between(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job some[3] = {w->jobs[JOBS - 4], w->jobs[JOBS - 2], w->jobs[JOBS - 1]};

	w->d->jobs.list = (struct lt_batch_jobs){.count = 1, .jobs = &some[2]};
	must(w->f, lt_mails_run(alerter_of(w->d, NOW), &w->f->err));
	w->d->jobs.list = (struct lt_batch_jobs){.count = 3, .jobs = some};
	must(w->f, lt_mails_run(alerter_of(w->d, NOW + 10), &w->f->err));
	plan(w, PLANNED + 2 * HOUR, 2);
	for (int i = 0; i < 3; i++)
		some[i].eligible_utc_s = PLANNED + 2 * HOUR;
	must(w->f, lt_mails_run(alerter_of(w->d, NOW + 20), &w->f->err));
	assert_int_equal(waiting_of(w, ADA), 1);
	assert_int_equal(waiting_of(w, BOB), 2);
	end_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_shares, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_who_is_told, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_between, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
