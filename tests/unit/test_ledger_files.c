/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger's files: adjustments and their replay, a torn or damaged journal, a process killed
 * inside a transaction, modes and owners.
 */
#include "ledger_fixture.h"

#include "ledger_db.h"

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

static int
repair(struct fixture *f, struct lt_error *err)
{
	struct lt_repair r = {0};
	int code = LT_OK;

	while (code == LT_OK && r.stage != LT_REPAIR_DONE)
		code = lt_ledger_repair(f->ledger, &r, err);
	return code;
}

static void
repair_replays_the_journal(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 100);
	char text[8];

	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	adjust(f, &odd_adjustment);
	adjust(f, &odd_adjustment);
	must(f, lt_ledger_put(f->ledger, "settled_until", "17", &f->err));
	for (int i = 0; i < 2; i++) {
		must(f, repair(f, &f->err));
		assert_int_equal(money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER, DECEMBER), 100);
		assert_int_equal(
		    money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER), -2 * 1234567);
	}
	assert_false(settle(f, &run, DECEMBER, NOVEMBER));
	reopen(f);
	assert_int_equal(money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER), -2 * 1234567);
	must(f, lt_ledger_get(f->ledger, "settled_until", text, sizeof(text), &f->err));
	assert_string_equal(text, "17");
	assert_int_equal(lt_ledger_get(f->ledger, "nothing", text, sizeof(text), NULL), LT_ENOENT);
}

/* What somebody did to the files is found; what was right stays. */
static void
repair_makes_the_sums_agree(void **state)
{
	static const struct {
		const char *why, *damage;
	} cases[] = {
	    {"nothing", ""},
	    {"a charge of no run", "INSERT INTO entries (kind, job_id, submit_utc_s, at_utc_s,"
				   " for_utc_s, made_utc_s, account, uid, money_micros,"
				   " carbon_mg, energy_wh, base_money_micros, base_carbon_mg,"
				   " who, reason) VALUES (0, 99, 1, 1793491200, 1793491200, 1,"
				   " 'vision', 1000, 7, 7, 7, 7, 7, '', '')"},
	    {"a charge that is gone", "DELETE FROM entries WHERE job_id = 1"},
	    {"one that is another", "UPDATE entries SET money_micros = 3 WHERE job_id = 1"},
	    {"an adjustment that is not in the journal",
		"INSERT INTO entries (kind, job_id, submit_utc_s, at_utc_s,"
		" for_utc_s, made_utc_s, account, uid, money_micros,"
		" carbon_mg, energy_wh, base_money_micros, base_carbon_mg,"
		" who, reason) VALUES (2, 0, 0, 1793491200, 1793491200, 1,"
		" 'vision', 1000, 7, 7, 7, 7, 7, 'x', 'x')"},
	    {"days that are off", "UPDATE days SET money_micros = 1"},
	    {"no days", "DELETE FROM days"},
	};
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 100);
	struct lt_account_sum *sums;
	uint32_t count;

	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	adjust(f, &odd_adjustment);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("%s\n", cases[i].why);
		assert_int_equal(
		    sqlite3_exec(f->ledger->db[LT_DB_LEDGER], cases[i].damage, NULL, NULL, NULL),
		    0);
		must(f, repair(f, &f->err));
		must(f, lt_ledger_sums(
			    f->ledger, (struct lt_span){0, INT64_MAX}, &sums, &count, &f->err));
		int64_t all = 0;
		for (uint32_t k = 0; k < count; k++)
			all += sums[k].money_micros;
		free(sums);
		assert_int_equal(all, 100 - 1234567);
		assert_int_equal(money(f, "vision", LT_ENTRY_CHARGE, 0, JANUARY) +
				     money(f, "vision", LT_ENTRY_CORRECTION, 0, JANUARY),
		    100);
		assert_false(settle(f, &run, DECEMBER, NOVEMBER));
	}
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
	assert_int_equal(money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER), -1234567);
}

static void
a_torn_last_line_never_was(void **state)
{
	struct fixture *const f = *state;

	adjust(f, &odd_adjustment);
	append_text(f, "adjustment 1 made=1 at=1 acc");
	reopen(f);
	adjust(f, &odd_adjustment);
	must(f, repair(f, &f->err));
	assert_int_equal(money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER), -2 * 1234567);
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
		assert_int_equal(lt_ledger_open(&ledger, f->dir, &err), LT_ECHECKSUM);
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
	/* Nor by a rebuild while it runs. */
	assert_int_equal(repair(f, &err), LT_ECHECKSUM);
	assert_non_null(strstr(err.text, "put the whole file back"));
	assert_int_equal(money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER), -1234567);
	err = (struct lt_error){0};
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

/* ---- what is refused never comes back ---- */

static struct lt_entry
large(int64_t tenths_of_bound, const char *account, uint32_t uid)
{
	struct lt_entry entry = odd_adjustment;

	entry.money_micros = LT_ADJUSTMENT_MAX / 10 * tenths_of_bound;
	entry.uid = uid;
	(void)snprintf(entry.account, sizeof(entry.account), "%s", account);
	return entry;
}

static off_t
journal_size(const struct fixture *f)
{
	struct stat status;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/adjustments", f->dir);
	return stat(path, &status) == 0 ? status.st_size : -1;
}

static void
an_adjustment_is_bounded(void **state)
{
	static const struct {
		const char *why;
		int64_t money_micros, carbon_mg;
		int code;
	} cases[] = {
	    {"the bound", LT_ADJUSTMENT_MAX, 0, LT_OK},
	    {"the bound, given back", -LT_ADJUSTMENT_MAX, 0, LT_OK},
	    {"one micro above", LT_ADJUSTMENT_MAX + 1, 0, LT_EINPUT},
	    {"one below", -LT_ADJUSTMENT_MAX - 1, 0, LT_EINPUT},
	    {"9,000,000,000,000", 9000000000000000000, 0, LT_EINPUT},
	    {"the least that there is", INT64_MIN, 0, LT_EINPUT},
	    {"carbon too", 0, INT64_MIN, LT_EINPUT},
	    {"carbon at the bound", 0, LT_ADJUSTMENT_MAX, LT_OK},
	};
	struct fixture *const f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_entry entry = odd_adjustment;
		struct lt_error err = {0};
		const off_t before = journal_size(f);

		entry.money_micros = cases[i].money_micros;
		entry.carbon_mg = cases[i].carbon_mg;
		const int code = lt_ledger_adjust(f->ledger, &entry, &err);
		if (code != cases[i].code)
			fail_msg("%s: %d, %s", cases[i].why, code, err.text);
		if (code != LT_OK)
			assert_int_equal(journal_size(f), before);
	}
	reopen(f);
	must(f, repair(f, &f->err));
}

/* What others could have written is not replayed, and nothing is added. */
static void
a_journal_of_others_is_refused(void **state)
{
	struct fixture *const f = *state;
	char path[128];

	adjust(f, &odd_adjustment);
	(void)snprintf(path, sizeof(path), "%s/adjustments", f->dir);
	const off_t before = journal_size(f);
	assert_int_equal(chmod(path, 0660), 0);
	assert_int_equal(lt_ledger_adjust(f->ledger, &odd_adjustment, NULL), LT_EDENIED);
	assert_int_equal(journal_size(f), before);
	assert_int_equal(chmod(path, 0600), 0);
	adjust(f, &odd_adjustment);
}

static void
the_sum_of_adjustments_is_bounded(void **state)
{
	struct fixture *const f = *state;
	const struct lt_entry last = large(3, "nlp", 1001), most = large(2, "nlp", 1001);
	struct lt_entry least = large(0, "nlp", 1001);
	struct lt_error err = {0};

	/* 9 of 9.2 trillions, by two people and accounts, on other days */
	for (int i = 0; i < 9; i++) {
		struct lt_entry entry = large(10, i % 2 ? "vision" : "nlp", 1000 + (uint32_t)i % 2);

		entry.at_utc_s += i * LT_DAY_S;
		adjust(f, &entry);
	}
	assert_int_equal(lt_ledger_adjust(f->ledger, &last, &err), LT_EOVERFLOW);
	assert_non_null(strstr(err.text, "9200000000000000000"));
	adjust(f, &most); /* up to the bound */
	least.money_micros = 1;
	assert_int_equal(lt_ledger_adjust(f->ledger, &least, NULL), LT_EOVERFLOW);
	adjust(f, &odd_adjustment); /* the other sign has its own */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER),
		    4 * LT_ADJUSTMENT_MAX - 1234567);
		assert_int_equal(money(f, "nlp", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER),
		    5 * LT_ADJUSTMENT_MAX + LT_ADJUSTMENT_MAX / 5);
		must(f, repair(f, &f->err));
		reopen(f);
	}
}

/* Whatever makes the insert or its commit fail leaves no line. */
static int
no_commit(void *unused)
{
	(void)unused;
	return 1;
}

static void
a_failed_insert_leaves_no_line(void **state)
{
	struct fixture *const f = *state;
	static const char refuse[] = "CREATE TRIGGER refuse BEFORE INSERT ON entries"
				     " BEGIN SELECT RAISE(ABORT, 'no'); END";

	adjust(f, &odd_adjustment);
	const off_t size = journal_size(f);
	sqlite3 *const db = f->ledger->db[LT_DB_LEDGER];
	assert_int_equal(sqlite3_exec(db, refuse, NULL, NULL, NULL), 0);
	assert_int_not_equal(lt_ledger_adjust(f->ledger, &odd_adjustment, NULL), LT_OK);
	assert_int_equal(journal_size(f), size);
	assert_int_equal(sqlite3_exec(db, "DROP TRIGGER refuse", NULL, NULL, NULL), 0);
	(void)sqlite3_commit_hook(db, no_commit, NULL);
	assert_int_not_equal(lt_ledger_adjust(f->ledger, &odd_adjustment, NULL), LT_OK);
	assert_int_equal(journal_size(f), size);
	(void)sqlite3_commit_hook(db, NULL, NULL);
	adjust(f, &odd_adjustment);
	reopen(f);
	must(f, repair(f, &f->err));
	assert_int_equal(money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER), -2 * 1234567);
}

/* As 0.1 wrote them: the line first, whatever became of the insert. */
static void
append_line(const struct fixture *f, const char *account, int64_t money_micros)
{
	char line[512];
	const int length = snprintf(line, sizeof(line),
	    "adjustment 1 made=%d at=%d account=%s uid=1000 money=%lld"
	    " carbon=0 energy=0 who=ada reason=typo",
	    NOVEMBER, NOVEMBER, account, (long long)money_micros);

	(void)snprintf(line + length, sizeof(line) - (size_t)length, " crc=%08x\n",
	    lt_crc32c(0, line, (size_t)length));
	append_text(f, line);
}

static void
a_line_that_cant_be_added_is_set_aside(void **state)
{
	struct fixture *const f = *state;
	char text[24];

	adjust(f, &odd_adjustment);
	append_line(f, "vision", 9000000000000000000);
	append_line(f, "vision", 9000000000000000000);
	append_line(f, "vision", 5);
	const off_t size = journal_size(f);
	for (int i = 0; i < 3; i++) {
		if (i < 2)
			reopen(f);
		else
			must(f, repair(f, &f->err));
		assert_int_equal(journal_size(f), size);
		assert_int_equal(money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER),
		    9000000000000000000 + 5 - 1234567);
		must(f, lt_ledger_get(f->ledger, LT_JOURNAL_REFUSED, text, sizeof(text), &f->err));
		assert_string_equal(text, "1");
	}
	adjust(f, &odd_adjustment); /* a later one works */
	/* and it stays refused when there is room for it again */
	lt_ledger_close(f->ledger);
	f->ledger = NULL;
	remove_file(f->dir, "ledger.db");
	reopen(f);
	assert_int_equal(money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER),
	    9000000000000000000 + 5 - 2 * 1234567);
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
			    f->ledger, (struct lt_carry_key){"p", false}, 0.4, &rounded, &f->err));
		(void)kill(getpid(), SIGKILL);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	reopen(f);
	struct lt_run missing;
	assert_int_equal(lt_ledger_run(f->ledger, run.key, &missing, NULL), LT_ENOENT);
	assert_int_equal(money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER, DECEMBER), 0);
	must(f, lt_ledger_hold(f->ledger, 9, &known, &f->err));
	assert_int_equal(known.state, LT_HOLD_OPEN);
	assert_int_equal(known.live_tasks, 1);
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	assert_int_equal(money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER, DECEMBER), 100);
}

static void
rollback_and_failed_calls_leave_the_rest(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, INT64_MAX - 9);
	struct lt_run other = make_run(2, NOVEMBER, NOVEMBER + HOUR, INT64_MAX - 9);
	const struct lt_entry entry = whole(&other);
	bool changed;

	must(f, lt_ledger_begin(f->ledger, &f->err));
	(void)settle(f, &run, DECEMBER, NOVEMBER);
	lt_ledger_rollback(f->ledger);
	assert_int_equal(lt_ledger_run(f->ledger, run.key, &run, NULL), LT_ENOENT);
	/* within a transaction, a call that fails undoes itself only */
	must(f, lt_ledger_begin(f->ledger, &f->err));
	assert_int_equal(lt_ledger_begin(f->ledger, NULL), LT_EBUG);
	(void)settle(f, &run, DECEMBER, NOVEMBER);
	assert_int_equal(
	    lt_ledger_settle(f->ledger,
		&(struct lt_settlement){&other, &entry, 1, DECEMBER, DECEMBER, NOVEMBER, false},
		&changed, NULL),
	    LT_EOVERFLOW);
	must(f, lt_ledger_commit(f->ledger, &f->err));
	must(f, lt_ledger_run(f->ledger, run.key, &run, &f->err));
	assert_int_equal(lt_ledger_run(f->ledger, other.key, &other, NULL), LT_ENOENT);
	assert_int_equal(lt_ledger_commit(f->ledger, NULL), LT_EBUG);
}

/* ---- files ---- */

static void
files_are_private_or_refused(void **state)
{
	static const char *const names[] = {
	    "ledger.db", "ledger.db-wal", "signals.db", "signals.db-wal", "adjustments"};
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
	assert_true(fputs("this is no database, and has some length", file) > 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0600), 0);
	struct lt_error err = {0};
	assert_int_equal(lt_ledger_open(&ledger, f->dir, &err), LT_EIO);
	assert_non_null(strstr(err.text, "not a database"));
	assert_int_equal(lt_ledger_open(&ledger, "/nonexistent", NULL), LT_ENOENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(repair_replays_the_journal),
	    EACH(repair_makes_the_sums_agree),
	    EACH(a_new_database_takes_the_journal),
	    EACH(a_torn_last_line_never_was),
	    EACH(a_damaged_line_is_named),
	    EACH(a_cut_journal_is_not_forgotten),
	    EACH(adjustments_need_a_reason),
	    EACH(an_adjustment_is_bounded),
	    EACH(a_journal_of_others_is_refused),
	    EACH(the_sum_of_adjustments_is_bounded),
	    EACH(a_failed_insert_leaves_no_line),
	    EACH(a_line_that_cant_be_added_is_set_aside),
	    EACH(killed_between_begin_and_commit),
	    EACH(rollback_and_failed_calls_leave_the_rest),
	    EACH(files_are_private_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
