/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of real groups of this system: by the primary group, by a list of
 * members, not at all; and for how long an answer is kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "log.h"

enum { NOW = 1793491200 };

static struct lt_groups groups;

static bool
has(const char *first, const char *second, uint32_t uid, int64_t now_utc_s)
{
	static char names[2][LT_NAME_SIZE];

	(void)snprintf(names[0], sizeof(names[0]), "%s", first);
	(void)snprintf(names[1], sizeof(names[1]), "%s", second);
	return lt_groups_has(&groups,
	    &(struct lt_groups_asked){names, second[0] != '\0' ? 2 : 1, uid},
	    now_utc_s);
}

static void
test_members(void **state)
{
	const struct passwd *const user = getpwnam("daemon");
	char primary[LT_NAME_SIZE];

	(void)state;
	lt_log_open("/dev/null");
	assert_non_null(user);
	const uint32_t uid = user->pw_uid;
	(void)snprintf(
	    primary, sizeof(primary), "%s", getgrgid(user->pw_gid)->gr_name);
	const struct {
		const char *why, *first, *second;
		uint32_t uid;
		bool is;
	} cases[] = {
	    {"the primary group", primary, "", uid, true},
	    {"one of two", "no-such-group", primary, uid, true},
	    {"no such group", "no-such-group", "", uid, false},
	    {"another's group", "root", "", uid, false},
	    {"a uid that nobody has", primary, "", 3999999999u, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		groups = (struct lt_groups){0};
		if (has(cases[i].first, cases[i].second, cases[i].uid, NOW) !=
		    cases[i].is)
			fail_msg("%s", cases[i].why);
	}
	assert_false(lt_groups_has(
	    &groups, &(struct lt_groups_asked){NULL, 0, uid}, NOW));
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
			groups = (struct lt_groups){0};
			if (!has(group->gr_name, "", user->pw_uid, NOW))
				fail_msg("%s in %s", *name, group->gr_name);
			found++;
		}
	endgrent();
	if (found == 0)
		skip();
}

static void
test_kept(void **state)
{
	const struct passwd *const user = getpwnam("daemon");
	const char *const primary = getgrgid(user->pw_gid)->gr_name;
	char name[LT_NAME_SIZE];

	(void)state;
	groups = (struct lt_groups){0};
	(void)snprintf(name, sizeof(name), "%s", primary);
	const uint32_t uid = user->pw_uid;
	assert_true(has(name, "", uid, NOW));
	/* By what was said, whatever is true now. */
	assert_true(has("no-such-group", "", uid, NOW + LT_GROUPS_KEEP_S - 1));
	assert_false(has("no-such-group", "", uid, NOW + LT_GROUPS_KEEP_S));
	/* The clock was set back by a day. */
	assert_true(has(name, "", uid, NOW - 86400));
	/* More users than are kept. */
	for (uint32_t i = 0; i < 2 * LT_GROUPS_KNOWN_MAX; i++)
		groups.known[i % LT_GROUPS_KNOWN_MAX] =
		    (struct lt_group_member){i, true, true, NOW + 1};
	assert_true(has(name, "", uid, NOW));
	assert_false(has(name, "", 3999999999u, NOW));
	/* After a directory that hung nobody is asked for a while. */
	groups = (struct lt_groups){.pause_utc_s = NOW + 10};
	assert_false(has(name, "", uid, NOW));
	assert_true(has(name, "", uid, NOW + 10));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_members),
	    cmocka_unit_test(test_listed),
	    cmocka_unit_test(test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
