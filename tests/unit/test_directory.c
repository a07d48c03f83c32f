/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system's users and groups as children find them, here the real ones with a delay before each
 * answer; how long an answer is kept, and what is said while there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "directory.h"
#include "http.h"
#include "log.h"

enum { NOW = 5000000, NOBODYS = 2000000001 };

static struct shared { /* with the children */
	useconds_t delay_us;
	uint32_t asked;
} * shared;

/* In place of the C library's, in the children too: a slow directory. */
struct passwd *
getpwuid(uid_t uid)
{
	static struct passwd user;
	static char text[4096];
	struct passwd *found = NULL;

	__atomic_fetch_add(&shared->asked, 1, __ATOMIC_RELAXED);
	usleep(shared->delay_us);
	(void)getpwuid_r(uid, &user, text, sizeof(text), &found);
	return found;
}

struct passwd *
getpwnam(const char *name)
{
	static struct passwd user;
	static char text[4096];
	struct passwd *found = NULL;

	__atomic_fetch_add(&shared->asked, 1, __ATOMIC_RELAXED);
	usleep(shared->delay_us);
	(void)getpwnam_r(name, &user, text, sizeof(text), &found);
	return found;
}

static struct passwd
real_user(void)
{
	const struct passwd *const user = getpwnam("daemon");

	assert_non_null(user);
	return *user;
}

static void
begin(useconds_t delay_us)
{
	lt_directory_stop();
	*shared = (struct shared){.delay_us = delay_us};
}

/* As the loop does it; by a clock that stands still. */
static void
answer_all(int64_t now_ms)
{
	struct pollfd fds[LT_DIRECTORY_FDS];

	lt_directory_run(now_ms);
	for (int count; (count = lt_directory_fds(fds, LT_DIRECTORY_FDS)) > 0;
	     lt_directory_run(now_ms))
		assert_true(poll(fds, (nfds_t)count, 10000) > 0);
}

/* Asked twice where the first time says that it is asked. */
static bool
has_at(const char *first, const char *second, uint32_t uid, int64_t now_ms)
{
	static char names[2][LT_NAME_SIZE];
	const struct lt_groups_asked asked = {names, second[0] != '\0' ? 2 : 1, uid};

	(void)snprintf(names[0], sizeof(names[0]), "%s", first);
	(void)snprintf(names[1], sizeof(names[1]), "%s", second);
	enum lt_found found = lt_directory_member(&asked, now_ms);
	if (found == LT_FOUND_LATER) {
		answer_all(now_ms);
		found = lt_directory_member(&asked, now_ms);
	}
	assert_true(found == LT_FOUND || found == LT_FOUND_NONE);
	return found == LT_FOUND;
}

static void
test_members(void **state)
{
	const struct passwd user = real_user();
	char primary[LT_NAME_SIZE];

	(void)state;
	(void)snprintf(primary, sizeof(primary), "%s", getgrgid(user.pw_gid)->gr_name);
	const struct {
		const char *why, *first, *second;
		uint32_t uid;
		bool is;
	} cases[] = {
	    {"the primary group", primary, "", user.pw_uid, true},
	    {"one of two", "no-such-group", primary, user.pw_uid, true},
	    {"no such group", "no-such-group", "", user.pw_uid, false},
	    {"another's group", "root", "", user.pw_uid, false},
	    {"a uid that nobody has", primary, "", NOBODYS, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(0);
		if (has_at(cases[i].first, cases[i].second, cases[i].uid, NOW) != cases[i].is)
			fail_msg("%s", cases[i].why);
	}
	assert_int_equal(lt_directory_member(&(struct lt_groups_asked){NULL, 0, user.pw_uid}, NOW),
	    LT_FOUND_NONE);
}

/* Whoever this system has in a list of members. */
static void
test_listed(void **state)
{
	const struct group *group;
	int found = 0;

	(void)state;
	for (setgrent(); (group = getgrent()) != NULL && found < 3;)
		for (char **name = group->gr_mem; *name != NULL; name++) {
			const struct passwd *const user = getpwnam(*name);

			if (user == NULL || user->pw_gid == group->gr_gid)
				continue;
			begin(0);
			if (!has_at(group->gr_name, "", user->pw_uid, NOW))
				fail_msg("%s in %s", *name, group->gr_name);
			found++;
		}
	endgrent();
	if (found == 0)
		skip();
}

static void
test_members_are_kept(void **state)
{
	const struct passwd user = real_user();
	const char *const primary = getgrgid(user.pw_gid)->gr_name;
	char name[LT_NAME_SIZE];

	(void)state;
	begin(0);
	(void)snprintf(name, sizeof(name), "%s", primary);
	assert_true(has_at(name, "", user.pw_uid, NOW));
	/* By what was said, whatever is true now. */
	assert_true(has_at("no-such-group", "", user.pw_uid, NOW + LT_DIRECTORY_KEEP_MS - 1));
	assert_false(has_at("no-such-group", "", user.pw_uid, NOW + LT_DIRECTORY_KEEP_MS));
	assert_false(has_at(name, "", user.pw_uid, NOW + LT_DIRECTORY_KEEP_MS));
	lt_directory_forget_members();
	assert_true(has_at(name, "", user.pw_uid, NOW + LT_DIRECTORY_KEEP_MS));
}

static enum lt_found
uid_at(const char *name, uint32_t *uid, int64_t now_ms)
{
	const enum lt_found found = lt_directory_uid(name, uid, now_ms);

	if (found != LT_FOUND_LATER)
		return found;
	answer_all(now_ms);
	return lt_directory_uid(name, uid, now_ms);
}

static void
test_names(void **state)
{
	const struct passwd user = real_user();
	char name[LT_NAME_SIZE] = "", longer[LT_NAME_SIZE + 1];
	uint32_t uid = 7;

	(void)state;
	begin(0);
	assert_int_equal(uid_at("daemon", &uid, NOW), LT_FOUND);
	assert_int_equal(uid, user.pw_uid);
	assert_int_equal(shared->asked, 1);
	assert_int_equal(uid_at("daemon", &uid, NOW + LT_DIRECTORY_KEEP_MS - 1), LT_FOUND);
	assert_int_equal(shared->asked, 1);
	assert_int_equal(uid_at("daemon", &uid, NOW + LT_DIRECTORY_KEEP_MS), LT_FOUND);
	assert_int_equal(shared->asked, 2);
	/* That there is none is known, too, and not for so long. */
	uid = 7;
	assert_int_equal(uid_at("no-such-user", &uid, NOW), LT_FOUND_NONE);
	assert_int_equal(
	    uid_at("no-such-user", &uid, NOW + LT_DIRECTORY_AGAIN_MS - 1), LT_FOUND_NONE);
	assert_int_equal(shared->asked, 3);
	assert_int_equal(uid_at("no-such-user", &uid, NOW + LT_DIRECTORY_AGAIN_MS), LT_FOUND_NONE);
	assert_int_equal(shared->asked, 4);
	memset(longer, 'x', LT_NAME_SIZE);
	longer[LT_NAME_SIZE] = '\0';
	assert_int_equal(uid_at(longer, &uid, NOW), LT_FOUND_NONE);
	assert_int_equal(uid_at("", &uid, NOW), LT_FOUND_NONE);
	assert_int_equal(uid, 7);
	assert_int_equal(shared->asked, 4);
	assert_int_equal(lt_directory_name(user.pw_uid, name, NOW), LT_FOUND_LATER);
	answer_all(NOW);
	assert_int_equal(lt_directory_name(user.pw_uid, name, NOW), LT_FOUND);
	assert_string_equal(name, "daemon");
}

/* Answers come and go; what is known is never of another question. */
static void
test_many(void **state)
{
	const struct passwd user = real_user();
	uint32_t uid = 7;
	char name[32];

	(void)state;
	begin(0);
	for (int i = 0; i < 2 * LT_DIRECTORY_KEPT_MAX; i++) {
		(void)snprintf(name, sizeof(name), "no-such-user-%d", i);
		const enum lt_found found = lt_directory_uid(name, &uid, NOW);

		/* With as many waiting as are kept, there is no answer. */
		assert_int_equal(
		    found, i < LT_DIRECTORY_KEPT_MAX ? LT_FOUND_LATER : LT_FOUND_SILENT);
	}
	/* Another kind of question does not wait for them. */
	shared->delay_us = 20000;
	assert_true(has_at(getgrgid(user.pw_gid)->gr_name, "", user.pw_uid, NOW));
	shared->delay_us = 0;
	answer_all(NOW);
	assert_int_equal(uid_at("daemon", &uid, NOW), LT_FOUND);
	assert_int_equal(uid, user.pw_uid);
	assert_int_equal(uid_at("no-such-user-5", &uid, NOW), LT_FOUND_NONE);
}

/* Nobody waits in here, however slow it is. */
static void
test_slow(void **state)
{
	const struct passwd user = real_user();
	char group[1][LT_NAME_SIZE] = {""};
	const struct lt_groups_asked member = {group, 1, user.pw_uid};
	const int64_t began_ms = lt_monotonic_ms();
	uint32_t uid = 7;

	(void)state;
	begin(5000000);
	(void)snprintf(group[0], sizeof(group[0]), "%s", getgrgid(user.pw_gid)->gr_name);
	for (int i = 0; i < 24; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "no-such-user-%d", i);
		assert_int_equal(lt_directory_uid(name, &uid, NOW), LT_FOUND_LATER);
		lt_directory_run(NOW);
	}
	assert_int_equal(lt_directory_member(&member, NOW), LT_FOUND_LATER);
	lt_directory_run(NOW);
	struct pollfd fds[LT_DIRECTORY_FDS];
	assert_int_equal(lt_directory_fds(fds, LT_DIRECTORY_FDS), LT_DIRECTORY_ASKED_MAX + 1);
	/* Until it counts as silent, and who waits is to be told. */
	assert_int_equal(lt_directory_wait_ms(NOW, 99999), LT_DIRECTORY_MEMBER_MS);
	uint64_t news = lt_directory_news();
	lt_directory_run(NOW + LT_DIRECTORY_MEMBER_MS - 1);
	assert_int_equal(lt_directory_news(), news);
	lt_directory_run(NOW + LT_DIRECTORY_MEMBER_MS);
	assert_int_not_equal(lt_directory_news(), news);
	assert_int_equal(lt_directory_member(&member, NOW + LT_DIRECTORY_MEMBER_MS), LT_FOUND_NONE);
	assert_int_equal(lt_directory_wait_ms(NOW + LT_DIRECTORY_MEMBER_MS, 99999),
	    LT_DIRECTORY_WAIT_MS - LT_DIRECTORY_MEMBER_MS);
	lt_directory_run(NOW + LT_DIRECTORY_WAIT_MS);
	assert_int_equal(
	    lt_directory_uid("no-such-user-0", &uid, NOW + LT_DIRECTORY_WAIT_MS), LT_FOUND_SILENT);
	assert_in_range(lt_monotonic_ms() - began_ms, 0, 2000);
	lt_directory_stop();
	assert_int_equal(lt_directory_fds(fds, LT_DIRECTORY_FDS), 0);
	assert_in_range(lt_monotonic_ms() - began_ms, 0, 2000);
}

/* What was known holds while the directory is silent. */
static void
test_as_it_was(void **state)
{
	const struct passwd user = real_user();
	char group[1][LT_NAME_SIZE] = {""};
	const struct lt_groups_asked member = {group, 1, user.pw_uid};
	const int64_t later_ms = NOW + LT_DIRECTORY_KEEP_MS;

	(void)state;
	begin(0);
	assert_true(has_at(getgrgid(user.pw_gid)->gr_name, "", user.pw_uid, NOW));
	(void)snprintf(group[0], sizeof(group[0]), "%s", getgrgid(user.pw_gid)->gr_name);
	shared->delay_us = 5000000;
	assert_int_equal(lt_directory_member(&member, later_ms), LT_FOUND_LATER);
	lt_directory_run(later_ms);
	lt_directory_run(later_ms + LT_DIRECTORY_MEMBER_MS);
	assert_int_equal(lt_directory_member(&member, later_ms + LT_DIRECTORY_MEMBER_MS), LT_FOUND);
	lt_directory_stop();
}

static int
set_up(void **state)
{
	(void)state;
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? -1 : lt_log_open("/dev/null");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_members),
	    cmocka_unit_test(test_listed),
	    cmocka_unit_test(test_members_are_kept),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_many),
	    cmocka_unit_test(test_slow),
	    cmocka_unit_test(test_as_it_was),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
