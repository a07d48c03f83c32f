/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide-notify's parts: a mail, a signature, what was sent, when it tries again.
 * tests/golden/notify.sh has the program against real servers.
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

#include "round.h"
#include "units.h"

/* RFC 5322's, as `date -uRd @1764280000` has it. */
static void
test_mail(void **state)
{
	static struct lt_message message = {.id = "moved-7",
	    .kind = LT_MESSAGE_MOVED,
	    .made_utc_s = 1764280000,
	    .subject = "lowtide: job 7",
	    .text = "one\n\n.\ntwo\n"};
	static struct lt_policy_notify notify = {.mail_from = "lowtide"};
	const struct lt_sending sending = {.notify = &notify, .message = &message, .to = "alice"};
	static char mail[LT_MAIL_SIZE];

	(void)state;
	const size_t length = lt_mail_compose(mail, &sending, "ctl.example.org");
	assert_int_equal(length, strlen(mail));
	assert_string_equal(mail, "Date: Thu, 27 Nov 2025 21:46:40 +0000\r\n"
				  "From: lowtide\r\nTo: alice\r\nSubject: lowtide: job 7\r\n"
				  "Message-ID: <moved-7@ctl.example.org>\r\n"
				  "Auto-Submitted: auto-generated\r\nX-Lowtide: moved\r\n"
				  "MIME-Version: 1.0\r\n"
				  "Content-Type: text/plain; charset=utf-8\r\n"
				  "Content-Transfer-Encoding: 8bit\r\n\r\n"
				  "one\r\n\r\n.\r\ntwo\r\n");
}

/* By Python's email.header, which makes the same text of them again. */
static void
test_subjects(void **state)
{
	static const struct {
		const char *subject, *is;
	} cases[] = {
	    {"plain", "Subject: plain\r\n"},
	    {"vision: \xe2\x82\xac"
	     "1,200.00 of \xe2\x82\xac"
	     "1,000.00",
		"Subject: =?UTF-8?B?dmlzaW9uOiDigqwxLDIwMC4wMCBvZiDigqwxLDAwMC4wMA==?=\r\n"},
	    {"=?UTF-8?B?eA==?=", "Subject: =?UTF-8?B?PT9VVEYtOD9CP2VBPT0/PQ==?=\r\n"},
	    {"1234567890123456789012345678901234567890123\xe2\x82\xac"
	     "9",
		"Subject: =?UTF-8?B?MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMw==?=\r\n"
		" =?UTF-8?B?4oKsOQ==?=\r\n"},
	};
	static struct lt_message message = {.id = "x", .text = "t\n"};
	static struct lt_policy_notify notify = {.mail_from = "lowtide"};
	const struct lt_sending sending = {.notify = &notify, .message = &message, .to = "alice"};
	static char mail[LT_MAIL_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)strcpy(message.subject, cases[i].subject);
		assert_true(lt_mail_compose(mail, &sending, "h") > 0);
		const char *const at = strstr(mail, "Subject:");
		assert_non_null(at);
		assert_memory_equal(at, cases[i].is, strlen(cases[i].is));
		assert_memory_equal(at + strlen(cases[i].is), "Message-ID:", 11);
	}
}

/* RFC 5322: at most 998 bytes a line, and no character in two. */
static void
test_long_lines(void **state)
{
	static struct lt_message message = {.id = "x", .subject = "s"};
	static struct lt_policy_notify notify = {.mail_from = "lowtide"};
	const struct lt_sending sending = {.notify = &notify, .message = &message, .to = "alice"};
	static char mail[LT_MAIL_SIZE];
	size_t longest = 0, line = 0;

	(void)state;
	for (int i = 0; i + 3 < LT_MESSAGE_TEXT_SIZE; i += 2)
		memcpy(message.text + i, "\xc3\xa9", 2);
	assert_true(lt_mail_compose(mail, &sending, "h") > 0);
	for (const char *at = mail; *at != '\0'; at++) {
		line = *at == '\n' ? 0 : line + 1;
		longest = line > longest ? line : longest;
		if (*at == '\r')
			assert_int_not_equal((unsigned char)at[-1], 0xc3);
	}
	assert_in_range(longest, 800, 998);
}

/* By Python's hmac. */
static void
test_signature(void **state)
{
	char out[LT_SIGNATURE_SIZE];

	(void)state;
	lt_webhook_sign(out, "s3cret", 1764280000, "{\"a\":1}");
	assert_string_equal(
	    out, "e172cc5f05a7b14d7e789c4634932eaf8d4e7622429b9be61117c70acacec42d");
}

static void
test_wait(void **state)
{
	static const int64_t wanted[] = {30, 60, 120, 240, 480, 960, 1920, 3600};

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(lt_round_wait_s(30, i + 1), wanted[i]);
	assert_int_equal(lt_round_wait_s(30, 1000), 3600);
}

static void
test_sent(void **state)
{
	enum { NOW = 1764280000 };
	char dir[] = "/tmp/test_notify.XXXXXX", command[64];
	struct lt_sent sent, second;
	struct lt_error err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(lt_sent_open(&sent, dir, NOW, &err), LT_OK);
	assert_false(lt_sent_has(&sent, "a", "mail:alice"));
	assert_int_equal(lt_sent_add(&sent, "b", "webhook", NOW, &err), LT_OK);
	assert_int_equal(lt_sent_add(&sent, "a", "mail:alice", NOW + 1, &err), LT_OK);
	assert_true(lt_sent_has(&sent, "a", "mail:alice"));
	assert_false(lt_sent_has(&sent, "a", "mail:bob"));
	assert_int_equal(lt_sent_open(&second, dir, NOW, &err), LT_ECONFLICT);
	lt_sent_close(&sent);
	/* Kept over a restart, for a month. */
	assert_int_equal(lt_sent_open(&sent, dir, NOW + LT_SENT_KEEP_S, NULL), LT_OK);
	assert_true(lt_sent_has(&sent, "a", "mail:alice"));
	assert_true(lt_sent_has(&sent, "b", "webhook"));
	lt_sent_close(&sent);
	assert_int_equal(lt_sent_open(&sent, dir, NOW + LT_SENT_KEEP_S + 1, NULL), LT_OK);
	assert_true(lt_sent_has(&sent, "a", "mail:alice"));
	assert_false(lt_sent_has(&sent, "b", "webhook"));
	lt_sent_close(&sent);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_mail),
	    cmocka_unit_test(test_subjects),
	    cmocka_unit_test(test_long_lines),
	    cmocka_unit_test(test_signature),
	    cmocka_unit_test(test_wait),
	    cmocka_unit_test(test_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
