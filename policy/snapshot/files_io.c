/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens, reads and replaces lowtide's files. Openers trust the descriptor, not the path; writers
 * leave the old file or the new one, never a part. Then the off switch, a file whose first line
 * says who switched lowtide off, the second why.
 *
 * A file of the wrong owner or mode is LT_EDENIED, one that is missing LT_ENOENT, a failed read or
 * write LT_EIO.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container.h"
#include "files.h"
#include "off.h"
#include "units.h"

bool
lt_file_id(struct lt_file_id *id, const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return false;
	memset(id, 0, sizeof(*id));
	id->device = status.st_dev;
	id->inode = status.st_ino;
	id->size = status.st_size;
	id->mtime_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
	return true;
}

/* SlurmUser, whose market is believed besides root's and our own. Set once, before any thread. */
static uid_t trusted_uid;

void
lt_file_trust(uid_t uid)
{
	trusted_uid = uid;
}

/* Checks that the descriptor's file may be believed. */
static int
check_owner_and_mode(
    const struct stat *status, const char *path, bool is_private, struct lt_error *err)
{
	const unsigned mode = status->st_mode & 07777;

	if (!S_ISREG(status->st_mode))
		return lt_fail(err, LT_EDENIED, "%s: not a plain file", path);
	if (is_private && status->st_uid != geteuid())
		return lt_fail(err, LT_EDENIED, "%s: owned by uid %u, want %u", path,
		    status->st_uid, geteuid());
	if (is_private && mode != 0600)
		return lt_fail(err, LT_EDENIED, "%s: mode is %04o, want 0600", path, mode);
	if (!is_private && status->st_uid != 0 && status->st_uid != geteuid() &&
	    status->st_uid != trusted_uid)
		return lt_fail(err, LT_EDENIED, "%s: owned by uid %u, want root, %u or SlurmUser",
		    path, status->st_uid, geteuid());
	if (!is_private && (mode & 022) != 0)
		return lt_fail(err, LT_EDENIED,
		    "%s: mode is %04o, want no write permission for group and others", path, mode);
	return LT_OK;
}

int
lt_file_open(const char *path, int access, bool is_private, uint64_t *size, struct lt_error *err)
{
	/* O_NONBLOCK: a FIFO put in the file's place must not stop us. */
	const int fd = open(path, access | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return lt_fail(err, errno == ENOENT ? LT_ENOENT : LT_EIO, "%s: can't open: %s",
		    path, strerror(errno));
	struct stat status;
	int code = LT_OK;
	if (fstat(fd, &status) != 0)
		code = lt_fail(err, LT_EIO, "%s: can't stat: %s", path, strerror(errno));
	else
		code = check_owner_and_mode(&status, path, is_private, err);
	if (code != LT_OK) {
		close(fd);
		return code;
	}
	*size = (uint64_t)status.st_size;
	return fd;
}

int
lt_file_stamp(uint64_t *generation, int64_t *created_utc_s, const char *path, bool is_private,
    struct lt_error *err)
{
	const struct lt_container_kind kind = {path, NULL, LT_FILE_SECTIONS_MAX, LT_FILE_BYTES_MAX};
	struct lt_container reader;
	uint64_t size = 0;
	const int fd = lt_file_open(path, O_RDONLY, is_private, &size, err);

	if (fd < 0)
		return fd;
	const struct lt_input source = {.fd = fd, .size = size};
	const int code = lt_container_open(&reader, &kind, &source, err);
	close(fd);
	if (code != LT_OK)
		return code;
	*generation = reader.header.generation;
	*created_utc_s = reader.header.created_utc_s;
	lt_container_close(&reader);
	return LT_OK;
}

void
lt_replace_drop(struct lt_replace *replace)
{
	if (replace->fd < 0)
		return;
	close(replace->fd);
	replace->fd = -1;
	(void)unlink(replace->new_path);
}

int
lt_replace_begin(struct lt_replace *replace, const char *path, mode_t mode, struct lt_error *err)
{
	replace->fd = -1;
	replace->path = path;
	const int length = snprintf(replace->new_path, sizeof(replace->new_path), "%s.new", path);
	if (length < 0 || (size_t)length >= sizeof(replace->new_path))
		return lt_fail(err, LT_ELIMIT, "%s: path is too long", path);
	/* Removes what a crash left; a link or a foreign file is not written to. */
	if (unlink(replace->new_path) != 0 && errno != ENOENT)
		return lt_fail(
		    err, LT_EIO, "%s: can't remove: %s", replace->new_path, strerror(errno));
	replace->fd =
	    open(replace->new_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (replace->fd < 0)
		return lt_fail(
		    err, LT_EIO, "%s: can't make: %s", replace->new_path, strerror(errno));
	if (fchmod(replace->fd, mode) != 0) {
		const int code = lt_fail(
		    err, LT_EIO, "%s: can't set mode: %s", replace->new_path, strerror(errno));

		lt_replace_drop(replace);
		return code;
	}
	return LT_OK;
}

int
lt_replace_write(
    struct lt_replace *replace, const void *bytes, size_t byte_count, struct lt_error *err)
{
	assert(replace->fd >= 0);

	size_t done = 0;
	while (done < byte_count) {
		const ssize_t put =
		    write(replace->fd, (const unsigned char *)bytes + done, byte_count - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			const int code = lt_fail(
			    err, LT_EIO, "%s: can't write: %s", replace->new_path, strerror(errno));

			lt_replace_drop(replace);
			return code;
		}
		done += (size_t)put;
	}
	return LT_OK;
}

int
lt_directory_sync(const char *path, struct lt_error *err)
{
	char directory[4096];
	const char *const slash = strrchr(path, '/');
	size_t length = slash == NULL ? 0 : (size_t)(slash - path);

	if (slash == path)
		length = 1;
	if (length >= sizeof(directory))
		return lt_fail(err, LT_ELIMIT, "%s: path is too long", path);
	memcpy(directory, path, length);
	directory[length] = '\0';
	const char *const name = length == 0 ? "." : directory;
	const int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return lt_fail(err, LT_EIO, "%s: can't open: %s", name, strerror(errno));
	/* Some file systems can't sync a directory; they say EINVAL. */
	int code = LT_OK;
	if (fsync(fd) != 0 && errno != EINVAL)
		code = lt_fail(err, LT_EIO, "%s: can't sync: %s", name, strerror(errno));
	close(fd);
	return code;
}

int
lt_replace_commit(struct lt_replace *replace, struct lt_error *err)
{
	assert(replace->fd >= 0);

	int code = LT_OK;
	if (fsync(replace->fd) != 0)
		code =
		    lt_fail(err, LT_EIO, "%s: can't sync: %s", replace->new_path, strerror(errno));
	else if (rename(replace->new_path, replace->path) != 0)
		code = lt_fail(err, LT_EIO, "%s: can't rename to %s: %s", replace->new_path,
		    replace->path, strerror(errno));
	if (code != LT_OK) {
		lt_replace_drop(replace);
		return code;
	}
	close(replace->fd);
	replace->fd = -1;
	return lt_directory_sync(replace->path, err);
}

int
lt_file_replace(
    const char *path, mode_t mode, const void *bytes, size_t byte_count, struct lt_error *err)
{
	struct lt_replace replace;
	int code = lt_replace_begin(&replace, path, mode, err);

	if (code == LT_OK)
		code = lt_replace_write(&replace, bytes, byte_count, err);
	if (code == LT_OK)
		code = lt_replace_commit(&replace, err);
	return code;
}

/* ---- the off switch ---- */

/* Copies one line; returns what follows it. */
static const char *
take_line(char *out, size_t size, const char *text)
{
	const size_t length = strcspn(text, "\n");

	snprintf(out, size, "%.*s", (int)length, text);
	return text + length + (text[length] != '\0');
}

int
lt_off_read(struct lt_off *off, const char *path, struct lt_error *err)
{
	char text[LT_OFF_BY_SIZE + LT_OFF_REASON_SIZE + 2]; /* lines */
	struct stat facts;
	uint64_t size = 0;

	*off = (struct lt_off){0};
	const int fd = lt_file_open(path, O_RDONLY, false, &size, err);
	if (fd < 0)
		return fd == LT_ENOENT ? LT_OK : fd;
	if (size > sizeof(text) - 1)
		size = sizeof(text) - 1;
	int code = lt_pread_all(fd, text, size, 0);
	if (code == LT_OK && fstat(fd, &facts) != 0)
		code = LT_EIO;
	close(fd);
	if (code != LT_OK)
		return lt_fail(err, code, "%s: can't be read", path);
	text[size] = '\0';
	off->is_off = true;
	off->since_utc_s = (int64_t)facts.st_mtim.tv_sec;
	(void)take_line(
	    off->reason, sizeof(off->reason), take_line(off->by, sizeof(off->by), text));
	return LT_OK;
}

int
lt_off_write(const char *path, const char *by, const char *reason, struct lt_error *err)
{
	char text[LT_OFF_BY_SIZE + LT_OFF_REASON_SIZE + 2]; /* lines */

	snprintf(text, sizeof(text), "%.*s\n%.*s\n", LT_OFF_BY_SIZE - 1, by, LT_OFF_REASON_SIZE - 1,
	    reason != NULL ? reason : "");
	return lt_file_replace(path, 0644, text, strlen(text), err);
}

const char *
lt_off_text(char *out, size_t size, const struct lt_off *off)
{
	char when[32];

	lt_utc_text(when, sizeof(when), off->since_utc_s);
	snprintf(out, size, "since %s%s%s%s%s", when, off->by[0] ? " by " : "", off->by,
	    off->reason[0] ? ": " : "", off->reason);
	return out;
}
