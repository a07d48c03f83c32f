/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * getgrouplist() of the user against the ids of the groups: what a directory
 * says of a group's members may be left empty on purpose.
 */
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <string.h>
#include <sys/types.h>

#include "child.h"
#include "groups.h"
#include "log.h"

enum { GIDS_MAX = 4096, CHILD_S = 10 };

/* ---- in the child ---- */

static bool
is_in(const gid_t *gids, int count, const char *name)
{
	const struct group *const group = getgrnam(name);

	for (int i = 0; group != NULL && i < count; i++)
		if (gids[i] == group->gr_gid)
			return true;
	return false;
}

static void
look_up(void *work, int fd)
{
	static gid_t gids[GIDS_MAX];
	const struct lt_groups_asked *const asked = work;
	const struct passwd *const user = getpwuid(asked->uid);
	int count = GIDS_MAX;
	char found = 'n';

	/* With more groups than fit, those that do count. */
	if (user != NULL &&
	    getgrouplist(user->pw_name, user->pw_gid, gids, &count) < 0)
		count = GIDS_MAX;
	for (int i = 0; user != NULL && i < asked->count; i++)
		if (is_in(gids, count, asked->names[i]))
			found = 'y';
	(void)lt_child_write(fd, &found, 1);
}

/* ---- here ---- */

/* False: no answer in time. */
static bool
ask(const struct lt_groups_asked *asked, bool *is_member)
{
	struct lt_child child = {.fd = -1};
	struct lt_groups_asked copy = *asked;
	int status = 0;

	if (lt_child_start(&child, look_up, &copy, CHILD_S, NULL) != LT_OK)
		return false;
	struct pollfd fd = {.fd = child.fd, .events = POLLIN};
	const bool answered = poll(&fd, 1, LT_GROUPS_WAIT_MS) == 1;
	bool known = false;

	if (answered) {
		(void)lt_child_read(&child, &status);
		known = child.length == 1;
		*is_member = known && child.bytes[0] == 'y';
	}
	lt_child_drop(&child);
	return known;
}

static struct lt_group_member *
find(struct lt_groups *groups, uint32_t uid)
{
	for (int i = 0; i < LT_GROUPS_KNOWN_MAX; i++)
		if (groups->known[i].is_used && groups->known[i].uid == uid)
			return &groups->known[i];
	struct lt_group_member *const fresh =
	    &groups->known[groups->next++ % LT_GROUPS_KNOWN_MAX];

	*fresh = (struct lt_group_member){.uid = uid, .is_used = true};
	return fresh;
}

/* Also by a clock that was set back since. */
static bool
is_within(int64_t until_utc_s, int64_t keep_s, int64_t now_utc_s)
{
	return until_utc_s > now_utc_s && until_utc_s <= now_utc_s + keep_s;
}

bool
lt_groups_has(struct lt_groups *groups, const struct lt_groups_asked *asked,
    int64_t now_utc_s)
{
	if (asked->count == 0)
		return false;
	struct lt_group_member *const member = find(groups, asked->uid);

	if (is_within(member->until_utc_s, LT_GROUPS_KEEP_S, now_utc_s))
		return member->is_member;
	if (is_within(groups->pause_utc_s, LT_GROUPS_PAUSE_S, now_utc_s))
		return member->is_member;
	if (ask(asked, &member->is_member)) {
		member->until_utc_s = now_utc_s + LT_GROUPS_KEEP_S;
	} else {
		lt_log("groups_slow", "uid=%u", asked->uid);
		groups->pause_utc_s = now_utc_s + LT_GROUPS_PAUSE_S;
	}
	return member->is_member;
}
