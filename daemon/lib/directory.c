/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table of questions a kind, so that those of one kind neither wait for those of another nor
 * push their answers out. Membership goes by getgrouplist() of the user against the ids of the
 * groups: what a directory says of a group's members may be left empty on purpose. Children, no
 * threads: one that hangs in a directory can be ended, and holds no lock that a later fork would
 * inherit.
 */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "child.h"
#include "directory.h"
#include "log.h"
#include "lookup.h"

enum { GIDS_MAX = 4096, CHILD_S = 10 };

enum kind { KIND_UID, KIND_NAME, KIND_MEMBER, KINDS };
_Static_assert((int)KINDS == (int)LT_DIRECTORY_KINDS, "as many as its header says");

enum state { UNUSED, WAITING, RUNNING, ANSWERED };

struct entry {
	enum state state;
	bool has_answer; /* of now or of before */
	bool is_silent;	 /* it did not come in time */
	bool is_there;	 /* the answer: there is one; a member */
	uint32_t uid;	 /* asked by, or the answer */
	char name[LT_NAME_SIZE];
	int64_t asked_ms, until_ms;
	struct lt_child child; /* RUNNING */
};

static struct {
	struct entry entries[LT_DIRECTORY_KINDS][LT_DIRECTORY_KEPT_MAX];
	struct lt_groups_asked groups; /* of KIND_MEMBER; uid is not used */
	uint64_t news;
} desk;

/* ---- in the child ---- */

struct answer {
	bool is_there;
	uint32_t uid;
	char name[LT_NAME_SIZE];
};

static bool
is_in(const gid_t *gids, int count, const char *name)
{
	const struct group *const group = getgrnam(name);

	for (int i = 0; group != NULL && i < count; i++)
		if (gids[i] == group->gr_gid)
			return true;
	return false;
}

static bool
is_member(uint32_t uid)
{
	static gid_t gids[GIDS_MAX];
	const struct passwd *const user = getpwuid(uid);
	int count = GIDS_MAX;

	if (user == NULL)
		return false;
	/* If there are more groups than fit, those that fit count. */
	if (getgrouplist(user->pw_name, user->pw_gid, gids, &count) < 0)
		count = GIDS_MAX;
	for (int i = 0; i < desk.groups.count; i++)
		if (is_in(gids, count, desk.groups.names[i]))
			return true;
	return false;
}

static void
look_up_uid(void *work, int fd)
{
	const struct entry *const e = work;
	const struct passwd *const user = getpwnam(e->name);
	struct answer answer = {.is_there = user != NULL};

	if (user != NULL)
		answer.uid = user->pw_uid;
	(void)lt_child_write(fd, &answer, sizeof(answer));
}

static void
look_up_name(void *work, int fd)
{
	const struct entry *const e = work;
	const struct passwd *const user = getpwuid(e->uid);
	struct answer answer = {.is_there = user != NULL};

	if (user != NULL)
		(void)snprintf(answer.name, sizeof(answer.name), "%s", user->pw_name);
	(void)lt_child_write(fd, &answer, sizeof(answer));
}

static void
look_up_member(void *work, int fd)
{
	const struct entry *const e = work;
	const struct answer answer = {.is_there = is_member(e->uid)};

	(void)lt_child_write(fd, &answer, sizeof(answer));
}

static const struct {
	const char *word;
	lt_child_function *look_up;
	int wait_ms, none_ms; /* until it counts as silent; "no" is kept */
} kinds[KINDS] = {
    [KIND_UID] = {"uid", look_up_uid, LT_DIRECTORY_WAIT_MS, LT_DIRECTORY_AGAIN_MS},
    [KIND_NAME] = {"name", look_up_name, LT_DIRECTORY_WAIT_MS, LT_DIRECTORY_AGAIN_MS},
    [KIND_MEMBER] = {"member", look_up_member, LT_DIRECTORY_MEMBER_MS, LT_DIRECTORY_KEEP_MS},
};

/* ---- here ---- */

static bool
is_of(const struct entry *e, enum kind kind, const struct entry *asked)
{
	return e->state != UNUSED &&
	       (kind == KIND_UID ? strcmp(e->name, asked->name) == 0 : e->uid == asked->uid);
}

/* The question's entry; else one that is not used, or whose answer is the oldest. NULL: all of them
 * wait for an answer. */
static struct entry *
find_entry(enum kind kind, const struct entry *asked)
{
	struct entry *const entries = desk.entries[kind];
	struct entry *oldest = NULL;

	for (int i = 0; i < LT_DIRECTORY_KEPT_MAX; i++) {
		struct entry *const e = &entries[i];

		if (is_of(e, kind, asked))
			return e;
		if ((e->state == UNUSED || e->state == ANSWERED) &&
		    (oldest == NULL || e->until_ms < oldest->until_ms))
			oldest = e;
	}
	if (oldest != NULL)
		*oldest = *asked;
	return oldest;
}

/* Returns what is known of the name now, and asks for it if that is too old. */
static enum lt_found
look_up(enum kind kind, const struct entry *asked, struct entry **at, int64_t now_ms)
{
	struct entry *const e = find_entry(kind, asked);

	*at = e;
	if (e == NULL)
		return LT_FOUND_SILENT;
	if (e->state == UNUSED || (e->state == ANSWERED && e->until_ms <= now_ms)) {
		e->state = WAITING;
		e->asked_ms = now_ms;
		e->is_silent = false;
	}
	if (e->state != ANSWERED && !e->is_silent)
		return LT_FOUND_LATER;
	if (!e->has_answer)
		return LT_FOUND_SILENT;
	return e->is_there ? LT_FOUND : LT_FOUND_NONE;
}

enum lt_found
lt_directory_uid(const char *name, uint32_t *uid, int64_t now_ms)
{
	struct entry asked = {.state = UNUSED}, *e;
	const size_t length = strlen(name);

	if (length == 0 || length >= sizeof(asked.name))
		return LT_FOUND_NONE;
	memcpy(asked.name, name, length);
	const enum lt_found found = look_up(KIND_UID, &asked, &e, now_ms);
	if (found == LT_FOUND)
		*uid = e->uid;
	return found;
}

enum lt_found
lt_directory_name(uint32_t uid, char name[LT_NAME_SIZE], int64_t now_ms)
{
	const struct entry asked = {.uid = uid};
	struct entry *e;
	const enum lt_found found = look_up(KIND_NAME, &asked, &e, now_ms);

	if (found == LT_FOUND)
		memcpy(name, e->name, LT_NAME_SIZE);
	return found;
}

enum lt_found
lt_directory_member(const struct lt_groups_asked *asked, int64_t now_ms)
{
	const struct entry of = {.uid = asked->uid};
	struct entry *e;

	if (asked->count == 0)
		return LT_FOUND_NONE;
	desk.groups = *asked;
	const enum lt_found found = look_up(KIND_MEMBER, &of, &e, now_ms);
	return found == LT_FOUND_SILENT ? LT_FOUND_NONE : found;
}

static void
forget_answers(enum kind kind)
{
	for (int i = 0; i < LT_DIRECTORY_KEPT_MAX; i++) {
		struct entry *const e = &desk.entries[kind][i];

		if (e->state == RUNNING)
			lt_child_drop(&e->child);
		*e = (struct entry){.state = UNUSED};
	}
	desk.news++;
}

void
lt_directory_forget_members(void)
{
	forget_answers(KIND_MEMBER);
	desk.groups = (struct lt_groups_asked){0};
}

void
lt_directory_stop(void)
{
	for (int kind = 0; kind < KINDS; kind++)
		forget_answers((enum kind)kind);
}

/* A child that has ended has answered, or never will. */
static void
take_answer(enum kind kind, struct entry *e, int64_t now_ms)
{
	struct answer answer;
	const bool has_come = e->child.length == sizeof(answer);

	e->state = ANSWERED;
	e->until_ms = now_ms + LT_DIRECTORY_AGAIN_MS;
	if (has_come) {
		memcpy(&answer, e->child.bytes, sizeof(answer));
		e->has_answer = true;
		e->is_there = answer.is_there;
		if (kind == KIND_UID)
			e->uid = answer.uid;
		if (kind == KIND_NAME)
			memcpy(e->name, answer.name, sizeof(e->name));
		e->until_ms =
		    now_ms + (e->is_there ? LT_DIRECTORY_KEEP_MS : LT_ROW(kinds, kind).none_ms);
	}
	lt_child_drop(&e->child);
	desk.news++;
}

/* The one that waits the longest; NULL: none does. */
static struct entry *
next_of(enum kind kind)
{
	struct entry *first = NULL;

	for (int i = 0; i < LT_DIRECTORY_KEPT_MAX; i++) {
		struct entry *const e = &desk.entries[kind][i];

		if (e->state == WAITING && (first == NULL || e->asked_ms < first->asked_ms))
			first = e;
	}
	return first;
}

static void
run_kind(enum kind kind, int64_t now_ms)
{
	int running = 0, status;

	for (int i = 0; i < LT_DIRECTORY_KEPT_MAX; i++) {
		struct entry *const e = &desk.entries[kind][i];

		if (e->state == RUNNING && lt_child_read(&e->child, &status))
			take_answer(kind, e, now_ms);
		running += e->state == RUNNING;
		if ((e->state == WAITING || e->state == RUNNING) && !e->is_silent &&
		    now_ms - e->asked_ms >= LT_ROW(kinds, kind).wait_ms) {
			e->is_silent = true;
			desk.news++;
			lt_log(
			    "directory_slow", "kind=%s uid=%u", LT_ROW(kinds, kind).word, e->uid);
		}
	}
	for (struct entry *e; running < LT_DIRECTORY_ASKED_MAX && (e = next_of(kind)) != NULL;
	     running++) {
		e->child = (struct lt_child){.fd = -1};
		e->state = RUNNING;
		if (lt_child_start(&e->child, LT_ROW(kinds, kind).look_up, e, CHILD_S, NULL) !=
		    LT_OK)
			take_answer(kind, e, now_ms);
	}
}

void
lt_directory_run(int64_t now_ms)
{
	for (int kind = 0; kind < KINDS; kind++)
		run_kind((enum kind)kind, now_ms);
}

uint64_t
lt_directory_news(void)
{
	return desk.news;
}

int
lt_directory_fds(struct pollfd *fds, int room)
{
	int count = 0;

	for (int kind = 0; kind < KINDS; kind++)
		for (int i = 0; i < LT_DIRECTORY_KEPT_MAX && count < room; i++)
			if (desk.entries[kind][i].state == RUNNING)
				fds[count++] = (struct pollfd){
				    .fd = desk.entries[kind][i].child.fd, .events = POLLIN};
	return count;
}

int
lt_directory_wait_ms(int64_t now_ms, int most_ms)
{
	int64_t wait_ms = most_ms;

	for (int kind = 0; kind < KINDS; kind++)
		for (int i = 0; i < LT_DIRECTORY_KEPT_MAX; i++) {
			const struct entry *const e = &desk.entries[kind][i];
			const int64_t left_ms = e->asked_ms + LT_ROW(kinds, kind).wait_ms - now_ms;

			if ((e->state == WAITING || e->state == RUNNING) && !e->is_silent &&
			    left_ms < wait_ms)
				wait_ms = left_ms;
		}
	return wait_ms < 0 ? 0 : (int)wait_ms;
}
