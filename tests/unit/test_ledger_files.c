/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger's files: adjustments and their replay, a torn or damaged journal,
 * a process killed inside a transaction, modes and owners.
 */
#include "ledger_fixture.h"

/* ---- adjustments ---- */

static const struct lt_entry odd_adjustment = {.at_utc_s = NOVEMBER + HOUR,
    .made_utc_s = DECEMBER,
    .account = "vision",
    .uid = UID,
    .money_micros = -1234567,
    .carbon_mg = 8,
    .energy_wh = -3,
    .who = "j. doe",
    .reason = "50 % back: node\nh1 = down, who=me "};

static void
adjust(struct fixture *f, const struct lt_entry *entry)
{
	must(f, lt_ledger_adjust(f->ledger, entry, &f->err));
}

static void
reset_replays_the_journal(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 100);
	char text[8];

	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	adjust(f, &odd_adjustment);
	adjust(f, &odd_adjustment);
	must(f, lt_ledger_put(f->ledger, "settled_until", "17", &f->err));
	for (int i = 0; i < 2; i++) {
		must(f, lt_ledger_reset(f->ledger, &f->err));
		assert_int_equal(
		    money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER, DECEMBER), 0);
		assert_int_equal(
		    money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER),
		    -2 * 1234567);
	}
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	reopen(f);
	assert_int_equal(
	    money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER),
	    -2 * 1234567);
	must(f, lt_ledger_get(
		    f->ledger, "settled_until", text, sizeof(text), &f->err));
	assert_string_equal(text, "17");
	assert_int_equal(
	    lt_ledger_get(f->ledger, "nothing", text, sizeof(text), NULL),
	    LT_ENOENT);
}

static void
append_text(const struct fixture *f, const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/adjustments", f->dir);
	FILE *const file = fopen(path, "a");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void
a_new_database_takes_the_journal(void **state)
{
	struct fixture *const f = *state;

	adjust(f, &odd_adjustment);
	lt_ledger_close(f->ledger);
	f->ledger = NULL;
	remove_file(f->dir, "ledger.db");
	reopen(f);
	assert_int_equal(
	    money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER),
	    -1234567);
}

static void
a_torn_last_line_never_was(void **state)
{
	struct fixture *const f = *state;

	adjust(f, &odd_adjustment);
	append_text(f, "adjustment 1 made=1 at=1 acc");
	reopen(f);
	adjust(f, &odd_adjustment);
	must(f, lt_ledger_reset(f->ledger, &f->err));
	assert_int_equal(
	    money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER),
	    -2 * 1234567);
}

static void
a_damaged_line_is_named(void **state)
{
	static const char *const lines[] = {"\n", "hello\n",
	    ("adjustment 1 made=1 at=1 account=a uid=0 money=1 carbon=0"
	     " energy=0 who=x reason=y crc=00000000\n")};
	struct fixture *const f = *state;
	struct lt_ledger *ledger;

	adjust(f, &odd_adjustment);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct lt_error err = {0};
		struct stat status;
		char path[128];
		(void)snprintf(path, sizeof(path), "%s/adjustments", f->dir);
		assert_int_equal(stat(path, &status), 0);
		append_text(f, lines[i]);
		assert_int_equal(
		    lt_ledger_open(&ledger, f->dir, &err), LT_ECHECKSUM);
		assert_null(ledger);
		assert_int_equal(err.line, 2);
		assert_non_null(strstr(err.text, "adjustments:2"));
		assert_int_equal(truncate(path, status.st_size), 0);
	}
}

static void
a_cut_journal_is_not_forgotten(void **state)
{
	struct fixture *const f = *state;
	struct lt_error err = {0};
	struct lt_ledger *ledger;

	adjust(f, &odd_adjustment);
	remove_file(f->dir, "adjustments");
	assert_int_equal(lt_ledger_open(&ledger, f->dir, &err), LT_ECHECKSUM);
	assert_non_null(strstr(err.text, "put the whole file back"));
}

static void
adjustments_need_a_reason(void **state)
{
	struct fixture *const f = *state;
	struct lt_entry entry = odd_adjustment;

	entry.reason[0] = '\0';
	assert_int_equal(lt_ledger_adjust(f->ledger, &entry, NULL), LT_EINPUT);
	entry = odd_adjustment;
	entry.account[0] = '\0';
	assert_int_equal(lt_ledger_adjust(f->ledger, &entry, NULL), LT_EINPUT);
}

/* ---- killed ---- */

static void
killed_between_begin_and_commit(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 100);
	const struct lt_ledger_hold hold = make_hold(9, 1);
	struct lt_ledger_hold known;
	int status = 0;

	run.quote_id = 9;
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	lt_ledger_close(f->ledger); /* SQLite is not carried over fork() */
	f->ledger = NULL;
	const pid_t child = fork();
	if (child == 0) {
		int64_t rounded;
		reopen(f);
		must(f, lt_ledger_begin(f->ledger, &f->err));
		(void)settle(f, &run, DECEMBER, NOVEMBER);
		must(f, lt_ledger_round(
			    f->ledger, "p", false, 0.4, &rounded, &f->err));
		(void)kill(getpid(), SIGKILL);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	reopen(f);
	struct lt_run missing;
	assert_int_equal(
	    lt_ledger_run(f->ledger, run.key, &missing, NULL), LT_ENOENT);
	assert_int_equal(
	    money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER, DECEMBER), 0);
	must(f, lt_ledger_hold(f->ledger, 9, &known, &f->err));
	assert_int_equal(known.state, LT_HOLD_OPEN);
	assert_int_equal(known.live_tasks, 1);
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	assert_int_equal(
	    money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER, DECEMBER), 100);
}

static void
rollback_and_failed_calls_leave_the_rest(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run =
	    make_run(1, NOVEMBER, NOVEMBER + HOUR, INT64_MAX - 9);
	struct lt_run other =
	    make_run(2, NOVEMBER, NOVEMBER + HOUR, INT64_MAX - 9);
	const struct lt_entry entry = whole(&other);
	bool changed;

	must(f, lt_ledger_begin(f->ledger, &f->err));
	(void)settle(f, &run, DECEMBER, NOVEMBER);
	lt_ledger_rollback(f->ledger);
	assert_int_equal(
	    lt_ledger_run(f->ledger, run.key, &run, NULL), LT_ENOENT);
	/* within a transaction, a call that fails undoes itself only */
	must(f, lt_ledger_begin(f->ledger, &f->err));
	assert_int_equal(lt_ledger_begin(f->ledger, NULL), LT_EBUG);
	(void)settle(f, &run, DECEMBER, NOVEMBER);
	assert_int_equal(lt_ledger_settle(f->ledger, &other, &entry, 1,
			     DECEMBER, NOVEMBER, &changed, NULL),
	    LT_EOVERFLOW);
	must(f, lt_ledger_commit(f->ledger, &f->err));
	must(f, lt_ledger_run(f->ledger, run.key, &run, &f->err));
	assert_int_equal(
	    lt_ledger_run(f->ledger, other.key, &other, NULL), LT_ENOENT);
	assert_int_equal(lt_ledger_commit(f->ledger, NULL), LT_EBUG);
}

/* ---- files ---- */

static void
files_are_private_or_refused(void **state)
{
	static const char *const names[] = {"ledger.db", "ledger.db-wal",
	    "signals.db", "signals.db-wal", "adjustments"};
	struct fixture *const f = *state;
	struct lt_ledger *ledger;
	struct stat status;
	char path[128], away[128];

	adjust(f, &odd_adjustment);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		assert_int_equal(stat(path, &status), 0);
		assert_int_equal(status.st_mode & 07777, 0600);
	}
	lt_ledger_close(f->ledger);
	f->ledger = NULL;
	(void)snprintf(path, sizeof(path), "%s/ledger.db", f->dir);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(lt_ledger_open(&ledger, f->dir, &f->err), LT_EDENIED);
	assert_non_null(strstr(f->err.text, "mode is 0640, want 0600"));
	(void)snprintf(away, sizeof(away), "%s/signals.db-shm", f->dir);
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(symlink(away, path), 0);
	assert_int_equal(lt_ledger_open(&ledger, f->dir, NULL), LT_EIO);
	assert_int_equal(unlink(path), 0);
	FILE *const file = fopen(path, "w");
	assert_non_null(file);
	assert_true(
	    fputs("this is no database, and has some length", file) > 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0600), 0);
	struct lt_error err = {0};
	assert_int_equal(lt_ledger_open(&ledger, f->dir, &err), LT_EIO);
	assert_non_null(strstr(err.text, "not a database"));
	assert_int_equal(
	    lt_ledger_open(&ledger, "/nonexistent", NULL), LT_ENOENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(reset_replays_the_journal),
	    EACH(a_new_database_takes_the_journal),
	    EACH(a_torn_last_line_never_was),
	    EACH(a_damaged_line_is_named),
	    EACH(a_cut_journal_is_not_forgotten),
	    EACH(adjustments_need_a_reason),
	    EACH(killed_between_begin_and_commit),
	    EACH(rollback_and_failed_calls_leave_the_rest),
	    EACH(files_are_private_or_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
