/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The spool of messages. Its group may write to it, too, so nothing that is found there is
 * followed, opened for writing, or believed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool.h"

#define SUFFIX ".json"
enum {
	NAME_SIZE = LT_MESSAGE_ID_SIZE + 8,
	/* Files of others that are passed over, so that a full folder ends. */
	ENTRIES_MAX = 4 * LT_SPOOL_MAX,
};

static int
fail_errno(const char *dir, const char *name, struct lt_error *err)
{
	return lt_fail(err, errno == ENOENT ? LT_ENOENT : LT_EIO, "spool: %s%s%s: %s", dir,
	    name[0] != '\0' ? "/" : "", name, strerror(errno));
}

static int
open_dir(int *fd, const char *dir, struct lt_error *err)
{
	struct stat status;

	*fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &status) != 0)
		return fail_errno(dir, "", err);
	if ((status.st_mode & 0007) == 0)
		return LT_OK;
	close(*fd);
	*fd = -1;
	return lt_fail(err, LT_EINPUT,
	    "spool: %s: mode %04o lets all users in, want 2770: chmod 2770 %s", dir,
	    (unsigned)status.st_mode & 07777, dir);
}

/* True if the name stands for a message; writes which. */
static bool
id_of(char id[LT_MESSAGE_ID_SIZE], const char *name)
{
	const size_t length = strlen(name), suffix = strlen(SUFFIX);

	if (length <= suffix || length - suffix >= LT_MESSAGE_ID_SIZE ||
	    strcmp(name + length - suffix, SUFFIX) != 0)
		return false;
	memcpy(id, name, length - suffix);
	id[length - suffix] = '\0';
	return lt_message_id_is(id);
}

/* take() is called for each message, until it says false. */
static int
walk_spool(int dir_fd, const char *dir, bool (*take)(void *, int, const char *), void *context,
    struct lt_error *err)
{
	const int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *const entries = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	char id[LT_MESSAGE_ID_SIZE];

	if (entries == NULL) {
		if (fd >= 0)
			close(fd);
		return fail_errno(dir, "", err);
	}
	for (int seen = 0; seen < ENTRIES_MAX && (entry = readdir(entries)) != NULL; seen++)
		if (id_of(id, entry->d_name) && !take(context, dir_fd, id))
			break;
	closedir(entries);
	return LT_OK;
}

static bool
count_one(void *context, int dir_fd, const char *id)
{
	struct lt_spool_state *const state = context;
	char name[NAME_SIZE];
	struct stat status;

	snprintf(name, sizeof(name), "%s" SUFFIX, id);
	if (fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return true;
	if (state->oldest_utc_s == 0 || status.st_mtime < state->oldest_utc_s)
		state->oldest_utc_s = status.st_mtime;
	lt_spool_count(state, lt_message_uid(id));
	return state->count < LT_SPOOL_MAX;
}

void
lt_spool_count(struct lt_spool_state *state, int64_t uid)
{
	state->count++;
	if (uid >= 0 && state->users_count < LT_SPOOL_USERS_MAX)
		state->uids[state->users_count++] = (uint32_t)uid;
}

bool
lt_spool_has_room(const struct lt_spool_state *state, int64_t uid)
{
	int own = 0;

	for (int i = 0; uid >= 0 && i < state->users_count; i++)
		own += state->uids[i] == (uint32_t)uid;
	return state->count < LT_SPOOL_MAX &&
	       (uid < 0 || (state->users_count < LT_SPOOL_USERS_MAX && own < LT_SPOOL_USER_MAX));
}

int
lt_spool_look(struct lt_spool_state *state, const char *dir, struct lt_error *err)
{
	int fd, code = open_dir(&fd, dir, err);

	*state = (struct lt_spool_state){0};
	if (code != LT_OK)
		return code;
	code = walk_spool(fd, dir, count_one, state, err);
	close(fd);
	return code;
}

static bool
write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		const ssize_t put = write(fd, bytes, length);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		bytes += put;
		length -= (size_t)put;
	}
	return true;
}

struct place { /* of a message that is being written */
	int dir_fd;
	const char *dir;
	char name[NAME_SIZE], new_name[NAME_SIZE];
};

/* Whole or not at all: what a killed process left under the new name goes. */
static int
put_file(const struct place *at, const char *text, struct lt_error *err)
{
	(void)unlinkat(at->dir_fd, at->new_name, 0);
	const int fd = openat(
	    at->dir_fd, at->new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail_errno(at->dir, at->new_name, err);
	/* The group is the folder's (setgid): lowtide-notify's. */
	const bool written =
	    fchmod(fd, 0640) == 0 && write_all(fd, text, strlen(text)) && fsync(fd) == 0;
	const int code = written ? LT_OK : fail_errno(at->dir, at->new_name, err);
	close(fd);
	if (code == LT_OK && renameat(at->dir_fd, at->new_name, at->dir_fd, at->name) == 0 &&
	    fsync(at->dir_fd) == 0)
		return LT_OK;
	if (code == LT_OK)
		(void)fail_errno(at->dir, at->name, err);
	(void)unlinkat(at->dir_fd, at->new_name, 0);
	return LT_EIO;
}

int
lt_spool_write(const char *dir, const struct lt_message *message, struct lt_error *err)
{
	const int64_t uid = lt_message_uid(message->id);
	struct place at = {.dir = dir};
	struct lt_spool_state state = {0};
	struct stat status;
	char *const text = lt_message_pack(message, err);

	if (text == NULL)
		return lt_context(err, "spool");
	snprintf(at.name, sizeof(at.name), "%s" SUFFIX, message->id);
	snprintf(at.new_name, sizeof(at.new_name), "%s.new", message->id);
	int code = open_dir(&at.dir_fd, dir, err);
	if (code == LT_OK) {
		const bool is_there =
		    fstatat(at.dir_fd, at.name, &status, AT_SYMLINK_NOFOLLOW) == 0;

		if (!is_there)
			code = walk_spool(at.dir_fd, dir, count_one, &state, err);
		if (code == LT_OK && !lt_spool_has_room(&state, uid))
			code =
			    state.count < LT_SPOOL_MAX
				? lt_fail(err, LT_ELIMIT,
				      "spool: %s: uid %lld has its share of messages there", dir,
				      (long long)uid)
				: lt_fail(err, LT_ELIMIT,
				      "spool: %s: %d messages wait, the limit; does lowtide-notify run?",
				      dir, state.count);
		if (!is_there && code == LT_OK)
			code = put_file(&at, text, err);
		close(at.dir_fd);
	}
	free(text);
	return code;
}

static bool
list_one(void *context, int dir_fd, const char *id)
{
	struct lt_spool_list *const list = context;

	(void)dir_fd;
	if (list->ids == NULL)
		list->ids = calloc(LT_SPOOL_MAX, sizeof(*list->ids));
	if (list->ids == NULL)
		return false;
	memcpy(list->ids[list->count++], id, strlen(id) + 1);
	return list->count < LT_SPOOL_MAX;
}

int
lt_spool_list(struct lt_spool_list *list, const char *dir, struct lt_error *err)
{
	int fd, code = open_dir(&fd, dir, err);

	list->count = 0;
	if (code != LT_OK)
		return code;
	code = walk_spool(fd, dir, list_one, list, err);
	close(fd);
	return code;
}

void
lt_spool_list_free(struct lt_spool_list *list)
{
	free(list->ids);
	*list = (struct lt_spool_list){0};
}

static int
read_file(char **bytes, size_t *length, int fd)
{
	struct stat status;
	ssize_t got = 1;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return LT_EINPUT;
	*bytes = malloc(LT_MESSAGE_BYTES_MAX + 1);
	if (*bytes == NULL)
		return LT_ENOMEM;
	for (*length = 0; got > 0 && *length <= LT_MESSAGE_BYTES_MAX; *length += (size_t)got) {
		got = read(fd, *bytes + *length, LT_MESSAGE_BYTES_MAX + 1 - *length);
		if (got < 0)
			return LT_EIO;
	}
	return LT_OK;
}

int
lt_spool_read(struct lt_message *message, const char *dir, const char *id, struct lt_error *err)
{
	char name[NAME_SIZE], *bytes = NULL;
	size_t length = 0;
	int dir_fd, code = open_dir(&dir_fd, dir, err);

	if (code != LT_OK)
		return code;
	snprintf(name, sizeof(name), "%s" SUFFIX, id);
	const int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(dir_fd);
	if (fd < 0)
		return errno == ELOOP ? lt_fail(err, LT_EINPUT, "spool: %s/%s: a link", dir, name)
				      : fail_errno(dir, name, err);
	code = read_file(&bytes, &length, fd);
	close(fd);
	if (code != LT_OK)
		(void)lt_fail(err, (enum lt_code)code, "spool: %s/%s: can't read", dir, name);
	else
		code = lt_message_unpack(message, bytes, length, err);
	/* The file's name is its id; another id inside would be sent as
	 * that. */
	if (code == LT_OK && strcmp(message->id, id) != 0)
		code =
		    lt_fail(err, LT_EINPUT, "spool: %s/%s: has the id %s", dir, name, message->id);
	free(bytes);
	return code;
}

int
lt_spool_remove(const char *dir, const char *id, struct lt_error *err)
{
	char name[NAME_SIZE];
	int fd, code = open_dir(&fd, dir, err);

	if (code != LT_OK)
		return code;
	snprintf(name, sizeof(name), "%s" SUFFIX, id);
	if (unlinkat(fd, name, 0) != 0 && errno != ENOENT)
		code = fail_errno(dir, name, err);
	close(fd);
	return code;
}
