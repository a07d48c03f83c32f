/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded reading of a file that the policy names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plain_file.h"

static int
file_fail(struct lt_error *err, const char *path)
{
	return lt_fail(err, errno == ENOENT ? LT_ENOENT : LT_EIO, "%s: %s", path, strerror(errno));
}

/* O_NONBLOCK: a FIFO in place of the file must not stop the daemon. */
static int
file_open(const char *path, size_t *byte_count, struct lt_error *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return file_fail(err, path);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return lt_fail(err, LT_EIO, "%s: not a regular file", path);
	}
	if (status.st_size > LT_PLAIN_FILE_BYTES_MAX) {
		close(fd);
		return lt_fail(err, LT_ELIMIT, "%s: %lld bytes, limit %d", path,
		    (long long)status.st_size, LT_PLAIN_FILE_BYTES_MAX);
	}
	*byte_count = (size_t)status.st_size;
	return fd;
}

/* At most the size that it had when opened; it may be shorter by now. */
static int
file_read(int fd, char *bytes, size_t *byte_count)
{
	size_t done = 0;

	while (done < *byte_count) {
		const ssize_t got = read(fd, bytes + done, *byte_count - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	*byte_count = done;
	return 0;
}

int
lt_plain_file_read(const char *path, char **bytes, size_t *byte_count, struct lt_error *err)
{
	const int fd = file_open(path, byte_count, err);
	int code = LT_OK;

	if (fd < 0)
		return fd;
	*bytes = malloc(*byte_count + 1);
	if (*bytes == NULL)
		code = lt_fail(err, LT_ENOMEM, "%s: %zu bytes", path, *byte_count);
	else if (file_read(fd, *bytes, byte_count) != 0)
		code = file_fail(err, path);
	close(fd);
	if (code != LT_OK)
		free(*bytes);
	return code;
}
