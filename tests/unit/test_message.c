/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages as files of JSON: what is written is read back, what could not be sent as it is is
 * refused on both sides, and a spool has bounds.
 */
#include <fcntl.h>
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

#include "spool.h"

static char dir[] = "/tmp/test_message.XXXXXX";

static struct lt_message
message_of(const char *id)
{
	struct lt_message message = {.kind = LT_MESSAGE_MOVED,
	    .made_utc_s = 1764280000,
	    .to_count = 2,
	    .to = {"alice", "bob@example.org"},
	    .subject = "lowtide: job 7 starts 3 h later",
	    .text = "caf\xc3\xa9 \"quoted\"\nline two\n"};

	snprintf(message.id, sizeof(message.id), "%s", id);
	return message;
}

static void
test_there_and_back(void **state)
{
	const struct lt_message message = message_of("moved-7-1");
	struct lt_message back;
	struct lt_error err = {0};
	char *const text = lt_message_pack(&message, &err);

	(void)state;
	assert_non_null(text);
	assert_null(strchr(text, '\n'));
	assert_int_equal(lt_message_unpack(&back, text, strlen(text), &err), LT_OK);
	assert_string_equal(back.id, message.id);
	assert_int_equal(back.kind, message.kind);
	assert_int_equal(back.made_utc_s, message.made_utc_s);
	assert_int_equal(back.to_count, 2);
	assert_string_equal(back.to[1], "bob@example.org");
	assert_string_equal(back.subject, message.subject);
	assert_string_equal(back.text, message.text);
	free(text);
}

static const struct {
	const char *why, *id, *to, *subject, *text;
} bad[] = {
    {"no id", "", "alice", "s", "t\n"},
    {"an id that is a path", "../x", "alice", "s", "t\n"},
    {"a hidden file", ".x", "alice", "s", "t\n"},
    {"a second line in the subject", "x", "alice", "s\r\nBcc: b", "t\n"},
    {"half a character in the subject", "x", "alice", "caf\xc3", "t\n"},
    {"no subject", "x", "alice", "", "t\n"},
    {"an escape sequence", "x", "alice", "s", "a\033[2J\n"},
    {"a carriage return", "x", "alice", "s", "a\r\n.\r\n"},
    {"half a character", "x", "alice", "s", "\xc3\n"},
    {"no text", "x", "alice", "s", ""},
    {"two in one", "x", "alice,bob", "s", "t\n"},
};

static void
test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lt_message message = message_of(bad[i].id);
		struct lt_error err = {0};

		snprintf(message.to[1], sizeof(message.to[1]), "%s", bad[i].to);
		snprintf(message.subject, sizeof(message.subject), "%s", bad[i].subject);
		snprintf(message.text, sizeof(message.text), "%s", bad[i].text);
		if (lt_message_pack(&message, &err) != NULL || err.code != LT_EINPUT ||
		    err.text[0] == '\0')
			fail_msg("%s", bad[i].why);
	}
}

static void
test_cleaned(void **state)
{
	struct lt_message message = message_of("x");
	char *text;

	(void)state;
	strcpy(message.subject, "caf\xc3\xa9\r\nBcc: b");
	strcpy(message.text, "a\tb\033[2J\r\xc3\ncaf\xc3\xa9\n");
	lt_message_clean(&message);
	assert_string_equal(message.subject, "caf\xc3\xa9??Bcc: b");
	assert_string_equal(message.text, "a b?[2J??\ncaf\xc3\xa9\n");
	assert_non_null(text = lt_message_pack(&message, NULL));
	free(text);
}

static void
test_ids(void **state)
{
	char id[LT_MESSAGE_ID_SIZE], other[LT_MESSAGE_ID_SIZE], text[400];

	(void)state;
	lt_message_id_of(id, "budget-a/b.C_d 1");
	assert_string_equal(id, "budget-a_2fb_2e_43_5fd_201");
	assert_true(lt_message_id_is(id));
	/* What looks escaped is another's. */
	lt_message_id_of(other, "budget-a_2fb.C_d 1");
	assert_string_not_equal(id, other);
	memset(text, '!', sizeof(text) - 1);
	text[0] = 'x';
	text[sizeof(text) - 1] = '\0';
	lt_message_id_of(id, text);
	assert_true(lt_message_id_is(id));
}

static void
test_spool(void **state)
{
	struct lt_message message = message_of("moved-7-1"), back;
	struct lt_spool_state look;
	struct lt_spool_list list = {0};
	struct lt_error err = {0};
	struct stat status;
	char path[128];

	(void)state;
	assert_int_equal(lt_spool_look(&look, dir, &err), LT_OK);
	assert_int_equal(look.count, 0);
	assert_int_equal(look.oldest_utc_s, 0);
	assert_int_equal(lt_spool_write(dir, &message, &err), LT_OK);
	snprintf(path, sizeof(path), "%s/moved-7-1.json", dir);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	/* The first word of an event is the one that is sent. */
	strcpy(message.subject, "another");
	assert_int_equal(lt_spool_write(dir, &message, &err), LT_OK);
	assert_int_equal(lt_spool_read(&back, dir, "moved-7-1", &err), LT_OK);
	assert_string_equal(back.subject, "lowtide: job 7 starts 3 h later");
	assert_int_equal(lt_spool_list(&list, dir, &err), LT_OK);
	assert_int_equal(list.count, 1);
	assert_string_equal(list.ids[0], "moved-7-1");
	lt_spool_list_free(&list);
	assert_int_equal(lt_spool_look(&look, dir, &err), LT_OK);
	assert_int_equal(look.oldest_utc_s, status.st_mtime);
	/* Under another's name it is nobody's. */
	char other[128];
	snprintf(other, sizeof(other), "%s/u1000-x.json", dir);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(lt_spool_read(&back, dir, "u1000-x", NULL), LT_EINPUT);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(lt_spool_remove(dir, "moved-7-1", &err), LT_OK);
	assert_int_equal(lt_spool_read(&back, dir, "moved-7-1", &err), LT_ENOENT);
}

/* Its group may write there: a link that it laid is not written through. */
static void
test_link(void **state)
{
	const struct lt_message message = message_of("moved-8-1");
	char victim[128], path[128];
	struct stat status;

	(void)state;
	snprintf(victim, sizeof(victim), "%s/victim", dir);
	snprintf(path, sizeof(path), "%s/moved-8-1.new", dir);
	close(open(victim, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(symlink(victim, path), 0);
	assert_int_equal(lt_spool_write(dir, &message, NULL), LT_OK);
	assert_int_equal(stat(victim, &status), 0);
	assert_int_equal(status.st_size, 0);
	assert_int_equal(lt_spool_remove(dir, "moved-8-1", NULL), LT_OK);
	unlink(victim);
}

static void
test_bounds(void **state)
{
	struct lt_error err = {0};
	char path[128];

	(void)state;
	for (int i = 0; i < LT_SPOOL_MAX; i++) {
		snprintf(path, sizeof(path), "%s/m-%d.json", dir, i);
		close(open(path, O_WRONLY | O_CREAT, 0600));
	}
	const struct lt_message message = message_of("one-more"), there = message_of("m-0");
	assert_int_equal(lt_spool_write(dir, &message, &err), LT_ELIMIT);
	assert_non_null(strstr(err.text, "1000 messages wait, the limit"));
	assert_int_equal(lt_spool_write(dir, &there, NULL), LT_OK);
	unlink(path);
	assert_int_equal(lt_spool_write(dir, &message, NULL), LT_OK);
	chmod(dir, 0771);
	err = (struct lt_error){0};
	assert_int_equal(lt_spool_write(dir, &there, &err), LT_EINPUT);
	assert_non_null(strstr(err.text, "chmod 2770"));
	chmod(dir, 0770);
	assert_int_equal(lt_spool_write("/nonexistent/x", &there, NULL), LT_ENOENT);
}

static const struct {
	const char *why, *id;
	int64_t uid;
} whose[] = {
    {"a user's", "u1000-ended-7-1", 1000},
    {"another's", "u1001-ended-7-1", 1001},
    {"root's", "u0-ended-7-1", 0},
    {"the largest", "u4294967295-x", 4294967295},
    {"no such user", "u4294967296-x", LT_MESSAGE_OF_SITE},
    {"too long a number", "u00000001000-x", LT_MESSAGE_OF_SITE},
    {"of a budget", "alert_3avision", LT_MESSAGE_OF_SITE},
    {"no number", "u-x", LT_MESSAGE_OF_SITE},
    {"a word that begins so", "unusual_3a7", LT_MESSAGE_OF_SITE},
    {"a number that goes on", "u1000x-7", LT_MESSAGE_OF_SITE},
};

static void
leave(const char *begin, int first, int count, const char *end)
{
	for (int i = first; i < first + count; i++) {
		char path[192];

		snprintf(path, sizeof(path), "%s/%s%d%s.json", dir, begin, i, end);
		close(open(path, O_WRONLY | O_CREAT, 0600));
	}
}

static void
sweep(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -f %s/*", dir);
	assert_int_equal(system(command), 0);
}

/* A user fills their share of the spool, all users theirs: others have room, and alerts always. */
static void
test_shares(void **state)
{
	struct lt_spool_state look;
	struct lt_error err = {0};
	char id[LT_MESSAGE_ID_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(whose) / sizeof(whose[0]); i++)
		if (lt_message_uid(whose[i].id) != whose[i].uid)
			fail_msg("%s", whose[i].why);
	assert_int_equal(lt_message_id_begin(id, 1000), 6);
	assert_string_equal(id, "u1000-");
	sweep();
	leave("u1000-m-", 0, LT_SPOOL_USER_MAX - 1, "");
	const struct lt_message last = message_of("u1000-last"), over = message_of("u1000-over"),
				known = message_of("u1000-m-0"), others = message_of("u1001-first"),
				site = message_of("alert-1");
	assert_int_equal(lt_spool_write(dir, &last, NULL), LT_OK);
	assert_int_equal(lt_spool_write(dir, &over, &err), LT_ELIMIT);
	assert_non_null(strstr(err.text, "uid 1000 has its share"));
	assert_int_equal(lt_spool_write(dir, &known, NULL), LT_OK);
	assert_int_equal(lt_spool_write(dir, &others, NULL), LT_OK);
	assert_int_equal(lt_spool_write(dir, &site, NULL), LT_OK);
	assert_int_equal(lt_spool_look(&look, dir, NULL), LT_OK);
	assert_int_equal(look.count, LT_SPOOL_USER_MAX + 2);
	assert_int_equal(look.users_count, LT_SPOOL_USER_MAX + 1);
	assert_false(lt_spool_has_room(&look, 1000));
	assert_true(lt_spool_has_room(&look, 1001));
	assert_true(lt_spool_has_room(&look, LT_MESSAGE_OF_SITE));
	for (int i = 1; i < LT_SPOOL_USER_MAX; i++)
		lt_spool_count(&look, 1001);
	assert_false(lt_spool_has_room(&look, 1001));
	/* Many users together. */
	sweep();
	leave("u", 5000, LT_SPOOL_USERS_MAX, "-m");
	err = (struct lt_error){0};
	assert_int_equal(lt_spool_write(dir, &others, &err), LT_ELIMIT);
	leave("alert-", 1000, LT_SPOOL_MAX - LT_SPOOL_USERS_MAX - 1, "");
	assert_int_equal(lt_spool_look(&look, dir, NULL), LT_OK);
	assert_false(lt_spool_has_room(&look, 1001));
	assert_true(lt_spool_has_room(&look, LT_MESSAGE_OF_SITE));
	assert_int_equal(lt_spool_write(dir, &site, NULL), LT_OK);
	assert_int_equal(lt_spool_look(&look, dir, NULL), LT_OK);
	assert_false(lt_spool_has_room(&look, LT_MESSAGE_OF_SITE));
	sweep();
}

static int
start(void **state)
{
	(void)state;
	return mkdtemp(dir) == NULL ? -1 : chmod(dir, 0770);
}

static int
end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* The numbers stand in ledgers, the words in spools, in the API and in what sites make of both. */
static const struct {
	int number;
	enum lt_message_kind kind;
	const char *word, *alert;
	bool is_of_run, is_of_site;
} kinds[] = {
    {0, LT_ALERT_BUDGET, "budget-alert", "budget", false, true},
    {1, LT_ALERT_RUN, "run-cost", "run", true, false},
    {2, LT_ALERT_DAY, "unusual-day", "day", false, true},
    {3, LT_ALERT_IDLE, "idle-gpus", "idle", true, false},
    {4, LT_ALERT_STATEMENT, "statement", "statement", false, false},
    {-1, LT_MESSAGE_BUDGET_DIGEST, "budget-digest", "?", false, false},
    {-1, LT_MESSAGE_MOVED, "moved", "?", false, false},
    {-1, LT_MESSAGE_INTERRUPTED, "interrupted", "?", false, false},
    {-1, LT_MESSAGE_ENDED, "ended", "?", false, false},
};

static void
test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const enum lt_message_kind kind = kinds[i].kind;
		const struct lt_message_row *const row = lt_message_row(kind);

		if (kinds[i].number >= 0)
			assert_int_equal(kind, kinds[i].number);
		assert_string_equal(row->word, kinds[i].word);
		assert_string_equal(lt_alert_word(kind), kinds[i].alert);
		assert_int_equal(lt_alert_is_of_run(kind), kinds[i].is_of_run);
		assert_int_equal(row->hears == LT_HEARS_SITE, kinds[i].is_of_site);
	}
	assert_string_equal(lt_alert_word((enum lt_message_kind)LT_MESSAGE_KIND_COUNT), "?");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_kinds),
	    cmocka_unit_test(test_there_and_back),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_cleaned),
	    cmocka_unit_test(test_ids),
	    cmocka_unit_test(test_spool),
	    cmocka_unit_test(test_link),
	    cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, start, end);
}
