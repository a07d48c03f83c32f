/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions by children: each asker gets its own answer, one that hangs keeps nobody waiting, a
 * death is an answer too, and at the end all are answered.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "question.h"

static int woken;

static void
wake(void *asker)
{
	*(int *)asker += 1;
	woken++;
}

static int
ask(const char *path, const char *body, char **text)
{
	if (strcmp(path, "hang") == 0)
		for (;;)
			pause();
	if (strcmp(path, "die") == 0)
		raise(SIGKILL);
	*text = strdup(body);
	return (int)strlen(path);
}

static void
run_until(int count)
{
	while (woken < count) {
		struct pollfd fds[LT_QUESTIONS_MAX];

		lt_questions_run();
		const int room = lt_questions_fds(fds, LT_QUESTIONS_MAX);
		if (woken < count)
			assert_true(poll(fds, (nfds_t)room, -1) > 0);
	}
}

static void
test_answers(void **state)
{
	enum { COUNT = 3 * LT_QUESTIONS_MAX };
	struct lt_question *questions[COUNT];
	int wakes[COUNT] = {0};
	char path[COUNT + 1];

	(void)state;
	woken = 0;
	lt_questions_start(ask, wake);
	for (int i = 0; i < COUNT; i++) {
		memset(path, 'x', sizeof(path));
		path[i + 1] = '\0';
		questions[i] = lt_question_post(i == 0	 ? "hang"
						: i == 1 ? "die"
							 : path,
		    path, &wakes[i]);
		assert_non_null(questions[i]);
	}
	run_until(COUNT - 1);
	assert_false(questions[0]->answered);
	assert_int_equal(questions[1]->status, 503);
	assert_non_null(strstr(questions[1]->text, "error"));
	for (int i = 2; i < COUNT; i++) {
		assert_int_equal(questions[i]->status, i + 1);
		assert_int_equal(strlen(questions[i]->text), i + 1);
	}
	lt_questions_stop();
	assert_int_equal(questions[0]->status, 503);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(wakes[i], 1);
		lt_question_free(questions[i]);
	}
}

static void
test_asker_goes(void **state)
{
	int wakes = 0;

	(void)state;
	woken = 0;
	lt_questions_start(ask, wake);
	struct lt_question *const gone = lt_question_post("hang", "", &wakes);
	struct lt_question *const stays = lt_question_post("x", "x", &wakes);
	lt_questions_run();
	lt_question_free(gone);
	run_until(1);
	assert_int_equal(stays->status, 1);
	assert_int_equal(wakes, 1);
	lt_question_free(stays);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_answers), cmocka_unit_test(test_asker_goes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
