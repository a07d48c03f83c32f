/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far jobs are on a node: whose words they are the kernel says, what is told of them and when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "progress.h"

enum { EVERY_MS = 60000 };

static struct lt_progress_message
message(uint32_t job_id, uint32_t restarts, const char *newest)
{
	struct lt_progress_message m = {.job_id = job_id,
	    .restarts = restarts,
	    .first_after_s = 2,
	    .newest_after_s = 2,
	    .first = "1"};

	snprintf(m.newest, sizeof(m.newest), "%s", newest);
	return m;
}

static void
test_when(void **state)
{
	struct lt_node_progress *const p = calloc(1, sizeof(*p));
	struct lt_progress_message m = message(7, 0, "1");

	(void)state;
	p->every_ms = EVERY_MS;
	p->told_ms = 1000;
	assert_true(lt_node_progress_due_ms(p) == INT64_MAX);
	/* The first of a run soon, what follows with time. */
	lt_node_progress_add(p, &m, 5, 2000);
	assert_true(lt_node_progress_due_ms(p) == 1000 + LT_NODE_SOON_MS);
	p->jobs[0].is_news = p->jobs[0].is_urgent = false;
	m = message(7, 0, "40");
	lt_node_progress_add(p, &m, 5, 3000);
	assert_true(lt_node_progress_due_ms(p) == 1000 + EVERY_MS);
	/* A checkpoint that is written soon. */
	m = message(7, 0, "41 saved");
	lt_node_progress_add(p, &m, 5, 4000);
	assert_true(lt_node_progress_due_ms(p) == 1000 + LT_NODE_SOON_MS);
	/* lowtided is away: not before. */
	p->not_before_ms = 90000;
	assert_true(lt_node_progress_due_ms(p) == 90000);
	free(p);
}

static void
test_what_stays(void **state)
{
	struct lt_node_progress *const p = calloc(1, sizeof(*p));
	struct lt_progress_message m = message(7, 0, "5");

	(void)state;
	m.newest_after_s = 20;
	lt_node_progress_add(p, &m, 5, 100000);
	/* A step that began later: the run has its first marker, and counts on from its own
	 * begin. */
	m = message(7, 0, "6");
	snprintf(m.first, sizeof(m.first), "6");
	lt_node_progress_add(p, &m, 5, 130000);
	assert_string_equal(p->jobs[0].message.first, "1");
	assert_string_equal(p->jobs[0].message.newest, "6");
	assert_int_equal(p->jobs[0].message.newest_after_s, 50);
	/* The same id of another user is another job's words. */
	lt_node_progress_add(p, &m, 6, 131000);
	assert_int_equal(p->count, 2);
	/* The next run begins anew, and the one before is over. */
	m = message(7, 1, "7");
	lt_node_progress_add(p, &m, 5, 140000);
	assert_string_equal(p->jobs[0].message.newest, "7");
	m = message(7, 0, "9");
	m.newest_after_s = 90;
	lt_node_progress_add(p, &m, 5, 141000);
	assert_string_equal(p->jobs[0].message.newest, "7");
	free(p);
}

/* A full table forgets the user's own who fills it, and of those the one that was silent for
 * longest. */
static void
test_bound(void **state)
{
	struct lt_node_progress *const p = calloc(1, sizeof(*p));

	(void)state;
	for (uint32_t i = 0; i < LT_NODE_JOBS_MAX; i++) {
		const struct lt_progress_message m = message(i + 1, 0, "1");

		lt_node_progress_add(p, &m, 5, 1000 + (i == 9 ? 0 : i));
	}
	const struct lt_progress_message more = message(LT_NODE_JOBS_MAX + 1, 0, "1");
	lt_node_progress_add(p, &more, 5, 9000);
	assert_int_equal(p->count, LT_NODE_JOBS_MAX);
	/* The first and the tenth were heard at the same time. */
	assert_int_equal(p->jobs[0].message.job_id, LT_NODE_JOBS_MAX + 1);
	/* Another user's job, heard long before, stays over all of theirs. */
	const struct lt_progress_message others = message(77, 0, "1");
	lt_node_progress_add(p, &others, 6, 10);
	for (uint32_t i = 0; i < 2 * LT_NODE_JOBS_MAX; i++) {
		const struct lt_progress_message m = message(5000 + i, 0, "1");

		lt_node_progress_add(p, &m, 5, 20000 + i);
	}
	uint32_t found = 0;
	for (uint32_t i = 0; i < p->count; i++)
		found += p->jobs[i].uid == 6;
	assert_int_equal(p->count, LT_NODE_JOBS_MAX);
	assert_int_equal(found, 1);
	free(p);
}

/* The same where the other's job has the first place. */
static void
test_bound_first(void **state)
{
	struct lt_node_progress *const p = calloc(1, sizeof(*p));
	const struct lt_progress_message others = message(77, 0, "1");

	(void)state;
	lt_node_progress_add(p, &others, 6, 10);
	for (uint32_t i = 0; i < 2 * LT_NODE_JOBS_MAX; i++) {
		const struct lt_progress_message m = message(5000 + i, 0, "1");

		lt_node_progress_add(p, &m, 5, 20000 + i);
	}
	assert_int_equal(p->jobs[0].uid, 6);
	/* Of that user the one that was silent for longest went. */
	assert_int_equal(p->jobs[1].message.job_id, 5000 + 2 * LT_NODE_JOBS_MAX - 2);
	free(p);
}

/* Jobs that no reader speaks for any more go, whether lowtided answers or not. */
static void
test_silent(void **state)
{
	struct lt_node_progress *const p = calloc(1, sizeof(*p));
	const struct lt_progress_message silent = message(1, 0, "1"), alive = message(2, 0, "1");
	struct lt_error err = {0};

	(void)state;
	lt_node_progress_add(p, &silent, 5, 1000);
	lt_node_progress_add(p, &alive, 5, 2000);
	/* No such server: what it says is not the matter here. */
	assert_int_not_equal(
	    lt_node_progress_tell(
		p, &(struct lt_node_told){"s1", "127.0.0.1:1", 1000 + LT_NODE_SILENT_MS}, &err),
	    LT_OK);
	assert_int_equal(p->count, 1);
	assert_int_equal(p->jobs[0].message.job_id, 2);
	assert_true(p->jobs[0].is_news);
	free(p);
}

/* Datagrams of this process are of its user; what is none is left out. */
static void
test_socket(void **state)
{
	struct lt_node_progress *const p = calloc(1, sizeof(*p));
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const struct lt_progress_message m = message(7, 0, "5");
	char dir[] = "/tmp/lt-progress-XXXXXX", bytes[LT_PROGRESS_BYTES_MAX];
	char long_one[LT_PROGRESS_BYTES_MAX + 1];
	struct lt_error err = {0};
	struct stat found;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(lt_node_progress_open(p, dir, &err), LT_OK);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s/node.sock", dir);
	assert_int_equal(stat(to.sun_path, &found), 0);
	assert_int_equal(found.st_mode & 0777, 0666);
	const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	const size_t length = lt_progress_pack(bytes, &m);
	const struct sockaddr *const address = (const struct sockaddr *)&to;

	/* Cut, empty, and whole but for what is behind it. */
	assert_int_equal(sendto(fd, bytes, length - 1, 0, address, sizeof(to)), length - 1);
	assert_int_equal(sendto(fd, bytes, 0, 0, address, sizeof(to)), 0);
	memset(long_one, ' ', sizeof(long_one));
	memcpy(long_one, bytes, length);
	assert_int_equal(
	    sendto(fd, long_one, sizeof(long_one), 0, address, sizeof(to)), sizeof(long_one));
	lt_node_progress_take(p, 1000);
	assert_int_equal(p->count, 0);
	assert_int_equal(sendto(fd, bytes, length, 0, address, sizeof(to)), length);
	lt_node_progress_take(p, 1000);
	assert_int_equal(p->count, 1);
	assert_int_equal(p->jobs[0].uid, getuid());
	assert_string_equal(p->jobs[0].message.newest, "5");
	close(p->fd);
	/* A start after a crash takes the place over. */
	assert_int_equal(lt_node_progress_open(p, dir, &err), LT_OK);
	close(p->fd);
	close(fd);
	unlink(to.sun_path);
	rmdir(dir);
	free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_when),
	    cmocka_unit_test(test_what_stays),
	    cmocka_unit_test(test_bound),
	    cmocka_unit_test(test_bound_first),
	    cmocka_unit_test(test_silent),
	    cmocka_unit_test(test_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
