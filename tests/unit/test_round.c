/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A look at the spool: who goes first, and what waits how long. The way is a command, which writes
 * down what it was given.
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

#include "log.h"
#include "round.h"
#include "units.h"

enum { NOW = 1764280000 };

struct world {
	struct lt_round round;
	struct lt_policy_notify notify;
	struct lt_sent sent;
	char dir[64];
	char said[8192];
};

static void
write_program(const struct world *w, const char *then)
{
	FILE *const file = fopen(w->notify.command, "w");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\necho $LOWTIDE_NOTIFY_ID >> %s/ran\n%s\n", w->dir, then);
	fclose(file);
	assert_int_equal(chmod(w->notify.command, 0755), 0);
}

static struct world *
make_world(const char *then)
{
	struct world *const w = calloc(1, sizeof(*w));

	assert_non_null(w);
	strcpy(w->dir, "/tmp/test_round.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->notify.spool, sizeof(w->notify.spool), "%s/spool", w->dir);
	snprintf(w->notify.command, sizeof(w->notify.command), "%s/program", w->dir);
	assert_int_equal(mkdir(w->notify.spool, 0700), 0);
	write_program(w, then);
	assert_int_equal(lt_sent_open(&w->sent, w->dir, NOW, NULL), LT_OK);
	w->round.notify = &w->notify;
	w->round.sent = &w->sent;
	w->round.retry_s = 60;
	lt_log_open("/dev/null");
	return w;
}

static void
end_world(struct world *w)
{
	char command[96];

	lt_round_end(&w->round);
	lt_sent_close(&w->sent);
	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	free(w);
}

static void
leave(const struct world *w, const char *id, enum lt_message_kind kind)
{
	static struct lt_message message;

	message = (struct lt_message){.kind = kind,
	    .made_utc_s = NOW,
	    .to_count = 1,
	    .to = {"ada@x.org"},
	    .subject = "lowtide: x",
	    .text = "x\n"};
	snprintf(message.id, sizeof(message.id), "%s", id);
	assert_int_equal(lt_spool_write(w->notify.spool, &message, NULL), LT_OK);
}

/* What the command was given since, in one line. */
static const char *
said(struct world *w)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/ran", w->dir);
	w->said[0] = '\0';
	FILE *const file = fopen(path, "r");
	if (file == NULL)
		return w->said;
	w->said[fread(w->said, 1, sizeof(w->said) - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	for (char *at = w->said; (at = strchr(at, '\n')) != NULL;)
		*at = ' ';
	return w->said;
}

static void
look(struct world *w, int64_t now_ms, int left, int64_t due_ms)
{
	struct lt_error err = {0};

	if (lt_round_run(&w->round, NOW, now_ms, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(w->round.left, left);
	assert_int_equal(w->round.due_ms, due_ms);
}

/* Alerts, then one of each user, then their second ones. */
static void
test_order(void **state)
{
	struct world *const w = make_world("");

	(void)state;
	leave(w, "u1000-a", LT_MESSAGE_ENDED);
	leave(w, "u1000-b", LT_MESSAGE_ENDED);
	leave(w, "u1000-c", LT_MESSAGE_ENDED);
	leave(w, "u2-x", LT_MESSAGE_MOVED);
	leave(w, "u2-y", LT_ALERT_IDLE);
	leave(w, "zulu", LT_ALERT_BUDGET);
	leave(w, "alert", LT_MESSAGE_BUDGET_DIGEST);
	look(w, 1000, 0, INT64_MAX);
	assert_string_equal(said(w), "alert zulu u2-x u1000-a u2-y u1000-b u1000-c ");
	/* Gone by all ways, they are not sent again. */
	leave(w, "zulu", LT_ALERT_BUDGET);
	look(w, 2000, 0, INT64_MAX);
	assert_string_equal(said(w), "");
	end_world(w);
}

/* What fails is due later, each by its own count; what comes meanwhile is not kept by it. */
static void
test_later(void **state)
{
	struct world *const w = make_world("exit 3");

	(void)state;
	leave(w, "u1000-a", LT_MESSAGE_ENDED);
	leave(w, "u1001-a", LT_MESSAGE_ENDED);
	look(w, 1000, 2, 61000);
	assert_string_equal(said(w), "u1000-a u1001-a ");
	leave(w, "alert", LT_ALERT_BUDGET);
	look(w, 2000, 3, 61000);
	assert_string_equal(said(w), "alert ");
	look(w, 60999, 3, 61000);
	assert_string_equal(said(w), "");
	look(w, 61000, 3, 62000);
	assert_string_equal(said(w), "u1000-a u1001-a ");
	write_program(w, "");
	look(w, 62000, 2, 61000 + 120000);
	assert_string_equal(said(w), "alert ");
	look(w, 61000 + 120000, 0, INT64_MAX);
	assert_int_equal(w->round.waiting_count, 2);
	look(w, 61000 + 120000, 0, INT64_MAX);
	assert_int_equal(w->round.waiting_count, 0);
	assert_string_equal(said(w), "u1000-a u1001-a ");
	end_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
