/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who asks for a mail at the end gets one, once all is settled: over restarts, whatever slurmctld
 * has forgotten by then. And what it says, to the letter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "alerting.h"
#include "ledger_fixture.h"
#include "alert.h"
#include "mails.h"
#include "spool.h"

enum { QUOTE = 0xabc, JOB = 100 };

static struct lt_run
run_of(int64_t start_utc_s, int64_t money_micros)
{
	struct lt_run run = make_run(JOB, start_utc_s, start_utc_s + HOUR, money_micros);

	run.quote_id = QUOTE;
	run.carbon_mg = 1500000;
	run.baseline_money_micros = 2 * money_micros;
	run.baseline_carbon_mg = 2500000;
	run.parts = (struct lt_parts){0};
	strcpy(run.name, "train");
	strcpy(run.state_text, "COMPLETED");
	return run;
}

static void
says(const struct lt_run *runs, uint32_t count, const char *currency, const char *subject,
    const char *text)
{
	struct lt_message message = {.id = "x"};

	lt_end_mail_text(&message, JOB, runs, count, currency);
	assert_string_equal(message.subject, subject);
	assert_string_equal(message.text, text);
	char *const packed = lt_message_pack(&message, NULL);
	assert_non_null(packed);
	free(packed);
}

static void
test_text(void **state)
{
	struct lt_run runs[] = {run_of(NOVEMBER, 4100000), run_of(NOVEMBER + 2 * HOUR, 900000)};

	(void)state;
	says(runs, 1, "USD", "lowtide: job 100 cost $4.10, 1.5 kg CO2e",
	    "Job 100 (train) of vision has ended (COMPLETED). It cost $4.10, 1.5 kg CO2e.\n"
	    "Without lowtide it would have cost $8.20, 2.5 kg CO2e.\n"
	    "\nWhy: lowtide explain 100\n");
	runs[0].parts = (struct lt_parts){250000, 600000};
	says(runs, 2, "USD", "lowtide: job 100 cost $5.00, 3.0 kg CO2e",
	    "Job 100 (train) of vision has ended, after 2 runs. It cost $5.00, 3.0 kg CO2e.\n"
	    "Of that for its carbon: $0.25.\n"
	    "Taken off already, for it waited: $0.60.\n"
	    "Without lowtide it would have cost $10.00, 5.0 kg CO2e.\n"
	    "\nWhy: lowtide explain 100\n");
	runs[0].parts = (struct lt_parts){0};
	runs[0].has_baseline = false;
	says(runs, 1, "", "lowtide: job 100 cost 1.5 kg CO2e",
	    "Job 100 (train) of vision has ended (COMPLETED). It cost 1.5 kg CO2e.\n"
	    "What it would have cost without lowtide is not known.\n"
	    "\nWhy: lowtide explain 100\n");
	runs[0].moved = false;
	runs[0].priced = runs[0].has_carbon = false;
	strcpy(runs[0].name, "\033[31m\n");
	says(runs, 1, "USD", "lowtide: job 100 cost what is not known yet",
	    "Job 100 (?[31m?) of vision has ended (COMPLETED). It cost what is not known yet.\n"
	    "It ran where and when it would have without lowtide.\n"
	    "\nWhy: lowtide explain 100\n");
}

static uint32_t
spooled(struct fixture *f, const char *spool)
{
	struct lt_spool_list list = {0};

	must(f, lt_spool_list(&list, spool, &f->err));
	const uint32_t count = (uint32_t)list.count;
	if (count > 0)
		assert_string_equal(list.ids[0], "u0-ended-100-0000000000000abc");
	lt_spool_list_free(&list);
	return count;
}

static void
test_once(void **state)
{
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_policy *const policy = calloc(1, sizeof(*policy));
	char comment[512], spool[128];
	struct lt_batch_job job = {.job_id = JOB,
	    .state = LT_JOB_RUNNING,
	    .mails_end = true,
	    .mail_to = "ada@example.org",
	    .admin_comment = comment};
	struct lt_ledger_hold hold = {
	    .quote = {.id = QUOTE, .rev = 1, .tasks = 2, .account = "vision"},
	    .live_tasks = 2,
	    .job_id = JOB};
	struct lt_end_mail *due = NULL;
	uint32_t count;
	const struct lt_run runs[] = {run_of(NOVEMBER, 10), run_of(NOVEMBER + 2 * HOUR, 20)};

	assert_true(d != NULL && policy != NULL);
	snprintf(spool, sizeof(spool), "%s/spool", f->dir);
	assert_int_equal(mkdir(spool, 0700), 0);
	snprintf(policy->notify.spool, sizeof(policy->notify.spool), "%s", spool);
	strcpy(policy->currency, "USD");
	strcpy(hold.quote.partition, "spot");
	strcpy(hold.quote.home, "spot");
	assert_int_equal(lt_quote_pack(comment, sizeof(comment), &hold.quote), LT_OK);
	d->ledger = f->ledger;
	d->site.policy = policy;
	d->jobs.list.jobs = &job;
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	d->jobs.list.count = 1;
	must(f, lt_end_mails_run(alerter_of(d, NOVEMBER), &f->err));
	assert_true(settle(f, &runs[0], DECEMBER, NOVEMBER));
	/* One of two is settled; then both, but it goes on. */
	must(f, lt_end_mails_run(alerter_of(d, NOVEMBER), &f->err));
	assert_int_equal(spooled(f, spool), 0);
	assert_true(settle(f, &runs[1], DECEMBER, NOVEMBER));
	must(f, lt_end_mails_run(alerter_of(d, NOVEMBER), &f->err));
	assert_int_equal(spooled(f, spool), 0);
	/* slurmctld has forgotten it: no list any more. */
	d->jobs.list.count = 0;
	for (int i = 0; i < 3; i++) {
		must(f, lt_end_mails_run(alerter_of(d, NOVEMBER), &f->err));
		assert_int_equal(spooled(f, spool), i < 2);
		if (i == 1)
			must(f, lt_spool_remove(spool, "u0-ended-100-0000000000000abc", &f->err));
		reopen(f);
		d->ledger = f->ledger;
		lt_mails_free(&d->mails);
	}
	/* It still has it: as one that has ended. */
	job.state = LT_JOB_FINISHED;
	d->jobs.list.count = 1;
	must(f, lt_end_mails_run(alerter_of(d, NOVEMBER), &f->err));
	assert_int_equal(spooled(f, spool), 0);
	/* Another address, which is told once, and one that asks no more. */
	struct lt_ledger_hold second = hold;
	second.quote.id = QUOTE + 1;
	second.job_id = job.job_id = JOB + 1;
	second.live_tasks = second.quote.tasks = 1;
	assert_int_equal(lt_quote_pack(comment, sizeof(comment), &second.quote), LT_OK);
	must(f, lt_ledger_put_hold(f->ledger, &second, &f->err));
	job.state = LT_JOB_RUNNING;
	must(f, lt_end_mails_run(alerter_of(d, NOVEMBER), &f->err));
	job.mail_to = "bob@example.org";
	must(f, lt_end_mails_run(alerter_of(d, NOVEMBER), &f->err));
	must(f, lt_ledger_end_hold(f->ledger, QUOTE + 1, LT_HOLD_SETTLED, "", &f->err));
	must(f, lt_ledger_end_mails_due(f->ledger, 9, &due, &count, &f->err));
	assert_int_equal(count, 1);
	assert_string_equal(due[0].to, "bob@example.org");
	free(due);
	job.mails_end = false;
	must(f, lt_end_mails_run(alerter_of(d, NOVEMBER), &f->err));
	must(f, lt_ledger_end_mails_due(f->ledger, 9, &due, &count, &f->err));
	assert_int_equal(count, 0);
	free(due);
	assert_int_equal(spooled(f, spool), 0);
	/* What was told is kept for a while, then nobody asks any more. */
	must(f, lt_ledger_prune_mailed(f->ledger, NOVEMBER - 1, &f->err));
	must(f, lt_end_mails_run(alerter_of(d, NOVEMBER), &f->err));
	assert_int_equal(spooled(f, spool), 0);
	assert_int_equal(rmdir(spool), 0);
	lt_mails_free(&d->mails);
	free(policy);
	free(d);
}

struct many { /* jobs whose users ask for a mail at the end */
	struct fixture *f;
	struct lt_daemon *d;
	char spool[128];
};

static void
make_many(struct many *m, struct fixture *f)
{
	struct lt_policy *const policy = calloc(1, sizeof(*policy));

	*m = (struct many){.f = f, .d = calloc(1, sizeof(*m->d))};
	assert_true(m->d != NULL && policy != NULL);
	snprintf(m->spool, sizeof(m->spool), "%s/spool", f->dir);
	assert_int_equal(mkdir(m->spool, 0700), 0);
	snprintf(policy->notify.spool, sizeof(policy->notify.spool), "%s", m->spool);
	m->d->ledger = f->ledger;
	m->d->site.policy = policy;
}

static void
end_many(struct many *m)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -r %s", m->spool);
	assert_int_equal(system(command), 0);
	lt_mails_free(&m->d->mails);
	free(m->d->site.policy);
	free(m->d);
}

/* One that asks, and whose hold ended so. */
static void
add_asking_of(
    struct many *m, uint32_t job_id, uint32_t uid, enum lt_hold_state state, uint32_t hold_job_id)
{
	const struct lt_ledger_hold hold = {.quote = {.id = 1000000 + job_id,
						.rev = 1,
						.tasks = 1,
						.account = "vision",
						.partition = "spot",
						.home = "spot"},
	    .uid = uid,
	    .state = state,
	    .job_id = hold_job_id};
	struct lt_end_mail mail = {.job_id = job_id, .quote_id = hold.quote.id, .to = "ada@x.org"};

	must(m->f, lt_ledger_put_hold(m->f->ledger, &hold, &m->f->err));
	must(m->f, lt_ledger_put_end_mail(m->f->ledger, &mail, &m->f->err));
}

static void
add_asking(struct many *m, uint32_t job_id, uint32_t uid, enum lt_hold_state state)
{
	add_asking_of(m, job_id, uid, state, job_id);
}

/* Its run, of so many seconds, from a start, that cost nothing. */
static struct lt_run
free_run(uint32_t job_id, int64_t start_utc_s, int64_t lasts_s)
{
	struct lt_run run = make_run(job_id, start_utc_s, start_utc_s + lasts_s, 0);

	run.quote_id = 1000000 + job_id;
	run.key.submit_utc_s = NOVEMBER;
	run.carbon_mg = run.energy_wh = 0;
	run.baseline_money_micros = run.baseline_carbon_mg = 0;
	run.parts = (struct lt_parts){0};
	run.saved_by = (struct lt_saved_by){0};
	return run;
}

static void
settle_free(struct many *m, const struct lt_run *run)
{
	const struct lt_settlement settlement = {.run = run, .now_utc_s = DECEMBER};
	bool changed;

	must(m->f, lt_ledger_settle(m->f->ledger, &settlement, &changed, &m->f->err));
}

static void
add_run(struct many *m, uint32_t job_id, int64_t start_utc_s, int64_t lasts_s)
{
	const struct lt_run run = free_run(job_id, start_utc_s, lasts_s);

	settle_free(m, &run);
}

static int
waiting_of(struct many *m, int64_t uid)
{
	struct lt_spool_list list = {0};
	int count = 0;

	must(m->f, lt_spool_list(&list, m->spool, &m->f->err));
	for (int i = 0; i < list.count; i++)
		count += lt_message_uid(list.ids[i]) == uid;
	lt_spool_list_free(&list);
	return count;
}

static uint32_t
due_count(struct many *m)
{
	struct lt_end_mail *due = NULL;
	uint32_t count;

	must(m->f, lt_ledger_end_mails_due(m->f->ledger, 100000, &due, &count, &m->f->err));
	free(due);
	return count;
}

/* A thousand of one user keep no other's, and come when there is room. */
static void
test_shares(void **state)
{
	enum { MANY = 1000, OTHER = 3 };
	struct many m;

	make_many(&m, *state);
	must(m.f, lt_ledger_begin(m.f->ledger, &m.f->err));
	for (uint32_t i = 0; i < MANY + OTHER; i++) {
		add_asking(&m, 1 + i, i < MANY ? 1000 : 1001, LT_HOLD_SETTLED);
		add_run(&m, 1 + i, NOVEMBER + HOUR, 60);
	}
	must(m.f, lt_ledger_commit(m.f->ledger, &m.f->err));
	must(m.f, lt_end_mails_run(alerter_of(m.d, NOVEMBER), &m.f->err));
	assert_int_equal(waiting_of(&m, 1000), LT_SPOOL_USER_MAX);
	assert_int_equal(waiting_of(&m, 1001), OTHER);
	assert_int_equal(due_count(&m), MANY - LT_SPOOL_USER_MAX);
	must(m.f, lt_end_mails_run(alerter_of(m.d, NOVEMBER), &m.f->err));
	assert_int_equal(waiting_of(&m, 1000), LT_SPOOL_USER_MAX);
	/* Sent: the next ones, nothing twice. */
	for (uint32_t sent = LT_SPOOL_USER_MAX; sent < MANY; sent += LT_SPOOL_USER_MAX) {
		char command[160];

		snprintf(command, sizeof(command), "rm %s/*", m.spool);
		assert_int_equal(system(command), 0);
		must(m.f, lt_end_mails_run(alerter_of(m.d, NOVEMBER), &m.f->err));
		assert_int_equal(waiting_of(&m, 1000), LT_SPOOL_USER_MAX);
		assert_int_equal(due_count(&m), MANY - LT_SPOOL_USER_MAX - sent);
	}
	assert_int_equal(waiting_of(&m, 1001), 0);
	end_many(&m);
}

/* What slurmctld's record says waits for slurmdbd's row, and keeps nobody; a run of another job
 * that had the id is not this one's. */
static void
test_provisional(void **state)
{
	struct many m;

	make_many(&m, *state);
	for (uint32_t id = 1; id <= 3; id++)
		add_asking(&m, id, 1000 + id, LT_HOLD_SETTLED);
	add_run(&m, 1, NOVEMBER + HOUR, 60);
	add_run(&m, 2, NOVEMBER + HOUR, 60);
	struct lt_run run = free_run(1, NOVEMBER + 3 * HOUR, 60);
	run.key.submit_utc_s++;
	run.provisional = true;
	settle_free(&m, &run);
	run = free_run(3, NOVEMBER + HOUR, 60);
	run.quote_id = 7;
	settle_free(&m, &run);
	must(m.f, lt_end_mails_run(alerter_of(m.d, NOVEMBER), &m.f->err));
	assert_int_equal(waiting_of(&m, 1001), 0);
	assert_int_equal(waiting_of(&m, 1002), 1);
	assert_int_equal(waiting_of(&m, 1003), 0);
	assert_int_equal(due_count(&m), 1);
	end_many(&m);
}

/* A run of 0 s is one: its hold is void, for it used nothing. What was cancelled before it ran has
 * a row too, without a start. */
static void
test_no_length(void **state)
{
	struct many m;

	make_many(&m, *state);
	add_asking(&m, 1, 1000, LT_HOLD_VOID);
	add_asking(&m, 2, 1001, LT_HOLD_VOID);
	add_asking(&m, 3, 1002, LT_HOLD_SETTLED);
	add_run(&m, 3, 0, 0);
	/* It had ended when it was seen first. */
	add_asking_of(&m, 4, 1003, LT_HOLD_VOID, 0);
	/* Another job's hold. */
	add_asking_of(&m, 5, 1004, LT_HOLD_VOID, 6);
	must(m.f, lt_end_mails_run(alerter_of(m.d, NOVEMBER), &m.f->err));
	assert_int_equal(waiting_of(&m, 1000), 0);
	assert_int_equal(waiting_of(&m, 1002), 0);
	/* Its row comes after the list that showed it ended, and a day's pruning between them. */
	must(m.f, lt_ledger_prune_mailed(m.f->ledger, NOVEMBER - 1, &m.f->err));
	add_run(&m, 1, NOVEMBER + HOUR, 0);
	add_run(&m, 2, 0, 0);
	add_run(&m, 4, NOVEMBER + HOUR, 0);
	add_run(&m, 5, NOVEMBER + HOUR, 0);
	assert_int_equal(due_count(&m), 2);
	must(m.f, lt_end_mails_run(alerter_of(m.d, NOVEMBER), &m.f->err));
	assert_int_equal(waiting_of(&m, 1000), 1);
	assert_int_equal(waiting_of(&m, 1001), 0);
	assert_int_equal(waiting_of(&m, 1003), 1);
	assert_int_equal(waiting_of(&m, 1004), 0);
	assert_int_equal(due_count(&m), 0);
	end_many(&m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_text),
	    cmocka_unit_test_setup_teardown(test_once, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_shares, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_provisional, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_no_length, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
