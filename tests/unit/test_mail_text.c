/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What mails to users say, to the letter; and that nothing of a job's is in a subject, nor a
 * control character in a text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mails.h"

/* Fri 27 Nov 2026 22:00 UTC. */
enum { NOW = 1795816800, HOUR = 3600 };

static struct lt_batch_job
job_of(const char *name)
{
	return (struct lt_batch_job){.job_id = 1234,
	    .array_task = UINT32_MAX,
	    .name = name,
	    .partition = "ondemand",
	    .node_list = "gpu[1-2]"};
}

static void
test_moved(void **state)
{
	const struct lt_batch_job job = job_of("train");
	const struct lt_zone utc = {0};
	static struct lt_quote quote = {.partition = "spot",
	    .plan_start_utc_s = NOW + 4 * HOUR,
	    .plan_expected = {true, true, 41200000, 3100000}};
	const struct lt_mail_facts facts = {&job, &quote, &utc, "USD", NOW};
	const struct lt_plan_made was = {.partition = "ondemand", .start_utc_s = NOW + HOUR};
	struct lt_message message = {.id = "x"};
	char *text;

	(void)state;
	lt_mail_moved(&message, &facts, &was, "better");
	assert_string_equal(
	    message.subject, "lowtide: job 1234 starts Sat 02:00 UTC, not Fri 23:00 UTC");
	assert_string_equal(message.text,
	    "Job 1234 (train) was to start Fri 23:00 UTC in ondemand.\n"
	    "It starts Sat 02:00 UTC in spot: by today's forecasts it costs less, or emits less, then.\n"
	    "Expected: $41.20, 3.1 kg CO2e.\n\n"
	    "Why:       lowtide explain 1234\n"
	    "At once:   lowtide now 1234\n"
	    "Cancel it: scancel 1234\n");
	assert_non_null(text = lt_message_pack(&message, NULL));
	free(text);
	/* A start that is over by then: in Slurm's line; a word of a later release has no
	 * sentence. */
	quote.plan_start_utc_s = NOW;
	lt_mail_moved(&message, &facts, &was, "tides");
	assert_string_equal(message.subject,
	    "lowtide: job 1234 starts as soon as there is room, not Fri 23:00 UTC");
	assert_non_null(strstr(message.text, "in spot: the plan was made again.\n"));
}

static void
test_hostile_name(void **state)
{
	const struct lt_batch_job job = job_of("a\r\nBcc: all@example.org\r\n\r\n\033[2J");
	const struct lt_zone utc = {0};
	static struct lt_quote quote = {.partition = "spot", .plan_start_utc_s = NOW + 4 * HOUR};
	const struct lt_mail_facts facts = {&job, &quote, &utc, "USD", NOW};
	const struct lt_plan_made was = {.partition = "ondemand", .start_utc_s = NOW + HOUR};
	struct lt_message message = {.id = "x"};
	char *text;

	(void)state;
	lt_mail_moved(&message, &facts, &was, "better");
	assert_null(strstr(message.subject, "Bcc"));
	assert_null(strpbrk(message.text, "\r\033"));
	assert_non_null(text = lt_message_pack(&message, NULL));
	free(text);
}

static void
test_interrupted(void **state)
{
	struct lt_batch_job job = job_of("train");
	const struct lt_zone utc = {0};
	static const struct lt_quote quote = {.partition = "ondemand"};
	const struct lt_mail_facts facts = {&job, &quote, &utc, "USD", NOW};
	struct lt_message message = {.id = "x"};

	(void)state;
	job.start_utc_s = NOW - HOUR;
	job.restarts = 1;
	lt_mail_interrupted(&message, &facts, 0);
	assert_string_equal(message.subject, "lowtide: job 1234 was interrupted, and runs again");
	assert_string_equal(message.text,
	    "Job 1234 (train) lost its nodes, and runs again since Fri 21:00 UTC in ondemand on gpu[1-2].\n"
	    "Nothing of its work is known to be kept: it starts over.\n\n"
	    "How it went: lowtide explain 1234\n"
	    "Fewer of them, for the next job: sbatch --max-interruptions=1 ...\n");
	job.restarts = 3;
	lt_mail_interrupted(&message, &facts, 2 * HOUR);
	assert_non_null(strstr(message.text, ", not for the first time, and"));
	assert_non_null(
	    strstr(message.text, "Of its work 2h need not be done again, if it resumes.\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_moved),
	    cmocka_unit_test(test_hostile_name),
	    cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
