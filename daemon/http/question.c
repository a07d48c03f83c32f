/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open questions, in one list in the order in which they came: the first few have a child each,
 * the others wait. serve.c posts them for a follower's requests. A child that can't be started, or
 * that is not done in time, makes an answer with status 503.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "question.h"

static struct {
	lt_question_function *ask;
	lt_wake_function *wake;
	struct lt_question *open;
} desk;

void
lt_questions_start(lt_question_function *ask, lt_wake_function *wake)
{
	desk.ask = ask;
	desk.wake = wake;
}

static void
run_child(void *work, int fd)
{
	const struct lt_question *const q = work;
	char *text = NULL;
	const int status = desk.ask(q->path, q->body, &text);

	if (text != NULL && lt_child_write(fd, &status, sizeof(status)))
		(void)lt_child_write(fd, text, strlen(text));
}

/* Takes the question out of the list and wakes its asker. */
static void
answer(struct lt_question **link, int status, char *text)
{
	struct lt_question *const q = *link;

	*link = q->next;
	q->next = NULL;
	q->answered = true;
	q->status = status;
	q->text = text;
	lt_child_drop(&q->child);
	desk.wake(q->asker);
}

static void
answer_unknown(struct lt_question **link, const char *why)
{
	answer(link, 503, lt_api_error_text(why));
}

static void
answer_child(struct lt_question **link)
{
	const struct lt_child *const child = &(*link)->child;
	int status;

	if (child->length <= sizeof(status)) {
		answer_unknown(link, "the controller was not asked in time");
		return;
	}
	memcpy(&status, child->bytes, sizeof(status));
	answer(
	    link, status, strndup(child->bytes + sizeof(status), child->length - sizeof(status)));
}

void
lt_questions_run(void)
{
	int running = 0;

	for (struct lt_question **link = &desk.open; *link != NULL;) {
		struct lt_question *const q = *link;
		struct lt_error err = {0};
		int ended;

		if (q->child.fd < 0 && running < LT_QUESTIONS_MAX &&
		    lt_child_start(&q->child, run_child, q, LT_QUESTION_S, &err) != LT_OK) {
			answer_unknown(link, err.text);
			continue;
		}
		if (q->child.fd >= 0 && lt_child_read(&q->child, &ended)) {
			answer_child(link);
			continue;
		}
		running += q->child.fd >= 0;
		link = &q->next;
	}
}

void
lt_questions_stop(void)
{
	while (desk.open != NULL)
		answer_unknown(&desk.open, "this lowtided ends");
}

struct lt_question *
lt_question_post(const char *path, const char *body, void *asker)
{
	struct lt_question **link = &desk.open;
	struct lt_question *const q = calloc(1, sizeof(*q));

	if (q == NULL || (q->body = strdup(body)) == NULL) {
		free(q);
		return NULL;
	}
	snprintf(q->path, sizeof(q->path), "%s", path);
	q->asker = asker;
	q->child.fd = -1;
	while (*link != NULL)
		link = &(*link)->next;
	*link = q;
	return q;
}

void
lt_question_free(struct lt_question *question)
{
	if (question == NULL)
		return;
	for (struct lt_question **link = &desk.open; *link != NULL; link = &(*link)->next)
		if (*link == question) {
			*link = question->next;
			break;
		}
	lt_child_drop(&question->child);
	free(question->text);
	free(question->body);
	free(question);
}

int
lt_questions_fds(struct pollfd *fds, int room)
{
	int count = 0;

	for (const struct lt_question *q = desk.open; q != NULL && count < room; q = q->next)
		if (q->child.fd >= 0)
			fds[count++] = (struct pollfd){.fd = q->child.fd, .events = POLLIN};
	return count;
}
