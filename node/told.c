/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An empty file is all that is remembered.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "told.h"

static void
path_of(char path[1024], const char *run_dir)
{
	snprintf(path, 1024, "%s/told", run_dir);
}

bool
lt_told_read(const char *run_dir)
{
	char path[1024];

	path_of(path, run_dir);
	return access(path, F_OK) == 0;
}

int
lt_told_write(const char *run_dir, bool is_told, struct lt_error *err)
{
	char path[1024];
	int fd = -1;

	path_of(path, run_dir);
	if (!is_told && unlink(path) != 0 && errno != ENOENT)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (!is_told)
		return LT_OK;
	(void)mkdir(run_dir, 0755); /* there already, or open() says why not */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	close(fd);
	return LT_OK;
}
