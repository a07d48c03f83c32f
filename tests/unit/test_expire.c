/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hold ends without a charge only when the job list, slurmctld's queue and slurmdbd agree that no
 * job stands behind it.
 */
#include "budget_state.h"
#include "judge_fixture.h"
#include "ledger.h"
#include "expire.h"
#include "settling.h"

enum { HELD = 300001 };

static const struct {
	const char *why;
	bool unseen;		    /* no job had it yet */
	int64_t made_before_s, row; /* row: of that quote in slurmdbd */
	uint32_t tasks, live, queue;
	bool no_list, no_slurmdbd, dbd_fails, ran, settled;
	bool fails;
	int64_t list_before_s, seen_before_s; /* it, and its job by its id */
	uint32_t left;			      /* shares */
} cases[] = {
    {"nobody has it", true, 3, 0, 1, 0, .left = 0},
    {"a job has it, of which the ledger was not told", true, 60, 0, 1, 1, .left = 1},
    {"a second too young", true, 2, 0, 1, 0, .left = 1},
    {"its job is gone, a second too young", false, 59, 0, 1, 0, .left = 1},
    {"no job list was read", true, 60, 0, 1, 0, .no_list = true, .left = 1},
    {"slurmctld has messages for slurmdbd", true, 60, 0, 1, 0, .queue = 1, .left = 1},
    {"slurmdbd has a row of it", true, 60, 101, 1, 0, .left = 1},
    {"slurmdbd has a row of it, settled before", true, 60, 101, 1, 0, .settled = true, .left = 0},
    {"slurmdbd has a row of another", true, 60, 102, 1, 0, .left = 0},
    {"slurmdbd does not answer", true, 60, 0, 1, 0, .dbd_fails = true, .fails = true, .left = 1},
    {"a site without slurmdbd", true, 60, 0, 1, 0, .no_slurmdbd = true, .queue = 1, .left = 0},
    {"its job lives", false, 60, 0, 1, 1, .left = 1},
    {"its job is gone", false, 60, 0, 1, 0, .left = 0},
    {"its job is gone and slurmdbd silent", false, 60, 0, 1, 0, .dbd_fails = true, .fails = true,
	.left = 1},
    {"its job ran: a row is to come", false, 60, 0, 1, 0, .ran = true, .left = 1},
    {"a task of four ran: its row is to come", false, 60, 0, 4, 0, .ran = true, .left = 1},
    {"a task of four ran, two are left", false, 60, 0, 4, 2, .ran = true, .left = 3},
    {"three tasks of four are left", false, 60, 0, 4, 3, .left = 3},
    {"all tasks are left", false, 60, 0, 4, 4, .left = 4},
    {"three are left, and the list is of before", false, 60, 0, 4, 3, .list_before_s = 500,
	.seen_before_s = 500, .left = 4},
    {"seen since by its id", false, 60, 0, 4, 3, .list_before_s = 500, .left = 3},
    {"seen since, a second too soon", false, 60, 0, 4, 3, .list_before_s = 500, .seen_before_s = 1,
	.left = 4},
};

static void
test_expire(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		const struct lt_batch_job job = make_job(1), other = make_job(9);
		char text[LT_QUOTE_TEXT_SIZE] = "";
		struct lt_batch_run row = {
		    .job_id = 5, .admin_comment = text, .array_task = UINT32_MAX};
		struct lt_live live[] = {{.quote_id = 101,
					     .live = cases[i].live,
					     .seen_utc_s = NOW - cases[i].seen_before_s},
		    {.quote_id = 109, .live = 1}};
		struct lt_ended ended = {
		    .run = {.job_id = 1, .start_utc_s = NOW - 100, .end_utc_s = NOW - 50}};

		print_message("# %s\n", cases[i].why);
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);
		struct lt_ledger_hold bobs = hold_job(w, &other, HELD, 0);
		bobs.uid = BOB;
		bobs.made_utc_s = NOW - 1000;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &bobs, &w->f->err));
		hold.job_id = cases[i].unseen ? 0 : 1;
		hold.made_utc_s = NOW - cases[i].made_before_s;
		hold.quote.tasks = hold.live_tasks = cases[i].tasks;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		struct lt_quote quote = hold.quote;
		if (cases[i].row) {
			quote.id = (uint64_t)cases[i].row;
			assert_int_equal(lt_quote_pack(text, sizeof(text), &quote), LT_OK);
			fake_rows = (struct lt_batch_runs){1, &row};
		}
		if (cases[i].settled) {
			const struct lt_run run = {.key = {5, 0}, .uid = BOB};
			bool changed;

			must(w->f, lt_ledger_settle(w->f->ledger,
				       &(struct lt_settlement){.run = &run, .now_utc_s = NOW},
				       &changed, &w->f->err));
		}
		fake_queue = cases[i].queue;
		dbd_fails = cases[i].dbd_fails;
		snprintf(w->d->site.tables.conf.accounting_storage,
		    sizeof(w->d->site.tables.conf.accounting_storage), "%s",
		    cases[i].no_slurmdbd ? "accounting_storage/none"
					 : "accounting_storage/slurmdbd");
		w->d->jobs.void_due = !cases[i].no_list;
		w->d->jobs.list.begun_utc_s = NOW - cases[i].list_before_s;
		w->d->jobs.live = live;
		w->d->jobs.live_count = 2;
		if (cases[i].ran) {
			w->d->jobs.ended = &ended;
			w->d->jobs.ended_count = 1;
		}
		assert_int_equal(expire_holds(w->d, NOW, &w->f->err) != LT_OK, cases[i].fails);
		w->d->jobs.live = NULL;
		const struct lt_ledger_hold after = hold_now(w, 101);
		assert_int_equal(after.state == LT_HOLD_OPEN ? after.live_tasks : 0, cases[i].left);
		assert_int_equal(after.state, cases[i].left ? LT_HOLD_OPEN : LT_HOLD_VOID);
		/* Another's is left alone: his job lives. */
		assert_int_equal(hold_now(w, 109).state, LT_HOLD_OPEN);
		assert_int_equal(hold_now(w, 109).live_tasks, 1);
		w->f->err = (struct lt_error){0};
		free_world(w);
	}
}

static const struct {
	const char *why;
	uint32_t job_id;
	int64_t made_before_s; /* the list */
	bool has_record;
	int64_t next_in_s; /* the list after it; 600: as it was */
} forgotten[] = {
    {"no record of a job that was seen: as soon as that proves it", 1, 10, false, 50},
    {"one that has a record", 1, 10, true, 600},
    {"made after the list", 1, -1, false, 600},
    {"never seen: others look for it", 0, 2, false, 600},
    {"old enough: it is void now", 1, 60, false, 600},
};

/* slurmctld was killed and forgot jobs: where it has very many, the next list does not wait for its
 * turn. */
static void
test_forgotten(void **state)
{
	for (size_t i = 0; i < sizeof(forgotten) / sizeof(forgotten[0]); i++) {
		struct world *const w = make_world(*state);
		const struct lt_batch_job job = make_job(1);
		struct lt_live live = {.quote_id = 101, .seen_utc_s = NOW - 1000};
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);

		print_message("# %s\n", forgotten[i].why);
		hold.job_id = forgotten[i].job_id;
		hold.made_utc_s = NOW - forgotten[i].made_before_s;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		fake_rows = (struct lt_batch_runs){0};
		fake_queue = 0;
		dbd_fails = false;
		strcpy(w->d->site.tables.conf.accounting_storage, "accounting_storage/slurmdbd");
		w->d->jobs.void_due = true;
		w->d->jobs.list.begun_utc_s = NOW;
		w->d->jobs.next.list_from = NOW;
		w->d->jobs.next.list = NOW + 600;
		if (forgotten[i].has_record) {
			w->d->jobs.live = &live;
			w->d->jobs.live_count = 1;
		}
		must(w->f, expire_holds(w->d, NOW, &w->f->err));
		w->d->jobs.live = NULL;
		assert_int_equal(w->d->jobs.next.list, NOW + forgotten[i].next_in_s);
		free_world(w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_expire, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_forgotten, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("void", tests, NULL, NULL);
}
