/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to another lowtided, each asked by a child process, so that a controller that does not
 * answer delays nobody else.
 */
#ifndef LT_QUESTION_H
#define LT_QUESTION_H

#include <poll.h>

#include "api.h"
#include "child.h"

enum {
	LT_QUESTIONS_MAX = 16, /* asked at once; more wait their turn */
	LT_QUESTION_S = 5,     /* longer: the child is killed, 503 */
};

struct lt_question {
	char path[LT_API_PATH_MAX]; /* what is asked */
	char *body;		    /* malloc'd; "": none */
	void *asker;		    /* given back to the wake function */
	struct lt_child child;
	bool answered;
	int status; /* of the answer, once answered */
	char *text; /* malloc'd JSON; NULL: no memory */
	struct lt_question *next;
};

/* Asks, by POST where there is a body: the HTTP status, *text malloc'd. Runs in the child. */
typedef int lt_question_function(const char *path, const char *body, char **text);
/* Called in lt_questions_run() and lt_questions_stop() for each answer. */
typedef void lt_wake_function(void *asker);

void lt_questions_start(lt_question_function *ask, lt_wake_function *wake);
/* Answers all open questions with 503. */
void lt_questions_stop(void);

/* NULL: no memory. Lent until lt_question_free(). */
struct lt_question *lt_question_post(const char *path, const char *body, void *asker);
void lt_question_free(struct lt_question *question);

int lt_questions_fds(struct pollfd *fds, int room);
/* Takes answers, and starts children for questions that wait. */
void lt_questions_run(void);

#endif
