/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the drain of a node that was taken back is set, kept and undone. slurmctld is played here;
 * tests/cluster/reclaimed.bats has a real one, which can't be made to lose nodes in each state.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "batch.h"
#include "daemon.h"
#include "notice.h"
#include "ledger_fixture.h"
#include "log.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define OURS "lowtide: taken back at 2026-11-01T00:01:40Z"
#define OF_ANOTHER_END "lowtide: taken back at 2026-11-01T00:00:10Z"

enum { END = NOVEMBER + 100, LATER = END + 3600, NODES = 70 };

/* The one node that slurmctld has, and what it was asked. */
static struct {
	struct lt_batch_node node;
	int code;
	int asked, drains, resumes, downs;
	bool down_has_reason;
} slurm;

int
lt_batch_node(struct lt_batch_node *found, const char *node, struct lt_error *err)
{
	slurm.asked++;
	if (slurm.code != LT_OK)
		return lt_fail(err, (enum lt_code)slurm.code, "node %s", node);
	*found = slurm.node;
	return LT_OK;
}

int
lt_batch_drain(const char *node, const char *reason, struct lt_error *err)
{
	(void)node;
	(void)err;
	slurm.drains++;
	slurm.node.is_drained = true;
	(void)snprintf(slurm.node.reason, sizeof(slurm.node.reason), "%s", reason);
	return LT_OK;
}

int
lt_batch_down(const char *node, const char *reason, struct lt_error *err)
{
	(void)node;
	(void)err;
	slurm.downs++;
	slurm.down_has_reason = reason != NULL;
	return LT_OK;
}

int
lt_batch_resume(const char *node, struct lt_error *err)
{
	(void)node;
	(void)err;
	slurm.resumes++;
	slurm.node.is_drained = false;
	slurm.node.reason[0] = '\0';
	return LT_OK;
}

struct world {
	struct fixture *f;
	struct lt_daemon *d;
	struct lt_notice notices[NODES];
};

static int
begin(void **state)
{
	struct world *const w = calloc(1, sizeof(*w));
	void *fixture;

	assert_int_equal(set_up(&fixture), 0);
	w->f = fixture;
	w->d = calloc(1, sizeof(*w->d));
	assert_non_null(w->d);
	w->d->ledger = w->f->ledger;
	w->d->notice.notices = w->notices;
	w->d->notice.notice_count = 1;
	for (int i = 0; i < NODES; i++) {
		w->notices[i].end_utc_s = END;
		(void)snprintf(w->notices[i].node, sizeof(w->notices[i].node), "s%d", i + 1);
	}
	lt_log_open("/dev/null");
	*state = w;
	return 0;
}

static int
end(void **state)
{
	struct world *const w = *state;
	void *fixture = w->f;

	free(w->d);
	free(w);
	return tear_down(&fixture);
}

static void
play(int code, bool is_drained, const char *reason)
{
	memset(&slurm, 0, sizeof(slurm));
	slurm.code = code;
	slurm.node.is_drained = is_drained;
	(void)snprintf(slurm.node.reason, sizeof(slurm.node.reason), "%s", reason);
}

static uint32_t
rows_of(struct world *w)
{
	struct lt_notice *rows = NULL;
	uint32_t count = 0;

	must(w->f, lt_ledger_notices(w->f->ledger, &rows, &count, &w->f->err));
	free(rows);
	return count;
}

static const struct {
	const char *why;
	enum lt_notice_stage stage;
	int code;
	bool is_drained;
	const char *reason;
	bool is_powered_down, responds;
	int64_t boot_utc_s;
	bool resumed, forgotten;
} cases[] = {
    {"nobody came back", LT_NOTICE_GONE, LT_OK, true, OURS, false, false, END - 500, false, false},
    {"the machine that was taken is still there", LT_NOTICE_GONE, LT_OK, true, OURS, false, true,
	END - 500, false, false},
    {"it booted in the second of the end", LT_NOTICE_GONE, LT_OK, true, OURS, false, true, END,
	false, false},
    {"another machine of its name", LT_NOTICE_GONE, LT_OK, true, OURS, false, true, END + 1, true,
	true},
    {"which is silent again", LT_NOTICE_GONE, LT_OK, true, OURS, false, false, END + 1, false,
	false},
    {"powered down", LT_NOTICE_GONE, LT_OK, true, OURS, true, false, 0, true, true},
    {"told twice: our text of another end", LT_NOTICE_GONE, LT_OK, true, OF_ANOTHER_END, true,
	false, 0, true, true},
    {"an admin's drain", LT_NOTICE_GONE, LT_OK, true, "broken fan", true, true, LATER, false, true},
    {"an admin wrote behind our text", LT_NOTICE_GONE, LT_OK, true, OURS " and a broken fan", true,
	true, LATER, false, true},
    {"or before it", LT_NOTICE_GONE, LT_OK, true, "fan; " OURS, true, true, LATER, false, true},
    {"our words without a time", LT_NOTICE_GONE, LT_OK, true, "lowtide: taken back at noon", true,
	true, LATER, false, true},
    {"drained without a reason", LT_NOTICE_GONE, LT_OK, true, "", true, true, LATER, false, true},
    {"resumed by an admin", LT_NOTICE_GONE, LT_OK, false, "", false, true, LATER, false, true},
    {"resumed, our text still there", LT_NOTICE_GONE, LT_OK, false, OURS, true, false, 0, false,
	true},
    {"gone from slurm.conf", LT_NOTICE_GONE, LT_ENOENT, false, "", false, false, 0, false, true},
    {"slurmctld is away", LT_NOTICE_GONE, LT_ENET, true, OURS, true, false, 0, false, false},
    {"withdrawn: the same machine", LT_NOTICE_STAYS, LT_OK, true, OURS, false, true, END - 500,
	true, true},
    {"withdrawn, and silent", LT_NOTICE_STAYS, LT_OK, true, OURS, false, false, END - 500, true,
	true},
    {"withdrawn, but an admin's", LT_NOTICE_STAYS, LT_OK, true, "broken fan", false, true,
	END - 500, false, true},
    {"withdrawn, gone from slurm.conf", LT_NOTICE_STAYS, LT_ENOENT, false, "", false, false, 0,
	false, true},
    {"withdrawn while slurmctld is away", LT_NOTICE_STAYS, LT_ENET, true, OURS, false, true, 0,
	false, false},
};

/* And a second time: what is done is done once. */
static void
test_give_back(void **state)
{
	struct world *const w = *state;

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_notice *const notice = &w->notices[0];
		struct lt_error err = {0};
		bool is_done;

		notice->stage = cases[i].stage;
		must(w->f, lt_ledger_put_notice(w->f->ledger, notice, &w->f->err));
		play(cases[i].code, cases[i].is_drained, cases[i].reason);
		slurm.node.is_powered_down = cases[i].is_powered_down;
		slurm.node.responds = cases[i].responds;
		slurm.node.boot_utc_s = cases[i].boot_utc_s;
		for (int times = 1; times <= 2; times++) {
			const int code =
			    lt_drained_give_back(&w->d->site, w->d->ledger, notice, &is_done, &err);

			if ((code == LT_OK) != (cases[i].code != LT_ENET) ||
			    slurm.resumes != cases[i].resumed || slurm.drains + slurm.downs != 0 ||
			    is_done != cases[i].forgotten ||
			    rows_of(w) != (cases[i].forgotten ? 0 : 1))
				fail_msg("%s, time %d: %d; %d resumed, done %d, %u rows: %s",
				    cases[i].why, times, code, slurm.resumes, is_done, rows_of(w),
				    err.text);
		}
		(void)lt_ledger_drop_notice(w->f->ledger, notice->node, &w->f->err);
	}
}

static void
test_drain(void **state)
{
	static const struct {
		const char *why;
		int code;
		bool is_drained;
		const char *reason;
		int drains;
		bool down_has_reason;
		int check;
	} rows[] = {
	    {"in use", LT_OK, false, "", 1, true, LT_ENOENT},
	    {"an old reason of one that is in use", LT_OK, false, "low memory", 1, true, LT_ENOENT},
	    {"drained by us: the end moves", LT_OK, true, OF_ANOTHER_END, 1, true, LT_OK},
	    {"an admin's keeps its reason", LT_OK, true, "broken fan", 0, false, LT_ENOENT},
	    {"not there", LT_ENOENT, false, "", 0, false, LT_ENOENT},
	    {"slurmctld is away", LT_ENET, false, "", 0, false, LT_ENET},
	};
	struct world *const w = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lt_error err = {0};

		play(rows[i].code, rows[i].is_drained, rows[i].reason);
		const int check = lt_drained_check("s1", &err);
		const int down = lt_drained_down(&w->notices[0]);
		const int drain = lt_drained_drain(&w->notices[0], &err);

		if (check != rows[i].check || drain != rows[i].code || down != rows[i].code ||
		    slurm.drains != rows[i].drains || slurm.downs != (rows[i].code == LT_OK) ||
		    slurm.down_has_reason != rows[i].down_has_reason ||
		    (rows[i].drains > 0 && strcmp(slurm.node.reason, OURS) != 0))
			fail_msg("%s: check %d, drain %d, down %d; \"%s\"", rows[i].why, check,
			    drain, down, slurm.node.reason);
	}
}

/* Notices that slurmctld could not be told of in time. */
static void
test_all(void **state)
{
	static const struct {
		const char *why;
		int64_t now_utc_s;
		int code;
		bool is_powered_down, responds;
		int64_t boot_utc_s;
		int drains;
		enum lt_notice_stage stage;
		bool undrained;
	} rows[] = {
	    {"before the end", END - 10, LT_OK, false, true, END - 500, 1, LT_NOTICE_LEAVES, false},
	    {"late, the machine is silent", LATER, LT_OK, false, false, END - 500, 1,
		LT_NOTICE_LEAVES, false},
	    {"so late that another has its name", LATER, LT_OK, false, true, END + 1, 0,
		LT_NOTICE_GONE, false},
	    {"powered down before its end", END - 10, LT_OK, true, false, 0, 1, LT_NOTICE_LEAVES,
		false},
	    {"powered down after it", LATER, LT_OK, true, false, 0, 0, LT_NOTICE_GONE, false},
	    {"no such node", END - 10, LT_ENOENT, false, false, 0, 0, LT_NOTICE_GONE, false},
	    {"slurmctld is away", END - 10, LT_ENET, false, false, 0, 0, LT_NOTICE_LEAVES, true},
	};
	struct world *const w = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lt_error err = {0};

		w->notices[0].stage = LT_NOTICE_LEAVES;
		play(rows[i].code, false, "");
		slurm.node.is_powered_down = rows[i].is_powered_down;
		slurm.node.responds = rows[i].responds;
		slurm.node.boot_utc_s = rows[i].boot_utc_s;
		lt_drained_all(w->d->ledger, &w->d->notice, rows[i].now_utc_s, &err);
		if (slurm.drains != rows[i].drains || w->notices[0].stage != rows[i].stage ||
		    w->d->notice.is_undrained != rows[i].undrained ||
		    (err.code != LT_OK) != rows[i].undrained)
			fail_msg("%s: %d drains, stage %d, undrained %d: %s", rows[i].why,
			    slurm.drains, (int)w->notices[0].stage, w->d->notice.is_undrained,
			    err.text);
	}
}

/* A few at a time; each has its turn; none of those that still leave. */
static void
test_poll_jobs(void **state)
{
	struct world *const w = *state;
	struct lt_error err = {0};
	int64_t now_utc_s = LATER;
	int most = 0;

	w->d->notice.notice_count = NODES;
	for (int i = 0; i < NODES; i++) {
		w->notices[i].stage = i % 10 == 0 ? LT_NOTICE_LEAVES : LT_NOTICE_GONE;
		must(w->f, lt_ledger_put_notice(w->f->ledger, &w->notices[i], &w->f->err));
	}
	play(LT_OK, true, OURS);
	assert_false(lt_drained_look(&w->d->site, w->d->ledger, &w->d->notice, now_utc_s, &err));
	most = slurm.asked;
	assert_in_range(most, 1, NODES / 2);
	assert_false(
	    lt_drained_look(&w->d->site, w->d->ledger, &w->d->notice, now_utc_s + 1, &err));
	assert_int_equal(slurm.asked, most);
	/* Now all are back. */
	slurm.node.is_powered_down = true;
	for (int turn = 0; turn < 10 && rows_of(w) > NODES / 10; turn++) {
		now_utc_s += 60;
		slurm.asked = 0;
		(void)strcpy(slurm.node.reason, OURS);
		slurm.node.is_drained = true;
		(void)lt_drained_look(&w->d->site, w->d->ledger, &w->d->notice, now_utc_s, &err);
		assert_in_range(slurm.asked, 1, most);
	}
	assert_int_equal(rows_of(w), NODES / 10);
	/* None is asked after one that slurmctld does not answer. */
	play(LT_ENET, false, "");
	assert_false(
	    lt_drained_look(&w->d->site, w->d->ledger, &w->d->notice, now_utc_s + 60, &err));
	assert_int_equal(slurm.asked, 1);
	assert_int_equal(err.code, LT_ENET);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_give_back, begin, end),
	    cmocka_unit_test_setup_teardown(test_drain, begin, end),
	    cmocka_unit_test_setup_teardown(test_all, begin, end),
	    cmocka_unit_test_setup_teardown(test_poll_jobs, begin, end),
	};

	return cmocka_run_group_tests_name("drained", tests, NULL, NULL);
}
