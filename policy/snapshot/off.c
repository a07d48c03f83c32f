/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The off switch: a file whose first line says who, the second why.
 */
#include "off.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "units.h"
#include "container.h"

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
	(void)take_line(off->reason, sizeof(off->reason),
	    take_line(off->by, sizeof(off->by), text));
	return LT_OK;
}

int
lt_off_write(
    const char *path, const char *by, const char *reason, struct lt_error *err)
{
	char text[LT_OFF_BY_SIZE + LT_OFF_REASON_SIZE + 2]; /* lines */

	snprintf(text, sizeof(text), "%.*s\n%.*s\n", LT_OFF_BY_SIZE - 1, by,
	    LT_OFF_REASON_SIZE - 1, reason != NULL ? reason : "");
	return lt_file_replace(path, 0644, text, strlen(text), err);
}

const char *
lt_off_text(char *out, size_t size, const struct lt_off *off)
{
	char when[32];

	lt_utc_text(when, sizeof(when), off->since_utc_s);
	snprintf(out, size, "since %s%s%s%s%s", when, off->by[0] ? " by " : "",
	    off->by, off->reason[0] ? ": " : "", off->reason);
	return out;
}
